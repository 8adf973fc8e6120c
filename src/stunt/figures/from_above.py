"""A walk along a drawn path, seen from above: the path, the way of the hips, and every footprint."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stunt.figures.style import dress, legend, page, plot_area, save
from stunt.motion.graph.along import Walked
from stunt.motion.graph.plants import FREE, contact_points

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
