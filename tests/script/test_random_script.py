"""Random scripts: what is promised about how they are drawn, and that enough of them is feasible."""

import mujoco
import numpy as np
import pytest

from papers.random_script import NAME, random_script
from stunt.character.character import Character
from stunt.drive.beats.forecast import forecast
from stunt.drive.beats.spec import resolve_beats
from stunt.errors import BodyError, InvalidValueError
from stunt.stage.build import build


@pytest.fixture(scope="module")
def scripts():
    return [random_script(np.random.default_rng(seed)) for seed in range(12)]


@pytest.fixture(scope="module")
def model(scripts):
    return build(scripts[0].scene).model


def beats_of(scripts):
    return [beat for script in scripts for beat in script.parts[NAME].beats]


def test_the_same_seed_gives_the_same_script():
    first, second, other = (random_script(np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert first == second and first != other


def test_beats_are_a_quarter_to_one_second_apart(scripts):
    gaps = np.array([beat.after for beat in beats_of(scripts)])
    assert gaps.min() >= 0.25 and gaps.max() <= 1.0
    assert 0.5 < gaps.mean() < 0.75


def test_every_joint_has_an_angle_inside_its_limits_in_every_pose_and_keeps_moving(scripts, model):
    joints = Character(model, NAME).joints
    assert len(joints) == 33
    for script in scripts:
        poses = [beat.pose.angles for beat in script.parts[NAME].beats]
        for pose in poses:
            assert set(pose) == set(joints)
            assert all(joints[name].range[0] <= angle <= joints[name].range[1] for name, angle in pose.items())
        assert all(a[name] != b[name] for a, b in zip(poses, poses[1:], strict=False) for name in joints)


def test_half_of_the_beats_have_velocities_in_every_joint(scripts):
    for script in scripts:
        moving = [beat.pose.velocities for beat in script.parts[NAME].beats if beat.pose.velocities]
        assert len(moving) == 4
        speeds = np.abs([list(velocities.values()) for velocities in moving])
        assert speeds.shape == (4, 33) and speeds.min() > 0 and 1.0 < speeds.max() <= 2.0


def test_clear_poses_do_not_touch_themselves(scripts, model):
    data = mujoco.MjData(model)
    character = Character(model, NAME)
    touching = 0
    for beat in beats_of(scripts):
        for name, angle in beat.pose.angles.items():
            data.qpos[character.joint(name).qpos] = angle
        mujoco.mj_forward(model, data)
        touching += int(np.any(data.contact.dist < 0))
    assert touching == 0


def test_more_than_sixty_percent_of_the_beats_are_feasible_but_not_all(scripts, model):
    character, start = Character(model, NAME), (model.qpos0, np.zeros(model.nv))
    verdicts = [
        beat.feasible
        for script in scripts
        for beat in forecast(model, character, *start, resolve_beats(script.parts[NAME]), threshold=0.4)
    ]
    assert 0.6 <= np.mean(verdicts) <= 0.85


KNOT = """
<mujoco><worldbody><body name="ada/trunk"><geom size="0.2"/>
  <body name="ada/a"><joint name="ada/a" range="-10 10"/><geom size="0.1" pos="0.1 0 0"/>
  <body name="ada/b"><joint name="ada/b" range="-10 10"/><geom size="0.1"/></body></body>
</body></worldbody></mujoco>
"""


def test_a_body_that_cannot_help_touching_itself_is_told_so(monkeypatch):
    knot = mujoco.MjModel.from_xml_string(KNOT)
    monkeypatch.setattr("papers.random_script._model_of", lambda body: knot)
    with pytest.raises(BodyError, match="clear=False"):
        random_script(np.random.default_rng(0), body="knot", beats=2)
    assert len(random_script(np.random.default_rng(0), body="knot", beats=2, clear=False).parts[NAME].beats) == 2


def test_nonsense_is_refused():
    with pytest.raises(InvalidValueError, match="at least 1"):
        random_script(np.random.default_rng(0), beats=0)
    with pytest.raises(InvalidValueError, match="more than 0"):
        random_script(np.random.default_rng(0), spread=0.0)
