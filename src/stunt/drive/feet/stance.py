"""When and where the feet of a motion stand: what is kept of a clip when its steps are laid over other ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.servo.memory import ServoTargets
from stunt.drive.feet.leg import Leg
from stunt.drive.feet.plant import floor_under, footing, sole_points
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches

SHORTEST_STEP: Final = 0.2
"""A foot that is put less far before the other one makes no step [m]."""
LONGEST_STEP: Final = 0.65
"""A foot that swings for longer [s] kicks, or is held up: no step."""


@dataclass(frozen=True, eq=False)
class Footfall:
    """One stand of one foot.

    Attributes:
        leg: Whose.
        start: First frame it stands in.
        end: One past the last.
        place: Middle of the sole where it stands flattest [m], (3,).
        sole: Corners of the sole then, from its middle [m], (points, 3).
        step: Whether it ends a step: the foot swung for a moment while another one stood.
    """

    leg: int
    start: int
    end: int
    place: Floats
    sole: Floats
    step: bool


@dataclass(frozen=True, eq=False)
class Gait:
    """All stands of a motion.

    Attributes:
        falls: In the order in which they begin.
        points: Corners of each leg's sole [m], (legs, F, points, 3).
        floor: Height of the floor of the motion [m].
        of_leg: Numbers of each leg's stands.
    """

    falls: tuple[Footfall, ...]
    points: tuple[Floats, ...]
    floor: float
    of_leg: tuple[tuple[int, ...], ...]

    @property
    def starts(self) -> list[int]:
        """First frames of the stands."""
        return [fall.start for fall in self.falls]


def gait_of(model: mujoco.MjModel, character: Character, rows: ServoTargets, legs: list[Leg]) -> Gait:
    """Find the stands of a motion.

    Args:
        model: The scene.
        character: Who.
        rows: What it does, orientations seen from the root.
        legs: Its legs.
    """
    points = [sole_points(model, character.root_body, leg, rows.turns, rows.path) for leg in legs]
    floor = floor_under(points)
    stands = [footing(p - [0.0, 0.0, floor], rows.fps).stands for p in points]
    falls = [fall for leg in range(len(legs)) for fall in _falls(leg, points[leg], stands, rows.fps)]
    falls.sort(key=lambda fall: (fall.start, fall.leg))
    of_leg = tuple(tuple(n for n, fall in enumerate(falls) if fall.leg == leg) for leg in range(len(legs)))
    return Gait(tuple(falls), tuple(points), floor, of_leg)


def _falls(leg: int, points: Floats, stands: list[np.ndarray], fps: float) -> list[Footfall]:
    found, before = list[Footfall](), None
    held = np.any([other for number, other in enumerate(stands) if number != leg], axis=0)
    for start, end in stretches(stands[leg]):
        flat = start + int(np.argmin(np.ptp(points[start:end, :, 2], axis=1)))
        sole = points[flat]
        place = sole.mean(axis=0)
        place[2] = sole[:, 2].min()
        short = before is not None and start - before <= LONGEST_STEP * fps
        found.append(Footfall(leg, start, end, place, sole - place, bool(short and held[max(start - 1, 0)])))
        before = end
    return found


def chain_after(gait: Gait, base: int, way: Floats, most: int) -> list[int]:
    """Return the numbers of the steps that follow a stand, each before the other foot; none where it is but one.

    Args:
        gait: The motion's stands.
        base: The one they follow.
        way: Direction in which it goes, (2,).
        most: How many are looked at.
    """
    chain, last = list[int](), gait.falls[base]
    for number in range(base + 1, min(base + 1 + most, len(gait.falls))):
        fall = gait.falls[number]
        if not fall.step or fall.leg == last.leg or (fall.place - last.place)[:2] @ way < SHORTEST_STEP:
            break
        chain.append(number)
        last = fall
    return chain if len(chain) > 1 else []


def reach_of(fall: Footfall, way: Floats) -> tuple[float, float]:
    """Return how far a sole goes back from its middle in a direction, and forward [m]."""
    along = fall.sole[:, :2] @ way
    return -float(along.min()), float(along.max())
