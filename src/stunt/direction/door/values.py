"""Typed readings of single values: numbers, words, vectors. Each says what it expected."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from stunt.direction.door.node import Node, plain_from_node
from stunt.errors import ConflictingKeysError, InvalidValueError, MissingValueError, Place, UnknownNameError

LARGEST = 1e9  # no number of a script, in any of its units, is near this
MAX_SECONDS = 3600.0
_NAME = re.compile(r"[^\W\d][\w.-]*\Z")


def wrong(node: Node, expected: str) -> InvalidValueError:
    """Return the error for a value that is not what was expected."""
    return InvalidValueError(node.what, plain_from_node(node), expected, node.place)


def number(node: Node, *, above: float | None = None, least: float | None = None, most: float | None = None) -> float:
    """Read a finite number greater than `above`, at least `least` and at most `most`."""
    value = node.value
    expected = _expected("a number", above, least, most)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(node, expected)
    if not abs(value) <= LARGEST:  # also catches NaN
        raise wrong(node, f"{expected} (finite, not beyond {LARGEST:g})")
    if (above is not None and value <= above) or (least is not None and value < least):
        raise wrong(node, expected)
    if most is not None and value > most:
        raise wrong(node, expected)
    return float(value)


def seconds(node: Node) -> float:
    """Read a duration [s], greater than 0."""
    return number(node, above=0.0, most=MAX_SECONDS)


def moment(node: Node) -> float:
    """Read a time on the performance's clock [s], 0 or later."""
    return number(node, least=0.0, most=MAX_SECONDS)


def whole(node: Node, least: int, most: int) -> int:
    """Read a whole number from `least` to `most`."""
    value = node.value
    is_whole = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value) and value == int(value))
    if isinstance(value, bool) or not is_whole or not least <= value <= most:
        raise wrong(node, f"a whole number from {least} to {most}")
    return int(value)


def truth(node: Node) -> bool:
    """Read `true` or `false`."""
    if not isinstance(node.value, bool):
        raise wrong(node, "true or false")
    return node.value


def text(node: Node) -> str:
    """Read text; a number is taken as it was written."""
    if not isinstance(node.value, str | int | float):
        raise wrong(node, "text")
    return node.value if isinstance(node.value, str) else node.text


def name(node: Node) -> str:
    """Read a name that refers to something: text that is not empty."""
    if not text(node).strip():
        raise wrong(node, "a name")
    return text(node)


def choice(node: Node, options: Sequence[str], kind: str) -> Any:
    """Read one of some words."""
    word = name(node)
    if word not in options:
        raise UnknownNameError(kind, word, options, node.place)
    return word


def known(node: Node, kind: str, available: Iterable[str]) -> str:
    """Read a name that must be one of those available."""
    word = name(node)
    options = tuple(available)
    if word not in options:
        raise UnknownNameError(kind, word, options, node.place)
    return word


def vector(node: Node, lengths: tuple[int, ...] = (3,), **bounds: float) -> tuple[float, ...]:
    """Read a list of numbers of one of some lengths."""
    sizes = " or ".join(str(n) for n in lengths)
    if not isinstance(node.value, tuple) or len(node.value) not in lengths:
        raise wrong(node, f"a list of {sizes} numbers")
    return tuple(number(x, **bounds) for x in node.value)


def vector3(node: Node, **bounds: float) -> tuple[float, float, float]:
    """Read `[x, y, z]`."""
    x, y, z = vector(node, (3,), **bounds)
    return x, y, z


def position(node: Node) -> tuple[float, float, float]:
    """Read `[x, y]` or `[x, y, z]` [m]."""
    x, y, z = (*vector(node, (2, 3)), 0.0)[:3]
    return x, y, z


def items(node: Node) -> tuple[Node, ...]:
    """Read a list."""
    if not isinstance(node.value, tuple):
        raise wrong(node, "a list")
    return node.value


def entries(node: Node) -> dict[str, Node]:
    """Read a mapping; one left empty has no entries."""
    if node.value is None:
        return {}
    if not isinstance(node.value, dict):
        raise wrong(node, "a mapping of names to values")
    return node.value


def stage_name(key: str, place: Place, kind: str) -> str:
    """Return a character's or prop's own name, if it can stand before a slash."""
    if not _NAME.match(key):
        raise InvalidValueError(f"the name of a {kind}", key, "a letter, then letters, digits, '_', '-' or '.'", place)
    return key


def _expected(what: str, above: float | None, least: float | None, most: float | None) -> str:
    if above is not None:
        return f"{what} greater than {above:g}" + ("" if most is None else f", at most {most:g}")
    if least is not None:
        return f"{what} of at least {least:g}" if most is None else f"{what} from {least:g} to {most:g}"
    return what if most is None else f"{what} of at most {most:g}"


class Section:
    """A mapping whose keys are known. A key left empty (`mass:`) is as if it were not there."""

    def __init__(self, node: Node, what: str, keys: Iterable[str]) -> None:
        """Open a section.

        Args:
            node: The mapping.
            what: What it is, for messages: `prop 'ball'`.
            keys: The keys it may have.

        Raises:
            UnknownNameError: If there is another key.
        """
        self.what = what
        self.place = node.place
        if not isinstance(node.value, dict):
            raise InvalidValueError(what, plain_from_node(node), "a mapping of keys to values", node.place)
        allowed = tuple(keys)
        for key, value in node.value.items():
            if key not in allowed:
                raise UnknownNameError(f"key in {what}", key, allowed, value.place)
        self._entries: dict[str, Node] = {k: v for k, v in node.value.items() if v.value is not None}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def get(self, key: str) -> Node | None:
        """Return a key's value, or None."""
        return self._entries.get(key)

    def need(self, key: str) -> Node:
        """Return a key's value, or say that it is missing."""
        if key not in self._entries:
            raise MissingValueError(key, self.what, self.place)
        return self._entries[key]

    def read(self, key: str, reader: Any, default: Any = None, **options: Any) -> Any:
        """Return a key's value as `reader` reads it, or the default where it is not given."""
        node = self._entries.get(key)
        return default if node is None else reader(node, **options)

    def one_of(self, keys: Sequence[str]) -> str:
        """Return which of some keys is given; exactly one must be."""
        given = [key for key in keys if key in self]
        if not given:
            raise MissingValueError("' or '".join(keys), self.what, self.place)
        if len(given) > 1:
            place = self._entries[given[1]].place
            raise ConflictingKeysError(self.what, keys, given, place)
        return given[0]


def told_by(node: Node, what: str, kinds: Sequence[str], keys: Sequence[str]) -> str:
    """Return which of some keys a mapping has, the one that tells what it is; exactly one must be there."""
    given = [kind for kind in kinds if isinstance(node.value, dict) and kind in node.value]
    return given[0] if len(given) == 1 else Section(node, what, keys).one_of(kinds)
