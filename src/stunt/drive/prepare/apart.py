"""Limbs apart: hands out of hips and thighs, forearms out of each other, one shank out of the other.

Captured people have other flesh than a body of capsules, and a clip brought to another body has other bones as well:
limbs go through one another. Under forces what overlaps is thrown apart, and a foot caught on the other one fells the
body. So shoulders and elbows, hips and knees are turned a little, no further than needed, along a smooth course: arms
go out of the way of everything, legs out of each other's and the trunk's. Arms give way to legs.

What the engine lets overlap is left alone: what lies side by side in a body, and every pair of one that does not
collide with itself. It follows a clip the better for not being asked for another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.drive.motion.body_motion import BodyMotion, seen_from_root, with_bodies_turned
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.motion.rig.retarget import body_parts

LOOKS: Final = 120.0
"""How often per second overlaps are looked for; in between corrections are interpolated."""
CLEAR: Final = 0.01
"""How far a lower leg is kept from the other one [m]: a foot that is a little off its path, or late, still passes.
Everything else may touch."""
LATE: Final = 0.004
"""And the faster one passes the other the farther: as far as it goes in so long [s]."""
FARTHEST: Final = np.radians(15.0)
"""No joint is turned further [rad]: what overlaps more than that takes out is meant, or beyond mending."""
SMOOTH: Final = 0.06
"""Standard deviation of the smoothing of what joints are turned by [s]."""
FAR: Final = 0.045
"""But no farther than that [m]."""
ROUNDS: Final = 8
"""How often overlaps are looked for again at most; smoothing takes back a part of what was done."""
ENOUGH: Final = 0.002
"""Closer by less than that is near enough [m]."""
_EASE = 1e-4  # of the least squares: squared metres per squared radian a point must move by to be worth turning for


@dataclass(frozen=True)
class Overlap:
    """A body that was inside another for a while.

    Attributes:
        one: Which.
        other: In which.
        deep_cm: How deep at most, beyond that at rest [cm].
        start_s: From when on in the motion [s].
        end_s: Until when [s].
    """

    one: str
    other: str
    deep_cm: float
    start_s: float
    end_s: float

    @property
    def when(self) -> str:
        """The time in words."""
        start, end = f"{self.start_s:.2f}", f"{self.end_s:.2f}"
        return f"at {start} s" if start == end else f"between {start} and {end} s"


class LimbsApart(NamedTuple):
    """What was done.

    Attributes:
        motion: The motion with limbs apart.
        deepest: The deepest overlap there was, beyond that at rest [m].
        left: And the deepest that is left [m].
        turned: The largest turn of a joint [rad].
        overlaps: What there was, the deepest first.
    """

    motion: BodyMotion
    deepest: float
    left: float
    turned: float
    overlaps: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class _Limb:
    """An arm or leg; bodies are counted from the root.

    Attributes:
        joints: Its upper and its lower bone.
        below: The bodies each of them takes along, itself included.
        leg: Whether it is a leg.
    """

    joints: tuple[int, int]
    below: tuple[frozenset[int], frozenset[int]]
    leg: bool


class _Pair(NamedTuple):
    """Two geoms that should not overlap, by how much they do at rest [m], and whether they keep clear of each other."""

    one: int
    other: int
    rest: float
    clears: bool


def limbs_apart(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, *, clear: bool = True, legs: bool = True
) -> LimbsApart:
    """Return a motion whose limbs do not go through one another, or the body; the same one if they do not.

    Args:
        model: The scene.
        character: Who; only arms and legs its names tell are looked at.
        motion: What it does.
        clear: Whether lower legs keep clear of one another, for a body that forces move.
        legs: Whether legs give way too.
    """
    limbs = [limb for limb in _limbs(model, character) if legs or not limb.leg]
    overlaps = _Overlaps(model, character, limbs, clear)
    if not overlaps.pairs:
        return LimbsApart(motion, 0.0, 0.0, 0.0)
    count, every = len(motion.qpos), max(1, round(motion.fps / LOOKS))
    looks = np.unique([*range(0, count, every), count - 1])
    some = BodyMotion(motion.name, motion.fps / every, motion.qpos[looks])
    turns, deepest, left = np.zeros((len(looks), len(limbs), 2, 3)), 0.0, 0.0
    found, stirred = tuple[Overlap, ...](), np.ones(len(looks), bool)
    for number in range(ROUNDS):
        now = _turned(model, character, some, limbs, turns) if number else some
        step, depths = overlaps.step(now.qpos, some.fps, stirred)
        left = max(0.0, *depths.values()) if depths else 0.0
        if number == 0:
            deepest, found = left, overlaps.told(depths, looks / motion.fps)
        if not depths:
            break
        turns = _bounded(turns + _smoothed(step, some.fps))
        # Frames in which nothing overlaps and nothing was turned are as they were.
        stirred = np.asarray(turns.any(axis=(1, 2, 3)))
        stirred[[frame for frame, _ in depths]] = True
    if not turns.any():
        return LimbsApart(motion, deepest, left, 0.0, found)
    whole = np.stack([np.interp(np.arange(count), looks, column) for column in turns.reshape(len(looks), -1).T], axis=1)
    apart = _turned(model, character, motion, limbs, whole.reshape(count, *turns.shape[1:]))
    return LimbsApart(apart, deepest, left, float(np.linalg.norm(turns, axis=-1).max()), found)


def _least_turn(lever: Floats, depths: Floats) -> Floats:
    """Return the smallest turns that take every pair at least as far apart as it is deep.

    At least, not just as far: of two shapes of one thigh the deeper one takes the hand out of the other as well.
    """
    root = np.linalg.cholesky(lever @ lever.T + _EASE * np.eye(len(depths)))
    return np.asarray(lever.T @ scipy.optimize.nnls(root.T, np.linalg.solve(root, depths))[0])


def _smoothed(step: Floats, fps: float) -> Floats:
    """Return corrections spread over the frames around them; of a short one most of its size is kept."""
    meant = step.any(axis=(2, 3)).astype(float)
    spread = scipy.ndimage.gaussian_filter1d(meant, SMOOTH * fps, axis=0, mode="nearest")[..., None, None]
    return np.asarray(
        scipy.ndimage.gaussian_filter1d(step, SMOOTH * fps, axis=0, mode="nearest") / np.maximum(spread, 0.5)
    )


def _bounded(turns: Floats) -> Floats:
    size = np.linalg.norm(turns, axis=-1, keepdims=True)
    return np.asarray(turns * np.minimum(1.0, FARTHEST / np.maximum(size, 1e-9)))


def _turned(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, limbs: list[_Limb], by: Floats
) -> BodyMotion:
    """Return a motion with the bones of limbs turned, by rotation vectors seen from the root, (F, limbs, 2, 3)."""
    turns = seen_from_root(pose_frames(model, character, motion.qpos)[1])
    moved = list[int]()
    for limb, vectors in zip(limbs, by.transpose(1, 2, 0, 3), strict=True):
        if not vectors.any():
            continue
        for bodies, vector in zip(limb.below, vectors, strict=True):
            own = sorted(bodies)
            turns[:, own] = rotations.multiply(rotations.from_rotation_vector(vector)[:, None], turns[:, own])
        moved += limb.joints
    return with_bodies_turned(character, motion, turns, moved)


def _limbs(model: mujoco.MjModel, character: Character) -> list[_Limb]:
    parts, first, found = body_parts(character), character.root_body, list[_Limb]()
    for side, (bones, leg) in product(("l_", "r_"), ((("upper_arm", "forearm"), False), (("thigh", "shank"), True))):
        upper, lower = (parts.get(side + bone) for bone in bones)
        if upper is None or lower is None:
            continue
        below = [
            frozenset(body - first for body in character.bodies.values() if _hangs_on(model, body, bone))
            for bone in (upper, lower)
        ]
        found.append(_Limb((upper - first, lower - first), (below[0], below[1]), leg))
    return found


def _hangs_on(model: mujoco.MjModel, body: int, bone: int) -> bool:
    while body > bone:
        body = int(model.body_parentid[body])
    return body == bone


class _Overlaps:
    """Finds where limbs overlap what they should not, and how they get out of it."""

    def __init__(self, model: mujoco.MjModel, character: Character, limbs: list[_Limb], clear: bool) -> None:
        self.model, self.character, self.limbs = model, character, limbs
        self.data = mujoco.MjData(model)
        self.geoms = [g for g in sorted(character.geoms) if model.geom_contype[g] or model.geom_conaffinity[g]]
        self.bodies = [int(model.geom_bodyid[g]) - character.root_body for g in self.geoms]
        self._fromto, self._excluded = np.zeros(6), set(model.exclude_signature.tolist())
        assert character.root is not None  # only free characters follow clips
        last = max((joint.qpos + joint.nq for joint in character.joints.values()), default=0)
        self._place(*self._poses(model.qpos0[None, character.root.qpos : last]), 0)
        self.pairs = [
            _Pair(one, other, max(0.0, -self._distance(one, other)), clear and self._clears(one, other))
            for one, other in self._candidates()
        ]

    def _candidates(self) -> list[tuple[int, int]]:
        """Return pairs of geoms, by number, that should not overlap: the first is of a limb, the other not of it."""
        found = set[tuple[int, int]]()
        for limb, (one, body), (other, against) in product(self.limbs, enumerate(self.bodies), enumerate(self.bodies)):
            apart = body in limb.below[0] and against not in limb.below[0]
            if apart and (other, one) not in found and self._may_touch(one, other):
                found.add((one, other))
        return sorted(found)

    def _clears(self, one: int, other: int) -> bool:
        """Whether two geoms are of lower legs, which keep clear of one another."""
        lower = [limb.below[1] for limb in self.limbs if limb.leg]
        return all(any(self.bodies[geom] in legs for legs in lower) for geom in (one, other))

    def _may_touch(self, one: int, other: int) -> bool:
        """Whether the engine lets two geoms touch."""
        model, geoms = self.model, (self.geoms[one], self.geoms[other])
        bodies = sorted(int(model.geom_bodyid[geom]) for geom in geoms)
        a, b = geoms
        masks = model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a]
        return bool(masks) and ((bodies[0] << 16) + bodies[1]) not in self._excluded

    def _poses(self, qpos: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where bodies are, and geoms are and how turned, seen from the root, (F, …, 3) and (F, geoms, 9)."""
        seen = qpos.copy()
        seen[:, :7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        places, turns = pose_frames(self.model, self.character, seen)
        own, model = turns[:, self.bodies], self.model
        where = places[:, self.bodies] + rotations.rotate(own, model.geom_pos[self.geoms])
        mats = rotations.to_matrix(rotations.multiply(own, np.broadcast_to(model.geom_quat[self.geoms], own.shape)))
        return places, where, mats.reshape(*mats.shape[:2], 9)

    def _place(self, places: Floats, where: Floats, mats: Floats, frame: int) -> None:
        self.data.geom_xpos[self.geoms], self.data.geom_xmat[self.geoms] = where[frame], mats[frame]

    def _distance(self, one: int, other: int) -> float:
        """Return how far apart two geoms are [m]; below 0 they overlap."""
        return float(mujoco.mj_geomDistance(
            self.model, self.data, self.geoms[one], self.geoms[other], FAR + 0.001, self._fromto
        ))  # fmt: skip

    def step(self, qpos: Floats, fps: float, stirred: NDArray[np.bool_]) -> tuple[Floats, dict[tuple[int, int], float]]:
        """Return how bones are to be turned in each frame, seen from the root, and how deep overlaps are.

        Args:
            qpos: The frames, (F, nq).
            fps: So many of them are a second.
            stirred: Which to look at, (F,).

        Returns:
            Rotation vectors [rad], (F, limbs, 2, 3), and depths beyond those at rest [m], by frame and pair.
        """
        places, where, mats = self._poses(qpos)
        turns, deep = np.zeros((len(qpos), len(self.limbs), 2, 3)), dict[tuple[int, int], float]()
        reach = self.model.geom_rbound[self.geoms]
        ones, others = (np.array([pair[k] for pair in self.pairs]) for k in (0, 1))
        apart = where[:, ones] - where[:, others]
        pace = (
            np.linalg.norm(np.gradient(apart, axis=0), axis=-1) * fps if len(apart) > 1 else np.zeros(apart.shape[:2])
        )
        clear = np.where([pair.clears for pair in self.pairs], np.minimum(CLEAR + LATE * pace, FAR), 0.0)
        close = np.linalg.norm(apart, axis=-1) < reach[ones] + reach[others] + clear
        for frame in np.flatnonzero(close.any(axis=1) & stirred):
            self._place(places, where, mats, int(frame))
            rows, depths = list[Floats](), list[float]()
            for number in np.flatnonzero(close[frame]):
                pair = self.pairs[number]
                depth = -self._distance(pair.one, pair.other) - pair.rest
                if depth + clear[frame, number] > ENOUGH:
                    rows.append(self._leverage(places[frame], pair, inside=depth + pair.rest > 0.0))
                    depths.append(depth + clear[frame, number])
                    deep[int(frame), int(number)] = depth
            if rows:
                turns[frame] = _least_turn(np.array(rows), np.array(depths)).reshape(turns.shape[1:])
        return turns, deep

    def told(self, depths: dict[tuple[int, int], float], times: Floats) -> tuple[Overlap, ...]:
        """Return which bodies overlap and when, the deepest first.

        Args:
            depths: By frame and pair [m].
            times: Of the frames [s], (F,).
        """
        names = {body - self.character.root_body: name for name, body in self.character.bodies.items()}
        courses = dict[tuple[str, str], Floats]()
        for (frame, number), depth in depths.items():
            pair = self.pairs[number]
            course = courses.setdefault(
                (names[self.bodies[pair.one]], names[self.bodies[pair.other]]), np.zeros(len(times))
            )
            course[frame] = max(course[frame], depth)
        found = [
            Overlap(*who, 100.0 * float(course[start:end].max()), float(times[start]), float(times[end - 1]))
            for who, course in courses.items()
            for start, end in stretches(course >= ENOUGH)
        ]
        return tuple(sorted(found, key=lambda overlap: (-overlap.deep_cm, overlap.start_s, overlap.one)))

    def _leverage(self, places: Floats, pair: _Pair, *, inside: bool) -> Floats:
        """Return how fast turning each bone takes two geoms apart, (limbs·2·3,) [m/rad]; they overlap, or are close."""
        start, end = self._fromto[:3], self._fromto[3:]
        out = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)  # the way the first must go
        out = out if inside else -out
        lever = np.zeros((len(self.limbs), 2, 3))
        for geom, point, way in ((pair.one, start, out), (pair.other, end, -out)):
            for number, limb in enumerate(self.limbs):
                for bone, (joint, bodies) in enumerate(zip(limb.joints, limb.below, strict=True)):
                    if self.bodies[geom] in bodies and (not limb.leg or self._between_legs(pair)):
                        lever[number, bone] += np.cross(point - places[joint], way)
        return lever.ravel()

    def _between_legs(self, pair: _Pair) -> bool:
        return not any(self.bodies[pair.one] in limb.below[0] for limb in self.limbs if not limb.leg)
