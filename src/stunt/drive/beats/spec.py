"""A script: a scene and what its characters do in it. Frozen data; `stunt.script.performance` plays it.

And when each beat falls: `at` and `after` resolved to one clock, and cycles laid end to end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from stunt.control.servo.law import UNSAID, RootSpring
from stunt.drive.response.ways_out import Exit
from stunt.errors import NOWHERE, BeatOrderError, ConflictingKeysError, InvalidValueError, MissingValueError, Place
from stunt.keys import (
    MOMENT,
    SECONDS,
    TEXT,
    TRUTH,
    Choice,
    Context,
    Known,
    ListOf,
    MappingOf,
    Nested,
    Number,
    Whole,
    Word,
    inline,
    key,
    spec,
)
from stunt.motion.pose import Pose
from stunt.motion.pose_keys import InlinePose
from stunt.schema import MAX_SECONDS, Section, entries, items, wrong
from stunt.stage.scene import Scene

Coupling = Literal["local", "composite", "compensated", "full"]
Arrival = Literal["critical", "minimum_effort"]


MAX_BEATS, MAX_CYCLES, MAX_PLAYED, MAX_STATES = 5000, 1000, 100_000, 1000


@spec("a beat")
class BeatSpec:
    """One beat: be in this pose (any subset of joints) at this time."""

    pose: Pose = inline(kind=InlinePose("beat {}"))
    at: float | None = key(default=None, kind=MOMENT, help="when, on the performance's clock; this or `after`")
    after: float | None = key(
        default=None, kind=SECONDS, help="when, counted from the beat before it (the first: from the start)"
    )
    hold: float | None = key(
        default=None, kind=SECONDS, help="how long coming back to it takes when disturbed; else the part's `tension`"
    )
    duration: float | None = key(
        default=None, kind=SECONDS, help="set out only this long before it; else from each joint's previous key"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> BeatSpec:
        """Complain unless exactly one of `at` and `after` is given."""
        section.one_of(("at", "after"))
        return self


@spec("state '{}'")
class StateSpec:
    """One state of a small machine over poses: what to hit on entering, and the ways out."""

    pose: Pose = inline(kind=InlinePose())
    within: float = key(kind=SECONDS, help="in which time it is reached")
    exits: tuple[Exit, ...] = key(
        default=(), name="next", kind=ListOf(Nested(Exit), alone=(dict,)), help="ways out, tried in this order"
    )
    place: Place = field(default=NOWHERE, compare=False)


@spec("a machine")
class MachineSpec:
    """A small state machine over poses."""

    start: str = key(kind=Known("state"), otherwise=lambda name: "", help="where it starts; else in the first state")
    states: Mapping[str, StateSpec] = key(
        kind=MappingOf(Nested(StateSpec), dict, counted=("states", MAX_STATES)), help="its states"
    )
    place: Place = field(default=NOWHERE, compare=False)

    @classmethod
    def around(cls, section: Section, context: Context) -> Context:
        """Return the context of its keys: its own states are known there."""
        return {**context, "state": entries(section.need("states"))}

    def after_reading(self, section: Section, context: Context) -> MachineSpec:
        """Start in the first state where nothing is said."""
        return self if self.start else replace(self, start=next(iter(self.states)))


@spec("the part of '{}'")
class Part:
    """What one character does.

    Attributes:
        sections: Other ways of moving, by key (see `stunt.script.kinds`).
        reserved: What this version reads and keeps but does not perform, as plain data.
        joint_places: Where each of `joints` was written.
    """

    beats: tuple[BeatSpec, ...] = key(
        default=(), kind=ListOf(Nested(BeatSpec), counted=("beats", MAX_BEATS)), help="poses with times"
    )
    cycle: int = key(
        default=1, kind=Whole(1, MAX_CYCLES), help="how often; each time shifted by the time of the last beat"
    )
    machine: MachineSpec | None = key(
        default=None, kind=Nested(MachineSpec), help="states instead of beats, or when these are over"
    )
    coupling: Coupling = key(
        default="full", kind=Choice("coupling", ("local", "composite", "compensated", "full")),
        help="what a joint knows of the others",
    )  # fmt: skip
    arrival: Arrival = key(
        default="critical", kind=Choice("arrival", ("critical", "minimum_effort")), help="which law of arrival"
    )
    tension: float = key(default=0.5, kind=SECONDS, help="to come back to the held pose when disturbed")
    give: float | None = key(
        default=None, kind=Number(above=0.0, most=1000.0, unit="°/(N·s)"),
        help="how far the most giving joint that carries what is hit gives, for each N·s; else `tension` says",
    )  # fmt: skip
    ease: float = key(
        default=0.2, kind=Number(0.0, 0.5),
        help="share of each approach over which its acceleration is gathered: 0 starts with a jerk (full coupling)",
    )  # fmt: skip
    joints: tuple[str, ...] | None = key(
        default=None, kind=ListOf(Word("a joint's name or pattern"), alone=(str,)),
        help="what this part controls (`r_*`); else all. The others stay passive",
    )  # fmt: skip
    gravity_compensation: bool = key(
        default=True, kind=TRUTH, help="whether gravity and Coriolis forces are fed forward"
    )
    root: RootSpring = inline(default=UNSAID)
    sections: Mapping[str, Any] = field(default_factory=dict)
    reserved: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default=NOWHERE, compare=False)
    joint_places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    def after_reading(self, section: Section, context: Context) -> Part:
        """Check the beats' times and cycles, and remember where joints were written."""
        times = beat_times(self.beats)
        if (cycle := section.get("cycle")) is not None:
            if not times and self.cycle > 1:
                raise MissingValueError("beats", "'cycle'", cycle.place)
            if self.cycle * len(times) > MAX_PLAYED or (times and self.cycle * times[-1] > MAX_SECONDS):
                raise wrong(cycle, f"so few that at most {MAX_PLAYED} beats and {MAX_SECONDS:g} s are played")
        if self.joints is None:
            return self
        node = section.need("joints")
        if not self.joints:
            raise wrong(node, "at least one joint's name or pattern (leave it out to control them all)")
        written = (node,) if isinstance(node.value, str) else items(node)
        places = {joint: x.place for joint, x in zip(self.joints, written, strict=True)}
        return replace(self, joints=tuple(places), joint_places=places)

    @cached_property
    def _resolved(self) -> tuple[ResolvedBeat, ...]:
        return _in_time(self)  # found out once: a part never changes


