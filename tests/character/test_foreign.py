from __future__ import annotations

import importlib.util
import os
import resource
from pathlib import Path

import mujoco
import numpy as np
import pytest
from body_helpers import MODELS, posed

from stunt.character.bodies import make_body
from stunt.character.character import Character
from stunt.character.notes import describe_body
from stunt.errors import BodyError, InvalidValueError

ARM, DRAGON, PUPPETS = (str(MODELS / name) for name in ("arm.xml", "dragon.xml", "two_puppets.xml"))


def cmu_humanoid(name: str) -> str:
    found = importlib.util.find_spec("dm_control")
    if found is None or not found.submodule_search_locations:
        pytest.skip("dm_control is not installed")
    return str(Path(found.submodule_search_locations[0]) / name)


CMU = ("locomotion/walkers/assets/humanoid_CMU_V2020.xml", "suite/humanoid_CMU.xml")


def on_stage(body: mujoco.MjSpec) -> tuple[mujoco.MjModel, mujoco.MjData, Character]:
    spec = mujoco.MjSpec()
    spec.attach(body, prefix="it/", frame=spec.worldbody.add_frame(pos=[1, 2, 0]))
    model, data = posed(spec)
    return model, data, Character(model, "it")


@pytest.mark.parametrize("file", CMU)
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_the_cmu_humanoid_loads_as_a_standing_character_with_its_joints_by_name(file, root):
    model, data, it = on_stage(make_body(cmu_humanoid(file), root=root))
    assert model.nv == 56 + (6 if root == "free" else 0)
    assert model.nu == model.nsensor == model.nkey == model.nlight == model.ncam == 0
    assert len(it.joints) == 56 and it.joint("rfemurrx").kind == "hinge"
    assert (it.root is not None) == (root == "free")
    head, toes = data.body("it/head").xpos, data.body("it/rtoes").xpos
    assert head[2] - toes[2] > 1.2  # upright, though one of the files has y up
    assert toes[0] > data.body("it/rfoot").xpos[0] + 0.02  # facing +x
    np.testing.assert_allclose(data.body("it/root").xpos[:2], [1, 2], atol=1e-9)


def test_the_cmu_humanoid_is_as_strong_as_its_motors():
    path = cmu_humanoid(CMU[1])
    original = mujoco.MjModel.from_xml_path(path)
    _, _, it = on_stage(make_body(path, strength=2.0))
    for actuator in range(original.nu):
        joint = original.joint(original.actuator_trnid[actuator, 0]).name
        expected = abs(original.actuator_gear[actuator, 0])  # motors with controls from -1 to 1
        assert it.joint(joint).strength == pytest.approx(2.0 * expected)


def test_the_cmu_humanoid_stands_on_the_ground_without_touching_through_it():
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1])
    spec.attach(
        make_body(cmu_humanoid(CMU[0]), root="free"), prefix="it/", frame=spec.worldbody.add_frame(pos=[0, 0, -0.001])
    )
    _, data = posed(spec)
    assert data.contact.dist[data.contact.geom1 == 0].min() == pytest.approx(-0.001, abs=1e-6)


def test_an_arms_strengths_come_from_its_actuators():
    _, _, it = on_stage(make_body(ARM))
    strengths = {name: joint.strength for name, joint in it.joints.items()}
    assert strengths["axis1"] == pytest.approx(300)
    assert strengths["axis2"] == pytest.approx(300)  # the stronger direction of -300 … 250
    assert strengths["axis3"] == pytest.approx(150)  # gear × control range
    assert strengths["axis4"] == pytest.approx(80)  # stiffness × half its control range
    assert strengths["grip_l"] == pytest.approx(30)  # through the tendon's coefficient
    assert 0 < strengths["axis5"] < np.inf and 0 < strengths["axis6"] < np.inf
    assert it.joint("grip_l").kind == "slide"
    notes = describe_body(make_body(ARM))
    assert any("axis5, axis6" in line and "derived" in line for line in notes)


def test_a_derived_strength_holds_the_limb_level_and_still_moves_it():
    model, data, it = on_stage(make_body(DRAGON))
    data.qpos[it.joint("knee_bl").qpos] = -np.pi / 2
    mujoco.mj_forward(model, data)
    knee = it.joint("knee_bl")
    assert knee.strength > 2 * abs(data.qfrc_bias[knee.dof]) > 0


