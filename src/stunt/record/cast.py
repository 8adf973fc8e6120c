"""Who and what is on stage in a take: bodies, joints, props, and the clips bodies were built from.

A cast is made from the stage itself, so that whatever stage a take comes from, reports, exports and pictures find in it
what they need. In a take's file it is JSON; takes of schema 1 kept the same facts in their meta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stunt.character.bodies import BUILT_IN
from stunt.character.character import Character, Joint
from stunt.errors import UnknownNameError
from stunt.library.clip_record import ClipRecord, record_from_data, record_of_body, record_to_data
from stunt.stage.build import Built
from stunt.stage.scene import CharacterSpec, Placement


@dataclass(frozen=True)
class CastJoint:
    """One joint of a character in a take."""

    name: str  #: Without the character's prefix
    kind: str  #: `hinge`, `slide` or `ball`
    qpos: int  #: First index in the take's `qpos`
    dof: int  #: First index in `qvel`, `torque` and their like
    range: tuple[float, float] | None = None  #: Lower and upper limit [rad or m]; None where unlimited
    strength: float | None = None  #: Peak torque [N·m] (or force [N]); None where there is no limit

    @property
    def width(self) -> int:
        """Number of its degrees of freedom."""
        return 3 if self.kind == "ball" else 1

    @property
    def dofs(self) -> list[int]:
        """Its columns in `qvel`, `torque` and their like."""
        return [self.dof + k for k in range(self.width)]

    @property
    def dof_names(self) -> tuple[str, ...]:
        """A name for each of its degrees of freedom; a ball joint's are `name.x`, `name.y`, `name.z`."""
        return tuple(f"{self.name}.{axis}" for axis in "xyz") if self.width == 3 else (self.name,)


@dataclass(frozen=True)
class CastMember:
    """A character in a take.

    Attributes:
        name: As in the scene.
        body: What its body was made from: a built-in name, a file, or the name of a clip or model made in Python.
        root: `fixed` or `free`.
        at: Where the scene put it [m]; None where an old take does not say.
        facing: Its heading about the vertical there [rad].
        root_body: Index of the body all others hang on.
        root_qpos: First index of a free root in `qpos` (position, then quaternion); None where it is fixed.
        mass: [kg].
        joints: By name, in the order of their degrees of freedom; without the root.
        clip: The skeleton of the clip its body was built from; None where it came from no clip.
        placement: Where its first clip lay in its file and where on the stage it was put; None where it follows none.
    """

    name: str
    body: str
    root: str = "fixed"
    at: tuple[float, float, float] | None = None
    facing: float = 0.0
    root_body: int = 0
    root_qpos: int | None = None
    mass: float = 0.0
    joints: Mapping[str, CastJoint] = field(default_factory=dict)
    clip: ClipRecord | None = None
    placement: Placement | None = None

    @property
    def dofs(self) -> list[int]:
        """Columns of its joints' degrees of freedom, without the root's."""
        return [dof for joint in self.joints.values() for dof in joint.dofs]

    @property
    def dof_names(self) -> list[str]:
        """A name for each of `dofs`."""
        return [name for joint in self.joints.values() for name in joint.dof_names]

    @property
    def is_person(self) -> bool:
        """Whether its body is one of Stunt's people, or was built from a clip of one."""
        return self.body in BUILT_IN or self.clip is not None


@dataclass(frozen=True)
class CastProp:
    """A prop in a take: its name, the index of its body, its shape (empty where an old take does not say)."""

    name: str
    body: int
    shape: str = ""


