"""Where a clip's feet stand, and where that puts the soles of a body with other bones.

A foot that stands leaves one footprint: a place and a heading that it keeps, flat on the floor, until it is lifted. (A
person's heel comes up before that, over bent toes. A stiff sole that is asked to do so would have to carry the body on
its edge: followed by forces, robots' ankles then miss by 20°.) A foot that swings goes as the clip has it, in
proportion, from where it stood to where it will (Kovar, Schreiner and Gleicher 2002, "Footskate cleanup", in spirit).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import box_corners
from stunt.maths.rotations import (
    Floats,
    conjugate,
    from_matrix,
    from_rotation_vector,
    multiply,
    rotate,
    to_rotation_vector,
)
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import WorldPose
from stunt.motion.clips.standing import MEANT, Footing, FootJoints, footing, stretches

_UP = np.array([0.0, 0.0, 1.0])
_HEEL = 0.3  # how far the heel is behind the ankle, as a share of the way from ankle to ball
_TILTED, _ROLLS = 0.7, 700  # no foot rests further off the floor [rad], and in so many steps it is looked for
_CLEAR, _RISE = 0.03, 0.15  # how high a swinging sole is at least [m], and how soon [s]
_EASE = 0.3  # a foot that swings for longer is as the clip has it in between [s]


@dataclass(frozen=True, eq=False)
class ClipFoot:
    """One foot of a clip, F frames, above a floor at z = 0.

    Attributes:
        middle: Middle of its sole [m], (F, 3).
        turns: How it is turned from lying flat and facing +x, (F, 4).
        low: Height of its lowest point [m], (F,).
        stands: In which frames it stands, (F,).
    """

    middle: Floats
    turns: Floats
    low: Floats
    stands: NDArray[np.bool_]


def clip_foot(clip: Clip, joints: FootJoints, floor: float, size: float, stance: Footing) -> ClipFoot:
    """Return a foot of a clip.

    Args:
        clip: The clip.
        joints: Its joints.
        floor: Height of the ground the clip stands on [m].
        size: How large the person is, of a grown-up's size; small ones are nearer to the floor and slower.
        stance: How the ankle is in the reference stance, for a foot that never stands flat.
    """
    world, fps = clip.world, clip.fps
    seen = footing(clip, joints, joints.ankle, flat=True) or stance
    ankle, turn = world.positions[:, joints.ankle] - [0.0, 0.0, floor], world.rotations[:, joints.ankle]
    ahead, up = rotate(turn, seen.forward), rotate(turn, seen.normal)
    turns = from_matrix(np.stack([ahead, np.cross(up, ahead), up], axis=-1))
    depth = max(seen.height - floor, 0.01)
    reach = 0.14 * size
    if joints.ball is not None:
        away = world.positions[:, joints.ball] - world.positions[:, joints.ankle]
        reach = float(np.clip(np.median(np.einsum("fi,fi->f", away, ahead)), 0.06 * size, 0.3 * size))
    ball, heel = (ankle + share * reach * ahead - depth * up for share in (1.0, -_HEEL))
    level = [min(float(np.quantile(point[:, 2], 0.1)), 0.0) for point in (ball, heel)]
    found = [_stands(point, low, size, fps) for point, low in zip((ball, heel), level, strict=True)]
    stands = MEANT.closed(found[0] | found[1], fps)
    low = np.minimum(ball[:, 2] - level[0], heel[:, 2] - level[1])
    return ClipFoot(0.5 * (ball + heel), turns, np.maximum(low, 0.0), stands)


def _stands(places: Floats, level: float, size: float, fps: float) -> NDArray[np.bool_]:
    """Return in which frames a point of a sole stands, (F,)."""
    if len(places) < 2:
        return places[:, 2] - level < MEANT.low * size
    pace = np.linalg.norm(np.gradient(places, 1.0 / fps, axis=0), axis=1)
    return MEANT.found((places[:, 2] - level) / size, pace / np.sqrt(size), fps)


@dataclass(frozen=True, eq=False)
class BodySole:
    """The sole of one foot of a body: corners in a frame that has z up and x ahead as it lies flat [m], (P, 3)."""

    corners: Floats

    @property
    def depth(self) -> float:
        """How far it is below the foot's origin [m]."""
        return -float(self.corners[:, 2].min())

    @property
    def middle(self) -> Floats:
        """The middle of what lies on the floor [m], (3,)."""
        low = self.corners[self.corners[:, 2] < -self.depth + 0.25 * np.ptp(self.corners[:, 0])]
        return np.array([*(0.5 * (low.min(axis=0) + low.max(axis=0)))[:2], -self.depth])

    def lowest(self, turns: Floats) -> Floats:
        """Return how far its lowest corner is below the foot's origin [m], (...), for turns (..., 4)."""
        return -np.asarray(rotate(turns[..., None, :], self.corners)[..., 2].min(axis=-1))


