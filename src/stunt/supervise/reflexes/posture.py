"""Legs of a standing body: feet where they should be, the pelvis where it should be, knees forward.

Postures by anatomical angles: how a person's joints are bent, in degrees, whatever the skeleton.

Limbs that reach: two bones between a joint and a point, the elbow or knee on the side it bends to.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stunt.drive.balance.soles import TwoFeet
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.maths.two_bone import knee_towards
from stunt.motion.clips.euler import from_euler
from stunt.supervise.reflexes.anatomy import Anatomy
from stunt.supervise.reflexes.senses import Felt

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


_MOST = 0.995  # of its length a limb is stretched at most: a straight one has no side to bend to


def limb(
    anatomy: Anatomy, side: str, kind: str, lifted: Floats, point: Floats, bend: Floats
) -> tuple[dict[str, Floats], float]:
    """Return turns of upper and lower bone from neutral, seen from the root, that reach a point.

    Args:
        anatomy: Whose.
        side: `l` or `r`.
        kind: `arm` or `leg`.
        lifted: How bodies are turned, seen from the root (the parent of the limb counts), (B, 4).
        point: Where wrist or ankle should be, seen from the root in its neutral axes [m], (3,).
        bend: Direction elbow or knee points to, likewise, (3,).

    Returns:
        The turns by body name, and how far short the limb falls [m].
    """
    upper, lower = (f"{side}_{part}" for part in (("upper_arm", "forearm") if kind == "arm" else ("thigh", "shank")))
    joint = anatomy.place(lifted, anatomy.number(upper))
    one, other = anatomy.length(upper), anatomy.length(lower)
    way = np.asarray(point, float) - joint
    far, most = float(np.linalg.norm(way)), _MOST * (one + other)
    down = way / max(far, 1e-9)
    out = np.asarray(bend, float) - float(np.dot(bend, down)) * down
    (x, y, z), (i, j, k) = way.tolist(), out.tolist()
    found = knee_towards(one, other, x, y, z, i, j, k, 1.05 * abs(one - other) + 0.02, most)
    elbow, end = (np.array(place) for place in found)
    # Knees bend forward and shanks fold back; elbows point back and forearms fold forward.
    ahead = out if kind == "leg" else -out
    return {upper: _along(elbow, ahead), lower: _along(end - elbow, ahead)}, max(0.0, far - most)


def _along(down: Floats, ahead: Floats) -> Floats:
    """Return the turn that points a hanging bone along `down` with its front toward `ahead`, (4,)."""
    z = -down / np.linalg.norm(down)
    y = np.cross(z, ahead)
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return rotations.from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))


def with_limb(anatomy: Anatomy, lifted: Floats, turned: dict[str, Floats], end: Floats | None = None) -> Floats:
    """Return bodies with a limb put in; what hangs on its lower bone follows, turned as `end` says or along it."""
    result = lifted.copy()
    for name, value in turned.items():
        result[anatomy.number(name)] = value
    last = anatomy.number(list(turned)[-1])
    for k in range(last + 1, len(anatomy.names)):
        if anatomy.parents[k] == last:
            result[k] = result[last] if end is None else end
        elif _hangs(anatomy, k, last):
            result[k] = result[anatomy.parents[k]]
    return result


def _hangs(anatomy: Anatomy, body: int, on: int) -> bool:
    while body > on:
        body = anatomy.parents[body]
    return body == on


SOLE = 0.085
"""Height of an ankle over the ground [m]."""


def feet(anatomy: Anatomy, felt: Felt) -> dict[str, Floats]:
    """Return where the ankles are [m], by side."""
    return {side: felt.places[anatomy.number(f"{side}_foot")].copy() for side in SIDES}


def spots_for(anatomy: Anatomy, felt: Felt) -> dict[str, Floats]:
    """Return where feet should stand: those on the ground where they are, one in the air below its hip [m]."""
    spots = feet(anatomy, felt)
    for side in SIDES:
        if not felt.touching & {f"{side}_foot", f"{side}_toe"}:
            hip = felt.places[anatomy.number(f"{side}_thigh")]
            out = 0.03 * sign_of(side) * np.array([-np.sin(felt.facing), np.cos(felt.facing)])
            spots[side][:2] = hip[:2] + out
        spots[side][2] = SOLE
    return spots


def apart(anatomy: Anatomy, felt: Felt) -> float:
    """Return how far the feet are from each other over the ground [m]."""
    left, right = feet(anatomy, felt).values()
    return float(np.linalg.norm((left - right)[:2]))


def two_feet(anatomy: Anatomy, felt: Felt) -> TwoFeet:
    """Return the left foot and the right."""
    ankles = feet(anatomy, felt)
    return TwoFeet(ankles["l"], ankles["r"], felt.facing)


def middle(anatomy: Anatomy, felt: Felt) -> Floats:
    """Return the point on the ground between the feet, under the middle of their soles [m], (2,)."""
    return two_feet(anatomy, felt).middle


def over_feet(anatomy: Anatomy, felt: Felt) -> Floats:
    """Return where the root of a standing body should be so that its weight comes to rest over its feet [m], (3,)."""
    between, back = middle(anatomy, felt), felt.com[:2] - felt.root[:2]
    return np.append(between - 0.6 * (felt.capture - between) - back, 0.975 * anatomy.height)


def past_feet(anatomy: Anatomy, felt: Felt) -> float:
    """Return how far the capture point is outside the feet [m]; below 0 it is inside."""
    soles: TwoFeet = two_feet(anatomy, felt)
    return soles.outside(felt.capture)


def standing_on(
    anatomy: Anatomy, lifted: Floats, spots: dict[str, Floats], root: Floats, place: Floats, facing: float
) -> Floats:
    """Return bodies with legs that stand on spots.

    Args:
        anatomy: Whose.
        lifted: How bodies are turned, the root's own in the world, (B, 4).
        spots: Where the ankles should be [m], by side.
        root: How the root is (or should be) turned from neutral, (4,).
        place: Where the root is (or should be) [m], (3,).
        facing: Where feet point [rad].
    """
    back = rotations.conjugate(root)
    for side in SIDES:
        spot = rotations.rotate(back, spots[side] - place)
        foot = rotations.multiply(
            rotations.from_rotation_vector(np.array([0.0, 0.0, facing])), turn(0.0, 0.0, 8.0 * sign_of(side))
        )
        knee = rotations.rotate(back, np.array([np.cos(facing), np.sin(facing), 0.0]))
        turned, _ = limb(anatomy, side, "leg", lifted, spot, knee)
        lifted = with_limb(anatomy, lifted, turned, rotations.multiply(back, foot))
    return lifted
