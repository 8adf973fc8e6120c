"""A body fitted to capture markers: how large the person is, where markers sit on the skin, and every frame's pose.

A marker is never quite where the site it drives is, now and then it is not seen, and the person has another size. All
of that is one least-squares problem: over some frames, poses, one scale and one offset per marker are found together;
with these, every frame's pose is found from the frame before. Feet that stand are put on the floor, none goes into it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import box_corners
from stunt.control.core.engine import BALL, FREE
from stunt.drive.own.smoothing import smoothed
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms

_WIDTHS: Final = {FREE: 7, BALL: 4}
_FRAMES: Final = 16
"""Frames that scale and offsets are found from,"""
_STRIDE: Final = 5
"""on the way between which every so many frames are looked at,"""
_SHARED_ROUNDS: Final = 25
"""in so many rounds."""
_ROUNDS, _FIRST, _NEAR = 12, 400, 2e-5
"""Rounds of a frame and of the first one at most; a step [rad or m] that is small enough to end them."""
_SOFT, _STEEP = 1e-6, 1e6
"""Damping of a round, and one at which nothing is left to gain."""
_TURN: Final = 0.3
"""A joint turns by no more in a round [rad]."""
_SKIN: Final = 0.02
"""A marker sits so far beside its site, give or take [m]."""
_SIZE: Final = 0.2
"""A person's size differs by such a share, give or take."""
_SEEN: Final = 0.003
"""How well a marker is seen [m]; what the rows of a fit are weighed by."""
_GUESSED: Final = 0.03
"""How well it is known while it is not [m]: between where it went and where it came back."""
_REST, _LAST = 3.0, 0.1
"""How far joints may be from the pose at the start, and from the frame before, where no marker tells [rad]."""
_SOLE, _FLOOR = 0.005, 0.0015
"""How well a standing sole comes down to the floor, and how well any keeps out of it [m]."""
_SUNK: Final = -0.001
"""A sole that carries is so deep in the floor [m]."""
_TOUCHING, _FLESH = -0.001, 0.003
"""Limbs that touch are so deep in each other at most [m], and how well one keeps out of another [m]."""
_LOW, _SLOW = 0.03, 0.3
"""A foot stands if it is so low [m] and so slow [m/s]."""
_SMOOTH: Final = 0.014
"""Speeds of feet are taken of what is smoothed over so many seconds (a bell curve's sigma)."""
_CALM, _CALM_PLACE = 40.0, 8.0
"""Accelerations of joints [rad/s²] and of the root's place [m/s²] are so large, give or take."""
_SECOND: Final = (1.0, -2.0, 1.0)
_PASSES: Final = (100.0, 30.0, 10.0, 5.0, 2.0, 1.0, 1.0, 1.0)
"""Steps in which all frames are made smooth together, and how much larger accelerations may be in each."""
_WAY: Final = 0.15
"""Poses move by so much in one of them, give or take [rad or m]."""
_STUCK: Final = 1e9


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """A body under markers. F frames, m markers.

    Attributes:
        fps: Frames per second.
        qpos: Positions of the whole model, (F, nq).
        size: How much larger the person is than the body.
        scale: By what markers were multiplied for the fit: 1, or 1 / size.
        offsets: Where each marker sits, from its site, in the site's frame [m], (m, 3).
        markers: Where markers are, gaps filled with where the fitted body has them [m], (F, m, 3).
        left: How far each is from the fitted body where it was seen [m], (F, m).

        longest_gap: The longest time each was not seen [s], (m,).
    """

    fps: float
    qpos: Floats
    size: float
    scale: float
    offsets: Floats
    markers: Floats
    left: Floats
    longest_gap: Floats


_Told = tuple[Floats, NDArray[np.bool_], Floats]
"""Of a frame: where markers are, which soles stand, and the pose joints rest in."""


