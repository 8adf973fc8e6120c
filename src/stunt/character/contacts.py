"""Which parts of one character never touch each other.

MuJoCo skips a body and its parent by itself, but not where the parent is fixed to the world, and not grandparents
whose shapes overlap round a joint. Bodies without a joint count as one with their parent. Those pairs are written out
as `exclude`s, which name bodies of this character only:
they survive attachment under a prefix, and two characters in one scene still collide with each other.
"""

from __future__ import annotations

import itertools

import mujoco

# Beyond neighbours: shapes that overlap in neutral standing, or that flesh would let sink into each other.
_NEAR = (
    ("pelvis", "lumbar"),
    ("pelvis", "thorax"),
    ("waist", "thorax"),
    ("thorax", "head"),
    ("thorax", "{s}upper_arm"),
    ("lumbar", "{s}upper_arm"),
    ("waist", "{s}upper_arm"),
    ("pelvis", "{s}upper_arm"),
    ("waist", "{s}forearm"),
    ("pelvis", "{s}forearm"),
    ("neck", "{s}clavicle"),
    ("head", "{s}clavicle"),
    ("neck", "{s}upper_arm"),
    ("l_clavicle", "r_clavicle"),
    ("lumbar", "{s}clavicle"),
    ("waist", "{s}thigh"),
    ("lumbar", "{s}thigh"),
    ("l_thigh", "r_thigh"),
    ("pelvis", "{s}shank"),
    ("stand", "{s}thigh"),
    ("waist", "stand"),
    ("lumbar", "stand"),
    ("{s}upper_arm", "{s}hand"),
    ("{s}thigh", "{s}foot"),
)


def write_excludes(spec: mujoco.MjSpec, *, all_pairs: bool = False, people: bool = True) -> None:
    """Exclude contacts between neighbours, and near relations of a person.

    Args:
        spec: The character alone.
        all_pairs: Exclude every pair: the character does not collide with itself at all.
        people: Whether the body names are a person's, so that its near relations apply.
    """
    bodies = [body for body in spec.bodies if body.name != "world"]
    names = {body.name for body in bodies}
    if all_pairs:
        pairs = set(itertools.combinations(sorted(names), 2))
    else:
        pairs = _neighbours(bodies)
        if people:
            pairs |= {_pair(a, b) for a, b in _near_pairs() if a in names and b in names}
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


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)


def _near_pairs() -> list[tuple[str, str]]:
    return [(a.replace("{s}", s), b.replace("{s}", s)) for a, b in _NEAR for s in ("l_", "r_")]
