"""When each beat falls: `at` and `after` resolved to one clock, and cycles laid end to end.

A script: a scene and what its characters do in it. Frozen data; `stunt.script.performance` plays it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from stunt.errors import NOWHERE, BeatOrderError, ConflictingKeysError, InvalidValueError, MissingValueError, Place
from stunt.motion.pose import Pose
from stunt.stage.scene import Scene

Coupling = Literal["local", "composite", "compensated", "full"]
Arrival = Literal["critical", "minimum_effort"]


@dataclass(frozen=True)
class BeatSpec:
    """One beat: be in this pose at this time.

    Attributes:
        pose: What to hit (angles and velocities in rad and rad/s, any subset of joints).
        at: When, on the performance's clock [s]. Exactly one of `at` and `after`.
        after: When, counted from the beat before it (the first: from the start) [s].
        hold: Tension of the hold after this beat [s to come back]; None keeps the part's.
        duration: Set out only this long before the beat, holding until then [s]; None sets out from each joint's
            previous key.
        place: Where it was written.
    """

    pose: Pose
    at: float | None = None
    after: float | None = None
    hold: float | None = None
    duration: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Exit:
    """A way out of a state: after a time, on contact, or when a joint passes an angle.

    Exactly one of `after`, `contact` and `joint` is given.

    Attributes:
        to: The state that follows.
        after: Leave this long after entering [s].
        contact: Leave when this body of the character (or `any`) touches something that is not itself. `with_prop`
            narrows that to one prop.
        with_prop: See `contact`.
        joint: Leave when this joint's angle is `above` or `below` a value [rad].
        above: See `joint`.
        below: See `joint`.
        unit: The unit `above` or `below` was written in (see `Pose.units`).
    """

    to: str
    after: float | None = None
    contact: str | None = None
    with_prop: str | None = None
    joint: str | None = None
    above: float | None = None
    below: float | None = None
    place: Place = field(default=NOWHERE, compare=False)
    unit: str = field(default="", compare=False)


@dataclass(frozen=True)
class StateSpec:
    """One state of a small machine over poses.

    Attributes:
        pose: What to hit on entering.
        within: In how many seconds.
        exits: Ways out, tried in order.
    """

    pose: Pose
    within: float
    exits: tuple[Exit, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class MachineSpec:
    """A small state machine over poses. `start` is the first state's name."""

    start: str
    states: Mapping[str, StateSpec]
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Part:
    """What one character does.

    Attributes:
        beats: Poses with times.
        cycle: Play the beats so many times (a cycle lasts from its first to its last beat's time).
        machine: A state machine instead of, or after, the beats.
        coupling: How much of the other joints a joint knows (see `stunt.control.beat.law`).
        arrival: Which law of arrival.
        tension: Seconds to come back to the held pose when disturbed.
        ease: Share of each approach over which its acceleration is gathered: 0 starts with a jerk, 0.2 smoothly and
            with a third less torque. Full coupling only.
        joints: Joints this part controls, by name or pattern (`r_*`); None is all. The others stay passive.
        gravity_compensation: Whether gravity and Coriolis forces are fed forward.
        joint_places: Where each of `joints` was written.
        sections: Other ways of moving, by key (see `stunt.script.kinds`).
        reserved: Sections this version reads and keeps but does not perform (`clips`, `supervisor`, …), as plain data.
    """

    beats: tuple[BeatSpec, ...] = ()
    cycle: int = 1
    machine: MachineSpec | None = None
    coupling: Coupling = "full"
    arrival: Arrival = "critical"
    tension: float = 0.5
    ease: float = 0.2
    joints: tuple[str, ...] | None = None
    gravity_compensation: bool = True
    sections: Mapping[str, Any] = field(default_factory=dict)
    reserved: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default=NOWHERE, compare=False)
    joint_places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    @cached_property
    def _resolved(self) -> tuple[ResolvedBeat, ...]:
        return _in_time(self)  # found out once: a part never changes


@dataclass(frozen=True)
class Script:
    """A whole performance as data.

    Attributes:
        scene: The stage.
        parts: What each character does, by character name.
        seconds: How long the performance lasts; None ends 0.5 s after the last beat.
        title: For people.
        poses: The script's own pose library, by name.
        source: The file it was read from, where it was.
        warnings: What is probably not meant, or not performed by this version; one sentence each.
    """

    scene: Scene
    parts: Mapping[str, Part] = field(default_factory=dict)
    seconds: float | None = None
    title: str = ""
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
