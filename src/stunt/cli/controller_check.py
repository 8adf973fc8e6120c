"""`stunt check module:Class`: whether a controller keeps the supervisor's contract."""

from __future__ import annotations

import re
from typing import Any

_REFERENCE = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
_CLIP_SOURCES = ("pybullet:",)


def is_controller(thing: str) -> bool:
    """Whether what was typed names a controller: `module:Class`, or a registered name."""
    from stunt.direction.supervisor.registry import registered

    if thing.startswith(_CLIP_SOURCES):
        return False
    return bool(_REFERENCE.match(thing)) or thing in registered()


def controller_findings(thing: str) -> tuple[dict[str, Any], list[str]]:
    """Run the conformance checker; return the findings as data and as lines."""
    import sys

    from stunt.direction.supervisor.conformance import check_controller
    from stunt.direction.supervisor.registry import make_controller, maker_of

    if "" not in sys.path:
        sys.path.insert(0, "")  # a module in the user's own folder, as Python itself would find it
    maker_of(thing)
    found = check_controller(lambda stage, who: make_controller(thing, stage, who), name=thing)
    kind = "kinematic" if found.kinematic else "dynamic"
    data = {
        "controller": thing, "name": found.name, "kinematic": found.kinematic, "ok": found.ok,
        "trials": found.trials, "broken": found.broken, "notes": found.notes,
    }  # fmt: skip
    verdict = "keeps the contract" if found.ok else "breaks the contract"
    lines = [f"{thing}: '{found.name}', {kind}, {verdict}"]
    rows = [*found.trials.items(), *(("note", note) for note in found.notes)]
    rows += [("broken", sentence) for sentence in found.broken]
    wide = max((len(head) for head, _ in rows), default=0)
    lines += [f"  {head:<{wide}}  {words}" for head, words in rows]
    return data, lines
