"""URDF files become bodies: links by name, meshes found, effort as strength, and a word on what they lack."""

from __future__ import annotations

from pathlib import Path

import pytest
from body_helpers import MODELS, posed

from stunt.character.bodies import make_body
from stunt.character.character import Character
from stunt.character.notes import describe_body
from stunt.errors import BodyError

CRANE = MODELS / "crane_description" / "urdf" / "crane.urdf"

LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>{more}</link>"""
JOINT = """<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="1"/></joint>"""


def robot(tmp_path: Path, more: str = "", first: str = "") -> str:
    file = tmp_path / "robot.urdf"
    links = LINK.format(name="a", more="") + LINK.format(name="b", more=more)
    file.write_text(f"<robot name='r'>{first}{links}{JOINT}</robot>")
    return str(file)


def crane(**options):
    import mujoco

    spec = mujoco.MjSpec()
    spec.attach(make_body(str(CRANE), **options), prefix="it/", frame=spec.worldbody.add_frame())
    model, data = posed(spec)
    return model, data, Character(model, "it")


def test_links_joints_limits_and_efforts_come_in_by_name():
    model, _, it = crane()
    assert set(it.bodies) == {
        "base_link", "turret", "boom", "jib", "wrist_dummy", "tool", "finger_l", "finger_r",
    }  # fmt: skip
    assert it.joint("luff").strength == pytest.approx(260) and it.joint("luff").range == pytest.approx((-0.3, 1.3))
    assert it.joint("telescope").kind == "slide" and it.joint("slew").range is None
    assert 0 < it.joint("wrist_pitch").strength < 100  # effort 0 says nothing
    assert model.body_mass[it.body("boom")] == pytest.approx(5.0)
    assert model.neq == 1  # the second finger follows the first


def test_a_mesh_is_found_by_its_package_and_scaled():
    model, data, it = crane()
    meshes = [g for g in it.geoms if model.geom_dataid[g] >= 0]
    assert len(meshes) == 1 and model.geom_bodyid[meshes[0]] == it.body("boom")
    assert 2 * model.geom_aabb[meshes[0]][3:].max() == pytest.approx(0.28 * 1.5, rel=0.05)


def test_what_is_only_seen_is_kept_and_weighs_nothing():
    model, _, it = crane()
    seen = [g for g in it.geoms if not model.geom_contype[g] and not model.geom_conaffinity[g]]
    assert len(seen) == 2  # of base and jib; the boom's is a file that is not there
    assert model.body_mass[it.body("jib")] == pytest.approx(3.14159 * 0.03**2 * 0.3 * 1000, rel=1e-3)


def test_the_notes_say_everything_that_was_assumed():
    notes = "\n".join(describe_body(make_body(str(CRANE))))
    for words in (
        "1 mesh read", "boom_pretty.dae", "grip_r (as grip_l)", "1000 kg/m³, the file states none: jib",
        "cannot be touched, no <collision> shape: wrist_dummy", "at least 0.001 kg",
        "states none: wrist_pitch",
    ):  # fmt: skip
        assert words in notes


def test_a_fixed_base_can_be_set_free():
    _, _, it = crane(root="free")
    assert it.root is not None


def test_an_xml_that_is_a_urdf_inside_is_read_as_one(tmp_path):
    file = Path(robot(tmp_path)).rename(tmp_path / "robot.xml")
    assert make_body(str(file)).compile().njnt == 1


@pytest.mark.parametrize(
    ("more", "first", "message"),
    [
        ("<collision><geometry><mesh filename='gone.stl'/></geometry></collision>", "", "'gone.stl' of link 'b' is"),
        ("<collision><geometry><mesh filename='m/part.dae'/></geometry></collision>", "", "convert it to one of .stl"),
        ("", "<xacro:property xmlns:xacro='http://ros.org/wiki/xacro' name='x' value='1'/>", "xacro template"),
    ],
)
def test_what_cannot_be_read_says_how_to_mend_it(tmp_path, more, first, message):
    with pytest.raises(BodyError, match=message):
        make_body(robot(tmp_path, more, first))


def test_a_mesh_of_a_readable_kind_beside_an_unreadable_one_is_taken(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "part.obj").write_bytes((MODELS / "assets" / "shell.obj").read_bytes())
    body = make_body(robot(tmp_path, "<collision><geometry><mesh filename='m/part.dae'/></geometry></collision>"))
    assert body.compile().nmesh == 1


def test_broken_xml_is_refused_with_its_line(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text("<robot>\n<link name='a'>\n</robot>")
    with pytest.raises(BodyError, match=r"robot.urdf:3: is no XML"):
        make_body(str(file))


def test_elements_in_elements_without_end_are_refused(tmp_path):
    path = tmp_path / "a.urdf"
    path.write_text('<robot name="a">' + '<link name="l">' * 5000 + "</link>" * 5000 + "</robot>")
    with pytest.raises(BodyError, match="nested more than"):
        make_body(str(path))
