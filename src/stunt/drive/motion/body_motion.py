"""A motion in a body's own coordinates, and the rows the servo reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.control.servo.memory import ServoTargets
from stunt.drive.motion.sole_hold import friction_of, twist_of
from stunt.errors import InvalidValueError
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.mapping import JointMapping, with_mapping
from stunt.motion.rig.other_body import has_bones_of, makes_a_body, retargeted_qpos
from stunt.motion.rig.retarget import joint_values
from stunt.motion.rig.skeleton_body import body_from_clip


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """What a body does, frame by frame.

    Attributes:
        name: For reports.
        fps: Frames per second.
        qpos: The character's own coordinates: root position and orientation, then its joints, (F, nq).
        loop: Whether it goes on from its beginning.
        planted: Whether its feet were laid on the floor already, with the body's own soles.
    """

    name: str
    fps: float
    qpos: Floats
    loop: bool = False
    planted: bool = False

    @property
    def duration(self) -> float:
        """Time from the first frame to the last [s]."""
        return (len(self.qpos) - 1) / self.fps

    @property
    def heading(self) -> float:
        """Which way its first frame faces [rad]."""
        return float(rotations.heading(self.qpos[0, 3:7]))

    def placed(self, at: tuple[float, float], facing: float) -> BodyMotion:
        """Return it moved over the ground: its first frame at a point [m], with a heading [rad]."""
        turned = facing - self.heading
        spin = rotations.from_rotation_vector(np.array([0.0, 0.0, turned]))
        qpos = self.qpos.copy()
        way = self.qpos[:, :3] - self.qpos[0, :3] * [1.0, 1.0, 0.0]
        qpos[:, :3] = rotations.rotate(spin, way) + [at[0], at[1], 0.0]
        qpos[:, 3:7] = rotations.multiply(spin, self.qpos[:, 3:7])
        return replace(self, qpos=qpos)

    def raised(self, height: float) -> BodyMotion:
        """Return it higher above the ground [m]."""
        return self.lifted(np.full(len(self.qpos), height))

    def lifted(self, height: Floats) -> BodyMotion:
        """Return it with its root raised in each frame [m], (F,)."""
        return replace(self, qpos=self.qpos + height[:, None] * np.eye(1, self.qpos.shape[1], 2))

    def trimmed(self, start: float, end: float) -> BodyMotion:
        """Return the frames between two times [s]."""
        first, last = round(start * self.fps), round(end * self.fps)
        return replace(self, qpos=self.qpos[max(first, 0) : max(last, first + 1) + 1])


def motion_of_clip(clip: Clip, character: Character, mapping: JointMapping | None = None) -> BodyMotion:
    """Return a clip as a motion of a body: its own skeleton's as it is, any other body's by retargeting.

    Raises:
        BodyError: The body is no person's that Stunt can tell the parts of; a mapping says which is which.
    """
    if not isinstance(clip, Clip) or not isinstance(character, Character):
        wrong = ("clip", clip, "a Clip") if not isinstance(clip, Clip) else ("character", character, "a Character")
        raise InvalidValueError(*wrong)
    if mapping is not None:
        clip = with_mapping(clip, mapping)
    if makes_a_body(clip):
        body = body_from_clip(clip)
        if has_bones_of(character, body):
            return BodyMotion(clip.name, clip.fps, body.frames_qpos, clip.loop)
    return retargeted_motion(clip, character)


def retargeted_motion(clip: Clip, character: Character, mapping: JointMapping | None = None) -> BodyMotion:
    """Return a clip as a motion of a body with other bones, standing on the floor with that body's own soles."""
    qpos, planted = retargeted_qpos(clip, character, mapping)
    return BodyMotion(clip.name, clip.fps, qpos, clip.loop, planted)


def make_rows(model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int]) -> ServoTargets:
    """Lift a motion into rows: orientations of all bodies seen from the root.

    Args:
        model: The scene.
        character: Who.
        motion: What.
        soles: Geoms whose friction goes with the swing of their foot.

    Raises:
        BodyError: The character has no free root.
    """
    places, turns = pose_frames(model, character, motion.qpos)
    relative = seen_from_root(turns)
    friction = friction_of(character, soles, places, turns, motion.fps)
    twist = twist_of(character, soles, turns, motion.fps)
    path, joints = motion.qpos[:, :3].copy(), motion.qpos[:, 7:].copy()
    return ServoTargets(motion.fps, relative, path, friction, joints, twist=twist)