@spec("a script")
class Script:
    """A whole performance as data.

    Attributes:
        scene: The stage.
        parts: What each character does, by character name.
        poses: The script's own pose library, by name.
        source: The file it was read from, where it was.
        warnings: What is probably not meant, or not performed by this version; one sentence each.
    """

    scene: Scene
    parts: Mapping[str, Part] = field(default_factory=dict)
    seconds: float | None = key(
        default=None, kind=SECONDS,
        help="how long it lasts; else until 0.5 s after the last beat (needed with a state machine, or without beats)",
    )  # fmt: skip
    title: str = key(default="", kind=TEXT, help="for people")
    poses: Mapping[str, Pose] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class ResolvedBeat:
    """A beat with its time on the performance's clock.

    Attributes:
        index: Counted from 0 through all cycles; `index % len(part.beats)` is the beat of the script.
        time: When the pose is to be hit [s].
        pose: What to hit.
        hold: Tension of the hold after it [s]; the part's where the beat has none of its own.
        duration: Set out only this long before it [s]; None: from each joint's previous key.
        place: Where it was written.
    """

    index: int
    time: float
    pose: Pose
    hold: float
    duration: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


def resolve_beats(part: Part) -> tuple[ResolvedBeat, ...]:
    """Return a part's beats in time, every cycle shifted by the time of the list's last beat.

    Raises:
        BeatOrderError: If a beat does not come after the one before it.
    """
    return part._resolved


def _in_time(part: Part) -> tuple[ResolvedBeat, ...]:
    times = beat_times(part.beats)
    count = len(part.beats)
    return tuple(
        ResolvedBeat(
            index=cycle * count + i,
            time=cycle * times[-1] + time,
            pose=beat.pose,
            hold=part.tension if beat.hold is None else beat.hold,
            duration=beat.duration,
            place=beat.place,
        )
        for cycle in range(part.cycle)
        for i, (beat, time) in enumerate(zip(part.beats, times, strict=True))
    )


def beat_times(beats: tuple[BeatSpec, ...]) -> tuple[float, ...]:
    """Return when the beats of one cycle fall [s]; each `after` counts from the beat before it.

    Raises:
        BeatOrderError: If a beat does not come after the one before it.
        ConflictingKeysError: If a beat has both `at` and `after`.
        InvalidValueError: If it has no time to get there.
        MissingValueError: If a beat has neither.
    """
    times: list[float] = []
    for beat in beats:
        times.append(_time(beat, times[-1] if times else None))
    return tuple(times)


def _time(beat: BeatSpec, previous: float | None) -> float:
    if beat.at is not None and beat.after is not None:
        raise ConflictingKeysError("a beat", ("at", "after"), ("at", "after"), beat.place)
    if beat.after is not None:
        if not beat.after > 0.0:
            raise InvalidValueError("after", beat.after, "a number greater than 0", beat.place)
        return (previous or 0.0) + beat.after
    if beat.at is None:
        raise MissingValueError("at' or 'after", "a beat", beat.place)
    if previous is None and not beat.at > 0.0:
        expected = "later than 0 s (the pose at the beginning is the character's 'start')"
        raise InvalidValueError("at", beat.at, expected, beat.place)
    if previous is not None and not beat.at > previous:
        raise BeatOrderError(beat.at, previous, beat.place)
    return beat.at
