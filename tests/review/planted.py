"""Takes with a fault planted in them, each as a director would see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import stunt
import stunt.examples
from stunt.maths import rotations
from stunt.record.cast import cast_of
from stunt.record.take import Take
from stunt.review.filmed import WHO, take_of_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

IDLE = Path(stunt.examples.__file__).parent / "clips" / "idle.bvh"
SECONDS, FPS = 4.0, 60.0
TIME = np.arange(round(SECONDS * FPS) + 1) / FPS


@cache
def standing() -> Take:
    """Somebody who stands, arms hanging, and breathes: nothing to find."""
    base = take_of_clip(stunt.load_clip("idle"))
    count = len(TIME)
    qpos = np.tile(base.qpos[0], (count, 1))
    blank = np.zeros((count, base.qvel.shape[1]))
    take = replace(
        base, time=TIME.copy(), qpos=qpos, qvel=blank, target=qpos, target_velocity=blank, torque=blank,
        stiffness=blank, damping=blank, saturated=blank.astype(bool), assistance=np.zeros((count, 1, 6)),
    )  # fmt: skip
    sway = np.sin(2.0 * np.pi * TIME / 3.0)
    for part, degrees in (("l_forearm", 12.0), ("r_forearm", 5.0), ("l_hand", 6.0), ("r_hand", 5.0)):
        take = turned(take, part, (0.0, np.radians(degrees), 0.0), sway)
    return take


def turned(take: Take, part: str, by: tuple[float, float, float], share: np.ndarray) -> Take:
    """Turn a part's joint by a rotation vector [rad], times a share in each frame."""
    qpos = take.qpos.copy()
    model = take.model()
    body = model.body(f"{WHO}/{part}")
    for joint in range(int(body.jntadr[0]), int(body.jntadr[0]) + int(body.jntnum[0])):
        where = int(model.jnt_qposadr[joint])
        if model.jnt_type[joint] == 1:  # a ball
            more = rotations.from_rotation_vector(np.asarray(by) * share[:, None])
            qpos[:, where : where + 4] = rotations.multiply(qpos[:, where : where + 4], more)
        else:
            axis = model.jnt_axis[joint]
            qpos[:, where] += share * float(np.asarray(by) @ axis)
    return replace(take, qpos=qpos)


def moved(take: Take, way: np.ndarray) -> Take:
    """Move the whole body along a way [m], (T, 3)."""
    qpos = take.qpos.copy()
    qpos[:, :3] += way
    return replace(take, qpos=qpos)


def during(start: float, end: float) -> np.ndarray:
    """Return 1 between two times, 0 elsewhere, (T,)."""
    return ((TIME >= start) & (TIME < end)).astype(float)


