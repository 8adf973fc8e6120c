"""How a rehearsal went so far, as plain data for the page: beats with their errors, events, who is in charge."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from stunt.studio.rehearsal import Rehearsal

_MOST = 2000


def results(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return what is known now; cheap enough to be called several times a second."""
    performance = rehearsal.performance
    log = [_plain(entry) for entries in performance.logs for entry in entries][-_MOST:]
    return {
        "done": rehearsal.done,
        "simulated": rehearsal.simulated,
        "seconds": rehearsal.seconds,
        "restarted_at": rehearsal.restarted_at,
        "error": rehearsal.error,
        "warnings": [*performance.warnings, *performance.happenings.warnings()],
        "beats": {name: _beats(rehearsal, name) for name in performance.performers},
        "log": [entry for entry in log if not _takes_over(entry)],
        "in_charge": [_in_charge(entry) for entry in log if _takes_over(entry)],
        "hits": [_plain(dataclasses.asdict(hit)) for hit in performance._hits.hits[-_MOST:]],
    }


def _takes_over(entry: dict[str, Any]) -> bool:
    """Tell whether somebody takes charge here: a supervisor's switch, or a machine's new state."""
    return entry.get("kind") == "state" or (entry.get("kind") == "supervisor" and entry.get("event") == "switch")


def _in_charge(entry: dict[str, Any]) -> dict[str, Any]:
    who = entry["state"] if entry["kind"] == "state" else entry["controller"]
    found = {"time": entry["time"], "character": entry["character"], "who": who, "why": entry.get("why", "")}
    return {**found, "mode": entry.get("mode", "")}


def _beats(rehearsal: Rehearsal, name: str) -> list[dict[str, Any]]:
    told = {entry.index: entry for entry in rehearsal.performance.forecasts.get(name, ())}
    found = []
    for result in rehearsal.performance.performers[name].results:
        entry = {
            "index": result.index, "time": result.time, "pose": result.pose, "error_deg": round(result.error_deg, 4),
            "worst_joint": result.worst_joint, "saturated": list(result.saturated),
        }  # fmt: skip
        if result.index in told:
            entry["feasible"] = bool(told[result.index].feasible)
        found.append(entry)
    return found


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: _value(item) for key, item in entry.items()}


def _value(item: Any) -> Any:
    if isinstance(item, np.ndarray | np.generic):
        return item.tolist()
    if isinstance(item, dict):
        return _plain(item)
    return [_value(x) for x in item] if isinstance(item, tuple | list) else item
