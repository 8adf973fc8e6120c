"""A clip or body is read, checked and built once per command, and read anew when its file changes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stunt
from stunt.cli.main import main
from stunt.errors import InvalidValueError, ScriptFileError, UnknownNameError
from stunt.examples import example
from stunt.library.names import OWN_CLIPS, Library, load_clip
from stunt.library.read import FileMemory, forget_clips
from stunt.motion.clips import recognise, standing
from stunt.motion.clips.file_stamps import note_use
from stunt.motion.clips.raw import ClipFormat
from stunt.motion.formats import bvh, registry
from stunt.motion.rig import skeleton_body
from stunt.script.file import load_script, script_from_data, script_to_data
from stunt.script.performance import Performance


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often files are parsed, floors found and bodies built from now on, by what they are."""
    found: Counter[str] = Counter()

    def count(module: Any, name: str, tell: Callable[..., str]) -> None:
        real = getattr(module, name)

        def wrapper(*args: Any, **options: Any) -> Any:
            found[tell(*args)] += 1
            return real(*args, **options)

        monkeypatch.setattr(module, name, wrapper)

    count(bvh, "_read_hierarchy", lambda lines: f"parse {Path(lines.file).stem}")
    count(standing, "_floor_height", lambda clip, parts: f"floor {clip.name}")
    count(skeleton_body, "_body_of", lambda clip, parts: f"plan {clip.name}")
    count(skeleton_body, "build_from_plan", lambda plan, build: f"build {plan.name}")
    forget_clips()
    recognise._by_words.cache_clear()
    return found


def test_track_reads_its_clip_and_builds_its_body_once(counted: Counter[str], tmp_path: Path) -> None:
    assert main(["track", "walk", "--out", str(tmp_path), "--quiet", "--no-pictures", "--push", "40@0.5"]) == 0
    assert counted == {"parse walk": 1, "floor walk": 1, "plan walk": 1, "build walk": 1}
    assert recognise._by_words.cache_info().misses <= 2  # the clip's joints; the body's own


def test_a_performance_reads_every_clip_once_and_builds_every_body_once(counted: Counter[str]) -> None:
    performance = Performance(load_script(example("trip").path))
    performance.stage.advance(2)
    performance.take()
    print(counted)
    assert counted["parse walk"] == 1 and max(counted.values()) == 1


def test_clips_of_one_file_are_parsed_once_whatever_their_options(counted: Counter[str]) -> None:
    one, other = load_clip("walk"), load_clip("walk?loop=true")
    assert counted["parse walk"] == 1 and not one.loop and other.loop
    assert load_clip("walk") is one and load_clip(OWN_CLIPS / "walk.bvh") is one


def test_a_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "mine.bvh"
    text = (OWN_CLIPS / "walk.bvh").read_text()
    path.write_text(text)
    first = load_clip(path)
    assert load_clip(path) is first
    path.write_text(text.replace("Frame Time: 0.016", "Frame Time: 0.032"))  # as long, within the same moment
    stamp = path.stat()
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    again = load_clip(path)
    assert again is not first and again.fps == pytest.approx(first.fps / 2, rel=0.05)


def test_a_mapping_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    stunt.load_clip("walk")
    mapping = tmp_path / "map.yaml"
    assert main(["check", "walk", "--mapping", str(mapping)]) == 0
    one = load_clip(f"walk?mapping={mapping}")
    mapping.write_text("\n".join(line for line in mapping.read_text().splitlines() if "r_toe" not in line))
    other = load_clip(f"walk?mapping={mapping}")
    assert "r_toe" in one.parts and "r_toe" not in other.parts


def test_what_is_shared_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        load_clip("walk").rotations[0] = 0.0
    body = stunt.body_from_clip(load_clip("walk")).spec
    body.geoms[0].rgba = [1, 0, 0, 1]
    assert not np.allclose(stunt.body_from_clip(load_clip("walk")).spec.geoms[0].rgba, [1, 0, 0, 1])


def test_the_memory_forgets_what_was_asked_for_longest_ago(tmp_path: Path) -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        note_use(tmp_path / "file")
        return number

    memory: FileMemory[int] = FileMemory(2, 100, lambda value: value)
    for number in (1, 2, 1, 3, 1, 2):
        assert memory.recall(number, lambda number=number: make(number)) == number  # type: ignore[misc]
    assert made == [1, 2, 3, 2] and len(memory) == 2
    memory.recall(99, lambda: make(99))
    assert len(memory) == 1  # it is large
    (tmp_path / "file").write_text("now there is one")
    memory.recall(99, lambda: make(99))
    assert made[-2:] == [99, 99]


