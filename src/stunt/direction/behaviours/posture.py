"""Postures by anatomical angles: how a person's joints are bent, in degrees, whatever the skeleton."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stunt import rotations
from stunt.motion.formats.euler import from_euler
from stunt.rotations import Floats

Posture = Mapping[str, Floats]
"""Turn of each named body against its parent, from the neutral stance (see `anatomy`); others are as there."""
SPINE = ("lumbar", "spine2", "thorax")
SIDES = ("l", "r")


def turn(pitch: float = 0.0, roll: float = 0.0, yaw: float = 0.0) -> Floats:
    """Return a turn by degrees: yaw to the left, then pitch forward, then roll to the right, (4,)."""
    return from_euler(np.radians([yaw, pitch, roll]), "ZYX")


def sign_of(side: str) -> float:
    """Return +1 for the left, −1 for the right."""
    return 1.0 if side == "l" else -1.0


def trunk(flexion: float, bend: float = 0.0, twist: float = 0.0) -> dict[str, Floats]:
    """Bend the back forward, to the right, and twist it to the left [°], shared among its joints."""
    return {name: turn(flexion / 3.0, bend / 3.0, twist / 3.0) for name in SPINE}


def head(flexion: float, bend: float = 0.0, twist: float = 0.0) -> dict[str, Floats]:
    """Bend neck and head forward (chin to the chest), to the right, and twist to the left [°]."""
    half = turn(0.5 * flexion, 0.5 * bend, 0.5 * twist)
    return {"neck": half, "head": half}


def arm(side: str, flexion: float, abduction: float = 0.0, twist: float = 0.0, elbow: float = 0.0) -> dict[str, Floats]:
    """Lift an arm forward and sideways, turn it inward, bend the elbow [°]."""
    sign = sign_of(side)
    upper = from_euler(np.radians([-flexion, sign * abduction, -sign * twist]), "YXZ")
    return {f"{side}_upper_arm": upper, f"{side}_forearm": turn(-elbow)}


def leg(side: str, hip: float, knee: float, ankle: float = 0.0, abduction: float = 0.0) -> dict[str, Floats]:
    """Flex hip and knee, lift the toes, spread the leg [°]."""
    upper = from_euler(np.radians([-hip, sign_of(side) * abduction, 0.0]), "YXZ")
    return {f"{side}_thigh": upper, f"{side}_shank": turn(knee), f"{side}_foot": turn(-ankle)}


def together(*pieces: Posture) -> dict[str, Floats]:
    """Return one posture of several; later ones win."""
    return {name: value for piece in pieces for name, value in piece.items()}


def between(one: Posture, other: Posture, share: float) -> dict[str, Floats]:
    """Return a posture on the way from one to another; share 0 is the one, 1 the other."""
    straight = np.array([1.0, 0.0, 0.0, 0.0])
    names = dict.fromkeys((*one, *other))
    pairs = [np.stack([posture.get(name, straight) for name in names]) for posture in (one, other)]
    turns = rotations.slerp(pairs[0], pairs[1], np.full(len(names), share))
    return dict(zip(names, turns, strict=True))


def standing() -> dict[str, Floats]:
    """Return an easy stance."""
    limbs = [piece for side in SIDES for piece in (arm(side, 4.0, 8.0, 10.0, 16.0), leg(side, 8.0, 14.0, 6.0, 2.0))]
    return together(*limbs, trunk(4.0))


def tucked(tightness: float) -> dict[str, Floats]:
    """Return a ball of a person: knees to the chest, arms round the head; tightness 0 (loose) to 1."""
    t = min(max(tightness, 0.0), 1.0)
    arms = [arm(side, 70.0 + 35.0 * t, 12.0, 25.0, 95.0 + 35.0 * t) for side in SIDES]
    legs = [leg(side, 50.0 + 60.0 * t, 60.0 + 60.0 * t) for side in SIDES]
    return together(*arms, *legs, trunk(20.0 + 40.0 * t), head(25.0 + 30.0 * t))
