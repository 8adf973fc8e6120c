"""Where feet should be: soles flat on the ground they stand on, where they stand, and when.

A captured foot that stands is tilted by up to 24° and hovers by some centimetres, always by the same amount: that is
taken out for each foot first. What is left while it stands is laid flat, unless it is meant (heel strike, toe-off), and
it stays where it is for as long as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.drive.own.smoothing import eased, rates, smoothed
from stunt.drive.own.soles import Foot
from stunt.drive.own.whole_body import spins
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches

FLAT, MEANT_TILT, STEEP = np.radians(5.0), np.radians(14.0), np.radians(38.0)
"""A standing sole tilted by less than the first is flat; by more than the second it rolls, unless it keeps still; by
more than the last it does not lie at all."""
STILL: Final = 0.5
"""A foot that turns slower than this keeps still [rad/s]."""
LOW, NEAR, PACE = 0.022, 0.03, 0.6
"""A foot stands whose lowest points are below the first [m] and slow [m/s]; or whose patch is below the second."""
RESTING, HOVERS, RESTS = 0.08, 0.08, 0.25
"""A foot slower than the first [m/s] and lower than the second [m] for longer than the third [s] stands."""
TAP, TAP_WIDE, TAP_HIGH = 0.16, 0.07, 0.1
"""A foot up for less than the first [s] that has moved by less than the second and been no higher than the third [m]
never left: captured feet swing about their ankles when a body squats."""
MOST_SHIFT: Final = 0.15
"""A foot is moved by at most this to where it stands [m]."""
HAND_OVER: Final = 0.12
"""Both feet of a step stand for so long, where the one behind is near enough to the ground [s]."""
TIPTOE: Final = 0.045
"""A foot lower than this may still push with its toes [m]."""
FREE_FALL: Final = -6.0
"""A centre of mass that is accelerated less than this is carried by something [m/s²]."""
HEEL_STRIKE: Final = 0.15
"""A foot that came down on its heel has its toes down after this long [s]."""
SWIVELS, SWIVELS_FAR = 1.6, np.radians(20.0)
"""A standing foot that swivels away and back within half of the first [s] by more than the second does not: soles
that carry cannot, and captured feet swing about their ankles at the bottom of a squat."""
_PATCH = 0.01  # points within about this of the lowest carry [m]
_FLATTENED = 0.045  # what is lower and slow lies flat, before its own height is known [m]
_SOFT = 0.03  # over which changes of feet are eased [s]
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(eq=False)
class FootTargets:
    """What the two feet of a motion should do.

    Attributes:
        places: Of the feet [m], (F, 2, 3).
        turns: Of the feet in the world, (F, 2, 4).
        toes: How the toes are turned against the feet, (F, 2, 4).
        points: Sole points in the world [m], two of (F, points, 3).
        stands: Whether each foot stands, (F, 2).
        tilt_deg: What each foot was tilted by whenever it stood [°], (2,).
        hover: How high each foot stood above the floor [m], (2,).
    """

    places: Floats
    turns: Floats
    toes: Floats
    points: list[Floats]
    stands: NDArray[np.bool_]
    tilt_deg: Floats
    hover: Floats

    def enlarge(self, times: float) -> None:
        """Make all lengths so many times larger."""
        self.places *= times
        self.hover *= times
        self.points[:] = [points * times for points in self.points]

    def point_up(self, feet: tuple[Foot, Foot], offsets: Floats, number: int) -> None:
        """Work the points of one foot out anew; `offsets`: where its toes' frame is in the foot's [m], (2, 3)."""
        foot, place, turn = feet[number], self.places[:, number, None], self.turns[:, number]
        own = foot.owners == foot.body
        points = np.zeros((len(place), len(foot.points), 3))
        points[:, own] = place + rotations.rotate(turn[:, None], foot.points[own])
        if not own.all():
            base = place + rotations.rotate(turn[:, None], offsets[number])
            points[:, ~own] = base + rotations.rotate(
                rotations.multiply(turn, self.toes[:, number])[:, None], foot.points[~own]
            )
        self.points[number] = points


def lay_flat(feet: tuple[Foot, Foot], holds: FootTargets, offsets: Floats, fps: float) -> None:
    """Take each foot's constant tilt out, and lay it and its toes flat while it stands."""
    for number, foot in enumerate(feet):
        low, creep = _patch_pace(holds.points[number], fps)
        stands = (low < _FLATTENED) & (np.linalg.norm(creep, axis=1) < PACE)
        stands |= _taps(stands, holds.points[number], low, fps)
        turn = holds.turns[:, number]
        pace = smoothed(np.linalg.norm(spins(turn, fps), axis=1), 0.04 * fps)
        still = stands & (pace < STILL)
        if still.sum() > 0.1 * fps:
            up = rotations.rotate(rotations.conjugate(turn[still]), _UP).mean(axis=0)
            up /= np.linalg.norm(up)
            angle = float(np.arccos(np.clip(up @ foot.normal, -1.0, 1.0)))
            holds.tilt_deg[number] = np.degrees(angle)
            if np.radians(2.0) < angle < np.radians(45.0):
                axis = np.cross(foot.normal, up)
                mend = rotations.from_rotation_vector(axis / np.linalg.norm(axis) * angle)
                turn = rotations.multiply(turn, np.broadcast_to(mend, turn.shape))
        turn = rotations.multiply(_swivelled_back(turn, foot, stands, fps), turn)
        turn = rotations.multiply(_level_across(turn, foot, eased(stands, _SOFT * fps)), turn)
        tilt, axis = _tilt(turn, foot.normal)
        x = np.clip((tilt - FLAT) / (MEANT_TILT - FLAT), 0.0, 1.0)
        lies = np.maximum(
            1.0 - x * x * (3.0 - 2.0 * x), np.clip((2.0 * STILL - pace) / STILL, 0.0, 1.0) * (tilt < STEEP)
        )
        lies = np.maximum(lies, _toes_up_late(turn, foot, stands, fps))
        share = eased(stands, _SOFT * fps) * np.asarray(
            scipy.ndimage.gaussian_filter1d(lies, _SOFT * fps, mode="nearest")
        )
        turn = rotations.multiply(rotations.from_rotation_vector(axis * (tilt * share)[:, None]), turn)
        holds.turns[:, number] = turn
        if foot.toe >= 0:
            world = rotations.multiply(turn, holds.toes[:, number])
            tilt, axis = _tilt(world, foot.toe_up)
            share = eased(stands, _SOFT * fps) * (tilt < np.radians(60.0))
            world = rotations.multiply(rotations.from_rotation_vector(axis * (tilt * share)[:, None]), world)
            holds.toes[:, number] = rotations.multiply(rotations.conjugate(turn), world)
        holds.point_up(feet, offsets, number)


