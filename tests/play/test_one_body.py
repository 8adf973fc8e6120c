"""One body, whoever drives it: following, data, poses and pools hand it over to each other or are refused in words."""

import math

import numpy as np
import pytest

import stunt
from stunt.maths.rotations import heading

WALKER = stunt.Body("walk", root="free", strength=1.5)


def stage_with(**bodies: stunt.Body) -> stunt.Stage:
    return stunt.Stage(bodies or {"ada": WALKER}, hz=120)


def test_who_is_told_by_a_program_is_the_body_controllers_drive():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk")
    assert ada.body is stunt.actor_of(stage, "ada") and ada.supervisor is ada.body.driver
    with pytest.raises(stunt.StuntError, match="has a supervisor already"):
        stunt.Supervisor(stage, "ada", [stunt.BaseController()])


def test_a_clip_that_takes_over_is_forgotten_by_a_restore():
    def played(told: bool) -> stunt.Take:
        stage = stage_with()
        ada = stage.actor("ada")
        ada.follow("walk")
        stage.step(0.2)
        saved = stage.save()
        if told:
            ada.follow("idle")
            stage.step(0.3)
            assert ada.state.detail == "idle"
            stage.restore(saved)
            assert ada.state.detail == "walk"
        return stage.run(0.4)

    one, other = played(True), played(False)
    assert np.array_equal(one.qpos, other.qpos) and np.array_equal(one.torque, other.torque)


def test_a_state_saved_after_a_clip_took_over_goes_on_bit_for_bit():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk")
    stage.step(0.2)
    ada.follow("idle")
    saved = stage.save()  # told, but not carried out yet
    one = stage.run(0.4)
    stage.restore(saved)
    other = stage.run(0.4)
    assert np.array_equal(one.qpos, other.qpos) and ada.state.detail == "idle"


@pytest.mark.parametrize("before", ["play", "aim", ""])
def test_whoever_begins_to_follow_in_mid_performance_goes_on_from_the_pose_it_has(before):
    stage = stage_with()
    ada = stage.actor("ada")
    if before == "play":
        ada.play("walk")
    elif before == "aim":
        ada.aim({})
    stage.step(0.1)
    assert ada.state.doing == before
    here = stage.data.qpos.copy()
    ada.follow("walk")
    assert np.array_equal(stage.data.qpos, here) and ada.state.doing == "follow"
    stage.step(1 / 120)
    assert np.abs(stage.data.qpos - here).max() < 0.15  # nobody jumps
    take = stage.run(0.7)
    assert np.isfinite(take.qpos).all() and take.meta["tracking"]["ada"]["error_deg_mean"] < 15.0


def test_a_clip_is_turned_from_where_the_body_faces():
    def way(facing: float) -> float:
        stage = stage_with()
        ada = stage.actor("ada")
        ada.follow("idle", root=stunt.RootSpring(yaw=0.3))
        stage.step(0.3)
        ada.follow("walk", facing=facing)
        stage.step(0.1)
        assert ada.body.rows is not None
        return float(heading(ada.body.rows.turns[-1, 0]))

    turned = way(0.5) - way(0.0)
    assert abs(math.remainder(turned - 0.5, 2.0 * math.pi)) < 0.05


def test_settings_of_a_later_clip_hold_from_it_on():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk", settings=stunt.ServoSettings(gain=1.5))
    stage.step(0.1)
    ada.follow("walk", servo="parent", root=stunt.RootSpring(yaw=0.2))
    stage.step(0.1)
    assert ada.body.settings == stunt.ServoSettings(servo="parent", gain=1.5) and ada.body.root.yaw == 0.2


def test_who_does_not_react_is_not_stunned():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk", react=False)
    ada.hit("thorax", impulse=(0.0, 60.0, 0.0), at=0.1)
    take = stage.run(0.3)
    assert any(event["kind"] == "hit" for event in take.events)
    assert not any(event["kind"] == "reaction" for event in take.events) and not ada.body.weakened


def test_a_limp_body_falls_whoever_drove_it():
    stage = stage_with(a=WALKER, b=stunt.Body("walk", root="free", at=(0.0, 2.0)))
    stage.actor("a").follow("walk")
    stage.actor("b").aim({})
    high = {name: stage.actor(name).state.position[2] for name in "ab"}
    stage.step(0.2)
    for name in "ab":
        stage.actor(name).go_limp()
    stage.step(1.2)
    assert stage.actor("a").supervisor.running == "rag doll" and stage.actor("b").state.doing == ""
    for name in "ab":
        assert stage.actor(name).state.position[2] < 0.6 * high[name], name