class _Body:
    """The body as the fit sees it: where sites and soles are in a pose, and how they move with the joints."""

    def __init__(self, character: Character, sites: Sequence[int], held: Collection[str], floor: bool) -> None:
        self.model, self.character, self.sites = character.model, character, list(sites)
        self.data = mujoco.MjData(self.model)
        kept = {character.joints[name].dof + k for name in held for k in range(character.joints[name].nv)}
        inboard: set[int] = set()
        for site in sites:
            body = int(self.model.site_bodyid[site])
            while body > 0:
                first = int(self.model.body_dofadr[body])
                inboard |= set(range(first, first + int(self.model.body_dofnum[body])))
                body = int(self.model.body_parentid[body])
        self.free = np.array(sorted(inboard - kept), np.int64)
        soles = sole_geoms(self.model, character) if floor and character.root is not None else []
        self.soles = [(int(self.model.geom_bodyid[g]), box_corners(self.model, g)) for g in soles]
        self.limits = [(j.qpos, j.range) for j in character.joints.values() if j.nq == 1 and j.range]
        self._own = np.isin(np.arange(self.model.nbody), list(character.bodies.values()))
        joints = [self.model.dof_jntid[dof] for dof in self.free]
        limited = [self.model.jnt_type[j] in (2, 3) and bool(self.model.jnt_limited[j]) for j in joints]
        self._at = np.array([self.model.jnt_qposadr[j] for j in joints], np.int64)
        ranges = [self.model.jnt_range[j] if has else (-np.inf, np.inf) for j, has in zip(joints, limited, strict=True)]
        root = character.root
        linear = np.array([root is not None and root.dof <= dof < root.dof + 3 for dof in self.free])
        self.calm = np.where(linear, _CALM_PLACE, _CALM)
        self._low, self._high = np.array(ranges).reshape(-1, 2).T
        self._jacobian, self._turning = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))

    def pose(self, qpos: Floats) -> None:
        """Put it into a pose."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def frames(self) -> tuple[Floats, Floats]:
        """Return where sites are, (m, 3), and how they are turned, (m, 3, 3)."""
        return self.data.site_xpos[self.sites].copy(), self.data.site_xmat[self.sites].reshape(-1, 3, 3).copy()

    def points(self, offsets: Floats) -> Floats:
        """Return where markers at offsets from the sites are, (m, 3)."""
        places, turns = self.frames()
        return np.asarray(places + np.einsum("mij,mj->mi", turns, offsets))

    def rows(self, points: Floats) -> Floats:
        """Return how points on the sites' bodies move with the free joints, (m, 3, free)."""
        found = np.zeros((len(self.sites), 3, len(self.free)))
        for n, site in enumerate(self.sites):
            mujoco.mj_jac(self.model, self.data, self._jacobian, None, points[n], self.model.site_bodyid[site])
            found[n] = self._jacobian[:, self.free]
        return found

    def to_the_floor(self, standing: NDArray[np.bool_]) -> Iterator[tuple[Floats, float, float]]:
        """Return rows of the free joints, how far each is to go [m], and how surely [1/m].

        Corners of soles that are in the floor come out of it; of a sole that stands, the lowest one comes down to it.
        """
        for (part, corners), stands in zip(self.soles, standing, strict=True):
            there = self.data.xpos[part] + corners @ self.data.xmat[part].reshape(3, 3).T
            lowest = int(np.argmin(there[:, 2]))
            sunk = np.flatnonzero(there[:, 2] < _SUNK).tolist()
            down = [lowest] if stands and not sunk and there[lowest, 2] < _LOW else []
            for corner in (*sunk, *down):
                mujoco.mj_jac(self.model, self.data, self._jacobian, None, there[corner], part)
                sure = 1.0 / (_SOLE if down else _FLOOR)
                yield self._jacobian[2, self.free].copy(), _SUNK - float(there[corner, 2]), sure

    def out_of_itself(self) -> Iterator[tuple[Floats, float, float]]:
        """Return the same of limbs that are in each other, or in the trunk: what markers leave open must not do that.

        What the engine lets overlap is left alone, and every pair of a body that does not collide with itself.
        """
        model, data = self.model, self.data
        mujoco.mj_collision(model, data)
        bodies, other = model.geom_bodyid[data.contact.geom], np.zeros((3, model.nv))
        deep = np.flatnonzero(self._own[bodies].all(axis=1) & (data.contact.dist < _TOUCHING))
        for n in deep.tolist():
            where, way = data.contact.pos[n], data.contact.frame[n, :3]
            mujoco.mj_jac(model, data, self._jacobian, None, where, bodies[n, 0])
            mujoco.mj_jac(model, data, other, None, where, bodies[n, 1])
            yield way @ (other - self._jacobian)[:, self.free], _TOUCHING - float(data.contact.dist[n]), 1.0 / _FLESH

    def move(self, qpos: Floats, step: Floats) -> Floats:
        """Return a pose moved by a step of the free joints, within limits."""
        whole, moved = np.zeros(self.model.nv), qpos.copy()
        whole[self.free] = np.clip(step, -_TURN, _TURN)
        mujoco.mj_integratePos(self.model, moved, whole, 1.0)
        for q, (low, high) in self.limits:
            moved[q] = min(max(moved[q], low), high)
        return moved

    def leaves(self, qpos: Floats, step: Floats) -> NDArray[np.bool_]:
        """Return which free joints stand at a limit and would be pushed against it by a step, (free,)."""
        return (qpos[self._at] <= self._low + 1e-9) & (step < 0.0) | (qpos[self._at] >= self._high - 1e-9) & (
            step > 0.0
        )

    def apart(self, qpos: Floats, other: Floats) -> Floats:
        """Return how far a pose is from another, in the free joints, (free,)."""
        found = np.zeros(self.model.nv)
        mujoco.mj_differentiatePos(self.model, found, 1.0, qpos, other)
        return np.asarray(found[self.free])


