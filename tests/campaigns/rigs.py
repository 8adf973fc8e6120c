"""Rigs nobody has seen: a person's or a dog's bones under random names, with random helpers, in any pose and unit.

`python -m tests.campaigns.rigs --count 2000` prints how many are recognised, by how they are named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Floats = np.ndarray


@dataclass(frozen=True, eq=False)
class Rig:
    """A skeleton, and what its joints are.

    Attributes:
        style: How it is named.
        names: Joint names.
        parents: Parent of each joint.
        places: Where they are at rest, (J, 3).
        truth: Part → joint; of a dog nothing.
    """

    style: str
    names: list[str]
    parents: list[int]
    places: Floats
    truth: dict[str, int]


# Part, parent, and where it is in metres: x forward, y left, z up; arms to the sides.
_CORE = {
    "hips": ("", (0.0, 0.0, 0.95)),
    "spine": ("hips", (0.0, 0.0, 1.05)),
    "spine2": ("spine", (0.01, 0.0, 1.2)),
    "spine3": ("spine2", (0.0, 0.0, 1.33)),
    "neck": ("spine3", (-0.01, 0.0, 1.48)),
    "head": ("neck", (0.01, 0.0, 1.58)),
}
_SIDE = {
    "clavicle": ("spine3", (0.0, 0.05, 1.43)),
    "upper_arm": ("clavicle", (-0.01, 0.18, 1.44)),
    "forearm": ("upper_arm", (-0.02, 0.46, 1.44)),
    "hand": ("forearm", (0.0, 0.72, 1.44)),
    "thigh": ("hips", (0.0, 0.09, 0.9)),
    "shank": ("thigh", (0.01, 0.1, 0.48)),
    "foot": ("shank", (-0.02, 0.1, 0.08)),
    "toe": ("foot", (0.11, 0.11, 0.02)),
}
_WORDS: dict[str, dict[str, list[str]]] = {
    "english": {
        "hips": ["Hips", "Pelvis", "Hip"], "spine": ["Spine", "Torso", "Abdomen", "LowerBack"],
        "spine2": ["Spine1", "Chest", "Spine2"], "spine3": ["Spine2", "UpperChest", "Spine3"], "neck": ["Neck"],
        "head": ["Head"], "clavicle": ["Shoulder", "Clavicle", "Collar"], "upper_arm": ["Arm", "UpperArm", "UpArm"],
        "forearm": ["ForeArm", "LowerArm", "Elbow"], "hand": ["Hand", "Wrist"], "thigh": ["UpLeg", "Thigh", "UpperLeg"],
        "shank": ["Leg", "Shin", "Calf", "LowerLeg", "Knee"], "foot": ["Foot", "Ankle"],
        "toe": ["ToeBase", "Toe", "Toes", "Ball"],
    },
    "german": {
        "hips": ["Huefte", "Becken"], "spine": ["Wirbel1", "Bauch"], "spine2": ["Wirbel2"],
        "spine3": ["Brust", "Wirbel3"], "neck": ["Hals"], "head": ["Kopf"], "clavicle": ["Schulter", "Schluesselbein"],
        "upper_arm": ["Oberarm"], "forearm": ["Unterarm"], "hand": ["Hand"], "thigh": ["Oberschenkel"],
        "shank": ["Unterschenkel"], "foot": ["Fuss", "Fuß"], "toe": ["Zehen", "Zeh"],
    },
    "french": {
        "hips": ["Bassin"], "spine": ["Colonne1", "Dos"], "spine2": ["Colonne2"], "spine3": ["Torse", "Poitrine"],
        "neck": ["Cou"], "head": ["Tete", "Tête"], "clavicle": ["Epaule", "Clavicule"], "upper_arm": ["Bras"],
        "forearm": ["AvantBras"], "hand": ["Main"], "thigh": ["Cuisse"], "shank": ["Mollet", "Jambe"],
        "foot": ["Pied"], "toe": ["Orteils"],
    },
    "spanish": {
        "hips": ["Cadera", "Pelvis"], "spine": ["Columna1"], "spine2": ["Columna2"], "spine3": ["Pecho", "Columna3"],
        "neck": ["Cuello"], "head": ["Cabeza"], "clavicle": ["Hombro", "Clavicula"], "upper_arm": ["Brazo"],
        "forearm": ["Antebrazo"], "hand": ["Mano"], "thigh": ["Muslo"], "shank": ["Pantorrilla", "Pierna"],
        "foot": ["Pie"], "toe": ["DedoPie", "PuntaPie"],
    },
    "anatomical": {
        "hips": ["Sacrum", "Pelvis"], "spine": ["Lumbar"], "spine2": ["Thorax"], "spine3": ["Sternum", "UpperThorax"],
        "neck": ["Cervical"], "head": ["Skull", "Cranium"], "clavicle": ["Clavicle", "Scapula"],
        "upper_arm": ["Humerus"], "forearm": ["Radius", "Ulna"], "hand": ["Wrist", "Carpus"], "thigh": ["Femur"],
        "shank": ["Tibia"], "foot": ["Talus"], "toe": ["Hallux", "Metatarsal"],
    },
    # Words of no table: a language Stunt has not been told.
    "finnish": {
        "hips": ["Lantio"], "spine": ["Selka1"], "spine2": ["Selka2"], "spine3": ["Rinta"], "neck": ["Niska"],
        "head": ["Paa"], "clavicle": ["Solisluu"], "upper_arm": ["Olkavarsi"], "forearm": ["Kyynarvarsi"],
        "hand": ["Kasi"], "thigh": ["Reisi"], "shank": ["Saari"], "foot": ["Jalkatera"], "toe": ["Varpaat"],
    },
}  # fmt: skip
_SIDE_WORDS = {
    "english": [("Left", "Right"), ("L", "R"), ("l", "r"), ("left", "right"), ("Lft", "Rgt")],
    "german": [("Links", "Rechts"), ("L", "R"), ("li", "re")],
    "french": [("Gauche", "Droite"), ("G", "D")],
    "spanish": [("Izquierda", "Derecha"), ("Izq", "Der")],
    "anatomical": [("L", "R"), ("left", "right")],
    "finnish": [("Vasen", "Oikea"), ("V", "O")],
}
_PREFIXES = [
    "",
    "",
    "mixamorig:",
    "Character1_",
    "DEF-",
    "Bip01 ",
    "rig_",
    "CC_Base_",
    "ORG-",
    "hero:",
    "J_Bip_",
    "A1_",
]
_SUFFIXES = ["", "", "", "_joint", "_link", "_jnt", "_bone", "_RIGMESH", "_00"]
_GLUE = ["", "_", ".", "-", " "]


def person(rng: np.random.Generator) -> Rig:
    """Make a person's rig: proportions, pose, helpers, order, unit, axes and names as they come."""
    bones = _bones(rng)
    parts = list(bones)
    style = str(rng.choice([*_WORDS, "numbers", "letters"]))
    _add_helpers(bones, rng)
    order = _shuffled(bones, rng)
    names = _names(style, order, rng)
    number = {bone: k for k, bone in enumerate(order)}
    parents = [number.get(bones[bone][0], -1) for bone in order]
    places = np.array([bones[bone][1] for bone in order])
    return Rig(style, names, parents, _moved(places, rng), {part: number[part] for part in parts})