@pytest.mark.parametrize("when", [0.2, 0.5, 0.8])
def test_a_limp_body_does_not_walk_on(when):
    """What is left of its strength holds it together: it takes energy out of the fall, and never lifts the body."""
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk")
    stage.step(when)
    ada.go_limp()
    stage.step(0.2)
    root, dofs, work = stage.character("ada").root_body, stage.character("ada").dofs, 0.0
    before = stage.data.subtree_com[root, 2]
    for _ in range(8):
        stage.step(0.1)
        assert stage.data.subtree_com[root, 2] < before + 0.001  # it meets the floor at 2.7 m/s, and rests there
        before = stage.data.subtree_com[root, 2]
        work += float(stage.board.torque[dofs] @ stage.data.qvel[dofs])
    assert work < 0.0


def test_somebody_stunned_goes_on_stunned_when_the_cast_changes():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk")
    stage.step(0.2)
    ada.stun(0.3, hold=0.5)
    stage.step(0.1)
    ada.follow("idle")
    stage.add("bob", stunt.Body("walk", root="free", at=(0.0, 2.0)))
    assert ada.body.weakened and ada.body is stunt.actor_of(stage, "ada")
    stage.step(0.1)
    assert ada.state.detail == "idle" and ada.state.doing == "follow"
    stage.push("ada/thorax", impulse=(0.0, 30.0, 0.0))
    take = stage.run(0.2)
    assert any(event["kind"] == "hit" for event in take.events) and "ada" in take.meta["tracking"]


def test_somebody_down_gets_up_whoever_joins_meanwhile():
    stage = stage_with()
    ada = stage.actor("ada")
    ada.follow("walk", get_up={"back": "stand_up", "front": "get_up_front"})
    high = ada.state.position[2]
    stage.step(0.3)
    ada.go_limp()
    stage.step(1.6)
    assert ada.supervisor.running == "rag doll" and ada.state.position[2] < 0.5 * high
    stage.add("bob", stunt.Body("walk", root="free", at=(0.0, 3.0)))
    ada.follow("idle")  # for later
    take = stage.run(4.5)
    assert [event["state"] for event in take.events if event["kind"] == "reaction"] == ["down", "rising", "following"]
    assert ada.state.detail == "idle" and ada.state.position[2] > 0.85 * high


def test_a_body_nobody_asked_the_stage_for_goes_on_too():
    stage = stage_with()
    body = stunt.actor_of(stage, "ada")
    body.begin(stunt.motion_of_clip(stunt.load_clip("walk"), stage.character("ada")))
    stage.step(0.2)
    stage.add("bob", stunt.Body("walk", root="free", at=(0.0, 2.0)))
    assert stage.actor("ada").state.doing == "follow" and stunt.actor_of(stage, "ada") is body


def walking(**more: object) -> stunt.Script:
    body = {"body": "walk", "root": "free", "strength": 1.5, "at": [1.0, 2.0, 0.0], "facing": "30 deg"}
    return stunt.script_from_data({
        "seconds": 0.8, "physics_hz": 120, "control_hz": 120, "characters": {"ada": body},
        "performance": {"ada": {"clips": {"play": [{"clip": "walk"}, {"clip": "idle", "at": 0.4}], **more}}},
    })  # fmt: skip


def test_a_program_follows_clips_as_a_script_does():
    script = walking(yaw=0.1, react={"stun": 0.5})
    stage = stunt.Stage(script.scene)
    ada = stage.actor("ada")
    ada.follow("walk", root=stunt.RootSpring(yaw=0.1), react=stunt.Thresholds(stun=0.5))
    ada.follow("idle", at=0.4)
    one, other = stage.run(0.8), stunt.perform(script)
    assert np.array_equal(one.qpos, other.qpos) and np.array_equal(one.torque, other.torque)
    told = [take.meta["tracking"]["ada"]["error_deg_mean"] for take in (one, other)]
    assert told[0] == told[1]


def test_an_actor_of_a_script_can_be_told_another_clip():
    performance = stunt.Performance(walking())
    stage = performance.stage
    stage.step(0.2)
    ada = stage.actor("ada")
    assert ada.state.doing == "follow" and ada.state.detail == "walk"
    ada.follow("punch")
    stage.step(0.4)
    assert ada.state.detail == "punch"  # and not what the script had next
    ada.play("walk")
    stage.step(0.1)
    assert ada.state.doing == "play"
