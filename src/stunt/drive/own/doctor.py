"""Whether a body can do a motion on its own feet: with the strength and the friction it has, before it tries.

Over the prepared motion, frame after frame: all joints and the root have to accelerate as they do; the ground may push
at the points that carry, inside their friction cones; joints get what is left. Forces are found by least squares with
nothing below zero, torques weighted by strength and the root's rows heavily. Least squares is not the best there is for
the weakest joint, so what it calls feasible is.

Whether balance holds is another question, and inverse dynamics does not answer it. So who wants to know rehearses: the
same body, alone on level ground, does the whole motion from a few starts that are off a little, and has to stay up.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import mujoco
import numpy as np

from stunt.archives import ArrayCache, user_cache
from stunt.character.character import Character
from stunt.control.own.layout import SETTINGS
from stunt.drive.motion.layout import own_slices
from stunt.drive.own.feasible import Reference
from stunt.drive.own.follower import OwnFeet
from stunt.drive.own.soles import Foot, two_feet
from stunt.maths import rotations
from stunt.maths.compiled import source_digest
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene
from stunt.stage.stored_model import model_bytes

LOOKS: Final = 30.0
"""Frames looked at in a second of motion."""
LOST: Final = 0.25
"""Share of body weight that contacts may fail to give in a frame: feet that come down do that to a smooth path."""
FEASIBLE: Final = 0.85
"""Share of the frames that have to be feasible; below it nothing is rehearsed."""
HOPELESS: Final = 0.5
"""Below this share even who asks for own feet is refused."""
REHEARSALS: Final = 5
RATE, CONTROL = 480.0, 120.0
"""Physics steps a second at least, and control steps at most [Hz]."""
JOINT, SPIN, SPEED = np.radians(1.0), 0.15, 0.05
"""Standard deviations of a rehearsal's start: of joints [rad], their velocities [rad/s], the root's speed [m/s]."""
AFTER: Final = 1.0
"""Seconds it has to stay up after the motion's end."""
PATIENCE: Final = 1.5
"""A body that takes so many times the motion's length does not arrive."""
GRIP: Final = 0.2
"""Friction below which nobody stands up to a step."""
_HEAVY = 30.0  # weight of the root's rows, against torques as shares of strength
_EDGES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


@dataclass(frozen=True)
class Feasibility:
    """What a motion takes of a body on its own feet.

    Attributes:
        share: Share of the frames that strength and friction allow.
        load: Longest torque of a joint over its strength in 95 % of the frames.
        joint: Which joint that is in the worst frame.
        worst: Time of the worst frame [s].
        peak: Its torque over the joint's strength then.
        lost: What contacts could not give of what the root needs, as a share of body weight, in 95 % of the frames.
        why: What speaks against own feet, in words; empty: nothing.
    """

    share: float
    load: float
    joint: str
    worst: float
    peak: float
    lost: float
    why: str = ""

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.why


def diagnose(model: mujoco.MjModel, character: Character, reference: Reference, soles: list[int]) -> Feasibility:
    """Say whether a body can do a prepared motion on its own feet.

    Args:
        model: The scene, with the body's own springs.
        character: Who.
        reference: The prepared motion.
        soles: Geoms it stands on.

    Raises:
        BodyError: It has not two feet.
    """
    feet, fps = two_feet(model, character, soles), reference.motion.fps
    frames = np.arange(0, len(reference.motion.qpos), max(1, round(fps / LOOKS)))
    grip = min((character.grip[geom] for geom in soles), default=0.0)
    body = _Inverse(model, character, feet, grip)
    rows = np.array([body.frame(reference, int(frame)) for frame in frames])
    loads, lost, joints = rows[:, 0], rows[:, 1], rows[:, 2].astype(int)
    carried = np.asarray(reference.stands.any(axis=1))[frames]
    fine = (loads <= 1.0) & ((lost <= LOST) | ~carried)
    worst = int(np.argmax(loads))
    load = float(np.quantile(loads, 0.95))
    slips = float(np.quantile(lost[carried], 0.95)) if carried.any() else 1.0
    name = body.names[joints[worst]] if body.names else ""
    found = Feasibility(float(fine.mean()), load, name, float(frames[worst] / fps), float(loads[worst]), slips)
    return dataclasses.replace(found, why=_why(found, reference, grip))


def _why(found: Feasibility, reference: Reference, grip: float) -> str:
    """Return what speaks against own feet, the plainest first."""
    if grip < GRIP:
        return f"its soles have a friction of {grip:.2g}, and slide below {GRIP:g}"
    if found.share < FEASIBLE:
        return (
            f"strength and friction allow {100.0 * found.share:.0f} % of it; most is asked of {found.joint} at "
            f"{found.worst:.2f} s, {found.peak:.3g} times its strength"
        )
    return reference.notes.why


def refusal(found: Feasibility) -> str:
    """Return why not even to try, in words; empty: it may be tried."""
    return found.why if found.share < HOPELESS or "friction of" in found.why else ""


