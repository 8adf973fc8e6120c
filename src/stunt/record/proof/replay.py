"""A ledger played again with the bare engine: its model, the state at the start, what was written, and nothing else.

While it plays, accounts are kept of what moved each body: contacts, pushes, joints, and whatever else. Nothing that
control says of itself is asked. With velocities before and after a step, M·a + c is all that acted on every degree of
freedom; what contacts and pushes gave is known from the engine. On the root's six rows nothing is left over: those are
the change of the whole body's momentum. On a joint's rows its torque is left over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.ledger import WHOLE_STATE
from stunt.errors import TakeError
from stunt.record.cast import CastMember
from stunt.stage.ledger import BETWEEN, Ledger, moving, state_slots
from stunt.stage.stored_model import read_model

TOLERANCE: Final = 1e-6
"""How far a step may end from the take's on another machine: of a number, or of its size where that is above 1."""
_MATRIX: Final = "M"
Floats = NDArray[np.float64]


class Replay:
    """The bare engine, and what is to be written into it.

    Attributes:
        model: The model, as it is at the present step.
        data: Its data.
        number: The step that was taken last.
        off: How far a step was from the take's, at most; 0 where all were the same bits so far.
        differs: The first step that was not the same bits; −1: none.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Read the model and the state at the start.

        Raises:
            TakeError: The ledger is not of its model, or this engine cannot read that.
        """
        try:
            self.model = read_model(ledger.model_bytes.tobytes())
        except ValueError as error:
            raise TakeError(f"this MuJoCo ({mujoco.__version__}) cannot read the ledger's model: {error}.") from error
        self.data = mujoco.MjData(self.model)
        known = state_slots(self.model)
        self._size = sum(size for _, size in known.values())
        if any(ledger.slots.get(name) != place for name, place in known.items()) or ledger.start.shape != (self._size,):
            raise TakeError("the ledger and its model do not belong together.")
        self._ledger, self._moving = ledger, moving(known)
        if ledger.states.shape[1:] != self._moving.shape:
            raise TakeError("the ledger's states are not of its model.")
        self._state = np.zeros(self._size)
        halves = 2 * ledger.step.astype(np.int64) + ledger.half
        self._firsts = np.searchsorted(halves, np.arange(2 * ledger.steps + 1))
        self._fields = self._by_field()
        mujoco.mj_setState(self.model, self.data, ledger.start, WHOLE_STATE)
        self.number, self.off, self.differs = -1, 0.0, -1

    def _by_field(self) -> list[tuple[str, int, int]]:
        """Return the fields outside the state that are written at all: name, first slot, slot after the last."""
        found = []
        for name, (first, size) in self._ledger.slots.items():
            if first >= self._size and self._ledger.written(name).any():
                if size != np.size(self._field(name)):
                    raise TakeError(f"the ledger writes to '{name[:80]}', which its model does not have so.")
                found.append((name, first, first + size))
        return found

    def _field(self, name: str) -> Any:
        owner, field = self._owner(name)
        try:
            return getattr(owner, field)
        except AttributeError:
            raise TakeError(f"the ledger writes to '{name[:80]}', which no model has.") from None

    def _owner(self, name: str) -> tuple[Any, str]:
        if name == _MATRIX:
            return self.data, name
        return (self.model.opt, name[4:]) if name.startswith("opt.") else (self.model, name)

    def writes(self, number: int, half: int) -> tuple[NDArray[np.int32], Floats]:
        """Return slots and values written in a half of a step."""
        first, end = self._firsts[2 * number + half : 2 * number + half + 2]
        return self._ledger.slot[first:end], self._ledger.value[first:end]

    def _write(self, half: int) -> None:
        """Write what was written; the inertia matrix last of all."""
        slot, value = self.writes(self.number, half)
        if not len(slot):
            return
        own = slot < self._size
        if own.any():
            speed = self.data.qvel.copy()
            mujoco.mj_getState(self.model, self.data, self._state, WHOLE_STATE)
            self._state[slot[own]] = value[own]
            mujoco.mj_setState(self.model, self.data, self._state, WHOLE_STATE)
            if half == BETWEEN and (self.data.qvel != speed).any():
                mujoco.mj_fwdVelocity(self.model, self.data)  # after an impact
        for name, first, end in self._fields:
            mine = (slot >= first) & (slot < end)
            if name == _MATRIX or not mine.any():
                continue
            owner, field = self._owner(name)
            now = getattr(owner, field)
            if np.ndim(now):
                now.reshape(-1)[slot[mine] - first] = value[mine]
            else:
                setattr(owner, field, type(now)(value[mine][0]))

    def _write_matrix(self) -> None:
        first, size = self._ledger.slots[_MATRIX]
        slot, value = self.writes(self.number, BETWEEN)
        mine = (slot >= first) & (slot < first + size)
        if mine.any():
            self.data.M[slot[mine] - first] = value[mine]
            mujoco.mj_factorM(self.model, self.data)

    def steps(self) -> Iterator[int]:
        """Play it; stop at each step twice: before its second half, with everything written but the inertia, and after.

        Yields:
            The step's number, in either case.
        """
        for number in range(self._ledger.steps):
            self.number = number
            self._write(0)
            mujoco.mj_step1(self.model, self.data)
            self._write(BETWEEN)
            yield number
            self._write_matrix()
            mujoco.mj_step2(self.model, self.data)
            self._compare(number)
            yield number

    def _compare(self, number: int) -> None:
        """Compare what a step led to with the take's; from the first that differs on, go on from the take's own."""
        mujoco.mj_getState(self.model, self.data, self._state, WHOLE_STATE)
        mine, wanted = self._state[self._moving], self._ledger.states[number]
        if mine.tobytes() == wanted.tobytes():
            return
        self.differs = number if self.differs < 0 else self.differs
        off = np.abs(mine - wanted) / np.maximum(1.0, np.abs(wanted))
        self.off = max(self.off, float(off.max()) if np.isfinite(off).all() else np.inf)
        self._state[self._moving] = wanted
        mujoco.mj_setState(self.model, self.data, self._state, WHOLE_STATE)

    def velocity_after(self) -> Floats:
        """Return the velocities the present step leads to, as the take has them, (nv,)."""
        first = 1 + self.model.nq
        return np.asarray(self._ledger.states[self.number, first : first + self.model.nv])


