"""`supervisor` joins scripts and performances.

The `supervisor` section of a part: who may be in charge of a character. Described in `docs/supervisor.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stunt.character.character import Character
from stunt.control.servo.memory import ServoSettings
from stunt.control.servo.root_spring import RootSpring
from stunt.drive.body.actor import actor_of
from stunt.drive.body.over_ground import shape_targets
from stunt.drive.body.stuck import StuckLimbs
from stunt.drive.feet.plant import grounded
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.errors import NOWHERE, BodyError, MissingValueError, Place, StuntError, asked_at
from stunt.library.names import load_clip
from stunt.motion.clips.clip import Clip
from stunt.motion.pose import Pose
from stunt.schema import Node, Section, choice, entries, items, known, moment, name, number, seconds, truth, whole
from stunt.script.sections.clips import check_range, trimmed_motion
from stunt.script.sections.fights import FightSpec, fight_controllers, fight_to_data, read_fight
from stunt.script.sections.kind import Change, SectionKind
from stunt.script.sections.walks import WalkSpec, read_walk, walk_controller, walk_to_data
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene
from stunt.supervise.contract import ORDINARY, Controller
from stunt.supervise.data.base import BLEND, HIT_THRESHOLD, THRESHOLD
from stunt.supervise.data.clip import ClipController
from stunt.supervise.hit_rules import Relation
from stunt.supervise.parameters import Parameter, parameters_of, values_for
from stunt.supervise.registry import make_controller, maker_of
from stunt.supervise.supervisor import Supervisor

if TYPE_CHECKING:
    from stunt.script.performance import Performance


PART_KEYS = (
    *("clips", "walks", "fights", "controllers", "safe", "requests", "passive", "active", "rate"),
    *("assist", "limit", "yaw", "force", "gain"),
)
CLIP_KEYS = (
    *("clip", "loop", "asked", "whole", "threshold", "hit_threshold", "blend", "from", "to", "priority", "weights"),
    *("passive", "firm"),
)
CONTROLLER_KEYS = ("use", "name", "priority", "interrupts", "longest")
REQUEST_KEYS = ("at", "do", "patience")
ASSISTS = ("weak", "hook", "none")


@dataclass(frozen=True)
class ClipSpec:
    """One clip that may be played.

    Attributes:
        name: What the controller is called.
        clip: A motion file, or the name of a clip that comes with Stunt.
        loop: Whether it goes on from its beginning.
        asked: Whether it is played only when asked for.
        whole: Whether it is always entered at its beginning.
        threshold: Up to which distance it bids.
        hit_threshold: Up to which distance of the state a blow would leave it goes on.
        blend: How long going over to it takes [s].
        begin: Where in the clip to begin [s].
        end: Where to end [s]; None is its end.
        priority: Of its bids.
        weights: Of joints in the comparison, by name, where not by mass.
        passive: What does not count as a hit while it plays.
        firm: With how many times its inertia it pushes what is in its way.
    """

    name: str
    clip: str | Clip
    loop: bool = False
    asked: bool = False
    whole: bool = False
    threshold: float = THRESHOLD
    hit_threshold: float = HIT_THRESHOLD
    blend: float = BLEND
    begin: float = 0.0
    end: float | None = None
    priority: int = ORDINARY
    weights: tuple[tuple[str, float], ...] = ()
    passive: tuple[str, ...] = ()
    firm: float = 1.0
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ControllerSpec:
    """One registered controller that may be in charge; what is None stays as it comes.

    `parameters` are its own, in a script's units (see `parameters`).
    """

    use: str
    name: str
    priority: int | None = None
    interrupts: bool | None = None
    longest: float | None = None
    place: Place = field(default=NOWHERE, compare=False)
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class RequestSpec:
    """Ask for a controller at a time [s]; refused after `patience` seconds."""

    at: float
    do: str
    patience: float = 2.0
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class SupervisorPart:
    """Who may be in charge of a character, and what it is asked for."""

    clips: tuple[ClipSpec, ...] = ()
    controllers: tuple[ControllerSpec, ...] = ()
    safe: str = ""
    requests: tuple[RequestSpec, ...] = ()
    passive: tuple[str, ...] = ()
    active: tuple[str, ...] = ()
    rate: float = 30.0
    root: RootSpring = RootSpring()
    gain: float = 1.0
    place: Place = field(default=NOWHERE, compare=False)
    walks: tuple[WalkSpec, ...] = ()
    fights: tuple[FightSpec, ...] = ()


def read_supervisor_part(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> SupervisorPart:
    """Read the section."""
    section = Section(node, "supervisor", PART_KEYS)
    things = (*scene.characters, *scene.props)
    clips = tuple(_clip(key, value, things) for key, value in section.read("clips", entries, {}).items())
    controllers = tuple(_controller(entry) for entry in section.read("controllers", items, ()))
    walks = tuple(read_walk(key, value) for key, value in section.read("walks", entries, {}).items())
    fights = tuple(read_fight(key, value, scene) for key, value in section.read("fights", entries, {}).items())
    others: list[WalkSpec | FightSpec | ControllerSpec] = [*walks, *fights, *controllers]
    names = [spec.name for spec in clips] + [spec.name for spec in others]
    if not names:
        raise MissingValueError(
            "clips' or 'controllers", "a supervisor, which needs somebody to put in charge,", node.place
        )
    for called, place in [(spec.name, spec.place) for spec in others]:
        if names.count(called) > 1:
            raise StuntError(f"two controllers are called '{called}'; give one of them another `name`.", place)
    return SupervisorPart(
        clips, controllers, section.read("safe", known, "", kind="controller", available=names),
        tuple(_request(entry, names) for entry in section.read("requests", items, ())),
        section.read("passive", _names, (), available=things), section.read("active", _names, (), available=things),
        section.read("rate", number, 30.0, least=1.0, most=1000.0),
        RootSpring(
            kind=section.read("assist", choice, "weak", options=ASSISTS, kind="assistance"),
            limit=section.read("limit", number, RootSpring.limit, least=0.0, most=100.0),
            yaw=section.read("yaw", number, RootSpring.yaw, least=0.0, most=100.0),
            force=section.read("force", number, 0.0, least=0.0, most=100.0),
        ),
        section.read("gain", number, 1.0, least=0.01, most=100.0), node.place, walks, fights,
    )  # fmt: skip


def _names(node: Node, available: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(known(entry, "prop or character", available) for entry in items(node))


def _clip(key: str, node: Node, things: tuple[str, ...]) -> ClipSpec:
    if isinstance(node.value, str):
        return ClipSpec(key, name(node), place=node.place)
    section = Section(node, f"clip '{key}'", CLIP_KEYS)
    check_range(section)
    return ClipSpec(
        key, section.read("clip", name, key),
        section.read("loop", truth, False), section.read("asked", truth, False), section.read("whole", truth, False),
        section.read("threshold", number, THRESHOLD, above=0.0, most=100.0),
        section.read("hit_threshold", number, HIT_THRESHOLD, least=0.0, most=1e6),
        section.read("blend", number, BLEND, least=0.05, most=10.0),
        section.read("from", moment, 0.0), section.read("to", moment, None),
        section.read("priority", whole, ORDINARY, least=-1000, most=1000),
        tuple((joint, number(value, least=0.0)) for joint, value in section.read("weights", entries, {}).items()),
        section.read("passive", _names, (), available=things),
        section.read("firm", number, 1.0, least=0.1, most=1000.0), node.place,
    )  # fmt: skip


def _controller(node: Node) -> ControllerSpec:
    if isinstance(node.value, str):
        maker_of(node.value, node.place)
        return ControllerSpec(node.value, _called(node.value), place=node.place)
    use, own = _use(node)
    section = Section(node, f"controller '{use}'", (*CONTROLLER_KEYS, *own))
    return ControllerSpec(
        use, section.read("name", name, _called(use)),
        section.read("priority", whole, None, least=-1000, most=1000), section.read("interrupts", truth, None),
        section.read("longest", seconds, None), node.place,
        tuple((key, parameter.read(section.need(key))) for key, parameter in own.items() if key in section),
    )  # fmt: skip


def _use(node: Node) -> tuple[str, dict[str, Parameter]]:
    """Return which controller an entry names, and the parameters it has beyond what all have."""
    given = entries(node)
    if "use" not in given:
        Section(node, "a controller", CONTROLLER_KEYS)  # says which key is unknown, if one is
        raise MissingValueError("use", "a controller", node.place)
    use = name(given["use"])
    found = parameters_of(maker_of(use, given["use"].place))
    return use, {key: parameter for key, parameter in found.items() if key not in CONTROLLER_KEYS}


def _called(use: str) -> str:
    return use.rpartition(":")[2]


def _request(node: Node, names: list[str]) -> RequestSpec:
    section = Section(node, "a request", REQUEST_KEYS)
    return RequestSpec(
        moment(section.need("at")), known(section.need("do"), "controller", names),
        section.read("patience", seconds, RequestSpec.patience), node.place,
    )  # fmt: skip


def supervisor_part_to_data(part: SupervisorPart) -> dict[str, Any]:
    """Make plain data of the section."""
    data: dict[str, Any] = {}
    if part.clips:
        data["clips"] = {spec.name: _clip_data(spec) for spec in part.clips}
    if part.walks:
        data["walks"] = {spec.name: walk_to_data(spec) for spec in part.walks}
    if part.fights:
        data["fights"] = {spec.name: fight_to_data(spec) for spec in part.fights}
    if part.controllers:
        data["controllers"] = [_controller_data(spec) for spec in part.controllers]
    if part.requests:
        data["requests"] = [
            {"at": r.at, "do": r.do, **({} if r.patience == RequestSpec.patience else {"patience": r.patience})}
            for r in part.requests
        ]
    for key, value, usual in (
        ("safe", part.safe, ""), ("passive", list(part.passive), []), ("active", list(part.active), []),
        ("rate", part.rate, 30.0), ("assist", part.root.kind, "weak"), ("limit", part.root.limit, RootSpring.limit),
        ("yaw", part.root.yaw, RootSpring.yaw), ("force", part.root.force, 0.0), ("gain", part.gain, 1.0),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def _clip_data(spec: ClipSpec) -> dict[str, Any]:
    usual = ClipSpec(spec.name, spec.name)
    data: dict[str, Any] = {"clip": spec.clip}
    for key, name_ in (
        ("loop", "loop"), ("asked", "asked"), ("whole", "whole"), ("threshold", "threshold"),
        ("hit_threshold", "hit_threshold"), ("blend", "blend"), ("from", "begin"), ("to", "end"),
        ("priority", "priority"), ("firm", "firm"),
    ):  # fmt: skip
        if getattr(spec, name_) != getattr(usual, name_):
            data[key] = getattr(spec, name_)
    if spec.weights:
        data["weights"] = dict(spec.weights)
    if spec.passive:
        data["passive"] = list(spec.passive)
    return data


def _controller_data(spec: ControllerSpec) -> Any:
    given = {"priority": spec.priority, "interrupts": spec.interrupts, "longest": spec.longest}
    data: dict[str, Any] = {"use": spec.use, **({} if spec.name == _called(spec.use) else {"name": spec.name})}
    data |= {key: value for key, value in given.items() if value is not None} | dict(spec.parameters)
    return spec.use if len(data) == 1 else data


def check_supervisor_part(part: SupervisorPart, character: Character) -> None:
    """Complain where a character cannot be supervised."""
    if character.root is None:
        raise BodyError(f"'{character.name}' has a fixed root; to be supervised it needs `root: free`.", part.place)
    for spec in part.clips:
        for joint, _ in spec.weights:
            if joint != "root":
                character.joint(joint, spec.place)


KEY = "supervisor"


class Requests:
    """Crew that asks for controllers at their times."""

    def __init__(self, stage: StageLoop, supervisor: Supervisor, later: tuple[RequestSpec, ...]) -> None:
        """Queue what is asked for."""
        self._stage, self._supervisor = stage, supervisor
        self._later = sorted(later, key=lambda request: request.at)
        # Before the supervisor, so that what is asked for now is served now.
        stage.crew.insert(stage.crew.index(supervisor), self)

    def due(self) -> int | None:
        """Return the tick of the next request."""
        return self._stage.tick_of(self._later[0].at) if self._later else None

    def act(self) -> None:
        """Ask."""
        request = self._later.pop(0)
        if request.do in self._supervisor.pool:
            self._supervisor.request(request.do, patience=request.patience)
        else:
            self._supervisor.refuse(request.do, "it was taken out of the pool")

    def save(self) -> Any:
        """Return what is still to come."""
        return list(self._later)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._later = list(state)


def clip_controller(stage: StageLoop, name: str, spec: ClipSpec) -> ClipController:
    """Make a clip player as a script describes it."""
    character = stage.character(name)
    with asked_at(spec.place):
        motion = motion_of_clip(load_clip(spec.clip, place=spec.place), character)
    motion = grounded(stage.model, character, trimmed_motion(motion, spec.begin, spec.end, spec.place))
    return ClipController(
        spec.name, replace(motion, loop=spec.loop), stage, name, threshold=spec.threshold,
        hit_threshold=spec.hit_threshold, blend=spec.blend, begins=spec.whole, priority=spec.priority,
        only_asked=spec.asked, weights=dict(spec.weights), passive=frozenset(spec.passive), firm=spec.firm,
    )  # fmt: skip


def registered_controller(stage: StageLoop, name: str, spec: ControllerSpec) -> Controller:
    """Make a registered controller as a script describes it."""
    parameters = values_for(maker_of(spec.use, spec.place), dict(spec.parameters))
    made = make_controller(spec.use, stage, name, spec.place, parameters)
    made.name = spec.name
    for key in ("priority", "interrupts", "longest"):
        if (value := getattr(spec, key)) is not None:
            setattr(made, key, value)
    return made


def _start(performance: Performance, name: str, part: SupervisorPart) -> None:
    stage = performance.stage
    actor = actor_of(stage, name, settings=ServoSettings(gain=part.gain), root=part.root)
    pool: list[Controller] = [clip_controller(stage, name, spec) for spec in part.clips]
    pool += [walk_controller(stage, name, walk) for walk in part.walks]
    for fight in part.fights:
        pool += fight_controllers(stage, name, fight)
    pool += [registered_controller(stage, name, spec) for spec in part.controllers]
    safe = next((c for c in pool if c.name == part.safe), None)
    relation = Relation(frozenset(part.passive), frozenset(part.active))
    supervisor = Supervisor(stage, name, pool, actor=actor, safe=safe, relation=relation, hz=part.rate)
    Requests(stage, supervisor, part.requests)
    performance.sections[name][KEY] = supervisor
    shape_targets(actor)
    performance.logs += [supervisor.log, actor.log, StuckLimbs(actor).log]


def _seconds(part: SupervisorPart) -> float | None:
    return max([0.0, *(request.at for request in part.requests)]) + 5.0


def _references(part: SupervisorPart, change: Change) -> SupervisorPart:
    return replace(
        part,
        clips=tuple(replace(spec, clip=change(spec.clip)) for spec in part.clips),
        walks=tuple(replace(walk, clips=tuple(map(change, walk.clips))) for walk in part.walks),
        fights=tuple(replace(fight, clips=tuple(map(change, fight.clips))) for fight in part.fights),
    )


SUPERVISOR = SectionKind(
    KEY, read_supervisor_part, supervisor_part_to_data, check_supervisor_part, _start, _seconds, _references
)
