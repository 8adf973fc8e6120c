"""Give and return are two knobs: how far a held joint gives to a blow, and how fast it comes back."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stunt
from stunt.control.beat.law import approach
from stunt.drive.response.giving import give_of, stopping_constant, way_out
from stunt.stage.shock import Shock, inboard, turned_by

_BENT = {"r_shoulder_flexion": 60, "r_elbow_flexion": 60}
_WHEN = 1.1


def answer(
    give: float | None, back: float, impulse: tuple[float, ...], *, body: str = "r_forearm", hz: int = 480,
    lasts: float = 0.02, who: str = "human39", ball: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Return by how much [°] the joint that gives most of those that carry a body gives, and when it is back [s].

    Back is a tenth of that, counted from where it is farthest.
    """
    part = {"tension": back, "beats": [{"angles": _BENT, "at": 1.0}], **({"give": give} if give else {})}
    event = {"push": f"ada/{body}", "impulse": list(impulse), "at": _WHEN, "duration": lasts}
    script = {
        "seconds": _WHEN + 0.5 + 1.3 * back, "rate": hz, "characters": {"ada": {"body": who}},
        "performance": {"ada": part}, "events": [event],
    }  # fmt: skip
    if ball:
        script["props"] = {"ball": {"shape": "sphere", "radius": 0.06, "mass": ball, "at": [0.3, -2, 1.3]}}
        script["events"] = [{"throw": "ball", "target": f"ada/{body}", "at": 0.6, "hits_at": _WHEN}]
    performance = stunt.Performance(stunt.script_from_data(script))
    stage = performance.stage
    carrying = inboard(stage, Shock(0.0, "ada", body, "push", (0.0,) * 3, (0.0,) * 3))
    joints = [joint for joint in stage.character("ada").joints.values() if joint.dof in carrying]
    take = performance.run()
    first = int(np.searchsorted(take.time, _WHEN - 0.02))
    turned = np.degrees(np.abs(np.array([take.qpos[first:, j.qpos] - take.qpos[first, j.qpos] for j in joints])))
    most = turned[int(turned.max(axis=1).argmax())]
    farthest = int(most.argmax())
    returned = farthest + int(np.argmax(most[farthest:] < 0.1 * most[farthest]))
    return float(most[farthest]), float(take.time[first + returned] - take.time[first + farthest])


@pytest.mark.parametrize("back", [0.2, 0.4, 0.8])
@pytest.mark.parametrize("give", [2.0, 6.0, 15.0])
def test_three_newton_seconds_turn_it_as_far_as_was_said_however_fast_it_comes_back(give: float, back: float) -> None:
    far, after = answer(give / 3.0, back, (0.0, 3.0, 0.0))
    assert far == pytest.approx(give, rel=0.2) and after == pytest.approx(back, rel=0.2)


@pytest.mark.parametrize(
    ("give", "impulse", "how"),
    [
        (2.0, (0.0, 0.0, -2.0), {}),
        (1.5, (3.0, 0.0, 0.0), {"hz": 120}),
        (2.0, (0.0, 3.0, 0.0), {"hz": 60}),
        (2.0, (1.0, 2.0, 0.0), {"body": "l_upper_arm", "hz": 240}),
        (0.5, (10.0, 0.0, 0.0), {"body": "thorax"}),
        (1.0, (0.0, 3.0, 0.0), {"body": "head", "lasts": 0.1}),
        (2.0, (0.0, 3.0, 0.0), {"who": "human47", "hz": 120}),
        (1.5, (0.0, 3.0, 0.0), {"who": "torso28", "lasts": 0.15}),
    ],
)  # fmt: skip
def test_so_do_other_blows_bodies_rates_and_lengths(give: float, impulse: tuple[float, ...], how: dict) -> None:
    far, after = answer(give, 0.4, impulse, **how)
    assert far == pytest.approx(give * math.hypot(*impulse), rel=0.2)
    assert after == pytest.approx(0.4, rel=0.2)


def test_give_doubles_with_the_blow() -> None:
    assert answer(2.0, 0.3, (0.0, 4.0, 0.0))[0] == pytest.approx(2.0 * answer(2.0, 0.3, (0.0, 2.0, 0.0))[0], rel=0.05)


def test_a_ball_is_a_blow_like_any_other() -> None:
    least, more, most = (answer(give, 0.4, (), ball=0.5)[0] for give in (0.5, 1.5, 4.5))
    assert 2.0 * least < more < 4.0 * least and 2.0 * more < most < 5.0 * more  # who gives more is pushed for longer


def test_without_it_a_tension_says_both() -> None:
    soft, hard = answer(None, 0.8, (0.0, 3.0, 0.0)), answer(None, 0.2, (0.0, 3.0, 0.0))
    assert soft[0] == pytest.approx(4.0 * hard[0], rel=0.2)
    assert hard[1] == pytest.approx(0.2, rel=0.05) and soft[1] == pytest.approx(0.8, rel=0.05)


