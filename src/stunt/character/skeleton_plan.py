"""The plan of a person with somebody else's bones, in plain data."""

from __future__ import annotations

from dataclasses import dataclass

from stunt.character.anthropometry import Floats


@dataclass(frozen=True, eq=False)
class Sole:
    """Where a foot or toe meets the floor, in the bone's frame."""

    normal: Floats  #: Upward while it is planted, (3,)
    depth: float  #: How far below the joint the floor is [m]: the plane `normal · p = −depth`
    forward: Floats  #: Along the foot, in that plane, (3,)


@dataclass(frozen=True, eq=False)
class BonePlan:
    """One bone."""

    name: str  #: Body name (`l_thigh`)
    joint: str  #: Name of the joint it hangs on (`l_hip`)
    #: `pelvis`, `spine`, `neck`, `head`, `clavicle`, `upper_arm`, `forearm`, `hand`, `thigh`, `shank`, `foot` or `toe`.
    part: str
    side: str  #: `l_`, `r_` or nothing
    parent: int  #: Index of the bone it hangs on; −1 for the root
    origin: Floats  #: Its joint in the parent's frame [m], (3,); for the root in the world of the reference stance
    stance: Floats  #: Orientation in the parent's frame in the reference stance, wxyz; the root's in the world
    tip: Floats  #: Where it ends, in its own frame [m], (3,)
    axes: Floats  #: Forward, left and up of the reference stance in its own frame, as columns, (3, 3)
    sole: Sole | None = None  #: Of feet and toes
    reach: float | None = None  #: How far its joint turns away from the stance, whichever way [rad]; None: all round


@dataclass(frozen=True, eq=False)
class Ligament:
    """A band between two bones that is taut at a length."""

    bone: int  #: Index of the bone below its joint
    above: Floats  #: Where it is attached on that bone's parent, in the parent's frame [m], (3,)
    below: Floats  #: Where on the bone, in its own frame [m], (3,)
    longest: float  #: How long it gets [m]


@dataclass(frozen=True, eq=False)
class SkeletonPlan:
    """A person to be built."""

    name: str  #: Model name
    bones: tuple[BonePlan, ...]  #: Parents first; the first is the root
    height: float  #: Standing height [m]
    notes: tuple[str, ...] = ()  #: Sentences about how the plan came to be
    ligaments: tuple[Ligament, ...] = ()  #: What keeps knees and elbows from turning the wrong way
