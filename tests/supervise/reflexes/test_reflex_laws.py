"""What reflexes ask for in a given state: which foot, where to, which way arms and hips go, how fast, and when."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stunt.drive.body.actor import actor_of
from stunt.maths import rotations
from stunt.stage.blows import Struck
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.reflexes.base import STEP_HZ, Aim, Drive
from stunt.supervise.reflexes.fall import Fall, falling, falls, strays
from stunt.supervise.reflexes.get_up import own_get_up
from stunt.supervise.reflexes.reel import Reel
from stunt.supervise.reflexes.senses import Felt, Glimpse, Sense, flight
from stunt.supervise.reflexes.stumble import LIFT, Stumble
from tests.supervise.people import person

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture(scope="module")
def sense() -> Sense:
    """Somebody who stands, and faces along x."""
    stage = StageLoop(Scene({"ada": person()}, physics_hz=120.0, control_hz=120.0))
    return Glimpse.of(stage).sense("ada")


def moving(sense: Sense, velocity: tuple[float, float, float], **other: Any) -> Felt:
    """Return how somebody feels who stands, and whose weight goes somewhere [m/s]."""
    felt = sense.feel()
    return replace(felt, velocity=np.array(velocity), **other)


def at(time: float, **other: Any) -> Any:
    return SimpleNamespace(**{"time": time, "elapsed": time, "hits": [], "blows": (), "active": None, **other})


def with_sense(behaviour: Any, sense: Sense) -> Any:
    behaviour.sense = sense
    return behaviour


@pytest.mark.parametrize("facing", [0.0, 0.9, -2.0])
def test_ahead_is_where_one_faces_and_left_is_to_the_left_of_it(facing: float) -> None:
    who = SimpleNamespace(facing=facing)
    turn = Rotation.from_rotvec([0.0, 0.0, facing])
    for own in ([1.0, 0.0, 0.3], [0.0, 1.0, -2.0], [0.4, -0.7, 0.0]):
        world = turn.apply(own)
        assert Felt.level(who, world) == pytest.approx(own)  # type: ignore[arg-type]
        assert Felt.level(who, world[:2]) == pytest.approx(own[:2])  # type: ignore[arg-type]


def test_what_flies_falls_as_freely_as_gravity_says() -> None:
    gravity, step = np.array([0.3, 0.0, -9.81]), 1e-3
    path = flight(np.array([1.0, 2.0, 3.0]), np.array([4.0, -1.0, 2.0]), gravity, np.arange(5) * step)
    assert path[0] == pytest.approx([1.0, 2.0, 3.0]) and (path[1] - path[0]) / step == pytest.approx(
        [4.0, -1.0, 2.0], abs=0.01
    )
    assert np.diff(path, 2, axis=0) / step**2 == pytest.approx(np.tile(gravity, (3, 1)), abs=1e-6)


# ---- stumbling


def stumbling(sense: Sense, **how: Any) -> Stumble:
    """Return a stumble of somebody whose root is helped with 0.3 m·g·h where it stands."""
    stumble = with_sense(Stumble(**how), sense)
    stumble.drive = SimpleNamespace(actor=SimpleNamespace(root=SimpleNamespace(limit=0.3)))
    return stumble


@pytest.mark.parametrize(("pace", "foot"), [(1.0, "l"), (-1.0, "r")])
def test_who_tips_to_a_side_steps_with_that_foot(sense: Sense, pace: float, foot: str) -> None:
    stumble = stumbling(sense)
    stumble._begin_step(at(0.0), moving(sense, (0.0, pace, 0.0)))
    assert stumble._swing == foot


@pytest.mark.parametrize("way", [(1.0, 0.0), (-0.8, 0.0), (0.0, 1.0), (0.7, -0.7)])
def test_a_stumbling_foot_is_aimed_where_the_weight_goes_no_farther_than_a_leg(sense: Sense, way) -> None:
    unit = np.array(way) / np.linalg.norm(way)
    for pace in (0.7, 1.2, 4.0):
        stumble, felt = stumbling(sense), moving(sense, (pace * way[0], pace * way[1], 0.0))
        stumble._begin_step(at(0.0), felt)
        goes = stumble._to[:2] - felt.root[:2]
        assert np.linalg.norm(goes) < 1.1 and goes @ unit > min(0.8 * (felt.capture - felt.root[:2]) @ unit, 0.3)


def test_a_stumbling_foot_is_lifted_on_its_way_which_ends_where_it_is_aimed(sense: Sense) -> None:
    """Seen where the posture puts the ankle, at the beginning, in the middle and near the end of a step."""
    stumble, felt = stumbling(sense, spring=0.9), moving(sense, (0.8, 0.0, 0.0))
    stumble.prepare(at(0.0), felt, None)  # type: ignore[arg-type]
    foot, places = sense.anatomy.number(f"{stumble._swing}_foot"), []
    for share in (0.0, 0.5, 0.97):
        aim = stumble.want(at(share * stumble._seconds), felt)
        assert aim.swing == stumble._swing and aim.spring == pytest.approx(0.3)
        places.append(sense.anatomy.place(aim.lifted, foot))
    assert places[1][2] > places[0][2] + 0.5 * LIFT and places[0][0] + 0.1 < places[1][0] < places[2][0]


# ---- balance


def hips_over_feet(sense: Sense, felt: Felt) -> np.ndarray:
    """Return how far balance puts the hips from the ankles, over the ground, (2,)."""
    balance = with_sense(BalanceReflex(), sense)
    lifted = balance.upright(felt)
    ankles = [sense.anatomy.place(lifted, sense.anatomy.number(f"{side}_foot")) for side in "lr"]
    return -np.mean(ankles, axis=0)[:2]


def test_balance_moves_the_hips_against_where_the_weight_goes(sense: Sense) -> None:
    ahead, back = (hips_over_feet(sense, moving(sense, (pace, 0.0, 0.0))) for pace in (0.25, -0.25))
    left, right = (hips_over_feet(sense, moving(sense, (0.0, pace, 0.0))) for pace in (0.25, -0.25))
    assert ahead[0] < back[0] - 0.04 and left[1] < right[1] - 0.04


def test_balance_spreads_the_arms_as_far_as_it_sways(sense: Sense) -> None:
    balance, wide = with_sense(BalanceReflex(), sense), []
    for pace in (0.0, 0.5, 1.0):
        lifted = balance.upright(moving(sense, (pace, 0.0, 0.0)))
        hands = [sense.anatomy.place(lifted, sense.anatomy.number(f"{side}_hand")) for side in "lr"]
        wide.append(hands[0][1] - hands[1][1])
    assert wide[0] < wide[1] < wide[2]


def test_who_sways_is_not_done_and_who_is_calm_for_long_enough_is(sense: Sense) -> None:
    balance = with_sense(BalanceReflex(calm=0.4), sense)
    swaying, calm = moving(sense, (0.2, 0.0, 0.0)), moving(sense, (0.0, 0.0, 0.0))
    for k in range(30):
        assert balance.judge(at(0.1 * k), swaying).running
    assert balance.judge(at(3.0), calm).running and balance.judge(at(3.3), calm).running
    assert balance.judge(at(3.5), calm).state == "succeeded"
    assert balance.judge(at(4.0), moving(sense, (1.5, 0.0, 0.0))).state == "failed"


# ---- falling


def hands(sense: Sense, toward: tuple[float, float], landed: float = -1.0) -> tuple[np.ndarray, Aim]:
    """Return where a falling body's hands go, seen from its shoulders [m], (2, 3), and what it aims at."""
    fall = with_sense(Fall(), sense)
    fall._toward, fall._landed = np.array(toward), landed
    felt = moving(sense, (1.5 * toward[0], 1.5 * toward[1], -1.0))
    felt.__dict__["touching"] = frozenset()
    aim = fall.want(at(1.0), felt)
    return np.array([reach(sense, aim.lifted, side) for side in "lr"]), aim


