"""Controllers that bid by what they learned of their chance of success, and the pre-conditions that come with Stunt.

Those were learned on the body of the clip `idle` at strength 1.5; any other body is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import IDLE, Bid, Controller
from stunt.supervise.learn.features import CAPTURE, HEIGHT, LEAN, body_digest, features
from stunt.supervise.learn.svm import SupportVectors, load_machine
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.reflexes.stumble import Stumble
from stunt.supervise.situation import Situation
from stunt.supervise.wrappers import Wrapped

OFF_BALANCE: Final = 0.15
"""How far the capture point may be from the middle of the feet before help is needed [m]."""
LEANING: Final = 0.3
"""And the sine of how far the root may lean."""


LOWEST: Final = 0.55
"""A centre of mass less than this above the feet belongs to a body that is down, and no try was made on one [m]."""
LAID: Final = 0.85
"""Neither was on one that leans farther than this: the sine of 58°."""
BETTER: Final = 0.2
"""So much better another's chance must be to step back for it."""


def is_up(seen: Floats) -> bool:
    """Whether a body with such features (17,) is still on its feet, as all were that anything was tried on."""
    return bool(seen[HEIGHT] > LOWEST) and math.hypot(*seen[LEAN : LEAN + 2]) < LAID


def off_balance(seen: Floats) -> bool:
    """Whether a body with such features (17,) is about to fall, or may be."""
    return math.hypot(*seen[CAPTURE : CAPTURE + 2]) > OFF_BALANCE or math.hypot(*seen[LEAN : LEAN + 2]) > LEANING


class LearnedBid(Wrapped):
    """A controller whose bids go by a learned pre-condition.

    Attributes:
        inner: The controller.
        machine: What was learned.
        least: Chance of success from which it bids in earnest.
        rivals: What others of the same pool learned: where one of them has a much better chance, it steps back.
    """

    shared = ("inner", "machine", "rivals")

    def __init__(
        self,
        inner: Controller,
        machine: SupportVectors,
        stage: StageLoop,
        character: str,
        *,
        least: float = 0.5,
        rivals: Sequence[SupportVectors] = (),
    ) -> None:
        """Put a learned pre-condition before a controller.

        Raises:
            WrongBodyError: It was learned on another body.
        """
        super().__init__(inner)
        machine.check_body(body_digest(stage.model, stage.character(character)))
        self.machine, self.least, self.rivals = machine, least, tuple(rivals)
        self.wakes = "forces"

    def bid(self, now: Situation) -> Bid | None:
        """Bid as the controller does, unless its chance is poor and a rival's is much better.

        Where its own rule gives up although help is needed, it offers to try all the same: better than nobody.
        """
        if now.active is not None:  # data is in charge: nobody needs help
            return None
        own, seen = self.inner.bid(now), features(now.stage, now.character)
        failed = now.last is not None and now.last.status.state == "failed"
        if own is None and not (is_up(seen) and (failed or off_balance(seen))):
            return None
        chance = float(self.machine.chance(seen))
        why = f"{100 * chance:.0f} % by what it learned"
        given = own if isinstance(own, Bid) else Bid(own if own is not None else chance)
        if own is None or (chance < self.least and self._has_better(seen, chance)):
            return Bid(chance, why, given.plan, IDLE + 1)
        return Bid(given.score, f"{given.why}; {why}" if given.why else why, given.plan, given.priority)

    def _has_better(self, seen: Floats, chance: float) -> bool:
        """Whether a rival has a much better chance."""
        return any(float(rival.chance(seen)) > max(self.least, chance + BETTER) for rival in self.rivals)


CHOICES: Final = 9
"""So many values are looked at for each parameter that is left open."""


class ParameterBid(Wrapped):
    """A controller whose bids go by a pre-condition over states and parameters.

    It bids as the controller does where its chance is good; with a poor one a try is only better than nobody. A
    parameter that is None is chosen: the value with the best chance from here.

    Attributes:
        inner: The controller.
        machine: What was learned.
        least: Chance of success from which it bids in earnest.
    """

    shared = ("inner", "machine")

    def __init__(
        self, inner: Controller, machine: SupportVectors, stage: StageLoop, character: str, *, least: float = 0.5
    ) -> None:
        """Put a learned pre-condition before a controller.

        Raises:
            WrongBodyError: It was learned on another body.
        """
        super().__init__(inner)
        machine.check_body(body_digest(stage.model, stage.character(character)))
        self.machine, self.least, self.wakes = machine, least, "always"
        self.sampled = tuple((str(n), float(low), float(high)) for n, low, high in machine.about.get("sampled", ()))
        self._open = [name for name, _, _ in self.sampled if getattr(inner, name) is None]

    def bid(self, now: Situation) -> Bid | None:
        """Bid where the controller does, by its chance."""
        own = self.inner.bid(now)
        if own is None:
            return None
        given = own if isinstance(own, Bid) else Bid(float(own))
        chance, chosen = self.best(features(now.stage, now.character))
        why = f"{given.why}; " * bool(given.why) + f"{100 * chance:.0f} % by what it learned"
        plan = given.plan, chosen
        if chance < self.least:
            return Bid(chance, why, plan, IDLE + 1)
        return Bid(given.score, why, plan, given.priority)

    def best(self, seen: Floats) -> tuple[float, dict[str, float]]:
        """Return the best chance from a state (17,), and the parameters left open that it needs."""
        axes = [
            np.linspace(low, high, CHOICES) if name in self._open else np.array([float(getattr(self.inner, name))])
            for name, low, high in self.sampled
        ]
        choices = list(itertools.product(*(axis.tolist() for axis in axes)))
        practice = Practice(sampled=self.sampled)
        chances = self.machine.chance(np.array([[*seen, *practice.features(told)] for told in choices]))
        k = int(np.argmax(chances))
        told = dict(zip((name for name, _, _ in self.sampled), choices[k], strict=True))
        return float(chances[k]), {name: told[name] for name in self._open}

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Let the controller begin, with the parameters chosen."""
        plan, chosen = bid.plan if bid.plan is not None else (None, {})
        for name, value in chosen.items():
            setattr(self.inner, name, value)
        self.inner.start(now, actor, Bid(bid.score, bid.why, plan, bid.priority))

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let it stop; what was chosen is open again."""
        self.inner.stop(now, actor)
        for name in self._open:
            setattr(self.inner, name, None)


FOLDER = Path(__file__).parent / "stored"


def stored_machine(name: str) -> SupportVectors:
    """Return a stored pre-condition by its controller's name (`balance`, `stumble`)."""
    return load_machine(FOLDER / f"{name}.npz")


def learned_balance(stage: StageLoop, character: str) -> LearnedBid:
    """Return balance with its learned pre-condition."""
    return LearnedBid(BalanceReflex(), stored_machine("balance"), stage, character, rivals=[stored_machine("stumble")])


def learned_stumble(stage: StageLoop, character: str) -> LearnedBid:
    """Return stumble with its learned pre-condition."""
    return LearnedBid(Stumble(), stored_machine("stumble"), stage, character, rivals=[stored_machine("balance")])
