"""`supervisor` joins scripts and performances.

The `supervisor` section of a part: who may be in charge of a character, `walks` along paths and `fights` with opponents
through motion graphs among them. Described in `docs/supervisor.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, replace
from functools import cache
from typing import Any

from stunt.character.bodies import by_joint
from stunt.character.character import Character
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.reactions import Thresholds
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.fit import fit_motion
from stunt.errors import NOWHERE, BodyError, InvalidValueError, MissingValueError, Place, StuntError, asked_at
from stunt.keys import (
    CLIP,
    MOMENT,
    NAME,
    SECONDS,
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
    Word,
    inline,
    key,
    names_of,
    read_section,
    same_key,
    spec,
)
from stunt.library.names import load_clip
from stunt.library.own_walks import BOXING, OWN_BLOWS, OWN_BOXING, OWN_DEAR, OWN_WALKS
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import build_graph, users_maps
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.pursuit import Blow, PursuitSearcher
from stunt.motion.graph.search import SearchSettings
from stunt.play.actor import Actor
from stunt.schema import Node, Section, entries, items, name, number, text
from stunt.script.sections.clips import check_range, trimmed_motion
from stunt.script.sections.kind import BID, FIRMNESS, HIT, PRIORITY, SectionKind, claimed, root_of
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import ORDINARY, Controller
from stunt.supervise.data.base import BLEND, HIT_THRESHOLD, THRESHOLD
from stunt.supervise.data.boxer import FELT, FIRM, READY, Boxer, Ring
from stunt.supervise.data.clip import ClipController
from stunt.supervise.data.path import PathWalker
from stunt.supervise.data.strike import StrikeSpec, striking
from stunt.supervise.data.tracking import by_forces
from stunt.supervise.hit_rules import Relation
from stunt.supervise.parameters import Parameter, parameters_of, values_for
from stunt.supervise.registry import make_controller, maker_of
from stunt.supervise.supervisor import Supervisor
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


_THINGS = ListOf(Known("prop or character", ("character", "prop")))


@spec("clip '{}'", bare=("clip", str))
class ClipSpec:
    """One clip that may be played, by the name of its controller."""

    name: str
    clip: str | Clip = key(kind=CLIP, otherwise=str, help="which; else the one of that name")
    loop: bool = key(default=False, kind=TRUTH, help="whether it goes on from its beginning")
    asked: bool = key(default=False, kind=TRUTH, help="whether it is played only when asked for")
    whole: bool = key(default=False, kind=TRUTH, help="whether it is always entered at its beginning")
    threshold: float = key(default=THRESHOLD, kind=BID, help="up to which distance it bids")
    hit_threshold: float = key(
        default=HIT_THRESHOLD, kind=HIT, help="up to which distance of the state a blow would leave it goes on"
    )
    blend: float = key(default=BLEND, kind=Number(0.05, 10.0, unit="s"), help="how long going over to it takes")
    begin: float = key(default=0.0, kind=MOMENT, name="from", help="where in the clip to begin")
    end: float | None = key(default=None, kind=MOMENT, name="to", help="where to end, later than `from`; else its end")
    priority: int = key(default=ORDINARY, kind=PRIORITY, help="of its bids")
    weights: tuple[tuple[str, float], ...] = key(
        default=(), kind=MappingOf(Number(0.0)), help="of joints in the comparison, where not by mass"
    )
    passive: tuple[str, ...] = key(default=(), kind=_THINGS, help="what does not count as a hit while it plays")
    firm: float = key(default=1.0, kind=FIRMNESS, help="with how many times its inertia it pushes what is in its way")
    strike: StrikeSpec | None = key(
        default=None, kind=Nested(StrikeSpec), help="what its blow is to meet, brought there by inverse kinematics"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> ClipSpec:
        """Complain about an end before the beginning."""
        check_range(self.begin, self.end, section)
        return self


@spec("a controller")
class ControllerSpec:
    """One registered controller that may be in charge; what is None stays as it comes.

    `parameters` are its own, in a script's units (see `parameters`).
    """

    use: str = key(kind=Word("a registered controller, or `module:Class`"), help="which")
    name: str = key(kind=NAME, otherwise=str, help="what it is called; else as the one it uses")
    priority: int | None = key(default=None, kind=PRIORITY, help="of its bids; else its own")
    interrupts: bool | None = key(default=None, kind=TRUTH, help="whether it may interrupt; else as it comes")
    longest: float | None = key(default=None, kind=SECONDS, help="how long it may be in charge; else its own")
    place: Place = field(default=NOWHERE, compare=False)
    parameters: tuple[tuple[str, Any], ...] = ()

    def after_writing(self, data: dict[str, Any], context: Context) -> Any:
        """Add its own parameters; one that is as it comes is just its name."""
        if self.name == _called(self.use):
            del data["name"]
        data |= dict(self.parameters)
        return self.use if len(data) == 1 else data


class Registered(Nested):
    """A registered controller: its name, or a mapping with the parameters it has."""

    def read(self, node: Node, context: Context, name: str) -> ControllerSpec:
        """Read it."""
        if isinstance(node.value, str):
            node = Node({"use": node}, node.place)
        use, own = _use(node)
        section = Section(node, f"controller '{use}'", (*names_of(ControllerSpec), *own))
        told = tuple((key, parameter.read(section.need(key))) for key, parameter in own.items() if key in section)
        return read_section(ControllerSpec, section, context, _called(use), parameters=told)


def _use(node: Node) -> tuple[str, dict[str, Parameter]]:
    """Return which controller an entry names, and the parameters it has beyond what all have."""
    given, common = entries(node), names_of(ControllerSpec)
    if "use" not in given:
        Section(node, "a controller", common)  # says which key is unknown, if one is
        raise MissingValueError("use", "a controller", node.place)
    use = name(given["use"])
    found = parameters_of(maker_of(use, given["use"].place))
    return use, {key: parameter for key, parameter in found.items() if key not in common}


def _called(use: str) -> str:
    return use.rpartition(":")[2]


def _name_of(node: Node) -> str:
    """Return what a controller of the list will be called, if it can be read at all."""
    given = node.value if isinstance(node.value, dict) else {"use": node}
    return text(given["name"]) if "name" in given else _called(str(given["use"].value)) if "use" in given else ""


@spec("a request")
class RequestSpec:
    """A controller asked for at a time."""

    at: float = key(kind=MOMENT, help="when")
    do: str = key(kind=Known("controller"), help="who of the pool")
    patience: float = key(default=2.0, kind=SECONDS, help="after which it is refused, and logged")
    place: Place = field(default=NOWHERE, compare=False)


@spec("supervisor")
class SupervisorPart:
    """Who may be in charge of a character, and what it is asked for."""

    clips: tuple[ClipSpec, ...] = key(
        default=(), kind=MappingOf(Nested(ClipSpec)), help="clips that may be played; each becomes a controller"
    )
    walks: tuple[WalkSpec, ...] = key(
        default=(), kind=MappingOf(Nested(WalkSpec)),
        help="paths that may be walked along ([motion graphs](motion_graphs.md))",
    )  # fmt: skip
    fights: tuple[FightSpec, ...] = key(
        default=(), kind=MappingOf(Nested(FightSpec)), help="opponents to box with ([motion graphs](motion_graphs.md))"
    )
    controllers: tuple[ControllerSpec, ...] = key(
        default=(), kind=ListOf(Registered(ControllerSpec, "a name, or a mapping")),
        help="registered ones ([behaviours](behaviours.md)), with their own parameters",
    )  # fmt: skip
    safe: str = key(
        default="", kind=Known("controller"),
        help="whose turn it is when nobody else can, or when the one in charge breaks the contract; else a rag doll, "
        "but only if nobody else of the pool can take over",
    )  # fmt: skip
    requests: tuple[RequestSpec, ...] = key(
        default=(), kind=ListOf(Nested(RequestSpec)), help="who is asked for, and when"
    )
    passive: tuple[str, ...] = key(default=(), kind=_THINGS, help="what never counts as a hit while data is in charge")
    active: tuple[str, ...] = key(default=(), kind=_THINGS, help="what always does")
    forces: bool = key(
        default=False, kind=TRUTH,
        help="whether its clips, walks and fights are followed by forces from first to last, and never played as data",
    )  # fmt: skip
    rate: float = key(default=30.0, kind=Number(1.0, 1000.0, unit="Hz"), help="looks per second")
    joints: tuple[str, ...] | None = key(
        default=None, kind=ListOf(Word("a joint's name or pattern"), alone=(str,)),
        help="which joints it has (`*_hip_*`); else all. On own feet the others may be moved otherwise",
    )  # fmt: skip
    root: RootSpring = inline(default=RootSpring())
    gain: float | Mapping[str, float] = same_key(ServoSettings, "gain", default=ServoSettings.gain)
    place: Place = field(default=NOWHERE, compare=False)

    @classmethod
    def around(cls, section: Section, context: Context) -> Context:
        """Return the context of its keys: its own pool is known there."""
        names = [name for group in ("clips", "walks", "fights") for name in section.read(group, entries, {})]
        names += [_name_of(node) for node in section.read("controllers", items, ())]
        return {**context, "controller": names}

    def after_reading(self, section: Section, context: Context) -> SupervisorPart:
        """Complain about own feet, about an empty pool, and about two of one name."""
        if self.root.kind in ("own", "auto"):
            expected = "weak, hook or none: reflexes are helped by springs; those who follow `clips` stand on own feet"
            raise InvalidValueError("assist", self.root.kind, expected, section.need("assist").place)
        names = context["controller"]
        if not names:
            raise MissingValueError(
                "clips' or 'controllers", "a supervisor, which needs somebody to put in charge,", self.place
            )
        others: list[WalkSpec | FightSpec | ControllerSpec] = [*self.walks, *self.fights, *self.controllers]
        for entry in others:
            if names.count(entry.name) > 1:
                raise StuntError(
                    f"two controllers are called '{entry.name}'; give one of them another `name`.", entry.place
                )
        return self


def check_supervisor_part(part: SupervisorPart, character: Character) -> None:
    """Complain where a character cannot be supervised."""
    if character.root is None:
        raise BodyError(f"'{character.name}' has a fixed root; to be supervised it needs `root: free`.", part.place)
    by_joint("gain", part.gain, character.joints, character.name, place=part.place)
    for clip in part.clips:
        for joint, _ in clip.weights:
            if joint != "root":
                character.joint(joint, clip.place)


def clip_controller(stage: StageLoop, name: str, spec: ClipSpec) -> ClipController:
    """Make a clip player as a script describes it."""
    character = stage.character(name)
    with asked_at(spec.place):
        motion = motion_of_clip(load_clip(spec.clip, place=spec.place), character)
    motion = replace(trimmed_motion(motion, spec.begin, spec.end, spec.place), loop=spec.loop)
    motion = fit_motion(stage.model, character, motion, "out of the floor").motion
    if spec.strike is not None:
        motion = striking(stage, name, motion, spec.strike)
    return ClipController(
        spec.name, motion, stage, name, threshold=spec.threshold,
        hit_threshold=spec.hit_threshold, blend=spec.blend, begins=spec.whole, priority=spec.priority,
        only_asked=spec.asked, weights=dict(spec.weights), passive=frozenset(spec.passive), firm=spec.firm,
    )  # fmt: skip


def registered_controller(stage: StageLoop, name: str, spec: ControllerSpec) -> Controller:
    """Make a registered controller as a script describes it."""
    parameters = values_for(maker_of(spec.use, spec.place), dict(spec.parameters))
    made = make_controller(spec.use, stage, name, spec.place, parameters)
    made.name = spec.name
    for given in ("priority", "interrupts", "longest"):
        if (value := getattr(spec, given)) is not None:
            setattr(made, given, value)
    return made


def _start(actor: Actor, part: SupervisorPart, alone: bool) -> Supervisor:
    stage, name = actor.stage, actor.name
    pool: list[Controller] = [clip_controller(stage, name, spec) for spec in part.clips]
    pool += [walk_controller(stage, name, walk) for walk in part.walks]
    for fight in part.fights:
        pool += fight_controllers(stage, name, fight)
    pool += [registered_controller(stage, name, spec) for spec in part.controllers]
    pool = by_forces(pool) if part.forces else pool
    supervisor = actor.supervise(
        pool, safe=next((c for c in pool if c.name == part.safe), None), hz=part.rate,
        relation=Relation(frozenset(part.passive), frozenset(part.active)), settings=ServoSettings(gain=part.gain),
        root=root_of(actor, part.root),
        joints=None if part.joints is None else tuple(claimed(part, actor.character)),
    )  # fmt: skip
    for request in part.requests:
        actor.request(request.do, at=request.at, patience=request.patience)
    return supervisor


def _seconds(part: SupervisorPart) -> float | None:
    return max([0.0, *(request.at for request in part.requests)]) + 5.0


SUPERVISOR = SectionKind(
    "supervisor", SupervisorPart, check_supervisor_part, _start, _seconds, whole=True, claims=claimed
)
