"""The step that catches a body, against a pendulum integrated step by step."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.control.own.placement import CROSS, LEAD, clear_of_leg, least_out
from stunt.drive.balance.steps import PRESSED, catching_step
from stunt.maths.rotations import Floats

RATE = 3.3
SOLE = np.array([[-0.08, -0.04], [0.16, -0.04], [0.16, 0.04], [-0.08, 0.04]])


def feet(wide: float = 0.1) -> tuple[Floats, Floats]:
    return SOLE + [0.0, wide], SOLE - [0.0, wide]


def pendulum(com: Floats, speed: Floats, press: Floats, seconds: float) -> tuple[Floats, Floats]:
    """Return where a pendulum on a point is after a while, and how fast: ẍ = ω²·(x − p), in small steps."""
    count = 20000
    for _ in range(count):
        middle = com + 0.5 * seconds / count * speed
        pull = RATE**2 * (middle - press)
        com, speed = com + seconds / count * (speed + 0.5 * seconds / count * pull), speed + seconds / count * pull
    return com, speed


@pytest.mark.parametrize("push", [(0.7, 0.0), (-0.45, 0.0), (0.5, 0.25), (0.45, -0.25)])
def test_a_pendulum_that_steps_there_comes_to_rest_over_its_foot(push: tuple[float, float]) -> None:
    soles, com, speed = feet(), np.array([0.03, 0.0]), np.array(push)
    step = catching_step(soles, com + speed / RATE, RATE, 0.0)
    stand = soles[1 - step.foot]
    edge = np.clip(com + speed / RATE, stand.min(axis=0), stand.max(axis=0))
    press = stand.mean(axis=0) + PRESSED * (edge - stand.mean(axis=0))
    com, speed = pendulum(com, speed, press, step.seconds + LEAD)
    assert np.linalg.norm(com + speed / RATE - step.place) == pytest.approx(step.miss, abs=1e-4)
    assert step.miss < 0.02
    com, speed = pendulum(com, speed, step.place, 1.0)
    assert np.linalg.norm(com - step.place) < 0.1 and np.linalg.norm(speed) < 0.2


def test_who_is_pushed_to_a_side_steps_with_the_foot_of_that_side_unless_it_carries() -> None:
    assert catching_step(feet(), np.array([0.0, 0.3]), RATE, 0.0).foot == 0
    assert catching_step(feet(), np.array([0.0, -0.3]), RATE, 0.0).foot == 1
    assert catching_step(feet()[::-1], np.array([0.0, 0.3]), RATE, 0.0, first_is_left=False).foot == 1


def test_turning_and_growing_the_body_turns_and_grows_its_step() -> None:
    turn, where = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([0.35, 0.05])
    plain = catching_step(feet(), where, RATE, 0.0)
    turned = catching_step(tuple(s @ turn.T for s in feet()), turn @ where, RATE, np.pi / 2)  # type: ignore[arg-type]
    assert turned.foot == plain.foot and turned.place == pytest.approx(turn @ plain.place)
    grown = catching_step(tuple(2.0 * s for s in feet()), 2.0 * where, RATE / np.sqrt(2.0), 0.0, size=2.0)  # type: ignore[arg-type]
    # Froude: times grow with the root of the size.
    assert grown.foot == plain.foot and grown.place / 2.0 == pytest.approx(plain.place)
    assert grown.seconds == pytest.approx(np.sqrt(2.0) * plain.seconds) and grown.cost == pytest.approx(plain.cost)


def test_feet_side_by_side_do_not_cross() -> None:
    step = catching_step(feet(), np.array([0.04, -0.2]), RATE, 0.0, feet=(0,))
    assert step.place[1] > -0.1 + 0.12 and step.miss > 0.1


def test_nobody_steps_farther_than_legs_reach() -> None:
    step = catching_step(feet(), np.array([3.0, 0.0]), RATE, 0.0)
    stand = feet()[1 - step.foot].mean(axis=0)
    assert np.linalg.norm(step.place - stand) <= 0.95 and step.cost > 100.0


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("facing", [0.0, 1.9])
def test_a_swinging_foot_keeps_to_its_own_side_of_the_leg_that_stands(side: float, facing: float) -> None:
    face = np.array([np.cos(facing), np.sin(facing)])
    left = np.array([-face[1], face[0]])

    def cleared(along: float, out: float, own: float = 0.2) -> tuple[float, float]:
        x, y = along * face + side * out * left
        there = np.array(clear_of_leg(side, 1.0, x, y, own, *face))
        return float(there @ face), float(side * there @ left)

    assert cleared(0.05, -0.1) == pytest.approx((0.05, least_out(0.05, 1.0)))  # beside the leg: out of its way
    assert cleared(0.5, -0.4) == pytest.approx((0.5, -CROSS))  # ahead of it: across
    assert cleared(0.05, 0.3) == pytest.approx((0.05, 0.3))  # where nothing is in its way it goes where it should
    assert cleared(0.05, -0.1, own=0.06) == pytest.approx((0.05, 0.06))  # and never farther out than the clip has it
    assert 0.1 < least_out(0.0, 1.0) == pytest.approx(2.0 * least_out(0.0, 0.5))
