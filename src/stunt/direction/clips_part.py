"""The `clips` section of a part: clips a character follows, one after another. Described in `docs/tracking.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stunt.character.character import Character
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import ServoSettings
from stunt.direction.door.node import Node
from stunt.direction.door.values import Section, choice, items, moment, name, number, truth
from stunt.errors import NOWHERE, BodyError, MissingValueError, Place
from stunt.motion.pose import Pose
from stunt.stage.scene import Scene

PART_KEYS = ("play", "servo", "gain", "assist", "limit", "yaw", "force", "limited", "external", "react")
PLAY_KEYS = ("clip", "at", "blend", "from", "to", "loop")
SERVOS = ("world", "parent", "parent_equal", "beat")
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
    """

    clip: str
    at: float | None = None
    blend: float = 0.3
    begin: float = 0.0
    end: float | None = None
    loop: bool = False
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ClipsPart:
    """What a character follows, and how."""

    play: tuple[PlaySpec, ...]
    settings: ServoSettings = ServoSettings()
    root: RootSpring = RootSpring()
    react: bool = True


def read_clips_part(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> ClipsPart:
    """Read the section."""
    section = Section(node, "clips", PART_KEYS)
    plays = tuple(_play(entry) for entry in items(section.need("play")))
    if not plays:
        raise MissingValueError("clips", "play", node.place)
    settings = ServoSettings(
        servo=section.read("servo", choice, "world", options=SERVOS, kind="servo"),
        gain=section.read("gain", number, 1.0, least=0.01, most=100.0),
        limited=section.read("limited", truth, True),
        external=section.read("external", truth, False),
    )
    root = RootSpring(
        kind=section.read("assist", choice, "weak", options=ASSISTS, kind="assistance"),
        limit=section.read("limit", number, RootSpring.limit, least=0.0, most=100.0),
        yaw=section.read("yaw", number, 0.0, least=0.0, most=100.0),
        force=section.read("force", number, 0.0, least=0.0, most=100.0),
    )
    return ClipsPart(plays, settings, root, section.read("react", truth, True))


def _play(node: Node) -> PlaySpec:
    section = Section(node, "a clip", PLAY_KEYS)
    return PlaySpec(
        name(section.need("clip")),
        section.read("at", moment, None),
        section.read("blend", number, 0.3, least=0.0, most=60.0),
        section.read("from", moment, 0.0),
        section.read("to", moment, None),
        section.read("loop", truth, False),
        node.place,
    )


def clips_part_to_data(part: ClipsPart) -> dict[str, Any]:
    """Make plain data of the section."""
    data: dict[str, Any] = {"play": [_play_to_data(play) for play in part.play]}
    for key, value, usual in (
        ("servo", part.settings.servo, "world"), ("gain", part.settings.gain, 1.0),
        ("limited", part.settings.limited, True), ("external", part.settings.external, False),
        ("assist", part.root.kind, "weak"), ("limit", part.root.limit, RootSpring.limit),
        ("yaw", part.root.yaw, 0.0), ("force", part.root.force, 0.0), ("react", part.react, True),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def _play_to_data(play: PlaySpec) -> dict[str, Any]:
    data: dict[str, Any] = {"clip": play.clip}
    for key, value, usual in (
        ("at", play.at, None), ("blend", play.blend, 0.3), ("from", play.begin, 0.0), ("to", play.end, None),
        ("loop", play.loop, False),
    ):  # fmt: skip
        if value != usual:
            data[key] = value
    return data


def check_clips_part(part: ClipsPart, character: Character) -> None:
    """Complain where a character cannot follow clips."""
    if character.root is None:
        raise BodyError(f"'{character.name}' has a fixed root; to follow clips it needs `root: free`.")
