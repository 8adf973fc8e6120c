"""The constant-gain peer: what it does, and how far behind the beat law it stays."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
import pytest

from papers.p0.constant_pd import ConstantPD, Gains, gains_of, perform_constant_pd, tune
from papers.p0.inertia import joint_moments
from papers.runs import mean_error_deg
from stunt.control.core.board import IMPEDANCE
from stunt.drive.beats.spec import Coupling, Script
from stunt.errors import MissingValueError
from stunt.examples import example
from stunt.motion.pose import Pose
from stunt.script.file import load_script
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

RATES = (480.0, 120.0)
SCRIPTS = ("ymca", "conductor")
BAR = 20.0


def at_rate(name: str, rate: float) -> Script:
    script = load_script(example(name).path)
    return dataclasses.replace(script, scene=dataclasses.replace(script.scene, physics_hz=rate, control_hz=rate))


@functools.cache
def beat_law_error(name: str, rate: float, coupling: Coupling) -> float:
    script = at_rate(name, rate)
    parts = {who: dataclasses.replace(part, coupling=coupling) for who, part in script.parts.items()}
    performance = Performance(dataclasses.replace(script, parts=parts), record_hz=1.0, foretell=False)
    performance.run()
    (performer,) = performance.performers.values()
    return mean_error_deg(performer.results)


@functools.cache
def tuned(name: str, rate: float) -> dict[str, Gains]:
    return tune(at_rate(name, rate))


def servo_error(script: Script, gains: dict[str, Gains]) -> float:
    (performer,) = perform_constant_pd(script, gains).performers.values()
    return mean_error_deg(performer.results)


def servo(frequency: float = 20.0, ratio: float = 1.0) -> tuple[StageLoop, ConstantPD]:
    stage = StageLoop(Scene(characters={"ada": CharacterSpec(body="human39")}))
    gains = gains_of(joint_moments(stage.model, stage.data), frequency, ratio)
    return stage, ConstantPD(stage, "ada", gains)


def test_gains_are_those_of_a_damped_oscillator() -> None:
    gains = gains_of(np.array([2.0]), 3.0, 0.5)
    assert gains.stiffness == pytest.approx([18.0])
    assert gains.damping == pytest.approx([6.0])


def test_a_servo_without_keys_holds_its_pose_against_gravity() -> None:
    stage, ada = servo()
    start = stage.data.qpos.copy()
    stage.step(0.5)
    assert np.abs(stage.data.qpos - start).max() < 1e-6
    assert (stage.board.law[[joint.id for joint in ada.character.joints.values()]] == IMPEDANCE).all()


def test_a_joint_alone_follows_the_step_response_of_its_oscillator() -> None:
    # The straight arm moves nearly as one piece, so that its shoulder behaves as the textbook says.
    stage, ada = servo(frequency=12.0)
    angle = math.radians(20.0)
    ada.key(Pose("bent", {"r_shoulder_flexion": angle}), at=0.25)
    stage.step(0.25)
    expected = angle * (1.0 + 12.0 * 0.25) * math.exp(-12.0 * 0.25)
    missing = -math.radians(ada.results[0].joint_errors_deg["r_shoulder_flexion"])
    assert missing == pytest.approx(expected, rel=0.25)


def test_gains_stay_the_same_from_beat_to_beat() -> None:
    performance = perform_constant_pd(at_rate("ymca", 120.0), tuned("ymca", 120.0))
    take = performance.take()
    driven = take.stiffness[1:, take.stiffness[1] > 0.0]
    assert np.ptp(driven, axis=0).max() == 0.0


def test_the_target_of_a_recorded_servo_is_the_next_pose() -> None:
    performance = perform_constant_pd(at_rate("ymca", 120.0), tuned("ymca", 120.0))
    take = performance.take()
    (performer,) = performance.performers.values()
    joint = performer.character.joints["r_shoulder_abduction"]
    first = performer.part.beats[0].pose.angles["r_shoulder_abduction"]
    assert take.target[1, joint.qpos] == pytest.approx(first)


def test_tuning_is_deterministic() -> None:
    script = at_rate("ymca", 120.0)
    (one,), (two,) = tune(script).values(), tune(script).values()
    assert (one.stiffness == two.stiffness).all() and (one.damping == two.damping).all()


def test_tuning_improves_on_critical_damping_and_stays_within_the_strength() -> None:
    script = at_rate("ymca", 120.0)
    best = perform_constant_pd(script, tuned("ymca", 120.0)).performers["dancer"].results[0]
    stage = Performance(script, foretell=False).stage
    plain = gains_of(joint_moments(stage.model, stage.data), 3.89 / best.time, 1.0)
    untuned = perform_constant_pd(script, {"dancer": plain}).performers["dancer"].results[0]
    assert best.error_deg < 0.6 * untuned.error_deg
    assert best.saturated == ()


def test_a_script_without_beats_cannot_be_tuned_for() -> None:
    script = at_rate("ymca", 120.0)
    parts = {who: dataclasses.replace(part, beats=()) for who, part in script.parts.items()}
    with pytest.raises(MissingValueError, match="beats"):
        tune(dataclasses.replace(script, parts=parts))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_beat_law_is_twenty_times_closer_than_constant_gains(name: str, rate: float) -> None:
    """However the first pose is tuned for: jointly or singly, with or without the joints' full strength on the way."""
    ours = beat_law_error(name, rate, "full")
    script = at_rate(name, rate)
    theirs = {
        "all joints alike": servo_error(script, tune(script, refine=False)),
        "joint by joint": servo_error(script, tuned(name, rate)),
        "all joints alike, at any effort": servo_error(script, tune(script, refine=False, within_strength=False)),
        "joint by joint, at any effort": servo_error(script, tune(script, within_strength=False)),
    }
    for how, error in theirs.items():
        say(f"{name} at {rate:g} Hz, constant gains tuned {how}", ours, error)
        assert error >= BAR * ours


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_beat_law_is_twenty_times_closer_than_local_inertia(name: str, rate: float) -> None:
    ours, theirs = beat_law_error(name, rate, "full"), beat_law_error(name, rate, "local")
    say(f"{name} at {rate:g} Hz, local inertia", ours, theirs)
    assert theirs >= BAR * ours


def say(what: str, ours: float, theirs: float) -> None:
    ratio = theirs / ours if ours > 0.0 else math.inf
    print(f"{what}: {theirs:.3g}° against {ours:.3g}°, {ratio:.0f} times")
