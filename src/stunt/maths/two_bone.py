"""Two bones between a joint and a point: hip, knee and ankle, or shoulder, elbow and wrist. Pure geometry, compiled.

The bones and the line from the first joint to the end form a triangle whose sides are known; what remains free is which
way the middle joint points. Either a limb that is somewhere is bent (`bend`): the plane it is in is turned along with
it, so that the middle joint turns about the axis it bends about, as knees do. Or the side is given (`knee_towards`).
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import Quaternion, Vector, exponential, product, rotated, turn_between

EXACT: Final = 0.995
"""Share of its length up to which a limb reaches a point exactly. Nearer to 1 a knee snaps: what its angle changes by
for a millimetre grows without bound. There it opens evenly instead, and the end is off by some tenth of a percent."""
STRETCHED: Final = 0.9995
"""Share of its length a limb is stretched to at most, unless it is stretched further already."""
FOLDED: Final = 1.01
"""A limb is folded no nearer than so many times the difference of its bones."""
_STRAIGHT = 1e-4  # sine of the angle between two bones below which they are in no plane of their own


@inlined
def _length(x: float, y: float, z: float) -> float:
    return math.sqrt(x * x + y * y + z * z)


@inlined
def _between(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


@compiled
def inner_angle(one: float, other: float, far: float) -> float:
    """Return the angle between two sides of a triangle whose third is `far` [rad]; π: straight."""
    return math.acos(_between((one * one + other * other - far * far) / (2.0 * one * other), -1.0, 1.0))


@compiled
def knee_along(upper: float, lower: float, far: float) -> tuple[float, float]:
    """Return how far along the line from the first joint to the end the middle one is, and how far off it [m].

    Args:
        upper: Length of the first bone [m].
        lower: Length of the second [m].
        far: From the first joint to the end [m]; within reach.
    """
    cosine = _between((upper * upper + far * far - lower * lower) / (2.0 * upper * far), -1.0, 1.0)
    return upper * cosine, upper * math.sqrt(1.0 - cosine * cosine)


@compiled
def knee_towards(
    upper: float, lower: float, x: float, y: float, z: float, i: float, j: float, k: float, least: float, most: float
) -> tuple[Vector, Vector]:
    """Return where the middle joint and the end are, seen from the first joint [m]: at a point, or as near as may be.

    The bones are `upper` and `lower` long [m]. The end should be at (x, y, z), seen from the first joint [m], but no
    nearer to it than `least` and no farther than `most` [m]; the middle joint points to (i, j, k): what of that is
    across the line to the end counts.
    """
    far = max(_length(x, y, z), 1e-9)
    x, y, z = x / far, y / far, z / far
    reach = _between(far, least, most)
    dot = i * x + j * y + k * z
    i, j, k = i - dot * x, j - dot * y, k - dot * z
    size = max(_length(i, j, k), 1e-9)
    along, off = knee_along(upper, lower, reach)
    off = off / size
    knee = (along * x + off * i, along * y + off * j, along * z + off * k)
    return knee, (reach * x, reach * y, reach * z)


@compiled
def _opened(upper: float, lower: float, now: float, then: float) -> float:
    """Return the angle between the bones [rad] for an end that was so far from the first joint and is to be at `then`.

    What a limb does already, it may go on doing: the angle at `now` is the one it has, however far that is.
    """
    whole = upper + lower
    if then <= EXACT * whole:
        return inner_angle(upper, lower, max(then, min(FOLDED * abs(upper - lower), now)))
    near, far = EXACT * whole, max(STRETCHED * whole, now)
    if near < now < far:
        near, far = (near, now) if then < now else (now, far)
    share = min((then - near) / (far - near), 1.0)
    return (1.0 - share) * inner_angle(upper, lower, near) + share * inner_angle(upper, lower, far)


@compiled
def bend(
    a: float, b: float, c: float, p: float, q: float, r: float, x: float, y: float, z: float, i: float, j: float,
    k: float,
) -> tuple[Quaternion, Quaternion]:  # fmt: skip
    """Return how to turn the two bones of a limb so that its end is at a point, or as near as it reaches.

    The middle joint turns about the axis it is bent about, then the whole limb about its first joint by the shortest
    way: the plane of the limb goes along. The bones as they are, from joint to joint, are (a, b, c) and (p, q, r) [m];
    the end should be at (x, y, z), seen from the first joint [m]. A straight limb bends about the axis (i, j, k), which
    need not be across it: turned about it, its second bone closes.

    Returns:
        The turns of the first and of the second bone, in the world.
    """
    upper, lower = max(_length(a, b, c), 1e-9), max(_length(p, q, r), 1e-9)
    now, then = _length(a + p, b + q, c + r), _length(x, y, z)
    angle = inner_angle(upper, lower, now) - _opened(upper, lower, now, then)
    u, v, w = b * r - c * q, c * p - a * r, a * q - b * p
    if _length(u, v, w) < _STRAIGHT * upper * lower:
        dot = (i * a + j * b + k * c) / (upper * upper)
        u, v, w = i - dot * a, j - dot * b, k - dot * c
    share = angle / max(_length(u, v, w), 1e-12)
    opened = exponential(share * u, share * v, share * w)
    p, q, r = rotated(opened[0], opened[1], opened[2], opened[3], p, q, r)
    swing = turn_between(a + p, b + q, c + r, x, y, z)
    both = product(swing[0], swing[1], swing[2], swing[3], opened[0], opened[1], opened[2], opened[3])
    return swing, both


@compiled
def bend_frames(hips: Any, knees: Any, ends: Any, targets: Any, axes: Any, upper: Any, lower: Any) -> None:
    """Write how to turn the two bones of a limb in every frame so that its end is where it should be (see `bend`).

    Args:
        hips: Where the first joint is [m], (F, 3).
        knees: Where the middle one is, (F, 3).
        ends: Where the end is, (F, 3).
        targets: Where it should be, (F, 3).
        axes: The axis a straight limb bends about, (F, 3).
        upper: Turns of the first bone in the world, written, (F, 4).
        lower: Turns of the second, written, (F, 4).
    """
    for f in range(targets.shape[0]):
        h, m, e, t, s = hips[f], knees[f], ends[f], targets[f], axes[f]
        one, two = bend(
            m[0] - h[0], m[1] - h[1], m[2] - h[2], e[0] - m[0], e[1] - m[1], e[2] - m[2],
            t[0] - h[0], t[1] - h[1], t[2] - h[2], s[0], s[1], s[2],
        )  # fmt: skip
        upper[f, 0], upper[f, 1], upper[f, 2], upper[f, 3] = one
        lower[f, 0], lower[f, 1], lower[f, 2], lower[f, 3] = two
