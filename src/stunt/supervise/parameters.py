"""Parameters of controllers: what a maker takes beyond stage and name, read from scripts and checked.

A parameter is a keyword of the class or function that makes a controller. Its annotation says what it may be:

```python
def __init__(self, name: str = "", *, direction: Degrees | None = None, tightness: Share = 0.7) -> None: ...
```

Scripts speak degrees, controllers radians: `Degrees` converts.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final

from stunt.schema import Node, Section, name, number, plain_from_node, truth, whole

NOT_PARAMETERS: Final = ("self", "name")


@dataclass(frozen=True)
class Given:
    """What a number may be.

    Attributes:
        unit: As in a script; `°` and `°/s` are turned into radians for the controller.
        least: Smallest, as in a script; None: any.
        most: Largest.
    """

    unit: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def factor(self) -> float:
        """What turns a script's number into the controller's."""
        return math.pi / 180.0 if self.unit.startswith("°") else 1.0


Seconds = Annotated[float, Given("s", 0.0, 3600.0)]
Metres = Annotated[float, Given("m", 0.0, 100.0)]
MetresPerSecond = Annotated[float, Given("m/s", 0.0, 100.0)]
RadiansPerSecond = Annotated[float, Given("rad/s", 0.0, 100.0)]
Degrees = Annotated[float, Given("°", -3600.0, 3600.0)]
Share = Annotated[float, Given("0–1", 0.0, 1.0)]
BodyWeights = Annotated[float, Given("m·g", 0.0, 100.0)]
Help = Annotated[float, Given("m·g·h", 0.0, 100.0)]
Count = Annotated[int, Given("", 0, 1000)]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a maker.

    Attributes:
        name: Its keyword.
        default: What it is if nobody says, in the controller's units.
        kind: Its type, without None and without what it may be.
        given: What it may be.
    """

    name: str
    default: Any
    kind: Any
    given: Given = Given()

    def read(self, node: Node) -> Any:
        """Return a script's value as it is there, checked."""
        if self.kind is bool:
            return truth(node)
        if self.kind is int:
            least, most = self.given.least, self.given.most
            return whole(node, int(-1_000_000 if least is None else least), int(1_000_000 if most is None else most))
        if self.kind is float:
            return number(node, least=self.given.least, most=self.given.most)
        if self.kind is str:
            return name(node)
        if dataclasses.is_dataclass(self.kind):
            inner = parameters_of(typing.cast(Any, self.kind))
            section = Section(node, f"'{self.name}'", inner)
            return {key: inner[key].read(section.need(key)) for key in inner if key in section}
        return plain_from_node(node)

    def value(self, told: Any) -> Any:
        """Return what the controller gets for a script's value."""
        if self.kind is float and not isinstance(told, bool):
            return self.given.factor * float(told)
        if dataclasses.is_dataclass(self.kind) and isinstance(told, Mapping):
            inner = parameters_of(typing.cast(Any, self.kind))
            return typing.cast(Any, self.kind)(**{key: inner[key].value(value) for key, value in told.items()})
        return told


def parameters_of(maker: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a class or function, by name: all its keywords that have a default."""
    return dict(_known_parameters(maker) if isinstance(maker, Hashable) else _found_parameters(maker))


def _found_parameters(maker: Callable[..., Any]) -> dict[str, Parameter]:
    try:
        signature = inspect.signature(maker)
        hints = typing.get_type_hints(maker.__init__ if inspect.isclass(maker) else maker, include_extras=True)
    except (TypeError, ValueError, NameError, AttributeError):
        return {}
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {
        key: _parameter(key, entry.default, hints.get(key))
        for key, entry in signature.parameters.items()
        if key not in NOT_PARAMETERS and entry.default is not entry.empty and entry.kind in kinds
    }


_known_parameters = cache(_found_parameters)  # taking annotations apart takes longer than reading what a script says


def _parameter(key: str, default: Any, hint: Any) -> Parameter:
    """Take an annotation apart: `Annotated[float, Given(…)] | None` is a number that may be left out."""
    given = Given()
    for _ in range(4):
        if typing.get_origin(hint) is Annotated:
            hint, *extras = typing.get_args(hint)
            given = next((extra for extra in extras if isinstance(extra, Given)), given)
        elif typing.get_origin(hint) in (typing.Union, types.UnionType):
            some = [choice for choice in typing.get_args(hint) if choice is not type(None)]
            hint = some[0] if len(some) == 1 else None
    return Parameter(key, default, type(default) if hint is None and default is not None else hint, given)


def values_for(maker: Callable[..., Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords for a maker from what a script says, in the controller's units."""
    known = parameters_of(maker)
    return {key: known[key].value(value) for key, value in told.items()}