@dataclass(frozen=True)
class Cast:
    """Who and what is on stage.

    Attributes:
        characters: By name, in the order of a take's `assistance`.
        props: By name.
    """

    characters: Mapping[str, CastMember] = field(default_factory=dict)
    props: Mapping[str, CastProp] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The characters' names."""
        return list(self.characters)

    def character(self, name: str) -> CastMember:
        """Return a character by name, or say who is there."""
        if name not in self.characters:
            raise UnknownNameError("character", name, self.characters)
        return self.characters[name]

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON-able data; `cast_from_data` reads it back."""
        return {
            "characters": {name: _member_to_data(member) for name, member in self.characters.items()},
            "props": {name: asdict(prop) for name, prop in self.props.items()},
        }


def cast_of(built: Built, placements: Mapping[str, Placement] | None = None) -> Cast:
    """Return the cast of a compiled scene.

    Args:
        built: The scene.
        placements: Where characters' first clips lay and lie, by name.
    """
    known = placements or {}
    return Cast(
        {name: _member(spec, built.characters[name], known.get(name)) for name, spec in built.scene.characters.items()},
        {name: CastProp(name, prop.body, prop.spec.shape) for name, prop in built.props.items()},
    )


def _member(spec: CharacterSpec, character: Character, placement: Placement | None) -> CastMember:
    return CastMember(
        name=character.name,
        body=spec.body_name,
        root=spec.root,
        at=spec.at,
        facing=spec.facing,
        root_body=character.root_body,
        root_qpos=character.root.qpos if character.root else None,
        mass=character.mass,
        joints={joint.name: _joint(joint) for joint in character.joints.values()},
        clip=record_of_body(spec.body),
        placement=placement,
    )


def _joint(joint: Joint) -> CastJoint:
    strength = joint.strength if math.isfinite(joint.strength) else None
    return CastJoint(joint.name, joint.kind, joint.qpos, joint.dof, joint.range, strength)


def _member_to_data(member: CastMember) -> dict[str, Any]:
    plain = {key: getattr(member, key) for key in ("body", "root", "facing", "root_body", "root_qpos", "mass")}
    return {
        **plain,
        "at": None if member.at is None else list(member.at),
        "clip": None if member.clip is None else record_to_data(member.clip),
        "placement": None if member.placement is None else asdict(member.placement),
        "joints": {
            name: {key: value for key, value in asdict(joint).items() if key != "name"}
            for name, joint in member.joints.items()
        },
    }


def cast_from_data(data: Mapping[str, Any]) -> Cast:
    """Return a cast from what a take's file holds: its `cast`, or, in schema 1, its meta."""
    return Cast(
        {name: _member_from_data(name, about) for name, about in (data.get("characters") or {}).items()},
        {name: _prop_from_data(name, about) for name, about in (data.get("props") or {}).items()},
    )


def _prop_from_data(name: str, about: Any) -> CastProp:
    return CastProp(name, int(about["body"]), str(about["shape"])) if isinstance(about, dict) else CastProp(name, about)


def _member_from_data(name: str, about: Mapping[str, Any]) -> CastMember:
    at, clip, placement = about.get("at"), about.get("clip"), about.get("placement")
    root_qpos = about.get("root_qpos")
    return CastMember(
        name=name,
        body=str(about.get("body", "")),
        root=str(about.get("root", "fixed")),
        at=None if at is None else (float(at[0]), float(at[1]), float(at[2])),
        facing=float(about.get("facing", 0.0)),
        root_body=int(about.get("root_body", 0)),
        root_qpos=None if root_qpos is None else int(root_qpos),
        mass=float(about.get("mass", 0.0)),
        joints={key: _joint_from_data(key, joint, about) for key, joint in about.get("joints", {}).items()},
        clip=None if clip is None else record_from_data(clip),
        placement=None if placement is None else _placement_from_data(placement),
    )


def _placement_from_data(data: Mapping[str, Any]) -> Placement:
    return Placement(tuple(data["source"]), tuple(data["stage"]), str(data.get("clip", "")))


def _joint_from_data(name: str, joint: Mapping[str, Any], about: Mapping[str, Any]) -> CastJoint:
    limits, strength = joint.get("range"), joint.get("strength")
    if "strength" in about:  # schema 1: one number for each degree of freedom
        strength = about["strength"][about["dofs"].index(joint["dof"])]
    span = None if limits is None else (float(limits[0]), float(limits[1]))
    if not all(isinstance(joint[key], int) for key in ("qpos", "dof")):
        raise ValueError(f"the joint '{name[:80]}' has no place")
    return CastJoint(name, str(joint["kind"]), joint["qpos"], joint["dof"], span, strength)
