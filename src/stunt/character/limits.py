"""How far a human joint turns, and which way: axes, signs and ranges of motion.

Zero is standing upright with the arms hanging, palms to the thighs, and every range contains it. Ranges follow the
American Academy of Orthopaedic Surgeons (Greene & Heckman, 1994), Kapandji and, for the spine, White & Panjabi,
widened to the mobility of a trained performer (NASA-STD-3000, 95th percentile) where stage gestures need it.
"""

from __future__ import annotations

from dataclasses import dataclass

FORWARD = (0.0, -1.0, 0.0)  # a hanging segment swings forward
BOW = (0.0, 1.0, 0.0)  # a standing segment tips forward
LEFTWARD = (-1.0, 0.0, 0.0)  # a standing segment tips to its left
TURN_LEFT = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class JointRange:
    """One hinge of a person."""

    #: Axis on the left side or in the middle of the body, in the frame of neutral standing.
    axis: tuple[float, float, float]
    low: float  #: Smallest angle [deg]
    high: float  #: Largest angle [deg]
    positive: str  #: What a positive angle does


MOTIONS: dict[str, JointRange] = {
    "pelvis_tilt": JointRange(BOW, -25, 35, "trunk bows over the pelvis"),
    "lumbar_flexion": JointRange(BOW, -30, 65, "bows forward"),
    "lumbar_bend": JointRange(LEFTWARD, -35, 35, "leans to the left"),
    "lumbar_rotation": JointRange(TURN_LEFT, -45, 45, "turns to the left"),
    "thorax_flexion": JointRange(BOW, -25, 40, "bows forward"),
    "thorax_bend": JointRange(LEFTWARD, -25, 25, "leans to the left"),
    "thorax_rotation": JointRange(TURN_LEFT, -35, 35, "turns to the left"),
    "neck_flexion": JointRange(BOW, -60, 50, "bows forward"),
    "neck_bend": JointRange(LEFTWARD, -45, 45, "leans to the left"),
    "neck_rotation": JointRange(TURN_LEFT, -80, 80, "turns to the left"),
    "head_nod": JointRange(BOW, -25, 25, "nods, chin down"),
    "clavicle_elevation": JointRange((1.0, 0.0, 0.0), -10, 40, "lifts the shoulder"),
    "clavicle_protraction": JointRange((0.0, 0.0, -1.0), -30, 30, "brings the shoulder forward"),
    "shoulder_flexion": JointRange(FORWARD, -60, 180, "lifts the arm forward"),
    "shoulder_abduction": JointRange((1.0, 0.0, 0.0), -45, 180, "lifts the arm sideways"),
    "shoulder_rotation": JointRange((0.0, 0.0, -1.0), -100, 100, "turns the arm inward"),
    "elbow_flexion": JointRange(FORWARD, 0, 150, "bends the elbow"),
    "forearm_pronation": JointRange((0.0, 0.0, -1.0), -95, 95, "turns the palm from the thigh to the back"),
    "wrist_flexion": JointRange((-1.0, 0.0, 0.0), -75, 85, "bends the hand to the palm's side"),
    "wrist_deviation": JointRange(FORWARD, -40, 30, "bends the hand to the thumb's side"),
    "hip_flexion": JointRange(FORWARD, -30, 125, "lifts the thigh forward"),
    "hip_abduction": JointRange((1.0, 0.0, 0.0), -30, 60, "spreads the thigh sideways"),
    "hip_rotation": JointRange((0.0, 0.0, -1.0), -50, 45, "turns the toes inward"),
    "knee_flexion": JointRange(BOW, 0, 145, "bends the knee"),
    "ankle_flexion": JointRange(FORWARD, -50, 30, "lifts the toes"),
    "ankle_inversion": JointRange((-1.0, 0.0, 0.0), -25, 35, "turns the sole to the middle"),
}


def stem(joint: str) -> str:
    """Name of a joint without its side: `l_elbow_flexion` → `elbow_flexion`."""
    return joint[2:] if joint[:2] in ("l_", "r_") else joint


def axis_of(joint: str) -> tuple[float, float, float]:
    """Axis of a joint in neutral standing; the right side mirrors the left, so equal angles are mirror images.

    A reflection in the plane y = 0 keeps the y component of a rotation axis and turns the other two round.
    """
    x, y, z = MOTIONS[stem(joint)].axis
    return (-x, y, -z) if joint.startswith("r_") else (x, y, z)
