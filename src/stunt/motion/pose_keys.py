"""Poses as scripts write them: the script's own library, and those written where they are used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stunt.errors import InvalidValueError, MissingValueError, Place, UnknownNameError
from stunt.keys import NAME, Context, Data, Plain, ScriptKey, Spread, ValueKind
from stunt.maths import rotations
from stunt.motion.pose import Pose, Quaternion
from stunt.schema import (
    Node,
    Section,
    angle,
    angle_to_data,
    entries,
    known,
    measure_to_data,
    name,
    read_measure,
    spin,
    vector,
    wrong,
)

MAX_POSES = 2000
MAX_JOINTS = 500
MAX_CHAIN = 100
LONG_KEYS = ("like", "name", "angles", "velocities")
_BALL = "an angle in degrees, a unit quaternion [w, x, y, z], or {rotvec: [x, y, z]} in degrees"
_QUATERNION_SLACK = 0.01  # what is left when people round to two or three decimals


@dataclass(frozen=True)
class Draft:
    """A pose as written, before what it is like has been looked up."""

    like: Node | None
    angles: Mapping[str, Node]
    velocities: Mapping[str, Node]
    place: Place
    name: str


def joint_angle(node: Node) -> tuple[float | Quaternion, str]:
    """Read what a pose says of one joint: a hinge's angle, a slide's position, or a ball's rotation; and its unit."""
    if isinstance(node.value, tuple):
        return quaternion(node), "ball"
    if isinstance(node.value, dict):
        return _from_rotation_vector(node), "ball"
    return read_measure(node)


def joint_velocity(node: Node) -> tuple[float | tuple[float, float, float], str]:
    """Read a joint's velocity [rad/s or m/s], a ball's as three numbers in its own frame; and its unit."""
    if isinstance(node.value, tuple):
        return spin(node), "ball"
    return read_measure(node, per_second=True)


def quaternion(node: Node) -> Quaternion:
    """Read `[w, x, y, z]`, and take off what rounding left."""
    if len(node.value) != 4:
        raise wrong(node, _BALL)
    w, x, y, z = vector(node, (4,))
    length = math.hypot(w, x, y, z)
    if abs(length - 1.0) > _QUATERNION_SLACK:
        raise wrong(node, f"a quaternion [w, x, y, z] of length 1 (this one has {length:.4g})")
    if abs(length - 1.0) > 1e-12:  # dividing again what is already unit would move its last bit
        w, x, y, z = w / length, x / length, y / length, z / length
    return w, x, y, z


def _from_rotation_vector(node: Node) -> Quaternion:
    if tuple(node.value) != ("rotvec",):
        raise wrong(node, _BALL)
    vector_node = node.value["rotvec"]
    if not isinstance(vector_node.value, tuple) or len(vector_node.value) != 3:
        raise wrong(vector_node, "a list of 3 angles in degrees")
    w, x, y, z = rotations.from_rotation_vector([angle(part) for part in vector_node.value]).tolist()
    return w, x, y, z


def read_poses(node: Node | None) -> dict[str, Pose]:
    """Read the library: poses by name, each on its own or `like` another."""
    written = {} if node is None else entries(node)
    if len(written) > MAX_POSES:
        raise InvalidValueError(
            "the number of poses", len(written), f"at most {MAX_POSES}", node.place if node else Place()
        )
    drafts = {key: draft(value, key) for key, value in written.items()}
    done: dict[str, Pose] = {}
    for key in drafts:
        for link in reversed(_chain(key, drafts, done)):
            like = drafts[link].like
            done[link] = finish(drafts[link], None if like is None else done[name(like)])
    return {key: done[key] for key in drafts}


def _chain(key: str, drafts: Mapping[str, Draft], done: Mapping[str, Pose]) -> list[str]:
    """Return the pose, the one it is like, and so on to one that stands alone or is done."""
    chain: list[str] = []
    while key not in done:
        chain.append(key)
        like = drafts[key].like
        if like is None:
            break
        key = name(like)
        if key not in drafts:
            raise UnknownNameError("pose", key, drafts, like.place)
        if key in chain:
            loop = " → ".join([*chain[chain.index(key) :], key])
            raise InvalidValueError("like", loop, "a pose that is not built on this one", like.place)
        if len(chain) > MAX_CHAIN:
            raise InvalidValueError("like", key, f"a chain of at most {MAX_CHAIN} poses", like.place)
    return chain


def draft(node: Node, key: str) -> Draft:
    """Read a pose in its short form (joints and angles) or its long one (`angles:`, `velocities:`)."""
    if not isinstance(node.value, dict):
        raise wrong(node, "a mapping of joint names to angles in degrees")
    if "angles" in node.value or "velocities" in node.value:
        section = Section(node, f"pose '{key}'", LONG_KEYS)
        angles, velocities = _mapping(section, "angles"), _mapping(section, "velocities")
        return Draft(section.get("like"), angles, velocities, node.place, section.read("name", name, key))
    angles = {joint: value for joint, value in node.value.items() if joint != "like"}
    like = node.value.get("like")
    return Draft(like if like is not None and like.value is not None else None, angles, {}, node.place, key)


