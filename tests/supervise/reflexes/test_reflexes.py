"""What flies at a character, and what it does about it: duck, curl, clutch, dive."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from papers.p2 import duck
from papers.p2.experiment import Show
from stunt.stage.props import PropSpec
from stunt.supervise.reflexes.clutch import Clutch
from stunt.supervise.reflexes.curl import Curl
from stunt.supervise.reflexes.dive import LONG, IncomingShot, meeting
from stunt.supervise.reflexes.senses import crossing, passing
from tests.supervise.people import person, player, put_on, supervise, survival, throw


def attacked(*reflexes: object, mass: float = 0.5, radius: float = 0.1) -> Show:
    ball = PropSpec("sphere", at=(4.0, 0.0, 1.2), radius=radius, mass=mass)
    show = put_on("ball", {"ada": person()}, {"ball": ball}, seed=0, seconds=5.0)
    pool = [player(show.stage, "ada", "idle", loop=True), *survival(show.stage, "ada"), *reflexes]
    supervise(show, "ada", pool)  # type: ignore[arg-type]
    return show


def test_a_ball_is_foreseen_where_the_engine_takes_it() -> None:
    show = attacked()
    throw(show.stage, "ball", np.array([0.0, 1.5, 1.4]), 0.6)
    show.until(0.1)
    (seen,) = passing(show.supervisors["ada"].look(), np.array([0.0, 1.0, 1.4]), 1.0)
    ball, near = show.stage.prop("ball"), np.inf
    while show.stage.time < 0.9:
        show.until(show.stage.time + 1.0 / 120.0)
        place = show.stage.data.qpos[ball.qpos : ball.qpos + 3]
        near = min(near, float(np.linalg.norm(place - [0.0, 1.0, 1.4])))
    print(f"foreseen {seen.distance:.3f} m, came {near:.3f} m near")
    assert abs(seen.distance - near) < 0.04


def test_a_flight_crosses_a_plane_when_and_where_the_formula_says() -> None:
    met = crossing(
        np.array([5.0, 0.0, 1.0]), np.array([-10.0, 1.0, 2.0]), np.array([0.0, 0.0, -9.81]), np.zeros(3),
        np.array([1.0, 0.0, 0.0]), 1.0,
    )  # fmt: skip
    assert met is not None
    time, at = met
    assert time == 0.5 and np.allclose(at, [0.0, 0.5, 1.0 + 1.0 - 0.5 * 9.81 * 0.25])


def test_a_ball_too_near_to_duck_finds_the_arms_before_the_head() -> None:
    show = attacked(Curl())
    show.until(0.3)
    throw(show.stage, "ball", np.array([0.05, 0.0, 1.3]), 0.35, np.array([3.0, 0.0, 1.4]))
    show.until(0.7)
    anatomy, felt = show.supervisors["ada"].pool["curl"].sense.anatomy, show.felt("ada")  # type: ignore[attr-defined]
    face = felt.places[anatomy.number("head")] + [0.1, 0.0, 0.08]
    far = min(float(np.linalg.norm(felt.places[anatomy.number(f"{side}_hand")] - face)) for side in "lr")
    print(f"hands {far:.2f} m from the face, {show.switches('ada')}")
    assert show.ran("ada", "curl") and far < 0.42
    assert "head" not in [hit.body for hit in show.hits]


def test_the_hand_goes_to_the_place_that_was_hit() -> None:
    show = attacked(Clutch(least=0.1), mass=1.5)
    show.until(0.3)
    throw(show.stage, "ball", np.array([0.0, -0.1, 1.15]), 0.35, np.array([3.0, 0.0, 1.2]))
    show.until(2.0)
    clutch = show.supervisors["ada"].pool["clutch"]
    felt, anatomy = show.felt("ada"), clutch.sense.anatomy  # type: ignore[attr-defined]
    hit = next(h for h in show.hits if h.character == "ada")
    body = anatomy.number(clutch._body)  # type: ignore[attr-defined]
    hand = felt.places[anatomy.number(f"{clutch._side}_hand")]  # type: ignore[attr-defined]
    far = float(np.linalg.norm(hand - felt.places[body]))
    print(f"hit on {hit.body}, {clutch._side} hand {far:.2f} m from its joint, {show.switches('ada')}")  # type: ignore[attr-defined]
    assert show.ran("ada", "clutch") and far < 0.35 and felt.height > 0.9


def test_a_wider_ball_takes_a_keeper_farther_and_earlier_and_a_lower_one_tips_it_over() -> None:
    places = ((0.7, 1.3), (1.4, 1.3), (0.9, 0.3))
    near, wide, low = (IncomingShot(0.8, left, high, (0.0, left, high)) for left, high in places)
    met = [meeting(shot) for shot in (near, wide, low)]
    assert met[0].beside < met[1].beside and met[0].tilt < met[2].tilt
    assert met[0].seconds < met[1].seconds
    for shot, there in zip((near, wide, low), met, strict=True):  # the ball is in its hands
        assert there.beside + LONG * np.sin(there.tilt) == pytest.approx(shot.left)
        assert there.high + LONG * np.cos(there.tilt) == pytest.approx(shot.high)
        assert 0.25 < there.high < 1.05 and there.beside < 1.0


def test_who_ducks_keeps_its_feet_on_the_ground_going_down_and_coming_up() -> None:
    """No limb is drawn up faster than the body falls, and nobody hops getting up."""
    worst = {}
    for seed in (3, 4, 6):
        pitch = duck.pitch(seed, at_head=True)
        show = duck.duck(pitch, seed=seed)
        model, data = show.stage.model, mujoco.MjData(show.stage.model)
        show.until(pitch.at)
        bodies = show.stage.character(duck.WHO).bodies
        parts = [bodies[f"{side}_{part}"] for side in "lr" for part in ("foot", "toe")]
        feet = [g for g in range(model.ngeom) if model.geom_bodyid[g] in parts and model.geom_contype[g]]
        floor = next(g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE)
        low = np.inf
        while show.stage.time < pitch.at + 2.5:
            show.until(show.stage.time + 1.0 / 60.0)
            data.qpos[:] = show.stage.data.qpos
            mujoco.mj_kinematics(model, data)
            up = min(mujoco.mj_geomDistance(model, data, g, floor, 1.0, np.zeros(6)) for g in feet)
            worst[seed] = max(worst.get(seed, 0.0), up)
            low = min(low, show.felt(duck.WHO).height)
        assert show.ran(duck.WHO, "duck") and low < 0.85 and show.felt(duck.WHO).height > 0.9
        assert show.switches(duck.WHO)[-1][1] == "idle"
    print("feet off the ground by", {seed: f"{100 * up:.1f} cm" for seed, up in worst.items()})
    assert max(worst.values()) < 0.02


def test_a_reflex_that_is_asked_twice_in_one_tick_keeps_its_targets_finite():
    import stunt
    from stunt.supervise.contract import Bid

    stage = stunt.Stage({"ada": stunt.Body("idle", root="free", at=(0.0, 0.0))}, hz=120)
    stage.actor("ada").supervise(["lie", "rag_doll"])
    stage.step(0.4)
    driver = stage.actors["ada"].driver
    lie = driver.pool["lie"]
    lie.start(driver.look(), driver.actor, Bid(0.5, "is down"))
    for _ in range(3):  # no time passes between them
        lie.step(driver.look(), driver.actor)
    assert np.isfinite(driver.actor.rows.turns).all()
