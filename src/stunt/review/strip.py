"""Small pictures of what a review found: before, at and after the frame of each figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import mujoco
import numpy as np
from PIL import Image, ImageDraw

from stunt.record.files import written_aside
from stunt.record.filmstrip import facing, fitted, font
from stunt.record.raycast.camera import Camera
from stunt.record.raycast.render import Raycaster
from stunt.record.take import Take
from stunt.review.verdict import Review, ReviewFinding

MOST: Final = 12
"""So many findings are drawn, those out of range first."""
AROUND: Final = (-0.15, 0.0, 0.15)
"""When the pictures of one finding are taken [s]."""
_SIDE, _GAP, _TEXT = 190, 10, 46  # [px] of a picture, between them, for the words above
_INK, _SOFT, _BAD = (28, 32, 40), (120, 127, 138), (176, 40, 0)
_COLUMNS = 2


def chosen(review: Review) -> list[ReviewFinding]:
    """Choose what is drawn: figures out of range that have a frame, then others that do."""
    timed = [finding for finding in review.findings if finding.measured.time is not None]
    return [*(f for f in timed if not f.inside), *(f for f in timed if f.inside)][:MOST]


def review_strip(take: Take, review: Review, path: str | Path) -> Path:
    """Draw the strip of a review as a PNG.

    Args:
        take: What was reviewed.
        review: What was found.
        path: Where to write the picture.
    """
    findings, path = chosen(review), Path(path)
    rows = math.ceil(max(len(findings), 1) / _COLUMNS)
    wide = len(AROUND) * (_SIDE + _GAP) + _GAP
    sheet = Image.new("RGB", (_COLUMNS * wide, rows * (_SIDE + _TEXT + _GAP) + _GAP), (255, 255, 255))
    pen, model = ImageDraw.Draw(sheet), take.model()
    caster, data = Raycaster(model), mujoco.MjData(model)
    for index, finding in enumerate(findings):
        left, top = (index % _COLUMNS) * wide + _GAP, (index // _COLUMNS) * (_SIDE + _TEXT + _GAP) + _GAP
        _words(pen, finding, left, top, wide - 2 * _GAP)
        for k, picture in enumerate(_pictures(take, model, data, caster, finding)):
            sheet.paste(picture, (left + k * (_SIDE + _GAP), top + _TEXT))
    with written_aside(path) as aside:
        sheet.save(aside, format="PNG", optimize=True)
    return path


def _words(pen: ImageDraw.ImageDraw, finding: ReviewFinding, left: int, top: int, room: int) -> None:
    bold, plain = font(16, bold=True), font(13)
    one = finding.measured
    head = f"{finding.character} · {one.figure} {one.value:.3g}"
    pen.text((left, top + 18), fitted(head, bold, room), _INK if finding.inside else _BAD, bold, anchor="ls")
    told = f"{one.time:.2f} s  {one.what}  ·  people: {finding.range.told()}"
    pen.text((left, top + 38), fitted(told, plain, room), _SOFT, plain, anchor="ls")


def _pictures(
    take: Take, model: mujoco.MjModel, data: mujoco.MjData, caster: Raycaster, finding: ReviewFinding
) -> Sequence[Image.Image]:
    when = finding.measured.time or 0.0
    frames = [int(np.abs(take.time - (when + around)).argmin()) for around in AROUND]
    bodies = [b for b in range(model.nbody) if model.body(b).name.startswith(f"{finding.character}/")]
    places = []
    for frame in frames:
        data.qpos[:] = take.qpos[frame]
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[bodies].copy())
    cloud = np.concatenate([np.concatenate(places), np.concatenate(places) + [0.0, 0.0, 0.12]])
    azimuth = facing(model, take.qpos[frames[1]], [finding.character]) + math.radians(60.0)
    camera = Camera.frame_on(cloud, azimuth, math.radians(9.0), aspect=1.0, margin=0.06)
    found = []
    for frame in frames:
        data.qpos[:] = take.qpos[frame]
        mujoco.mj_kinematics(model, data)
        found.append(Image.fromarray(caster.render(data.geom_xpos, data.geom_xmat, camera, _SIDE, _SIDE, samples=2)))
    return found
