"""Which joint is which part: by words in many languages, and by the tree where words fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.library.doctor import examine
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.motion.clips.recognise import recognise
from stunt.motion.clips.words import read_names
from stunt.motion.formats.bvh_writer import write_bvh
from tests.campaigns.rigs import dog, person, wrong_parts
from tests.captured import SHARED

CESIUM = SHARED / "assets" / "gltf" / "CesiumMan.glb"


def test_rigs_under_random_names_with_random_helpers_are_recognised() -> None:
    rigs = [person(np.random.default_rng([77, number])) for number in range(150)]
    wrong = {number: (rig.style, wrong_parts(rig)) for number, rig in enumerate(rigs) if wrong_parts(rig)}
    print(wrong)
    assert len(wrong) <= 0.03 * len(rigs)


def test_four_legs_under_a_trunk_that_lies_are_a_quadrupeds() -> None:
    assert not any(wrong_parts(dog(np.random.default_rng([5, number]))) for number in range(40))


@pytest.mark.parametrize("names", [("leg_joint_L_1", "leg_joint_R_1", "arm_joint_L_2", "arm_joint_R_2"),
                                   ("femurleft", "femurright", "tibialeft", "tibiaright"),
                                   ("lfemur", "rfemur", "ltibia", "rtibia")])  # fmt: skip
def test_sides_are_seen_anywhere_in_a_name(names: tuple[str, ...]) -> None:
    assert [read.side for read in read_names(names)] == ["l_", "r_", "l_", "r_"]


def test_hinges_in_a_row_are_one_joint_whose_last_carries_the_bone() -> None:
    legs = [f"{side}_{part}_link" for side in ("left", "right")
            for part in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")]  # fmt: skip
    found = recognise(["pelvis", *legs], [-1, 0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11]).parts
    assert (found["l_thigh"], found["l_shank"], found["l_foot"], found["r_foot"]) == (3, 4, 6, 12)


def test_numbered_bones_make_the_same_body_as_named_ones_and_check_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = write_bvh(load_clip("walk"), tmp_path / "walk.bvh").read_text()
    for number, name in enumerate(load_clip("walk").skeleton.names):
        text = text.replace(f"ROOT {name}\n", f"ROOT B{number}\n").replace(f"JOINT {name}\n", f"JOINT B{number}\n")
    path = tmp_path / "numbers.bvh"
    path.write_text(text)
    parts, wanted = read_clip(path).parts, load_clip("walk").parts
    limbs = [part for part in wanted if part[:2] in ("l_", "r_")]
    assert {part: parts.get(part) for part in limbs} == {part: wanted[part] for part in limbs}
    assert main(["check", str(path), "--mapping", str(tmp_path / "map.yaml")]) == 0
    said = capsys.readouterr().out
    assert "confidence" in said and "l_thigh: B" in said and examine(path).kind == "person"
    assert main(["check", f"{path}?mapping={tmp_path}/map.yaml"]) == 0
    assert "by the mapping file" in capsys.readouterr().out


def test_track_repeats_what_check_warns_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk = load_clip("walk").trimmed(0.0, 0.5)
    root = walk.root.copy()
    root[20] += [0.3, 0.0, 0.0]
    path = write_bvh(walk.with_motion(root, walk.rotations), tmp_path / "spiked.bvh")
    assert any("spikes" in line for line in examine(path).warnings)
    assert main(["track", str(path), "--json"]) == 0
    assert "spikes" in capsys.readouterr().out


@pytest.mark.skipif(not CESIUM.is_file(), reason="the sample characters are not here")
def test_a_character_whose_sides_stand_in_the_middle_of_names_is_a_person() -> None:
    found = examine(CESIUM)
    assert not found.missing and found.parts["l_foot"] == "leg_joint_L_3" and found.confidence > 0.85
