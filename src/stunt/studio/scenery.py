"""What a model looks like, as plain data: bodies, and the shapes on them, for a page to draw."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stunt.character.bodies import groups_of
from stunt.character.character import Character
from stunt.direction.performance import Performance
from stunt.record.raycast_colors import visible_geoms

_KINDS = {
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_HFIELD: "heightfield",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
}
_DRAWN = (0, 1, 2)
_PLAIN = (0.62, 0.64, 0.68)
LANES = ("trunk", "head", "l_arm", "r_arm", "l_leg", "r_leg")
"""Limb groups that get a lane of their own; they do not overlap."""


def scenery(performance: Performance) -> dict[str, Any]:
    """Describe a stage: `bodies`, `geoms`, `meshes`, `characters` with joints and limbs, `props`."""
    model = performance.stage.model
    geoms, colors = visible_geoms(model, _DRAWN, _PLAIN)
    kept = [_geom(model, int(g), c) for g, c in zip(geoms, colors, strict=True)]
    kinds = {entry["mesh"] for entry in kept if entry.get("mesh") is not None}
    return {
        "bodies": [model.body(b).name for b in range(model.nbody)],
        "geoms": kept,
        "meshes": {str(m): _mesh(model, m) for m in sorted(kinds)},
        "heightfields": {str(h): _heightfield(model, h) for h in range(model.nhfield)},
        "ground": bool(performance.script.scene.ground),
        "characters": {name: _character(c) for name, c in performance.stage.characters.items()},
        "props": {name: prop.body for name, prop in performance.stage.built.props.items()},
    }


def _geom(model: mujoco.MjModel, geom: int, color: Any) -> dict[str, Any]:
    kind = _KINDS.get(mujoco.mjtGeom(model.geom_type[geom]), "sphere")
    rgb = np.sqrt(np.clip(color[:3], 0.0, 1.0))  # back from linear light to display
    data: dict[str, Any] = {
        "body": int(model.geom_bodyid[geom]),
        "kind": kind,
        "size": _short(model.geom_size[geom]),
        "at": _short(model.geom_pos[geom]),
        "turn": _short(model.geom_quat[geom]),
        "color": [*_short(rgb), round(float(color[3]), 3)],
    }
    if kind in ("mesh", "heightfield"):
        data["mesh"] = int(model.geom_dataid[geom]) if kind == "mesh" else None
        data["field"] = int(model.geom_dataid[geom])
    return data


def _mesh(model: mujoco.MjModel, mesh: int) -> dict[str, Any]:
    v0, nv = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    f0, nf = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return {
        "vertices": np.round(model.mesh_vert[v0 : v0 + nv].ravel(), 4).tolist(),
        "faces": model.mesh_face[f0 : f0 + nf].ravel().tolist(),
    }


def _heightfield(model: mujoco.MjModel, field: int) -> dict[str, Any]:
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    heights = model.hfield_data[first : first + rows * columns]
    return {"rows": rows, "columns": columns, "size": _short(model.hfield_size[field]), "heights": _short(heights)}


def _character(character: Character) -> dict[str, Any]:
    limbs = {name: list(joints) for name, joints in groups_of(character).items() if name in LANES}
    return {
        "bodies": dict(character.bodies),
        "limbs": limbs or {"all": list(character.joints)},
        "free": character.root is not None,
        "joints": {
            joint.name: {
                "kind": joint.kind,
                "range": None if joint.range is None else _degrees(joint.range, joint.kind),
                "strength": joint.strength if np.isfinite(joint.strength) else None,
            }
            for joint in character.joints.values()
        },
    }


def _degrees(limits: tuple[float, float], kind: str) -> list[float]:
    factor = 1.0 if kind == "slide" else 180.0 / np.pi
    return [round(float(limit) * factor, 2) for limit in limits]


def _short(values: Any) -> list[float]:
    return [round(float(value), 5) for value in np.ravel(values)]
