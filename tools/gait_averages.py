"""Averages of how people walk, as Fourier series over a stride; facts that clips are made from.

Medians over 16 (slow) and 20 (walk) subjects of strides in a public capture database, from a foot's strike to its
next, for the leg and arm of that side. Angles [deg]: `thigh`, `arm` from hanging, forward positive; `knee`, `elbow`
bend; `foot` the line from ankle to toes, up positive; `thigh_out`, `arm_out` away from the body; `pelvis_yaw`,
`shoulder_yaw` this side forward; `pelvis_drop` this side up; `lean` of the trunk, forward. `height` of the pelvis above
the floor, `ankle` of the ankle, and `side` of the pelvis toward this side, in lengths of a leg.

Each series is its mean, then cosine and sine of every harmonic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from stunt.maths.rotations import Floats


@dataclass(frozen=True)
class Gait:
    """One way of going: seconds and leg lengths of a stride, when a foot leaves the ground, and the series."""

    seconds: float
    stride: float
    off: float
    series: dict[str, tuple[float, ...]]

    def curve(self, name: str, phase: Floats) -> Floats:
        """Values at phases of a stride, (F,)."""
        first, *rest = self.series[name]
        turns = 2.0 * np.pi * np.arange(1, len(rest) // 2 + 1)[:, None] * np.asarray(phase)
        return np.asarray(first + np.array(rest[0::2]) @ np.cos(turns) + np.array(rest[1::2]) @ np.sin(turns))


GAITS: Final = {
    "slow": Gait(
        1.33,
        1.33,
        0.64,
        {
            "thigh": (12.05, 20.32, 2.16, -2.33, -4.90, -0.58, 2.04, -0.28, 0.04, -0.46, -0.16, 0.10, 0.05),
            "knee": (33.65, 6.16, -13.74, -15.52, -4.22, -1.93, 5.69, -0.79, 0.16, -0.76, 0.18, 0.40, 0.32),
            "foot": (-24.39, 14.09, 21.32, 17.79, -5.29, -0.04, -6.12, 0.75, 0.94, 2.36, -0.54, 0.23, -0.50),
            "thigh_out": (-5.60, 0.10, -5.47, -2.22, -1.20, -0.37, 1.09),
            "arm": (-9.98, -6.89, 0.92, 1.13, -0.71, -0.24, -0.53),
            "elbow": (33.45, -4.81, 0.57, 3.71, -3.00, -0.43, 0.31),
            "arm_out": (6.71, -1.42, 0.29, 0.57, 0.52, 0.27, 0.42),
            "pelvis_yaw": (-0.15, -5.87, -7.53, 0.06, -0.06, -0.29, -0.14),
            "shoulder_yaw": (0.39, -1.99, -5.83, -0.39, -0.12, -0.54, 0.32),
            "pelvis_drop": (-0.21, 3.63, -1.50, 0.26, -0.04, 0.52, 0.65),
            "lean": (6.89, -0.06, 0.61, 0.31, -0.23, 0.16, 0.40),
            "height": (1.1258, -0.0001, -0.0003, -0.0033, -0.0031, -0.0003, -0.0008),
            "ankle": (0.1053, -0.0149, -0.0717, -0.0396, 0.0064, 0.0040, 0.0187, 0.0091, -0.0009, 0.0008, -0.0027),
            "side": (-0.0003, -0.0114, 0.0122, -0.0000, 0.0000, 0.0002, 0.0001),
        },
    ),
    "walk": Gait(
        1.16,
        1.59,
        0.62,
        {
            "thigh": (12.06, 22.51, 2.47, -3.66, -4.88, -0.36, 2.35, -0.48, -0.12, -0.25, 0.08, 0.01, -0.00),
            "knee": (34.14, 4.65, -15.23, -16.58, -3.03, -2.20, 5.15, -1.83, 0.51, -0.81, 0.32, -0.16, 0.28),
            "foot": (-28.83, 16.55, 24.48, 18.72, -8.08, -0.55, -5.95, 1.58, 1.78, 2.20, -0.70, 0.04, 0.16),
            "thigh_out": (-4.42, 0.78, -4.20, -1.74, -0.77, -0.02, 0.74),
            "arm": (-8.07, -10.37, -2.07, -0.71, -0.53, -0.28, -0.24),
            "elbow": (31.20, -8.14, -4.19, 1.72, -0.54, 0.27, -0.45),
            "arm_out": (4.84, -4.31, -0.98, 0.93, 0.60, 0.10, -0.21),
            "pelvis_yaw": (-0.21, -5.79, -3.77, 0.07, 0.07, -0.27, 0.34),
            "shoulder_yaw": (-0.16, 0.07, -1.56, -0.04, -0.08, -0.42, 0.34),
            "pelvis_drop": (0.03, 3.90, -2.02, -0.04, -0.10, 0.67, 0.59),
            "lean": (4.67, -0.15, 0.56, 0.58, 0.02, -0.09, 0.08),
            "height": (1.1402, -0.0017, -0.0007, -0.0049, -0.0062, -0.0004, -0.0016),
            "ankle": (0.1218, -0.0151, -0.0796, -0.0435, 0.0105, 0.0045, 0.0177, 0.0060, 0.0008, 0.0028, -0.0007),
            "side": (-0.0003, -0.0075, 0.0115, 0.0006, -0.0001, -0.0001, -0.0005),
        },
    ),
}
"""By name."""
