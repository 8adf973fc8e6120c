"""Jobs of the claims that are not about clips: beats by several laws, and trajectories under a load nobody knows of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import mujoco
import numpy as np

from papers.p0.constant_pd import perform_constant_pd
from papers.p0.inertia import joint_moments
from papers.random_script import random_script
from papers.runs import mean_error_deg
from papers.variations import with_part, with_rate
from stunt.control.core.board import IMPEDANCE
from stunt.drive.paths.follower import Follower
from stunt.errors import UnknownNameError
from stunt.jobs.job import Job, Row
from stunt.maths.rotations import Floats
from stunt.motion.trajectory import Trajectory
from stunt.play.stage import Stage
from stunt.script.performance import Performance
from stunt.stage.event_specs import Attach
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

MISSED: Final = 1.0
"""A beat is missed by whoever is farther off than this [°]."""
CONSTANT: Final = "constant"
COUPLINGS: Final = ("full", "compensated", "composite", "local")
_BEATS, _SPREAD, _RATE = 6, 0.3, 120.0

WHO, LOAD, HAND = "ada", "load", "r_hand"
DRIVEN: Final = {"r_shoulder_flexion": (20.0, 70.0), "r_elbow_flexion": (30.0, 100.0)}
"""Joints that move, and between which angles [°]."""
SETTLING: Final = 0.2
"""Of both laws [s]."""
_SECONDS, _SETTLED = 4.0, 1.0
_TIME_CONSTANTS = 4.0
"""In a settling time an exponential of so many time constants decays to 2 %."""


def beats(job: Job) -> Row:
    """Play a random script by one law.

    Arguments of the job: `setting` (a coupling, or `constant`: gains tuned for the first pose) and `seed`.
    """
    law, seed = str(job.arguments["setting"]), int(job.arguments["seed"])
    if law not in (*COUPLINGS, CONSTANT):
        raise UnknownNameError("law", law, (*COUPLINGS, CONSTANT))
    script = with_rate(random_script(np.random.default_rng(seed), beats=_BEATS, spread=_SPREAD), _RATE)
    if law == CONSTANT:
        played = perform_constant_pd(script)
    else:
        (name,) = script.parts
        played = Performance(with_part(script, name, coupling=law), foretell=False)
        played.run()
    (performer,) = played.performers.values()
    errors = np.array([result.error_deg for result in performer.results])
    used = played.stage.board.saturated_steps[performer.character.dofs] / played.stage.tick
    return {
        "beat_error_deg": mean_error_deg(performer.results),
        "missed_share": float((errors > MISSED).mean()),
        "at_limit_share": float(used.mean()),
    }


def carried(job: Job) -> Row:
    """Let an arm follow a trajectory with a load in its hand that the law does not know of.

    Arguments of the job: `setting` (`adaptive` or `pd`), `load` [kg] and `seed` (of the trajectory).
    """
    law, load, seed = str(job.arguments["setting"]), float(job.arguments["load"]), int(job.arguments["seed"])
    if law not in LAWS:
        raise UnknownNameError("law", law, LAWS)
    paths = _paths(np.random.default_rng(seed))
    stage = _stage({name: path.at(0.0) for name, path in paths.items()}, load)
    LAWS[law](stage, paths)
    character, off = stage.character(WHO), list[Floats]()
    while stage.time < _SECONDS:
        stage.advance(stage.tick_of(1.0 / 60.0))
        here = np.array([stage.data.qpos[character.joints[name].qpos] for name in paths])
        off.append(np.degrees(here - [path.at(stage.time) for path in paths.values()]))
    errors = np.array(off)[round(_SETTLED * 60.0) :]  # after it has got used to what it holds
    return {
        "error_deg_rms": float(np.sqrt((errors**2).mean())),
        "error_deg_worst": float(np.abs(errors).max()),
        "sag_deg": float(np.abs(errors.mean(axis=0)).max()),
    }


class _Wave:
    """A smooth random way of one joint: two sines within limits."""

    def __init__(self, rng: np.random.Generator, low: float, high: float) -> None:
        self._middle, half = math.radians((low + high) / 2.0), math.radians((high - low) / 2.0)
        share = rng.uniform(0.3, 0.7)
        self._sizes = half * np.array([share, 1.0 - share])
        self._speeds = 2.0 * math.pi * rng.uniform(0.2, 0.8, 2)  # [rad/s]
        self._phases = rng.uniform(0.0, 2.0 * math.pi, 2)

    def at(self, time: float) -> float:
        """Return the angle [rad]."""
        return float(self._middle + self._sizes @ np.sin(self._speeds * time + self._phases))

    def velocity(self, time: float) -> float:
        """Return its rate [rad/s]."""
        return float((self._sizes * self._speeds) @ np.cos(self._speeds * time + self._phases))


def _paths(rng: np.random.Generator) -> dict[str, _Wave]:
    return {name: _Wave(rng, *limits) for name, limits in DRIVEN.items()}


def _stage(start: Mapping[str, float], load: float) -> Stage:
    """Build a stage with a body in its first pose and, where it weighs something, a load in its hand."""
    body = CharacterSpec("human39", at=(0.0, 0.0, 0.3), start=dict(start))
    scene = Scene({WHO: body}, physics_hz=_RATE * 4, control_hz=_RATE * 4)
    if load <= 0.0:
        return Stage(scene, record=False)
    empty = Stage(scene, record=False)
    mujoco.mj_forward(empty.model, empty.data)
    hand = empty.data.xpos[empty.character(WHO).body(HAND)]
    at = float(hand[0]), float(hand[1]), float(hand[2]) - 0.15
    weight = PropSpec("sphere", at=at, radius=0.05, mass=load, believed_mass=0.0, active=False)  # nobody knows
    return Stage(replace(scene, props={LOAD: weight}, events=(Attach(LOAD, f"{WHO}/{HAND}"),)), record=False)


def _adaptive(stage: Stage, paths: Mapping[str, _Wave]) -> None:
    """Follow by P1's adaptive law; all other joints are held by it where they are."""
    follower = Follower(stage, WHO)
    for name, joint in follower.character.joints.items():
        held = Trajectory.through([0.0], [float(stage.data.qpos[joint.qpos])])
        path = Trajectory.of(paths[name].at) if name in paths else held
        follower.joint(name, path, settling=SETTLING)


