"""Rows a servo follows: placed on the ground, entered late, or held."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from stunt.control.worldspace_program import Rows
from stunt.direction.motion_rows import blended
from stunt.direction.supervisor.track_kernel import place_rows
from stunt.direction.supervisor.tracks import Place


def moved_rows(rows: Rows, place: Place) -> Rows:
    """Return rows of a motion placed on the ground: only the root's own place and turn change."""
    turns, path = np.empty_like(rows.turns), np.empty_like(rows.path)
    place_rows(rows.turns, rows.path, *place, turns, path)
    return replace(rows, turns=turns, path=path)


def cut_rows(rows: Rows, first: int, count: int) -> Rows:
    """Return some of the rows, without copying them."""
    cut = slice(first, first + count)
    return Rows(rows.fps, rows.turns[cut], rows.path[cut], rows.friction[cut], rows.qpos[cut])


def late_blend(model: mujoco.MjModel, old: Rows, at: float, new: Rows, since: float, seconds: float) -> Rows:
    """Blend into rows that are entered at a later frame than their first."""
    first = min(max(round(since * new.fps), 0), len(new.turns) - 1)
    turns = new.turns.copy()
    turns[first:] = blended(model, old, at, cut_rows(new, first, len(turns)), seconds).turns
    return replace(new, turns=turns)


def repeated_row(row: Rows, frames: int, fps: float) -> Rows:
    """Hold one row for some frames."""
    turns, path, friction, qpos = (
        np.repeat(x[:1], frames, axis=0) for x in (row.turns, row.path, row.friction, row.qpos)
    )
    return Rows(fps, turns, path, friction, qpos)
