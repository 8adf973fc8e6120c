"""The motion graphs of the walks and of the boxing that come with Stunt."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stunt.library.names import load_clip
from stunt.motion.graph.build import GraphSettings, MotionGraph, build_graph
from stunt.motion.graph.pursuit import Blow

OWN_WALKS: Final = ("walk_start", "walk?loop=true", "walk_turn", "walk_curve", "walk_stop", "idle?loop=true")
"""The clips of the package that make up its walking; begins with standing."""


def own_walk_graph(settings: GraphSettings | None = None, cache: Path | None = None) -> MotionGraph:
    """Return the graph of the package's own walks."""
    return build_graph([load_clip(name) for name in OWN_WALKS], settings, cache=cache)


OWN_BOXING: Final = (
    "guard",
    *("jab", "cross", "punch", "hook"),
    *("box_forward", "box_back", "box_left", "box_right"),
    *("box_turn_left", "box_turn_right", "box_circle_left", "box_circle_right"),
    "box_breather",
)
"""The clips of the package that make up its boxing: a guard, blows, footwork in the guard, and getting set."""
OWN_BLOWS: Final = (
    Blow("jab", "jab", 0.53, "l_hand"),
    Blow("cross", "cross", 0.53, "r_hand"),
    Blow("straight", "punch", 1.30, "r_hand", "thorax", 0.22),
    Blow("hook", "hook", 0.84, "l_hand", "thorax", 0.22),
)
"""Their blows."""
OWN_DEAR: Final = {"jab": 0.05, "cross": 0.05, "punch": 0.05, "hook": 0.05, "box_breather": 0.1}
"""What playing a frame of them costs if nobody wants the blow [m²]: no blows into the air, no rest without need."""
BOXING: Final = GraphSettings(mirror=False, blend=0.3, most=0.03, apart=0.4)
"""Mirrored, a boxer would change its stance; blends are short, as its steps are."""
