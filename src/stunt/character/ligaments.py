"""What keeps a person's joints from turning the wrong way: ligaments of knees and elbows, and how far the others go.

A skeleton's joints are balls. Whoever follows a clip never notices, but a rag doll's knee would bend forward or to the
side. Knees and elbows are held as real ones are: by two collateral ligaments from the bending axis to the bone below,
which bending does not stretch but tilting does, and one on the inner side that is taut when the limb is straight. They
are limited tendons: they weigh nothing, and no constraint is solved until they are taut. All joints have a largest turn
away from the reference stance. What the clip itself does is always allowed, and a little more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np

from stunt.character.anthropometry import Floats
from stunt.character.skeleton_plan import BonePlan, Ligament, SkeletonPlan
from stunt.maths.rotations import from_rotation_vector, rotate, to_rotation_vector

REACHES: Final = {
    "thigh": 135.0, "shank": 155.0, "foot": 65.0, "toe": 70.0, "spine": 120.0, "neck": 100.0, "head": 100.0,
    "clavicle": 60.0, "upper_arm": 180.0, "forearm": 165.0, "hand": 95.0,
}  # fmt: skip
"""Largest turn of each part's joint away from the stance, all directions together [°] (see `limits` for the ranges); of
spine, and of neck and head, all bones together. A hanging arm is lifted to where it came from the other way: a shoulder
turns all round."""
CHAINS: Final = (("spine",), ("neck", "head"))
"""Parts whose bones share what they reach."""
MARGIN: Final = np.radians(10.0)
"""So much further than the clip goes a joint may turn [rad]."""
ALL_ROUND: Final = np.radians(175.0)
"""A joint that may turn so far is free."""
OVERSTRETCH: Final = np.radians(5.0)
"""How far a straight knee or elbow gives the wrong way [rad]."""
TILT: Final = {"shank": np.radians(12.0), "forearm": np.radians(20.0)}
"""How far a knee or elbow gives to the side [rad]; with the forearm's longer ligaments it turns by 95° about itself."""
SPREAD: Final = {"shank": 0.045, "forearm": 0.03}
"""How far the collateral ligaments are from the middle [m], on a person of 1.75 m."""
LENGTHS: Final = {"shank": 1.5, "forearm": 3.0}
"""How long they are, in that distance."""
_TALL = 1.75
_CLEAR = 0.7  # cosine: a clip's bending axis farther from the anatomical one is no bending axis
_BENT = np.radians(15.0)  # a clip must bend a joint so far to show its axis
_USUAL = 99.8  # percentile of the frames that count: captures have spikes


def with_limits(plan: SkeletonPlan, turns: Floats) -> SkeletonPlan:
    """Return a plan with the limits of a person's joints, as wide as a clip needs them.

    Args:
        plan: The bones.
        turns: The clip's joint rotations away from the stance, wxyz, (F, B, 4).
    """
    bones, ligaments = list(plan.bones), list[Ligament]()
    for number, bone in enumerate(bones):
        if bone.parent < 0 or bone.part not in REACHES:
            continue
        vectors = to_rotation_vector(turns[:, number])
        farthest = float(np.percentile(np.linalg.norm(vectors, axis=1), _USUAL)) + MARGIN
        reach = max(np.radians(REACHES[bone.part]) / _shared_by(plan, bone.part), farthest)
        bones[number] = replace(bone, reach=reach if reach < ALL_ROUND else None)
        if bone.part in TILT and np.linalg.norm(bone.tip) > 0.05:
            ligaments += _hold(bone, number, vectors, turns[:, number], plan.height / _TALL)
    return replace(plan, bones=tuple(bones), ligaments=tuple(ligaments))


def _shared_by(plan: SkeletonPlan, part: str) -> int:
    """Return among how many bones the reach of a part is shared."""
    chain = next((chain for chain in CHAINS if part in chain), ())
    return max(1, sum(bone.part in chain for bone in plan.bones))


def add_limits(spec: mujoco.MjSpec, plan: SkeletonPlan) -> None:
    """Put a plan's ligaments on a body."""
    for number, ligament in enumerate(plan.ligaments, start=1):
        bone = plan.bones[ligament.bone]
        name = f"{bone.joint}_ligament_{number}"
        tendon = spec.add_tendon(name=name, limited=mujoco.mjtLimited.mjLIMITED_TRUE, range=[0.0, ligament.longest])
        tendon.group = 4  # drawn by nobody
        ends = ((plan.bones[bone.parent].name, ligament.above, "above"), (bone.name, ligament.below, "below"))
        for body, place, end in ends:
            site = spec.body(body).add_site(name=f"{name}_{end}", pos=place, size=[0.004] * 3, group=5)
            tendon.wrap_site(site.name)


def bending_axis(bone: BonePlan, vectors: Floats) -> Floats:
    """Return the axis about which a knee or elbow bends, in the bone's frame in the stance, (3,).

    As the clip shows it, if it bends the joint; else across the bone and the way its end swings: a shank backward, a
    forearm forward.

    Args:
        bone: The bone below the joint.
        vectors: Its rotation vectors away from the stance [rad], (F, 3).
    """
    forward = bone.axes[:, 0] * (-1.0 if bone.part == "shank" else 1.0)
    usual = np.cross(bone.tip, forward)
    usual /= max(float(np.linalg.norm(usual)), 1e-9)
    if np.percentile(np.linalg.norm(vectors, axis=1), 90.0) < _BENT:
        return np.asarray(usual)
    main = np.linalg.svd(vectors, full_matrices=False)[2][0]
    main = main if main @ usual >= 0.0 else -main
    return np.asarray(main if main @ usual > _CLEAR else usual)


def _hold(bone: BonePlan, number: int, vectors: Floats, turns: Floats, size: float) -> list[Ligament]:
    """Return the ligaments of one knee or elbow."""
    axis = bending_axis(bone, vectors)
    along = bone.tip - (bone.tip @ axis) * axis
    along /= np.linalg.norm(along)
    inner = np.cross(axis, along)  # the side to which it bends
    wide = SPREAD[bone.part] * size
    long, tilt = LENGTHS[bone.part] * wide, TILT[bone.part]
    taut = np.sqrt(long**2 + 2.0 * wide**2 * (1.0 - np.cos(tilt)) + 2.0 * long * wide * np.sin(tilt))
    held = [(side * wide * axis, side * wide * axis + long * along, taut) for side in (1.0, -1.0)]
    above, below = wide * (inner - along), wide * (inner + along)
    back = from_rotation_vector(-OVERSTRETCH * axis)
    held.append((above, below, float(np.linalg.norm(rotate(back, below) - above))))
    found = []
    for start, end, longest in held:
        seen = np.linalg.norm(rotate(turns, end) - start, axis=1)
        needed = float(np.percentile(seen, _USUAL)) + MARGIN * wide
        # In the stance the bone's frame lies on its parent's, turned by it.
        origin = bone.origin + rotate(bone.stance, start)
        found.append(Ligament(number, origin, end, max(longest, needed)))
    return found
