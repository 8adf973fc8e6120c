"""How well a clip was followed: bone errors, drift, foot slide, and whether it ended as the clip does.

How far standing feet slid: the doctor's measure of a clip, taken of a body that follows one.

A foot stands where the clip says it does (`stunt.motion.clips.standing.planted`: slow, near its lowest, the person up),
and
where its sole is on the ground. Of each foot the joint the doctor looks at counts: the ball, or the ankle where there
is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np

from stunt.character.kinematics import corners_over, pose_frames
from stunt.control.servo.memory import ServoTargets, hip_height
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.followed import Followed, followed_at
from stunt.drive.body.lost import LOST, PATIENCE, off_clip
from stunt.drive.body.reactions import FOLLOWING
from stunt.drive.feet.ground import Ground
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated
from stunt.drive.prepare.pipeline import changes_of
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


def foot_slide(actor: BodyActor, time: Floats, own: Floats, history: Sequence[Followed]) -> float:
    """Return how far standing feet slid over the ground in all [m].

    Args:
        actor: Who followed.
        time: Times of the frames [s], (T,).
        own: The character's own coordinates in them, (T, nq).
        history: What it followed.
    """
    feet = _feet(actor)
    if not feet or len(time) < 2:
        return 0.0
    stands = _stance(actor, feet, time, history)
    places, low = _places(actor, feet, own)
    ground = Ground(actor.stage)
    way = 0.0
    for number in range(len(feet)):
        there = np.array([p[2] - ground.height(p[0], p[1], below=p[2] + 0.2) < STANDING_GAP for p in low[:, number]])
        still = stands[:, number] & there
        steps = np.linalg.norm(np.diff(places[:, number, :2], axis=0), axis=-1)
        way += float(steps[still[1:] & still[:-1]].sum())
    return way


def _feet(actor: BodyActor) -> list[_Foot]:
    model, found = actor.stage.model, []
    for foot in feet_of(body_parts(actor.character)).values():
        bodies = (foot.ankle,) if foot.ball is None else (foot.ankle, foot.ball)
        geoms = tuple(geom for geom in actor.soles if int(model.geom_bodyid[geom]) in bodies)
        if geoms:
            found.append(_Foot(_joint(foot), geoms))
    return found


def _joint(foot: FootJoints) -> int:
    return foot.ankle if foot.ball is None else foot.ball


def _stance(actor: BodyActor, feet: list[_Foot], time: Floats, history: Sequence[Followed]) -> np.ndarray:
    """Return whether each foot stands in what was followed, at every time, (T, feet)."""
    stands = np.zeros((len(time), len(feet)), dtype=bool)
    ends = [*(entry.at for entry in history[1:]), np.inf]
    for entry, end in zip(history, ends, strict=True):
        now = (time >= entry.at - 1e-9) & (time < end - 1e-9)
        if entry.motion is None or not now.any():
            continue
        whole = repeated(entry.motion, float(time[now][-1]) - entry.since)
        clip = actor.in_clip(time[now], entry.since)
        frames = np.clip(np.round(clip * whole.fps).astype(int), 0, len(whole.qpos) - 1)
        stands[now] = _planted(actor, feet, whole)[frames]
    return stands


def _planted(actor: BodyActor, feet: list[_Foot], motion: BodyMotion) -> np.ndarray:
    places, _ = _places(actor, feet, motion.qpos)
    height = motion.qpos[:, 2]
    return np.stack([planted_places(places[:, n], height, motion.fps) for n in range(len(feet))], axis=1)


def _places(actor: BodyActor, feet: list[_Foot], own: Floats) -> tuple[Floats, Floats]:
    """Return where each foot's joint is in every frame, and the lowest point of its sole, (T, feet, 3) each."""
    model, character = actor.stage.model, actor.character
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
LOW: Final = 0.4
"""Heights count as at least this share of standing hips: who crawls or lies may do so a hand higher or lower."""


def measure(actor: BodyActor, time: Floats, qpos: Floats, against: Followed | None = None) -> dict[str, Any]:
    """Measure how a character followed clips over a take's frames, and what it took; of the frames in which it did.

    Args:
        actor: Who followed.
        time: Times of the frames [s], (T,).
        qpos: The stage's coordinates in them, (T, nq).
        against: What it should have followed all the time; None: what it did follow.
    """
    history = actor.history if against is None else [against]
    used: dict[str, Any] = {"limits": actor.limit_use, "root_spring": asdict(actor.assistance())}
    used["assist"] = actor.root.kind
    if on_feet := actor.own_summary():
        used["own_feet"] = on_feet
    follows = np.array(
        [(entry := followed_at(history, moment)) is not None and entry.rows is not None for moment in time]
    )
    if follows.sum() < 2:
        return used
    ends = bool(follows[0] and follows[time >= time[-1] - END].all())
    time, own = time[follows], qpos[follows, actor.slices[0]]
    actual = make_rows(actor.stage.model, actor.character, BodyMotion("take", 120.0, own), actor.soles)
    turns, path = _wanted(actor, history, time)
    dots = np.abs((actual.turns[:, 1:] * turns[:, 1:]).sum(axis=-1)).clip(0.0, 1.0)
    led = _led(actor)
    error = np.degrees(2.0 * np.arccos(dots))[:, led]  # (T, bones)
    names = {body: name for name, body in actor.character.bodies.items()}
    first = actor.character.root_body
    drift = np.linalg.norm(own[:, :2] - path[:, :2], axis=1)
    found = {
        "error_deg_mean": float(error.mean()),
        "error_deg_max": float(error.max()),
        "error_deg": {names[first + 1 + bone]: float(error[:, k].mean()) for k, bone in enumerate(led)},
        "joint_error_deg": _joint_errors(actor, actual, turns),
        "drift_m": float(drift[-1]),
        "heading_deg": float(np.degrees(turned_aside(own[-1, 3:7], turns[-1, 0]))),
        **_lost(time, own, turns[:, 0], path, actor.floor),
        "path_m": float(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum()),
        "foot_slide_m": foot_slide(actor, time, own, history),
        "prepared": _prepared(actor, history),
    }
    least = LOW * hip_height(actor.stage.model, actor.slices[0].start)
    # Whoever began on data, or lies or does as a reflex wants in the end, has no clip to end like.
    return found | ({"fell": not ended_like(time, own, turns[:, 0], path, least)} if ends else {}) | used


