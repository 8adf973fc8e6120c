"""The plan of a person with somebody else's bones, in plain data."""

from __future__ import annotations

from dataclasses import dataclass

from stunt.character.anthropometry import Floats


@dataclass(frozen=True, eq=False)
class Sole:
    """Where a foot or toe meets the floor, in the bone's frame.

    Attributes:
        normal: Upward while it is planted, (3,).
        depth: How far below the joint the floor is [m]: the plane `normal · p = −depth`.
        forward: Along the foot, in that plane, (3,).
    """

    normal: Floats
    depth: float
    forward: Floats


@dataclass(frozen=True, eq=False)
class BonePlan:
    """One bone.

    Attributes:
        name: Body name (`l_thigh`).
        joint: Name of the joint it hangs on (`l_hip`).
        part: `pelvis`, `spine`, `neck`, `head`, `clavicle`, `upper_arm`, `forearm`, `hand`, `thigh`, `shank`, `foot`
            or `toe`.
        side: `l_`, `r_` or nothing.
        parent: Index of the bone it hangs on; −1 for the root.
        origin: Its joint in the parent's frame [m], (3,); for the root in the world of the reference stance.
        stance: Orientation in the parent's frame in the reference stance, wxyz; the root's in the world.
        tip: Where it ends, in its own frame [m], (3,).
        axes: Forward, left and up of the reference stance in its own frame, as columns, (3, 3).
        sole: Of feet and toes.
        reach: How far its joint turns away from the stance, whichever way [rad]; None: all round.
    """

    name: str
    joint: str
    part: str
    side: str
    parent: int
    origin: Floats
    stance: Floats
    tip: Floats
    axes: Floats
    sole: Sole | None = None
    reach: float | None = None


@dataclass(frozen=True, eq=False)
class Ligament:
    """A band between two bones that is taut at a length.

    Attributes:
        bone: Index of the bone below its joint.
        above: Where it is attached on that bone's parent, in the parent's frame [m], (3,).
        below: Where on the bone, in its own frame [m], (3,).
        longest: How long it gets [m].
    """

    bone: int
    above: Floats
    below: Floats
    longest: float


@dataclass(frozen=True, eq=False)
class SkeletonPlan:
    """A person to be built.

    Attributes:
        name: Model name.
        bones: Parents first; the first is the root.
        height: Standing height [m].
        notes: Sentences about how the plan came to be.
        ligaments: What keeps knees and elbows from turning the wrong way.
    """

    name: str
    bones: tuple[BonePlan, ...]
    height: float
    notes: tuple[str, ...] = ()
    ligaments: tuple[Ligament, ...] = ()
