"""The `walks` of a `supervisor` section: paths a character walks along through a motion graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stunt.errors import NOWHERE, InvalidValueError, Place, asked_at
from stunt.library.names import load_clip
from stunt.library.own_walks import OWN_WALKS
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph
from stunt.motion.graph.cache import user_cache
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.search import SearchSettings
from stunt.schema import Node, Section, items, name, number, truth, whole
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY
from stunt.supervise.data.base import HIT_THRESHOLD, THRESHOLD
from stunt.supervise.data.path import PathWalker

WALK_KEYS = ("path", "clips", "tension", "speed", "asked", "threshold", "hit_threshold", "priority")


@dataclass(frozen=True)
class WalkSpec:
    """One path that may be walked along.

    Attributes:
        name: What the controller is called.
        path: Where.
        clips: Files or names of the graph's clips; none: the package's own walks.
        speed: Wanted speed [m/s]; None: as the clips walk.
        asked: Whether it is walked only when asked for.
        threshold: Up to which distance it bids.
        hit_threshold: Up to which distance of the state a blow would leave it goes on.
        priority: Of its bids.
    """

    name: str
    path: DrawnPath
    clips: tuple[str | Clip, ...] = ()
    speed: float | None = None
    asked: bool = False
    threshold: float = THRESHOLD
    hit_threshold: float = HIT_THRESHOLD
    priority: int = ORDINARY
    place: Place = field(default=NOWHERE, compare=False)


def read_walk(key: str, node: Node) -> WalkSpec:
    """Read one entry."""
    section = Section(node, f"walk '{key}'", WALK_KEYS)
    points = [tuple(number(value) for value in items(point)) for point in items(section.need("path"))]
    for point, where in zip(points, items(section.need("path")), strict=True):
        if len(point) != 2:
            raise InvalidValueError("a point of a path", list(point), "two numbers [x, y] in metres", where.place)
    path = DrawnPath.through(points, section.read("tension", number, 0.0, least=0.0, most=1.0), node.place)
    return WalkSpec(
        key, path, tuple(name(clip) for clip in section.read("clips", items, ())),
        section.read("speed", number, None, above=0.0, most=20.0), section.read("asked", truth, False),
        section.read("threshold", number, THRESHOLD, above=0.0, most=100.0),
        section.read("hit_threshold", number, HIT_THRESHOLD, least=0.0, most=1e6),
        section.read("priority", whole, ORDINARY, least=-1000, most=1000), node.place,
    )  # fmt: skip


def walk_to_data(spec: WalkSpec) -> dict[str, Any]:
    """Make plain data of one entry."""
    data: dict[str, Any] = {"path": [list(point) for point in spec.path.points]}
    for key, value, usual in (
        ("clips", list(spec.clips), []), ("tension", spec.path.tension, 0.0), ("speed", spec.speed, None),
        ("asked", spec.asked, False), ("threshold", spec.threshold, THRESHOLD),
        ("hit_threshold", spec.hit_threshold, HIT_THRESHOLD), ("priority", spec.priority, ORDINARY),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def walk_controller(stage: StageLoop, character: str, spec: WalkSpec) -> PathWalker:
    """Make a walker as a script describes it; distance maps of its graph are kept in the user's cache."""
    clips = [load_clip(clip, place=spec.place) for clip in spec.clips or OWN_WALKS]
    with asked_at(spec.place):
        return PathWalker(
            spec.name, build_graph(clips, cache=user_cache()), spec.path, stage, character, threshold=spec.threshold,
            hit_threshold=spec.hit_threshold, priority=spec.priority, only_asked=spec.asked,
            settings=SearchSettings(speed=spec.speed),
        )  # fmt: skip
