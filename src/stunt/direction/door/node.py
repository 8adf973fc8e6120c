"""Plain data with its place: what every part of the door reads, whether it came from YAML or from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stunt.errors import Place, ScriptSyntaxError

MAX_DEPTH = 32  # a script needs about ten levels
MAX_NODES = 200_000  # room for a 256 × 256 height field; stops alias bombs
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

    def __init__(self) -> None:
        self.left = MAX_NODES

    def spend(self, place: Place, depth: int) -> None:
        """Count one value at this depth.

        Raises:
            ScriptSyntaxError: If values are nested too deeply or there are too many of them.
        """
        self.left -= 1
        if depth > MAX_DEPTH:
            raise ScriptSyntaxError(f"values are nested more than {MAX_DEPTH} deep, or contain themselves.", place)
        if self.left < 0:
            raise ScriptSyntaxError(f"the script holds more than {MAX_NODES} values (aliases counted out).", place)


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


def node_from_plain(data: object, source: str = "") -> Node:
    """Make nodes of plain Python data: mappings, sequences, NumPy arrays and scalars."""
    return _plain(data, Place(source), Budget(), 0)


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