def test_a_blow_between_two_beats_does_not_spoil_the_next() -> None:
    """What gives is what holds: whoever is on the way to a beat keeps to it, and a beat ends the giving."""
    script = {
        "seconds": 1.6, "characters": {"ada": "human39"},
        "performance": {"ada": {"give": 5.0, "tension": 0.5, "beats": [
            {"angles": _BENT, "at": 0.5}, {"angles": {"r_elbow_flexion": 20}, "at": 1.3, "duration": 0.4},
        ]}},
        "events": [{"push": "ada/r_forearm", "impulse": [2, 1, 0], "at": 0.85}],
    }  # fmt: skip
    report = stunt.make_report(stunt.Performance(stunt.script_from_data(script)).run())
    assert report["characters"]["ada"]["beats"][1]["error_deg"] < 0.5


def test_a_second_blow_in_the_middle_of_the_first_leaves_no_joint_soft() -> None:
    script = stunt.script_from_data({
        "seconds": 1.5, "characters": {"ada": "human39"},
        "performance": {"ada": {"give": 4.0, "tension": 0.2, "beats": [{"angles": _BENT, "at": 0.4}]}},
        "events": [{"push": "ada/r_forearm", "impulse": [0, 2, 0], "at": at} for at in (0.6, 0.64)],
    })  # fmt: skip
    stage = stunt.Performance(script).stage
    joints = [joint.id for joint in stage.character("ada").joints.values()]
    usual = stage.board.hold[joints].copy()
    stage.step(0.65)
    assert not np.allclose(stage.board.hold[joints], usual, rtol=0.1)
    stage.step(0.85)
    np.testing.assert_array_equal(stage.board.hold[joints], usual)


def test_a_saved_performance_goes_on_giving() -> None:
    script = stunt.script_from_data({
        "seconds": 1.2, "characters": {"ada": "human39"},
        "performance": {"ada": {"give": 4.0, "tension": 0.2, "beats": [{"angles": _BENT, "at": 0.4}]}},
        "events": [{"push": "ada/r_forearm", "impulse": [0, 3, 0], "at": 0.6}],
    })  # fmt: skip
    performance = stunt.Performance(script)
    stage = performance.stage
    stage.step(0.65)
    state = stage.save()
    stage.step(0.3)
    once = stage.data.qpos.copy()
    stage.restore(state)
    stage.step(0.3)
    np.testing.assert_array_equal(once, stage.data.qpos)


@pytest.mark.parametrize(("seconds", "hz", "steps"), [(0.1, 480, 48), (0.02, 120, 2), (0.0, 480, 5), (0.001, 60, 1)])
def test_a_blow_takes_as_many_steps_as_its_length_says_and_one_at_least(seconds: float, hz: int, steps: int) -> None:
    assert Shock(0.0, "ada", "head", "push", (0.0,) * 3, (1.0, 0.0, 0.0), seconds).steps(1.0 / hz) == steps


def test_a_shock_turns_joints_as_the_impulse_does() -> None:
    """M⁻¹·Jᵀ, found another way: the impulse itself, over a step so short that nothing else happens."""
    stage = stunt.Performance(stunt.script_from_data({"seconds": 1, "characters": {"ada": "human39"}})).stage
    body = stage.character("ada").bodies["r_hand"]
    where = tuple(float(x) for x in stage.data.xipos[body] + [0.0, 0.02, 0.01])
    turned = turned_by(stage, Shock(0.0, "ada", "r_hand", "push", where, (0.0, 50.0, 0.0)))
    jacobian, found = np.zeros((3, stage.model.nv)), np.zeros((1, stage.model.nv))
    import mujoco

    mujoco.mj_jac(stage.model, stage.data, jacobian, None, np.array(where), body)
    mujoco.mj_solveM(stage.model, stage.data, found, jacobian[1:2].copy())
    np.testing.assert_allclose(turned, found[0], atol=0.02 * np.abs(found).max())


@pytest.mark.parametrize("wanted", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("blow", [1, 2000])
def test_the_time_constant_found_is_that_of_a_critically_damped_joint(wanted: float, blow: int) -> None:
    """In small steps a blow in no time goes v₀·λ/e far; a long one less, so that λ is longer."""
    step = 1e-4
    constant, after = give_of(wanted, step, 1, blow)
    far, _ = way_out(constant, step, 1, blow, math.inf)
    assert far == pytest.approx(wanted, rel=1e-3)
    if blow == 1:
        assert constant == pytest.approx(math.e * wanted, rel=0.01)
        assert after * step == pytest.approx(constant, rel=0.02)
    else:
        assert constant > math.e * wanted


@pytest.mark.parametrize(("away", "outward"), [(0.05, 0.4), (0.2, 1.0), (0.01, 0.05)])
def test_the_last_period_of_giving_ends_at_rest(away: float, outward: float) -> None:
    period = 1.0 / 120.0
    constant = stopping_constant(away, outward, 0.01, 0.2, period)
    assert constant is not None and 0.01 <= constant < 0.2
    assert outward + period * approach(-away, -outward, constant, period) == pytest.approx(0.0, abs=1e-6)
    assert stopping_constant(away, 100.0 * outward, 0.1, 0.2, period) is None  # it goes on giving
    assert stopping_constant(away, -outward, 0.01, 0.2, period) == 0.2  # it comes back already