def finish(draft: Draft, base: Pose | None) -> Pose:
    """Lay a draft's joints over the pose it is like."""
    pose = replace(base, place=draft.place) if base is not None else Pose(draft.name, {}, place=draft.place)
    angles: dict[str, Any] = dict(pose.angles)
    velocities: dict[str, Any] = dict(pose.velocities)
    places, units = dict(pose.places), dict(pose.units)
    for joint, node in draft.angles.items():
        angles[joint], units[joint] = joint_angle(node)
        places[joint] = node.place
    for joint, node in draft.velocities.items():
        velocities[joint] = _velocity(joint, node, angles, units)
    _check_size(draft, angles)
    return Pose(draft.name, angles, velocities, draft.place, places, units)


def _velocity(joint: str, node: Node, angles: Mapping[str, Any], units: Mapping[str, str]) -> Any:
    """Read a joint's velocity, which must be of the same kind as its angle."""
    if joint not in angles:
        raise UnknownNameError("joint among this pose's angles", joint, angles, node.place)
    velocity, unit = joint_velocity(node)
    kinds = {"ball": "[x, y, z] in degrees per second", "m": "a velocity such as '0.1 m/s'"}
    kind = kinds.get(units[joint], "a velocity in degrees per second")
    if kinds.get(unit) != kinds.get(units[joint]):
        raise wrong(node, f"{kind}, as its angle is")
    return velocity


def _check_size(draft: Draft, angles: Mapping[str, Any]) -> None:
    if not angles:
        raise MissingValueError("angles", f"pose '{draft.name}'", draft.place)
    if len(angles) > MAX_JOINTS:
        raise InvalidValueError(
            f"pose '{draft.name}'", len(angles), f"made of at most {MAX_JOINTS} joints", draft.place
        )


def read_inline(section: Section, poses: Mapping[str, Pose], default_name: str) -> Pose:
    """Read the pose of a beat or a state: a name from the library, angles of its own, or a name with changes."""
    named = section.get("pose")
    if named is None and "angles" not in section:
        raise MissingValueError("pose' or 'angles", section.what, section.place)
    base = None if named is None else _library_pose(named, poses)
    angles, velocities = _mapping(section, "angles"), _mapping(section, "velocities")
    if base is not None and not angles and not velocities and "name" not in section:
        return base
    title = section.read("name", name, default_name if base is None else base.name)
    return finish(Draft(None, angles, velocities, section.place, title), base)


def _library_pose(node: Node, poses: Mapping[str, Pose]) -> Pose:
    if isinstance(node.value, dict):
        raise wrong(node, "a pose's name (write a pose's joints under 'angles')")
    key = name(node)
    if key not in poses:
        raise UnknownNameError("pose", key, poses, node.place)
    return poses[key]


def _mapping(section: Section, key: str) -> dict[str, Node]:
    node = section.get(key)
    return {} if node is None else entries(node)


def pose_to_data(key: str, pose: Pose) -> Data:
    """Return a pose of the library as it is written there: short, where nothing but angles is told."""
    angles = angles_to_data(pose.angles, pose.units)
    if pose.velocities or pose.name != key or any(word in angles for word in LONG_KEYS):
        return {**({} if pose.name == key else {"name": pose.name}), "angles": angles, **_velocities(pose)}
    return angles


def angles_to_data(angles: Mapping[str, Any], units: Mapping[str, str]) -> Data:
    """Return joint angles as they are written."""
    return {
        joint: [float(x) for x in value] if isinstance(value, tuple) else measure_to_data(value, units.get(joint, ""))
        for joint, value in angles.items()
    }


def _velocities(pose: Pose) -> Data:
    found: Data = {}
    for joint, value in pose.velocities.items():
        if isinstance(value, tuple):
            found[joint] = [angle_to_data(float(x), "/s") for x in value]
        else:
            found[joint] = measure_to_data(value, pose.units.get(joint, ""), "/s")
    return {"velocities": found} if found else {}


_JOINTS = Plain(entries, "joints and values", "°")


@dataclass(frozen=True)
class InlinePose(Spread):
    """The pose of a beat, state or transition: a name from the library, angles of its own, or a name with changes."""

    title: str = "{}"  #: What it is called where nothing is said; `{}` is the entry's name or number
    keys = (
        ScriptKey("pose", "", NAME, None, "a pose of the library"),
        ScriptKey("angles", "", _JOINTS, None, "joints and angles: a pose of its own, or changes of `pose`"),
        ScriptKey("velocities", "", Plain(entries, "joints and values", "°/s"), None, "with which joints pass it"),
        ScriptKey("name", "", NAME, None, "what reports call it"),
    )

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> Pose:
        """Read it."""
        return read_inline(section, context["pose"], self.title.format(name))

    def write_keys(self, value: Pose, context: Context, usual: Any) -> Data:
        """Write it by name where the library has it."""
        if context.get("pose", {}).get(value.name) == value:
            return {"pose": value.name}
        return {"name": value.name, "angles": angles_to_data(value.angles, value.units), **_velocities(value)}


class StartPose(ValueKind):
    """The pose at time 0: a name, or angles written on the spot. Velocities have no meaning there."""

    def read(self, node: Node, context: Context, name: str) -> str | Pose:
        """Read it."""
        poses: Mapping[str, Pose] = context["pose"]
        if not isinstance(node.value, dict):
            return known(node, "pose", poses)
        written = draft(node, "start")
        if written.velocities:
            raise wrong(node, "a pose without velocities (a performance starts at rest)")
        return finish(written, None if written.like is None else poses[known(written.like, "pose", poses)])

    def told(self) -> str:
        """Say what it is."""
        return "a pose, or joints and angles"
