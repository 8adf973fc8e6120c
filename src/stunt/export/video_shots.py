"""One take in front of a camera: where the camera is in every frame, and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from stunt.errors import ExportError
from stunt.export.opengl import OpenGl, find_opengl
from stunt.export.options import Options
from stunt.export.sampling import Floats, Motion
from stunt.record.camera import Camera, geom_corners, points_of_performance
from stunt.record.filmstrip import facing
from stunt.record.raycast import Raycaster, Style, core_count
from stunt.record.take import Take

Picture = NDArray[np.uint8]
_SMOOTH = 0.35  # How long the following camera takes to make up its mind [s].
_MARGIN = 0.07
_STYLE = Style(shadow_rays=16)
_FRAMES = 48  # Looked at to see how much room a character takes.


@dataclass(frozen=True, eq=False)
class Shot:
    """A take and its camera.

    Attributes:
        motion: The take at the video's times.
        cameras: One for all frames, or one for each.
    """

    motion: Motion
    cameras: tuple[Camera, ...]

    def camera(self, frame: int) -> Camera:
        """Return the camera of a frame."""
        return self.cameras[min(frame, len(self.cameras) - 1)]

    def frame(self, number: int) -> int:
        """Return which of the take's frames is on show; the last one stays."""
        return min(number, len(self.motion.times) - 1)


def make_shot(take: Take, motion: Motion, options: Options) -> Shot:
    """Set up the camera."""
    everyone = list(take.meta.get("characters", {}))
    names = [options.character] if options.character is not None else everyone
    azimuth = facing(motion.model, motion.qpos[0], names) + options.video.azimuth
    aspect = options.video.size[0] / options.video.size[1]
    if options.video.camera == "follow" and names:
        points, path = _around(motion, names[0])
        camera = Camera.frame_on(points, azimuth, options.video.elevation, aspect=aspect, margin=_MARGIN)
        return Shot(motion, tuple(_moved(camera, step) for step in path))
    points = points_of_performance(motion.model, motion.qpos, names)
    return Shot(motion, (Camera.frame_on(points, azimuth, options.video.elevation, aspect=aspect, margin=_MARGIN),))


def _around(motion: Motion, name: str) -> tuple[Floats, Floats]:
    """Return points around a character seen from its smoothed path over the ground, and that path, (F, 3)."""
    model, data = motion.model, mujoco.MjData(motion.model)
    bodies = [body for body in range(model.nbody) if model.body(body).name.startswith(f"{name}/")]
    path = motion.positions[:, bodies[0]] * [1.0, 1.0, 0.0]
    path = gaussian_filter1d(path, _SMOOTH * motion.fps, axis=0, mode="nearest")
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


def pictures(shot: Shot, count: int, options: Options) -> Iterator[Picture]:
    """Yield the pictures of a shot, one per frame of the video."""
    backend = None if options.video.renderer == "software" else find_opengl()
    if backend is None and options.video.renderer == "opengl":
        raise ExportError(
            "this machine has no OpenGL, EGL or OSMesa that draws. Install one (on Debian: libegl1 or libosmesa6), "
            "or use --renderer software."
        )
    return _software(shot, count, options) if backend is None else _opengl(shot, count, options, backend)


def _opengl(shot: Shot, count: int, options: Options, backend: str) -> Iterator[Picture]:
    drawer = OpenGl(shot.motion.model, *options.video.size, backend)
    try:
        for number in range(count):
            frame = shot.frame(number)
            yield drawer.draw(shot.motion.qpos[frame], shot.camera(frame))
    finally:
        drawer.close()


def _software(shot: Shot, count: int, options: Options) -> Iterator[Picture]:
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
