"""The scenes of P2 by contact and geometry: what touched what, how hard, how deep. As shipped, and varied."""

from __future__ import annotations

import math

import numpy as np
import pytest

from papers.p2 import duck, goalie, kick, trip
from papers.runs import shipped

SEEDS = range(14)
FEET = {"r_foot", "r_toe", "r_shank"}
TRUNK = {"thorax", "spine2", "lumbar", "pelvis"}


def well_kicked(found: kick.Blow) -> bool:
    """Whether a foot or shin met the trunk, as hard as a person can kick, and the partner answered at once."""
    met = found.by in FEET and found.on in TRUNK and -30.0 < found.thigh < 60.0  # not folded up before its chest
    return met and 30.0 <= found.net <= 120.0 and found.peak <= 6000.0 and found.deep < 0.03 and found.reaction < 0.3


def well_tripped(found: trip.TripOutcome) -> bool:
    """Whether the stone felled the walker forward, hands first, with somebody taking care of the fall soon."""
    return found.fell and abs(found.aside) < 45.0 and found.reaction <= 0.25 and found.first in ("l_hand", "r_hand")


def test_a_stone_in_the_way_of_the_swinging_foot_fells_forward_on_the_hands() -> None:
    found = trip.outcome(trip.Show.of(shipped(trip.EXAMPLE)))
    print(found)
    assert well_tripped(found) and found.rolled and 0.0 < found.tripped + found.again < 11.0


def test_a_football_is_kicked_away_and_the_walk_goes_on() -> None:
    show = trip.Show.of(trip.with_football(shipped(trip.EXAMPLE)))
    ball = show.stage.prop(trip.STONE).qpos
    start = show.stage.data.qpos[ball : ball + 2].copy()
    show.until(5.0)
    rolled = float(np.linalg.norm(show.stage.data.qpos[ball : ball + 2] - start))
    print(show.switches(trip.WALKER), rolled)
    assert rolled > 0.5 and not show.ran(trip.WALKER, "fall") and show.felt(trip.WALKER).tilt < 0.3
    assert show.switches(trip.WALKER)[-1][1] == trip.WALK and show.felt(trip.WALKER).height > 0.85


def test_the_kick_meets_the_trunk_with_the_foot_and_fells() -> None:
    found = kick.blow(shipped(kick.EXAMPLE), seconds=9.5)
    print(found)
    assert well_kicked(found) and found.deep < 0.02 and found.fell and found.up


def test_the_ball_is_shot_by_the_foot_alone_and_saved_by_a_hand() -> None:
    script = shipped(goalie.EXAMPLE)
    assert not script.scene.events
    found = goalie.kicked(script)
    print(found)
    assert found.shot and 9.0 < found.foot < 13.0 and found.lowest > -0.01
    assert found.saved_by in ("l_hand", "r_hand") and not found.goal


def ducked(seed: int) -> duck.Passed:
    """How somebody ducked a random ball at the head."""
    thrown = duck.pitch(seed, at_head=True)
    return duck.passed(duck.duck(thrown, seed=seed), thrown)


def test_nobody_ducks_much_deeper_than_it_takes() -> None:
    found = ducked(1)
    print(found)
    assert not found.touched and 0.0 < found.below < 0.16


@pytest.mark.long
def test_balls_at_the_head_are_ducked_as_deep_as_it_takes() -> None:
    found = [ducked(seed) for seed in SEEDS]
    print(*found, sep="\n")
    assert not any(one.touched for one in found)
    assert sum(one.below < 0.15 for one in found) >= 12 and max(one.below for one in found) < 0.2


@pytest.mark.long
def test_stones_before_any_step_fell_forward_and_the_walk_goes_on() -> None:
    found = [trip.outcome(trip.trip(seed)) for seed in SEEDS]
    print(*found, sep="\n")
    assert sum(map(well_tripped, found)) >= 12 and sum(one.rolled for one in found) >= 12
    assert sum(one.again >= 0.0 and one.tripped + one.again - 1.0 < 11.0 for one in found) >= 12
    assert not any(math.isinf(one.reaction) for one in found)


@pytest.mark.long
def test_kicks_from_other_places_meet_the_trunk_too() -> None:
    found = [kick.blow(kick.varied(shipped(kick.EXAMPLE), kick.encounter(seed)), seconds=3.0) for seed in SEEDS]
    print(*found, sep="\n")
    assert sum(map(well_kicked, found)) >= 12 and sum(one.fell for one in found) >= 12


@pytest.mark.long
def test_a_ball_that_lies_elsewhere_is_met_by_the_foot() -> None:
    script = shipped(goalie.EXAMPLE)
    found = [goalie.kicked(goalie.varied(script, goalie.ball_place(seed)), seconds=2.6) for seed in SEEDS]
    print(*found, sep="\n")
    assert sum(one.shot and 9.0 < one.foot < 13.0 for one in found) >= 12
    assert all(one.lowest > -0.01 for one in found) and sum(not one.goal for one in found) >= 10
