"""The whole-body programme's parts: outlines of support, the solver, and the one setting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from stunt.control.own.polygon import inside_by, nearest_inside, outline
from stunt.control.own.solver import PROBLEM, RESULT, _function, _through_python


@pytest.mark.parametrize("seed", range(6))
def test_an_outline_is_the_convex_hull(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(8, 2))
    corners = np.zeros((9, 2))
    count = outline(points.copy(), 8, corners)
    hull = ConvexHull(points)
    assert count == len(hull.vertices)
    assert ConvexHull(corners[:count]).volume == pytest.approx(hull.volume)
    turns = np.roll(corners[:count], -1, axis=0) - corners[:count]
    after = np.roll(turns, -1, axis=0)
    assert (turns[:, 0] * after[:, 1] - turns[:, 1] * after[:, 0] > 0.0).all()  # counter-clockwise


def test_how_far_a_point_is_inside_a_square() -> None:
    square, found = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.zeros(2)
    assert inside_by(0.3, 0.5, square, 4, found) == pytest.approx(0.3)
    assert inside_by(1.5, 0.5, square, 4, found) == pytest.approx(-0.5)
    assert found == pytest.approx([1.0, 0.5])
    assert inside_by(2.0, 2.0, square, 4, found) == pytest.approx(-np.sqrt(2.0))


def test_frames_without_support_are_left_alone() -> None:
    points, corners = np.array([[3.0, 0.5], [3.0, 0.5]]), np.zeros((2, 4, 2))
    corners[0] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    inside, outside = points.copy(), np.zeros(2)
    nearest_inside(points, corners, np.array([4, 0]), inside, outside)
    assert inside[0] == pytest.approx([1.0, 0.5]) and inside[1] == pytest.approx([3.0, 0.5])
    assert outside == pytest.approx([2.0, 0.0])


@pytest.mark.parametrize("way", ["library", "python"])
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_fulfils_the_conditions_of_an_optimum(seed: int, way: str) -> None:
    """Stationary, feasible, complementary: what any solver's answer must be, whatever it did."""
    rng, n, rows = np.random.default_rng(seed), 12, 9
    root = rng.normal(size=(n, n))
    hessian, linear = root @ root.T + np.eye(n), 3.0 * rng.normal(size=n)
    matrix = rng.normal(size=(rows, n))
    upper, lower = np.full(n + rows, 0.4), np.full(n + rows, -0.3)
    x, multipliers, sense = np.zeros(n), np.zeros(n + rows), np.zeros(n + rows, np.int32)
    problem, result = np.zeros(1, PROBLEM), np.zeros(1, RESULT)
    problem["n"], problem["m"], problem["simple"] = n, n + rows, n
    arrays = {"hessian": hessian, "linear": linear, "rows": matrix, "upper": upper, "lower": lower, "sense": sense}
    for name, array in arrays.items():
        problem[name] = array.ctypes.data
    result["x"], result["multipliers"] = x.ctypes.data, multipliers.ctypes.data
    solve = _function() if way == "library" else _through_python
    solve(result.ctypes.data, problem.ctypes.data, None)
    assert result["flag"][0] > 0
    every = np.concatenate([x, matrix @ x])
    assert (every <= upper + 1e-6).all() and (every >= lower - 1e-6).all()
    active = (np.abs(every - upper) < 1e-6) | (np.abs(every - lower) < 1e-6)
    normals = np.concatenate([np.eye(n), matrix])[active]
    push, *_ = np.linalg.lstsq(normals.T, -(hessian @ x + linear), rcond=None)
    assert normals.T @ push == pytest.approx(-(hessian @ x + linear), abs=1e-5)
    at_top = np.abs(every - upper)[active] < 1e-6
    assert (push[at_top] >= -1e-6).all() and (push[~at_top] <= 1e-6).all()