def body_sole(
    character: Character, neutral: WorldPose, pairs: Mapping[str, tuple[int, int]], side: str
) -> tuple[Floats, BodySole] | None:
    """Return how a foot is turned as it lies flat and points along +x, and its sole; None where it has no shapes.

    Args:
        character: Whose.
        neutral: Its reference pose, facing +x.
        pairs: Joint of the clip and body of each part.
        side: `l_` or `r_`.
    """
    model, foot = character.model, pairs[f"{side}foot"][1]
    bodies, turn = {foot}, neutral.rotations[foot]
    for body in sorted(character.bodies.values()):
        if int(model.body_parentid[body]) in bodies:
            bodies.add(body)
    if f"{side}toe" in pairs:  # feet may be turned out at rest
        way = neutral.positions[pairs[f"{side}toe"][1]] - neutral.positions[foot]
        if np.hypot(way[0], way[1]) > 0.02:
            turn = multiply(from_rotation_vector(np.array([0.0, 0.0, -np.arctan2(way[1], way[0])])), turn)
    found = []
    for geom in sorted(character.geoms):
        body = int(model.geom_bodyid[geom])
        if body in bodies and model.geom_contype[geom] | model.geom_conaffinity[geom]:
            place = neutral.positions[body] + rotate(neutral.rotations[body], box_corners(model, geom))
            found.append(rotate(turn, rotate(conjugate(neutral.rotations[foot]), place - neutral.positions[foot])))
    if not found:
        return None
    corners = np.concatenate(found)
    flat = _flat_turn(corners)
    return multiply(flat, turn), BodySole(rotate(flat, corners))


def _flat_turn(corners: Floats) -> Floats:
    """Return the turn that lays a foot flat on the floor, wxyz: models that rest with legs apart rest on its edge.

    Weight on its joint rolls a foot, seen from ahead and then from the side, until the joint is lowest. If what it then
    lies on is as wide as half of the foot, that is what it stands on; a ball or a single bar may be rolled anyhow.

    Args:
        corners: Of all it stands on, as it rests, from its joint, z up and x ahead [m], (P, 3).
    """
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    for across, axis in 2 * ((1, [1.0, 0.0, 0.0]), (0, [0.0, -1.0, 0.0])):  # twice: one view turns the other
        angle = _rolled(*rotate(turn, corners)[:, [across, 2]].T)
        turn = multiply(from_rotation_vector(angle * np.array(axis)), turn)
    return turn


def _rolled(across: Floats, up: Floats) -> float:
    """Return the angle, from first to second axis, by which points roll under weight [rad]; 0 if to no face."""
    angles = np.linspace(-_TILTED, _TILTED, 2 * _ROLLS + 1)
    heights = np.outer(np.sin(angles), across) + np.outer(np.cos(angles), up)
    deep, k = -heights.min(axis=1), _ROLLS
    while 0 < k < 2 * _ROLLS and deep[k] > min(deep[k - 1], deep[k + 1]) + 1e-9:
        k += 1 if deep[k + 1] < deep[k - 1] else -1
    wide = float(np.ptp(across))
    lies = across[heights[k] < 0.05 * wide - deep[k]]
    return float(angles[k]) if 0 < k < 2 * _ROLLS and np.ptp(lies) > 0.5 * wide else 0.0


