"""Pre-conditions that come with Stunt, and the controllers that use them.

They were learned on the body of the clip `idle` at strength 1.5; any other body is refused.
"""

from __future__ import annotations

from pathlib import Path

from stunt.direction.behaviours.balance import Balance
from stunt.direction.behaviours.stumble import Stumble
from stunt.direction.learning.gate import LearnedBid
from stunt.direction.learning.machine import Machine, load_machine
from stunt.stage.loop import Stage

FOLDER = Path(__file__).parent / "stored"


def stored_machine(name: str) -> Machine:
    """Return a stored pre-condition by its controller's name (`balance`, `stumble`)."""
    return load_machine(FOLDER / f"{name}.npz")


def learned_balance(stage: Stage, character: str) -> LearnedBid:
    """Return balance with its learned pre-condition."""
    return LearnedBid(Balance(), stored_machine("balance"), stage, character, rivals=[stored_machine("stumble")])


def learned_stumble(stage: Stage, character: str) -> LearnedBid:
    """Return stumble with its learned pre-condition."""
    return LearnedBid(Stumble(), stored_machine("stumble"), stage, character, rivals=[stored_machine("balance")])
