"""Forward kinematics of one character over many frames at once, and the rows its servo reads.

`mj_kinematics` does one frame of the whole scene; whoever takes over a body in the middle of a scene has no time for
hundreds of those.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.worldspace_program import Rows
from stunt.direction.motion_rows import SWING_FRICTION, SWING_SPEED
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.posing_kernel import multiply_rows, pose_bodies, rotate_rows
from stunt.direction.supervisor.state_kernel import ground_speeds, relative_turns
from stunt.rotations import Floats


@dataclass(frozen=True, eq=False)
class Posed:
    """Where all bodies of a character are, in the order of the model, the root first.

    Attributes:
        positions: [m], (F, bodies, 3).
        turns: Orientations in the world, (F, bodies, 4).
    """

    positions: Floats
    turns: Floats


def posed(model: mujoco.MjModel, character: Character, qpos: Floats, wanted: NDArray[np.bool_] | None = None) -> Posed:
    """Return where the bodies are.

    Args:
        model: The scene.
        character: Who, with a free root.
        qpos: Its own coordinates, (F, nq).
        wanted: Which bodies, counted from the root, (bodies,), with all their ancestors; the others' rows are empty.
            None: all.
    """
    root, first = character.root, character.root_body
    assert root is not None  # supervised characters have free roots
    end = max(character.bodies.values()) + 1
    positions, turns = np.zeros((len(qpos), end - first, 3)), np.zeros((len(qpos), end - first, 4))
    which = np.ones(end - first, np.bool_) if wanted is None else wanted
    pose_bodies(
        np.ascontiguousarray(qpos), first, root.qpos, which, model.body_parentid, model.body_pos, model.body_quat,
        model.body_jntadr, model.body_jntnum, model.jnt_type, model.jnt_qposadr, model.jnt_axis, model.jnt_pos,
        model.qpos0, positions, turns,
    )  # fmt: skip
    return Posed(positions, turns)


def servo_rows(
    model: mujoco.MjModel,
    character: Character,
    layout: Layout,
    frames: Floats,
    fps: float,
    soles: list[int],
    standing: Floats,
    *,
    parent: bool = False,
) -> Rows:
    """Return frames as the servo reads them (`stunt.direction.motion_rows.make_rows` for many frames at once).

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        frames: Positions and velocities, (F, nq + nv).
        fps: Frames per second.
        soles: Geoms whose friction goes with the swing of their foot.
        standing: Their friction while they do not swing, (soles,).
        parent: Whether orientations are relative to the parent.
    """
    qpos, qvel = frames[:, : layout.nq], frames[:, layout.nq :]
    where, first = posed(model, character, qpos), character.root_body
    count = where.turns.shape[1]
    above = np.maximum(model.body_parentid[first : first + count] - first, 0) if parent else np.zeros(count)
    relative = np.empty_like(where.turns)
    relative_turns(where.turns, above.astype(np.int64), relative)
    friction = np.zeros((len(frames), max(len(soles), 1)))
    for number, geom in enumerate(soles):
        pace = sole_speed(model, geom, where.positions, first, fps)
        friction[:, number] = np.where(pace > SWING_SPEED, SWING_FRICTION, standing[number])
    return Rows(fps, relative, qpos[:, :3].copy(), friction, qpos[:, 7:].copy(), qvel[:, 6:].copy())


def rotated_rows(turns: Floats, vectors: Floats) -> Floats:
    """Return vectors turned by quaternions, (F, 3); one of either serves all. As `rotations.rotate`, quicker."""
    one, two = np.atleast_2d(turns), np.atleast_2d(vectors)
    out = np.zeros((max(len(one), len(two)), 3))
    rotate_rows(one, two, out)
    return out


def multiplied_rows(first: Floats, second: Floats) -> Floats:
    """Return products of quaternions, (F, 4); one of either serves all. As `rotations.multiply`, quicker."""
    one, two = np.atleast_2d(first), np.atleast_2d(second)
    out = np.zeros((max(len(one), len(two)), 4))
    multiply_rows(one, two, out)
    return out


def sole_speed(model: mujoco.MjModel, geom: int, places: Floats, first: int, fps: float) -> Floats:
    """Return how fast a sole moves over the ground [m/s], (F,): a foot goes by its toe."""
    body = int(model.geom_bodyid[geom])
    toes = [b for b in range(body + 1, first + places.shape[1]) if model.body_parentid[b] == body]
    out = np.zeros(len(places))
    ground_speeds(places, (toes[0] if toes else body) - first, fps, out)
    return out
