"""Laws of the antagonistic actuator."""

import math

import numpy as np
import pytest

from papers.p4 import equations
from stunt.control.tension import law
from stunt.control.tension.units import JointScale, Tension, tension_of
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.motion.transition import PRESETS, make_curve, preset

LOW, HIGH = -1.2, 2.9
rng = np.random.default_rng(4)
CASES = [(float(rng.uniform(5, 500)), float(rng.uniform(-20, 20)), float(rng.uniform(-0.7, 2.4))) for _ in range(50)]


@pytest.mark.parametrize("tension,force,angle", CASES)
def test_gains_rest_at_the_asked_angle_under_the_external_torque(tension: float, force: float, angle: float) -> None:
    low, high = law.gains(tension, force, angle, LOW, HIGH)
    assert low + high == pytest.approx(tension, rel=1e-12)
    assert law.torque(low, high, LOW, HIGH, angle) + force == pytest.approx(0.0, abs=1e-9)
    assert equations.equilibrium(low, high, force, LOW, HIGH) == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize("tension,force,angle", CASES)
def test_torques_equal_those_of_a_pd_spring_of_the_same_stiffness(tension: float, force: float, angle: float) -> None:
    low, high = law.gains(tension, force, angle, LOW, HIGH)
    set_point = equations.pd_set_point(tension, force, angle)
    worst = max(
        abs(law.torque(low, high, LOW, HIGH, x) - tension * (set_point - x)) for x in np.linspace(LOW, HIGH, 40)
    )
    print(f"largest difference {worst:.2e} N·m")
    assert worst <= 1e-9


def test_springs_pull_at_the_least_tension_and_would_push_below_it() -> None:
    for force, angle in ((12.0, 0.3), (-12.0, 0.3), (4.0, 2.2)):
        least = law.least_tension(force, angle, LOW, HIGH)
        assert min(law.gains(1.000001 * least, force, angle, LOW, HIGH)) >= 0.0
        assert min(law.gains(0.99 * least, force, angle, LOW, HIGH)) < 0.0


def test_the_isoangle_line_is_straight_and_its_slope_does_not_know_the_force() -> None:
    points = [equations.isoangle_high(k, -9.0, 0.4, LOW, HIGH) for k in (10.0, 20.0, 30.0)]
    assert points[2] - points[1] == pytest.approx(points[1] - points[0], rel=1e-12)
    other = [equations.isoangle_high(k, 5.0, 0.4, LOW, HIGH) for k in (10.0, 20.0)]
    assert other[1] - other[0] == pytest.approx(points[1] - points[0], rel=1e-12)
    low, high = law.gains(80.0, -9.0, 0.4, LOW, HIGH)
    assert equations.isoangle_high(low, -9.0, 0.4, LOW, HIGH) == pytest.approx(high, rel=1e-12)


def test_under_a_disturbance_more_tension_moves_toward_the_asked_angle_and_pd_away_from_it() -> None:
    # A limb asked to be at 0.2 under a known −10 N·m; an unknown +4 N·m pushes it up. Plain PD leans below its
    # set-point until it hangs at the same 0.2, and is then pushed up the same way.
    asked, known, unknown = 0.2, -10.0, 4.0
    ours, theirs = [], []
    soft = 40.0
    set_point = equations.pd_set_point(soft, known, asked)
    for tension in np.linspace(soft, 400.0, 30):
        low, high = law.gains(tension, known, asked, LOW, HIGH)
        ours.append(abs(equations.equilibrium(low, high, known + unknown, LOW, HIGH) - asked))
        theirs.append(abs(set_point + (known + unknown) / tension - asked))
    print(f"antagonist {ours[0]:.4f} → {ours[-1]:.4f} rad off, PD {theirs[0]:.4f} → {theirs[-1]:.4f} rad off")
    assert all(b < a for a, b in zip(ours, ours[1:], strict=False))
    assert all(b > a for a, b in zip(theirs, theirs[1:], strict=False))


def test_the_kernel_reads_curves_as_python_does() -> None:
    shares = np.linspace(0.0, 1.0, 101)
    for curve in [*PRESETS.values(), preset("overshoot", 2.0), preset("ease", -1.5)]:
        knots = np.ravel(curve.knots)
        ours = [law.curve_progress(knots, 0, len(curve.knots), law.warped(u, curve.warp)) for u in shares]
        assert np.allclose(ours, curve.at(shares), atol=1e-12)


def test_presets_recoil_and_overshoot_where_they_say() -> None:
    shares = np.linspace(0.0, 1.0, 201)
    assert PRESETS["recoil"].at(shares).min() < -0.05
    assert PRESETS["overshoot"].at(shares).max() > 1.05
    eased = PRESETS["ease"].at(shares)
    assert eased.min() == 0.0 and eased.max() == 1.0 and (np.diff(eased) >= 0).all()


def test_curves_that_leave_0_to_1_in_time_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="from 0 to 1"):
        make_curve(((0.0, 0.0, 0.0), (0.5, 0.5, 1.0), (1.2, 1.0, 0.0)))
    with pytest.raises(InvalidValueError, match="increasing"):
        make_curve(((0.0, 0.0, 0.0), (0.5, 0.5, 1.0), (0.5, 0.6, 1.0), (1.0, 1.0, 0.0)))
    with pytest.raises(UnknownNameError, match="Did you mean 'overshoot'"):
        preset("overshot")


def test_two_ball_springs_balance_where_the_progress_function_says() -> None:
    for angle in (0.5, 2.0, 5.5):
        for progress in (0.1, 0.5, 0.9):
            share = equations.ball_share(progress, angle, quaternion_torque=True)
            assert 0.0 <= share <= 1.0
            pull = share * math.sin((1 - progress) * angle / 2) - (1 - share) * math.sin(progress * angle / 2)
            assert pull == pytest.approx(0.0, abs=1e-12)
            assert equations.ball_share(progress, angle) == progress
            # The printed erratum leaves [0, 1] for large spans.
    assert math.sin(0.5 * 2.75) / math.sin(2.75) > 1.0


def test_tensions_are_words_levels_stiffness_or_seconds() -> None:
    scale = JointScale(moment=0.4, pull=10.0, strength=90.0)
    assert scale.stiffness(tension_of("relaxed")) == pytest.approx(scale.relaxed)
    assert scale.stiffness(tension_of("braced")) == pytest.approx(scale.braced)
    assert scale.stiffness(tension_of("40 N·m/rad")) == 40.0
    assert scale.stiffness(tension_of("0.5 s")) == pytest.approx(0.4 * (3.8897 / 0.5) ** 2, rel=1e-3)
    assert scale.level(scale.stiffness(Tension(0.37))) == pytest.approx(0.37)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan"), True, "-3 N·m/rad", "0 s", None, "40 kg"])
def test_impossible_tensions_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidValueError, match="relaxed"):
        tension_of(wrong)


def test_an_unknown_word_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'braced'"):
        tension_of("bracd")
