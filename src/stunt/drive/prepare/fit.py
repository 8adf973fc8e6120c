"""A motion fitted to a body: what it asks for becomes what that body can do, on the floor. Pure kinematics.

Joints are kept inside their limits, limbs kept out of one another, and feet that stand made to stand. Whoever plays or
follows a motion asks here; what was changed is written down. It is worked out once for a body and a motion, by their
content.

Played as data, feet are only kept out of the floor. Standing ones are put down over some hundredths of a second, which
under forces nobody sees; on data it drags clean feet by two or three centimetres as they land. A body whose legs hang
on hinges has other bones than any clip, and what was brought to it hovers and sinks by more: its feet are planted.

Limits: hinges have a range, balls a largest turn away from the stance. A body built from a clip's own skeleton has room
for that clip and more (`stunt.character.ligaments`): only other clips are ever cut. Ligaments are left to
physics: they give by some degrees before they hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.leg_kernel import leg_chains_of
from stunt.drive.feet.plant import clear_feet, lift_soles, plant_feet, raised_by
from stunt.drive.motion.body_motion import BodyMotion, repeated_rounds
from stunt.drive.prepare.apart import Overlap, limbs_apart
from stunt.drive.prepare.content import KnownByContent, digest
from stunt.maths import rotations
from stunt.motion.rig.other_body import sole_geoms

Feet = Literal["planted", "clear", "out of the floor"]
AROUND: Final = 1.0
"""Seconds of other rounds before and after one that tell what becomes of it."""
SHOWN: Final = 5
"""So many overlaps, or joints beyond their limits, are told at most."""


@dataclass(frozen=True)
class Changes:
    """What fitting a motion changed.

    Attributes:
        limits_deg: Largest turn a joint was beyond its limits by [°].
        beyond: Joints that were, the farthest first.
        overlap_cm: Deepest overlap of limbs, beyond what flesh gives [cm].
        overlaps: Which limbs, and when, the deepest first.
        left_cm: What is left of it [cm].
        apart_deg: Largest turn of a joint to get out of it [°].
        feet_cm: Farthest a foot was moved [cm].
        feet_mean_cm: On the mean over legs and frames [cm].
        foot: Which was moved farthest.
        hips_cm: Farthest the hips were raised or lowered [cm].
    """

    limits_deg: float = 0.0
    beyond: tuple[str, ...] = ()
    overlap_cm: float = 0.0
    overlaps: tuple[Overlap, ...] = ()
    left_cm: float = 0.0
    apart_deg: float = 0.0
    feet_cm: float = 0.0
    feet_mean_cm: float = 0.0
    foot: str = ""
    hips_cm: float = 0.0

    def between(self, start: float, end: float) -> Changes:
        """Return it with the overlaps that begin between two times [s], counted from the first of them."""
        own = (overlap for overlap in self.overlaps if start <= overlap.start_s + 1e-9 < end)
        shifted = (replace(one, start_s=one.start_s - start, end_s=one.end_s - start) for one in own)
        return replace(self, overlaps=tuple(shifted))

    def to_data(self) -> dict[str, Any]:
        """Return it as a report has it: four digits, and of overlaps and joints the worst few."""
        few = replace(self, overlaps=(), beyond=self.beyond[:SHOWN])
        return _plain(few) | {"overlaps": [_plain(overlap) for overlap in self.overlaps[:SHOWN]]}

    def sentences(self) -> list[str]:
        """Say in words what was changed, with units; nothing where nothing was."""
        found = list[str]()
        if self.beyond:
            found.append(f"joints up to {self.limits_deg:.1f}° beyond their limits ({', '.join(self.beyond[:SHOWN])})")
        found += [
            f"limbs {overlap.deep_cm:.1f} cm inside each other {overlap.when} ({overlap.one} in {overlap.other})"
            for overlap in self.overlaps[:SHOWN]
        ]
        if (more := len(self.overlaps) - SHOWN) > 0:
            found.append(f"{more} more such overlaps")
        if self.overlaps:
            found.append(f"joints turned by up to {self.apart_deg:.1f}° to take them apart, {self.left_cm:.1f} cm left")
        if max(self.feet_cm, self.hips_cm) >= 0.05:
            feet = f"feet moved by up to {self.feet_cm:.1f} cm ({self.foot}), {self.feet_mean_cm:.1f} cm on the mean"
            found.append(f"{feet}; hips by up to {self.hips_cm:.1f} cm")
        return found


def _plain(record: Changes | Overlap) -> dict[str, Any]:
    short: dict[type, Callable[[Any], Any]] = {float: lambda value: round(value, 4), tuple: list}
    return {name: short.get(type(value), lambda same: same)(value) for name, value in asdict(record).items()}


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """A motion a body can do.

    Attributes:
        motion: It.
        free: It before its feet were planted.
        stands: Which leg (see `legs_of`) stands in which frame, (F, legs): the plan of contacts.
        changes: What was changed.
    """

    motion: BodyMotion
    free: BodyMotion
    stands: NDArray[np.bool_]
    changes: Changes


_KNOWN = KnownByContent[FittedMotion](48)


def fit_motion(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet = "planted") -> FittedMotion:
    """Return a motion as a body can do it; of a looping one a round that goes on into itself.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        feet: Whether standing feet are planted, swinging ones are lifted besides where they pass the floor too low, or
            feet are but kept out of the floor, for a motion that is played (on legs with hinges they are planted).
    """
    key = digest(model, character, motion, "fit", feet)
    return _KNOWN.get(key, lambda: _fitted(model, character, motion, feet))


def rounds_around(motion: BodyMotion) -> int:
    """Return how many rounds before and after one tell what becomes of it; 0 of a motion that does not loop."""
    return math.ceil(AROUND / motion.duration) if motion.loop and motion.duration > 0.0 else 0


def _fitted(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet) -> FittedMotion:
    around, cycle = rounds_around(motion), len(motion.qpos) - 1
    if around == 0:
        return _fitted_once(model, character, motion, feet)
    long = _fitted_once(model, character, repeated_rounds(motion, 2 * around + 1), feet)
    one = slice(around * cycle, (around + 1) * cycle + 1)
    at, facing = motion.qpos[0, :2], motion.heading
    laid, free = (
        replace(motion, qpos=some.qpos[one]).placed((float(at[0]), float(at[1])), facing)
        for some in (long.motion, long.free)
    )
    start = around * motion.duration
    return FittedMotion(laid, free, long.stands[one], long.changes.between(start, start + motion.duration))


def _fitted_once(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet) -> FittedMotion:
    legs = legs_of(model, character, sole_geoms(model, character))
    limited, beyond = within_limits(character, motion)
    apart = limbs_apart(model, character, limited, clear=feet != "out of the floor")
    free, up = apart.motion, np.zeros(len(motion.qpos))
    ground = feet != "out of the floor" and bool(legs)  # where no foot is known none tells the floor
    soles = set(sole_geoms(model, character))
    if ground:
        up = raised_by(model, character, free, soles)
        free = free.lifted(up)
    planted = plant_feet(model, character, free, legs)
    if ground:  # putting feet down takes the body along
        more = raised_by(model, character, planted.motion, soles)
        planted, up = replace(planted, motion=planted.motion.lifted(more)), up + more
    elif len(leg_chains_of(model, character).chains[0]) > 0:
        planted = replace(planted, motion=lift_soles(model, character, free), moved=0.0 * planted.moved)
        planted = replace(planted, raised=0.0 * planted.raised)
    whole = clear_feet(model, character, planted.motion, legs) if feet == "clear" else planted.motion
    farthest = planted.moved.max(axis=0) if len(planted.moved) else np.zeros(len(legs))
    names = {body: name for name, body in character.bodies.items()}
    changes = Changes(
        limits_deg=math.degrees(max(beyond.values(), default=0.0)),
        beyond=tuple(sorted(beyond, key=lambda name: -beyond[name])), overlap_cm=100.0 * apart.deepest,
        overlaps=apart.overlaps, left_cm=100.0 * apart.left, apart_deg=math.degrees(apart.turned),
        feet_cm=100.0 * float(planted.moved.max(initial=0.0)),
        feet_mean_cm=100.0 * float(planted.moved.mean()) if legs else 0.0,
        foot=names[character.root_body + legs[int(farthest.argmax())].foot] if farthest.any() else "",
        hips_cm=100.0 * float(np.abs(planted.raised + up).max()),
    )  # fmt: skip
    return FittedMotion(whole, free, planted.stands, changes)


def within_limits(character: Character, motion: BodyMotion) -> tuple[BodyMotion, dict[str, float]]:
    """Return a motion inside its joints' limits (the same one if it is), and the largest turns taken off [rad].

    Args:
        character: Who.
        motion: What it does.
    """
    assert character.root is not None  # only free characters follow clips
    qpos, beyond = motion.qpos, dict[str, float]()
    for joint in character.joints.values():
        if joint.range is None or joint.kind == "slide":
            continue
        columns = slice(joint.qpos - character.root.qpos, joint.qpos - character.root.qpos + joint.nq)
        values = motion.qpos[:, columns]
        if joint.kind == "ball":
            vectors = rotations.to_rotation_vector(values)
            angle = np.linalg.norm(vectors, axis=1)
            over = angle - joint.range[1]
            share = joint.range[1] / np.maximum(angle, 1e-9)
            cut = rotations.from_rotation_vector(np.minimum(share, 1.0)[:, None] * vectors)
        else:
            over = np.maximum(values - joint.range[1], joint.range[0] - values)[:, 0]
            cut = np.clip(values, *joint.range)
        if (over > 1e-6).any():
            qpos = qpos.copy() if qpos is motion.qpos else qpos
            qpos[:, columns] = np.where((over > 1e-6)[:, None], cut, values)
            beyond[joint.name] = float(over.max())
    return (motion if qpos is motion.qpos else replace(motion, qpos=qpos)), beyond
