"""A scene becomes a model with everything in its place."""

import math

import mujoco
import numpy as np
import pytest

from stunt.errors import InvalidValueError, RateError, UnknownNameError
from stunt.stage.build import build
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene


def test_every_shape_of_prop_is_built_and_only_those_with_a_mass_can_move():
    shapes = ("sphere", "box", "capsule", "cylinder", "plane", "ramp", "stairs", "heightfield")
    props = {
        shape: PropSpec(shape, at=(3.0 * n, 0, 1), mass=2.0, heights=((0.0, 0.5), (1.0, 0.2)))  # type: ignore[arg-type]
        for n, shape in enumerate(shapes)
    }
    built = build(Scene(props=props))
    movable = {name for name, prop in built.props.items() if prop.dof >= 0}
    assert movable == {"sphere", "box", "capsule", "cylinder"}
    for name in movable:
        assert built.model.body_mass[built.props[name].body] == pytest.approx(2.0)


def test_a_ramp_rises_along_its_own_x_and_stairs_climb():
    scene = Scene(
        props={
            "ramp": PropSpec("ramp", at=(0, 0, 0), size=(2.0, 1.0, 0.5), facing=math.pi / 2),
            "stairs": PropSpec("stairs", at=(10, 0, 0), size=(0.3, 1.0, 0.2), steps=4),
        }
    )
    stage = StageLoop(scene)

    def height(x, y):
        geom = np.zeros(1, np.int32)
        down = np.array([0.0, 0.0, -1.0])
        return 5.0 - mujoco.mj_ray(stage.model, stage.data, np.array([x, y, 5.0]), down, None, 1, -1, geom)

    assert height(0, 0.5) == pytest.approx(0.375, abs=1e-6)  # turned by 90°: up along y
    assert height(0, -0.5) == pytest.approx(0.125, abs=1e-6)
    assert [height(10 + x, 0) for x in (-0.45, -0.15, 0.15, 0.45)] == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_a_height_field_has_the_users_heights():
    heights = tuple(tuple(0.2 + 0.1 * (row + column) for column in range(3)) for row in range(3))
    stage = StageLoop(
        Scene(props={"hill": PropSpec("heightfield", size=(2.0, 2.0, 1.0), heights=heights)}, ground=False)
    )
    geom = np.zeros(1, np.int32)
    down = np.array([0.0, 0.0, -1.0])
    for row, y in enumerate((-0.999, 0.0, 0.999)):
        for column, x in enumerate((-0.999, 0.0, 0.999)):
            fallen = mujoco.mj_ray(stage.model, stage.data, np.array([x, y, 5.0]), down, None, 1, -1, geom)
            assert 5.0 - fallen == pytest.approx(heights[row][column], abs=2e-3)


def test_two_characters_live_side_by_side_under_their_own_names():
    built = build(
        Scene(characters={"ada": CharacterSpec("human39"), "bob": CharacterSpec("human47", at=(1, 0, 0), root="free")})
    )
    assert built.characters["ada"].root is None
    assert built.characters["bob"].root is not None
    assert not set(built.characters["ada"].dofs) & set(built.characters["bob"].dofs)
    assert built.model.nv == 33 + 47


def test_a_character_faces_where_it_is_told():
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", facing=math.pi / 2, at=(1.0, 2.0, 0.0))}))
    ada = stage.characters["ada"]
    forward = stage.data.xmat[ada.root_body].reshape(3, 3)[:, 0]
    assert forward == pytest.approx([0, 1, 0], abs=1e-9)


@pytest.mark.parametrize(("physics", "control"), [(480, 100), (100, 480), (480, 479)])
def test_rates_that_do_not_divide_are_refused_with_both_values(physics, control):
    with pytest.raises(RateError, match=f"{physics}.*{control}"):
        build(Scene(physics_hz=physics, control_hz=control))


@pytest.mark.parametrize("rate", [0.0, -60.0, math.nan, math.inf])
def test_impossible_rates_are_refused(rate):
    with pytest.raises(InvalidValueError, match="rate"):
        build(Scene(physics_hz=rate, control_hz=rate))


def test_an_unknown_body_says_which_exist():
    with pytest.raises(UnknownNameError, match="human39"):
        build(Scene(characters={"ada": CharacterSpec("humam39")}))


def test_a_start_pose_is_where_the_body_starts_and_a_free_one_keeps_its_feet_on_the_ground():
    crouch = {"l_knee_flexion": 1.2, "r_knee_flexion": 1.2, "l_hip_flexion": 0.8, "r_hip_flexion": 0.8}
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", root="free", start=crouch)}))
    ada = stage.characters["ada"]
    assert stage.data.qpos[ada.joints["l_knee_flexion"].qpos] == 1.2
    ground = stage.model.geom("ground").id
    lowest = min(mujoco.mj_geomDistance(stage.model, stage.data, ground, g, 5.0, None) for g in ada.geoms)
    assert lowest == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(UnknownNameError, match="l_knee_flexion"):
        StageLoop(Scene(characters={"ada": CharacterSpec("human39", start={"l_knee": 1.0})}))


def test_people_on_one_stage_wear_different_shirts_and_nothing_else_differs() -> None:
    two = build(Scene({"ada": CharacterSpec("human39"), "bob": CharacterSpec("human39", at=(2.0, 0.0, 0.0))})).model
    shirts = {name: two.geom_rgba[two.body(f"{name}/thorax").geomadr[0]].tolist() for name in ("ada", "bob")}
    assert shirts["ada"] != shirts["bob"]
    assert np.array_equal(two.body_mass[two.body("ada/thorax").id], two.body_mass[two.body("bob/thorax").id])


def test_somebody_whose_name_is_a_colour_wears_it() -> None:
    model = build(Scene({"red": CharacterSpec("human39"), "blue": CharacterSpec("human39", at=(2.0, 0.0, 0.0))})).model
    shirts = {name: model.geom_rgba[model.body(f"{name}/thorax").geomadr[0]] for name in ("red", "blue")}
    assert shirts["red"][0] > shirts["red"][2] and shirts["blue"][2] > shirts["blue"][0]


def test_a_barrel_rolls_down_a_ramp_as_a_solid_cylinder_does():
    slope = 0.5
    rise = 4.0 * slope
    props = {
        "hill": PropSpec("ramp", size=(4.0, 2.0, rise), friction=1.0),
        "barrel": PropSpec("cylinder", radius=0.2, length=0.6, mass=5.0, friction=1.0),
    }
    angle = np.arctan(slope)
    stage = StageLoop(Scene({}, props, physics_hz=500.0, control_hz=500.0))
    barrel = stage.prop("barrel")
    middle = np.array([0.0, 0.0, 0.5 * rise])
    stage.data.qpos[barrel.qpos : barrel.qpos + 3] = middle + 0.2 * np.array([-np.sin(angle), 0.0, np.cos(angle)])
    stage.data.qpos[barrel.qpos + 3 : barrel.qpos + 7] = [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]  # on its side
    stage.step(0.5)
    # a solid cylinder that rolls: two thirds of what it would do without friction
    wanted = 2.0 / 3.0 * 9.81 * np.sin(angle) * 0.5
    assert np.linalg.norm(stage.data.qvel[barrel.dof : barrel.dof + 3]) == pytest.approx(wanted, rel=0.03)
