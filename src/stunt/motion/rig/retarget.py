"""Retargeting: a clip's motion in the joint coordinates of another body.

Every mapped body is turned in the world as the clip's joint is, relative to a stance both share: upright, arms hanging.
Bones whose stance directions differ (a T-pose here, hanging arms there) are aligned by the shortest turn. Every part's
own joints do what they can; what is left over is reported, angles outside limits are cut and reported. Where hinges of
several bodies in a row share a hip, as robots' do, or the hips are not the root, the whole body is solved at once, feet
first (`inverse`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from stunt.character.character import Character, Joint
from stunt.character.kinematics import pose_frames
from stunt.errors import BodyError, announced
from stunt.maths.rotations import Floats, conjugate, difference, from_rotation_vector, multiply, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import WorldPose
from stunt.motion.clips.euler import to_euler
from stunt.motion.clips.mapping import JointMapping
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.clips.standing import floor_height, reference_stance
from stunt.motion.rig.footprints import body_sole

if TYPE_CHECKING:
    from stunt.motion.rig.inverse import TwoLegs

# Parts whose direction is aligned, and the part they point to. Clavicles are not: files hang them all over the chest.
_POINTS = {"thigh": ("shank",), "shank": ("foot",), "upper_arm": ("forearm",), "forearm": ("hand",)}
_FOLLOWS = {"hand": "forearm"}


@dataclass(frozen=True)
class Cut:
    """A joint that was cut at its limits: the worst excess [deg], and in which share of the frames."""

    worst_deg: float
    share: float


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A clip in a body's joint coordinates.

    Attributes:
        fps: Frames per second.
        angles: Hinge angles [rad] (F,), ball joints' quaternions (F, 4), by joint name.
        root: Position [m] and orientation of the root, (F, 7).
        cut: Joints that were cut at their limits.
        left_over_deg: Mean angle by which each mapped body misses the clip's orientation before cutting [deg].
        joints: Which joint of the clip leads each body.
        planted: Whether its feet were laid on the floor at z = 0 with the body's own soles.
    """

    fps: float
    angles: Mapping[str, Floats]
    root: Floats
    cut: Mapping[str, Cut]
    left_over_deg: Mapping[str, float]
    joints: Mapping[str, str]
    planted: bool = False

    def qpos(self, character: Character) -> Floats:
        """Return positions of the whole model, (F, nq), everything else as the model has it at rest."""
        q = np.tile(character.model.qpos0, (len(self.root), 1))
        if character.root is not None:
            q[:, character.root.qpos : character.root.qpos + 7] = self.root
        for name, values in self.angles.items():
            joint = character.joints[name]
            q[:, joint.qpos : joint.qpos + joint.nq] = values.reshape(len(q), -1)
        return q


@announced
def retarget(clip: Clip, character: Character, mapping: JointMapping | None = None) -> Retargeted:
    """Bring a clip onto a character's body.

    Args:
        clip: The clip.
        character: The body, in a compiled model.
        mapping: Which joint and which body is which part; None takes the clip's own mapping file, or guesses both by
            their names.

    Raises:
        BodyError: Hardly any part is known in both.
    """
    parts = clip.parts if mapping is None or not mapping.joints else mapping.parts_of(clip.skeleton)
    named = clip.door.bodies if mapping is None or not mapping.bodies else mapping.bodies
    bodies = {**body_parts(character), **{part: character.body(name) for part, name in named.items()}}
    pairs = _pairs(parts, bodies)
    if len(pairs) < 3 or "hips" not in pairs:
        raise BodyError(
            f"'{clip.name}' and the body of '{character.name}' share only {len(pairs)} parts ({', '.join(pairs)}); "
            "name joints and bodies in a mapping file."
        )
    neutral = _neutral(character.model, pairs)
    stance, _ = reference_stance(clip, parts)
    leads = _leads(clip, clip.world_of(stance), _on_flat_feet(character, neutral, pairs), pairs)
    if character.root is not None and _needs_whole_body(character, pairs):
        from stunt.motion.rig.inverse import two_legs  # mink takes its time to load, and few bodies need it

        legs = two_legs(clip, character, neutral, pairs, parts)
        if legs is not None:
            return _whole_body(clip, character, neutral, pairs, leads, legs)
    return _decompose(clip, character, neutral, pairs, leads, parts)


def _needs_whole_body(character: Character, pairs: dict[str, tuple[int, int]]) -> bool:
    """Whether parts cannot be turned one by one: hinges of several bodies share a hip, or the hips are not the root."""
    model, thighs = character.model, [pairs[part][1] for part in ("l_thigh", "r_thigh") if part in pairs]
    own = {body: [j for j in character.joints.values() if int(model.jnt_bodyid[j.id]) == body] for body in thighs}
    return pairs["hips"][1] != character.root_body or any(sum(j.nv for j in joints) < 3 for joints in own.values())


