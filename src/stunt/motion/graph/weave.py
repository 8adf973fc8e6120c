"""Putting pieces of clips together: played where they lie on the ground, and blended from one into the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.clips.clip_parts import ClipPose
from stunt.motion.clips.edit import blended_pose
from stunt.motion.graph.build import MotionGraph, Transition
from stunt.motion.graph.planar import Planar, eased
from stunt.motion.graph.plants import Plants


@dataclass(frozen=True)
class Piece:
    """A stretch of a walk: a clip from a frame on and, at its end, the way into another."""

    source: int  #: Number of the clip
    frame: int  #: Where in it the piece begins
    place: Planar  #: Where the clip lies on the ground
    played: int  #: For how many frames it is played alone
    transition: int | None  #: Number of the transition at its end; None: it just ends there


@dataclass(frozen=True, eq=False)
class Weaver:
    """Makes poses of pieces."""

    graph: MotionGraph  #: Where they are from

    @cached_property
    def plants(self) -> tuple[Plants, ...]:
        """What of the feet stands, clip by clip."""
        return tuple(Plants(source.clip, source.parts) for source in self.graph.sources)

    def frames(self, piece: Piece) -> int:
        """Return how many of the graph's frames a piece takes."""
        return piece.played + (0 if piece.transition is None else 2 * self.graph.settings.half)

    def poses(self, piece: Piece, clock: Floats) -> tuple[ClipPose, np.ndarray]:
        """Return poses, and what of the feet stands (n, feet), at times since the piece's beginning [s], (n,)."""
        fps = self.graph.settings.fps
        times = piece.frame / fps + clock
        pose = piece.place.pose(self.graph.sources[piece.source].clip.at(times))
        kinds = self.plants[piece.source].at(times)
        if piece.transition is None:
            return pose, kinds
        transition = self.graph.transitions[piece.transition]
        span = 2 * self.graph.settings.half / fps
        share = eased((clock - piece.played / fps) / span)
        later = (transition.arrive / fps - span) + (clock - piece.played / fps)
        other = self.target_place(piece, transition).pose(self.graph.sources[transition.target].clip.at(later))
        entered = (share >= 0.5)[:, None]
        return blended_pose(pose, other, share), np.where(entered, self.plants[transition.target].at(later), kinds)

    def target_place(self, piece: Piece, transition: Transition) -> Planar:
        """Return where the entered clip lies."""
        return piece.place.then(transition.move)
