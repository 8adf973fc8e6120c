"""Whether a supervisor falls less often with learned pre-conditions than with hand-written ones, pushed alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.stage.event_specs import Push
from stunt.supervise.contract import RUNNING, BaseController, Bid, Controller, Status, failed
from stunt.supervise.learn.bids import LearnedBid
from stunt.supervise.learn.svm import SupportVectors
from stunt.supervise.learn.trial import STRONGEST, WHO, TrialPlan, pushed_stage, stands
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.reflexes.fall import Fall
from stunt.supervise.reflexes.stumble import Stumble
from stunt.supervise.situation import Situation
from stunt.supervise.supervisor import Supervisor

SECONDS = 5.0
"""From the moment in which somebody must take over to the verdict [s]."""
WEAKEST = 40.0
"""Of a push [N·s]; what is weaker fells nobody."""


class Following(BaseController):
    """Follows what the body followed before, and gives up at a time: then the others must know what to do."""

    def __init__(self, until: float) -> None:
        """Say until when [s]."""
        super().__init__("following")
        self.until = until

    def bid(self, now: Situation) -> Bid | None:
        """Only at the beginning, and once it stands again."""
        settled = now.last is not None and now.last.status.state == "succeeded" and now.tilt < 0.3
        return Bid(1.0, "as before") if now.last is None or settled else None

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Give up when it is time."""
        return failed("pushed") if self.until <= now.time < self.until + 0.1 else RUNNING


@dataclass(frozen=True)
class Outcome:
    """What became of one push.

    Attributes:
        fell: Whether it did not stand in the end, or had to fall on the way.
        who: Who was in charge, one after another.
    """

    fell: bool
    who: tuple[str, ...]


def outcome(seed: int, number: int, learned: Mapping[str, SupportVectors] | None) -> Outcome:
    """Push once, and let a supervisor see to it; with learned pre-conditions for those that have one."""
    rng = np.random.default_rng([seed, number])
    direction, size = float(rng.uniform(-np.pi, np.pi)), float(rng.uniform(WEAKEST, STRONGEST))
    at, delay = float(rng.uniform(0.3, 1.3)), float(rng.uniform(0.1, 0.3))
    impulse = (size * float(np.cos(direction)), size * float(np.sin(direction)), 0.0)
    plan = TrialPlan("balance")
    clip = plan.clips[int(rng.integers(len(plan.clips)))]
    stage, actor = pushed_stage(plan, clip, Push(f"{WHO}/thorax", at, impulse=impulse, duration=0.1))
    catching: list[Controller] = [BalanceReflex(), Stumble()]
    if learned is not None:
        catching = [
            LearnedBid(c, learned[c.name], stage, WHO, rivals=[m for name, m in learned.items() if name != c.name])
            if c.name in learned else c
            for c in catching
        ]  # fmt: skip
    supervisor = Supervisor(stage, WHO, [Following(at + delay), *catching, Fall()], actor=actor)
    stage.advance(stage.tick_of(at + delay + SECONDS))
    who = tuple(entry["controller"] for entry in supervisor.log if entry["event"] == "switch")
    return Outcome(not stands(stage) or "fall" in who or supervisor.pool.safe.name in who, who)


def compare(
    learned: Mapping[str, SupportVectors],
    count: int,
    *,
    seed: int = 4711,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes of the same pushes with hand-written and with learned pre-conditions."""
    by_hand, by_learning = [], []
    for number in range(count):
        by_hand.append(outcome(seed, number, None))
        by_learning.append(outcome(seed, number, learned))
        if progress is not None:
            progress(number + 1, count)
    return by_hand, by_learning
