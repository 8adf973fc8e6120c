"""What can be done to beats on the timeline, as edits of the script. The other beats stay where they are in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stunt.studio.paper.identity import Path
from stunt.studio.paper.splice import Delete, Edit, EditError, Insert, Set

Data = Mapping[str, Any]
LEAST_GAP = 0.01
"""Beats of one character are at least so far apart [s]."""
_HOLDS = (0.02, 10.0)


def beats_of(data: Data, character: str) -> list[dict[str, Any]]:
    """Return a character's beats as the script has them."""
    part = (data.get("performance") or {}).get(character)
    if part is None:
        raise EditError(f"'{character}' has no part in the performance.")
    return list(part.get("beats") or [])


def times_of(beats: list[dict[str, Any]]) -> list[float]:
    """Return when the beats of one cycle fall [s]."""
    times: list[float] = []
    for beat in beats:
        at = beat.get("at")
        times.append(float(at) if at is not None else (times[-1] if times else 0.0) + float(beat["after"]))
    return times


def _where(character: str) -> Path:
    return ("performance", character, "beats")


def tidy(time: float) -> float:
    """Return a time without digits nobody asked for [s]."""
    return round(float(time), 4)


def retimed(character: str, beats: list[dict[str, Any]], times: list[float]) -> list[Edit]:
    """Return the edits that give beats other times, each in the way it is written (`at` or `after`)."""
    edits: list[Edit] = []
    old = times_of(beats)
    before_old = before = 0.0
    for number, (beat, time) in enumerate(zip(beats, times, strict=True)):
        key = "at" if beat.get("at") is not None else "after"
        have, want = (old[number], time) if key == "at" else (old[number] - before_old, time - before)
        if abs(have - want) > 1e-6:
            edits.append(Set((*_where(character), number, key), tidy(want)))
            time = before + tidy(want) if key == "after" else tidy(want)
        before_old, before = old[number], time
    return edits


def move_beats(
    data: Data, character: str, indices: list[int], by: float, ripple: bool = False
) -> tuple[str, list[Edit]]:
    """Move beats in time; with `ripple`, everything after the first of them too."""
    beats = beats_of(data, character)
    old = times_of(beats)
    chosen = _checked(indices, beats)
    moving = set(range(min(chosen), len(beats))) if ripple else set(chosen)
    new = [time + by if number in moving else time for number, time in enumerate(old)]
    if sorted(range(len(new)), key=lambda n: (new[n], n)) != list(range(len(new))):
        return f"move {_named(beats, chosen)}", _reordered(character, beats, new)
    return f"move {_named(beats, chosen)}", retimed(character, beats, _apart(new, moving))


def _reordered(character: str, beats: list[dict[str, Any]], new: list[float]) -> list[Edit]:
    """Return edits that put beats into another order: the list keeps its places, the beats change theirs."""
    order = sorted(range(len(new)), key=lambda n: (new[n], n))
    times = _apart([new[n] for n in order], set(range(len(new))))
    edits: list[Edit] = []
    before = 0.0
    for place, number in enumerate(order):
        beat = dict(beats[number])
        key = "at" if beat.get("at") is not None else "after"
        beat[key] = tidy(times[place] if key == "at" else times[place] - before)
        before = times[place] if key == "at" else before + beat[key]
        if beat != beats[place] or number != place:
            edits.append(Set((*_where(character), place), beat, was=number))
    return edits


def _apart(times: list[float], moving: set[int]) -> list[float]:
    """Keep beats in order and apart; those that move give way."""
    times = list(times)
    for number in range(len(times)):
        least = (times[number - 1] if number else 0.0) + LEAST_GAP
        if times[number] < least:
            times[number] = least
    for number in range(len(times) - 2, -1, -1):
        if times[number] > times[number + 1] - LEAST_GAP and number in moving:
            times[number] = max(times[number + 1] - LEAST_GAP, (times[number - 1] if number else 0.0) + LEAST_GAP)
    return times


def add_beat(data: Data, character: str, time: float, beat: Mapping[str, Any]) -> tuple[str, list[Edit]]:
    """Put a beat in at a time; `beat` says which pose (`pose` or `angles`, `hold`, …). Its own name is made unique."""
    taken = {_name(other) for other in beats_of(data, character)}
    named = {"name": _free_name(str(beat["name"]), taken)} if "name" in beat else {}
    return _put(data, character, time, {**beat, **named})


