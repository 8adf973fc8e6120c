"""The stage inside MuJoCo Studio: Studio's clock and mouse act on Stunt's own loop."""

import time

import mujoco
import numpy as np
import pytest

from stunt.examples import example
from stunt.script.file import load_script

pytest.importorskip("mujoco.studio", reason="MuJoCo Studio is not installed")

from mujoco.studio import messages, sim  # noqa: E402

from stunt.studio.mujoco_stage import LiveStage, start_stage  # noqa: E402


@pytest.fixture
def live():
    return LiveStage(load_script(example("ymca").path))


def step(live, times):
    data = mujoco.MjData(live.performance.stage.model)
    for _ in range(times):
        live.on_step(messages.StepEvent(live.performance.stage.model, data))
    return data


def test_the_performance_plays_in_real_time_in_studios_data(live):
    step(live, 1)
    began, first = time.monotonic(), live.performance.stage.time
    data = step(live, 40)
    passed = time.monotonic() - began
    print(f"{data.time - first:.2f} s played in {passed:.2f} s")
    assert np.array_equal(data.qpos, live.performance.stage.data.qpos)
    assert 0.2 * passed < data.time - first < 1.5 * passed + 0.1


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
