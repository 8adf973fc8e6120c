"""A character inside a compiled model: its joints, bodies and sites by their own names.

A scene prefixes everything of character `ada` with `ada/`; here the prefix is taken off again, so that a pose written
for one character fits another with the same body.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, Place, UnknownNameError

_KINDS = {
    mujoco.mjtJoint.mjJNT_FREE: ("free", 7, 6),
    mujoco.mjtJoint.mjJNT_BALL: ("ball", 4, 3),
    mujoco.mjtJoint.mjJNT_SLIDE: ("slide", 1, 1),
    mujoco.mjtJoint.mjJNT_HINGE: ("hinge", 1, 1),
}


@dataclass(frozen=True)
class Joint:
    """One joint of a character."""

    name: str  #: Without the character's prefix
    id: int  #: Index in the model
    kind: str  #: `hinge`, `slide`, `ball` or `free`
    qpos: int  #: First index in `qpos`; `nq` of them
    dof: int  #: First index in `qvel`; `nv` of them
    nq: int  #: Number of position coordinates
    nv: int  #: Number of degrees of freedom
    #: Lower and upper limit [rad or m]; None where unlimited. A ball joint's is (0, largest rotation angle).
    range: tuple[float, float] | None
    strength: float  #: Peak torque [N·m] (or force [N]); infinite where the body does not say


class Character:
    """Names and indices of one character in a model. Holds no state."""

    def __init__(self, model: mujoco.MjModel, name: str) -> None:
        """Look the character up.

        Args:
            model: The compiled scene.
            name: The character's name; its things are called `name/…`.
        """
        self.name = name
        self.prefix = f"{name}/"
        self.model = model
        self.joints: dict[str, Joint] = {}
        self.root: Joint | None = None
        for id_ in range(model.njnt):
            full = model.joint(id_).name
            if not full.startswith(self.prefix):
                continue
            joint = self._joint(id_, full.removeprefix(self.prefix))
            if joint.kind == "free" and self.root is None:
                self.root = joint
            else:
                self.joints[joint.name] = joint
        self.bodies = self._named(model.nbody, model.body)
        self.sites = self._named(model.nsite, model.site)
        self.geoms = {int(g) for g in range(model.ngeom) if model.geom_bodyid[g] in set(self.bodies.values())}
        # As it was built: while a character follows a clip, the model's own changes from step to step.
        self.grip = {geom: float(model.geom_friction[geom, 0]) for geom in self.geoms}

    def _joint(self, id_: int, name: str) -> Joint:
        model = self.model
        kind, nq, nv = _KINDS[mujoco.mjtJoint(model.jnt_type[id_])]
        limited = bool(model.jnt_limited[id_])
        # MuJoCo limits the forces of scalar joints only, but carries a ball joint's number along.
        strong = bool(model.jnt_actfrclimited[id_]) or (kind == "ball" and model.jnt_actfrcrange[id_][1] > 0)
        return Joint(
            name=name,
            id=id_,
            kind=kind,
            qpos=int(model.jnt_qposadr[id_]),
            dof=int(model.jnt_dofadr[id_]),
            nq=nq,
            nv=nv,
            range=(float(model.jnt_range[id_][0]), float(model.jnt_range[id_][1])) if limited else None,
            strength=float(model.jnt_actfrcrange[id_][1]) if strong else float("inf"),
        )

    def _named(self, count: int, accessor) -> dict[str, int]:  # type: ignore[no-untyped-def]
        found = {}
        for id_ in range(count):
            full = accessor(id_).name
            if full.startswith(self.prefix):
                found[full.removeprefix(self.prefix)] = id_
        return found

    @cached_property
    def dofs(self) -> NDArray[np.int32]:
        """Indices of all joint degrees of freedom, without the root's, (n,)."""
        return np.array([j.dof + k for j in self.joints.values() for k in range(j.nv)], dtype=np.int32)

    @cached_property
    def dof_names(self) -> tuple[str, ...]:
        """A name for each of `dofs`; a ball joint's three are called `name.x`, `name.y`, `name.z`."""
        names: list[str] = []
        for joint in self.joints.values():
            names.extend([joint.name] if joint.nv == 1 else [f"{joint.name}.{axis}" for axis in "xyz"])
        return tuple(names)

    @cached_property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.model.body_mass[list(self.bodies.values())].sum())

    @cached_property
    def root_body(self) -> int:
        """Index of the body all others hang on."""
        return min(self.bodies.values())

    def joint(self, name: str, place: Place = NOWHERE) -> Joint:
        """Return a joint by name, or say which exist."""
        if name not in self.joints:
            raise UnknownNameError(f"joint of '{self.name}'", name, self.joints, place)
        return self.joints[name]

    def body(self, name: str, place: Place = NOWHERE) -> int:
        """Return a body's index by name, or say which exist."""
        if name not in self.bodies:
            raise UnknownNameError(f"body of '{self.name}'", name, self.bodies, place)
        return self.bodies[name]
