"""A clip on a body with other bones by whole-body inverse kinematics: all joints at once, feet on the floor.

Every mapped body is to be turned as the clip has it, and the soles are to be where `footprints` lays them; hinges in a
row share what a ball would do, joints keep to their limits, and what cannot be had goes where it costs least: soles
first, then the hips, then the directions of bones, and their twist last. Solved frame by frame by mink's quadratic
programmes, each from the frame before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mink
import mujoco
import numpy as np
import qpsolvers
import scipy

from stunt.character.character import Character
from stunt.maths.rotations import Floats, conjugate, multiply, rotate, slerp
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import WorldPose
from stunt.motion.clips.standing import (
    ANKLE_HEIGHT,
    Footing,
    FootJoints,
    feet_of,
    floor_height,
    footing,
    reference_stance,
    stature,
)
from stunt.motion.rig.footprints import BodySole, FootPath, body_sole, clip_foot, lay_out

FASTEST = 60.0
"""Frames a second that are solved; those in between are interpolated."""
_ROUNDS, _FIRST = 4, 60  # steps of a frame, and of the first one
_STEP = 0.4  # a joint turns by no more in one of them [rad]
_SOLE, _HIPS, _HIPS_TURN = 200.0, 10.0, 3.0  # costs, per metre and per radian
_STANDING, _SWINGING = 5.0, 1.0  # of a sole's tilt and heading, per radian
_CANNOT = 0.02  # of that, where the ankle has no joint for it
_BONE, _TWIST, _SPINE, _POSTURE, _LEG = 1.0, 0.15, 1.0, 0.02, 0.2
_LEG_PARTS = ("thigh", "shank", "foot")
_WIDER = 0.6  # of how much wider its hips are than in proportion: its feet go so much farther apart
GROWN_UP = 1.7
"""Of a size by which thresholds are meant [m]."""
_STRAIGHT = 0.985  # of its length: how far a leg is stretched at most
_SOFT = 0.06  # over which the hips go down for that [s]
_APART, _NEAR = 0.01, 0.03  # parts keep so far from each other, and are looked at from so near on [m]
_NEARER, _OUT = 0.7, 0.01  # of what is left between them one step may take; they leave one another by so much [m]


@dataclass(frozen=True, eq=False)
class LegOnPath:
    """A leg of a body, and where its foot goes."""

    foot: int  #: Its body
    sole: BodySole  #: What it stands on
    flat: Floats  #: How the foot is turned, lying flat and facing +x, (4,)
    hip: Floats  #: Where the leg begins in the frame of the body it hangs on [m], (3,)
    length: float  #: From there to the ankle [m]
    freedom: int  #: Degrees of freedom of its ankle
    path: FootPath  #: Where the foot goes


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of a body. F frames.

    Attributes:
        hips: The body its legs hang on.
        place: Where that is to be [m], (F, 3).
        turns: How bodies are to be turned, (F, 4) by body.
        along: Which way each points, in its frame, (3,); those that point nowhere are left out.
        legs: Its legs.
        fps: Frames per second.
    """

    hips: int
    place: Floats
    turns: Mapping[int, Floats]
    along: Mapping[int, Floats]
    legs: tuple[LegOnPath, ...]
    fps: float


class _TurnTask(mink.FrameTask):  # type: ignore[misc]
    """Turns a body; its twist about the way it points matters less than where it points."""

    def __init__(self, body: int, cost: float, along: Floats | None, twist: float) -> None:
        super().__init__(body, "body", position_cost=0.0, orientation_cost=1.0)
        self._weights = np.zeros((6, 6))
        self._weights[3:, 3:] = cost * np.eye(3)
        if along is not None:
            self._weights[3:, 3:] += (twist - cost) * np.outer(along, along)

    def compute_error(self, configuration: mink.Configuration) -> Floats:
        return np.asarray(self._weights @ super().compute_error(configuration))

    def compute_jacobian(self, configuration: mink.Configuration) -> Floats:
        return np.asarray(self._weights @ super().compute_jacobian(configuration))


