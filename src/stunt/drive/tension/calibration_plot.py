"""Curves of a calibration: how far each joint gives against its tension."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path

from stunt.drive.tension.calibration import FORCE, JointCurve
from stunt.record.files import written_aside
from stunt.record.plots import BLUE, GREEN, ORANGE, SOFT, page

_COLUMNS = 5


def draw_curves(curves: Sequence[JointCurve], path: Path, body: str) -> Path:
    """Draw one small plot per joint; where gravity tips it over is shaded."""
    rows = math.ceil(len(curves) / _COLUMNS)
    figure = page(
        1.0 + 1.9 * rows, f"What a tension means on {body}",
        f"Largest deflection under {FORCE:g} N at the end effector, everything else stiff. Orange: unstable. "
        "Green: from relaxed to braced.",
    )  # fmt: skip
    height = 1.0 + 1.9 * rows
    axes = figure.subplots(rows, _COLUMNS, squeeze=False)
    figure.subplots_adjust(left=0.05, right=0.985, bottom=0.5 / height, top=1 - 1.1 / height, wspace=0.3, hspace=0.75)
    for index, place in enumerate(axes.flat):
        if index >= len(curves):
            place.set_visible(False)
            continue
        curve = curves[index]
        place.loglog(curve.tension, [max(d, 0.05) for d in curve.deflection_deg], color=BLUE, marker=".", ms=4, lw=1.2)
        if curve.least_stable > curve.tension[0]:
            place.axvspan(curve.tension[0], curve.least_stable, color=ORANGE, alpha=0.25, lw=0)
        place.axvspan(curve.relaxed, curve.braced, ymin=0.0, ymax=0.05, color=GREEN, alpha=0.5, lw=0)
        place.set_title(f"{curve.joint} ({curve.effector})", size=8)
        place.tick_params(labelsize=7, colors=SOFT)
        place.set_ylim(0.05, 200)
        if index % _COLUMNS == 0:
            place.set_ylabel("deg", size=8)
        if index >= len(curves) - _COLUMNS:
            place.set_xlabel("N·m/rad", size=8)
    with written_aside(path) as aside:
        figure.savefig(aside, format="png")
    return path


def write_data(curves: Sequence[JointCurve], folder: Path, body: str) -> list[Path]:
    """Write the curves as JSON and CSV."""
    with written_aside(folder / "calibration.json") as aside:
        data = {"body": body, "force": FORCE, "joints": [curve.data() for curve in curves]}
        aside.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["joint", "effector", "tension_nm_per_rad", "deflection_deg", "stable", "least_stable"])
    for curve in curves:
        for row in zip(curve.tension, curve.deflection_deg, curve.stable, strict=True):
            writer.writerow([curve.joint, curve.effector, *(f"{x:.6g}" for x in row[:2]), int(row[2]),
                             f"{curve.least_stable:.6g}"])  # fmt: skip
    with written_aside(folder / "calibration.csv") as aside:
        aside.write_text(table.getvalue(), encoding="utf-8")
    return [folder / "calibration.json", folder / "calibration.csv"]
