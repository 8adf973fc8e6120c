"""When a foot stands: low, slow, and for long enough."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.motion.clips.standing import MEANT, SURE, Stance, planted_places, stretches

FPS = 100.0


def steps(count=3, stand=0.6, swing=0.4, length=0.7):
    """A point that stands, swings half a metre on in an arc, stands …; and when it stands."""
    places, stands, x = [], [], 0.0
    for _ in range(count):
        places += [(x, 0.0, 0.0)] * round(stand * FPS)
        stands += [True] * round(stand * FPS)
        share = np.arange(1, round(swing * FPS)) / (swing * FPS)
        places += [(x + length * s, 0.0, 0.12 * np.sin(np.pi * s)) for s in share]
        stands += [False] * len(share)
        x += length
    return np.array(places), np.array(stands)


@pytest.mark.parametrize("rule", [SURE, MEANT])
def test_a_foot_that_steps_stands_between_its_steps(rule):
    places, stands = steps()
    pace = np.linalg.norm(np.gradient(places, 1.0 / FPS, axis=0), axis=1)
    found = rule.found(places[:, 2], pace, FPS)
    assert (found == stands).mean() > 0.95
    assert len(stretches(found)) == 3


def test_whoever_surely_stands_is_meant_to():
    rng = np.random.default_rng(0)
    height, pace = rng.uniform(0.0, 0.1, 2000), rng.uniform(0.0, 1.0, 2000)
    sure = Stance(SURE.low, SURE.slow).found(height, pace, FPS)
    meant = Stance(MEANT.low, MEANT.slow).found(height, pace, FPS)
    assert sure.any()
    assert not (sure & ~meant).any()


def test_what_is_over_too_soon_only_passes_by_and_nobody_lifts_a_foot_for_a_moment():
    rule = Stance(0.05, 0.5, shortest=0.06)
    flags = np.ones(100, dtype=bool)
    flags[:20], flags[24:60], flags[70:73] = False, False, False  # a run of 4 frames, then a gap of 3
    assert stretches(rule.lasts(flags, FPS)) == [(60, 70), (73, 100)]
    assert stretches(rule.closed(flags, FPS)) == [(20, 24), (60, 100)]


def test_a_person_lying_down_does_not_stand_on_its_feet():
    places, _ = steps()
    up, down = np.full(len(places), 0.9), np.full(len(places), 0.9)
    down[len(places) // 2 :] = 0.1
    assert planted_places(places, up, FPS)[len(places) // 2 :].any()
    assert not planted_places(places, down, FPS)[len(places) // 2 :].any()
