"""Trajectories in a script, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stunt.errors import NOWHERE, Place
from stunt.motion.trajectory import Trajectory

Form = Literal["adaptive", "bare"]


@dataclass(frozen=True)
class JointPath:
    """One joint's trajectory; `unit` is the one it was written in, `settling` None where the part's applies."""

    joint: str
    trajectory: Trajectory
    settling: float | None = None
    unit: str = field(default="deg", compare=False)
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class SitePath:
    """One site's trajectory.

    Attributes:
        site: Its name.
        position: Where it should be [m].
        orientation: How it should be turned, quaternions wxyz.
        relative: Whether positions count from where the site is at the start.
        settling: Settling time [s]; None is the part's.
        strength: Largest force of the string [N]; None is twice the body's weight.
    """

    site: str
    position: Trajectory | None = None
    orientation: Trajectory | None = None
    relative: bool = False
    settling: float | None = None
    strength: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class MarkerPaths:
    """Capture markers that drive sites.

    Attributes:
        file: A C3D file, as written.
        drive: Site by marker.
        at: When its first frame falls [s].
        relative: Whether markers only say how far sites move from where they start.
        path: The file, found beside the script.
    """

    file: str
    drive: tuple[tuple[str, str], ...]
    at: float = 0.0
    relative: bool = False
    path: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class TrajectoryPart:
    """All trajectories of one character.

    Attributes:
        joints: Driven joints; all others stay passive.
        sites: Pulled sites.
        markers: Sites pulled by capture markers.
        settling: Settling time where none is given [s].
        form: Which law.
    """

    joints: tuple[JointPath, ...] = ()
    sites: tuple[SitePath, ...] = ()
    markers: MarkerPaths | None = None
    settling: float = 0.2
    form: Form = "adaptive"
    place: Place = field(default=NOWHERE, compare=False)
