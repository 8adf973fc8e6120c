"""The memory of the world-space servo: who follows which rows of a clip, and how. One per stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.core.board import PASSIVE, Board
from stunt.control.core.programs import WORLDSPACE
from stunt.control.core.renumbered import Renumbered
from stunt.control.servo.law import RootSpring, ServoSettings, bone_moments, stun_share, summed, whole_moment
from stunt.errors import BodyError
from stunt.maths.pointers import ADDRESS, AddressTable, address_of, layout, record

Floats = NDArray[np.float64]
WORLD, PARENT, BEAT, KINEMATIC, ROOT = 0, 1, 2, 3, 4
"""Modes of an actor: world space, parent space, the beat law (joint by joint, looking ahead), or put on data."""
WEAK, HOOK, FREE = 0, 1, 2
"""Root: weak spring, meat-hook, nothing."""
_LONG, _FLOAT = np.int64, np.float64

ACTOR: Final = layout(
    # Who it is.
    ("root_body", _LONG),  # its first body
    ("end_body", _LONG),  # one past its last
    ("root_dof", _LONG),
    ("root_qpos", _LONG),
    ("dof0", _LONG),  # its joints' degrees of freedom: the first, and one past the last
    ("dof1", _LONG),
    ("jnt0", _LONG),  # its joints, likewise
    ("jnt1", _LONG),
    ("qpos0", _LONG),  # its joints' positions, likewise
    ("qpos1", _LONG),
    ("soles", _LONG),  # address of its soles' geoms
    ("sole_count", _LONG),
    # How it is driven.
    ("active", _LONG),  # whether it is driven at all
    ("mode", _LONG),  # WORLD, PARENT, BEAT, KINEMATIC, or ROOT: others drive its joints
    ("external", _LONG),  # whether torques act from outside
    ("root_mode", _LONG),  # WEAK, HOOK or FREE
    ("limited", _LONG),  # whether its joints keep within their strength
    ("gain", _FLOAT),  # factor on all gains
    ("look", _FLOAT),  # seconds over which wanted velocities are measured
    ("ahead", _FLOAT),  # seconds the beat law looks ahead
    ("root_k1", _FLOAT),  # the root's spring [N·m/rad]
    ("root_k2", _FLOAT),  # and damper [N·m·s/rad]
    ("hook_k", _FLOAT),  # rate of a meat-hook [1/s]
    ("torque_limit", _FLOAT),  # of the root's spring [N·m]
    ("yaw_limit", _FLOAT),  # about the vertical [N·m]
    ("force_limit", _FLOAT),  # along the ground [N]
    ("mend_torque", _FLOAT),  # a broken one that would need less holds again [N·m]
    ("break_torque", _FLOAT),  # the spring lets go where it would need more [N·m]
    ("air", _FLOAT),  # factor on it while nothing is touched
    ("weight", _FLOAT),  # of the body [N]
    ("whole_mass", _FLOAT),  # likewise [kg]
    # What it follows.
    ("frames", _LONG),
    ("start", _FLOAT),  # when the first frame is due [s]
    ("fps", _FLOAT),
    ("rows", _LONG),  # address of the orientations
    ("absolute", _LONG),  # whether these are the clip's in the world, the actual root's turn and spin taken out of them
    ("roots", _LONG),  # address of the root's path
    ("friction", _LONG),  # address of the soles' friction
    ("row_torque", _LONG),  # address of the torques the motion takes, or 0
    ("legs", _LONG),  # address of the legs that steer
    ("leg_count", _LONG),
    ("swing", _LONG),  # address of how much they swing
    # The data it is put on: a lead of frames of its own, then the motion's.
    ("kin_rows", _LONG),  # address of the lead
    ("kin_frames", _LONG),
    ("kin_base", _LONG),  # address of the motion
    ("kin_base_frames", _LONG),
    ("kin_first", _LONG),  # frame of the motion that goes with the lead's first
    ("kin_loop", _LONG),  # whether it begins again
    ("kin_start", _FLOAT),  # [s]
    ("kin_fps", _FLOAT),
    ("kin_firm", _FLOAT),  # with how many times its inertia it pushes
    ("kin_at", _FLOAT, 3),  # where the motion is placed: x, y [m], heading [rad]
    ("kin_step", _FLOAT, 3),  # how far one round of it goes
    ("kin_rounds", _FLOAT),  # rounds so far
    # A stun: strength sinks, stays low, and comes back.
    ("stun_time", _FLOAT),  # when [s]; infinite: never
    ("stun_down", _FLOAT),  # [s]
    ("stun_hold", _FLOAT),  # [s]
    ("stun_up", _FLOAT),  # [s]
    ("stun_from", _FLOAT),  # share of strength it had when it was struck
    ("stun_low", _FLOAT),  # and falls to
    # The root's help in the last step.
    ("torque", _FLOAT, 3),  # [N·m]
    ("force", _FLOAT, 3),  # [N]
    ("touching", _FLOAT),  # 1 where the body touches anything
    ("strays", _FLOAT),  # how much faster than its motion's its root goes over the ground, either way [m/s]
    ("adrift", _FLOAT),  # for how long nothing has carried it, its motion's own flight apart [s]
    ("thud", _FLOAT),  # by how much contacts have stopped it lately, its weight apart [m/s]
    ("worst_thud", _FLOAT),  # the most of that since it was last asked for [m/s]
    ("root_error", _FLOAT),  # tilt [rad]
    ("heading", _FLOAT),  # how far the root has to turn about the vertical to face as the clip does [rad]
    ("needed", _FLOAT),  # what its spring would give without any limit and at full strength [N·m]
    ("snapped", _LONG),  # whether its spring is broken
    ("broken", _FLOAT),  # for how long it has needed more than it stands, or been broken [s]
    ("whole", _FLOAT),  # for how long it has not been broken [s]
    ("held_tilt", _FLOAT),  # how much of the help is left by its clamps, across the vertical, 0 to 1
    ("held_yaw", _FLOAT),  # and about it
    ("tilt_stiff", _FLOAT),  # the weak spring's part of the root's inertia in the external form [kg·m²]
    ("yaw_stiff", _FLOAT),  # likewise about the vertical
    # Meters.
    ("steps", _FLOAT),
    ("torque_sum", _FLOAT),  # over all steps [N·m]
    ("torque_peak", _FLOAT),
    ("force_sum", _FLOAT),  # [N]
    ("force_peak", _FLOAT),
    ("joint_steps", _FLOAT),  # steps, counted for every joint,
    ("over", _FLOAT),  # of these, over the joint's strength,
    ("worst", _FLOAT),  # and the largest share of a strength
)
"""Somebody the servo drives."""
actor_at = record(ACTOR)

SCRATCH: Final = layout(
    ("now", _FLOAT, 4),  # an orientation as the clip has it now,
    ("before", _FLOAT, 4),  # half a look before,
    ("after", _FLOAT, 4),  # and after
    ("hung", _FLOAT, 4),  # what a bone hangs on, inverted
    ("goal", _FLOAT, 4),  # where it should be in the world
    ("turn", _FLOAT, 4),  # by which something is turned
    ("error", _FLOAT, 3),  # from where it is to where it should be [rad]
    ("spin", _FLOAT, 3),  # how fast it should turn
)

TABLE: Final = AddressTable(
    "Servo",
    (
        ("actors", ADDRESS),
        ("count", _LONG),
        # The engine's.
        ("xquat", _FLOAT),
        ("xmat", _FLOAT),
        ("xpos", _FLOAT),
        ("cvel", _FLOAT),
        ("qacc", _FLOAT),
        ("constraint", _FLOAT),  # contact forces of the last step
        ("smooth", _FLOAT),  # all other forces of it
        ("parent", np.int32),
        ("sliding", _FLOAT),  # friction of the geoms
        # Of each body.
        ("k1", _FLOAT),  # spring [N·m/rad]
        ("k2", _FLOAT),  # damper [N·m·s/rad]
        ("usual", _FLOAT),  # times its gains: what a program says
        ("stiff", _FLOAT),  # S = h·k₂ + h²·k₁ [kg·m²]
        ("sum", _FLOAT),  # of everything outboard
        ("seen", _FLOAT),  # error less the step's motion, and velocity error, 6
        ("lean", _FLOAT),  # the same through the weights, 6; then turns, 3
        ("force", _FLOAT),  # torque, 3
        ("weight", _FLOAT),  # through how much of its joint it is seen
        ("load", _FLOAT),  # of its joints, as a share of their strength
        ("steer", _FLOAT),  # how a leg is turned, 3
        ("leg", _LONG),  # thigh of the leg it belongs to; negative: of its foot; 0: none
        # Of each degree of freedom.
        ("joint", _FLOAT),  # torque before the step's motion
        ("torque", _FLOAT),  # and at its end
        ("feed", _FLOAT),  # what the motion itself takes
        ("flesh", _FLOAT),  # damping the engine leaves to the servo
        ("axis", _FLOAT),  # joint axis times the weight, 3
        ("acceleration", _FLOAT),  # foreseen
        ("right", _FLOAT),  # forces it is foreseen from
        ("pace", _FLOAT),  # velocity on the data
        ("owed", _FLOAT),  # impulse that contacts gave and data took away
        # Others.
        ("where", _FLOAT),  # position on the data
        ("inertia", _FLOAT),  # the body's own, in the engine's sparsity
        ("scratch", SCRATCH),
    ),
)
servo_at = TABLE.reader()

_MODES: Final = {"world": WORLD, "parent": PARENT, "parent_equal": PARENT, "beat": BEAT}
_ROOTS: Final = {"weak": WEAK, "hook": HOOK, "none": FREE, "own": FREE, "auto": WEAK, "": FREE}
_HOOK_RATE = 30.0  # [1/s]


@dataclass(frozen=True, eq=False)
class ServoTargets:
    """A motion as the servo reads it."""

    fps: float  #: Rows per second
    turns: Floats  #: Orientation of each body seen from the root, the root's own in the world, (F, bodies, 4)
    path: Floats  #: Position of the root [m], (F, 3)
    friction: Floats  #: Sliding friction of each sole, (F, soles)
    qpos: Floats  #: Joint coordinates without the root's, (F, nq)
    #: Torques the motion takes, without the root's [N·m], (F, nv); None: nothing is fed forward.
    torque: Floats | None = None
    asked: Floats | None = None  #: What the clip asked for, where `turns` were changed on purpose, (F, bodies, 4)
    swing: Floats | None = None  #: How much each leg swings, 0 to 1, (F, legs); None: nobody steers
    #: First body of each leg, its foot, and one past its last, counted from the root's, (legs, 3).
    legs: NDArray[np.int64] | None = None
    #: How firmly each sole holds against turning, as a share of all of it, (F, soles); None: all of it.
    twist: Floats | None = None


@dataclass(frozen=True, eq=False)
class PlayedFrames:
    """What a kinematic actor is put on: positions and velocities side by side, (F, nq + nv) each, C-contiguous."""

    lead: Floats  #: Frames of its own that come first; the last one is as the motion has it. May be empty.
    base: Floats  #: The motion as it is, two frames at least
    fps: float  #: Frames per second of both
    first: int  #: Which frame of the motion goes with the lead's first
    loop: bool  #: Whether the motion begins again after its last frame, which then is its first one, a round later
    at: tuple[float, float, float]  #: Where the motion is placed: x, y [m], heading [rad]
    step: tuple[float, float, float]  #: How far one round goes, likewise


class WorldspaceProgram:
    """Drives characters of one stage along rows.

    Attributes:
        names: Who, in the order of the arrays.
        actors: A record of each, (n,) of `ACTOR`.
        weight: Through how much of its joint each body is seen, (nbody,): below 1 where strength is short.
        owed: What contacts gave to kinematic actors lately and data took away again [N·s, N·m·s], (nv,).
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.spared: dict[str, list[int]] = {}  # joints that are somebody else's, whatever an actor follows
        self.names: list[str] = []
        self.actors = np.zeros(0, ACTOR)
        self.weight = np.ones(model.nbody)
        self.k1, self.k2, self.usual = np.zeros(model.nbody), np.zeros(model.nbody), np.ones(model.nbody)
        self._moments, self._omega = np.zeros(model.nbody), np.zeros(model.nbody)  # what gains are made of
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
            "sliding": model.geom_friction, "k1": self.k1, "k2": self.k2, "usual": self.usual, "stiff": np.zeros(nb),
            "sum": np.zeros(nb),
            "seen": np.zeros(6 * nb), "lean": np.zeros(6 * nb), "force": np.zeros(3 * nb), "weight": self.weight,
            "load": self.load, "steer": self.steer, "leg": self._leg, "joint": np.zeros(nv), "torque": np.zeros(nv),
            "feed": np.zeros(nv), "flesh": np.zeros(nv), "axis": np.zeros(3 * nv), "acceleration": np.zeros(nv),
            "right": np.zeros(nv), "pace": np.zeros(nv), "owed": self.owed, "where": np.zeros(model.nq),
            "inertia": np.zeros(data.M.size),
            "scratch": np.zeros(1, SCRATCH), "smooth": data.qfrc_smooth,
        }  # fmt: skip
        self.table = np.zeros(len(TABLE.names), np.int64)
        self._refresh()

    def _refresh(self) -> None:
        self._count[0] = len(self.names)
        self.table[:] = TABLE.fill(actors=self.actors, **self._buffers)
        self._board.programs[WORLDSPACE] = address_of(self.table) if self.names else 0

    def add(self, character: Character, soles: list[int], settings: ServoSettings, root: RootSpring) -> int:
        """Take a character on; it is driven once it has rows. Return its number."""
        check_free(character)
        self.names.append(character.name)
        self.actors = np.append(self.actors, np.zeros(1, ACTOR))
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
        let_soles_count(self._model, soles)
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
        theirs = self.spared.get(self.names[number], [])
        laws = self._board.law[theirs].copy()
        self._board.law[who["jnt0"] : who["jnt1"]] = PASSIVE
        self._board.law[theirs] = laws
        self._board.asks_support = bool((self.actors["mode"] == BEAT).any())
        moments = bone_moments(model, first, end)
        if settings.servo == "parent":
            moments = summed(model, first, end, moments)
        self._moments[first:end], self._omega[first:end] = moments[first:end], settings.omega
        self.set_tone(number, 1.0)
        mass = float(model.body_subtreemass[first])
        weight = mass * float(np.linalg.norm(model.opt.gravity))
        whole = whole_moment(model, data, first, end)
        rate = _HOOK_RATE if root.kind == "hook" else root.omega
        lever = weight * hip_height(model, int(who["root_qpos"]))
        who["look"], who["ahead"], who["gain"] = settings.look, settings.ahead, settings.whole_gain
        who["root_k1"], who["root_k2"] = whole * rate**2, 2.0 * whole * rate
        who["torque_limit"], who["yaw_limit"] = root.limit * lever, root.yaw * lever
        who["break_torque"] = root.breaks * lever if root.kind != "hook" else np.inf
        who["mend_torque"] = min(root.limit, root.breaks) * lever
        who["air"], who["force_limit"] = root.air, root.force * weight
        who["weight"], who["whole_mass"], who["hook_k"] = max(weight, 1e-9), mass, _HOOK_RATE

    def set_tone(self, number: int, tone: Floats | float) -> None:
        """Set how stiff each of an actor's bones is held beside the others, (B,): a factor on its gains."""
        own = slice(int(self.actors[number]["root_body"]), int(self.actors[number]["end_body"]))
        tone = tone * self.usual[own]
        self.k1[own] = tone * self._moments[own] * self._omega[own] ** 2
        self.k2[own] = 2.0 * tone * self._moments[own] * self._omega[own]

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

    def hold_root(self, number: int, rows: ServoTargets, start: float) -> None:
        """Hold an actor's root, and nothing else of it, at rows from a time on [s]."""
        laws = self._board.law.copy()
        self.aim(number, rows, start)
        self._give_damping_back(number)
        self.actors[number]["mode"] = ROOT
        self._board.law[:] = laws

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
        who["mode"], who["active"] = KINEMATIC, 1
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
        """Let an actor's strength sink to a share `low` within `down` seconds, and come back over `up`.

        Whoever is stunned already is not stronger for it at any time after, however light the second blow.
        """
        who = self.actors[number]
        since = time - float(who["stun_time"])
        share, left = 1.0, 0.0
        if since >= 0.0:
            past = (float(who[f"stun_{name}"]) for name in ("from", "low", "down", "hold", "up"))
            share = stun_share(since, *past)
            left = float(who["stun_down"] + who["stun_hold"]) - since  # until it would have begun to recover
            low, up = min(low, share if left <= 0.0 else float(who["stun_low"])), max(up, float(who["stun_up"]))
        who["stun_time"], who["stun_from"], who["stun_low"] = time, share, min(low, share)
        who["stun_down"], who["stun_hold"], who["stun_up"] = down, max(hold, left - down), up

    @property
    def _gains(self) -> tuple[Floats, ...]:
        return self.k1, self.k2, self._moments, self._omega, self.usual

    def save(self) -> dict[str, Any]:
        """Return everything that must survive a restore; rows are never changed, so they are shared."""
        friction = self._model.geom_friction.copy()
        return {
            "actors": self.actors.copy(), "weight": self.weight.copy(),
            "k": tuple(k.copy() for k in self._gains), "rows": {n: list(r) for n, r in self._rows.items()},
            "owed": self.owed.copy(), "load": self.load.copy(), "played": dict(self._played),
            "steer": (self.steer.copy(), self._leg.copy()),
            "friction": friction, "constraint": self._data.qfrc_constraint.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.actors[: len(state["actors"])] = state["actors"]  # whoever joined since lets go by itself
        self.weight[...] = state["weight"]
        self._board.asks_support = bool((self.actors["mode"] == BEAT).any())
        for gains, saved in zip(self._gains, state["k"], strict=True):
            gains[...] = saved
        self.load[...] = state["load"]
        self.steer[...], self._leg[...] = state["steer"]
        self._rows |= {n: list(r) for n, r in state["rows"].items()}
        self.owed[...], self._played = state["owed"], dict(state["played"])
        self._model.geom_friction[...] = state["friction"]
        self._data.qfrc_constraint[...] = state["constraint"]

    def carry(self, old: WorldspaceProgram, number: int, before: int, by: Renumbered) -> None:
        """Go on with an actor that was taken on anew, as number `before` of another scene was driven."""
        who, was, name = self.actors[number], old.actors[before], self.names[number]
        fields = ACTOR.names or ()
        for field in fields[fields.index("active") :]:
            who[field] = was[field]
        # Rows and data have stayed where they were; only what counts bodies and geoms is another's.
        kept = self._rows[name] = [self._rows[name][0], *old._rows[name][1:]]
        if name in old._played:
            self._played[name] = old._played[name]
        for array in ("k1", "k2", "_moments", "_omega", "usual", "weight", "load", "steer", "_leg"):
            by.carry("body", getattr(old, array), getattr(self, array))
        first, end = int(who["root_body"]), int(who["end_body"])
        shift, leg = first - int(was["root_body"]), self._leg[first:end]
        leg += shift * np.sign(leg)
        if who["leg_count"]:
            kept[-2] = kept[-2] + shift  # which bodies they are; then how much they swing
            who["legs"] = address_of(kept[-2])
        self._grip[name] = old._grip[name]
        by.carry("dof", old.owed, self.owed)
        # Being taken on gives joints back to the engine, and takes them from whoever has them now.
        by.carry("dof", old._model.dof_damping, self._model.dof_damping)
        by.carry("joint", old._board.law, self._board.law)
        self._board.asks_support = bool((self.actors["mode"] == BEAT).any())


def hip_height(model: mujoco.MjModel, qpos: int) -> float:
    """Return the height of the root in the body's reference stance [m]: the h of m·g·h.

    A body that was put into its file with its root on the floor says nothing of its hips; it counts as a person's.
    """
    height = float(model.qpos0[qpos + 2])
    return height if height > 0.05 else 1.0


def let_soles_count(model: mujoco.MjModel, soles: list[int]) -> None:
    """Let the soles' friction count, whatever they stand on."""
    model.geom_priority[soles] = np.maximum(1, model.geom_priority[soles])


def check_free(character: Character) -> None:
    """Raise where a character cannot follow a clip."""
    if character.root is None:
        raise BodyError(f"'{character.name}' must have a free root to follow a clip.")
