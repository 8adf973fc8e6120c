"""`clips` joins scripts and performances.

The `clips` section of a part: clips a character follows, one after another. Described in `docs/tracking.md`.
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
from stunt.drive.body.reactions import Thresholds
from stunt.drive.body.stuck import StuckLimbs
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.errors import NOWHERE, BodyError, InvalidValueError, MissingValueError, Place, asked_at
from stunt.library.names import load_clip
from stunt.maths.rotations import heading
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.mapping import read_mapping, with_mapping
from stunt.motion.clips.standing import feet_of, floor_height
from stunt.motion.pose import Pose
from stunt.schema import Node, Section, choice, items, known, moment, name, number, truth
from stunt.script.sections.kind import Change, SectionKind
from stunt.script.units import angle, angle_to_data
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Placement, Scene
from stunt.supervise.tracking import QueuedClip, follow_clips

if TYPE_CHECKING:
    from stunt.script.performance import Performance


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
        clip: A motion file, the name of a clip that comes with Stunt, or a clip in memory.
        at: From when on [s]; None: when the one before it ends.
        blend: How long going over to it takes [s].
        begin: Where in the clip to begin [s].
        end: Where to end [s]; None is its end.
        loop: Whether it goes on from its beginning.
        facing: How the hips are turned in the clip's first frame, from where it is said to face [rad].
    """

    clip: str | Clip
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
    get_up: tuple[tuple[str, str | Clip], ...] = ()
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


KEY = "clips"
UNHELD = (
    "the external form turns the body from outside only as far as something holds the root; nothing does, so that its "
    "torques are internal. Hold the root (--assist weak or hook, `assist`), or leave `external` out."
)


def load_motion(stage: StageLoop, name: str, play: PlaySpec, mapping: str | None = None) -> BodyMotion:
    """Read a clip as a motion of a character's body.

    Args:
        stage: Where the character is.
        name: Who.
        play: Which clip, and what of it.
        mapping: A mapping file for those clips that have the joints it names.
    """
    with asked_at(play.place):
        motion = motion_of_clip(_clip(play, mapping), stage.character(name))
    return replace(trimmed_motion(motion, play.begin, play.end, play.place), loop=play.loop)


def _clip(play: PlaySpec, mapping: str | None) -> Clip:
    """Return a clip; by a section's mapping file, unless it has one of its own or other joints."""
    clip = load_clip(play.clip, place=play.place)
    if mapping is None:
        return clip
    known = read_mapping(mapping)
    if clip.door.parts is not None or not any(name in clip.skeleton.names for name in known.joints.values()):
        return with_mapping(clip, replace(known, joints={}))
    # Settled once more: which way is up, and how large it is, are told by its parts too.
    return load_clip(play.clip, overrides=Overrides(mapping=mapping), place=play.place)


def trimmed_motion(motion: BodyMotion, begin: float, end: float | None, place: Place) -> BodyMotion:
    """Return what a script plays of a motion.

    Raises:
        InvalidValueError: It begins at or after the end.
    """
    if begin >= motion.duration and begin > 0.0:
        expected = f"a time within clip '{motion.name}', which is {motion.duration:.3f} s long"
        raise InvalidValueError("from", begin, expected, place)
    return motion.trimmed(begin, motion.duration if end is None else end)


def _start(performance: Performance, name: str, part: ClipsPart) -> None:
    stage, spec = performance.stage, performance.script.scene.characters[name]
    motions = [load_motion(stage, name, play, part.mapping) for play in part.play]
    first = motions[0].placed((spec.at[0], spec.at[1]), spec.facing + part.play[0].facing)
    if spec.at[2]:
        first = first.raised(spec.at[2])
    stage.placements[name] = _placement(motions[0], first, _clip(part.play[0], part.mapping), spec.at[2])
    actor = actor_of(stage, name, settings=part.settings, root=part.root)
    if part.settings.external and part.root.kind == "none":
        performance.warnings.append(f"{name}: {UNHELD}")
    clips = [QueuedClip(m, p.at, p.blend, p.facing) for m, p in zip(motions, part.play, strict=True)]
    get_up = {
        side: load_motion(stage, name, PlaySpec(clip, place=part.place), part.mapping)
        for side, clip in part.get_up
        if part.react is not None
    }
    performance.sections[name][KEY] = follow_clips(
        stage, name, clips, first=first, repeat=part.repeat, toward=part.toward, react=part.react, get_up=get_up
    )
    performance.logs.append(actor.log)
    shape_targets(actor, feet=part.feet, absolute=part.targets == "absolute")
    if part.free_limbs:
        performance.logs.append(StuckLimbs(actor).log)


def _placement(lay: BodyMotion, lies: BodyMotion, clip: Clip, height: float) -> Placement:
    """Say where a clip lay in its file and where it lies on the stage: x, y, the ground's height [m], heading [rad]."""
    ground = floor_height(clip, clip.parts) if feet_of(clip.parts) else 0.0
    return Placement(_spot(lay, ground), _spot(lies, height))


def _spot(motion: BodyMotion, floor: float) -> tuple[float, float, float, float]:
    x, y = motion.qpos[0, :2]
    return float(x), float(y), float(floor), float(heading(motion.qpos[0, 3:7]))


def played_seconds(play: PlaySpec) -> float:
    """Return how long a clip is played [s]."""
    whole = load_clip(play.clip, place=play.place).duration
    return (whole if play.end is None else min(play.end, whole)) - play.begin


def _seconds(part: ClipsPart) -> float | None:
    clock = 0.0
    for play in part.play:
        clock = (clock if play.at is None else play.at) + played_seconds(play)
    return max(clock - 0.5, 0.1)  # a performance goes on for half a second after its last beat


def _references(part: ClipsPart, change: Change) -> ClipsPart:
    play = tuple(replace(entry, clip=change(entry.clip)) for entry in part.play)
    get_up = tuple((side, change(clip)) for side, clip in part.get_up)
    mapping = None if part.mapping is None else str(change(part.mapping))
    return replace(part, play=play, get_up=get_up, mapping=mapping)


CLIPS = SectionKind(KEY, read_clips_part, clips_part_to_data, check_clips_part, _start, _seconds, _references)
