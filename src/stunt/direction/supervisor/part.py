"""The `supervisor` section of a part: who may be in charge of a character. Described in `docs/supervisor.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stunt.character.character import Character
from stunt.control.root_spring import RootSpring
from stunt.direction.clips_part import check_range
from stunt.direction.door.node import Node
from stunt.direction.door.values import (
    Section,
    choice,
    entries,
    items,
    known,
    moment,
    name,
    number,
    seconds,
    truth,
    whole,
)
from stunt.direction.supervisor.contract import ORDINARY
from stunt.direction.supervisor.data_controller import BLEND, HIT_THRESHOLD, THRESHOLD
from stunt.direction.supervisor.fight_part import FightSpec, fight_to_data, read_fight
from stunt.direction.supervisor.parameters import Parameter, parameters_of
from stunt.direction.supervisor.registry import maker_of
from stunt.direction.supervisor.walk_part import WalkSpec, read_walk, walk_to_data
from stunt.errors import NOWHERE, BodyError, MissingValueError, Place, StuntError
from stunt.motion.pose import Pose
from stunt.stage.scene import Scene

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
    clip: str
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
    root: RootSpring = RootSpring(yaw=0.1)
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
            yaw=section.read("yaw", number, 0.1, least=0.0, most=100.0),
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
        ("yaw", part.root.yaw, 0.1), ("force", part.root.force, 0.0), ("gain", part.gain, 1.0),
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
