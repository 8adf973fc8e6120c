"""Props as MuJoCo geometry: one builder per shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mujoco
import numpy as np

from stunt.errors import InvalidValueError
from stunt.stage.scene import PropSpec

_HEIGHTFIELD_BASE = 0.05  # thickness below the lowest point [m]; the engine wants one


def add_prop(spec: mujoco.MjSpec, name: str, prop: PropSpec) -> None:
    """Add a prop to the scene, movable ones with a free joint and an (idle) grip.

    Args:
        spec: The scene being built.
        name: The prop's name: its body, joint and geoms are called after it.
        prop: What it is.
    """
    half = 0.5 * prop.facing
    body = spec.worldbody.add_body(name=name, pos=prop.at, quat=[np.cos(half), 0.0, 0.0, np.sin(half)])
    if prop.movable:
        body.add_freejoint(name=f"{name}/free")
    look: dict[str, Any] = {"rgba": prop.color, "friction": [prop.friction, 0.005, 0.0001]}
    if prop.movable:
        look["mass"] = prop.mass
    _SHAPES[prop.shape](spec, body, name, prop, look)
    if prop.movable:
        # One weld per prop, aimed at whatever body takes hold of it. It starts asleep, between the prop and itself.
        grip = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
        grip.name = f"{name}/grip"
        grip.name1 = name
        grip.name2 = "world"
        grip.active = False
        grip.solref = [0.004, 1.0]
        grip.solimp = [0.99, 0.999, 0.001, 0.5, 2.0]
        if prop.rope is not None:
            rope = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
            rope.name, rope.name1, rope.name2 = f"{name}/rope", name, "world"
            rope.data[:3] = [0.0, 0.0, prop.rope]  # the end of the rope stays where it is


def _sphere(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[prop.radius, 0.0, 0.0], **look)


def _box(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * edge for edge in prop.size], **look)


def _capsule(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[prop.radius, 0.5 * prop.length, 0.0], **look)


def _cylinder(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[prop.radius, 0.5 * prop.length, 0.0], **look)


def _plane(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], **look)


def _ramp(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    length, width, rise = prop.size
    x, y = 0.5 * length, 0.5 * width
    corners = [[-x, -y, 0], [-x, y, 0], [x, -y, 0], [x, y, 0], [x, -y, rise], [x, y, rise]]
    spec.add_mesh(name=f"{name}/wedge", uservert=np.ravel(corners).tolist())
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"{name}/wedge", **look)


def _stairs(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    depth, width, rise = prop.size
    for step in range(prop.steps):
        height = (step + 1) * rise
        x = (step + 0.5 - 0.5 * prop.steps) * depth
        body.add_geom(
            name=f"{name}/step{step + 1}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=[x, 0.0, 0.5 * height],
            size=[0.5 * depth, 0.5 * width, 0.5 * height],
            **look,
        )


def _heightfield(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    heights = np.asarray(prop.heights, dtype=float)
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise InvalidValueError("heights", prop.heights, "at least 2 rows of at least 2 values", prop.place)
    # The engine stretches values to 0–1, so the user's scale goes into the field's height and its place.
    lowest, span = float(heights.min()), float(heights.max() - heights.min())
    field = spec.add_hfield(
        name=f"{name}/field",
        size=[0.5 * prop.size[0], 0.5 * prop.size[1], max(span * prop.size[2], 1e-6), _HEIGHTFIELD_BASE],
        nrow=heights.shape[0],
        ncol=heights.shape[1],
    )
    field.userdata = ((heights - lowest) / max(span, 1e-12)).ravel().tolist()
    body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_HFIELD,
        hfieldname=f"{name}/field",
        pos=[0.0, 0.0, lowest * prop.size[2]],
        **look,
    )


_SHAPES: Final[dict[str, Callable[[mujoco.MjSpec, Any, str, PropSpec, dict[str, Any]], None]]] = {
    "sphere": _sphere,
    "box": _box,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "plane": _plane,
    "ramp": _ramp,
    "stairs": _stairs,
    "heightfield": _heightfield,
}
