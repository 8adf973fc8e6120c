"""What clips are made of: skeletons, poses, and what is known of the file they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stunt.errors import NOWHERE, Place, UnknownNameError
from stunt.maths.rotations import Floats
from stunt.motion.clips.recognise import Recognition


@dataclass(frozen=True)
class EndSite:
    """The tip of a bone that ends in no joint (finger tip, toe, top of the head)."""

    parent: int  #: Index of the joint it hangs on
    offset: Floats  #: Where it is in that joint's frame [m], (3,)
    name: str = ""  #: Its name, where the file gives it one


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Named joints in a tree, parents first; with all joints at rest every frame is parallel to the world's."""

    names: tuple[str, ...]  #: Joint names, unique; the first is the root
    parents: tuple[int, ...]  #: Index of each joint's parent; −1 for the root
    offsets: Floats  #: Where each joint is in its parent's frame [m], (J, 3)
    end_sites: tuple[EndSite, ...] = ()  #: Tips of the bones that end in no joint
    #: Channel names of each joint in the order of the file it came from (`Xposition`, `Zrotation`, …); empty where it
    #: came from none. Writers use them.
    channels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        """Joint name → index."""
        return {name: number for number, name in enumerate(self.names)}

    def joint(self, name: str, place: Place = NOWHERE) -> int:
        """Return a joint's index by name, or say which exist."""
        if name not in self.index:
            raise UnknownNameError("joint of the clip", name, self.names, place)
        return self.index[name]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of each joint's children."""
        found: list[list[int]] = [[] for _ in self.names]
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(number)
        return tuple(tuple(some) for some in found)

    @cached_property
    def depth_first(self) -> tuple[int, ...]:
        """Indices of the joints as a nested file lists them: every joint before its children, limb by limb."""
        found: list[int] = []
        pending = [0]
        while pending:
            joint = pending.pop()
            found.append(joint)
            pending += reversed(self.children[joint])
        return tuple(found)

    @cached_property
    def levels(self) -> tuple[np.ndarray, ...]:
        """Indices of the joints by depth, the root's children first; a level needs only the one before it."""
        depth = [0] * len(self.names)
        for number, parent in enumerate(self.parents):
            depth[number] = 0 if parent < 0 else depth[parent] + 1
        return tuple(np.flatnonzero(np.array(depth) == level) for level in range(1, max(depth) + 1))

    @cached_property
    def rest_places(self) -> Floats:
        """Where the joints are at rest, the root in the origin [m], (J, 3)."""
        places = np.zeros((len(self.names), 3))
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                places[joint] = places[parent] + self.offsets[joint]
        return places

    @cached_property
    def parent_array(self) -> np.ndarray:
        """`parents` as an array, (J,)."""
        return np.array(self.parents, dtype=np.int64)

    def tips(self, joint: int) -> list[Floats]:
        """Where a joint's bones end, in its frame [m]: its children's joints and end sites."""
        ends = [self.offsets[child] for child in self.children[joint]]
        return ends + [site.offset for site in self.end_sites if site.parent == joint]


@dataclass(frozen=True, eq=False)
class Above:
    """Joints above the hips in the file, which the clip has laid into them (see `stunt.motion.clips.above_hips`)."""

    path: tuple[int, ...]  #: From the file's first joint to its hips
    offsets: Floats  #: Of those joints, as in the file, (P, 3) [m]
    root: Floats  #: Where the first is, (F, 3) [m]
    turns: Floats  #: Their rotations, (F, P, 4)
    shifts: Floats  #: Their displacements from their offsets, (F, P, 3) [m]

    @property
    def motion(self) -> tuple[Floats, Floats, Floats]:
        """What has a row per frame."""
        return self.root, self.turns, self.shifts


@dataclass(frozen=True, eq=False)
class Door:
    """How a clip came in."""

    format: str = ""  #: `bvh`, `amc`, `deepmimic`, `npz`; empty for clips made here
    file: str = ""  #: The file as the user named it
    scale: float = 1.0  #: Metres per unit of the file
    axes: Floats = field(default_factory=lambda: np.eye(3))  #: Rotation that turns the file's axes into ours, (3, 3)
    #: What the file did not say and the door took for granted, by what it is about, as sentences.
    assumed: Mapping[str, str] = field(default_factory=dict)
    #: What is wrong with the file, though it was read, likewise.
    wrong: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    #: The file's own channel values, (F, C), so that what was not changed is written as it stood.
    values: Floats | None = field(default=None, repr=False)
    skipped: int = 0  #: How many frames at the start were left out
    #: The rotations of a first frame that was no motion but a reference pose, (J, 4), where there was one.
    rest: Floats | None = field(default=None, repr=False)
    added: tuple[int, ...] = ()  #: Joints whose position channels in the file are added to their OFFSET
    #: Which joint is which part of a person, by name, where a mapping file says so; None leaves it to guesses.
    parts: Mapping[str, str] | None = None
    recognised: Recognition | None = None  #: What was recognised as which part, and why; None: not looked yet
    #: Which body of whoever follows the clip is which part, where the mapping file names any.
    bodies: Mapping[str, str] = field(default_factory=dict)
    above: Above | None = field(default=None, repr=False)  #: What the file has above the hips, where there is anything
    edits: tuple[str, ...] = ()  #: What was done to the clip since, in order: `mirrored`, `trimmed to 0.2–1 s`


@dataclass(frozen=True, eq=False)
class ClipPose:
    """A skeleton's pose, or several along the leading axes."""

    root: Floats  #: Position of the root joint [m], (..., 3)
    rotations: Floats  #: Orientation of each joint in its parent's frame, the root's in the world, (..., J, 4)


@dataclass(frozen=True, eq=False)
class WorldPose:
    """Where all joints are in the world."""

    positions: Floats  #: [m], (..., J, 3)
    rotations: Floats  #: (..., J, 4)