def fit_markers(
    character: Character, sites: Sequence[int], markers: Floats, fps: float, *, start: Floats,
    held: Collection[str] = (), held_path: Floats | None = None, scaled: bool = False, skin: bool = True,
    floor: bool = True,
) -> MarkerFit:  # fmt: skip
    """Fit a body to markers.

    Args:
        character: Who.
        sites: The site each marker drives, m.
        markers: Where markers are [m], NaN where they were not seen, (F, m, 3).
        fps: Frames per second.
        start: A pose to begin from: positions of the whole model, (nq,).
        held: Joints that go as `held_path` says, whatever markers say.
        held_path: Positions of the whole model for these, (F, nq).
        scaled: Whether to scale the markers to the body.
        skin: Whether markers may sit beside their sites.
        floor: Whether the ground is at z = 0, and feet stand on it.
    """
    body = _Body(character, sites, held, floor)
    path = np.tile(start, (len(markers), 1)) if held_path is None else held_path.copy()
    begin = _laid_on(body, path[0].copy(), markers[_best(markers)])
    known = with_guesses(markers)
    standing = _standing(body, known, fps)
    size, offsets = _shared(body, known, standing, path, begin, skin)
    if not scaled and skin:  # offsets that go with the body as large as it is
        offsets = _shared(body, known, standing, path, begin, skin, sized=False)[1]
    scale = 1.0 / size if scaled else 1.0
    wanted = scale * markers
    qpos = _poses(body, _sized(known, scale), offsets, path, begin, standing)
    for looser in _PASSES:
        qpos = _made_smooth(body, qpos, _sized(known, scale), offsets, path, standing, fps, looser)
    has = np.zeros((len(markers), len(sites), 3))
    for frame, pose in enumerate(qpos):
        body.pose(pose)
        has[frame] = body.points(offsets)
    seen = ~np.isnan(wanted[..., 0])
    left = np.where(seen, np.linalg.norm(np.nan_to_num(wanted) - has, axis=2), 0.0)
    filled = np.where(seen[..., None], np.nan_to_num(wanted), has)
    return MarkerFit(fps, qpos, size, scale, offsets, filled, left, _longest(seen) / fps)


def _best(markers: Floats) -> int:
    """Return the first frame that shows most markers."""
    return int(np.argmax((~np.isnan(markers[..., 0])).sum(axis=1)))


def _longest(seen: NDArray[np.bool_]) -> Floats:
    """Return for how many frames in a row each marker was not seen at most, (m,)."""
    found = np.zeros(seen.shape[1])
    run = np.zeros(seen.shape[1])
    for row in seen:
        run = np.where(row, 0.0, run + 1.0)
        found = np.maximum(found, run)
    return found


def _laid_on(body: _Body, qpos: Floats, markers: Floats) -> Floats:
    """Return a pose whose free root is turned about the vertical and shifted so that its sites are near markers."""
    root, seen = body.character.root, ~np.isnan(markers[:, 0])
    if root is None or root.dof not in body.free or seen.sum() < 2:
        return qpos
    body.pose(qpos)
    sites, there = body.frames()[0][seen], markers[seen]
    middle, goal = sites.mean(axis=0), there.mean(axis=0)
    a, b = (sites - middle)[:, :2], (there - goal)[:, :2]
    angle = np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())
    spin, turned = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]), np.zeros(4)
    first = root.qpos
    mujoco.mju_mulQuat(turned, spin, qpos[first + 3 : first + 7])
    cos, sin = np.cos(angle), np.sin(angle)
    arm = qpos[first : first + 3] - middle
    qpos[first : first + 3] = goal + [cos * arm[0] - sin * arm[1], sin * arm[0] + cos * arm[1], arm[2]]
    qpos[first + 3 : first + 7] = turned
    return qpos


