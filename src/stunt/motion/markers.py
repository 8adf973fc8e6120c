"""Capture markers: named points over time, from arrays or from C3D files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.errors import NO_NUMBERS, NOWHERE, InvalidValueError, Place, ScriptFileError, UnknownNameError
from stunt.motion.clips.raw import ClipFileError, read_bytes
from stunt.motion.formats.c3d import read_points
from stunt.motion.trajectory import Trajectory

_UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}


@dataclass(frozen=True)
class Markers:
    """Points over time."""

    names: tuple[str, ...]  #: Of the markers
    hz: float  #: Frames per second
    #: World frame, z up [m], (frames, markers, 3); NaN where a marker was not seen.
    positions: NDArray[np.float64] = field(compare=False)
    #: How sensors are turned, quaternions wxyz, (frames, markers, 4); NaN of those that do not know.
    turns: NDArray[np.float64] | None = field(default=None, compare=False)

    def trajectory(self, name: str, *, start: float = 0.0, place: Place = NOWHERE) -> Trajectory:
        """Return a marker's trajectory, beginning at `start` [s].

        Raises:
            UnknownNameError: No marker has this name.
            TrajectoryGapError: The marker was lost for a while; fill the gap before.
        """
        if name not in self.names:
            raise UnknownNameError("marker", name, self.names, place)
        return Trajectory.sampled(self.positions[:, self.names.index(name)], self.hz, start=start, place=place)


def read_c3d(path: str | Path, place: Place = NOWHERE) -> Markers:
    """Read the markers of a C3D file; its units are converted, z is taken to be up.

    Raises:
        ScriptFileError: The file cannot be read, or is cut short.
        InvalidValueError: Its unit is none Stunt knows.
    """
    if not Path(path).is_file():
        raise ScriptFileError(f"there is no marker file at '{path}'.", place)
    try:
        stored = read_points(read_bytes(path))
    except ClipFileError as error:
        raise ScriptFileError(f"'{path}' {error.reason}", place) from error
    except NO_NUMBERS as error:
        raise ScriptFileError(f"'{path}' is not a C3D file Stunt can read: {error}.", place) from error
    if stored.unit not in _UNITS:
        raise InvalidValueError(f"the unit of '{path}'", stored.unit, "m, cm or mm", place)
    return Markers(stored.labels, stored.hz, stored.points * _UNITS[stored.unit])
