"""Watch a take in MuJoCo Studio: in a window where there is a display, else as a page on this machine only."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

import mujoco

from stunt.errors import InvalidValueError, StuntError
from stunt.record.camera import Camera, points_of_performance
from stunt.record.joint_tracks import beat_times
from stunt.record.playback import Playback
from stunt.record.take import Take

if TYPE_CHECKING:
    from mujoco.studio.viewer_handle import ViewerHandle

__all__ = ["LiveViewError", "Playback", "has_display", "show_live", "start_live"]


class LiveViewError(StuntError):
    """The live view could not be opened."""


def show_live(take: Take, *, web: bool | None = None, port: int = 0, open_browser: bool = True) -> None:
    """Play a take with a scrubber until the window is closed or Ctrl-C is pressed.

    Args:
        take: The performance.
        web: Whether to serve a page on 127.0.0.1 instead of opening a window; None serves it where no display exists.
        port: The page's port; 0 takes the first free one from 8080 on.
        open_browser: Whether to open the page in a browser, where there is a display.

    Raises:
        LiveViewError: Studio is not there, or the window or the port cannot be opened.
    """
    try:
        with start_live(take, web=web, port=port, open_browser=open_browser) as handle:
            while handle.is_running():
                handle.sync()
    except KeyboardInterrupt:
        pass  # The announced way to close the page.
    except StuntError:
        raise
    except (RuntimeError, OSError) as error:
        raise LiveViewError(f"the live view could not be opened: {error}") from error


def start_live(take: Take, *, web: bool | None = None, port: int = 0, open_browser: bool = True) -> ViewerHandle:
    """Open the live view without waiting for it to be closed; the caller syncs and closes the returned handle.

    Takes what `show_live` takes. Use the handle as a context manager, and call its `sync` until `is_running` says no.
    """
    if not 0 <= port <= 65535:
        raise InvalidValueError("port", port, "between 0 and 65535")
    playback = Playback(take.time)
    model = take.model()
    light_up(model)
    data = mujoco.MjData(model)
    data.qpos[:] = take.qpos[0]
    plugins = _plugins(take, model, playback)
    handle = launch_studio(plugins, not has_display() if web is None else web, port, open_browser)
    try:
        handle.set_model(model, data=data)
    except BaseException:
        handle.close()
        raise
    return handle


def has_display() -> bool:
    """Tell whether a window could be opened here."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def light_up(model: mujoco.MjModel) -> None:
    """Turn up the light that comes with the camera where the scene has no other."""
    if model.nlight == 0:
        model.vis.headlight.ambient[:] = 0.45
        model.vis.headlight.diffuse[:] = 0.85


def _plugins(take: Take, model: mujoco.MjModel, playback: Playback) -> list[Any]:
    try:
        from mujoco.studio import app as studio_app

        from stunt.record.studio_player import Panel, Player
    except ImportError as error:
        raise LiveViewError(f"MuJoCo Studio is not installed here ({error}).") from error
    points = points_of_performance(model, take.qpos, list(take.meta.get("characters", {})))
    camera = Camera.frame_on(points, math.radians(24.0), math.radians(10.0), fov_y=math.radians(model.vis.global_.fovy))
    title = str(take.meta.get("title") or "Take")
    chrome = studio_app.Config(show_options=False, show_inspector=False, show_status_bar=False)
    return [studio_app.App(chrome), Player(take, playback), Panel(take, _labels(take), camera, title)]


def _labels(take: Take) -> list[tuple[float, str]]:
    """Name each beat: its pose, its error, and whose it is where there are several characters."""
    several = len(take.meta.get("characters", {})) > 1
    errors = {(float(e["time"]), str(e.get("pose") or "")): e for e in take.events if e.get("kind") == "beat"}
    labels = []
    for key in beat_times(take):
        event = errors[key]
        whose = f"{event.get('character')}: " if several else ""
        error = event.get("error_deg")
        labels.append((key[0], f"{whose}{key[1]}" + ("" if error is None else f"   {error:.2f} deg off")))
    return labels


def launch_studio(plugins: list[Any], web: bool, port: int, open_browser: bool) -> ViewerHandle:
    from mujoco.studio import launch_native, launch_thread, plugin, viewer_protocol

    config = viewer_protocol.ViewerConfig(title="Stunt", http_port=port, open_browser=open_browser)
    if not web:
        return launch_native.launch(config, plugins=plugins)
    viewer_plugins, sim_plugins = plugin.split_plugins(plugins)

    def serve(endpoint: Any) -> None:
        from stunt.record.loopback_viewer import LoopbackViewer

        viewer_protocol.run_viewer_loop(LoopbackViewer(config, endpoint, plugins=viewer_plugins))

    return launch_thread.launch_thread(serve, sim_plugins=sim_plugins)
