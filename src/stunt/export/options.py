"""What one can ask of an export, whatever its format; and which way is up, in files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np

from stunt.errors import InvalidValueError, StuntError
from stunt.maths.rotations import Floats

Up = Literal["y", "z"]
SkeletonChoice = Literal["auto", "own", "clip"]
PlacementChoice = Literal["auto", "source", "stage"]
CameraChoice = Literal["fixed", "follow"]
RendererChoice = Literal["auto", "opengl", "software"]
Progress = Callable[[float], None]
"""Called now and then with the share that is done, 0 to 1."""

MOST_FPS = 1000.0
SIZES = (16, 4096)


def _check_choice(what: str, value: str, kind: object) -> None:
    if value not in get_args(kind):
        raise InvalidValueError(what, value, " or ".join(get_args(kind)))


@dataclass(frozen=True)
class Video:
    """How a video looks.

    Attributes:
        size: Width and height of one picture [px].
        camera: Stands still and sees everything, or follows the character.
        azimuth: Where the camera stands about the vertical [rad], 0 in front of the first character.
        elevation: How high above the horizon [rad].
        labels: What is written over each take; None: nothing over a single one, the titles over several.
        clock: Whether time and beats are shown.
        renderer: MuJoCo's OpenGL, the software ray-caster, or (`auto`) OpenGL where the machine has it.
    """

    size: tuple[int, int] = (640, 480)
    camera: CameraChoice = "fixed"
    azimuth: float = math.radians(24.0)
    elevation: float = math.radians(9.0)
    labels: Sequence[str] | None = None
    clock: bool = True
    renderer: RendererChoice = "auto"

    def __post_init__(self) -> None:
        _check_choice("camera", self.camera, CameraChoice)
        _check_choice("renderer", self.renderer, RendererChoice)
        low, high = SIZES
        if len(self.size) != 2 or not all(isinstance(n, int) and low <= n <= high for n in self.size):
            raise InvalidValueError("size", self.size, f"a width and a height from {low} to {high} pixels")
        if not (math.isfinite(self.azimuth) and math.isfinite(self.elevation) and abs(self.elevation) < 1.57):
            raise InvalidValueError(
                "azimuth and elevation", (self.azimuth, self.elevation), "angles, the elevation below 90°"
            )


@dataclass(frozen=True)
class Options:
    """How a take is exported.

    Attributes:
        character: Whom; None is everyone.
        fps: Frames per second; None is the format's own choice.
        start: From when [s]; None is the take's beginning.
        end: Until when [s]; None is the take's end.
        up: Which axis points up in the file; None is the format's custom.
        in_place: Whether the characters stay over the spot where they began.
        root_motion: Whether a bone on the ground carries the travel and the heading, as game engines want it.
        skeleton: BVH: the body's own bones, those of the clip it came from, or (`auto`) the clip's if there is one.
            GLB: Stunt's own surface, or likewise the rigged file it came from.
        rigid: GLB and USD: rigid parts even where a smooth skin could be made.
        video: How a video looks.
        placement: On a clip's skeleton: where the clip it followed lay in its `source` file, where it was on the
            `stage`, or (`auto`) the source's place if the take knows it.
    """

    character: str | None = None
    fps: float | None = None
    start: float | None = None
    end: float | None = None
    up: Up | None = None
    in_place: bool = False
    root_motion: bool = False
    skeleton: SkeletonChoice = "auto"
    rigid: bool = False
    video: Video = Video()
    placement: PlacementChoice = "auto"

    def __post_init__(self) -> None:
        for what, number in (("fps", self.fps), ("start", self.start), ("end", self.end)):
            if number is not None and (isinstance(number, bool) or not isinstance(number, Real)):
                raise InvalidValueError(what, number, "a number")
        if self.fps is not None and not (math.isfinite(self.fps) and 0.0 < self.fps <= MOST_FPS):
            raise InvalidValueError("fps", self.fps, f"a number of frames per second above 0 and at most {MOST_FPS:g}")
        for what, value in (("start", self.start), ("end", self.end)):
            if value is not None and not (math.isfinite(value) and value >= 0.0):
                raise InvalidValueError(what, value, "a time in seconds, 0 or later")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InvalidValueError("end", self.end, f"no earlier than the start at {self.start:g} s")
        _check_choice("skeleton", self.skeleton, SkeletonChoice)
        _check_choice("placement", self.placement, PlacementChoice)
        _check_choice("up", self.up or "y", Up)
        if self.in_place and self.root_motion:
            raise StuntError("in-place takes the travel away and root motion keeps it on a bone: choose one of them.")


def no_progress(share: float) -> None:
    """Take no notice."""


Y_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Turns y-up axes (x to the left, z forward, as glTF and most BVH files have them) into ours."""


CENTIMETRE = 0.01
"""The usual unit of BVH files [m]."""


def file_axes(up: Up | None) -> Floats:
    """Return the rotation that turns a file's axes into ours, (3, 3)."""
    return Y_UP if up == "y" else np.eye(3)


def vectors_out(vectors: Floats, up: Up | None) -> Floats:
    """Return our vectors (…, 3) in a file's axes."""
    return np.asarray(vectors @ Y_UP) if up == "y" else vectors


def turns_out(turns: Floats, up: Up | None) -> Floats:
    """Return our quaternions (…, 4) in a file's axes."""
    result = np.array(turns)
    result[..., 1:] = vectors_out(result[..., 1:], up)
    return result
