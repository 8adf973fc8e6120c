from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from body_helpers import place, posed, touching

from stunt.character.bodies import BUILT_IN, make_body
from stunt.character.limits import MOTIONS, stem

DOFS = {"torso28": 28, "human38": 38, "human39": 39, "human47": 47}
WITH_LEGS = ("human38", "human39", "human47")
PEOPLE = [
    {},
    {"sex": "female"},
    {"height": 1.2, "mass": 25.0},
    {"height": 2.4, "mass": 160.0},
    {"mass": 115.0},
    {"sex": "female", "mass": 48.0},
]


def test_the_papers_count_their_degrees_of_freedom():
    assert make_body("torso28").compile().nv == 28  # hips fixed
    for body in WITH_LEGS:
        assert make_body(body, root="free").compile().nv == DOFS[body]  # with the root's six
        assert make_body(body, root="fixed").compile().nv == DOFS[body] - 6


def test_human39_is_human38_and_one_more_joint_of_the_trunk():
    small, large = ({j.name for j in make_body(b).joints} for b in ("human38", "human39"))
    assert large - small == {"thorax_flexion"}
    torso, whole = ({j.name for j in make_body(b).joints} for b in ("torso28", "human47"))
    assert {name for name in whole - torso if not name.startswith(("l_", "r_"))} == {"pelvis_tilt"}
    assert len(whole - torso) == 13


@pytest.mark.parametrize("body", BUILT_IN)
@pytest.mark.parametrize("sex", ["male", "female"])
def test_a_body_weighs_what_was_asked_and_by_default_what_the_table_says(body, sex):
    assert make_body(body, sex=sex).compile().body_mass.sum() == pytest.approx({"male": 73.0, "female": 61.9}[sex])
    assert make_body(body, sex=sex, mass=80.0).compile().body_mass.sum() == pytest.approx(80.0, abs=1e-9)


@pytest.mark.parametrize("body", WITH_LEGS)
@pytest.mark.parametrize("person", PEOPLE)
def test_soles_are_on_the_ground_and_the_centre_of_mass_is_above_them(body, person):
    model, data = posed(make_body(body, **person))
    for side in ("l_", "r_"):
        assert place(model, data, f"{side}heel")[2] == pytest.approx(0.0, abs=1e-12)
        assert place(model, data, f"{side}toe")[2] == pytest.approx(0.0, abs=1e-12)
    center = data.subtree_com[model.body("pelvis").id]
    heel, toe = place(model, data, "l_heel")[0], place(model, data, "l_toe")[0]
    assert heel + toe == pytest.approx(0.0, abs=1e-12)
    assert heel + 0.3 * (toe - heel) < center[0] < heel + 0.6 * (toe - heel)
    assert center[1] == pytest.approx(0.0, abs=1e-12)
    assert 0.53 < center[2] / place(model, data, "head_top")[2] < 0.59  # Drillis & Contini: 0.55 to 0.57 of height


@pytest.mark.parametrize("body", WITH_LEGS)
def test_the_lowest_point_of_the_shapes_is_the_sole(body):
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1])
    spec.attach(make_body(body, root="free"), prefix="ada/", frame=spec.worldbody.add_frame())
    model, data = posed(spec)
    assert {pair[0] for pair in touching(model, data)} == {"ada/l_foot", "ada/r_foot"}
    assert np.abs(data.contact.dist).max() < 1e-9


@pytest.mark.parametrize("person", PEOPLE)
def test_the_top_of_the_head_is_at_the_standing_height(person):
    model, data = posed(make_body("human47", **person))
    height = person.get("height", 1.735 if person.get("sex") == "female" else 1.741)
    assert place(model, data, "head_top")[2] == pytest.approx(height)