def eased(start: float, end: float) -> np.ndarray:
    """Return what goes from 0 to 1 between two times, (T,)."""
    x = np.clip((TIME - start) / (end - start), 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def arm_through_trunk() -> Take:
    """An upper arm that swings into the chest."""
    return turned(standing(), "l_upper_arm", (np.radians(-50.0), 0.0, 0.0), eased(1.0, 2.0))


def leg_through_leg() -> Take:
    """A thigh that swings into the other leg."""
    return turned(standing(), "l_thigh", (np.radians(-35.0), 0.0, 0.0), eased(1.0, 2.0))


def sunk() -> Take:
    """Somebody who sinks a foot deep into the ground."""
    return moved(standing(), np.outer(eased(1.0, 2.0), [0.0, 0.0, -0.2]))


def hovering() -> Take:
    """Somebody who floats away for a second and a half."""
    return moved(standing(), np.outer(eased(1.0, 1.5) - eased(3.0, 3.5), [0.0, 0.0, 0.3]))


def skating() -> Take:
    """Somebody who is drawn along without a step."""
    return moved(standing(), np.outer(TIME, [0.5, 0.0, 0.0]))


def snapping(part: str, degrees: float) -> Callable[[], Take]:
    """Return who snaps a joint from one frame to the next."""
    return lambda: turned(standing(), part, (0.0, np.radians(degrees), 0.0), during(1.5, 9.0))


def mirrored() -> Take:
    """Knees, hips and elbows of both sides that do exactly the same."""
    base = standing()
    qpos = np.tile(take_of_clip(stunt.load_clip("idle")).model().qpos0, (len(TIME), 1))
    take = replace(base, qpos=qpos)
    bend = np.sin(np.pi * TIME / SECONDS) ** 2
    for side in "lr":
        take = turned(take, f"{side}_thigh", (0.0, np.radians(-40.0), 0.0), bend)
        take = turned(take, f"{side}_shank", (0.0, np.radians(80.0), 0.0), bend)
        take = turned(take, f"{side}_forearm", (0.0, np.radians(-60.0), 0.0), bend)
        take = turned(take, f"{side}_hand", (0.0, np.radians(-20.0), 0.0), bend)
    return take


def stiff_wrists() -> Take:
    """Arms that wave with hands like boards."""
    base = standing()
    take = replace(base, qpos=np.tile(base.qpos[:1], (len(TIME), 1)))
    wave = np.sin(2.0 * np.pi * TIME / 2.0)
    for side, degrees in (("l", 30.0), ("r", 45.0)):
        take = turned(take, f"{side}_forearm", (0.0, np.radians(-degrees), 0.0), 1.0 + wave)
    return take


def plank() -> Take:
    """Somebody who topples forward over the toes like a board, under gravity, and lies."""
    base = standing()
    take = replace(base, qpos=np.tile(base.qpos[:1], (len(TIME), 1)))
    angle, spin, tilts = 0.02, 0.0, []
    for time in TIME:
        tilts.append(angle)
        if time > 0.5 and angle < np.radians(88.0):
            spin += 1.3 * 9.81 * np.sin(angle) / FPS
            angle = min(angle + spin / FPS, np.radians(88.0))
    turn = rotations.from_rotation_vector(np.outer(tilts, [0.0, 1.0, 0.0]))
    pivot = take.qpos[:, :3] * [1.0, 1.0, 0.0] + [0.08, 0.0, 0.0]
    qpos = take.qpos.copy()
    qpos[:, :3] = pivot + rotations.rotate(turn, take.qpos[:, :3] - pivot)
    qpos[:, 3:7] = rotations.multiply(turn, take.qpos[:, 3:7])
    return replace(take, qpos=qpos)


def one_in_another() -> Take:
    """Two people in nearly the same place."""
    clip = stunt.load_clip("idle")
    stage = StageLoop(Scene({name: CharacterSpec(clip, root="free") for name in (WHO, "other")}))
    alone, count = standing(), len(TIME)
    qpos = np.tile(stage.data.qpos, (count, 1))
    for name, aside in ((WHO, 0.0), ("other", 0.1)):
        first = stage.character(name).root.qpos
        qpos[:, first : first + alone.qpos.shape[1]] = alone.qpos
        qpos[:, first + 1] += aside
    blank, stored = np.zeros((count, stage.model.nv)), np.zeros(0, np.uint8)
    stored = _stored(stage)
    return replace(
        alone, qpos=qpos, qvel=blank, target=qpos, target_velocity=blank, torque=blank, stiffness=blank,
        damping=blank, saturated=blank.astype(bool), assistance=np.zeros((count, 2, 6)), model_bytes=stored,
        cast=cast_of(stage.built),
    )  # fmt: skip


def _stored(stage: StageLoop) -> np.ndarray:
    import mujoco

    stored = np.zeros(mujoco.mj_sizeModel(stage.model), np.uint8)
    mujoco.mj_saveModel(stage.model, None, stored)
    return stored


@cache
def performed() -> Take:
    """Somebody who follows a clip by forces."""
    moves = {"ada": {"clips": {"play": [{"clip": "idle"}]}}}
    data = {
        "characters": {"ada": {"body": str(IDLE), "root": "free"}},
        "performance": moves,
        "seconds": 2.0,
        "rate": 120,
    }
    return stunt.perform(stunt.script_from_data(data))


def on_a_crate() -> Take:
    """Somebody who stands on a crate."""
    data = {
        "characters": {"ada": {"body": str(IDLE), "root": "free", "at": [0.0, 0.0, 0.3]}},
        "props": {"crate": {"shape": "box", "size": [1.0, 1.0, 0.3], "at": [0.0, 0.0, 0.15]}},
        "performance": {"ada": {"clips": {"play": [{"clip": "idle"}]}}},
        "seconds": 1.0,
        "rate": 120,
    }
    return stunt.perform(stunt.script_from_data(data))


def carried_by_nobody() -> Take:
    """The same, with half of its weight hung on a hook."""
    take = performed()
    help_ = take.assistance.copy()
    help_[1:, 0, 2] += 0.5 * 9.81 * take.cast.character("ada").mass
    return replace(take, assistance=help_, contact_force=0.5 * take.contact_force)


def too_strong() -> Take:
    """The same, with joints that give more than they have."""
    return replace(performed(), torque=10.0 * performed().torque + 100.0)


def missed_throw() -> Take:
    """A throw that passes at half a metre."""
    event = {"time": 0.2, "kind": "throw", "prop": "ball", "target": f"{WHO}/head", "speed": 5.0}
    take = _with_ball(standing(), np.array([3.0, 0.5, 1.6]), np.array([-3.0, 0.0, 0.0]), 0.2)
    return replace(take, events=[{**event, "hits_at": 1.2, "aim": [0.0, 0.0, 1.6]}])


def _with_ball(take: Take, start: np.ndarray, velocity: np.ndarray, at: float) -> Take:
    clip = stunt.load_clip("idle")
    ball = stunt.PropSpec("sphere", (3.0, 0.5, 1.6), radius=0.1, mass=0.5)
    stage = StageLoop(Scene({WHO: CharacterSpec(clip, root="free")}, props={"ball": ball}))
    qpos = np.tile(stage.data.qpos, (len(TIME), 1))
    first, where = stage.character(WHO).root.qpos, stage.prop("ball").qpos
    qpos[:, first : first + take.qpos.shape[1]] = take.qpos
    qpos[:, where : where + 3] = start + np.outer(np.maximum(TIME - at, 0.0), velocity)
    blank = np.zeros((len(TIME), stage.model.nv))
    return replace(
        take, qpos=qpos, qvel=blank, target=qpos, target_velocity=blank, torque=blank, stiffness=blank, damping=blank,
        saturated=blank.astype(bool), model_bytes=_stored(stage), cast=cast_of(stage.built),
    )  # fmt: skip


def swallowed_push() -> Take:
    """A push of 80 N·s on somebody whom data moves, and who does not mind."""
    switch = {"time": 0.0, "kind": "supervisor", "event": "switch", "character": WHO, "mode": "kinematic"}
    push = {"time": 1.0, "kind": "push", "target": f"{WHO}/thorax", "impulse": [80.0, 0.0, 0.0]}
    return replace(standing(), events=[switch, push])


def beat_while_lying() -> Take:
    """A pose on the beat, on the ground."""
    beat = {"time": 3.5, "kind": "beat", "character": WHO, "pose": "salute"}
    return replace(plank(), events=[beat])