def reach(sense: Sense, lifted: np.ndarray, side: str) -> np.ndarray:
    """Return where a hand is, seen from its shoulder [m], (3,)."""
    hand, shoulder = (sense.anatomy.number(f"{side}_{part}") for part in ("hand", "upper_arm"))
    return sense.anatomy.place(lifted, hand) - sense.anatomy.place(lifted, shoulder)


def test_hands_reach_for_the_ground_on_the_side_it_comes_from(sense: Sense) -> None:
    ways = {way: hands(sense, way)[0].mean(axis=0) for way in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))}
    print({way: hand.round(2).tolist() for way, hand in ways.items()})
    assert ways[1.0, 0.0][0] > 0.05 and ways[-1.0, 0.0][0] < -0.05
    assert ways[0.0, 1.0][1] > 0.05 and ways[0.0, -1.0][1] < -0.05
    # Arms that do not reach go with the trunk, wherever it bends.
    hang = {way: reach(sense, sense.anatomy.lifted(falling(*way)), "l") for way in ways}
    assert max(np.linalg.norm(ways[way] - hang[way]) for way in ways) > 0.1


def test_a_falling_body_gives_way_more_once_it_has_touched_down(sense: Sense) -> None:
    held, landed = hands(sense, (1.0, 0.0))[1], hands(sense, (1.0, 0.0), landed=0.9)[1]
    assert landed.tension < held.tension < 1.0 and held.spring == landed.spring == 0.0
    assert held.fastest <= 10.0 and held.tone["head"] * held.tension == pytest.approx(0.8)


