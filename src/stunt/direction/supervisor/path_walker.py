"""Walking along a drawn path through a motion graph: a kinematic controller."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stunt import rotations
from stunt.direction.motion_rows import Motion
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import ORDINARY, RUNNING, Bid, Status, succeeded
from stunt.direction.supervisor.data_controller import BLEND, HIT_THRESHOLD, THRESHOLD, DataController
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.similarity import Similarity, dof_weights
from stunt.direction.supervisor.situation import Situation
from stunt.errors import BodyError
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.search import SearchSettings
from stunt.motion.graph.walker import FPS, MotionGraphWalker
from stunt.motion.skeleton_body import body_from_clip
from stunt.rotations import Floats
from stunt.stage.loop import Stage

AHEAD: Final = 3.0
"""How much of the walk is handed to the body at a time [s]."""
LEFT: Final = 1.0
"""And how much of that is left when more is made [s]."""
_SEAM = 0.1  # from one portion into the next [s]; they are the same walk
_NEAR = 0.3  # whoever is so near to the path's end has arrived [m]


class PathWalker(DataController):
    """Walks along a path, entered at the frame of the graph most like the character's state.

    Attributes:
        graph: What it walks through.
        path: Where.
        walked: Clips it went through, with the times at which they were entered.
    """

    def __init__(
        self,
        name: str,
        graph: MotionGraph,
        path: DrawnPath,
        stage: Stage,
        character: str,
        *,
        threshold: float = THRESHOLD,
        hit_threshold: float = HIT_THRESHOLD,
        blend: float = BLEND,
        priority: int = ORDINARY,
        only_asked: bool = False,
        weights: Mapping[str, float] | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        """Prepare a walk.

        Args:
            name: What it is called.
            graph: What it walks through; of the character's own skeleton.
            path: Where.
            stage: On which stage.
            character: By whom.
            threshold: Up to which distance it bids.
            hit_threshold: Up to which distance of the state a blow would leave.
            blend: How long going over takes [s].
            priority: Of its bids.
            only_asked: Whether it bids only when asked for.
            weights: Of joints in the comparison, by name, where not by mass.
            settings: How it finds its way.

        Raises:
            BodyError: The character has other bones than the graph's clips.
        """
        who = stage.character(character)
        self.graph, self.path, self._body = graph, path, body_from_clip(graph.skeleton_clip)
        if list(who.joints) != [bone.joint for bone in self._body.plan.bones[1:]]:
            raise BodyError(f"'{character}' does not have the bones of the walk's clips; make one of them its body.")
        layout = Layout.of(who)
        self._numbers = [(s, int(f)) for s, kept in enumerate(graph.kept) for f in np.flatnonzero(kept)]
        frames = np.concatenate([self._frames(number, layout) for number in range(len(graph.sources))])
        super().__init__(
            name, Similarity(layout, dof_weights(stage.model, who, weights), frames), threshold=threshold,
            hit_threshold=hit_threshold, blend=blend, priority=priority, only_asked=only_asked,
        )  # fmt: skip
        self._walker = MotionGraphWalker(graph, path, settings=settings)
        self._begun = -1.0

    def _frames(self, source: int, layout: Layout) -> Floats:
        """Return states of the kept frames of a clip, (F, nq + nv)."""
        whole = self.graph.sources[source]
        qpos = self._qpos(whole.clip, whole.times)
        kept = self.graph.kept[source]
        return np.concatenate([qpos, layout.velocities(qpos, whole.fps)], axis=1)[kept]

    def _qpos(self, clip: Any, times: Floats) -> Floats:
        return np.asarray(replace(self._body, clip=clip).qpos_at(times), float)

    @property
    def walked(self) -> tuple[tuple[float, str], ...]:
        """When which clip was entered, since it took over [s]."""
        return tuple((entered.time, entered.clip) for entered in self._walker.log)

    def follow(self, path: DrawnPath) -> None:
        """Walk along another path from where the walk is made to."""
        self.path = path
        self._walker.follow(path)

    @property
    def playing(self) -> bool:
        """Whether it is in charge."""
        return self._begun >= 0.0

    def bid(self, now: Situation) -> Bid | None:
        """Bid where a frame of the graph is alike enough and there is some way left."""
        if not self.may_bid(now):
            return None
        if self.opens(now):
            return Bid(0.5, "from the path's beginning")
        if not self.playing and math.dist(now.root_position[:2], self.path.samples[-1, :2]) < _NEAR:
            return None
        match = self.nearest(now)
        if match is None:
            return None
        source, frame = self._numbers[match.frame]
        why = f"{match.distance:.2f} from {self.graph.sources[source].name}, frame {frame}"
        return Bid(1.0 - match.distance / self.limit(now), why, (source, frame))

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Go over to the walk; from the path's beginning, where the performance begins with it."""
        if bid.plan is None:
            self._walker = MotionGraphWalker(self.graph, self.path, settings=self._walker.searcher.settings)
        else:
            source, frame = bid.plan
            self._walker.begin_at(source, frame, self._place(now, source, frame))
        self._begun = now.time
        self._hand_over(now, actor, 0.0 if bid.plan is None else self.blend)

    def _place(self, now: Situation, source: int, frame: int) -> Planar:
        """Return where a clip must lie so that a frame of it is where the character is and faces."""
        whole = self.graph.sources[source]
        pose = self._qpos(whole.clip, whole.times[frame : frame + 1])[0]
        turn = float(rotations.heading(now.root_quaternion) - rotations.heading(pose[3:7]))
        x, y = now.root_position[:2]
        return Planar(float(x), float(y), turn).then(Planar(-float(pose[0]), -float(pose[1]), 0.0))

    def _hand_over(self, now: Situation, actor: Actor, blend: float) -> None:
        """Give the body the next seconds of the walk."""
        since = now.time - self._begun
        clip = self._walker.clip_until(since + AHEAD)
        times = since - self._walker.begins + np.arange(round(AHEAD * FPS) + 1) / FPS
        actor.play(Motion(self.name, FPS, self._qpos(clip, times)), blend=blend, place=False)

    def step(self, now: Situation, actor: Actor) -> Status:
        """Walk on; it is done at the path's end."""
        if actor.left < LEFT:
            self._hand_over(now, actor, _SEAM)
        end = self.path.samples[-1, :2]
        slow = float(np.linalg.norm(now.root_velocity[:2])) < 0.3
        if self._walker.arrived and math.dist(now.root_position[:2], end) < (2.0 * _NEAR if slow else _NEAR):
            return succeeded("reached the end of the path")
        return RUNNING

    def stop(self, now: Situation, actor: Actor) -> None:
        """Let go."""
        self._begun = -1.0

    def save(self) -> Any:
        """Return what must survive a restore; a walk's state is never changed, so it is shared."""
        return self._walker.save(), self._begun, self.path

    def restore(self, state: Any) -> None:
        """Put it back."""
        walk, self._begun, self.path = state
        self._walker.restore(walk)
