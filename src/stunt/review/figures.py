"""What a reviewer measures: the figures, what each says, and how they are found in a take.

Every figure is measured in the same way of a performance and of a captured clip, so that one can be held against the
other. Those about forces need a performance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from stunt.review.measures import depths, falls, feet, forces, gait, limbs
from stunt.review.measures.footage import Figurant, Footage


@dataclass(frozen=True)
class FoundFigure:
    """A figure of somebody, as it was found."""

    figure: str  #: Its name in `FIGURES`
    value: float
    time: float | None = None  #: When it was found [s]; None: it is about the whole
    what: str = ""  #: Which parts, or of what


@dataclass(frozen=True)
class FigureKind:
    """What a figure is."""

    unit: str
    says: str
    low: bool = False  #: Whether too little of it is unbelievable
    high: bool = True  #: Whether too much of it is


FIGURES: Final[dict[str, FigureKind]] = {
    "arm_in_trunk_cm": FigureKind("cm", "deepest that an arm is in its own trunk or head, beyond rest"),
    "overlap_cm": FigureKind(
        "cm", "deepest that other parts of one body which are not joined are in each other, beyond rest"
    ),
    "between_cm": FigureKind("cm", "deepest that a body is in another's"),
    "sink_cm": FigureKind("cm", "deepest that a body is in the ground, scenery or props"),
    "hover_cm": FigureKind("cm", "gap under standing feet, 95 % of the time less"),
    "slide_mean": FigureKind("m/s", "how fast feet go on sliding in the middle of a stance, mean"),
    "slide_cm": FigureKind("cm", "furthest that one slides in a stance, or within a second of it"),
    **{
        f"turn_{part}": FigureKind(
            "°", f"largest turn of a {part.replace('_', ' ')} in 33 ms, outside 50 ms after an impact"
        )
        for part in limbs.PARTS
    },
    "wrist_range": FigureKind(
        "°", "how far a hand turns from its forearm in all, the stiller one of the arms that bend", low=True, high=False
    ),
    "hand_speed": FigureKind("m/s", "fastest that a hand moves from the hips"),
    "foot_speed": FigureKind("m/s", "fastest that a foot moves from the hips"),
    "mirror_deg": FigureKind(
        "°", "how far knees and elbows are from a mirror image of the other side's, now or later", low=True, high=False
    ),
    "knee_least": FigureKind("°", "walking: how straight a knee gets"),
    "knee_most": FigureKind("°", "walking: how far a knee bends", low=True),
    "thigh_back": FigureKind("°", "walking: how far a thigh goes behind the vertical", low=True),
    "thigh_front": FigureKind("°", "walking: how far a thigh goes before it", low=True),
    "ankle_rise": FigureKind("leg", "walking: how far an ankle rises, in lengths of a leg", low=True),
    "hips_high": FigureKind("leg", "walking: how high the hips are, in lengths of a leg", low=True),
    "hips_bob": FigureKind("leg", "walking: how far the hips go up and down, in lengths of a leg", low=True),
    "reaction_s": FigureKind("s", "falling: time from the blow, or from losing balance, until an arm moves"),
    "head_speed": FigureKind("m/s", "falling: speed of the head as it meets the floor; 0: it does not"),
    "head_first": FigureKind("", "falling: 1 where the head meets the floor before any other part but the legs"),
    "fall_bend": FigureKind("°", "falling: how far hips and knees give on the way down", low=True, high=False),
    "airborne_s": FigureKind("s", "longest time that nothing carries a body"),
    "support": FigureKind("", "share of its weight that contacts carry, mean", low=True),
    "help_force": FigureKind("weight", "force from outside, mean"),
    "help_torque": FigureKind("m·g·h", "torque from outside, mean"),
    "strength_used": FigureKind("", "torque as a share of strength, 99 % of the time and joints less"),
}
"""All figures, in the order in which they are told."""
PAIRS: Final = {"between_cm": "overlap_cm"}
"""Figures nobody can capture of one person, and whose range counts for them."""


def measure(footage: Footage, person: Figurant) -> list[FoundFigure]:
    """Measure all figures that there are of somebody, in the order of `FIGURES`."""
    found = {one.figure: one for one in _all(footage, person)}
    return [found[name] for name in FIGURES if name in found]


def _all(footage: Footage, person: Figurant) -> Iterator[FoundFigure]:
    others = [other for other in footage.people if other is not person]
    arms, rest = depths.overlaps(footage, person)
    yield _depth("arm_in_trunk_cm", arms)
    yield _depth("overlap_cm", rest)
    if others:
        yield _depth("between_cm", depths.between(footage, person, others))
    yield _depth("sink_cm", depths.sunk(footage, person))
    sources: tuple[Callable[[Footage, Figurant], Iterator[tuple[str, float, float | None, str]]], ...]
    sources = (limbs.turns, limbs.speeds, limbs.mirror, feet.standing, feet.carried, forces.used)
    if person.is_person:
        sources = (*sources, gait.walking, falls.falling)
    for source in sources:
        for name, value, time, what in source(footage, person):
            yield FoundFigure(name, float(value), None if time is None else float(time), what)


def _depth(name: str, depth: depths.Depth) -> FoundFigure:
    return FoundFigure(name, 100.0 * depth.depth, depth.time, depth.between)
