"""Peak joint torques of people, from the literature, and how they scale with the person.

One number per joint: the stronger of its two directions, isometric, at the best angle, of a young adult. MuJoCo's
`actfrcrange` takes it symmetrically. Torque grows with mass × height (Anderson, Madigan & Nussbaum 2007 normalise so).
"""

from __future__ import annotations

from dataclasses import dataclass

from stunt.character.anthropometry import TABLES, Sex
from stunt.character.limits import stem


@dataclass(frozen=True)
class Peak:
    """Peak torque of one joint [N·m] in the mean man and woman of the tables, and who measured it."""

    male: float
    female: float
    source: str


_ANDERSON = "Anderson et al. 2007"
_SALE = "Sale et al. 1982; Fugl-Meyer et al. 1980"
_SUGIMOTO = "Sugimoto et al. 2014"
_ROTATORS = "estimate, 0.65 of abduction"
_FONSECA = "da Fonseca et al. 2025"
_CHAFFIN = "Stobbe 1982, in Chaffin & Andersson"
_TWIST = "Kumar 1996; McGill & Hoodless 1990"
_VASAVADA = "Vasavada et al. 2001"
_DELP = "Delp et al. 1996"
_ASKEW = "Askew et al. 1987"
_SHRUG = "shrug force × clavicle length"

PEAKS: dict[str, Peak] = {
    "pelvis_tilt": Peak(234, 184, _CHAFFIN),
    "lumbar_flexion": Peak(234, 184, _CHAFFIN),
    "lumbar_bend": Peak(159, 94, _CHAFFIN),
    "lumbar_rotation": Peak(95, 58, _TWIST),
    "thorax_flexion": Peak(234, 184, _CHAFFIN),
    "thorax_bend": Peak(159, 94, _CHAFFIN),
    "thorax_rotation": Peak(95, 58, _TWIST),
    "neck_flexion": Peak(52, 21, _VASAVADA),
    "neck_bend": Peak(36, 16, _VASAVADA),
    "neck_rotation": Peak(15, 6, _VASAVADA),
    "head_nod": Peak(30, 15, _VASAVADA),
    "clavicle_elevation": Peak(90, 55, _SHRUG),
    "clavicle_protraction": Peak(90, 55, _SHRUG),
    "shoulder_flexion": Peak(92, 40, _CHAFFIN),
    "shoulder_abduction": Peak(71, 37, _CHAFFIN),
    "shoulder_rotation": Peak(52, 21, _CHAFFIN),
    "elbow_flexion": Peak(77, 41, _CHAFFIN),
    "forearm_pronation": Peak(8.9, 4.3, _ASKEW),
    "wrist_flexion": Peak(12.2, 7.8, _DELP),
    "wrist_deviation": Peak(11.0, 7.0, _DELP),
    "hip_flexion": Peak(201, 191, _ANDERSON),
    "hip_abduction": Peak(94, 70, _SUGIMOTO),
    "hip_rotation": Peak(61, 46, _ROTATORS),
    "knee_flexion": Peak(203, 168, _ANDERSON),
    "ankle_flexion": Peak(171, 111, _SALE),
    "ankle_inversion": Peak(35, 25, _FONSECA),
}

# A muscle resists being moved even when it does not pull; about 2 ms of its peak torque per radian per second.
DAMPING_TIME = 0.002
# Reflected inertia of tendons and flesh. It keeps the lightest joints (wrist, nod) well-conditioned at 120 Hz.
ARMATURE_PER_STRENGTH = 5e-5


def peak_torque(joint: str, sex: Sex, height: float, mass: float) -> float:
    """Peak torque of a joint [N·m] in a person of that sex, height [m] and mass [kg]."""
    peak = PEAKS[stem(joint)]
    table = TABLES[sex]
    return (peak.male if sex == "male" else peak.female) * (height * mass) / (table.height * table.mass)
