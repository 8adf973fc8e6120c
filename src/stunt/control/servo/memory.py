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
from stunt.maths.pointers import address_of

Floats = NDArray[np.float64]
Servo = Literal["world", "parent", "parent_equal", "beat"]
_MODES: Final = {"world": w.WORLD, "parent": w.PARENT, "parent_equal": w.PARENT, "beat": w.BEAT}
_ROOTS: Final = {"weak": w.WEAK, "hook": w.HOOK, "none": w.FREE, "own": w.FREE}
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
        default=1.0 / 240.0,
        kind=Number(1e-4, 1.0, unit="s"),
        help="over which the wanted velocity is measured (the paper's δ)",
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
        actors: A record of each, (n,) of `layout.ACTOR`.
        weight: Through how much of its joint each body is seen, (nbody,): below 1 where strength is short.
        owed: What contacts gave to kinematic actors lately and data took away again [N·s, N·m·s], (nv,).
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.names: list[str] = []
        self.actors = np.zeros(0, w.ACTOR)
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
        self._buffers: dict[str, NDArray[Any]] = {
            "count": self._count, "xquat": data.xquat, "xmat": data.xmat, "xpos": data.xpos, "cvel": data.cvel,
            "qacc": data.qacc, "constraint": data.qfrc_constraint, "parent": model.body_parentid,
            "sliding": model.geom_friction, "k1": self.k1, "k2": self.k2, "stiff": np.zeros(nb), "sum": np.zeros(nb),
            "seen": np.zeros(6 * nb), "lean": np.zeros(6 * nb), "force": np.zeros(3 * nb), "weight": self.weight,
            "load": self.load, "steer": self.steer, "leg": self._leg, "joint": np.zeros(nv), "torque": np.zeros(nv),
            "feed": np.zeros(nv), "flesh": np.zeros(nv), "axis": np.zeros(3 * nv), "acceleration": np.zeros(nv),
            "right": np.zeros(nv), "pace": np.zeros(nv), "owed": self.owed, "where": np.zeros(model.nq),
            "inertia": np.zeros(data.M.size), "state": np.zeros(mujoco.mj_stateSize(model, STEP_STATE)),
            "scratch": np.zeros(32), "smooth": data.qfrc_smooth,
        }  # fmt: skip
        self.table = np.zeros(len(w.TABLE.names), np.int64)
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
        self._count[0] = len(self.names)
        self.table[:] = w.TABLE.fill(actors=self.actors, **self._buffers)
        self._board.programs[WORLDSPACE] = address_of(self.table) if self.names else 0

    def add(self, character: Character, soles: list[int], settings: ServoSettings, root: RootSpring) -> int:
        """Take a character on; it is driven once it has rows. Return its number."""
        check_free(character)
        self.names.append(character.name)
        self.actors = np.append(self.actors, np.zeros(1, w.ACTOR))
        number = len(self.names) - 1
        self._rows[character.name] = [np.array(soles, np.int64)]
        self._grip.setdefault(character.name, self._model.geom_friction[soles, :2].reshape(-1, 2).copy())
        who = self.actors[number]
        joints = list(character.joints.values())
        who["root_body"], who["end_body"] = character.root_body, max(character.bodies.values()) + 1
        if character.root is not None:
            who["root_dof"], who["root_qpos"] = character.root.dof, character.root.qpos
        who["dof0"], who["dof1"] = joints[0].dof, joints[-1].dof + joints[-1].nv
        who["jnt0"], who["jnt1"] = joints[0].id, joints[-1].id + 1
        who["qpos0"], who["qpos1"] = joints[0].qpos, joints[-1].qpos + joints[-1].nq
        who["soles"], who["sole_count"] = address_of(self._rows[character.name][0]), len(soles)
        for geom in soles:  # the sole's friction counts, whatever it stands on
            self._model.geom_priority[geom] = max(1, int(self._model.geom_priority[geom]))
        who["stun_time"] = np.inf
        self.settle(number, settings, root)
        self._refresh()
        return number

    def settle(self, number: int, settings: ServoSettings, root: RootSpring) -> None:
        """Set or change how an actor follows."""
        who, model, data = self.actors[number], self._model, self._data
        first, end = int(who["root_body"]), int(who["end_body"])
        who["mode"], who["limited"] = _MODES[settings.servo], settings.limited
        who["external"] = settings.external and settings.servo == "world"
        who["held_tilt"], who["held_yaw"] = 0.0, 0.0
        self._give_damping_back(number)
        who["root_mode"] = _ROOTS[root.kind]
        self._board.law[who["jnt0"] : who["jnt1"]] = PASSIVE
        self._board.asks_support = bool((self.actors["mode"] == w.BEAT).any())
        moments = w.bone_moments(model, first, end)
        if settings.servo == "parent":
            moments = w.summed(model, first, end, moments)
        self.k1[first:end] = (moments * settings.omega**2)[first:end]
        self.k2[first:end] = (2.0 * moments * settings.omega)[first:end]
        mass = float(model.body_subtreemass[first])
        weight = mass * float(np.linalg.norm(model.opt.gravity))
        whole = w.whole_moment(model, data, first, end)
        rate = _HOOK_RATE if root.kind == "hook" else root.omega
        lever = weight * hip_height(model, int(who["root_qpos"]))
        who["look"], who["ahead"], who["gain"] = settings.look, settings.ahead, settings.gain
        who["root_k1"], who["root_k2"] = whole * rate**2, 2.0 * whole * rate
        who["torque_limit"], who["yaw_limit"] = root.limit * lever, root.yaw * lever
        who["break_angle"], who["air"], who["force_limit"] = root.breaks, root.air, root.force * weight
        who["weight"], who["whole_mass"], who["hook_k"] = max(weight, 1e-9), mass, _HOOK_RATE

    def aim(self, number: int, rows: ServoTargets, start: float) -> None:
        """Give an actor rows to follow from a time on [s]."""
        who = self.actors[number]
        name = self.names[number]
        kept = [self._rows[name][0], *(np.ascontiguousarray(x, float) for x in (
            rows.turns, rows.path, self._soles_hold(name, rows)
        ))]  # fmt: skip
        self._rows[name] = kept
        who["rows"], who["roots"], who["friction"] = (address_of(x) for x in kept[1:4])
        who["row_torque"] = 0
        if rows.torque is not None:
            kept.append(np.ascontiguousarray(rows.torque, float))
            who["row_torque"] = address_of(kept[-1])
        self._take_legs(number, rows, kept)
        who["frames"], who["active"] = len(rows.path), 1
        who["start"], who["fps"] = start, rows.fps

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
        who = self.actors[number]
        first, end = int(who["root_body"]), int(who["end_body"])
        who["leg_count"], self._leg[first:end] = 0, 0
        if rows.swing is None or rows.legs is None:
            self.steer[first:end] = 0.0
            return
        legs = rows.legs + first
        kept += [np.ascontiguousarray(legs, np.int64), np.ascontiguousarray(rows.swing, float)]
        who["legs"], who["swing"], who["leg_count"] = address_of(kept[-2]), address_of(kept[-1]), len(legs)
        for thigh, foot, last in legs:
            self._leg[thigh:foot], self._leg[foot:last] = thigh, -thigh

    def play(self, number: int, data: PlayedFrames, start: float, firm: float = 1.0) -> None:
        """Put an actor on data from a time on [s].

        `firm`: with how many times its inertia it pushes what is in the way.
        """
        who = self.actors[number]
        self._played[self.names[number]] = data.lead, data.base
        who["mode"], who["active"] = w.KINEMATIC, 1
        who["kin_rows"], who["kin_frames"] = address_of(data.lead), len(data.lead)
        who["kin_base"], who["kin_base_frames"] = address_of(data.base), len(data.base)
        who["kin_first"], who["kin_loop"] = data.first, data.loop
        self._give_damping_back(number)
        who["kin_start"], who["kin_fps"], who["kin_firm"] = start, data.fps, firm
        who["kin_at"], who["kin_step"], who["kin_rounds"] = data.at, data.step, 0.0
        who["torque"] = who["force"] = 0.0  # nobody pulls: the data does

    def leave_data(self, number: int, settings: ServoSettings) -> None:
        """Let forces have an actor that was on data; it is driven once it is aimed."""
        who = self.actors[number]
        who["mode"], who["active"] = _MODES[settings.servo], 0

    def release(self, number: int) -> None:
        """Let an actor go: a rag doll."""
        who = self.actors[number]
        who["active"] = 0
        self._give_damping_back(number)
        for d in (*range(who["root_dof"], who["root_dof"] + 6), *range(who["dof0"], who["dof1"])):
            self._data.qfrc_applied[d] = self._board.torque[d] = 0.0
        # A foot that was swinging slid; limp, it is a foot like any other.
        self._model.geom_friction[self._rows[self.names[number]][0], :2] = self._grip[self.names[number]]

    def _give_damping_back(self, number: int) -> None:
        """Leave the joints' own damping to the engine, until the servo takes it over again."""
        dofs = slice(int(self.actors["dof0"][number]), int(self.actors["dof1"][number]))
        self._model.dof_damping[dofs] = self._board.own_damping[dofs]

    def stun(self, number: int, time: float, *, down: float, hold: float, up: float, low: float) -> None:
        """Let an actor's strength sink to a share `low` within `down` seconds, and come back over `up`."""
        who = self.actors[number]
        who["stun_time"], who["stun_low"] = time, low
        who["stun_down"], who["stun_hold"], who["stun_up"] = down, hold, up

    def save(self) -> dict[str, Any]:
        """Return everything that must survive a restore; rows are never changed, so they are shared."""
        friction = self._model.geom_friction.copy()
        return {
            "actors": self.actors.copy(), "weight": self.weight.copy(),
            "k": (self.k1.copy(), self.k2.copy()), "rows": {n: list(r) for n, r in self._rows.items()},
            "owed": self.owed.copy(), "load": self.load.copy(), "played": dict(self._played),
            "steer": (self.steer.copy(), self._leg.copy()),
            "friction": friction, "constraint": self._data.qfrc_constraint.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.actors[: len(state["actors"])] = state["actors"]  # whoever joined since lets go by itself
        self.weight[...] = state["weight"]
        self._board.asks_support = bool((self.actors["mode"] == w.BEAT).any())
        self.k1[...], self.k2[...] = state["k"]
        self.load[...] = state["load"]
        self.steer[...], self._leg[...] = state["steer"]
        self._rows |= {n: list(r) for n, r in state["rows"].items()}
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
