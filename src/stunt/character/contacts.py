"""Which parts of one character never touch each other.

MuJoCo skips a body and its parent by itself, but not where the parent is fixed to the world, and not grandparents
whose shapes overlap round a joint. Bodies without a joint count as one with their parent. Those pairs are written out
as `exclude`s, which name bodies of this character only:
they survive attachment under a prefix, and two characters in one scene still collide with each other.
"""

from __future__ import annotations

import itertools
from typing import Final

import mujoco

CLOSE: Final = 0.002
"""Shapes of a person that are not joined and as near as that in its neutral stance never touch [m]: neck and
collar-bones, ribs and what is above them. Hands, forearms and upper arms hang free, or beside the body: they do."""
_HANGING = ("upper_arm", "forearm", "hand", "shank", "foot", "toe")
_SPINE = ("pelvis", "waist", "lumbar", "spine", "thorax")
_BENDS = (*_SPINE, "neck")
_TRUNK, _ON_TRUNK = (*_SPINE, "neck", "head"), ("thigh", "clavicle")


def write_excludes(spec: mujoco.MjSpec, *, all_pairs: bool = False, people: bool = True) -> None:
    """Exclude contacts between neighbours, and near relations of a person.

    Args:
        spec: The character alone.
        all_pairs: Exclude every pair: the character does not collide with itself at all.
        people: Whether the body names are a person's: what of trunk, neck and shoulders is in each other stays so.
    """
    bodies = [body for body in spec.bodies if body.name != "world"]
    names = {body.name for body in bodies}
    if all_pairs:
        pairs = set(itertools.combinations(sorted(names), 2))
    else:
        pairs = _neighbours(bodies)
        if people:
            pairs |= _grown_together(spec, pairs) | _bending(bodies)
    known = {_pair(exclude.bodyname1, exclude.bodyname2) for exclude in spec.excludes}
    for first, second in sorted(pairs - known):
        spec.add_exclude(bodyname1=first, bodyname2=second)


def _neighbours(bodies: list[mujoco.MjsBody]) -> set[tuple[str, str]]:
    """Return pairs of bodies with at most one joint between them; bodies without a joint are one with their parent."""
    group: dict[str, str] = {}
    inboard: dict[str, str] = {}
    for body in bodies:  # parents come first
        parent = group.get(body.parent.name)
        group[body.name] = body.name if parent is None or len(body.joints) else parent
        if parent is not None:
            inboard.setdefault(group[body.name], parent)
    return {
        _pair(one, two)
        for one, two in itertools.combinations(sorted(group), 2)
        if group[one] == group[two] or inboard.get(group[one]) == group[two] or inboard.get(group[two]) == group[one]
    }


def _bending(bodies: list[mujoco.MjsBody]) -> set[tuple[str, str]]:
    """Return pairs that press on one another where a body bends.

    Those of its spine and neck, collar-bones and neck, others of trunk, thighs and collar-bones with one between them,
    and toes and their own shanks.
    """
    parts = {body.name: body.parent.name for body in bodies if _bare(body.name).startswith((*_TRUNK, *_ON_TRUNK))}
    names = {body.name for body in bodies}
    found = {_pair(f"{side}shank", f"{side}toe") for side in ("l_", "r_") if {f"{side}shank", f"{side}toe"} <= names}
    for one, other in itertools.combinations(parts, 2):
        bends = one.startswith(_BENDS) and other.startswith(_BENDS)
        neck = {_bare(one)[:4], _bare(other)[:4]} == {"neck", "clav"}
        beside = parts[one] == parts[other] in parts and {_bare(one), _bare(other)} != {"thigh"}
        through = parts.get(parts[one]) == other or parts.get(parts[other]) == one
        if bends or neck or beside or through:
            found.add(_pair(one, other))
    return found


def _bare(name: str) -> str:
    return name.removeprefix("l_").removeprefix("r_")


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)


def _grown_together(spec: mujoco.MjSpec, joined: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return pairs of bodies, no limbs, that touch in the stance a person is built in, and are not joined."""
    model = spec.copy().compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    names = [model.body(body).name for body in model.geom_bodyid]
    solid = [g for g in range(model.ngeom) if model.geom_contype[g] and _bare(names[g]) not in _HANGING]
    found = set[tuple[str, str]]()
    for one, other in itertools.combinations(solid, 2):
        pair = _pair(names[one], names[other])
        if pair[0] != pair[1] and pair not in joined and pair not in found:
            if mujoco.mj_geomDistance(model, data, one, other, 2.0 * CLOSE, None) < CLOSE:
                found.add(pair)
    return found
