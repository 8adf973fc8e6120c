"""The δ-response of a body that follows a clip (P0, section 5.3.1): after a blow it is back in the clip δ later.

The paper replaces the target by the clip's own key at t + δ, and the key's time left gives the gains: k = m/λ², d =
2m/λ. Whoever is on the way there is on the clip, so that the pull is toward the clip as it is now, and what
the motion takes is fed forward: what changes is how softly the limb is held that was hit. So one number says how far
it gives and when it is back, as in the paper; and because gains are changed before the first step of a push, or as
soon as a contact is seen, the stiff servo has not taken the blow by then.

How softly is found on the body's own equations of motion. A body whose bones are held by springs is, about the pose it
is in, a linear thing: its inertia, the springs' and gravity's stiffness, the springs' damping, and what it stands on.
What a blow does to it can be played before it happens, at the engine's own step, and so the time constant is found with
which the limb that is hit is back when it should be: for any body, limb, pose and blow, with nothing fitted to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.servo.law import part_of
from stunt.control.servo.memory import BEAT

if TYPE_CHECKING:
    from stunt.control.core.renumbered import Renumbered
    from stunt.drive.body.actor import BodyActor
    from stunt.stage.shock import Shock

Floats = NDArray[np.float64]

GIRDLE: Final = ("clavicle", "shoulder")
"""What an arm hangs on gives only where it is struck itself."""
FIRM: Final = 0.5
"""Softest a leg is held, as a share of its own frequency: somebody stands on it."""
AGAIN: Final = 0.25
"""Over which share of δ a limb is held as before again, after δ."""
STRIKES: Final = 0.5
"""From which speed toward what it meets a limb strikes [m/s]."""
BACK: Final = 0.1
"""What is left of a give when a joint counts as back."""
_LONGER: Final = 1.6
"""How long a response is looked at, over how long it should take."""
_HALVINGS: Final = 10
_RIGID: Final = 1e-4
"""Time constant of a limb that gives nothing [s]."""
LEAST: Final = 0.25
"""Share of its spring that a bone keeps which gravity brings back: far out gravity is another one."""
_GROUND: Final = 1e3
"""What a point that stands on the ground weighs, in body masses: it stays."""


class Yielding:
    """Holds a limb softly for a while. Crew of the stage, due only while it does.

    Attributes:
        limb: The bodies that are held softly; empty: none.
    """

    def __init__(self, actor: BodyActor) -> None:
        """Look after a body; it is held as ever."""
        self._actor = actor
        self.limb: list[int] = []
        self._soft = np.zeros((2, 0))  # stiffness and damping of each bone, as soft as it is held
        self._back, self._whole, self._last = 0, 0, -1
        self._written = np.zeros(0)

    def is_struck(self, shock: Shock) -> bool:
        """Whether something, not somebody, came at a limb: one that strikes out at it does not give way to it."""
        stage, speed = self._actor.stage, np.zeros(6)
        body = self._actor.character.bodies[shock.body]
        mujoco.mj_objectVelocity(stage.model, stage.data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
        toward = -float(speed[3:] @ np.array(shock.force))
        return shock.by in stage.built.props and toward <= STRIKES * float(np.linalg.norm(shock.force))

    def give_way(self, delta: float, shock: Shock) -> bool:
        """Hold the limb softly that a blow strikes, so that it is back δ [s] from now; return whether that can be."""
        actor = self._actor
        if int(actor._memory["mode"]) == BEAT:
            return False
        self._let_be()
        stage, tick = actor.stage, actor.stage.tick
        bones = self._limb_of(actor.character.bodies[shock.body])
        if not bones:  # hips that have nothing but legs
            return False
        soft = softness_of(actor, bones, shock)
        self.limb, self._soft = bones, soft.gains(soft.time_constant(delta)) / float(actor._memory["gain"])
        if part_of(shock.body) == "leg":
            usual = self._usual()
            self._soft = np.clip(self._soft, np.array([[FIRM**2], [FIRM]]) * usual, usual)
        self._back = tick + round(delta / stage.step_time)
        self._whole = tick + round((1.0 + AGAIN) * delta / stage.step_time)
        self._written = actor.program.k1[bones].copy()
        self._hold(0.0)
        stage.crew.announce(self)
        return True

    def _limb_of(self, body: int) -> list[int]:
        """Return the bodies of a limb, and what hangs on them: of an arm or a leg, or all that stands on the hips."""
        actor, model = self._actor, self._actor.stage.model
        root = actor.character.root_body
        if body == root:
            return [n for n in actor.character.bodies.values() if n != root and part_of(model.body(n).name) == "trunk"]
        kind = part_of(model.body(body).name)
        top = body
        while (above := int(model.body_parentid[top])) not in (root, 0) and part_of(model.body(above).name) == kind:
            if any(word in model.body(above).name.lower() for word in GIRDLE):
                break
            top = above
        limb: list[int] = []
        for number in sorted(actor.character.bodies.values()):
            if number == top or (int(model.body_parentid[number]) in limb and part_of(model.body(number).name) == kind):
                limb.append(number)
        return limb

    def _hold(self, as_ever: float) -> None:
        """Hold the limb softly, but so much as ever; somebody else's gains stay theirs."""
        program, limb = self._actor.program, self.limb
        if not np.array_equal(program.k1[limb], self._written):
            self.limb = []
            return
        program.k1[limb], program.k2[limb] = self._soft + as_ever * (self._usual() - self._soft)
        self._written = program.k1[limb].copy()

    def _usual(self) -> Floats:
        """Return stiffness and damping of the limb's bones as ever, (2, limb)."""
        program, limb = self._actor.program, self.limb
        moments, omega = program.usual[limb] * program._moments[limb], program._omega[limb]
        return np.array([moments * omega**2, 2.0 * moments * omega])

    def _let_be(self) -> None:
        if self.limb:
            self._hold(1.0)
            self.limb = []

    def due(self) -> int | None:
        """Return when the limb is next held otherwise, as a tick."""
        if not self.limb:
            return None
        return max(self._back, self._last + self._actor.stage.steps_per_control)

    def act(self) -> None:
        """Hold the limb more and more as before."""
        self._last = tick = self._actor.stage.tick
        if not self.limb:
            return
        share = min(max((tick - self._back) / max(self._whole - self._back, 1), 0.0), 1.0)
        self._hold(share)
        if share >= 1.0:
            self.limb = []

    def save(self) -> Any:
        """Return what must survive a restore."""
        return list(self.limb), (self._back, self._whole, self._last), self._soft.copy(), self._written.copy()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        limb, (self._back, self._whole, self._last), soft, written = state
        self.limb, self._soft, self._written = list(limb), soft.copy(), written.copy()

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast."""
        self.limb = [by.number("body", body) for body in self.limb]
        return self._actor.character.name in self._actor.stage.built.characters


@dataclass(frozen=True)
class Softness:
    """A body about the pose it is in, and how a blow sets out to turn it: n degrees of freedom, B bones.

    Attributes:
        inertia: With what it stands on, (n, n).
        turning: How each bone turns against the root, in the world's axes, (B, 3, n).
        topple: What gravity adds to the stiffness of each bone, in the world's axes [N·m/rad], (B, 3, 3).
        damping: The joints' own, and the root's help, (n, n).
        stiffness: The root's help, (n, n).
        held: Stiffness and damping of the bones as ever [N·m/rad, N·m·s/rad], (2, B).
        limb: Which bones are held softly.
        moments: What the gains of these scale by [kg·m²].
        joints: The degrees of freedom of each joint on the way from what is hit to what the limb hangs on.
        blow: How fast a blow of 1 N·s leaves it [m/s, rad/s], (n,).
        step: A physics step [s].
        lasts: How many of them the blow takes.
    """

    inertia: Floats
    turning: Floats
    topple: Floats
    damping: Floats
    stiffness: Floats
    held: Floats
    limb: Sequence[int]
    moments: Floats
    joints: Sequence[slice]
    blow: Floats
    step: float
    lasts: int

    def gains(self, time_constant: float) -> Floats:
        """Return stiffness [N·m/rad] and damping [N·m·s/rad] of the limb's bones for a time constant [s], (2, limb).

        Where gravity topples, the spring stands against it; where it brings the limb back, the spring asks for less.
        """
        gravity = 0.5 * np.trace(self.topple[list(self.limb)], axis1=1, axis2=2)
        stiff = self.moments / time_constant**2
        stiff = np.maximum(stiff - gravity, LEAST * stiff)
        return np.array([stiff, 2.0 * np.sqrt(self.moments * (stiff + gravity))])

    def response(self, time_constant: float, until: float) -> Floats:
        """Return how each degree of freedom is moved after each step [rad or m per N·s], (steps, n)."""
        k1, k2 = self.held.copy()
        k1[list(self.limb)], k2[list(self.limb)] = self.gains(time_constant)
        springs = k1[:, None, None] * np.eye(3) + self.topple
        k = self.stiffness + np.einsum("bij,bil->jl", self.turning, springs @ self.turning)
        d = self.damping + np.einsum("bij,bil->jl", self.turning, k2[:, None, None] * self.turning)
        step = self.step
        inverse = np.linalg.inv(self.inertia + step * d + step * step * k)
        keep, pull, push = inverse @ self.inertia, -step * inverse @ k, inverse @ self.inertia @ self.blow / self.lasts
        where, speed = np.zeros(len(push)), np.zeros(len(push))
        track = np.empty((max(1, round(until / step)), len(push)))
        for n in range(len(track)):
            speed = keep @ speed + pull @ where
            if n < self.lasts:
                speed += push
            where = where + step * speed
            track[n] = where
        return track

    def back_after(self, time_constant: float, until: float, sways: Floats) -> float:
        """Return how long after a blow the joint that gives most is back to a tenth for good [s], until then at most.

        Args:
            time_constant: How softly the limb is held [s].
            until: The longest that is looked at [s].
            sways: How the body is moved whose limb gives nothing: what the rest does is no part of it, (steps, n).
        """
        track = self.response(time_constant, until) - sways
        turned = np.stack([np.linalg.norm(track[:, own], axis=1) for own in self.joints], axis=1)
        most = turned[:, int(turned.max(axis=0).argmax())]
        return float((np.flatnonzero(most >= BACK * most.max())[-1] + 1) * self.step)

    def time_constant(self, delta: float) -> float:
        """Return the time constant [s] with which the limb is back δ [s] after the blow."""
        low, high, until = np.log(max(0.02 * delta, 0.1 * self.step)), np.log(2.0 * delta), _LONGER * delta
        sways = self.response(_RIGID, until)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self.back_after(float(np.exp(middle)), until, sways) > delta:
                high = middle
            else:
                low = middle
        return float(np.exp(0.5 * (low + high)))


def softness_of(actor: BodyActor, limb: Sequence[int], shock: Shock) -> Softness:
    """Return a body as it is, and how a blow on one of its limbs sets out to turn it.

    Args:
        actor: Who is hit.
        limb: The bodies of the limb, from the bone it hangs on outward.
        shock: The blow.
    """
    stage, character, program, memory = actor.stage, actor.character, actor.program, actor._memory
    model, now = stage.model, stage.data
    data = mujoco.MjData(model)
    data.qpos[:] = now.qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    root, hit = character.root_body, character.bodies[shock.body]
    bones = sorted(body for body in character.bodies.values() if body != root)
    first, last = int(memory["root_dof"]), int(memory["dof1"])
    own = slice(first, last)
    full, jac, moved = np.zeros((model.nv, model.nv)), np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_fullM(model, data, full)
    inertia, mass = full[own, own].copy(), float(model.body_subtreemass[root])
    for n in range(now.ncon):
        bodies = model.geom_bodyid[now.contact.geom[n]]
        ours = [int(body) for body in bodies if int(body) in (root, *bones)]
        if len(ours) == 1 and (model.body_weldid[bodies] == 0).any():
            mujoco.mj_jac(model, data, moved, None, now.contact.pos[n], ours[0])
            inertia += _GROUND * mass * moved[:, own].T @ moved[:, own]
    turning = np.empty((len(bones), 3, last - first))
    for k, body in enumerate(bones):
        mujoco.mj_jacBody(model, data, None, jac, body)
        turning[k] = jac[:, own]
    turning[:, :, :6] = 0.0  # the servo sees the bones from the root
    damping, stiffness = np.diag(stage.board.own_damping[own]), np.zeros((last - first,) * 2)
    mujoco.mj_jacBody(model, data, None, jac, root)
    across = jac[:2, own]
    damping += float(memory["root_k2"]) * across.T @ across
    stiffness += float(memory["root_k1"]) * across.T @ across
    mujoco.mj_jac(model, data, moved, None, np.array(shock.position), hit)
    force = np.array(shock.force)
    most = float(np.linalg.norm(force))
    way = force / most if most > 0.0 else np.array([1.0, 0.0, 0.0])  # something that hits, nobody knows which way
    gain = float(memory["gain"])
    return Softness(
        inertia, turning, _topple(model, data, bones), damping, stiffness,
        gain * np.array([program.k1[bones], program.k2[bones]]), [bones.index(body) for body in limb],
        _shared(model, data, limb, program.usual[limb] * program._moments[limb]), _joints(model, limb, hit, first),
        np.linalg.solve(inertia, moved[:, own].T @ way), stage.step_time,
        shock.steps(stage.step_time),
    )  # fmt: skip


def _joints(model: mujoco.MjModel, limb: Sequence[int], body: int, first: int) -> list[slice]:
    """Return the degrees of freedom of each joint from a body up to what a limb hangs on; of all of it if not in it."""
    found, body = [], body if body in limb else limb[0]
    while body in limb:
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        starts = [int(model.jnt_dofadr[joint]) - first for joint in joints]
        ends = [*starts[1:], int(model.body_dofadr[body] + model.body_dofnum[body]) - first]
        found += [slice(start, end) for start, end in zip(starts, ends, strict=True)]
        body = int(model.body_parentid[body])
    return found


def _topple(model: mujoco.MjModel, data: mujoco.MjData, bones: Sequence[int]) -> Floats:
    """Return gravity's stiffness of each bone, in the world's axes [N·m/rad], (B, 3, 3)."""
    lever, down = model.body_mass[bones, None] * (data.xipos[bones] - data.xpos[bones]), model.opt.gravity
    for body in bones:
        if (parent := int(model.body_parentid[body])) in bones:
            lever[bones.index(parent)] += model.body_subtreemass[body] * (data.xpos[body] - data.xpos[parent])
    sides = lever[:, :, None] * down
    return (lever @ down)[:, None, None] * np.eye(3) - 0.5 * (sides + sides.transpose(0, 2, 1))


def _shared(model: mujoco.MjModel, data: mujoco.MjData, limb: Sequence[int], as_ever: Floats) -> Floats:
    """Return what each bone's gains scale by [kg·m²]: what hangs on the limb's first joint, shared as ever."""
    carried = [limb[0]]
    for body in range(limb[0] + 1, model.nbody):
        if int(model.body_parentid[body]) in carried:
            carried.append(body)
    away = data.xipos[carried] - data.xpos[limb[0]]
    whole = float(model.body_mass[carried] @ (away**2).sum(axis=1) + model.body_inertia[carried].mean(axis=1).sum())
    return np.asarray(as_ever * (whole / float(as_ever.sum())))
