"""Limbs in the tree of a skeleton: chains that have a mirror image, whatever their joints are called.

Of a person two mirror-symmetric chains go down to the floor, two to the sides, and one goes up; of a quadruped two
pairs go down. Only lengths, directions and what hangs on what are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stunt.maths.rotations import Floats

ALIKE = 0.85
"""Chains whose bones differ by less than this share of their length are mirror images."""
SHORT = 0.2
"""A pair of chains shorter than this share of the longest pair is no pair of limbs: ears, eyes, straps."""
NO_LENGTH = 1e-3
"""A bone shorter than this share of the longest way through the skeleton has no length."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A skeleton's joints, parents first, and where they are.

    Attributes:
        parents: Index of each joint's parent; −1 for the root.
        places: Positions in some poses, the rest pose first, (P, J, 3), in any unit and with any axis up.
        tips: Where bones end that end in no joint: the joint they hang on, and positions in the poses (P, 3).
    """

    parents: tuple[int, ...]
    places: Floats
    tips: tuple[tuple[int, Floats], ...] = field(default=())

    @cached_property
    def children(self) -> list[list[int]]:
        """Children of each joint."""
        found: list[list[int]] = [[] for _ in self.parents]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(joint)
        return found

    @cached_property
    def lengths(self) -> Floats:
        """How far each joint is from its parent, (J,)."""
        above = np.maximum(np.array(self.parents), 0)
        apart = np.linalg.norm(self.places - self.places[:, above], axis=-1)
        return np.asarray(np.median(apart, axis=0))

    @cached_property
    def ends(self) -> dict[int, float]:
        """How far the tip of a joint's bone is, where it has one."""
        found: dict[int, float] = {}
        for joint, place in self.tips:
            length = float(np.median(np.linalg.norm(place - self.places[:, joint], axis=-1)))
            found[joint] = max(length, found.get(joint, 0.0))
        return found

    @cached_property
    def reach(self) -> Floats:
        """How long the longest chain below each joint is, (J,)."""
        reach = np.zeros(len(self.parents))
        for joint in range(len(self.parents) - 1, -1, -1):
            below = [self.lengths[child] + reach[child] for child in self.children[joint]]
            reach[joint] = max([*below, self.ends.get(joint, 0.0)], default=0.0)
        return reach

    def size(self) -> float:
        """The longest way from the root."""
        return float(self.reach[0])

    def path(self, joint: int) -> list[int]:
        """Return the joints of the longest chain from a joint down, itself first."""
        path = [joint]
        while self.children[path[-1]]:
            path.append(max(self.children[path[-1]], key=lambda child: self.lengths[child] + self.reach[child]))
        return path

    def above(self, joint: int) -> list[int]:
        """Return a joint and those above it, up to the root."""
        path = [joint]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return path

    def below(self, joint: int) -> set[int]:
        """Return a joint and everything that hangs on it."""
        found, pending = set[int](), [joint]
        while pending:
            here = pending.pop()
            found.add(here)
            pending += self.children[here]
        return found


@dataclass(frozen=True)
class Pair:
    """Two chains that mirror each other.

    Attributes:
        base: The joint on the trunk that they hang on.
        chains: Their joints, from the trunk outwards, of both.
        length: How long they are.
    """

    base: int
    chains: tuple[tuple[int, ...], tuple[int, ...]]
    length: float


def find_pairs(tree: Tree, sides: Sequence[str]) -> tuple[list[Pair], list[int]]:
    """Return the pairs of limbs on the trunk, and the trunk's joints, from the root outwards.

    Args:
        tree: The skeleton.
        sides: What names say about each joint's side (`l_`, `r_` or nothing).
    """
    pairs: list[Pair] = []
    trunk: list[int] = []
    pending = [0] if tree.parents else []
    while pending:
        joint = pending.pop(0)
        trunk.append(joint)
        free = [child for child in tree.children[joint] if tree.lengths[child] + tree.reach[child] > 0.0]
        for first, second in _mirrored(tree, free, sides):
            chains = (tuple(tree.path(first)), tuple(tree.path(second)))
            pairs.append(Pair(joint, chains, float(tree.lengths[first] + tree.reach[first])))
            free = [child for child in free if child not in (first, second)]
        pending += free
    longest = max((pair.length for pair in pairs), default=0.0)
    return [pair for pair in pairs if pair.length > SHORT * longest], trunk


def _mirrored(tree: Tree, children: Sequence[int], sides: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of children whose chains mirror each other, the most alike first."""
    found = []
    for number, first in enumerate(children):
        for second in children[number + 1 :]:
            named = {side_of_limb(tree, first, sides), side_of_limb(tree, second, sides)}
            alike = likeness(tree, first, second)
            if named == {"l_", "r_"}:
                alike += 0.5
            elif named & {"l_", "r_"}:
                continue  # both on one side, or one in the middle
            if alike > ALIKE:
                found.append((alike, first, second))
    taken: set[int] = set()
    pairs = []
    for _, first, second in sorted(found, key=lambda some: -some[0]):
        if not {first, second} & taken:
            taken |= {first, second}
            pairs.append((first, second))
    return pairs


def side_of_limb(tree: Tree, joint: int, sides: Sequence[str]) -> str:
    """Return the side that most names of a limb say; nothing where they do not agree."""
    told = [sides[some] for some in tree.below(joint) if sides[some]]
    whole = len(tree.below(joint))
    for side in ("l_", "r_"):
        if told.count(side) > 0.6 * whole:
            return side
    return ""


def likeness(tree: Tree, first: int, second: int) -> float:
    """Return how alike two chains' bones are: 1 for the same lengths, 0 for nothing in common."""
    lengths = [[float(tree.lengths[joint]) for joint in tree.path(start)] for start in (first, second)]
    count = max(len(some) for some in lengths)
    one, other = (np.array(some + [0.0] * (count - len(some))) for some in lengths)
    whole = float(np.maximum(one, other).sum())
    return 1.0 - float(np.abs(one - other).sum()) / whole if whole > 0.0 else 0.0


def joints_that_bend(tree: Tree, chain: Sequence[int]) -> list[int]:
    """Return the joints of a chain without those that only divide a straight bone (twist joints) or have no length.

    The first joint stays; of joints in one place the last does.
    """
    least = NO_LENGTH * max(tree.size(), 1e-9)
    kept = [chain[0]]
    for joint in chain[1:]:
        way = float(np.median(np.linalg.norm(tree.places[:, joint] - tree.places[:, kept[-1]], axis=-1)))
        if way > least:
            kept.append(joint)
        elif len(kept) > 1:
            kept[-1] = joint
        elif len(chain) > 2:
            kept = [joint]
    return [
        joint
        for number, joint in enumerate(kept)
        if number in (0, len(kept) - 1) or not _divides(tree, kept[number - 1], joint, kept[number + 1])
    ]


def _divides(tree: Tree, before: int, joint: int, after: int) -> bool:
    """Whether a joint lies on the straight line between its neighbours in all poses, and they are known to move."""
    if len(tree.places) < 3:
        return False
    one, two = tree.places[:, joint] - tree.places[:, before], tree.places[:, after] - tree.places[:, joint]
    lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(two, axis=-1)
    cosine = (one * two).sum(axis=-1) / np.maximum(lengths, 1e-12)
    return bool(cosine.min() > np.cos(np.radians(1.0)))
