"""How well a clip was followed: bone errors, drift, foot slide, and whether it ended as the clip does.

How far standing feet slid: the doctor's measure of a clip, taken of a body that follows one.

A foot stands where the clip says it does (`stunt.motion.clips.standing.planted`: slow, near its lowest, the person up),
and
where its sole is on the ground. Of each foot the joint the doctor looks at counts: the ball, or the ankle where there
is none.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from stunt.character.kinematics import corners_over, pose_frames
from stunt.control.servo.memory import ServoTargets
from stunt.drive.body.tracker import Tracker
from stunt.drive.feet.ground import Ground
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import FootJoints, feet_of, planted_places
from stunt.motion.rig.retarget import body_parts

STANDING_GAP: Final = 0.01
"""A sole nearer to the ground than this is on it [m]."""


@dataclass(frozen=True)
class _Foot:
    """One foot: the body whose origin is looked at, and the geoms of its sole."""

    joint: int
    geoms: tuple[int, ...]


def foot_slide(tracker: Tracker, time: Floats, own: Floats) -> float:
    """Return how far standing feet slid over the ground in all [m].

    Args:
        tracker: Who followed.
        time: Times of the frames [s], (T,).
        own: The character's own coordinates in them, (T, nq).
    """
    feet = _feet(tracker)
    if not feet or len(time) < 2:
        return 0.0
    stands = _stance(tracker, feet, time)
    places, low = _places(tracker, feet, own)
    ground = Ground(tracker.stage)
    way = 0.0
    for number in range(len(feet)):
        there = np.array([p[2] - ground.height(p[0], p[1], below=p[2] + 0.2) < STANDING_GAP for p in low[:, number]])
        still = stands[:, number] & there
        steps = np.linalg.norm(np.diff(places[:, number, :2], axis=0), axis=-1)
        way += float(steps[still[1:] & still[:-1]].sum())
    return way


def _feet(tracker: Tracker) -> list[_Foot]:
    model, found = tracker.stage.model, []
    for foot in feet_of(body_parts(tracker.character)).values():
        bodies = (foot.ankle,) if foot.ball is None else (foot.ankle, foot.ball)
        geoms = tuple(geom for geom in tracker.soles if int(model.geom_bodyid[geom]) in bodies)
        if geoms:
            found.append(_Foot(_joint(foot), geoms))
    return found


def _joint(foot: FootJoints) -> int:
    return foot.ankle if foot.ball is None else foot.ball


def _stance(tracker: Tracker, feet: list[_Foot], time: Floats) -> np.ndarray:
    """Return whether each foot stands in what was followed, at every time, (T, feet)."""
    stands = np.zeros((len(time), len(feet)), dtype=bool)
    ends = [*(start for start, *_ in tracker.history[1:]), np.inf]
    for (start, motion, _), end in zip(tracker.history, ends, strict=True):
        now = (time >= start - 1e-9) & (time < end - 1e-9)
        if not now.any():
            continue
        whole = repeated(motion, float(time[now][-1]) - start)
        frames = np.clip(np.round((time[now] - start) * whole.fps).astype(int), 0, len(whole.qpos) - 1)
        stands[now] = _planted(tracker, feet, whole)[frames]
    return stands


def _planted(tracker: Tracker, feet: list[_Foot], motion: BodyMotion) -> np.ndarray:
    places, _ = _places(tracker, feet, motion.qpos)
    height = motion.qpos[:, 2]
    return np.stack([planted_places(places[:, n], height, motion.fps) for n in range(len(feet))], axis=1)


def _places(tracker: Tracker, feet: list[_Foot], own: Floats) -> tuple[Floats, Floats]:
    """Return where each foot's joint is in every frame, and the lowest point of its sole, (T, feet, 3) each."""
    model, character = tracker.stage.model, tracker.character
    bodies, turns = pose_frames(model, character, own)
    joints, low = np.zeros((len(own), len(feet), 3)), np.zeros((len(own), len(feet), 3))
    for k, foot in enumerate(feet):
        joints[:, k] = bodies[:, foot.joint - character.root_body]
        points = corners_over(model, character, list(foot.geoms), bodies, turns)
        low[:, k] = points[np.arange(len(own)), points[..., 2].argmin(axis=1)]
    return joints, low


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
    actual = make_rows(tracker.stage.model, character, BodyMotion("take", 120.0, own), tracker.soles)
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


def _joint_errors(tracker: Tracker, actual: ServoTargets, turns: Floats) -> dict[str, float]:
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
