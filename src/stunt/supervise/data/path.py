"""Walking along a drawn path through a motion graph: a kinematic controller."""

from __future__ import annotations

import math
from typing import Any, Final, Unpack

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.body_motion import BodyMotion
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.search import SearchSettings
from stunt.motion.graph.walker import FPS, MotionGraphWalker
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import RUNNING, Bid, Status, succeeded
from stunt.supervise.data.base import GraphController, Terms
from stunt.supervise.situation import Situation

AHEAD: Final = 3.0
"""How much of the walk is handed to the body at a time [s]."""
LEFT: Final = 1.0
"""And how much of that is left when more is made [s]."""
_SEAM = 0.1  # from one portion into the next [s]; they are the same walk
_NEAR = 0.3  # whoever is so near to the path's end has arrived [m]


class PathWalker(GraphController):
    """Walks along a path, entered at the frame of the graph most like the character's state.

    Attributes:
        path: Where.
        walked: Clips it went through, with the times at which they were entered.
    """

    def __init__(
        self,
        name: str,
        graph: MotionGraph,
        path: DrawnPath,
        stage: StageLoop,
        character: str,
        *,
        settings: SearchSettings | None = None,
        **terms: Unpack[Terms],
    ) -> None:
        """Prepare a walk.

        Args:
            name: What it is called.
            graph: What it walks through; of the character's own skeleton.
            path: Where.
            stage: On which stage.
            character: By whom.
            settings: How it finds its way.
            terms: As of `DataController`.

        Raises:
            BodyError: The character has other bones than the graph's clips.
        """
        super().__init__(name, graph, stage, character, **terms)
        self.path = path
        self._walker = MotionGraphWalker(graph, path, settings=settings)

    @property
    def walked(self) -> tuple[tuple[float, str], ...]:
        """When which clip was entered, since it took over [s]."""
        return tuple((entered.time, entered.clip) for entered in self._walker.log)

    def follow(self, path: DrawnPath) -> None:
        """Walk along another path from where the walk is made to."""
        self.path = path
        self._walker.follow(path)

    def bid(self, now: Situation) -> Bid | None:
        """Bid where a frame of the graph is alike enough and there is some way left."""
        if not self.may_bid(now):
            return None
        if self.opens(now):
            return Bid(0.5, "from the path's beginning")
        if not self.playing and math.dist(now.root_position[:2], self.path.samples[-1, :2]) < _NEAR:
            return None
        return self._most_alike(now)

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Go over to the walk; from the path's beginning, where the performance begins with it."""
        if bid.plan is None:
            self._walker = MotionGraphWalker(self.graph, self.path, settings=self._walker.searcher.settings)
        else:
            source, frame = bid.plan
            self._walker.begin_at(source, frame, self._place(now, source, frame))
        self._begun = now.time
        self._hand_over(now, actor, 0.0 if bid.plan is None else self.blend)

    def _hand_over(self, now: Situation, actor: BodyActor, blend: float) -> None:
        """Give the body the next seconds of the walk."""
        since = now.time - self._begun
        clip = self._walker.clip_until(since + AHEAD)
        times = since - self._walker.begins + np.arange(round(AHEAD * FPS) + 1) / FPS
        actor.play(BodyMotion(self.name, FPS, self._qpos(clip, times)), blend=blend, place=False)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Walk on; it is done at the path's end."""
        if actor.left < LEFT:
            if actor.by_forces:
                self._catch_up(now, actor, self._walker)
            self._hand_over(now, actor, _SEAM)
        end = self.path.samples[-1, :2]
        slow = float(np.linalg.norm(now.root_velocity[:2])) < 0.3
        if self._walker.arrived and math.dist(now.root_position[:2], end) < (2.0 * _NEAR if slow else _NEAR):
            return succeeded("reached the end of the path")
        return RUNNING

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go."""
        self._begun = -1.0

    def save(self) -> Any:
        """Return what must survive a restore; a walk's state is never changed, so it is shared."""
        return self._walker.save(), self._begun, self.path

    def restore(self, state: Any) -> None:
        """Put it back."""
        walk, self._begun, self.path = state
        self._walker.restore(walk)