def solve(character: Character, wanted: Wanted) -> Floats:
    """Return the whole model's coordinates that come nearest to what is wanted, (F, nq)."""
    frames = len(wanted.place)
    step = max(int(np.ceil(wanted.fps / FASTEST - 1e-6)), 1)
    chosen = sorted({*range(0, frames, step), frames - 1})
    body = _Solver(character, wanted)
    found = np.stack([body.at(frame) for frame in chosen])
    return _filled(character, found, np.array(chosen), frames)


class _Solver:
    """Goes through the frames in order."""

    def __init__(self, character: Character, wanted: Wanted) -> None:
        model = character.model
        assert character.root is not None
        self._wanted, self._model, self._character = wanted, model, character
        self._configuration = mink.Configuration(model)
        self._place = wanted.place - _sinking(wanted)[:, None] * [0.0, 0.0, 1.0]
        feet = {leg.foot for leg in wanted.legs}
        self._turns: dict[int, _TurnTask] = {}
        upper = _above_legs(character, feet)
        for body in wanted.turns:
            if body not in feet and body != wanted.hips:
                along = wanted.along.get(body)
                cost = _BONE if body in upper else _LEG
                self._turns[body] = _TurnTask(body, cost, along, min(_TWIST, cost))
        self._hips = mink.FrameTask(wanted.hips, "body", position_cost=_HIPS, orientation_cost=_HIPS_TURN)
        self._soles = [
            mink.FrameTask(leg.foot, "body", position_cost=_SOLE, orientation_cost=_STANDING) for leg in wanted.legs
        ]
        self._posture = mink.PostureTask(model, cost=_POSTURE)
        self._posture.set_target(model.qpos0)
        self._own = np.concatenate([np.arange(character.root.dof, character.root.dof + 6), character.dofs])
        bound = [joint for joint in character.joints.values() if joint.range is not None and joint.nq == 1]
        place = {int(dof): number for number, dof in enumerate(self._own)}
        self._limited = [place[joint.dof] for joint in bound]
        self._columns = [joint.qpos for joint in bound]
        self._low, self._high = np.array([joint.range for joint in bound], float).reshape(-1, 2).T
        self._parts = _Parts(self._configuration, character, self._own, upper - {wanted.hips})
        self._started = False

    def at(self, frame: int) -> Floats:
        """Return the coordinates in a frame; frames are asked for in order."""
        character, wanted = self._character, self._wanted
        assert character.root is not None
        goal = _pose(self._place[frame], wanted.turns[wanted.hips][frame])
        if not self._started:
            start = self._model.qpos0.copy()
            self._configuration.update(start)
            data, root = self._configuration.data, character.root_body
            away = _pose(data.xpos[wanted.hips], data.xquat[wanted.hips]).inverse() @ _pose(
                data.xpos[root], data.xquat[root]
            )
            first = (goal @ away).wxyz_xyz
            start[character.root.qpos : character.root.qpos + 7] = [*first[4:], *first[:4]]
            self._configuration.update(start)
        self._hips.set_target(goal)
        for body, task in self._turns.items():
            task.set_target(_pose(np.zeros(3), wanted.turns[body][frame]))
        for rounds in (_ROUNDS,) if self._started else (_FIRST, _ROUNDS):  # then as any other: its lowest point counts
            for _ in range(rounds):
                self._aim_soles(frame)
                self._improve()
            self._started = True
        return np.asarray(self._configuration.q.copy())

    def _aim_soles(self, frame: int) -> None:
        """Ask for the feet; one that cannot be turned as asked has its lowest point where it should be all the same."""
        data = self._configuration.data
        for leg, task in zip(self._wanted.legs, self._soles, strict=True):
            place, turn = leg.path.places[frame].copy(), leg.path.turns[frame]
            reached = multiply(data.xquat[leg.foot], conjugate(leg.flat))
            if self._started:
                place[2] = leg.path.low[frame] + leg.sole.lowest(reached)
            task.set_target(_pose(place, multiply(turn, leg.flat)))
            cost = np.full(3, _STANDING if leg.path.stands[frame] else _SWINGING)
            if leg.freedom < 2:  # the leg's lean is the sole's roll; without any joint its swing is the sole's pitch
                ahead = np.abs(rotate(conjugate(leg.flat), np.array([1.0, 0.0, 0.0]))) if leg.freedom else np.ones(3)
                cost = np.maximum(cost * (1.0 - ahead), _CANNOT * cost)
            task.set_orientation_cost(cost)

    def _improve(self) -> None:
        tasks = [self._hips, *self._soles, *self._turns.values(), self._posture]
        problem = mink.build_ik(self._configuration, tasks, 1.0, damping=1e-3, limits=[])
        own, change = self._own, np.zeros(self._model.nv)
        here = self._configuration.q[self._columns]
        least, most = np.full(len(own), -np.inf), np.full(len(own), np.inf)
        least[6:], most[6:] = -_STEP, _STEP
        least[self._limited] = np.minimum(np.maximum(self._low - here, -_STEP), _STEP)
        most[self._limited] = np.maximum(np.minimum(self._high - here, _STEP), least[self._limited])
        lever, room = self._parts.between()
        asked = [(lever, room), (None, None)] if len(room) else [(None, None)]  # sooner in one another than not at all
        for some in asked:
            small = qpsolvers.Problem(problem.P[np.ix_(own, own)], problem.q[own], *some, lb=least, ub=most)
            solved = qpsolvers.solve_problem(small, solver="daqp")
            if solved.found and solved.x is not None:
                change[own] = solved.x
                self._configuration.integrate_inplace(change, 1.0)
                return


