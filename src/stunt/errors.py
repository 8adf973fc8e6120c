"""Everything Stunt can tell a user they got wrong, one class per mistake.

Each error keeps the values it talks about as fields, so that a program can act on them, and says in one sentence what
was expected, what came, and what exists. The command line prints the sentence and exits with code 2.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
import reprlib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np


@dataclass(frozen=True)
class Place:
    """Where in a user's file something stands.

    Attributes:
        file: The file as the user named it.
        line: Line number, counted from 1; 0 where the place has no line (data made in Python).
        path: The keys that lead to the value, for example ``("characters", "ada", "body")``.
    """

    file: str = ""
    line: int = 0
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        dotted = ".".join(self.path)
        if where and dotted:
            return f"{where} ({dotted})"
        return where or dotted


NOWHERE = Place()

_SHOWN_NAMES = 80  # the largest body has under 60 joints; a list longer than this helps nobody
_OWNER = re.compile(r" (?:in|of|among) ")  # "joint of 'ada'": what, and whose
_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 80


def shown(value: object) -> str:
    """Return a value as a message shows it, cut short where it is long."""
    try:
        return _brief.repr(value)
    except ValueError:  # an integer with more digits than Python is willing to print
        return "a very long number"


def _cut(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}…"


LONGEST = 4000
"""No message is longer; the longest Stunt has to say, a list of 80 names, is shorter."""
_WORD = re.compile(r"\S{241,}")


def brief(text: object) -> str:
    """Return a text with what no human reads cut out of it: the middle of very long words and of very long texts."""
    found = _WORD.sub(lambda word: f"{word[0][:120]}…{word[0][-60:]}", str(text))
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1001]}…{found[-1000:]}"


NO_NUMBERS = (TypeError, ValueError, OverflowError)
"""What Python raises where something is no number, or a whole one beyond all that a machine counts with."""
NONSENSE = (*NO_NUMBERS, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError)
"""What it raises where data that came from anywhere is not made as its reader expects."""


class StuntError(Exception):
    """A mistake the user can mend. ``place`` says where, where that is known."""

    exit_code = 2

    def __init__(self, message: str, place: Place = NOWHERE) -> None:
        self.place = place
        self.reason = brief(message)
        super().__init__(f"{brief(place)}: {self.reason}" if str(place) else self.reason)


@contextmanager
def asked_at(place: Place) -> Iterator[None]:
    """Say where something was asked for, where a mistake that comes of it does not know a place."""
    try:
        yield
    except StuntError as error:
        if str(place) and not str(error.place):
            error.place, error.args = place, (f"{brief(place)}: {error.reason}",)
        raise


class UnknownNameError(StuntError):
    """A name that does not exist, with the names that do and the one probably meant."""

    def __init__(self, kind: str, name: str, available: Iterable[str], place: Place = NOWHERE) -> None:
        self.kind = kind
        self.name = name
        self.available = tuple(available)
        close = difflib.get_close_matches(str(name)[:80], self.available, n=1, cutoff=0.5)
        self.suggestion = close[0] if close else None
        split = _OWNER.search(kind)
        thing, owner = (kind[: split.start()], kind[split.start() :]) if split else (kind, "")
        message = f"unknown {thing} '{_cut(str(name))}'{owner}."
        if self.suggestion is not None:
            message += f" Did you mean '{self.suggestion}'?"
        more = len(self.available) - _SHOWN_NAMES
        names = ", ".join(self.available[:_SHOWN_NAMES]) or "none"
        message += f" Available: {names}{f' and {more} more' if more > 0 else ''}."
        super().__init__(message, place)


class ScriptFileError(StuntError):
    """A script that cannot be read from or written to the disk."""


class ScriptSyntaxError(StuntError):
    """A script that is not YAML, is empty, or does not have a mapping at its top."""


class InvalidValueError(StuntError):
    """A value of the wrong type or outside what is physically possible (negative mass, zero duration, NaN)."""

    def __init__(self, what: str, value: object, expected: str, place: Place = NOWHERE) -> None:
        self.what = what
        self.value = value
        self.expected = expected
        super().__init__(f"{what} must be {expected}, but it is {shown(value)}.", place)


def must_be(what: str, value: object, kind: Any) -> None:
    """Refuse an argument that is not of its kind."""
    if not isinstance(value, kind):
        raise InvalidValueError(what, value, f"a {getattr(kind, '__name__', 'number')}")


class MissingValueError(StuntError):
    """A key that must be there is not."""

    def __init__(self, key: str, owner: str, place: Place = NOWHERE) -> None:
        self.key = key
        self.owner = owner
        super().__init__(f"{owner} needs '{key}', which is missing.", place)


class ConflictingKeysError(StuntError):
    """Keys that exclude each other, given together."""

    def __init__(self, owner: str, keys: Iterable[str], given: Iterable[str], place: Place = NOWHERE) -> None:
        self.owner = owner
        self.keys = tuple(keys)
        self.given = tuple(given)
        options, both = (" and ".join(f"'{key}'" for key in some) for some in (self.keys, self.given))
        super().__init__(f"{owner} takes exactly one of {options}, but has {both}.", place)


class JointLimitError(StuntError):
    """A key-frame asks for an angle outside the joint's range (for a slide joint: a position, with `unit` " m")."""

    def __init__(
        self, joint: str, angle_deg: float, range_deg: tuple[float, float], place: Place = NOWHERE, unit: str = "°"
    ) -> None:
        self.joint = joint
        self.angle_deg = angle_deg
        self.range_deg = range_deg
        low, high = range_deg
        super().__init__(
            f"joint '{joint}' is asked for {angle_deg:.4g}{unit}, "
            f"outside its limits of {low:.4g}{unit} to {high:.4g}{unit}.",
            place,
        )


