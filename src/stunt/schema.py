"""Plain data with its place, whether it came from YAML or from Python, and typed readings of single values.

Each reading says what it expected. Angles are degrees outside and radians inside, and back again without losing a bit:
a number is degrees (of a velocity, degrees per second), unless a unit stands behind it: `1.2 rad`, `0.05 m` for a slide
joint, `2 rad/s`, `0.1 m/s`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stunt.errors import (
    ConflictingKeysError,
    InvalidValueError,
    MissingValueError,
    Place,
    ScriptSyntaxError,
    UnknownNameError,
)

MAX_DEPTH = 32  # a script needs about ten levels
MAX_NODES = 20_000  # of a script: a beat every second of an hour, or 140 × 140 heights; more takes too long to read
MAX_NAME = 120
_MAX_INT_BITS = 200


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a script.

    Attributes:
        value: A dict of nodes, a tuple of nodes, or a scalar (text, number, bool, None; from Python, anything).
        place: Where it was written; the entry of a mapping stands where its key stands.
        text: A scalar as it was written, so that a pose may be called `1`.
    """

    value: Any
    place: Place
    text: str = ""

    @property
    def what(self) -> str:
        """What a message calls it: the last key on the way to it."""
        return self.place.path[-1] if self.place.path else "a script"


class Budget:
    """Counts values while a tree of nodes is made, and stops what would never end."""

    def __init__(self, most: int = MAX_NODES) -> None:
        self.left = self.most = most

    def spend(self, place: Place, depth: int) -> None:
        """Count one value at this depth.

        Raises:
            ScriptSyntaxError: If values are nested too deeply or there are too many of them.
        """
        self.left -= 1
        if depth > MAX_DEPTH:
            raise ScriptSyntaxError(f"values are nested more than {MAX_DEPTH} deep, or contain themselves.", place)
        if self.left < 0:
            raise ScriptSyntaxError(f"there are more than {self.most} values (aliases counted out).", place)


def child(place: Place, key: str, line: int = 0) -> Place:
    """Return the place of a mapping's entry."""
    return Place(place.file, line, (*place.path, key))


def item(place: Place, index: int, line: int = 0) -> Place:
    """Return the place of a list's item; indices count from 0, as in Python."""
    if not place.path:
        return Place(place.file, line, (f"[{index}]",))
    return Place(place.file, line, (*place.path[:-1], f"{place.path[-1]}[{index}]"))


def checked_name(name: str, place: Place) -> str:
    """Return a key, or say that it is too long to be one."""
    if len(name) > MAX_NAME:
        raise ScriptSyntaxError(f"a key is {len(name)} characters long; {MAX_NAME} are allowed.", place)
    return name


def tame(value: Any, text: str) -> Any:
    """Return a scalar, or its text where it is an integer too long to be worked with."""
    return text if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS else value


def node_from_plain(data: object, source: str = "", most: int = MAX_NODES) -> Node:
    """Make nodes of plain Python data, so many at most: mappings, sequences, NumPy arrays and scalars."""
    return _plain(data, Place(source), Budget(most), 0)


def _plain(data: object, place: Place, budget: Budget, depth: int) -> Node:
    budget.spend(place, depth)
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if isinstance(data, Mapping):
        return Node(_plain_mapping(data, place, budget, depth), place)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray):
        return Node(tuple(_plain(x, item(place, i), budget, depth + 1) for i, x in enumerate(data)), place)
    if isinstance(data, int) and data.bit_length() > _MAX_INT_BITS:
        return Node("a very long number", place, "a very long number")
    return Node(data, place, "" if data is None else str(data))


def _plain_mapping(data: Mapping[Any, object], place: Place, budget: Budget, depth: int) -> dict[str, Node]:
    entries: dict[str, Node] = {}
    for key, value in data.items():
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise ScriptSyntaxError(f"keys must be text, but one is {type(key).__name__}.", place)
        name = checked_name(str(key), place)
        if name in entries:
            raise ScriptSyntaxError(f"key '{name}' is there twice.", place)
        entries[name] = _plain(value, child(place, name), budget, depth + 1)
    return entries


def plain_from_node(node: Node) -> Any:
    """Return the plain Python data a node holds."""
    if isinstance(node.value, dict):
        return {key: plain_from_node(value) for key, value in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain_from_node(value) for value in node.value]
    return node.value


