"""What all controllers share that play a motion graph: how alike its frames are to a state, and where its clips lie.

What kinematic controllers share: entered where data is most like the character's state, kept on while it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypedDict, Unpack

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.playing import place_between
from stunt.errors import BodyError
from stunt.maths.rotations import Floats
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.walker import MotionGraphWalker
from stunt.motion.rig.skeleton_body import body_from_clip
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY, BaseController, Bid
from stunt.supervise.similarity import Similarity, SimilarState, dof_weights
from stunt.supervise.situation import Situation

THRESHOLD: Final = 0.06
"""Distance up to which a frame is alike enough to go on from [rad, see `similarity`]. Standing and walking are 0.05
apart, standing and lying 0.25; a body that tracks a walk is within 0.013 of it."""
HIT_THRESHOLD: Final = 0.012
"""The same for the state a blow would leave: about what 7 kg·m/s at the chest do."""
BLEND: Final = 0.5
"""How long going over to data takes [s] (the paper's 15 frames at 30 Hz)."""
WANTED: Final = 3.0
"""What the user asks for may begin this much further away."""


class Terms(TypedDict, total=False):
    """Keyword arguments that every controller on data takes and hands on (see `DataController`)."""

    threshold: float
    hit_threshold: float
    blend: float
    priority: int
    only_asked: bool
    weights: Mapping[str, float] | None


class DataController(BaseController):
    """Plays data, entered at the frame most like the character's state.

    Attributes:
        threshold: Up to which distance it bids.
        hit_threshold: Up to which distance of the state a blow would leave it goes on. High: hits do not stop it, and
            it pushes what is in the way.
        blend: How long going over takes [s].
        only_asked: Whether it bids only when the user asks for it (or while it plays).
    """

    kinematic = True
    longest = 3600.0

    def __init__(
        self,
        name: str,
        stage: StageLoop,
        character: str,
        frames: Floats,
        *,
        threshold: float = THRESHOLD,
        hit_threshold: float = HIT_THRESHOLD,
        blend: float = BLEND,
        priority: int = ORDINARY,
        only_asked: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Prepare data.

        Args:
            name: What it is called.
            stage: On which stage.
            character: By whom.
            frames: States of the character it may be entered at, (F, nq + nv).
            threshold: Up to which distance it bids.
            hit_threshold: Up to which distance of the state a blow would leave.
            blend: How long going over takes [s].
            priority: Of its bids.
            only_asked: Whether it bids only when the user asks for it (or while it plays).
            weights: Of joints in the comparison, by name, where not by mass.
        """
        super().__init__(name)
        who = stage.character(character)
        self._similarity = Similarity(Layout.of(who), dof_weights(stage.model, who, weights), frames)
        self.threshold, self.hit_threshold, self.blend = threshold, hit_threshold, blend
        self.priority, self.only_asked = priority, only_asked

    @property
    def playing(self) -> bool:
        """Whether it is in charge."""
        raise NotImplementedError

    def may_bid(self, now: Situation) -> bool:
        """Whether it is its turn at all: it plays, is asked for, or need not be."""
        return self.playing or now.request == self.name or not self.only_asked

    def opens(self, now: Situation) -> bool:
        """Whether the performance begins now, and nothing went before."""
        return now.last is None and now.elapsed == 0.0 and not self.playing

    def limit(self, now: Situation) -> float:
        """Return how far data may be from the state it is asked about [rad]."""
        if now.struck:
            return self.hit_threshold
        return self.threshold * (WANTED if now.request == self.name else 1.0)

    def nearest(self, now: Situation) -> SimilarState | None:
        """Return the frame to go on from; None where none is alike enough."""
        return self._similarity.best(now.qpos, now.qvel, self.limit(now))


class GraphController(DataController):
    """A kinematic controller that plays a motion graph, entered at the frame most like the character's state.

    Attributes:
        graph: What it goes through.
    """

    def __init__(self, name: str, graph: MotionGraph, stage: StageLoop, character: str, **terms: Unpack[Terms]) -> None:
        """Prepare.

        Args:
            name: What it is called.
            graph: What it goes through; of the character's own skeleton.
            stage: On which stage.
            character: By whom.
            terms: As of `DataController`.

        Raises:
            BodyError: The character has other bones than the graph's clips.
        """
        who = stage.character(character)
        self.graph, self._body = graph, body_from_clip(graph.skeleton_clip)
        if list(who.joints) != [bone.joint for bone in self._body.plan.bones[1:]]:
            raise BodyError(f"'{character}' does not have the bones of the walk's clips; make one of them its body.")
        layout = Layout.of(who)
        self._numbers = [(s, int(f)) for s, kept in enumerate(graph.kept) for f in np.flatnonzero(kept)]
        frames = np.concatenate([self._frames(number, layout) for number in range(len(graph.sources))])
        super().__init__(name, stage, character, frames, **terms)
        self._begun = -1.0

    @property
    def playing(self) -> bool:
        """Whether it is in charge."""
        return self._begun >= 0.0

    def _frames(self, source: int, layout: Layout) -> Floats:
        """Return states of the kept frames of a clip, (F, nq + nv)."""
        whole = self.graph.sources[source]
        qpos = self._qpos(whole.clip, whole.times)
        kept = self.graph.kept[source]
        return np.concatenate([qpos, layout.velocities(qpos, whole.fps)], axis=1)[kept]

    def _qpos(self, clip: Any, times: Floats) -> Floats:
        return np.asarray(replace(self._body, clip=clip).qpos_at(times), float)

    def _most_alike(self, now: Situation) -> Bid | None:
        """Return a bid to go on from the frame most like the state, where one is alike enough."""
        match = self.nearest(now)
        if match is None:
            return None
        source, frame = self._numbers[match.frame]
        why = f"{match.distance:.2f} from {self.graph.sources[source].name}, frame {frame}"
        return Bid(1.0 - match.distance / self.limit(now), why, (source, frame))

    def _place(self, now: Situation, source: int, frame: int) -> Planar:
        """Return where a clip must lie so that a frame of it is where the character is and faces."""
        whole = self.graph.sources[source]
        pose = self._qpos(whole.clip, whole.times[frame : frame + 1])[0]
        return Planar(*place_between(pose, now.qpos))

    def _catch_up(self, now: Situation, actor: BodyActor, walker: MotionGraphWalker) -> None:
        """Lay a walk that forces follow where they have taken the body: it is planned on from there."""
        since = now.time - self._begun
        planned = self._qpos(walker.clip_until(since), np.array([since - walker.begins]))[0]
        by = place_between(planned, now.qpos)
        walker.move(Planar(*by))
        actor.lay_anew(by)