# ---- accounts


OVER: Final = 1.0 + 1e-6
"""A torque longer than this share of its joint's strength is over it."""
SLIDES: Final = 0.999
"""Share of what friction can give from which on a contact slides."""
_LIGHT: Final = 0.005  # of body weight: friction of contacts that carry less is not asked for
_EQUALITY: Final = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)


@dataclass
class Worst:
    """The largest of what was seen, and when [s]."""

    value: float = 0.0
    time: float = 0.0
    what: str = ""

    def see(self, value: float, time: float, what: str = "") -> None:
        """See one more; no number counts as more than any."""
        if not value <= self.value:
            self.value, self.time, self.what = value, time, what


@dataclass
class BodyAccount:
    """What moved one character.

    Attributes:
        member: Who.
        root: First degree of freedom of its free root; −1 where it is fixed.
        force: Force that control put on its root [N].
        torque: Likewise [N·m].
        helped: Steps in which it did.
        impulse: ∫ of that force [N·s], and of the torque [N·m·s].
        residual: Change of momentum that nothing accounts for, as a force [N].
        spin_residual: Of angular momentum, as a torque [N·m].
        weld: Force of welds on the body [N].
        load: Longest torque of a joint over its strength.
        over: Joint-steps above it, of `joint_steps`.
        friction: Share of what friction can give that a contact used.
        slides: Contacts at that limit, of `contacts` that carry something.
        ground: Depth of contacts with anything else [m].
        inside: Depth of contacts between its own limbs [m].
        hidden: Force or torque from outside that nobody declared [N or N·m].
        pulled: Of drags [N].
        pulled_impulse: ∫ of those forces, hidden ones and drags [N·s].
        pushed: ∫ of declared pushes [N·s].
    """

    member: CastMember
    bodies: NDArray[np.bool_]
    root: int
    force: Worst = field(default_factory=Worst)
    torque: Worst = field(default_factory=Worst)
    helped: int = 0
    impulse: Floats = field(default_factory=lambda: np.zeros(2))
    residual: Worst = field(default_factory=Worst)
    spin_residual: Worst = field(default_factory=Worst)
    weld: Worst = field(default_factory=Worst)
    load: Worst = field(default_factory=Worst)
    over: int = 0
    joint_steps: int = 0
    friction: Worst = field(default_factory=Worst)
    slides: int = 0
    contacts: int = 0
    ground: Worst = field(default_factory=Worst)
    inside: Worst = field(default_factory=Worst)
    hidden: Worst = field(default_factory=Worst)
    pulled: Worst = field(default_factory=Worst)
    pulled_impulse: float = 0.0
    pushed: float = 0.0


