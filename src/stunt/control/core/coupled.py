"""Full coupling: the torques that give every joint its asked acceleration at once, τ = M(q)·a + c(q, v).

P0 names this as the O(n³) alternative to its own compensation; with the engine's sparse M it is one sparse product.
What no joint drives (a free root in the air, passive joints) accelerates as it must: those rows are eliminated first,
so that a leaping character's arms are not driven as if its pelvis were bolted down.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.maths.compiled import compiled


@compiled
def multiply(count: int, rownnz: Any, rowadr: Any, colind: Any, values: Any, x: Any, out: Any) -> None:
    """Write M·x for the engine's lower-triangular sparse M."""
    for i in range(count):
        out[i] = 0.0
    for i in range(count):
        start, length = rowadr[i], rownnz[i]
        total = 0.0
        for k in range(start, start + length - 1):
            j = colind[k]
            total += values[k] * x[j]
            out[j] += values[k] * x[i]
        out[i] += total + values[start + length - 1] * x[i]


@compiled
def solve_in_place(a: Any, count: int, b: Any) -> None:
    """Solve the symmetric positive-definite a·x = b by Cholesky; x replaces b, the factor replaces a (rows flat)."""
    for i in range(count):
        for j in range(i + 1):
            total = a[i * count + j]
            for k in range(j):
                total -= a[i * count + k] * a[j * count + k]
            a[i * count + j] = math.sqrt(max(total, 1e-12)) if i == j else total / a[j * count + j]
    for i in range(count):
        for k in range(i):
            b[i] -= a[i * count + k] * b[k]
        b[i] /= a[i * count + i]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            b[i] -= a[k * count + i] * b[k]
        b[i] /= a[i * count + i]


@compiled
def eliminate_undriven(count: int, v: Any) -> None:
    """Find the accelerations of the undriven degrees of freedom p, given those of the driven ones c.

    Solves M_pp·a_p = force_p − M_pc·a_c, with M·a for a_p = 0 already in `v.product`, and the engine's implicit damping
    and stiffness on the diagonal.

    Args:
        count: How many there are.
        v: Views; `undriven` lists them, `undriven_index` is the inverse.
    """
    for r in range(count):
        i = v.undriven[r]
        for c in range(count):
            v.block[r * count + c] = 0.0
        v.right[r] = v.force[i] - v.product[i]
    for r in range(count):
        i = v.undriven[r]
        for k in range(v.rowadr[i], v.rowadr[i] + v.rownnz[i]):
            c = v.undriven_index[v.colind[k]]
            if c >= 0:
                v.block[r * count + c] = v.mass_matrix[k]
                v.block[c * count + r] = v.mass_matrix[k]
        v.block[r * count + r] += v.implicit[i]
    solve_in_place(v.block, count, v.right)
    for r in range(count):
        v.acceleration[v.undriven[r]] = v.right[r]