class BeatOrderError(StuntError):
    """Beat times that do not increase."""

    def __init__(self, time: float, previous: float, place: Place = NOWHERE) -> None:
        self.time = time
        self.previous = previous
        super().__init__(f"beat times must increase, but {time:.6g} s comes after {previous:.6g} s.", place)


class TrajectoryOrderError(StuntError):
    """Times of a trajectory that do not increase."""

    def __init__(self, time: float, previous: float, place: Place = NOWHERE) -> None:
        self.time = time
        self.previous = previous
        super().__init__(
            f"the times of a trajectory must increase, but {time:.6g} s comes after {previous:.6g} s.", place
        )


class TrajectoryGapError(StuntError):
    """A trajectory that says nothing (NaN, infinite) at a time at which it should."""

    def __init__(self, time: float, place: Place = NOWHERE) -> None:
        self.time = time
        super().__init__(f"the trajectory has a gap: there is no finite value at {time:.6g} s.", place)


class RateError(StuntError):
    """A control period that is no whole multiple of the physics step, or a rate out of range."""

    def __init__(self, physics_hz: float, control_hz: float, place: Place = NOWHERE) -> None:
        self.physics_hz = physics_hz
        self.control_hz = control_hz
        super().__init__(
            f"the control period must be a whole multiple of the physics step, but physics runs at {physics_hz:g} Hz "
            f"and control at {control_hz:g} Hz ({physics_hz / control_hz:.6g} steps per control period).",
            place,
        )


class BodyError(StuntError):
    """A body description that cannot be built: broken MJCF, no joints, impossible size."""


class TakeError(StuntError):
    """A take that cannot be read or written."""


class ExportError(StuntError):
    """A take that cannot be exported as asked: an unknown suffix, a missing extra, an unwritable place."""


