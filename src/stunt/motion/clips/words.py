"""Words in the names of joints: sides anywhere in a name, parts in several languages, and what is no part at all.

A name is cut into words (`mixamorig:LeftUpLeg` → left, up, leg; `leg_joint_L_1` → leg, joint, l, 1). Which words are
sides is told by pairs: a word means left where the same name with its counterpart exists too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LEG = ("thigh", "shank", "foot", "toe")
ARM = ("clavicle", "upper_arm", "forearm", "hand")

SIDES: Final = (
    ("left", "right"), ("l", "r"), ("lft", "rgt"), ("lt", "rt"), ("lf", "rt"), ("lhs", "rhs"),
    ("links", "rechts"), ("linker", "rechter"), ("linke", "rechte"), ("linkes", "rechtes"), ("li", "re"),
    ("gauche", "droite"), ("gauche", "droit"), ("g", "d"),
    ("izquierda", "derecha"), ("izquierdo", "derecho"), ("izq", "der"), ("i", "d"),
    ("sinistra", "destra"), ("sinistro", "destro"), ("sx", "dx"), ("sin", "des"), ("s", "d"),
    ("esquerda", "direita"), ("esquerdo", "direito"), ("esq", "dir"), ("e", "d"),
    ("hidari", "migi"), ("左", "右"), ("zuo", "you"), ("lewa", "prawa"), ("lewy", "prawy"), ("лев", "прав"),
)  # fmt: skip
"""Words for left and right that go together."""

# How surely a word means a part. Where a name means two things (`shoulder`, `hip`, `leg`, `foot`) the chain it stands
# in decides: parts of a limb follow one another.
_SURE, _LIKELY, _PERHAPS = 1.0, 0.8, 0.4
_PARTS: Final[Mapping[str, Mapping[float, str]]] = {
    "thigh": {
        _SURE: "upleg upperleg thigh femur thighbend uplegjoint upperlegs legupper hipleg"
        " oberschenkel cuisse muslo coscia coxa bovenbeen udo daitai 大腿 太もも 足 бедро",
        _LIKELY: "hip hanche anca huefte hufte hueft heup biodro",
        _PERHAPS: "leg bein jambe pierna gamba perna been noga 脚 legs нога",
    },
    "shank": {
        _SURE: "lowleg lowerleg leglower shank shin tibia calf knee fibula"
        " unterschenkel schienbein wade knie mollet genou pantorrilla espinilla rodilla polpaccio ginocchio"
        " panturrilha canela joelho onderbeen golen kolano 小腿 ひざ 膝 голень колено",
        _LIKELY: "leg jambe pierna gamba perna",
    },
    "foot": {
        _SURE: "foot ankle talus calcaneus heel fuss fus fusz pied cheville pie tobillo piede caviglia pe tornozelo"
        " voet stopa kostka knoechel 足首 脚腕 脚掌 ступня feet footroot",
    },
    "toe": {
        _SURE: "toebase toe toes ball hallux metatarsal metatarsals toe0 football toebone"
        " zeh zehe zehen orteil orteils dedopie puntapie dedosdelpie dita punta dedosdope teen palce つま先 脚尖 носок",
        _PERHAPS: "foot pied fuss pie piede",
    },
    "clavicle": {
        _SURE: "clavicle collar collarbone clav scapula"
        " schluesselbein schlusselbein clavicule clavicula clavicola sleutelbeen obojczyk 肩 ключица",
        _LIKELY: "shoulder schulter epaule hombro spalla ombro schouder bark shoulderblade плечо",
    },
    "upper_arm": {
        _SURE: "upperarm humerus uparm armupper shldr shldrbend uppergarm"
        " oberarm hautbras bovenarm ramie 腕 上臂 大臂",
        _LIKELY: "arm bras brazo braccio braco 手臂",
        _PERHAPS: "shoulder schulter epaule hombro spalla ombro schouder плечо",
    },
    "forearm": {
        _SURE: "forearm lowerarm lowarm armlower elbow radius ulna forearmbend"
        " unterarm ellbogen ellenbogen avantbras coude antebrazo codo avambraccio gomito antebraco cotovelo"
        " onderarm elleboog przedramie lokiec ひじ 肘 前臂 小臂 предплечье локоть",
    },
    "hand": {
        _SURE: "hand wrist palm carpus handgelenk main poignet mano muneca polso mao pulso pols dlon nadgarstek"
        " 手首 手 手腕 手掌 кисть",
    },
    "hips": {
        _SURE: "hips pelvis sacrum pelvic becken bassin caderas cadera bacino quadril bekken miednica 下半身 骨盆 таз"
        " hip huefte hufte hanches waistroot lowerbody",
    },
    "spine": {
        _SURE: "spine chest torso thorax abdomen lowerback upperback back waist lumbar upperchest abdomenlower"
        " abdomenupper chestlower chestupper ribs ribcage belly stomach upperbody sternum spinebase spinemid"
        " wirbelsaeule wirbelsaule wirbel brust bauch ruecken rucken colonne torse dos poitrine columna espalda pecho"
        " colonna schiena petto torace coluna costas peito wervelkolom borst kregoslup 上半身 脊柱 脊椎 胸 腰 spina"
        " позвоночник грудь trunk",
    },
    "neck": {
        _SURE: "neck lowerneck upperneck necklower neckupper cervical hals nacken cou cuello collo pescoco nek szyja"
        " 首 脖子 шея",
    },
    "head": {_SURE: "head skull cranium kopf tete cabeza testa cabeca hoofd glowa 頭 头 голова"},
}  # fmt: skip

HELPERS: Final = frozenset(
    "twist twister helper end nub tip top ik fk pole target ctrl control metacarpal carpal thumb index middle ring"
    " pinky little finger fingers eye eyes jaw tongue brow eyebrow lip hair breast bust boob skirt cape cloth weapon"
    " prop attach socket corrective muscle bicep tricep deltoid pectoral pec lat trap glute bend roll rolltwist volume"
    " site daumen zeigefinger finger pouce pulgar pollice offset null dummy camera light lookat gaze ear nose mouth"
    " teeth cheek eyelid lid hat helmet bag tail wing"
    " armroll legroll foretwist uptwist".split()
)
"""Words of joints that are no part of a person: they follow what they hang on."""
_AXES: Final = frozenset("pitch roll yaw flexion abduction rotation rx ry rz tx ty tz x y z".split())
_NOISE: Final = frozenset(
    "joint joints jnt jt link bone bones bip def org mch rig ctr geo mesh rigmesh skel skeleton character actor biped"
    " mixamorig mixamo b j bn sk skin root cc base ccbase valvebiped avatar armature part body seg segment main anim"
    " bind deform export human humanoid male female no0 st".split()
)


def cut(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case, without accents; numbers are words."""
    bare = re.sub(r"^.*[:|/]", "", name) or name
    # Accents go, other scripts stay; a sharp s and a ligature become letters.
    flat = unicodedata.normalize("NFKD", bare.replace("ß", "ss"))
    flat = unicodedata.normalize("NFKC", "".join(c for c in flat if not "\u0300" <= c <= "\u036f"))
    found: list[str] = []
    for piece in re.findall(r"[^\W\d_]+|\d+", flat):
        if not piece.isascii() and piece[:1] in "左右":
            found += [piece[0], piece[1:]] if piece[1:] else [piece]
        else:
            found += re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+", piece)
    return tuple(word.lower() for word in found)


