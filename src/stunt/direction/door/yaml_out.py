"""Plain data to YAML text that looks as if a person had written it."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

_ONE_LINE = 90


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
        styled: Any = CommentedMap({key: _styled(value, depth + 1) for key, value in data.items()})
    elif isinstance(data, list | tuple):
        styled = CommentedSeq([_styled(value, depth + 1) for value in data])
    else:
        return data
    numbers = isinstance(data, list | tuple) and not any(isinstance(x, dict | list | tuple) for x in data)
    if not data or numbers or (depth >= 2 and len(repr(data)) <= _ONE_LINE):
        styled.fa.set_flow_style()
    return styled