class BlowUpError(StuntError):
    """The simulation left the realm of numbers; the performance was stopped in that step.

    Attributes:
        body: Name of the body whose motion blew up first.
        time: Simulated time [s].
        crash_file: The file with the last second of states, once it is written.
    """

    exit_code = 3  # nothing in the script is plainly wrong, so a program can tell it from bad input

    def __init__(self, body: str, time: float, detail: str, crash_file: str | None = None) -> None:
        self.body = body
        self.time = time
        self.detail = detail
        self.crash_file = crash_file
        message = f"the simulation blew up at {time:.4f} s: body '{body}' {detail}."
        if crash_file:
            message += f" The last second of states is in {crash_file}."
        super().__init__(message)


Made = TypeVar("Made")
Called = TypeVar("Called", bound=Callable[..., Any])
_ABOUT_HERE = (Iterable, Sequence, Mapping, Collection, Callable, tuple, dict, list)
_WIDER: dict[Any, Any] = {bool: (bool, np.bool_), Path: os.PathLike, frozenset: Set}
_TOLD = {
    float: "a finite number", int: "a whole number", str: "text", bool: "true or false", Path: "a path",
    type(None): "None", frozenset: "a set", Mapping: "a mapping", dict: "a mapping", Callable: "something to be called",
    Iterable: "a list", Sequence: "a list", Collection: "a list", tuple: "a list", list: "a list",
}  # fmt: skip


def announced(function: Called) -> Called:
    """Let a function refuse arguments of other kinds than its annotations announce, NaN included (a decorator)."""
    signature = inspect.signature(function)
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [p.name for p in signature.parameters.values() if p.kind not in variable and p.name != "self"]
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())
    kinds: dict[str, list[Any]] = {}

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in () if open_ended else options:
            if name not in signature.parameters:
                raise UnknownNameError(f"argument of {function.__name__}", name, names)
        given = signature.bind(*args, **options).arguments
        if not kinds:
            kinds.update((name, _kinds_of(function, signature.parameters[name].annotation)) for name in names)
        for name, value in given.items():
            if name in kinds:
                see(name, value, kinds[name])
        return function(*args, **options)

    return typing.cast(Called, checked)


def seen(made: Made) -> Made:
    """Return what a program made of a data class; refuse values of other kinds than it announces."""
    owner: Any = type(made)
    for name, kinds in _kinds_of_fields(owner).items():
        see(name, getattr(made, name), kinds)
    return made


def see(name: str, value: Any, kinds: Sequence[Any]) -> None:
    """Refuse a value that is of none of some kinds; none: of any."""
    if kinds and not any(_is(value, kind) for kind in kinds):
        told = dict.fromkeys(_TOLD.get(kind) or f"a {getattr(kind, '__name__', kind)}" for kind in kinds)
        raise InvalidValueError(name, value, " or ".join(told))


@functools.cache
def _kinds_of_fields(made: type) -> dict[str, list[Any]]:
    return {each.name: _kinds_of(made, each.type) for each in fields(made)}


def _kinds_of(owner: Any, annotation: Any) -> list[Any]:
    """Return the classes of an annotation; none where it has others than are known here, or says arrays."""
    if isinstance(annotation, str):
        module = inspect.getmodule(owner)
        try:
            annotation = eval(annotation, dict(vars(module)) if module else {})
        except NameError:  # known to type checkers alone
            return []
    union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    found = []
    for part in typing.get_args(annotation) if union else (annotation,):
        kind = typing.get_origin(part) or (type(None) if part is None else part)
        plain = isinstance(kind, type) and kind is not np.ndarray and not getattr(kind, "_is_protocol", False)
        if not plain and kind not in _ABOUT_HERE:
            return []
        found.append(kind)
    return found


def _is(value: Any, kind: Any) -> bool:
    if kind is float:
        number: Any = value if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else np.nan
        return bool(-3e38 <= number <= 3e38)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind in (tuple, list, Sequence, Iterable, Collection):  # of either, and arrays; a text is no list of letters
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return callable(value) if kind is Callable else isinstance(value, _WIDER.get(kind, kind))
