"""Controllers by name: Stunt's own, and those that installed packages register under `stunt.controllers`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from stunt.errors import NOWHERE, InvalidValueError, Place, StuntError, UnknownNameError
from stunt.stage.loop import StageLoop
from stunt.supervise.calls import MISTAKES, WHAT_A_CONTROLLER_HAS, missing_in
from stunt.supervise.contract import Controller

GROUP: Final = "stunt.controllers"
"""The entry-point group in which packages register controllers."""

OWN: Final[dict[str, str]] = {
    "rag_doll": "stunt.supervise.rag_doll:RagDoll",
    "balance": "stunt.supervise.reflexes.balance:BalanceReflex",
    "stumble": "stunt.supervise.reflexes.stumble:Stumble",
    "fall": "stunt.supervise.reflexes.fall:Fall",
    "roll": "stunt.supervise.reflexes.roll:Roll",
    "lie": "stunt.supervise.reflexes.lie:Lie",
    "get_up": "stunt.supervise.reflexes.get_up:own_get_up",
    "duck": "stunt.supervise.reflexes.duck:Duck",
    "curl": "stunt.supervise.reflexes.curl:Curl",
    "reel": "stunt.supervise.reflexes.reel:Reel",
    "clutch": "stunt.supervise.reflexes.clutch:Clutch",
    "dive": "stunt.supervise.reflexes.dive:Dive",
    "learned_balance": "stunt.supervise.learn.bids:learned_balance",
    "learned_stumble": "stunt.supervise.learn.bids:learned_stumble",
}
"""Stunt's own controllers: name → module:attribute."""


@cache
def _foreign() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def registered() -> tuple[str, ...]:
    """Return the names of all registered controllers; Stunt's own first."""
    return (*OWN, *(name for name in _foreign() if name not in OWN))


def maker_of(name: str, place: Place = NOWHERE) -> Callable[..., Any]:
    """Return what makes a controller: a class or function by its registered name, or by `module:attribute`.

    Raises:
        UnknownNameError: Neither is registered nor written like that.
        StuntError: Its module cannot be imported, or has no such attribute.
    """
    if name in _foreign() and name not in OWN:
        path = _foreign()[name].value
    elif name in OWN:
        path = OWN[name]
    elif ":" in name:
        path = name
    else:
        raise UnknownNameError("controller", name, (*registered(), "or module:Class"), place)
    module, _, attribute = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise StuntError(f"controller '{name}' cannot be loaded from '{path}': {error}.", place) from error
    if not callable(found):
        raise InvalidValueError(f"controller '{name}'", f"a {type(found).__name__}", "a class or function", place)
    made: Callable[..., Any] = found
    return made


def make_controller(
    name: str, stage: StageLoop, character: str, place: Place = NOWHERE, parameters: Mapping[str, Any] | None = None
) -> Controller:
    """Make a controller by name. A maker that needs two arguments gets the stage and the character's name.

    Args:
        name: Its registered name, or `module:attribute`.
        stage: Where.
        character: For whom.
        place: Where it was asked for, for messages.
        parameters: Keywords of its own (see `parameters_of`), in its own units.

    Raises:
        StuntError: There is none of that name, it cannot be made, or what came is no controller.
    """
    maker = maker_of(name, place)
    try:
        made = maker(*((stage, character) if _needs_stage(maker) else ()), **(parameters or {}))
    except StuntError:
        raise
    except MISTAKES as error:
        raise StuntError(f"controller '{name}' cannot be made: {error!r}.", place) from error
    if lacks := missing_in(made):
        raise InvalidValueError(f"controller '{name}'", f"something that {lacks[0]}", WHAT_A_CONTROLLER_HAS, place)
    controller: Controller = made
    return controller


def _needs_stage(maker: Callable[..., Any]) -> bool:
    """Whether a maker has two arguments that must be given."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in kinds for p in parameters) >= 2
