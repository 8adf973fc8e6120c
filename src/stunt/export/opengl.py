"""Pictures by MuJoCo's own renderer, where the machine has OpenGL: EGL, OSMesa, or a window system.

A driver that is broken may end the process, so each is first tried in a process of its own.
"""

from __future__ import annotations

import importlib
import math
import os
import platform
import subprocess
import sys
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.record.camera import Camera, aim
from stunt.rotations import Floats

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