def test_legs_go_away_from_where_the_body_falls_to_and_the_head_away_from_the_ground(sense: Sense) -> None:
    feet, heads = {}, {}
    for way in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        posture = falling(*way)
        lifted = sense.anatomy.lifted(posture)
        numbers = [sense.anatomy.number(f"{side}_shank") for side in "lr"]
        feet[way] = np.mean([sense.anatomy.place(lifted, n) for n in numbers], axis=0)
        top = rotations.rotate(lifted[sense.anatomy.number("head")], -DOWN)
        heads[way] = top
    assert feet[1.0, 0.0][0] < feet[-1.0, 0.0][0] and feet[0.0, 1.0][1] < -0.02 < 0.02 < feet[0.0, -1.0][1]
    assert heads[1.0, 0.0][0] < 0.0 < heads[-1.0, 0.0][0] and heads[0.0, 1.0][1] < 0.0 < heads[0.0, -1.0][1]
    one, other = falling(0.0, 1.0), falling(0.0, -1.0)
    mirror = np.array([1.0, -1.0, 1.0, -1.0])
    for part in ("thigh", "shank"):
        assert one[f"l_{part}"] * mirror == pytest.approx(other[f"r_{part}"])


def test_a_body_falls_that_tips_and_sinks_or_goes_past_its_feet_and_sinks(sense: Sense) -> None:
    felt = sense.feel()
    fields = {"com": felt.com, "places": felt.places, "capture": felt.com[:2]}
    tips = SimpleNamespace(height=0.9, velocity=np.array([0.5, 0.0, -0.6]), tilt=1.0, **fields)
    assert falls(tips, 0.85, 0.45)  # type: ignore[arg-type]
    assert not falls(SimpleNamespace(**{**vars(tips), "tilt": 0.6}), 0.85, 0.45)  # type: ignore[arg-type]
    assert not falls(SimpleNamespace(**{**vars(tips), "velocity": np.zeros(3)}), 0.85, 0.45)  # type: ignore[arg-type]
    assert not falls(SimpleNamespace(**{**vars(tips), "height": 0.4}), 0.85, 0.45)  # type: ignore[arg-type]
    gone = {**vars(tips), "tilt": 0.3, "capture": felt.com[:2] + [0.9, 0.0]}
    assert falls(SimpleNamespace(**gone), 0.85, 0.45)  # type: ignore[arg-type]
    assert not falls(SimpleNamespace(**{**gone, "height": 0.99}), 0.85, 0.45)  # type: ignore[arg-type]


# ---- muscles


def test_targets_go_toward_what_is_wanted_by_their_quickness_and_no_faster_than_they_may() -> None:
    stage = StageLoop(Scene({"ada": person()}, physics_hz=120.0, control_hz=120.0))
    sense = Glimpse.of(stage).sense("ada")
    drive, arm = Drive(actor_of(stage, "ada"), sense), sense.anatomy.number("l_forearm")
    turn = rotations.from_rotation_vector(np.array([0.0, -1.2, 0.0]))
    for quickness, fastest in ((0.08, np.inf), (0.3, np.inf), (0.01, 6.0)):
        drive.begin()
        before = drive._now.copy()
        wanted = before.copy()
        wanted[arm] = rotations.multiply(turn, before[arm])
        drive.aim(Aim(wanted, quickness=quickness, fastest=fastest))
        went = np.linalg.norm(rotations.difference(drive._now[arm], before[arm]))
        share = 1.0 - np.exp(-1.0 / STEP_HZ / quickness)
        assert went == pytest.approx(min(1.2 * share, fastest / STEP_HZ), rel=1e-6)
        assert drive._now[arm] != pytest.approx(before[arm])


# ---- getting up, reeling


