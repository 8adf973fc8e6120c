"""Tension in units people understand: a word or level from relaxed to braced, seconds to come back, or N·m/rad.

A level is scaled by the joint it is for. Relaxed (0) is what just holds the joint's own limb up in any pose and lets it
come back in its own slow time; braced (1) brings the joint to its full strength within a few degrees. Levels in between
are spaced by ratio, because that is how stiffness is felt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

import mujoco
import numpy as np

from stunt.character.character import Character, Joint
from stunt.control.beat.law import TIME_CONSTANTS
from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError

Unit = Literal["level", "stiffness", "seconds"]

WORDS: Final = {
    "relaxed": 0.0, "loose": 0.15, "easy": 0.3, "alert": 0.5, "firm": 0.65, "tight": 0.85, "braced": 1.0,
}  # fmt: skip
"""Levels by name."""
SLOWEST: Final = 1.5
"""Seconds in which a relaxed joint comes back."""
BRACED_GIVE: Final = 0.25
"""How far a braced joint gives before it is at its full strength [rad]."""
UPRIGHT, HANGING = 1.2, 0.6
"""Stiffness of a relaxed joint against how much gravity's pull on it grows per radian: where its load stands on it
(trunk, head, legs), and where its load hangs from it (an arm, which gravity itself steadies).
"""
MOST_STIFFNESS: Final = 1e6
_BENT = 0.3
_MEASURE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*(N[·.* ]?m/rad|s)\s*\Z")
_EXPECTED = f"a level from 0 (relaxed) to 1 (braced), one of {', '.join(WORDS)}, '40 N·m/rad', or '0.4 s' to come back"


@dataclass(frozen=True)
class Tension:
    """How tightly a joint is held."""

    amount: float  #: The number
    unit: Unit = "level"  #: `level` (0–1), `stiffness` [N·m/rad] or `seconds` (to come back)

    def __str__(self) -> str:
        return {"level": "{:g}", "stiffness": "{:g} N·m/rad", "seconds": "{:g} s"}[self.unit].format(self.amount)


def tension_of(value: object, place: Place = NOWHERE) -> Tension:
    """Make a tension of a word, a level, or a number with its unit.

    Raises:
        UnknownNameError: No such word.
        InvalidValueError: An impossible tension: negative, beyond braced, not a number.
    """
    if isinstance(value, Tension):
        return _checked(value, value, place)
    if isinstance(value, str):
        match = _MEASURE.match(value)
        if match is not None:
            return _checked(Tension(float(match[1]), "seconds" if match[2] == "s" else "stiffness"), value, place)
        if re.match(r"[a-z_]+\Z", value):
            if value not in WORDS:
                raise UnknownNameError("tension", value, WORDS, place)
            return Tension(WORDS[value])
        raise InvalidValueError("tension", value, _EXPECTED, place)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValueError("tension", value, _EXPECTED, place)
    return _checked(Tension(float(value)), value, place)


def _checked(tension: Tension, written: object, place: Place) -> Tension:
    low, high = {"level": (0.0, 1.0), "stiffness": (0.0, MOST_STIFFNESS), "seconds": (0.005, 3600.0)}[tension.unit]
    if not low <= tension.amount <= high:  # also catches NaN
        raise InvalidValueError("tension", str(written), _EXPECTED, place)
    return tension


@dataclass(frozen=True)
class JointScale:
    """What one joint's tension is measured by."""

    moment: float  #: Moment of inertia it turns in the neutral pose [kg·m²]
    pull: float  #: How much gravity's torque on it can grow per radian [N·m/rad]
    strength: float  #: Peak torque [N·m]; infinite where the body does not say
    holds: float = HANGING  #: How many times that pull a relaxed joint holds

    @property
    def upright(self) -> bool:
        """Whether the joint's load stands on it."""
        return self.holds == UPRIGHT

    @property
    def relaxed(self) -> float:
        """Stiffness at level 0 [N·m/rad]."""
        return max(self.moment * (TIME_CONSTANTS / SLOWEST) ** 2, self.holds * self.pull)

    @property
    def braced(self) -> float:
        """Stiffness at level 1 [N·m/rad]."""
        strong = self.strength / BRACED_GIVE
        if not np.isfinite(strong):
            strong = self.moment * (TIME_CONSTANTS / 0.1) ** 2
        return max(strong, 2.0 * self.relaxed)

    def stiffness(self, tension: Tension) -> float:
        """Return a tension as stiffness [N·m/rad]."""
        if tension.unit == "stiffness":
            return tension.amount
        if tension.unit == "seconds":
            return self.moment * (TIME_CONSTANTS / tension.amount) ** 2
        return float(self.relaxed * (self.braced / self.relaxed) ** tension.amount)

    def level(self, stiffness: float) -> float:
        """Return the level of a stiffness; below 0 it is looser than relaxed."""
        return float(np.log(max(stiffness, 1e-12) / self.relaxed) / np.log(self.braced / self.relaxed))


def joint_scales(model: mujoco.MjModel, character: Character) -> dict[str, JointScale]:
    """Return the scale of every joint of a character, from its neutral pose."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    diagonal = data.M[model.M_rowadr + model.M_rownnz - 1]
    return {name: _scale(model, data, character, joint, diagonal) for name, joint in character.joints.items()}


def _scale(
    model: mujoco.MjModel, data: mujoco.MjData, character: Character, joint: Joint, diagonal: np.ndarray
) -> JointScale:
    body = int(model.jnt_bodyid[joint.id])
    mass, center = float(model.body_subtreemass[body]), data.subtree_com[body]
    moment = float(diagonal[joint.dof : joint.dof + joint.nv].mean())
    holds = UPRIGHT if center @ -model.opt.gravity > data.xanchor[joint.id] @ -model.opt.gravity else HANGING
    if character.root is not None and _is_leg(model, character, body):
        # Standing, a leg's joint carries its half of everything above it.
        above = character.mass - mass
        whole = data.subtree_com[character.root_body] * character.mass
        center, mass, holds = (whole - mass * center) / above, above / 2.0, UPRIGHT
    lever = float(np.linalg.norm(center - data.xanchor[joint.id]))
    if joint.kind == "slide":
        return JointScale(moment, mass, joint.strength, holds)
    if joint.kind == "hinge":
        # About a hinge only what lies off its axis pulls; of what lies along it, a part once outer joints are bent.
        axis = data.xaxis[joint.id]
        off = float(np.linalg.norm(np.cross(axis, center - data.xanchor[joint.id])))
        lever = max(off, _BENT * lever)
    return JointScale(moment, mass * float(np.linalg.norm(model.opt.gravity)) * lever, joint.strength, holds)


def _is_leg(model: mujoco.MjModel, character: Character, body: int) -> bool:
    """Whether a body is part of a limb that ends in a foot."""
    feet = [id_ for name, id_ in character.bodies.items() if name.endswith("foot")]
    for foot in feet:
        while foot > character.root_body:
            if foot == body:
                return True
            foot = int(model.body_parentid[foot])
    return False
