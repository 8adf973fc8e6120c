"""Asking controllers so that a bad one harms nobody: whatever breaks the contract comes back as one exception."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from stunt.drive.body.actor import BodyActor
from stunt.errors import InvalidValueError, StuntError
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import STATES, Bid, Controller, Status
from stunt.supervise.situation import Situation

VERBS: Final = ("bid", "start", "step", "stop", "save", "restore")
FACTS: Final[dict[str, Any]] = {
    "name": str,
    "kinematic": bool,
    "priority": int,
    "interrupts": bool,
    "longest": (int, float),
}
WHAT_A_CONTROLLER_HAS: Final = (
    "an object with name, kinematic, priority, interrupts, longest, bid, start, step, stop, save and restore "
    "(deriving from BaseController gives all but step)"
)


MISTAKES: Final = (Exception, SystemExit)
"""What a controller may raise without harm: it does not end the program either. Only the user does (Ctrl-C)."""


class BrokenContract(Exception):  # noqa: N818  (not an error of ours, and never shown as one)
    """A controller did what none may do.

    Attributes:
        controller: Which.
        reason: What it did, for the log.
    """

    def __init__(self, controller: Controller, reason: str) -> None:
        """Say who and what."""
        self.controller, self.reason = controller, reason
        super().__init__(f"'{controller.name}' {reason}")


def as_broken(controller: Controller, verb: str, error: BaseException) -> BrokenContract:
    """Return what a controller raised as a break of the contract."""
    if isinstance(error, BrokenContract):
        return error
    broken = BrokenContract(controller, f"raised in {verb}: {error!r}")
    broken.__cause__ = error
    return broken


def missing_in(thing: Any) -> list[str]:
    """Return what an object lacks to be a controller, as sentences."""
    lacks = [f"has no method '{verb}'" for verb in VERBS if not callable(getattr(thing, verb, None))]
    for fact, kind in FACTS.items():
        value = getattr(thing, fact, None)
        if not isinstance(value, kind) or (fact == "priority" and isinstance(value, bool)):
            lacks.append(f"has no '{fact}' ({_called(kind)}); it is {value!r}")
    return lacks


def _called(kind: Any) -> str:
    return {str: "a name", bool: "true or false", int: "a whole number"}.get(kind, "a number")


def check_pool(character: str, pool: Sequence[Any]) -> None:
    """Refuse a pool that cannot work.

    Raises:
        StuntError: It is empty, two have one name, or one is no controller.
    """
    if not pool:
        raise StuntError(f"'{character}' has no controllers: a supervisor needs at least one in its pool.")
    for thing in pool:
        if lacks := missing_in(thing):
            raise InvalidValueError(
                f"a controller of '{character}'", f"{thing!r}, which {lacks[0]}", WHAT_A_CONTROLLER_HAS
            )
        if not thing.name or not thing.longest > 0.0:
            raise InvalidValueError(f"controller '{thing.name}'", thing.longest, "a name and a `longest` above 0 s")
    names = [thing.name for thing in pool]
    for name in names:
        if names.count(name) > 1:
            raise InvalidValueError(
                f"the pool of '{character}'", f"{names.count(name)} called '{name}'", "different names"
            )


def tell_recast(controller: Controller, stage: StageLoop) -> None:
    """Let a controller that knows anything of the scene by number look it up anew: the cast has changed."""
    if (recast := getattr(controller, "recast", None)) is not None:
        recast(stage)


def ask_bid(controller: Controller, now: Situation) -> Bid | None:
    """Return a controller's bid.

    Raises:
        BrokenContract: It raised, or what came is no bid.
    """
    try:
        answer = controller.bid(now)
    except MISTAKES as error:  # whatever it is, the character goes on
        raise BrokenContract(controller, f"raised in bid: {error!r}") from error
    return None if answer is None else checked_bid(controller, answer)


def checked_bid(controller: Controller, answer: object) -> Bid:
    """Return what a controller answered as a bid.

    Raises:
        BrokenContract: It is none.
    """
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        answer = Bid(float(answer))
    if not isinstance(answer, Bid):
        raise BrokenContract(controller, f"returned {answer!r} as its bid; expected a Bid, a number or None")
    score = answer.score
    if not isinstance(score, (int, float)) or not math.isfinite(score) or not 0.0 <= score <= 1.0:
        raise BrokenContract(controller, f"bid a score of {score!r}; expected a number from 0 to 1")
    return answer


def ask_step(controller: Controller, now: Situation, actor: BodyActor) -> Status:
    """Let a controller go on; return its status.

    Raises:
        BrokenContract: It raised, what came is no status, it changed between data and forces, or it never ends.
    """
    try:
        status = controller.step(now, actor)
    except MISTAKES as error:
        raise BrokenContract(controller, f"raised in step: {error!r}") from error
    if not isinstance(status, Status) or status.state not in STATES:
        raise BrokenContract(
            controller, f"returned {status!r} as its status; expected RUNNING, succeeded() or failed()"
        )
    if not 0.0 <= status.wake <= controller.longest:
        raise BrokenContract(controller, f"wants to be asked again in {status.wake!r} s")
    if actor.kinematic != controller.kinematic:
        used = "kinematic" if actor.kinematic else "dynamic"
        raise BrokenContract(controller, f"made the body {used} in step, which it said it would not")
    if status.running and now.elapsed > controller.longest:
        raise BrokenContract(controller, f"did not end within {controller.longest:g} s")
    return status