@dataclass(frozen=True)
class Read:
    """A joint's name, read.

    Attributes:
        side: `l_`, `r_` or nothing.
        scores: How surely it means each part, without side (`thigh`, `spine`).
        helper: Whether a word says that it is no part.
        limb: `leg` or `arm`, where a word says no more than that.
        axis: Whether it is one of several hinges in a row (`hip_pitch`).
    """

    side: str
    scores: Mapping[str, float]
    helper: bool
    axis: bool


def read_names(names: Sequence[str]) -> list[Read]:
    """Read the names of a skeleton's joints, all together: what they share says nothing."""
    pieces = [cut(name) for name in names]
    shared = _shared(pieces)
    pieces = _with_sides_apart([_without_prefix(words, shared) for words in pieces])
    sides = _sides(pieces)
    robot = sum(bool({"pitch", "yaw"} & set(words)) for words in pieces) >= 3
    return [_read(words, side, robot) for words, side in zip(pieces, sides, strict=True)]


def _shared(pieces: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the words that nearly all names begin with: the actor's or the rig's."""
    shared: tuple[str, ...] = ()
    for length in range(1, 5):
        starts = [words[:length] for words in pieces if len(words) > length]
        best = max(set(starts), key=lambda start: (starts.count(start), start), default=())
        if not best or starts.count(best) < max(5, 0.7 * len(pieces)) or best[-1] in _SIDE_WORDS:
            break
        shared = best
    return shared


def _without_prefix(words: tuple[str, ...], shared: tuple[str, ...]) -> tuple[str, ...]:
    return words[len(shared) :] if shared and words[: len(shared)] == shared and len(words) > len(shared) else words


def _with_sides_apart(pieces: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Cut a side off the word it is glued to (`femurleft`), where the same word with the other side is there too."""
    known = {word for words in pieces for word in words}
    for left, right in SIDES:
        if min(len(left), len(right)) < 4:
            continue
        for side, other in ((left, right), (right, left)):
            for word in [some for some in known if side in some and some != side]:
                if word.endswith(side) and word.removesuffix(side) + other in known:
                    cut_word = (word.removesuffix(side), side)
                elif word.startswith(side) and other + word.removeprefix(side) in known:
                    cut_word = (side, word.removeprefix(side))
                else:
                    continue
                pieces = [tuple(p for w in words for p in (cut_word if w == word else (w,))) for words in pieces]
    return pieces


# ---- sides


def _sides(pieces: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the side of each name: by the pair of words that most names have in exchange for one another."""
    known = set(pieces)
    votes: dict[tuple[str, str], int] = {}
    for left, right in SIDES:
        votes[left, right] = sum(
            (*words[:k], right, *words[k + 1 :]) in known
            for words in pieces
            for k, word in enumerate(words)
            if word == left
        )
    best = max(votes, key=lambda pair: votes[pair])
    if votes[best] >= 2:
        return [next((("l_", "r_")[w == best[1]] for w in words if w in best), "") for words in pieces]
    glued = _glued(pieces)
    if glued is not None:
        return glued
    # A skeleton of one side, or with names that do not match: the plain words alone.
    plain = {"left": "l_", "l": "l_", "right": "r_", "r": "r_"}
    return [next((plain[word] for word in words if word in plain), _letter("".join(words))) for words in pieces]


def _letter(text: str) -> str:
    """Return the side that a letter in front of a known word says: `lfemur`."""
    return f"{text[0]}_" if text[:1] in ("l", "r") and text[1:] in _SCORES else ""


def _glued(pieces: Sequence[tuple[str, ...]]) -> list[str] | None:
    """Return sides by a letter at the beginning or end of a word (`lfemur`, `thighr`); None where there are none."""
    known = {"".join(words) for words in pieces}
    for first in (True, False):
        sides, count = [], 0
        for words in pieces:
            text = "".join(words)
            letter, rest = (text[:1], text[1:]) if first else (text[-1:], text[:-1])
            other = {"l": "r", "r": "l"}.get(letter, "")
            twin = other + rest if first else rest + other
            paired = bool(other) and len(rest) >= 3 and twin in known
            sides.append(f"{letter}_" if paired else "")
            count += paired
        if count >= 4:
            return sides
    return None


# ---- parts


def _scores() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for part, words in _PARTS.items():
        for score, text in words.items():
            for word in text.split():
                found.setdefault(word, {}).setdefault(part, score)
    return found


_SCORES: Final = _scores()
_SIDE_WORDS: Final = frozenset(word for pair in SIDES for word in pair)


def _read(words: tuple[str, ...], side: str, robot: bool) -> Read:
    plain = [word for word in words if not word.isdigit()]
    bare = [word for word in plain if not (side and word in _SIDE_WORDS)] or plain
    helper = any(word in HELPERS and not (robot and word in _AXES) for word in bare)
    axis = robot and any(word in _AXES for word in bare)
    bare = [word for word in bare if word not in _AXES] if robot else bare
    meant = [word for word in bare if word not in _NOISE] or bare
    return Read(side, {} if helper else _meaning(meant, side), helper, axis)


def _meaning(words: Sequence[str], side: str) -> Mapping[str, float]:
    """Return what words mean together, or the longest run of them that means anything."""
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            stem = "".join(words[start : start + length])
            for text in (stem, stem[1:] if side and stem[:1] == side[0] else stem, stem.removesuffix("s")):
                if text in _SCORES:
                    share = 1.0 if length == len(words) else 0.7
                    return {part: score * share for part, score in _SCORES[text].items()}
            if side and stem[:-1] in _SCORES and stem[-1] == side[0]:
                return _SCORES[stem[:-1]]
    return {}
