"""What a program hands to a stage and its actors, checked: who gives something else hears which argument it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from stunt.errors import InvalidValueError
from stunt.keys import key_of, read, write
from stunt.maths.rotations import Floats
from stunt.schema import node_from_plain
from stunt.stage.props import Vector3


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)


def need(what: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """Return what is of a kind.

    Raises:
        InvalidValueError: It is not.
    """
    if not isinstance(value, kind):
        raise InvalidValueError(what, value, expected)
    return value


def text(what: str, value: Any) -> str:
    """Return a text that is one."""
    return str(need(what, value, str, "text"))


def finite(what: str, value: Any) -> float:
    """Return a time [s] that is a finite number."""
    if not _is_number(value):
        raise InvalidValueError(what, value, "a finite number of seconds")
    return float(value)


def positive(what: str, value: Any, unit: str = "seconds") -> float:
    """Return a number above 0."""
    if not _is_number(value) or value <= 0.0:
        raise InvalidValueError(what, value, f"a positive number of {unit}")
    return float(value)


def number(what: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return a number within a range."""
    if not _is_number(value) or not least <= value <= most:
        upper = f" and at most {most:g}" if most < math.inf else ""
        raise InvalidValueError(what, value, f"a number of at least {least:g}{upper}")
    return float(value)


def numbers(what: str, value: Any, sizes: tuple[int, ...]) -> Floats:
    """Return a list of numbers of one of some lengths."""
    try:
        found = np.array(value, float).ravel()
    except (TypeError, ValueError):
        found = np.zeros(0)
    if len(found) not in sizes or not np.isfinite(found).all():
        raise InvalidValueError(what, value, f"{' or '.join(map(str, sizes))} finite numbers")
    return found


def vector(what: str, value: Any) -> Vector3:
    """Return three numbers."""
    try:
        x, y, z = (float(each) for each in value)
    except (TypeError, ValueError):
        raise InvalidValueError(what, value, "three numbers") from None
    if not all(math.isfinite(each) for each in (x, y, z)):
        raise InvalidValueError(what, value, "three finite numbers")
    return x, y, z


def listed(what: str, value: Any) -> list[Any]:
    """Return the entries of a list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise InvalidValueError(what, value, "a list, or a mapping by name")
    return list(value)


def checked(what: str, value: Any, kind: type) -> Any:
    """Return a spec of a kind, with values a script could have too."""
    need(what, value, kind, f"a stunt.{kind.__name__}")
    read(kind, node_from_plain(write(value), what))
    return value


def setting(kind: type, name: str, value: Any) -> Any:
    """Return the value of one key of a spec, as a script would give it."""
    return key_of(kind, name).kind.read(node_from_plain({name: value}, name).value[name], {}, name)
