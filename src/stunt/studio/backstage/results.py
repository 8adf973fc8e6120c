"""How a rehearsal went so far, as plain data for the page: beats with their errors, events, who is in charge.

Curves of a performance for the page: one quantity of some joints over time, thinned out for a screen.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Joint
from stunt.errors import UnknownNameError
from stunt.script.performance import Performance
from stunt.studio.backstage.rehearsal import Rehearsal

Floats = NDArray[np.float64]
QUANTITIES = {
    "angle": "°",
    "error": "°",
    "torque": "N·m",
    "share": "% of strength",
    "stiffness": "N·m/rad",
    "damping": "N·m·s/rad",
    "assistance": "N",
}
"""What can be drawn, and its unit."""
_MOST_POINTS = 900
_MOST_JOINTS = 12


def curves(performance: Performance, character: str, joints: list[str], quantity: str) -> dict[str, Any]:
    """Return one quantity of some joints: `time` [s], and `series` by joint (assistance: by axis).

    Raises:
        UnknownNameError: There is no such character, joint or quantity.
    """
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    recorder = performance.recorder
    stride = max(1, -(-recorder.count // _MOST_POINTS))
    time = np.array(recorder.column("time")[::stride])
    someone = performance.stage.character(character)
    series: dict[str, list[float | None]] = {}
    limits: dict[str, float] = {}
    if quantity == "assistance":
        number = list(performance.stage.characters).index(character)
        held = np.array(recorder.column("assistance")[::stride]).reshape(len(time), -1, 6)
        series = {axis: _listed(held[:, number, k]) for k, axis in enumerate(("x", "y", "z"))}
    else:
        for name in joints[:_MOST_JOINTS]:
            joint = someone.joint(name)
            series[name] = _listed(_values(recorder, joint, quantity, stride))
            if np.isfinite(joint.strength) and quantity in ("torque", "share"):
                limits[name] = 100.0 if quantity == "share" else joint.strength
    return {
        "character": character, "quantity": quantity, "unit": QUANTITIES[quantity], "time": _listed(time),
        "series": series, "limits": limits,
    }  # fmt: skip


def _values(recorder: Any, joint: Joint, quantity: str, stride: int) -> Floats:
    if quantity in ("angle", "error"):
        qpos = np.array([row[joint.qpos] for row in recorder.column("qpos")[::stride]])
        if quantity == "angle":
            return qpos if joint.kind == "slide" else np.degrees(qpos)
        goal = np.array([row[joint.qpos] for row in recorder.column("target")[::stride]])
        return goal - qpos if joint.kind == "slide" else np.degrees(goal - qpos)
    column = "torque" if quantity == "share" else quantity
    values = np.array([row[joint.dof] for row in recorder.column(column)[::stride]])
    return 100.0 * np.abs(values) / joint.strength if quantity == "share" else values


def _listed(values: Floats) -> list[float | None]:
    return [round(float(v), 4) if np.isfinite(v) else None for v in values]


_MOST = 2000


def results(rehearsal: Rehearsal) -> dict[str, Any]:
    """Return what is known now; cheap enough to be called several times a second."""
    performance = rehearsal.performance
    log = [_plain(entry) for entries in performance.stage.all_logs() for entry in entries][-_MOST:]
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
        "hits": [_plain(dataclasses.asdict(hit)) for hit in performance.stage.hits[-_MOST:]],
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
