"""Frames of a clip that do not belong to their neighbours: found, and bridged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stunt.maths.rotations import difference, slerp
from stunt.motion.clips.clip import Clip

SPIKE_DEG = 15.0  # a frame may turn a joint so much beyond what its neighbours do
LONGEST = 4  # frames in a row that may be off; more are a motion, or a cut
SPIKE_M = 0.03  # and move the root so far: 3 cm within a sixtieth of a second are 22 times gravity [m]


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

    What jumps and stays (a cut, a lost marker that comes back elsewhere) is left as it is.
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
    return clip.with_motion(root, rotations, door=clip.door)


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
