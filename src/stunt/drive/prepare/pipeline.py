"""One way from a motion to what a servo follows: fitted to the body, steering, torques fed forward.

Everything here is worked out on the motion alone, wherever it is placed: what comes of it can be moved over the ground
(`moved_rows`), and is worked out once for a body and a motion, by their content, for everybody in the process.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.servo.law import ServoSettings
from stunt.control.servo.memory import ServoTargets
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.plant import FALLING
from stunt.drive.feet.stance import LONGEST_STEP
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated_rounds
from stunt.drive.motion.playing import NOWHERE, after_round, chained, cut_rows, moved_rows, place_between, round_of
from stunt.drive.prepare.aside import AskedBeside
from stunt.drive.prepare.content import KnownByContent, digest
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.drive.prepare.fit import Changes, FittedMotion, fit_motion, rounds_around
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches

UNROLL: Final = 60.0
"""Seconds a looping motion is laid out for that is followed."""
JUMP, LANDING = 0.3, 0.03
"""Who flies for so long jumps, and so long before the clip does may land [s]."""
_LAST = 0.3  # seconds of a step in which it is steered
_SOFT = 0.03  # over which steering sets in [s]
_KNOWN = KnownByContent[ServoTargets](24)
_CHANGED: WeakKeyDictionary[ServoTargets, NDArray[np.int64]] = WeakKeyDictionary()  # bones that preparation turned


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
    home = _at_home(motion)
    how = settings.plant, settings.clear, settings.steer, settings.foresee and not settings.external
    joints = [joint.id for joint in character.joints.values()]
    physics = (
        model.jnt_stiffness[joints].tobytes(), model.dof_damping[character.dofs].tobytes(),
        model.dof_frictionloss[character.dofs].tobytes(), model.opt.timestep, model.opt.integrator,
        model.opt.disableflags, model.opt.enableflags,
    )  # torques are foreseen with these; by the discrete integrator the step counts too  # fmt: skip
    key = digest(model, character, home, "rows", how, physics)
    rows = _KNOWN.get(key, lambda: _prepared(model, character, home, soles, settings))
    if settings.beside:
        rows = AskedBeside(model, character).beside(rows, np.array(settings.beside))
    return moved_rows(rows, place_between(home.qpos[0], motion.qpos[0]))


def changes_of(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, settings: ServoSettings
) -> Changes | None:
    """Return what preparing a motion changed of it; None where it is followed as it is.

    Args:
        model: The scene.
        character: Who.
        motion: What it followed.
        settings: How.
    """
    if not settings.plant:
        return None
    around = rounds_around(motion)
    changes = _fitted(model, character, repeated_rounds(_at_home(motion), 2 * around + 1), settings).changes
    start = around * motion.duration
    return changes.between(start, start + motion.duration) if around else changes


def as_followed(model: mujoco.MjModel, character: Character, motion: BodyMotion, settings: ServoSettings) -> BodyMotion:
    """Return a motion as a body that follows it is asked to move: fitted to it, unless settings say otherwise."""
    return _fitted(model, character, motion, settings).motion if settings.plant else motion


def _at_home(motion: BodyMotion) -> BodyMotion:
    """Return a motion unplaced: the same numbers to the last bit wherever it is played, whoever came first."""
    placed = motion.placed((0.0, 0.0), 0.0)
    return replace(placed, qpos=np.round(placed.qpos, 9) + 0.0)


def _fitted(model: mujoco.MjModel, character: Character, long: BodyMotion, settings: ServoSettings) -> FittedMotion:
    return fit_motion(model, character, long, "clear" if settings.clear else "planted")


def _prepared(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    around = rounds_around(motion)
    rows = _rows(model, character, repeated_rounds(motion, 2 * around + 1), soles, settings)
    if around == 0:
        return rows
    cycle, step = len(motion.qpos) - 1, round_of(motion)
    first, middle = cut_rows(rows, 0, around * cycle), cut_rows(rows, around * cycle, cycle)
    laid, at, left = [first], NOWHERE, UNROLL * motion.fps + 1 - around * cycle
    while left > 0:
        laid.append(moved_rows(middle, at))
        at, left = after_round(at, step), left - cycle
    return chained(laid)


def _rows(
    model: mujoco.MjModel, character: Character, long: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    """Return a motion that does not loop as it is followed."""
    if not settings.plant:
        rows, free = make_rows(model, character, long, soles), long
    else:
        found = _fitted(model, character, long, settings)
        free, stands, legs = found.free, found.stands, legs_of(model, character, soles)
        rows = make_rows(model, character, found.motion, soles)
        rows = replace(rows, asked=make_rows(model, character, long, soles).turns)
        if legs and len(stands) > 2:
            grip = np.array([character.grip[geom] for geom in soles])
            held = held_at_landings(rows.friction, grip, stands, rows.path, rows.fps)
            spans = np.array([leg.span for leg in legs])
            rows = replace(rows, friction=held, legs=spans, swing=swings(stands, rows.fps) if settings.steer else None)
    if settings.foresee and not settings.external:
        # Of feet as they were captured: what planting moves them by, within a tenth of a second, nobody ever felt.
        rows = replace(rows, torque=foreseen_torques(model, character, free))
    return rows


def held_at_landings(friction: Floats, full: Floats, stands: NDArray[np.bool_], path: Floats, fps: float) -> Floats:
    """Return frictions with all of it shortly before a body that jumps lands, (F, soles).

    Whoever jumps a little lower than the clip lands a little earlier, while the clip's feet are still fast. A capture
    that has lost its feet shows no ground under them either; only who falls freely jumps.
    """
    held = friction.copy()
    for start, end in stretches(~np.any(stands, axis=1)):
        if end < len(held) and end - start >= JUMP * fps:
            fall = 2.0 * np.polyfit(np.arange(end - start) / fps, path[start:end, 2], 2)[0]
            if fall < FALLING:
                held[max(start, end - round(LANDING * fps)) : end] = full
    return held


def swings(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return when each leg swings to a new stand while another one stands, 0 to 1, (F, legs).

    A foot that lands from a flight decides how fast the body goes on: put nearer to the clip's place, it would brake
    who is late. Only steps are steered, and only in their last part.
    """
    found = np.zeros(stands.shape)
    for number in range(stands.shape[1]):
        held = np.any(np.delete(stands, number, axis=1), axis=1)
        for start, end in stretches(~stands[:, number]):
            if end < len(found) and held[end - 1] and end - start <= LONGEST_STEP * fps:
                found[max(start, end - round(_LAST * fps)) : end, number] = 1.0
    return np.asarray(scipy.ndimage.gaussian_filter1d(found, _SOFT * fps, axis=0, mode="nearest"))


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