def test_an_arm_keeps_tendons_equalities_excludes_and_its_mount_but_not_the_floor():
    model, data, _ = on_stage(make_body(ARM))
    assert model.ntendon == 1 and model.neq == 1 and model.nu == 0 and model.nsensor == 0 and model.nkey == 0
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "it/floor") == -1
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "it/tool") >= 0
    pairs = {(e.bodyname1, e.bodyname2) for e in make_body(ARM).excludes}
    assert ("finger_l", "finger_r") in pairs and ("base", "shoulder") in pairs
    np.testing.assert_allclose(data.body("it/base").xpos, [1, 2, 0], atol=1e-12)
    assert model.opt.timestep == mujoco.MjSpec().option.timestep


def test_a_fixed_base_can_be_set_free():
    model, _, it = on_stage(make_body(ARM, root="free"))
    assert it.root is not None and it.root.kind == "free" and model.nv == 8 + 6


def test_a_dragon_has_ball_joints_names_for_the_nameless_and_feet_on_the_ground():
    model, data, it = on_stage(make_body(DRAGON, root="free"))
    assert it.root is not None and it.root.name == "root"
    assert it.joint("neck").kind == "ball" and it.joint("wing_l").kind == "ball"
    assert "skull_joint" in it.joints
    nameless = [name for name in it.joints if name.startswith("body")]
    assert len(nameless) == 2 and nameless[0] != nameless[1]
    assert all(0 < joint.strength < np.inf for joint in it.joints.values())
    assert it.joint("neck").strength == pytest.approx(120)  # the stronger of its two motors
    assert it.joint("hip_fl").strength == pytest.approx(400)
    shin = data.body("it/shin_fl").xpos[2]
    assert shin - 0.35 - 0.05 == pytest.approx(0.0, abs=1e-9)


def test_a_muscles_strength_is_its_force_times_its_lever():
    model, data, it = on_stage(make_body(DRAGON))
    pull, back = data.site("it/wing_pull").xpos, data.site("it/back_pull").xpos
    lever = np.cross(pull - data.body("it/wing_l").xpos, (back - pull) / np.linalg.norm(back - pull))
    assert it.joint("wing_l").strength == pytest.approx(500 * np.abs(lever).max(), rel=1e-6)
    assert it.joint("wing_r").strength > 10


def test_loose_things_in_the_file_are_not_part_of_the_body():
    spec = make_body(DRAGON)
    assert "treasure" not in {body.name for body in spec.bodies}
    assert any("treasure" in line for line in describe_body(spec))


def test_several_bodies_with_joints_are_all_taken():
    _, _, it = on_stage(make_body(PUPPETS))
    assert set(it.joints) == {"left_arm", "right_arm", "right_arm_twist"} and it.root is None
    _, _, it = on_stage(make_body(PUPPETS, root="free"))
    assert {"left_arm", "right_arm", "right_arm_twist"} <= set(it.joints)


def test_without_self_collision_a_foreign_body_is_apart_from_itself():
    for file in (ARM, DRAGON):
        model = make_body(file, self_collision=False).compile()
        assert model.nexclude == (model.nbody - 1) * (model.nbody - 2) // 2


def test_the_notes_survive_attachment_and_compilation():
    model, _, _ = on_stage(make_body(ARM))
    notes = describe_body(model, "it")
    assert notes == describe_body(make_body(ARM))
    assert "read from 'arm.xml'" in notes and "6 actuators turned into joint strengths and dropped" in notes
    assert describe_body(model, "nobody") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><worldbody><body></worldbody></mujoco>", "cannot read the body file"),
        ("this is not XML", "cannot read the body file"),
        ("<mujoco><worldbody><body name='b'><geom size='1'/></body></worldbody></mujoco>", "has no joints"),
        ("<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>", "has no joints"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "cannot compile the body file"),
    ],
)
def test_a_file_that_is_no_body_is_refused_by_name(tmp_path, text, message):
    file = tmp_path / "broken.xml"
    file.write_text(text)
    with pytest.raises(BodyError, match=message) as caught:
        make_body(str(file))
    assert "broken.xml" in str(caught.value)


