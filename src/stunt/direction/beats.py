"""When each beat falls: `at` and `after` resolved to one clock, and cycles laid end to end."""

from __future__ import annotations

from dataclasses import dataclass, field

from stunt.direction.script import BeatSpec, Part
from stunt.errors import NOWHERE, BeatOrderError, ConflictingKeysError, InvalidValueError, MissingValueError, Place
from stunt.motion.pose import Pose


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
