"""One way from a motion to what a servo follows: spikes bridged, feet planted and clear, steering, torques fed forward.

Everything here is worked out on the motion alone, wherever it is placed: what comes of it can be moved over the ground
(`moved_rows`), and is worked out once for a body and a motion.

Spikes of a capture bridged: frames in which a leg turns faster than any person's could.

Swapped or lost markers turn a thigh by 70° from one frame to the next. Whoever is to stand on that leg falls for no
reason an animator could see. Such frames are replaced by the way between the good ones around them, in all joints of
the leg: knee and ankle were solved for together with the hip, and make no sense without it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.control.servo.layout import part_of
from stunt.control.servo.memory import ServoSettings, ServoTargets
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.plant import with_clear_feet, with_planted_feet
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated_rounds
from stunt.drive.motion.playing import NOWHERE, after_round, chained, cut_rows, moved_rows, round_of
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.maths import rotations
from stunt.maths.rotations import Floats

FASTEST: Final = 50.0
"""No hip or knee turns faster [rad/s]: kicks of athletes reach about 30."""
SPIKE_AROUND: Final = 0.05
"""Frames this near to a spike are doubtful too [s]."""


def bridge_spikes(model: mujoco.MjModel, character: Character, motion: BodyMotion) -> BodyMotion:
    """Return a motion without spikes in its legs; the same one if there are none.

    Args:
        model: The scene.
        character: Who; only ball joints are looked at.
        motion: What it does.
    """
    qpos, first = motion.qpos, character.root.qpos if character.root is not None else 0
    for joints in _legs(model, character).values():
        own = [slice(joint.qpos - first, joint.qpos - first + 4) for joint in joints]
        # Only what carries tells: a foot that twitches fells nobody.
        carries = [part for part, joint in zip(own, joints, strict=True) if _carries(model, joint)]
        bad = np.any([_spikes(motion.qpos[:, part], motion.fps) for part in carries], axis=0)
        if bad.any() and not bad.all():
            qpos = qpos.copy() if qpos is motion.qpos else qpos
            for part in own:
                qpos[:, part] = _bridged(motion.qpos[:, part], bad)
    return motion if qpos is motion.qpos else replace(motion, qpos=qpos)


def _legs(model: mujoco.MjModel, character: Character) -> dict[int, list[Joint]]:
    """Return the ball joints of each leg, by the leg's first body."""
    found: dict[int, list[Joint]] = {}
    for joint in character.joints.values():
        body = int(model.jnt_bodyid[joint.id])
        if joint.kind != "ball" or part_of(model.body(body).name) != "leg":
            continue
        while part_of(model.body(int(model.body_parentid[body])).name) == "leg":
            body = int(model.body_parentid[body])
        found.setdefault(body, []).append(joint)
    return found


def _carries(model: mujoco.MjModel, joint: Joint) -> bool:
    """Whether a joint of a leg is a hip or a knee."""
    name = model.body(int(model.jnt_bodyid[joint.id])).name.lower()
    return "foot" not in name and "toe" not in name


def _spikes(turns: Floats, fps: float) -> NDArray[np.bool_]:
    """Return which frames of a joint are at a spike, (F,)."""
    dots = np.abs((turns[1:] * turns[:-1]).sum(axis=1)).clip(0.0, 1.0)
    bad, near = np.zeros(len(turns), bool), max(1, round(SPIKE_AROUND * fps))
    for frame in np.flatnonzero(2.0 * np.arccos(dots) * fps > FASTEST):
        bad[max(0, frame + 1 - near) : frame + near + 1] = True
    return bad


def _bridged(turns: Floats, bad: NDArray[np.bool_]) -> Floats:
    """Return a joint's turns, (F, 4), with bad frames on the way between the good ones."""
    good = np.flatnonzero(~bad)
    after = np.searchsorted(good, np.arange(len(turns))).clip(0, len(good) - 1)
    low, high = good[np.maximum(after - 1, 0)], good[after]
    span = np.maximum(high - low, 1)
    share = np.where(bad, ((np.arange(len(turns)) - low) / span).clip(0.0, 1.0), 0.0)
    result = turns.copy()
    result[bad] = rotations.slerp(turns[low[bad]], turns[high[bad]], share[bad])
    return result


