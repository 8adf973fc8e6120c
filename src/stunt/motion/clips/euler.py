"""Euler angles in any order, to quaternions and back."""

from __future__ import annotations

import numpy as np
import scipy

from stunt.maths.rotations import Floats, multiply

_AXIS = {"X": 0, "Y": 1, "Z": 2}


def from_euler(angles: Floats, order: str) -> Floats:
    """Return the rotation of angles [rad] about moving axes, the first first: (..., k), `order` of k letters XYZ."""
    result = np.zeros((*angles.shape[:-1], 4))
    result[..., 0] = 1.0
    for column, letter in enumerate(order):
        half = 0.5 * angles[..., column]
        turn = np.zeros((*half.shape, 4))
        turn[..., 0] = np.cos(half)
        turn[..., 1 + _AXIS[letter]] = np.sin(half)
        result = multiply(result, turn)
    return result


def to_euler(rotations: Floats, order: str, near: Floats | None = None) -> Floats:
    """Return angles [rad] about moving axes, (F, 4) → (F, k).

    Of the many angles with the same rotation these are the ones closest to `near` (F, k); without it, the ones that
    run on most smoothly. Fewer than three letters leave out what they cannot express.
    """
    if not order:
        return np.zeros((len(rotations), 0))
    angles = _two_or_three(rotations, order)
    if near is None:
        return _smooth(angles, order)
    result = _closest(angles, near, order)
    # In gimbal lock any of a whole family will do: what was written is kept where it still is this rotation.
    same = np.abs(np.sum(from_euler(near, order) * rotations, axis=-1)) > 1.0 - 1e-14
    return np.where(same[:, None], near, result)


def _two_or_three(rotations: Floats, order: str) -> Floats:
    whole = order
    for letter in "XYZ":
        if len(whole) < 3 and letter not in whole:
            whole += letter
    turns = scipy.spatial.transform.Rotation.from_quat(rotations, scalar_first=True).as_euler(
        whole, suppress_warnings=True
    )
    angles = np.asarray(turns, float)
    if len(order) == 2:  # of the two triples the one that hardly needs the third angle
        one, other = _families(angles, whole)
        closer = np.abs(np.cos(other[:, 2] / 2)) > np.abs(np.cos(one[:, 2] / 2))
        angles = np.where(closer[:, None], other, one)
    return angles[:, : len(order)]


def _families(angles: Floats, order: str) -> tuple[Floats, ...]:
    """Return the two triples that make the same rotation."""
    if len(order) < 3:
        return (angles,)
    middle = -angles[:, 1] if order[0] == order[2] else np.pi - angles[:, 1]
    other = np.stack([angles[:, 0] + np.pi, middle, angles[:, 2] + np.pi], axis=-1)
    return angles, other


def _closest(angles: Floats, near: Floats, order: str) -> Floats:
    turn = 2.0 * np.pi
    options = [some + turn * np.round((near - some) / turn) for some in _families(angles, order)]
    costs = np.stack([np.abs(some - near).sum(axis=-1) for some in options])
    best: Floats = np.stack(options)[costs.argmin(axis=0), np.arange(len(angles))]
    return best


def _smooth(angles: Floats, order: str) -> Floats:
    result = angles.copy()
    families = _families(angles, order)
    turn = 2.0 * np.pi
    for frame in range(1, len(result)):
        last = result[frame - 1]
        options = [some[frame] + turn * np.round((last - some[frame]) / turn) for some in families]
        result[frame] = min(options, key=lambda some: float(np.abs(some - last).sum()))  # noqa: B023
    return result
