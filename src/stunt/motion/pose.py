"""A pose: joint angles, and velocities where they matter, for any subset of a body's joints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

from stunt.errors import NOWHERE, InvalidValueError, Place

Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Pose:
    """Joint angles by name.

    Attributes:
        name: For reports.
        angles: Hinge angle [rad] or slide position [m] by joint name; a ball joint takes a unit quaternion (wxyz,
            relative to the parent).
        velocities: Velocity [rad/s or m/s] at which the pose is passed, by joint name; a ball joint takes a rotation
            vector rate in its own frame [rad/s]. Joints not named arrive at rest.
        place: Where it was written.
        places: Where each joint's value was written, by joint name.
        units: The unit each joint was written in (`deg`, `rad`, `m`), where that is known; a number meant in degrees
            must not move a slide joint by as many metres.
    """

    name: str
    angles: Mapping[str, float | Quaternion]
    velocities: Mapping[str, float | tuple[float, float, float]] = field(default_factory=dict)
    place: Place = field(default=NOWHERE, compare=False)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    units: Mapping[str, str] = field(default_factory=dict, compare=False)

    @staticmethod
    def degrees(name: str = "", /, **angles_deg: float) -> Pose:
        """Make a pose of hinge angles given in degrees."""
        for joint, angle in angles_deg.items():
            if isinstance(angle, bool) or not isinstance(angle, Real):
                raise InvalidValueError(f"the angle of '{joint}'", angle, "a number of degrees")
        return Pose(name, {joint: math.radians(angle) for joint, angle in angles_deg.items()})
