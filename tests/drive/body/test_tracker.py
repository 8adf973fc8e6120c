"""Bodies that follow clips: laws of the servo and the bars it must meet. Clips are not part of the package."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from tracking_helpers import follow, tracked

from captured import CLIPS, needs_clips
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.actor import SHAKEN, BodyActor, actor_of
from stunt.drive.body.measures import measure
from stunt.drive.motion.body_motion import BodyMotion, blended, make_rows, motion_of_clip, repeated
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.maths import rotations
from stunt.stage.contacts import Hit
from stunt.stage.event_specs import Push
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.data.tracking import QueuedClip, follow_clips


@needs_clips
@pytest.mark.parametrize("name", ["walk", "jump", "hard", "punch"])
def test_a_clip_is_followed_to_its_end_within_the_strength_of_the_joints(name: str) -> None:
    found = follow(tracked(name))
    limits, spring = found["limits"], found["root_spring"]
    print(name, found["error_deg_mean"], found["drift_m"], limits, spring["torque_mean"])
    assert not found["fell"]
    assert found["error_deg_mean"] < CLIPS.most_error(name)
    assert limits["over_share"] <= 0.002 and limits["worst"] <= 1.5
    assert spring["torque_mean"] <= CLIPS.torque and spring["force_peak"] == 0.0


@needs_clips
def test_no_torque_acts_on_any_bone_from_outside() -> None:
    """In free fall without help, angular momentum stays what it was, the better the finer the step."""
    drifts = []
    for hz in (120.0, 480.0):
        tracker = tracked("jump", hz=hz, gravity=0.0, root=RootSpring(kind="none"))
        stage = tracker.stage
        before = _momentum(stage)
        stage.step(0.5)
        drifts.append(float(np.linalg.norm(_momentum(stage) - before)))
    print("drift of angular momentum [kg·m²/s]:", drifts)
    assert drifts[0] <= 2.0 and drifts[1] <= max(0.3 * drifts[0], 0.05)


def _momentum(stage: StageLoop) -> np.ndarray:
    mujoco.mj_forward(stage.model, stage.data)
    mujoco.mj_subtreeVel(stage.model, stage.data)
    return np.array(stage.data.subtree_angmom[1])


@needs_clips
def test_a_stage_saved_in_the_middle_of_a_clip_goes_on_identically() -> None:
    tracker = tracked("walk")
    stage = tracker.stage
    stage.step(0.7)
    saved = stage.save()
    stage.step(0.5)
    first = stage.data.qpos.copy()
    stage.restore(saved)
    stage.step(0.5)
    assert np.array_equal(first, stage.data.qpos)


@needs_clips
def test_help_is_recorded_and_metered_and_none_is_none() -> None:
    helped, alone = tracked("idle"), tracked("idle", root=RootSpring(kind="none"))
    for tracker in (helped, alone):
        tracker.stage.step(0.5)
    assert helped.assistance().torque_mean > 0.0
    assert alone.assistance().torque_peak == 0.0
    name, pull = helped.stage.strings[-1]()
    assert name == "a" and np.linalg.norm(pull[3:]) > 0.0 and not pull[:3].any()


@needs_clips
def test_without_help_it_falls_and_on_a_hook_it_stays_on_its_path() -> None:
    alone = follow(tracked("walk", root=RootSpring(kind="none")))
    hooked = follow(tracked("walk", root=RootSpring(kind="hook")))
    assert alone["fell"] and not hooked["fell"]
    assert hooked["drift_m"] < 0.1  # type: ignore[operator]


@needs_clips
@pytest.mark.parametrize("name", ["walk", "punch", "jump"])
def test_world_space_degrades_gently_from_four_times_the_gain_to_a_quarter(name: str) -> None:
    found = [follow(tracked(name, seconds=8.0, settings=ServoSettings(gain=gain))) for gain in (4.0, 0.25)]
    strong, weak = (entry["error_deg_mean"] for entry in found)
    print(name, "error at gain × 4 and × 0.25:", strong, weak)
    assert weak <= 8.0 * strong and not any(entry["fell"] for entry in found)


@needs_clips
@pytest.mark.parametrize("servo", ["parent", "parent_equal", "beat"])
def test_the_other_servos_follow_too(servo: str) -> None:
    found = follow(tracked("idle", seconds=2.0, settings=ServoSettings(servo=servo)))  # type: ignore[arg-type]
    print(servo, found["error_deg_mean"])
    assert not found["fell"] and found["error_deg_mean"] < 12.0  # type: ignore[operator]


@needs_clips
@pytest.mark.parametrize(("name", "most"), CLIPS.external.items())
def test_captured_clips_are_followed_in_the_external_form(name: str, most: float) -> None:
    found = follow(tracked(name, settings=ServoSettings(external=True)))
    print(name, found["error_deg_mean"], found["limits"], found["root_spring"]["torque_mean"])
    assert not found["fell"] and found["error_deg_mean"] < most
    assert found["limits"]["over_share"] <= 0.002 and found["root_spring"]["torque_mean"] < 0.35


@needs_clips
def test_going_over_to_another_motion_starts_where_the_first_one_is() -> None:
    tracker = tracked("idle", seconds=3.0)
    first = tracker.rows
    other = tracker.motion.trimmed(0.5 * tracker.motion.duration, tracker.motion.duration)
    rows = make_rows(tracker.stage.model, tracker.character, other, tracker.soles)
    mixed = blended(tracker.stage.model, first, 0.5, rows, 0.3)
    frame = round(0.5 * first.fps)
    assert np.allclose(np.abs((mixed.turns[0] * first.turns[frame]).sum(-1)), 1.0, atol=1e-9)
    assert np.allclose(mixed.turns[-1], rows.turns[-1])
    tracker.stage.step(0.5)
    tracker.follow(other, blend=0.3)
    tracker.stage.step(1.0)
    assert tracker.stage.data.qpos[2] > 0.7


@needs_clips
def test_a_stun_weakens_at_once_and_wears_off() -> None:
    tracker = tracked("idle", root=RootSpring(kind="hook"))
    tracker.stage.step(0.3)
    tracker.stun(0.02, down=0.05, hold=0.2, up=0.3)
    tracker.stage.step(0.25)
    weak = _error(tracker)
    tracker.stage.step(1.5)
    print("error stunned, recovered [°]:", weak, _error(tracker))
    assert weak > 3.0 * _error(tracker)


def _error(tracker: BodyActor) -> float:
    qpos = tracker.stage.data.qpos[None].copy()
    return float(measure(tracker, np.array([tracker.stage.time] * 2), np.repeat(qpos, 2, axis=0))["error_deg_mean"])


@needs_clips
def test_hits_are_answered_by_how_hard_they_are() -> None:
    tracker = tracked("idle")
    follow_clips(tracker.stage, "a", [QueuedClip(tracker.motion)])
    states = lambda: [entry["state"] for entry in tracker.log]  # noqa: E731
    for share, limb, known in (
        (0.2, "thorax", []), (1.0, "thorax", ["giving"]), (5.0, "l_hand", ["giving"] * 2),
        (5.0, "thorax", ["giving", "giving", "stunned"]), (20.0, "head", ["giving", "giving", "stunned", "down"]),
    ):  # fmt: skip
        for listener in tracker.stage.hit_listeners:
            listener(Hit(tracker.stage.time, "a", limb, "ball", (0.0, 0.0, 1.0), share * tracker.weight))
        tracker.stage.step(0.2)
        assert states() == known
    assert tracker.program.actors[tracker.number]["stun_low"] < 0.1


def test_a_looping_motion_goes_on_from_where_it_got_to() -> None:
    qpos = np.zeros((11, 7))
    qpos[:, 0], qpos[:, 2], qpos[:, 3] = np.linspace(0.0, 1.0, 11), 1.0, 1.0
    long = repeated(BodyMotion("walk", 10.0, qpos, loop=True), 2.5)
    assert long.duration >= 2.5
    assert np.allclose(np.diff(long.qpos[:, 0]), 0.1)


def test_a_motion_can_be_put_anywhere_on_the_ground() -> None:
    qpos = np.zeros((3, 7))
    qpos[:, 0], qpos[:, 2] = [1.0, 2.0, 3.0], 0.9
    qpos[:, 3:7] = rotations.from_rotation_vector([0.0, 0.0, 0.4])
    moved = BodyMotion("m", 10.0, qpos).placed((5.0, -1.0), 0.4 + np.pi / 2)
    assert np.allclose(moved.qpos[:, :3], [[5.0, -1.0, 0.9], [5.0, 0.0, 0.9], [5.0, 1.0, 0.9]])
    assert np.allclose(rotations.heading(moved.qpos[:, 3:7]), 0.4 + np.pi / 2)


@needs_clips
def test_pushed_over_it_lies_and_gets_up_by_the_clip_for_the_side_it_lies_on() -> None:
    tracker = tracked("idle")
    stage = tracker.stage
    get_up = {
        side: motion_of_clip(read_clip(CLIPS.path(f"get_up_{side}")), tracker.character) for side in ("front", "back")
    }
    follow_clips(stage, "a", [QueuedClip(tracker.motion)], get_up=get_up)
    happenings = EventCrew(stage)
    stage.crew.append(happenings)
    happenings.add(Push("a/thorax", 0.5, impulse=(250.0, 0.0, 0.0), duration=0.05))
    stage.step(2.5 + get_up["back"].duration + 1.0)
    states = [entry["state"] for entry in tracker.log if entry["state"] != SHAKEN]  # it lands hard
    print(tracker.log, stage.data.qpos[2])
    assert states[:2] == ["down", "rising"]
    assert stage.data.qpos[2] > 0.75 * tracker.motion.qpos[-1, 2]


@needs_clips
def test_a_body_has_one_actor_and_a_second_supervisor_is_refused_in_words() -> None:
    tracker = tracked("idle", seconds=2.0)
    stage = tracker.stage
    assert actor_of(stage, "a") is tracker
    with pytest.raises(StuntError, match="'a' has an actor already"):
        BodyActor(stage, "a")
    follow_clips(stage, "a", [QueuedClip(tracker.motion)])
    taken = "'a' has a supervisor already, with 'clips', 'stumble', 'fall', 'rag doll' in its pool"
    with pytest.raises(StuntError, match=taken):
        follow_clips(stage, "a", [QueuedClip(tracker.motion)])
    stage.step(0.1)
    tracker.follow(tracker.motion)
    stage.step(0.1)
    assert tracker.follows and tracker.program.names == ["a"]


def test_a_mistake_while_a_clip_is_made_ready_or_followed_ends_the_performance_and_is_not_swallowed(monkeypatch):
    """Taken out like anybody's controller, the clips would leave a limp body and a take that says nothing of why."""
    from stunt.drive.body.repertoire import Repertoire
    from stunt.supervise.data.tracking import ClipQueue

    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", root="free")}))
    motion = motion_of_clip(load_clip("idle"), stage.character("ada"))
    with monkeypatch.context() as broken:
        broken.setattr(Repertoire, "targets_of", divmod)
        with pytest.raises(TypeError, match="divmod"):
            follow_clips(stage, "ada", [QueuedClip(motion)])
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", root="free")}))
    follow_clips(stage, "ada", [QueuedClip(motion)])
    monkeypatch.setattr(ClipQueue, "step", divmod)
    with pytest.raises(TypeError, match="divmod"):
        stage.step(0.5)
