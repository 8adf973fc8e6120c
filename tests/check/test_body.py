"""Foreign bodies perform key-framed scripts, and the doctor says what they are."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

from stunt.check.body import examine_body
from stunt.library.names import OWN_CLIPS
from stunt.script.file import script_from_data
from stunt.script.performance import Performance

MODELS = Path(__file__).parents[1] / "character" / "models"


def cmu_humanoid() -> str:
    found = importlib.util.find_spec("dm_control")
    if found is None or not found.submodule_search_locations:
        pytest.skip("dm_control is not installed")
    folder = Path(found.submodule_search_locations[0])
    return str(folder / "locomotion" / "walkers" / "assets" / "humanoid_CMU_V2020.xml")


FOREIGN = {
    "CMU humanoid": (
        cmu_humanoid,
        {"wave": {"rhumerusrz": 40, "rradiusrx": 60, "headrx": 10}, "bow": {"lowerbackrx": 12, "lhumerusrz": -30}},
    ),
    "desk robot": (
        lambda: str(MODELS / "pip.xml"),
        {"wave": {"right_shoulder_pitch": 130, "right_elbow": 50, "neck_yaw": 30}, "bow": {"left_hip_pitch": 40}},
    ),
    "URDF crane": (
        lambda: str(MODELS / "crane_description" / "urdf" / "crane.urdf"),
        {"wave": {"slew": 45, "luff": 40, "telescope": "0.15 m"}, "bow": {"luff": -10, "wrist_pitch": 40}},
    ),
    "quadruped": (
        lambda: str(MODELS / "hound.xml"),
        {"wave": {"fl_swing": 60, "fl_bend": 70, "nod": 20}, "bow": {"fl_swing": -30, "rr_spread": 25}},
    ),
}


@pytest.mark.parametrize("who", FOREIGN)
@pytest.mark.parametrize("rate", [120, 480])
def test_a_foreign_body_performs_a_key_framed_script_within_a_degree(who: str, rate: int) -> None:
    find, poses = FOREIGN[who]
    data = {
        "rate": rate,
        "characters": {"it": {"body": find(), "at": [0, 0, 0.3]}},
        "poses": poses,
        "performance": {
            "it": {"beats": [{"pose": "wave", "at": 0.7}, {"pose": "bow", "at": 1.5}, {"pose": "wave", "at": 2.3}]}
        },
    }
    performance = Performance(script_from_data(data))
    performance.run()
    results = performance.performers["it"].results
    worst = max(result.error_deg for result in results)
    print(f"{who} at {rate} Hz: worst of {len(results)} beats {worst:.4f}° (mm for slides)")
    assert len(results) == 3 and worst <= 1.0


@pytest.mark.parametrize("who", FOREIGN)
def test_a_foreign_body_survives_the_doctor(who: str) -> None:
    found = examine_body(FOREIGN[who][0]())
    print(who, found.mass_kg, found.size_m, found.marks, [held.left for held in found.held], found.warnings)
    assert found.usable and found.mass_kg > 1.0 and all(held.stable for held in found.held)
    assert found.assumed and math.isfinite(found.inertia_ratio)


def test_our_own_people_have_nothing_to_complain_about() -> None:
    found = examine_body("human39")
    assert found.kind == "built-in" and found.warnings == () and found.missing == () and found.usable
    assert found.size_m[2] == pytest.approx(1.741, abs=0.03)


def test_a_skeleton_is_examined_as_the_body_it_makes() -> None:
    found = examine_body(str(OWN_CLIPS / "walk.bvh"))
    assert found.kind == "skeleton" and found.joints == {"ball": 21} and found.usable


SICK = """<mujoco><worldbody><body name="trunk"><geom size="0.1" mass="10"/>
<body name="arm" pos="0 0 0.1"><joint name="a" axis="0 1 0" actuatorfrcrange="-0.5 0.5" range="-10 10"/>
<geom type="capsule" size="0.05" fromto="0 0 0 1 0 0" mass="5"/>
<body name="ghost" pos="1 0 0"><joint name="b" axis="0 1 0" range="20 40"/>
<inertial pos="0 0 0" mass="0.1" diaginertia="2 2 2"/><geom size="0.02"/>
<body name="mote" pos="0.1 0 0"><joint name="c" axis="0 1 0"/>
<inertial pos="0 0 0" mass="1e-4" diaginertia="1e-9 1e-9 1e-9"/></body></body></body></body></worldbody></mujoco>"""


def test_a_sick_body_is_told_what_is_wrong_with_it(tmp_path: Path) -> None:
    file = tmp_path / "sick.xml"
    file.write_text(SICK)
    found = examine_body(str(file))
    said = "\n".join((*found.warnings, *found.missing))
    for words in (
        "joint 'a' cannot hold what hangs on it", "the inertia of 'ghost' is that of a ring",
        "joint 'b' is outside its limits at rest", "joint 'c' moves only", "no limits: c",
        "no shape that can be touched: mote",
    ):  # fmt: skip
        assert words in said, said


def test_millimetres_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "big.xml"
    file.write_text(
        "<mujoco><worldbody><body name='a'><geom size='200' mass='3'/><body name='b' pos='0 0 900'><joint name='j' "
        "axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 800' size='40' mass='2'/></body></body></worldbody>"
        "</mujoco>"
    )
    said = "\n".join(examine_body(str(file)).warnings)
    assert "other units than metres" in said and "density" in said
