"""The skeleton of a clip: named joints in a tree, with the lengths between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stunt.errors import NOWHERE, Place, UnknownNameError
from stunt.maths.rotations import Floats


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
    def parent_array(self) -> np.ndarray:
        """`parents` as an array, (J,)."""
        return np.array(self.parents, dtype=np.int64)

    def tips(self, joint: int) -> list[Floats]:
        """Where a joint's bones end, in its frame [m]: its children's joints and end sites."""
        ends = [self.offsets[child] for child in self.children[joint]]
        return ends + [site.offset for site in self.end_sites if site.parent == joint]
