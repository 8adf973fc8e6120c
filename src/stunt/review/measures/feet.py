"""Feet that stand, slide or hover, and bodies that nothing carries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.review.measures.depths import gaps, reach
from stunt.review.measures.footage import Figurant, Footage
from stunt.review.measures.forces import drags

Found = tuple[str, float, float | None, str]
CARRIES: Final = 0.015
"""A foot nearer to the ground than this may carry [m]."""
HOVERS: Final = 0.06
"""One that stands still and is nearer than this stands, or hovers [m]."""
STANDS: Final = 0.2
"""It stands where it is so for at least as long [s]: who swings a foot past the ground is faster."""
_STILL, _ALIKE = 0.3, 0.15  # [m/s] slower than this a foot stands; as fast as the other within this, it carries, too
_CARRIED = 0.03  # [m] nearer to something than this, a body may be carried
_DOWN = np.array([0.0, 0.0, -1.0])


def standing(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure slide and hover of feet while they stand and the body is up."""
    if len(footage.time) < 3:
        return
    feet: list[tuple[str, Floats, NDArray[np.bool_]]] = []
    hovers: list[tuple[float, float, str]] = []
    for side in "lr":
        bodies = [person.parts[part] for part in (f"{side}_foot", f"{side}_toe") if part in person.parts]
        geoms = [g for g in person.geoms if int(footage.model.geom_bodyid[g]) in bodies]
        if not geoms:
            continue
        gap, pace = gaps(footage, geoms, HOVERS, footage.surroundings), _slip(footage, geoms)
        up = _up(footage, person)
        feet.append((f"{side}_foot", pace, up & (gap < CARRIES)))
        stands = _lasting(footage, up & (gap < HOVERS) & (pace < _STILL))
        hovers += [(max(gap[k], 0.0), footage.time[k], f"{side}_foot") for k in np.flatnonzero(stands)]
    slides = _slides(footage, person, feet)
    if slides:
        seconds = sum(lasted for _, lasted, _, _ in slides)
        yield "slide_mean", sum(way for way, _, _, _ in slides) / seconds, None, ""
        most = max(slides)
        yield "slide_cm", 100.0 * most[0], most[2], most[3]
    if hovers:
        value, time, what = _share(hovers, 0.95)
        yield "hover_cm", 100.0 * value, time, what


def _slides(
    footage: Footage, person: Figurant, feet: list[tuple[str, Floats, NDArray[np.bool_]]]
) -> list[tuple[float, float, float, str]]:
    """Return how far the ball of a foot went in the middle of each stance [m], how long that took, when [s], and whose.

    Of feet on the ground the slowest carries: another may swing past it, or be drawn over the floor. Feet land and lift
    rolling; the middle of a stance is where they stand.
    """
    if not feet:
        return []
    slowest = np.min([np.where(there, pace, np.inf) for _, pace, there in feet], axis=0)
    found, second = [], max(round(1.0 / float(np.median(np.diff(footage.time)))), 1)
    for name, pace, there in feet:
        carries = _lasting(footage, there & (pace <= slowest + _ALIKE))
        ball = footage.places[:, person.parts.get(f"{name[:2]}toe", person.parts[name])]
        for first, end in stretches(carries):
            one, other = first + (end - first) // 5, end - 1 - (end - first) // 5
            # Who stands for long may shift a foot; within a second nobody should see it move.
            for start in range(one, other, second):
                stop = min(other, start + second)
                if stop > start:
                    way = float(np.hypot(*(ball[stop] - ball[start])[:2]))
                    found.append(
                        (way, float(footage.time[stop] - footage.time[start]), float(footage.time[stop]), name)
                    )
    return found


def _share(found: list[tuple[float, float, str]], share: float) -> tuple[float, float, str]:
    ordered = sorted(found)
    value, time, what = ordered[min(int(share * len(ordered)), len(ordered) - 1)]
    return float(value), float(time), what


def _slip(footage: Footage, geoms: list[int]) -> Floats:
    """Return how fast the lowest point of a foot moves over the ground [m/s], (T,): the foot's own point.

    A heel that strikes and a ball that is rolled over stand still in this, as they do on the ground.
    """
    count = len(footage.time)
    down = np.tile(_DOWN, (count, 1))
    low = np.stack([footage.shapes[:, geom, 2] - reach(footage, geom, down) for geom in geoms])
    which = low.argmin(axis=0)
    result = np.zeros(count)
    step = np.diff(footage.time)
    for k in range(count - 1):
        geom = geoms[int(which[k])]
        body = int(footage.model.geom_bodyid[geom])
        point = footage.shapes[k, geom] + _lowest(footage, geom, k)
        inside = rotations.rotate(rotations.conjugate(footage.turns[k, body]), point - footage.places[k, body])
        there = footage.places[k + 1, body] + rotations.rotate(footage.turns[k + 1, body], inside)
        result[k] = float(np.hypot(*(there - point)[:2])) / step[k]
    result[-1] = result[-2]
    return result


def _lowest(footage: Footage, geom: int, k: int) -> Floats:
    """Return the lowest point of a shape's box from its centre [m], (3,); of corners alike, their middle."""
    axes, half = footage.axes[k, geom], footage.model.geom_aabb[geom, 3:]
    tips = -axes[2]  # how far each own axis points down
    sign = np.where(np.abs(tips) * half < 0.004, 0.0, np.sign(tips))
    return np.asarray(axes @ (sign * half))


def _up(footage: Footage, person: Figurant) -> NDArray[np.bool_]:
    """Whether a body stands on its legs: its root is not low, (T,)."""
    height = footage.places[:, person.about.root_body, 2]
    return np.asarray(height > 0.6 * np.percentile(height, 95))


def _lasting(footage: Footage, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    result = flags.copy()
    for first, end in stretches(flags):
        if footage.time[end - 1] - footage.time[first] < STANDS:
            result[first:end] = False
    return result


def carried(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure for how long nothing carries a body."""
    if person.about.root_qpos is None or len(footage.time) < 3:
        return
    others = [geom for other in footage.people if other is not person for geom in other.geoms]
    free = ~np.isfinite(gaps(footage, person.geoms, _CARRIED, (*footage.surroundings, *others)))
    for start, end in drags(footage, person):  # who is carried about is carried
        free &= (footage.time < start) | (footage.time > end)
    flights = [(footage.time[end - 1] - footage.time[first], first, end) for first, end in stretches(free)]
    longest, first, end = max(flights, default=(0.0, 0, 0))
    yield "airborne_s", float(longest), float(footage.time[(first + end) // 2]) if end else None, ""
