"""One take in front of a camera: where the camera is in every frame, and what it sees.

Pictures by MuJoCo's own renderer, where the machine has OpenGL: EGL, OSMesa, or a window system.

A driver that is broken may end the process, so each is first tried in a process of its own.

What is written over a picture: a label, the time, and the beats on a line with a playhead.
"""

from __future__ import annotations

import importlib
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from stunt.errors import ExportError
from stunt.export.options import Options
from stunt.export.sampling import SampledTake
from stunt.maths.rotations import Floats
from stunt.record.filmstrip import choose_panels, facing, fitted, font
from stunt.record.raycast.camera import Camera, aim, geom_corners, points_of_performance
from stunt.record.raycast.render import Raycaster, Style, core_count
from stunt.record.take import Take

_INK, _SOFT, _PAGE = (28, 32, 40), (110, 117, 128), (255, 255, 255)
_HIT, _MISS = (20, 120, 190), (196, 92, 0)
_FLASH = 0.22  # How long a beat lights up after it [s].
_NAMED = 1.2  # How long its name stays [s].
_LATE_DEG = 1.0


@dataclass(frozen=True)
class ShownBeat:
    """A beat of a take: when [s], the pose, and how far off it was [deg] where that is known."""

    time: float
    name: str
    error_deg: float | None


def beats_of(take: Take, character: str | None) -> tuple[ShownBeat, ...]:
    """Return the beats of a take, of one character or of all."""
    names = take.cast.names if character is None else [character]
    if not any(event.get("kind") == "beat" for event in take.events):
        return ()
    times = sorted({float(event["time"]) for event in take.events if event.get("kind") == "beat"})
    return tuple(ShownBeat(p.time, p.name, p.error_deg) for p in choose_panels(take, times, names) if p.name)


class Overlay:
    """Writes over the pictures of one take."""

    def __init__(
        self, size: tuple[int, int], label: str, beats: tuple[ShownBeat, ...], span: tuple[float, float], clock: bool
    ) -> None:
        """Prepare.

        Args:
            size: Of the pictures [px].
            label: What is written on top; empty for nothing.
            beats: The take's beats.
            span: From when to when the video lasts [s].
            clock: Whether time and beats are shown.
        """
        self._size, self._label, self._span, self._clock = size, label, span, clock
        self._beats = tuple(beat for beat in beats if span[0] - 1e-6 <= beat.time <= span[1] + 1e-6)
        scale = min(max(min(size[0] / 640, size[1] / 480), 0.5), 2.5)
        self._pad = max(round(12 * scale), 4)
        self._bold, self._plain = font(max(round(19 * scale), 9), bold=True), font(max(round(17 * scale), 8))
        self._line = max(round(3 * scale), 1)

    def draw(self, picture: NDArray[np.uint8], time: float) -> Image.Image:
        """Return a picture with everything written over it at a time of the take [s]."""
        image = Image.fromarray(np.ascontiguousarray(picture))
        pen = ImageDraw.Draw(image, "RGBA")
        if self._label:
            self._write_label(pen)
        if self._clock:
            self._write_clock(pen, time)
        return image

    def _write_label(self, pen: ImageDraw.ImageDraw) -> None:
        pad = self._pad
        text = fitted(self._label, self._bold, self._size[0] - 4 * pad)
        box = pen.textbbox((2 * pad, 2 * pad), text, self._bold, anchor="lt")
        frame = (box[0] - pad * 0.8, box[1] - pad * 0.6, box[2] + pad * 0.8, box[3] + pad * 0.6)
        pen.rounded_rectangle(frame, pad * 0.6, (*_PAGE, 205))
        pen.text((2 * pad, 2 * pad), text, _INK, self._bold, anchor="lt")

    def _write_clock(self, pen: ImageDraw.ImageDraw, time: float) -> None:
        pad, (width, height) = self._pad, self._size
        line = height - 1.3 * pad
        left, right = 1.5 * pad, width - 1.5 * pad
        pen.rounded_rectangle((left, line - 0.5 * self._line, right, line + 0.5 * self._line), 1, (*_SOFT, 110))
        for beat in self._beats:
            self._write_tick(pen, self._place(beat.time, left, right), line, beat, time)
        here = self._place(time, left, right)
        pen.rounded_rectangle((left, line - 0.5 * self._line, here, line + 0.5 * self._line), 1, (*_INK, 200))
        reach = 1.6 * self._line
        pen.ellipse((here - reach, line - reach, here + reach, line + reach), _INK)
        base = line - 0.9 * pad
        stamp = f"{time:.2f} s"
        pen.text((left, base), stamp, _INK, self._bold, anchor="ls")
        self._write_beat(pen, left + self._bold.getlength("00.00 s") + pad, base, time)

    def _place(self, time: float, left: float, right: float) -> float:
        first, last = self._span
        return left + (right - left) * min(max((time - first) / max(last - first, 1e-9), 0.0), 1.0)

    def _write_tick(self, pen: ImageDraw.ImageDraw, x: float, line: float, beat: ShownBeat, time: float) -> None:
        lit = 0.0 <= time - beat.time + 1e-6 < _FLASH
        reach = self._line * (2.6 if lit else 1.7)
        color = _color(beat) if beat.time <= time + 1e-6 else _SOFT
        pen.ellipse((x - reach, line - reach, x + reach, line + reach), (*color, 255))

    def _write_beat(self, pen: ImageDraw.ImageDraw, x: float, base: float, time: float) -> None:
        """Name the beat that just was, fading."""
        passed = [beat for beat in self._beats if beat.time <= time + 1e-6]
        if not passed or time - passed[-1].time > _NAMED:
            return
        beat = passed[-1]
        strength = min(1.0, 2.0 * (1.0 - (time - beat.time) / _NAMED))
        off = "" if beat.error_deg is None else f"  {beat.error_deg:.1f}° off"
        text = fitted(f"{beat.name}{off}", self._plain, self._size[0] - x - self._pad)
        pen.text((x, base), text, (*_color(beat), round(255 * strength)), self._plain, anchor="ls")


