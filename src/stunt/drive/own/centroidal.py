"""A path of the centre of mass that the contacts can carry, and poses that have it.

Height first: free fall where nothing touches, never pulled down elsewhere. Then the horizontal path and how the whole
body leans, together: with the height known, the balance of moments about the centre of mass is linear in both, and the
zero-moment point has to be inside the support. That is one sparse factorisation for each axis, and some rounds of
projecting the zero-moment point into the support. Captured walks are nearly feasible: their path moves by some
millimetres.

The lean θ is a rotation of the whole body by which angular momentum changes as I·θ̇; poses are turned by it before they
are fitted, so that posture, centre of mass and momentum ask for the same motion.

Poses are fitted to feet and path by damped least squares, frame after frame. Few rows, many joints: the normal
equations are solved through the rows (Woodbury), a 15 × 15 system a round instead of one as large as the body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.own.layout import GRAVITY, ROLL, SETTINGS
from stunt.control.own.polygon import nearest_inside, outline
from stunt.drive.motion.layout import Layout, own_slices
from stunt.drive.own.footholds import FootTargets
from stunt.drive.own.smoothing import smoothed
from stunt.drive.own.soles import Foot, size_of
from stunt.drive.own.whole_body import BodyInMotion
from stunt.maths import rotations
from stunt.maths.rotations import Floats

MARGIN: Final = 0.01
"""The zero-moment point keeps so far inside the support [m]."""
ROUNDS: Final = 10
_STAY, _LEAN, _MOMENT = 0.02, 0.03, 0.02  # weights: of the clip's path, of not leaning, of the clip's moments
_FLIGHT = 50.0  # of free fall


@dataclass(frozen=True, eq=False)
class CentroidalPlan:
    """What the whole body does.

    Attributes:
        com: Path of the centre of mass [m], (F, 3).
        velocity: [m/s], (F, 3).
        acceleration: [m/s²], (F, 3).
        momentum: Angular momentum [kg·m²/s], (F, 3).
        moment: How fast it changes [N·m], (F, 3).
        zmp: Zero-moment point [m], (F, 2).
        lean: How the whole body is turned, as rotation vectors [rad], (F, 3).
        outside: How far the zero-moment point is outside the support [m], before and after, (2, F).
    """

    com: Floats
    velocity: Floats
    acceleration: Floats
    momentum: Floats
    moment: Floats
    zmp: Floats
    lean: Floats
    outside: Floats


def plan_path(
    body: BodyInMotion, points: list[Floats], carries: list[NDArray[np.bool_]], mass: float, fps: float, size: float
) -> CentroidalPlan:
    """Return a path near a motion's own that its contacts can carry.

    It is worked out for a grown-up that moves alike: with lengths as the body's size times are as its square root.

    Args:
        body: The motion.
        points: Of the soles [m], two of (F, points, 3).
        carries: Which of them carry, likewise (F, points).
        mass: Of the body [kg].
        fps: Frames per second.
        size: Length of its legs as a share of a grown-up's.
    """
    tempo, spin = np.sqrt(size), size * np.sqrt(size)
    grown = replace(body, com=body.com / size, momentum=body.momentum / spin, inertia=body.inertia / size**2)
    found = _plan_grown(grown, [some / size for some in points], carries, mass, fps * tempo)
    return CentroidalPlan(
        found.com * size, found.velocity * tempo, found.acceleration, found.momentum * spin, found.moment * size,
        found.zmp * size, found.lean, found.outside * size,
    )  # fmt: skip


def _plan_grown(
    body: BodyInMotion, points: list[Floats], carries: list[NDArray[np.bool_]], mass: float, fps: float
) -> CentroidalPlan:
    """Return the path of `plan_path` for a body of a grown-up's size."""
    from scipy.sparse import bmat, diags, identity
    from scipy.sparse.linalg import splu

    count = len(body.com)
    flight = ~np.any([some.any(axis=1) for some in carries], axis=0)
    second, first = _differences(count, fps)
    height, lift = _height(body.com[:, 2], flight, second, fps)
    base = smoothed(body.com, 0.02 * fps)
    momentum = smoothed(body.momentum, 0.02 * fps)
    corners, sizes = _supports(points, carries)
    moments, pace = first @ momentum, first @ base[:, :2]
    push = np.maximum(GRAVITY + lift, 0.0)
    frames = np.arange(count)
    ends = np.where((frames < 3) | (frames > count - 4), 2.0, 0.0)
    here, falls = diags((~flight).astype(float)), np.where(flight, _FLIGHT, 0.0)
    path_part = (diags(push) - diags(height) @ second) / GRAVITY
    factors: list[tuple[Any, Any, Any, Any]] = []
    for about, sign in ((1, 1.0), (0, -1.0)):
        turning = first @ diags(body.inertia[:, about]) @ first
        lean_part = -sign * turning / (mass * GRAVITY)
        weigh = diags(np.where(flight, _FLIGHT, _MOMENT) / (mass * GRAVITY) ** 2 * 9.0)
        path = path_part.T @ here @ path_part + _STAY * identity(count) + second.T @ diags(falls / GRAVITY**2) @ second
        path = path + first.T @ diags(_STAY / 9.0 + ends) @ first
        lean = lean_part.T @ here @ lean_part + _LEAN * identity(count) + turning.T @ weigh @ turning
        lean = lean + first.T @ diags(_LEAN / 30.0 + ends) @ first
        mixed = path_part.T @ here @ lean_part
        factors.append((splu(bmat([[path, mixed], [mixed.T, lean]]).tocsc()), lean_part, turning, weigh))
    com, leans, before = base[:, :2].copy(), np.zeros((count, 2)), np.zeros(count)
    for attempt in range(ROUNDS + 1):
        whole = momentum.copy()
        for axis, about in ((0, 1), (1, 0)):
            whole[:, about] += body.inertia[:, about] * (first @ leans[:, axis])
        zmp = _zero_moment(com, height, second @ com, push, first @ whole, mass)
        inside, outside = zmp.copy(), np.zeros(count)
        nearest_inside(zmp, corners, sizes, inside, outside)
        if attempt == 0:
            before = outside.copy()
        if attempt == ROUNDS:
            break
        for axis, (about, sign) in enumerate(((1, 1.0), (0, -1.0))):
            factor, lean_part, turning, weigh = factors[axis]
            wanted = here @ (inside[:, axis] * push / GRAVITY + sign * moments[:, about] / (mass * GRAVITY))
            stay = path_part.T @ wanted + _STAY * base[:, axis] + first.T @ ((_STAY / 9.0 + ends) * pace[:, axis])
            turn = lean_part.T @ wanted - turning.T @ (weigh @ np.where(flight, moments[:, about], 0.0))
            solved = factor.solve(np.concatenate([stay, turn]))
            com[:, axis], leans[:, axis] = solved[:count], solved[count:]
    upright = identity(count) + first.T @ diags(np.where(flight, 50.0, 0.02)) @ first
    steady = first.T @ (np.where(flight, 0.0, 0.02) * moments[:, 2])
    whole[:, 2] = splu(upright.tocsc()).solve(momentum[:, 2] + steady)
    path3 = np.column_stack([com, height])
    lean3 = np.column_stack([leans[:, 1], leans[:, 0], np.zeros(count)])
    carried = ~flight
    return CentroidalPlan(
        path3, first @ path3, second @ path3, whole, first @ whole, zmp, lean3, np.stack([before, outside]) * carried
    )


