"""DeepMimic's JSON motions: rows of duration, root position and joint rotations of its humanoid.

y is up, x forward, z to the right, metres; quaternions wxyz; knees and elbows turn about z. The skeleton is that of the
`humanoid3d` character the motions are made for: its hands are fists, one piece with its forearms.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats, normalise, slerp
from stunt.motion.clips.raw import MAX_JSON_BYTES, ClipFileError, ClipFormat, RawClip, check_size, read_text, snapped

# name, parent, offset [m], values in a row (4: quaternion, 1: angle about z, 0: does not move)
_JOINTS: tuple[tuple[str, int, tuple[float, float, float], int], ...] = (
    ("root", -1, (0.0, 0.0, 0.0), 4),
    ("chest", 0, (0.0, 0.236151, 0.0), 4),
    ("neck", 1, (0.0, 0.223894, 0.0), 4),
    ("right_hip", 0, (0.0, 0.0, 0.084887), 4),
    ("right_knee", 3, (0.0, -0.421546, 0.0), 1),
    ("right_ankle", 4, (0.0, -0.409870, 0.0), 4),
    ("right_shoulder", 1, (-0.02405, 0.24350, 0.18311), 4),
    ("right_elbow", 6, (0.0, -0.274788, 0.0), 1),
    ("left_hip", 0, (0.0, 0.0, -0.084887), 4),
    ("left_knee", 8, (0.0, -0.421546, 0.0), 1),
    ("left_ankle", 9, (0.0, -0.409870, 0.0), 4),
    ("left_shoulder", 1, (-0.02405, 0.24350, -0.18311), 4),
    ("left_elbow", 11, (0.0, -0.274788, 0.0), 1),
)
_TIPS = {
    2: (0.0, 0.24, 0.0),
    5: (0.13, -0.05, 0.0),
    7: (0.0, -0.258947, 0.0),
    10: (0.13, -0.05, 0.0),
    12: (0.0, -0.258947, 0.0),
}
WIDTH = 4 + sum(width for *_, width in _JOINTS)


def read_deepmimic(path: str | Path) -> RawClip:
    """Read a DeepMimic motion.

    Raises:
        ClipFileError: It is no such motion, or a broken one; with the line, where the JSON itself is broken.
    """
    place = Place(str(path))
    rows, loop = _rows(read_text(path, MAX_JSON_BYTES), place)
    durations = rows[:-1, 0] if len(rows) > 1 else rows[:, 0]
    if (durations <= 0).any() or not (durations.max(initial=1.0) < 1e3):
        raise ClipFileError("frame durations must be positive; only the last may be 0.", place)
    step = float(np.median(durations)) if len(rows) > 1 else 1 / 30
    fps = snapped(1.0 / step) if abs(round(1 / step) * step - 1.0) > 1e-3 else float(round(1.0 / step))
    root, rotations = _motion(rows)
    notes = {"skeleton": "DeepMimic's humanoid3d"}
    if np.abs(durations - step).max(initial=0.0) > 0.01 * step:
        root, rotations = _evened(root, rotations, durations, step)
        notes["fps"] = f"frames of uneven duration, resampled at {fps:g} per second"
    return RawClip(
        format="deepmimic",
        file=str(path),
        names=tuple(name for name, *_ in _JOINTS),
        parents=tuple(parent for _, parent, *_ in _JOINTS),
        offsets=np.array([offset for _, _, offset, _ in _JOINTS]),
        end_sites=tuple((joint, np.array(tip), "") for joint, tip in _TIPS.items()),
        fps=fps,
        root=root,
        rotations=rotations,
        scale=1.0,
        up="y",
        loop=loop,
        notes=notes,
    )


def _rows(text: str, place: Place) -> tuple[Floats, bool]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ClipFileError(f"is no JSON: {error.msg}.", Place(place.file, error.lineno)) from None
    except (RecursionError, ValueError):
        raise ClipFileError("is no JSON Stunt can read: nested too deep, or numbers too long.", place) from None
    if not isinstance(data, dict) or not isinstance(data.get("Frames"), list):
        raise ClipFileError("is no DeepMimic motion: it has no list 'Frames'.", place)
    frames = data["Frames"]
    check_size(len(frames), WIDTH, place)
    for number, row in enumerate(frames):
        plain = isinstance(row, list) and all(type(value) in (int, float) for value in row)
        if not plain or len(row) != WIDTH:
            what = f"{len(row)} values" if plain else "something that is no row of numbers"
            raise ClipFileError(f"frame {number} has {what}, but humanoid3d takes {WIDTH} numbers.", place)
    try:
        rows = np.array(frames, dtype=float).reshape(-1, WIDTH)
    except OverflowError:
        rows = np.full((1, WIDTH), np.nan)
    if not len(rows):
        raise ClipFileError("has no frames.", place)
    if not (np.abs(rows) < 1e6).all():
        raise ClipFileError("has values that are no usable numbers.", place)
    return rows, data.get("Loop") == "wrap"


def _motion(rows: Floats) -> tuple[Floats, Floats]:
    rotations = np.zeros((len(rows), len(_JOINTS), 4))
    rotations[..., 0] = 1.0
    column = 4
    for joint, (*_, width) in enumerate(_JOINTS):
        block = rows[:, column : column + width]
        column += width
        if width == 4:
            rotations[:, joint] = normalise(block)
        elif width == 1:
            half = 0.5 * block[:, 0]
            rotations[:, joint, 0], rotations[:, joint, 3] = np.cos(half), np.sin(half)
    return rows[:, 1:4].copy(), rotations


def _evened(root: Floats, rotations: Floats, durations: Floats, step: float) -> tuple[Floats, Floats]:
    """Resample frames of uneven duration at an even step [s]."""
    times = np.concatenate([[0.0], np.cumsum(durations)])
    count = int(round(times[-1] / step)) + 1
    check_size(count, WIDTH, Place())
    wanted = np.minimum(np.arange(count) * step, times[-1])
    low = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    share = (wanted - times[low]) / (times[low + 1] - times[low])
    root = root[low] + share[:, None] * (root[low + 1] - root[low])
    return root, slerp(rotations[low], rotations[low + 1], np.repeat(share[:, None], rotations.shape[1], axis=1))


# Any text may lie in a folder; PyBullet's motions are called so.
DEEPMIMIC = ClipFormat("deepmimic", (".json", ".txt"), read_deepmimic, listed=("*.json", "humanoid3d_*.txt"))
