"""The ray-caster against MuJoCo's own rays, and against what a picture must show."""

from __future__ import annotations

import math

import mujoco
import numba
import numpy as np
import pytest

from stunt.errors import InvalidValueError
from stunt.record.raycast.camera import Camera, geom_corners, points_of_performance
from stunt.record.raycast.kernels import meet
from stunt.record.raycast.render import Ghost, Raycaster, Style, render

FRONT = Camera((4.0, 0.0, 1.0), (0.0, 0.0, 1.0))


@numba.njit(_nrt=False)
def _distances(scene, origins, directions, out):
    for ray in range(origins.shape[0]):
        for g in range(scene.kind.shape[0]):
            o, d = origins[ray], directions[ray]
            t, _ = meet(scene, g, o[0], o[1], o[2], d[0], d[1], d[2], math.inf)
            out[ray] = min(out[ray], t)


def _forward(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


def _zoo() -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    rng = np.random.default_rng(0)
    spec.add_hfield(name="hills", nrow=9, ncol=12, size=[0.6, 0.5, 0.3, 0.1], userdata=rng.random(108).tolist())
    spec.add_mesh(name="rock", uservert=(rng.normal(size=(40, 3)) * 0.3).ravel().tolist())
    shapes = [
        (mujoco.mjtGeom.mjGEOM_SPHERE, [0.3, 0, 0], {}),
        (mujoco.mjtGeom.mjGEOM_CAPSULE, [0.15, 0.3, 0], {}),
        (mujoco.mjtGeom.mjGEOM_ELLIPSOID, [0.2, 0.3, 0.4], {}),
        (mujoco.mjtGeom.mjGEOM_CYLINDER, [0.2, 0.3, 0], {}),
        (mujoco.mjtGeom.mjGEOM_BOX, [0.2, 0.3, 0.25], {}),
        (mujoco.mjtGeom.mjGEOM_MESH, [0, 0, 0], {"meshname": "rock"}),
    ]
    for k, (kind, size, more) in enumerate(shapes):
        where, turn = [1.2 * (k % 3 - 1), 1.2 * (k // 3), 1.0], rng.normal(size=4)
        spec.worldbody.add_geom(type=kind, size=size, pos=where, quat=turn / np.linalg.norm(turn), **more)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="hills", pos=[0, -1.2, 0.5])
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    return spec.compile()


def test_every_kind_of_geom_is_met_where_mujocos_own_rays_meet_it():
    model = _zoo()
    data = _forward(model)
    rng = np.random.default_rng(1)
    aims = np.column_stack([rng.uniform(-1.6, 1.6, 3000), rng.uniform(-1.4, 1.6, 3000), rng.uniform(0.4, 1.6, 3000)])
    origins = aims + np.column_stack([rng.normal(size=(3000, 2)) * 0.5, np.full(3000, 3.0)])
    directions = (aims - origins) / np.linalg.norm(aims - origins, axis=1, keepdims=True)
    scene = Raycaster(model)._scene(data.geom_xpos, data.geom_xmat, FRONT, 64, 64, ())
    ours = np.full(3000, np.inf)
    _distances(scene, origins, directions, ours)
    hit = np.zeros(1, np.int32)
    theirs = np.array(
        [mujoco.mj_ray(model, data, o, d, None, 1, -1, hit) for o, d in zip(origins, directions, strict=True)]
    )
    # A height field's bottom and sides are no part of our picture of it.
    same = np.abs(ours - theirs) < 1e-5
    assert np.isfinite(ours).all()
    assert same.mean() > 0.98
    assert same[np.abs(aims[:, 1] + 1.2) > 1.0].all()


def test_every_visible_pixel_of_a_sphere_lies_inside_its_silhouette():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='sphere' size='.5' pos='0 0 1' rgba='1 0 0 1'/></worldbody></mujoco>"
    )
    data = _forward(model)
    image = render(model, data.geom_xpos, data.geom_xmat, FRONT, 200, 200, samples=1).astype(int)
    red = image[..., 0] - image[..., 2] > 60
    rows, columns = np.mgrid[0:200, 0:200] - 99.5
    radius = 100 * math.tan(math.asin(0.5 / 4.0)) / math.tan(FRONT.fov_y / 2)
    inside = np.hypot(rows, columns) < radius
    assert image.shape == (200, 200, 3)
    assert (red ^ inside).mean() < 0.002


def test_a_body_darkens_the_floor_on_the_side_away_from_the_key_light():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
        "<geom type='sphere' size='.3' pos='0 0 1.5' rgba='1 0 0 1'/></worldbody></mujoco>"
    )
    data = _forward(model)
    above = Camera((0.01, 0.0, 12.0), (0.0, 0.0, 0.0))
    style = Style(checker=0.0, floor_radius=50.0, key_elevation=math.radians(45.0))
    image = render(model, data.geom_xpos, data.geom_xmat, above, 240, 240, style=style).astype(int).sum(axis=2)
    lit = np.median(image)
    dark = np.argwhere(image < 0.9 * lit)
    spread = [np.hypot(*(p - 119.5)) for p in dark]
    assert len(dark) > 100
    assert max(spread) > 25  # The shadow lies apart from the ball, which hangs above the middle of the picture.


