"""Skeletons as Mixamo, LaFAN1, DeepMimic and CMU name them: recognised, built, and brought onto other bodies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from clip_helpers import captures, needs_mocap

import stunt.library.names as library
from stunt.library.doctor import examine
from stunt.library.names import find_clip, load_clip
from stunt.library.read import read_clip
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import EndSite, Skeleton
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.clips.vocabulary import vocabulary
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.motion.rig.skeleton_body import body_from_clip

LAFAN1 = {"LeftToeBase": "LeftToe", "RightToeBase": "RightToe"}
"""What LaFAN1 calls differently from Stunt's own clips."""
PARTS = {
    "hips": "Hips", "spine": "Spine", "spine2": "Spine1", "spine3": "Spine2", "neck": "Neck", "head": "Head",
    **{
        f"{side[0].lower()}_{part}": f"{side}{name}"
        for side in ("Left", "Right")
        for part, name in {
            "clavicle": "Shoulder", "upper_arm": "Arm", "forearm": "ForeArm", "hand": "Hand", "thigh": "UpLeg",
            "shank": "Leg", "foot": "Foot", "toe": "ToeBase",
        }.items()
    },
}  # fmt: skip
FINGERS = tuple(f"{side}Hand{finger}{n}" for side in ("Left", "Right") for finger in ("Thumb", "Index") for n in (1, 2))


def renamed(clip: Clip, names: dict[str, str], prefix: str = "", extra: tuple[str, ...] = ()) -> Clip:
    """Return a clip whose joints are called otherwise, with some joints more at the hands."""
    bones = clip.skeleton
    called = [prefix + names.get(name, name) for name in bones.names]
    parents, offsets = list(bones.parents), [*bones.offsets]
    for name in extra:
        called.append(prefix + name)
        parents.append(bones.joint("LeftHand" if name.startswith("Left") else "RightHand"))
        offsets.append(np.array([0.01, 0.0, -0.08]))
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (clip.frames, len(extra), 1))
    tips = tuple(EndSite(tip.parent, tip.offset) for tip in bones.end_sites)
    skeleton = Skeleton(tuple(called), tuple(parents), np.array(offsets), tips)
    return Clip(clip.name, skeleton, clip.fps, clip.root, np.concatenate([clip.rotations, rest], axis=1))


VOCABULARIES = {"Mixamo": ({}, "mixamorig:", FINGERS), "LaFAN1": (LAFAN1, "", ())}


@pytest.mark.parametrize("who", VOCABULARIES)
def test_every_part_is_recognised_and_fingers_are_nobodys(who: str) -> None:
    names, prefix, extra = VOCABULARIES[who]
    clip = renamed(load_clip("walk"), names, prefix, extra)
    parts = guess_parts(clip.skeleton.names, clip.skeleton.parents)
    assert vocabulary(clip.skeleton.names) == who
    wanted = {part: prefix + names.get(name, name) for part, name in PARTS.items()}
    assert {part: clip.skeleton.names[joint] for part, joint in parts.items()} == wanted


@pytest.mark.parametrize("who", VOCABULARIES)
def test_a_file_with_those_names_makes_the_same_body_as_the_clip_it_came_from(who: str, tmp_path: Path) -> None:
    names, prefix, extra = VOCABULARIES[who]
    path = write_bvh(renamed(load_clip("walk"), names, prefix, extra), tmp_path / f"{who}.bvh")
    mine, theirs = body_from_clip(load_clip("walk")), body_from_clip(read_clip(path))
    assert [bone.name for bone in theirs.plan.bones] == [bone.name for bone in mine.plan.bones]
    assert theirs.plan.height == pytest.approx(mine.plan.height, abs=1e-3)
    assert np.allclose(theirs.qpos_at(0.3), mine.qpos_at(0.3), atol=1e-4)
    assert examine(path).vocabulary == who and examine(path).missing == ()