def _level_across(turn: Floats, foot: Foot, share: Floats) -> Floats:
    """Return the turns that level a foot across: it may stand on heel or toes, but not on its edge, (F, 4)."""
    across = rotations.rotate(turn, np.cross(foot.normal, foot.ahead))
    up, along = rotations.rotate(turn, foot.normal), rotations.rotate(turn, foot.ahead)
    roll = -np.arctan2(across[:, 2], np.maximum(up[:, 2], 0.1))
    return rotations.from_rotation_vector(along * (roll * share)[:, None])


def _swivelled_back(turn: Floats, foot: Foot, stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return the turns that take out a standing foot's swivels that come back; what goes one way stays, (F, 4)."""
    ahead = rotations.rotate(turn, foot.ahead)
    heading, back = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0])), np.zeros(len(turn))
    wide = round(SWIVELS * fps)
    for start, end in stretches(stands):
        padded = np.pad(heading[start:end], wide, mode="edge")
        steady = scipy.ndimage.median_filter(padded, 2 * (wide // 2) + 1)[wide:-wide]
        off = steady - heading[start:end]
        back[start:end] = off if np.abs(off).max() > SWIVELS_FAR else 0.0
    back = scipy.ndimage.gaussian_filter1d(back, _SOFT * fps, mode="nearest")
    return rotations.from_rotation_vector(back[:, None] * _UP)


def _toes_up_late(turn: Floats, foot: Foot, stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return 1 where a standing foot has its toes up, and has not just come down on its heel, (F,)."""
    up = rotations.rotate(turn, foot.ahead)[:, 2] > 0.0
    late = np.zeros(len(stands), bool)
    for start, end in stretches(stands):
        late[start + (round(HEEL_STRIKE * fps) if start > 0 else 0) : end] = True
    return np.asarray(up & late, float)


def _tilt(turn: Floats, normal: Floats) -> tuple[Floats, Floats]:
    """Return how far a direction of a frame is from the vertical [rad], (F,), and the axis that brings it back."""
    seen = rotations.rotate(turn, np.broadcast_to(normal, (len(turn), 3)))
    axis = np.cross(seen, _UP)
    axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-9)
    return np.arccos(np.clip(seen[:, 2], -1.0, 1.0)), axis


def _patch_pace(points: Floats, fps: float) -> tuple[Floats, Floats]:
    """Return how low the lowest point of a sole is [m], (F,), and how fast what is near it moves [m/s], (F, 2)."""
    low = points[..., 2].min(axis=1)
    weight = np.exp(-(points[..., 2] - low[:, None]) / _PATCH)
    weight /= weight.sum(axis=1, keepdims=True)
    return low, (rates(points[..., :2], fps) * weight[..., None]).sum(axis=1)


def _taps(stands: NDArray[np.bool_], points: Floats, low: Floats, fps: float) -> NDArray[np.bool_]:
    """Return when a foot that stands leaves the ground for a moment, hardly, and comes down where it was, (F,)."""
    found = np.zeros(len(stands), bool)
    for start, end in stretches(~stands):
        if start == 0 or end == len(stands) or end - start > TAP * fps or low[start:end].max() > TAP_HIGH:
            continue
        moved = np.linalg.norm(points[end, :, :2].mean(axis=0) - points[start - 1, :, :2].mean(axis=0))
        found[start:end] = moved < TAP_WIDE
    return found


def put_down(feet: tuple[Foot, Foot], holds: FootTargets, offsets: Floats, com: Floats, fps: float) -> Floats:
    """Find when feet stand, and put them there; return how far the body goes with them upward [m], (F,)."""
    for number in range(2):
        low, creep = _patch_pace(holds.points[number], fps)
        pace = np.linalg.norm(rates(smoothed(holds.places[:, number], _SOFT * fps), fps), axis=1)
        quiet = (pace < 0.2) & (low < 0.13)
        if quiet.sum() > 0.08 * fps:
            hover = float(np.quantile(low[quiet], 0.3))
            holds.hover[number] = hover if abs(hover) < 0.12 else 0.0
        holds.places[:, number, 2] -= holds.hover[number]
        holds.point_up(feet, offsets, number)
    find_stands(holds, com, fps)
    lift = np.zeros((len(com), 2))
    for number in range(2):
        stands = holds.stands[:, number]
        shift = _shift(holds.points[number], stands, fps)
        lift[:, number] = shift[:, 2] - holds.hover[number]
        shift = scipy.ndimage.gaussian_filter1d(shift, _SOFT * fps, axis=0, mode="nearest")
        shift *= np.minimum(1.0, MOST_SHIFT / np.maximum(np.linalg.norm(shift, axis=1, keepdims=True), 1e-9))
        holds.places[:, number] += shift
        holds.point_up(feet, offsets, number)
        low = holds.points[number][..., 2].min(axis=1)
        holds.places[:, number, 2] -= np.where(stands, low, np.minimum(low, 0.0))
        holds.point_up(feet, offsets, number)
    count = holds.stands.sum(axis=1)
    raised = np.where(count > 0, (lift * holds.stands).sum(axis=1) / np.maximum(count, 1), 0.0)
    if not (count > 0).any():
        return np.zeros(len(com))
    frames = np.arange(len(com))
    raised = np.interp(frames, frames[count > 0], raised[count > 0])
    return np.asarray(scipy.ndimage.gaussian_filter1d(raised, 0.08 * fps, mode="nearest"))


def _shift(points: Floats, stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return how a foot is moved so that it lies still on the floor while it stands [m], (F, 3)."""
    low, creep = _patch_pace(points, fps)
    shift = np.zeros((len(points), 3))
    for start, end in stretches(stands):
        slid = np.cumsum(creep[start:end], axis=0) / fps
        shift[start:end, :2] = slid.mean(axis=0) - slid
        shift[start:end, 2] = -low[start:end]
    if not stands.any():
        return shift
    frames = np.arange(len(stands))
    shift = np.stack([np.interp(frames, frames[stands], column[stands]) for column in shift.T], axis=1)
    shift[~stands, 2] = np.maximum(shift[~stands, 2], -low[~stands])
    return shift


def find_stands(holds: FootTargets, com: Floats, fps: float) -> None:
    """Find in which frames each foot stands: low and slow; nobody hangs in the air without falling."""
    count = len(com)
    low = np.zeros((count, 2))
    for number in range(2):
        points = holds.points[number]
        heights = points[..., 2]
        low[:, number], creep = _patch_pace(points, fps)
        speed = np.linalg.norm(rates(points, fps), axis=2)
        speed = np.where(heights < low[:, number, None] + 0.012, speed, np.inf).min(axis=1)
        speed = scipy.ndimage.gaussian_filter1d(speed, 0.012 * fps)
        on = (low[:, number] < LOW) & (speed < PACE)
        on |= (low[:, number] < NEAR) & (np.linalg.norm(creep, axis=1) < PACE)
        on |= _keeps_still(holds.places[:, number], low[:, number], fps)
        holds.stands[:, number] = _closed(on, points, low[:, number], fps)
    taps = [_taps(holds.stands[:, n], holds.points[n], low[:, n], fps) & holds.stands[:, 1 - n] for n in range(2)]
    holds.stands |= np.stack(taps, axis=1)
    _carry(holds, low, com, fps)
    _hand_over(holds, low, fps)


def _keeps_still(places: Floats, low: Floats, fps: float) -> NDArray[np.bool_]:
    """Return when a foot keeps so still, and so low, that it can only stand, however it was captured, (F,)."""
    pace = np.linalg.norm(rates(smoothed(places, _SOFT * fps), fps), axis=1)
    still = (pace < RESTING) & (low < HOVERS)
    for start, end in stretches(still):
        if end - start < RESTS * fps:
            still[start:end] = False
    return np.asarray(still)


def _closed(on: NDArray[np.bool_], points: Floats, low: Floats, fps: float) -> NDArray[np.bool_]:
    """Return when a foot stands, without gaps that are no steps and touches that carry nothing."""
    for start, end in stretches(~on):
        inner = start > 0 and end < len(on)
        if end - start < 0.05 * fps and low[start:end].max() < 0.04:
            on[start:end] = True
        elif inner and end - start < 0.5 * fps:
            moved = np.linalg.norm(points[end, :, :2].mean(axis=0) - points[start - 1, :, :2].mean(axis=0))
            if moved < 0.04 and low[start:end].max() < 0.05:
                on[start:end] = True  # never high and back where it was: it did not step
    for start, end in stretches(on):
        if end - start < 0.05 * fps and start > 0 and end < len(on):
            on[start:end] = False
    return on


def _carry(holds: FootTargets, low: Floats, com: Floats, fps: float) -> None:
    """Give back the ground to a body that does not fall freely."""
    stands = holds.stands
    fall = rates(rates(smoothed(com[:, 2], 0.015 * fps), fps), fps)
    lowest = low.argmin(axis=1)
    for start, end in stretches(np.asarray(~stands.any(axis=1))):
        for frame in range(start, end):
            if low[frame].min() < LOW + 0.003 and fall[frame] > -8.5:
                stands[frame, lowest[frame]] = True
    for start, end in stretches(np.asarray(~stands.any(axis=1))):
        if fall[start:end].mean() > -4.5 or end - start < 0.035 * fps:
            stands[np.arange(start, end), lowest[start:end]] = True
    for number in range(2):
        for start, end in stretches(stands[:, number]):
            alone = not stands[start:end, 1 - number].all()
            if end - start < 0.03 * fps and start > 0 and end < len(stands) and not alone:
                stands[start:end, number] = False


def _hand_over(holds: FootTargets, low: Floats, fps: float) -> None:
    """Let a foot that is near the ground stand on for a moment after the other has come down: weight takes time."""
    for number in range(2):
        ends = [end for _, end in stretches(holds.stands[:, number])]
        for start, _ in stretches(holds.stands[:, 1 - number]):
            last = next((end for end in ends if start <= end < start + HAND_OVER * fps), None)
            while last is not None and last < min(start + HAND_OVER * fps, len(low)) and low[last, number] < TIPTOE:
                holds.stands[last, number] = True
                last += 1


def carrying_points(
    points: Floats, stands: NDArray[np.bool_], rest: float, ahead: float, fps: float
) -> NDArray[np.bool_]:
    """Return which points of a standing foot carry, (F, points): those near their height of rest, now and soon.

    A heel that is held down while the clip lifts it keeps a straight leg from rising.

    Args:
        points: Of the sole [m], (F, points, 3).
        stands: Whether it stands, (F,).
        rest: A point higher than this above where it is while the foot lies flat has left the ground [m].
        ahead: So early it is let go [s].
        fps: Frames per second.
    """
    height = points[..., 2]
    if not stands.any():
        return np.zeros(height.shape, bool)
    top = height.max(axis=1)
    lies = stands & (top < np.quantile(top[stands], 0.3) + 0.004)
    up = np.maximum(height - np.median(height[lies], axis=0), 0.0)
    up -= np.minimum(up.min(axis=1, keepdims=True), 0.05)
    count = round(ahead * fps)
    later = np.concatenate([up[count:], np.repeat(up[-1:], count, axis=0)])[: len(up)]
    return (np.maximum(up, np.where(later > up, later, 0.0)) < rest) & stands[:, None]