def rehearse(scene: Scene, name: str, reference: Reference, length: float, *, free_clock: bool = True) -> str:
    """Let a body do a prepared motion on its own feet a few times, alone on level ground, from starts that are off.

    Args:
        scene: Where it will do it; physics and its body are as there.
        name: Who.
        reference: The prepared motion, for a floor at 0.
        length: How long the motion is [s], without the stop that was added; of one that loops, as much as is rehearsed.
        free_clock: Whether the clip's time may give.

    What came of it is kept on the disk by all that it depends on.

    Returns:
        Why it did not stay up, in words; empty: it always did.
    """
    alone = dataclasses.replace(
        scene, characters={name: dataclasses.replace(scene.characters[name], at=(0.0, 0.0, 0.0), start=None)}, props={},
        events=(), sleep=False, physics_hz=max(scene.physics_hz, RATE), control_hz=min(scene.control_hz, CONTROL),
    )  # fmt: skip
    built, cache = StageLoop(alone).built, ArrayCache(user_cache("rehearsals"))
    strengths = [joint.strength for joint in built.characters[name].joints.values()]
    key = _rehearsal_key(built.model, reference, strengths, length, free_clock, alone.control_hz)
    if (known := cache.load(key)) is not None and "why" in known:
        return str(known["why"])
    why = ""
    for seed in range(REHEARSALS):
        if fell := _rehearsed(StageLoop(built), name, reference, length, np.random.default_rng(seed), free_clock):
            why = f"it did not stay up in rehearsal {seed + 1} of {REHEARSALS}: {fell}"
            break
    cache.keep(key, {"why": np.array(why)})
    return why


def _rehearsal_key(model: mujoco.MjModel, reference: Reference, *how: object) -> str:
    """Return what a rehearsal is known by on the disk: all that it depends on."""
    whole, stored = hashlib.sha256(repr((*how, source_digest(Path(__file__)))).encode()), model_bytes(model)
    for part in (stored, reference.motion.qpos, reference.velocity, reference.carries):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()


def _rehearsed(
    stage: StageLoop, name: str, reference: Reference, length: float, rng: np.random.Generator, free_clock: bool
) -> str:
    character, model, data = stage.character(name), stage.model, stage.data
    soles, said = sole_geoms(model, character), list[str]()
    for geom in soles:  # the sole's friction counts, as where it is followed
        model.geom_priority[geom] = max(1, int(model.geom_priority[geom]))
    places, dofs = own_slices(character)
    data.qpos[places] = reference.motion.qpos[0]
    off = np.r_[np.zeros(3), rng.normal(size=model.nv - 3) * JOINT]
    mujoco.mj_integratePos(model, data.qpos, off, 1.0)
    spread = np.r_[np.full(3, SPEED), np.full(model.nv - 3, SPIN)]
    data.qvel[dofs] = reference.velocity[0] + rng.normal(size=model.nv) * spread
    mujoco.mj_forward(model, data)
    own = OwnFeet(stage, character, soles, said.append)
    own.follow(reference, 0.0, floor=0.0, free_clock=free_clock)
    while own.clip_time < length + AFTER:
        stage.advance(8 * stage.steps_per_control)
        if said:
            return f"after {stage.time:.1f} s {said[0]}"
        if stage.time > PATIENCE * length + 3.0:
            return "it did not come to the end"
    return ""


class _Inverse:
    """Finds the torques and contact forces of single frames."""

    def __init__(self, model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot], grip: float) -> None:
        self._model, self._data, self._feet, self._grip = model, mujoco.MjData(model), feet, grip
        self._places, self._dofs = own_slices(character)
        self._weight = character.mass * float(np.linalg.norm(model.opt.gravity) or 9.81)
        self.names = [joint.name for joint in character.joints.values()]
        first = self._dofs.start
        self._joints = [(j.dof - first, j.nv, max(j.strength, 1e-9)) for j in character.joints.values()]
        scale = np.full(self._dofs.stop - first, np.inf)
        scale[:6] = self._weight / _HEAVY
        for dof, count, strength in self._joints:
            scale[dof : dof + count] = strength
        self._scale = 1.0 / scale

    def frame(self, reference: Reference, frame: int) -> tuple[float, float, int]:
        """Return the longest torque over strength, what contacts could not give (body weights), and which joint."""
        from scipy.optimize import nnls

        model, data = self._model, self._data
        data.qpos[self._places] = reference.motion.qpos[frame]
        data.qvel[self._dofs], data.qacc[self._dofs] = reference.velocity[frame], reference.acceleration[frame]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        needed = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, needed)
        need = needed[self._dofs] - data.qfrc_passive[self._dofs]
        edges = self._edges(reference, frame)
        forces = nnls((edges * self._scale[:, None]), need * self._scale)[0] if edges.shape[1] else np.zeros(0)
        left = need - edges @ forces
        loads = [float(np.linalg.norm(left[d : d + n])) / strength for d, n, strength in self._joints]
        worst = int(np.argmax(loads)) if loads else 0
        return loads[worst] if loads else 0.0, float(np.linalg.norm(left[:3])) / self._weight, worst

    def _edges(self, reference: Reference, frame: int) -> Floats:
        """Return what each edge of each carrying point's friction pyramid does to the body, (nv, edges)."""
        model, data, found = self._model, self._data, []
        slope = self._grip / np.sqrt(2.0) * SETTINGS["grip"]
        for number, foot in enumerate(self._feet):
            for k, owner in enumerate(foot.owners):
                if k >= reference.carries.shape[2] or not reference.carries[frame, number, k]:
                    continue
                point = data.xpos[owner] + rotations.rotate(data.xquat[owner], foot.points[k])
                rows = np.zeros((3, model.nv))
                mujoco.mj_jac(model, data, rows, None, point, int(owner))
                found += [rows.T @ np.array([slope * x, slope * y, 1.0]) for x, y in _EDGES]
        dofs = self._dofs
        return np.array(found)[:, dofs].T if found else np.zeros((dofs.stop - dofs.start, 0))
