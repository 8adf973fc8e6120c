"""Curves of a performance for the page: one quantity of some joints over time, thinned out for a screen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Joint
from stunt.direction.performance import Performance
from stunt.errors import UnknownNameError

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
