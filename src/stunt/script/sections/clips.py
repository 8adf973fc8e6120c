"""`clips` joins scripts and performances.

The `clips` section of a part: clips a character follows, one after another. Described in `docs/tracking.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from stunt.character.bodies import by_joint
from stunt.character.character import Character
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.reactions import Thresholds
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.motion.layout import own_slices
from stunt.drive.prepare.course import Stretch, lay_course
from stunt.drive.prepare.pipeline import as_followed
from stunt.errors import NOWHERE, BodyError, InvalidValueError, MissingValueError, Place, asked_at
from stunt.keys import (
    ANGLE,
    CLIP,
    FILE,
    MOMENT,
    TRUTH,
    Choice,
    Context,
    Known,
    ListOf,
    MappingOf,
    Nested,
    Number,
    ValueKind,
    Word,
    inline,
    key,
    read,
    spec,
    write,
)
from stunt.library.names import load_clip, reference_name
from stunt.library.read import with_option
from stunt.maths.rotations import Floats
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.mapping import read_mapping, with_mapping
from stunt.motion.clips.standing import feet_of, floor_height
from stunt.play.actor import Actor
from stunt.schema import Node, Section, truth
from stunt.script.sections.kind import SectionKind, claimed, root_of
from stunt.stage.loop import StageLoop
from stunt.supervise.data.tracking import QueuedClip
from stunt.supervise.supervisor import Supervisor


class React(ValueKind):
    """`true`, `false`, or a mapping of thresholds."""

    def read(self, node: Node, context: Context, name: str) -> Thresholds | None:
        """Read it."""
        if not isinstance(node.value, dict):
            return Thresholds() if truth(node) else None
        return read(Thresholds, node)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return value is not None and (write(value) or True)

    def told(self) -> str:
        """Say what it is."""
        return "`true`, `false`, or thresholds"


def check_range(begin: float, end: float | None, section: Section) -> None:
    """Complain where what is played of a clip ends before it begins.

    Raises:
        InvalidValueError: `to` is not later than `from`.
    """
    if end is not None and end <= begin:
        raise InvalidValueError("to", end, f"later than where it begins, {begin:g} s", section.need("to").place)


@spec("a clip")
class PlaySpec:
    """One clip to follow."""

    clip: str | Clip = key(kind=CLIP, help="which")
    at: float | None = key(default=None, kind=MOMENT, help="from when on; else when the one before it ends")
    blend: float = key(default=0.3, kind=Number(0.0, 60.0, unit="s"), help="how long going over to it takes")
    begin: float = key(default=0.0, kind=MOMENT, name="from", help="where in the clip to begin")
    end: float | None = key(default=None, kind=MOMENT, name="to", help="where to end, later than `from`; else its end")
    loop: bool = key(default=False, kind=TRUTH, help="whether it goes on from its beginning")
    facing: float = key(
        default=0.0, kind=ANGLE, help="how the hips are turned in its first frame from where it is said to face"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> PlaySpec:
        """Complain about an end before the beginning."""
        check_range(self.begin, self.end, section)
        return self


@spec("clips")
class ClipsPart:
    """What a character follows, and how: clips one after another."""

    play: tuple[PlaySpec, ...] = key(kind=ListOf(Nested(PlaySpec)), help="the clips, one after another")
    settings: ServoSettings = inline(default=ServoSettings())
    root: RootSpring = inline(default=RootSpring())
    react: Thresholds | None = key(default=Thresholds(), kind=React(), help="when hits make it give way, stun and fall")
    repeat: bool = key(default=False, kind=TRUTH, help="whether the list begins again when it is over")
    toward: str | None = key(default=None, kind=Known("character"), help="to whom it turns with every clip")
    targets: str = key(
        default="egocentric", kind=Choice("kind of target", ("egocentric", "absolute")),
        help="lifted from the actual root, or as the clip has them in the world (servo `world` only)",
    )  # fmt: skip
    get_up: tuple[tuple[str, str | Clip], ...] = key(
        default=(), kind=MappingOf(CLIP, names=("front", "back")), help="by which clips it gets up, lying on that side"
    )
    feet: bool | None = key(
        default=None, kind=TRUTH, help="whether feet are lifted over uneven ground; else where there is some"
    )
    free_limbs: bool = key(default=True, kind=TRUTH, help="whether limbs that are stuck are led out")
    joints: tuple[str, ...] | None = key(
        default=None, kind=ListOf(Word("a joint's name or pattern"), alone=(str,)),
        help="which joints it has (`*_hip_*`); else all. On own feet the others may be moved otherwise",
    )  # fmt: skip
    mapping: str | None = key(default=None, kind=FILE, help="which joint is which part, for names Stunt does not know")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> ClipsPart:
        """Complain about an empty list, and about keys that the servo would not heed."""
        if not self.play:
            raise MissingValueError("clips", "play", self.place)
        servo = self.settings.servo
        for name, heeds in (("external", "world"), ("ahead", "beat")):
            if name in section and servo != heeds:
                node, expected = section.need(name), f"left out with `servo: {servo}`: only `servo: {heeds}` heeds it"
                raise InvalidValueError(name, node.value, expected, node.place)
        if self.targets == "absolute" and servo != "world":
            place = section.need("targets").place
            raise InvalidValueError("targets", self.targets, "egocentric with any servo but world", place)
        return self


FEET_HZ: Final = 480.0
"""Least physics rate of a body on its own feet: they need finer physics than a root that is held."""


def physics_rate(part: ClipsPart, rate: float) -> float:
    """Return how often physics has to step where control decides so often, both [Hz]."""
    return rate * max(1, math.ceil(FEET_HZ / rate)) if part.root.kind in ("own", "auto") else rate


def check_clips_part(part: ClipsPart, character: Character) -> None:
    """Complain where a character cannot follow clips."""
    if character.root is None:
        raise BodyError(f"'{character.name}' has a fixed root; to follow clips it needs `root: free`.")
    by_joint("gain", part.settings.gain, character.joints, character.name, place=part.place)


KEY = "clips"


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


def _queued(stage: StageLoop, name: str, part: ClipsPart) -> list[QueuedClip]:
    return [
        QueuedClip(load_motion(stage, name, play, part.mapping), play.at, play.blend, play.facing) for play in part.play
    ]


def _start(actor: Actor, part: ClipsPart, alone: bool) -> Supervisor | None:
    stage, name = actor.stage, actor.name
    clips = _queued(stage, name, part)
    lay = _clip(part.play[0], part.mapping)
    clips[0] = replace(clips[0], floor=floor_height(lay, lay.parts) if feet_of(lay.parts) else 0.0)
    get_up = {
        side: load_motion(stage, name, PlaySpec(clip, place=part.place), part.mapping)
        for side, clip in part.get_up
        if part.react is not None
    }
    return actor.follow(
        clips, settings=part.settings, root=root_of(actor, part.root), react=part.react or False, get_up=get_up,
        repeat=part.repeat, toward=part.toward, targets=part.targets, feet=part.feet, free_limbs=part.free_limbs,
        joints=None if part.joints is None else tuple(claimed(part, actor.character)),
    )  # fmt: skip


def played_seconds(play: PlaySpec) -> float:
    """Return how long a clip is played [s]."""
    whole = load_clip(play.clip, place=play.place).duration
    return (whole if play.end is None else min(play.end, whole)) - play.begin


def _seconds(part: ClipsPart) -> float | None:
    clock = 0.0
    for play in part.play:
        clock = (clock if play.at is None else play.at) + played_seconds(play)
    return max(clock - 0.5, 0.1)  # a performance goes on for half a second after its last beat


def _body_clip(part: ClipsPart) -> tuple[str, Place]:
    first = part.play[0]
    clip = str(first.clip)  # a script's, in which it is text
    return clip if part.mapping is None else with_option(clip, "mapping", part.mapping), first.place


def _outline(part: ClipsPart) -> dict[str, Any]:
    found, clock = [], 0.0
    for number, play in enumerate(part.play):
        length = played_seconds(play)
        start = clock if play.at is None else play.at
        found.append(
            {
                "index": number, "clip": reference_name(play.clip), "start": round(start, 4),
                "length": round(length, 4), "blend": play.blend, "from": play.begin, "to": play.end, "loop": play.loop,
                "placed": play.at is not None, "written": write(play),
            }
        )  # fmt: skip
        clock = start + length
    return {KEY: found}


def _preview(part: ClipsPart, stage: StageLoop, name: str, path: Floats, times: Floats) -> None:
    """Lay out what it is asked to do; who turns to somebody further down in the script sees where that one starts."""
    character, spec = stage.character(name), stage.scene.characters[name]
    fitted = [
        replace(clip, motion=as_followed(stage.model, character, clip.motion, part.settings).raised(spec.at[2]))
        for clip in _queued(stage, name, part)
    ]
    first = replace(fitted[0], motion=fitted[0].motion.placed((spec.at[0], spec.at[1]), spec.facing + fitted[0].facing))

    def turned_to(at: float, clip: QueuedClip) -> Callable[[Floats], float] | None:
        if part.toward is None:
            return None
        other = stage.character(part.toward)
        place = stage.data.xpos[other.root_body]
        if other.root is not None:
            place = path[min(int(np.searchsorted(times, at)), len(times) - 1), other.root.qpos :]
        return lambda here: math.atan2(place[1] - here[1], place[0] - here[0]) + clip.facing

    course = [Stretch(0.0, first.motion, first.blend)]
    for at, clip in _turns(fitted, part.repeat, float(times.max(initial=0.0))):
        course.append(Stretch(at, clip.motion, clip.blend, turned_to(at, clip)))
    path[:, own_slices(character)[0]] = lay_course(stage.model, character, course, times)


def _turns(clips: list[QueuedClip], repeat: bool, until: float) -> Iterator[tuple[float, QueuedClip]]:
    """Yield when it is each clip's turn after the first [s], and which, as the queue has it."""
    now, number, again = 0.0, 0, False
    while number + 1 < len(clips) or repeat:
        before = clips[number].motion
        number = (number + 1) % len(clips)
        again = again or number == 0
        at = clips[number].at
        now = now + max(before.duration, 1.0 / before.fps) if at is None or again else max(now, at)
        if now > until:
            return
        yield now, clips[number]


CLIPS = SectionKind(
    KEY, ClipsPart, check_clips_part, _start, _seconds, body_clip=_body_clip, outline=_outline, preview=_preview,
    entries={KEY: PlaySpec}, chosen="play", whole=True, claims=claimed,
)  # fmt: skip