class _Parts:
    """What of arms and trunk would touch the body, and how far off it is; legs keep to the places of their soles."""

    def __init__(
        self, configuration: mink.Configuration, character: Character, own: np.ndarray, upper: set[int]
    ) -> None:
        model = configuration.model
        self._model, self._data, self._own = model, configuration.data, own
        rest = mujoco.MjData(model)
        mujoco.mj_kinematics(model, rest)
        excluded, found = set(model.exclude_signature.tolist()), list[tuple[int, int]]()
        solid = [g for g in sorted(character.geoms) if model.geom_contype[g] | model.geom_conaffinity[g]]
        for number, one in enumerate(solid):
            for other in solid[number + 1 :]:
                a, b = sorted(int(model.body_weldid[model.geom_bodyid[g]]) for g in (one, other))
                low, high = sorted(int(model.geom_bodyid[g]) for g in (one, other))
                joined = a == b or int(model.body_weldid[model.body_parentid[b]]) == a
                masks = model.geom_contype[one] & model.geom_conaffinity[other]
                masks |= model.geom_contype[other] & model.geom_conaffinity[one]
                if masks and not joined and {low, high} & upper and (low << 16) + high not in excluded:
                    found.append((one, other))
        self._pairs = np.array(found, int).reshape(-1, 2)
        self._least = np.array([min(_APART, self._distance(rest, *pair)) for pair in found])  # as at rest, at most
        self._reach = model.geom_rbound[self._pairs].sum(axis=1) + _NEAR

    def _distance(self, data: mujoco.MjData, one: int, other: int, fromto: Floats | None = None) -> float:
        return float(mujoco.mj_geomDistance(self._model, data, one, other, _NEAR, fromto))

    def between(self) -> tuple[Floats, Floats]:
        """Return how fast joints bring near parts together, (n, dofs) [m/rad], and by how much they may [m], (n,)."""
        model, data, at = self._model, self._data, self._data.geom_xpos
        ones, others = self._pairs.T
        near = np.flatnonzero(np.linalg.norm(at[ones] - at[others], axis=1) < self._reach)
        levers, room, fromto = list[Floats](), list[float](), np.zeros(6)
        jacobians = np.zeros((2, 3, model.nv))
        for number in near:
            one, other = self._pairs[number]
            distance = self._distance(data, one, other, fromto)
            way = fromto[3:] - fromto[:3]
            length = float(np.linalg.norm(way))
            if distance >= _NEAR or length < 1e-9:
                continue
            for jacobian, geom, point in zip(jacobians, self._pairs[number], (fromto[:3], fromto[3:]), strict=True):
                mujoco.mj_jac(model, data, jacobian, None, point, int(model.geom_bodyid[geom]))
            toward = way / length if distance > 0.0 else -way / length
            levers.append((toward @ (jacobians[0] - jacobians[1]))[self._own])
            room.append(max(_NEARER * (distance - self._least[number]), -_OUT))
        return np.array(levers).reshape(-1, len(self._own)), np.array(room)


