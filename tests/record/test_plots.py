"""What the plots plot, and that they touch nothing but their file."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from stunt.errors import TakeError, UnknownNameError
from stunt.record.cast import Cast
from stunt.record.joint_tracks import angle_between, errors, gains, torque_shares, travel
from stunt.record.plots import plot_errors, plot_gains, plot_torques


def test_the_error_of_hinges_and_balls_is_the_angle_to_the_target(take):
    tracks = errors(take, "ada", take.model())
    worst = dict(zip(tracks.names, tracks.values.max(axis=0), strict=True))
    assert worst["r_elbow_flexion"] == pytest.approx(5.0)
    assert worst["l_shoulder"] == pytest.approx(np.degrees(0.1))
    assert worst["lumbar_flexion"] == pytest.approx(0.0)


def test_the_angle_between_rotations_is_exact_for_small_and_large_angles_and_blind_to_sign():
    for angle in (0.0, 1e-7, 0.3, 3.0, np.pi):
        turned = np.array([[np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]])
        still = np.array([[1.0, 0.0, 0.0, 0.0]])
        assert angle_between(still, turned) == pytest.approx(angle, abs=1e-12)
        assert angle_between(still, -turned) == pytest.approx(angle, abs=1e-12)


def test_a_ball_joint_is_one_line_of_its_largest_component(take):
    tracks = gains(take, "ada")
    first = take.cast.character("ada").joints["l_shoulder"].dof
    column = tracks.values[:, tracks.names.index("l_shoulder")]
    assert column == pytest.approx(take.stiffness[:, first : first + 3].max(axis=1))


def test_torque_is_a_share_of_strength_and_joints_without_a_limit_are_left_out(take):
    ada = take.cast.character("ada")
    tireless = dataclasses.replace(ada.joints["lumbar_flexion"], strength=None)
    take.cast = Cast({"ada": dataclasses.replace(ada, joints={**ada.joints, "lumbar_flexion": tireless})})
    tracks = torque_shares(take, "ada")
    dof = ada.dofs[-1]
    assert "lumbar_flexion" not in tracks.names
    assert tracks.values[:, -1] == pytest.approx(np.abs(take.torque[:, dof]) / 80.0)


def test_the_joints_chosen_are_those_that_moved_most(take):
    moved = travel(take, "ada", take.model())
    chosen = gains(take, "ada").pick(None, 2, moved)
    assert set(chosen.names) == {"l_shoulder", "r_shoulder_abduction"}


@pytest.mark.parametrize("plot", [plot_gains, plot_errors, plot_torques])
def test_each_plot_is_a_picture_with_something_on_it(take, tmp_path, plot):
    picture = np.asarray(Image.open(plot(take, tmp_path / "plot.png")).convert("L"))
    assert picture.shape[1] >= 1000
    assert 0.005 < (picture < 200).mean() < 0.5
    assert [p.name for p in tmp_path.iterdir()] == ["plot.png"]


def test_a_passive_joint_is_plotted_as_a_gap(take, tmp_path):
    take.target[:] = np.nan
    assert plot_errors(take, tmp_path / "plot.svg").read_text().startswith("<?xml")


def test_an_unknown_joint_and_an_unknown_format_are_refused_and_nothing_is_written(take, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'r_elbow_flexion'"):
        plot_gains(take, tmp_path / "plot.png", joints=["r_elbow_flexon"])
    with pytest.raises(TakeError, match="ends in '.bmpx'"):
        plot_gains(take, tmp_path / "plot.bmpx")
    assert not list(tmp_path.iterdir())


def test_plotting_never_loads_pyplot():
    code = "import sys, stunt.record.plots, stunt.record.filmstrip; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == 0