def _color(beat: ShownBeat) -> tuple[int, int, int]:
    return _MISS if (beat.error_deg or 0.0) > _LATE_DEG else _HIT


_MOST_GEOMS = 20000
_PATIENCE = 20.0  # How long a driver may take to draw a first picture [s].
_TRIAL = """
import importlib, sys, mujoco
context = importlib.import_module(f"mujoco.{sys.argv[1]}").GLContext(32, 32)
context.make_current()
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, renderer)
sys.exit(0 if renderer.currentBuffer == mujoco.mjtFramebuffer.mjFB_OFFSCREEN else 1)
"""


def candidates() -> tuple[str, ...]:
    """Return the ways to OpenGL this system may have, the one the user chose (MUJOCO_GL) first and alone."""
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    if chosen in ("disable", "disabled", "off", "false", "0"):
        return ()
    if chosen in ("egl", "osmesa", "glfw", "cgl"):
        return (chosen,)
    if platform.system() == "Darwin":
        return ("cgl", "glfw")
    if platform.system() == "Windows" or os.environ.get("DISPLAY"):
        return ("glfw", "egl", "osmesa")[: 1 if platform.system() == "Windows" else 3]
    return ("egl", "osmesa")


@lru_cache(maxsize=1)
def find_opengl() -> str | None:
    """Return the first way to OpenGL that draws a picture; None where there is none."""
    return next((name for name in candidates() if _draws(name)), None)


