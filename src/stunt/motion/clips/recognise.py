"""Which joint of a skeleton is which part of a person: by words where they tell, by the tree where they do not.

Parts are named as Stunt's bodies are: `hips`, `spine`, `spine2`, …, `neck`, `neck2`, `head`, and with `l_` or `r_` in
front `clavicle`, `upper_arm`, `forearm`, `hand`, `thigh`, `shank`, `foot`, `toe`. Joints without a part (fingers, twist
helpers, end sites) follow their parents. What was decided, why, and how sure that is stays with the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.clips.limbs import Pair, Tree, find_pairs, joints_that_bend, side_of_limb
from stunt.motion.clips.words import ARM, LEG, Read, read_names

CORE: Final = tuple(f"{s}{part}" for s in ("l_", "r_") for part in ("thigh", "shank", "foot", "upper_arm", "forearm"))
"""Parts that a person's skeleton is judged by."""
NAMED, TREE = "its name", "the tree"
_CORE_WORDS = {"thigh", "shank", "foot", "upper_arm", "forearm", "hand"}


@dataclass(frozen=True)
class Recognition:
    """What a skeleton's joints are.

    Attributes:
        parts: Part → joint, in the order found.
        reasons: Part → why, for people.
        kind: `person`, `quadruped` or `creature`.
        confidence: How sure it is, 0 to 1.
        said: How it was told, as one sentence.
        legs: Of a quadruped the joints of each leg, fore legs first, left before right.
    """

    parts: Mapping[str, int]
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    kind: str = "creature"
    confidence: float = 0.0
    said: str = ""
    legs: tuple[tuple[int, ...], ...] = ()


def guess_parts(
    names: Sequence[str], parents: Sequence[int], places: Floats | None = None, tips: Iterable[tuple[int, Floats]] = ()
) -> dict[str, int]:
    """Return part → joint index, for the parts that were recognised (see `recognise`)."""
    return dict(recognise(names, parents, places, tips).parts)


def recognise(
    names: Sequence[str], parents: Sequence[int], places: Floats | None = None, tips: Iterable[tuple[int, Floats]] = ()
) -> Recognition:
    """Say which joint is which part.

    Args:
        names: Joint names.
        parents: Index of each joint's parent, −1 for the root; parents come first.
        places: Where the joints are in some poses, the rest pose first, (P, J, 3), or in one, (J, 3), in any unit and
            axes; None where only names are known.
        tips: Where bones end that end in no joint: the joint they hang on, and positions in the poses, (P, 3).
    """
    by_words = _by_words(tuple(names), tuple(parents))
    if places is None or not len(names):
        return by_words
    poses = np.asarray(places, float)
    poses = poses if poses.ndim == 3 else poses[None]
    ends = tuple((joint, np.broadcast_to(place, (len(poses), 3))) for joint, place in tips)
    tree = Tree(tuple(parents), poses, ends)
    reads = _reads(tuple(names))
    by_tree = _by_tree(tree, reads)
    return _agreed(by_words, by_tree, tree, reads)


def _agreed(words: Recognition, tree: Recognition, bones: Tree, reads: Sequence[Read]) -> Recognition:
    """Choose between what words say and what the tree says."""
    if tree.kind == "quadruped":
        return tree
    if tree.kind != "person":
        return words
    told, seen = (sum(part in some.parts for part in CORE) for some in (words, tree))
    if told >= seen:
        same = sum(words.parts.get(part) == tree.parts[part] for part in CORE if part in tree.parts) / max(seen, 1)
        parts, reasons = dict(words.parts), dict(words.reasons)
        _fill(parts, reasons, tree, bones)
        said = "by their names" + ("; the tree says the same" if same > 0.9 else "; the tree alone would say otherwise")
        return Recognition(parts, reasons, words.kind, 0.99 if same > 0.9 else 0.85, said)
    return tree


