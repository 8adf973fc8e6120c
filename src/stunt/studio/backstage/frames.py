"""Frames for the page, in binary: little-endian 32-bit floats, a header and then blocks the header gives the sizes of.

0 version · 1 revision · 2 time [s] · 3 simulated [s] · 4 seconds · 5 playing · 6 speed · 7 loop · 8 bodies n ·
9 ghost (0/1) · 10 contacts k · 11 pulling · 12 done · 13–15 unused
n × 7 position [m] and quaternion wxyz · n × 3 tension, torque, error in 0–1 · ghost: n × 7 · k × 6 point and force

What a model looks like, as plain data: bodies, and the shapes on them, for a page to draw.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.bodies import groups_of
from stunt.character.character import Character
from stunt.record.raycast.colors import visible_geoms
from stunt.script.performance import Performance

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


VERSION = 1
HEADER = 16
_ERROR_SPAN = 20.0  # degrees of error that count as 1
_STIFF = (0.3, 300.0)  # stiffness over strength [1/rad] that count as 0 and 1, on a logarithmic scale
_MOST_CONTACTS = 200

Floats = NDArray[np.float64]


class FrameMaker:
    """Turns recorded frames of one performance into bytes."""

    def __init__(self, performance: Performance) -> None:
        """Look up what does not change."""
        self.performance = performance
        model = performance.stage.model
        self._data = mujoco.MjData(model)
        self._strength = np.full(model.nv, np.inf)
        self._angle = np.zeros(model.nv, int)  # where in qpos a hinge's angle is; -1 for others
        self._angle[:] = -1
        for character in performance.stage.characters.values():
            for joint in character.joints.values():
                self._strength[joint.dof : joint.dof + joint.nv] = joint.strength
                if joint.kind == "hinge":
                    self._angle[joint.dof] = joint.qpos
        self._strength[~np.isfinite(self._strength)] = 200.0

    def frame_at(self, time: float) -> int:
        """Return the recorded frame on show at a time [s]."""
        recorder = self.performance.recorder
        return max(0, min(round(time / recorder.frame_time), recorder.count - 1))

    def pack(self, time: float, header: dict[int, float], *, ghost: bool) -> bytes:
        """Return the frame at a time as bytes; `header` gives entries by number."""
        recorder = self.performance.recorder
        frame = self.frame_at(time)
        qpos = recorder.column("qpos")[frame] if recorder.count else self.performance.stage.data.qpos
        points, forces = recorder.contacts_at(frame)
        points, forces = points[:_MOST_CONTACTS], forces[:_MOST_CONTACTS]
        head = np.zeros(HEADER)
        for number, value in header.items():
            head[number] = value
        head[0], head[8] = VERSION, self.performance.stage.model.nbody
        head[9], head[10] = float(ghost), len(points)
        blocks = [head, self.poses(qpos), self._colors(frame)]
        if ghost:
            blocks.append(self.poses(self.target(frame)))
        blocks.append(np.hstack([points, forces]).ravel())
        return np.concatenate(blocks).astype("<f4").tobytes()

    def poses(self, qpos: Floats) -> Floats:
        """Return positions and quaternions of all bodies, (nbody · 7,)."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self.performance.stage.model, self._data)
        return np.hstack([self._data.xpos, self._data.xquat]).ravel()

    def target(self, frame: int) -> Floats:
        """Return where the body should be: the clip's frame, or the joints' goals, (nq,)."""
        recorder = self.performance.recorder
        if not recorder.count:
            return self.performance.stage.data.qpos.copy()
        goal, qpos = recorder.column("target")[frame], recorder.column("qpos")[frame]
        target = np.where(np.isnan(goal), qpos, goal)
        time = recorder.column("time")[frame]
        for actor in self.performance.stage.actors.values():
            if (wanted := actor.wanted_at(time)) is not None:
                target[actor.slices[0]] = wanted
        return target

    def _colors(self, frame: int) -> Floats:
        """Return tension, torque and error of each body's joints in 0–1, (nbody · 3,)."""
        model, recorder = self.performance.stage.model, self.performance.recorder
        values = np.zeros((model.nbody, 3))
        if not recorder.count or not model.nv:
            return values.ravel()
        stiffness = np.maximum(recorder.column("stiffness")[frame] / self._strength, 1e-9)
        low, high = np.log(_STIFF)
        tension = np.where(stiffness > 1e-6, np.clip((np.log(stiffness) - low) / (high - low), 0, 1), 0.0)
        torque = np.clip(np.abs(recorder.column("torque")[frame]) / self._strength, 0, 1)
        goal, qpos = recorder.column("target")[frame], recorder.column("qpos")[frame]
        off = np.where(self._angle >= 0, np.abs(np.degrees(goal[self._angle] - qpos[self._angle])), 0.0)
        error = np.clip(np.nan_to_num(off) / _ERROR_SPAN, 0, 1)
        np.maximum.at(values, model.dof_bodyid, np.stack([tension, torque, error], axis=1))
        return values.ravel()
