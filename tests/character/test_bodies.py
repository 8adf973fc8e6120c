from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from body_helpers import posed, touching

from stunt.character.bodies import BUILT_IN, GROUPS, groups_of, make_body
from stunt.character.character import Character
from stunt.character.notes import describe_body
from stunt.errors import InvalidValueError, Place, UnknownNameError


def scene(*where: tuple[str, tuple[float, float, float]], **options: object) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    for name, position in where:
        frame = spec.worldbody.add_frame(pos=position)
        spec.attach(make_body("human39", **options), prefix=f"{name}/", frame=frame)
    return spec


@pytest.mark.parametrize("self_collision", [True, False])
@pytest.mark.parametrize("root", ["fixed", "free"])
def test_two_characters_collide_with_each_other_whatever_they_do_with_themselves(self_collision, root):
    spec = scene(("ada", (0, 0, 0)), ("bob", (0.1, 0.3, 0)), self_collision=self_collision, root=root)
    model, data = posed(spec)
    pairs = touching(model, data)
    assert pairs
    assert all(first.startswith("ada/") and second.startswith("bob/") for first, second in pairs)


@pytest.mark.parametrize("self_collision", [True, False])
def test_a_character_that_is_apart_from_itself_still_touches_the_world(self_collision):
    spec = scene(("ada", (0, 0, -0.01)), self_collision=self_collision, root="free")
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1])
    assert touching(*posed(spec)) == {("ada/l_foot", "world"), ("ada/r_foot", "world")}


def test_excludes_sites_limits_and_strengths_survive_attachment_under_a_prefix():
    body = make_body("human47")
    alone = body.compile()
    spec = mujoco.MjSpec()
    spec.attach(body, prefix="ada/", frame=spec.worldbody.add_frame(pos=[1, 2, 0.5], euler=[0, 0, 90]))
    model, data = posed(spec)
    assert (model.nexclude, model.nsite, model.njnt) == (alone.nexclude, alone.nsite, alone.njnt)
    np.testing.assert_array_equal(model.jnt_range, alone.jnt_range)
    np.testing.assert_array_equal(model.jnt_actfrcrange, alone.jnt_actfrcrange)
    assert touching(model, data) == set()
    eyes, head = data.site("ada/eyes").xpos, data.site("ada/head_top").xpos
    assert eyes[1] > head[1] + 0.05  # facing +y after the quarter turn
    assert describe_body(model, "ada")[0] == "human47: male, 1.74 m, 73 kg"


def test_a_character_knows_its_limbs():
    spec = scene(("ada", (0, 0, 0)))
    groups = groups_of(Character(spec.compile(), "ada"))
    assert groups["l_arm"] == tuple(
        f"l_{name}"
        for name in (
            "shoulder_flexion shoulder_abduction shoulder_rotation elbow_flexion forearm_pronation "
            "wrist_flexion wrist_deviation"
        ).split()
    )
    assert len(groups["arms"]) == 14 and len(groups["legs"]) == 12 and len(groups["all"]) == 33
    assert set(groups["trunk"]) == {"lumbar_flexion", "lumbar_bend", "lumbar_rotation", "thorax_flexion"}
    assert "clavicles" not in groups


@pytest.mark.parametrize("body", BUILT_IN)
def test_head_trunk_arms_and_legs_are_the_whole_body(body):
    spec = mujoco.MjSpec()
    spec.attach(make_body(body), prefix="ada/", frame=spec.worldbody.add_frame())
    character = Character(spec.compile(), "ada")
    groups = groups_of(character)
    parts = [groups.get(limb, ()) for limb in ("trunk", "head", "l_arm", "r_arm", "l_leg", "r_leg")]
    assert sorted(name for part in parts for name in part) == sorted(character.joints)
    assert set(groups) <= set(GROUPS)


def test_an_unknown_body_is_named_with_what_exists_and_what_was_meant():
    with pytest.raises(UnknownNameError) as caught:
        make_body("human93", place=Place("script.yaml", 4, ("characters", "ada", "body")))
    assert caught.value.kind == "body" and caught.value.suggestion == "human39"
    message = str(caught.value)
    assert message.startswith("script.yaml:4 (characters.ada.body): unknown body 'human93'. Did you mean 'human39'?")
    assert "torso28, human38, human39, human47" in message and ".xml" in message


@pytest.mark.parametrize(
    "wrong",
    [
        {"mass": 0.0},
        {"mass": -70.0},
        {"mass": math.nan},
        {"mass": math.inf},
        {"mass": "heavy"},
        {"height": 0.39},
        {"height": 2.61},
        {"height": math.nan},
        {"height": True},
        {"strength": 0.0},
        {"strength": math.inf},
        {"sex": "other"},
        {"root": "hanging"},
    ],
)
def test_an_impossible_value_is_refused(wrong):
    name = next(iter(wrong))
    with pytest.raises(InvalidValueError) as caught:
        make_body("human39", **wrong)
    assert caught.value.what == name


def test_the_extremes_that_are_allowed_can_be_built():
    for height, mass in ((0.4, 3.0), (2.6, 250.0), (1.7, 20.0), (1.7, 300.0)):
        model, data = posed(make_body("human47", height=height, mass=mass))
        assert model.body_mass.sum() == pytest.approx(mass)
        assert touching(model, data) == set()


def test_a_person_without_a_stated_mass_keeps_the_tables_build():
    tall = make_body("human39", height=2.0).compile()
    assert tall.body_mass.sum() / 2.0**2 == pytest.approx(73.0 / 1.741**2)