def _put(data: Data, character: str, time: float, beat: Mapping[str, Any]) -> tuple[str, list[Edit]]:
    beats = beats_of(data, character)
    times = times_of(beats)
    body = {key: value for key, value in beat.items() if key not in ("at", "after")}
    time = max(tidy(time), LEAST_GAP)
    while any(abs(time - other) < LEAST_GAP for other in times):
        time = tidy(time + LEAST_GAP)
    index = sum(other < time for other in times)
    before = times[index - 1] if index else 0.0
    entry = {**body, "after": tidy(time - before)}
    if not beats:
        return f"add {_name(body)}", [Set(_where(character), [entry])]
    edits: list[Edit] = [Insert(_where(character), index, entry)]
    if index < len(beats) and beats[index].get("at") is None:
        edits.append(Set((*_where(character), index + 1, "after"), tidy(times[index] - before - entry["after"])))
    return f"add {_name(body)}", edits


def copy_beats(data: Data, character: str, indices: list[int], time: float) -> tuple[str, list[Edit]]:
    """Put the same beats in again, the first of them at another time, the others as far after it as they are."""
    beats = beats_of(data, character)
    times, chosen = times_of(beats), sorted(set(_checked(indices, beats)))
    grown, edits = list(beats), []
    for index in chosen:
        more = _put(_part(character, grown), character, time + times[index] - times[chosen[0]], beats[index])[1]
        grown = _grown(character, grown, more)
        edits += more
    return f"copy {_named(beats, chosen)}", edits


def _part(character: str, beats: list[dict[str, Any]]) -> Data:
    return {"performance": {character: {"beats": beats}}}


def _grown(character: str, beats: list[dict[str, Any]], edits: list[Edit]) -> list[dict[str, Any]]:
    """Return the beats after the edits of one more."""
    beats = [dict(beat) for beat in beats]
    for edit in edits:
        if isinstance(edit, Insert):
            beats.insert(edit.index, dict(edit.value))
        elif isinstance(edit, Set):
            beats[int(edit.path[-2])][str(edit.path[-1])] = edit.value
    return beats


def copy_beat(data: Data, character: str, index: int, time: float) -> tuple[str, list[Edit]]:
    """Put the same beat in again at another time."""
    return copy_beats(data, character, [index], time)


def delete_beats(data: Data, character: str, indices: list[int]) -> tuple[str, list[Edit]]:
    """Take beats out."""
    beats = beats_of(data, character)
    times, chosen = times_of(beats), sorted(set(_checked(indices, beats)))
    label = f"delete {_named(beats, chosen)}"
    if len(chosen) == len(beats):
        return label, [Delete(_where(character))]
    edits: list[Edit] = []
    kept = [number for number in range(len(beats)) if number not in chosen]
    for place, number in enumerate(kept):
        before = times[kept[place - 1]] if place else 0.0
        if beats[number].get("at") is None and abs(times[number] - before - float(beats[number]["after"])) > 1e-6:
            edits.append(Set((*_where(character), number, "after"), tidy(times[number] - before)))
    edits += [Delete((*_where(character), number)) for number in reversed(chosen)]
    return label, edits


def set_hold(data: Data, character: str, index: int, hold: float | None) -> tuple[str, list[Edit]]:
    """Say how tightly a beat's pose is held after it [s to come back]; None leaves it to the part. −1 is the start."""
    value = None if hold is None else round(min(max(float(hold), _HOLDS[0]), _HOLDS[1]), 3)
    if index < 0:
        _one_tension(data, character)
        if value is None:
            return "usual tension", [Delete(("performance", character, "tension"))]
        return "tension", [Set(("performance", character, "tension"), value)]
    beats = beats_of(data, character)
    _checked([index], beats)
    path = (*_where(character), index, "hold")
    if value is None:
        return "usual tension", [Delete(path)] if "hold" in beats[index] else []
    return f"tension after {_name(beats[index])}", [Set(path, value)]


def set_holds(data: Data, character: str, factor: float) -> tuple[str, list[Edit]]:
    """Make a whole part tighter (> 1) or looser (< 1): its tension and every beat's own."""
    part = (data.get("performance") or {}).get(character) or {}
    _one_tension(data, character)
    usual = float(part.get("tension", 0.5))
    edits = set_hold(data, character, -1, usual / factor)[1]
    for index, beat in enumerate(part.get("beats") or []):
        if beat.get("hold") is not None:
            edits += set_hold(data, character, index, float(beat["hold"]) / factor)[1]
    return "raise tension" if factor > 1.0 else "lower tension", edits