def test_getting_up_begins_where_the_body_lies_and_is_over_only_when_it_stands() -> None:
    stage = StageLoop(Scene({"ada": person()}, physics_hz=120.0, control_hz=120.0))
    rises, character = own_get_up(stage, "ada"), stage.character("ada")
    for side, motion in rises.motions.items():
        low = np.flatnonzero(motion.qpos[:, 2] < 0.25 * motion.qpos[-1, 2])
        for frame in (low[0], low[len(low) // 2]):
            now = at(0.0, qpos=motion.qpos[frame], stage=stage, character=character)
            found, since, far = rises.nearest(now)
            assert (
                found == side
                and far < 0.05
                and motion.qpos[round(since * motion.fps)] == pytest.approx(motion.qpos[frame], abs=0.05)
            )
    # Which way up a body lies counts for more than how its joints are bent: nobody gets up through the floor.
    for side, other in (("back", "front"), ("front", "back")):
        lies = rises.motions[side].qpos[0].copy()
        lies[:7] = rises.motions[other].qpos[0, :7]
        found = rises.nearest(at(0.0, qpos=lies, stage=stage, character=character))[0]
        assert found == other
    rises.side, rises._left = "back", 0.0
    actor = SimpleNamespace(broken_for=0.0, weight=700.0)
    stood = motion.qpos[-1]
    for qpos, tilt, state in ((stood, 0.1, "succeeded"), (motion.qpos[0], 0.1, "failed"), (stood, 1.2, "failed")):
        now = at(0.1, qpos=qpos, tilt=tilt, stage=stage, character=character)
        assert rises.step(now, actor).state == state  # type: ignore[arg-type]


def test_a_blow_at_the_head_or_a_harder_one_at_the_trunk_makes_one_reel_the_longer_the_harder(sense: Sense) -> None:
    weight, found = sense.anatomy.mass * 9.81, {}
    for body, weights in (("head", 0.8), ("head", 1.2), ("thorax", 1.2), ("thorax", 2.5), ("head", 2.4)):
        reel = with_sense(Reel(), sense)
        reel._heard = Hit(0.0, "ada", body, "ball", (0.0, 0.0, 1.0), weights * weight)
        people = SimpleNamespace(characters={"ada": None, "bob": None})
        stage, who = SimpleNamespace(hit_listeners=[], built=people), SimpleNamespace(name="ada")
        now = at(0.05, stage=stage, character=who)
        bid = reel.bid(now)
        if bid is not None:
            reel.prepare(now, sense.feel(), bid)
        found[body, weights] = 0.0 if bid is None else reel._until - 0.05
    assert found["head", 0.8] == found["thorax", 1.2] == 0.0 and found["thorax", 2.5] > 0.0
    assert found["head", 2.4] == pytest.approx(2.0 * found["head", 1.2]) and found["head", 1.2] == pytest.approx(0.6)


def test_who_is_struck_by_somebody_reels_by_what_the_blow_gave_longer_and_limper_the_more(sense: Sense) -> None:
    found = {}
    for body, size in (("head", 5.0), ("head", 14.0), ("thorax", 8.0), ("head", 22.0), ("thorax", 14.0)):
        reel, blow = with_sense(Reel(), sense), Struck(0.0, "ada", body, "bob", "l_hand", (size, 0.0, 0.0), 900.0, 0.03)
        people = SimpleNamespace(characters={"ada": None, "bob": None})
        stage, who = SimpleNamespace(hit_listeners=[], built=people), SimpleNamespace(name="ada")
        now = at(0.0, blows=(blow,), stage=stage, character=who)
        bid = reel.bid(now)
        if bid is not None:
            reel.prepare(now, sense.feel(), bid)
        found[body, size] = (0.0, 1.0) if bid is None else (reel._until, reel._stiff)
    assert found["head", 5.0] == found["thorax", 8.0] == (0.0, 1.0)  # nothing of it
    lasts = [found[one][0] for one in (("thorax", 14.0), ("head", 14.0), ("head", 22.0))]
    tones = [found[one][1] for one in (("thorax", 14.0), ("head", 14.0), ("head", 22.0))]
    assert 0.0 < lasts[0] < lasts[1] < lasts[2] and tones[0] > tones[1] > tones[2] == pytest.approx(0.02)


@pytest.mark.parametrize(("speed", "gone"), [(1.9, False), (2.9, False), (0.9, False), (3.9, True), (-0.3, True)])
def test_who_pushes_off_later_than_its_motion_does_not_stray(speed: float, gone: bool) -> None:
    """Within 0.15 s the motion goes from 1 to 2.8 m/s: whoever is at any speed of these is on its way."""
    fps, frames = 120.0, np.arange(121)
    pace = np.interp(frames / fps, [0.0, 0.5, 0.65, 1.0], [1.0, 1.0, 2.8, 2.8])
    path = np.stack([np.cumsum(pace) / fps, 0.0 * pace, 0.0 * pace + 1.0], axis=1)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (121, 1, 1))
    actor: Any = SimpleNamespace(
        rows=SimpleNamespace(fps=fps, path=path, turns=turns), follows=True, elapsed=0.65, floor=0.0, leans=0.0,
        stage=SimpleNamespace(model=SimpleNamespace(qpos0=np.array([0.0, 0, 1, 1, 0, 0, 0]))), slices=(slice(0, 7),),
    )  # fmt: skip
    felt: Any = SimpleNamespace(com=np.array([0.0, 0.0, 1.0]), velocity=np.array([speed, 0.0, 0.0]))
    assert strays(actor, felt) is gone
