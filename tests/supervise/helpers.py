"""Small stages for the supervisor's tests, and what is measured on them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stunt.library.names import OWN_CLIPS, load_clip
from stunt.stage.event_specs import Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import RUNNING, BaseController
from stunt.supervise.data.clip import ClipController, clip_player
from stunt.supervise.supervisor import Supervisor

BODY = str(OWN_CLIPS / "walk.bvh")
LOOPS = ("idle", "walk")


def make_stage(
    names=("ada",), props: dict[str, PropSpec] | None = None, hz: float = 120.0, **options: Any
) -> StageLoop:
    characters = {
        name: CharacterSpec(body=BODY, root="free", strength=1.5, at=(0.0, 1.5 * k, 0.0))
        for k, name in enumerate(names)
    }
    return StageLoop(Scene(characters=characters, physics_hz=hz, control_hz=hz, props=props or {}, **options))


def player(stage: StageLoop, clip: str, name: str = "ada", **options: Any) -> ClipController:
    options.setdefault("loop", clip in LOOPS)
    return clip_player(stage, name, load_clip(clip), **options)


def ball_thrown(mass: float = 2.0, target: str = "ada/thorax", at: float = 0.8, hits_at: float = 1.2, **where: Any):
    """A ball, and the throw that sends it."""
    spec = PropSpec(shape="sphere", radius=0.11, mass=mass, at=where.pop("origin", (3.0, 0.5, 1.2)))
    return {"ball": spec}, Throw(prop="ball", target=target, at=at, hits_at=hits_at, **where)


def walker(mass: float = 4.0, *, walk: bool = False, hz: float = 120.0, **throw: Any) -> tuple[StageLoop, Supervisor]:
    props, thrown = ball_thrown(mass, **throw)
    stage = make_stage(props=props, hz=hz)
    happenings = EventCrew(stage, [thrown])
    stage.crew.append(happenings)
    pool = [player(stage, "walk"), player(stage, "idle")] if walk else [player(stage, "idle"), player(stage, "walk")]
    return stage, Supervisor(stage, "ada", pool)


def momentum(stage: StageLoop, name: str = "ada") -> np.ndarray:
    """Linear momentum [kg·m/s] and angular momentum about the centre of mass [kg·m²/s], (6,)."""
    data = mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(stage.model, data)
    mujoco.mj_subtreeVel(stage.model, data)
    character = stage.character(name)
    body = character.root_body
    return np.concatenate([character.mass * data.subtree_linvel[body], data.subtree_angmom[body]])


def outer_impulse(stage: StageLoop, name: str = "ada") -> np.ndarray:
    """What gravity, contacts and the root spring gave in the last step, about the centre of mass, (6,)."""
    character, data, h = stage.character(name), stage.data, stage.step_time
    root = character.root
    force = data.qfrc_constraint[root.dof : root.dof + 6] + data.qfrc_applied[root.dof : root.dof + 6]
    turn = data.xmat[character.root_body].reshape(3, 3)  # as of the beginning of the step, as the forces are
    lever = data.xpos[character.root_body] - data.subtree_com[character.root_body]
    torque = turn @ force[3:] + np.cross(lever, force[:3])
    return h * np.concatenate([force[:3] + character.mass * stage.model.opt.gravity, torque])


def joint_angles_between(stage: StageLoop, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """How far each joint turned between two states of the whole scene [rad]."""
    out = np.zeros(stage.model.nv)
    mujoco.mj_differentiatePos(stage.model, out, 1.0, one, two)
    joints = stage.character("ada").joints.values()
    return np.array([np.linalg.norm(out[j.dof : j.dof + j.nv]) for j in joints])


def slide(track: list[dict[str, np.ndarray]]) -> float:
    """How far a standing foot travelled over the ground, the worse of both [m].

    A foot stands on whichever of heel and toe is low; rolling over one of them is no sliding. How low that is says the
    foot that got lowest: one that is only on its way down does not stand.
    """
    worst = 0.0
    lowest = {part: min(frame[side + part][2] for frame in track for side in ("l_", "r_")) for part in ("foot", "toe")}
    for side in ("l_", "r_"):
        total = 0.0
        parts = (f"{side}foot", f"{side}toe")
        low = {part: lowest[part[2:]] for part in parts}
        for before, after in zip(track[:-1], track[1:], strict=True):
            standing = [p for p in parts if max(before[p][2], after[p][2]) < low[p] + 0.012]
            if standing:
                total += min(float(np.linalg.norm((after[p] - before[p])[:2])) for p in standing)
        worst = max(worst, total)
    return worst


def feet(stage: StageLoop, name: str = "ada") -> dict[str, np.ndarray]:
    data = mujoco.MjData(stage.model)
    data.qpos[:] = stage.data.qpos
    mujoco.mj_kinematics(stage.model, data)
    bodies = stage.character(name).bodies
    return {part: data.xpos[bodies[part]].copy() for part in ("l_foot", "l_toe", "r_foot", "r_toe")}


class Stand(BaseController):
    """Holds whatever pose the body has."""

    def __init__(self, name: str = "stand", **facts: Any) -> None:
        super().__init__(name)
        for key, value in facts.items():
            setattr(self, key, value)

    def start(self, now, actor, bid):
        actor.aim(now.qpos, over=0.0)

    def step(self, now, actor):
        return RUNNING