def named(parts: dict[str, int], joints: int, rng: np.random.Generator) -> tuple[str, tuple[str, ...]]:
    """Return a style of naming, and names in it for a skeleton whose joints are these parts."""
    part_of = {joint: part for part, joint in parts.items()}
    order = [part_of.get(joint, f"+helper{joint}") for joint in range(joints)]
    style = str(rng.choice([*_WORDS, "numbers", "letters"]))
    names = _names(style, order, rng)
    return style, tuple(name if names.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(names))


def _bones(rng: np.random.Generator) -> dict[str, tuple[str, Floats]]:
    """Return the bones of a person: some without toes, clavicles or the whole of the spine."""
    wide, long = rng.uniform(0.8, 1.25), rng.uniform(0.85, 1.15)
    shape = np.array([1.0, wide, long])
    bones = {part: (up, np.array(at) * shape) for part, (up, at) in _CORE.items()}
    lean = float(np.radians(rng.choice([0.0, 0.0, 35.0, 50.0, 80.0])))  # T-pose, A-pose, arms hanging
    for sign, side in ((1.0, "l_"), (-1.0, "r_")):
        for part, (up, at) in _SIDE.items():
            place = np.array(at) * shape
            if part in ("forearm", "hand"):
                pivot = np.array(_SIDE["upper_arm"][1]) * shape
                away = place - pivot
                c, s = np.cos(lean), np.sin(lean)
                place = pivot + [away[0], c * away[1] + s * away[2], c * away[2] - s * away[1]]
            bones[side + part] = (up if up in _CORE else side + up, place * [1.0, sign, 1.0])
    for gone, share in ((("toe",), 0.15), (("clavicle",), 0.15)):
        if rng.random() < share:
            for side in ("l_", "r_"):
                _drop(bones, side + gone[0])
    for spare in ("spine2", "spine3"):
        if rng.random() < 0.25:
            _drop(bones, spare)
    noise = {part: rng.normal(0.0, 0.003, 3) for part in bones}  # captured people are not quite symmetric
    return {part: (up, at + noise[part]) for part, (up, at) in bones.items()}


