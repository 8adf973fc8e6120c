"""Setting a foreign body on its feet: over the origin, on the ground, upright and facing +x where its names tell."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.notes import Notes

Floats = NDArray[np.float64]

_FEET = ("foot", "feet", "toe", "ankle")


def stand(spec: mujoco.MjSpec, root: str, floats: bool, notes: Notes) -> None:
    """Move everything in the world of `spec` so that the root is over the origin and nothing is below the ground.

    Args:
        spec: The body; compiles.
        root: Name of its root body.
        floats: Whether the file leaves the root free: then the lowest point is put on the ground. A mounted body
            keeps its height unless it reaches below the ground.
        notes: Told what was assumed.
    """
    frame = _frame_round_all(spec)
    model, data = _at_rest(spec)
    frame.quat = _upright_and_forward(model, data, notes)
    model, data = _at_rest(spec)
    lowest = lowest_point(model, data)
    lift = -lowest if floats or lowest < 0.0 else 0.0
    x, y, _ = data.xpos[model.body(root).id]
    frame.pos = [-x, -y, lift]
    if abs(lift) > 1e-4:
        notes.add(f"moved {'up' if lift > 0 else 'down'} by {abs(lift):.3f} m, to stand on the ground")


def _frame_round_all(spec: mujoco.MjSpec) -> mujoco.MjsFrame:
    """Put all that stands in the world into one frame, so that it can be moved as a whole."""
    world = spec.worldbody
    elements = [*world.frames, *world.bodies, *world.geoms, *world.sites]
    frame = world.add_frame()
    for element in elements:
        if element.frame is None:
            element.set_frame(frame)
    return frame


def _at_rest(spec: mujoco.MjSpec) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def _upright_and_forward(model: mujoco.MjModel, data: mujoco.MjData, notes: Notes) -> Floats:
    """Turn that makes a body with a head and feet stand up, if it is a y-up file, and face +x."""
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    head, feet, toes = (_middle(model, data, words) for words in (("head",), _FEET, ("toe",)))
    if head is None or feet is None:
        notes.add("faces the way the file has it; +x is taken to be forward")
        return upright
    up = (head - feet) / np.linalg.norm(head - feet)
    if up[1] > math.cos(math.radians(12.0)):
        upright = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
        notes.add("the file has y up (its head is at +y of its feet): stood upright")
    heel = _middle(model, data, ("foot", "feet", "ankle"))
    if toes is None or heel is None:
        return upright
    forward = np.zeros(3)
    mujoco.mju_rotVecQuat(forward, toes - heel, upright)
    return _turned_forward(upright, forward, notes)


def _turned_forward(upright: Floats, forward: Floats, notes: Notes) -> Floats:
    heading = math.atan2(forward[1], forward[0])
    if np.hypot(forward[0], forward[1]) < 1e-6 or abs(heading) < math.radians(5.0):
        return upright
    turn, both = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0.0, 1.0]), -heading)
    mujoco.mju_mulQuat(both, turn, upright)
    notes.add(f"its toes pointed {math.degrees(heading):.0f}° from +x: turned to face +x")
    return both


def _middle(model: mujoco.MjModel, data: mujoco.MjData, words: tuple[str, ...]) -> Floats | None:
    """Mean position of the bodies whose name has one of the words; None if there are none."""
    found = [i for i in range(1, model.nbody) if any(word in model.body(i).name.lower() for word in words)]
    return data.xpos[found].mean(axis=0) if found else None


def lowest_point(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Height of the lowest point of the body's shapes [m]; of its joints where it has no shapes."""
    heights = [float(data.geom_xpos[g][2]) - _depth(model, data, g) for g in range(model.ngeom) if model.geom_bodyid[g]]
    return min(heights) if heights else float(data.xpos[1:, 2].min())


def _depth(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """How far a geom reaches below its centre [m]."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    down = data.geom_xmat[geom].reshape(3, 3)[2]  # world z in the geom's frame
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return float(size[0])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return float(size[0] + abs(down[2]) * size[1])
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return float(np.linalg.norm(size * down))
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return float(size[0] * math.hypot(down[0], down[1]) + abs(down[2]) * size[1])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return float(np.abs(down) @ size)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        return float(-(model.mesh_vert[start : start + count] @ down).min())
    box = model.geom_aabb[geom]
    return float(np.abs(down) @ box[3:] - down @ box[:3])
