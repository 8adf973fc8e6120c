"""The `walks` of a `supervisor` section: paths a character walks along through a motion graph."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Any

from stunt.errors import NOWHERE, InvalidValueError, Place, asked_at
from stunt.keys import CLIP, TRUTH, Context, Data, ListOf, Number, ScriptKey, Spread, Vector, inline, key, spec
from stunt.library.names import load_clip
from stunt.library.own_walks import OWN_WALKS
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph
from stunt.motion.graph.cache import user_cache
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.search import SearchSettings
from stunt.schema import Section, items, number
from stunt.script.sections.kind import BID, HIT, PRIORITY
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY
from stunt.supervise.data.base import HIT_THRESHOLD, THRESHOLD
from stunt.supervise.data.path import PathWalker


@dataclass(frozen=True)
class Drawn(Spread):
    """A path through points, and how tight its spline is."""

    keys = (
        ScriptKey("path", "", ListOf(Vector((2,), "m", says="`[x, y]`")), MISSING, "points on the ground"),
        ScriptKey("tension", "", Number(0.0, 1.0), 0.0, "of the spline through them"),
    )

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> DrawnPath:
        """Read it."""
        points = [tuple(number(value) for value in items(point)) for point in items(section.need("path"))]
        for point, where in zip(points, items(section.need("path")), strict=True):
            if len(point) != 2:
                raise InvalidValueError("a point of a path", list(point), "two numbers [x, y] in metres", where.place)
        return DrawnPath.through(points, section.read("tension", number, 0.0, least=0.0, most=1.0), section.place)

    def write_keys(self, value: DrawnPath, context: Context, usual: Any) -> Data:
        """Write it."""
        data: Data = {"path": [list(point) for point in value.points]}
        return data | ({"tension": value.tension} if value.tension else {})


@spec("walk '{}'")
class WalkSpec:
    """One path that may be walked along, by the name of its controller."""

    name: str
    path: DrawnPath = inline(kind=Drawn())
    clips: tuple[str | Clip, ...] = key(
        default=(), kind=ListOf(CLIP), help="of the motion graph; else the package's own walks"
    )
    speed: float | None = key(
        default=None, kind=Number(above=0.0, most=20.0, unit="m/s"), help="wanted speed; else as the clips walk"
    )
    asked: bool = key(default=False, kind=TRUTH, help="whether it is walked only when asked for")
    threshold: float = key(default=THRESHOLD, kind=BID, help="up to which distance it bids")
    hit_threshold: float = key(
        default=HIT_THRESHOLD, kind=HIT, help="up to which distance of the state a blow would leave it goes on"
    )
    priority: int = key(default=ORDINARY, kind=PRIORITY, help="of its bids")
    place: Place = field(default=NOWHERE, compare=False)


def walk_controller(stage: StageLoop, character: str, spec: WalkSpec) -> PathWalker:
    """Make a walker as a script describes it; distance maps of its graph are kept in the user's cache."""
    clips = [load_clip(clip, place=spec.place) for clip in spec.clips or OWN_WALKS]
    with asked_at(spec.place):
        return PathWalker(
            spec.name, build_graph(clips, cache=user_cache()), spec.path, stage, character, threshold=spec.threshold,
            hit_threshold=spec.hit_threshold, priority=spec.priority, only_asked=spec.asked,
            settings=SearchSettings(speed=spec.speed),
        )  # fmt: skip