def _standing(body: _Body, markers: Floats, fps: float) -> NDArray[np.bool_]:
    """Return which soles are slow, as their markers tell, (F, soles); a sole without any is taken as moving."""
    found = np.zeros((len(markers), len(body.soles)), bool)
    for n, (part, _) in enumerate(body.soles):
        foot = {part, int(body.model.body_parentid[part]), *np.flatnonzero(body.model.body_parentid == part).tolist()}
        own = [m for m, site in enumerate(body.sites) if int(body.model.site_bodyid[site]) in foot]
        if not own:
            continue
        places = markers[:, own, :3].reshape(len(markers), -1)
        pace = np.gradient(smoothed(places, _SMOOTH * fps), 1.0 / fps, axis=0).reshape(len(markers), len(own), 3)
        found[:, n] = np.linalg.norm(pace, axis=2).min(axis=1) < _SLOW
    return found


def with_guesses(markers: Floats) -> Floats:
    """Return markers and how sharply each is known [1/m], (F, m, 4): gaps are bridged by a smooth curve, loosely."""
    found, frames = np.zeros((*markers.shape[:2], 4)), np.arange(len(markers))
    for n in range(markers.shape[1]):
        seen = ~np.isnan(markers[:, n, 0])
        if seen.sum() < 2:
            continue
        found[:, n, :3] = scipy.interpolate.PchipInterpolator(frames[seen], markers[seen, n])(
            np.clip(frames, *frames[seen][[0, -1]])
        )
        found[:, n, 3] = np.where(seen, 1.0 / _SEEN, 1.0 / _GUESSED)
    return found


def _normal(
    body: _Body, qpos: Floats, wanted: Floats, offsets: Floats, standing: NDArray[np.bool_], rest: Floats,
    last: Floats | None,
) -> tuple[Floats, Floats, Floats, Floats, float]:  # fmt: skip
    """Return the normal equations of a frame in its pose: matrix, right side, markers' rows and errors, and cost."""
    body.pose(qpos)
    points = body.points(offsets)
    errors = ((wanted[:, :3] - points) * wanted[:, 3:]).ravel()
    rows = (body.rows(points) * wanted[:, 3:, None]).reshape(-1, len(body.free))
    matrix, right = rows.T @ rows, rows.T @ errors
    ease = np.full(len(body.free), _REST**-2)
    root = body.character.root
    if root is not None:
        ease[(body.free >= root.dof) & (body.free < root.dof + 6)] = 1e-9
    matrix[np.diag_indices_from(matrix)] += ease
    away = body.apart(qpos, rest)
    right += ease * away
    cost = float(errors @ errors + away @ (ease * away))
    if last is not None:
        away = body.apart(qpos, last)
        matrix[np.diag_indices_from(matrix)] += _LAST**-2
        right += _LAST**-2 * away
        cost += float(away @ away) * _LAST**-2
    for row, far, sure in itertools.chain(body.to_the_floor(standing), body.out_of_itself()):
        matrix += np.outer(row, row) * sure**2
        right += row * (far * sure**2)
        cost += (far * sure) ** 2
    return matrix, right, rows, errors, cost


def _solve_frame(
    body: _Body, qpos: Floats, wanted: Floats, offsets: Floats, standing: NDArray[np.bool_], rest: Floats,
    last: Floats | None, rounds: int,
) -> Floats:  # fmt: skip
    """Return the pose nearest to a frame's markers."""
    soft, known = _SOFT, _normal(body, qpos, wanted, offsets, standing, rest, last)
    for _ in range(rounds):
        matrix, right, cost = known[0].copy(), known[1], known[4]
        matrix[np.diag_indices_from(matrix)] *= 1.0 + soft
        moved = body.move(qpos, _step_within(body, qpos, matrix, right))
        there = _normal(body, moved, wanted, offsets, standing, rest, last)
        if there[4] > cost:  # too long a step: shorter, and steeper
            soft *= 10.0
            if soft > _STEEP:
                break
            continue
        soft = max(0.1 * soft, _SOFT)
        far = np.abs(body.apart(qpos, moved)).max()
        qpos, known = moved, there
        if far < _NEAR or there[4] > (1.0 - 1e-6) * cost:
            break
    return qpos


