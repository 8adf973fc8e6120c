"""Compiled quaternions of plain numbers say what those of arrays say."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.maths import flat, rotations

RNG = np.random.default_rng(11)
ONES, OTHERS = (rotations.normalise(RNG.normal(size=(100, 4))) for _ in range(2))
VECTORS = RNG.normal(size=(100, 3))


def test_products_and_turned_vectors_are_those_of_arrays():
    for one, other, vector in zip(ONES, OTHERS, VECTORS, strict=True):
        np.testing.assert_allclose(flat.product(*one, *other), rotations.multiply(one, other), atol=1e-15)
        np.testing.assert_allclose(flat.rotated(*one, *vector), rotations.rotate(one, vector), atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-13, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-6])
def test_the_exponential_and_the_logarithm_are_those_of_arrays_and_undo_each_other(angle):
    for vector in VECTORS[:20]:
        turn = angle * vector / np.linalg.norm(vector)
        quaternion = flat.exponential(*turn)
        np.testing.assert_allclose(quaternion, rotations.from_rotation_vector(turn), atol=1e-15)
        np.testing.assert_allclose(flat.logarithm(*quaternion), turn, atol=1e-9)
        np.testing.assert_allclose(flat.logarithm(*(-part for part in quaternion)), turn, atol=1e-9)


def test_the_shortest_turn_brings_one_direction_onto_the_other_about_an_axis_across_both():
    for one, other in zip(VECTORS[:50], VECTORS[50:], strict=True):
        turn = np.array(flat.turn_between(*one, *other))
        there = rotations.rotate(turn, one / np.linalg.norm(one))
        np.testing.assert_allclose(there, other / np.linalg.norm(other), atol=1e-12)
        assert abs(turn[1:] @ one) + abs(turn[1:] @ other) < 1e-12


@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, -1.0), (1.0, 2.0, -3.0)])
def test_opposite_directions_have_a_half_turn_between_them(way):
    turn = np.array(flat.turn_between(*way, *(-x for x in way)))
    np.testing.assert_allclose(rotations.rotate(turn, np.array(way)), -np.array(way), atol=1e-12)
    assert turn @ turn == pytest.approx(1.0)