def _led(actor: BodyActor) -> list[int]:
    """Return which bones it follows with, numbered from the root's first one on: not those that others move.

    A bone without joints goes with the one it is part of.
    """
    model, others = actor.stage.model, set(actor.program.spared.get(actor.character.name, ()))
    joints = {int(model.jnt_bodyid[joint.id]): joint.id for joint in actor.character.joints.values()}  # any of them
    led, found = {actor.character.root_body: True}, []
    for body in sorted(set(actor.character.bodies.values()) - set(led)):  # parents come first
        led[body] = joints[body] not in others if body in joints else led[int(model.body_parentid[body])]
        found += [body - actor.character.root_body - 1] if led[body] else []
    return found


def _lost(time: Floats, own: Floats, wanted: Floats, path: Floats, floor: float) -> dict[str, Any]:
    """Return for how long it had lost its clip [s], and whether it ends so."""
    root, clip = own[:, :7].copy(), np.concatenate([path, wanted], axis=1)
    root[:, 2] -= floor
    clip[:, 2] -= floor
    off = off_clip(root, clip, float(clip[:, 2].max()))
    gaps = np.diff(time, append=time[-1])
    ends = bool((off[time >= time[-1] - PATIENCE] > 1.0).all())
    return {"lost_s": float(gaps[off > 1.0].sum()), "state": LOST if ends else FOLLOWING}


def _prepared(actor: BodyActor, history: Sequence[Followed]) -> dict[str, Any]:
    """Return what was changed of each motion it followed, by name, so that the body can do it."""
    found = dict[str, Any]()
    for entry in history:
        if entry.motion is not None and entry.rows is not None and entry.motion.name not in found:
            changes = changes_of(actor.stage.model, actor.character, entry.motion, actor.settings)
            if changes is not None:
                found[entry.motion.name] = changes.to_data()
    return found


def _joint_errors(actor: BodyActor, actual: ServoTargets, turns: Floats) -> dict[str, float]:
    """Return the mean error of each joint, seen from its parent bone [°]: bodies with several joints count once."""
    model, character = actor.stage.model, actor.character
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


def _wanted(actor: BodyActor, history: Sequence[Followed], time: Floats) -> tuple[Floats, Floats]:
    """Return the orientations and root positions the clip asked for at some times, seen from the root."""
    turns, path = [], []
    for entry, some in groupby(time, lambda moment: followed_at(history, moment)):
        assert entry is not None and entry.rows is not None  # only such moments are looked at
        rows, last = entry.rows, len(entry.rows.turns) - 1
        x = np.clip(actor.in_clip(np.array(list(some)), entry.since) * rows.fps, 0.0, last)
        low = np.minimum(x, max(last - 1, 0)).astype(int)
        high, share = np.minimum(low + 1, last), (x - low)[:, None]
        asked = rows.turns if rows.asked is None else rows.asked  # feet made to stand are not what the clip asked for
        turns.append(rotations.slerp(asked[low], asked[high], np.broadcast_to(share, (len(x), asked.shape[1]))))
        path.append(rows.path[low] + share * (rows.path[high] - rows.path[low]))
    return np.concatenate(turns), np.concatenate(path)


def turned_aside(turn: Floats, wanted: Floats) -> Floats:
    """Return by how much a root is turned about the vertical against how it should be [rad], counterclockwise."""
    return rotations.heading(rotations.multiply(turn, rotations.conjugate(wanted)))


def ended_like(time: Floats, own: Floats, wanted: Floats, path: Floats, least: float = 0.05) -> bool:
    """Whether, at the end, the root is tilted and as high as the clip's; heights count as at least `least` [m]."""
    last = time >= time[-1] - END
    up = np.array([0.0, 0.0, 1.0])
    tilts = []
    for turns in (own[last, 3:7], wanted[last]):
        # The root's own upward direction is where it points while the clip stands: here its frame's, both alike.
        tilts.append(np.degrees(np.arccos(rotations.rotate(turns, up)[:, 2].clip(-1.0, 1.0))))
    high = np.abs(own[last, 2] - path[last, 2]) <= FALL_HEIGHT * np.maximum(path[last, 2], least)
    return bool((np.abs(tilts[0] - tilts[1]) <= FALL_TILT).all() and high.all())
