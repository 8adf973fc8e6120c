"""What specs tell of themselves: what an inspector shows of their keys, and which clips, files and bodies they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from stunt.errors import NOWHERE, Place
from stunt.keys.specs import Inline, MappingOf, Nested, OneOf, ScriptKey, declared, keys_of
from stunt.keys.values import Data, ListOf, ValueKind, Word


def shown(cls: type) -> list[Data]:
    """Return what an inspector shows of a spec's keys, as plain data."""
    return [
        {
            "key": entry.name, "value": entry.kind.told(), "unit": entry.kind.unit, "default": entry.shown_default(),
            "help": entry.help, "least": _first(entry.kind, "above", "least"), "most": _first(entry.kind, "most"),
            "options": list(getattr(entry.kind, "options", ())),
        }
        for entry in declared(cls)
    ]  # fmt: skip


def _first(kind: ValueKind, *names: str) -> float | None:
    return next((bound for name in names if (bound := getattr(kind, name, None)) is not None), None)


Change = Callable[[Any], Any]
"""Makes another reference of a reference: a name, a file, or what a program put in their place (a clip)."""


def with_references(value: Any, change: Change) -> Any:
    """Return a spec with every clip, file and body it names changed, wherever in it that stands."""
    return _referring(value, lambda kind, content, place: change(content))


def references(value: Any, reference: str) -> list[tuple[Any, Place]]:
    """Return every clip (or file, or body) a spec names, in the order of its keys, with the place of who names it."""
    found: list[tuple[Any, Place]] = []

    def note(kind: Word, content: Any, place: Place) -> Any:
        if kind.reference == reference:
            found.append((content, place))
        return content

    _referring(value, note)
    return found


_Visit = Callable[[Word, Any, Place], Any]


def _referring(value: Any, visit: _Visit) -> Any:
    changes = {}
    for entry in _leading(value.__class__):
        content = getattr(value, entry.field)
        changed = _referred(entry.kind, content, visit, getattr(value, "place", NOWHERE))
        if changed is not content:
            changes[entry.field] = changed
    return replace(value, **changes) if changes else value


@cache
def _leading(cls: type) -> tuple[ScriptKey, ...]:
    """Return those keys of a spec in which references can stand."""
    return tuple(entry for entry in keys_of(cls) if _leads(entry.kind))


def _leads(kind: ValueKind) -> bool:
    if isinstance(kind, ListOf | MappingOf):
        return _leads(kind.each)
    if isinstance(kind, Nested | Inline):
        return bool(_leading(kind.cls))
    if isinstance(kind, OneOf):
        return any(_leading(cls) for cls in kind.kinds.values())
    return isinstance(kind, Word) and bool(kind.reference)


def _referred(kind: ValueKind, content: Any, visit: _Visit, place: Place) -> Any:
    if isinstance(kind, Word):
        empty = content is None or isinstance(content, str) and not content
        return content if empty or not kind.reference else visit(kind, content, place)
    if isinstance(kind, ListOf | MappingOf):
        return _all_referred(kind, content, visit, place)
    return _referring(content, visit) if hasattr(content, "_about") else content


def _all_referred(kind: ListOf | MappingOf, content: Any, visit: _Visit, place: Place) -> Any:
    if not content:
        return content
    if isinstance(content, Mapping):
        found = {key: _referred(kind.each, x, visit, place) for key, x in content.items()}
        return content if all(found[key] is x for key, x in content.items()) else found
    if isinstance(kind, ListOf) or isinstance(kind.each, Nested):
        changed = tuple(_referred(kind.each, x, visit, place) for x in content)
        return content if all(new is old for new, old in zip(changed, content, strict=True)) else changed
    return tuple((key, _referred(kind.each, x, visit, place)) for key, x in content)
