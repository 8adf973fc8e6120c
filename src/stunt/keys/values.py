"""What may stand under a key: numbers, words, names, vectors, lists of them, each read with its errors and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

from stunt.errors import InvalidValueError, Place
from stunt.schema import (
    MAX_SECONDS,
    Node,
    angle,
    angle_to_data,
    choice,
    entries,
    items,
    known,
    name,
    number,
    number_to_data,
    spin,
    text,
    truth,
    vector,
    whole,
)

Data = dict[str, Any]
Context = Mapping[str, Any]
"""What exists around a spec, by kind: characters, props, poses, … ."""
NOTHING: Final[Context] = {}


class ValueKind:
    """What stands under a key.

    Attributes:
        unit: In which it is written, for people.
    """

    unit: str = ""

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Return the value of a node; `name` is the entry's or the item's number, for messages."""
        raise NotImplementedError

    def write(self, value: Any, context: Context) -> Any:
        """Return plain data that reads back as the value."""
        return value

    def told(self) -> str:
        """Say in a few words what may be written."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(ValueKind):
    """A number greater than `above`, at least `least`, at most `most`."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    unit: str = ""

    def read(self, node: Node, context: Context, name: str) -> float:
        """Read it."""
        return number(node, above=self.above, least=self.least, most=self.most)

    def write(self, value: Any, context: Context) -> Any:
        """Write it as a person would: 3, not 3.0."""
        return number_to_data(float(value)) if isinstance(value, Real) else value  # which reading complains of

    def told(self) -> str:
        """Say its range."""
        low, high = self.above if self.above is not None else self.least, self.most
        if low is None and high is None:
            return "a number"
        if high is None or high >= 1e6:
            return f"above {low:g}" if self.above is not None else f"at least {low:g}"
        return f"up to {high:g}" if low is None or self.above == 0.0 else f"{low:g} to {high:g}"


@dataclass(frozen=True)
class ByLimb(Number):
    """A number for the whole body, or numbers by limb, joint or pattern; where nothing is said, the usual one."""

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        each, alone = entries(node) if isinstance(node.value, dict) else {}, super().read
        return {k: alone(x, context, k) for k, x in each.items()} or alone(node, context, name)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        alone = super().write
        return {k: alone(x, context) for k, x in value.items()} if isinstance(value, Mapping) else alone(value, context)

    def told(self) -> str:
        """Say its range."""
        return f"{super().told()}; or by limb"


@dataclass(frozen=True)
class Whole(ValueKind):
    """A whole number from `least` to `most`."""

    least: int
    most: int

    def read(self, node: Node, context: Context, name: str) -> int:
        """Read it."""
        return whole(node, self.least, self.most)

    def told(self) -> str:
        """Say its range."""
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Choice(ValueKind):
    """One of some words."""

    kind: str
    options: tuple[str, ...]

    def read(self, node: Node, context: Context, name: str) -> str:
        """Read it."""
        return str(choice(node, self.options, self.kind))

    def told(self) -> str:
        """Name them."""
        return ", ".join(f"`{option}`" for option in self.options)


@dataclass(frozen=True)
class Known(ValueKind):
    """The name of something that exists: one of the context's `of` (the kind itself where that is empty)."""

    kind: str
    of: tuple[str, ...] = ()

    def read(self, node: Node, context: Context, name: str) -> str:
        """Read it."""
        return known(node, self.kind, [there for kind in self.of or (self.kind,) for there in context[kind]])

    def told(self) -> str:
        """Say of what."""
        return f"a {self.kind}"


@dataclass(frozen=True)
class Word(ValueKind):
    """A name or text by itself; `reference` says to what it leads: `clip`, `file` or `body`.

    Programs may put what it leads to in its place: a clip in memory.
    """

    says: str = "a name"
    reference: str = ""
    empty: bool = False

    def read(self, node: Node, context: Context, name: str) -> str:
        """Read it."""
        return text(node) if self.empty else _name(node)

    def told(self) -> str:
        """Say what it is."""
        return self.says


_name = name


@dataclass(frozen=True)
class Vector(ValueKind):
    """A list of numbers of one of some lengths, filled up with `fill` to the longest."""

    lengths: tuple[int, ...] = (3,)
    unit: str = ""
    fill: float = 0.0
    least: float | None = None
    most: float | None = None
    above: float | None = None
    says: str = ""

    def read(self, node: Node, context: Context, name: str) -> tuple[float, ...]:
        """Read it."""
        bounds = {"least": self.least, "most": self.most, "above": self.above}
        given = vector(node, self.lengths, **{key: bound for key, bound in bounds.items() if bound is not None})
        return (*given, *(self.fill,) * (max(self.lengths) - len(given)))

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return [number_to_data(float(x)) for x in value]

    def told(self) -> str:
        """Say what stands where."""
        return self.says or f"{' or '.join(map(str, self.lengths))} numbers"


@dataclass(frozen=True)
class Plain(ValueKind):
    """A value with a reader and a writer of its own."""

    reader: Callable[[Node], Any]
    says: str
    unit: str = ""
    writer: Callable[[Any], Any] = lambda value: value

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        return self.reader(node)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return self.writer(value)

    def told(self) -> str:
        """Say what it is."""
        return self.says


@dataclass(frozen=True)
class ListOf(ValueKind):
    """A list; `alone`: a single value needs no list. `counted`: how many there may be, and what they are called."""

    each: ValueKind
    counted: tuple[str, int] | None = None
    alone: tuple[type, ...] = ()

    @property
    def unit(self) -> str:  # type: ignore[override]
        """Its values'."""
        return self.each.unit

    def read(self, node: Node, context: Context, name: str) -> tuple[Any, ...]:
        """Read it."""
        written = (node,) if isinstance(node.value, self.alone) else items(node)
        if self.counted is not None and not 0 < len(written) <= self.counted[1]:
            raise wrong_number(self.counted, len(written), node.place)
        return tuple(self.each.read(x, context, str(k + 1)) for k, x in enumerate(written))

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return [self.each.write(x, context) for x in value]

    def told(self) -> str:
        """Say of what."""
        return f"a list: {self.each.told()}"


def wrong_number(counted: tuple[str, int], count: int, place: Place) -> InvalidValueError:
    """Return the complaint about too few or too many of something."""
    return InvalidValueError(f"the number of {counted[0]}", count, f"from 1 to {counted[1]}", place)


SECONDS: Final = Number(above=0.0, most=MAX_SECONDS, unit="s")
MOMENT: Final = Number(least=0.0, most=MAX_SECONDS, unit="s")
TRUTH: Final = Plain(truth, "`true`, `false`")
NAME: Final = Word()
TEXT: Final = Word("text", empty=True)
CLIP: Final = Word("a clip: a motion file, or a name", "clip")
FILE: Final = Word("a file", "file")
ANGLE: Final = Plain(angle, "an angle", "°", angle_to_data)
SPIN: Final = Plain(spin, "`[x, y, z]`", "°/s", lambda value: [angle_to_data(float(x), "/s") for x in value])
VECTOR: Final = Vector(says="`[x, y, z]`")
