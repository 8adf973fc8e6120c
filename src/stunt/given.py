"""Arguments from outside, seen to be of the kind their annotations announce: who gives another hears which it was.

It looks at kinds alone, a number that is none (NaN) included; ranges and names are for whoever knows them to refuse.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stunt.errors import InvalidValueError, UnknownNameError

Made = TypeVar("Made")
Called = TypeVar("Called", bound=Callable[..., Any])
_ABOUT_HERE = (Iterable, Sequence, Mapping, Collection, Callable, tuple, dict, list)
_TOLD = {
    float: "a finite number", int: "a whole number", str: "text", bool: "true or false", Path: "a path",
    type(None): "None", frozenset: "a set", Mapping: "a mapping", dict: "a mapping", Callable: "something to be called",
    Iterable: "a list", Sequence: "a list", Collection: "a list", tuple: "a list", list: "a list",
}  # fmt: skip


def announced(function: Called) -> Called:
    """Let a function refuse arguments that are not of the kinds its annotations announce (a decorator).

    The wrapped function raises InvalidValueError before its first line.
    """
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
    """Return what a program made of a data class, whose values are of the kinds it announces.

    Raises:
        InvalidValueError: One has not.
    """
    for name, kinds in _kinds_of_fields(type(made)).items():
        see(name, getattr(made, name), kinds)
    return made


def see(name: str, value: Any, kinds: Sequence[Any]) -> None:
    """See that a value is of one of some kinds; none: of any.

    Raises:
        InvalidValueError: It is not.
    """
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
        return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and _is_finite(value)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind is Path:
        return isinstance(value, os.PathLike)
    if kind in (tuple, list, Sequence, Iterable, Collection):  # of either, and arrays; a text is no list of letters
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if kind is frozenset:
        return isinstance(value, Set)
    if kind is Callable:
        return callable(value)
    return isinstance(value, kind)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
