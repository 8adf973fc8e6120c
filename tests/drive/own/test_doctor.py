"""Whether a motion can be done on own feet is known before it is tried."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

import stunt
from stunt.cli.main import main
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.errors import BodyError
from stunt.library.names import load_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def told(clip: str, kind: str, **spec) -> tuple[BodyActor, BodyMotion]:
    body = CharacterSpec(clip, root="free", **{"strength": 1.5, **spec})
    stage = StageLoop(Scene({"a": body}, physics_hz=480.0, control_hz=120.0))
    actor = actor_of(stage, "a", root=RootSpring(kind=kind))  # type: ignore[arg-type]
    return actor, motion_of_clip(load_clip(clip), actor.character)


def test_standing_still_takes_what_statics_says():
    """The ground's share is found: ankles and knees get what inverse dynamics with both soles leaves them."""
    actor, motion = told("idle", "own")
    found = actor.motions.feasibility_of(motion)
    assert found.share == 1.0 and 0.0 < found.load < 0.7 and found.lost < 0.02
    half = told("idle", "own", strength=0.75)
    again = half[0].motions.feasibility_of(half[1])
    assert again.load == pytest.approx(2.0 * found.load, rel=0.25)


def test_a_body_too_weak_or_too_slippery_is_refused_in_words_and_held_under_auto():
    for spec, said in (({"strength": 1e-4}, "times its strength"),):
        actor, motion = told("idle", "own", **spec)
        with pytest.raises(BodyError, match=said):
            actor.begin(motion)
        actor, motion = told("idle", "auto", **spec)
        actor.begin(motion)
        assert not actor.on_own_feet and actor.log[-1]["assist"] == "weak" and said in actor.log[-1]["why"]
    actor, motion = told("idle", "own")
    actor.character.grip = dict.fromkeys(actor.character.grip, 0.05)
    with pytest.raises(BodyError, match="friction of 0.05"):
        actor.begin(motion)


def test_a_clip_without_contacts_is_held_under_auto():
    actor, motion = told("idle", "auto")
    high = dataclasses.replace(motion, qpos=motion.qpos + np.r_[0.0, 0.0, 1.0, np.zeros(motion.qpos.shape[1] - 3)])
    falling = high.qpos.copy()
    falling[:, 2] -= np.linspace(0.0, 0.9, len(falling)) ** 2
    actor.begin(dataclasses.replace(high, qpos=falling))
    assert not actor.on_own_feet and actor.log[-1]["kind"] == "assist"


def test_auto_takes_own_feet_where_rehearsals_hold_and_says_so():
    actor, motion = told("walk", "auto")
    actor.begin(motion)
    assert actor.on_own_feet and [entry["assist"] for entry in actor.log if entry["kind"] == "assist"] == ["own"]
    actor.stage.advance(240)
    assert actor.on_own_feet


def test_auto_does_not_take_own_feet_where_a_rehearsal_falls(monkeypatch):
    monkeypatch.setattr("stunt.drive.own.doctor.SPEED", 3.0)  # shoved at the start
    actor, motion = told("idle", "auto")
    actor.begin(motion)
    assert not actor.on_own_feet and "did not stay up in rehearsal" in actor.log[-1]["why"]
    root = actor.character.root.dof
    actor.stage.advance(240)
    assert actor.stage.data.qfrc_applied[root : root + 6].any()  # the weak spring


def test_a_rehearsal_leaves_the_stage_as_it_is():
    actor, motion = told("idle", "auto")
    before = [actor.stage.data.qpos.copy(), actor.stage.model.geom_priority.copy()]
    _ = actor.motions.doubt_about(motion)
    assert np.array_equal(before[0], actor.stage.data.qpos) and actor.stage.tick == 0
    assert actor.motions.doubt_about(motion) is actor.motions.doubt_about(motion)  # once


def test_the_command_line_refuses_beforehand_and_writes_nothing(tmp_path, capsys):
    words = ["track", "idle", "--assist", "own", "--strength", "0.0001", "--out", str(tmp_path / "take")]
    assert main(words) == 2 and not (tmp_path / "take").exists()
    assert "times its strength" in capsys.readouterr().err


def test_check_tells_of_own_feet(capsys):
    assert main(["check", "walk"]) == 0
    said = capsys.readouterr().out
    assert "own feet" in said and "will hold at strength 1.5" in said and "% of the frames" in said


def test_follow_takes_auto_and_the_take_has_the_event():
    clip = stunt.load_clip("idle")
    scene = stunt.Scene({"ada": stunt.Body(clip, root="free", strength=1.5)}, physics_hz=480, control_hz=120)
    stage = stunt.Stage(scene)
    stage.actor("ada").follow(clip, assist="auto")
    take = stage.run(0.2)
    assert [(e["character"], e["assist"]) for e in take.events if e["kind"] == "assist"] == [("ada", "own")]


def test_inverse_dynamics_asks_for_the_whole_weight():
    """Contacts carry the body's weight in a stance: what they cannot give is next to nothing."""
    actor, motion = told("idle", "own")
    mass = float(actor.stage.model.body_subtreemass[actor.character.root_body])
    assert mass == pytest.approx(actor.character.mass) and mujoco.mj_getTotalmass(actor.stage.model) > 0.0
    assert actor.motions.feasibility_of(motion).lost < 0.02
