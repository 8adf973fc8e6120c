"""How somebody falls: when an arm moves, what meets the floor first, and how fast the head is then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from stunt.maths import rotations
from stunt.motion.clips.standing import stretches
from stunt.review.measures.depths import gaps
from stunt.review.measures.footage import Figurant, Footage
from stunt.review.measures.forces import blows

Found = tuple[str, float, float | None, str]
TOUCH: Final = 0.02
"""A part nearer to the ground than this has met it [m]."""
LOSES: Final = 10.0
"""Where nothing hit it, a body begins to fall when its trunk passes this tilt [°]."""
MOVES: Final = 1.0
"""An arm moves when its hand gets this much faster, seen from the trunk [m/s]."""
_UPRIGHT, _LIES = 25.0, 45.0  # [°]
_BEFORE, _SINCE = 2.0, 1.0  # [s] from upright to the floor at most, [s] from a blow to the fall
_AFTER = 1.0  # [s] in which the head may still come down
_EARLY = 0.3  # [s] before it is lost in which an arm may move to keep a balance
_APART = 0.1  # [s] touches nearer than this are one blow
_LEGS = ("foot", "toe", "shank", "thigh")


def falling(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure the worst of each figure over all falls; nothing where nobody fell."""
    found: dict[str, Found] = {}
    for upright, down in _falls(footage, person):
        for one in _measured(footage, person, upright, down):
            before = found.get(one[0])
            less = one[0] == "fall_bend"
            if before is None or (one[1] < before[1] if less else one[1] > before[1]):
                found[one[0]] = one
    yield from found.values()


def _falls(footage: Footage, person: Figurant) -> list[tuple[int, int]]:
    """Return falls: the last upright frame, and the one in which the trunk or the head is on the ground."""
    trunk = [body for part, body in person.parts.items() if part in ("hips", "head") or part.startswith("spine")]
    geoms = [geom for geom in person.geoms if int(footage.model.geom_bodyid[geom]) in trunk]
    low = np.isfinite(gaps(footage, geoms, TOUCH, footage.fixed))
    tilt = footage.tilt(person)
    hips = footage.places[:, person.about.root_body, 2]
    usual = float(np.percentile(hips, 95))
    high = hips > 0.85 * usual
    low &= ((tilt > _LIES) & ~high) | (
        hips < 0.5 * usual
    )  # who leans on a wall, or stands on the hands, has not fallen
    stands = (tilt < _UPRIGHT) & high
    found = []
    for down, _ in stretches(low):
        before = np.flatnonzero(stands[: down + 1])
        if len(before) and footage.time[down] - footage.time[before[-1]] <= _BEFORE:
            found.append((int(before[-1]), down))
    return found


def _measured(footage: Footage, person: Figurant, upright: int, down: int) -> Iterator[Found]:
    end = int(np.searchsorted(footage.time, footage.time[down] + _AFTER))
    yield from _reaction(footage, person, upright, end)
    touched = {}
    for part, body in person.parts.items():
        geoms = [geom for geom in person.geoms if int(footage.model.geom_bodyid[geom]) == body]
        if not geoms:
            continue
        there = np.flatnonzero(np.isfinite(gaps(footage, geoms, TOUCH, footage.fixed)[upright:end]))
        if len(there):
            touched[part] = upright + int(there[0])
    head = touched.pop("head", None)
    others = [frame for part, frame in touched.items() if not part.endswith(_LEGS)]
    first = min(((frame, part) for part, frame in touched.items() if not part.endswith(_LEGS)), default=(down, ""))
    pace = np.linalg.norm(footage.velocity(footage.places[:, person.parts["head"]]), axis=1)
    speed = 0.0 if head is None else float(pace[max(head - 3, 0) : head + 1].max())
    yield (
        "head_speed",
        speed,
        float(footage.time[down if head is None else head]),
        f"{first[1]} first" if first[1] else "",
    )
    early = head is not None and head < min(others, default=len(footage.time))
    yield "head_first", float(early), float(footage.time[down if head is None else head]), first[1]
    # Knees that give first keep a trunk upright for a while: what counts is all since the blow.
    before = [moment for moment, _ in _blows(footage, person, upright) if moment <= footage.time[upright]]
    onset = int(np.searchsorted(footage.time, min(before))) if before else upright
    bends = [
        footage.angle_at(person, *(f"{side}_{part}" for part in ("thigh", "shank", "foot")))[onset : down + 1]
        for side in "lr"
    ]
    bends += [_hip(footage, person, side)[onset : down + 1] for side in "lr"]
    yield "fall_bend", float(max(np.ptp(bend) for bend in bends)), float(footage.time[down]), ""