UNROLL: Final = 60.0
"""Seconds a looping motion is laid out for that is followed."""
_CHANGED: WeakKeyDictionary[ServoTargets, NDArray[np.int64]] = WeakKeyDictionary()  # bones that preparation turned
AROUND: Final = 1.0
"""Seconds of other rounds before and after one that tell what becomes of it."""


def prepare(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    """Return a motion as a body's servo follows it; of a looping one `UNROLL` seconds.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        soles: Geoms it stands on.
        settings: What is done to the motion: `plant`, `clear`, `steer`, `foresee`.
    """
    around = rounds_around(motion)
    rows = _prepare(model, character, repeated_rounds(motion, 2 * around + 1), soles, settings)
    if around == 0:
        return rows
    cycle, step = len(motion.qpos) - 1, round_of(motion)
    first, middle = cut_rows(rows, 0, around * cycle), cut_rows(rows, around * cycle, cycle)
    laid, at, left = [first], NOWHERE, UNROLL * motion.fps + 1 - around * cycle
    while left > 0:
        laid.append(moved_rows(middle, at))
        at, left = after_round(at, step), left - cycle
    return chained(laid)


def _prepare(
    model: mujoco.MjModel, character: Character, long: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    whole = bridge_spikes(model, character, long) if settings.plant else long
    rows = make_rows(model, character, whole, soles)
    if settings.plant:
        rows = with_planted_feet(model, character, rows, soles)
    if settings.clear:
        rows = with_clear_feet(rows, legs_of(model, character, soles))
    if not settings.steer:
        rows = replace(rows, swing=None)
    if whole is not long:
        rows = replace(rows, asked=make_rows(model, character, long, soles).turns)
    if settings.foresee and not settings.external:
        rows = replace(rows, torque=foreseen_torques(model, character, whole))
    return rows


def rounds_around(motion: BodyMotion) -> int:
    """Return how many rounds before and after one tell what becomes of it; 0 of a motion that does not loop."""
    return math.ceil(AROUND / motion.duration) if motion.loop and motion.duration > 0.0 else 0


def as_prepared(rows: ServoTargets, prepared: ServoTargets, at: Floats, share: Floats) -> ServoTargets:
    """Return rows between a motion's frames with what its preparation changed, and adds.

    Args:
        rows: As data has them, however densely, (R, …).
        prepared: The motion's own, prepared.
        at: Which of these goes with each row, in frames, (R,).
        share: How much of the change of orientations each row gets, (R,).
    """
    at = np.clip(at, 0.0, len(prepared.turns) - 1.0)
    low = np.minimum(at.astype(int), max(len(prepared.turns) - 2, 0))
    high, part = np.minimum(low + 1, len(prepared.turns) - 1), at - low

    def between(values: Floats | None) -> Floats | None:
        return None if values is None else values[low] + part[:, None] * (values[high] - values[low])

    turns = rows.turns
    if prepared.asked is not None:
        if (bones := _CHANGED.get(prepared)) is None:
            bones = _CHANGED[prepared] = np.flatnonzero((prepared.turns != prepared.asked).any(axis=(0, 2)))
        pairs = ((prepared.turns[k][:, bones], prepared.asked[k][:, bones]) for k in (low, high))
        before, after = (rotations.multiply(made, rotations.conjugate(asked)) for made, asked in pairs)
        change = rotations.slerp(before, after, np.broadcast_to(part[:, None], before.shape[:2]))
        none = np.broadcast_to([1.0, 0.0, 0.0, 0.0], change.shape)
        change = rotations.slerp(none, change, np.broadcast_to(share[:, None], change.shape[:2]))
        turns = turns.copy()
        turns[:, bones] = rotations.multiply(change, turns[:, bones])
    return replace(
        rows, turns=turns, asked=rows.turns, friction=prepared.friction[low], torque=between(prepared.torque),
        swing=between(prepared.swing), legs=prepared.legs, twist=between(prepared.twist),
    )  # fmt: skip