def _differences(count: int, fps: float) -> tuple[Any, Any]:
    """Return the second and the first derivative over frames as sparse matrices."""
    from scipy.sparse import diags

    second = diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(count, count)).tolil()
    second[0], second[-1] = second[1], second[-2]
    first = diags([-0.5 * fps, 0.5 * fps], [-1, 1], shape=(count, count)).tolil()
    first[0, :2], first[-1, -2:] = [-fps, fps], [-fps, fps]
    return second.tocsr() * fps * fps, first.tocsr()


def _height(height: Floats, flight: NDArray[np.bool_], second: Any, fps: float) -> tuple[Floats, Floats]:
    """Return a height near a motion's that falls freely in flight and is pushed up elsewhere; and its acceleration."""
    from scipy.sparse import diags, identity
    from scipy.sparse.linalg import splu

    base = smoothed(height, 0.012 * fps)
    asked = second @ smoothed(base, 0.012 * fps)
    weight, goal = np.where(flight, _FLIGHT, 0.0), np.where(flight, -GRAVITY, 0.0)
    for _ in range(6):
        matrix = second.T @ diags(weight + 0.002) @ second + 30.0 * identity(len(base))
        solved = splu(matrix.tocsc()).solve(second.T @ (weight * goal + 0.002 * asked) + 30.0 * base)
        lift = second @ solved
        pulled = ~flight & (lift < -GRAVITY + 1.0)
        weight[pulled], goal[pulled] = 1.0, -GRAVITY + 1.0
    return solved, lift


def _zero_moment(com: Floats, height: Floats, pull: Floats, push: Floats, moment: Floats, mass: float) -> Floats:
    """Return where the ground's force has no moment across the vertical [m], (F, 2)."""
    carried = np.maximum(push, 1.0)
    return np.column_stack(
        [
            com[:, 0] - (height * pull[:, 0] + moment[:, 1] / mass) / carried,
            com[:, 1] - (height * pull[:, 1] - moment[:, 0] / mass) / carried,
        ]
    )


def _supports(points: list[Floats], carries: list[NDArray[np.bool_]]) -> tuple[Floats, NDArray[np.int64]]:
    """Return the outlines of the carrying points, drawn in by the margin [m], (F, n, 2), and their corners, (F,).

    Soles are drawn in first as those are that the programme presses with: what it cannot give is not planned.
    """
    middles = [p[..., :2].mean(axis=1, keepdims=True) for p in points]
    flat = np.concatenate([m + SETTINGS["shrink"] * (p[..., :2] - m) for p, m in zip(points, middles, strict=True)], 1)
    used = np.concatenate(carries, axis=1)
    corners, sizes = np.zeros((len(flat), flat.shape[1] + 1, 2)), np.zeros(len(flat), np.int64)
    for frame in np.flatnonzero(used.any(axis=1)):
        some = np.ascontiguousarray(flat[frame, used[frame]])
        out = np.zeros((len(some) + 1, 2))
        size = outline(some, len(some), out)
        middle = some.mean(axis=0)
        arms = out[:size] - middle
        far = np.maximum(np.linalg.norm(arms, axis=1, keepdims=True), 1e-6)
        corners[frame, :size] = middle + arms * np.maximum(1.0 - MARGIN / far, 0.3)
        sizes[frame] = size
    return corners, sizes


