"""The stage inside MuJoCo Studio: a plugin that plays a performance there, live, and feels the mouse.

Studio's thread calls the plugin at every turn of its loop; the plugin advances Stunt's own loop in step with the clock
and puts what came of it into Studio's data. Studio's forces on bodies (double-click, then Ctrl-drag) act on the stage.
"""

from __future__ import annotations

import copy
import math
import time
from typing import Any

import mujoco
from mujoco.studio import messages, plugin, sim
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stunt.drive.beats.spec import Script
from stunt.errors import BlowUpError, StuntError
from stunt.record.camera import Camera, aim, points_of_performance
from stunt.record.live import LiveViewError, has_display, launch_studio, light_up
from stunt.script.file import script_from_text
from stunt.script.performance import Performance

_PERIOD = 1 / 120  # [s]
_MOST_BEHIND = 0.1  # what a slow machine may catch up at once [s]


class LiveStage(plugin.SimPlugin):  # type: ignore[misc]
    """Plays a performance in real time inside Studio; from the start again after its end, or on Studio's reset.

    Attributes:
        performance: What is played.
        error: What stopped it; "" while all is well.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._speed, self._playing = 1.0, True
        self._begin()

    def _begin(self) -> None:
        self.performance = Performance(self._script, foretell=False)
        self.performance.stage.advance(0)
        self.error = ""
        self._last = time.monotonic()

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step(self, event: messages.StepEvent) -> bool:
        """Play on for as long as the clock went on."""
        time.sleep(_PERIOD)
        now = time.monotonic()
        passed, self._last = min(now - self._last, _MOST_BEHIND) * self._speed, now
        if self._playing and not self.error:
            self._advance(passed)
        stage = self.performance.stage
        event.data.qpos[:] = stage.data.qpos
        event.data.qvel[:] = stage.data.qvel
        event.data.time = stage.time
        return True

    def _advance(self, passed: float) -> None:
        stage = self.performance.stage
        if stage.time >= self.performance.seconds:
            self._begin()
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

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step_control(self, event: messages.StepControlSnapshot) -> bool:
        """Follow Studio's pause and speed."""
        self._playing = event.pause_state == sim.PauseState.UNPAUSED
        self._speed = min(max(event.speed / 100.0, 0.01), 4.0)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_single_step(self, event: messages.SingleStepEvent) -> bool:
        """Play one control step."""
        self._advance(self.performance.stage.control_period)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_reset(self, event: messages.ResetEvent) -> bool:
        """Play it from the start."""
        self._begin()
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_load(self, event: messages.LoadModelEvent) -> bool:
        """Refuse other models: this is Stunt's stage."""
        return True


class Title(plugin.ViewerPlugin):  # type: ignore[misc]
    """Looks at the whole performance, and says what is played."""

    def __init__(self, title: str, camera: Camera) -> None:
        self._title, self._camera = title, camera

    # Studio places its own camera at the lowest of its priorities; ours comes after.
    @messages.handler(priority=int(messages.Priority.INTERNAL) - 1)  # type: ignore[untyped-decorator]
    def on_model(self, event: messages.PostModelEvent) -> None:
        """Look at everyone."""
        aim(self.viewer.camera, self._camera)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_build_gui(self, event: messages.BuildGuiEvent) -> None:
        """Build the window."""
        once = int(imgui.Cond.FirstUseEver)
        imgui.SetNextWindowPos(imgui.Vec2(24, 56), once)
        imgui.SetNextWindowSize(imgui.Vec2(300, 84), once)
        if imgui.Begin(f"{self._title}###stage")[0]:
            imgui.Text("space: pause   backspace: from the start")
            imgui.Text("double-click a body, Ctrl-drag: pull it")
        imgui.End()


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
    handle = launch_studio(plugins, not has_display() if web is None else web, port, open_browser)
    data = mujoco.MjData(model)
    data.qpos[:] = stage.data.qpos
    try:
        handle.set_model(model, data=data)
    except BaseException:
        handle.close()
        raise
    return handle, live


def show_stage(text: str, source: str, *, port: int = 0, open_browser: bool = True) -> None:
    """Play a script in MuJoCo Studio until its window is closed or Ctrl-C is pressed.

    Raises:
        StuntError: The script does not fit, or the window cannot be opened.
    """
    script = script_from_text(text, source)
    try:
        handle, live = start_stage(script, port=port, open_browser=open_browser)
        with handle:
            while handle.is_running() and not live.error:
                handle.sync()
        if live.error:
            raise LiveViewError(live.error)
    except KeyboardInterrupt:
        pass  # the announced way to close it
    except StuntError:
        raise
    except (RuntimeError, OSError) as error:
        raise LiveViewError(f"MuJoCo Studio could not be opened: {error}") from error
