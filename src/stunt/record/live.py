"""Watch a take in MuJoCo Studio: in a window where there is a display, else as a page on this machine only.

Studio's web viewer, reachable from this machine only.

As it comes, the viewer listens on every interface, without a password. Here the address is fixed before the socket is
bound, checked before anyone can connect, and checked again once it runs; if any of this does not hold, nothing is
served.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import os
import queue
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import mujoco
from mujoco.studio import web_viewer

from stunt.errors import InvalidValueError, StuntError
from stunt.record.joint_tracks import beat_times
from stunt.record.playback import Playback
from stunt.record.raycast.camera import Camera, points_of_performance
from stunt.record.take import Take

if TYPE_CHECKING:
    from mujoco.studio.viewer_handle import ViewerHandle


LOOPBACK = "127.0.0.1"


class ExposedServerError(StuntError):
    """The page would have been reachable from other machines; it was not started."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"the live page would listen on '{address}' instead of {LOOPBACK}, so it was not started. "
            "This version of MuJoCo Studio works differently from the one Stunt was tested with."
        )


class LoopbackViewer(web_viewer.WebViewer):  # type: ignore[misc]
    """A web viewer bound to 127.0.0.1."""

    _checked = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self._checked:  # The viewer no longer starts its server through `_start_server`.
            self.close()
            raise ExposedServerError("an unknown address")

    @property
    def _host(self) -> str:
        return LOOPBACK

    @_host.setter
    def _host(self, value: str) -> None:
        """Ignore the address the viewer's constructor asks for (all interfaces)."""

    def _start_server(self) -> None:
        """Start serving, but only on sockets bound to this machine alone. They are not listening yet."""
        for bound in (self._http_sock, self._tcp_sock):
            require_loopback(bound)
        self._checked = True
        super()._start_server()

    def get_drop_file(self) -> str:
        """Throw away files dropped on the page: a take is shown, not edited."""
        try:
            while True:
                self._drop_queue.get_nowait()
        except queue.Empty:
            return ""


def require_loopback(bound: socket.socket) -> None:
    """Check that a bound socket cannot be reached from outside; close it and raise if it can.

    Raises:
        ExposedServerError: The socket is bound to anything but a loopback address.
    """
    address = str(bound.getsockname()[0])
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        bound.close()
        raise ExposedServerError(address)


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
    with explained("the live view"), start_live(take, web=web, port=port, open_browser=open_browser) as handle:
        while handle.is_running():
            handle.sync()


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Say what could not be opened; Ctrl-C is the announced way to close it."""
    try:
        yield
    except KeyboardInterrupt:
        pass
    except (RuntimeError, OSError) as error:
        raise LiveViewError(f"{what} could not be opened: {error}") from error


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
    return launch_studio(model, data, _plugins(take, model, playback), web, port, open_browser)


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

        from stunt.record.studio_player import Player, PlayerPanel
    except ImportError as error:
        raise LiveViewError(f"MuJoCo Studio is not installed here ({error}).") from error
    points = points_of_performance(model, take.qpos, take.cast.names)
    camera = Camera.frame_on(points, math.radians(24.0), math.radians(10.0), fov_y=math.radians(model.vis.global_.fovy))
    title = str(take.meta.get("title") or "Take")
    chrome = studio_app.Config(show_options=False, show_inspector=False, show_status_bar=False)
    return [studio_app.App(chrome), Player(take, playback), PlayerPanel(take, _labels(take), camera, title)]


def _labels(take: Take) -> list[tuple[float, str]]:
    """Name each beat: its pose, its error, and whose it is where there are several characters."""
    several = len(take.cast.names) > 1
    errors = {(float(e["time"]), str(e.get("pose") or "")): e for e in take.events if e.get("kind") == "beat"}
    labels = []
    for key in beat_times(take):
        event = errors[key]
        whose = f"{event.get('character')}: " if several else ""
        error = event.get("error_deg")
        labels.append((key[0], f"{whose}{key[1]}" + ("" if error is None else f"   {error:.2f} deg off")))
    return labels


def launch_studio(
    model: mujoco.MjModel, data: mujoco.MjData, plugins: list[Any], web: bool | None, port: int, open_browser: bool
) -> ViewerHandle:
    """Start MuJoCo Studio with plugins: in a window, or as a page on this machine (None: where there is no display)."""
    from mujoco.studio import launch_native, launch_thread, plugin, viewer_protocol

    config = viewer_protocol.ViewerConfig(title="Stunt", http_port=port, open_browser=open_browser)
    if not (not has_display() if web is None else web):
        handle = launch_native.launch(config, plugins=plugins)
    else:
        viewer_plugins, sim_plugins = plugin.split_plugins(plugins)

        def serve(endpoint: Any) -> None:
            viewer_protocol.run_viewer_loop(LoopbackViewer(config, endpoint, plugins=viewer_plugins))

        handle = launch_thread.launch_thread(serve, sim_plugins=sim_plugins)
    try:
        handle.set_model(model, data=data)
    except BaseException:
        handle.close()
        raise
    return handle
