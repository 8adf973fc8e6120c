"""The figures of P2, on hybrid control, from fresh runs: `stunt figures p2 --out DIR`.

Filmstrips of the experiments, each with a bar of who was in charge: light where data played, dark under forces; and
walks along drawn paths from above.

A walk along a drawn path, seen from above: the path, the way of the hips, and every footprint.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from papers.drawing import Progress, draw_all
from papers.runs import shipped
from papers.style import legend, plot_area, save
from stunt.library.own_walks import own_walk_graph
from stunt.motion.graph.along import Walked, walk_along
from stunt.motion.graph.build import users_maps
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.plants import FREE, contact_points
from stunt.record.filmstrip import filmstrip
from stunt.record.plots import dress, page
from stunt.script.performance import perform

_FEET = (("left foot", "#2f6f9f"), ("right foot", "#c2603a"))


def draw_from_above(walked: Walked, out: Path, name: str = "from_above") -> Path:
    """Draw a walk from above.

    Args:
        walked: The walk.
        out: The folder the picture goes to.
        name: Its file's name, without suffix.
    """
    note = f"{walked.path.length:.0f} m in {walked.arrival:.1f} s, {walked.distance:.3f} m from the path at the mean"
    figure = page(8.0, "Along a drawn path", note)
    axes = plot_area(figure, 0.9, 6.4)
    path, root = walked.path.samples, walked.clip.root
    axes.plot(path[:, 0], path[:, 1], "--", color="0.6", lw=1.6, label="drawn")
    axes.plot(root[:, 0], root[:, 1], color="0.1", lw=1.3, label="hips")
    for (label, colour), places in zip(_FEET, _prints(walked), strict=False):
        axes.plot(places[:, 0], places[:, 1], "o", ms=6, color=colour, label=label)
    dress(axes, "m", "m")
    axes.set_aspect("equal")
    legend(axes)
    (made,) = save(figure, out, name)
    return made


def _prints(walked: Walked) -> list[np.ndarray]:
    """Return where each foot stands, one point per plant, (n, 2) each."""
    points = contact_points(walked.clip.world, walked.parts, walked.plants)
    found = []
    for foot in range(walked.plants.shape[1]):
        planted = walked.plants[:, foot] != FREE
        edges = np.flatnonzero(np.diff(np.concatenate([[False], planted, [False]]).astype(int)))
        runs = zip(edges[::2], edges[1::2], strict=True)
        found.append(np.array([points[(first + last) // 2, foot, :2] for first, last in runs]).reshape(-1, 2))
    return found


STRIPS: Final[dict[str, tuple[float, ...]]] = {
    "trip": (1.2, 1.6, 1.9, 2.1, 2.3, 2.6, 2.9, 3.2, 3.6, 4.4, 5.2, 6.0, 6.8, 7.6, 8.6, 10.2),
    "kick_partner": (0.6, 0.8, 0.9, 0.96, 1.0, 1.1, 1.2, 1.4, 1.6, 1.9, 2.3, 3.0, 3.6, 4.2, 5.0, 6.4),
    "goalkeeper": (0.5, 0.75, 0.84, 0.88, 0.95, 1.2, 1.45, 1.6, 1.66, 1.7, 1.76, 1.9, 2.2, 2.6, 3.2, 4.5),
    "duck": (0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.9, 3.3, 3.4, 4.7, 4.8, 4.9, 5.1, 5.2, 6.4),
    "boxing_match": (0.5, 1.1, 1.7, 3.0, 5.5, 6.0, 6.4, 6.85, 7.3, 8.2, 9.6, 13.0, 14.1, 15.4, 16.8, 18.6),
    "path_walk": (0.3, 1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 11.5, 12.5, 13.5, 14.5, 15.0, 15.5, 16.0, 16.8),
}
"""Which examples, and when to look at them [s]."""
PATHS: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "wave": ((0, 0), (3, 0), (6, 2), (9, 2), (12, 0)),
    "there and back": ((0, 0), (4, 0), (6, 2), (4, 4), (0, 4), (-2, 2), (0, 0.5)),
    "corners": ((0, 0), (4, 0), (4, 4), (8, 4), (8, 0)),
}
"""Paths that are walked along and drawn from above [m]."""
SIDES: Final = {"trip": 75.0, "kick_partner": 235.0, "boxing_match": 105.0}
"""From which side, where not almost from the front [°]."""


def make(out: Path, progress: Progress | None = None) -> list[Path]:
    """Perform the experiments' examples and draw their filmstrips, and the walks along drawn paths."""
    drawings = [partial(_strip, name) for name in STRIPS] + [partial(_path, name) for name in PATHS]
    return draw_all(drawings, out, progress)


def _strip(name: str, out: Path) -> list[Path]:
    return [draw(name, STRIPS[name], out)]


def _path(name: str, out: Path) -> list[Path]:
    return [draw_path(name, out)]


def draw(name: str, times: tuple[float, ...], out: Path) -> Path:
    """Perform one example and draw its filmstrip."""
    take = perform(shipped(name))
    return filmstrip(take, out / f"p2-{name.replace('_', '-')}.png", times=times, columns=8, side=SIDES.get(name, 24.0))


def draw_path(name: str, out: Path) -> Path:
    """Walk along a drawn path through the package's own walks, and draw it from above."""
    walked = walk_along(own_walk_graph(cache=users_maps()), DrawnPath.through(PATHS[name]))
    return draw_from_above(walked, out, f"p2-path-{name.replace(' ', '-')}")