def _draws(name: str) -> bool:
    command = [sys.executable, "-c", _TRIAL, name]
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        run = subprocess.run(
            command, capture_output=True, timeout=_PATIENCE, env={**os.environ, "PYTHONPATH": paths}, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def _light(model: mujoco.MjModel) -> None:
    """Light a stage evenly: what a take's model has is one lamp over the middle."""
    head = model.vis.headlight
    head.ambient[:], head.diffuse[:], head.specular[:] = 0.42, 0.28, 0.0
    model.light_type[:] = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    model.light_diffuse[:], model.light_specular[:] = 0.5, 0.05
    model.vis.rgba.haze[:] = (0.93, 0.94, 0.96, 1.0)


class OpenGl:
    """Draws one model; belongs to the thread that made it."""

    def __init__(self, model: mujoco.MjModel, width: int, height: int, backend: str) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._size = (height, width, 3)
        _light(model)
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        self._context: Any = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
        self._context.make_current()
        self._scene = mujoco.MjvScene(model, maxgeom=_MOST_GEOMS)
        self._option, self._view = mujoco.MjvOption(), mujoco.MjvCamera()
        self._renderer = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._window = mujoco.MjrRect(0, 0, width, height)

    def draw(self, qpos: Floats, camera: Camera) -> NDArray[np.uint8]:
        """Take a picture of the model in a position (nq,), (height, width, 3)."""
        model, data = self._model, self._data
        self._context.make_current()
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        aim(self._view, camera)
        model.vis.global_.fovy = math.degrees(camera.fov_y)
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(model, data, self._option, None, self._view, everything, self._scene)
        picture = np.empty(self._size, np.uint8)
        mujoco.mjr_render(self._window, self._scene, self._renderer)
        mujoco.mjr_readPixels(picture, None, self._window, self._renderer)
        return picture[::-1]

    def close(self) -> None:
        """Give everything back to the driver."""
        self._context.make_current()
        self._renderer.free()
        self._context.free()


Picture = NDArray[np.uint8]
_SMOOTH = 0.35  # How long the following camera takes to make up its mind [s].
_MARGIN = 0.07
_STYLE = Style(shadow_rays=16)
_FRAMES = 48  # Looked at to see how much room a character takes.


@dataclass(frozen=True, eq=False)
class VideoShot:
    """A take and its camera."""

    motion: SampledTake  #: The take at the video's times
    cameras: tuple[Camera, ...]  #: One for all frames, or one for each

    def camera(self, frame: int) -> Camera:
        """Return the camera of a frame."""
        return self.cameras[min(frame, len(self.cameras) - 1)]

    def frame(self, number: int) -> int:
        """Return which of the take's frames is on show; the last one stays."""
        return min(number, len(self.motion.times) - 1)


def make_shot(take: Take, motion: SampledTake, options: Options) -> VideoShot:
    """Set up the camera."""
    everyone = take.cast.names
    names = [options.character] if options.character is not None else everyone
    azimuth = facing(motion.model, motion.qpos[0], names) + options.video.azimuth
    aspect = options.video.size[0] / options.video.size[1]
    if options.video.camera == "follow" and names:
        points, path = _around(motion, names[0])
        camera = Camera.frame_on(points, azimuth, options.video.elevation, aspect=aspect, margin=_MARGIN)
        return VideoShot(motion, tuple(_moved(camera, step) for step in path))
    points = points_of_performance(motion.model, motion.qpos, names)
    camera = Camera.frame_on(points, azimuth, options.video.elevation, aspect=aspect, margin=_MARGIN)
    return VideoShot(motion, (camera,))


def _around(motion: SampledTake, name: str) -> tuple[Floats, Floats]:
    """Return points around a character seen from its smoothed path over the ground, and that path, (F, 3)."""
    model, data = motion.model, mujoco.MjData(motion.model)
    bodies = [body for body in range(model.nbody) if model.body(body).name.startswith(f"{name}/")]
    path = motion.positions[:, bodies[0]] * [1.0, 1.0, 0.0]
    path = scipy.ndimage.gaussian_filter1d(path, _SMOOTH * motion.fps, axis=0, mode="nearest")
    own = np.isin(model.geom_bodyid, bodies)
    clouds = []
    for frame in np.unique(np.linspace(0, len(path) - 1, _FRAMES).astype(int)):
        data.qpos[:] = motion.qpos[frame]
        mujoco.mj_kinematics(model, data)
        clouds.append(geom_corners(model, data.geom_xpos, data.geom_xmat)[own].reshape(-1, 3) - path[frame])
    return np.concatenate(clouds), path


def _moved(camera: Camera, step: Floats) -> Camera:
    eye, target = np.add(camera.eye, step), np.add(camera.target, step)
    return replace(camera, eye=tuple(eye.tolist()), target=tuple(target.tolist()))


def pictures(shot: VideoShot, count: int, options: Options) -> Iterator[Picture]:
    """Yield the pictures of a shot, one per frame of the video."""
    backend = None if options.video.renderer == "software" else find_opengl()
    if backend is None and options.video.renderer == "opengl":
        raise ExportError(
            "this machine has no OpenGL, EGL or OSMesa that draws. Install one (on Debian: libegl1 or libosmesa6), "
            "or use --renderer software."
        )
    return _software(shot, count, options) if backend is None else _opengl(shot, count, options, backend)


def _opengl(shot: VideoShot, count: int, options: Options, backend: str) -> Iterator[Picture]:
    drawer = OpenGl(shot.motion.model, *options.video.size, backend)
    try:
        for number in range(count):
            frame = shot.frame(number)
            yield drawer.draw(shot.motion.qpos[frame], shot.camera(frame))
    finally:
        drawer.close()


def _software(shot: VideoShot, count: int, options: Options) -> Iterator[Picture]:
    """Draw whole frames side by side, each on one core, a few ahead of what is taken."""
    model, caster = shot.motion.model, Raycaster(shot.motion.model, _STYLE)
    width, height = options.video.size

    def draw(number: int) -> Picture:
        data = mujoco.MjData(model)
        data.qpos[:] = shot.motion.qpos[shot.frame(number)]
        mujoco.mj_kinematics(model, data)
        camera = shot.camera(shot.frame(number))
        return caster.render(data.geom_xpos, data.geom_xmat, camera, width, height, threads=1)

    return ahead(draw, count, core_count())


def ahead(work: Callable[[int], Picture], count: int, workers: int) -> Iterator[Picture]:
    """Yield work(0), work(1), … in order, computed by several threads a few steps ahead."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: list[Future[Picture]] = []
        numbers = iter(range(count))
        try:
            waiting += [pool.submit(work, number) for number in islice(numbers, 2 * workers)]
            while waiting:
                done = waiting.pop(0).result()
                waiting += [pool.submit(work, number) for number in islice(numbers, 1)]
                yield done
        finally:  # whoever stops listening need not wait for what is not begun
            for future in waiting:
                future.cancel()