class Bookkeeper:
    """Keeps the accounts of all characters of a take while it is replayed."""

    def __init__(self, replay: Replay, members: Mapping[str, CastMember], events: list[dict[str, Any]]) -> None:
        """Begin, before the first step: springs and damping of the model are its own then.

        Args:
            replay: The replay.
            members: Who is on stage.
            events: What happened; the take's.
        """
        self._replay, model = replay, replay.model
        self.accounts = {name: _account(model, member) for name, member in members.items()}
        self._damping, self._stiffness = model.dof_damping.copy(), model.jnt_stiffness.copy()
        self._rest = model.qpos_spring.copy()
        self._events = [event for event in events if event["kind"] in ("push", "drag")]
        self._targets = [body_named(model, str(event["target"])) for event in self._events]
        self._moves = np.zeros(model.nv)
        self._outside = np.zeros(model.nv)
        self._gravity = float(np.linalg.norm(model.opt.gravity))
        self._step = 0.0

    def before(self) -> None:
        """Look between the halves of a step: everything is written, and the inertia is the body's own."""
        model, data = self._replay.model, self._replay.data
        self._step = float(model.opt.timestep)
        gain = (self._replay.velocity_after() - data.qvel) / self._step
        mujoco.mj_mulM(model, data, self._moves, gain)
        self._moves += data.qfrc_bias
        self._outside[:] = 0.0
        for body in np.flatnonzero(data.xfrc_applied.any(axis=1)):
            wrench = data.xfrc_applied[body]
            mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[body], body, self._outside)
        self._see_pushes()

    def _see_pushes(self) -> None:
        """Tell what was pushed from what was pulled, and from what nobody declared."""
        model, data = self._replay.model, self._replay.data
        left = data.xfrc_applied.copy()
        dragged = np.zeros(model.nbody, bool)
        for event, body in zip(self._events, self._targets, strict=True):
            since = data.time - float(event["time"]) + 0.25 * self._step
            if event["kind"] == "drag":
                dragged[body] |= 0.0 <= since < float(event["until"]) - float(event["time"])
            elif 0.0 <= since < float(event["seconds"]):
                force = np.asarray(event["impulse"], float) / float(event["seconds"])
                lever = np.zeros(3)
                if "point" in event:
                    turn = data.xmat[body].reshape(3, 3)
                    lever = data.xpos[body] + turn @ np.asarray(event["point"], float) - data.xipos[body]
                left[body] -= np.concatenate([force, np.cross(lever, force)])
        given = data.xfrc_applied - left
        noise = 1e-9 * (1.0 + np.abs(data.xfrc_applied))
        left[np.abs(left) <= noise] = 0.0
        for account in self.accounts.values():
            mine = account.bodies
            account.pushed += self._step * float(np.linalg.norm(given[mine, :3].sum(axis=0)))
            size = np.linalg.norm(left, axis=1)
            account.pulled_impulse += self._step * float(np.linalg.norm(left[mine, :3], axis=1).sum())
            for found in np.flatnonzero(mine & (size > 0.0)):
                worst = account.pulled if dragged[found] else account.hidden
                worst.see(float(size[found]), data.time, model.body(int(found)).name)

    def after(self) -> None:
        """Look after a step."""
        model, data = self._replay.model, self._replay.data
        wrenches, time = self._contacts(), data.time
        welded = np.zeros(model.nv)
        if data.nefc and (rows := data.efc_type == _EQUALITY).any():
            mujoco.mj_mulJacTVec(model, data, welded, np.where(rows, data.efc_force, 0.0))
        torque = self._moves - self._outside - data.qfrc_constraint + self._passive()
        for name, account in self.accounts.items():
            self._see_joints(account, torque, time)
            if account.root < 0:
                continue
            rows = slice(account.root, account.root + 6)
            applied = data.qfrc_applied[rows]
            left = self._moves[rows] - self._outside[rows] - wrenches[name] - welded[rows] - applied
            force, twist = float(np.linalg.norm(applied[:3])), float(np.linalg.norm(applied[3:]))
            account.force.see(force, time)
            account.torque.see(twist, time)
            account.helped += bool(applied.any())
            account.impulse += self._step * np.array([force, twist])
            account.residual.see(float(np.linalg.norm(left[:3])), time)
            account.spin_residual.see(float(np.linalg.norm(left[3:])), time)
            account.weld.see(float(np.linalg.norm(welded[rows][:3])), time)

    def _passive(self) -> Floats:
        """Return what the joints' own tissue took in the step, at its end, where the engine has it, (nv,)."""
        model, data = self._replay.model, self._replay.data
        found = self._damping * self._replay.velocity_after()
        for joint in np.flatnonzero(self._stiffness):
            q, d, apart = model.jnt_qposadr[joint], model.jnt_dofadr[joint], np.zeros(3)
            if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
                mujoco.mju_subQuat(apart, data.qpos[q : q + 4], self._rest[q : q + 4])
                found[d : d + 3] += self._stiffness[joint] * apart
            elif model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
                found[d] += self._stiffness[joint] * (data.qpos[q] - self._rest[q])
        return np.asarray(found)

    def _see_joints(self, account: BodyAccount, torque: Floats, time: float) -> None:
        for name, joint in account.member.joints.items():
            if not joint.strength:
                continue
            share = float(np.linalg.norm(torque[joint.dof : joint.dof + joint.width])) / joint.strength
            account.load.see(share, time, name)
            account.joint_steps += 1
            account.over += not share <= OVER

    def _contacts(self) -> dict[str, Floats]:
        """Return what contacts with anything else gave each free root in the step, (6,), and look at them."""
        model, data = self._replay.model, self._replay.data
        found = {name: np.zeros(6) for name in self.accounts}
        wrench = np.zeros(6)
        for number in range(data.ncon):
            contact = data.contact[number]
            ends = [int(model.geom_bodyid[geom]) if geom >= 0 else 0 for geom in contact.geom]
            mujoco.mj_contactForce(model, data, number, wrench)
            frame = contact.frame.reshape(3, 3)
            force, twist = frame.T @ wrench[:3], frame.T @ wrench[3:]
            for name, account in self.accounts.items():
                first, second = (bool(account.bodies[body]) for body in ends)
                if first and second:
                    account.inside.see(float(-contact.dist), data.time, model.body(ends[1]).name)
                elif first or second:
                    account.ground.see(float(-contact.dist), data.time, model.body(ends[1 if second else 0]).name)
                    self._see_friction(account, contact, wrench)
                    if account.root >= 0:
                        sign = 1.0 if second else -1.0
                        found[name] += sign * self._at_root(account, np.asarray(contact.pos), force, twist)
        return found

    def _at_root(self, account: BodyAccount, point: Floats, force: Floats, twist: Floats) -> Floats:
        """Return a force at a point and a torque as a force and a torque on the rows of a free root, (6,)."""
        data, body = self._replay.data, account.member.root_body
        turn = data.xmat[body].reshape(3, 3)
        return np.concatenate([force, turn.T @ (np.cross(point - data.xpos[body], force) + twist)])

    def _see_friction(self, account: BodyAccount, contact: Any, wrench: Floats) -> None:
        if contact.dim < 3 or wrench[0] <= _LIGHT * account.member.mass * self._gravity:
            return
        share = float(np.linalg.norm(wrench[1:3] / contact.friction[:2])) / float(wrench[0])
        account.friction.see(share, self._replay.data.time)
        account.contacts += 1
        account.slides += share >= SLIDES


def body_named(model: mujoco.MjModel, target: str) -> int:
    """Return the body that an event names: a body, the one a site is on, or a prop; −1 where there is none."""
    for kind, owner in ((mujoco.mjtObj.mjOBJ_BODY, None), (mujoco.mjtObj.mjOBJ_SITE, model.site_bodyid)):
        number = mujoco.mj_name2id(model, kind, target)
        if number >= 0:
            return int(number if owner is None else owner[number])
    return -1


def _account(model: mujoco.MjModel, member: CastMember) -> BodyAccount:
    inside = np.zeros(model.nbody, bool)
    for body in range(member.root_body, model.nbody):
        inside[body] = body == member.root_body or inside[model.body_parentid[body]]
    root = -1
    if member.root_qpos is not None:
        root = int(model.jnt_dofadr[np.flatnonzero(model.jnt_qposadr == member.root_qpos)[0]])
    return BodyAccount(member, inside, root)