def _fill(parts: dict[str, int], reasons: dict[str, str], tree: Recognition, bones: Tree) -> None:
    """Add what the tree has and words have not: the head, a spine, a limb's end, where nothing contradicts."""
    trunk = {"spine": any(p.startswith("spine") for p in parts), "neck": any(p.startswith("neck") for p in parts)}
    for part, joint in tree.parts.items():
        stem = part.rstrip("0123456789")
        taken = part in parts or joint in parts.values() or trunk.get(stem, False)
        if taken or part == "hips" or stem in ("spine", "neck") or part.endswith(("toe", "clavicle")):
            continue
        if part == "head" and (trunk["neck"] or "head" in parts):
            continue
        if part == "head" or _fits(part, joint, parts, bones):
            parts[part], reasons[part] = joint, tree.reasons[part]


def _fits(part: str, joint: int, parts: Mapping[str, int], bones: Tree) -> bool:
    """Whether a limb's part hangs between the parts before and after it."""
    side, stem = part[:2], part[2:]
    chain = LEG if stem in LEG else ARM
    above = set(bones.above(joint))
    for other in chain:
        known = parts.get(f"{side}{other}")
        if known is None:
            continue
        before = chain.index(other) < chain.index(stem)
        if before and known not in above or not before and joint not in bones.above(known):
            return False
    return True


# ---- words


@lru_cache(maxsize=256)
def _reads(names: tuple[str, ...]) -> tuple[Read, ...]:
    return tuple(read_names(names))


@lru_cache(maxsize=256)
def _by_words(names: tuple[str, ...], parents: tuple[int, ...]) -> Recognition:
    """Guess by names alone, for a skeleton that may be asked about many times: by every clip that has it."""
    reads = _reads(names)
    parts: dict[str, int] = {"hips": 0} if names else {}
    for side in ("l_", "r_"):
        for chain in (LEG, ARM):
            parts.update({f"{side}{part}": joint for part, joint in _limb(side, chain, reads, parents).items()})
    parts.update(_trunk(reads, parents, set(parts.values()) - {0}, parts))
    reasons = {part: f"{NAMED}, '{names[joint]}'" for part, joint in parts.items()}
    known = sum(part in parts for part in CORE)
    kind = "person" if known >= 4 else "creature"
    return Recognition(parts, reasons, kind, 0.9 * known / len(CORE), "by their names alone")


def _limb(side: str, chain: Sequence[str], reads: Sequence[Read], parents: Sequence[int]) -> dict[str, int]:
    """Return the joints of a side that read best as a limb, going down one path of the tree."""
    mine = [joint for joint, read in enumerate(reads) if read.side == side and set(read.scores) & set(chain)]
    ends = [joint for joint in mine if not any(_below(other, joint, parents) for other in mine if other != joint)]
    best: tuple[float, dict[str, int]] = (0.0, {})
    for end in ends:
        path = [joint for joint in mine if _below(end, joint, parents)]
        found = _aligned(path, chain, reads)
        if found[0] > best[0] + 1e-9:
            best = found
    return best[1]


def _aligned(path: Sequence[int], chain: Sequence[str], reads: Sequence[Read]) -> tuple[float, dict[str, int]]:
    """Give parts to joints in their order so that the words fit best; the three that carry a limb count more."""
    best: list[tuple[float, dict[str, int]]] = [(0.0, {})] * (len(chain) + 1)
    for number, joint in enumerate(path):
        scores, later = reads[joint].scores, list(best)
        # Of names that say the same the first is meant; of hinges in a row the last, which carries the bone.
        nudge = (1e-3 if reads[joint].axis else -1e-3) * number
        for step, part in enumerate(chain):
            if part in scores:
                worth = best[step][0] + scores[part] + (0.5 if part in _CORE_WORDS else 0.0) + nudge
                if worth > later[step + 1][0]:
                    later[step + 1] = (worth, {**best[step][1], part: joint})
        for step in range(len(chain)):
            if later[step][0] > later[step + 1][0]:
                later[step + 1] = later[step]
        best = later
    return best[-1]