@dataclass(frozen=True, eq=False)
class FootPath:
    """Where one foot of a body goes. F frames.

    Attributes:
        places: Of the foot's origin [m], (F, 3).
        turns: From lying flat and facing +x, (F, 4).
        low: How high its lowest corner is to be [m], (F,).
        stands: In which frames it stands, (F,).
    """

    places: Floats
    turns: Floats
    low: Floats
    stands: NDArray[np.bool_]


def lay_out(foot: ClipFoot, sole: BodySole, ratio: float, aside: float, fps: float) -> FootPath:
    """Return where a body's foot goes to leave the footprints of a clip's, in proportion.

    Args:
        foot: The clip's.
        sole: The body's.
        ratio: How large the body is beside the clip's person.
        aside: How much further to its left it goes than in proportion [m].
        fps: Frames per second.
    """
    middle = sole.middle
    heading = _headings(foot.turns)
    left = np.stack([-np.sin(heading), np.cos(heading), np.zeros(len(heading))], axis=1)
    spot = ratio * foot.middle * [1.0, 1.0, 0.0] + aside * left
    low = ratio * foot.low
    places = spot - rotate(foot.turns, middle) * [1.0, 1.0, 0.0] + _UP * (low + sole.lowest(foot.turns))[:, None]
    stood, turned = places.copy(), foot.turns.copy()
    for start, end in stretches(foot.stands):
        part = slice(start, end)
        level = rotate(foot.turns[part], _UP)[:, 2]
        flat = level >= np.median(level)
        spin = from_rotation_vector(float(np.angle(np.exp(1j * heading[part][flat]).mean())) * _UP)
        turned[part] = spin
        stood[part] = np.median(spot[part][flat], axis=0) - rotate(spin, middle * [1.0, 1.0, 0.0]) + sole.depth * _UP
    shift, swing = stood - places, to_rotation_vector(multiply(turned, conjugate(foot.turns)))
    shift, swing = (_between(values, foot.stands, fps) for values in (shift, swing))
    turns = multiply(from_rotation_vector(swing), foot.turns)
    places = places + shift
    places[:, 2] = np.maximum(places[:, 2], sole.lowest(turns) + ratio * _clearance(foot.stands, fps))
    return FootPath(places, turns, places[:, 2] - sole.lowest(turns), foot.stands)


def _headings(turns: Floats) -> Floats:
    ahead = rotate(turns, np.array([1.0, 0.0, 0.0]))
    return np.arctan2(ahead[:, 1], ahead[:, 0])


def _clearance(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return how high a foot swings at least [m], (F,), in a grown-up's size: a captured sole may all but scuff."""
    low = np.zeros(len(stands))
    for start, end in stretches(~stands):
        since = np.arange(1, end - start + 1) if start > 0 else np.full(end - start, np.inf)
        until = np.arange(end - start, 0, -1) if end < len(stands) else np.full(end - start, np.inf)
        share = (np.minimum(since, until) / (_RISE * fps)).clip(0.0, 1.0)
        low[start:end] = _CLEAR * share * share * (3.0 - 2.0 * share)
    return low


def _between(values: Floats, known: NDArray[np.bool_], fps: float) -> Floats:
    """Return values (F, n) that are as given where they are known, and go smoothly from one to the next between."""
    result = np.where(known[:, None], values, 0.0)
    frames = len(values)
    for start, end in stretches(~known):
        count, ease = end - start, max(round(_EASE * fps), 1)
        step = np.arange(1, count + 1)
        for edge, away in ((start - 1, step), (end, count + 1 - step)):
            if 0 <= edge < frames:
                both = start > 0 and end < frames
                span = min(count + 1, ease) if not both or count + 1 > 2 * ease else count + 1
                share = (away / span).clip(0.0, 1.0)
                result[start:end] += (1.0 - share * share * (3.0 - 2.0 * share))[:, None] * values[edge]
    return result
