"""Minimum-jerk paths between key-frames: the smoothest way from one (position, velocity) to the next.

The path that minimises the integrated squared jerk between given positions, velocities and accelerations is a quintic
polynomial (Flash and Hogan 1985). Here both end accelerations are zero. Rest to rest over a distance Δ in a time T it
peaks at 15/8 Δ/T in velocity and 10/√3 ≈ 5.77 Δ/T² in acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stunt.maths import rotations

Floats = NDArray[np.float64]


class PathState(NamedTuple):
    """Where a path is and how it moves."""

    position: Floats  #: [rad or m], or a unit quaternion (wxyz)
    velocity: Floats  #: [rad/s or m/s]; a ball joint's in its own frame
    acceleration: Floats  #: [rad/s² or m/s²]; a ball joint's in its own frame


@dataclass(frozen=True)
class MinimumJerk:
    """Quintics for any number of hinges, slides or plain coordinates, each with its own times."""

    start: Floats  #: Start times [s], (n,) or a number
    duration: Floats  #: Durations [s], likewise
    coefficients: Floats  #: Of the powers 0…5 of the share of the duration that has passed, (6, n)

    @staticmethod
    def between(
        t0: ArrayLike,
        q0: ArrayLike,
        v0: ArrayLike,
        t1: ArrayLike,
        q1: ArrayLike,
        v1: ArrayLike,
        *,
        a0: ArrayLike = 0.0,
        a1: ArrayLike = 0.0,
    ) -> MinimumJerk:
        """Return the path from (q0, v0) at t0 to (q1, v1) at t1, with end accelerations a0 and a1.

        Args:
            t0: Start time [s]; all arguments are numbers or (n,).
            q0: Start position [rad or m].
            v0: Start velocity [rad/s or m/s].
            t1: End time [s], later than t0.
            q1: End position.
            v1: End velocity.
            a0: Start acceleration.
            a1: End acceleration.
        """
        start, q0, v0, q1, v1, a0, a1 = (np.asarray(x, float) for x in (t0, q0, v0, q1, v1, a0, a1))
        duration = np.asarray(t1, float) - start
        speed0, speed1, bend0, bend1 = v0 * duration, v1 * duration, a0 * duration**2, a1 * duration**2
        # What the quadratic through the start still misses at the end, in position, velocity and acceleration.
        miss = q1 - q0 - speed0 - 0.5 * bend0
        miss_speed = speed1 - speed0 - bend0
        miss_bend = bend1 - bend0
        cubic = 10 * miss - 4 * miss_speed + 0.5 * miss_bend
        quartic = -15 * miss + 7 * miss_speed - miss_bend
        quintic = 6 * miss - 3 * miss_speed + 0.5 * miss_bend
        terms = np.broadcast_arrays(q0, speed0, 0.5 * bend0, cubic, quartic, quintic)
        return MinimumJerk(start, duration, np.stack(terms))

    def at(self, time: ArrayLike) -> PathState:
        """Return the motion at a time [s] (shape (n,) or ()), or at several, (k,) → (k, n).

        Meant for times from start to end; outside them the polynomial simply runs on.
        """
        time = np.asarray(time, float)
        if time.ndim:
            time = time.reshape(-1, *(1,) * (self.coefficients.ndim - 1))
        share = (time - self.start) / self.duration
        c = self.coefficients
        position = ((((c[5] * share + c[4]) * share + c[3]) * share + c[2]) * share + c[1]) * share + c[0]
        velocity = (((5 * c[5] * share + 4 * c[4]) * share + 3 * c[3]) * share + 2 * c[2]) * share + c[1]
        acceleration = ((20 * c[5] * share + 12 * c[4]) * share + 6 * c[3]) * share + 2 * c[2]
        return PathState(position, velocity / self.duration, acceleration / self.duration**2)


@dataclass(frozen=True)
class BallMinimumJerk:
    """The same for one ball joint: a quintic of the rotation vector that leads away from the start orientation.

    Orientation, angular velocity and zero angular acceleration are met exactly at both ends (velocities go through the
    Jacobian of the exponential map). In between the jerk of the rotation vector is smallest, which is the angular jerk
    itself where axis and velocities are aligned, and close to it otherwise.
    """

    origin: Floats  #: Start orientation, wxyz, (4,)
    vector: MinimumJerk  #: Path of the rotation vector in the origin's frame, (3,)

    @staticmethod
    def between(t0: float, q0: ArrayLike, v0: ArrayLike, t1: float, q1: ArrayLike, v1: ArrayLike) -> BallMinimumJerk:
        """Return the path between two orientations, the shorter way round.

        Args:
            t0: Start time [s].
            q0: Start orientation, wxyz, (4,).
            v0: Start angular velocity in the joint's own frame [rad/s], (3,).
            t1: End time [s], later than t0.
            q1: End orientation, (4,).
            v1: End angular velocity, (3,).
        """
        origin = rotations.normalise(q0)
        turn = rotations.difference(rotations.normalise(q1), origin)
        jacobian = rotations.right_jacobian(turn)
        rate = np.linalg.solve(jacobian, np.asarray(v1, float))
        _, drift = rotations.angular_motion(turn, rate, np.zeros(3))
        bend = np.linalg.solve(jacobian, -drift)  # so that the angular acceleration at the end is zero
        return BallMinimumJerk(origin, MinimumJerk.between(t0, np.zeros(3), v0, t1, turn, rate, a1=bend))

    def at(self, time: ArrayLike) -> PathState:
        """Return the motion at a time [s], or at several: (k,) → (k, 4), (k, 3), (k, 3)."""
        vector, rate, second_rate = self.vector.at(time)
        orientation = rotations.multiply(self.origin, rotations.from_rotation_vector(vector))
        return PathState(orientation, *rotations.angular_motion(vector, rate, second_rate))
