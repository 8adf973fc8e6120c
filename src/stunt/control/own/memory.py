"""The memory of bodies on their own feet: who they are, what they follow, and how they are. One per stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.core.board import PASSIVE, Board
from stunt.control.core.engine import contact_count, contact_pointer
from stunt.control.core.programs import OWN_FEET
from stunt.control.own import layout as w
from stunt.control.own.solver import PROBLEM, RESULT
from stunt.control.servo.law import part_of
from stunt.maths.pointers import address_of

Floats = NDArray[np.float64]
RATE: Final = 120.0
"""Ticks of the programme per second, where control is not slower."""
_FIELDS: Final = tuple(w.ACTOR.names or ())


@dataclass(frozen=True, eq=False)
class StandingBody:
    """A body as it stands on two feet.

    Attributes:
        feet: Bodies of the feet.
        hips: First bodies of the legs.
        legs: All bodies of each leg, toes included.
        owners: Whose frame each sole point is in, two of (points,).
        points: Sole points [m], two of (points, 3).
        front: Which of them are in the front of their sole, two of (points,).
        rest: Height of each foot's frame above the ground it stands on [m], (2,).
        long: From each hip's joint to its foot's frame, the leg stretched [m], (2,).
        spare: Axis in each foot's frame about which its leg cannot turn it; zeros: it can turn it, (2, 3).
        ahead: Axis of the root's frame that points ahead, and its sign.
        left: Whether the first foot is the left one.
        size: Length of its legs as a share of a grown-up's.
        friction: Of its soles.
    """

    feet: tuple[int, int]
    hips: tuple[int, int]
    legs: tuple[frozenset[int], frozenset[int]]
    owners: tuple[NDArray[np.int64], NDArray[np.int64]]
    points: tuple[Floats, Floats]
    front: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    rest: Floats
    long: Floats
    spare: Floats
    ahead: tuple[int, float]
    left: bool
    size: float
    friction: float


@dataclass(frozen=True, eq=False)
class OwnTargets:
    """A motion as a body on its own feet reads it, C-contiguous.

    Attributes:
        fps: Frames per second.
        poses: (F, nq).
        velocities: (F, nv).
        accelerations: (F, nv).
        centre: See `layout.CENTRE`, (F, 21).
        feet: See `layout.POSE`, (F, 2, 16).
        phases: Whether each foot stands, and from when to when [s], (F, 2, 3).
        carries: 1 where a sole point carries, (F, 2, `layout.POINTS`).
        flight: From when to when the nearest flight is [s], (F, 2); infinite where there is none.
    """

    fps: float
    poses: Floats
    velocities: Floats
    accelerations: Floats
    centre: Floats
    feet: Floats
    phases: Floats
    carries: Floats
    flight: Floats


class OwnFeetProgram:
    """Drives bodies of one stage by contacts and joint torques alone.

    Attributes:
        names: Who, in the order of the records.
        actors: A record of each, (n,) of `layout.ACTOR`.
        gains: The one setting for each, by their size, (n,) of `layout.GAINS`.
        task_weight: How much each degree of freedom's own task matters; 0: it follows its clip's posture, (nv,).
        task_urge: The acceleration such a task asks for [rad/s², m/s²], (nv,). Whoever sets a weight writes this at
            every control step, before the programme is solved; both are saved and restored.
        share: Of the gains with which each degree of freedom follows its posture, (nv,). Saved and restored.
        turned: How far from the clip's posture each degree of freedom should be, the root's turn included [rad], (nv,);
            with a record's `inputs` what a search asks for beside the clip. Saved and restored.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.names: list[str] = []
        self.actors = np.zeros(0, w.ACTOR)
        self.gains = np.zeros(0, w.GAINS)
        self.tau = np.zeros(model.nv)
        self.task_weight, self.task_urge, self.turned = np.zeros((3, model.nv))
        self.share = np.ones(model.nv)
        self._told, self._went, self._pushed = np.zeros((3, model.nv))
        self._kept: dict[str, list[NDArray[Any]]] = {}
        self._targets: dict[str, OwnTargets] = {}
        nv, nq, size = model.nv, model.nq, model.nv + w.SIDES * w.MOST
        rows = nv + w.PLANES
        self._buffers: dict[str, NDArray[Any]] = {
            "count": np.zeros(1, np.int64), "xpos": data.xpos, "xquat": data.xquat,
            "xmat": data.xmat, "com": data.subtree_com, "com_velocity": data.subtree_linvel,
            "momentum": data.subtree_angmom, "ncon": contact_count(data), "contacts": contact_pointer(data),
            "geom_body": model.geom_bodyid, "body_parent": model.body_parentid,
            "geom_actor": np.zeros(model.ngeom, np.int64), "tau": self.tau,
            "task_weight": self.task_weight, "task_urge": self.task_urge, "turned": self.turned,
            "share": self.share,
            "body_dof": model.body_dofadr, "body_dofs": model.body_dofnum, "between": np.zeros(nv, np.int64),
            "told": self._told, "went": self._went, "pushed": self._pushed,
            "linear": np.zeros(3 * nv), "angular": np.zeros(3 * nv), "linear_dot": np.zeros(3 * nv),
            "angular_dot": np.zeros(3 * nv),
            "inertia": np.zeros(nv * nv), "bias": np.zeros(nv), "root": np.zeros(36), "where": np.zeros(3 * w.MOST),
            "hold": np.zeros(3 * w.MOST), "jacobian": np.zeros(3 * w.MOST * nv), "owner": np.zeros(w.MOST, np.int64),
            "hover": np.zeros(w.FEET * w.POINTS, np.int64),
            "forces": np.zeros(nv * w.SIDES * w.MOST), "mover": np.zeros(6 * size), "still": np.zeros(6),
            "row": np.zeros(size), "goal": np.zeros(nq), "pace": np.zeros(nv), "urge": np.zeros(nv),
            "middle": np.zeros(w.CENTRE), "foot": np.zeros(w.FEET * w.POSE), "error": np.zeros(nv),
            "soles": np.zeros(3 * w.FEET * w.POINTS), "flat": np.zeros(2 * w.MOST), "hull": np.zeros(2 * w.MOST + 2),
            "spot": np.zeros(4), "step": np.zeros(18), "scratch": np.zeros(64), "hessian": np.zeros(size * size),
            "linear_term": np.zeros(size), "limits": np.zeros(rows * size), "upper": np.zeros(size + rows),
            "lower": np.zeros(size + rows), "sense": np.zeros(size + rows, np.int32), "x": np.zeros(size),
            "multipliers": np.zeros(size + rows), "problem": np.zeros(1, PROBLEM), "result": np.zeros(1, RESULT),
        }  # fmt: skip
        buffers = self._buffers
        buffers["problem_at"] = np.array([address_of(buffers["problem"])], np.int64)
        buffers["result_at"] = np.array([address_of(buffers["result"])], np.int64)
        problem, result = buffers["problem"][0], buffers["result"][0]
        problem["hessian"], problem["linear"] = address_of(buffers["hessian"]), address_of(buffers["linear_term"])
        problem["rows"], problem["sense"] = address_of(buffers["limits"]), address_of(buffers["sense"])
        problem["upper"], problem["lower"] = address_of(buffers["upper"]), address_of(buffers["lower"])
        result["x"], result["multipliers"] = address_of(buffers["x"]), address_of(buffers["multipliers"])
        self.table = np.zeros(len(w.TABLE.names), np.int64)
        period = float(board.times["period"][0])
        self._stride = max(1, round(1.0 / (RATE * period)))
        board.times["tick"] = self._stride * period
        self._refresh()

    def _refresh(self) -> None:
        self._buffers["count"][0] = len(self.names)
        self.table[:] = w.TABLE.fill(actors=self.actors, gains=self.gains, **self._buffers)
        self._board.programs[OWN_FEET] = address_of(self.table) if self.names else 0

    def add(self, character: Character, body: StandingBody) -> int:
        """Take a body on; it is driven once it follows something. Return its number."""
        assert character.root is not None  # who asks has looked
        self.names.append(character.name)
        self.actors = np.append(self.actors, np.zeros(1, w.ACTOR))
        number = len(self.names) - 1
        self.gains = np.append(self.gains, np.array([w.settings_of(character.mass, body.size)], w.GAINS))
        who, root = self.actors[number], character.root
        joints = list(character.joints.values())
        table = np.array([(j.nv, j.qpos - root.qpos, j.dof - root.dof) for j in joints], np.int64)
        who["root_body"], who["root_dof"], who["root_qpos"] = character.root_body, root.dof, root.qpos
        who["nv"] = joints[-1].dof + joints[-1].nv - root.dof
        who["nq"] = joints[-1].qpos + joints[-1].nq - root.qpos
        weights, leg_of = self._weights(character, body, self.gains[number], int(who["nv"]) - 6)
        self._kept[character.name] = [table, weights, leg_of]
        who["joints"], who["joint_count"] = address_of(table), len(joints)
        who["weights"], who["leg_of"] = address_of(weights), address_of(leg_of)
        who["foot_body"], who["hip_body"] = body.feet, body.hips
        for foot in range(w.FEET):
            count, at = len(body.points[foot]), foot * w.POINTS
            who["point_count"][foot] = count
            who["point_owner"][at : at + count] = body.owners[foot]
            who["point_at"][3 * at : 3 * (at + count)] = body.points[foot].ravel()
            who["point_front"][at : at + count] = body.front[foot]
        who["leg_long"], who["roll_axis"] = body.long, body.spare.ravel()
        who["ankle_rest"], who["scale"], who["friction"] = body.rest, body.size, body.friction
        who["tempo"] = np.sqrt(body.size)
        who["front_axis"], who["front_sign"] = body.ahead
        who["side_sign"], who["mass"] = 1.0 if body.left else -1.0, character.mass
        self._buffers["geom_actor"][sorted(character.geoms)] = number + 1
        self._refresh()
        return number

    def _weights(
        self, character: Character, body: StandingBody, gains: Any, count: int
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return how much each degree of freedom's posture matters, and to which foot's leg it belongs."""
        weights, leg_of = np.zeros(count), np.full(count, -1, np.int64)
        root = character.root
        assert root is not None
        for joint in character.joints.values():
            id_ = int(self._model.jnt_bodyid[joint.id])
            own = slice(joint.dof - root.dof - 6, joint.dof - root.dof - 6 + joint.nv)
            part = part_of(self._model.body(id_).name)
            weights[own] = gains["w_arm" if part == "arm" else "w_trunk"]
            for foot, leg in enumerate(body.legs):
                if id_ in leg:
                    leg_of[own], weights[own] = foot, gains["w_leg"]
        return weights, leg_of

    def follow(self, number: int, targets: OwnTargets, clip: float, *, floor: float, free_clock: bool) -> None:
        """Let a body follow a motion from a time of it on.

        Args:
            number: Which body.
            targets: The motion, where it lies on the stage.
            clip: Where in it [s].
            floor: Height of the ground [m].
            free_clock: Whether the clip's clock may give.
        """
        who = self.actors[number]
        for name in _FIELDS[_FIELDS.index("clip_time") : _FIELDS.index("stance")]:
            who[name] = 0
        self._take(number, targets)
        who["clip_time"], who["rate"], who["floor"], who["free_clock"] = clip, 1.0, floor, free_clock
        who["stride"], who["wait"] = self._stride, 0
        who["was"], who["active"] = 1, 1
        who["late"] = who["doomed"] = 0.0
        own = slice(int(who["root_dof"]), int(who["root_dof"] + who["nv"]))
        self.tau[own] = self._told[own] = self._pushed[own] = 0.0
        self._went[own] = self._data.qvel[own]
        joints = self._kept[self.names[number]][0]
        first_joint = int(self._model.dof_jntid[who["root_dof"] + joints[0, 2]])
        self._board.law[first_joint : first_joint + len(joints)] = PASSIVE

    def _take(self, number: int, targets: OwnTargets) -> None:
        """Keep a motion and say where it is."""
        who = self.actors[number]
        self._targets[self.names[number]] = targets
        who["frames"], who["fps"] = len(targets.poses), targets.fps
        for name in ("poses", "velocities", "accelerations", "centre", "feet", "phases", "carries", "flight"):
            who[name] = address_of(getattr(targets, name))

    def release(self, number: int) -> None:
        """Let a body go: a rag doll."""
        who = self.actors[number]
        if not who["active"]:
            return
        who["active"] = 0
        own = slice(int(who["root_dof"]), int(who["root_dof"] + who["nv"]))
        self.task_weight[own] = self.task_urge[own] = self.turned[own] = who["inputs"] = 0.0
        self._board.tasked[self._model.dof_jntid[own]] = 0
        self.tau[own] = self._data.qfrc_applied[own] = self._board.torque[own] = 0.0

    def save(self) -> dict[str, Any]:
        """Return everything that must survive a restore; motions are never changed, so they are shared."""
        return {
            "actors": self.actors.copy(), "tau": self.tau.copy(), "targets": dict(self._targets),
            "gains": self.gains.copy(), "tasks": np.stack([self.task_weight, self.task_urge, self.turned, self.share]),
            "pushes": np.stack([self._told, self._went, self._pushed]),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        count = len(state["actors"])
        self.actors[:count] = state["actors"]
        self.actors["active"][count:] = 0  # whoever joined since lets go
        self.tau[...], self.gains[:count] = state["tau"], state["gains"]
        self.task_weight[...], self.task_urge[...], self.turned[...], self.share[...] = state["tasks"]
        self._told[...], self._went[...], self._pushed[...] = state["pushes"]
        self._targets |= state["targets"]
