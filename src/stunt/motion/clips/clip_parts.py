"""What clips are made of: poses of a skeleton, and how a clip came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from stunt.maths.rotations import Floats


@dataclass(frozen=True, eq=False)
class Above:
    """Joints above the hips in the file, which the clip has laid into them (see `stunt.motion.clips.above_hips`).

    Attributes:
        path: From the file's first joint to its hips.
        offsets: Of those joints, as in the file, (P, 3) [m].
        root: Where the first is, (F, 3) [m].
        turns: Their rotations, (F, P, 4).
        shifts: Their displacements from their offsets, (F, P, 3) [m].
    """

    path: tuple[int, ...]
    offsets: Floats
    root: Floats
    turns: Floats
    shifts: Floats

    @property
    def motion(self) -> tuple[Floats, Floats, Floats]:
        """What has a row per frame."""
        return self.root, self.turns, self.shifts


@dataclass(frozen=True, eq=False)
class Door:
    """How a clip came in.

    Attributes:
        format: `bvh`, `amc`, `deepmimic`, `npz`; empty for clips made here.
        file: The file as the user named it.
        scale: Metres per unit of the file.
        axes: Rotation that turns the file's axes into ours, (3, 3).
        assumed: What the file did not say and the door took for granted, by what it is about, as sentences.
        values: The file's own channel values, (F, C), so that what was not changed is written as it stood.
        skipped: How many frames at the start were left out.
        rest: The rotations of a first frame that was no motion but a reference pose, (J, 4), where there was one.
        added: Joints whose position channels in the file are added to their OFFSET.
        parts: Which joint is which part of a person, by name, where a mapping file says so; None leaves it to guesses.
        bodies: Which body of whoever follows the clip is which part, where the mapping file names any.
        above: What the file has above the hips, where there is anything.
        edits: What was done to the clip since, in order: `mirrored`, `trimmed to 0.2–1 s`.
    """

    format: str = ""
    file: str = ""
    scale: float = 1.0
    axes: Floats = field(default_factory=lambda: np.eye(3))
    assumed: Mapping[str, str] = field(default_factory=dict)
    values: Floats | None = field(default=None, repr=False)
    skipped: int = 0
    rest: Floats | None = field(default=None, repr=False)
    added: tuple[int, ...] = ()
    parts: Mapping[str, str] | None = None
    bodies: Mapping[str, str] = field(default_factory=dict)
    above: Above | None = field(default=None, repr=False)
    edits: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ClipPose:
    """A skeleton's pose, or several along the leading axes.

    Attributes:
        root: Position of the root joint [m], (..., 3).
        rotations: Orientation of each joint in its parent's frame, the root's in the world, (..., J, 4).
    """

    root: Floats
    rotations: Floats


@dataclass(frozen=True, eq=False)
class WorldPose:
    """Where all joints are in the world.

    Attributes:
        positions: [m], (..., J, 3).
        rotations: (..., J, 4).
    """

    positions: Floats
    rotations: Floats