def _drop(bones: dict[str, tuple[str, Floats]], gone: str) -> None:
    up, _ = bones.pop(gone)
    for part, (parent, at) in list(bones.items()):
        if parent == gone:
            bones[part] = (up, at)


def _add_helpers(bones: dict[str, tuple[str, Floats]], rng: np.random.Generator) -> None:
    """Add what rigs have besides: roots, fingers, twists, ends, hip helpers."""
    if rng.random() < 0.4:
        bones["+root"] = ("", np.zeros(3))
        bones["hips"] = ("+root", bones["hips"][1])
    fingers, ends, twists, hips = (rng.random() < share for share in (0.5, 0.4, 0.4, 0.2))
    for sign, side in ((1.0, "l_"), (-1.0, "r_")):
        hand, elbow = bones[side + "hand"][1], bones[side + "forearm"][1]
        out = (hand - elbow) / np.linalg.norm(hand - elbow)
        if fingers:
            for number, finger in enumerate(("Thumb", "Index", "Middle", "Ring", "Pinky")):
                up = side + "hand"
                for knuckle in range(1, 4):
                    aside = np.array([0.03 - 0.015 * number, 0.0, 0.0])
                    name = f"+{side}{finger}{knuckle}"
                    bones[name] = (up, hand + out * (0.06 + 0.03 * knuckle) + aside)
                    up = name
        if twists:
            for start, end in (("upper_arm", "forearm"), ("thigh", "shank"), ("forearm", "hand")):
                middle = 0.5 * (bones[side + start][1] + bones[side + end][1])
                bones[f"+{side}{start}Twist"] = (side + start, middle)
        if ends:
            last = side + ("toe" if side + "toe" in bones else "foot")
            bones[f"+{side}toeEnd"] = (last, bones[last][1] + [0.06, 0.0, 0.0])
        if hips:
            bones[f"+{side}hipHelper"] = ("hips", bones["hips"][1] + [0.0, 0.02 * sign, 0.0])
            bones[side + "thigh"] = (f"+{side}hipHelper", bones[side + "thigh"][1])
    if ends:
        bones["+headEnd"] = ("head", bones["head"][1] + [0.0, 0.0, 0.18])


def _shuffled(bones: dict[str, tuple[str, Floats]], rng: np.random.Generator) -> list[str]:
    """Return the bones depth first, siblings in any order."""
    found: list[str] = []
    pending = [bone for bone, (up, _) in bones.items() if not up]
    while pending:
        bone = pending.pop()
        found.append(bone)
        children = [other for other, (up, _) in bones.items() if up == bone]
        rng.shuffle(children)
        pending += children
    return found


def _names(style: str, order: list[str], rng: np.random.Generator) -> list[str]:
    prefix, suffix = str(rng.choice(_PREFIXES)), str(rng.choice(_SUFFIXES))
    if style == "numbers":
        return [f"{prefix}Bone.{number:03}" for number in range(len(order))]
    if style == "letters":
        return [f"{prefix}{''.join(rng.choice(list('bcdfghjkmnpqstvwxz'), 5))}{suffix}" for _ in order]
    words, (left, right) = _WORDS[style], _SIDE_WORDS[style][int(rng.integers(len(_SIDE_WORDS[style])))]
    chosen = {part: str(rng.choice(some)) for part, some in words.items()}
    glue = str(rng.choice(_GLUE))
    first = rng.random() < 0.5
    if len(left) <= 2 and not glue:
        glue = "_"
    case: Callable[[str], str] = [str, str.lower, str.upper][int(rng.integers(3))] if glue else str
    names = []
    for bone in order:
        bare = bone.removeprefix("+")
        side = {"l_": left, "r_": right}.get(bare[:2], "")
        stem = bare[2:] if side else bare
        word = case(chosen.get(stem, stem))
        named = word if not side else f"{side}{glue}{word}" if first else f"{word}{glue}{side}"
        name, number = f"{prefix}{named}{suffix}", 1
        while name in names:  # spines may be called alike
            name, number = f"{prefix}{named}{number}{suffix}", number + 1
        names.append(name)
    return names


