"""Where a person's joints are in neutral standing, and what hangs on each: bones with their mass, centre and inertia.

The world frame here has its origin on the ground below the middle of the hips, x forward, y to the left, z up. Every
bone's own frame sits in its upper joint, parallel to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stunt.character.anthropometry import (
    ANKLE_HEIGHT,
    TABLES,
    Floats,
    Inertia,
    Sex,
    Table,
    ellipsoid,
    mass_share,
    without,
)

SIDES = (("l_", 1.0), ("r_", -1.0))

# Shares of a table segment that are given to a smaller bone: the neck of the head segment (a flesh cylinder of the
# neck's size), one shoulder girdle of the upper trunk (clavicle, scapula and their muscles), the waist of the lower
# trunk.
NECK_SHARE = 0.17
GIRDLE_SHARE = 0.08
WAIST_SHARE = 0.30

# Heights and depths of joint centres the segment table does not give [fractions of height].
HEAD_JOINT_BELOW_VERTEX = 0.087  # atlanto-occipital joint, a little below the ear canal
SACRUM = 0.60  # lumbosacral joint, share of the way from the hip axis to the navel
HEEL_TO_ANKLE = 0.27  # share of the foot's length
KNEE_BACK, ANKLE_BACK = 0.006, 0.027  # quiet standing: the gravity line runs 4 to 5 cm before the ankle


@dataclass(frozen=True)
class Person:
    """Who is to be built: sex, standing height [m] and mass [kg]."""

    sex: Sex
    height: float
    mass: float

    @cached_property
    def table(self) -> Table:
        """The anthropometric table in force."""
        return TABLES[self.sex]

    @cached_property
    def girth(self) -> float:
        """How much thicker than the table's mean person scaled to that height, as a factor on radii."""
        return math.sqrt((self.mass / self.table.mass) / (self.height / self.table.height) ** 3)

    def length(self, segment: str) -> float:
        """Length of a segment [m]; all lengths grow with height."""
        return self.table.segments[segment].length / 1000.0 * self.height / self.table.height

    def inertia(self, segment: str, center: Floats) -> Inertia:
        """A table segment whose centre is at `center` [m]: axes x sagittal, y transverse, z longitudinal."""
        row, length = self.table.segments[segment], self.length(segment)
        mass = self.mass * mass_share(self.table, segment)
        radii = np.array([row.sagittal, row.transverse, row.longitudinal]) / 100.0 * length
        return Inertia(mass, np.asarray(center, dtype=float), np.diag(mass * radii**2))


@dataclass(frozen=True)
class Bone:
    """One rigid part."""

    name: str  #: Body name
    parent: str  #: Name of the bone it hangs on; empty for the root
    origin: Floats  #: Its upper joint in neutral standing [m], (3,), world frame
    inertia: Inertia  #: Mass, centre and inertia in its own frame


def _down(start: Floats, length: float, back: float) -> Floats:
    """End of a segment of that length that hangs down, ending `back` behind its start."""
    return np.asarray(start + np.array([-back, 0.0, -math.sqrt(length**2 - back**2)]))


@dataclass(frozen=True)
class Landmarks:
    """Joint centres and end points in neutral standing [m], (3,) each, left side where there are two."""

    hip: Floats
    knee: Floats
    ankle: Floats
    sacrum: Floats
    navel: Floats
    xiphion: Floats
    cervicale: Floats
    head: Floats
    vertex: Floats
    sternum: Floats
    shoulder: Floats
    elbow: Floats
    wrist: Floats
    heel: float
    toe: float


def landmarks(person: Person) -> Landmarks:
    """Place the joint centres.

    Legs, head and arms have the table's lengths. The trunk takes what is left between them: the table's trunk lengths
    were measured along a slanting line, and in men add up to 6 % more than the stature leaves.
    """
    height, table = person.height, person.table
    shank, thigh = person.length("shank"), person.length("thigh")
    knee_back, ankle_back = KNEE_BACK * height, ANKLE_BACK * height
    shank_z = math.sqrt(shank**2 - (ankle_back - knee_back) ** 2)
    hip_z = ANKLE_HEIGHT * height + shank_z + math.sqrt(thigh**2 - knee_back**2)
    hip = np.array([0.0, table.hip * height, hip_z])
    knee = _down(hip, thigh, knee_back)
    ankle = _down(knee, shank, ankle_back - knee_back)
    neck_z = height - person.length("head")
    trunk = [person.length(name) for name in ("lower_trunk", "middle_trunk", "upper_trunk")]
    shorter = (neck_z - hip_z) / sum(trunk)
    navel_z, xiphion_z, _ = hip_z + np.cumsum(trunk) * shorter
    millimetre = height / table.height / 1000.0 * shorter
    shoulder = np.array([-0.010 * height, table.shoulder * height, hip_z + table.mid_shoulder * millimetre])
    sternum_z = hip_z + table.suprasternale * millimetre - 0.006 * height  # the joint lies a little below the edge
    elbow = _down(shoulder, person.length("upper_arm"), 0.0)
    heel = float(ankle[0]) - HEEL_TO_ANKLE * person.length("foot")
    return Landmarks(
        hip=hip,
        knee=knee,
        ankle=ankle,
        sacrum=np.array([-0.014 * height, 0.0, hip_z + SACRUM * (navel_z - hip_z)]),
        navel=np.array([-0.014 * height, 0.0, navel_z]),
        xiphion=np.array([-0.018 * height, 0.0, xiphion_z]),
        cervicale=np.array([-0.018 * height, 0.0, neck_z]),
        head=np.array([-0.002 * height, 0.0, (1.0 - HEAD_JOINT_BELOW_VERTEX) * height]),
        vertex=np.array([0.0, 0.0, height]),
        sternum=np.array([0.018 * height, 0.0145 * height, sternum_z]),
        shoulder=shoulder,
        elbow=elbow,
        wrist=_down(elbow, person.length("forearm"), 0.0),
        heel=heel,
        toe=heel + person.length("foot"),
    )


