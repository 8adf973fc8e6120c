"""`stunt check`: what it prints, what can be overridden, and how it fails."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.library.names import OWN_CLIPS, load_clip
from stunt.maths import rotations
from stunt.motion.formats.bvh_writer import write_bvh


def test_check_says_what_a_clip_is_and_what_would_be_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "walk"]) == 0
    text = capsys.readouterr().out
    for words in (
        "141 frames at 60 per second",
        "22 joints",
        "1 unit is 0.01 m; y is up",
        "assumed",
        "floor",
        "spikes",
    ):
        assert words in text


def test_check_gives_the_same_as_json_and_takes_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(OWN_CLIPS / "kick.bvh"), "--json", "--fps", "30", "--scale", "0.02", "--up", "y"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["fps"], found["metres_per_unit"], found["up"]) == (30.0, 0.02, "y")
    assert found["overridden"] == {"fps": 30.0, "scale": 0.02, "up": "y"} and found["parts"]["l_shank"] == "LeftLeg"


def test_check_says_what_fitting_would_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = load_clip("idle").trimmed(0.0, 2.0)
    turns, upper = clip.rotations.copy(), clip.parts["l_upper_arm"]
    bump = 0.25 * np.exp(-0.5 * ((np.arange(clip.frames) / clip.fps - 1.0) / 0.15) ** 2)
    turns[:, upper] = rotations.multiply(
        rotations.from_rotation_vector(np.outer(bump, [-1.0, 0.0, 0.0])), turns[:, upper]
    )
    path = str(write_bvh(replace(clip, rotations=turns), tmp_path / "through.bvh"))
    assert main(["check", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["fitting"]
    worst = found["overlaps"][0]
    assert found["overlap_cm"] > 1.0 and worst["start_s"] < 1.0 < worst["end_s"] and worst["one"].startswith("l_")
    assert main(["check", path]) == 0
    said = (
        f"limbs {worst['deep_cm']:.1f} cm inside each other between {worst['start_s']:.2f} and {worst['end_s']:.2f} s"
    )
    text = capsys.readouterr().out
    assert f"  fitting      {said} ({worst['one']} in {worst['other']})\n" in text and "to take them apart" in text
    assert main(["check", "idle"]) == 0
    assert "inside each other" not in capsys.readouterr().out


def test_check_writes_a_mapping_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "idle", "--mapping", str(tmp_path / "map.yaml")]) == 0
    assert "l_shank: LeftLeg" in (tmp_path / "map.yaml").read_text()


def test_check_fails_with_file_and_line_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.bvh"
    broken.write_text("HIERARCHY\nROOT a\n{\nOFFSET 0 0 x\n")
    assert main(["check", str(broken)]) == 2
    assert f"{broken}:4" in capsys.readouterr().err
    assert main(["check", "nosuchclip"]) == 2
    assert "unknown clip" in capsys.readouterr().err
    assert main(["check", "walk", "--fps", "-3"]) == 2


def test_a_clip_file_is_a_body_in_scripts(tmp_path: Path) -> None:
    from stunt.stage.build import build
    from stunt.stage.scene import CharacterSpec, Scene

    built = build(Scene({"ada": CharacterSpec(str(OWN_CLIPS / "walk.bvh"), root="free", mass=60.0)}))
    ada = built.characters["ada"]
    assert ada.mass == pytest.approx(60.0) and ada.joints["l_knee"].kind == "ball" and ada.root is not None


def test_a_body_called_skeleton_has_the_bones_of_the_characters_clip() -> None:
    from stunt.errors import MissingValueError
    from stunt.script.file import script_from_data

    data = {"characters": {"ada": "skeleton"}, "performance": {"ada": {"clips": {"play": [{"clip": "walk"}]}}}}
    script = script_from_data(data)
    assert script.scene.characters["ada"].body == str(OWN_CLIPS / "walk.bvh")
    with pytest.raises(MissingValueError, match="clips"):
        script_from_data({"characters": {"ada": "skeleton"}, "seconds": 1.0})


def test_the_snippets_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = Path(__file__).parents[2] / "docs" / "clips.md"
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert (tmp_path / "walk_then_punch.bvh").is_file()


MODELS = Path(__file__).parents[1] / "character" / "models"


CRANE = str(MODELS / "crane_description" / "urdf" / "crane.urdf")


@pytest.mark.parametrize("body", ["human39", str(MODELS / "pip.xml"), CRANE])
def test_check_says_what_a_body_is(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", body]) == 0
    text = capsys.readouterr().out
    for words in ("mass  ", "scale  ", "inertia  ", "limits  ", "strength  ", "stability  ", "assumed  ", "verdict  "):
        assert words in text


def test_check_takes_a_skeleton_for_a_body_and_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(OWN_CLIPS / "idle.bvh"), "--as", "body", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["usable"] is True and found["kind"] == "skeleton" and found["joints"] == {"ball": 21}


def test_check_writes_which_body_is_which_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from stunt.motion.clips.mapping import read_mapping

    assert main(["check", str(MODELS / "pip.xml"), "--mapping", str(tmp_path / "map.yaml")]) == 0
    written = (tmp_path / "map.yaml").read_text()
    assert "l_shank: left_shin" in written and "l_toe" in written  # what nothing was recognised as is listed
    mapping = tmp_path / "map.yaml"
    assert read_mapping(mapping).bodies["head"] == "cranium"
    mapping.write_text(written.replace("head: cranium", "neck: cranium"))
    assert "head" not in read_mapping(mapping).bodies and read_mapping(mapping).bodies["neck"] == "cranium"


def test_check_of_a_broken_body_fails_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.urdf").write_text("<robot")
    assert main(["check", str(tmp_path / "broken.urdf")]) == 2
    assert "broken.urdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("section", "what"),
    [
        ("clips: {play: [{clip: nowhere}]}", "unknown clip 'nowhere'"),
        ("clips: {play: [{clip: walk}], get_up: {front: nowhere}}", "unknown clip 'nowhere'"),
        ("clips: {play: [{clip: walk, from: 0.8, to: 0.2}]}", "to must be later"),
        ("supervisor: {clips: {walk: {from: 9}}}", "from must be a time within"),
        ("supervisor: {walks: {a: {path: [[0, 0], [1, 0]], clips: [nowhere]}}}", "unknown clip 'nowhere'"),
    ],
)
def test_the_clips_of_a_script_are_looked_at(
    section: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(f"characters: {{ada: {{body: idle, root: free}}}}\nperformance:\n  ada:\n    {section}\n")
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert what in said and str(path) in said


def test_an_example_is_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "walk_clip", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"].endswith("walk_clip.yaml")


def test_a_skeleton_file_is_examined_at_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asf = ":units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0\n"
    asf += " orientation 0 0 0\n:bonedata\n begin\n name lfemur\n direction 0 -1 0\n length 7\n axis 0 0 20 XYZ\n"
    asf += " dof rx ry rz\n end\n:hierarchy\n begin\n root lfemur\n end\n"
    (tmp_path / "x.asf").write_text(asf)
    assert main(["check", str(tmp_path / "x.asf"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["fitting"] is None
        and found["joints"] == 2
        and found["format"] == "asf"
        and found["parts"]["l_thigh"] == "lfemur"
    )