def test_a_missing_file_is_refused_by_name():
    with pytest.raises(BodyError, match="there is no body file 'nowhere/robot.xml'"):
        make_body("nowhere/robot.xml")


def test_a_root_with_joints_of_its_own_cannot_float(tmp_path):
    file = tmp_path / "pendulum.xml"
    file.write_text("<mujoco><worldbody><body name='p'><joint name='j'/><geom size='1'/></body></worldbody></mujoco>")
    with pytest.raises(BodyError, match="root body 'p' .* has joints of its own"):
        make_body(str(file), root="free")
    assert make_body(str(file)).compile().nv == 1


def test_a_file_has_its_own_size():
    with pytest.raises(InvalidValueError, match="height must be left out"):
        make_body(ARM, height=1.8)


def test_a_limb_with_nothing_to_be_seen_is_drawn_by_what_it_touches_with():
    model, _, it = on_stage(make_body(str(MODELS / "pip.xml")))
    groups = {
        name: {int(model.geom_group[g]) for g in it.geoms if model.geom_bodyid[g] == body}
        for name, body in it.bodies.items()
    }
    assert groups["left_forearm"] == {0} and groups["trunk"] == {2, 3}
    assert any("left_forearm" in line for line in describe_body(model, "it"))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [('name="hip_fr" axis="0 1 0"', 'name="hip_fr" axis="0 1 nan"', "hip_fr"), ("<compiler ", "<compiler ", "")],
)
def test_the_compiler_comes_to_an_end_with_muscles_whatever_the_file_asks_of_it(tmp_path, old, new, named):
    text = Path(DRAGON).read_text().replace(old, new)
    # As a file may have it: one step in a millionth of a second, for a day.
    text = text.replace("</mujoco>", '<compiler><lengthrange timestep="1e-6" interval="86400"/></compiler></mujoco>')
    (tmp_path / "a.xml").write_text(text)
    if named:
        with pytest.raises(BodyError, match=named):
            make_body(str(tmp_path / "a.xml"))
    else:
        assert make_body(str(tmp_path / "a.xml")).joints


