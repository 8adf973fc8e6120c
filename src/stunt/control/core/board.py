"""The board: what every joint is told to do, as arrays the control kernel reads and writes.

One board serves the whole model. Direction writes goals (rarely: at beats, holds, hand-overs); the kernel reads them at
every control step and leaves behind what it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.core.engine import STEP_STATE, last_dofs
from stunt.control.core.programs import PHASES, SLOTS
from stunt.control.core.renumbered import Numbered, Renumbered
from stunt.control.core.views import COUNTS, LIST, SIZES, TABLE, TIMES

PASSIVE: Final = 0
"""The joint swings freely."""
FULL: Final = 1
"""Beat law, every joint at once: τ = M(q)·a + c(q, v)."""
LOCAL: Final = 2
"""Beat law, spring scaled by the joint's own link alone."""
COMPOSITE: Final = 3
"""Beat law, spring scaled by everything outboard."""
COMPENSATED: Final = 4
"""As COMPOSITE, plus the acceleration its parents impose (P0 eq. 8–10, corrected)."""
IMPEDANCE: Final = 5
"""Stiffness, damping, rest and feed-forward as given on the board: any other joint-space law."""
STANDING: Final = 6
"""Beat law of a body on its own feet: its acceleration is a task of the whole-body programme."""

COUPLINGS: Final = {"full": FULL, "local": LOCAL, "composite": COMPOSITE, "compensated": COMPENSATED}
ARRIVALS: Final = {"critical": 0, "minimum_effort": 1}
HELD: Final = -1.0e9
"""A goal time long past: hold."""

T = TypeVar("T")
STATE: Final = tuple(name for name, _, source in LIST if source == "state")
"""The board's arrays that are part of a saved state; the others are constants or scratch."""
_PER: Final[dict[str, Numbered]] = {
    **dict.fromkeys(
        ("law", "arrival", "goal_time", "start_time", "ease", "hold", "feed_bias", "sprung", "last_law", "tasked",
         "peak_share", "peak_time", "over_steps"), "joint",
    ),
    "goal": "qpos", "rest": "qpos", "grounded": "tree",
}  # fmt: skip
"""Of what each of them has one number; of degrees of freedom where nothing is said."""


