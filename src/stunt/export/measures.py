"""What analysis wants of a take: named quantities with units, character by character and prop by prop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character, Joint
from stunt.export.options import Options, turns_out, vectors_out
from stunt.export.rig import make_rig, travel
from stunt.export.sampling import Floats, SampledTake, rows_at
from stunt.maths.rotations import to_rotation_vector
from stunt.record.take import Take

XYZ, WXYZ = ("x", "y", "z"), ("w", "x", "y", "z")


@dataclass(frozen=True, eq=False)
class Measure:
    """One quantity over time."""

    owner: str  #: The character or prop it is of
    name: str  #: What it is
    values: Floats  #: (F, n) or (F, n, k)
    units: tuple[str, ...]  #: Of each of the n, or one for all
    of: tuple[str, ...]  #: Names of the n: degrees of freedom, bones, or axes
    axes: tuple[str, ...] = ()  #: Names of the k

    def unit(self, number: int) -> str:
        """Return the unit of one of the n."""
        return self.units[number] if len(self.units) > 1 else self.units[0]


def measures(take: Take, motion: SampledTake, options: Options) -> Iterator[Measure]:
    """Yield everything there is to know of the characters asked for, and of the props where everyone is."""
    everyone = take.cast.names
    names = everyone if options.character is None else [options.character]
    for name in names:
        yield from _character(take, motion, name, everyone.index(name), options)
    if options.character is None:
        for prop in take.cast.props.values():
            yield _vectors(prop.name, "position", motion.positions[:, prop.body], "m", options)
            yield _quaternions(prop.name, motion.rotations[:, prop.body], options)


def _character(take: Take, motion: SampledTake, name: str, number: int, options: Options) -> Iterator[Measure]:
    character = Character(motion.model, name)
    rig = make_rig(motion, take.cast.character(name))
    back = travel(rig) if options.in_place else np.zeros((len(motion.times), 3))
    root = character.root_body
    yield _vectors(name, "root_position", motion.positions[:, root] - back, "m", options)
    yield _quaternions(name, motion.rotations[:, root], options, "root_rotation")
    mass = _center_of_mass(motion, character) - back
    yield _vectors(name, "center_of_mass", mass, "m", options)
    yield from _joints(take, motion, character)
    help_ = rows_at(take, take.assistance[:, number], motion.times)
    yield _vectors(name, "assistance_force", help_[:, :3], "N", options)
    yield _vectors(name, "assistance_torque", help_[:, 3:], "N·m", options)
    bodies = sorted(character.bodies.items(), key=lambda item: item[1])
    order, bones = [body for _, body in bodies], tuple(bone for bone, _ in bodies)
    places = motion.positions[:, order] - back[:, None]
    yield Measure(name, "bone_position", vectors_out(places, options.up), ("m",), bones, XYZ)
    yield Measure(name, "bone_rotation", turns_out(motion.rotations[:, order], options.up), ("1",), bones, WXYZ)


def _joints(take: Take, motion: SampledTake, character: Character) -> Iterator[Measure]:
    joints, dofs, names = list(character.joints.values()), character.dofs, character.dof_names
    if not joints:
        return
    slide = [joint.kind == "slide" for joint in joints for _ in range(joint.nv)]

    def units(turning: str, sliding: str) -> tuple[str, ...]:
        return tuple(sliding if one else turning for one in slide)

    def rows(values: Floats) -> Floats:
        return rows_at(take, values[:, dofs].astype(float), motion.times)

    yield Measure(character.name, "position", _angles(joints, motion.qpos), units("rad", "m"), names)
    yield Measure(character.name, "velocity", rows(take.qvel), units("rad/s", "m/s"), names)
    target = rows_at(take, _angles(joints, take.target), motion.times)
    yield Measure(character.name, "target", target, units("rad", "m"), names)
    yield Measure(character.name, "torque", rows(take.torque), units("N·m", "N"), names)
    yield Measure(character.name, "stiffness", rows(take.stiffness), units("N·m/rad", "N/m"), names)
    yield Measure(character.name, "damping", rows(take.damping), units("N·m·s/rad", "N·s/m"), names)


def _angles(joints: Sequence[Joint], qpos: Floats) -> Floats:
    """Return a number for every degree of freedom, (F, n): a ball joint's are its rotation vector [rad]."""
    columns = []
    for joint in joints:
        own = qpos[:, joint.qpos : joint.qpos + joint.nq]
        columns.append(to_rotation_vector(own) if joint.kind == "ball" else own)
    return np.concatenate(columns, axis=1)


def _center_of_mass(motion: SampledTake, character: Character) -> Floats:
    model, bodies = motion.model, list(character.bodies.values())
    places = np.zeros((len(motion.times), 3))
    data = mujoco.MjData(model)
    masses = model.body_mass[bodies]
    for frame, row in enumerate(motion.qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        places[frame] = masses @ data.xipos[bodies] / masses.sum()
    return places


def _vectors(owner: str, name: str, values: Floats, unit: str, options: Options) -> Measure:
    return Measure(owner, name, vectors_out(values, options.up), (unit,), XYZ)


def _quaternions(owner: str, turns: Floats, options: Options, name: str = "rotation") -> Measure:
    return Measure(owner, name, turns_out(turns, options.up), ("1",), WXYZ)
