"""Motion graphs for tests: of the package's own walks, and of the shared capture."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from clip_helpers import MOCAP

from stunt.library.own_walks import own_walk_graph
from stunt.library.read import read_clip
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import MotionGraph, build_graph
from stunt.motion.graph.drawn_path import DrawnPath

CAPTURED = (
    "walk__16_17_walk_90deg_left_turn",
    "walk__16_34_slow_walk_stop",
    "walk__07_01_walk",
    "idle__82_08_stand_still_then_walk",
)
PATHS = {
    "wave": DrawnPath.through([(0, 0), (3, 0), (6, 2), (9, 2), (12, 0)]),
    "circle": DrawnPath.through([(3 * np.sin(a), 3 - 3 * np.cos(a)) for a in np.linspace(0, 2 * np.pi, 13)]),
    "corners": DrawnPath.through([(0, 0), (4, 0), (4, 4), (8, 4), (8, 0)]),
}


@cache
def own_graph() -> MotionGraph:
    return own_walk_graph()


def captured_clips() -> list[Clip]:
    return [replace(read_clip(MOCAP / "cmu" / f"{name}.bvh"), name=name) for name in CAPTURED]


@cache
def captured_graph() -> MotionGraph:
    return build_graph(captured_clips())