def _moved(places: Floats, rng: np.random.Generator) -> Floats:
    """Return places in another unit and with another axis up."""
    axes = np.eye(3)[[[0, 1, 2], [1, 2, 0]][int(rng.integers(2))]]
    return np.asarray(places @ axes.T * rng.choice([1.0, 100.0, 39.37, 17.7, 1000.0]))


def dog(rng: np.random.Generator) -> Rig:
    """Make a quadruped's rig."""
    long, tall = rng.uniform(0.4, 0.9), rng.uniform(0.3, 0.7)
    bones: dict[str, tuple[str, Floats]] = {
        "hips": ("", np.array([0.0, 0.0, tall])),
        "spine": ("hips", np.array([0.4 * long, 0.0, tall])),
        "chest": ("spine", np.array([0.8 * long, 0.0, tall])),
        "neck": ("chest", np.array([long, 0.0, 1.1 * tall])),
        "head": ("neck", np.array([1.2 * long, 0.0, 1.3 * tall])),
        "tail1": ("hips", np.array([-0.2 * long, 0.0, tall])),
        "tail2": ("tail1", np.array([-0.4 * long, 0.0, 0.8 * tall])),
    }
    for y, side in ((0.1, "l_"), (-0.1, "r_")):
        for x, leg, up in ((0.85 * long, "f", "chest"), (0.0, "h", "hips")):
            for number, height in enumerate((0.95, 0.5, 0.12)):
                name = f"{side}{leg}{number}"
                bones[name] = (up, np.array([x + 0.03 * (-1) ** number, y, height * tall]))
                up = name
    bones = {part: (up, at + rng.normal(0.0, 0.002, 3)) for part, (up, at) in bones.items()}
    order = _shuffled(bones, rng)
    number = {bone: k for k, bone in enumerate(order)}
    words = rng.random() < 0.5
    names = [bone if words else f"Bone{k}" for k, bone in enumerate(order)]
    parents = [number.get(bones[bone][0], -1) for bone in order]
    return Rig("dog", names, parents, _moved(np.array([bones[b][1] for b in order]), rng), {})


def wrong_parts(rig: Rig) -> list[str]:
    """Return the parts that are recognised as something else, or not; of the trunk only hips and head are asked."""
    from stunt.motion.clips.recognise import recognise

    found = recognise(rig.names, rig.parents, rig.places)
    if rig.style == "dog":
        return [] if found.kind == "quadruped" and len(found.legs) == 4 else [found.kind]
    asked = [part for part in rig.truth if part[:2] in ("l_", "r_") or part == "head"]
    return [part for part in asked if found.parts.get(part) != rig.truth[part]]


def main(words: list[str]) -> int:
    """Print how many rigs are recognised, by style, and some that are not."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5)
    args = parser.parse_args(words)
    made, right, shown = Counter[str](), Counter[str](), 0
    missed: dict[str, Counter[str]] = {}
    for number in range(args.count):
        rng = np.random.default_rng([args.seed, number])
        rig = dog(rng) if number % 8 == 0 else person(rng)
        wrong = wrong_parts(rig)
        made[rig.style] += 1
        right[rig.style] += not wrong
        missed.setdefault(rig.style, Counter()).update(part.removeprefix("l_").removeprefix("r_") for part in wrong)
        if wrong and shown < args.show:
            shown += 1
            print(number, rig.style, wrong, rig.names)
    for style, count in sorted(made.items()):
        print(f"{style:12} {right[style]:5} of {count:5} {right[style] / count:7.1%}  {dict(missed[style])}")
    print(f"{'all':12} {sum(right.values()):5} of {args.count:5} {sum(right.values()) / args.count:7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
