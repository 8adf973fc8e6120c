"""The memory of the world-space servo: who follows which rows of a clip, and how. One per stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.core.board import PASSIVE, Board
from stunt.control.core.engine import STEP_STATE
from stunt.control.core.programs import WORLDSPACE
from stunt.control.servo import layout as w
from stunt.control.servo.root_spring import RootSpring
from stunt.errors import BodyError
from stunt.keys import TRUTH, Choice, Number, key, spec

Floats = NDArray[np.float64]
Servo = Literal["world", "parent", "parent_equal", "beat"]
_MODES: Final = {"world": w.WORLD, "parent": w.PARENT, "parent_equal": w.PARENT, "beat": w.BEAT}
_ROOTS: Final = {"weak": w.WEAK, "hook": w.HOOK, "none": w.FREE}
_HOOK_RATE = 30.0  # [1/s]


@spec("a servo")
class ServoSettings:
    """How a clip is followed.

    `parent` sums each joint's stiffness over what hangs on it; `parent_equal` has the gains per bone of world space
    (the paper's comparison); `beat` is the beat law, joint by joint, each heading for the clip a little ahead (see
    `stunt.control.servo.beat`). `external` is the paper's form (see `worldspace_external`).

    Attributes:
        omega: Natural frequency of the bones [1/s].
        plant: Whether feet that stand in the clip are made to stand, and spikes of the capture bridged (see
            `stunt.drive.feet.plant` and `mended`).
        clear: Whether swinging feet are lifted where they pass the floor too low (see
            `stunt.drive.feet.plant`): they scuff a third to a half less, and hold the heading less.
        foresee: Whether the torques the motion takes are fed forward (see `stunt.drive.prepare.feed_forward`); never
            with `external`.
    """

    servo: Servo = key(
        default="world", kind=Choice("servo", ("world", "parent", "parent_equal", "beat")), help="how it is followed"
    )
    omega: float = w.OMEGA
    gain: float = key(default=1.0, kind=Number(0.01, 100.0), help="factor on all gains")
    look: float = key(
        default=1.0 / 60.0, kind=Number(1e-4, 1.0, unit="s"), help="over which the wanted velocity is measured"
    )
    ahead: float = key(
        default=0.04, kind=Number(0.01, 1.0, unit="s"), help="how far the servo `beat` looks ahead; that servo only"
    )
    limited: bool = key(default=True, kind=TRUTH, help="whether joints keep within their strength")
    external: bool = key(
        default=False, kind=TRUTH, help="the paper's form: torques on the bones from outside, as far as the root is "
        "held; all of it counts as assistance; servo `world` only",
    )  # fmt: skip
    plant: bool = True
    clear: bool = False
    steer: bool = key(
        default=True, kind=TRUTH, help="whether swinging legs bring the body back to the clip's place and heading"
    )
    foresee: bool = True


@dataclass(frozen=True, eq=False)
class ServoTargets:
    """A motion as the servo reads it.

    Attributes:
        fps: Rows per second.
        turns: Orientation of each body seen from the root, the root's own in the world, (F, bodies, 4).
        path: Position of the root [m], (F, 3).
        friction: Sliding friction of each sole, (F, soles).
        qpos: Joint coordinates without the root's, (F, nq).
        torque: Torques the motion takes, without the root's [N·m], (F, nv); None: nothing is fed forward.
        asked: What the clip asked for, where `turns` were changed on purpose, (F, bodies, 4).
        swing: How much each leg swings, 0 to 1, (F, legs); None: nobody steers.
        legs: First body of each leg, its foot, and one past its last, counted from the root's, (legs, 3).
        twist: How firmly each sole holds against turning, as a share of all of it, (F, soles); None: all of it.
    """

    fps: float
    turns: Floats
    path: Floats
    friction: Floats
    qpos: Floats
    torque: Floats | None = None
    asked: Floats | None = None
    swing: Floats | None = None
    legs: NDArray[np.int64] | None = None
    twist: Floats | None = None


@dataclass(frozen=True, eq=False)
class PlayedFrames:
    """What a kinematic actor is put on: positions and velocities side by side, (F, nq + nv) each, C-contiguous.

    Attributes:
        lead: Frames of its own that come first; the last one is as the motion has it. May be empty.
        base: The motion as it is, two frames at least.
        fps: Frames per second of both.
        first: Which frame of the motion goes with the lead's first.
        loop: Whether the motion begins again after its last frame, which then is its first one, a round later.
        at: Where the motion is placed: x, y [m], heading [rad].
        step: How far one round goes, likewise.
    """

    lead: Floats
    base: Floats
    fps: float
    first: int
    loop: bool
    at: tuple[float, float, float]
    step: tuple[float, float, float]


class WorldspaceProgram:
    """Drives characters of one stage along rows.

    Attributes:
        names: Who, in the order of the arrays.
        ints: Integers of each actor (see `worldspace`).
        numbers: Numbers of each actor.
        weight: Through how much of its joint each body is seen, (nbody,): below 1 where strength is short.
        owed: What contacts gave to kinematic actors lately and data took away again [N·s, N·m·s], (nv,).
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.names: list[str] = []
        self.ints = np.zeros((0, w.INTS), np.int64)
        self.numbers = np.zeros((0, w.NUMBERS))
        self.weight = np.ones(model.nbody)
        self.k1, self.k2 = np.zeros(model.nbody), np.zeros(model.nbody)
        self.load = np.zeros(model.nbody)
        self.owed = np.zeros(model.nv)
        self.steer, self._leg = np.zeros((model.nbody, 3)), np.zeros(model.nbody, np.int64)
        self._played: dict[str, tuple[Floats, Floats]] = {}
        self._rows: dict[str, list[NDArray[Any]]] = {}
        self._grip: dict[str, Floats] = {}  # of soles at rest: sliding, and turning [m]
        self._count = np.zeros(1, np.int64)
        nv, nb = model.nv, model.nbody
        state = np.zeros(mujoco.mj_stateSize(model, STEP_STATE))
        self._buffers: dict[int, NDArray[Any]] = {
            w.T_ACTORS: self._count, w.T_XQUAT: data.xquat, w.T_CVEL: data.cvel, w.T_QACC: data.qacc,
            w.T_CONSTRAINT: data.qfrc_constraint, w.T_PARENT: model.body_parentid, w.T_K1: self.k1, w.T_K2: self.k2,
            w.T_SUM: np.zeros(nb), w.T_SEEN: np.zeros(6 * nb), w.T_LEAN: np.zeros(6 * nb),
            w.T_FORCE: np.zeros(3 * nb), w.T_JOINT: np.zeros(nv), w.T_WEIGHT: self.weight, w.T_TORQUE: np.zeros(nv),
            w.T_ACCELERATION: np.zeros(nv), w.T_RIGHT: np.zeros(nv), w.T_INERTIA: np.zeros(data.M.size),
            w.T_STATE: state, w.T_SLIDING: model.geom_friction, w.T_SCRATCH: np.zeros(32),
            w.T_WHERE: np.zeros(model.nq), w.T_PACE: np.zeros(nv), w.T_OWED: self.owed,
            w.T_FEED: np.zeros(nv), w.T_LOAD: self.load, w.T_STIFF: np.zeros(nb), w.T_FLESH: np.zeros(nv),
            w.T_AXIS: np.zeros(3 * nv), w.T_XMAT: data.xmat, w.T_XPOS: data.xpos,
            w.T_STEER: self.steer, w.T_LEG: self._leg,
        }  # fmt: skip
        self.table = np.zeros(w.TABLE, np.int64)
        self._refresh()

    @staticmethod
    def on(model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> WorldspaceProgram:
        """Return the board's world-space program, making it if there is none."""
        known = getattr(board, "worldspace", None)
        if isinstance(known, WorldspaceProgram):
            return known
        program = WorldspaceProgram(model, data, board)
        board.worldspace = program  # type: ignore[attr-defined]
        return program

    def _refresh(self) -> None:
        self._buffers[w.T_INTS], self._buffers[w.T_NUMBERS] = self.ints, self.numbers
        self._count[0] = len(self.names)
        for slot, array in self._buffers.items():
            self.table[slot] = array.ctypes.data
        self._board.programs[WORLDSPACE] = self.table.ctypes.data if self.names else 0

    def add(self, character: Character, soles: list[int], settings: ServoSettings, root: RootSpring) -> int:
        """Take a character on; it is driven once it has rows. Return its number."""
        check_free(character)
        self.names.append(character.name)
        self.ints = np.vstack([self.ints, np.zeros((1, w.INTS), np.int64)])
        self.numbers = np.vstack([self.numbers, np.zeros((1, w.NUMBERS))])
        number = len(self.names) - 1
        self._rows[character.name] = [np.array(soles, np.int64)]
        self._grip.setdefault(character.name, self._model.geom_friction[soles, :2].reshape(-1, 2).copy())
        a = self.ints[number]
        joints = list(character.joints.values())
        a[w.ROOT_BODY], a[w.END_BODY] = character.root_body, max(character.bodies.values()) + 1
        if character.root is not None:
            a[w.ROOT_DOF], a[w.ROOT_QPOS] = character.root.dof, character.root.qpos
        a[w.DOF0], a[w.DOF1] = joints[0].dof, joints[-1].dof + joints[-1].nv
        a[w.JNT0], a[w.JNT1] = joints[0].id, joints[-1].id + 1
        a[w.QPOS0], a[w.QPOS1] = joints[0].qpos, joints[-1].qpos + joints[-1].nq
        a[w.SOLES], a[w.SOLE_COUNT] = self._rows[character.name][0].ctypes.data, len(soles)
        for geom in soles:  # the sole's friction counts, whatever it stands on
            self._model.geom_priority[geom] = max(1, int(self._model.geom_priority[geom]))
        self.numbers[number, w.STUN_TIME] = np.inf
        self.settle(number, settings, root)
        self._refresh()
        return number

    def settle(self, number: int, settings: ServoSettings, root: RootSpring) -> None:
        """Set or change how an actor follows."""
        a, f, model, data = self.ints[number], self.numbers[number], self._model, self._data
        first, end = int(a[w.ROOT_BODY]), int(a[w.END_BODY])
        a[w.MODE], a[w.LIMITED] = _MODES[settings.servo], settings.limited
        a[w.EXTERNAL] = settings.external and settings.servo == "world"
        f[w.HELD_TILT], f[w.HELD_YAW] = 0.0, 0.0
        self._give_damping_back(number)
        a[w.ROOT_MODE] = _ROOTS[root.kind]
        self._board.law[a[w.JNT0] : a[w.JNT1]] = PASSIVE
        self._board.asks_support = bool((self.ints[:, w.MODE] == w.BEAT).any())
        moments = w.bone_moments(model, first, end)
        if settings.servo == "parent":
            moments = w.summed(model, first, end, moments)
        self.k1[first:end] = (moments * settings.omega**2)[first:end]
        self.k2[first:end] = (2.0 * moments * settings.omega)[first:end]
        mass = float(model.body_subtreemass[first])
        weight = mass * float(np.linalg.norm(model.opt.gravity))
        whole = w.whole_moment(model, data, first, end)
        rate = _HOOK_RATE if root.kind == "hook" else root.omega
        lever = weight * hip_height(model, int(a[w.ROOT_QPOS]))
        f[w.LOOK], f[w.AHEAD], f[w.GAIN] = settings.look, settings.ahead, settings.gain
        f[w.ROOT_K1], f[w.ROOT_K2] = whole * rate**2, 2.0 * whole * rate
        f[w.TORQUE_LIMIT], f[w.YAW_LIMIT] = root.limit * lever, root.yaw * lever
        f[w.BREAK_ANGLE], f[w.AIR], f[w.FORCE_LIMIT] = root.breaks, root.air, root.force * weight
        f[w.WEIGHT], f[w.WHOLE_MASS], f[w.HOOK_K] = max(weight, 1e-9), mass, _HOOK_RATE

    def aim(self, number: int, rows: ServoTargets, start: float) -> None:
        """Give an actor rows to follow from a time on [s]."""
        a, f = self.ints[number], self.numbers[number]
        name = self.names[number]
        kept = [self._rows[name][0], *(np.ascontiguousarray(x, float) for x in (
            rows.turns, rows.path, self._soles_hold(name, rows)
        ))]  # fmt: skip
        self._rows[name] = kept
        a[w.ROWS], a[w.ROOTS], a[w.FRICTION] = (x.ctypes.data for x in kept[1:4])
        a[w.ROW_TORQUE] = 0
        if rows.torque is not None:
            kept.append(np.ascontiguousarray(rows.torque, float))
            a[w.ROW_TORQUE] = kept[-1].ctypes.data
        self._take_legs(number, rows, kept)
        a[w.FRAMES], a[w.ACTIVE] = len(rows.path), 1
        f[w.START], f[w.FPS] = start, rows.fps

    def _soles_hold(self, name: str, rows: ServoTargets) -> Floats:
        """Return the friction of each sole, then how it holds against turning [m], (F, 2·soles)."""
        grip = self._grip[name]
        sliding = rows.friction[:, : len(grip)]
        twisting = sliding * grip[:, 1] / np.maximum(grip[:, 0], 1e-9)  # it twists as easily as it slides, or easier
        if rows.twist is not None:
            twisting = twisting * rows.twist[:, : len(grip)]
        return np.concatenate([sliding, twisting], axis=1)

    def _take_legs(self, number: int, rows: ServoTargets, kept: list[NDArray[Any]]) -> None:
        """Note which legs steer, and when each swings."""
        a = self.ints[number]
        first, end = int(a[w.ROOT_BODY]), int(a[w.END_BODY])
        a[w.LEG_COUNT], self._leg[first:end] = 0, 0
        if rows.swing is None or rows.legs is None:
            self.steer[first:end] = 0.0
            return
        legs = rows.legs + first
        kept += [np.ascontiguousarray(legs, np.int64), np.ascontiguousarray(rows.swing, float)]
        a[w.LEGS], a[w.SWING], a[w.LEG_COUNT] = kept[-2].ctypes.data, kept[-1].ctypes.data, len(legs)
        for thigh, foot, last in legs:
            self._leg[thigh:foot], self._leg[foot:last] = thigh, -thigh

    def play(self, number: int, data: PlayedFrames, start: float, firm: float = 1.0) -> None:
        """Put an actor on data from a time on [s].

        `firm`: with how many times its inertia it pushes what is in the way.
        """
        a, f = self.ints[number], self.numbers[number]
        self._played[self.names[number]] = data.lead, data.base
        a[w.KIN_ROWS], a[w.KIN_FRAMES], a[w.MODE], a[w.ACTIVE] = data.lead.ctypes.data, len(data.lead), w.KINEMATIC, 1
        a[w.KIN_BASE], a[w.KIN_BASE_FRAMES] = data.base.ctypes.data, len(data.base)
        a[w.KIN_FIRST], a[w.KIN_LOOP] = data.first, data.loop
        self._give_damping_back(number)
        f[w.KIN_START], f[w.KIN_FPS], f[w.KIN_FIRM] = start, data.fps, firm
        f[w.KIN_AT : w.KIN_AT + 3], f[w.KIN_STEP : w.KIN_STEP + 3], f[w.KIN_ROUNDS] = data.at, data.step, 0.0
        f[w.TORQUE : w.TORQUE + 6] = 0.0  # nobody pulls: the data does

    def leave_data(self, number: int, settings: ServoSettings) -> None:
        """Let forces have an actor that was on data; it is driven once it is aimed."""
        self.ints[number, w.MODE], self.ints[number, w.ACTIVE] = _MODES[settings.servo], 0

    def release(self, number: int) -> None:
        """Let an actor go: a rag doll."""
        a = self.ints[number]
        a[w.ACTIVE] = 0
        self._give_damping_back(number)
        for d in (*range(a[w.ROOT_DOF], a[w.ROOT_DOF] + 6), *range(a[w.DOF0], a[w.DOF1])):
            self._data.qfrc_applied[d] = self._board.torque[d] = 0.0
        # A foot that was swinging slid; limp, it is a foot like any other.
        self._model.geom_friction[self._rows[self.names[number]][0], :2] = self._grip[self.names[number]]

    def _give_damping_back(self, number: int) -> None:
        """Leave the joints' own damping to the engine, until the servo takes it over again."""
        dofs = slice(int(self.ints[number, w.DOF0]), int(self.ints[number, w.DOF1]))
        self._model.dof_damping[dofs] = self._board.own_damping[dofs]

    def stun(self, number: int, time: float, *, down: float, hold: float, up: float, low: float) -> None:
        """Let an actor's strength sink to a share `low` within `down` seconds, and come back over `up`."""
        f = self.numbers[number]
        f[w.STUN_TIME], f[w.STUN_DOWN], f[w.STUN_HOLD], f[w.STUN_UP], f[w.STUN_LOW] = time, down, hold, up, low

    def save(self) -> dict[str, Any]:
        """Return everything that must survive a restore; rows are never changed, so they are shared."""
        friction = self._model.geom_friction.copy()
        return {
            "ints": self.ints.copy(), "numbers": self.numbers.copy(), "weight": self.weight.copy(),
            "k": (self.k1.copy(), self.k2.copy()), "rows": {n: list(r) for n, r in self._rows.items()},
            "owed": self.owed.copy(), "load": self.load.copy(), "played": dict(self._played),
            "steer": (self.steer.copy(), self._leg.copy()),
            "friction": friction, "constraint": self._data.qfrc_constraint.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.ints[...], self.numbers[...], self.weight[...] = state["ints"], state["numbers"], state["weight"]
        self._board.asks_support = bool((self.ints[:, w.MODE] == w.BEAT).any())
        self.k1[...], self.k2[...] = state["k"]
        self.load[...] = state["load"]
        self.steer[...], self._leg[...] = state["steer"]
        self._rows = {n: list(r) for n, r in state["rows"].items()}
        self.owed[...], self._played = state["owed"], dict(state["played"])
        self._model.geom_friction[...] = state["friction"]
        self._data.qfrc_constraint[...] = state["constraint"]


def hip_height(model: mujoco.MjModel, qpos: int) -> float:
    """Return the height of the root in the body's reference stance [m]: the h of m·g·h.

    A body that was put into its file with its root on the floor says nothing of its hips; it counts as a person's.
    """
    height = float(model.qpos0[qpos + 2])
    return height if height > 0.05 else 1.0


def check_free(character: Character) -> None:
    """Raise where a character cannot follow a clip."""
    if character.root is None:
        raise BodyError(f"'{character.name}' must have a free root to follow a clip.")
