"""Somebody joins a running stage, or leaves it: the scene is built anew, and the others go on from where they are.

Those who stay keep, by name, their positions and velocities, and what they are doing: beats that are still ahead, the
clip they follow at the time they are at, how they reacted to hits, what they hold and what pushes them. They go on as
in a stage built with the new cast from that state. A take has one cast, so a new one begins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from stunt.maths.rotations import Floats
from stunt.stage.build import Built, build
from stunt.stage.scene import CharacterSpec

if TYPE_CHECKING:
    from stunt.play.stage import Stage


def rebuilt(stage: Stage, people: Mapping[str, CharacterSpec]) -> Built:
    """Return the stage's scene with another cast, compiled."""
    return build(dataclasses.replace(stage.scene, characters=dict(people), events=()))


def joint_states(stage: Stage) -> dict[str, tuple[Floats, Floats]]:
    """Return positions and velocities of every joint in the model, by its name."""
    model, data = stage.model, stage.data
    qpos_ends, dof_ends = np.append(model.jnt_qposadr[1:], model.nq), np.append(model.jnt_dofadr[1:], model.nv)
    return {
        model.joint(j).name: (
            data.qpos[model.jnt_qposadr[j] : qpos_ends[j]].copy(), data.qvel[model.jnt_dofadr[j] : dof_ends[j]].copy(),
        )
        for j in range(model.njnt)
    }  # fmt: skip


def put_joints(stage: Stage, states: Mapping[str, tuple[Floats, Floats]]) -> None:
    """Give joints that are known by name their positions and velocities; the others keep theirs."""
    model, data = stage.model, stage.data
    for j in range(model.njnt):
        if (known := states.get(model.joint(j).name)) is not None:
            qpos, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            data.qpos[qpos : qpos + len(known[0])] = known[0]
            data.qvel[dof : dof + len(known[1])] = known[1]
    mujoco.mj_forward(model, data)


def grips(stage: Stage) -> list[tuple[str, str]]:
    """Return which props are held, and by which bodies, by name."""
    model, data = stage.model, stage.data
    return [
        (name, model.body(int(model.eq_obj1id[prop.grip])).name)
        for name, prop in stage.built.props.items()
        if prop.grip >= 0 and data.eq_active[prop.grip]
    ]


def hold_again(stage: Stage, held: list[tuple[str, str]]) -> None:
    """Let those who are still there hold what they held."""
    known = {stage.model.body(b).name: b for b in range(stage.model.nbody)}
    for prop, holder in held:
        if holder in known:
            stage.events.attach(stage.prop(prop), known[holder])


def carried_on(stage: Stage, event: Any) -> bool:
    """Whether all an event names is still there."""
    targets = [getattr(event, key) for key in ("target", "to") if hasattr(event, key)]
    owners = [target.partition("/")[0] for target in targets]
    return all(owner in stage.built.characters or owner in stage.built.props for owner in owners)