FOOT, TURN, COM = 30.0, 9.0, 12.0
"""Weights of a grown-up's foot's place [1/m], its turn [1/rad] and the centre of mass [1/m]."""
STAY, LEG, ROOT_PLACE, ROOT_TURN = 1.0, 0.15, 0.05, 2.0
"""Weights of keeping to the clip: any joint, those of the legs, the root."""
FITS, FIRST_FITS = 2, 15
"""Rounds for each frame, and for the first one."""
_STEP = 0.2  # most change of a coordinate in a round [rad, m]
_INSIDE = 0.01  # hinges keep so far from their limits [rad]


class PoseFit:
    """Fits the poses of one body."""

    def __init__(
        self, model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot], inside: float = _INSIDE, upright:
        float = ROOT_TURN
    ) -> None:  # fmt: skip
        """Get ready.

        Args:
            model: The scene.
            character: Who.
            feet: Its feet.
            inside: How far from their limits hinges are kept [rad].
            upright: Weight of keeping the root turned as it is.
        """
        self._model, self._feet, self._root = model, feet, character.root_body
        self._layout, self._data = Layout.of(character), mujoco.MjData(model)
        self._places, self._dofs = own_slices(character)
        stay = np.full(self._layout.nv, STAY)
        size = size_of(model, feet)
        self._foot, self._com = FOOT / size, COM / size
        stay[:3], stay[3:6] = ROOT_PLACE / size**2, upright
        legs = {body for foot in feet for body in foot.chain}
        first = self._dofs.start
        limited = []
        for joint in character.joints.values():
            if int(model.jnt_bodyid[joint.id]) in legs:
                stay[joint.dof - first : joint.dof - first + joint.nv] = LEG
            if joint.nq == 1 and joint.range is not None:
                limited.append((joint.qpos - self._places.start, *joint.range))
        self._stay = stay
        self._limited = np.array([q for q, _, _ in limited], np.int64)
        self._low = np.array([low + inside for _, low, _ in limited])
        self._high = np.array([high - inside for _, _, high in limited])

    def fitted(self, qpos: Floats, holds: FootTargets, plan: CentroidalPlan) -> Floats:
        """Return poses near `qpos` with feet and centre of mass where they should be, (F, nq)."""
        layout, out, off = self._layout, np.zeros_like(qpos), np.zeros(self._layout.nv)
        for frame in range(len(qpos)):
            pose = layout.moved(qpos[frame], off)
            for _ in range(FITS if frame else FIRST_FITS):
                pose = layout.moved(pose, self._step(pose, qpos[frame], frame, holds, plan))
                if len(self._limited):
                    pose[self._limited] = np.clip(pose[self._limited], self._low, self._high)
            off = layout.difference(pose, qpos[frame])
            out[frame] = pose
        return out

    def _step(self, pose: Floats, asked: Floats, frame: int, holds: FootTargets, plan: CentroidalPlan) -> Floats:
        model, data, dofs = self._model, self._data, self._dofs
        data.qpos[self._places] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        rows, goal = np.zeros((15, dofs.stop - dofs.start)), np.zeros(15)
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for number, foot in enumerate(self._feet):
            mujoco.mj_jacBody(model, data, linear, angular, foot.body)
            k, turn = 6 * number, TURN * np.eye(3)
            if not foot.rolls:
                axis = data.xmat[foot.body].reshape(3, 3) @ foot.ahead
                turn = TURN * (np.eye(3) - (1.0 - ROLL) * np.outer(axis, axis))
            rows[k : k + 3], rows[k + 3 : k + 6] = self._foot * linear[:, dofs], turn @ angular[:, dofs]
            goal[k : k + 3] = self._foot * (holds.places[frame, number] - data.xpos[foot.body])
            goal[k + 3 : k + 6] = turn @ _world_turn(holds.turns[frame, number], data.xquat[foot.body])
        mujoco.mj_jacSubtreeCom(model, data, linear, self._root)
        rows[12:], goal[12:] = self._com * linear[:, dofs], self._com * (plan.com[frame] - data.subtree_com[self._root])
        back = self._layout.difference(asked, pose)
        goal = goal - rows @ back
        weighted = rows / self._stay
        step = back + weighted.T @ np.linalg.solve(np.eye(15) + rows @ weighted.T, goal)
        return np.clip(step, -_STEP, _STEP)


def _world_turn(goal: Floats, start: Floats) -> Floats:
    """Return the rotation vector in the world that turns one orientation into another [rad], (3,)."""
    return np.asarray(rotations.to_rotation_vector(rotations.multiply(goal, rotations.conjugate(start))))