class _PD:
    """A servo of constant gains on moving targets: tuned for the empty hand, gravity of the body fed forward."""

    def __init__(self, stage: Stage, paths: Mapping[str, _Wave]) -> None:
        self._stage, self._paths = stage, paths
        self._joints = stage.character(WHO).joints
        rate = _TIME_CONSTANTS / SETTLING
        moments = joint_moments(stage.model, stage.data)
        for joint in self._joints.values():
            dofs = slice(joint.dof, joint.dof + joint.nv)
            stage.board.law[joint.id] = IMPEDANCE
            stage.board.stiffness[dofs] = moments[dofs] * rate**2
            stage.board.damping[dofs] = 2.0 * moments[dofs] * rate
            stage.board.rest[joint.qpos] = stage.data.qpos[joint.qpos]
        self._stride = max(1, round(stage.control_period / stage.step_time))
        self._last = -1
        stage.crew.append(self)

    def due(self) -> int:
        """Return the next control step."""
        return 0 if self._last < 0 else self._last + self._stride

    def act(self) -> None:
        """Move the targets: where the joints should be, and how fast."""
        self._last = self._stage.tick
        board, time = self._stage.board, self._stage.time
        for name, path in self._paths.items():
            joint = self._joints[name]
            board.rest[joint.qpos] = path.at(time)
            board.feed_forward[joint.dof] = board.damping[joint.dof] * path.velocity(time)

    def save(self) -> Any:
        """Return when it acted last."""
        return self._last

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._last = state


LAWS: Final = {"adaptive": _adaptive, "pd": _PD}
"""Laws that follow trajectories."""
