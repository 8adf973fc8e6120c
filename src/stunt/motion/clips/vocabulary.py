"""What joints are called: guesses of which joint of a clip is which part of a person.

Knows the names of CMU (BVH and ASF), Mixamo, LaFAN1, DeepMimic, SMPL/AMASS and the usual modelling tools. Parts are
named as Stunt's bodies are: `hips`, `spine`, `spine2`, …, `neck`, `neck2`, `head`, and with `l_` or `r_` in front
`clavicle`, `upper_arm`, `forearm`, `hand`, `thigh`, `shank`, `foot`, `toe`. Joints without a part (fingers, twist
helpers, hip helpers of no length) follow their parents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

LEG = ("thigh", "shank", "foot", "toe")
ARM = ("clavicle", "upper_arm", "forearm", "hand")

# Names without side, prefix and separators. Where a name means two things (`shoulder`, `hip`, `leg`, `foot`) the
# chain it stands in decides.
_WORDS: dict[str, tuple[str, ...]] = {
    "thigh": ("upleg", "thigh", "femur", "hip", "upperleg", "uplegjoint", "thighbend", "leg"),
    "shank": ("leg", "shank", "knee", "shin", "tibia", "lowerleg", "calf", "lowleg"),
    "foot": ("foot", "ankle"),
    "toe": ("toebase", "toe", "toes", "ball", "foot", "toe0"),
    "clavicle": ("shoulder", "clavicle", "collar", "collarbone", "clav"),
    "upper_arm": ("arm", "upperarm", "humerus", "uparm", "shldr", "shldrbend", "shoulder"),
    "forearm": ("forearm", "lowerarm", "elbow", "radius", "lowarm", "forearmbend"),
    "hand": ("hand", "wrist"),
}
_SPINE = (
    *("spine", "chest", "torso", "thorax", "abdomen", "lowerback", "upperback", "back", "waist", "lumbar"),
    *("upperchest", "abdomenlower", "abdomenupper", "chestlower", "chestupper"),
)
_ASF_STEMS = {word for words in _WORDS.values() for word in words} - {"leg"}
_PREFIXES = ("mixamorig", "Bip001", "Bip01")
_SIDE_FIRST = re.compile(r"^(?:([Ll])eft|([Rr])ight|(?:([LlRr])(?=[_.\- A-Z])))|^(LEFT|RIGHT)")
_SIDE_LAST = re.compile(r"[_.\- ](left|right|l|r)$", re.IGNORECASE)


def side_and_stem(name: str) -> tuple[str, str]:
    """Split a joint's name into its side (`l_`, `r_` or nothing) and the rest, lower case, without separators."""
    bare = re.sub(r"^.*[:|]", "", name)
    prefix = next((some for some in _PREFIXES if bare.startswith(some) and bare != some), "")
    bare = bare[len(prefix) :].lstrip("_. -")
    side = ""
    if found := _SIDE_FIRST.match(bare):
        side, bare = found.group(0)[0].lower() + "_", bare[found.end() :]
    elif found := _SIDE_LAST.search(bare):
        side, bare = found.group(1)[0].lower() + "_", bare[: found.start()]
    elif bare[:1] in ("l", "r") and bare[1:] in _ASF_STEMS:
        side, bare = bare[0] + "_", bare[1:]  # lfemur, rclavicle
    return side, re.sub(r"[^a-z0-9]", "", bare.lower())


def guess_parts(names: Sequence[str], parents: Sequence[int]) -> dict[str, int]:
    """Guess which joint is which part.

    Args:
        names: Joint names.
        parents: Index of each joint's parent, −1 for the root; parents come first.

    Returns:
        Part → joint index, for the parts that were found.
    """
    return dict(_guessed(tuple(names), tuple(parents)))


