import numpy as np
import pytest

from stunt.control.impact.law import COULOMB, FRICTIONLESS, collide


def impact(a, before, mu, kind, e):
    n = len(before)
    after, total = before.copy(), np.zeros(n)
    each = np.broadcast_to(e, n // 3).astype(float)
    collide(a.ravel(), n // 3, after, mu, kind, each, total, *(np.zeros(n) for _ in range(4)))
    return after, total


def random_impact(rng, k):
    nv, n = int(rng.integers(6, 40)), 3 * k
    half = rng.normal(size=(nv, nv)) / np.sqrt(nv)
    mass = half @ half.T + np.eye(nv)
    rows = rng.normal(size=(n, nv)) * (rng.random((n, nv)) < 0.5)
    solved = np.linalg.solve(mass, rows.T)
    return mass, rows, solved, np.ascontiguousarray(rows @ solved), 3.0 * rng.normal(size=nv)


def test_a_thousand_random_impacts_neither_pull_nor_gain_energy():
    rng = np.random.default_rng(5)
    grown, residual, pull, outside = -np.inf, 0.0, 0.0, 0.0
    for number in range(1000):
        k, kind = int(rng.integers(1, 21)), number % 3
        mass, rows, solved, a, v = random_impact(rng, k)
        mu, e = 1.5 * rng.random(k), float(rng.random()) if number % 5 else float(number % 2)
        _, r = impact(a, rows @ v, mu, kind, e)
        later = v + solved @ r
        # Relative to the impulses: more sticking contacts than freedoms press against each other with large ones.
        missing = np.abs(mass @ (later - v) - rows.T @ r).max() / max(1.0, np.abs(r).max())
        residual = max(residual, float(missing))
        grown = max(grown, float((later @ mass @ later - v @ mass @ v) / (v @ mass @ v)))
        pull = min(pull, float(r[::3].min()))
        if kind == COULOMB:
            outside = max(outside, float((np.hypot(r[1::3], r[2::3]) - mu * r[::3]).max()))
    print(f"energy grows by {grown:.1e}, momentum residual {residual:.1e}, pull {pull:.1e}, outside {outside:.1e}")
    assert grown <= 1e-9 and residual <= 1e-9 and pull >= 0.0 and outside <= 1e-9


@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
def test_a_single_frictionless_contact_comes_back_with_e_times_its_speed(e):
    rng = np.random.default_rng(1)
    for _ in range(50):
        _, rows, _, a, v = random_impact(rng, 1)
        before = rows @ v
        before[0] = -abs(before[0])
        after, _ = impact(a, before, np.zeros(1), FRICTIONLESS, e)
        assert abs(after[0] + e * before[0]) <= 1e-6
