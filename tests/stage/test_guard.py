"""What watches over the physics: its energy is the engine's, and what goes wrong quietly is said."""

from __future__ import annotations

import signal
import time

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.loop import guard
from stunt.errors import BlowUpError, StuntError
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

BALL = {
    "ball": PropSpec("sphere", radius=0.1, mass=2.0, at=(0.0, 0.0, 2.0), velocity=(1.0, 0.5, 0.0), spin=(3.0, 1.0, 0.0))
}


def found(stage):
    return {name: stage.guard.found[0][name].item() for name in guard.FOUND.names}


@pytest.mark.parametrize("people", [{}, {"ada": CharacterSpec("human39", root="free", at=(0.0, 2.0, 0.5))}])
def test_its_energy_is_the_engines(people):
    stage = StageLoop(Scene(characters=people, props=BALL, physics_hz=240, control_hz=240))
    stage.advance(37)
    while found(stage)["looking"] == 0:
        stage.advance(1)
    # A look has just begun: its energy is that of the state before the last step.
    before = StageLoop(Scene(characters=people, props=BALL, physics_hz=240, control_hz=240))
    before.advance(stage.tick - 1)
    before.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(before.model, before.data)
    assert found(stage)["energy"] == pytest.approx(float(before.data.energy.sum()), rel=1e-9)


def test_flight_makes_no_energy_and_a_fall_only_loses_it():
    stage = StageLoop(Scene(props=BALL))
    stage.advance(900)
    assert found(stage)["boost"] < 0.2 * 2.0 and stage.guard.warnings(stage.step_time) == []


def test_energy_from_nowhere_is_told_with_its_time():
    """A ball that begins deep inside the ground is thrown out by its contact: nothing has worked for that."""
    stage = stunt.Stage(Scene(props={"ball": PropSpec("sphere", radius=0.1, mass=1.0, at=(0.0, 0.0, -3.0))}))
    stage.run(0.1)
    [pressed, boost] = stage.take().meta["warnings"]
    assert "'ball' was 3.10 m deep in something at 0.000 s" in pressed and "J came from nowhere at 0.0" in boost


def test_what_a_push_does_is_not_from_nowhere():
    stage = stunt.Stage(Scene(props={"ball": PropSpec("sphere", radius=0.1, mass=1.0, at=(0.0, 0.0, 5.0))}))
    stage.push("ball", impulse=(20.0, 0.0, 0.0), duration=0.05)
    stage.run(0.2)
    assert np.linalg.norm(stage.data.qvel[:3]) > 15.0
    assert found(stage)["boost"] < 10.0 and stage.take().meta["warnings"] == []


@pytest.mark.parametrize(
    "prop",
    [
        PropSpec("box", size=(0.001, 0.001, 0.001), mass=1.0, at=(0.0, 0.0, 2.0)),
        PropSpec("capsule", radius=0.1, length=0.3, mass=20.0, at=(0.0, 0.0, 5.0), velocity=(0.0, 0.0, -137.0)),
    ],
)
def test_a_body_a_quarter_of_a_metre_under_the_ground_is_a_warning(prop):
    scene = Scene(props={"thing": prop}, gravity=(0.0, 0.0, -1000.0), collisions=None, physics_hz=120, control_hz=120)
    stage = stunt.Stage(scene)
    try:
        stage.run(1.0)
    except BlowUpError:
        return
    places = stage.take().qpos[:, 2]
    warned = [text for text in stage.take().meta["warnings"] if "'thing' was" in text and "below the ground" in text]
    assert bool(warned) == (places.min() < -guard.DEEP)


def test_scenery_below_the_ground_is_meant_to_be_there():
    stage = stunt.Stage(Scene(props={**BALL, "cellar": PropSpec("box", size=(1.0, 1.0, 1.0), at=(0.0, 0.0, -3.0))}))
    stage.run(0.1)
    assert stage.take().meta["warnings"] == []


def test_without_a_floor_nothing_is_below_it():
    stage = stunt.Stage(Scene(props=BALL, ground=False))
    stage.run(2.0)
    assert stage.data.qpos[2] < -1.0 and stage.take().meta["warnings"] == []


def test_it_is_saved_with_the_stage():
    stage = StageLoop(Scene(props=BALL))
    stage.advance(100)
    state = stage.save()
    stage.advance(333)
    first = found(stage)
    stage.restore(state)
    stage.advance(333)
    assert found(stage) == first


@pytest.mark.parametrize("deed", ["reset", "step", "timestep"])
def test_a_stage_that_somebody_else_steps_or_resets_is_an_error(deed):
    stage = StageLoop(Scene(props=BALL))
    stage.advance(100)
    if deed == "reset":
        mujoco.mj_resetData(stage.model, stage.data)
    elif deed == "step":
        mujoco.mj_step(stage.model, stage.data)
    else:
        stage.model.opt.timestep *= 3.0
    with pytest.raises(StuntError, match="the engine's clock shows"):
        stage.advance(100)


def test_a_long_call_is_cut_into_stretches_and_bit_for_bit_the_same():
    people = {"ada": CharacterSpec("human39", root="free")}
    scene = Scene(characters=people, props=BALL, physics_hz=480, control_hz=120)
    one, other = StageLoop(scene), StageLoop(scene)
    other._stretch = 1
    one.advance(1001)
    for _ in range(1001):
        other._stretch = 1
        other.advance(1)
    cut = StageLoop(scene)
    cut._reach = lambda end, plain=cut._reach: (setattr(cut, "_stretch", 1), plain(end))[1]
    cut.advance(1001)
    for stage in (other, cut):
        np.testing.assert_array_equal(stage.data.qpos, one.data.qpos)
        np.testing.assert_array_equal(stage.data.qvel, one.data.qvel)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_ctrl_c_ends_a_call_of_years_and_leaves_a_whole_step():
    stage = StageLoop(Scene(props=BALL))
    stage.advance(10)
    heard = []

    def press(number, frame):
        heard.append(time.process_time())
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            stage.step(1e9)
        ended = time.process_time()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended - heard[0] < 0.25
    assert stage.tick > 10 and stage.data.time == pytest.approx(stage.time, abs=1e-6)
    stage.advance(10)  # and it goes on


class AlwaysDue:
    def due(self):
        return 0

    def act(self):
        pass

    def save(self):
        return None

    def restore(self, state):
        pass


def test_a_crew_that_is_always_due_is_told():
    stage = StageLoop(Scene(props=BALL))
    stage.crew.append(AlwaysDue())
    with pytest.raises(
        StuntError, match="AlwaysDue of the crew has just acted at tick 0, and says it is due at tick 0"
    ):
        stage.advance(5)


@pytest.mark.parametrize("steps", [1.5, -1, float("nan"), "x", None, True, [1], 2**70, 1j, float("inf")])
def test_no_number_of_steps_is_named(steps):
    stage = StageLoop(Scene(props=BALL))
    with pytest.raises(StuntError, match="steps must be"):
        stage.advance(steps)


@pytest.mark.parametrize("dt", [-1, 0, float("nan"), "x", None, True, [0.1], 1j, float("inf"), np.array([0.1, 0.2])])
def test_no_time_step_is_named(dt):
    stage = StageLoop(Scene(props=BALL))
    with pytest.raises(StuntError, match="dt must be"):
        stage.step(dt)
