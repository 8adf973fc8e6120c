"""By which numbers the items of a script's lists are known: beats, clips, poses under tension, events.

A number stays with its item whatever happens before or after it in its list; what was taken away and comes back by an
undo has the number it had. Pages choose by these numbers, so that no edit makes them mean another item.
"""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from stunt.errors import StuntError
from stunt.script.kinds import KINDS

Path = tuple[str | int, ...]
Marks = Mapping[Path, tuple[int, ...]]
"""For every list by its path in the script: the numbers of its items, in order. No number is used twice."""
_OF_A_PART: tuple[Path, ...] = (("beats",), *((kind.key, kind.chosen) for kind in KINDS.values() if kind.chosen))
_numbers = itertools.count(1)


class NotThereError(StuntError):
    """Something chosen that is no longer in the script."""


class Renumbers(Protocol):
    """An edit, as far as it concerns the numbers of items."""

    def renumber(self, lists: dict[Path, list[int]], old: Marks, fresh: Iterator[int]) -> None:
        """Do to the numbers what the edit does to the items; `old` is how they were before all edits."""


def lists_of(data: Any) -> dict[Path, list[Any]]:
    """Return the lists of a script whose items can be chosen, by path."""
    parts = _mapping(_mapping(data).get("performance"))
    places = [("events",), *(("performance", name, *keys) for name in parts for keys in _OF_A_PART)]
    found = {place: _at(data, place) for place in places}
    return {place: value for place, value in found.items() if isinstance(value, list)}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = _mapping(data).get(str(key))
    return data


def marked(data: Any, marks: Marks | None = None, before: Any = None) -> Marks:
    """Number the items of a script; those that stand in the script before as they stand here keep their numbers."""
    old = lists_of(before)
    found: dict[Path, tuple[int, ...]] = {}
    for place, items in lists_of(data).items():
        numbers = [next(_numbers) for _ in items]
        if marks and place in marks and len(marks[place]) == len(old.get(place, ())):
            same = difflib.SequenceMatcher(None, _words(old[place]), _words(items), autojunk=False)
            for block in same.get_matching_blocks():
                numbers[block.b : block.b + block.size] = marks[place][block.a : block.a + block.size]
        found[place] = tuple(numbers)
    return found


def _words(items: list[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True, default=str) for item in items]


def followed(marks: Marks, edits: Iterable[Renumbers], before: Any, after: Any) -> Marks:
    """Return the numbers after some edits, which took `before` to `after`."""
    new = {place: list(numbers) for place, numbers in marks.items()}
    for edit in edits:
        edit.renumber(new, marks, _numbers)
    fallback = marked(after, marks, before)
    items = lists_of(after)
    return {
        place: tuple(new[place]) if len(new.get(place, ())) == len(items[place]) and place in new else numbers
        for place, numbers in fallback.items()
    }


def numbers_of(marks: Marks) -> Iterator[int]:
    """Return all numbers in use."""
    return itertools.chain.from_iterable(marks.values())


def placed(args: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """Return an edit's arguments with places (`index`, `indices`) where a page says numbers (`id`, `ids`).

    Raises:
        NotThereError: None of them is there any more, or one is another character's.
    """
    found = dict(args)
    where = {number: (path, index) for path, numbers in marks.items() for index, number in enumerate(numbers)}
    wanted = [found["id"]] if "id" in found else found.get("ids", [])
    there = [where[number] for number in wanted if number in where]
    if wanted and not there:
        raise NotThereError("what was chosen is no longer there: it was taken away meanwhile.")
    for path, _ in there:
        if "character" in found and path[0] == "performance" and path[1] != found["character"]:
            raise NotThereError(f"what was chosen is no part of '{found['character']}'.")
    if found.pop("id", None) is not None:
        found["index"] = there[0][1]
    if found.pop("ids", None) is not None:
        found["indices"] = [index for _, index in there]
    return found


def numbered(outline: dict[str, Any], marks: Marks) -> dict[str, Any]:
    """Write the numbers into an outline, as `id` of everything that can be chosen."""
    for name, about in outline["characters"].items():
        for keys in _OF_A_PART:
            kind = keys[0]
            _number(
                about.get(kind, []),
                marks.get(("performance", name, *keys), ()),
                [e["index"] for e in about.get(kind, [])],
            )
    _number(outline["events"], marks.get(("events",), ()), range(len(outline["events"])))
    return outline


def _number(entries: list[dict[str, Any]], numbers: tuple[int, ...], places: Iterable[int]) -> None:
    for entry, place in zip(entries, places, strict=True):
        entry["id"] = numbers[place] if 0 <= place < len(numbers) else None
