"""Intervals hold what they promise, on data whose truth is known."""

import numpy as np
import pytest
from scipy import stats

from stunt.many.statistics import Interval, difference_of, mean_of, newcombe, resampled_weights, wilson


def test_weights_draw_whole_groups_and_as_many_runs_as_there_are_on_average() -> None:
    groups = ["a"] * 3 + ["b"] * 5 + ["c"] * 2
    weights = resampled_weights(groups, 4000, np.random.default_rng(1))
    assert weights.shape == (4000, 10)
    assert weights.mean(axis=0) == pytest.approx(np.ones(10), abs=0.1)
    # Of a group that is not drawn no run is drawn, and that happens as often as chance says: (2/3)^3.
    assert (weights[:, :3].sum(axis=1) == 0).mean() == pytest.approx((2 / 3) ** 3, abs=0.03)


def test_an_interval_of_a_mean_holds_the_truth_as_often_as_it_says() -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(300):
        values = rng.exponential(2.0, 40)
        weights = resampled_weights(range(40), 400, rng)
        found = mean_of(values, weights)
        held += found.low <= 2.0 <= found.high
    assert 0.88 <= held / 300 <= 0.985


def test_runs_of_a_clip_are_alike_so_clips_are_what_counts() -> None:
    """Forty runs of four clips know about as much as four runs."""
    rng, held, naive = np.random.default_rng(3), 0, 0
    for _ in range(200):
        clips = np.repeat(rng.normal(0.0, 1.0, 8), 10)
        values = clips + rng.normal(0.0, 0.1, 80)
        groups = np.repeat(np.arange(8), 10).tolist()
        by_clip = mean_of(values, resampled_weights(groups, 300, rng))
        by_run = mean_of(values, resampled_weights(range(80), 300, rng))
        held += by_clip.low <= 0.0 <= by_clip.high
        naive += by_run.low <= 0.0 <= by_run.high
    assert held / 200 >= 0.82 and naive / 200 <= 0.7


def test_pairs_tell_what_unpaired_means_cannot() -> None:
    rng = np.random.default_rng(4)
    level = rng.normal(10.0, 5.0, 60)  # some clips are hard for everybody
    one, other = level + rng.normal(0.5, 0.2, 60), level + rng.normal(0.0, 0.2, 60)
    weights = resampled_weights(range(60), 1000, rng)
    found = difference_of(one, other, weights)
    assert found.tells and found.low <= 0.5 <= found.high and found.value == pytest.approx((one - other).mean())
    means = mean_of(one, weights), mean_of(other, weights)
    assert means[0].low < means[1].high  # by themselves they overlap


def test_a_difference_changes_its_sign_with_the_sides() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.normal(1.0, 1.0, 30), rng.normal(0.0, 1.0, 30)
    weights = resampled_weights(range(30), 500, rng)
    there, back = difference_of(one, other, weights), difference_of(other, one, weights)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


@pytest.mark.parametrize(("hits", "count"), [(0, 20), (3, 20), (20, 20), (50, 100)])
def test_the_score_interval_is_the_one_of_the_textbook(hits: int, count: int) -> None:
    low, high = wilson(hits / count, count)
    theirs = stats.binomtest(hits, count).proportion_ci(0.95, "wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_the_interval_of_two_shares_is_newcombes_example() -> None:
    """Table II of the paper, method 10: of 50 pairs 36 both, 12 only the first, 2 only the second, 0 neither... ."""
    one = np.array([1.0] * 36 + [1.0] * 12 + [0.0] * 2)
    other = np.array([1.0] * 36 + [0.0] * 12 + [1.0] * 2)
    low, high = newcombe(one, other)
    assert (low, high) == pytest.approx((0.0569, 0.3404), abs=1e-3)


def test_where_nobody_of_twenty_fell_nobody_is_sure_that_nobody_will() -> None:
    none = np.zeros(20)
    weights = resampled_weights(range(20), 200, np.random.default_rng(6))
    share, difference = mean_of(none, weights, share=True), difference_of(none, none, weights, share=True)
    assert share.value == 0.0 and share.high > 0.1 and not share.low > 0.0
    assert difference.low < -0.1 < 0.1 < difference.high and not difference.tells


def test_zero_outside_tells() -> None:
    assert Interval(1.0, 0.5, 1.5, 3).tells and Interval(-1.0, -1.5, -0.5, 3).tells
    assert not Interval(0.1, -0.5, 0.7, 3).tells
