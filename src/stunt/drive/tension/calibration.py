"""Calibration: what a tension means, joint by joint.

As in the paper: the whole body is made very stiff but for one degree of freedom, which is held at some tension while
its end effector is pushed with 45 N, a firm push. How far it gives, against tension, is the joint's curve.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from stunt.character.character import Joint
from stunt.control.tension.units import Tension, joint_scales
from stunt.drive.tension.external_torques import ExternalTorques, Floats
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import EVERY, ByJoint, TensionPart
from stunt.errors import StuntError
from stunt.jobs.job import FAILURE, Job, Row, numbered
from stunt.jobs.pool import Machine
from stunt.jobs.run import machine_of
from stunt.motion.pose import Pose
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

FORCE: Final = 45.0
"""The push [N]."""
STIFF: Final = 1e5
"""Everything else [N·m/rad]."""
_WHO = "body"
_RUN: Final = "stunt.drive.tension.calibration:calibrated"
_SETTLE, _PUSH = 0.6, 1.6
_REACH = 0.05  # least lever of the push [m]
_TOUCH = math.radians(0.2)  # a joint that is set so far off and goes farther does not hold


@dataclass(frozen=True)
class JointCurve:
    """One joint's calibration.

    Attributes:
        joint: Its name.
        effector: The body that was pushed.
        relaxed: Stiffness of level 0 [N·m/rad].
        braced: Stiffness of level 1 [N·m/rad].
        least_stable: Below this gravity tips the joint over in the neutral pose [N·m/rad]; 0 where nothing does.
        worst_pull: How fast gravity's torque can grow in any pose [N·m/rad]; looser than this is unstable somewhere.
        tension: What was tried [N·m/rad].
        deflection_deg: How far each gave at most [deg].
        stable: Whether each held before the push.
    """

    joint: str
    effector: str
    relaxed: float
    braced: float
    least_stable: float
    worst_pull: float
    tension: tuple[float, ...]
    deflection_deg: tuple[float, ...]
    stable: tuple[bool, ...]

    def data(self) -> dict[str, Any]:
        """Return it as JSON-able data."""
        return asdict(self)


def calibrate_joint(body: str, joint: str, points: int = 10, force: float = FORCE) -> JointCurve:
    """Measure one hinge.

    Args:
        body: A built-in body, or the path of an MJCF file.
        joint: Its name.
        points: How many tensions to try.
        force: The push [N].
    """
    stage = StageLoop(_scene(body))
    character = stage.character(_WHO)
    known = character.joint(joint)
    scale = joint_scales(stage.model, character)[joint]
    weigher = ExternalTorques(stage.model)
    weigher.torques(stage.data.qpos)
    gradient = float(weigher.gradient(np.array([known.dof], np.int32))[0, 0])
    effector, direction = _effector(stage, known)
    lowest = 0.3 * scale.relaxed if gradient <= 0.0 else min(0.3 * scale.relaxed, 0.5 * gradient)
    tried = np.geomspace(lowest, 1.5 * scale.braced, points)
    found = [_give(body, joint, float(k), effector, force * direction) for k in tried]
    return JointCurve(
        joint=joint,
        effector=stage.model.body(effector).name.partition("/")[2],
        relaxed=scale.relaxed,
        braced=scale.braced,
        least_stable=max(gradient, 0.0),
        worst_pull=scale.pull,
        tension=tuple(float(k) for k in tried),
        deflection_deg=tuple(math.degrees(give) for give, _ in found),
        stable=tuple(stable for _, stable in found),
    )


def _scene(body: str) -> Scene:
    cast = {_WHO: CharacterSpec(body=body, self_collision=False)}
    return Scene(characters=cast, physics_hz=240.0, control_hz=240.0, ground=False)


def _effector(stage: StageLoop, joint: Joint) -> tuple[int, Floats]:
    """Return the outer body farthest off a joint's axis, and force and torque of a push that turns the joint, per N."""
    model, data = stage.model, stage.data
    best, reach, direction = int(model.jnt_bodyid[joint.id]), -1.0, np.zeros(3)
    for body in range(1, model.nbody):
        at, leaf = body, not np.any(model.body_parentid[body + 1 :] == body)
        while at > 0 and at != model.jnt_bodyid[joint.id]:
            at = int(model.body_parentid[at])
        turn = np.cross(data.xaxis[joint.id], data.xipos[body] - data.xanchor[joint.id])
        if at and leaf and float(np.linalg.norm(turn)) > reach:
            best, reach, direction = body, float(np.linalg.norm(turn)), turn
    if reach >= _REACH:
        return best, np.array([*(direction / reach), 0.0, 0.0, 0.0])
    # Nothing lies off the axis of a straight forearm: the push is at the edge of the hand.
    return best, np.array([0.0, 0.0, 0.0, *(_REACH * data.xaxis[joint.id])])