@pytest.mark.parametrize("body", BUILT_IN)
@pytest.mark.parametrize("person", PEOPLE)
def test_nothing_touches_anything_in_neutral_standing_nor_a_little_off(body, person):
    model, data = posed(make_body(body, **person))
    assert touching(model, data) == set()
    for joint in range(model.njnt):
        for angle in (-0.025, 0.025):
            data.qpos[:] = 0.0
            data.qpos[model.jnt_qposadr[joint]] = np.clip(angle, *model.jnt_range[joint])
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            assert touching(model, data) == set(), model.joint(joint).name


@pytest.mark.parametrize("body", BUILT_IN)
def test_joints_of_head_and_arms_never_fight_their_neighbours(body):
    """Flexing an elbow, lifting an arm or turning the head, over the whole range, brings no own parts together."""
    model, data = posed(make_body(body))
    names = (
        "neck_",
        "head_nod",
        "shoulder_flexion",
        "elbow_flexion",
        "wrist_deviation",
        "knee",
        "ankle",
        "hip_flexion",
    )
    for joint in range(model.njnt):
        name = stem(model.joint(joint).name)
        if not name.startswith(names):
            continue
        for angle in np.linspace(*model.jnt_range[joint], 13):
            data.qpos[:] = 0.0
            data.qpos[model.jnt_qposadr[joint]] = angle
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            assert touching(model, data) == set(), (name, math.degrees(angle))


HAND_IN_CHEST = {"r_shoulder_flexion": 1.0, "r_shoulder_rotation": 1.5, "r_elbow_flexion": 2.4}


@pytest.mark.parametrize("body", BUILT_IN)
def test_a_hand_pushed_into_the_chest_is_a_contact(body):
    model, data = posed(make_body(body), **HAND_IN_CHEST)
    assert {("r_hand", "thorax"), ("r_forearm", "thorax")} & touching(model, data)


@pytest.mark.parametrize("body", BUILT_IN)
def test_without_self_collision_nothing_of_it_touches_anything_of_it(body):
    model, data = posed(make_body(body, self_collision=False), **HAND_IN_CHEST)
    assert touching(model, data) == set()


