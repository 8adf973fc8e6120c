"""Capture markers: named points over time, from arrays or from C3D files.

C3D files are read through `ezc3d`, which is maintained and comes with the extra `stunt[c3d]`.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, InvalidValueError, Place, ScriptFileError, UnknownNameError
from stunt.motion.trajectory import Trajectory

_UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}


@dataclass(frozen=True)
class Markers:
    """Points over time."""

    names: tuple[str, ...]  #: Of the markers
    hz: float  #: Frames per second
    #: World frame, z up [m], (frames, markers, 3); NaN where a marker was not seen.
    positions: NDArray[np.float64] = field(compare=False)

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
        ScriptFileError: The file cannot be read, or `ezc3d` is not installed.
    """
    try:
        ezc3d = importlib.import_module("ezc3d")
    except ModuleNotFoundError:
        raise ScriptFileError("C3D files need 'ezc3d': pip install 'stunt[c3d]'.", place) from None
    if not Path(path).is_file():
        raise ScriptFileError(f"there is no marker file at '{path}'.", place)
    try:
        stored = ezc3d.c3d(str(path))
        point = stored["parameters"]["POINT"]
        names = tuple(str(label) for label in point["LABELS"]["value"])
        unit = (point.get("UNITS", {}).get("value") or ["mm"])[0]
        hz = float(point["RATE"]["value"][0])
        positions = np.moveaxis(np.asarray(stored["data"]["points"], float)[:3], 0, -1)
    except (OSError, RuntimeError, KeyError, IndexError, ValueError) as error:
        raise ScriptFileError(f"'{path}' is not a C3D file Stunt can read ({error}).", place) from error
    if not (math.isfinite(hz) and hz > 0.0) or unit not in _UNITS:
        raise InvalidValueError(f"the rate and unit of '{path}'", f"{hz} Hz, {unit}", "a rate and m, cm or mm", place)
    # (components, markers, frames) in the file; frames first here.
    return Markers(names, hz, np.swapaxes(positions, 0, 1) * _UNITS[unit])
