"""Rows of pictures: moments of a take side by side, all from the same camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stunt.record.plots import EDGE as _EDGE
from stunt.record.plots import INK, ORANGE, SOFT, WIDTH
from stunt.record.raycast.camera import Camera, points_of_performance
from stunt.record.raycast.render import Raycaster
from stunt.record.take import Take

Pixels = NDArray[np.uint8]

_GAP, _HEAD, _FOOT = 0.1, 0.30, 0.36  # [in] between pictures, above and below a row


@dataclass(frozen=True)
class View:
    """Where the row is seen from.

    Attributes:
        azimuth: Of the camera [°]; 0 looks the character in the face, 90 at its left side.
        elevation: Of the camera above the horizon [°].
        aspect: Width over height of a picture.
        bottom: Lowest point that must be seen, as a share of the performance's height.
    """

    azimuth: float = 20.0
    elevation: float = 8.0
    aspect: float = 0.8
    bottom: float = 0.0


@dataclass(frozen=True)
class Row:
    """One row of a filmstrip.

    Attributes:
        take: The performance.
        times: When to look [s].
        captions: What stands below each picture, left and right.
        heading: What the row shows.
        off: Where the caption says that something went wrong.
    """

    take: Take
    times: Sequence[float]
    captions: Sequence[tuple[str, str]]
    heading: str = ""
    off: Sequence[bool] = ()


def rows_height(columns: int, rows: int, view: View, *, headed: bool = True) -> float:
    """Return how much of a page rows of pictures take [in], with or without headings."""
    return rows * ((_HEAD if headed else 0.0) + _picture_width(columns) / view.aspect + _FOOT)


def put_rows(figure: Figure, rows: Sequence[Row], top: float, view: View) -> None:
    """Draw rows of pictures on a page.

    Args:
        figure: The page.
        rows: The rows, all seen by one camera.
        top: Where they begin, below the page's upper edge [in].
        view: Where they are seen from.
    """
    camera = _camera(rows, view)
    columns = max(len(row.times) for row in rows)
    width = _picture_width(columns)
    height = width / view.aspect
    pixels = round(width * figure.dpi), round(height * figure.dpi)
    for row in rows:
        if row.heading:
            _text(figure, _EDGE, top + 0.04, row.heading, size=11, weight="bold", color=INK)
            top += _HEAD
        for k, picture in enumerate(_pictures(row, camera, *pixels)):
            off = k < len(row.off) and row.off[k]
            _put_picture(figure, picture, (_EDGE + k * (width + _GAP), top, width, height), row.captions[k], off)
        top += height + _FOOT


def _put_picture(
    figure: Figure, picture: Pixels, place: tuple[float, float, float, float], caption: tuple[str, str], off: bool
) -> None:
    left, top, width, height = place
    page_width, page_height = figure.get_size_inches()
    bottom = 1.0 - (top + height) / page_height
    axes = figure.add_axes((left / page_width, bottom, width / page_width, height / page_height))
    axes.imshow(picture, aspect="auto", interpolation="none")
    axes.set_axis_off()
    below = top + height + 0.05
    _text(figure, left + 0.02, below, caption[0], size=9.5, color=INK)
    _text(figure, left + width - 0.02, below, caption[1], size=9.5, color=ORANGE if off else SOFT, ha="right")


def _text(figure: Figure, left: float, top: float, text: str, **look: Any) -> None:
    page_width, page_height = figure.get_size_inches()
    figure.text(left / page_width, 1.0 - top / page_height, text, va="top", **look)


def _picture_width(columns: int) -> float:
    return (WIDTH - 2.0 * _EDGE - _GAP * (columns - 1)) / columns


def _camera(rows: Sequence[Row], view: View) -> Camera:
    clouds = []
    for row in rows:
        model = row.take.model()
        nearest = [int(np.abs(row.take.time - time).argmin()) for time in row.times]
        clouds.append(points_of_performance(model, row.take.qpos[nearest], row.take.cast.names))
    points = np.concatenate(clouds)
    low, high = points[:, 2].min(), points[:, 2].max()
    seen = points[points[:, 2] >= low + view.bottom * (high - low)]
    azimuth, elevation = math.radians(view.azimuth), math.radians(view.elevation)
    return Camera.frame_on(seen, azimuth, elevation, aspect=view.aspect, margin=0.03)


def _pictures(row: Row, camera: Camera, width: int, height: int) -> list[Pixels]:
    model = row.take.model()
    caster, data, pictures = Raycaster(model), mujoco.MjData(model), []
    for time in row.times:
        data.qpos[:] = row.take.qpos[int(np.abs(row.take.time - time).argmin())]
        mujoco.mj_kinematics(model, data)
        pictures.append(caster.render(data.geom_xpos, data.geom_xmat, camera, width, height, samples=3))
    return pictures
