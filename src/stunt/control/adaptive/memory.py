"""The memory of the adaptive program: which joints and sites are driven, along which paths, and how it goes.

One per stage. Paths can be set, changed and taken away while the stage runs; the compiled part
(`stunt.control.adaptive.kernel`) reads everything through one table of addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.adaptive import kernel as joint_rows
from stunt.control.adaptive import site as site_rows
from stunt.control.adaptive.law import SETTLING, model_transition
from stunt.control.core.board import HELD, IMPEDANCE, PASSIVE, Board
from stunt.control.core.programs import ADAPTIVE

Floats = NDArray[np.float64]
Path = tuple[Floats, Floats]
"""Breaks (n + 1,) and coefficients (n, components, 4) of a piecewise cubic (`stunt.motion.trajectory.Pieces`)."""
_PER_BREAK: Final = 16  # coefficients are stored four components wide


@dataclass(frozen=True)
class Measured:
    """How well a path was followed so far.

    Attributes:
        rms: Root mean square of the error [rad or m].
        worst: Largest error.
        worst_time: When that was [s].
        turn_rms: Root mean square of a site's orientation error [rad].
        turn_worst: Largest orientation error [rad].
        impulse: ∫|force|dt of a string [N·s].
        peak: Its largest force [N].
        twist: ∫|torque|dt of a string [N·m·s].
        limited: Control steps at the string's limit.
        steps: Control steps measured.
    """

    rms: float
    worst: float
    worst_time: float
    turn_rms: float = 0.0
    turn_worst: float = 0.0
    impulse: float = 0.0
    peak: float = 0.0
    twist: float = 0.0
    limited: int = 0
    steps: int = 0


class AdaptiveProgram:
    """Drives joints and sites of one stage along paths.

    Attributes:
        joints: Rows of driven joints by the joint's index in the model.
        sites: Rows of driven sites by the site's index.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Take the program's slot on a board."""
        self._model, self._data, self._board = model, data, board
        self.joints: list[int] = []
        self.sites: list[int] = []
        self._paths: dict[tuple[str, int], Path] = {}
        self._joint_ints = np.zeros((0, joint_rows.J_INTS), np.int64)
        self._joint = np.zeros((0, joint_rows.J_FLOATS))
        self._site_ints = np.zeros((0, site_rows.S_INTS), np.int64)
        self._site = np.zeros((0, site_rows.S_FLOATS))
        self._jacobian, self._solved = np.zeros((6, model.nv)), np.zeros((6, model.nv))
        self._scratch = np.zeros(site_rows.SCRATCH)
        self.table = np.zeros(site_rows.TABLE, np.int64)
        self._refresh()

    @staticmethod
    def on(model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> AdaptiveProgram:
        """Return the board's adaptive program, making it if there is none."""
        known = getattr(board, "adaptive", None)
        if isinstance(known, AdaptiveProgram):
            return known
        program = AdaptiveProgram(model, data, board)
        board.adaptive = program  # type: ignore[attr-defined]
        return program

    def drive_joint(
        self, joint: int, settling: float, path: Path, *, bare: bool = False, damping: float = 1.0
    ) -> None:
        """Drive a hinge or slide along a path, or change its path; gains and model go on from where they are.

        Args:
            joint: Index in the model.
            settling: Settling time t_s [s].
            path: Where it should be.
            bare: Whether to use the paper's unscaled law without a constant regressor.
            damping: Damping ratio ζ of its reference model; 1 is critical.
        """
        if joint not in self.joints:
            self.joints.append(joint)
            self._joint_ints = np.vstack([self._joint_ints, self._new_joint(joint)])
            self._joint = np.vstack([self._joint, self._new_joint_numbers(joint)])
        row = self.joints.index(joint)
        self._joint_ints[row, joint_rows.J_BARE] = bare
        if bare:
            self._joint[row, joint_rows.J_GAINS + 3] = 0.0
        lam = SETTLING / settling
        self._joint[row, joint_rows.J_LAMBDA], self._joint[row, joint_rows.J_RATIO] = lam, damping
        self._joint[row, joint_rows.J_PHI : joint_rows.J_PHI + 4] = self._transition(lam, damping)
        self._joint[row, [joint_rows.J_BEGIN, joint_rows.J_UNTIL]] = np.inf, -np.inf  # a new path has other pieces
        self._paths["joint", joint] = path
        board = self._board
        board.law[joint], board.feed_bias[joint], board.goal_time[joint] = IMPEDANCE, 0, HELD
        self._refresh()

    def _new_joint(self, joint: int) -> NDArray[np.int64]:
        row = np.zeros((1, joint_rows.J_INTS), np.int64)
        row[0, joint_rows.J_JOINT] = joint
        row[0, joint_rows.J_QPOS] = self._model.jnt_qposadr[joint]
        row[0, joint_rows.J_DOF] = self._model.jnt_dofadr[joint]
        return row

    def _new_joint_numbers(self, joint: int) -> Floats:
        """Start the model where the joint is, and the constant gain at what holds it there, so that it does not sag."""
        row = np.zeros((1, joint_rows.J_FLOATS))
        dof = int(self._model.jnt_dofadr[joint])
        inertia = self._data.M[self._model.M_rowadr[dof] + self._model.M_rownnz[dof] - 1]
        row[0, joint_rows.J_GAINS + 3] = self._data.qfrc_bias[dof] / inertia if inertia > 0.0 else 0.0
        row[0, joint_rows.J_XM] = self._data.qpos[self._model.jnt_qposadr[joint]]
        row[0, joint_rows.J_VM] = self._data.qvel[self._model.jnt_dofadr[joint]]
        return row

    def _transition(self, lam: float, damping: float) -> Floats:
        return np.asarray(model_transition(lam, damping, float(self._board.times[1])))

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
            row = np.zeros((1, site_rows.S_INTS), np.int64)
            row[0, site_rows.S_SITE], row[0, site_rows.S_BODY] = site, self._model.site_bodyid[site]
            self._site_ints = np.vstack([self._site_ints, row])
            self._site = np.vstack([self._site, self._new_site_numbers(site)])
        index = self.sites.index(site)
        self._site_ints[index, site_rows.S_PLACED] = place is not None
        self._site_ints[index, site_rows.S_TURNED] = turn is not None
        lam = SETTLING / settling
        self._site[index, site_rows.S_LAMBDA], self._site[index, site_rows.S_RATIO] = lam, damping
        self._site[index, site_rows.S_PHI : site_rows.S_PHI + 4] = self._transition(lam, damping)
        self._site[index, site_rows.S_LIMIT] = limit
        for kind, path in (("place", place), ("turn", turn)):
            self._paths.pop((kind, site), None)
            if path is not None:
                self._paths[kind, site] = path
        self._refresh()

    def _new_site_numbers(self, site: int) -> Floats:
        model, data = self._model, self._data
        row = np.zeros((1, site_rows.S_FLOATS))
        quat, velocity = np.zeros(4), np.zeros(6)
        mujoco.mju_mat2Quat(quat, data.site_xmat[site])
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
        for start, values in (
            (site_rows.S_XM, data.site_xpos[site]), (site_rows.S_ORIGIN, data.site_xpos[site]),
            (site_rows.S_VM, velocity[3:]), (site_rows.S_WM, velocity[:3]), (site_rows.S_QM, quat),
        ):  # fmt: skip
            row[0, start : start + len(values)] = values
        return row

    def release_joint(self, joint: int) -> None:
        """Let a joint swing."""
        if joint in self.joints:
            row = self.joints.index(joint)
            self.joints.pop(row)
            self._joint_ints, self._joint = np.delete(self._joint_ints, row, 0), np.delete(self._joint, row, 0)
            del self._paths["joint", joint]
            self._board.law[joint] = PASSIVE
            self._board.feed_bias[joint] = 1
            dof = self._model.jnt_dofadr[joint]
            for array in (self._board.stiffness, self._board.damping, self._board.feed_forward, self._board.torque):
                array[dof] = 0.0
            self._data.qfrc_applied[dof] = self._board.pull[dof]
            self._refresh()

    def release_site(self, site: int) -> None:
        """Cut a string."""
        if site in self.sites:
            row = self.sites.index(site)
            self.sites.pop(row)
            self._site_ints, self._site = np.delete(self._site_ints, row, 0), np.delete(self._site, row, 0)
            self._paths.pop(("place", site), None)
            self._paths.pop(("turn", site), None)
            self._data.qfrc_applied -= self._board.pull
            self._board.pull[:] = 0.0
            self._refresh()

    def _refresh(self) -> None:
        """Lay out paths and chains, and write the addresses of all arrays to the table."""
        self._lay_out_paths()
        self._lay_out_chains()
        self._sizes = np.array([len(self.joints), len(self.sites)], np.int64)
        data = self._data
        arrays = (
            self._sizes, self._joint_ints, self._joint, self._site_ints, self._site, self._breaks, self._coefficients,
            self._chains, data.site_xpos, data.site_xmat, data.subtree_com, self._jacobian, self._solved, self._scratch,
        )  # fmt: skip
        self.table[:] = [array.ctypes.data for array in arrays]
        # Site arrays of a model without sites have no memory; nothing reads them then.
        self._board.counts[5] = len(self.sites)
        self._board.programs[ADAPTIVE] = self.table.ctypes.data if self.joints or self.sites else 0

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
            row = self._joint_ints[self.joints.index(index)]
            row[[joint_rows.J_FIRST, joint_rows.J_COUNT]] = first, count
        else:
            row = self._site_ints[self.sites.index(index)]
            turned = kind == "turn"
            row[site_rows.S_FIRST_TURN if turned else site_rows.S_FIRST] = first
            row[site_rows.S_COUNT_TURN if turned else site_rows.S_COUNT] = count

    def _lay_out_chains(self) -> None:
        chains: list[int] = [0]
        for row in self._site_ints:
            links = self._chain(int(row[site_rows.S_BODY]))
            row[site_rows.S_CHAIN], row[site_rows.S_LINKS] = len(chains), len(links)
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
        row = self._joint[self.joints.index(joint)]
        steps = max(1.0, row[joint_rows.J_STEPS])
        return Measured(
            rms=float(np.sqrt(row[joint_rows.J_SQUARES] / steps)),
            worst=float(row[joint_rows.J_WORST]),
            worst_time=float(row[joint_rows.J_WORST_TIME]),
            steps=int(row[joint_rows.J_STEPS]),
        )

    def site_measured(self, site: int) -> Measured:
        """Return how well a site followed, and what its string did."""
        row = self._site[self.sites.index(site)]
        steps = max(1.0, row[site_rows.S_STEPS])
        return Measured(
            rms=float(np.sqrt(row[site_rows.S_SQUARES] / steps)),
            worst=float(np.sqrt(row[site_rows.S_WORST])),
            worst_time=float(row[site_rows.S_WORST_TIME]),
            turn_rms=float(np.sqrt(row[site_rows.S_TURN_SQUARES] / steps)),
            turn_worst=float(np.sqrt(row[site_rows.S_TURN_WORST])),
            impulse=float(row[site_rows.S_IMPULSE]),
            peak=float(row[site_rows.S_PEAK]),
            twist=float(row[site_rows.S_TWIST_IMPULSE]),
            limited=int(row[site_rows.S_LIMITED]),
            steps=int(row[site_rows.S_STEPS]),
        )

    def joint_errors(self) -> Floats:
        """Return desired minus actual position of every driven joint at the last control step, in their order."""
        return self._joint[:, joint_rows.J_ERROR]

    def site_errors(self) -> tuple[Floats, Floats]:
        """Return every driven site's distance from its path [m] and angle from its orientation [rad]."""
        return self._site[:, site_rows.S_ERROR], self._site[:, site_rows.S_TURN_ERROR]

    def gains(self, joint: int) -> Floats:
        """Return a joint's learned gains of x, ẋ/λ, r and 1, (4,)."""
        row = self._joint[self.joints.index(joint)]
        return row[joint_rows.J_GAINS : joint_rows.J_GAINS + 4].copy()

    def model_position(self, joint: int) -> float:
        """Return where a joint's reference model is [rad or m]."""
        return float(self._joint[self.joints.index(joint), joint_rows.J_XM])

    def string(self, site: int) -> Floats:
        """Return the force [N] and torque [N·m] on a site in the last control step, world frame, (6,)."""
        return self._site[self.sites.index(site), site_rows.S_FORCE : site_rows.S_FORCE + 6].copy()

    def save(self) -> dict[str, Any]:
        """Return what must survive a restore."""
        return {
            "joints": list(self.joints), "sites": list(self.sites), "paths": dict(self._paths),
            "joint_ints": self._joint_ints.copy(), "joint": self._joint.copy(),
            "site_ints": self._site_ints.copy(), "site": self._site.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.joints, self.sites, self._paths = list(state["joints"]), list(state["sites"]), dict(state["paths"])
        self._joint_ints, self._joint = state["joint_ints"].copy(), state["joint"].copy()
        self._site_ints, self._site = state["site_ints"].copy(), state["site"].copy()
        self._refresh()