def body_parts(character: Character) -> dict[str, int]:
    """Guess which body of a character is which part of a person, by their names and how they hang together."""
    model = character.model
    order = sorted(character.bodies.values())
    names = {index: name for name, index in character.bodies.items()}
    place = {index: number for number, index in enumerate(order)}
    parents = [place.get(int(model.body_parentid[index]), -1) for index in order]
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = guess_parts([names[index] for index in order], parents, data.xpos[order])
    return {part: order[number] for part, number in found.items()}


def _pairs(parts: dict[str, int], bodies: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return (clip joint, body) by part; of the spine the lowest and the topmost of both are paired."""
    pairs = {part: (parts[part], bodies[part]) for part in parts if part in bodies}
    for chain in ("spine", "neck"):
        mine = [part for part in parts if part.startswith(chain)]
        theirs = [part for part in bodies if part.startswith(chain)]
        for part in (*mine, *theirs):
            pairs.pop(part, None)
        if mine and theirs:
            pairs[theirs[-1]] = (parts[mine[-1]], bodies[theirs[-1]])
            for number, part in enumerate(theirs[:-1]):
                pairs[part] = (parts[mine[round(number * (len(mine) - 1) / (len(theirs) - 1))]], bodies[part])
    if "head" not in parts and "head" in bodies:
        necks = [part for part in parts if part.startswith("neck")]
        if necks:
            pairs["head"] = (parts[necks[-1]], bodies["head"])
    return dict(sorted(pairs.items(), key=lambda item: item[1][1]))


def _neutral(model: mujoco.MjModel, pairs: dict[str, tuple[int, int]]) -> WorldPose:
    """Return the body's reference pose, facing +x: which way the scene turned it is no part of its stance."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    back = np.array([1.0, 0.0, 0.0, 0.0])
    for part in ("thigh", "upper_arm"):
        if f"l_{part}" in pairs and f"r_{part}" in pairs:
            across = data.xpos[pairs[f"l_{part}"][1]] - data.xpos[pairs[f"r_{part}"][1]]
            if np.hypot(across[0], across[1]) > 0.02:
                back = from_rotation_vector(np.array([0.0, 0.0, -np.arctan2(-across[0], across[1])]))
                break
    return WorldPose(rotate(back, data.xpos.copy()), multiply(back, data.xquat.copy()))


def _on_flat_feet(character: Character, neutral: WorldPose, pairs: dict[str, tuple[int, int]]) -> WorldPose:
    """Return a body's reference pose with flat soles, as a clip's are; legs apart, it may rest on their edges."""
    up, turns = np.array([0.0, 0.0, 1.0]), neutral.rotations.copy()
    for side in ("l_", "r_"):
        found = body_sole(character, neutral, pairs, side) if f"{side}foot" in pairs else None
        if found is not None:
            foot = pairs[f"{side}foot"][1]
            flat = shortest_turn(rotate(multiply(neutral.rotations[foot], conjugate(found[0])), up), up)
            below = [pairs[f"{side}{part}"][1] for part in ("foot", "toe") if f"{side}{part}" in pairs]
            turns[below] = multiply(flat, neutral.rotations[below])
    return WorldPose(neutral.positions, turns)


def _leads(clip: Clip, stance: WorldPose, neutral: WorldPose, pairs: dict[str, tuple[int, int]]) -> dict[str, Floats]:
    """Return for each part the turn from the clip joint's orientation to the body's, (4,), in the shared stance."""
    leads: dict[str, Floats] = {}
    aligned: dict[str, Floats] = {}
    for part, (joint, body) in pairs.items():
        side = part[:2] if part[:2] in ("l_", "r_") else ""
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        follows = _FOLLOWS.get(part[len(side) :])
        if follows is not None and f"{side}{follows}" in aligned:
            turn = aligned[f"{side}{follows}"]
        for towards in _POINTS.get(part[len(side) :], ()):
            if f"{side}{towards}" in pairs:
                end_joint, end_body = pairs[f"{side}{towards}"]
                ours = stance.positions[end_joint] - stance.positions[joint]
                turn = shortest_turn(ours, neutral.positions[end_body] - neutral.positions[body])
        aligned[part] = turn
        leads[part] = multiply(conjugate(multiply(turn, stance.rotations[joint])), neutral.rotations[body])
    return leads


def shortest_turn(start: Floats, end: Floats) -> Floats:
    """Return the shortest turn from one direction to another, wxyz; none where one has no length."""
    lengths = float(np.linalg.norm(start)), float(np.linalg.norm(end))
    if min(lengths) < 1e-6:
        return np.array([1.0, 0.0, 0.0, 0.0])
    a, b = start / lengths[0], end / lengths[1]
    axis = np.cross(a, b)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        spare = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
        axis, sine = spare, float(np.linalg.norm(spare))
    return from_rotation_vector(axis / sine * np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def _decompose(
    clip: Clip,
    character: Character,
    neutral: WorldPose,
    pairs: dict[str, tuple[int, int]],
    leads: dict[str, Floats],
    parts: dict[str, int],
) -> Retargeted:
    model, world = character.model, clip.world
    wanted = {body: multiply(world.rotations[:, joint], leads[part]) for part, (joint, body) in pairs.items()}
    reached: dict[int, Floats] = {}
    angles: dict[str, Floats] = {}
    cut: dict[str, Cut] = {}
    left: dict[str, float] = {}
    names = {index: name for name, index in character.bodies.items()}
    for body in sorted(character.bodies.values()):
        parent = int(model.body_parentid[body])
        own = np.tile(model.body_quat[body], (clip.frames, 1))
        if body == character.root_body:
            reached[body] = wanted[pairs["hips"][1]] if body == pairs["hips"][1] else own
            continue
        at_rest = multiply(reached[parent], own) if parent in reached else own
        target = wanted.get(body, at_rest)
        joints = [joint for joint in character.joints.values() if int(model.jnt_bodyid[joint.id]) == body]
        values, turn, over = joint_values(model, joints, multiply(conjugate(at_rest), target))
        angles.update(values)
        cut.update(over)
        reached[body] = multiply(at_rest, turn)
        if body in wanted:
            left[names[body]] = float(np.degrees(np.linalg.norm(difference(target, reached[body]), axis=-1)).mean())
    root = _root(clip, character, neutral, pairs, reached, parts)
    led = {names[body]: clip.skeleton.names[joint] for joint, body in pairs.values()}
    return Retargeted(clip.fps, angles, root, cut, left, led)


def joint_values(
    model: mujoco.MjModel, joints: list[Joint], turn: Floats
) -> tuple[dict[str, Floats], Floats, dict[str, Cut]]:
    """Return the values of a body's joints that come nearest to a turn away from rest, cut at their limits.

    Args:
        model: The scene.
        joints: The body's.
        turn: How it is to be turned by them, (F, 4).

    Returns:
        Angles [rad] (F,) or quaternions (F, 4) by joint, the turn they make, (F, 4), and the joints that were cut.
    """
    made, found, cut = np.zeros_like(turn), dict[str, Floats](), dict[str, Cut]()
    made[:, 0] = 1.0
    balls = [joint for joint in joints if joint.kind == "ball"]
    if balls:
        return {balls[0].name: turn}, turn, cut
    hinges = [joint for joint in joints if joint.kind == "hinge"]
    if not hinges:
        return found, made, cut
    axes = np.stack([model.jnt_axis[joint.id] for joint in hinges])
    values = hinge_angles(turn, axes)
    for column, joint in enumerate(hinges):
        value = values[:, column]
        if joint.range is not None:
            over = np.maximum(value - joint.range[1], joint.range[0] - value)
            if (over > 1e-6).any():
                cut[joint.name] = Cut(float(np.degrees(over.max())), float((over > 1e-6).mean()))
            value = np.clip(value, *joint.range)
        found[joint.name] = value
        made = multiply(made, from_rotation_vector(value[:, None] * axes[column]))
    return found, made, cut


def hinge_angles(turn: Floats, axes: Floats) -> Floats:
    """Return the angles [rad] of hinges in a row (axes (k, 3), outermost first) that come closest to turns, (F, k)."""
    main = np.abs(axes).argmax(axis=1)
    square = np.abs(np.abs(axes).max(axis=1) - 1.0).max() < 1e-6 and len(set(main.tolist())) == len(main)
    start = np.zeros((len(turn), len(axes)))
    if square and len(axes) == 3:
        signs = np.sign(axes[np.arange(len(axes)), main])
        return np.asarray(to_euler(turn, "".join("XYZ"[m] for m in main), start) * signs)
    return _refined(turn, axes, start)


def _refined(turn: Floats, axes: Floats, values: Floats) -> Floats:
    """Improve angles by Gauss–Newton steps, each at most half a radian."""
    for _ in range(24):
        made = np.zeros_like(turn)
        made[:, 0] = 1.0
        for column, axis in enumerate(axes):
            made = multiply(made, from_rotation_vector(values[:, column : column + 1] * axis))
        error = difference(turn, made)  # in the turned body's frame
        columns, after = [], np.zeros_like(turn)
        after[:, 0] = 1.0
        for column in range(len(axes) - 1, -1, -1):
            after = multiply(from_rotation_vector(values[:, column : column + 1] * axes[column]), after)
            columns.append(rotate(conjugate(after), np.broadcast_to(axes[column], error.shape)))
        jacobian = np.stack(columns[::-1], axis=-1)  # (F, 3, k)
        normal = np.einsum("fik,fil->fkl", jacobian, jacobian) + 1e-6 * np.eye(len(axes))
        step = np.linalg.solve(normal, np.einsum("fik,fi->fk", jacobian, error)[..., None])[..., 0]
        values = values + np.clip(step, -0.5, 0.5)
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(np.angle(np.exp(1j * values)))


def _whole_body(
    clip: Clip,
    character: Character,
    neutral: WorldPose,
    pairs: dict[str, tuple[int, int]],
    leads: dict[str, Floats],
    legs: TwoLegs,
) -> Retargeted:
    """Bring a clip onto a body that stands on two feet, all joints at once."""
    from stunt.motion.rig.inverse import Wanted, solve

    world = clip.world
    wanted = {body: multiply(world.rotations[:, joint], leads[part]) for part, (joint, body) in pairs.items()}
    along = {}
    for part, (_, body) in pairs.items():
        side = part[:2] if part[:2] in ("l_", "r_") else ""
        for towards in _POINTS.get(part[len(side) :], ()):
            if f"{side}{towards}" in pairs:
                way = neutral.positions[pairs[f"{side}{towards}"][1]] - neutral.positions[body]
                way = rotate(conjugate(neutral.rotations[body]), way)
                along[body] = way / max(float(np.linalg.norm(way)), 1e-9)
    hips = pairs["hips"][1]
    place = legs.hips - rotate(wanted[hips], np.mean([leg.hip for leg in legs.legs], axis=0))
    qpos = solve(character, Wanted(hips, place, wanted, along, legs.legs, clip.fps))
    return _described(clip, character, qpos, wanted, pairs)


def _described(
    clip: Clip, character: Character, qpos: Floats, wanted: dict[int, Floats], pairs: dict[str, tuple[int, int]]
) -> Retargeted:
    """Return solved coordinates with what is left over of what was wanted."""
    root = character.root
    assert root is not None
    last = max(joint.qpos + joint.nq for joint in character.joints.values())
    turns = pose_frames(character.model, character, qpos[:, root.qpos : last])[1]
    names = {index: name for name, index in character.bodies.items()}
    missed = {body: difference(goal, turns[:, body - character.root_body]) for body, goal in wanted.items()}
    left = {names[body]: float(np.degrees(np.linalg.norm(miss, axis=-1)).mean()) for body, miss in missed.items()}
    angles, cut = dict[str, Floats](), dict[str, Cut]()
    for joint in character.joints.values():
        values = qpos[:, joint.qpos : joint.qpos + joint.nq]
        angles[joint.name] = values if joint.nq > 1 else values[:, 0]
        if joint.range is not None and joint.nq == 1:
            at_end = np.minimum(values[:, 0] - joint.range[0], joint.range[1] - values[:, 0]) < 1e-4
            if at_end.any():
                body = names[int(character.model.jnt_bodyid[joint.id])]
                cut[joint.name] = Cut(left.get(body, 0.0), float(at_end.mean()))
    led = {names[body]: clip.skeleton.names[joint] for joint, body in pairs.values()}
    return Retargeted(clip.fps, angles, qpos[:, root.qpos : root.qpos + 7], cut, left, led, planted=True)


def _root(
    clip: Clip,
    character: Character,
    neutral: WorldPose,
    pairs: dict[str, tuple[int, int]],
    reached: dict[int, Floats],
    parts: dict[str, int],
) -> Floats:
    """Return the root's position and orientation, (F, 7): the clip's way in the proportion of the two leg lengths."""
    floor = floor_height(clip, parts)
    stance, _ = reference_stance(clip, parts)
    ours, theirs = (
        _leg_length(pose, [pairs[part][which] for part in ("l_thigh", "l_shank", "l_foot") if part in pairs])
        for which, pose in enumerate((clip.world_of(stance), neutral))
    )
    ratio = float(np.clip(theirs / ours, 0.2, 5.0)) if ours > 0 and theirs > 0 else 1.0
    place = (clip.root - np.array([0.0, 0.0, floor])) * ratio
    return np.concatenate([place, reached[character.root_body]], axis=1)


def _leg_length(pose: WorldPose, chain: list[int]) -> float:
    return float(np.linalg.norm(np.diff(pose.positions[chain], axis=0), axis=-1).sum()) if len(chain) > 1 else 0.0
