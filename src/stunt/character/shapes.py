"""What a person looks like, and touches the world with: the shapes on each bone. They carry no mass.

Shapes are written for the left half of a man of the table's mean size, in metres, in the frame of neutral standing
(origin on the ground below the hips), and scaled to the person: along with height, across with girth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stunt.character.anthropometry import FOOT_BREADTH, MALE
from stunt.character.skeleton import SIDES, Landmarks, Person

Point = tuple[float, float, float]
Color = tuple[float, float, float, float]

SKIN: Color = (0.87, 0.69, 0.57, 1.0)
HAIR: Color = (0.29, 0.21, 0.17, 1.0)
LIPS: Color = (0.72, 0.47, 0.42, 1.0)
EYE: Color = (0.12, 0.11, 0.12, 1.0)
SHIRT: Color = (0.36, 0.53, 0.64, 1.0)
TROUSERS: Color = (0.28, 0.30, 0.36, 1.0)
SHOE: Color = (0.22, 0.20, 0.20, 1.0)
SOLE: Color = (0.46, 0.42, 0.38, 1.0)
STAND: Color = (0.62, 0.60, 0.57, 1.0)


@dataclass(frozen=True)
class Shape:
    """One primitive, in the frame of neutral standing."""

    kind: str  #: `capsule`, `ellipsoid`, `box` or `cylinder`
    start: Point  #: Centre [m]; for capsules one end of the axis
    #: Radius (capsule), semi-axes (ellipsoid), half edges (box), radius and half height (cylinder) [m].
    size: tuple[float, ...]
    color: Color  #: RGBA in 0–1
    end: Point | None = None  #: Other end of the axis [m]; capsules only
    solid: bool = True  #: Whether it touches anything; features such as eyes do not

    def mirrored(self) -> Shape:
        """The same on the right side."""
        end = None if self.end is None else (self.end[0], -self.end[1], self.end[2])
        return replace(self, start=(self.start[0], -self.start[1], self.start[2]), end=end)


class Tailor:
    """Cuts shapes to a person's measure."""

    def __init__(self, person: Person, marks: Landmarks) -> None:
        self.person = person
        self.marks = marks
        self.unit = person.height / MALE.height
        slim = 0.92 if person.sex == "female" else 1.0  # women's limbs are thinner than a man's of equal girth factor
        girth = min(max(person.girth, 0.6), 1.45)  # beyond that, shapes would swallow each other; masses do not care
        self.thick = self.unit * girth * slim
        # Across the trunk a heavy person grows less than in depth; shoulders and hips stay apart for hanging arms.
        self.wide = self.unit * (0.5 + 0.5 * girth)
        self.deep = self.unit * girth**1.5

    def capsule(self, start: Point, end: Point, radius: float, color: Color, solid: bool = True) -> Shape:
        """A capsule from `start` to `end` [m], radius in the mean man's metres."""
        return Shape("capsule", _floats(start), (radius * self.thick,), color, _floats(end), solid)

    def blob(self, center: Point, semi: Point, color: Color, solid: bool = True) -> Shape:
        """An ellipsoid of the trunk: depth, half width and half height in the mean man's metres."""
        size = (semi[0] * self.deep, semi[1] * self.wide, semi[2] * self.unit)
        return Shape("ellipsoid", _floats(center), size, color, solid=solid)

    def muscle(self, center: Point, semi: Point, color: Color) -> Shape:
        """An upright ellipsoid of a limb: thick with girth, long with height."""
        size = (semi[0] * self.thick, semi[1] * self.thick, semi[2] * self.unit)
        return Shape("ellipsoid", _floats(center), size, color)

    def narrow(self, half: float, arm: float, from_middle: float = 0.0) -> float:
        """A half width [mean man's metres] cut to the room that hanging arms leave.

        Heavy people are therefore built deeper rather than wider, and no arm rests inside its own hip.

        Args:
            half: The width wanted.
            arm: Radius of the arm at that height.
            from_middle: Where the shape's own middle is, off the body's [m].
        """
        room = float(self.marks.shoulder[1]) - arm * self.thick - 0.014 * self.unit - from_middle
        return min(half, room / (self.thick if from_middle else self.wide))

    def feature(self, center: Point, semi: Point, color: Color, solid: bool = True) -> Shape:
        """An ellipsoid that grows with height only, as heads do."""
        size = (semi[0] * self.unit, semi[1] * self.unit, semi[2] * self.unit)
        return Shape("ellipsoid", _floats(center), size, color, solid=solid)


def _floats(point: Point) -> Point:
    return (float(point[0]), float(point[1]), float(point[2]))


