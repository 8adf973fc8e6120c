"""Where feet stand: which point of a foot is planted in which frame of a clip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import WorldPose
from stunt.motion.clips.standing import MEANT, feet_of

FREE, ANKLE, BALL = 0, 1, 2
LOCKED: Final = replace(MEANT, slow=0.45)
"""A foot that is meant to stand, and slow enough to be held from one frame to the next: nothing looks ahead here, so
whoever is faster would be stopped with a jerk."""


@dataclass(frozen=True, eq=False)
class Plants:
    """What of each foot stands, over a clip's own frames.

    Attributes:
        clip: The clip, its ground at z = 0.
        parts: Which joint is which part.
    """

    clip: Clip
    parts: dict[str, int]

    @property
    def sides(self) -> tuple[str, ...]:
        """The feet there are: `l_`, `r_`."""
        return tuple(feet_of(self.parts))

    @cached_property
    def kinds(self) -> np.ndarray:
        """`FREE`, `ANKLE` (the heel stands) or `BALL`, per frame and foot, (F, feet)."""
        found = np.zeros((self.clip.frames, len(self.sides)), dtype=np.int64)
        for number, foot in enumerate(feet_of(self.parts).values()):
            found[self._stands(foot.ankle), number] = ANKLE
            if foot.ball is not None:
                found[self._stands(foot.ball), number] = BALL
        return found

    def _stands(self, joint: int) -> np.ndarray:
        places = self.clip.world.positions[:, joint]
        pace = np.linalg.norm(np.gradient(places[:, :2], 1.0 / self.clip.fps, axis=0), axis=-1)
        standing = places[pace < LOCKED.slow, 2]
        rest = max(float(np.percentile(standing, 20)) if len(standing) else 0.0, 0.0)
        found = (places[:, 2] < rest + LOCKED.low) & (pace < LOCKED.slow)
        return LOCKED.lasts(LOCKED.closed(found, self.clip.fps), self.clip.fps)

    def at(self, times: Floats) -> np.ndarray:
        """Return the kinds at times [s], (n, feet)."""
        frames = np.clip(np.round(times * self.clip.fps).astype(int), 0, self.clip.frames - 1)
        return np.asarray(self.kinds[frames])


def contact_points(world: WorldPose, parts: dict[str, int], kinds: np.ndarray) -> Floats:
    """Return where each foot's standing point is [m], (F, feet, 3); its ball (or ankle) where nothing stands."""
    columns = []
    for number, foot in enumerate(feet_of(parts).values()):
        ball = world.positions[:, foot.ankle if foot.ball is None else foot.ball]
        heel = kinds[:, number, None] == ANKLE
        columns.append(np.where(heel, world.positions[:, foot.ankle], ball))
    return np.stack(columns, axis=1)


def slide(world: WorldPose, parts: dict[str, int], kinds: np.ndarray) -> tuple[Floats, float]:
    """Return how far each foot slips over the ground during each of its plants.

    Args:
        world: The joints, frame by frame.
        parts: Which joint is which part.
        kinds: What stands, (F, feet).

    Returns:
        For every plant (a run of frames in which one point of a foot stands) the greatest distance from where it
        began [m], and how long all plants take together [frames].
    """
    points = contact_points(world, parts, kinds)[..., :2]
    found, frames = [], 0
    for foot in range(kinds.shape[1]):
        change = np.flatnonzero(np.diff(kinds[:, foot])) + 1
        for run in np.split(np.arange(len(kinds)), change):
            if kinds[run[0], foot] != FREE and len(run) > 1:
                found.append(np.linalg.norm(points[run, foot] - points[run[0], foot], axis=-1).max())
                frames += len(run)
    return np.array(found), float(frames)
