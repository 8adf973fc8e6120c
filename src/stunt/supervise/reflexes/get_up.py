"""Getting up from any side: by the motion that begins most like the body lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stunt.control.servo.law import RootSpring
from stunt.control.servo.memory import hip_height
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import AWAKE, RISING, Thresholds, feel
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import RECOVERY, RUNNING, BaseController, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Help, Seconds
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.base import PATIENCE, under_data
from stunt.supervise.situation import Situation

_UP = np.array([0.0, 0.0, 1.0])
OWN_CLIPS = {"back": "stand_up", "front": "get_up_front"}
DOWN = 0.6
"""A root below this share of its standing height has something to get up from."""
SEATED = 0.3
"""Frames above this share of the standing height are not begun from."""
BROKEN = 0.8
"""Seconds with a broken root spring after which it has failed."""


class GetUp(BaseController):
    """Get up by following a motion.

    Attributes:
        motions: What to follow, by the side the body lies on.
        gather: How long going to the motion's first pose may take [s].
        spring: Least help for the root, share of m·g·h, however little a body is helped on its feet.
        thresholds: How hard a hit must be to fell it again: as hard as one that would stun it on its feet.
    """

    name = "get up"
    priority = RECOVERY
    longest = 12.0
    low = True
    practice: ClassVar[Practice] = Practice(("lying",))
    shared = ("motions", "thresholds")

    def __init__(
        self,
        motions: Mapping[str, BodyMotion],
        name: str = "",
        *,
        gather: Seconds = 0.6,
        spring: Help = 0.4,
        thresholds: Thresholds | None = None,
    ) -> None:
        """Say by which motions; they start lying and end standing."""
        super().__init__(name)
        self.motions, self.gather, self.spring = dict(motions), gather, spring
        self.thresholds = thresholds or Thresholds()
        slowest = max((motion.duration for motion in self.motions.values()), default=0.0)
        self.longest = max(type(self).longest, (slowest + 1.0) / PATIENCE)
        self.side = next(iter(self.motions))
        self._left = 0.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body is down and at rest."""
        if under_data(now) or _height(now) > DOWN or float(np.linalg.norm(now.com_velocity)) > 0.4:
            return None
        if now.stage.actors[now.character.name].awake < AWAKE:
            return None
        side, since, far = self.nearest(now)
        return Bid(1.0 / (1.0 + far), f"lies most like {since:.1f} s of getting up from the {side}", (side, since))

    def nearest(self, now: Situation) -> tuple[str, float, float]:
        """Return where to begin: the motion, the time in it [s], and how far off the body is there."""
        qpos, stood = now.qpos, _stood(now)
        up = rotations.rotate(rotations.conjugate(qpos[3:7]), _UP)
        best = (next(iter(self.motions)), 0.0, math.inf)
        for side, motion in self.motions.items():
            tilt = np.linalg.norm(rotations.rotate(rotations.conjugate(motion.qpos[:, 3:7]), _UP) - up, axis=1)
            height = np.abs(motion.qpos[:, 2] - qpos[2]) / stood
            bend = np.sqrt(np.mean((motion.qpos[:, 7:] - qpos[7:]) ** 2, axis=1))
            far = 2.0 * tilt + 2.0 * height + bend + np.where(_enterable(motion), 0.0, 1e3)
            k = int(far.argmin())
            if far[k] < best[2]:
                best = (side, k / motion.fps, float(far[k]))
        return best

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Follow the motion from the pose the body has."""
        self.side, since = bid.plan if bid.plan is not None else self.nearest(now)[:2]
        self._left = self.motions[self.side].duration - since
        actor.note(RISING, side=self.side)
        actor.recover()
        actor.lean(self._helped(actor.root))
        actor.follow(self.motions[self.side], since=since, blend=self.gather, actual=True)

    def _helped(self, root: RootSpring) -> RootSpring | None:
        """Return how the root is helped while it rises; None: as on its feet."""
        if root.kind not in ("weak", "auto") or root.limit >= self.spring:
            return None
        return replace(root, limit=self.spring)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Wait for the motion's end, and see whether it stands."""
        if feel(actor, now.hits, self.thresholds, frail=True, blows=now.blows):
            return failed("limp")
        if now.elapsed > PATIENCE * self.longest:
            return failed("took too long")
        if actor.broken_for > BROKEN:
            return failed(f"tipped over getting up from its {self.side}")
        if now.elapsed < self._left:
            return RUNNING
        if _height(now) > 0.85 and now.tilt < 0.5:
            return succeeded("stands")
        return failed(f"did not come up: {math.degrees(now.tilt):.0f}° tilted at {_height(now):.2f} of its height")


def _stood(now: Situation) -> float:
    """Return how high the root is when the body stands [m]."""
    assert now.character.root is not None  # supervised characters have free roots
    return hip_height(now.stage.model, now.character.root.qpos)


def _height(now: Situation) -> float:
    """Return how high the root is, over that of standing."""
    return float(now.qpos[2]) / _stood(now)


def own_get_up(stage: StageLoop, character: str, *, gather: Seconds = 0.6, spring: Help = 0.4) -> GetUp:
    """Return one that gets up by the clips that come with Stunt (see `GetUp`).

    Raises:
        BodyError: The character does not have their skeleton.
    """
    who = stage.character(character)
    own = {side: motion_of_clip(load_clip(clip), who) for side, clip in OWN_CLIPS.items()}
    return GetUp(own, gather=gather, spring=spring)


def _enterable(motion: BodyMotion) -> NDArray[np.bool_]:
    """Return in which frames a lying or sitting body may begin: while the motion is down, and not about to end."""
    top = float(motion.qpos[-1, 2])
    return np.asarray(motion.qpos[:, 2] < SEATED * top)
