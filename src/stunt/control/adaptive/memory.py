"""The memory of the adaptive program: which joints and sites are driven, along which paths, and how it goes.

One per stage. Paths can be set, changed and taken away while the stage runs; the compiled part
(`stunt.control.adaptive.kernel`) reads everything through one table of addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.adaptive.law import SETTLING, model_transition
from stunt.control.adaptive.turns import BALL, new_ball
from stunt.control.core.board import HELD, IMPEDANCE, PASSIVE, Board
from stunt.control.core.programs import ADAPTIVE
from stunt.control.core.renumbered import Renumbered
from stunt.maths.pointers import ADDRESS, AddressTable, address_of, layout, record

Floats = NDArray[np.float64]
Path = tuple[Floats, Floats]
"""Breaks (n + 1,) and coefficients (n, components, 4) of a piecewise cubic (`stunt.motion.trajectory.Pieces`)."""

SIZES: Final = layout(("joints", np.int64), ("sites", np.int64), ("balls", np.int64))
"""How many are driven."""

JOINT: Final = layout(
    ("joint", np.int64),  # index in the model
    ("qpos", np.int64),  # its position and
    ("dof", np.int64),  # its degree of freedom
    ("bare", np.int64),  # whether it follows the paper's unscaled law
    ("first", np.int64),  # where its path's pieces begin,
    ("count", np.int64),  # how many there are,
    ("hint", np.int64),  # and which was the last one
    ("begin", np.float64),  # when that begins and
    ("until", np.float64),  # ends [s]; empty where none is known
    ("lam", np.float64),  # λ [1/s]
    ("ratio", np.float64),  # damping ratio of its model
    ("transition", np.float64, 4),  # of its model in one period
    ("model", np.float64),  # where its model is,
    ("model_rate", np.float64),  # and how fast
    ("gains", np.float64, 4),  # of x, ẋ/λ, r and 1
    ("error", np.float64),  # desired minus actual position
    ("squares", np.float64),  # sum of its square
    ("steps", np.float64),  # over so many control steps
    ("worst", np.float64),  # largest error
    ("worst_time", np.float64),  # [s]
)
"""A driven hinge or slide."""

SITE: Final = layout(
    ("site", np.int64),  # index in the model; below 0: the frame of its body
    ("body", np.int64),  # what it sits on
    ("placed", np.int64),  # 1 where its position is driven
    ("turned", np.int64),  # 1 where its orientation is
    ("first", np.int64),  # where the pieces of its positions begin,
    ("count", np.int64),  # how many there are,
    ("hint", np.int64),  # and which was the last one
    ("turn_first", np.int64),  # likewise of its orientations
    ("turn_count", np.int64),
    ("turn_hint", np.int64),
    ("chain", np.int64),  # where the degrees of freedom that move it are listed,
    ("links", np.int64),  # and how many they are
    ("frozen", np.int64),  # whether its force is at the limit
    ("limit", np.float64),  # largest force [N]
    ("lam", np.float64),  # λ [1/s]
    ("ratio", np.float64),  # damping ratio of its model
    ("transition", np.float64, 4),  # of its model in one period
    ("origin", np.float64, 3),  # where it was first [m]
    ("model", np.float64, 3),  # where its model is [m],
    ("model_rate", np.float64, 3),  # how fast,
    ("model_turn", np.float64, 4),  # how turned,
    ("model_spin", np.float64, 3),  # and how fast that changes [rad/s]
    ("gains", np.float64, 12),  # four of each position
    ("turn_gains", np.float64, 12),  # four of each axis
    ("force", np.float64, 6),  # force and torque of the last control step [N, N·m]
    ("error", np.float64),  # distance from its path [m]
    ("turn_error", np.float64),  # angle from its orientation [rad]
    ("squares", np.float64),  # sum of the squared distance,
    ("turn_squares", np.float64),  # of the squared angle,
    ("steps", np.float64),  # over so many control steps
    ("worst", np.float64),  # largest squared distance
    ("worst_time", np.float64),  # [s]
    ("turn_worst", np.float64),  # largest squared angle
    ("impulse", np.float64),  # ∫|force|dt [N·s]
    ("twist", np.float64),  # ∫|torque|dt [N·m·s]
    ("peak", np.float64),  # largest force [N]
    ("limited", np.float64),  # control steps at the limit
)
"""A driven site."""

SCRATCH: Final = layout(
    ("ask", np.float64, 6),  # accelerations, then forces
    ("rate", np.float64, 6),  # J·q̇
    ("error", np.float64, 3),  # rotation vector from the site to its path, then to its model
    ("model_error", np.float64, 3),  # from the path to the model
    ("now", np.float64, 4),  # orientation of the site
    ("wanted", np.float64, 4),  # of its path
    ("wanted_spin", np.float64, 4),
    ("wanted_push", np.float64, 4),
    ("model_later", np.float64, 3),  # `model_error` a period later
    ("path_later", np.float64, 3),  # how far the path turns meanwhile
    ("spare", np.float64, 4),
    ("here", np.float64, 3),  # where a site is [m]
    ("lag", np.float64, 3),  # spin of a turn's model ahead of its own
    ("learned", np.float64, 3),
    ("held", np.float64, 3),  # the last push of what is at its limit
    ("matrix", np.float64, 36),  # mobility, then its factor
)

joint_at, site_at = record(JOINT), record(SITE)

TABLE: Final = AddressTable(
    "Adaptive",
    (
        ("sizes", SIZES),
        ("joints", ADDRESS),
        ("sites", ADDRESS),
        ("balls", ADDRESS),
        ("breaks", np.float64),
        ("coefficients", np.float64),
        ("chains", np.int64),
        ("xpos", np.float64),
        ("xmat", np.float64),
        ("body_xpos", np.float64),
        ("body_xmat", np.float64),
        ("jacobian", np.float64),
        ("solved", np.float64),
        ("scratch", SCRATCH),
    ),
)


@dataclass(frozen=True)
class Measured:
    """How well a path was followed so far."""

    rms: float  #: Root mean square of the error [rad or m]
    worst: float  #: Largest error
    worst_time: float  #: When that was [s]
    turn_rms: float = 0.0  #: Root mean square of a site's orientation error [rad]
    turn_worst: float = 0.0  #: Largest orientation error [rad]
    impulse: float = 0.0  #: ∫|force|dt of a string [N·s]
    peak: float = 0.0  #: Its largest force [N]
    twist: float = 0.0  #: ∫|torque|dt of a string [N·m·s]
    limited: int = 0  #: Control steps at the string's limit
    steps: int = 0  #: Control steps measured


class AdaptiveProgram:
    """Drives joints and sites of one stage along paths.

    Attributes:
        joints: Rows of driven hinges and slides by the joint's index in the model.
        balls: Rows of driven ball joints, likewise.
        sites: Rows of driven sites by the site's index; −1 − a body's: its own frame.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.joints: list[int] = []
        self.sites: list[int] = []
        self.balls: list[int] = []
        self._paths: dict[tuple[str, int], Path] = {}
        self._joint, self._site, self._ball = np.zeros(0, JOINT), np.zeros(0, SITE), np.zeros(0, BALL)
        self._jacobian, self._solved = np.zeros((6, model.nv)), np.zeros((6, model.nv))
        self._scratch = np.zeros(1, SCRATCH)
        self.table = np.zeros(len(TABLE.names), np.int64)
        self._refresh()

    def drive_joint(self, joint: int, settling: float, path: Path, *, bare: bool = False, damping: float = 1.0) -> None:
        """Drive a joint along a path, or change its path; gains and model go on from where they are.

        Args:
            joint: Index in the model.
            settling: Settling time t_s [s].
            path: Where it should be; of a ball joint quaternions against its parent, four components.
            bare: Whether to use the paper's unscaled law without a constant regressor.
            damping: Damping ratio ζ of its reference model; 1 is critical.
        """
        lam = SETTLING / settling
        if self._model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            self._ball_row(joint, lam, damping)
        else:
            self._joint_row(joint, lam, damping, bare)
        self._paths["ball" if joint in self.balls else "joint", joint] = path
        board = self._board
        board.law[joint], board.feed_bias[joint], board.goal_time[joint] = IMPEDANCE, 0, HELD
        self._refresh()

    def _joint_row(self, joint: int, lam: float, damping: float, bare: bool) -> None:
        if joint not in self.joints:
            self.joints.append(joint)
            self._joint = np.append(self._joint, self._new_joint(joint))
        row = self._joint[self.joints.index(joint)]
        row["bare"], row["lam"], row["ratio"] = bare, lam, damping
        row["transition"] = self._transition(lam, damping)
        row["begin"], row["until"] = np.inf, -np.inf  # a new path has other pieces
        if bare:
            row["gains"][3] = 0.0

    def _ball_row(self, joint: int, lam: float, damping: float) -> None:
        if joint not in self.balls:
            self.balls.append(joint)
            self._ball = np.append(self._ball, new_ball(self._model, self._data, joint))
        row = self._ball[self.balls.index(joint)]
        row["lam"], row["ratio"], row["transition"] = lam, damping, self._transition(lam, damping)

    def _new_joint(self, joint: int) -> NDArray[Any]:
        """Start the model where the joint is, and the constant gain at what holds it there, so that it does not sag."""
        new, model, data = np.zeros(1, JOINT), self._model, self._data
        qpos, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        inertia = data.M[model.M_rowadr[dof] + model.M_rownnz[dof] - 1]
        new["joint"], new["qpos"], new["dof"] = joint, qpos, dof
        new["gains"][0, 3] = data.qfrc_bias[dof] / inertia if inertia > 0.0 else 0.0
        new["model"], new["model_rate"] = data.qpos[qpos], data.qvel[dof]
        return new

    def _transition(self, lam: float, damping: float) -> Floats:
        return np.asarray(model_transition(lam, damping, float(self._board.times["period"][0])))

    def drive_site(
        self, site: int, settling: float, place: Path | None, turn: Path | None, limit: float, damping: float = 1.0
    ) -> None:
        """Pull a site along a path of positions, orientations (quaternions), or both; or change what pulls it.

        Args:
            site: Index in the model.
            settling: Settling time t_s [s].
            place: Where it should be [m], three components; None leaves its position alone.
            turn: How it should be turned, four components; None leaves its orientation alone.
            limit: Largest force [N].
            damping: Damping ratio ζ of its reference model.
        """
        if site not in self.sites:
            self.sites.append(site)
            self._site = np.append(self._site, self._new_site(site))
        row, lam = self._site[self.sites.index(site)], SETTLING / settling
        row["placed"], row["turned"] = place is not None, turn is not None
        row["lam"], row["ratio"], row["limit"] = lam, damping, limit
        row["transition"] = self._transition(lam, damping)
        for kind, path in (("place", place), ("turn", turn)):
            self._paths.pop((kind, site), None)
            if path is not None:
                self._paths[kind, site] = path
        self._refresh()

    def _new_site(self, site: int) -> NDArray[Any]:
        new, model, data = np.zeros(1, SITE), self._model, self._data
        quat, velocity = np.zeros(4), np.zeros(6)
        kind, number = (mujoco.mjtObj.mjOBJ_SITE, site) if site >= 0 else (mujoco.mjtObj.mjOBJ_XBODY, -1 - site)
        mujoco.mju_mat2Quat(quat, data.site_xmat[site] if site >= 0 else data.xmat[number])
        mujoco.mj_objectVelocity(model, data, kind, number, velocity, 0)
        new["site"], new["body"] = site, model.site_bodyid[site] if site >= 0 else number
        new["model"] = new["origin"] = data.site_xpos[site] if site >= 0 else data.xpos[number]
        new["model_rate"], new["model_spin"], new["model_turn"] = velocity[3:], velocity[:3], quat
        if site < 0:  # all that hangs on a root would fall with it
            new["gains"][0, 3::4] = -model.opt.gravity
        return new

    def release_joint(self, joint: int) -> None:
        """Let a joint swing."""
        if joint not in self.joints and joint not in self.balls:
            return
        kind = "joint" if joint in self.joints else "ball"
        numbers = getattr(self, f"{kind}s")
        row = numbers.index(joint)
        numbers.pop(row)
        setattr(self, f"_{kind}", np.delete(getattr(self, f"_{kind}"), row))
        del self._paths[kind, joint]
        self._board.law[joint] = PASSIVE
        self._board.feed_bias[joint] = 1
        dof = int(self._model.jnt_dofadr[joint])
        own = slice(dof, dof + (3 if kind == "ball" else 1))
        for array in (self._board.stiffness, self._board.damping, self._board.feed_forward, self._board.torque):
            array[own] = 0.0
        self._data.qfrc_applied[own] = self._board.pull[own]
        self._refresh()

    def release_site(self, site: int) -> None:
        """Cut a string."""
        if site in self.sites:
            row = self.sites.index(site)
            self.sites.pop(row)
            self._site = np.delete(self._site, row)
            self._paths.pop(("place", site), None)
            self._paths.pop(("turn", site), None)
            self._data.qfrc_applied -= self._board.pull
            self._board.pull[:] = 0.0
            self._refresh()

    def _refresh(self) -> None:
        """Lay out paths and chains, and write the addresses of all arrays to the table."""
        self._lay_out_paths()
        self._lay_out_chains()
        self._sizes = np.array([(len(self.joints), len(self.sites), len(self.balls))], SIZES)
        data = self._data
        self.table[:] = TABLE.fill(
            sizes=self._sizes, joints=self._joint, sites=self._site, balls=self._ball, breaks=self._breaks,
            coefficients=self._coefficients, chains=self._chains, xpos=data.site_xpos, xmat=data.site_xmat,
            body_xpos=data.xpos, body_xmat=data.xmat, jacobian=self._jacobian, solved=self._solved,
            scratch=self._scratch,
        )  # fmt: skip
        # Site arrays of a model without sites have no memory; nothing reads them then.
        self._board.pulls(ADAPTIVE, len(self.sites))
        self._board.programs[ADAPTIVE] = address_of(self.table) if self._paths else 0

    def _lay_out_paths(self) -> None:
        breaks: list[Floats] = [np.zeros(1)]
        coefficients: list[Floats] = [np.zeros((1, 4, 4))]
        first = 1
        for (kind, index), (times, cubics) in self._paths.items():
            padded = np.zeros((len(times), 4, 4))
            padded[: len(cubics), : cubics.shape[1]] = cubics
            breaks.append(times)
            coefficients.append(padded)
            self._point_to(kind, index, first, len(cubics))
            first += len(times)
        self._breaks, self._coefficients = np.concatenate(breaks), np.concatenate(coefficients)

    def _point_to(self, kind: str, index: int, first: int, count: int) -> None:
        if kind == "joint":
            row = self._joint[self.joints.index(index)]
        else:
            row = self._ball[self.balls.index(index)] if kind == "ball" else self._site[self.sites.index(index)]
        turn = "turn_" if kind in ("turn", "ball") else ""
        row[turn + "first"], row[turn + "count"] = first, count

    def _lay_out_chains(self) -> None:
        chains: list[int] = [0]
        for row in self._site:
            links = self._chain(int(row["body"]))
            row["chain"], row["links"] = len(chains), len(links)
            chains += links
        self._chains = np.array(chains, np.int64)

    def _chain(self, body: int) -> list[int]:
        """Return the degrees of freedom that move a body."""
        model = self._model
        while body and not model.body_dofnum[body]:
            body = int(model.body_parentid[body])
        dof = int(model.body_dofadr[body] + model.body_dofnum[body] - 1) if body else -1
        links = []
        while dof >= 0:
            links.append(dof)
            dof = int(model.dof_parentid[dof])
        return links

    def joint_measured(self, joint: int) -> Measured:
        """Return how well a joint followed."""
        if joint in self.balls:
            row = self._ball[self.balls.index(joint)]
            rms, worst = np.sqrt(row["turn_squares"] / max(1.0, row["steps"])), np.sqrt(row["turn_worst"])
            return Measured(float(rms), float(worst), float(row["worst_time"]), steps=int(row["steps"]))
        row = self._joint[self.joints.index(joint)]
        steps = max(1.0, row["steps"])
        return Measured(
            rms=float(np.sqrt(row["squares"] / steps)),
            worst=float(row["worst"]),
            worst_time=float(row["worst_time"]),
            steps=int(row["steps"]),
        )

    def site_measured(self, site: int) -> Measured:
        """Return how well a site followed, and what its string did."""
        row = self._site[self.sites.index(site)]
        steps = max(1.0, row["steps"])
        return Measured(
            rms=float(np.sqrt(row["squares"] / steps)),
            worst=float(np.sqrt(row["worst"])),
            worst_time=float(row["worst_time"]),
            turn_rms=float(np.sqrt(row["turn_squares"] / steps)),
            turn_worst=float(np.sqrt(row["turn_worst"])),
            impulse=float(row["impulse"]),
            peak=float(row["peak"]),
            twist=float(row["twist"]),
            limited=int(row["limited"]),
            steps=int(row["steps"]),
        )

    def joint_errors(self) -> Floats:
        """Return desired minus actual position of driven hinges and slides, then ball joints' angles from theirs."""
        return np.concatenate([self._joint["error"], self._ball["turn_error"]])

    def joint_error(self, joint: int) -> float:
        """Return how far a joint was from its path at the last control step [rad or m]."""
        return float(self.joint_errors()[[*self.joints, *self.balls].index(joint)])

    def site_errors(self) -> tuple[Floats, Floats]:
        """Return every driven site's distance from its path [m] and angle from its orientation [rad]."""
        return self._site["error"], self._site["turn_error"]

    def gains(self, joint: int) -> Floats:
        """Return a joint's learned gains of x, ẋ/λ, r and 1, (4,)."""
        return np.array(self._joint["gains"][self.joints.index(joint)])

    def model_position(self, joint: int) -> float:
        """Return where a joint's reference model is [rad or m]."""
        return float(self._joint["model"][self.joints.index(joint)])

    def string(self, site: int) -> Floats:
        """Return the force [N] and torque [N·m] on a site in the last control step, world frame, (6,)."""
        return np.array(self._site["force"][self.sites.index(site)])

    def save(self) -> dict[str, Any]:
        """Return what must survive a restore."""
        return {
            "joints": list(self.joints), "sites": list(self.sites), "balls": list(self.balls),
            "paths": dict(self._paths), "joint": self._joint.copy(), "site": self._site.copy(),
            "ball": self._ball.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.joints, self.sites, self._paths = list(state["joints"]), list(state["sites"]), dict(state["paths"])
        self.balls, self._ball = list(state["balls"]), state["ball"].copy()
        self._joint, self._site = state["joint"].copy(), state["site"].copy()
        self._refresh()

    def carry(self, old: AdaptiveProgram, by: Renumbered) -> None:
        """Go on with everything that was driven in another scene."""
        model = self._model
        number = partial(number_after, by)
        for kind, numbers, rows in (
            ("joint", old.joints, old._joint), ("ball", old.balls, old._ball), ("site", old.sites, old._site)
        ):  # fmt: skip
            now = [number(kind, one) for one in numbers]
            kept = [row for row, one in enumerate(now) if one is not None]
            setattr(self, f"{kind}s", [now[row] for row in kept])
            setattr(self, f"_{kind}", rows[kept].copy())
        self._joint["joint"] = self.joints
        for rows, joints in ((self._joint, self.joints), (self._ball, self.balls)):
            rows["qpos"], rows["dof"] = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._site["site"] = self.sites
        self._site["body"] = [model.site_bodyid[one] if one >= 0 else -1 - one for one in self.sites]
        moved = {(kind, number(kind, one)): path for (kind, one), path in old._paths.items()}
        self._paths = {(kind, one): path for (kind, one), path in moved.items() if one is not None}
        self._refresh()


def number_after(by: Renumbered, kind: str, old: int) -> int | None:
    """Return the number of a joint, a site or, below 0, a body's frame on another stage; None: it is not there."""
    if kind in ("joint", "ball"):
        found = by.number("joint", old)
        return found if found >= 0 else None
    found = by.number("site", old) if old >= 0 else by.number("body", -1 - old)
    return (found if old >= 0 else -1 - found) if found >= 0 else None