def _give(body: str, joint: str, tension: float, effector: int, force: Floats) -> tuple[float, bool]:
    """Return how far a joint gives [rad], and whether it held before."""
    stage = StageLoop(_scene(body))
    stage.board.limit[:] = np.inf  # the curve is the spring's; strength would bend it
    part = TensionPart(
        tension=ByJoint({EVERY: Tension(STIFF, "stiffness")}), damping=ByJoint({EVERY: 1.0}), steady=False
    )
    performer = TensionPerformer(stage, _WHO, part)
    known = performer.character.joints[joint]
    here = float(stage.data.qpos[known.qpos])
    performer.play(
        Pose("", {joint: here}), lasts=0.01, tension=Tension(tension, "stiffness"),
        update=ByJoint({joint: "prediction"}), start="recalculated", path="constant",
    )  # fmt: skip
    stage.step(0.02)
    stable = _holds(stage, known, here)
    stage.data.xfrc_applied[effector] = force
    most = 0.0
    for _ in range(round(_PUSH / 0.02)):
        stage.step(0.02)
        most = max(most, abs(float(stage.data.qpos[known.qpos]) - here))
    return most, stable


def _holds(stage: StageLoop, joint: Joint, here: float) -> bool:
    """Whether a joint that is set a little off comes back, or tips over."""
    before = stage.save()
    stage.data.qpos[joint.qpos] = here + _TOUCH
    stage.data.qvel[:] = 0.0
    stage.step(_SETTLE)
    back = abs(float(stage.data.qpos[joint.qpos]) - here) < _TOUCH
    stage.restore(before)
    return back


def calibrate(
    body: str,
    joints: Sequence[str] | None = None,
    *,
    points: int = 10,
    workers: int | None = None,
    ray: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[JointCurve]:
    """Calibrate a body, joints in parallel.

    Args:
        body: Which.
        joints: Which of its joints; None is every hinge.
        points: Tensions per joint.
        workers: How many processes; None: one per core; 0: this one.
        ray: The address of a Ray cluster, or `local`; empty: none.
        progress: Called with how many are done, of how many.

    Raises:
        UnknownNameError: There is no such body or joint.
    """
    character = StageLoop(_scene(body)).character(_WHO)
    names = [n for n, j in character.joints.items() if j.kind == "hinge"] if joints is None else list(joints)
    for name in names:
        character.joint(name)
    done: dict[str, JointCurve] = {}
    for curve in _measured(body, names, points, machine_of(workers, ray)):
        done[curve.joint] = curve
        if progress is not None:
            progress(len(done), len(names))
    return [done[name] for name in names]


def _measured(body: str, names: list[str], points: int, machine: Machine) -> Iterator[JointCurve]:
    jobs = numbered(Job(_RUN, {"body": body, "joint": name, "points": points}) for name in names)
    with closing(machine):
        for done in machine.run(jobs):
            if done.failed:
                raise StuntError(f"'{names[done.index]}' could not be calibrated: {done.row[FAILURE]}")
            found = json.loads(done.row["curve"])
            values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
            yield JointCurve(**values)


def calibrated(job: Job) -> Row:
    """Calibrate one joint as a job: `body`, `joint` and `points`; its row holds the curve as JSON."""
    told = job.arguments
    return {"curve": json.dumps(asdict(calibrate_joint(told["body"], told["joint"], told["points"])))}