@pytest.mark.parametrize("body", BUILT_IN)
def test_left_and_right_are_mirror_images_in_any_pose(body):
    model = make_body(body).compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(7)
    for joint in range(model.njnt):
        name = model.joint(joint).name
        if not name.startswith("r_"):
            flips = name.endswith(("_bend", "_rotation")) and not name.startswith("l_")
            angle = 0.0 if flips else rng.uniform(*model.jnt_range[joint])
            data.qpos[model.jnt_qposadr[joint]] = angle
            if name.startswith("l_"):
                data.qpos[model.joint(f"r_{name[2:]}").qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    mirror = np.array([1.0, -1.0, 1.0])
    for left in [model.body(b).name for b in range(model.nbody) if model.body(b).name.startswith("l_")]:
        a, b = model.body(left), model.body(f"r_{left[2:]}")
        np.testing.assert_allclose(data.xipos[a.id] * mirror, data.xipos[b.id], atol=1e-12)
        np.testing.assert_allclose(a.inertia, b.inertia, atol=1e-12)
        assert a.mass == pytest.approx(b.mass)
    for left in [model.geom(g).name for g in range(model.ngeom) if model.geom(g).name.startswith("l_")]:
        a, b = model.geom(left).id, model.geom(f"r_{left[2:]}").id
        np.testing.assert_allclose(data.geom_xpos[a] * mirror, data.geom_xpos[b], atol=1e-12)


# What a small positive angle does: joint, point that moves, direction it moves in.
SIGNS = [
    ("pelvis_tilt", "head_top", (1, 0, 0)),
    ("lumbar_flexion", "head_top", (1, 0, 0)),
    ("lumbar_bend", "head_top", (0, 1, 0)),
    ("lumbar_rotation", "chest", (0, 1, 0)),
    ("thorax_flexion", "head_top", (1, 0, 0)),
    ("thorax_bend", "head_top", (0, 1, 0)),
    ("thorax_rotation", "chest", (0, 1, 0)),
    ("neck_flexion", "head_top", (1, 0, 0)),
    ("neck_bend", "head_top", (0, 1, 0)),
    ("neck_rotation", "eyes", (0, 1, 0)),
    ("head_nod", "eyes", (0, 0, -1)),
    ("l_clavicle_elevation", "l_upper_arm", (0, 0, 1)),
    ("l_clavicle_protraction", "l_upper_arm", (1, 0, 0)),
    ("l_shoulder_flexion", "l_palm", (1, 0, 0)),
    ("l_shoulder_abduction", "l_palm", (0, 1, 0)),
    ("l_elbow_flexion", "l_palm", (1, 0, 0)),
    ("l_wrist_flexion", "l_fingertips", (0, -1, 0)),
    ("l_wrist_deviation", "l_fingertips", (1, 0, 0)),
    ("l_hip_flexion", "l_shank", (1, 0, 0)),
    ("l_hip_abduction", "l_shank", (0, 1, 0)),
    ("l_hip_rotation", "l_toe", (0, -1, 0)),
    ("l_knee_flexion", "l_foot", (-1, 0, 0)),
    ("l_ankle_flexion", "l_toe", (0, 0, 1)),
]


@pytest.mark.parametrize(("joint", "point", "direction"), SIGNS)
def test_a_positive_angle_moves_the_way_anatomy_calls_positive(joint, point, direction):
    _, before = (model, data) = posed(make_body("human47"))
    start = place(model, before, point)
    model, data = posed(make_body("human47"), **{joint: 0.1})
    moved = place(model, data, point) - start
    assert moved @ np.array(direction) > 0.8 * np.linalg.norm(moved) > 0


def _palm_normal(**angles: float) -> np.ndarray:
    model, data = posed(make_body("human47"), **angles)
    return data.site("l_palm").xmat.reshape(3, 3)[:, 2]


def test_the_palm_faces_the_thigh_and_turns_as_anatomy_says():
    np.testing.assert_allclose(_palm_normal(), [0, -1, 0], atol=1e-12)
    np.testing.assert_allclose(_palm_normal(l_forearm_pronation=math.pi / 2), [-1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(_palm_normal(l_shoulder_rotation=math.pi / 2), [-1, 0, 0], atol=1e-12)
    bent = {"l_elbow_flexion": math.pi / 2, "l_forearm_pronation": math.pi / 2}
    np.testing.assert_allclose(_palm_normal(**bent), [0, 0, -1], atol=1e-12)  # palm down, hand before the body


def test_inversion_turns_the_sole_to_the_middle():
    model, data = posed(make_body("human47"), l_ankle_inversion=0.3)
    sole_normal = -data.body("l_foot").xmat.reshape(3, 3)[:, 2]
    assert sole_normal[1] < -0.2


def test_inward_rotation_of_the_bent_arm_brings_the_hand_before_the_belly():
    bent = {"l_elbow_flexion": math.pi / 2}
    straight_ahead = place(*posed(make_body("human47"), **bent), "l_palm")
    inward = place(*posed(make_body("human47"), **bent, l_shoulder_rotation=0.5), "l_palm")
    assert inward[1] < straight_ahead[1] - 0.1


def test_arms_lifted_sideways_by_a_quarter_turn_make_a_level_t():
    model, data = posed(make_body("human47"), l_shoulder_abduction=math.pi / 2, r_shoulder_abduction=math.pi / 2)
    heights = [place(model, data, f"{s}_{p}")[2] for s in "lr" for p in ("upper_arm", "forearm", "hand")]
    assert np.ptp(heights) < 1e-9


@pytest.mark.parametrize("body", BUILT_IN)
def test_every_range_contains_neutral_and_every_joint_is_strong(body):
    model = make_body(body).compile()
    assert np.all(model.jnt_limited) and np.all(model.jnt_actfrclimited)
    assert np.all(model.jnt_range[:, 0] <= 0) and np.all(model.jnt_range[:, 1] >= 0)
    assert np.all(np.ptp(model.jnt_range, axis=1) > math.radians(45))
    np.testing.assert_array_equal(model.jnt_actfrcrange[:, 0], -model.jnt_actfrcrange[:, 1])
    assert np.all(model.jnt_actfrcrange[:, 1] > 5)


def test_the_standing_person_can_hold_up_its_limbs_with_a_fraction_of_its_strength():
    """Arms held out sideways, the heaviest static gesture, take less than a third of any joint's strength."""
    for sex in ("male", "female"):
        pose = {"l_shoulder_abduction": math.pi / 2, "r_shoulder_abduction": math.pi / 2}
        model, data = posed(make_body("human47", sex=sex), **pose)
        assert np.all(np.abs(data.qfrc_bias) < 0.34 * model.jnt_actfrcrange[:, 1])


def test_limbs_grow_with_height_masses_with_mass_and_strength_with_both():
    small, large = (make_body("human47", height=h, mass=m).compile() for h, m in ((1.5, 50.0), (1.8, 90.0)))
    np.testing.assert_allclose(large.body_pos[2:], 1.2 * small.body_pos[2:], atol=1e-12)
    for bone in ("l_thigh", "r_hand", "lumbar"):
        assert large.body(bone).mass[0] == pytest.approx(1.8 * small.body(bone).mass[0])
        np.testing.assert_allclose(large.body(bone).inertia, 1.8 * 1.44 * small.body(bone).inertia)
    np.testing.assert_allclose(large.jnt_actfrcrange, 1.8 * 1.2 * small.jnt_actfrcrange)


def test_strength_is_a_factor_on_torque_and_on_nothing_else():
    plain, strong = (make_body("human39", strength=s).compile() for s in (1.0, 2.5))
    np.testing.assert_allclose(strong.jnt_actfrcrange, 2.5 * plain.jnt_actfrcrange)
    np.testing.assert_array_equal(strong.dof_armature, plain.dof_armature)
    np.testing.assert_array_equal(strong.dof_damping, plain.dof_damping)


def test_a_woman_is_not_a_man_of_her_size():
    he, she = (make_body("human39", sex=s, height=1.7, mass=65).compile() for s in ("male", "female"))
    assert she.body("l_thigh").mass[0] > he.body("l_thigh").mass[0]
    assert she.joint("l_elbow_flexion").id == he.joint("l_elbow_flexion").id
    elbow = he.joint("l_elbow_flexion").id
    assert she.jnt_actfrcrange[elbow][1] < he.jnt_actfrcrange[elbow][1]


@pytest.mark.parametrize("body", BUILT_IN)
def test_shapes_weigh_nothing_and_joints_are_known(body):
    spec = make_body(body)
    assert all(geom.mass == 0.0 for geom in spec.geoms)
    assert {stem(joint.name) for joint in spec.joints} <= set(MOTIONS)


@pytest.mark.parametrize(("body", "person"), [("human47", {}), ("human39", {"sex": "female"}), ("human38", PEOPLE[2])])
def test_a_stiff_statue_stands_on_its_own_feet_for_three_seconds(body, person):
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1])
    spec.attach(make_body(body, root="free", **person), prefix="ada/", frame=spec.worldbody.add_frame())
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.timestep = 1 / 240
    model = spec.compile()
    model.jnt_stiffness[1:] = 20 * model.jnt_actfrcrange[1:, 1]
    model.dof_damping[6:] = 1 * model.jnt_actfrcrange[1:, 1]
    data = mujoco.MjData(model)
    start = model.body("ada/head").id
    mujoco.mj_forward(model, data)
    before = data.xpos[start].copy()
    for _ in range(3 * 240):
        mujoco.mj_step(model, data)
    assert np.linalg.norm(data.xpos[start] - before) < 0.03
    assert np.abs(data.qvel).max() < 0.02
