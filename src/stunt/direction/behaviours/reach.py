"""Limbs that reach: two bones between a joint and a point, the elbow or knee on the side it bends to."""

from __future__ import annotations

import numpy as np

from stunt import rotations
from stunt.direction.behaviours.anatomy import Anatomy
from stunt.rotations import Floats

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
    far = float(np.linalg.norm(way))
    reach = float(np.clip(far, 1.05 * abs(one - other) + 0.02, _MOST * (one + other)))
    down = way / max(far, 1e-9)
    out = np.asarray(bend, float) - float(np.dot(bend, down)) * down
    out = out / max(float(np.linalg.norm(out)), 1e-9)
    angle = np.arccos(np.clip((one**2 + reach**2 - other**2) / (2.0 * one * reach), -1.0, 1.0))
    elbow = one * (np.cos(angle) * down + np.sin(angle) * out)
    # Knees bend forward and shanks fold back; elbows point back and forearms fold forward.
    ahead = out if kind == "leg" else -out
    return {upper: _along(elbow, ahead), lower: _along(reach * down - elbow, ahead)}, max(0.0, far - reach)


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
