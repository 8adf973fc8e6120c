"""Low tension found out before the run: joints that gravity would tip over, and tensions that springs cannot have.

A joint whose gains were predicted holds against the external torque of its angle. If that torque grows faster with the
angle than the springs do, the least touch tips the limb over: the stiffness matrix K − ∂F/∂θ must be positive definite.
Joints whose gains are sampled follow the torque and have nothing to fear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stunt.control import antagonist_layout as at
from stunt.control.antagonist import least_tension
from stunt.direction.tension_plan import Floats
from stunt.direction.tension_script import Cue, Span, TensionPose
from stunt.motion.pose import Pose

if TYPE_CHECKING:
    from stunt.direction.tension_performer import TensionPerformer

_MOST_CUES = 300
_NO_POSE = Pose("", {})


@dataclass(frozen=True)
class Finding:
    """A tension that will not do.

    Attributes:
        kind: `unstable`: gravity tips it over. `raised`: springs would have to push, so it will be raised.
        joint: Which joint.
        pose: In which pose.
        time: When [s].
        tension: What it has [N·m/rad].
        least: What it needs [N·m/rad].
    """

    kind: str
    joint: str
    pose: str
    time: float
    tension: float
    least: float

    def sentence(self, character: str) -> str:
        """Return it as a person would say it."""
        where = f"{character}: at {self.time:.2f} s in pose '{self.pose}' joint '{self.joint}'"
        if self.kind == "unstable":
            return (
                f"{where} is too loose: with {self.tension:.3g} N·m/rad gravity tips it over; "
                f"it is stable from {self.least:.3g} N·m/rad on."
            )
        return (
            f"{where} cannot be as loose as {self.tension:.3g} N·m/rad: its springs would have to push. "
            f"It will have {self.least:.3g} N·m/rad."
        )


def least_stable(tension: Floats, gradient: Floats, index: int) -> float:
    """Return the least stiffness of one joint that keeps all upright, the others' given [N·m/rad].

    The Schur complement of K − ∂F/∂θ; infinite where the others fall over without it.
    """
    others = [k for k in range(len(tension)) if k != index]
    matrix = np.diag(tension) - gradient
    if not others:
        return float(gradient[index, index])
    rest = matrix[np.ix_(others, others)]
    if np.linalg.eigvalsh(rest)[0] <= 0.0:
        return float("inf")
    row = matrix[index, others]
    return float(gradient[index, index] + row @ np.linalg.solve(rest, row))


def unstable_joints(tension: Floats, gradient: Floats) -> list[tuple[int, float]]:
    """Return the joints that must be tightened for K − ∂F/∂θ to be positive definite, and their least stiffness.

    The joint that moves most in the softest mode is tightened first, then the next, until nothing falls.
    """
    tension, found = tension.copy(), dict[int, float]()
    for _ in range(4 * len(tension)):
        values, vectors = np.linalg.eigh(np.diag(tension) - gradient)
        if values[0] > 0.0:
            break
        index = int(np.argmax(vectors[:, 0] ** 2 * np.maximum(np.diag(gradient), 1e-9)))
        least = least_stable(tension, gradient, index)
        if not np.isfinite(least):
            least = max(1.25 * tension[index], gradient[index, index]) + 1e-3
        tension[index] = found[index] = 1.001 * least
    return list(found.items())


def foresee(performer: TensionPerformer, cues: list[Cue]) -> list[Finding]:
    """Look at every pose of a part before it is played.

    Args:
        performer: Whose; on the stage, nothing played yet.
        cues: Its transitions in order.
    """
    findings: dict[tuple[str, str, str], Finding] = {}
    held: dict[str, tuple[float, TensionPose | None]] = {}
    for name in performer.character.joints:
        tension = performer.part.tension.of(name)
        if tension is not None:
            held[name] = performer.scales[name].stiffness(tension), None
    _look(performer, "start", performer.stage.time, held, findings)
    coming = list(cues[:_MOST_CUES])
    for cue in sorted(coming, key=lambda each: each.end):
        while coming and coming[0].start < cue.end - 1e-9:
            _retense(performer, held, coming.pop(0).entry)
        _look(performer, cue.entry.pose.name, cue.end, held, findings)
    return list(findings.values())


def _retense(
    performer: TensionPerformer, held: dict[str, tuple[float, TensionPose | None]], entry: TensionPose
) -> None:
    """Note the tensions a pose leads to."""
    for name in entry.pose.angles:
        span: Span | None = entry.tension.of(name)
        before = held[name][0] if name in held else None
        held[name] = performer._tensions(name, span, before)[1], entry


def _look(
    performer: TensionPerformer, pose: str, time: float, held: Mapping[str, tuple[float, TensionPose | None]],
    findings: dict[tuple[str, str, str], Finding],
) -> None:  # fmt: skip
    """Note what is too loose in the state expected at a time."""
    state = np.array(performer.stage.data.qpos)
    for name, joint in performer.character.joints.items():
        state[joint.qpos : joint.qpos + joint.nq] = performer.plan.at(name, time)
    force = performer._weigher.torques(state)
    tension = {name: stiffness for name, (stiffness, _) in held.items()}
    for name, (stiffness, entry) in held.items():
        joint = performer.character.joints[name]
        row = performer.program.rows[joint.dof]
        if joint.nv != 1 or (entry is not None and not entry.compensate.of(name, True)):
            continue
        least = least_tension(force[joint.dof], state[joint.qpos], row[at.LOW], row[at.HIGH])
        if stiffness < least * (1.0 - 1e-6):
            _keep(findings, Finding("raised", name, pose, time, stiffness, float(least)))
            tension[name] = float(least)
    predicted = [name for name in held if _is_predicted(performer, name, held[name][1])]
    if predicted:
        dofs = np.array([performer.character.joints[name].dof for name in predicted], np.int32)
        stiffness_of = np.array([tension[name] for name in predicted])
        for k, least in unstable_joints(stiffness_of, performer._weigher.gradient(dofs)):
            _keep(findings, Finding("unstable", predicted[k], pose, time, tension[predicted[k]], least))


def _is_predicted(performer: TensionPerformer, name: str, entry: TensionPose | None) -> bool:
    if performer.character.joints[name].nv != 1:
        return False
    if entry is None:
        return performer._update(name, TensionPose(_NO_POSE)) == "prediction"
    return performer._update(name, entry) == "prediction" and bool(entry.compensate.of(name, True))


def _keep(findings: dict[tuple[str, str, str], Finding], finding: Finding) -> None:
    findings.setdefault((finding.kind, finding.joint, finding.pose), finding)
