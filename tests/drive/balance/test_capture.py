"""Support, centre of mass, capture point."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from stunt.drive.balance.capture import GRAVITY, Support, capture_point, centre_of_mass, outside_feet, pressure_on
from stunt.library.names import OWN_CLIPS
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def stood():
    """Somebody dropped on its feet from just above the ground, after a moment."""
    stage = StageLoop(Scene({"ada": CharacterSpec(str(OWN_CLIPS / "walk.bvh"), root="free")}))
    for _ in range(60):
        mujoco.mj_step(stage.model, stage.data)
    return stage, stage.character("ada")


def test_a_pendulum_over_its_capture_point_comes_to_rest_there():
    """Finite steps of the linear inverted pendulum x″ = g/h·(x − p), held at its capture point p."""
    height, place, speed, step = 0.9, 0.0, 0.7, 1e-4
    point = capture_point(np.array([place, 0.0, height]), np.array([speed, 0.0, 0.0]))
    for _ in range(round(1.2 / step)):
        speed += step * GRAVITY / height * (place - point[0])
        place += step * speed
    assert place == pytest.approx(point[0], abs=0.02)
    assert abs(speed) < 0.05


def test_who_is_at_rest_has_its_capture_point_under_its_weight_and_higher_ground_brings_it_nearer():
    com, pace = np.array([1.0, 2.0, 0.9]), np.array([0.5, 0.0, 0.0])
    np.testing.assert_array_equal(capture_point(com, np.zeros(3)), com[:2])
    assert capture_point(com, pace, floor=0.4)[0] < capture_point(com, pace)[0]
    assert capture_point(com, pace, floor=5.0)[0] - 1.0 == pytest.approx(0.5 * math.sqrt(0.1 / GRAVITY))


def test_a_point_between_two_feet_is_inside_and_the_way_out_is_straight():
    one, other = np.array([0.0, 0.1]), np.array([0.0, -0.1])
    assert outside_feet(np.zeros(2), one, other, 0.11) == pytest.approx(-0.11)
    assert outside_feet(np.array([0.3, 0.0]), one, other, 0.11) == pytest.approx(0.19)
    assert outside_feet(np.array([0.0, 0.5]), one, other, 0.11) == pytest.approx(0.29)


def test_a_support_is_the_outline_of_its_points():
    square = Support.around([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0.0)])
    assert len(square.corners) == 4
    assert square.outside(np.array([0.5, 0.4])) == pytest.approx(-0.4)
    assert square.outside(np.array([2.0, 0.5])) == pytest.approx(1.0)
    assert square.outside(np.array([2.0, 2.0])) == pytest.approx(math.sqrt(2.0))


def test_in_the_air_nothing_supports_and_a_line_or_a_point_has_no_inside():
    assert Support.around(np.empty((0, 2))).outside(np.zeros(2)) == math.inf
    assert Support.around([(1.0, 0.0)]).outside(np.zeros(2)) == pytest.approx(1.0)
    line = Support.around([(0, 0), (1, 0)])
    assert line.outside(np.array([0.5, 0.2])) == pytest.approx(0.2)
    assert Support.around([(0, 0), (1, 0), (2, 0)]).outside(np.array([1.5, 0.0])) == pytest.approx(0.0)


def test_an_outline_holds_all_its_points():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(60, 2))
    outline = Support.around(points)
    assert all(outline.outside(point) <= 1e-12 for point in points)
    assert outline.outside(points.mean(axis=0)) < 0.0


def test_who_stands_is_supported_by_its_feet_and_pressed_up_by_about_its_weight():
    stage, ada = stood()
    names = {body: name for name, body in ada.bodies.items()}
    pressure = pressure_on(stage.model, stage.data, ada)
    assert {names[body].split("_")[-1] for body in pressure} <= {"foot", "toe"}
    assert len(Support.of(stage.model, stage.data, ada).corners) > 2
    assert sum(force for force, _ in pressure.values()) > 0.3 * ada.mass * GRAVITY


def test_the_centre_of_mass_and_its_velocity_are_the_engines():
    stage, ada = stood()
    mujoco.mj_forward(stage.model, stage.data)
    mujoco.mj_subtreeVel(stage.model, stage.data)
    com, velocity = centre_of_mass(stage.model, stage.data, ada.root_body)
    np.testing.assert_allclose(com, stage.data.subtree_com[ada.root_body], atol=1e-12)
    np.testing.assert_allclose(velocity, stage.data.subtree_linvel[ada.root_body], atol=1e-9)
