"""Edits of YAML text that leave the rest of the file alone, down to the last space and comment.

Each edit changes only the characters of the value it is about; positions come from ruamel's node graph. What came out
is read again and compared with what was meant. Where it differs (unusual styles), ruamel's round trip does the edit
instead, which keeps comments but may tidy spaces.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from stunt.errors import StuntError
from stunt.script.yaml import graph_of_yaml, plain_from_yaml
from stunt.studio.paper.identity import Marks, Path

Node = Any  # ruamel's nodes are of several classes, and untyped
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_WORDS = ("null", "true", "false")


class EditError(StuntError):
    """An edit that cannot be written into the script."""


@dataclass(frozen=True)
class Set:
    """Give the value at a path (its last key may be new).

    Attributes:
        path: Where.
        value: What.
        was: Where in its list the item stood that comes to stand here, where a list is put into another order.
    """

    path: Path
    value: Any
    was: int | None = None

    def renumber(self, lists: dict[Path, list[int]], old: Marks, fresh: Iterator[int]) -> None:
        """See `Renumbers`: an item that moved here brings its number; the items of a new list are new."""
        lists.pop(self.path, None)
        place, index = self.path[:-1], self.path[-1]
        if self.was is not None and place in lists and isinstance(index, int):
            lists[place][index] = old[place][self.was]


@dataclass(frozen=True)
class Delete:
    """Take a key or an item out."""

    path: Path

    def renumber(self, lists: dict[Path, list[int]], old: Marks, fresh: Iterator[int]) -> None:
        """See `Renumbers`: an item takes its number with it."""
        lists.pop(self.path, None)
        place, index = self.path[:-1], self.path[-1]
        if place in lists and isinstance(index, int):
            del lists[place][index]


@dataclass(frozen=True)
class Insert:
    """Put an item into the list at a path, before the one that has this index now."""

    path: Path
    index: int
    value: Any

    def renumber(self, lists: dict[Path, list[int]], old: Marks, fresh: Iterator[int]) -> None:
        """See `Renumbers`: a new item has a new number."""
        if self.path in lists:
            lists[self.path].insert(self.index, next(fresh))


Edit = Set | Delete | Insert
_MOST_AT_ONCE = 500


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after some edits, in order.

    Raises:
        EditError: One cannot be written (a value shared by a YAML alias, a path that is not there), or they are too
            many: each may have to read the text again.
    """
    edits = list(edits)
    if len(edits) > _MOST_AT_ONCE:
        raise EditError(f"that is {len(edits):,} changes of the script at once; it takes {_MOST_AT_ONCE} at most.")
    wanted = plain(text)
    for edit in edits:
        _apply(wanted, edit)
    try:
        result = _replaced(text, edits)
        if plain(result) == wanted:
            return result
    except Exception:  # noqa: BLE001, S110 — then one by one, with the other way for those that need it
        pass
    for edit in edits:
        text = _edited(text, edit)
    return text


def plain(text: str) -> Any:
    """Return the text's data as plain dicts, lists and scalars; nothing is shared."""
    return plain_from_yaml(text)


def _replaced(text: str, edits: list[Edit]) -> str:
    """Splice edits; new values for what is there in one go, by positions in the same text."""
    _, root = graph_of_yaml(text)
    found = [_value(root, edit) for edit in edits]
    if any(node is None for node in found) or len({edit.path for edit in edits}) < len(edits):
        for edit in edits:
            text = _spliced(text, edit)
        return text
    pairs = [(node, edit.value) for node, edit in zip(found, edits, strict=True) if node and isinstance(edit, Set)]
    for node, value in sorted(pairs, key=lambda pair: -int(pair[0].start_mark.index)):
        text = _replace(text, node, value)
    return text


def _value(root: Node, edit: Edit) -> Node | None:
    """Return the scalar that an edit replaces; None where it does something else."""
    if not isinstance(edit, Set):
        return None
    found = _child(_node(root, edit.path[:-1]), edit.path[-1])
    return found if isinstance(found, ScalarNode) else None


def _edited(text: str, edit: Edit) -> str:
    wanted = plain(text)
    _apply(wanted, edit)
    for way in (_spliced, _round_trip):
        try:
            result = way(text, edit)
            if plain(result) == wanted:
                return result
        except Exception:  # noqa: BLE001, S112 — whatever the text is like, the next way is tried, and then it is said
            continue
    where = ".".join(str(key) for key in edit.path)
    raise EditError(f"'{where}' cannot be edited here (is it shared by an alias?); edit the file by hand.")


