"""Forward kinematics of one character over many frames at once, and the rows its servo reads.

`mj_kinematics` does one frame of the whole scene; whoever takes over a body in the middle of a scene has no time for
hundreds of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.worldspace_program import Rows
from stunt.direction.sole_hold import SWING_FRICTION, SWING_SPEED
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.posing_kernel import lift_rows
from stunt.rotations import Floats

Bones = tuple[Any, ...]
_BONES: WeakKeyDictionary[Character, Bones] = WeakKeyDictionary()


def bones_of(model: mujoco.MjModel, character: Character) -> Bones:
    """Return what compiled functions know a body by: its first body and coordinate, and the model's own arrays.

    Asking the model for an array costs more than posing a body by it.
    """
    known = _BONES.get(character)
    if known is None:
        root = character.root
        assert root is not None  # supervised characters have free roots
        known = _BONES[character] = (
            character.root_body, root.qpos, model.body_parentid, model.body_pos, model.body_quat, model.body_jntadr,
            model.body_jntnum, model.jnt_type, model.jnt_qposadr, model.jnt_axis, model.jnt_pos, model.qpos0,
        )  # fmt: skip
    return known


def body_count(character: Character) -> int:
    """Return how many bodies a character has, gaps included."""
    return max(character.bodies.values()) + 1 - character.root_body


@dataclass(frozen=True, eq=False)
class ServoView:
    """How a servo sees one body: what never changes of it.

    Attributes:
        bones: See `bones_of`.
        bodies: How many it has.
        toes: The body each sole goes by: a foot by its toe, (soles,).
        standing: Friction of the soles while they do not swing, (soles,).
    """

    bones: Bones
    bodies: int
    toes: NDArray[np.int64]
    standing: Floats

    @staticmethod
    def of(model: mujoco.MjModel, character: Character, soles: list[int]) -> ServoView:
        """Return how a servo sees a character.

        Args:
            model: The scene.
            character: Who.
            soles: Geoms whose friction goes with the swing of their foot.
        """
        first, count = character.root_body, body_count(character)
        toes = np.array([_toe(model, geom, first, count) for geom in soles], np.int64)
        standing = np.array([character.grip[geom] for geom in soles])
        return ServoView(bones_of(model, character), count, toes, standing)


def servo_rows(view: ServoView, layout: Layout, frames: Floats, fps: float) -> Rows:
    """Return frames as the servo reads them (`stunt.direction.motion_rows.make_rows` for many frames at once).

    Args:
        view: How the servo sees the body.
        layout: Of its coordinates.
        frames: Positions and velocities, (F, nq + nv).
        fps: Frames per second.
    """
    count, bodies, soles = len(frames), view.bodies, len(view.toes)
    turns, path, friction = np.empty((count, bodies, 4)), np.empty((count, 3)), np.zeros((count, max(soles, 1)))
    joints = np.empty((count, layout.nq - 7))
    lift_rows(
        frames, fps, np.ones(bodies, np.bool_), view.bones, view.toes, view.standing, (SWING_SPEED, SWING_FRICTION),
        turns, path, friction, joints,
    )  # fmt: skip
    return Rows(fps, turns, path, friction, joints)


def _toe(model: mujoco.MjModel, geom: int, first: int, count: int) -> int:
    """Return the body a sole goes by, counted from the root."""
    body = int(model.geom_bodyid[geom])
    toes = [b for b in range(body + 1, first + count) if model.body_parentid[b] == body]
    return (toes[0] if toes else body) - first
