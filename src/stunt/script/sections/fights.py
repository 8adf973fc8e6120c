"""The `fights` of a `supervisor` section: opponents a character boxes with through a motion graph."""

from __future__ import annotations

from dataclasses import field
from functools import cache

from stunt.drive.body.reactions import Thresholds
from stunt.errors import NOWHERE, InvalidValueError, Place
from stunt.keys import CLIP, TRUTH, Context, Known, ListOf, MappingOf, Nested, Number, Plain, key, spec
from stunt.library.names import load_clip
from stunt.library.own_walks import BOXING, OWN_BLOWS, OWN_BOXING, OWN_DEAR
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph
from stunt.motion.graph.cache import user_cache
from stunt.motion.graph.pursuit import Blow, PursuitSearcher
from stunt.schema import Node, Section, items, number
from stunt.script.sections.kind import BID, FIRMNESS, HIT, PRIORITY
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY, Controller
from stunt.supervise.data.boxer import FELT, FIRM, READY, Boxer, Ring
from stunt.supervise.twin import Twin

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
    graph = build_graph([load_clip(clip) for clip in OWN_BOXING], BOXING, cache=user_cache())
    return PursuitSearcher(graph, OWN_BLOWS, OWN_DEAR)


def searcher_of(fight: FightSpec) -> PursuitSearcher:
    """Return the search through a fight's clips."""
    if not fight.clips:
        return own_searcher()
    graph = build_graph([load_clip(clip, place=fight.place) for clip in fight.clips], BOXING, cache=user_cache())
    return PursuitSearcher(graph, fight.blows, {blow.clip: _DEAR for blow in fight.blows})


def fight_controllers(stage: StageLoop, character: str, fight: FightSpec) -> list[Controller]:
    """Make a boxer as a script describes it, and its tracking twin, which feels blows."""
    boxer = Boxer(
        fight.name, searcher_of(fight), fight.against, stage, character, ring=fight.ring,
        threshold=fight.threshold, hit_threshold=fight.hit_threshold, firm=fight.firm, priority=fight.priority,
        only_asked=fight.asked,
    )  # fmt: skip
    return [boxer, Twin(boxer, Thresholds(stun=fight.stun, limp=fight.limp))]
