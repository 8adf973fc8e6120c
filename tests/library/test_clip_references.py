"""Clips as scripts and commands name them: mapping files, options, folders, and what of a clip is played."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.cli.main import main
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.library.names import OWN_CLIPS, clip_entries, load_clip
from stunt.library.read import read_clip
from stunt.motion.clips.mapping import JointMapping, guess_mapping, write_mapping
from stunt.script.file import load_script, save_script
from stunt.script.performance import Performance

SNAKE = """HIERARCHY
ROOT a
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
JOINT b
{
OFFSET 0 0 30
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 0 30
}
}
}
MOTION
Frames: 3
Frame Time: 0.04
0 5 0 0 0 0 0 0 0
0 5 0 0 0 0 0 0 5
0 5 0 0 0 0 0 0 9
"""


@pytest.fixture
def gibberish(tmp_path: Path) -> Path:
    """A folder with the own walk under names nobody could guess, and a mapping file for it."""
    text = (OWN_CLIPS / "walk.bvh").read_text()
    skeleton = load_clip("walk").skeleton
    names = {name: f"J{number:02d}" for number, name in enumerate(skeleton.names)}
    for name, other in names.items():
        text = text.replace(f"ROOT {name}\n", f"ROOT {other}\n").replace(f"JOINT {name}\n", f"JOINT {other}\n")
    (tmp_path / "gib.bvh").write_text(text)
    known = guess_mapping(skeleton)
    write_mapping(JointMapping({part: names[joint] for part, joint in known.joints.items()}), tmp_path / "map.yaml")
    return tmp_path


def script(folder: Path, section: str, body: str = "skeleton", name: str = "script.yaml") -> Path:
    text = f"seconds: 0.2\nrate: 120\ncharacters:\n  ada: {{body: '{body}', root: free, self_collision: false}}\n"
    path = folder / name
    path.write_text(f"{text}performance:\n  ada:\n    {section}\n")
    return path


def report_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)["characters"]
    return found


# ---- mapping files


@pytest.mark.parametrize("body", ["skeleton", "human39"])
@pytest.mark.parametrize("option", [True, False], ids=["?mapping=", "--mapping"])
def test_track_goes_by_a_mapping_file(
    gibberish: Path, body: str, option: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(gibberish)
    words = ["gib.bvh?mapping=map.yaml"] if option else ["gib.bvh", "--mapping", "map.yaml"]
    found = report_of(capsys, "track", *words, "--body", body, "--yaw", "0.1")["double"]
    known = report_of(capsys, "track", "walk", "--body", body, "--yaw", "0.1")["double"]
    print(body, found["error_deg_mean"], known["error_deg_mean"])  # type: ignore[index]
    assert found["error_deg_mean"] == pytest.approx(known["error_deg_mean"], rel=1e-3)  # type: ignore[index]


@pytest.mark.parametrize("body", ["skeleton", "human39"])
@pytest.mark.parametrize(
    "section",
    [
        "clips: {play: [{clip: 'gib.bvh?mapping=map.yaml'}]}",
        "clips: {play: [{clip: gib.bvh}, {clip: walk}], mapping: map.yaml, get_up: {back: stand_up}}",
        "supervisor: {clips: {a: {clip: 'gib.bvh?mapping=map.yaml'}}}",
    ],
    ids=["option", "section", "supervisor"],
)
def test_scripts_go_by_a_mapping_file_beside_them(gibberish: Path, section: str, body: str) -> None:
    path = script(gibberish, section, body)  # the current directory is another one
    take = Performance(load_script(path)).run()
    assert np.isfinite(take.qpos).all()


def test_a_mapping_travels_with_the_clip_into_body_retargeting_and_mirror(gibberish: Path) -> None:
    clip, plain = read_clip(f"{gibberish}/gib.bvh?mapping=map.yaml"), load_clip("walk")
    assert clip.parts == plain.parts
    left, known = clip.mirrored(), plain.mirrored()
    np.testing.assert_allclose(left.rotations, known.rotations, atol=1e-9)


def test_a_mapping_in_another_folder_survives_saving(gibberish: Path) -> None:
    (gibberish / "clips").mkdir()
    (gibberish / "gib.bvh").rename(gibberish / "clips" / "gib.bvh")
    path = script(gibberish, "clips: {play: [{clip: 'clips/gib.bvh?mapping=map.yaml'}]}")
    first = load_script(path)
    save_script(first, gibberish / "again.yaml")
    again = load_script(gibberish / "again.yaml")
    assert again.scene.characters["ada"].body == first.scene.characters["ada"].body
    Performance(again)


# ---- folders


def test_folders_of_clips_reach_clips_supervisors_and_walks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name, of in (("mine", "myidle", "idle"), ("mine", "mywalk", "walk")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.bvh").write_bytes((OWN_CLIPS / f"{of}.bvh").read_bytes())
    (tmp_path / "scripts").mkdir()
    walk = "walks: {stroll: {path: [[0, 0], [3, 0]], clips: [mywalk], asked: true}}"
    for section in ("clips: {play: [{clip: myidle}]}", f"supervisor: {{clips: {{a: {{clip: myidle}}}}, {walk}}}"):
        path = script(tmp_path / "scripts", section).relative_to(tmp_path)
        assert main(["perform", str(path), "--json", "--clips", "mine"]) == 0
        assert main(["perform", str(path), "--json"]) == 2
        assert "unknown clip 'myidle'" in capsys.readouterr().err


def test_options_of_a_supervisors_clip_beside_the_script_are_read(tmp_path: Path) -> None:
    (tmp_path / "myidle.bvh").write_bytes((OWN_CLIPS / "idle.bvh").read_bytes())
    path = script(tmp_path, "supervisor: {clips: {a: {clip: 'myidle.bvh?fps=30'}}}")
    Performance(load_script(path))


def test_a_clips_name_is_a_body(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "double" in report_of(capsys, "track", "walk", "--body", "idle")
    Performance(load_script(script(tmp_path, "clips: {play: [{clip: walk}]}", "idle")))
    stunt.Stage(stunt.Scene({"ada": stunt.CharacterSpec("idle", root="free")}))
    with pytest.raises(UnknownNameError, match="the name of a clip"):
        stunt.Stage(stunt.Scene({"ada": stunt.CharacterSpec("idel")}))


def test_pybullets_motions_of_its_walker_are_offered() -> None:
    pytest.importorskip("pybullet_data", reason="PyBullet is not installed")
    names = [name for name, entry in clip_entries().items() if entry.source == "pybullet"]
    assert {"pybullet:walk", "pybullet:backflip"} <= set(names)


# ---- what of a clip is played, and options


@pytest.mark.parametrize(
    ("section", "what"),
    [
        ("clips: {play: [{clip: walk, from: 5, to: 1}]}", "to must be later"),
        ("clips: {play: [{clip: walk, from: 0.8, to: 0.2}]}", "to must be later"),
        ("clips: {play: [{clip: idle}, {clip: walk, from: 50}]}", "from must be a time within clip 'walk'"),
        ("supervisor: {clips: {a: {clip: walk, from: 0.8, to: 0.2}}}", "to must be later"),
        ("supervisor: {clips: {a: {clip: walk, from: 9}}}", "from must be a time within clip 'walk'"),
        ("clips: {play: [{clip: 'walk?fsp=30'}]}", "unknown clip option 'fsp'"),
        ("clips: {play: [{clip: 'walk?fps=fast'}]}", "must be a number"),
        ("clips: {play: [{clip: 'walk?fps=0.01'}]}", "fps must be"),
        ("supervisor: {clips: {a: {clip: 'walk?up=w'}}}", "up must be x, y or z"),
    ],
)
def test_impossible_clips_are_refused_with_file_and_line(section: str, what: str, tmp_path: Path) -> None:
    path = script(tmp_path, section)
    with pytest.raises((InvalidValueError, UnknownNameError), match=what) as caught:
        Performance(load_script(path))
    assert caught.value.place.file == str(path) and caught.value.place.line >= 5


def test_left_and_right_can_be_exchanged_by_an_option() -> None:
    clip, other = read_clip(OWN_CLIPS / "punch.bvh"), read_clip(f"{OWN_CLIPS / 'punch.bvh'}?mirror=true")
    hand, across = clip.parts["r_hand"], clip.parts["l_hand"]
    np.testing.assert_allclose(
        clip.world.positions[:, hand] * [1.0, -1.0, 1.0], other.world.positions[:, across], atol=0.02
    )


def test_a_body_named_by_a_clip_keeps_its_name_unless_a_folder_has_another(tmp_path: Path) -> None:
    path = script(tmp_path, "clips: {play: [{clip: walk}]}", "idle")
    assert load_script(path).scene.characters["ada"].body == "idle"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "idle.bvh").write_bytes((OWN_CLIPS / "kick.bvh").read_bytes())
    mine = load_script(path, clips=[tmp_path / "mine"])
    assert mine.scene.characters["ada"].body == str(tmp_path / "mine" / "idle.bvh")


@pytest.mark.parametrize(
    "section",
    [
        "supervisor: {walks: {a: {path: [[0, 0], [1, 0]]}}, controllers: [balance]}",
        "clips: {play: [{clip: odd.bvh}]}",
        "supervisor: {clips: {a: odd.bvh}}",
    ],
)
def test_a_clip_that_does_not_fit_its_body_is_refused_with_file_and_line(section: str, gibberish: Path) -> None:
    (gibberish / "odd.bvh").write_text(SNAKE)
    path = script(gibberish, section, "human39")
    with pytest.raises(stunt.errors.StuntError) as caught:
        Performance(load_script(path))
    print(caught.value)
    assert str(caught.value).startswith(f"{path}:") and caught.value.place.line >= 5