def shapes(person: Person, marks: Landmarks) -> dict[str, list[Shape]]:
    """Shapes of every bone, by bone name."""
    tailor = Tailor(person, marks)
    found = {**_trunk(tailor), **_head(tailor)}
    for bone, left in {**_arm(tailor), **_leg(tailor)}.items():
        for side, sign in SIDES:
            found[f"{side}{bone}"] = left if sign > 0 else [shape.mirrored() for shape in left]
    return found


def _trunk(t: Tailor) -> dict[str, list[Shape]]:
    m, u = t.marks, t.unit
    hip, navel, xiphion, top = (float(p[2]) for p in (m.hip, m.navel, m.xiphion, m.shoulder))
    chest = max(top + 0.055 * u, float(m.cervicale[2]) - 0.045 * u)
    ribs, middle = (chest - xiphion) / 2 / u, (xiphion - navel) / 2 / u + 0.10
    wide, belly = (0.142, 0.130) if t.person.sex == "female" else (0.156, 0.143)
    belly, wide = t.narrow(belly, 0.044), t.narrow(wide, 0.049)
    buttock = (0.088, t.narrow(0.084, 0.046, 0.068 * u), 0.098)
    seat = [t.blob((-0.040 * u, s * 0.068 * u, hip + 0.004 * u), buttock, TROUSERS) for _, s in SIDES]
    yoke = max(t.narrow(0.134, 0.058) * t.wide - 0.066 * t.thick, 0.01 * u)  # round ends reach between the arms
    return {
        "pelvis": [t.blob((-0.002 * u, 0, hip + 0.045 * u), (0.120, t.narrow(0.164, 0.044), 0.118), TROUSERS), *seat],
        "waist": [t.blob((0.002 * u, 0, navel - 0.010 * u), (0.110, belly + 0.004, 0.115), SHIRT)],
        "lumbar": [t.blob((0.002 * u, 0, (navel + xiphion) / 2), (0.110, belly, middle), SHIRT)],
        "thorax": [
            t.blob((-0.002 * u, 0, xiphion + (ribs - 0.056) * u), (0.130, wide, ribs + 0.056), SHIRT),
            t.capsule((-0.020 * u, -yoke, top), (-0.020 * u, yoke, top), 0.066, SHIRT),
            *_bust(t, xiphion),
        ],
    }


def _bust(t: Tailor, xiphion: float) -> list[Shape]:
    if t.person.sex == "male" or t.person.height < 1.45:  # none on men and children
        return []
    semi, x, z = (0.050, 0.062, 0.060), 0.072 * t.deep, xiphion + 0.030 * t.unit
    return [t.blob((x, s * 0.066 * t.unit, z), semi, SHIRT) for _, s in SIDES]


def _head(t: Tailor) -> dict[str, list[Shape]]:
    m, u, top = t.marks, t.unit, float(t.marks.vertex[2])
    neck = 0.050 if t.person.sex == "female" else 0.056
    low, high = (-0.030 * u, 0, float(m.cervicale[2]) - 0.035 * u), (-0.004 * u, 0, float(m.head[2]) + 0.010 * u)
    skull = t.feature((0.004 * u, 0, top - 0.104 * u), (0.098, 0.076, 0.104), SKIN)
    jaw = t.feature((0.024 * u, 0, top - 0.146 * u), (0.070, 0.062, 0.080), SKIN)
    return {"neck": [t.capsule(low, high, neck, SKIN)], "head": [skull, jaw, *_face(t, top)]}


def _face(t: Tailor, top: float) -> list[Shape]:
    """Hair, nose, eyes and ears: they show where the head looks and touch nothing."""
    u = t.unit
    found = [
        t.feature((-0.006 * u, 0, top - 0.080 * u), (0.099, 0.081, 0.086), HAIR, False),
        t.feature((-0.030 * u, 0, top - 0.105 * u), (0.076, 0.079, 0.088), HAIR, False),
        t.feature((0.097 * u, 0, top - 0.140 * u), (0.015, 0.010, 0.021), SKIN, False),
        t.feature((0.080 * u, 0, top - 0.182 * u), (0.010, 0.021, 0.004), LIPS, False),
    ]
    for _, s in SIDES:
        found.append(t.feature((0.089 * u, s * 0.031 * u, top - 0.117 * u), (0.009, 0.011, 0.007), EYE, False))
        found.append(t.feature((-0.004 * u, s * 0.077 * u, top - 0.126 * u), (0.017, 0.009, 0.029), SKIN, False))
    return found


