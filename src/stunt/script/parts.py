"""What the characters do: the parts of a script, and how long they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stunt.drive.beats.spec import Part, beat_times
from stunt.errors import MissingValueError, UnknownNameError
from stunt.keys import Context, names_of, read_section
from stunt.schema import Node, Section, entries, plain_from_node, seconds
from stunt.script.kinds import KINDS


def read_parts(node: Node | None, context: Context, warnings: list[str]) -> dict[str, Part]:
    """Read what each character does; `warnings` gains a sentence for what is not performed."""
    parts: dict[str, Part] = {}
    for key, value in ({} if node is None else entries(node)).items():
        if key not in context["character"]:
            raise UnknownNameError("character", key, context["character"], value.place)
        parts[key] = _part(key, value, context, warnings)
    return parts


def _part(key: str, node: Node, context: Context, warnings: list[str]) -> Part:
    what, names = f"the part of '{key}'", (*names_of(Part), *KINDS)
    if node.value is None:
        raise MissingValueError("beats' or 'machine", what, node.place)
    section = Section(node, what, names)
    reserved = _reserved(section, warnings)
    if reserved:
        section = Section(Node({k: v for k, v in node.value.items() if k not in reserved}, node.place), what, names)
    sections = {key: kind.read(section.need(key), context) for key, kind in KINDS.items() if key in section}
    if not sections and not reserved and "beats" not in section and "machine" not in section:
        raise MissingValueError("beats' or 'machine", what, section.place)
    return read_section(Part, section, context, key, sections=sections, reserved=reserved)


def _reserved(section: Section, warnings: list[str]) -> dict[str, Any]:
    """Keep a tension that is no number: a script that has one plays here as far as it can."""
    tension = section.get("tension")
    if tension is None or not isinstance(tension.value, dict | tuple):  # one number is a tension in seconds
        return {}
    warnings.append(f"{tension.place}: reserved: not performed by this version.")
    return {"tension": plain_from_node(tension)}


def read_seconds(section: Section, parts: Mapping[str, Part]) -> float | None:
    """Read how long the performance lasts [s]; it may be left out where a last beat says so."""
    given = section.get("seconds")
    if given is not None:
        return seconds(given)
    if any(part.machine for part in parts.values()):
        raise MissingValueError("seconds", "a script with a state machine, which has no last beat,", section.place)
    if not any(part.beats or part.sections for part in parts.values()):
        raise MissingValueError("performance' or 'seconds", "a script without beats", section.place)
    return None


def end_warnings(parts: Mapping[str, Part], end: float | None) -> list[str]:
    """Return a sentence for each part whose last beat falls after the end."""
    found = []
    for key, part in parts.items():
        last = part.cycle * beat_times(part.beats)[-1] if part.beats else 0.0
        if end is not None and last > end:
            place = part.beats[-1].place
            found.append(f"{place}: the last beat of '{key}' is at {last:g} s, but the performance ends at {end:g} s.")
    return found
