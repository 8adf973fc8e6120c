"""Named points on a person: palms, fingertips, elbows, heels, toes, chest, eyes and the top of the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stunt.character.anthropometry import MALE, Floats
from stunt.character.skeleton import SIDES, Landmarks, Person

_HALF = 0.5**0.5


@dataclass(frozen=True)
class Site:
    """One point.

    Attributes:
        name: Site name.
        bone: The bone it is on.
        position: In the frame of neutral standing [m], (3,).
        quat: Its orientation there, wxyz.
    """

    name: str
    bone: str
    position: Floats
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


def sites(person: Person, marks: Landmarks) -> list[Site]:
    """All sites of a person."""
    unit = person.height / MALE.height
    chest = np.array([0.115 * unit, 0.0, (marks.xiphion[2] + marks.shoulder[2]) / 2])
    found = [
        Site("head_top", "head", marks.vertex),
        Site("eyes", "head", marks.vertex + np.array([0.10, 0.0, -0.118]) * unit),
        Site("chest", "thorax", chest),
    ]
    for side, sign in SIDES:
        found += _of_side(unit * (0.92 if person.sex == "female" else 1.0), marks, side, np.array([1.0, sign, 1.0]))
    return found


def _of_side(unit: float, marks: Landmarks, side: str, flip: Floats) -> list[Site]:
    # A quarter turn about x takes z out of the palm: to the right on the left hand, to the left on the right one.
    out_of_palm = (_HALF, float(flip[1]) * _HALF, 0.0, 0.0)
    ankle = marks.ankle
    return [
        Site(f"{side}palm", f"{side}hand", flip * (marks.wrist + np.array([0.0, -0.013, -0.052]) * unit), out_of_palm),
        Site(f"{side}fingertips", f"{side}hand", flip * (marks.wrist + np.array([0.0, -0.007, -0.188]) * unit)),
        Site(f"{side}elbow", f"{side}forearm", flip * marks.elbow),
        Site(f"{side}heel", f"{side}foot", flip * np.array([marks.heel, ankle[1], 0.0])),
        Site(f"{side}toe", f"{side}foot", flip * np.array([marks.toe, ankle[1], 0.0])),
    ]
