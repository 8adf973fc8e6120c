"""Always simulated: walks and fights go through their graphs under forces, from where the body is."""

from __future__ import annotations

import numpy as np
import pytest

from papers.p2 import always, boxing
from stunt.motion.graph.drawn_path import DrawnPath

PATH = DrawnPath.through(always.PATH)


def off_path(made: always.Show) -> float:
    """How far the walker is from its path [m]."""
    return float(PATH.distances(made.stage.actors[always.WHO].here[None, :2])[0])


def test_a_walk_by_forces_never_is_on_data_and_keeps_to_its_path() -> None:
    made = always.walk(9.0)
    (one,) = always.stretches(made, 9.0)
    print(one, off_path(made))
    assert always.on_data(made) == 0.0 and one.seconds > 8.5
    assert one.error < 1.2 * one.as_clip
    assert off_path(made) < 0.3 and np.linalg.norm(made.stage.actors[always.WHO].here[:2]) > 4.0


def test_who_finds_itself_elsewhere_walks_on_from_there_and_comes_back_to_the_path() -> None:
    made, off = always.walk(9.0), []
    made.until(2.0)
    made.stage.actors[always.WHO].here[1] += 0.5  # nothing but forces and its own plan could have it back
    while made.stage.time < 8.0:
        made.until(made.stage.time + 0.5)
        off.append(off_path(made))
    assert off[0] > 0.3 and min(off) < 0.15 and off[-1] < 0.35
    assert always.on_data(made) == 0.0 and len(made.switches(always.WHO)) == 1


def test_a_walk_by_forces_goes_on_bit_for_bit_after_a_restore() -> None:
    made, ends = always.walk(9.0), []
    made.until(2.3)  # the next portion is handed over a little later, from where the body is
    state = made.stage.save()
    for _ in range(2):
        made.stage.advance(150)
        ends.append(made.stage.data.qpos.copy())
        made.stage.restore(state)
    assert np.array_equal(*ends)


def test_boxers_by_forces_strike_and_are_never_on_data() -> None:
    made = always.match(1, 4.0)
    found = always.told(list(always.stretches(made, 4.0)))
    print(found)
    assert always.on_data(made) == 0.0 and not any(made.stage.actors[who].kinematic for who in boxing.PEOPLE)
    assert found["ratio"] < 1.2


@pytest.mark.long
def test_a_minute_of_walking_and_ten_matches_under_forces_alone() -> None:
    made = always.walk(60.0)
    walked = always.told(list(always.stretches(made, 60.0)))
    print(walked)
    assert walked["seconds"] > 59.0 and walked["ratio"] <= 1.2 and always.on_data(made) == 0.0
    found = []
    for seed in range(10):
        made = always.match(seed, 20.0)
        found += always.stretches(made, 20.0)
        assert always.on_data(made) == 0.0
        assert {one.running for one in made.supervisors.values()} <= {"box", "reel", "fall", "lie", "get_up", "stumble"}
    print(always.told(found))
    assert always.told(found)["ratio"] <= 1.2 and always.told(found)["seconds"] > 250.0