def _arm(t: Tailor) -> dict[str, list[Shape]]:
    m, u = t.marks, t.unit
    x, y, shoulder = (float(v) for v in m.shoulder)
    elbow, wrist, neck = float(m.elbow[2]), float(m.wrist[2]), float(m.cervicale[2])
    inner, outer = (
        (x - 0.006 * u, 0.038 * u, min(neck - 0.048 * u, shoulder + 0.062 * u)),
        (x, y - 0.020 * u, shoulder + 0.014 * u),
    )
    return {
        "clavicle": [t.capsule(inner, outer, 0.043, SHIRT)],
        "upper_arm": [
            t.muscle((x, y, shoulder - 0.026 * u), (0.058, 0.054, 0.088), SHIRT),
            t.muscle((x, y, shoulder - 0.090 * u), (0.051, 0.048, 0.118), SHIRT),
            t.capsule((x, y, shoulder - 0.100 * u), (x, y, elbow), 0.0385, SKIN),
        ],
        "forearm": [
            t.muscle((x, y, elbow - 0.075 * u), (0.044, 0.041, 0.135), SKIN),
            t.capsule((x, y, elbow), (x, y, wrist + 0.005 * u), 0.0275, SKIN),
        ],
        "hand": _hand(t, x, y, wrist),
    }


def _hand(t: Tailor, x: float, y: float, wrist: float) -> list[Shape]:
    """Palm to the thigh, thumb forward, fingers a little curled."""
    u = t.unit * (0.92 if t.person.sex == "female" else 1.0)
    palm = Shape("box", (x, y, wrist - 0.050 * u), (0.039 * u, 0.0125 * u, 0.044 * u), SKIN)
    thumb = (x + 0.028 * u, y - 0.004 * u, wrist - 0.028 * u), (x + 0.059 * u, y - 0.006 * u, wrist - 0.085 * u)
    return [palm, t.capsule(*thumb, 0.0125, SKIN), *(_finger(t, x, y, wrist, u, i) for i in (1.5, 0.5, -0.5, -1.5))]


def _finger(t: Tailor, x: float, y: float, wrist: float, u: float, place: float) -> Shape:
    reach = (0.180 - 0.010 * abs(place - 0.4)) * u
    base = (x + place * 0.0200 * u, y, wrist - 0.088 * u)
    return t.capsule(base, (x + place * 0.0205 * u, y - 0.007 * u, wrist - reach), 0.0097, SKIN)


def _leg(t: Tailor) -> dict[str, list[Shape]]:
    m, u = t.marks, t.unit
    hip, knee, ankle = ([float(v) for v in p] for p in (m.hip, m.knee, m.ankle))
    y, thigh, shank = hip[1], hip[2] - knee[2], knee[2] - ankle[2]
    upper = (0.102 if t.person.sex == "male" else 0.112, t.narrow(0.077, 0.033, y), 0.50 * thigh / u)
    calf = (0.060, 0.055, 0.42 * shank / u)
    return {
        "thigh": [
            t.muscle((hip[0] + 0.002 * u, y, hip[2] - 0.30 * thigh), upper, TROUSERS),
            t.capsule((hip[0], y, hip[2] - 0.25 * thigh), (knee[0], y, knee[2]), t.narrow(0.056, 0.030, y), TROUSERS),
        ],
        "shank": [
            t.muscle((knee[0] - 0.014 * u, y, knee[2] - 0.27 * shank), calf, TROUSERS),
            t.capsule((knee[0], y, knee[2] - 0.01 * u), (ankle[0], y, ankle[2] + 0.020 * u), 0.041, TROUSERS),
        ],
        "foot": _foot(t, ankle),
    }


def _foot(t: Tailor, ankle: list[float]) -> list[Shape]:
    """A shoe: a flat sole that stands, a rounded toe that also reaches the ground, and an upper."""
    u, y, heel = t.unit, ankle[1], t.marks.heel
    length, half = t.marks.toe - heel, FOOT_BREADTH * t.person.height / 2
    sole = 0.010 * u
    return [
        Shape("box", (heel + 0.455 * length, y, sole), (0.425 * length, 0.80 * half, sole), SOLE),
        Shape("ellipsoid", (heel + 0.76 * length, y, 0.029 * u), (0.24 * length, half, 0.029 * u), SHOE),
        Shape("ellipsoid", (heel + 0.26 * length, y, 0.048 * u), (0.26 * length, 0.82 * half, 0.047 * u), SHOE),
        Shape("capsule", (ankle[0] + 0.01 * u, y, 0.055 * u), (0.036 * u,), SHOE, (heel + 0.66 * length, y, 0.039 * u)),
    ]