LARGEST = 1e9  # no number of a script, in any of its units, is near this
MAX_SECONDS = 3600.0
_NAME = re.compile(r"[^\W\d][\w.-]*\Z")


def wrong(node: Node, expected: str) -> InvalidValueError:
    """Return the error for a value that is not what was expected."""
    return InvalidValueError(node.what, plain_from_node(node), expected, node.place)


def number(node: Node, *, above: float | None = None, least: float | None = None, most: float | None = None) -> float:
    """Read a finite number greater than `above`, at least `least` and at most `most`."""
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(node, _expected("a number", above, least, most))
    if not abs(value) <= LARGEST:  # also catches NaN
        raise wrong(node, f"{_expected('a number', above, least, most)} (finite, not beyond {LARGEST:g})")
    low = (above is not None and value <= above) or (least is not None and value < least)
    if low or (most is not None and value > most):
        raise wrong(node, _expected("a number", above, least, most))
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
    word = text(node)
    if not word.strip():
        raise wrong(node, "a name")
    return word


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
    if not isinstance(node.value, tuple) or len(node.value) not in lengths:
        raise wrong(node, f"a list of {' or '.join(map(str, lengths))} numbers")
    return tuple(number(x, **bounds) for x in node.value)


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
        self.node, self.place = node, node.place
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


_MEASURE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*(deg|°|rad|m)(/s)?\s*\Z")
_ANGLE = "an angle in degrees (90), or with a unit ('1.57 rad', a slide joint's '0.05 m')"
_RATE = "a velocity in degrees per second (90), or with a unit ('1.57 rad/s', a slide joint's '0.05 m/s')"


class Quantity(NamedTuple):
    """A value in our units and the unit it was written in: `deg`, `rad`, `m`, or `ball` for a rotation."""

    value: float
    unit: str


def angle(node: Node) -> float:
    """Read an angle [rad] that cannot be a length."""
    measure = read_measure(node)
    if measure.unit == "m":
        raise wrong(node, "an angle in degrees (90), or '1.57 rad'")
    return measure.value


def read_measure(node: Node, per_second: bool = False) -> Quantity:
    """Read an angle [rad] or length [m], or with `per_second` the rate of one."""
    if not isinstance(node.value, str):
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise wrong(node, _RATE if per_second else _ANGLE)
        return Quantity(math.radians(number(node)), "deg")
    match = _MEASURE.match(node.value)
    if match is None or bool(match[3]) != per_second or not abs(float(match[1])) <= LARGEST:
        raise wrong(node, _RATE if per_second else _ANGLE)
    value, unit = float(match[1]), match[2]
    return Quantity(math.radians(value), "deg") if unit in ("deg", "°") else Quantity(value, unit)


def spin(node: Node) -> tuple[float, float, float]:
    """Read an angular velocity `[x, y, z]`, degrees per second outside [rad/s]."""
    if not isinstance(node.value, tuple) or len(node.value) != 3:
        raise wrong(node, "a list of 3 velocities in degrees per second")
    measures = [read_measure(x, per_second=True) for x in node.value]
    if any(m.unit == "m" for m in measures):
        raise wrong(node, "a list of 3 velocities in degrees per second")
    return measures[0].value, measures[1].value, measures[2].value


def angle_to_data(value: float, suffix: str = "") -> float | int | str:
    """Return degrees that read back as exactly this many radians, or `x rad` where no number of degrees does."""
    degrees = math.degrees(value)
    candidates = [float(f"{degrees:.{digits}g}") for digits in range(1, 18)]  # the shortest that will do
    candidates += [math.nextafter(degrees, math.inf), math.nextafter(degrees, -math.inf)]
    for candidate in candidates:
        if math.radians(candidate) == value:
            return number_to_data(candidate)
    return f"{value!r} rad{suffix}"


def number_to_data(value: float) -> float | int:
    """Return a number as a person would write it: 3, not 3.0."""
    return int(value) if abs(value) < 1e15 and value == int(value) else float(value)


def measure_to_data(value: float, unit: str, suffix: str = "") -> float | int | str:
    """Return an angle or length as the script writes it."""
    return f"{float(value)!r} m{suffix}" if unit == "m" else angle_to_data(float(value), suffix)