def skeleton(person: Person) -> tuple[Bone, ...]:
    """All bones of a person, parents before children."""
    marks = landmarks(person)
    bones = [*_trunk(person, marks)]
    for side, sign in SIDES:
        flip = np.array([1.0, sign, 1.0])
        bones += [*_arm(person, marks, side, flip), *_leg(person, marks, side, flip)]
    return tuple(bones)


def _between(person: Person, segment: str, upper: Floats, lower: Floats, x: float = 0.0) -> Inertia:
    """A trunk segment: its centre on the body's middle axis, between two heights."""
    share = person.table.segments[segment].center / 100.0
    return person.inertia(segment, np.array([x, 0.0, upper[2] + share * (lower[2] - upper[2])]))


def _bone(name: str, parent: str, origin: Floats, inertia: Inertia) -> Bone:
    return Bone(name, parent, origin, inertia.moved(-origin))


def _trunk(person: Person, marks: Landmarks) -> list[Bone]:
    hips = np.array([0.0, 0.0, marks.hip[2]])
    lower = _between(person, "lower_trunk", marks.navel, hips)
    upper = _between(person, "upper_trunk", marks.cervicale, marks.xiphion)
    head = _between(person, "head", marks.vertex, marks.cervicale, x=0.004 * person.height)
    waist, neck = _waist(person, marks, lower), _neck(person, marks, head)
    girdles = [_girdle(person, marks, upper, sign) for _, sign in SIDES]
    return [
        _bone("pelvis", "", hips, without(lower, waist)),
        _bone("waist", "pelvis", marks.sacrum, waist),
        _bone("lumbar", "waist", marks.navel, _between(person, "middle_trunk", marks.xiphion, marks.navel)),
        _bone("thorax", "lumbar", marks.xiphion, without(upper, *girdles)),
        _bone("neck", "thorax", marks.cervicale, neck),
        _bone("head", "neck", marks.head, without(head, neck)),
    ]


def _waist(person: Person, marks: Landmarks, lower: Inertia) -> Inertia:
    size = person.height, person.girth
    center = (0.0, 0.0, (marks.sacrum[2] + marks.navel[2]) / 2)
    return ellipsoid(WAIST_SHARE * lower.mass, center, _round(*size, 0.052, 0.070, 0.023))


def _neck(person: Person, marks: Landmarks, head: Inertia) -> Inertia:
    center = (marks.cervicale + marks.head) / 2
    return ellipsoid(NECK_SHARE * head.mass, center, _round(person.height, person.girth, 0.034, 0.034, 0.037))


def _girdle(person: Person, marks: Landmarks, upper: Inertia, sign: float) -> Inertia:
    center = (0.35 * marks.sternum + 0.65 * marks.shoulder) * np.array([1.0, sign, 1.0])
    return ellipsoid(GIRDLE_SHARE * upper.mass, center, _round(person.height, person.girth, 0.024, 0.034, 0.022))


def _round(height: float, girth: float, *fractions: float) -> tuple[float, ...]:
    return tuple(height * girth * fraction for fraction in fractions)


def _arm(person: Person, marks: Landmarks, side: str, flip: Floats) -> list[Bone]:
    sternum, shoulder, elbow, wrist = (p * flip for p in (marks.sternum, marks.shoulder, marks.elbow, marks.wrist))
    upper = _between(person, "upper_trunk", marks.cervicale, marks.xiphion)
    girdle = _girdle(person, marks, upper, float(flip[1]))
    palm = person.inertia("hand", _along(person, "hand", wrist, wrist - [0.0, 0.0, person.length("hand")]))
    # The table's hand has its palm forward; ours, at the thigh, is turned a quarter: swap the two cross axes.
    turned = Inertia(palm.mass, palm.center, np.diag(np.diag(palm.tensor)[[1, 0, 2]]))
    return [
        _bone(f"{side}clavicle", "thorax", sternum, girdle),
        _limb(person, f"{side}upper_arm", f"{side}clavicle", shoulder, elbow),
        _limb(person, f"{side}forearm", f"{side}upper_arm", elbow, wrist),
        _bone(f"{side}hand", f"{side}forearm", wrist, turned),
    ]


def _along(person: Person, segment: str, upper: Floats, lower: Floats) -> Floats:
    return np.asarray(upper + person.table.segments[segment].center / 100.0 * (lower - upper))


def _limb(person: Person, name: str, parent: str, upper: Floats, lower: Floats) -> Bone:
    segment = name[2:]
    return _bone(name, parent, upper, person.inertia(segment, _along(person, segment, upper, lower)))


def _leg(person: Person, marks: Landmarks, side: str, flip: Floats) -> list[Bone]:
    hip, knee, ankle = (p * flip for p in (marks.hip, marks.knee, marks.ankle))
    heel, toe = (np.array([x, ankle[1], 0.45 * ankle[2]]) for x in (marks.heel, marks.toe))
    foot = person.inertia("foot", _along(person, "foot", heel, toe))
    # The foot's long axis lies along x, its sagittal (front-to-back of the standing leg) axis points up.
    lying = Inertia(foot.mass, foot.center, np.diag(np.diag(foot.tensor)[[2, 1, 0]]))
    return [
        _limb(person, f"{side}thigh", "pelvis", hip, knee),
        _limb(person, f"{side}shank", f"{side}thigh", knee, ankle),
        _bone(f"{side}foot", f"{side}shank", ankle, lying),
    ]
