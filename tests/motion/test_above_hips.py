"""Files with a node above the hips: the person is the same, and the file is written as it was."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.library.doctor import examine
from stunt.library.names import OWN_CLIPS
from stunt.library.read import read_clip, read_raw
from stunt.motion.clips import edit as clip_edit
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.motion.rig.skeleton_body import body_from_clip

WALK = OWN_CLIPS / "walk.bvh"
SIX = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"


def under_a_node(folder: Path, kind: str) -> Path:
    """The own walk with a node above its hips: at the origin, below them, still, or the one that carries them."""
    head, motion = WALK.read_text().split("MOTION\n")
    frames, step, *rows = motion.splitlines()
    inner = head.removeprefix("HIERARCHY\n").replace("ROOT", "JOINT", 1)
    node, lead = SIX, "0 0 0 0 0 0 "
    if kind == "below":
        inner = re.sub(r"OFFSET \S+ \S+ \S+", "OFFSET 0 90 0", inner, count=1)
        node, lead = SIX, "0 0 0 0 0 0 "
    elif kind == "still":
        node, lead = "", ""
    elif kind == "turned":
        node, lead = SIX, "10 0 20 0 0 90 "
    elif kind == "carrying":
        inner = re.sub(r"CHANNELS 6 \S+ \S+ \S+", "CHANNELS 3", inner, count=1)
        node, lead = "CHANNELS 3 Xposition Yposition Zposition", ""
    text = "\n".join(["HIERARCHY", "ROOT Reference", "{", "OFFSET 0 0 0", node, inner.strip(), "}"])
    body = [f"{lead}{row}" for row in rows]
    path = folder / f"{kind}.bvh"
    path.write_text("\n".join([text, "MOTION", frames, step, *body]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["at_the_origin", "below", "still", "carrying"])
def test_the_person_under_a_node_is_the_person(kind: str, tmp_path: Path) -> None:
    path, own = under_a_node(tmp_path, kind), read_clip(WALK)
    clip = read_clip(path)
    assert np.allclose(clip.world.positions[:, 1:], own.world.positions, atol=1e-9)
    assert np.allclose(clip.root, own.root, atol=1e-9) and np.allclose(clip.rotations[:, 0], own.rotations[:, 0])
    found, wanted = examine(path), examine(WALK)
    assert "Reference" in found.assumed["hips"] and found.height_m == pytest.approx(wanted.height_m)
    assert found.floor_m == pytest.approx(wanted.floor_m) and found.foot_slide_m == pytest.approx(wanted.foot_slide_m)
    body, plain = body_from_clip(clip), body_from_clip(own)
    assert np.allclose(body.qpos_at(0.4), plain.qpos_at(0.4), atol=1e-9)


@pytest.mark.parametrize("kind", ["at_the_origin", "below", "still", "carrying", "turned"])
def test_a_file_with_a_node_above_the_hips_is_written_as_it_was(kind: str, tmp_path: Path) -> None:
    path = under_a_node(tmp_path, kind)
    clip, raw = read_clip(path), read_raw(path)
    again = read_raw(write_bvh(clip, tmp_path / "again.bvh"))
    assert again.names == raw.names and again.channels == raw.channels and raw.values is not None
    assert np.allclose(again.values, raw.values, atol=1e-4) and np.allclose(again.offsets, raw.offsets, atol=1e-4)
    for other in (clip_edit.trimmed(clip, 0.2, 0.6), clip_edit.mirrored(clip), clip_edit.sped_up(clip, 1.5)):
        written = read_clip(write_bvh(other, tmp_path / "other.bvh"))
        assert np.allclose(written.world.positions, other.world.positions, atol=1e-6)


def test_a_performed_clip_has_the_node_its_file_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = under_a_node(tmp_path, "below")
    assert main(["track", str(path), "--seconds", "0.4", "--out", "take", "--no-pictures", "--quiet"]) == 0
    assert main(["export", "take", "--to", "made.bvh", "--quiet"]) == 0
    made, raw = read_raw("made.bvh"), read_raw(path)
    assert made.names == raw.names and made.channels == raw.channels and np.allclose(made.offsets, raw.offsets)
    there, here = read_clip("made.bvh").world_at(0.3).positions, read_clip(path).world_at(0.3).positions
    assert np.abs(there - here).max() < 0.05
