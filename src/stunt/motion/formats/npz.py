"""NumPy archives: Stunt's own layout, and AMASS-style pose arrays.

Stunt's layout: `names` (J,), `parents` (J,), `offsets` (J, 3), `fps`, `root` (F, 3), `rotations` (F, J, 4) wxyz in the
parent's frame; optional `up` (else `z`), `scale` (metres per unit, else 1), `loop`, `tip_parents` (T,), `tips` (T, 3).

AMASS: `poses` (F, 3·J) axis-angle, `trans` (F, 3) [m], `mocap_framerate` (or `mocap_frame_rate`, `fps`). z is up. The
first 22 joints are the body's; hands and face are left out. SMPL-X's files may have `root_orient` (F, 3) and
`pose_body` (F, 63) instead of `poses`. The body model that gives bone lengths is not part of the file, so those of a
mean person are taken.

Archives are read by hand: their headers are checked against their true size before anything is allocated.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stunt.archives import ArchiveError, read_arrays
from stunt.errors import Place
from stunt.maths.rotations import Floats, from_rotation_vector, normalise
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.raw import MAX_JOINTS, ClipFileError, ClipFormat, RawClip, check_size, read_bytes, snapped

MAX_MEMBER = 128 * 2**20
OWN = ("names", "parents", "offsets", "fps", "root", "rotations")

# SMPL's body joints with the offsets of a mean person in its rest pose [m]: y up, z forward, x to the left.
SMPL: tuple[tuple[str, int, tuple[float, float, float]], ...] = (
    ("pelvis", -1, (0.0, 0.0, 0.0)),
    ("left_hip", 0, (0.06, -0.09, 0.0)),
    ("right_hip", 0, (-0.06, -0.09, 0.0)),
    ("spine1", 0, (0.0, 0.11, -0.02)),
    ("left_knee", 1, (0.04, -0.38, 0.0)),
    ("right_knee", 2, (-0.04, -0.38, 0.0)),
    ("spine2", 3, (0.0, 0.135, 0.01)),
    ("left_ankle", 4, (-0.01, -0.40, -0.04)),
    ("right_ankle", 5, (0.01, -0.40, -0.04)),
    ("spine3", 6, (0.0, 0.055, 0.02)),
    ("left_foot", 7, (0.03, -0.06, 0.12)),
    ("right_foot", 8, (-0.03, -0.06, 0.12)),
    ("neck", 9, (0.0, 0.21, -0.04)),
    ("left_collar", 9, (0.08, 0.12, -0.02)),
    ("right_collar", 9, (-0.08, 0.12, -0.02)),
    ("head", 12, (0.0, 0.09, 0.05)),
    ("left_shoulder", 13, (0.11, 0.04, -0.01)),
    ("right_shoulder", 14, (-0.11, 0.04, -0.01)),
    ("left_elbow", 16, (0.26, -0.01, -0.02)),
    ("right_elbow", 17, (-0.26, -0.01, -0.02)),
    ("left_wrist", 18, (0.25, 0.01, 0.0)),
    ("right_wrist", 19, (-0.25, 0.01, 0.0)),
)
_SMPL_TIPS = {
    10: (0.0, -0.01, 0.07),
    11: (0.0, -0.01, 0.07),
    15: (0.0, 0.2, 0.0),
    20: (0.09, 0.0, 0.0),
    21: (-0.09, 0.0, 0.0),
}


def read_npz(path: str | Path) -> RawClip:
    """Read a clip from a NumPy archive.

    Raises:
        ClipFileError: It is no archive, or holds no motion in a layout Stunt knows.
    """
    place = Place(str(path))
    members = _members(read_bytes(path), place)
    if "trans" in members and ("poses" in members or {"root_orient", "pose_body"} <= set(members)):
        return _amass(members, place)
    missing = [key for key in OWN if key not in members]
    if missing:
        raise ClipFileError(
            f"holds no motion: '{missing[0]}' is missing (and it has no AMASS 'trans' with 'poses', or with "
            "'root_orient' and 'pose_body'). "
            f"It holds: {', '.join(sorted(members)[:30]) or 'nothing'}.",
            place,
        )
    return _own(members, place)


def _members(data: bytes, place: Place) -> dict[str, np.ndarray]:
    try:
        return read_arrays(data, MAX_MEMBER)
    except ArchiveError as error:
        raise ClipFileError(f"is no NumPy archive Stunt can read: {error}.", place) from None


def _floats(members: dict[str, np.ndarray], key: str, shape: tuple[int | None, ...], place: Place) -> Floats:
    values = members[key]
    if values.dtype.kind not in "fiu":
        raise ClipFileError(f"'{key}' must hold numbers, but holds {values.dtype}.", place)
    fits = values.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, values.shape))  # noqa: B905
    if not fits:
        wanted = "×".join("any" if size is None else str(size) for size in shape) or "one number"
        raise ClipFileError(f"'{key}' must be {wanted}, but is {'×'.join(map(str, values.shape)) or 'one'}.", place)
    check_size(len(values) if values.ndim else 1, values.size // max(len(values) if values.ndim else 1, 1), place)
    result = values.astype(float)
    if not (np.abs(result) < 1e9).all():
        raise ClipFileError(f"'{key}' has values that are no usable numbers.", place)
    return result


def _rate(members: dict[str, np.ndarray], keys: tuple[str, ...], place: Place) -> float | None:
    key = next((key for key in keys if key in members), None)
    if key is None:
        return None
    value = members[key]
    if value.size != 1 or value.dtype.kind not in "fiu" or not 1e-3 < float(value.reshape(-1)[0]) < 1e5:
        raise ClipFileError(f"'{key}' must be one frame rate.", place)
    return snapped(float(value.reshape(-1)[0]))


def _own(members: dict[str, np.ndarray], place: Place) -> RawClip:
    names = tuple(str(name) for name in np.atleast_1d(members["names"]).reshape(-1)[: MAX_JOINTS + 1])
    joints = len(names)
    if not 1 <= joints <= MAX_JOINTS or len(set(names)) != joints or members["names"].dtype.kind != "U":
        raise ClipFileError("'names' must be different texts, one per joint.", place)
    parents = _floats(members, "parents", (joints,), place).astype(int)
    if parents[0] != -1 or not all(0 <= parent < number for number, parent in enumerate(parents) if number):
        raise ClipFileError("'parents' must be −1 for the first joint and an earlier joint for all others.", place)
    rotations = normalise(_floats(members, "rotations", (None, joints, 4), place))
    root = _floats(members, "root", (len(rotations), 3), place)
    fps = _rate(members, ("fps",), place)
    if not len(root) or fps is None:
        raise ClipFileError("has no frames.", place)
    up = str(members["up"].reshape(-1)[0]) if "up" in members and members["up"].size else "z"
    if up not in ("x", "y", "z"):
        raise ClipFileError(f"'up' must be x, y or z, but is '{up[:10]}'.", place)
    scale = float(_floats(members, "scale", (), place)) if "scale" in members else 1.0
    if not 0 < scale < 1e6:
        raise ClipFileError("'scale' must be positive.", place)
    return RawClip(
        format="npz", file=place.file, names=names, parents=tuple(int(p) for p in parents),
        offsets=_floats(members, "offsets", (joints, 3), place), end_sites=_tips(members, joints, place), fps=fps,
        root=root, rotations=rotations, scale=scale, up=up,
        loop=bool(members["loop"].reshape(-1)[0]) if "loop" in members and members["loop"].size == 1 else False,
    )  # fmt: skip


def _tips(members: dict[str, np.ndarray], joints: int, place: Place) -> tuple[tuple[int, Floats, str], ...]:
    if "tips" not in members or "tip_parents" not in members:
        return ()
    tips = _floats(members, "tips", (None, 3), place)
    parents = _floats(members, "tip_parents", (len(tips),), place).astype(int)
    if ((parents < 0) | (parents >= joints)).any():
        raise ClipFileError("'tip_parents' names joints that do not exist.", place)
    return tuple((int(parent), tip, "") for parent, tip in zip(parents, tips, strict=True))


def _amass(members: dict[str, np.ndarray], place: Place) -> RawClip:
    trans = _floats(members, "trans", (None, 3), place)
    apart = "poses" not in members
    keys = ("root_orient", "pose_body") if apart else ("poses",)
    poses = np.concatenate([_floats(members, key, (len(trans), None), place) for key in keys], axis=1)
    if apart and (members["root_orient"].shape[1] != 3 or members["pose_body"].shape[1] != 3 * len(SMPL) - 3):
        raise ClipFileError(f"'root_orient' must have 3 and 'pose_body' {3 * len(SMPL) - 3} values per frame.", place)
    if not len(trans) or poses.shape[1] < 3 * len(SMPL):
        raise ClipFileError(f"'poses' must have at least {3 * len(SMPL)} values per frame.", place)
    fps = _rate(members, ("mocap_framerate", "mocap_frame_rate", "fps"), place)
    notes = {"skeleton": "SMPL's joints with the bone lengths of a mean person; hands and face left out"}
    if fps is None:
        fps, notes["fps"] = 120.0, "120 frames per second; the file does not say"
    vectors = poses[:, : 3 * len(SMPL)].reshape(len(trans), len(SMPL), 3)
    return RawClip(
        format="npz", file=place.file, names=tuple(name for name, *_ in SMPL),
        parents=tuple(parent for _, parent, _ in SMPL), offsets=np.array([offset for *_, offset in SMPL]),
        end_sites=tuple((joint, np.array(tip), "") for joint, tip in _SMPL_TIPS.items()), fps=fps,
        root=trans, rotations=from_rotation_vector(vectors), scale=1.0, up="z", notes=notes,
    )  # fmt: skip


def write_npz(clip: Clip, path: str | Path) -> Path:
    """Write a clip in Stunt's own layout: metres, z up."""
    skeleton, sites = clip.skeleton, clip.skeleton.end_sites
    path = Path(path)
    try:
        with open(path, "wb") as file:
            np.savez_compressed(
                file, names=np.array(skeleton.names), parents=np.array(skeleton.parents), offsets=skeleton.offsets,
                fps=np.array(clip.fps), root=clip.root, rotations=clip.rotations, up=np.array("z"),
                loop=np.array(clip.loop), tip_parents=np.array([site.parent for site in sites], dtype=int),
                tips=np.array([site.offset for site in sites]).reshape(-1, 3),
            )  # fmt: skip
    except OSError as error:
        raise ClipFileError(f"cannot be written: {error.strerror or error}.", Place(str(path))) from None
    return path


NPZ = ClipFormat("npz", (".npz",), read_npz, listed=("*.npz",))
