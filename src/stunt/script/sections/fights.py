"""The `fights` of a `supervisor` section: opponents a character boxes with through a motion graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from stunt.drive.body.reactions import Thresholds
from stunt.errors import NOWHERE, InvalidValueError, Place
from stunt.library.names import load_clip
from stunt.library.own_walks import BOXING, OWN_BLOWS, OWN_BOXING, OWN_DEAR
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph
from stunt.motion.graph.cache import user_cache
from stunt.motion.graph.pursuit import Blow, PursuitSearcher
from stunt.schema import Node, Section, choice, entries, items, known, moment, name, number, truth, whole
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene
from stunt.supervise.contract import ORDINARY, Controller
from stunt.supervise.data.boxer import FELT, FIRM, READY, Boxer, Ring
from stunt.supervise.data.twin import Twin

FIGHT_KEYS = (
    *("against", "clips", "blows", "ring", "asked", "threshold", "hit_threshold", "firm", "stun", "limp", "priority"),
)
BLOW_KEYS = ("clip", "at", "limb", "aim", "short")
LIMBS = ("l_hand", "r_hand", "l_foot", "r_foot")
AIMS = ("head", "thorax")
STUN, LIMP = 0.5, 4.0
_DEAR = 0.05  # what playing a blow costs that nobody asked for, per frame [m²]


@dataclass(frozen=True)
class FightSpec:
    """One opponent to box with.

    Attributes:
        name: What the controller is called.
        against: The opponent.
        clips: Files or names of the graph's clips, the guard first; none: the package's own boxing.
        blows: What of them are blows; none: the package's own.
        ring: Where the match is.
        asked: Whether it boxes only when asked to.
        threshold: Up to which distance of its state from the graph's frames it bids.
        hit_threshold: Up to which distance of the state a blow would leave it boxes on.
        firm: With how many times its inertia it pushes what is in its way.
        stun: Force of a hit from which it loses strength, in body weights.
        limp: From which it cannot go on.
        priority: Of its bids.
    """

    name: str
    against: str
    clips: tuple[str | Clip, ...] = ()
    blows: tuple[Blow, ...] = ()
    ring: Ring = Ring()
    asked: bool = False
    threshold: float = READY
    hit_threshold: float = FELT
    firm: float = FIRM
    stun: float = STUN
    limp: float = LIMP
    priority: int = ORDINARY
    place: Place = field(default=NOWHERE, compare=False)


def read_fight(key: str, node: Node, scene: Scene) -> FightSpec:
    """Read one entry."""
    section = Section(node, f"fight '{key}'", FIGHT_KEYS)
    clips = tuple(name(clip) for clip in section.read("clips", items, ()))
    blows = tuple(_blow(called, value) for called, value in section.read("blows", entries, {}).items())
    if bool(clips) != bool(blows):
        expected = "clips and what of them are blows, or neither: then it boxes with the package's own"
        raise InvalidValueError(f"fight '{key}'", "only one of 'clips' and 'blows'", expected, node.place)
    return FightSpec(
        key, known(section.need("against"), "character", tuple(scene.characters)), clips, blows,
        section.read("ring", _ring, Ring()), section.read("asked", truth, False),
        section.read("threshold", number, READY, above=0.0, most=100.0),
        section.read("hit_threshold", number, FELT, least=0.0, most=1e6),
        section.read("firm", number, FIRM, least=0.1, most=1000.0),
        section.read("stun", number, STUN, above=0.0, most=1e6),
        section.read("limp", number, LIMP, above=0.0, most=1e6),
        section.read("priority", whole, ORDINARY, least=-1000, most=1000), node.place,
    )  # fmt: skip


def _ring(node: Node) -> Ring:
    values = [number(value) for value in items(node)]
    if len(values) != 3 or values[2] <= 0.0:
        raise InvalidValueError("a ring", values, "[x, y, radius] in metres, the radius above 0", node.place)
    return Ring(*values)


def _blow(called: str, node: Node) -> Blow:
    section = Section(node, f"blow '{called}'", BLOW_KEYS)
    return Blow(
        called, section.read("clip", name, called), moment(section.need("at")),
        choice(section.need("limb"), LIMBS, "limb"), section.read("aim", choice, "head", options=AIMS, kind="aim"),
        section.read("short", number, Blow.short, least=0.0, most=1.0),
    )  # fmt: skip


def fight_to_data(spec: FightSpec) -> dict[str, Any]:
    """Make plain data of one entry."""
    data: dict[str, Any] = {"against": spec.against}
    usual = FightSpec(spec.name, spec.against)
    if spec.clips:
        data["clips"] = list(spec.clips)
        data["blows"] = {
            b.name: {"clip": b.clip, "at": b.time, "limb": b.limb, "aim": b.aim, "short": b.short} for b in spec.blows
        }
    if spec.ring != usual.ring:
        data["ring"] = [spec.ring.x, spec.ring.y, spec.ring.radius]
    for key in ("asked", "threshold", "hit_threshold", "firm", "stun", "limp", "priority"):
        if getattr(spec, key) != getattr(usual, key):
            data[key] = getattr(spec, key)
    return data


@cache
def own_searcher() -> PursuitSearcher:
    """Return the search through the package's own boxing; distance maps are kept in the user's cache."""
    graph = build_graph([load_clip(clip) for clip in OWN_BOXING], BOXING, cache=user_cache())
    return PursuitSearcher(graph, OWN_BLOWS, OWN_DEAR)


def searcher_of(spec: FightSpec) -> PursuitSearcher:
    """Return the search through a fight's clips."""
    if not spec.clips:
        return own_searcher()
    graph = build_graph([load_clip(clip, place=spec.place) for clip in spec.clips], BOXING, cache=user_cache())
    return PursuitSearcher(graph, spec.blows, {blow.clip: _DEAR for blow in spec.blows})


def fight_controllers(stage: StageLoop, character: str, spec: FightSpec) -> list[Controller]:
    """Make a boxer as a script describes it, and its tracking twin, which feels blows."""
    boxer = Boxer(
        spec.name, searcher_of(spec), spec.against, stage, character, ring=spec.ring, threshold=spec.threshold,
        hit_threshold=spec.hit_threshold, firm=spec.firm, priority=spec.priority, only_asked=spec.asked,
    )  # fmt: skip
    return [boxer, Twin(boxer, Thresholds(stun=spec.stun, limp=spec.limp))]
