"""Playing clips: the plainest kinematic controller."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Unpack

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.motion.layout import Layout
from stunt.drive.prepare.fit import fit_motion
from stunt.motion.clips.clip import Clip
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import RUNNING, Bid, Status, succeeded
from stunt.supervise.data.base import DataController, Terms
from stunt.supervise.situation import Situation

ASLEEP: Final = 60.0
"""Longest time a clip that goes on needs nobody to look after it [s]."""
SOON: Final = 0.1
"""Nearer to its end than this it is looked after again [s]."""
LOW: Final = 0.5
"""A clip whose root comes below this share of its standing height means to be low: being down in it is no fall."""


class ClipController(DataController):
    """Plays one clip, entered at the frame most like the character's state.

    Attributes:
        motion: The clip in the body's coordinates.
        begins: Whether it is always entered at its beginning (a kick), not anywhere (a walk).
        passive: Names of what does not count as a hit while it plays.
    """

    shared = ("motion", "_similarity")

    def __init__(
        self,
        name: str,
        motion: BodyMotion,
        stage: StageLoop,
        character: str,
        *,
        begins: bool = False,
        passive: frozenset[str] = frozenset(),
        firm: float = 1.0,
        **terms: Unpack[Terms],
    ) -> None:
        """Prepare a clip.

        Args:
            name: What it is called.
            motion: What it plays.
            stage: Where.
            character: By whom.
            begins: Whether it is always entered at its beginning.
            passive: What does not count as a hit while it plays.
            firm: With how many times its inertia it pushes what is in its way (a kick: more than a limp leg).
            terms: As of `DataController`.
        """
        who = stage.character(character)
        layout = Layout.of(who)
        super().__init__(name, stage, character, layout.frames(motion), **terms)
        self.motion, self.begins, self.passive, self.firm = motion, begins, passive, firm
        self._playing = False
        self.low = who.root is not None and bool((motion.qpos[:, 2] < LOW * stage.model.qpos0[who.root.qpos + 2]).any())
        self._similarity.best(motion.qpos[0], np.zeros(layout.nv))  # loads what is compiled before the show

    @property
    def playing(self) -> bool:
        """Whether it is in charge."""
        return self._playing

    def bid(self, now: Situation) -> Bid | float | None:
        """Bid where a frame is alike enough."""
        if not self.may_bid(now):
            return None
        if self.opens(now):
            return Bid(0.5, "from its beginning", 0.0)
        limit = self.limit(now)
        if self.begins and not self._playing:
            far = self._similarity.distance(now.qpos, now.qvel, 0)
            return Bid(max(0.0, 1.0 - far / limit), f"{far:.2f} from its beginning", 0.0) if far <= limit else None
        match = self.nearest(now)
        if match is None:
            return None
        last = len(self.motion.qpos) - round(1.5 * self.blend * self.motion.fps)  # there must be something left to play
        frame = match.frame if self.motion.loop else min(match.frame, max(last, 0))
        return Bid(
            1.0 - match.distance / limit, f"{match.distance:.2f} from frame {match.frame}", frame / self.motion.fps
        )

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Go over to the clip."""
        since = float(bid.plan) if bid.plan is not None else 0.0
        actor.firm = self.firm
        actor.play(self.motion, since=since, blend=0.0 if now.last is None else self.blend)
        self._playing = True

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Play on; a looping clip begins again by itself."""
        left = actor.left
        if left < 0.04:
            return succeeded("the clip ended")
        return Status("running", wake=min(left - SOON, ASLEEP)) if left > 2.0 * SOON else RUNNING

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go."""
        self._playing = False


def clip_player(
    stage: StageLoop, character: str, clip: Clip, *, loop: bool | None = None, **options: object
) -> ClipController:
    """Make a clip player of a clip whose skeleton the character has; fitted to its body.

    Args:
        stage: Where.
        character: Who.
        clip: What.
        loop: Whether it goes on from its beginning; None: as the clip says.
        options: As of `ClipController`; `name` if not the clip's.
    """
    who = stage.character(character)
    motion = motion_of_clip(clip, who)
    if loop is not None:
        motion = replace(motion, loop=loop)
    motion = fit_motion(stage.model, who, motion, "out of the floor").motion
    name = str(options.pop("name", clip.name))
    return ClipController(name, motion, stage, character, **options)  # type: ignore[arg-type]