def _pose(place: Floats, turn: Floats) -> mink.SE3:
    return mink.SE3(wxyz_xyz=np.concatenate([turn / np.linalg.norm(turn), place]))


def _above_legs(character: Character, feet: set[int]) -> set[int]:
    """Return the bodies that carry no foot and hang on none."""
    model, legs = character.model, set[int]()
    for foot in feet:
        body = foot
        while body > character.root_body:
            legs.add(body)
            body = int(model.body_parentid[body])
    for body in sorted(character.bodies.values()):
        if int(model.body_parentid[body]) in feet | legs:
            legs.add(body)
    return set(character.bodies.values()) - legs


def _sinking(wanted: Wanted) -> Floats:
    """Return by how much the hips go down so that no leg is stretched straight [m], (F,)."""
    down = np.zeros(len(wanted.place))
    for leg in wanted.legs:
        hip = wanted.place + rotate(wanted.turns[wanted.hips], leg.hip)
        away = hip - leg.path.places
        flat, most = np.hypot(away[:, 0], away[:, 1]), _STRAIGHT * leg.length
        down = np.maximum(down, away[:, 2] - np.sqrt(np.maximum(most * most - flat * flat, 0.01 * most * most)))
    if len(down) < 3:
        return down
    soft = scipy.ndimage.gaussian_filter1d(down, _SOFT * wanted.fps, mode="nearest")
    return np.maximum(soft, 0.0)


def _filled(character: Character, found: Floats, chosen: np.ndarray, frames: int) -> Floats:
    """Return all frames of those that were solved: straight between them, or along the shortest turn."""
    if len(chosen) == frames:
        return found
    wanted = np.arange(frames)
    low = np.clip(np.searchsorted(chosen, wanted, side="right") - 1, 0, len(chosen) - 2)
    share = ((wanted - chosen[low]) / (chosen[low + 1] - chosen[low])).clip(0.0, 1.0)
    result = np.asarray(found[low] + share[:, None] * (found[low + 1] - found[low]))
    assert character.root is not None
    balls = [joint.qpos for joint in character.joints.values() if joint.kind == "ball"]
    for column in (character.root.qpos + 3, *balls):
        part = slice(column, column + 4)
        result[:, part] = slerp(found[low, part], found[low + 1, part], share)
    return result


@dataclass(frozen=True, eq=False)
class TwoLegs:
    """Both legs of a body, and the way of its hips.

    Attributes:
        legs: Left and right.
        hips: Where the middle between where they begin goes [m], (F, 3).
    """

    legs: tuple[LegOnPath, ...]
    hips: Floats