def _step_within(body: _Body, qpos: Floats, matrix: Floats, right: Floats) -> Floats:
    """Return the step that solves normal equations while joints at a limit, and pushed against it, stay there."""
    step = np.asarray(np.linalg.solve(matrix, right))
    kept = np.ones(len(step), bool)
    for _ in range(4):
        out = kept & body.leaves(qpos, step)
        if not out.any():
            break
        kept &= ~out
        step = np.zeros(len(right))
        step[kept] = np.linalg.solve(matrix[np.ix_(kept, kept)], right[kept])
    return step


def _shared(
    body: _Body,
    markers: Floats,
    standing: NDArray[np.bool_],
    path: Floats,
    begin: Floats,
    skin: bool,
    sized: bool = True,
) -> tuple[float, Floats]:
    """Return how much larger the person is than the body, and where markers sit on it, (m, 3).

    All frames' poses depend on the shared numbers p and these on all poses; each frame's pose is eliminated from the
    normal equations (Schur's complement), which leaves a small system in p: one over the size, and the offsets.
    """
    count = len(body.sites)
    offsets = np.zeros((count, 3))
    if not skin and not sized:
        return 1.0, offsets
    chosen = np.unique(np.linspace(0, len(markers) - 1, _FRAMES).round().astype(int))
    poses: list[Floats] = []
    qpos = begin
    for frame in sorted({*chosen.tolist(), *range(0, len(markers), _STRIDE)}):  # from near to near: limbs do not flip
        start = _with_held(body, qpos, path[frame])
        rounds = _FIRST if frame == 0 else 20
        qpos = _solve_frame(body, start, markers[frame], offsets, standing[frame], path[frame], None, rounds)
        if frame in chosen:
            poses.append(qpos)
    loose = np.concatenate([[_SIZE**-2 if sized else 1e12], np.full(3 * count, _SKIN**-2 if skin else 1e12)])
    told = [(markers[frame], standing[frame], path[frame]) for frame in chosen]
    shared, soft = np.concatenate([[0.0], np.zeros(3 * count)]), 1e-4
    cost = _cost(body, told, poses, shared, loose)
    for _ in range(_SHARED_ROUNDS):
        step, moved = _shared_step(body, told, poses, shared, loose, soft)
        there = _cost(body, told, moved, shared + step, loose)
        if there > cost:
            soft *= 10.0
            continue
        done = there > (1.0 - 1e-5) * cost
        shared, poses, cost, soft = shared + step, moved, there, max(0.1 * soft, _SOFT)
        if done:
            break
    return 1.0 / (1.0 + float(shared[0])), shared[1:].reshape(-1, 3)


def _sized(markers: Floats, scale: float) -> Floats:
    """Return markers and how sharply each is known, (…, 4), drawn to a scale."""
    return np.concatenate([scale * markers[..., :3], markers[..., 3:]], axis=-1)


def _cost(body: _Body, told: list[_Told], poses: list[Floats], shared: Floats, loose: Floats) -> float:
    offsets = shared[1:].reshape(-1, 3)
    cost = float(shared @ (loose * shared))
    for (markers, standing, rest), pose in zip(told, poses, strict=True):
        cost += _normal(body, pose, _sized(markers, 1.0 + shared[0]), offsets, standing, rest, None)[4]
    return cost


def _shared_step(
    body: _Body, told: list[_Told], poses: list[Floats], shared: Floats, loose: Floats, soft: float
) -> tuple[Floats, list[Floats]]:
    """Return a step of the shared numbers, and the poses that go with it."""
    count, offsets = len(body.sites), shared[1:].reshape(-1, 3)
    matrix, right, kept = np.diag(loose), -loose * shared, []
    for (markers, standing, rest), pose in zip(told, poses, strict=True):
        sized = _sized(markers, 1.0 + shared[0])
        inner, own, rows, errors, _ = _normal(body, pose, sized, offsets, standing, rest, None)
        turns = body.frames()[1] * markers[:, 3:, None]
        moves = np.zeros((3 * count, 1 + 3 * count))  # of markers on the body, less where they are wanted
        moves[:, 0] = -(markers[:, :3] * markers[:, 3:]).ravel()
        for n in range(count):
            moves[3 * n : 3 * n + 3, 1 + 3 * n : 4 + 3 * n] = turns[n]
        inner[np.diag_indices_from(inner)] *= 1.0 + soft
        free = ~body.leaves(pose, np.asarray(np.linalg.solve(inner, own)))
        cross = rows[:, free].T @ moves
        solved = np.zeros((len(inner), len(shared) + 1))
        solved[free] = np.linalg.solve(inner[np.ix_(free, free)], np.concatenate([cross, own[free, None]], axis=1))
        matrix += moves.T @ moves - cross.T @ solved[free, :-1]
        right += moves.T @ errors - cross.T @ solved[free, -1]
        kept.append(solved)
    matrix[np.diag_indices_from(matrix)] *= 1.0 + soft
    step = np.asarray(np.linalg.solve(matrix, right))
    return step, [body.move(q, s[:, -1] - s[:, :-1] @ step) for q, s in zip(poses, kept, strict=True)]


