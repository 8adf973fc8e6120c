"""Figure 6: a ball caught on time, undisturbed, and with the arm hit on the way."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from papers.runs import Played, play
from papers.strip import Row, View, put_rows, rows_height
from papers.style import HEADLINE, mark_beats, plot_area, save
from stunt.record.plots import ORANGE, dress, page

Floats = NDArray[np.float64]
_BEFORE = (0.3, 0.2, 0.14, 0.08, 0.0, -0.4)  # [s] until the catch
_VIEW = View(azimuth=-48.0, elevation=10.0, aspect=0.92, bottom=0.25)


def draw(out: Path) -> list[Path]:
    """Draw the figure."""
    calm, hit = play("catch"), play("catch_hit")
    due = calm.results[0].time
    strip = rows_height(len(_BEFORE), 2, _VIEW)
    at_catch = [100.0 * float(np.interp(due, p.take.time, palm_gap(p))) for p in (calm, hit)]
    note = (
        f"One key-frame: the hand at the ball at {due:.1f} s. "
        f"Palm to ball at the catch: {at_catch[0]:.1f} cm undisturbed, {at_catch[1]:.1f} cm with the arm hit."
    )
    figure = page(HEADLINE + strip + 3.0, "Catch", note)
    rows = [_row(calm, "Undisturbed"), _row(hit, "The forearm hit 0.2 s before the catch")]
    put_rows(figure, rows, HEADLINE, _VIEW)
    axes = plot_area(figure, HEADLINE + strip + 0.35, 2.0)
    off = np.linalg.norm(_paths(hit)[0] - _paths(calm)[0], axis=1)
    axes.plot(hit.take.time, 100.0 * off, color=ORANGE)
    axes.set_xlim(0.0, due + 0.4)
    axes.set_ylim(0.0, None)
    dress(axes, "palm off its\nundisturbed way  [cm]")
    mark_beats(axes, [(due - 0.2, "hit"), (due, "catch")])
    return save(figure, out, "fig6_catch")


def palm_gap(played: Played) -> Floats:
    """Return the distance from the palm site to the ball's surface over time [m], (T,)."""
    palm, ball = _paths(played)
    return np.abs(np.linalg.norm(palm - ball, axis=1) - played.script.scene.props["ball"].radius)


def _paths(played: Played) -> tuple[Floats, Floats]:
    """Return where palm and ball were over time [m], (T, 3) each."""
    take = played.take
    model = take.model()
    data = mujoco.MjData(model)
    (name,) = take.cast.names
    palm, ball = model.site(f"{name}/r_palm").id, take.cast.props["ball"].body
    places = np.empty((take.time.size, 2, 3))
    for k, qpos in enumerate(take.qpos):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        places[k] = data.site_xpos[palm], data.xpos[ball]
    return places[:, 0], places[:, 1]


def _row(played: Played, heading: str) -> Row:
    due = played.results[0].time
    times = [due - before for before in _BEFORE]
    captions = [("catch" if time == due else "", f"{time:.2f} s") for time in times]
    return Row(played.take, times, captions, heading)
