"""The rows a servo reads, of many frames at once, and how deep geoms are in the floor; compiled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import Bones, body_count, bones_of, pose_bodies
from stunt.control.servo.memory import ServoTargets
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.sole_hold import SWING_FRICTION, SWING_SPEED
from stunt.maths.compiled import compiled
from stunt.maths.flat import product, rotated
from stunt.maths.rotations import Floats


@compiled
def lift_rows(
    frames: Any, fps: float, wanted: Any, bones: Any, toes: Any, standing: Any, swing: Any, turns: Any, path: Any,
    friction: Any, joints: Any,
) -> None:  # fmt: skip
    """Write frames as the servo reads them (see `posing.servo_rows`).

    Args:
        frames: Positions and velocities, (F, nq + nv).
        fps: Frames per second.
        wanted: All bodies, (bodies,).
        bones: As `kinematics.bones_of` has them.
        toes: The body each sole goes by, (soles,).
        standing: Friction of the soles while they do not swing, (soles,).
        swing: Speed from which a sole swings [m/s], and its friction then.
        turns: Written, (F, bodies, 4).
        path: Written, (F, 3).
        friction: Written, (F, soles).
        joints: Written, (F, nq − 7).
    """
    count, last = frames.shape[0], frames.shape[0] - 1
    places, world = np.empty((count, turns.shape[1], 3)), np.empty((count, turns.shape[1], 4))
    pose_bodies(frames, wanted, bones, places, world)
    relative_turns(world, turns)
    for f in range(count):
        low, high = max(f - 1, 0), min(f + 1, last)
        for k in range(3):
            path[f, k] = frames[f, k]
        for k in range(joints.shape[1]):
            joints[f, k] = frames[f, 7 + k]
        for n in range(toes.shape[0]):
            x = places[high, toes[n], 0] - places[low, toes[n], 0]
            y = places[high, toes[n], 1] - places[low, toes[n], 1]
            fast = math.sqrt(x * x + y * y) * fps / max(high - low, 1) > swing[0]
            friction[f, n] = swing[1] if fast else standing[n]


@compiled
def relative_turns(turns: Any, out: Any) -> None:
    """Write how bodies are turned, seen from the first; that one stays as it is, (F, bodies, 4)."""
    for f in range(turns.shape[0]):
        for n in range(turns.shape[1]):
            a, b = turns[f, 0], turns[f, n]
            if n == 0:
                for k in range(4):
                    out[f, 0, k] = b[k]
                continue
            out[f, n, 0], out[f, n, 1], out[f, n, 2], out[f, n, 3] = product(
                a[0], -a[1], -a[2], -a[3], b[0], b[1], b[2], b[3]
            )


@compiled
def add_depth(
    positions: Any, turns: Any, body: int, at: Any, own: Any, size: Any, kind: int, depth: Any
) -> float:  # fmt: skip
    """Raise `depth` to how deep a geom's lowest point is below the floor in every frame; return the largest.

    Args:
        positions: Of all bodies, (F, bodies, 3).
        turns: Likewise, (F, bodies, 4).
        body: Whose geom it is.
        at: Its place in the body, (3,).
        own: Its turn in the body, (4,).
        size: Its size, (3,).
        kind: Its type, as the engine counts them.
        depth: Written, (F,).
    """
    most = 0.0
    for f in range(depth.shape[0]):
        w, i, j, k = turns[f, body, 0], turns[f, body, 1], turns[f, body, 2], turns[f, body, 3]
        _, _, z = rotated(w, i, j, k, at[0], at[1], at[2])
        w, i, j, k = product(w, i, j, k, own[0], own[1], own[2], own[3])
        a, b, c = rotated(w, -i, -j, -k, 0.0, 0.0, 1.0)  # the vertical in the geom's frame
        if kind == 6:  # box
            down = abs(a) * size[0] + abs(b) * size[1] + abs(c) * size[2]
        elif kind == 4:  # ellipsoid
            down = math.sqrt((a * size[0]) ** 2 + (b * size[1]) ** 2 + (c * size[2]) ** 2)
        elif kind == 3:  # capsule
            down = size[0] + abs(c) * size[1]
        elif kind == 2:  # sphere
            down = size[0]
        else:
            down = 0.0
        depth[f] = max(depth[f], down - z - positions[f, body, 2])
        most = max(most, depth[f])
    return most


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


def servo_rows(view: ServoView, layout: Layout, frames: Floats, fps: float) -> ServoTargets:
    """Return frames as the servo reads them (`stunt.drive.motion.body_motion.make_rows` for many frames at once).

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
    return ServoTargets(fps, turns, path, friction, joints)


def _toe(model: mujoco.MjModel, geom: int, first: int, count: int) -> int:
    """Return the body a sole goes by, counted from the root."""
    body = int(model.geom_bodyid[geom])
    toes = [b for b in range(body + 1, first + count) if model.body_parentid[b] == body]
    return (toes[0] if toes else body) - first