class Board:
    """Goals in, torques and gains out.

    Attributes:
        law: What drives each joint, (njnt,) of the codes above.
        arrival: Which arrival law, (njnt,).
        goal: Position to arrive at, (nq,).
        goal_velocity: Velocity to arrive with, (nv,).
        goal_time: When [s], (njnt,).
        start_time: When the approach began [s], (njnt,).
        ease: Seconds over which an approach gathers its acceleration, (njnt,).
        hold: Time constant λ of a hold [s], (njnt,).
        feed_bias: 1 where gravity and Coriolis forces are fed forward, (njnt,).
        limit: Peak torque [N·m], (nv,).
        stiffness: k_s in force [N·m/rad], (nv,).
        damping: k_d in force [N·m·s/rad], (nv,).
        rest: Rest positions of the springs, (nq,).
        feed_forward: Force an IMPEDANCE law adds to its spring's [N·m], (nv,).
        torque: Force the joint produced in the last step [N·m], (nv,).
        saturated: 1 where the torque is at its limit, (nv,).
        saturated_steps: Physics steps spent at the limit since the start, (nv,).
        moment: Moment of inertia the gains scale by, as of the last control step [kg·m²], (nv,).
        carried: Bias force as of the last control step [N·m], (nv,).
        planted: 1 where a joint carries the body on something outboard of it, (nv,).
        grounded: 1 where a free tree touches something that carries it, (ntree,).
        pull: Force programs add from outside the body (a marionette's string), metered as assistance [N·m], (nv,).
        sprung: 1 where the model's spring fields hold control's values, (njnt,).
        last_law: Law of the last control step, (njnt,).
        tasked: 1 where what a law asks of a joint is a task of the programme of bodies on own feet, (njnt,).
        peak_share: Longest torque of each joint so far over its strength, of any physics step, (njnt,).
        peak_time: When that was [s], (njnt,).
        over_steps: Physics steps in which each joint's torque was longer than its strength, (njnt,).
        known_push: What is known to push bodies: force at the centre of mass [N] and torque [N·m], (nbody, 6).
        asks_support: Whether a program asks which joints carry the body (`planted`), beside the laws on the board.
        companions: Programs' memories and look-outs of this scene, one of a kind.
        sizes: Of the model, (1,) of `stunt.control.core.views.SIZES`.
        times: A step, a control period, and time constants to a beat, (1,) of `TIMES`.
        counts: What the kernel and its callers tell each other, (1,) of `COUNTS`.
        programs: Address of each program's table, 0 where it is not in use (see `stunt.control.core.programs`).
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        control_period: float,
        loads: Sequence[tuple[int, int, float]] = (),
    ) -> None:
        """Make a board on which every joint is passive.

        Args:
            model: The compiled scene.
            data: Its data; both must outlive the board.
            control_period: Seconds between two control steps.
            loads: Things that can be held: weld, body, and mass that is believed [kg].
        """
        nq, nv, njnt, ntree = model.nq, model.nv, model.njnt, max(1, model.ntree)
        self.law = np.zeros(njnt, np.int64)
        self.arrival = np.zeros(njnt, np.int64)
        self.goal = data.qpos.copy()
        self.goal_velocity = np.zeros(nv)
        self.goal_time = np.full(njnt, HELD)
        self.start_time = np.zeros(njnt)
        self.ease = np.zeros(njnt)
        self.hold = np.full(njnt, 0.5 / TIME_CONSTANTS)
        self.feed_bias = np.ones(njnt, np.int64)
        self.limit = np.full(nv, np.inf)
        self.stiffness = np.zeros(nv)
        self.damping = np.zeros(nv)
        self.rest = model.qpos_spring.copy()
        self.feed_forward = np.zeros(nv)
        self.torque = np.zeros(nv)
        self.saturated = np.zeros(nv, np.int64)
        self.saturated_steps = np.zeros(nv, np.int64)
        self.moment = np.zeros(nv)
        self.carried = np.zeros(nv)
        self.planted = np.zeros(nv, np.int64)
        self.grounded = np.zeros(ntree, np.int64)
        self.pull = np.zeros(nv)
        self.sprung = np.zeros(njnt, np.int64)
        self.last_law = np.zeros(njnt, np.int64)
        self.tasked = np.zeros(njnt, np.int64)
        self.peak_share, self.peak_time = np.zeros(njnt), np.zeros(njnt)
        self.over_steps = np.zeros(njnt, np.int64)
        # What the model came with, kept apart from what control adds to it.
        self.own_stiffness = model.jnt_stiffness.copy()
        self.own_rest = model.qpos_spring.copy()
        self.own_damping = model.dof_damping.copy()
        self._make_scratch(nv, njnt, ntree)
        self.loaded_inertia, self.loaded_bias = np.zeros(data.M.size), np.zeros(nv)
        self.last_dof, self.load_scratch, self.gravity = last_dofs(model), np.zeros(9), model.opt.gravity
        held = np.array([*loads, (0, 0, 0.0)])  # one more than there are: memory of no length has no address
        self.load_grip, self.load_body, self.load_mass = (
            held[:, 0].astype(int),
            held[:, 1].astype(int),
            held[:, 2].copy(),
        )
        self.known_push = np.zeros((model.nbody, 6))
        self.counts["loads"] = len(loads)
        self.kept_state, self.kept_inertia = np.zeros(mujoco.mj_stateSize(model, STEP_STATE)), np.zeros(data.M.size)
        self.dof_tree = np.asarray(model.dof_treeid, np.int64).copy()
        self.times = np.array([(model.opt.timestep, control_period, TIME_CONSTANTS, control_period)], TIMES)
        self.asks_support = False
        self._pulled: dict[int, int] = {}
        self.companions: dict[type, Any] = {}
        self.programs = np.zeros(SLOTS, np.int64)
        self.hooks = np.zeros(PHASES * SLOTS, np.int64)
        self.sizes = np.array([(nq, nv, njnt, ntree, model.nbody, data.M.size)], SIZES)
        self._arrays = {name: self._array(name, source, model, data) for name, _, source in LIST}  # kept alive
        self.table = TABLE.fill(**self._arrays)

    def _make_scratch(self, nv: int, njnt: int, ntree: int) -> None:
        self.full_joints = np.zeros(njnt, np.int64)
        self.spring_joints = np.zeros(njnt, np.int64)
        self.counts = np.zeros(1, COUNTS)
        self.acceleration = np.zeros(nv)
        self.error = np.zeros(nv)
        self.error_rate = np.zeros(nv)
        self.product = np.zeros(nv)
        self.force = np.zeros(nv)
        self.implicit = np.zeros(nv)
        self.right = np.zeros(nv)
        self.inboard = np.zeros((nv, 3))
        self.scale = np.ones(nv)
        self.cut = np.zeros(njnt, np.int64)
        self.uncut, self.uncut_scale = np.zeros(nv), np.ones(nv)
        self.quaternion = np.zeros(4)
        self.tree_driven = np.zeros(ntree, np.int64)
        self.block = np.zeros((nv, nv))
        self.undriven = np.zeros(nv, np.int64)
        self.undriven_index = np.full(nv, -1, np.int64)

    def _array(self, name: str, source: str, model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[Any]:
        """Return an array of the kernel's by its name and where it is."""
        owner, _, field = source.partition(".")
        array: NDArray[Any] = getattr({"data": data, "model": model}.get(owner, self), field or name)
        return array

    def companion(self, kind: type[T], *arguments: Any) -> T:
        """Return the scene's one memory of a kind; where there is none yet, it is made, of these arguments."""
        if kind not in self.companions:
            self.companions[kind] = kind(*arguments)
        found: T = self.companions[kind]
        return found

    @contextmanager
    def own_springs(self, model: mujoco.MjModel) -> Iterator[None]:
        """Give a model back, for a while, the springs it came with: control writes its own over them.

        Whoever works something out on the model alone must not find what happens to drive it.
        """
        fields = [
            (model.jnt_stiffness, self.own_stiffness),
            (model.qpos_spring, self.own_rest),
            (model.dof_damping, self.own_damping),
        ]
        driven = [field.copy() for field, _ in fields]
        try:
            for field, own in fields:
                field[:] = own
            yield
        finally:
            for (field, _), values in zip(fields, driven, strict=True):
                field[:] = values

    def pulls(self, slot: int, strings: int) -> None:
        """Hear how many strings a program pulls."""
        self._pulled[slot] = strings
        self.counts["strings"] = sum(self._pulled.values())

    def save(self) -> dict[str, NDArray[Any]]:
        """Return a copy of everything that must survive a restore."""
        return {name: getattr(self, name).copy() for name in STATE}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Put a saved state back, in place."""
        for name in STATE:
            getattr(self, name)[...] = state[name]

    def carry(self, old: Board, by: Renumbered) -> None:
        """Tell everybody who was in another scene what it was told there."""
        for name in STATE:
            by.carry(_PER.get(name, "dof"), getattr(old, name), getattr(self, name))
