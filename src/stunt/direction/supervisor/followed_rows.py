"""Rows a servo follows: placed on the ground, entered late, or held."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from stunt import rotations
from stunt.control.worldspace_program import Rows
from stunt.direction.motion_rows import blended
from stunt.direction.supervisor.posing import multiplied_rows, rotated_rows
from stunt.direction.supervisor.tracks import Place


def moved_rows(rows: Rows, place: Place) -> Rows:
    """Return rows of a motion placed on the ground: only the root's own place and turn change."""
    x, y, turn = place
    spin = rotations.from_rotation_vector(np.array([0.0, 0.0, turn]))
    turns = rows.turns.copy()
    turns[:, 0] = multiplied_rows(spin, turns[:, 0])
    return replace(rows, turns=turns, path=rotated_rows(spin, rows.path) + [x, y, 0.0])


def late_blend(model: mujoco.MjModel, old: Rows, at: float, new: Rows, since: float, seconds: float) -> Rows:
    """Blend into rows that are entered at a later frame than their first."""
    first = min(max(round(since * new.fps), 0), len(new.turns) - 1)
    tail = Rows(new.fps, new.turns[first:], new.path[first:], new.friction[first:], new.qpos[first:], new.qvel[first:])
    turns = new.turns.copy()
    turns[first:] = blended(model, old, at, tail, seconds).turns
    return replace(new, turns=turns)


def repeated_row(row: Rows, frames: int, fps: float) -> Rows:
    """Hold one row for some frames."""
    several = [np.repeat(x[:1], frames, axis=0) for x in (row.turns, row.path, row.friction, row.qpos, row.qvel)]
    return Rows(fps, *several)
