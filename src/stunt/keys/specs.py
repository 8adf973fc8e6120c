"""Specs: frozen dataclasses whose keys are declared once, and read and written as declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeVar, cast, dataclass_transform, overload

from stunt.keys.values import NOTHING, Context, Data, ValueKind, wrong_number
from stunt.schema import Node, Section, entries, told_by

T = TypeVar("T")


@dataclass(frozen=True)
class ScriptKey:
    """One key of a spec.

    Attributes:
        name: As it is written.
        field: The dataclass field that holds it.
        kind: What stands under it.
        default: What holds where it is not written; MISSING: it must be.
        help: What it means, in a few words.
        only: With which variants of its spec it goes; empty: with all.
        otherwise: Makes the default of an entry's name.
    """

    name: str
    field: str
    kind: ValueKind
    default: Any
    help: str = ""
    only: tuple[str, ...] = ()
    otherwise: Callable[[str], Any] | None = None

    @property
    def needed(self) -> bool:
        """Whether it must be written."""
        return self.default is MISSING and self.otherwise is None

    def shown_default(self) -> str:
        """Return the default as a person would write it, empty where there is none to show."""
        if self.default is MISSING or self.default is None:
            return ""
        data = self.kind.write(self.default, NOTHING)
        if isinstance(data, bool):
            return "true" if data else "false"
        return f"{data:.6g}" if isinstance(data, float) else str(data) if data not in ([], {}, "") else ""


@dataclass(frozen=True)
class Nested(ValueKind):
    """A mapping with keys of its own."""

    cls: type
    says: str = ""

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        return read(self.cls, node, context, name)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return write(value, context)

    def told(self) -> str:
        """Say so."""
        return self.says or "a mapping"


@dataclass(frozen=True)
class OneOf(ValueKind):
    """A mapping that one of its keys tells what it is: `push: …`, `throw: …`."""

    what: str
    kinds: Mapping[str, type]

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        given = [kind for kind in self.kinds if isinstance(node.value, dict) and kind in node.value]
        if len(given) != 1:
            every = dict.fromkeys(key for cls in self.kinds.values() for key in names_of(cls))
            given = [told_by(node, self.what, tuple(self.kinds), tuple(every))]
        return read(self.kinds[given[0]], node, context, name)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return write(value, context)

    def told(self) -> str:
        """Name them."""
        return " or ".join(f"`{kind}`" for kind in self.kinds)


@dataclass(frozen=True)
class MappingOf(ValueKind):
    """Values by name, of which there may be only some (`names`).

    Kept as a mapping, or as a tuple: of specs that know their names, or of pairs.
    """

    each: ValueKind
    keep: type = tuple
    counted: tuple[str, int] | None = None
    names: tuple[str, ...] = ()

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read it."""
        written = entries(node)
        if self.names:  # no others, and in this order
            section = Section(node, node.what, self.names)
            written = {key: section.need(key) for key in self.names if key in section}
        if self.counted is not None and not 0 < len(written) <= self.counted[1]:
            raise wrong_number(self.counted, len(written), node.place)
        found = {key: self.each.read(x, context, key) for key, x in written.items()}
        if self.keep is dict:
            return found
        return tuple(found.values() if isinstance(self.each, Nested) else found.items())

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        if isinstance(value, Mapping):
            pairs = list(value.items())
        else:
            pairs = [(called(x), x) for x in value] if isinstance(self.each, Nested) else value
        return {key: self.each.write(x, context) for key, x in pairs}

    def told(self) -> str:
        """Say of what."""
        return f"by name: {self.each.told()}"