def _trunk(reads: Sequence[Read], parents: Sequence[int], taken: set[int], limbs: Mapping[str, int]) -> dict[str, int]:
    """Return hips, spine, necks and head by their words."""
    spine, necks, hips = list[int](), list[int](), list[int]()
    parts: dict[str, int] = {}
    for joint, read in enumerate(reads):
        if read.side or joint in taken:
            continue
        best = max(read.scores, key=lambda part: read.scores[part], default="")
        if best == "spine":
            spine.append(joint)
        elif best == "neck":
            necks.append(joint)
        elif best == "head" and "head" not in parts:
            parts["head"] = joint
        elif best == "hips":
            hips.append(joint)
    spine, necks = _chain(spine, parents), _chain(necks, parents)
    if 0 in spine and ("l_thigh" in limbs or not hips):
        spine.remove(0)  # what all hangs on are the hips, whatever they are called
    if len(spine) >= 5 and not necks and "head" not in parts:  # Rigify numbers neck and head with the spine
        parts["head"], necks, spine = spine[-1], spine[-3:-1], spine[:-3]
    return parts | _numbered("spine", spine) | _numbered("neck", necks)


def _below(joint: int, ancestor: int, parents: Sequence[int]) -> bool:
    while joint > ancestor:
        joint = parents[joint]
    return joint == ancestor


def _chain(joints: list[int], parents: Sequence[int]) -> list[int]:
    """Keep joints that hang on one another."""
    kept: list[int] = []
    for joint in joints:
        if not kept or _below(joint, kept[-1], parents):
            kept.append(joint)
    return kept


def _numbered(part: str, joints: Sequence[int]) -> dict[str, int]:
    return {part if number == 1 else f"{part}{number}": joint for number, joint in enumerate(joints, start=1)}


# ---- the tree


@dataclass(frozen=True)
class _Build:
    """Which pair of limbs are the legs, which the arms, and how surely."""

    legs: Pair
    arms: Pair | None
    worth: float


def _by_tree(tree: Tree, reads: Sequence[Read]) -> Recognition:
    sides = [read.side for read in reads]
    pairs, trunk = find_pairs(tree, sides)
    if not pairs:
        return Recognition({"hips": 0} if reads else {})
    build = max(_builds(tree, pairs, trunk, reads), key=lambda some: some.worth)
    left, how, sure = _which_is_left(tree, build, sides)
    if build.arms is not None and _on_all_fours(tree, build) and not _speaks_of_person(reads):
        return _quadruped(tree, build, left, how, sides)
    parts: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for pair, chain in ((build.legs, LEG), (build.arms, ARM)):
        if pair is None:
            continue
        for side, joints in zip(("l_", "r_"), _left_first(tree, pair, build.legs, left, sides), strict=True):
            for part, joint in _limb_parts(tree, joints, chain, reads).items():
                parts[f"{side}{part}"] = joint
                what = "leg" if chain is LEG else "arm"
                reasons[f"{side}{part}"] = f"{TREE}: a bone of the {'left' if side == 'l_' else 'right'} {what}, {how}"
    upward = _upward(tree, build, trunk, reads)
    for part, joint in upward.items():
        parts[part], reasons[part] = joint, f"{TREE}: on the way from the legs up"
    parts["hips"] = _meeting(tree, parts)
    reasons["hips"] = f"{TREE}: where legs and trunk meet"
    seen = sum(part in parts for part in CORE) / len(CORE)
    whole = len({build.legs.base, build.arms.base if build.arms else -1} - {-1})
    confidence = (0.55 + 0.35 * sure) * seen * (1.0 if whole == 2 else 0.9)
    legs = all(f"{side}{part}" in parts for side in ("l_", "r_") for part in ("thigh", "shank"))
    kind = "person" if legs and upward else "creature"
    return Recognition(parts, reasons, kind, confidence, f"by the tree of its bones; left and right {how}")


