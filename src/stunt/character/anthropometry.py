"""Published body segment parameters of women and men, and the mechanics of cutting segments into pieces.

Masses, centres and radii of gyration are those of de Leva (1996), "Adjustments to Zatsiorsky-Seluyanov's segment
inertia parameters", Journal of Biomechanics 29(9), table 4. Breadths, ankle height and what else the table does not
say come from the sources named beside them; `docs/body_data.md` has the whole list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

Sex = Literal["male", "female"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """One row of the table."""

    mass: float  #: Share of the body mass [%]
    length: float  #: Length in the table's mean subject [mm]
    center: float  #: Distance of the centre of mass from the upper end [% of length]; for the foot from the heel
    sagittal: float  #: Radius of gyration about the front-to-back axis [% of length]
    transverse: float  #: Radius of gyration about the left-to-right axis [% of length]
    longitudinal: float  #: Radius of gyration about the segment's own axis [% of length]


@dataclass(frozen=True)
class Table:
    """The table of one sex."""

    height: float  #: Mean standing height of the subjects [m]
    mass: float  #: Their mean mass [kg]
    segments: Mapping[str, Segment]  #: The sixteen segments' ten kinds, by name
    suprasternale: float  #: Height of the upper edge of the breastbone above the hip joints [mm]
    mid_shoulder: float  #: Height of the shoulder joint centres above the hip joints [mm]
    shoulder: float  #: Half the distance between the shoulder joint centres [fraction of height]
    hip: float  #: Half the distance between the hip joint centres [fraction of height]


# Trunk from the seventh cervical vertebra (cervicale) over xiphion and omphalion to the middle of the hip joints,
# head from vertex to cervicale, hand from wrist to the third knuckle, shank from knee to ankle joint centre.
MALE = Table(
    height=1.741,
    mass=73.0,
    segments={
        "head": Segment(6.94, 242.9, 50.02, 30.3, 31.5, 26.1),
        "upper_trunk": Segment(15.96, 242.1, 50.66, 50.5, 32.0, 46.5),
        "middle_trunk": Segment(16.33, 215.5, 45.02, 48.2, 38.3, 46.8),
        "lower_trunk": Segment(11.17, 145.7, 61.15, 61.5, 55.1, 58.7),
        "upper_arm": Segment(2.71, 281.7, 57.72, 28.5, 26.9, 15.8),
        "forearm": Segment(1.62, 268.9, 45.74, 27.6, 26.5, 12.1),
        "hand": Segment(0.61, 86.2, 79.00, 62.8, 51.3, 40.1),
        "thigh": Segment(14.16, 422.2, 40.95, 32.9, 32.9, 14.9),
        "shank": Segment(4.33, 440.3, 43.95, 25.1, 24.6, 10.2),
        "foot": Segment(1.37, 258.1, 44.15, 25.7, 24.5, 12.4),
    },
    suprasternale=531.9,
    mid_shoulder=515.5,
    shoulder=0.112,
    hip=0.0495,
)
FEMALE = Table(
    height=1.735,
    mass=61.9,
    segments={
        "head": Segment(6.68, 243.7, 48.41, 27.1, 29.5, 26.1),
        "upper_trunk": Segment(15.45, 228.0, 50.50, 46.6, 31.4, 44.9),
        "middle_trunk": Segment(14.65, 205.3, 45.12, 43.3, 35.4, 41.5),
        "lower_trunk": Segment(12.47, 181.5, 49.20, 43.3, 40.2, 44.4),
        "upper_arm": Segment(2.55, 275.1, 57.54, 27.8, 26.0, 14.8),
        "forearm": Segment(1.38, 264.3, 45.59, 26.1, 25.7, 9.4),
        "hand": Segment(0.56, 78.0, 74.74, 53.1, 45.4, 33.5),
        "thigh": Segment(14.78, 368.5, 36.12, 36.9, 36.4, 16.2),
        "shank": Segment(4.81, 438.6, 43.52, 26.7, 26.3, 9.2),
        "foot": Segment(1.29, 228.3, 40.14, 29.9, 27.9, 13.9),
    },
    suprasternale=529.3,
    mid_shoulder=497.9,
    shoulder=0.110,
    hip=0.0500,
)
TABLES: Mapping[Sex, Table] = {"male": MALE, "female": FEMALE}

PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")

# Drillis & Contini (1966), as printed in Winter, Biomechanics and Motor Control of Human Movement
# [fractions of height].
ANKLE_HEIGHT = 0.039
FOOT_BREADTH = 0.055


def mass_share(table: Table, segment: str) -> float:
    """Share of the body mass one segment has, so that all sixteen add up to 1 exactly.

    The printed percentages of women add up to 99.99.
    """
    total = sum(row.mass * (2 if name in PAIRED else 1) for name, row in table.segments.items())
    return table.segments[segment].mass / total


@dataclass(frozen=True)
class Inertia:
    """Mass, centre [m] and inertia about the centre [kg·m²], (3, 3), in any frame parallel to the body's."""

    mass: float
    center: Floats
    tensor: Floats

    def about(self, point: Floats) -> Floats:
        """Inertia tensor about another point [kg·m²], (3, 3) (parallel-axis theorem)."""
        arm = self.center - point
        return self.tensor + self.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    def moved(self, offset: Floats) -> Inertia:
        """The same piece, seen from an origin `-offset` away."""
        return Inertia(self.mass, self.center + offset, self.tensor)


def together(pieces: Iterable[Inertia]) -> Inertia:
    """Return what rigidly joined pieces are as one. A piece of negative mass takes away."""
    pieces = list(pieces)
    mass = sum(piece.mass for piece in pieces)
    center = sum((piece.mass * piece.center for piece in pieces), np.zeros(3)) / mass
    tensor = sum((piece.about(center) for piece in pieces), np.zeros((3, 3)))
    return Inertia(mass, center, tensor)


def without(whole: Inertia, *pieces: Inertia) -> Inertia:
    """Return what is left of a segment when pieces are cut off; joined again they are the segment."""
    return together([whole, *(Inertia(-piece.mass, piece.center, -piece.tensor) for piece in pieces)])


def ellipsoid(mass: float, center: Iterable[float], semi_axes: Iterable[float]) -> Inertia:
    """A homogeneous ellipsoid with its axes along the frame's [kg, m, m]."""
    squares = np.square(np.array(list(semi_axes), dtype=float))
    diagonal = mass / 5.0 * (squares.sum() - squares)
    return Inertia(mass, np.array(list(center), dtype=float), np.diag(diagonal))


def weigh(body: mujoco.MjsBody, inertia: Inertia) -> None:
    """Give a body its mass properties."""
    t = 0.5 * (inertia.tensor + inertia.tensor.T)
    body.mass = inertia.mass
    body.ipos = inertia.center
    body.fullinertia = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
    body.explicitinertial = True