def two_legs(
    clip: Clip, character: Character, neutral: WorldPose, pairs: Mapping[str, tuple[int, int]], parts: dict[str, int]
) -> TwoLegs | None:
    """Return a body's legs with the footprints of a clip; None where either has not two that can be told.

    Args:
        clip: The clip.
        character: The body.
        neutral: Its reference pose, facing +x.
        pairs: Joint of the clip and body of each part.
        parts: Joint of the clip of each part.
    """
    if not all(f"{side}{part}" in pairs for side in ("l_", "r_") for part in ("thigh", "shank", "foot")):
        return None
    stance = clip.world_of(reference_stance(clip, parts)[0])
    floor, hips = floor_height(clip, parts), pairs["hips"][1]
    feet, seen = feet_of(parts), []
    for side in ("l_", "r_"):
        chain = _chain(character, hips, pairs[f"{side}foot"][1])
        found = body_sole(character, neutral, pairs, side)
        if len(chain) < 2 or found is None:
            return None
        seen.append((side, chain, *found))
    ours = np.mean([_length(stance, [pairs[f"{s}{part}"][0] for part in _LEG_PARTS]) for s, *_ in seen])
    lengths = [_length(neutral, [chain[0], pairs[f"{s}shank"][1], pairs[f"{s}foot"][1]]) for s, chain, *_ in seen]
    ankle = np.mean([_ankle(clip, feet[s], stance, parts).height - floor for s, *_ in seen])
    ratio = float(
        np.mean([length + sole.depth for length, (*_, sole) in zip(lengths, seen, strict=True)]) / (ours + ankle)
    )
    size = stature(clip, parts) / GROWN_UP
    legs, middle = [], stance.positions[[parts["l_thigh"], parts["r_thigh"]]].mean(axis=0)
    body_middle = np.mean([neutral.positions[chain[0]] for _, chain, *_ in seen], axis=0)
    for (side, chain, flat, sole), length in zip(seen, lengths, strict=True):
        foot = clip_foot(clip, feet[side], floor, size, _ankle(clip, feet[side], stance, parts))
        wide = float(
            (neutral.positions[chain[0]] - body_middle - ratio * (stance.positions[parts[f"{side}thigh"]] - middle))[1]
        )
        path = lay_out(foot, sole, ratio, _WIDER * wide, clip.fps)
        hip = rotate(conjugate(neutral.rotations[hips]), neutral.positions[chain[0]] - neutral.positions[hips])
        free = _freedom(character, chain[chain.index(pairs[f"{side}shank"][1]) + 1 :])
        legs.append(LegOnPath(chain[-1], sole, flat, hip, length, free, path))
    way = clip.world.positions[:, [parts["l_thigh"], parts["r_thigh"]]].mean(axis=1)
    return TwoLegs(tuple(legs), ratio * (way - [0.0, 0.0, floor]))


def _chain(character: Character, hips: int, foot: int) -> list[int]:
    """Return the bodies of a leg, from the first that moves below the hips to the foot; none of one elsewhere."""
    chain = [foot]
    while chain[0] > hips:
        above = int(character.model.body_parentid[chain[0]])
        if above == hips:
            return chain[next(n for n, body in enumerate(chain) if character.model.body_jntnum[body]) :]
        chain.insert(0, above)
    return []


def _freedom(character: Character, bodies: list[int]) -> int:
    """Return how many degrees of freedom the joints of some bodies have."""
    model = character.model
    return sum(joint.nv for joint in character.joints.values() if int(model.jnt_bodyid[joint.id]) in bodies)


def _length(pose: WorldPose, chain: list[int]) -> float:
    return float(np.linalg.norm(np.diff(pose.positions[chain], axis=0), axis=-1).sum())


def _ankle(clip: Clip, foot: FootJoints, stance: WorldPose, parts: dict[str, int]) -> Footing:
    """Return how an ankle is in the reference stance: as the clip shows it standing, where it does."""
    seen = footing(clip, foot, foot.ankle, flat=True)
    if seen is not None:
        return seen
    back = conjugate(stance.rotations[foot.ankle])
    height = floor_height(clip, parts) + ANKLE_HEIGHT * stature(clip, parts)
    return Footing(height, rotate(back, np.array([0.0, 0.0, 1.0])), rotate(back, np.array([1.0, 0.0, 0.0])))
