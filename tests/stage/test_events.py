"""Events do what physics says they do."""

import mujoco
import numpy as np
import pytest

from stunt.drive.beats.performer import Performer
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.motion.pose import Pose
from stunt.stage.event_specs import Attach, Push, Release, Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

BALL = PropSpec("sphere", at=(3.0, 0.0, 1.0), radius=0.1, mass=0.5)


def stage_with(*events, gravity=(0.0, 0.0, -9.81), **props):
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39")}, props=props, gravity=gravity))
    happenings = EventCrew(stage, events)
    stage.crew.append(happenings)
    Performer(stage, "ada")
    return stage, happenings


@pytest.mark.parametrize("duration", [0.001, 0.02, 0.1])
def test_an_impulse_changes_momentum_by_itself_however_long_it_lasts(duration):
    push = Push("ball", at=0.05, impulse=(1.0, 2.0, 0.0), duration=duration)
    stage, _ = stage_with(push, gravity=(0, 0, 0), ball=BALL)
    stage.step(0.05 + duration + 0.01)
    ball = stage.prop("ball")
    assert stage.data.qvel[ball.dof : ball.dof + 3] * 0.5 == pytest.approx([1, 2, 0], abs=1e-9)


def test_a_push_off_centre_spins():
    push = Push("ball", at=0.0, impulse=(0.0, 0.1, 0.0), point=(0.1, 0.0, 0.0))
    stage, _ = stage_with(push, gravity=(0, 0, 0), ball=BALL)
    stage.step(0.1)
    ball = stage.prop("ball")
    inertia = stage.model.body_inertia[ball.body][2]
    # The push lasts ten steps while the lever turns with the ball: a few per cent off the instant formula.
    assert stage.data.qvel[ball.dof + 5] == pytest.approx(0.1 * 0.1 / inertia, rel=0.05)


def test_a_force_lasts_as_long_as_it_should():
    push = Push("ball", at=0.1, force=(4.0, 0.0, 0.0), duration=0.25)
    stage, _ = stage_with(push, gravity=(0, 0, 0), ball=BALL)
    stage.step(1.0)
    ball = stage.prop("ball")
    assert stage.data.qvel[ball.dof] == pytest.approx(4.0 * 0.25 / 0.5, rel=1e-9)


@pytest.mark.parametrize("target", ["thorax", "head", "r_shank"])
@pytest.mark.parametrize("shape", ["sphere", "box", "capsule", "cylinder"])
@pytest.mark.parametrize("hits_at", [0.3, 0.5])
def test_a_throw_hits_its_body_at_its_time(target, shape, hits_at):
    thing = PropSpec(shape, at=(3.0, 0.0, 1.0), radius=0.06, length=0.1, size=(0.1, 0.1, 0.1), mass=0.5)
    stage, _ = stage_with(Throw("ball", f"ada/{target}", hits_at=hits_at), ball=thing)
    hits = []
    stage.hit_listeners.append(hits.append)
    stage.step(hits_at + 0.05)
    assert hits[0].by == "ball"
    assert hits[0].body == target
    assert hits[0].time == pytest.approx(hits_at, abs=0.005)


def test_a_throw_at_a_site_brings_the_surface_to_that_point():
    stage, _ = stage_with(Throw("ball", "ada/chest", hits_at=0.4), ball=BALL)
    stage.step(0.4)
    mujoco.mj_kinematics(stage.model, stage.data)
    site = stage.data.site_xpos[stage.characters["ada"].sites["chest"]]
    gap = np.linalg.norm(site - stage.data.xpos[stage.prop("ball").body]) - BALL.radius
    assert abs(gap) < 0.01


def test_a_held_prop_follows_the_hand_and_falls_when_let_go():
    ball = PropSpec("sphere", at=(0.5, -0.25, 0.9), radius=0.05, mass=0.2)
    stage, happenings = stage_with(Attach("ball", "ada/r_hand", at=0.0), Release("ball", at=0.6), ball=ball)
    hand, prop = stage.characters["ada"].bodies["r_hand"], stage.prop("ball")

    def offset():
        mujoco.mj_kinematics(stage.model, stage.data)
        rotation = stage.data.xmat[hand].reshape(3, 3)
        return rotation.T @ (stage.data.xpos[prop.body] - stage.data.xpos[hand])

    start = offset()
    stage.step(0.5)
    assert np.abs(offset() - start).max() < 5e-3
    stage.step(0.4)
    assert stage.data.xpos[prop.body][2] < 0.9 - 0.2
    assert [entry["kind"] for entry in happenings.log] == ["attach", "release"]


def test_an_attach_on_contact_waits_for_the_touch_and_gives_up_in_time():
    far = PropSpec("sphere", at=(5, 5, 0.1), radius=0.1, mass=1.0)
    stage, happenings = stage_with(Attach("ball", "ada/r_hand", on_contact=True, until=0.1), ball=far)
    stage.step(0.3)
    assert not happenings.log
    assert happenings.due() is None


def test_what_does_not_exist_cannot_be_pushed_thrown_or_held():
    with pytest.raises(UnknownNameError, match="r_forearm"):
        stage_with(Push("ada/r_fourarm", at=0.0, impulse=(1, 0, 0)))
    with pytest.raises(UnknownNameError, match="ball"):
        stage_with(Throw("bal", "ada/head", hits_at=1.0), ball=BALL)
    with pytest.raises(InvalidValueError, match="mass"):
        stage_with(Release("wall", at=1.0), wall=PropSpec("box"))
    with pytest.raises(InvalidValueError, match="later"):
        stage_with(Throw("ball", "ada/head", at=1.0, hits_at=0.5), ball=BALL)


def test_passive_props_do_not_count_as_hits_and_active_ones_do():
    soft = PropSpec("sphere", at=(0.35, 0.0, 1.3), radius=0.1, mass=0.5, active=False, velocity=(-3, 0, 0))
    for active, expected in ((False, 0), (None, 1)):
        stage, _ = stage_with(ball=PropSpec(**{**soft.__dict__, "active": active}))
        hits = []
        stage.hit_listeners.append(hits.append)
        stage.step(0.3)
        assert (len(hits) > 0) == (expected > 0)


def test_scenery_counts_as_a_hit_if_it_is_told_to():
    for active, expected in ((True, 1), (None, 0)):
        wall = PropSpec("box", at=(0.3, 0.0, 1.0), size=(0.1, 1.0, 2.0), active=active)
        stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39")}, props={"wall": wall}))
        performer = Performer(stage, "ada")
        hits = []
        performer.on_hit(hits.append)
        performer.key(Pose.degrees("reach", r_shoulder_flexion=90), at=0.4)
        stage.step(0.6)
        assert (len(hits) > 0) == (expected > 0)
