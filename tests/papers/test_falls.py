"""Whoever loses balance falls well: hands first, knees that give, the head off the floor, and up again."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from papers.p2 import falls
from papers.p2.jobs import run
from stunt.supervise.reflexes.fall import falling, held


def test_bodies_that_are_pushed_over_fall_well_and_get_up_at_the_first_try() -> None:
    speeds = []
    for seed in (0, 3, 6, 9, 2003, 2004):  # following a clip, and under a supervisor
        push = falls.pushed_over(seed)
        how = falls.outcome(falls.show(push, seed), push)
        print(push, how)
        assert how.fell and not how.head_first and how.bend >= 30.0
        assert how.up and how.tries == 1 and how.sides >= 4.0
        speeds.append(how.head_speed)
    assert statistics.median(speeds) < 3.0  # one fall in four meets the floor harder


def test_legs_go_away_from_where_the_body_falls_to() -> None:
    front, back, left = falling(1.0, 0.0), falling(-1.0, 0.0), falling(0.0, 1.0)
    pitch = [2.0 * np.arctan2(posture["l_thigh"][2], posture["l_thigh"][0]) for posture in (front, back)]
    assert pitch[0] > 0.0 > -1.0 > pitch[1]  # back, and to the front
    assert left["l_thigh"][1] == pytest.approx(left["r_thigh"][1]) and abs(left["l_thigh"][1]) > 0.1


def test_who_topples_forward_stays_on_its_legs_until_it_leans() -> None:
    knees = [2.0 * np.arctan2(falling(1.0, 0.0, tilt)["l_shank"][2], 1.0) for tilt in (0.3, 0.85, 1.3)]
    assert knees[0] < 0.4 * knees[2] and knees[0] < knees[1] < knees[2]
    assert all(np.allclose(falling(-1.0, 0.0, 0.3)[name], turn) for name, turn in falling(-1.0, 0.0).items())


def test_the_neck_is_held_as_firmly_however_limp_the_rest_is() -> None:
    assert held(0.1)["head"] * 0.1 == pytest.approx(held(0.5)["head"] * 0.5)


@pytest.mark.long
def test_sixty_random_falls() -> None:
    rows = run("pushed_over", range(60))
    told = falls.told(rows)
    print(told)
    fell = [row for row in rows if row["fell"]]
    assert len(fell) >= 54 and told["head_first"] <= 3 and told["head_speed"] <= 3.0
    assert told["bent"] >= 0.9 * len(fell) and told["up_at_once"] >= 0.9 * len(fell) and told["sides"] >= 4.0
    assert statistics.median(row["sunk"] for row in fell) < 6.0


@pytest.mark.parametrize("seed", [0, 5, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(100, 110))])
def test_who_is_put_back_on_its_feet_regains_its_balance(seed: int) -> None:
    made, push = falls.put_back(seed)
    assert made.felt(falls.WHO).height > 0.85
    made.until(push.at + falls.LAIN + 3.0)
    felt = made.felt(falls.WHO)
    assert felt.height > 0.85 and felt.tilt < 0.4 and made.supervisors[falls.WHO].running == "clips"
