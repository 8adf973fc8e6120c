"""Readers and writers of motion files: round trips, odd files, and files that are broken on purpose."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from clip_helpers import SMALL_BVH, captures, needs_deepmimic, needs_mocap, random_clip

from stunt.errors import StuntError
from stunt.library.names import OWN_CLIPS
from stunt.library.read import read_clip, read_raw
from stunt.maths.rotations import difference, normalise
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.euler import from_euler, to_euler
from stunt.motion.clips.raw import ClipFileError
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.motion.formats.deepmimic import WIDTH
from stunt.motion.formats.npz import SMPL, write_npz


def _file(folder: Path, text: str, name: str = "a.bvh") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_the_same_turn_twice_in_a_row_is_refused_with_its_line(tmp_path: Path) -> None:
    text = SMALL_BVH.replace("Yrotation", "Xrotation").replace("Zrotation", "Xrotation")
    with pytest.raises(ClipFileError, match=r"a\.bvh:\d+: .*twice in a row"):
        read_clip(_file(tmp_path, text))


@pytest.mark.parametrize("order", ["XYZ", "ZYX", "YXZ", "ZXZ", "XY", "Z"])
def test_euler_angles_of_any_order_survive_the_way_through_quaternions(order: str) -> None:
    rng = np.random.default_rng(1)
    angles = rng.uniform(-7, 7, size=(200, len(order)))
    if len(order) == 3:
        angles[:50, 1] = np.pi / 2  # gimbal lock
    turns = from_euler(angles, order)
    assert np.allclose(to_euler(turns, order, angles), angles, atol=1e-7)
    again = from_euler(to_euler(turns, order), order)
    assert np.linalg.norm(difference(again, turns), axis=-1).max() < 1e-6


@needs_mocap
def test_every_shared_bvh_is_written_as_it_was_read(tmp_path: Path) -> None:
    worst = 0.0
    for path in captures(".bvh"):
        before, clip = read_raw(path), read_clip(path)
        if "spikes" in clip.door.assumed:
            continue  # what was mended is written mended
        after = read_raw(write_bvh(clip, tmp_path / "again.bvh"))
        assert (after.names, after.parents, after.channels) == (before.names, before.parents, before.channels)
        assert after.fps == pytest.approx(before.fps, rel=1e-5)
        tips = [np.abs(a[1] - b[1]).max() for a, b in zip(after.end_sites, before.end_sites, strict=True)]
        assert before.values is not None and after.values is not None
        worst = max(
            worst, np.abs(after.values - before.values).max(), np.abs(after.offsets - before.offsets).max(), *tips
        )
    print(f"worst difference after reading and writing all shared BVH files: {worst:.2e} file units")
    assert worst <= 1e-4


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_odd_channels_offsets_and_numbers_survive_the_round_trip(tmp_path: Path, ending: str) -> None:
    raw = read_raw(_file(tmp_path, SMALL_BVH.replace("\n", ending)))
    assert raw.fps == pytest.approx(30.0, rel=1e-5) and raw.names == ("Hips", "Spine", "Arm")
    assert raw.shifts is not None and raw.root[1].tolist() == [1.0, 91.0, -0.15]
    assert "include its OFFSET" in raw.notes["position channels of Spine"]
    again = read_raw(write_bvh(read_clip(tmp_path / "a.bvh"), tmp_path / "b.bvh"))
    assert raw.values is not None and again.values is not None
    assert np.abs(again.values - raw.values).max() < 1e-4


def test_a_changed_clip_is_written_so_that_it_reads_back_the_same(tmp_path: Path) -> None:
    clip = read_clip(_file(tmp_path, SMALL_BVH))
    changed = clip.with_motion(clip.root + 0.1, normalise(clip.rotations))
    back = read_clip(write_bvh(changed, tmp_path / "b.bvh"), Overrides(skip_frames=0))
    assert np.allclose(back.world.positions, changed.world.positions, atol=1e-6)


def test_a_clip_made_here_survives_bvh_and_npz(tmp_path: Path) -> None:
    clip = random_clip()
    same = Overrides(up="y", scale=0.01, skip_frames=0)
    bvh = read_clip(write_bvh(clip, tmp_path / "r.bvh"), same)
    order = [bvh.skeleton.joint(name) for name in clip.skeleton.names]
    assert np.allclose(bvh.world.positions[:, order], clip.world.positions, atol=1e-6)
    npz = read_clip(write_npz(clip, tmp_path / "r.npz"))
    assert np.allclose(npz.world.positions, clip.world.positions, atol=1e-12)


@needs_mocap
def test_the_same_walk_stands_equally_tall_from_asf_and_amc() -> None:
    walk = read_clip(captures(".amc")[0])
    assert (walk.frames, walk.fps, len(walk.skeleton)) == (329, 120.0, 31)
    assert 0.85 < walk.root[:, 2].min() < walk.root[:, 2].max() < 1.05
    left = walk.world.positions[:, walk.skeleton.joint("lhumerus")]
    elbow = walk.world.positions[:, walk.skeleton.joint("lradius")]
    assert (left[:, 2] - elbow[:, 2]).min() > 0.1  # arms hang in a walk
    assert "120" in walk.door.assumed["fps"]


@needs_deepmimic
def test_deepmimic_motions_are_upright_and_an_uneven_one_is_resampled() -> None:
    clips = {path.stem: read_clip(path) for path in captures(".txt") if "humanoid3d" in path.name}
    walk = clips["humanoid3d_walk"]
    neck = walk.skeleton.joint("neck")
    assert walk.loop and (walk.world.positions[:, neck, 2] - walk.root[:, 2]).min() > 0.3
    assert "resampled" in clips["humanoid3d_roll"].door.assumed["fps"]


def test_amass_arrays_become_a_person_on_the_floor(tmp_path: Path) -> None:
    poses = np.zeros((5, 156))
    poses[:, 0] = np.pi / 2  # SMPL's rest pose has y up; the files have z up
    path = tmp_path / "a.npz"
    np.savez(
        path, poses=poses, trans=np.tile([0, 0, 0.95], (5, 1)), mocap_framerate=np.array(60.0), gender=np.array("x")
    )
    clip = read_clip(path)
    assert clip.fps == 60.0 and len(clip.skeleton) == len(SMPL)
    head, foot = (clip.world.positions[0, clip.skeleton.joint(name), 2] for name in ("head", "left_ankle"))
    assert head > 1.4 and 0.0 < foot < 0.2


def test_smplx_arrays_are_read_as_amass_ones_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    poses, trans, rate = rng.normal(0.0, 0.2, (5, 165)), rng.normal(0.0, 1.0, (5, 3)), np.array(60.0)
    apart = {"root_orient": poses[:, :3], "pose_body": poses[:, 3:66], "pose_hand": poses[:, 75:]}
    np.savez(tmp_path / "one.npz", poses=poses, trans=trans, mocap_framerate=rate)
    np.savez(tmp_path / "two.npz", **apart, trans=trans, mocap_frame_rate=rate)
    one, two = read_clip(tmp_path / "one.npz"), read_clip(tmp_path / "two.npz")
    assert two.fps == 60.0
    np.testing.assert_array_equal(one.rotations, two.rotations)
    np.savez(tmp_path / "bad.npz", root_orient=poses[:, :3], pose_body=poses[:, 3:60], trans=trans)
    with pytest.raises(ClipFileError, match="'pose_body' 63 values"):
        read_clip(tmp_path / "bad.npz")


BROKEN = {
    "HIERARCHY": ("HIERARCHY", "HIERARCH", 1, "starts with HIERARCHY"),
    "offset": ("OFFSET 0 20 0", "OFFSET 0 twenty 0", 8, "'twenty' is no number"),
    "channel": ("CHANNELS 1 Xrotation", "CHANNELS 1 Wrotation", 13, "unknown channel 'Wrotation'"),
    "count": ("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation", 13, "names 1 channels"),
    "values": ("0 90 0 1 2", "0 90 1 2", 25, "has 12 values, but the skeleton has 13"),
    "nan": ("2 92 0 3", "2 92 nan 3", 26, "no usable number"),
    "brace": ("OFFSET 0 90 0", "OFFSET 0 90 0 }", 5, "outside|belong"),
    "twice": ("JOINT Arm", "JOINT Spine", 10, "two joints are called"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_bvh_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    good, bad, line, message = BROKEN[what]
    path = _file(tmp_path, SMALL_BVH.replace(good, bad, 1))
    with pytest.raises(StuntError, match=message) as caught:
        read_clip(path)
    assert caught.value.place.line == line and str(path) in str(caught.value)


def test_files_that_are_no_motion_say_so(tmp_path: Path) -> None:
    for name, text, message in (
        ("a.bvh", "", "empty"),
        ("a.xyz", "", "no motion file"),
        ("a.json", "[1, 2]", "no list 'Frames'"),
        ("a.json", '{"Frames": [[1, 2]]}', f"{WIDTH} numbers"),
        ("a.json", '{"Frames": [', "no JSON"),
        ("a.npz", "not a zip", "no NumPy archive"),
        ("a.amc", "1\n", "needs its skeleton"),
    ):
        with pytest.raises(StuntError, match=message):
            read_clip(_file(tmp_path, text, name))
    with pytest.raises(StuntError, match="no such file"):
        read_clip(tmp_path / "nothing.bvh")


def _sources(tmp_path: Path) -> list[tuple[str, bytes]]:
    row = [0.02, 0.0, 0.9, 0.0, *([1.0, 0, 0, 0] * 4), -0.2, *([1.0, 0, 0, 0] * 2), 0.3, *([1.0, 0, 0, 0]), -0.2]
    row += [*([1.0, 0, 0, 0] * 2), 0.3]
    assert len(row) == WIDTH
    write_npz(random_clip(frames=6), tmp_path / "seed.npz")
    asf = """:units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0
 orientation 0 0 0\n:bonedata\n begin\n name lfemur\n direction 0 -1 0\n length 7\n axis 0 0 20 XYZ\n dof rx ry rz\n end
 begin\n name ltibia\n direction 0 -1 0\n length 7\n axis 0 0 20 XYZ\n dof rx\n end\n:hierarchy\n begin\n root lfemur
 lfemur ltibia\n end\n"""
    (tmp_path / "fuzz.asf").write_text(asf)
    amc = ":DEGREES\n1\nroot 1 16 3 4 5 6\nlfemur 1 2 3\nltibia 4\n2\nroot 1 16 3 4 5 6\nlfemur 1 2 3\nltibia 4\n"
    return [
        (".bvh", SMALL_BVH.encode()),
        (".json", json.dumps({"Loop": "wrap", "Frames": [row, row, row]}).encode()),
        (".npz", (tmp_path / "seed.npz").read_bytes()),
        (".amc", amc.encode()),
    ]


def _damaged(data: bytes, rng: np.random.Generator) -> bytes:
    kind = rng.integers(5)
    if kind == 0:
        return data[: rng.integers(len(data))]
    if kind == 1:
        flipped = bytearray(data)
        for place in rng.integers(len(data), size=rng.integers(1, 9)):
            flipped[place] ^= 1 << int(rng.integers(8))
        return bytes(flipped)
    if kind == 2:
        lines = data.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    if kind == 3:
        start, stop = sorted(rng.integers(len(data), size=2))
        return data[:start] + data[stop:]
    words = data.split(b" ")
    words[int(rng.integers(len(words)))] = rng.choice(
        [b"999999999999", b"1e308", b"-1", b"nan", b"{", b"}", b"\xff\xfe"]
    )
    return b" ".join(words)


def test_damaged_files_of_every_format_give_an_error_or_a_clip_and_stay_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    outcomes = {"clip": 0, "error": 0}
    tracemalloc.start()
    for suffix, data in _sources(tmp_path):
        for _ in range(250):
            path = tmp_path / f"fuzz{suffix}"
            path.write_bytes(_damaged(data, rng))
            try:
                clip = read_clip(path)
                assert np.isfinite(clip.world.positions).all()
                outcomes["clip"] += 1
            except StuntError as error:
                assert str(path) in str(error) or "fuzz.asf" in str(error)
                outcomes["error"] += 1
    peak = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    print(f"1000 damaged files: {outcomes}; {peak:.3f} GB at most")
    assert min(outcomes.values()) > 50 and peak < 1.0


def test_a_skeleton_file_that_is_damaged_is_refused_or_read(tmp_path: Path) -> None:
    sources = dict(_sources(tmp_path))
    asf = (tmp_path / "fuzz.asf").read_bytes()
    (tmp_path / "fuzz.amc").write_bytes(sources[".amc"])
    rng = np.random.default_rng(3)
    for _ in range(200):
        (tmp_path / "fuzz.asf").write_bytes(_damaged(asf, rng))
        try:
            assert np.isfinite(read_clip(tmp_path / "fuzz.amc").world.positions).all()
        except StuntError:
            pass


def test_the_packages_own_clips_read_without_a_warning() -> None:
    from stunt.library.doctor import examine

    names = {path.stem: examine(path) for path in OWN_CLIPS.glob("*.bvh")}
    assert set(names) >= {"idle", "walk", "punch", "kick", "stand_up"}
    for name, found in names.items():
        assert found.warnings == (), (name, found.warnings)
        assert found.foot_slide_m_s is not None and found.foot_slide_m_s < 0.03
