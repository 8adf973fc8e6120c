"""Plain data to YAML text that looks as if a person had written it.

YAML text to nodes, with the line of every value.

The text is only composed (into ruamel's node graph, which knows every position), never constructed into objects: no
tag can make anything but plain data, an alias is expanded under a budget, and a key written twice is seen.
"""

from __future__ import annotations

import contextlib
import gc
import io
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.composer import ComposerError, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from stunt.errors import Place, ScriptSyntaxError
from stunt.quick_yaml import QuickComposer, quick_yaml
from stunt.schema import MAX_DEPTH, MAX_NODES, Budget, Node, checked_name, child, item, tame

MAX_BYTES = 1_000_000
MAX_LINES = 100_000
_TAG = "tag:yaml.org,2002:"


def node_from_yaml(raw: bytes, source: str = "") -> Node:
    """Read one YAML document.

    Args:
        raw: The file's bytes, UTF-8.
        source: The file as the user named it.

    Raises:
        ScriptSyntaxError: If it is too large, not UTF-8, not YAML, empty, or writes a key twice.
    """
    with _nothing_thrown_away():
        yaml, graph = composed(raw, source)
        return _YamlReader(yaml, source).node(graph, Place(source, _line(graph)), 0)


@contextlib.contextmanager
def _nothing_thrown_away() -> Iterator[None]:
    """Look for no garbage meanwhile: all that is made here stays, and looking through it takes a tenth of the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def composed(raw: bytes, source: str) -> tuple[YAML, Any]:
    """Return the reader and the graph of a document that is not too large, UTF-8, YAML and not empty.

    Raises:
        ScriptSyntaxError: It is none.
    """
    if len(raw) > MAX_BYTES:
        raise ScriptSyntaxError(f"a script may have {MAX_BYTES} bytes, this one has {len(raw)}.", Place(source, 1))
    lines = max(raw.count(b"\n"), raw.count(b"\r"))
    if lines > MAX_LINES:
        raise ScriptSyntaxError(f"a script may have {MAX_LINES} lines, this one has {lines}.", Place(source, 1))
    yaml, graph = _composed(_decoded(raw, source), source)
    if graph is None:
        raise ScriptSyntaxError("the script is empty.", Place(source, 1))
    return yaml, graph


class _Composer(QuickComposer):
    """Counts values while it composes, so that what holds too many is refused before the time is spent."""

    count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one value."""
        self.count += 1
        if self.count > MAX_NODES:
            mark = self.parser.peek_event().start_mark
            raise ComposerError(None, None, f"there are more than {MAX_NODES} values", mark)
        return super().compose_node(parent, index)


def _yaml() -> YAML:
    yaml = quick_yaml()
    yaml.Composer = _Composer
    yaml.max_depth = MAX_DEPTH + 1  # counted while the text is read: nesting costs its square, and more
    yaml.composer.warn_double_anchors = False
    return yaml


def _decoded(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8 text (byte 0x{raw[error.start]:02x}); save it as UTF-8."
        raise ScriptSyntaxError(message, Place(source, line)) from None


@lru_cache(maxsize=8)
def graph_of_yaml(text: str) -> tuple[YAML, Any]:
    """Parse a text: ruamel's reader, and its graph of nodes with their positions, None for an empty text.

    Whoever reads a text, edits it and reads what came out asks for the same few texts again and again: each is parsed
    once. The graph is shared; nobody may change it.
    """
    yaml = _yaml()
    with _nothing_thrown_away():
        return yaml, yaml.compose(text)


def plain_from_yaml(text: str) -> Any:
    """Return a text's data as plain dicts, lists and scalars; nothing in them is shared, not even with later calls."""
    yaml, graph = graph_of_yaml(text)
    if graph is None:
        return None
    # Laying out merged keys (`<<`) changes the graph.
    return _unshared(_yaml().constructor.construct_document(deepcopy(graph) if "<<" in text else graph))


def _unshared(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(value) for value in data] if isinstance(data, list) else data


def _composed(text: str, source: str) -> tuple[YAML, Any]:
    try:
        return graph_of_yaml(text)
    except MaxDepthExceededError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ScriptSyntaxError(f"values are nested more than {MAX_DEPTH} deep.", Place(source, line)) from None
    except MarkedYAMLError as error:
        raise _syntax_error(error, source) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"not YAML: the character U+{ord(text[error.position]):04X} is not allowed."
        raise ScriptSyntaxError(message, Place(source, line)) from None
    except (
        YAMLError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        NotImplementedError,
        AssertionError,
    ) as error:
        # The scanner meets some garbage with Python's own exceptions; to the user it is all "not YAML".
        raise ScriptSyntaxError(f"not YAML: {error}.", Place(source, 1)) from None


def _syntax_error(error: MarkedYAMLError, source: str) -> ScriptSyntaxError:
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem or error.context or "it cannot be read").strip()
    if "'\\t'" in problem or "tab" in problem:
        problem = "a tab stands where YAML needs spaces; indent with spaces"
    elif error.context and error.context_mark and error.problem:
        problem += f", {error.context} that began in line {error.context_mark.line + 1}"
    return ScriptSyntaxError(f"not YAML: {problem}.", Place(source, mark.line + 1 if mark else 1))


