import numpy as np
import pytest

from stunt.errors import TrajectoryGapError, TrajectoryOrderError
from stunt.motion.trajectory import Trajectory


def test_a_spline_goes_through_its_points_and_rests_at_its_ends():
    pieces = Trajectory.through([0.0, 1.0, 2.5], [0.0, 1.0, 0.3]).pieces(0.0, 2.5)
    for time, value in ((0.0, 0.0), (1.0, 1.0), (2.5, 0.3), (9.0, 0.3)):
        assert pieces.at(time)[0] == pytest.approx(value)
    assert pieces.at(0.0)[1] == pytest.approx(0.0) and pieces.at(2.5)[1] == pytest.approx(0.0)


def test_velocity_and_acceleration_are_the_derivatives_of_the_value():
    pieces = Trajectory.of(lambda t: np.sin(2 * t)).pieces(0.0, 3.0)
    for time in (0.4, 1.3, 2.2):
        value, velocity, acceleration = pieces.at(time)
        assert value == pytest.approx(np.sin(2 * time), abs=1e-7)
        assert velocity == pytest.approx(2 * np.cos(2 * time), abs=1e-5)
        assert acceleration == pytest.approx(-4 * np.sin(2 * time), abs=1e-3)


def test_a_step_stays_and_then_jumps():
    pieces = Trajectory.through([0.0, 1.0], [0.0, 2.0], "step").pieces(0.0, 2.0)
    assert pieces.at(0.999)[0] == 0.0 and pieces.at(1.0)[0] == 2.0


def test_going_backwards_in_time_and_gaps_are_errors():
    with pytest.raises(TrajectoryOrderError, match="0.5 s comes after 1 s"):
        Trajectory.through([0.0, 1.0, 0.5], [0.0, 0.0, 0.0])
    with pytest.raises(TrajectoryGapError, match="gap"):
        Trajectory.through([0.0, 1.0], [0.0, np.nan])
