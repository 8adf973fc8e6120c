"""Frames of a clip that do not belong to their neighbours: found, and bridged.

Swapped or lost markers turn a thigh by 140° from one frame to the next, and back a fifteenth of a second later; hips
that are found again face elsewhere. Whoever is to stand on that leg falls for no reason an animator could see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats, difference, slerp
from stunt.motion.clips.clip import Clip

SPIKE_DEG = 15.0  # a frame may turn a joint so much beyond what its neighbours do
LONGEST = 4  # frames in a row that may be off; more are a motion, or a cut
SPIKE_M = 0.03  # and move the root so far: 3 cm within a sixtieth of a second are 22 times gravity [m]
FASTEST = 50.0  # no joint of a person turns faster: kicks of athletes reach about 30 [rad/s]
AROUND = 0.05  # frames this near to a jump are doubtful too [s]
ENDS = ("hand", "foot", "toe", "head")  # who twitches there moves nothing else


@dataclass(frozen=True)
class Spike:
    """A frame that does not belong to its neighbours: which, which joint, and by how much it jumps [deg].

    Where it is the root that leaves its place, `metres` says how far, and `degrees` is 0.
    """

    frame: int
    joint: str
    degrees: float
    metres: float = 0.0

    def __str__(self) -> str:
        return f"frame {self.frame} {self.joint} " + (f"{self.metres:.2f} m" if self.metres else f"{self.degrees:.0f}°")


def find_spikes(clip: Clip) -> tuple[Spike, ...]:
    """Return frames in which the root or a joint is far from the middle of its neighbours, the worst first of each.

    A fast but smooth motion is no spike: a joint's deviation counts against those of the frames around it. Joints that
    are no part of a person (fingers, helpers) are not looked at, where the parts are known.
    """
    if clip.frames < 5:
        return ()
    parts = set(clip.parts.values())
    known = np.array([number in parts or len(parts) < 5 for number in range(len(clip.skeleton))])
    least = SPIKE_DEG * max(1.0, 60.0 / clip.fps)
    forth = difference(clip.rotations[2:], clip.rotations[1:-1])
    back = difference(clip.rotations[:-2], clip.rotations[1:-1])
    off = 0.5 * np.degrees(np.linalg.norm(forth + back, axis=-1))  # (F−2, J): second difference
    usual = np.median(np.stack([np.roll(off, shift, axis=0) for shift in (-4, -3, -2, 2, 3, 4)]), axis=0)
    frames, joints = np.nonzero((off > np.maximum(least, 6.0 * usual)) & known)
    found = [Spike(int(f) + 1, clip.skeleton.names[j], float(off[f, j])) for f, j in zip(frames, joints, strict=True)]
    return (*_leaps(clip), *sorted(found, key=lambda spike: -spike.degrees))


def _leaps(clip: Clip) -> list[Spike]:
    """Return frames in which the root is far from the middle of its neighbours, the worst first."""
    off = np.linalg.norm(0.5 * (clip.root[2:] + clip.root[:-2]) - clip.root[1:-1], axis=-1)
    usual = np.median(np.stack([np.roll(off, shift) for shift in (-4, -3, -2, 2, 3, 4)]), axis=0)
    frames = np.flatnonzero(off > np.maximum(SPIKE_M * max(1.0, 60.0 / clip.fps), 6.0 * usual))
    found = [Spike(int(frame) + 1, clip.skeleton.names[0], 0.0, float(off[frame])) for frame in frames]
    return sorted(found, key=lambda spike: -spike.metres)


def bridged(clip: Clip, spikes: tuple[Spike, ...]) -> Clip:
    """Return the clip with frames that jump off and back again laid on the way between their neighbours.

    What turns faster than anybody can, and stays (legs exchanged for a fifth of a second, a marker that comes back
    elsewhere), is turned over the frames around it.
    """
    rotations, root = clip.rotations.copy(), clip.root.copy()
    by_joint: dict[tuple[str, bool], list[Spike]] = {}
    for spike in spikes:
        by_joint.setdefault((spike.joint, spike.metres > 0.0), []).append(spike)
    for (name, leaps), some in by_joint.items():
        joint = clip.skeleton.joint(name)
        for before, after, size in _gaps(some, clip.frames):
            share = np.arange(1, after - before) / (after - before)
            if leaps:
                if np.linalg.norm(root[after] - root[before]) < size:
                    root[before + 1 : after] = root[before] + share[:, None] * (root[after] - root[before])
                continue
            ends = rotations[before, joint], rotations[after, joint]
            if np.degrees(np.linalg.norm(difference(*ends))) < size:
                start, end = (np.broadcast_to(turn, (len(share), 4)) for turn in ends)
                rotations[before + 1 : after, joint] = slerp(start, end, share)
    _turn_in_time(clip, rotations)
    return clip.with_motion(root, rotations, door=clip.door)


def _turn_in_time(clip: Clip, rotations: Floats) -> None:
    """Lay joints that turn faster than anybody can, and those solved for together with them, between good frames."""
    near, bad = max(1, round(AROUND * clip.fps)), np.zeros(rotations.shape[:2], bool)
    for joint, together in _solved_together(clip).items():
        turned = np.linalg.norm(difference(rotations[1:, joint], rotations[:-1, joint]), axis=-1)
        for frame in np.flatnonzero(turned * clip.fps > FASTEST):
            bad[max(0, frame + 1 - near) : frame + near + 1, together] = True
    for joint in map(int, np.flatnonzero(bad.any(axis=0) & ~bad.all(axis=0))):
        good, lost = np.flatnonzero(~bad[:, joint]), np.flatnonzero(bad[:, joint])
        after = np.searchsorted(good, lost)
        low, high = good[np.maximum(after - 1, 0)], good[after.clip(max=len(good) - 1)]
        share = ((lost - low) / np.maximum(high - low, 1)).clip(0.0, 1.0)
        rotations[lost, joint] = slerp(rotations[low, joint], rotations[high, joint], share)


def _solved_together(clip: Clip) -> dict[int, NDArray[np.bool_]]:
    """Return which joints a capture finds together with each joint of a person, (J,): its limb, and all that hangs on.

    With a hip wrong, knee and ankle are wrong the other way; a hand or a foot that twitches is wrong alone.
    """
    parents, parts = clip.skeleton.parents, {joint: part for part, joint in clip.parts.items()}
    below = np.eye(len(parents), dtype=bool)  # (J, J): of each joint, itself and what hangs on it
    for joint in range(len(parents) - 1, 0, -1):
        below[parents[joint]] |= below[joint]
    known = np.isin(np.arange(len(parents)), list(parts))
    found = {}
    for joint in parts:
        top = joint
        while parents[top] > 0 and not parts[joint].endswith(ENDS):
            beside = known & below[parents[top]] & ~below[top]
            if beside.sum() > known[parents[top]]:
                break  # limbs part here
            top = parents[top]
        found[joint] = below[top]
    return found


def _gaps(spikes: list[Spike], frames: int) -> list[tuple[int, int, float]]:
    """Return the good frames around each run of bad ones, and how far the worst of them is off [deg or m].

    One bad frame is far from the middle of its neighbours, and so is each of these from the middle of theirs.
    """
    worst = {spike.frame: spike.metres or spike.degrees for spike in spikes}
    found, run = [], list[int]()
    for frame in [*sorted(worst), frames + LONGEST]:
        if run and frame > run[-1] + 1:
            before, after = (run[0], run[-1]) if len(run) > 2 else (run[0] - 1, run[-1] + 1)
            if 0 <= before and after < frames and after - before - 1 <= LONGEST:
                found.append((before, after, max(worst[bad] for bad in run)))
            run = []
        run.append(frame)
    return found
