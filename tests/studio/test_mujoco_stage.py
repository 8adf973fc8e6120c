"""The stage inside MuJoCo Studio: Studio's clock and mouse act on Stunt's own loop."""

import mujoco
import numpy as np
import pytest

from stunt.examples import example
from stunt.script.file import load_script

pytest.importorskip("mujoco.studio", reason="MuJoCo Studio is not installed")

from mujoco.studio import messages, sim  # noqa: E402

from stunt.record import studio_plugin  # noqa: E402
from stunt.studio.mujoco_stage import LiveStage, start_stage  # noqa: E402


class Clock:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(studio_plugin, "time", clock)
    return clock


@pytest.fixture
def live():
    return LiveStage(load_script(example("ymca").path))


def step(live, times):
    data = mujoco.MjData(live.performance.stage.model)
    for _ in range(times):
        live.on_step(messages.StepEvent(live.performance.stage.model, data))
    return data


def test_the_performance_plays_in_real_time_in_studios_data(clock, live):
    step(live, 1)
    began, first = clock.now, live.performance.stage.time
    data = step(live, 40)
    print(f"{data.time - first:.3f} s played in {clock.now - began:.3f} s")
    assert np.array_equal(data.qpos, live.performance.stage.data.qpos)
    assert data.time - first == pytest.approx(clock.now - began, rel=0.01) and clock.now > began


def test_a_machine_that_fell_behind_catches_up_a_tenth_of_a_second_at_once_and_no_more(clock, live):
    step(live, 1)
    first = live.performance.stage.time
    clock.now += 5.0
    step(live, 1)
    assert live.performance.stage.time - first == pytest.approx(0.1, abs=live.performance.stage.step_time)


def test_studios_pause_reset_and_mouse_work_on_the_stage(live):
    step(live, 5)
    force = np.zeros((live.performance.stage.model.nbody, 6))
    force[live.performance.stage.character("dancer").body("thorax"), 0] = 120.0
    live.on_perturb(messages.PerturbSnapshot(force.ravel(), int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)))
    assert np.array_equal(live.performance.stage.data.xfrc_applied, force)
    live.on_step_control(_control(sim.PauseState.NORMAL_PAUSED))
    before = live.performance.stage.tick
    step(live, 3)
    assert live.performance.stage.tick == before
    live.on_reset(messages.ResetEvent())
    assert live.performance.stage.tick == 0


def _control(state):
    return type("Control", (), {"pause_state": state, "speed": 100.0})()


def test_it_opens_as_a_page_on_this_machine():
    handle, live = start_stage(load_script(example("ymca").path), web=True, open_browser=False)
    with handle:
        for _ in range(20):
            handle.sync()
        assert live.performance.stage.tick > 0
