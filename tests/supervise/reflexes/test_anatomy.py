"""Bodies as behaviours see them: one neutral stance for all skeletons, and limbs that reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stunt.errors import BodyError
from stunt.library.names import find_clip
from stunt.maths import rotations
from stunt.stage.build import build
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.reflexes.anatomy import anatomy_of
from stunt.supervise.reflexes.posture import arm, leg, limb, standing, together, trunk, tucked, turn, with_limb

OWN = str(find_clip("idle"))


def anatomy(body: str = OWN, facing: float = 0.0):
    built = build(Scene({"a": CharacterSpec(body, root="free", facing=facing)}))
    return anatomy_of(built.model, built.characters["a"], facing)


@pytest.mark.parametrize("body", [OWN, "human39", "human47"])
@pytest.mark.parametrize("facing", [0.0, 2.0])
def test_in_the_neutral_stance_arms_and_legs_hang_straight_down_and_it_faces_forward(body, facing):
    known = anatomy(body, facing)
    places = known.places(known.lifted({}))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        for upper, lower in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shank"), ("shank", "foot")):
            bone = places[known.number(f"{side}_{lower}")] - places[known.number(f"{side}_{upper}")]
            assert np.allclose(bone / np.linalg.norm(bone), [0, 0, -1], atol=0.03), (side, upper)
        assert sign * places[known.number(f"{side}_thigh")][1] > 0.05
    assert places[known.number("head")][2] > 0.4


def test_anatomical_angles_go_the_way_they_are_called():
    known = anatomy()
    at = lambda posture, body: known.places(known.lifted(posture))[known.number(body)]  # noqa: E731
    assert at(arm("l", 90.0), "l_hand")[0] > 0.4  # forward
    assert at(arm("l", 0.0, 90.0), "l_hand")[1] > 0.6  # to the left
    assert at(arm("r", 0.0, 90.0), "r_hand")[1] < -0.6
    assert at(leg("l", 90.0, 0.0), "l_foot")[0] > 0.7
    assert at(leg("l", 0.0, 90.0), "l_foot")[0] < -0.3  # a bent knee takes the foot back
    assert at(trunk(60.0), "head")[0] > 0.2 and at(trunk(0.0, 40.0), "head")[1] < -0.1
    ball = known.places(known.lifted(tucked(1.0)))
    assert np.linalg.norm(ball[known.number("l_shank")] - ball[known.number("thorax")]) < 0.5


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["l", "r"]), st.sampled_from(["arm", "leg"]), st.floats(-np.pi, np.pi), st.floats(-1.2, 1.2),
    st.floats(0.3, 0.98),
)  # fmt: skip
def test_a_limb_ends_where_it_is_told_to(side, kind, azimuth, elevation, share):
    known = ANATOMY
    lifted = known.lifted(standing())
    upper = f"{side}_upper_arm" if kind == "arm" else f"{side}_thigh"
    lower, end = (f"{side}_forearm", f"{side}_hand") if kind == "arm" else (f"{side}_shank", f"{side}_foot")
    reach = share * (known.length(upper) + known.length(lower))
    way = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    point = known.places(lifted)[known.number(upper)] + reach * way
    turned, short = limb(known, side, kind, lifted, point, np.array([0.3, 0.9, 0.5]))
    found = known.places(with_limb(known, lifted, turned))[known.number(end)]
    assert short < 1e-9
    assert np.linalg.norm(found - point) < 1e-6


ANATOMY = anatomy()


def test_a_limb_too_short_stretches_toward_the_point_and_says_how_far_it_is_off():
    lifted = ANATOMY.lifted({})
    shoulder = ANATOMY.places(lifted)[ANATOMY.number("l_upper_arm")]
    turned, short = limb(ANATOMY, "l", "arm", lifted, shoulder + [2.0, 0.0, 0.0], np.array([0.0, 1.0, 0.0]))
    hand = ANATOMY.places(with_limb(ANATOMY, lifted, turned))[ANATOMY.number("l_hand")]
    assert short == pytest.approx(2.0 - 0.995 * 0.55, abs=1e-6)
    assert hand[0] - shoulder[0] == pytest.approx(0.995 * 0.55, abs=1e-6)


def test_the_servo_reads_a_posture_as_the_bodies_orientations_seen_from_the_root():
    posture = together(standing(), trunk(20.0))
    turns = ANATOMY.turns(ANATOMY.lifted(posture))
    k = ANATOMY.number("thorax")
    spine = rotations.multiply(turns[k], rotations.conjugate(ANATOMY.neutral[k]))
    assert np.allclose(np.abs(spine @ turn(20.0)), 1.0, atol=1e-3)


def test_a_body_without_arms_or_with_a_fixed_root_is_refused():
    built = build(Scene({"a": CharacterSpec("human39")}))
    with pytest.raises(BodyError, match="fixed"):
        anatomy_of(built.model, built.characters["a"])
