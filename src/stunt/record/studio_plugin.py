"""What Stunt's plugins in MuJoCo Studio share: Studio shows states that come from elsewhere, in step with the clock.

Studio runs two threads: a `ShownElsewhere` lives on the simulation's, a `Window` on the viewer's. Import only where
Studio is wanted.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, Final

from mujoco.studio import messages, plugin, sim
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stunt.record.raycast.camera import Camera, aim

PERIOD: Final = 1 / 120
"""How often what is shown is renewed [s]."""


class ShownElsewhere(plugin.SimPlugin):  # type: ignore[misc]
    """Puts states into Studio's data instead of letting Studio step; other models are refused."""

    def __init__(self) -> None:
        """Start the clock."""
        self._last = time.monotonic()

    @abstractmethod
    def go_on(self, passed: float, data: Any) -> None:
        """Go on for so long [s] of the clock on the wall, and write the state into Studio's data."""

    @abstractmethod
    def go_on_one(self) -> None:
        """Go on by the smallest step there is."""

    @abstractmethod
    def from_the_start(self) -> None:
        """Go back to the beginning."""

    @abstractmethod
    def pace(self, playing: bool, speed: float) -> None:
        """Play or pause, at a speed; 1 is real time."""

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step(self, event: messages.StepEvent) -> bool:
        """Go on for as long as the clock did."""
        time.sleep(PERIOD)
        now = time.monotonic()
        passed, self._last = now - self._last, now
        self.go_on(passed, event.data)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step_control(self, event: messages.StepControlSnapshot) -> bool:
        """Follow Studio's own pause and speed keys."""
        self.pace(event.pause_state == sim.PauseState.UNPAUSED, max(event.speed / 100.0, 0.01))
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_single_step(self, event: messages.SingleStepEvent) -> bool:
        """Go on by one."""
        self.go_on_one()
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_reset(self, event: messages.ResetEvent) -> bool:
        """Go back to the start."""
        self.from_the_start()
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_load(self, event: messages.LoadModelEvent) -> bool:
        """Refuse other models: what is shown is Stunt's."""
        return True


def show_state(data: Any, qpos: Any, qvel: Any, when: float) -> None:
    """Put a state into Studio's data."""
    data.qpos[:] = qpos
    data.qvel[:] = qvel
    data.time = when


class Window(plugin.ViewerPlugin):  # type: ignore[misc]
    """A window of Stunt's in Studio, whose camera looks at the whole performance."""

    def __init__(self, title: str, camera: Camera, size: tuple[float, float]) -> None:
        """Say its title, where to look from, and its size when it is first shown [px]."""
        self._title, self._camera, self._size = title, camera, size

    @abstractmethod
    def build(self) -> None:
        """Build what is in the window."""

    # Studio places its own camera at the lowest of its priorities; ours comes after.
    @messages.handler(priority=int(messages.Priority.INTERNAL) - 1)  # type: ignore[untyped-decorator]
    def on_model(self, event: messages.PostModelEvent) -> None:
        """Look at the whole performance."""
        aim(self.viewer.camera, self._camera)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_build_gui(self, event: messages.BuildGuiEvent) -> None:
        """Build the window."""
        once = int(imgui.Cond.FirstUseEver)
        imgui.SetNextWindowPos(imgui.Vec2(24, 56), once)
        imgui.SetNextWindowSize(imgui.Vec2(*self._size), once)
        if imgui.Begin(f"{self._title}###stunt")[0]:
            self.build()
        imgui.End()