def _builds(tree: Tree, pairs: Sequence[Pair], trunk: Sequence[int], reads: Sequence[Read]) -> list[_Build]:
    found = []
    for legs in pairs:
        worth = _speaks(legs, LEG, reads) - _speaks(legs, ARM, reads) + _share(legs, pairs)
        found.append(_Build(legs, None, worth - 0.5 * trunk.index(legs.base) / max(len(trunk), 1)))
        for arms in pairs:
            if arms is legs:
                continue
            both = worth + _speaks(arms, ARM, reads) - _speaks(arms, LEG, reads) + _share(arms, pairs)
            found.append(_Build(legs, arms, both + _posture(tree, legs, arms)))
    return found


def _share(pair: Pair, pairs: Sequence[Pair]) -> float:
    return pair.length / max(some.length for some in pairs)


def _speaks(pair: Pair, chain: Sequence[str], reads: Sequence[Read]) -> float:
    """Return how much the names of a pair say that it is a limb of this kind, 0 to 2."""
    scores = [max((reads[j].scores.get(part, 0.0) for part in chain), default=0.0) for c in pair.chains for j in c]
    return 2.0 * min(1.0, sum(scores) / 4.0)


def _posture(tree: Tree, legs: Pair, arms: Pair) -> float:
    """Return how much like legs and arms two pairs hang on a trunk: −2 to 2."""
    worth = 0.5 if len(tree.above(legs.base)) <= len(tree.above(arms.base)) else -0.5
    worth += 0.5 if legs.length >= 0.9 * arms.length else -0.5
    head = [child for child in tree.children[arms.base] if child not in {arms.chains[0][0], arms.chains[1][0]}]
    head = [child for child in head if legs.base not in tree.below(child) and legs.chains[0][0] != child]
    worth += 0.3 if head and legs.base != arms.base else 0.0
    along, _ = _directions(tree, legs, arms)
    return worth + 0.7 * float(np.clip(-along, -1.0, 1.0))


def _directions(tree: Tree, legs: Pair, arms: Pair) -> tuple[float, float]:
    """Return the cosine of legs to trunk, and of legs to arms, at rest or, where more telling, in motion."""
    low, high = (tree.places[:, [chain[0] for chain in pair.chains]].mean(axis=1) for pair in (legs, arms))
    trunk = high - low
    ways = [
        np.mean([tree.places[:, chain[-1]] - tree.places[:, chain[0]] for chain in pair.chains], axis=0)
        for pair in (legs, arms)
    ]
    spine, leg, arm = (some / np.maximum(np.linalg.norm(some, axis=-1, keepdims=True), 1e-9) for some in (trunk, *ways))
    along, both = (leg * spine).sum(axis=-1), (leg * arm).sum(axis=-1)
    return min(float(along[0]), float(np.median(along))), float(both[0])


def _on_all_fours(tree: Tree, build: _Build) -> bool:
    """Whether legs and arms both go down from a trunk that lies: at rest, and never upright."""
    assert build.arms is not None
    along, both = _directions(tree, build.legs, build.arms)
    return along > -0.55 and both > 0.5 and 0.5 < build.arms.length / build.legs.length < 2.0


def _speaks_of_person(reads: Sequence[Read]) -> bool:
    """Whether names are a captured person's beyond doubt: hips, and hands with fingers or clavicles."""
    return sum("clavicle" in read.scores and bool(read.side) for read in reads) >= 2


def _which_is_left(tree: Tree, build: _Build, sides: Sequence[str]) -> tuple[int, str, float]:
    """Return which chain of the legs is the left one, how that is known, and how surely."""
    for pair in (build.legs, *((build.arms,) if build.arms else ())):
        told = [side_of_limb(tree, chain[0], sides) for chain in pair.chains]
        if set(told) == {"l_", "r_"}:
            left = told.index("l_")
            return left if _same_order(tree, pair, build.legs) else 1 - left, "by the names", 1.0
    forward, up = _forward(tree, build)
    leftward = np.cross(up, forward)
    across = tree.places[:, build.legs.chains[0][0]] - tree.places[:, build.legs.chains[1][0]]
    votes = (across * leftward).sum(axis=-1)
    sure = float(np.linalg.norm(forward[0]) > 0.2)
    first = float(votes[0]) if abs(float(votes[0])) > 1e-9 else float(np.median(votes))
    return (0 if first > 0 else 1), "by where the toes point", 0.6 * sure


