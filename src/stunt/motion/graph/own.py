"""The motion graph of the walks that come with Stunt."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stunt.motion.graph.build import GraphSettings, MotionGraph, build_graph
from stunt.motion.library import load_clip

OWN_WALKS: Final = (
    "walk_start",
    "walk?loop=true",
    "walk_turn",
    "walk_curve",
    "walk_stop",
    "idle?loop=true",
)
"""The clips of the package that make up its walking; begins with standing."""


def own_walk_graph(settings: GraphSettings | None = None, cache: Path | None = None) -> MotionGraph:
    """Return the graph of the package's own walks."""
    return build_graph([load_clip(name) for name in OWN_WALKS], settings, cache=cache)