def _with_held(body: _Body, qpos: Floats, held: Floats) -> Floats:
    """Return a pose with everything but the free joints as another has it."""
    found, model = held.copy(), body.model
    for joint in np.unique(model.dof_jntid[body.free]):
        first = int(model.jnt_qposadr[joint])
        width = _WIDTHS.get(int(model.jnt_type[joint]), 1)
        found[first : first + width] = qpos[first : first + width]
    return found


def _poses(
    body: _Body, markers: Floats, offsets: Floats, path: Floats, begin: Floats, standing: NDArray[np.bool_]
) -> Floats:
    """Return every frame's pose, each from the frame before, (F, nq)."""
    found, qpos, last = path.copy(), begin, None
    for frame, wanted in enumerate(markers):
        start = _with_held(body, qpos, path[frame])
        rounds = _FIRST if last is None else _ROUNDS
        qpos = _solve_frame(body, start, wanted, offsets, standing[frame], path[frame], last, rounds)
        found[frame] = last = qpos
    return found


def _made_smooth(
    body: _Body, qpos: Floats, wanted: Floats, offsets: Floats, path: Floats, standing: NDArray[np.bool_], fps: float,
    looser: float,
) -> Floats:  # fmt: skip
    """Return poses moved by one Gauss-Newton step of all frames together, to which accelerations are costs too.

    One by one, frames follow every marker's noise, and a wrist of which one marker tells does as it likes. With δ a
    step of all poses and u the way from each to the next, what is added is |u' − u + δ'' − 2δ' + δ|² / (σ_a·dt²)²:
    a banded system of as many unknowns as there are joints and frames.
    """
    count, frames = len(body.free), len(qpos)
    if frames < 3:
        return qpos
    band, right = np.zeros((3 * count, frames * count)), np.zeros((frames, count))
    for frame, pose in enumerate(qpos):
        last = min(max(frame, 1), frames - 2)
        rest = path[frame]
        matrix, right[frame], _, _, _ = _normal(body, pose, wanted[frame], offsets, standing[last], rest, None)
        matrix[np.diag_indices_from(matrix)] += _WAY**-2
        _add_block(band, count, frame, frame, matrix)
    ways = np.array([body.apart(one, other) for one, other in itertools.pairwise(qpos)])
    known = (looser * body.calm * fps**-2.0) ** -2
    off = ways[1:] - ways[:-1]
    for k, share in enumerate(_SECOND):
        right[k : frames - 2 + k] -= share * known * off
        for m in range(k + 1):
            for frame in range(frames - 2):
                _add_diagonal(band, count, frame + m, frame + k, share * _SECOND[m] * known)
    step = np.zeros((frames, count))
    for _ in range(3):  # what stands at a limit and is pushed against it stays there
        solved = scipy.linalg.solveh_banded(band, right.ravel(), lower=True, check_finite=False).reshape(frames, count)
        stuck = np.array([body.leaves(pose, one) for pose, one in zip(qpos, solved, strict=True)])
        step = np.where(stuck, 0.0, solved)
        if not stuck.any():
            break
        band[0] += _STUCK * stuck.ravel()
        right[stuck] = 0.0
    return np.array([body.move(pose, one) for pose, one in zip(qpos, step, strict=True)])


def _add_block(band: Floats, count: int, row: int, column: int, block: Floats) -> None:
    """Add a block on the diagonal to a symmetric matrix of which the lower band is kept."""
    first = column * count
    for k in range(count):
        band[: count - k, first + k] += block[k:, k]


def _add_diagonal(band: Floats, count: int, column: int, row: int, values: Floats) -> None:
    """Add a diagonal block, of frames `row` and `column`, row ≥ column, to the lower band."""
    first = column * count
    band[(row - column) * count, first : first + count] += values