def _apply(data: Any, edit: Edit) -> None:
    try:
        if isinstance(edit, Insert):
            _at(data, edit.path).insert(edit.index, deepcopy(edit.value))
            return
        parent = _at(data, edit.path[:-1])
        if isinstance(edit, Set):
            parent[edit.path[-1]] = deepcopy(edit.value)
        else:
            del parent[edit.path[-1]]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        where = ".".join(str(key) for key in edit.path)
        raise EditError(f"the script has no '{where}' to edit.") from error


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _round_trip(text: str, edit: Edit) -> str:
    yaml = YAML()
    yaml.width, yaml.preserve_quotes = 4096, True
    yaml.indent(mapping=2, sequence=4, offset=2)
    data = yaml.load(text)
    _apply(data, edit)
    stream = io.StringIO()
    yaml.dump(data, stream)
    return stream.getvalue()


def flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    word = str(value)
    return word if _PLAIN.match(word) and word.lower() not in _WORDS else json.dumps(word, ensure_ascii=False)


def _spliced(text: str, edit: Edit) -> str:
    _, root = graph_of_yaml(text)
    if isinstance(edit, Insert):
        return _insert(text, _node(root, edit.path), edit.index, edit.value)
    parent, key = _node(root, edit.path[:-1]), edit.path[-1]
    if isinstance(edit, Delete):
        return _delete(text, parent, key)
    found = _child(parent, key)
    if found is None:
        return _add_key(text, parent, key, edit.value)
    return _replace(text, found, edit.value)


def _node(root: Node, path: Path) -> Node:
    for key in path:
        found = _child(root, key)
        if found is None:
            raise KeyError(key)
        root = found
    return root


def _child(node: Node, key: str | int) -> Node | None:
    if isinstance(node, SequenceNode):
        return node.value[key]
    names = [name for name, _ in node.value]
    for name, value in zip(names, (v for _, v in node.value), strict=True):
        if name.value == str(key):
            return value
    return None


def _replace(text: str, node: Node, value: Any) -> str:
    if not isinstance(node, ScalarNode) and not node.flow_style:
        raise ValueError("a block is not spliced")
    start, end = node.start_mark.index, node.end_mark.index
    new = flow(value)
    if start == end:  # an empty value
        new = new if text[start - 1 : start].isspace() else f" {new}"
    return text[:start] + new + text[end:]


def _items(node: Node) -> list[tuple[Node, Node]]:
    """Return first and last node of each entry."""
    return list(node.value) if isinstance(node, MappingNode) else [(item, item) for item in node.value]


def _add_key(text: str, parent: Node, key: str | int, value: Any) -> str:
    entry = f"{flow(key)}: {flow(value)}"
    if parent.flow_style:
        return _put_before_bracket(text, parent, entry)
    column = parent.value[0][0].start_mark.column
    return _put_line(text, _end_of(parent), " " * column + entry)


def _insert(text: str, parent: Node, index: int, value: Any) -> str:
    items = parent.value
    if parent.flow_style:
        if index >= len(items):
            return _put_before_bracket(text, parent, flow(value))
        start = items[index].start_mark.index
        return f"{text[:start]}{flow(value)}, {text[start:]}"
    dash = _line_start(text, items[0].start_mark.index)
    indent = re.match(r"[ ]*(?=- )", text[dash:])
    if indent is None:
        raise ValueError("no dash at the beginning of the line")
    line = f"{indent.group()}- {flow(value)}"
    if index >= len(items):
        return _put_line(text, _end_of(parent), line)
    start = _line_start(text, items[index].start_mark.index)
    return text[:start] + line + _newline(text) + text[start:]


def _put_before_bracket(text: str, parent: Node, entry: str) -> str:
    bracket = parent.end_mark.index - 1
    head = text[:bracket].rstrip()
    comma = "" if not parent.value else ", "
    return head + comma + entry + text[bracket:]


def _put_line(text: str, after: int, line: str) -> str:
    end = text.find("\n", after)
    if end < 0:
        return f"{text}{_newline(text)}{line}{_newline(text)}"
    return text[: end + 1] + line + _newline(text) + text[end + 1 :]


def _delete(text: str, parent: Node, key: str | int) -> str:
    items = _items(parent)
    index = key if isinstance(key, int) else [str(first.value) for first, _ in items].index(key)
    if len(items) == 1 and not parent.flow_style:
        raise ValueError("the last entry of a block")
    first, last = items[index]
    if parent.flow_style:
        start, end = first.start_mark.index, last.end_mark.index
        if index + 1 < len(items):
            end = items[index + 1][0].start_mark.index
        elif index > 0:
            start = items[index - 1][1].end_mark.index
        return text[:start] + text[end:]
    start = _line_start(text, first.start_mark.index)
    end = text.find("\n", _end_of(last))
    return text[:start] + ("" if end < 0 else text[end + 1 :])


def _end_of(node: Node) -> int:
    """Return where a node's own text ends; a block's mark lies after the comments that follow it."""
    if isinstance(node, ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end_of(last[1] if isinstance(last, tuple) else last)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