def _line(graph: Any) -> int:
    return int(graph.start_mark.line) + 1


class _YamlReader:
    """Turns ruamel's node graph into our nodes."""

    def __init__(self, yaml: YAML, source: str) -> None:
        self.constructor = yaml.constructor
        self.source = source
        self.budget = Budget()

    def node(self, graph: Any, place: Place, depth: int) -> Node:
        """Return the node of a graph node; `place` is where its key stands."""
        self.budget.spend(place, depth)
        if isinstance(graph, MappingNode):
            self._expect_tag(graph, "map", place)
            return Node(self._mapping(graph, place, depth), place)
        if isinstance(graph, SequenceNode):
            self._expect_tag(graph, "seq", place)
            children = enumerate(graph.value)
            return Node(tuple(self.node(x, item(place, i, _line(x)), depth + 1) for i, x in children), place)
        return Node(tame(self._scalar(graph, place), graph.value[:200]), place, graph.value)

    def _mapping(self, graph: Any, place: Place, depth: int) -> dict[str, Node]:
        own: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        for key_graph, value_graph in graph.value:
            line = _line(key_graph)
            if key_graph.tag == f"{_TAG}merge":
                merged = self._merged(value_graph, child(place, "<<", line), depth) | merged
                continue
            key = self._key(key_graph, Place(self.source, line, place.path))
            here = child(place, key, line)
            if key in own:
                raise ScriptSyntaxError(f"key '{key}' is written twice, first in line {own[key].place.line}.", here)
            own[key] = self.node(value_graph, here, depth + 1)
        return merged | own

    def _merged(self, graph: Any, place: Place, depth: int) -> dict[str, Node]:
        """Return the entries that `<<: *other` (or a list of such) brings in; the earlier wins."""
        if isinstance(graph, SequenceNode):
            entries: dict[str, Node] = {}
            for part in graph.value:
                self.budget.spend(place, depth + 1)
                entries = self._merged(part, place, depth + 1) | entries
            return entries
        if not isinstance(graph, MappingNode):
            raise ScriptSyntaxError("'<<' must be followed by a mapping.", place)
        # Entries brought in keep the line they were written in, under the keys that lead here.
        self.budget.spend(place, depth + 1)
        return self._mapping(graph, Place(place.file, place.line, place.path[:-1]), depth + 1)

    def _key(self, graph: Any, place: Place) -> str:
        if not isinstance(graph, ScalarNode):
            raise ScriptSyntaxError("a key must be a name, but here it is a list or a mapping.", place)
        return checked_name(str(graph.value), place)

    def _scalar(self, graph: Any, place: Place) -> Any:
        kind = str(graph.tag).removeprefix(_TAG)
        if kind in ("str", "timestamp", "value", "merge"):
            return graph.value
        if kind == "null":
            return None
        if kind not in ("int", "float", "bool"):
            raise ScriptSyntaxError(f"the tag '{graph.tag}' means nothing here.", place)
        try:
            return getattr(self.constructor, f"construct_yaml_{kind}")(graph)
        except (ValueError, LookupError, OverflowError):
            raise ScriptSyntaxError(f"'{graph.value[:80]}' cannot be read as {kind}.", place) from None

    def _expect_tag(self, graph: Any, kind: str, place: Place) -> None:
        if graph.tag not in (f"{_TAG}{kind}", "!"):
            raise ScriptSyntaxError(f"the tag '{graph.tag}' means nothing here.", place)


_ONE_LINE = 90
_BREAKS = frozenset("\x85\u2028\u2029")  # line breaks to YAML, characters to everybody else


def yaml_from_data(data: dict[str, Any]) -> str:
    """Return YAML text: sections in blocks, what is short on one line."""
    yaml = YAML()
    yaml.width = 4096  # a folded line is hard to find again by its number
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(_styled(data, 0), stream)
    return stream.getvalue()


def _styled(data: Any, depth: int) -> Any:
    if isinstance(data, dict):
        styled: Any = CommentedMap({_styled(key, depth): _styled(value, depth + 1) for key, value in data.items()})
    elif isinstance(data, list | tuple):
        styled = CommentedSeq([_styled(value, depth + 1) for value in data])
    elif isinstance(data, str) and not _BREAKS.isdisjoint(data):
        return DoubleQuotedScalarString(data)  # escapes them; other styles would break the line there
    else:
        return data
    numbers = isinstance(data, list | tuple) and not any(isinstance(x, dict | list | tuple) for x in data)
    if not data or numbers or (depth >= 2 and len(repr(data)) <= _ONE_LINE):
        styled.fa.set_flow_style()
    return styled
