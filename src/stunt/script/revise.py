"""An edited script, played on from where the edit begins to matter instead of from the start.

A performance restored to a moment strictly before `first_change` and then given to `revise` goes on, bit for bit, as if
the new script had been played from zero: every joint is still on its way to a key both scripts have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeVar

from stunt.drive.beats.predict import Foresight
from stunt.drive.beats.spec import Part, ResolvedBeat, Script, resolve_beats
from stunt.script.kinds import KINDS
from stunt.script.performance import Performance
from stunt.stage.event_specs import Event, Throw
from stunt.stage.scene import Scene

NEVER = float("inf")
Item = TypeVar("Item")
_SAME_START = ("machine", "coupling", "arrival", "tension", "give", "ease", "joints", "gravity_compensation")


def first_change(old: Script, new: Script) -> float:
    """Return when two scripts begin to differ [s]: `NEVER` if they play alike, 0 if they differ from the start."""
    if not _same_scene(old.scene, new.scene) or set(old.parts) != set(new.parts):
        return 0.0
    when = NEVER
    for name, part in new.parts.items():
        if not _same_start(old.parts[name], part):
            return 0.0
        when = min(when, _first_beat_change(old.parts[name], part), _first_section_change(old.parts[name], part))
    when = min(when, _first_event_change(old.scene.events, new.scene.events))
    # A throw aims at where its target will be: at the beats that come before it hits.
    aiming = [e.at for e in new.scene.events if isinstance(e, Throw) and e.hits_at > when]
    return max(0.0, min([when, *aiming]))


def _same_scene(old: Scene, new: Scene) -> bool:
    return dataclasses.replace(old, events=()) == dataclasses.replace(new, events=())


def _same_start(old: Part, new: Part) -> bool:
    if any(getattr(old, name) != getattr(new, name) for name in _SAME_START):
        return False
    if new.machine is not None:  # it begins when the beats are over
        return old.beats == new.beats and old.cycle == new.cycle
    return bool(old.beats) == bool(new.beats)


def _first_section_change(old: Part, new: Part) -> float:
    """Return when the first section begins to say something else, as its kind tells."""
    if list(old.sections) != list(new.sections):
        return 0.0
    return min((KINDS[key].first_change(old.sections[key], new.sections[key]) for key in new.sections), default=NEVER)


def _first_beat_change(old: Part, new: Part) -> float:
    """Return when the first joint sets out for a key that is not the same in both."""
    ours, theirs = _resolved(old), _resolved(new)
    if ours == theirs:
        return NEVER
    before, after = _keys(ours), _keys(theirs)
    when = NEVER
    for joint in before.keys() | after.keys():
        pairs = zip(_padded(before.get(joint, [])), _padded(after.get(joint, [])), strict=False)
        previous = 0.0
        for a, b in pairs:
            if a != b:
                when = min(when, previous)
                break
            if a is None:
                break
            previous = a[0]
    # Renamed or renumbered beats are the same to the joints, but not in the report.
    for a_beat, b_beat in zip(_padded(ours), _padded(theirs), strict=False):
        if a_beat is None and b_beat is None:
            break
        if a_beat != b_beat:
            when = min([when, *(beat.time for beat in (a_beat, b_beat) if beat is not None)])
            break
    return when


def _resolved(part: Part) -> tuple[ResolvedBeat, ...]:
    return resolve_beats(part) if part.beats else ()


def _keys(beats: tuple[ResolvedBeat, ...]) -> dict[str, list[tuple[float, ...]]]:
    found: dict[str, list[tuple[float, ...]]] = {}
    for beat in beats:
        for joint, angle in beat.pose.angles.items():
            key = (beat.time, angle, beat.pose.velocities.get(joint), beat.hold, beat.duration)
            found.setdefault(joint, []).append(key)  # type: ignore[arg-type]
    return found


def _padded(items: Sequence[Item]) -> Iterator[Item | None]:
    yield from items
    while True:
        yield None


def _first_event_change(old: tuple[Event, ...], new: tuple[Event, ...]) -> float:
    thrown, throws = ({event.prop for event in events if isinstance(event, Throw)} for events in (old, new))
    if thrown != throws:
        return 0.0  # who is to be thrown may have to hang until then
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
    else:
        rest = [*old[len(new) :], *new[len(old) :]]
        return min((event.at for event in rest), default=NEVER)
    # Order counts for those that happen together, so everything from the first difference on is looked at.
    lone = [e for e in old if e not in new] + [e for e in new if e not in old]
    return min((event.at for event in lone), default=0.0)


def revise(performance: Performance, script: Script) -> None:
    """Give a performance that stands before `first_change` another script.

    Args:
        performance: Restored to a moment strictly before the change.
        script: What it plays from now on.
    """
    stage = performance.stage
    performance.script = script
    stage.foresight = Foresight(stage, script)
    for name, part in script.parts.items():
        performance.performers[name].recast(part)
        performance.recast_sections(name, part)
    performance.happenings.replace_waiting(script.scene.events)
    performance.retell()