POSER = {
    f"{side}{name}": side[0].lower() + word
    for side in ("Left", "Right")
    for name, word in {
        "Shoulder": "Collar", "Arm": "Shldr", "ForeArm": "ForeArm", "Hand": "Hand", "UpLeg": "Thigh", "Leg": "Shin",
        "Foot": "Foot", "ToeBase": "Toe",
    }.items()
}  # fmt: skip


@pytest.mark.parametrize(("names", "prefix"), [({}, "Robot_"), ({}, "DEF-"), (POSER, "")])
def test_prefixes_of_actors_and_rigs_and_posers_names_are_seen_through(names: dict[str, str], prefix: str) -> None:
    clip = renamed(load_clip("walk"), names, prefix, ())
    wanted = {part: prefix + names.get(name, name) for part, name in PARTS.items()}
    parts = guess_parts(clip.skeleton.names, clip.skeleton.parents)
    assert {part: clip.skeleton.names[joint] for part, joint in parts.items()} == wanted


def test_a_spine_that_is_numbered_up_to_the_head_has_a_neck_and_a_head() -> None:
    legs = [f"{part}.{side}" for side in "LR" for part in ("thigh", "shin", "foot", "toe")]
    names = ["spine", *(f"spine.{number:03}" for number in range(1, 7)), *legs]
    parts = guess_parts(names, [*range(-1, 6), 0, 7, 8, 9, 0, 11, 12, 13])
    assert (parts["head"], parts["neck"], parts["neck2"], parts["spine3"]) == (6, 4, 5, 3) and parts["l_shank"] == 8


def test_the_doctor_names_what_is_missing_inside_a_limb_and_people_of_no_size(tmp_path: Path) -> None:
    walk = load_clip("walk")
    path = write_bvh(walk, tmp_path / "a.bvh")
    lines = "\n".join(f"  {part}: {name}" for part, name in PARTS.items() if part != "l_forearm")
    (tmp_path / "map.yaml").write_text(f"joints:\n{lines}\n")
    assert any("l_forearm" in line for line in examine(f"{path}?mapping={tmp_path}/map.yaml").warnings)
    assert any("17" in line and "--scale" in line for line in examine(f"{path}?scale=0.1").warnings)


@needs_mocap
def test_no_shared_clip_is_said_to_have_a_wrong_frame_rate() -> None:
    """Their rates are known to be right: a warning would be the doctor's mistake."""
    wrong, judged = {}, 0
    for path in captures(".bvh", ".amc"):
        found = examine(path)
        judged += found.flight is not None
        rate = [line for line in found.warnings if "frame rate" in line]
        if rate:
            wrong[path.name] = rate
    print(f"{judged} clips have flight phases to judge by; warned about: {wrong}")
    assert not wrong and judged >= 3


def test_clips_inside_an_installed_pybullet_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the wheel if it is here, else with a folder laid out like it."""
    if importlib.util.find_spec("pybullet_data") is None:
        motions = tmp_path / "pybullet_data" / "data" / "motions"
        motions.mkdir(parents=True)
        (tmp_path / "pybullet_data" / "__init__.py").write_text("")
        row = "[0.0333, 0, 0.9, 0, 1, 0, 0, 0" + ", 1, 0, 0, 0" * 2 + ", 1, 0, 0, 0, 0.1, 1, 0, 0, 0, 1, 0, 0, 0, 0.1"
        row += ", 1, 0, 0, 0, 0.1, 1, 0, 0, 0, 1, 0, 0, 0, 0.1]"
        (motions / "humanoid3d_walk.txt").write_text('{"Loop": "wrap", "Frames": [' + ", ".join([row] * 4) + "]}")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        importlib.invalidate_caches()
    assert any(path.stem == "humanoid3d_walk" for path in library.pybullet_clips())
    walk = load_clip("pybullet:walk")
    assert walk.loop and find_clip("pybullet:walk").name == "humanoid3d_walk.txt"
    monkeypatch.delitem(sys.modules, "pybullet_data", raising=False)
