"""Trajectories in a script, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stunt.errors import NOWHERE, Place
from stunt.motion.clips.clip import Clip
from stunt.motion.trajectory import Trajectory

Form = Literal["adaptive", "bare"]


@dataclass(frozen=True)
class JointPath:
    """One joint's trajectory; `unit` is the one it was written in. Settling and damping None are the part's."""

    joint: str
    trajectory: Trajectory
    settling: float | None = None
    damping: float | None = None
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
        damping: Damping ratio of its reference model; None is the part's.
    """

    site: str
    position: Trajectory | None = None
    orientation: Trajectory | None = None
    relative: bool = False
    settling: float | None = None
    strength: float | None = None
    damping: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class MarkerPaths:
    """Capture markers that drive sites.

    Attributes:
        file: A C3D file, as written.
        drive: Site by marker.
        at: When its first frame falls [s].
        relative: Whether markers only say how far sites move from where they start.
    """

    file: str
    drive: tuple[tuple[str, str], ...]
    at: float = 0.0
    relative: bool = False
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ClipPaths:
    """A clip, brought onto the body, that some of its joints follow.

    Attributes:
        file: A file, one of the package's clips by name, or a clip in memory.
        joints: Which joints, as patterns.
        at: When its first frame falls [s].
    """

    file: str | Clip
    joints: tuple[str, ...] = ("*",)
    at: float = 0.0
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
        damping: Damping ratio of the reference models where none is given: 1 is critical.
        clip: Joints that go as in a clip.
    """

    joints: tuple[JointPath, ...] = ()
    sites: tuple[SitePath, ...] = ()
    markers: MarkerPaths | None = None
    settling: float = 0.2
    form: Form = "adaptive"
    damping: float = 1.0
    clip: ClipPaths | None = None
    place: Place = field(default=NOWHERE, compare=False)
