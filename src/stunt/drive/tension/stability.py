"""What keeps limbs under tension from tipping over: the stiffness matrix K − ∂F/∂θ has to be positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.drive.tension.spec import Floats

STEADY: Final = 1.5
"""How many times the least tension that does not tip over a joint gets that would."""


def least_stable(tension: Floats, gradient: Floats, own: NDArray[np.intp]) -> float:
    """Return the least stiffness of one joint that keeps all upright, the others' given [N·m/rad].

    The largest eigenvalue of the Schur complement of K − ∂F/∂θ; infinite where the others fall over without it.

    Args:
        tension: Stiffness of each degree of freedom, (n,).
        gradient: ∂F/∂θ, (n, n).
        own: Which degrees of freedom are the joint's: one of a hinge, three of a ball joint.
    """
    others = np.setdiff1d(np.arange(len(tension)), own)
    matrix, block = np.diag(tension) - gradient, gradient[np.ix_(own, own)]
    if len(others):
        rest, cross = matrix[np.ix_(others, others)], matrix[np.ix_(others, own)]
        if np.linalg.eigvalsh(rest)[0] <= 0.0:
            return float("inf")
        block = block + cross.T @ np.linalg.solve(rest, cross)
    return float(np.linalg.eigvalsh(block)[-1])


def unstable_joints(
    tension: Floats, gradient: Floats, owner: Sequence[int] | NDArray[np.intp] | None = None
) -> list[tuple[int, float]]:
    """Return the joints that must be tightened for K − ∂F/∂θ to be positive definite, and their least stiffness.

    The joint that gives most to the softest mode for a share of its tension is tightened first, then the next, until
    nothing falls.

    Args:
        tension: Stiffness of each degree of freedom, (n,).
        gradient: ∂F/∂θ, (n, n).
        owner: Number of the joint each belongs to, (n,); every one its own where none are given.
    """
    owners = np.arange(len(tension)) if owner is None else np.asarray(owner)
    tension, found = tension.copy(), dict[int, float]()
    for _ in range(4 * len(tension)):
        values, vectors = np.linalg.eigh(np.diag(tension) - gradient)
        if values[0] > 0.0:
            break
        index = int(np.argmax(vectors[:, 0] ** 2 * np.maximum(tension, 1e-9)))
        own = np.flatnonzero(owners == owners[index])
        least = least_stable(tension, gradient, own)
        if least > 4.0 * max(tension[index], gradient[index, index]):  # the others have to take their share
            least = max(1.25 * tension[index], gradient[index, index]) + 1e-3
        tension[own] = found[int(owners[index])] = 1.001 * least
    return list(found.items())
