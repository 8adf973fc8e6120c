"""The `fights` of a `supervisor` section: opponents a character boxes with through a motion graph.

The `walks` of a `supervisor` section: paths a character walks along through a motion graph.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Any

from stunt.drive.body.reactions import Thresholds
from stunt.errors import NOWHERE, InvalidValueError, Place, asked_at
from stunt.keys import (
    CLIP,
    TRUTH,
    Context,
    Data,
    Known,
    ListOf,
    MappingOf,
    Nested,
    Number,
    Plain,
    ScriptKey,
    Spread,
    Vector,
    inline,
    key,
    spec,
)
from stunt.library.names import load_clip
from stunt.library.own_walks import BOXING, OWN_BLOWS, OWN_BOXING, OWN_DEAR, OWN_WALKS
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph, users_maps
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.pursuit import Blow, PursuitSearcher
from stunt.motion.graph.search import SearchSettings
from stunt.schema import Node, Section, items, number
from stunt.script.sections.kind import BID, FIRMNESS, HIT, PRIORITY
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY, Controller
from stunt.supervise.data.base import HIT_THRESHOLD, THRESHOLD
from stunt.supervise.data.boxer import FELT, FIRM, READY, Boxer, Ring
from stunt.supervise.data.path import PathWalker
from stunt.supervise.twin import Twin


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
            spec.name, build_graph(clips, cache=users_maps()), spec.path, stage, character, threshold=spec.threshold,
            hit_threshold=spec.hit_threshold, priority=spec.priority, only_asked=spec.asked,
            settings=SearchSettings(speed=spec.speed),
        )  # fmt: skip


STUN, LIMP = 0.5, 4.0
_DEAR = 0.05  # what playing a blow costs that nobody asked for, per frame [m²]


def _ring(node: Node) -> Ring:
    values = [number(value) for value in items(node)]
    if len(values) != 3 or values[2] <= 0.0:
        raise InvalidValueError("a ring", values, "[x, y, radius] in metres, the radius above 0", node.place)
    return Ring(*values)


_RING = Plain(_ring, "`[x, y, radius]`", "m", lambda ring: [ring.x, ring.y, ring.radius])


@spec("fight '{}'")
class FightSpec:
    """One opponent to box with, by the name of the controller."""

    name: str
    against: str = key(kind=Known("character"), help="the opponent")
    clips: tuple[str | Clip, ...] = key(
        default=(), kind=ListOf(CLIP), help="of the motion graph, the guard first; else the package's own boxing"
    )
    blows: tuple[Blow, ...] = key(
        default=(), kind=MappingOf(Nested(Blow)), help="what of `clips` are blows; both, or neither"
    )
    ring: Ring = key(default=Ring(), kind=_RING, help="where the match is")
    asked: bool = key(default=False, kind=TRUTH, help="whether it boxes only when asked to")
    threshold: float = key(
        default=READY, kind=BID, help="up to which distance of its state from the graph's frames it bids"
    )
    hit_threshold: float = key(
        default=FELT, kind=HIT, help="up to which distance of the state a blow would leave it boxes on"
    )
    firm: float = key(default=FIRM, kind=FIRMNESS, help="with how many times its inertia it pushes what is in its way")
    stun: float = key(
        default=STUN, kind=Number(above=0.0, most=1e6, unit="m·g"), help="force of a hit from which it loses strength"
    )
    limp: float = key(default=LIMP, kind=Number(above=0.0, most=1e6, unit="m·g"), help="from which it cannot go on")
    priority: int = key(default=ORDINARY, kind=PRIORITY, help="of its bids")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> FightSpec:
        """Complain about clips without blows, and blows without clips."""
        if bool(self.clips) != bool(self.blows):
            expected = "clips and what of them are blows, or neither: then it boxes with the package's own"
            raise InvalidValueError(section.what, "only one of 'clips' and 'blows'", expected, self.place)
        return self


@cache
def own_searcher() -> PursuitSearcher:
    """Return the search through the package's own boxing; distance maps are kept in the user's cache."""
    graph = build_graph([load_clip(clip) for clip in OWN_BOXING], BOXING, cache=users_maps())
    return PursuitSearcher(graph, OWN_BLOWS, OWN_DEAR)


def searcher_of(fight: FightSpec) -> PursuitSearcher:
    """Return the search through a fight's clips."""
    if not fight.clips:
        return own_searcher()
    graph = build_graph([load_clip(clip, place=fight.place) for clip in fight.clips], BOXING, cache=users_maps())
    return PursuitSearcher(graph, fight.blows, {blow.clip: _DEAR for blow in fight.blows})


def fight_controllers(stage: StageLoop, character: str, fight: FightSpec) -> list[Controller]:
    """Make a boxer as a script describes it, and its tracking twin, which feels blows."""
    boxer = Boxer(
        fight.name, searcher_of(fight), fight.against, stage, character, ring=fight.ring,
        threshold=fight.threshold, hit_threshold=fight.hit_threshold, firm=fight.firm, priority=fight.priority,
        only_asked=fight.asked,
    )  # fmt: skip
    return [boxer, Twin(boxer, Thresholds(stun=fight.stun, limp=fight.limp))]
