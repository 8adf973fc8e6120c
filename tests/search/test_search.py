"""The search itself, on a toy whose best answer is known: no physics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from stunt.search.inputs import MOST, SIZE, WINDOW
from stunt.search.search import AHEAD, BEFORE, BEHIND, TRIALS, Search, Trial, landings, value_of

LENGTH, SECRET = 3.0, np.sign(np.sin(1.0 + np.arange(SIZE)))
SPREAD = np.full(SIZE, 0.1)


class Toy:
    """A body that falls at 1.2 s and 2.4 s unless it was asked for enough of a secret shortly before."""

    def __init__(self, needed: float) -> None:
        self.needed = needed
        self.asked: list[Trial] = []
        self.best: list[float] = []

    def run(self, trials: Sequence[Trial]) -> list[dict[str, Any]]:
        self.asked += trials
        return [self._row(*trial) for trial in trials]

    def _row(self, before: np.ndarray, now: np.ndarray, goal: float, most_off: float) -> dict[str, Any]:
        plan = np.concatenate([before, now])
        reach = goal
        for fall in (1.2, 2.4):
            soon = plan[max(0, round((fall - 0.6) / WINDOW)) : round(fall / WINDOW)]
            have = float((soon @ SECRET).sum())
            if have < self.needed:
                hopeless = self.needed > 1e6
                reach = min(reach, fall + (0.0 if hopeless else 0.1 * max(have, 0.0)))
                break
        return {
            "up": reach >= goal, "reach": reach, "error_deg": 1.0, "worst_deg": 40.0, "drift_m": 0.0, "off_m": 0.0,
            "steps": 0, "late_s": 0.0, "ends_s": reach, "seconds": reach - len(before) * WINDOW,
        }  # fmt: skip


def searched(toy: Toy, *, seed: int = 1, budget: float = 400.0) -> Search:
    search = Search(LENGTH, np.array([1.6]), SPREAD, toy.run, seed=seed, budget=budget)
    search.find()
    return search


def test_it_gets_over_falls_one_after_the_other() -> None:
    search = searched(Toy(needed=1.5))
    assert search.live.reach == 1.2 and not search.live.up
    assert search.best.up and search.best.reach == LENGTH + 1.0


def test_the_same_seed_comes_to_the_same_plan_and_another_to_another() -> None:
    one, two, other = (searched(Toy(1.5), seed=seed).best.vectors for seed in (1, 1, 2))
    assert one.tobytes() == two.tobytes() != other.tobytes()


def test_trials_begin_shortly_before_the_fall_and_go_on_behind_the_next_landing() -> None:
    toy = Toy(needed=1.5)
    searched(toy)
    before, now, goal, _ = toy.asked[2]
    assert BEFORE - WINDOW <= 1.2 - len(before) * WINDOW <= 0.5 + WINDOW
    assert len(before) + len(now) >= 1.2 / WINDOW
    assert goal == pytest.approx(1.2 + np.clip(1.6 + BEHIND - 1.2, *AHEAD))


def test_what_no_inputs_bring_about_is_tried_from_earlier_and_earlier_within_the_budget() -> None:
    toy = Toy(needed=1e9)
    search = searched(toy, budget=60.0)
    assert not search.best.up and search.best.reach >= search.live.reach
    starts = {len(before) for before, *_ in toy.asked if len(before)}
    assert len(starts) >= 3 and min(starts) <= 3
    assert 60.0 * LENGTH <= search.spent <= 60.0 * LENGTH + 3 * TRIALS * (LENGTH + 1.0)


def test_the_live_run_is_kept_where_nothing_better_is_found() -> None:
    class Worse(Toy):
        def run(self, trials: Sequence[Trial]) -> list[dict[str, Any]]:
            rows = super().run(trials)
            return [
                row | {"up": False, "reach": 0.1} if t[1].any() else row for t, row in zip(trials, rows, strict=True)
            ]

    search = searched(Worse(needed=1.5), budget=30.0)
    assert search.best.row == search.live.row and not search.best.vectors.any()


def test_no_input_is_asked_for_beyond_its_limit() -> None:
    toy = Toy(needed=1e9)
    searched(toy, budget=60.0)
    assert max(float(np.abs(now).max(initial=0.0)) for _, now, *_ in toy.asked) <= MOST * 0.1 + 1e-12


def test_without_a_budget_there_is_the_live_run_alone() -> None:
    toy = Toy(needed=1.5)
    assert not searched(toy, budget=0.0).best.up and len(toy.asked) == 1


def test_who_gets_there_is_worth_more_than_who_does_not_and_less_if_farther_off() -> None:
    row = {"up": True, "reach": 2.0, "error_deg": 5.0, "off_m": 0.0, "drift_m": 0.0, "steps": 0}
    values = [value_of(row | change) for change in ({}, {"error_deg": 20.0}, {"up": False, "error_deg": 1.0})]
    assert values == sorted(values, reverse=True) and len(set(values)) == 3
    assert value_of(row | {"up": False, "reach": 1.9}) < values[2]


def test_landings_are_where_a_foot_comes_down() -> None:
    stands = np.array([[1, 1], [0, 1], [0, 0], [1, 0], [1, 1]], bool)
    assert landings(stands, 10.0).tolist() == [0.3, 0.4]
