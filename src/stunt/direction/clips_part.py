"""The `clips` section of a part: clips a character follows, one after another. Described in `docs/tracking.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stunt.character.character import Character
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import ServoSettings
from stunt.direction.door.angles import angle, angle_to_data
from stunt.direction.door.node import Node
from stunt.direction.door.values import Section, choice, items, known, moment, name, number, truth
from stunt.direction.reactions import Thresholds
from stunt.errors import NOWHERE, BodyError, InvalidValueError, MissingValueError, Place
from stunt.motion.pose import Pose
from stunt.stage.scene import Scene

PART_KEYS = (
    *("play", "repeat", "toward", "servo", "targets", "gain", "look", "ahead", "limited", "external", "steer"),
    "mapping",
    *("assist", "limit", "yaw", "force", "react", "get_up", "feet", "free_limbs"),
)
PLAY_KEYS = ("clip", "at", "blend", "from", "to", "loop", "facing")
REACT_KEYS = ("respond", "stun", "limp", "delta", "broken", "still", "lying")
GET_UP_KEYS = ("front", "back")
TARGETS = ("egocentric", "absolute")
SERVOS = ("world", "parent", "parent_equal", "beat")
LOOKS_AHEAD = (0.01, 1.0)
"""How far the beat law may look ahead [s]."""
ASSISTS = ("weak", "hook", "none")
MOST_CLIPS = 1000


@dataclass(frozen=True)
class PlaySpec:
    """One clip to follow.

    Attributes:
        clip: A motion file, or the name of a clip that comes with Stunt.
        at: From when on [s]; None: when the one before it ends.
        blend: How long going over to it takes [s].
        begin: Where in the clip to begin [s].
        end: Where to end [s]; None is its end.
        loop: Whether it goes on from its beginning.
        facing: How the hips are turned in the clip's first frame, from where it is said to face [rad].
    """

    clip: str
    at: float | None = None
    blend: float = 0.3
    begin: float = 0.0
    end: float | None = None
    loop: bool = False
    facing: float = 0.0
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ClipsPart:
    """What a character follows, and how.

    Attributes:
        play: The clips, one after another.
        settings: How they are followed.
        root: How the root is helped.
        react: When hits make it give way, stun and fall; None: never.
        repeat: Whether the list begins again when it is over.
        toward: The character it turns to with every clip.
        targets: `egocentric`, lifted from the actual root, or `absolute`, as the clip has them in the world.
        get_up: Clips to get up by, lying on the `front` or the `back`.
        feet: Whether feet are lifted over uneven ground; None: where the ground is uneven.
        free_limbs: Whether limbs that are stuck are freed.
        mapping: A mapping file, for names Stunt does not know.
    """

    play: tuple[PlaySpec, ...]
    settings: ServoSettings = ServoSettings()
    root: RootSpring = RootSpring()
    react: Thresholds | None = Thresholds()
    repeat: bool = False
    toward: str | None = None
    targets: str = "egocentric"
    get_up: tuple[tuple[str, str], ...] = ()
    feet: bool | None = None
    free_limbs: bool = True
    mapping: str | None = None
    place: Place = field(default=NOWHERE, compare=False)


def read_clips_part(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> ClipsPart:
    """Read the section."""
    section = Section(node, "clips", PART_KEYS)
    plays = tuple(_play(entry) for entry in items(section.need("play")))
    if not plays:
        raise MissingValueError("clips", "play", node.place)
    _check_servo(section)
    settings = ServoSettings(
        servo=section.read("servo", choice, "world", options=SERVOS, kind="servo"),
        gain=section.read("gain", number, 1.0, least=0.01, most=100.0),
        look=section.read("look", number, ServoSettings.look, least=1e-4, most=1.0),
        ahead=section.read("ahead", number, ServoSettings.ahead, least=LOOKS_AHEAD[0], most=LOOKS_AHEAD[1]),
        limited=section.read("limited", truth, True),
        steer=section.read("steer", truth, True),
        external=section.read("external", truth, False),
    )
    root = RootSpring(
        kind=section.read("assist", choice, "weak", options=ASSISTS, kind="assistance"),
        limit=section.read("limit", number, RootSpring.limit, least=0.0, most=100.0),
        yaw=section.read("yaw", number, 0.0, least=0.0, most=100.0),
        force=section.read("force", number, 0.0, least=0.0, most=100.0),
    )
    targets = section.read("targets", choice, "egocentric", options=TARGETS, kind="kind of target")
    if targets == "absolute" and settings.servo != "world":
        place = section.need("targets").place
        raise InvalidValueError("targets", targets, "egocentric with any servo but world", place)
    return ClipsPart(
        plays, settings, root,
        react=_react(section.get("react")),
        repeat=section.read("repeat", truth, False),
        toward=section.read("toward", known, None, kind="character", available=scene.characters),
        targets=targets,
        get_up=_get_up(section.get("get_up")),
        feet=section.read("feet", truth, None),
        free_limbs=section.read("free_limbs", truth, True),
        mapping=section.read("mapping", name, None),
        place=node.place,
    )  # fmt: skip


def _check_servo(section: Section) -> None:
    """Complain about keys that the servo would not heed."""
    servo = section.read("servo", choice, "world", options=SERVOS, kind="servo")
    for key, heeds in (("external", "world"), ("ahead", "beat")):
        if key in section and servo != heeds:
            node, expected = section.need(key), f"left out with `servo: {servo}`: only `servo: {heeds}` heeds it"
            raise InvalidValueError(key, node.value, expected, node.place)


def _react(node: Node | None) -> Thresholds | None:
    """Read `true`, `false`, or a mapping of thresholds."""
    if node is None:
        return Thresholds()
    if not isinstance(node.value, dict):
        return Thresholds() if truth(node) else None
    section = Section(node, "react", REACT_KEYS)
    return Thresholds(**{
        key: section.read(key, number, getattr(Thresholds, key), least=0.0, most=1e9) for key in REACT_KEYS
    })  # fmt: skip


def _get_up(node: Node | None) -> tuple[tuple[str, str], ...]:
    if node is None:
        return ()
    section = Section(node, "get_up", GET_UP_KEYS)
    return tuple((side, name(section.need(side))) for side in GET_UP_KEYS if side in section)


def _play(node: Node) -> PlaySpec:
    section = Section(node, "a clip", PLAY_KEYS)
    check_range(section)
    return PlaySpec(
        name(section.need("clip")),
        section.read("at", moment, None),
        section.read("blend", number, 0.3, least=0.0, most=60.0),
        section.read("from", moment, 0.0),
        section.read("to", moment, None),
        section.read("loop", truth, False),
        section.read("facing", angle, 0.0),
        node.place,
    )


def check_range(section: Section) -> None:
    """Complain where what is played of a clip ends before it begins.

    Raises:
        InvalidValueError: `to` is not later than `from`.
    """
    begin, end = section.read("from", moment, 0.0), section.read("to", moment, None)
    if end is not None and end <= begin:
        raise InvalidValueError("to", end, f"later than where it begins, {begin:g} s", section.need("to").place)


def clips_part_to_data(part: ClipsPart) -> dict[str, Any]:
    """Make plain data of the section."""
    data: dict[str, Any] = {"play": [_play_to_data(play) for play in part.play]}
    for key, value, usual in (
        ("servo", part.settings.servo, "world"), ("gain", part.settings.gain, 1.0),
        ("look", part.settings.look, ServoSettings.look), ("ahead", part.settings.ahead, ServoSettings.ahead),
        ("targets", part.targets, "egocentric"),
        ("limited", part.settings.limited, True), ("external", part.settings.external, False),
        ("steer", part.settings.steer, True),
        ("assist", part.root.kind, "weak"), ("limit", part.root.limit, RootSpring.limit),
        ("yaw", part.root.yaw, 0.0), ("force", part.root.force, 0.0), ("react", _react_to_data(part.react), True),
        ("repeat", part.repeat, False), ("toward", part.toward, None), ("get_up", dict(part.get_up), {}),
        ("feet", part.feet, None), ("free_limbs", part.free_limbs, True), ("mapping", part.mapping, None),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def _react_to_data(react: Thresholds | None) -> Any:
    if react is None:
        return False
    given = {key: getattr(react, key) for key in REACT_KEYS if getattr(react, key) != getattr(Thresholds, key)}
    return given or True


def _play_to_data(play: PlaySpec) -> dict[str, Any]:
    data: dict[str, Any] = {"clip": play.clip}
    for key, value, usual in (
        ("at", play.at, None), ("blend", play.blend, 0.3), ("from", play.begin, 0.0), ("to", play.end, None),
        ("loop", play.loop, False), ("facing", angle_to_data(play.facing), 0),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def check_clips_part(part: ClipsPart, character: Character) -> None:
    """Complain where a character cannot follow clips."""
    if character.root is None:
        raise BodyError(f"'{character.name}' has a fixed root; to follow clips it needs `root: free`.")
