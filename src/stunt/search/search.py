"""The search: the live run is what there is to begin with; from before its fall on, other inputs are tried.

Trials begin 0.4 s before the fall of the best plan so far. Each adds vectors to its last windows, then asks for nothing
beside the clip until a goal behind the next landing after that fall: what counts is how far a body comes by itself
afterwards. The better part of each round says where the next one draws (the cross-entropy method, Rubinstein 1999).
Where rounds do not bring it farther, trials begin earlier, window by window. A plan is only ever replaced by one that
comes farther, and the live run is kept: what is found is never worse.

Rounds and their random numbers depend on the seed and on earlier rows alone, and the budget counts simulated time:
the same search comes to the same end on any number of processes, and goes on from its journal where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.jobs.job import Row
from stunt.maths.rotations import Floats
from stunt.search.inputs import MOST, SIZE, WINDOW
from stunt.search.trial import AFTER

BEFORE: Final = 0.4
"""Trials begin so long before the fall at first [s]."""
TRIALS: Final = 24
"""Of a round."""
ROUNDS: Final = 3
"""Rounds without a step ahead after which trials begin earlier."""
ELITE: Final = 6
"""So many trials of a round say where the next one draws."""
BACK: Final = 2
"""Windows by which trials begin earlier."""
FARTHEST: Final = 14
"""Trials begin at most so many windows before the fall; after that it is from the first again, drawn farther out."""
CHANGED: Final = 5
"""Windows that a trial changes at most."""
WIDEST: Final = 2.0
"""Draws are at most so many spreads wide."""
FINALISTS: Final = 3
"""So many trials of a round that reach the goal are followed to their end."""
BEHIND: Final = 0.3
"""The goal is so long behind a landing [s]."""
AHEAD: Final = (0.7, 1.5)
"""And between so long behind the fall [s]."""
STEP: Final = 0.15
"""A plan that comes so much farther is a step ahead [s]."""
CPU_PER_SECOND: Final = 0.08 / 72.0
"""What simulating a second costs for each degree of freedom, as budgets reckon it: what it really costs is another
matter on every machine [s]."""

Trial = tuple[Floats, Floats, float, float]
"""Vectors before, vectors now, goal in the clip [s], mean error at which it has left its clip [°]."""
WITH: Final = 30.0
"""Whoever is off by more on the mean over the bones is not with the clip [°]."""
ANYHOW: Final = 180.0
STRICT: Final = 0.6
"""Share of the budget after which staying up is enough."""


@dataclass(frozen=True, eq=False)
class TriedPlan:
    """What to ask for, and what came of it.

    Attributes:
        vectors: (windows, n).
        row: How it went, to its end or fall.
    """

    vectors: Floats
    row: Row

    @property
    def up(self) -> bool:
        """Whether it was up a second after the clip's end."""
        return bool(self.row["up"])

    @property
    def worth(self) -> tuple[bool, float]:
        """What tells the better of two plans, both played from beginning to end."""
        return self.up, -float(self.row["error_deg"]) if self.up else self.reach

    @property
    def reach(self) -> float:
        """How far into the clip it came [s]."""
        return float(self.row["reach"])


def value_of(row: Mapping[str, Any]) -> float:
    """Return how good a trial was: the clip's time it reached [s], less what is wrong with how it went."""
    value = float(row["reach"]) - 0.1 * min(row["steps"], 5)
    if row["up"]:  # of those that get there the nearest to the clip; of the others it says how soon they stopped
        wrong = (row["error_deg"] / 15.0) ** 2 + (row["off_m"] / 0.3) ** 2 + 0.2 * row["drift_m"] ** 2
        value += 1.0 - 0.3 * min(wrong, 3.0)
    return value


