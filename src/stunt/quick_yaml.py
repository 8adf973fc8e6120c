"""ruamel's YAML reader at half its price: the same graph, the same errors.

What it does character by character and asks for again and again is done here at once, where the answer cannot be
another; everything else is left to it. Only a tag longer than any is a mistake here. A megabyte of values has to be
answered within two seconds, and any program may be the one that asks.
"""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import StringMark
from ruamel.yaml.events import ScalarEvent
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import Reader
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scanner import Scanner, ScannerError
from ruamel.yaml.tag import Tag
from ruamel.yaml.tokens import FlowEntryToken, ScalarToken

_GAP = " \n\0\t\r\x85\u2028\u2029"
# They always match, so that they never try again: nothing may follow that could make them.
_PLAIN_FLOW = re.compile(rf"(?:[^{_GAP}\ufeff:,\[\]{{}}]+|:(?![{_GAP}]))*")
_PLAIN_BLOCK = re.compile(rf"(?:[^{_GAP}\ufeff:]+|:(?![{_GAP}]))*")
_NEXT_LINE = re.compile(rf"\n( *)[^{_GAP}\ufeff#]")
_ODD = re.compile("[\n\r\ufeff]")
_LONGEST_TAG = 1000  # letters, of its prefix, too: each of many tags is spelled out with it, and that takes the square
_ALWAYS_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


class _QuickReader(Reader):
    _mark: Any = None

    def get_mark(self) -> Any:
        """Return where we are; asked for again at the same place, the same mark."""
        mark = self._mark
        if mark is None or mark.pointer != self.pointer or mark.buffer is not self.buffer:
            mark = StringMark(self.name, self.index, self.line, self.column, self.buffer, self.pointer)
            self._mark = mark
        return mark

    def forward(self, length: int = 1) -> None:
        """Go on; within a line at once."""
        if length and _ODD.search(self.buffer, self.pointer, self.pointer + length) is None:
            if self.pointer + length + 1 >= len(self.buffer):
                self.update(length + 1)
            self.along(length)
        else:
            super().forward(length)

    def along(self, length: int) -> None:
        """Go on over what is known to be ordinary letters."""
        self.pointer += length
        self.index += length
        self.column += length

    def down(self, column: int) -> None:
        """Go on to a column of the next line."""
        self.pointer += 1 + column
        self.index += 1 + column
        self.line += 1
        self.column = column


class _QuickScanner(Scanner):
    reader: Any = None

    def __init__(self, loader: Any = None) -> None:
        self.reader = loader.reader
        super().__init__(loader)

    def check_token(self, *choices: Any) -> bool:
        """Whether the next token is one of these."""
        while not self.done and (not self.tokens or (self.possible_simple_keys and self.need_more_tokens())):
            self.fetch_more_tokens()
        return bool(self.tokens) and (not choices or isinstance(self.tokens[0], choices))

    def peek_token(self) -> Any:
        """Return the next token, which stays."""
        return self.tokens[0] if self.check_token() else None

    def get_token(self) -> Any:
        """Return the next token, which goes."""
        if not self.check_token():
            return None
        self.tokens_taken += 1
        return self.tokens.pop(0)

    def fetch_more_tokens(self) -> Any:
        """Read the next token; within brackets, what is a comma or a word for sure is taken for one at once."""
        if not self.flow_context:
            return super().fetch_more_tokens()
        reader = self.reader
        place = reader.pointer
        while reader.buffer[place] == " ":
            place += 1
        letter = reader.buffer[place]
        if letter != "," and letter not in _ALWAYS_PLAIN:
            return super().fetch_more_tokens()
        reader.along(place - reader.pointer)
        self.stale_possible_simple_keys()
        return self.fetch_flow_entry() if letter == "," else self.fetch_plain()

    def stale_possible_simple_keys(self) -> None:
        """Forget what is a key no more."""
        if self.possible_simple_keys:
            super().stale_possible_simple_keys()

    def scan_tag_uri(self, name: Any, start_mark: Any) -> Any:
        """Read a tag, or the prefix of some."""
        found = super().scan_tag_uri(name, start_mark)
        if len(found) > _LONGEST_TAG:
            raise ScannerError(None, None, f"a tag is longer than {_LONGEST_TAG} letters", start_mark)
        return found

    def scan_plain(self) -> Any:
        """Read a plain scalar; at once where a letter shows that it ends in this line."""
        reader = self.reader
        if self.yaml_version == (1, 1) or reader.buffer[reader.pointer] == "#":
            return super().scan_plain()
        first, flow = reader.pointer, bool(self.flow_context)
        found: Any = (_PLAIN_FLOW if flow else _PLAIN_BLOCK).match(reader.buffer, first)  # it always matches
        end = found.end()
        line = None if flow else _NEXT_LINE.match(reader.buffer, end)
        ends = len(line[1]) <= self.indent if line else reader.buffer[end] in (",]" if flow else ":")
        if end == first or not ends:
            return super().scan_plain()
        start = reader.get_mark()
        reader.along(end - first)
        token = ScalarToken(reader.buffer[first:end], True, start, reader.get_mark())
        self.allow_simple_key = line is not None
        if line:
            reader.down(len(line[1]))
        return token


class _QuickParser(Parser):
    scanner: Any = None

    def __init__(self, loader: Any = None) -> None:
        self.scanner = loader.scanner
        super().__init__(loader)

    def parse_node(self, block: bool = False, indentless_sequence: bool = False) -> Any:
        """Read the beginning of a value; a scalar without anchor and tag at once."""
        token = self.scanner.peek_token()
        if type(token) is not ScalarToken:
            return super().parse_node(block, indentless_sequence)
        self.scanner.get_token()
        self.state = self.states.pop()
        return ScalarEvent(
            None, None, (True, False) if token.plain else (False, True), token.value, token.start_mark, token.end_mark,
            style=token.style, comment=token.comment,
        )  # fmt: skip

    def parse_flow_sequence_entry(self, first: bool = False) -> Any:
        """Read on in a list in brackets; a scalar behind a comma at once."""
        if first or type(self.scanner.peek_token()) is not FlowEntryToken:
            return super().parse_flow_sequence_entry(first)
        self.scanner.get_token()
        if type(self.scanner.peek_token()) is not ScalarToken:
            return super().parse_flow_sequence_entry(True)
        self.states.append(self.parse_flow_sequence_entry)
        return self.parse_node()


class _QuickResolver(VersionedResolver):
    _known: dict[str, Tag]

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """Return the tag of what has none, the same object for the same tag: it spells itself out once."""
        tag = super().resolve(kind, value, implicit)
        return self.__dict__.setdefault("_known", {}).setdefault(tag.suffix, tag)


class QuickComposer(Composer):
    """The composer, which finds its parser at once."""

    parser: Any = None

    def __init__(self, loader: Any = None) -> None:
        self.parser = loader.parser
        super().__init__(loader)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one value; a scalar without anchor at once."""
        event = self.parser.peek_event()
        deep = self.loader.max_depth and self.depth >= self.loader.max_depth
        if type(event) is not ScalarEvent or event.anchor is not None or deep or self.resolver.yaml_path_resolvers:
            return super().compose_node(parent, index)
        return self.compose_scalar_node(None)


def quick_yaml() -> YAML:
    """Return a safe reader of this kind."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Reader, yaml.Scanner, yaml.Parser, yaml.Resolver = _QuickReader, _QuickScanner, _QuickParser, _QuickResolver
    yaml.Composer = QuickComposer
    return yaml
