"""A key of a script, declared once.

A spec is a frozen dataclass whose fields are declared with `key(...)`: name, kind of value, default, help. Reading with
its errors, writing, options of the command line, tables in the docs and what the studio shows all come from that.

```python
@spec("a bounce")
class Bounce:
    height: float = key(kind=Number(above=0.0, most=10.0, unit="m"), help="how high")
    times: int = key(default=1, kind=Whole(1, 100), help="how often")
    place: Place = field(default=NOWHERE, compare=False)
```

Two hooks serve what one key alone cannot say: `after_reading(self, section, context)` returns the spec, checked or
completed, and `after_writing(self, data, context)` returns the data, completed.
"""

from __future__ import annotations

from stunt.keys.specs import (
    Inline,
    MappingOf,
    Nested,
    OneOf,
    ScriptKey,
    Spread,
    called,
    declared,
    inline,
    key,
    key_of,
    keys_of,
    names_of,
    read,
    read_section,
    same_key,
    spec,
    write,
)
from stunt.keys.told import Change, references, shown, with_references
from stunt.keys.values import (
    ANGLE,
    CLIP,
    FILE,
    MOMENT,
    NAME,
    NOTHING,
    SECONDS,
    SPIN,
    TEXT,
    TRUTH,
    VECTOR,
    ByLimb,
    Choice,
    Context,
    Data,
    Known,
    ListOf,
    Number,
    Plain,
    ValueKind,
    Vector,
    Whole,
    Word,
)

__all__ = [
    "ANGLE", "ByLimb", "CLIP", "Change", "Choice", "Context", "Data", "FILE", "Inline", "Known", "ListOf", "MOMENT",
    "MappingOf", "NAME", "NOTHING", "Nested", "Number", "OneOf", "Plain", "SECONDS", "SPIN", "ScriptKey", "Spread",
    "TEXT", "TRUTH", "VECTOR", "ValueKind", "Vector", "Whole", "Word", "called", "declared", "inline", "key",
    "key_of", "keys_of", "names_of", "read", "read_section", "references", "same_key", "shown", "spec",
    "with_references", "write",
]  # fmt: skip
