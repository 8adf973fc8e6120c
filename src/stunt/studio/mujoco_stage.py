"""The stage inside MuJoCo Studio: a plugin that plays a performance there, live, and feels the mouse.

Studio's thread calls the plugin at every turn of its loop; the plugin advances Stunt's own loop in step with the clock
and puts what came of it into Studio's data. Studio's forces on bodies (double-click, then Ctrl-drag) act on the stage.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import mujoco
from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stunt.drive.beats.spec import Script
from stunt.errors import BlowUpError
from stunt.record.live import LiveViewError, explained, launch_studio, light_up
from stunt.record.raycast.camera import Camera, points_of_performance
from stunt.record.studio_plugin import ShownElsewhere, Window, show_state
from stunt.script.file import script_from_text
from stunt.script.performance import Performance

_MOST_BEHIND = 0.1  # what a slow machine may catch up at once [s]
_FASTEST = 4.0  # times real time


class LiveStage(ShownElsewhere):
    """Plays a performance in real time inside Studio; from the start again after its end, or on Studio's reset.

    Attributes:
        performance: What is played.
        error: What stopped it; "" while all is well.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._speed, self._playing = 1.0, True
        self.from_the_start()
        super().__init__()

    def from_the_start(self) -> None:
        """Play it from the start."""
        self.performance = Performance(self._script, foretell=False)
        self.performance.stage.advance(0)
        self.error = ""

    def go_on(self, passed: float, data: Any) -> None:
        """Play on for as long as the clock went on."""
        if self._playing and not self.error:
            self._advance(min(passed, _MOST_BEHIND) * self._speed)
        stage = self.performance.stage
        show_state(data, stage.data.qpos, stage.data.qvel, stage.time)

    def go_on_one(self) -> None:
        """Play one control step."""
        self._advance(self.performance.stage.control_period)

    def pace(self, playing: bool, speed: float) -> None:
        """Follow Studio's pause and speed."""
        self._playing, self._speed = playing, min(speed, _FASTEST)

    def _advance(self, passed: float) -> None:
        stage = self.performance.stage
        if stage.time >= self.performance.seconds:
            self.from_the_start()
            return
        try:
            stage.advance(max(1, round(passed / stage.step_time)))
        except BlowUpError as error:
            self.error = str(error)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_perturb(self, event: messages.PerturbSnapshot) -> bool:
        """Let the mouse's force act on the stage."""
        if event.state_sig == int(mujoco.mjtState.mjSTATE_XFRC_APPLIED):
            self.performance.stage.data.xfrc_applied.ravel()[:] = event.state
        return True


class Title(Window):
    """Says what is played, and which keys there are."""

    def __init__(self, title: str, camera: Camera) -> None:
        super().__init__(title, camera, (300, 84))

    def build(self) -> None:
        """Build the lines."""
        imgui.Text("space: pause   backspace: from the start")
        imgui.Text("double-click a body, Ctrl-drag: pull it")


def start_stage(
    script: Script, *, web: bool | None = None, port: int = 0, open_browser: bool = True
) -> tuple[Any, LiveStage]:
    """Open the stage in Studio without waiting; the caller syncs and closes the returned handle."""
    from mujoco.studio import app as studio_app

    live = LiveStage(script)
    stage = live.performance.stage
    model = copy.copy(stage.model)  # what control writes into the stage's own is not for Studio's thread
    light_up(model)
    points = points_of_performance(model, stage.data.qpos[None], list(stage.characters))
    camera = Camera.frame_on(points, math.radians(24.0), math.radians(10.0), fov_y=math.radians(model.vis.global_.fovy))
    chrome = studio_app.Config(show_options=False, show_inspector=False)
    plugins = [studio_app.App(chrome), live, Title(script.title or "Stunt", camera)]
    data = mujoco.MjData(model)
    data.qpos[:] = stage.data.qpos
    return launch_studio(model, data, plugins, web, port, open_browser), live


def show_stage(text: str, source: str, *, port: int = 0, open_browser: bool = True) -> None:
    """Play a script in MuJoCo Studio until its window is closed or Ctrl-C is pressed.

    Raises:
        StuntError: The script does not fit, or the window cannot be opened.
    """
    script = script_from_text(text, source)
    with explained("MuJoCo Studio"):
        handle, live = start_stage(script, port=port, open_browser=open_browser)
        with handle:
            while handle.is_running() and not live.error:
                handle.sync()
        if live.error:
            raise LiveViewError(live.error)