@lru_cache(maxsize=256)
def _guessed(names: tuple[str, ...], parents: tuple[int, ...]) -> dict[str, int]:
    """Guess for a skeleton that may be asked about many times: by every clip that has it."""
    prefix = _shared_prefix(names)
    split = [side_and_stem(name.removeprefix(prefix)) for name in names]
    parts: dict[str, int] = {"hips": 0} if names else {}
    for side in ("l_", "r_"):
        for chain in (LEG, ARM):
            parts.update(_limb(side, chain, split, parents))
    taken = set(parts.values())
    spine: list[int] = []
    necks: list[int] = []
    for joint, (side, stem) in enumerate(split):
        if side or joint in taken:
            continue
        bare = stem.rstrip("0123456789")
        if bare in _SPINE:
            spine.append(joint)
        elif bare.endswith("neck"):
            necks.append(joint)
        elif bare == "head" and "head" not in parts:
            parts["head"] = joint
    spine, necks = _chain(spine, parents), _chain(necks, parents)
    if len(spine) >= 6 and not necks and "head" not in parts:  # Rigify numbers neck and head with the spine
        parts["head"], necks, spine = spine[-1], spine[-3:-1], spine[:-3]
    parts.update(_numbered("spine", spine))
    parts.update(_numbered("neck", necks))
    return parts


def _shared_prefix(names: Sequence[str]) -> str:
    """Return what nearly all names begin with, up to a separator: the actor's or the rig's (`Robot_`, `DEF-`)."""
    counts: dict[str, int] = {}
    for name in names:
        for found in re.finditer(r"[_\-. ]", name):
            counts[name[: found.end()]] = counts.get(name[: found.end()], 0) + 1
    shared = [prefix for prefix, count in counts.items() if count >= max(5, 0.7 * len(names))]
    return max((prefix for prefix in shared if not side_and_stem(f"{prefix}x")[0]), key=len, default="")


def _limb(
    side: str, chain: tuple[str, ...], split: Sequence[tuple[str, str]], parents: Sequence[int]
) -> dict[str, int]:
    """Walk all joints of a side in order, and take the first reading of each that goes on down the chain."""
    best: dict[str, int] = {}
    words = {part: _WORDS[part] for part in chain}
    joints = [j for j, (s, stem) in enumerate(split) if s == side and any(stem in some for some in words.values())]
    for start in range(len(chain)):
        found: dict[str, int] = {}
        step, last = start, -1
        for joint in joints:
            if last >= 0 and not _below(joint, last, parents):
                continue
            for part in range(step, len(chain)):
                if split[joint][1] in words[chain[part]]:
                    found[chain[part]], step, last = joint, part + 1, joint
                    break
        if _worth(found, chain) > _worth(best, chain):
            best = found
    return {f"{side}{part}": joint for part, joint in best.items()}


def _worth(found: dict[str, int], chain: tuple[str, ...]) -> tuple[int, int]:
    """More parts are better, and the three that carry the limb (not clavicle, not toe) count most."""
    core = chain[1:] if chain is ARM else chain[:3]
    return sum(part in found for part in core), len(found)


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


def _numbered(part: str, joints: list[int]) -> dict[str, int]:
    return {part if number == 1 else f"{part}{number}": joint for number, joint in enumerate(joints, start=1)}


VOCABULARIES: dict[str, tuple[str, ...]] = {
    "CMU (BVH)": ("LHipJoint", "LeftUpLeg", "LowerBack"),
    "CMU (ASF)": ("lfemur", "lowerback", "ltibia"),
    "Mixamo": ("mixamorig:Hips",),
    "LaFAN1": ("LeftUpLeg", "LeftToe", "Spine2", "LeftShoulder"),
    "DeepMimic": ("left_hip", "right_knee", "chest"),
    "SMPL": ("left_collar", "spine3", "left_wrist"),
}


def vocabulary(names: Sequence[str]) -> str:
    """Say whose vocabulary the names are, or `unknown`."""
    have = set(names)
    return next((who for who, some in VOCABULARIES.items() if set(some) <= have), "unknown")