def seen_from_root(turns: Floats) -> Floats:
    """Return how bodies are turned seen from the root, for turns in the world, (F, bodies, 4); its own stays so."""
    relative = rotations.multiply(rotations.conjugate(turns[:, :1]), turns)
    relative[:, 0] = turns[:, 0]
    return relative


def with_bodies_turned(character: Character, motion: BodyMotion, turns: Floats, bodies: Iterable[int]) -> BodyMotion:
    """Return a motion whose joints turn some bodies as given, as nearly as these joints can; other joints stay.

    Args:
        character: Who.
        motion: What it does.
        turns: How bodies are to be turned, seen from the root, (F, bodies, 4).
        bodies: Which, counted from the root.
    """
    model, first, qpos = character.model, character.root_body, motion.qpos.copy()
    assert character.root is not None  # only free characters follow clips
    reached = dict[int, Floats]()
    straight = np.array([1.0, 0.0, 0.0, 0.0])
    for body in sorted(bodies):
        parent = int(model.body_parentid[first + body]) - first
        above = reached.get(parent, turns[:, parent] if parent > 0 else straight)  # seen from itself it is not turned
        at_rest = rotations.multiply(above, np.broadcast_to(model.body_quat[first + body], turns[:, body].shape))
        joints = [joint for joint in character.joints.values() if int(model.jnt_bodyid[joint.id]) == first + body]
        wanted = rotations.multiply(rotations.conjugate(at_rest), turns[:, body])
        values, made, _ = joint_values(model, joints, wanted)
        for name, value in values.items():
            at = character.joints[name].qpos - character.root.qpos
            qpos[:, at : at + character.joints[name].nq] = value.reshape(len(qpos), -1)
        reached[body] = rotations.multiply(at_rest, made)
    return replace(motion, qpos=qpos)


BY_ROW: Final = ("turns", "path", "friction", "qpos", "torque", "asked", "swing", "twist")
"""What targets have one of for every row; the rest is the same for all of them."""


def each_row(rows: ServoTargets, change: Callable[[Floats], Floats]) -> ServoTargets:
    """Return targets with everything they have by the row changed alike: cut, held, repeated."""
    changed: dict[str, Any] = {name: change(value) for name in BY_ROW if (value := getattr(rows, name)) is not None}
    return replace(rows, **changed)


def repeated(motion: BodyMotion, seconds: float) -> BodyMotion:
    """Return a looping motion unrolled to at least so many seconds, each round going on where the last one ended."""
    if not motion.loop or motion.duration <= 0.0:
        return motion
    return repeated_rounds(motion, max(1, math.ceil(seconds / motion.duration - 1e-9)))


def repeated_rounds(motion: BodyMotion, rounds: int) -> BodyMotion:
    """Return a motion so many times, each round going on where the last one ended."""
    laid = [motion.qpos]
    for _ in range(rounds - 1):
        last = laid[-1][-1]
        again = motion.placed((last[0], last[1]), float(rotations.heading(last[3:7])))
        laid.append(again.qpos[1:])
    return replace(motion, qpos=np.concatenate(laid), loop=False) if motion.loop else motion


def smooth(share: Floats) -> Floats:
    """Return an even transition, 0 before 0 and 1 after 1."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def blended(
    model: mujoco.MjModel, old: ServoTargets, old_time: float, new: ServoTargets, seconds: float
) -> ServoTargets:
    """Return rows that go from one motion to another by interpolating the bones' orientations.

    Args:
        model: The scene.
        old: What was followed; held after its end.
        old_time: Where in it [s].
        new: What is to be followed from now on.
        seconds: How long the change takes.
    """
    count = min(len(new.turns), max(1, round(seconds * new.fps)))
    share = smooth(np.arange(count) / max(count, 1))
    frames = np.clip((old_time + np.arange(count) / new.fps) * old.fps, 0, len(old.turns) - 1).astype(int)

    def mixed(before: Floats, after: Floats) -> Floats:
        result = after.copy()
        shares = np.broadcast_to(share[:, None], after[:count].shape[:2])
        result[:count] = rotations.slerp(before[frames], after[:count], shares)
        return result

    torque = new.torque
    if torque is not None:
        torque = torque.copy()
        torque[:count] *= share[:, None]
        if old.torque is not None:
            torque[:count] += (1.0 - share[:, None]) * old.torque[frames]
    asked = new.asked if new.asked is None else mixed(old.turns if old.asked is None else old.asked, new.asked)
    return replace(new, turns=mixed(old.turns, new.turns), torque=torque, asked=asked)
