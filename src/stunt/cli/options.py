"""Options of the command line that are keys of scripts: name, type, range, default and help come from there."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, replace
from typing import Any, TypeVar

from stunt.errors import InvalidValueError, Place
from stunt.keys import NOTHING, TRUTH, Choice, Number, ScriptKey, Whole, key_of
from stunt.schema import node_from_plain

T = TypeVar("T")
MOST_WORKERS = 256


def offer(
    parser: argparse.ArgumentParser, cls: type, *names: str, default: Any = MISSING, option: str = "", help: str = ""
) -> None:
    """Offer keys of a spec as options.

    Args:
        parser: Of which command.
        cls: The spec.
        names: Which of its keys.
        default: What holds where nothing is typed, if that is not the key's own default.
        option: The option, where it is not called like the key.
        help: What it does, where that is not what the key says.
    """
    for name in names:
        entry = key_of(cls, name)
        entry = entry if default is MISSING else replace(entry, default=default)
        words = option or "--" + name.replace("_", "-")
        parser.add_argument(words, dest=name, help=help or _help(entry), default=None, **_type(entry))
        parser.set_defaults(keys_typed={**(parser.get_default("keys_typed") or {}), (cls, name): (words, entry)})


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Offer who does the work: processes of this machine, or a cluster."""
    add = parser.add_argument
    add("--workers", type=_workers, metavar="N", help="how many processes (default: one per core; 0: this one)")
    add("--ray", default="", metavar="ADDRESS", help="run it on a Ray cluster: host:port of its head, auto, or local")


def _workers(text: str) -> int:
    count = int(text)
    if not 0 <= count <= MOST_WORKERS:
        raise InvalidValueError("--workers", count, f"a whole number from 0 to {MOST_WORKERS}")
    return count


def _help(entry: ScriptKey) -> str:
    if entry.kind is TRUTH:
        return entry.help
    usual = " ".join(filter(None, (entry.shown_default(), entry.kind.unit)))
    return f"{entry.help} (default: {usual})" if usual else entry.help


def _type(entry: ScriptKey) -> dict[str, Any]:
    kind = entry.kind
    if kind is TRUTH:
        return {"action": "store_const", "const": not entry.default}
    if isinstance(kind, Choice):
        return {"choices": kind.options}
    if isinstance(kind, Number):
        return {"type": float, "metavar": {"s": "S", "Hz": "HZ"}.get(kind.unit, "X")}
    return {"type": int, "metavar": "N"} if isinstance(kind, Whole) else {"metavar": entry.name.upper()}


def told_fields(args: argparse.Namespace, cls: type) -> dict[str, Any]:
    """Return the fields of a spec that were typed, or have another default here, checked as in a script.

    Raises:
        InvalidValueError: A value that no script could have either; it names the option.
    """
    found = {}
    for (owner, name), (words, entry) in args.keys_typed.items():
        if owner is not cls:
            continue
        given = getattr(args, name)
        if given is None and entry.default != key_of(cls, name).default:
            given = entry.default
        if given is not None:
            found[entry.field] = _checked(entry, given, words)
    return found


def _checked(entry: ScriptKey, given: Any, words: str) -> Any:
    try:
        return entry.kind.read(replace(node_from_plain(given), place=Place("", 0, (words,))), NOTHING, "")
    except InvalidValueError as error:
        raise InvalidValueError(words, error.value, error.expected) from None


def told(args: argparse.Namespace, cls: type[T]) -> T:
    """Return a spec as it was typed, with its defaults elsewhere."""
    return cls(**told_fields(args, cls))