def _hip(footage: Footage, person: Figurant, side: str) -> np.ndarray:
    """Return the angle between trunk and thigh [°], (T,)."""
    hips = sum(footage.places[:, person.parts[f"{one}_thigh"]] for one in "lr") / 2.0
    shoulders = sum(footage.places[:, person.parts[f"{one}_upper_arm"]] for one in "lr") / 2.0
    thigh = footage.places[:, person.parts[f"{side}_shank"]] - footage.places[:, person.parts[f"{side}_thigh"]]
    trunk = hips - shoulders
    sine, cosine = np.linalg.norm(np.cross(trunk, thigh), axis=1), (trunk * thigh).sum(axis=1)
    return np.asarray(np.degrees(np.arctan2(sine, cosine)))


def _blows(footage: Footage, person: Figurant, upright: int) -> list[tuple[float, float]]:
    """Return when something hit somebody about when it last was upright, and how hard [s], [N]."""
    begin = float(footage.time[upright])
    return [one for one in blows(footage, person) if begin - _SINCE <= one[0] <= begin + _APART]


def _felled(footage: Footage, person: Figurant, upright: int) -> float | None:
    """Return when the blow that felled somebody began [s], the hardest of those about then; None: none did.

    Whoever boxes is hit all the time: what did not fell is nothing to reach for the ground at.
    """
    hits = _blows(footage, person, upright)
    if not hits:
        return None
    began, _ = max(hits, key=lambda one: one[1])
    for moment, _ in reversed([one for one in hits if one[0] < began]):
        if began - moment > _APART:
            break
        began = moment
    return began


def _reaction(footage: Footage, person: Figurant, upright: int, end: int) -> Iterator[Found]:
    """Measure the time from what made somebody fall until a hand moves."""
    begin, blow = float(footage.time[upright]), _felled(footage, person, upright)
    tilt = footage.tilt(person)[upright:end]
    tips = np.flatnonzero(tilt > LOSES)
    onset = blow if blow is not None else float(footage.time[upright + int(tips[0])]) if len(tips) else begin
    # Whoever topples slowly has thrown the arms out before, and sits down with the trunk upright once more.
    start = int(np.searchsorted(footage.time, onset if blow is not None else onset - _EARLY))
    if not all(f"{side}_hand" in person.parts for side in "lr"):
        return
    # Seen from the trunk as it turns: the hands of whoever falls like a board are as fast as anybody's.
    trunk = person.parts.get("spine2", person.about.root_body)
    away = [footage.places[:, person.parts[f"{side}_hand"]] - footage.places[:, trunk] for side in "lr"]
    seen = [rotations.rotate(rotations.conjugate(footage.turns[:, trunk]), way) for way in away]
    paces = [np.linalg.norm(footage.velocity(way), axis=1) for way in seen]
    back = footage.back(start, 0.3)
    usual = [float(pace[back : start + 1].max()) for pace in paces]
    moved = [np.flatnonzero(pace[start:end] > most + MOVES) for pace, most in zip(paces, usual, strict=True)]
    frames = [start + int(some[0]) for some in moved if len(some)]
    last = int(np.clip(min(frames, default=end - 1), 0, len(footage.time) - 1))
    yield "reaction_s", max(float(footage.time[last]) - onset, 0.0), float(footage.time[last]), "" if frames else "none"