def test_the_same_scene_gives_the_same_picture_bit_for_bit(mannequin):
    data = _forward(mannequin)
    caster = Raycaster(mannequin)
    first, second = (caster.render(data.geom_xpos, data.geom_xmat, FRONT, 160, 120) for _ in range(2))
    assert (first == second).all()


def test_a_ghost_shines_through_and_leaves_the_rest_alone(mannequin):
    data = _forward(mannequin)
    caster = Raycaster(mannequin)
    plain = caster.render(data.geom_xpos, data.geom_xmat, FRONT, 160, 120).astype(int)
    aside = data.geom_xpos + np.array([0.0, 0.5, 0.0])
    ghost = Ghost(aside, data.geom_xmat, rgba=(0.0, 0.0, 1.0, 0.5))
    haunted = caster.render(data.geom_xpos, data.geom_xmat, FRONT, 160, 120, ghosts=[ghost]).astype(int)
    changed = np.abs(plain - haunted).max(axis=2) > 20
    assert 0.01 < changed.mean() < 0.3
    assert (haunted[changed][:, 2] - haunted[changed][:, 0] > 20).mean() > 0.9


def test_invisible_geoms_and_hidden_groups_are_not_drawn():
    pictures = []
    for look in ("rgba='1 0 0 0'", "rgba='1 0 0 1' group='3'", None):
        ball = f"<geom type='sphere' size='.5' pos='0 0 1' {look}/>" if look else ""
        world = f"<worldbody>{ball}<geom size='.01' pos='9 9 9'/></worldbody>"
        model = mujoco.MjModel.from_xml_string(f"<mujoco>{world}</mujoco>")
        data = _forward(model)
        pictures.append(render(model, data.geom_xpos, data.geom_xmat, FRONT, 60, 60))
    assert (pictures[0] == pictures[2]).all()
    assert (pictures[1] == pictures[2]).all()


def test_a_body_with_nothing_but_collision_shapes_is_drawn_all_the_same():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='.5' rgba='1 0 0 1' group='3'/>"
        "<geom size='.02' pos='.3 0 .3'/></body></worldbody></mujoco>"
    )
    data = _forward(model)
    image = render(model, data.geom_xpos, data.geom_xmat, FRONT, 60, 60).astype(int)
    assert image[30, 30, 0] - image[30, 30, 2] > 60


def test_the_camera_stands_as_close_as_it_can_with_every_point_in_the_picture():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(50, 3)) * [0.5, 2.0, 1.0]
    camera = Camera.frame_on(points, 0.7, 0.3, aspect=1.5, margin=0.1)
    right, up, forward = camera.axes
    seen = points - camera.eye
    reach = math.tan(camera.fov_y / 2)
    x, y = seen @ right / (seen @ forward) / (1.5 * reach), seen @ up / (seen @ forward) / reach
    assert np.abs(x).max() == pytest.approx(0.8, abs=1e-9) or np.abs(y).max() == pytest.approx(0.8, abs=1e-9)
    assert max(np.abs(x).max(), np.abs(y).max()) <= 0.8 + 1e-9


def test_the_camera_follows_characters_and_not_what_rolls_away(take):
    model = take.model()
    qpos = take.qpos.copy()
    ball = model.body("ball").jntadr[0]
    qpos[:, model.jnt_qposadr[ball]] = np.linspace(0.6, 80.0, len(qpos))
    points = points_of_performance(model, qpos, ["ada"])
    assert points[:, 0].max() < 3.0
    assert points[:, 2].max() > 1.6


def test_bounding_boxes_enclose_their_geoms(mannequin):
    data = _forward(mannequin)
    corners = geom_corners(mannequin, data.geom_xpos, data.geom_xmat)
    sphere = int(np.flatnonzero(mannequin.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE)[0])
    radius = mannequin.geom_size[sphere, 0]
    assert np.ptp(corners[sphere], axis=0) == pytest.approx([2 * radius] * 3)


def test_an_impossible_picture_size_is_refused(mannequin):
    data = _forward(mannequin)
    with pytest.raises(InvalidValueError, match="picture size"):
        render(mannequin, data.geom_xpos, data.geom_xmat, FRONT, 0, 10)
