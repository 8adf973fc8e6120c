"""What clips are made of: poses of a skeleton, and how a clip came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from stunt.maths.rotations import Floats


@dataclass(frozen=True, eq=False)
class Above:
    """Joints above the hips in the file, which the clip has laid into them (see `stunt.motion.clips.above_hips`)."""

    path: tuple[int, ...]  #: From the file's first joint to its hips
    offsets: Floats  #: Of those joints, as in the file, (P, 3) [m]
    root: Floats  #: Where the first is, (F, 3) [m]
    turns: Floats  #: Their rotations, (F, P, 4)
    shifts: Floats  #: Their displacements from their offsets, (F, P, 3) [m]

    @property
    def motion(self) -> tuple[Floats, Floats, Floats]:
        """What has a row per frame."""
        return self.root, self.turns, self.shifts


@dataclass(frozen=True, eq=False)
class Door:
    """How a clip came in."""

    format: str = ""  #: `bvh`, `amc`, `deepmimic`, `npz`; empty for clips made here
    file: str = ""  #: The file as the user named it
    scale: float = 1.0  #: Metres per unit of the file
    axes: Floats = field(default_factory=lambda: np.eye(3))  #: Rotation that turns the file's axes into ours, (3, 3)
    #: What the file did not say and the door took for granted, by what it is about, as sentences.
    assumed: Mapping[str, str] = field(default_factory=dict)
    #: The file's own channel values, (F, C), so that what was not changed is written as it stood.
    values: Floats | None = field(default=None, repr=False)
    skipped: int = 0  #: How many frames at the start were left out
    #: The rotations of a first frame that was no motion but a reference pose, (J, 4), where there was one.
    rest: Floats | None = field(default=None, repr=False)
    added: tuple[int, ...] = ()  #: Joints whose position channels in the file are added to their OFFSET
    #: Which joint is which part of a person, by name, where a mapping file says so; None leaves it to guesses.
    parts: Mapping[str, str] | None = None
    #: Which body of whoever follows the clip is which part, where the mapping file names any.
    bodies: Mapping[str, str] = field(default_factory=dict)
    above: Above | None = field(default=None, repr=False)  #: What the file has above the hips, where there is anything
    edits: tuple[str, ...] = ()  #: What was done to the clip since, in order: `mirrored`, `trimmed to 0.2–1 s`


@dataclass(frozen=True, eq=False)
class ClipPose:
    """A skeleton's pose, or several along the leading axes."""

    root: Floats  #: Position of the root joint [m], (..., 3)
    rotations: Floats  #: Orientation of each joint in its parent's frame, the root's in the world, (..., J, 4)


@dataclass(frozen=True, eq=False)
class WorldPose:
    """Where all joints are in the world."""

    positions: Floats  #: [m], (..., J, 3)
    rotations: Floats  #: (..., J, 4)
