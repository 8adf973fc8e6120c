"""Low tension found out before the run: joints that gravity would tip over, and tensions that springs cannot have.

A joint whose gains were predicted holds against the external torque of its angle. If that torque grows faster with the
angle than the springs do, the least touch tips the limb over: the stiffness matrix K − ∂F/∂θ must be positive definite.
Joints whose gains are sampled follow the torque and have nothing to fear.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stunt.character.character import Joint
from stunt.control.tension.law import ball_room, least_tension
from stunt.drive.tension.external_torques import Load
from stunt.drive.tension.spec import Cue, Floats, Span, TensionPose
from stunt.drive.tension.stability import STEADY, unstable_joints
from stunt.motion.pose import Pose
from stunt.stage.event_specs import Attach, Release

if TYPE_CHECKING:
    from stunt.drive.tension.performer import TensionPerformer


_MOST_CUES = 300
_NO_POSE = Pose("", {})


@dataclass(frozen=True)
class Finding:
    """A tension that will not do.

    Attributes:
        kind: `unstable`: gravity would tip it over, `raised`: springs would have to push; then it will be raised.
        joint: Which joint.
        pose: In which pose.
        time: When [s].
        tension: What it has [N·m/rad].
        least: What it needs [N·m/rad].
        steady: Whether it will be given that where it is unstable.
    """

    kind: str
    joint: str
    pose: str
    time: float
    tension: float
    least: float
    steady: bool = True

    def sentence(self, character: str) -> str:
        """Return it as a person would say it."""
        where = f"{character}: at {self.time:.2f} s in pose '{self.pose}' joint '{self.joint}'"
        if self.kind == "unstable":
            return (
                f"{where} is too loose: with {self.tension:.3g} N·m/rad gravity tips it over. "
                f"It is stable from {self.least:.3g} N·m/rad on"
                + (f", and will have {STEADY * self.least:.3g}." if self.steady else ".")
            )
        return (
            f"{where} cannot be as loose as {self.tension:.3g} N·m/rad: its springs would have to push. "
            f"It will have {self.least:.3g} N·m/rad."
        )


def foresee(performer: TensionPerformer, cues: list[Cue]) -> list[Finding]:
    """Look at every pose of a part before it is played.

    Args:
        performer: Whose.
        cues: Its transitions in order.
    """
    findings: dict[tuple[str, str, str], Finding] = {}
    held: dict[str, tuple[float, TensionPose | None]] = {}
    for name in performer.character.joints:
        tension = performer.part.tension.of(name)
        if tension is not None:
            held[name] = performer.scales[name].stiffness(tension), None
    _look(performer, "start", performer.since, held, findings)
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
    state = performer._expected(time)
    force = performer._weigher.torques(state, expected_loads(performer, time))
    tension = {name: stiffness for name, (stiffness, _) in held.items()}
    for name, (stiffness, entry) in held.items():
        if entry is not None and not entry.compensate.of(name, True):
            continue
        least = _least(performer, performer.character.joints[name], state, force)
        if stiffness < least * (1.0 - 1e-6):
            _keep(findings, Finding("raised", name, pose, time, stiffness, least))
            tension[name] = least
    predicted = [name for name in held if _is_predicted(performer, name, held[name][1])]
    if predicted:
        joints = [performer.character.joints[name] for name in predicted]
        dofs = [joint.dof + k for joint in joints for k in range(joint.nv)]
        owner = [number for number, joint in enumerate(joints) for _ in range(joint.nv)]
        stiffness_of = np.array([tension[predicted[number]] for number in owner])
        for number, least in unstable_joints(stiffness_of, performer._weigher.gradient(dofs), owner):
            _keep(
                findings,
                Finding(
                    "unstable", predicted[number], pose, time, tension[predicted[number]], least, performer.part.steady
                ),
            )


def _least(performer: TensionPerformer, joint: Joint, state: Floats, force: Floats) -> float:
    """Return the least tension with which springs that only pull hold a joint in a state [N·m/rad]."""
    row, own = performer.program.rows[joint.dof], force[joint.dof : joint.dof + joint.nv]
    if joint.nv == 1:
        return float(least_tension(own[0], state[joint.qpos], row["low"], row["high"]))
    turn = 2.0 * math.acos(min(1.0, abs(float(state[joint.qpos]))))
    return float(np.linalg.norm(own) / ball_room(row["high"], turn))


def expected_loads(performer: TensionPerformer, time: float) -> list[Load]:
    """Return what a character will carry at a time, as far as its scene says: taken where thing and hand are then."""
    stage, own = performer.stage, performer.character.name
    carried: dict[str, Load] = {}
    for event in sorted((e for e in stage.scene.events if isinstance(e, Attach | Release)), key=lambda e: e.at):
        if event.at > time + 1e-9:
            break
        carried.pop(event.prop, None)
        if isinstance(event, Attach) and event.to.partition("/")[0] == own:
            carried[event.prop] = _expected_load(performer, event)
    return list(carried.values())


def _expected_load(performer: TensionPerformer, event: Attach) -> Load:
    stage = performer.stage
    holder = performer.character.bodies[event.to.partition("/")[2]]
    prop = stage.built.props[event.prop]
    point = performer._weigher.local(performer._expected(event.at), holder, performer.stood[1][prop.body])
    return Load(holder, point, performer._believed[prop.grip][1])


def _is_predicted(performer: TensionPerformer, name: str, entry: TensionPose | None) -> bool:
    if entry is None:
        return performer._update(name, TensionPose(_NO_POSE)) == "prediction"
    return performer._update(name, entry) == "prediction" and bool(entry.compensate.of(name, True))


def _keep(findings: dict[tuple[str, str, str], Finding], finding: Finding) -> None:
    findings.setdefault((finding.kind, finding.joint, finding.pose), finding)