class Spread(ValueKind):
    """A value that several keys of its owner tell together."""

    keys: tuple[ScriptKey, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The keys' names."""
        return tuple(entry.name for entry in self.keys)

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> Any:
        """Return the value; `usual` is the field's default."""
        raise NotImplementedError

    def write_keys(self, value: Any, context: Context, usual: Any) -> Data:
        """Return its keys with their data."""
        raise NotImplementedError


@dataclass(frozen=True)
class Inline(Spread):
    """A spec whose keys stand among its owner's; what is not written is as in the field's default."""

    cls: type

    @property
    def names(self) -> tuple[str, ...]:
        """Its keys' names."""
        return names_of(self.cls)

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> Any:
        """Read it."""
        if not any(given in section for given in self.names):
            return usual
        return replace(usual, **_values(self.cls, section, context, name, whole=False))

    def write_keys(self, value: Any, context: Context, usual: Any) -> Data:
        """Write it."""
        return _data(value, context, usual)


@overload
def key(*, kind: ValueKind, help: str, default: T, name: str = "", only: tuple[str, ...] = ()) -> T: ...
@overload
def key(
    *,
    kind: ValueKind,
    help: str,
    name: str = "",
    only: tuple[str, ...] = (),
    otherwise: Callable[[str], Any] | None = None,
) -> Any: ...
def key(
    *, kind: ValueKind, help: str, default: Any = MISSING, name: str = "", only: tuple[str, ...] = (),
    otherwise: Callable[[str], Any] | None = None,
) -> Any:  # fmt: skip
    """Declare a key.

    Args:
        kind: What stands under it.
        help: What it means, in a few words.
        default: What holds where it is not written; left out, it must be written.
        name: As it is written, where that is not the field's name.
        only: With which variants of the spec it goes (see `spec`).
        otherwise: Makes the default of the name of the entry.
    """
    return _declared(ScriptKey(name, "", kind, default, help, only, otherwise))


def _declared(entry: ScriptKey) -> Any:
    if isinstance(entry.default, dict):
        return field(default_factory=dict, metadata={"key": entry})
    if entry.default is MISSING:
        return field(metadata={"key": entry})
    return field(default=entry.default, metadata={"key": entry})


@overload
def inline(*, default: T) -> T: ...
@overload
def inline(*, kind: Spread) -> Any: ...
@overload
def inline(*, kind: Spread, default: T) -> T: ...
def inline(*, kind: Spread | None = None, default: Any = MISSING) -> Any:
    """Declare keys that stand among a spec's own: those of another spec, or of a `Spread`."""
    kind = Inline(type(default)) if kind is None else kind
    return _declared(ScriptKey("", "", kind, default))


def same_key(cls: type, name: str, *, default: T) -> T:
    """Declare a key just as another spec has it; its default may be another."""
    return field(default=default, metadata={"key": replace(key_of(cls, name), default=default)})


@dataclass(frozen=True)
class About:
    """What a spec says of itself: what messages call it, its short form, and what tells its variants apart."""

    what: str
    bare: tuple[str, type] | None
    by: str | tuple[str, ...]


@dataclass_transform(frozen_default=True, field_specifiers=(field, key, inline, same_key))
def spec(
    what: str, *, bare: tuple[str, type] | None = None, by: str | tuple[str, ...] = ""
) -> Callable[[type[T]], type[T]]:
    """Make a class a spec: a frozen dataclass that can be read and written.

    Args:
        what: What messages call it; `{}` is the name of the entry.
        bare: The key that a value alone stands for, and of which type that is: `ada: human39`.
        by: What tells variants apart: a key whose value is the variant, or keys of which exactly one is there.
    """

    def made(cls: type[T]) -> type[T]:
        cls._about = About(what, bare, by)  # type: ignore[attr-defined]
        return dataclass(frozen=True)(cls)

    return made


@cache
def keys_of(cls: type) -> tuple[ScriptKey, ...]:
    """Return a spec's keys as they are declared; inlined ones as one."""
    return tuple(_key(found) for found in fields(cls) if "key" in found.metadata)


def _key(found: Field[Any]) -> ScriptKey:
    declared: ScriptKey = found.metadata["key"]
    return replace(declared, name=declared.name or found.name, field=found.name)


@cache
def declared(cls: type) -> tuple[ScriptKey, ...]:
    """Return all keys of a spec one by one, for people: inlined specs are spelt out with their owner's defaults."""
    found: list[ScriptKey] = []
    for entry in keys_of(cls):
        if isinstance(entry.kind, Inline):
            inner = declared(entry.kind.cls)
            found += [replace(k, default=getattr(entry.default, k.field)) for k in inner]
        elif isinstance(entry.kind, Spread):
            found += entry.kind.keys
        else:
            found.append(entry)
    return tuple(found)


def key_of(cls: type, name: str) -> ScriptKey:
    """Return one key of a spec by its name."""
    return next(entry for entry in declared(cls) if entry.name == name)


@cache
def names_of(cls: type, variant: str = "") -> tuple[str, ...]:
    """Return the names of a spec's keys, those of one variant or all."""
    found: list[str] = []
    for entry in keys_of(cls):
        if not variant or not entry.only or variant in entry.only:
            found += entry.kind.names if isinstance(entry.kind, Spread) else [entry.name]
    return tuple(dict.fromkeys(found))


def called(value: Any) -> str:
    """Return the name of a spec that stands in a mapping."""
    return str(getattr(value, fields(value)[0].name))


def read(cls: type[T], node: Node, context: Context = NOTHING, name: str = "") -> T:
    """Make a spec of a node.

    Args:
        cls: Which.
        node: Its mapping.
        context: What exists, by kind.
        name: The entry's, where it stands in a mapping; its number in a list.

    Raises:
        StuntError: The one that fits the mistake, with file and line.
    """
    about: About = cls._about  # type: ignore[attr-defined]
    if about.bare is not None and isinstance(node.value, about.bare[1]):
        node = Node({about.bare[0]: node}, node.place)
    return read_section(cls, _opened(cls, about, node, context, name), context, name)


def _opened(cls: type, about: About, node: Node, context: Context, name: str) -> Section:
    what = about.what.format(name)
    if not about.by:
        return Section(node, what, names_of(cls))
    if isinstance(about.by, tuple):
        variant = told_by(node, what, about.by, names_of(cls))
        return Section(node, f"{what} by '{variant}'", names_of(cls, variant))
    told = Section(node, what, names_of(cls)).need(about.by)
    variant = key_of(cls, about.by).kind.read(told, context, name)
    return Section(node, f"{what} ({variant})", names_of(cls, variant))


def read_section(cls: type[T], section: Section, context: Context = NOTHING, name: str = "", **more: Any) -> T:
    """Make a spec of an opened section; `more` are fields that are no keys."""
    named, placed = _own_fields(cast(Any, cls))
    if named:
        more[named] = name
    if placed:
        more["place"] = section.place
    around = getattr(cls, "around", _same)(section, context)
    made = cls(**_values(cls, section, around, name), **more)
    finish = getattr(made, "after_reading", None)
    return made if finish is None else cast(T, finish(section, around))


@cache
def _own_fields(cls: Any) -> tuple[str, bool]:
    """Return the field of a spec's name, by which it stands in a mapping (empty: none), and whether it has a place."""
    own = fields(cls)
    named = "key" not in own[0].metadata and own[0].default is MISSING
    return own[0].name if named else "", any(found.name == "place" for found in own)


def _same(section: Section, context: Context) -> Context:
    return context


def _values(cls: type, section: Section, context: Context, name: str, whole: bool = True) -> Data:
    """Return the fields that keys give; of a `whole` spec also those that must be there."""
    values: Data = {}
    for written, always, entry in _in_order(cls):
        if written in section:
            values[entry.field] = entry.kind.read(section.need(written), context, name)
        elif not always:
            continue
        elif isinstance(entry.kind, Spread):
            values[entry.field] = entry.kind.read_keys(section, context, name, entry.default)
        elif whole and entry.otherwise is not None:
            values[entry.field] = entry.otherwise(name)
        elif whole:
            section.need(written)
    return values


@cache
def _in_order(cls: type) -> tuple[tuple[str, bool, ScriptKey], ...]:
    """Return a spec's keys with their names (those of several have none), and whether they matter when not written."""
    return tuple(
        ("", True, entry)
        if isinstance(entry.kind, Spread)
        else (entry.name, entry.needed or entry.otherwise is not None, entry)
        for entry in keys_of(cls)
    )


def write(value: Any, context: Context = NOTHING) -> Any:
    """Make plain data of a spec: the keys a person would write, and only where they differ from what is assumed."""
    data = _data(value, context)
    finish = getattr(value, "after_writing", None)
    return data if finish is None else finish(data, context)


def _data(value: Any, context: Context, usual: Any = None) -> Data:
    data: Data = {}
    for entry in keys_of(value.__class__):
        content = getattr(value, entry.field)
        default = entry.default if usual is None else getattr(usual, entry.field)
        if isinstance(entry.kind, Spread):
            data |= entry.kind.write_keys(content, context, default)
        elif default is MISSING or content != default:
            nothing = content is None and default in (None, MISSING)  # else it says something: `react: false`
            data[entry.name] = None if nothing else entry.kind.write(content, context)
    return data