# ---- references


def test_a_changed_clip_is_a_body_and_is_followed_and_named_in_the_take() -> None:
    clip = stunt.load_clip("walk").mirrored().trimmed(0.0, 1.0)
    assert clip.title == "walk, mirrored, trimmed to 0–1 s"
    script = script_from_data(
        {
            "rate": 120,
            "characters": {"ada": {"body": "walk", "root": "free"}},
            "performance": {"ada": {"clips": {"play": [{"clip": "walk"}]}}},
        }
    )
    part = script.parts["ada"].sections["clips"]
    sections = {"clips": replace(part, play=(replace(part.play[0], clip=clip),))}
    people = {"ada": replace(script.scene.characters["ada"], body=clip)}
    changed = replace(
        script,
        scene=replace(script.scene, characters=people),
        parts={"ada": replace(script.parts["ada"], sections=sections)},
    )
    performance = Performance(changed)
    assert performance.seconds == pytest.approx(1.0, abs=0.02)
    take = performance.run()
    assert take.cast.characters["ada"].body == clip.title and np.isfinite(take.qpos).all()
    with pytest.raises(ScriptFileError, match="walk, mirrored.* only in memory"):
        script_to_data(changed)


def test_a_clip_in_memory_takes_no_options_of_files() -> None:
    clip = load_clip("walk")
    assert load_clip(clip) is clip
    with pytest.raises(InvalidValueError, match="in memory"):
        load_clip(clip, overrides=stunt.motion.clips.assume.Overrides(fps=3.0))


def test_folders_of_clips_reach_every_section(tmp_path: Path) -> None:
    mine, scripts = tmp_path / "mine", tmp_path / "scripts"
    mine.mkdir()
    scripts.mkdir()
    for name, of in (("my_guard", "guard"), ("my_jab", "jab"), ("my_walk", "walk")):
        (mine / f"{name}.bvh").write_bytes((OWN_CLIPS / f"{of}.bvh").read_bytes())
    blows = "{jab: {clip: my_jab, at: 0.5, limb: l_hand}}"
    fight = f"{{against: ben, clips: [my_guard, my_jab], blows: {blows}}}"
    sections = {
        "clips": "{play: [{clip: my_walk}], get_up: {back: my_guard}}",
        "supervisor": f"{{clips: {{a: my_guard}}, fights: {{b: {fight}}}}}",
        "trajectories": "{clip: {file: my_walk}}",
    }
    for key, section in sections.items():
        path = scripts / f"{key}.yaml"
        path.write_text(
            "seconds: 1\ncharacters:\n  ada: {body: human39, root: free}\n  ben: {body: human39, root: free}\n"
            f"performance:\n  ada:\n    {key}: {section}\n"
        )
        written = str(load_script(path, clips=[mine]).parts["ada"].sections[key])
        assert str(mine / "my_") in written and "'my_guard'" not in written.replace("name='my_guard'", "")


def test_files_beside_the_script_go_before_files_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    library = Library(beside="there")
    (tmp_path / "a.bvh").write_bytes((OWN_CLIPS / "walk.bvh").read_bytes())
    assert library.located("a.bvh?loop=true") == "a.bvh?loop=true"
    (tmp_path / "there" / "a.bvh").write_bytes((OWN_CLIPS / "idle.bvh").read_bytes())
    assert library.located("a.bvh?loop=true") == str(Path("there/a.bvh?loop=true"))
    assert library.located("human39") == "human39" and library.located("walk") == "walk"


def test_an_animation_stands_behind_a_number_sign() -> None:
    with pytest.raises(InvalidValueError, match=r"only \.glb and \.gltf"):
        load_clip("walk#Run")


def test_messages_list_the_suffixes_of_all_formats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = ClipFormat("mine", (".mine",), bvh.read_bvh, listed=("*.mine",))
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, mine))
    with pytest.raises(UnknownNameError, match=r"\.bvh, .*\.glb, .*\.fbx, .* or \.mine"):
        load_clip("nobody")
    with pytest.raises(UnknownNameError, match=r"\.urdf, \.bvh, .*\.mine"):
        stunt.Stage(stunt.Scene({"ada": stunt.CharacterSpec("nobody")}))
    (tmp_path / "own.mine").write_bytes((OWN_CLIPS / "idle.bvh").read_bytes())
    assert load_clip("own", [tmp_path]).name == "own" and Library().is_clip("own.mine")