def set_beat_pose(data: Data, character: str, index: int, pose: str) -> tuple[str, list[Edit]]:
    """Let a beat hit another pose of the library."""
    beats = beats_of(data, character)
    _checked([index], beats)
    edits: list[Edit] = [Set((*_where(character), index, "pose"), pose)]
    own = [key for key in ("angles", "velocities", "name") if key in beats[index]]
    edits += [Delete((*_where(character), index, key)) for key in own]
    return f"beat {index + 1}: {pose}", edits


def set_beat_angles(
    data: Data, character: str, index: int, angles: Mapping[str, float], name: str | None = None
) -> tuple[str, list[Edit]]:
    """Give a beat a pose of its own; only the joints that differ are touched where it has one already."""
    beats = beats_of(data, character)
    _checked([index], beats)
    beat, path = beats[index], (*_where(character), index)
    clean = {str(joint): round(float(angle), 2) for joint, angle in angles.items()}
    label = f"pose of {name or _name(beat)}"
    if not clean:
        raise EditError("a pose needs at least one joint.")
    if "pose" in beat or not isinstance(beat.get("angles"), dict):
        edits: list[Edit] = [Set((*path, "angles"), clean)]
        edits += [Delete((*path, key)) for key in ("velocities", "pose") if key in beat]
        named = name or _free_name(_name(beat), {_name(other) for other in beats})
        return label, [*edits, *([Set((*path, "name"), named)] if beat.get("name") != named else [])]
    have = beat["angles"]
    edits = [Set((*path, "angles", joint), angle) for joint, angle in clean.items() if have.get(joint) != angle]
    edits += [Delete((*path, "angles", joint)) for joint, angle in have.items()
              if joint not in clean and isinstance(angle, int | float)]  # fmt: skip
    return label, [*edits, *([Set((*path, "name"), name)] if name and beat.get("name") != name else [])]


def split_limb(
    data: Data, character: str, index: int, time: float, limb: Mapping[str, Any], rest: Mapping[str, Any]
) -> tuple[str, list[Edit]]:
    """Let one limb hit its part of a beat at a time of its own.

    Args:
        data: The script.
        character: Whose beat.
        index: Which.
        time: When the limb arrives [s].
        limb: The limb's angles [°] in the beat's pose.
        rest: The others'.
    """
    beats = beats_of(data, character)
    _checked([index], beats)
    old = beats[index]
    plain = {key: value for key, value in old.items() if key in ("hold", "duration")}
    key = "at" if old.get("at") is not None else "after"
    stays = {"angles": dict(rest), "name": _name(old), key: old[key], **plain}
    changed = {"performance": {character: {"beats": [stays if n == index else b for n, b in enumerate(beats)]}}}
    edits: list[Edit] = [Set((*_where(character), index), stays)]
    edits += _put(changed, character, time, {"angles": dict(limb), "name": _name(old), **plain})[1]
    return f"move a limb of {_name(old)}", edits


def _checked(indices: list[int], beats: list[dict[str, Any]]) -> list[int]:
    for index in indices:
        if not (isinstance(index, int) and 0 <= index < len(beats)):
            raise EditError(f"there is no beat {index}; there are {len(beats)}.")
    if not indices:
        raise EditError("no beat is chosen.")
    return indices


def _one_tension(data: Data, character: str) -> None:
    """Complain about a tension that is more than one number: one number would wipe the others out."""
    part = (data.get("performance") or {}).get(character) or {}
    if not isinstance(part.get("tension", 0.5), int | float):
        raise EditError(f"the tension of '{character}' is more than one number; edit it in the file.")


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that nobody has: the wanted one, or with a number behind it."""
    if name not in taken:
        return name
    return next(f"{name}_{number}" for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)


def _name(beat: Mapping[str, Any]) -> str:
    return str(beat.get("name") or beat.get("pose") or "beat")


def _named(beats: list[dict[str, Any]], chosen: list[int]) -> str:
    return _name(beats[chosen[0]]) if len(chosen) == 1 else f"{len(chosen)} beats"
