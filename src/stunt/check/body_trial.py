"""A body tried out on a stage: whether gains hold still at a time step, and whether it makes its marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Joint
from stunt.drive.beats.performer import Performer
from stunt.errors import BlowUpError
from stunt.motion.pose import Pose
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

NAME: Final = "it"
RATES: Final = (60.0, 120.0, 480.0)
"""Physics and control rates the trial holds a pose at [Hz]."""
_HIGH = 1.0  # [m] above the ground: the trial is about joints
_STRUCK = 0.1  # [rad/s] every joint is set moving, one way or the other: gently, for gains are tried, not strength
_SECONDS = 0.5
_TENSION = 0.2  # [s] to come back
_CALM = 0.5  # of the first velocity may be left
_BEAT = 0.6  # [s]
_SHARE = 0.1  # of the way to the farther limit


@dataclass(frozen=True)
class Held:
    """How a body took being held at one rate."""

    hz: float  #: Physics and control rate
    stable: bool  #: Whether the disturbance died down
    left: float  #: Largest velocity at the end, as a share of the one it was set moving with
    own: float  #: Stiffest spring or damper of the file itself against the time step: the largest of h·√(k/m) and h·d/m


@dataclass(frozen=True)
class Marks:
    """How a body made two beats, there and back."""

    error_deg: float  #: Worst joint at either beat [°] (a slide's in mm)
    joint: str  #: Which
    joints: int  #: How many were keyed
    at_limit: tuple[str, ...]  #: Joints that reached the limit of their strength


def stage_for(body: CharacterSpec, hz: float) -> StageLoop:
    """Return a stage with the body alone, its root held in the air."""
    return StageLoop(Scene({NAME: body}, physics_hz=hz, control_hz=hz, ground=False))


def raised(body: str, **options: Any) -> CharacterSpec:
    """Return a body as the trial hangs it up."""
    return CharacterSpec(body, at=(0.0, 0.0, _HIGH), root="fixed", **options)


def hold(body: CharacterSpec, hz: float) -> Held:
    """Hold the body in its neutral pose, set every joint moving, and see whether it calms down.

    Which way each joint starts is drawn from a fixed seed: the same body gives the same answer.
    """
    stage = stage_for(body, hz)
    performer = Performer(stage, NAME, tension=_TENSION)
    dofs = performer.character.dofs
    own = _own(stage)
    ways = np.random.default_rng(0).choice([-1.0, 1.0], len(dofs))
    stage.data.qvel[dofs] = _STRUCK * ways
    try:
        stage.step(_SECONDS)
    except BlowUpError:
        return Held(hz, False, math.inf, own)
    left = float(np.abs(stage.data.qvel[dofs]).max()) / _STRUCK
    return Held(hz, left < _CALM, left, own)


def _own(stage: StageLoop) -> float:
    """Return the file's own stiffness and damping against the time step, before Stunt adds any."""
    model, inertia = stage.model, np.zeros((stage.model.nv, stage.model.nv))
    mujoco.mj_fullM(model, stage.data, inertia)
    moment = np.maximum(np.diag(inertia), 1e-12)
    stiffness = model.jnt_stiffness[model.dof_jntid]
    rates = np.maximum(np.sqrt(stiffness / moment), model.dof_damping / moment)
    return float(rates.max(initial=0.0) * stage.step_time)


def make_marks(body: CharacterSpec, hz: float) -> Marks:
    """Key every joint a little way and back again; limbs pass through each other, the moves know nothing of them."""
    stage = stage_for(replace(body, self_collision=False), hz)
    performer = Performer(stage, NAME)
    follow = _followers(stage.model)
    joints = [joint for joint in performer.character.joints.values() if joint.id not in follow]
    there = Pose("there", {joint.name: _little_way(joint, stage.model.qpos0) for joint in joints})
    back = Pose("back", {joint.name: _rest(joint, stage.model.qpos0) for joint in joints})
    performer.key(there, at=_BEAT)
    performer.key(back, at=2 * _BEAT)
    try:
        stage.step(2 * _BEAT)
    except BlowUpError as error:
        return Marks(math.inf, error.body.removeprefix(f"{NAME}/"), len(joints), ())
    worst = max(performer.results, key=lambda result: result.error_deg)
    at_limit = tuple(dict.fromkeys(name for result in performer.results for name in result.saturated))
    return Marks(worst.error_deg, worst.worst_joint, len(joints), at_limit)


def _followers(model: mujoco.MjModel) -> set[int]:
    """Return joints that a constraint makes follow another."""
    follows = model.eq_type == mujoco.mjtEq.mjEQ_JOINT
    return {int(joint) for joint, second in zip(model.eq_obj1id[follows], model.eq_obj2id[follows], strict=True)
            if second >= 0}  # fmt: skip


def _rest(joint: Joint, neutral: Any) -> Any:
    """Return a joint's neutral position, or the nearest its limits allow."""
    values = neutral[joint.qpos : joint.qpos + joint.nq]
    if joint.nq > 1:
        return tuple(float(value) for value in values)
    return float(values[0]) if joint.range is None else float(np.clip(values[0], *joint.range))


def _little_way(joint: Joint, neutral: Any) -> Any:
    rest = _rest(joint, neutral)
    if joint.kind == "ball":
        angle = 0.2 if joint.range is None else min(0.2, 0.5 * joint.range[1])
        turn, both = np.array([math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0]), np.zeros(4)
        mujoco.mju_mulQuat(both, np.array(rest), turn)
        return tuple(both.tolist())
    low, high = joint.range if joint.range is not None else (rest - 2.0, rest + 2.0)
    far = high if high - rest >= rest - low else low
    return rest + _SHARE * (far - rest)
