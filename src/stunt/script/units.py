"""Angles at the door: degrees outside, radians inside, and back again without losing a bit.

A number is degrees (of a velocity, degrees per second). A unit can be written behind it: `1.2 rad`, `0.05 m` for a
slide joint, `2 rad/s`, `0.1 m/s`.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from stunt.maths import rotations
from stunt.motion.pose import Quaternion
from stunt.schema import LARGEST, Node, number, vector, wrong

_MEASURE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*(deg|°|rad|m)(/s)?\s*\Z")
_ANGLE = "an angle in degrees (90), or with a unit ('1.57 rad', a slide joint's '0.05 m')"
_BALL = "an angle in degrees, a unit quaternion [w, x, y, z], or {rotvec: [x, y, z]} in degrees"
_RATE = "a velocity in degrees per second (90), or with a unit ('1.57 rad/s', a slide joint's '0.05 m/s')"
_QUATERNION_SLACK = 0.01  # what is left when people round to two or three decimals


class Quantity(NamedTuple):
    """A value in our units and the unit it was written in: `deg`, `rad`, `m`, or `ball` for a rotation."""

    value: float
    unit: str


def angle(node: Node) -> float:
    """Read an angle [rad] that cannot be a length."""
    measure = read_measure(node)
    if measure.unit == "m":
        raise wrong(node, "an angle in degrees (90), or '1.57 rad'")
    return measure.value


def read_measure(node: Node, per_second: bool = False) -> Quantity:
    """Read an angle [rad] or length [m], or with `per_second` the rate of one."""
    if not isinstance(node.value, str):
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise wrong(node, _RATE if per_second else _ANGLE)
        return Quantity(math.radians(number(node)), "deg")
    match = _MEASURE.match(node.value)
    if match is None or bool(match[3]) != per_second or not abs(float(match[1])) <= LARGEST:
        raise wrong(node, _RATE if per_second else _ANGLE)
    value, unit = float(match[1]), match[2]
    return Quantity(math.radians(value), "deg") if unit in ("deg", "°") else Quantity(value, unit)


def joint_angle(node: Node) -> tuple[float | Quaternion, str]:
    """Read what a pose says of one joint: a hinge's angle, a slide's position, or a ball's rotation; and its unit."""
    if isinstance(node.value, tuple):
        return quaternion(node), "ball"
    if isinstance(node.value, dict):
        return _from_rotation_vector(node), "ball"
    return read_measure(node)


def joint_velocity(node: Node) -> tuple[float | tuple[float, float, float], str]:
    """Read a joint's velocity [rad/s or m/s], a ball's as three numbers in its own frame; and its unit."""
    if isinstance(node.value, tuple):
        return spin(node), "ball"
    return read_measure(node, per_second=True)


def spin(node: Node) -> tuple[float, float, float]:
    """Read an angular velocity `[x, y, z]`, degrees per second outside [rad/s]."""
    if not isinstance(node.value, tuple) or len(node.value) != 3:
        raise wrong(node, "a list of 3 velocities in degrees per second")
    measures = [read_measure(x, per_second=True) for x in node.value]
    if any(m.unit == "m" for m in measures):
        raise wrong(node, "a list of 3 velocities in degrees per second")
    return measures[0].value, measures[1].value, measures[2].value


def quaternion(node: Node) -> Quaternion:
    """Read `[w, x, y, z]`, and take off what rounding left."""
    if len(node.value) != 4:
        raise wrong(node, _BALL)
    w, x, y, z = vector(node, (4,))
    length = math.hypot(w, x, y, z)
    if abs(length - 1.0) > _QUATERNION_SLACK:
        raise wrong(node, f"a quaternion [w, x, y, z] of length 1 (this one has {length:.4g})")
    if abs(length - 1.0) > 1e-12:  # dividing again what is already unit would move its last bit
        w, x, y, z = w / length, x / length, y / length, z / length
    return w, x, y, z


def _from_rotation_vector(node: Node) -> Quaternion:
    if tuple(node.value) != ("rotvec",):
        raise wrong(node, _BALL)
    vector_node = node.value["rotvec"]
    if not isinstance(vector_node.value, tuple) or len(vector_node.value) != 3:
        raise wrong(vector_node, "a list of 3 angles in degrees")
    w, x, y, z = rotations.from_rotation_vector([angle(part) for part in vector_node.value]).tolist()
    return w, x, y, z


def angle_to_data(value: float, suffix: str = "") -> float | int | str:
    """Return degrees that read back as exactly this many radians, or `x rad` where no number of degrees does."""
    degrees = math.degrees(value)
    candidates = [float(f"{degrees:.{digits}g}") for digits in range(1, 18)]  # the shortest that will do
    candidates += [math.nextafter(degrees, math.inf), math.nextafter(degrees, -math.inf)]
    for candidate in candidates:
        if math.radians(candidate) == value:
            return number_to_data(candidate)
    return f"{value!r} rad{suffix}"


def number_to_data(value: float) -> float | int:
    """Return a number as a person would write it: 3, not 3.0."""
    return int(value) if value == int(value) and abs(value) < 1e15 else float(value)


def measure_to_data(value: float, unit: str, suffix: str = "") -> float | int | str:
    """Return an angle or length as the script writes it."""
    return f"{float(value)!r} m{suffix}" if unit == "m" else angle_to_data(float(value), suffix)
