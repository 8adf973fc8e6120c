"""Trajectories without physics: joints on their paths, sites brought to theirs by inverse kinematics; feet that stand.

What a preview shows is what was asked for. Sites pull at whatever no path holds: the free joints inboard of them, and a
free root. They are solved together, frame after frame from the frame before, with damped least squares.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import corners_over, pose_frames
from stunt.control.core.engine import BALL, FREE
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.captured import TOGETHER, fastened, fitted, read_markers, told_of
from stunt.drive.paths.follower import site_of, spot
from stunt.drive.paths.laid_out import joint_paths, marker_paths, placed
from stunt.drive.paths.spec import SitePath, TrajectoryPart
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]
_DAMPING: Final = 1e-3
"""Weight [m] against joints that turn for nothing, where a limb is stretched."""
_FAR: Final = 0.005
"""A site that stays farther from its path than this [m] is named."""
_STANDS: Final = 0.02
"""Soles that are so near to the floor at first [m] stand on it."""
_ROUNDS, _NEAR = 60, 2e-4
"""Rounds per frame at most, and an error [m or rad] that needs no more."""


def show_trajectories(part: TrajectoryPart, stage: StageLoop, name: str, path: Floats, times: Floats) -> list[str]:
    """Lay what a part of trajectories leads to over a path (T, nq); return what sites cannot reach, in sentences."""
    character = stage.character(name)
    held = set()
    for one in joint_paths(part, character):
        joint = character.joints[one.joint]
        held.add(one.joint)
        values = _values(one.trajectory, times)
        values /= np.linalg.norm(values, axis=1, keepdims=True) if joint.kind == "ball" else 1.0
        path[:, joint.qpos : joint.qpos + joint.nq] = values
    together = part.markers is not None and len(part.markers.drive) >= TOGETHER
    told = _show_fit(part, stage, character, held, path, times) if together else []
    sites = [
        placed(stage, character, site, from_first=part.markers is not None)
        for site in [*part.sites, *(marker_paths(part.markers) if part.markers and not together else ())]
    ]
    if not sites:
        return told
    left = _reach(stage.model, character, sites, _free(stage.model, character, sites, held), path, times)
    worst = np.argmax(left, axis=0)
    return told + [
        f"{name}: {site.site} cannot reach its path: {1000.0 * left[k, n]:.0f} mm off at {times[k]:.2f} s"
        for n, (site, k) in enumerate(zip(sites, worst, strict=True))
        if left[k, n] > _FAR
    ]


def _show_fit(
    part: TrajectoryPart, stage: StageLoop, character: Character, held: set[str], path: Floats, times: Floats
) -> list[str]:
    """Lay the body fitted to its markers over a path; return which markers it does not reach, in sentences."""
    from stunt.drive.markers.strings import muscles_of  # brings a solver, which nobody else needs

    asked = part.markers
    assert asked is not None
    captured = read_markers(asked)
    fit = fitted(stage, character, asked, captured)
    frames = np.clip(np.round((times - asked.at) * fit.fps).astype(int), 0, len(fit.qpos) - 1)
    tied = fastened(asked, captured)
    moved = muscles_of(character, [character.sites[site] for site in tied.sites], held)
    for joint in [*moved, *([character.root] if character.root is not None else [])]:
        path[:, joint.qpos : joint.qpos + joint.nq] = fit.qpos[frames, joint.qpos : joint.qpos + joint.nq]
    rms = np.sqrt((fit.left**2).mean(axis=0))
    return told_of(character.name, asked, captured, fit) + [
        f"{character.name}: {site} cannot reach its marker: {1000.0 * off:.0f} mm off on average"
        for site, off in zip(tied.sites, rms, strict=True)
        if off > _FAR
    ]


def _values(trajectory: Any, times: Floats) -> Floats:
    pieces = trajectory.pieces(float(times[0]), float(times[-1]))
    return np.array([pieces.at(float(time))[0] for time in times])


def _free(model: mujoco.MjModel, character: Character, sites: list[SitePath], held: set[str]) -> NDArray[np.int64]:
    """Return the degrees of freedom that sites pull at: inboard of one, and on no path."""
    kept = {character.joints[name].dof + k for name in held for k in range(character.joints[name].nv)}
    found: set[int] = set()
    for site in sites:
        number = site_of(character, site.site)
        body = int(model.site_bodyid[number]) if number >= 0 else -1 - number
        while body > 0:
            found |= set(range(model.body_dofadr[body], model.body_dofadr[body] + model.body_dofnum[body]))
            body = int(model.body_parentid[body])
    return np.array(sorted(found - kept), np.int64)


def _reach(
    model: mujoco.MjModel, character: Character, sites: list[SitePath], free: NDArray[np.int64], path: Floats,
    times: Floats,
) -> Floats:  # fmt: skip
    """Bring sites to their paths; return how far off their positions are left [m], (T, sites)."""
    data = mujoco.MjData(model)
    wanted = [[None if one is None else _values(one, times) for one in (s.position, s.orientation)] for s in sites]
    numbers = [site_of(character, site.site) for site in sites]
    step, limited = np.zeros(model.nv), [(j.qpos, j.range) for j in character.joints.values() if j.nq == 1 and j.range]
    moved = np.unique([model.dof_jntid[dof] for dof in free])
    last, left = path[0].copy(), np.zeros((len(times), len(sites)))
    for frame in range(len(times)):
        data.qpos[:] = path[frame]
        for joint in moved:  # go on from where the frame before led
            first = int(model.jnt_qposadr[joint])
            width = {FREE: 7, BALL: 4}.get(int(model.jnt_type[joint]), 1)
            data.qpos[first : first + width] = last[first : first + width]
        for _ in range(_ROUNDS):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            now = [[None if one is None else one[frame] for one in pair] for pair in wanted]
            rows, errors = _rows(model, data, numbers, now)
            if np.abs(errors).max() < _NEAR:
                break
            jacobian = rows[:, free]
            square = jacobian @ jacobian.T + _DAMPING**2 * np.eye(len(errors))
            step[:] = 0.0
            step[free] = np.clip(jacobian.T @ np.linalg.solve(square, errors), -0.2, 0.2)
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
            for q, (low, high) in limited:
                data.qpos[q] = min(max(data.qpos[q], low), high)
        path[frame] = last = data.qpos.copy()
        left[frame] = [
            0.0 if one[0] is None else np.linalg.norm(one[0][frame] - spot(data, number))
            for one, number in zip(wanted, numbers, strict=True)
        ]
    return left


def _rows(
    model: mujoco.MjModel, data: mujoco.MjData, numbers: list[int], wanted: list[list[Floats | None]]
) -> tuple[Floats, Floats]:
    """Return how sites move with the joints, and how far they are from where they should be."""
    rows, errors = [], []
    for site, (place, turn) in zip(numbers, wanted, strict=True):
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        body, frame = (
            (model.site_bodyid[site], data.site_xmat[site]) if site >= 0 else (-1 - site, data.xmat[-1 - site])
        )
        mujoco.mj_jac(model, data, linear, angular, spot(data, site), body)
        if place is not None:
            rows.append(linear)
            errors.append(place - spot(data, site))
        if turn is not None:
            here, off = np.zeros(4), np.zeros(3)
            mujoco.mju_mat2Quat(here, frame)
            mujoco.mju_subQuat(off, turn / np.linalg.norm(turn), here)
            rows.append(angular)
            errors.append(frame.reshape(3, 3) @ off)
    return np.concatenate(rows), np.concatenate(errors)


def stand_on(stage: StageLoop, name: str, path: Floats) -> None:
    """Shift a free root, frame by frame, so that its soles stay where they stood at first; on the floor if near it."""
    character = stage.character(name)
    geoms = sole_geoms(stage.model, character)
    if not geoms or character.root is None:
        return
    own = own_slices(character)[0]
    start = np.concatenate([stage.data.qpos[None, own], path[:, own]])
    soles = corners_over(stage.model, character, geoms, *pose_frames(stage.model, character, start))
    middle, lowest = soles.mean(axis=1), soles[..., 2].min(axis=1)
    root = character.root.qpos
    path[:, root : root + 2] += middle[0, :2] - middle[1:, :2]
    path[:, root + 2] += (0.0 if abs(lowest[0]) < _STANDS else lowest[0]) - lowest[1:]