def _left_first(
    tree: Tree, pair: Pair, legs: Pair, left: int, sides: Sequence[str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the chains of a pair, the left one first: by names, or on the side on which the left leg is."""
    told = [side_of_limb(tree, chain[0], sides) for chain in pair.chains]
    if set(told) == {"l_", "r_"}:
        first = told.index("l_")
    elif pair is legs:
        first = left
    else:
        first = left if _same_order(tree, pair, legs) else 1 - left
    return (pair.chains[first], pair.chains[1 - first])


def _same_order(tree: Tree, pair: Pair, legs: Pair) -> bool:
    """Whether the first chain of a pair is on the same side of the body as the first of the legs."""
    ours, theirs = (
        tree.places[0, some.chains[0]].mean(axis=0) - tree.places[0, some.chains[1]].mean(axis=0)
        for some in (pair, legs)
    )
    return float(ours @ theirs) > 0


def _forward(tree: Tree, build: _Build) -> tuple[Floats, Floats]:
    """Return where the feet point, or the knees where there are no toes, and what is up, in every pose, (P, 3) each."""
    top = build.arms.base if build.arms is not None else build.legs.base
    ankles = [_limb_ends(tree, chain) for chain in build.legs.chains]
    feet = np.mean([tree.places[:, ankle] for ankle, _ in ankles], axis=0)
    up = tree.places[:, top] - feet
    up = up / np.maximum(np.linalg.norm(up, axis=-1, keepdims=True), 1e-9)
    ways = []
    for chain, (ankle, end) in zip(build.legs.chains, ankles, strict=True):
        tip = next((place for joint, place in tree.tips if joint == end and end == ankle), tree.places[:, end])
        ways.append(tip - tree.places[:, ankle] if end != ankle or tip is not tree.places[:, end] else 0.0 * up)
        if not ways[-1].any():
            ways[-1] = _bend(tree, chain)
    way = np.mean(ways, axis=0)
    way = way - up * (way * up).sum(axis=-1, keepdims=True)
    return way / np.maximum(np.linalg.norm(np.mean(ways, axis=0), axis=-1, keepdims=True), 1e-9), up


def _bend(tree: Tree, chain: Sequence[int]) -> Floats:
    """Return where a limb's middle joint is off the straight way from its first to its third, (P, 3)."""
    bending = joints_that_bend(tree, chain)
    start = _longest(tree, bending)
    if start + 2 >= len(bending):
        return np.zeros((len(tree.places), 3))
    first, middle, last = (tree.places[:, joint] for joint in bending[start : start + 3])
    way = last - first
    share = ((middle - first) * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), 1e-12)
    return np.asarray(middle - first - share[:, None] * way)


def _limb_ends(tree: Tree, chain: Sequence[int]) -> tuple[int, int]:
    bending = joints_that_bend(tree, chain)
    start = _longest(tree, bending)
    ankle = bending[min(start + 2, len(bending) - 1)]
    return ankle, bending[-1]


def _limb_parts(tree: Tree, joints: Sequence[int], chain: Sequence[str], reads: Sequence[Read]) -> dict[str, int]:
    """Return the parts of a limb's chain: by words if they tell the whole of it, else by the longest two bones."""
    named = _aligned([joint for joint in joints if not reads[joint].helper], chain, reads)[1]
    core = LEG[:3] if chain is LEG else ARM[1:3]
    if all(part in named for part in core):
        return named
    bending = joints_that_bend(tree, joints)
    start = _longest(tree, bending)
    found = dict(zip(core[:2], bending[start : start + 2], strict=False))
    ends = [joint for joint in bending[start + 2 :] if tree.children[joint] or joint in tree.ends or chain is LEG]
    if chain is LEG:
        found.update(zip(("foot", "toe"), ends, strict=False))
    else:
        found.update(zip(("hand",), bending[start + 2 :], strict=False))
        if start > 0:
            found["clavicle"] = bending[start - 1]
    return found


def _longest(tree: Tree, joints: Sequence[int]) -> int:
    """Return where in a chain its two long bones begin: those that together are longest, and neither a stump."""
    ends = [*joints[1:], -1]
    lengths = [
        float(np.median(np.linalg.norm(tree.places[:, end] - tree.places[:, joint], axis=-1)))
        if end >= 0
        else tree.ends.get(joint, 0.0)
        for joint, end in zip(joints, ends, strict=True)
    ]
    worth = []
    for first, second in zip(lengths, lengths[1:], strict=False):
        short, long = sorted((first, second))
        worth.append((first + second) * (1.0 if short > 0.4 * long else 0.3))
    return int(np.argmax(worth)) if worth else 0


def _upward(tree: Tree, build: _Build, trunk: Sequence[int], reads: Sequence[Read]) -> dict[str, int]:
    """Return spine, necks and head: the trunk from the legs to the arms, and what goes on from there."""
    legs, arms = build.legs.base, build.arms.base if build.arms else build.legs.base
    between = [joint for joint in reversed(tree.above(arms)) if joint not in tree.above(legs)]
    least = 0.02 * tree.size()
    spine = [joint for joint in between if tree.lengths[joint] > least or joint == arms and len(between) == 1]
    limbs = {chain[0] for pair in (build.legs, build.arms) if pair for chain in pair.chains}
    middle = [child for child in tree.children[arms] if child not in limbs and child not in tree.above(legs)]
    middle = [child for child in middle if tree.lengths[child] + tree.reach[child] > 0.03 * tree.size()]
    named = [child for child in middle if any({"neck", "head"} & set(reads[j].scores) for j in tree.path(child))]
    if not (named or middle) or build.arms is None:
        return _numbered("spine", spine)
    start = max(named or middle, key=lambda child: tree.lengths[child] + tree.reach[child])
    path = [joint for joint in tree.path(start) if tree.lengths[joint] > 0.2 * least]
    told = [joint for joint in path if "head" in reads[joint].scores]
    if told:
        path = path[: path.index(told[0]) + 1]
    elif len(path) > 1 and not tree.children[path[-1]] and path[-1] not in tree.ends and len(path) > 2:
        path = path[:-1]  # a last joint without a bone is the top of the head
    path = path or [start]
    return _numbered("spine", spine) | _numbered("neck", path[:-1][-2:]) | {"head": path[-1]}


def _meeting(tree: Tree, parts: Mapping[str, int]) -> int:
    """Return the joint in which legs and trunk meet."""
    upper = [joint for part, joint in parts.items() if part.startswith(("spine", "neck", "head")) or "arm" in part]
    ends = [*(parts[part] for part in ("l_thigh", "r_thigh") if part in parts), *upper]
    shared = set.intersection(*(set(tree.above(joint)) for joint in ends)) if ends else {0}
    return max(shared, default=0)


def _quadruped(tree: Tree, build: _Build, left: int, how: str, sides: Sequence[str]) -> Recognition:
    assert build.arms is not None
    legs = tuple(
        tuple(joints_that_bend(tree, chain))
        for pair in (build.arms, build.legs)
        for chain in _left_first(tree, pair, build.legs, left, sides)
    )
    said = f"four legs go down from a trunk that lies; left and right {how}"
    return Recognition(
        {"hips": build.legs.base}, {"hips": f"{TREE}: where the hind legs meet"}, "quadruped", 0.8, said, legs
    )
