"""How well a clip was followed: bone errors, drift, foot slide, and whether it ended as the clip does."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from stunt import rotations
from stunt.control.worldspace_program import Rows
from stunt.direction.foot_slide import foot_slide
from stunt.direction.motion_rows import Motion, make_rows
from stunt.direction.tracker import Tracker
from stunt.rotations import Floats

END: Final = 0.5
"""Seconds at the end in which body and clip are compared to say whether it fell."""
FALL_TILT: Final = 45.0
FALL_HEIGHT: Final = 0.25


def measure(tracker: Tracker, time: Floats, qpos: Floats) -> dict[str, Any]:
    """Measure a tracked character over a take's frames.

    Args:
        tracker: Who followed.
        time: Times of the frames [s], (T,).
        qpos: The stage's coordinates in them, (T, nq).
    """
    character, root = tracker.character, tracker.character.root
    if root is None or len(time) < 2:
        return {}
    own = qpos[:, root.qpos : root.qpos + tracker.motion.qpos.shape[1]]
    actual = make_rows(tracker.stage.model, character, Motion("take", 120.0, own), tracker.soles)
    turns, path = _wanted(tracker, time)
    dots = np.abs((actual.turns[:, 1:] * turns[:, 1:]).sum(axis=-1)).clip(0.0, 1.0)
    error = np.degrees(2.0 * np.arccos(dots))  # (T, bones)
    names = {body: name for name, body in character.bodies.items()}
    first = character.root_body
    drift = np.linalg.norm(own[:, :2] - path[:, :2], axis=1)
    return {
        "error_deg_mean": float(error.mean()),
        "error_deg": {names[first + 1 + k]: float(error[:, k].mean()) for k in range(error.shape[1])},
        "joint_error_deg": _joint_errors(tracker, actual, turns),
        "drift_m": float(drift[-1]),
        "path_m": float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()),
        "foot_slide_m": foot_slide(tracker, time, own),
        "fell": not ended_like(time, own, turns[:, 0], path),
        "limits": tracker.limit_use,
        "root_spring": asdict(tracker.assistance()),
    }


def _joint_errors(tracker: Tracker, actual: Rows, turns: Floats) -> dict[str, float]:
    """Return the mean error of each joint, seen from its parent bone [°]: bodies with several joints count once."""
    model, character = tracker.stage.model, tracker.character
    first = character.root_body
    found: dict[str, float] = {}
    for joint in character.joints.values():
        body = int(model.jnt_bodyid[joint.id]) - first
        parent = int(model.body_parentid[body + first]) - first
        local = [
            seen[:, body] if parent <= 0 else rotations.multiply(rotations.conjugate(seen[:, parent]), seen[:, body])
            for seen in (actual.turns, turns)
        ]
        dots = np.abs((local[0] * local[1]).sum(axis=-1)).clip(0.0, 1.0)
        found[joint.name] = float(np.degrees(2.0 * np.arccos(dots)).mean())
    return found


def _wanted(tracker: Tracker, time: Floats) -> tuple[Floats, Floats]:
    """Return the orientations and root positions the clip asked for at some times, seen from the root."""
    turns, path = [], []
    for moment in time:
        start, _, rows = [entry for entry in tracker.history if entry[0] <= moment + 1e-9][-1]
        x = min(max((moment - start) * rows.fps, 0.0), len(rows.turns) - 1.0)
        low = int(min(x, max(len(rows.turns) - 2, 0)))
        high = min(low + 1, len(rows.turns) - 1)
        share = np.full(rows.turns.shape[1], x - low)
        asked = rows.turns if rows.asked is None else rows.asked  # feet made to stand are not what the clip asked for
        turns.append(rotations.slerp(asked[low], asked[high], share))
        path.append(rows.path[low] + (x - low) * (rows.path[high] - rows.path[low]))
    return np.array(turns), np.array(path)


def ended_like(time: Floats, own: Floats, wanted: Floats, path: Floats) -> bool:
    """Whether, at the end, the root is tilted and as high as the clip's."""
    last = time >= time[-1] - END
    up = np.array([0.0, 0.0, 1.0])
    tilts = []
    for turns in (own[last, 3:7], wanted[last]):
        # The root's own upward direction is where it points while the clip stands: here its frame's, both alike.
        tilts.append(np.degrees(np.arccos(rotations.rotate(turns, up)[:, 2].clip(-1.0, 1.0))))
    high = np.abs(own[last, 2] - path[last, 2]) <= FALL_HEIGHT * np.maximum(path[last, 2], 0.05)
    return bool((np.abs(tilts[0] - tilts[1]) <= FALL_TILT).all() and high.all())