@pytest.mark.parametrize(
    ("asset", "inside"),
    [
        ("", '<geom size="0.1"/>' * 10_001),
        ("", '<replicate count="150"><replicate count="150"><geom size="0.1"/></replicate></replicate>'),
        ("", '<flexcomp name="f" type="grid" count="200 200 2" spacing="1 1 1" dim="3"/>'),
        ('<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>', ""),
        ('<texture name="t" type="2d" builtin="flat" width="100000" height="100000"/>', ""),
    ],
)
def test_a_body_of_more_parts_than_any_has_is_refused_before_memory_is_taken(tmp_path, asset, inside):
    body = f'<body><joint/><geom size="0.1"/>{inside}</body>'
    path = tmp_path / "a.xml"
    path.write_text(f"<mujoco><asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(BodyError, match="are the most"):
        make_body(str(path))


@pytest.mark.parametrize(
    ("settings", "asset", "inside"),
    [
        ("", '<mesh name="m" builtin="supertorus" params="30000 0.3 1 1"/>', '<geom type="mesh" mesh="m"/>'),
        ("", '<mesh name="m" builtin="wedge" params="20000 20000 60 60 0.1"/>', '<geom type="mesh" mesh="m"/>'),
        ('<size nuser_geom="200000000"/>', "", ""),
        ('<size nuser_body="2000000000"/>', "", ""),
        ("", '<texture name="t" type="cube" builtin="gradient" width="8192"/>', ""),
        ("", '<mesh name="m" file="pipe.stl"/>', '<geom type="mesh" mesh="m"/>'),
        ("", '<mesh name="m" file="/dev/zero" content_type="model/stl"/>', '<geom type="mesh" mesh="m"/>'),
    ],
    ids=["torus", "wedge", "values of geoms", "values of bodies", "texture", "pipe", "device"],
)
def test_a_small_body_file_that_asks_for_much_is_refused_and_takes_nothing_of_this_process(
    tmp_path, settings, asset, inside
):
    os.mkfifo(tmp_path / "pipe.stl")
    body = f'<body name="a"><joint/><geom size="0.1"/>{inside}</body>'
    path = tmp_path / "a.xml"
    path.write_text(f"<mujoco>{settings}<asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BodyError, match=r"a\.xml"):
        make_body(str(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000  # kB


def test_replicates_side_by_side_add_up(tmp_path):
    path = tmp_path / "a.xml"
    rows = '<replicate count="20" offset="0 0 1"><geom size="0.1"/></replicate>' * 10
    path.write_text(f"<mujoco><worldbody><body><joint/>{rows}</body></worldbody></mujoco>")
    assert len(make_body(str(path)).geoms) == 200


@pytest.mark.parametrize("how", ["one link", "a link to all", "links to stored files"])
@pytest.mark.parametrize("name", ["robot.xml", "scene.xml", "robot.urdf"])
def test_a_robot_given_by_symbolic_links_is_found_with_its_meshes(tmp_path, how, name):
    there, here = tmp_path / "there", tmp_path / "here"
    (there / "meshes").mkdir(parents=True)
    model = '<mujoco><compiler meshdir="meshes"/><asset><mesh name="m" file="m.obj"/></asset><worldbody>{}</worldbody>'
    body = '<body name="a"><joint name="j"/><geom type="mesh" mesh="m"/></body>'
    inner = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = '<collision><geometry><mesh filename="meshes/m.obj"/></geometry></collision>'
    links = f'<link name="a">{inner}{shape}</link><link name="b">{inner}</link>'
    ends = '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="5" velocity="3"/>'
    texts = {
        "robot.xml": model.format(body) + "</mujoco>",
        "scene.xml": '<mujoco><include file="robot.xml"/></mujoco>',
        "robot.urdf": f'<robot name="r">{links}<joint name="j" type="revolute">{ends}</joint></robot>',
        "meshes/m.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    }
    for number, (file, text) in enumerate(texts.items()):
        if how == "links to stored files":  # as a hub's cache has them: by number, without a suffix
            (there / str(number)).write_text(text)
            (here / file).parent.mkdir(parents=True, exist_ok=True)
            (here / file).symlink_to(there / str(number))
        else:
            (there / file).write_text(text)
    if how == "a link to all":
        here.symlink_to(there)
    elif how == "one link":
        here.mkdir()
        (here / name).symlink_to(there / name)
    assert "j" in [joint.name for joint in make_body(str(here / name)).joints]


def hinged(limit: str, joints: int, compiler: str = "") -> str:
    parts = "".join(
        f'<body pos="0 {0.2 * n} 0"><joint name="j{n}" range="-{limit} {limit}"/><geom size="0.1"/></body>'
        for n in range(joints)
    )
    return f'<mujoco>{compiler}<worldbody><body name="trunk"><geom size="0.1"/>{parts}</body></worldbody></mujoco>'


@pytest.mark.parametrize(
    ("limit", "joints", "compiler", "widest"),
    [
        ("1.2", 6, "", 1.2),  # nobody moves by a degree: they are radians, though the file does not say so
        ("60", 6, "", np.radians(60.0)),
        ("1.2", 2, "", np.radians(1.2)),  # two hinges may be meant to hardly move
        ("0.1", 6, '<compiler angle="radian"/>', 0.1),
    ],
)
def test_angles_that_can_only_be_radians_are_read_as_such_and_that_is_said(tmp_path, limit, joints, compiler, widest):
    path = tmp_path / "robot.xml"
    path.write_text(hinged(limit, joints, compiler))
    spec = make_body(str(path))
    meant = not compiler and (limit, joints) == ("1.2", 6)
    assert any("radians" in note for note in describe_body(spec)) == meant
    _, _, it = on_stage(spec)
    assert it.joint("j0").range == pytest.approx((-widest, widest))


def test_a_walker_whose_file_leaves_its_angles_to_its_arena_can_bend_its_knees():
    _, _, it = on_stage(make_body(cmu_humanoid("locomotion/walkers/assets/humanoid_CMU_V2019.xml"), root="free"))
    assert it.joint("ltibiarx").range == pytest.approx((0.01, 2.96706))
