"""One loop: exact in time, repeatable, restorable, and stopped where it breaks."""

import numpy as np
import pytest

from stunt.drive.beats.performer import Performer
from stunt.errors import BlowUpError, InvalidValueError
from stunt.motion.pose import Pose
from stunt.stage.event_specs import Attach, Push, Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

POSES = (
    Pose.degrees("up", r_shoulder_flexion=120, r_elbow_flexion=30, lumbar_rotation=15),
    Pose.degrees("down", r_shoulder_flexion=20, r_elbow_flexion=90, l_shoulder_abduction=40),
)


def busy_stage(coupling="full", root="fixed"):
    """A stage where everything happens at once."""
    scene = Scene(
        characters={"ada": CharacterSpec("human39", root=root)},
        props={
            "ball": PropSpec("sphere", at=(3, 0, 1.2), mass=0.3, radius=0.08),
            "box": PropSpec("box", at=(0.6, 0.3, 1.6), mass=1.0, size=(0.2, 0.2, 0.2)),
        },
    )
    stage = StageLoop(scene)
    events = (
        Throw("ball", "ada/thorax", hits_at=0.3),
        Push("ada/r_forearm", at=0.15, impulse=(0, 2, 0)),
        Attach("ball", "ada/r_hand", at=0.2, on_contact=True),
    )
    stage.crew.append(EventCrew(stage, events))
    performer = Performer(stage, "ada", coupling=coupling)
    performer.key(POSES[0], at=0.2513)
    performer.key(POSES[1], at=0.6)
    return stage, performer


@pytest.mark.parametrize("coupling", ["full", "composite", "compensated", "local"])
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_a_saved_performance_goes_on_identically(coupling, root):
    stage, performer = busy_stage(coupling, root)
    stage.step(0.21)  # in the middle of a push, a flight and an approach
    saved = stage.save()
    stage.step(0.5)
    first = (stage.data.qpos.copy(), stage.data.qvel.copy(), list(performer.results))
    stage.restore(saved)
    assert stage.time == pytest.approx(0.21, abs=stage.step_time)
    stage.step(0.5)
    assert np.array_equal(stage.data.qpos, first[0])
    assert np.array_equal(stage.data.qvel, first[1])
    assert performer.results == first[2]


def test_a_state_can_move_to_a_stage_built_anew():
    stage, _ = busy_stage()
    stage.step(0.3)
    saved = stage.save()
    stage.step(0.2)
    other, _ = busy_stage()
    other.restore(saved)
    other.step(0.2)
    assert np.array_equal(stage.data.qpos, other.data.qpos)


def test_the_way_time_is_cut_into_calls_does_not_matter():
    whole, _ = busy_stage()
    whole.advance(300)
    pieces, _ = busy_stage()
    for n in (1, 7, 50, 242):
        pieces.advance(n)
    assert np.array_equal(whole.data.qpos, pieces.data.qpos)


def test_the_same_scene_gives_the_same_motion_bit_for_bit():
    runs = []
    for _ in range(2):
        stage, _ = busy_stage()
        stage.step(0.7)
        runs.append(stage.data.qpos.tobytes() + stage.data.qvel.tobytes())
    assert runs[0] == runs[1]


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e7])
def test_a_blow_up_is_caught_in_that_step_and_names_body_and_time(poison, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stage, _ = busy_stage()
    stage.step(0.1)
    before = stage.tick
    elbow = stage.characters["ada"].joints["r_elbow_flexion"]
    stage.data.qvel[elbow.dof] = poison
    with pytest.raises(BlowUpError) as caught:
        stage.step(0.1)
    assert stage.tick == before + 1
    assert caught.value.body.startswith("ada/")
    assert caught.value.time == pytest.approx(stage.time)
    assert f"{stage.time:.4f} s" in str(caught.value)
    assert not list(tmp_path.iterdir())  # the engine's own log file would land here


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_a_step_must_be_a_positive_time(dt):
    stage, _ = busy_stage()
    with pytest.raises(InvalidValueError, match="dt"):
        stage.step(dt)


def test_time_is_counted_in_steps_and_does_not_drift():
    stage = StageLoop(Scene(physics_hz=480, control_hz=480, props={"ball": PropSpec("sphere", mass=1.0)}))
    for _ in range(600):
        stage.step(1 / 60)
    assert stage.time == pytest.approx(10.0, abs=1e-12)
