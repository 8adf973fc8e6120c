"""Linear feedback around a plan: what was found replays live, from starts that are off and under small disturbances.

The plan is run many times from noisy starts, with its vectors disturbed too. Whatever state those runs are in when a
window begins, and what was asked for in it, says by least squares how a disturbance goes on from window to window:
x' = A·x + B·u. The feedback is the linear-quadratic regulator of that. It is kept where more of fresh noisy starts come
to the end with it than without, and only windows count that enough runs came through.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from stunt.control.own import layout as w
from stunt.jobs.job import Job, Row
from stunt.many.follow import shake
from stunt.many.plan import StartNoise
from stunt.maths.rotations import Floats
from stunt.search.inputs import SIZE, LinearFeedback
from stunt.search.trial import AFTER, stage_of

RUNS: Final = 64
"""Disturbed runs that are learned from."""
FRESH: Final = 12
"""Noisy starts on which it is judged, with and without."""
LEAST: Final = 32
"""Of a window with fewer runs nothing is learned."""
USED: Final = w.INPUTS + 3
"""Inputs that answer: those of the programme, and the pelvis's turn."""
WIDE: Final = 0.5
"""Vectors are disturbed by so many spreads."""
_SCALE = np.array([0.03] * 3 + [0.1] * 3 + [1.5] * 3 + [0.05] * 3 + [0.03] * 6)  # of a state, for a grown-up
_RIDGE, _EFFORT = 3.0, 1.0
_RUN = "stunt.search.feedback:disturbed"


def disturbed(job: Job) -> Row:
    """Run a plan from a noisy start, its vectors disturbed too, with or without feedback; note states of windows."""
    told = job.arguments
    warm = stage_of(told["setting"])
    plan = np.array(told["plan"], float).reshape(-1, SIZE)
    plan = plan + disturbance(warm.space.spread, len(plan), told["seed"], told["wide"])
    warm.go_to(plan[:0])
    if told["noisy"]:
        shake(warm.performance, StartNoise(joints=1.0, spin=0.15, speed=0.05), np.random.default_rng([told["seed"], 1]))
    gains = told["feedback"]
    warm.prompter.follow(plan, None if gains is None else LinearFeedback(*(np.array(part, float) for part in gains)))
    warm.prompter.states = []
    row = warm.play(warm.length + AFTER)
    states, warm.prompter.states = warm.prompter.states, None
    return {**row, "states": json.dumps([state.tolist() for state in states])}


def disturbance(spread: Floats, windows: int, seed: int, wide: float) -> Floats:
    """Return what a seed adds to the vectors of a plan, (windows, n)."""
    found = np.zeros((windows, SIZE))
    found[:, :USED] = np.random.default_rng([seed, 0]).normal(size=(windows, USED)) * wide * spread[:USED]
    return found


def feedback_for(
    setting: Mapping[str, Any],
    plan: Floats,
    spread: Floats,
    run: Callable[[Sequence[Job]], list[Row]],
    *,
    seed: int,
) -> tuple[LinearFeedback | None, int, int]:
    """Learn feedback around a plan that comes to its end.

    Args:
        setting: Clip, body and keys.
        plan: (windows, n).
        spread: One standard deviation of each input, (n,).
        run: Runs jobs; rows come in their order.
        seed: Of everything random.

    Returns:
        The feedback, None where it does not help or too few runs came through; of `FRESH` noisy starts how many come to
        the end without it, and with it.
    """

    def job(number: int, *, noisy: bool, wide: float, gains: LinearFeedback | None = None) -> Job:
        return Job(
            _RUN, {
                "setting": setting, "plan": plan.tolist(), "seed": seed * 1000 + number, "wide": wide, "noisy": noisy,
                "feedback": None if gains is None else [gains.gains.tolist(), gains.states.tolist()],
            }, near="own",
        )  # fmt: skip

    clean = run([job(0, noisy=False, wide=0.0)])[0]
    rows = run([job(number, noisy=True, wide=WIDE) for number in range(1, RUNS + 1)])
    asked = [disturbance(spread, len(plan), seed * 1000 + number, WIDE) for number in range(1, RUNS + 1)]
    found = fitted(_states(clean), [_states(row) for row in rows], asked, spread)
    fresh = range(RUNS + 1, RUNS + 1 + FRESH)
    without = sum(row["up"] for row in run([job(number, noisy=True, wide=0.0) for number in fresh]))
    if found is None:
        return None, without, 0
    having = sum(row["up"] for row in run([job(number, noisy=True, wide=0.0, gains=found) for number in fresh]))
    return (found if having > without else None), without, having


def _states(row: Row) -> Floats:
    return np.array(json.loads(row["states"]), float).reshape(-1, len(_SCALE))


def fitted(clean: Floats, runs: Sequence[Floats], asked: Sequence[Floats], spread: Floats) -> LinearFeedback | None:
    """Return the regulator of how disturbances go on from window to window; None where too few runs tell.

    Args:
        clean: States at the beginnings of windows, undisturbed, (windows, states).
        runs: The same of disturbed runs, as far as each came.
        asked: What each was asked for beside the plan, (windows, n).
        spread: One standard deviation of each input, (n,).
    """
    steps, sigma = list[tuple[Floats, Floats]](), np.maximum(spread[:USED], 1e-9)
    for k in range(min(len(clean) - 1, len(asked[0]))):
        known = [(run, du) for run, du in zip(runs, asked, strict=True) if len(run) > k + 1]
        if len(known) < LEAST:
            break
        x, after = (np.array([(run[i] - clean[i]) / _SCALE for run, _ in known]) for i in (k, k + 1))
        told = np.hstack([x, np.array([du[k, :USED] / sigma for _, du in known])])
        square = told.T @ told + _RIDGE * np.eye(told.shape[1])
        both = np.linalg.solve(square, told.T @ after).T
        steps.append((both[:, : x.shape[1]], both[:, x.shape[1] :]))
    if not steps:
        return None
    gains, cost = np.zeros((len(steps), SIZE, len(_SCALE))), np.eye(len(_SCALE))
    for k in reversed(range(len(steps))):  # Riccati's recursion, backward from the last window
        a, b = steps[k]
        regulator = np.linalg.solve(_EFFORT * np.eye(USED) + b.T @ cost @ b, b.T @ cost @ a)
        gains[k, :USED] = -(spread[:USED, None] * regulator) / _SCALE
        cost = np.eye(len(_SCALE)) + a.T @ cost @ (a - b @ regulator)
    return LinearFeedback(gains, clean[: len(steps)])