def landings(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return when a foot comes down [s]."""
    return np.asarray(1 + np.flatnonzero((stands[1:] & ~stands[:-1]).any(axis=1))) / fps


class Search:
    """One search.

    Attributes:
        best: The best plan so far.
        live: What came of asking for nothing.
        trials: How many were made.
        spent: Seconds simulated so far.
        limit: Seconds that may be simulated.
    """

    def __init__(
        self,
        length: float,
        lands: Floats,
        spread: Floats,
        run: Callable[[Sequence[Trial]], list[Row]],
        *,
        seed: int,
        budget: float,
        told: Callable[[Search], None] = lambda search: None,
    ) -> None:
        """Prepare it.

        Args:
            length: Of the clip [s].
            lands: When feet come down in it [s].
            spread: One standard deviation of each input, (n,).
            run: Makes trials; rows come in their order.
            seed: Of everything random.
            budget: Seconds that may be simulated for a second of the clip.
            told: Called after every round.
        """
        self._end, self._lands, self._spread, self._run = length + AFTER, lands, spread, run
        self._rng, self._told = np.random.default_rng(seed), told
        self.trials, self.spent, self.limit = 0, 0.0, budget * length
        self._most_off = WITH
        self.live: TriedPlan = TriedPlan(np.zeros((0, SIZE)), {})
        self.best = self.live

    def find(self) -> TriedPlan:
        """Search until the body is with its clip to a second after its end, or the budget is used up; return the best.

        What stays up without being with its clip all the while is looked for last, and only where nothing stays up.
        """
        self.best = self.live = self._whole(np.zeros((0, SIZE)))
        found = [self.live]
        if self.limit == 0.0:
            return self.live
        for most_off, share in ((WITH, STRICT), (ANYHOW, 1.0)):
            if max(plan.worth for plan in found)[0] and (most_off == ANYHOW or self.live.row["worst_deg"] <= WITH):
                break
            self._most_off = most_off
            start = max(found, key=lambda plan: plan.worth)
            row = self._tried([self._trial(start.vectors[:0], start.vectors, self._end)])[0]
            self._climb(TriedPlan(start.vectors, row), share * self.limit)
            found.append(self._whole(self.best.vectors))
        self.best = max(found, key=lambda plan: plan.worth)
        return self.best

    def _whole(self, vectors: Floats) -> TriedPlan:
        """Return a plan with what comes of it from the beginning to its end or fall."""
        return TriedPlan(vectors, self._tried([(vectors[:0], vectors, self._end, ANYHOW)])[0])

    def _trial(self, before: Floats, now: Floats, goal: float) -> Trial:
        return before, now, goal, self._most_off

    def _climb(self, start: TriedPlan, limit: float) -> None:
        """Bring the best plan farther, beginning with one, until it is at its end or so much was simulated [s]."""
        self.best, back, wide = start, self._first_back, 1.0
        while not self.best.up and self.spent < (self.limit if self.best.reach > self._end - AFTER else limit):
            if self._improve(back, wide, limit):
                back, wide = self._first_back, 1.0
            elif back + BACK <= min(FARTHEST, self._fall):
                back += BACK
            else:
                back, wide = self._first_back, min(1.5 * wide, WIDEST)

    _first_back = round(BEFORE / WINDOW)

    @property
    def _fall(self) -> int:
        """The window in which the best plan ends."""
        return int(self.best.row["ends_s"] / WINDOW)

    def _tried(self, trials: Sequence[Trial]) -> list[Row]:
        rows = self._run(trials)
        self.trials += len(trials)
        self.spent += sum(row["seconds"] for row in rows)
        return rows

    def goal(self) -> float:
        """Return up to where in the clip trials go [s]: behind the next landing after the best plan's fall."""
        fall = self.best.reach
        later = self._lands[self._lands > fall]
        behind = later[0] + BEHIND - fall if len(later) else 0.0
        return min(fall + min(max(behind, AHEAD[0]), AHEAD[1]), self._end)

    def _improve(self, back: int, wide: float, limit: float) -> bool:
        """Try from some windows before the fall on; return whether that brought it a step ahead."""
        first = max(self._fall - back, 0)
        count = min(self._fall - first + 1, CHANGED)
        known = np.zeros((max(first + count, len(self.best.vectors)), SIZE))
        known[: len(self.best.vectors)] = self.best.vectors
        before, mean, goal = known[:first], known[first : first + count].copy(), self.goal()
        rest, sigma = known[first + count :], np.tile(wide * self._spread, (count, 1))
        for round_ in range(ROUNDS):
            drawn = self._drawn(mean, sigma, first_is_mean=round_ > 0)
            plans = [np.concatenate([now, rest]) for now in drawn]
            rows = self._tried([self._trial(before, now, goal) for now in plans])
            order = sorted(range(len(rows)), key=lambda k: -value_of(rows[k]))
            if self._accept(before, [plans[k] for k in order], [rows[k] for k in order], goal):
                return True
            self._told(self)
            if self.spent >= self.limit or (self.spent >= limit and self.best.reach <= self._end - AFTER):
                break
            elite = drawn[order[:ELITE]]
            mean = mean + 0.7 * (elite.mean(axis=0) - mean)
            sigma = np.maximum(0.5 * (sigma + elite.std(axis=0)), 0.3 * wide * self._spread)
        return False

    def _drawn(self, mean: Floats, sigma: Floats, *, first_is_mean: bool) -> Floats:
        """Return vectors of a round's trials: much alike from window to window, half with few, (k, windows, n)."""
        noise = self._rng.normal(size=(TRIALS, *mean.shape))
        few = self._rng.random((TRIALS, 1, mean.shape[1])) < 0.35
        for window in range(1, mean.shape[0]):
            noise[:, window] = 0.7 * noise[:, window - 1] + 0.7 * noise[:, window]
        noise[::2] *= few[::2]
        noise[0] *= not first_is_mean
        limit = MOST * self._spread
        return np.asarray(np.clip(mean + sigma * noise, -limit, limit))

    def _accept(self, before: Floats, plans: list[Floats], rows: list[Row], goal: float) -> bool:
        """Take the best of a round over if it comes farther than what there is; `plans` and `rows` best first."""
        up = [k for k, row in enumerate(rows) if row["up"]][:FINALISTS]
        if up and goal < self._end:  # up at the goal: how far does it come?
            wholes = self._tried([self._trial(before, plans[k], self._end) for k in up])
            found = [(plans[k], row) for k, row in zip(up, wholes, strict=True)]
        else:
            found = [(plans[0], rows[0])]
        plan, row = max(found, key=lambda pair: value_of(pair[1]))
        if not row["up"] and row["reach"] < self.best.reach + STEP:
            return False
        self.best = TriedPlan(np.concatenate([before, plan]), row)
        self._told(self)
        return True
