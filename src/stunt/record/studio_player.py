"""A take in MuJoCo Studio: a plugin that replays recorded frames instead of stepping, and a panel to steer it.

Studio runs two threads. `Player` lives on the simulation's, `PlayerPanel` on the viewer's; they talk only through the
messages below (a snapshot: only the latest counts; an event: every one counts). Import only where Studio is wanted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from mujoco.studio import messages, plugin, sim
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stunt.record.camera import Camera, aim
from stunt.record.playback import SPEEDS, Playback
from stunt.record.take import Take

_PERIOD = 1 / 120  # How often the shown frame is renewed [s].


@dataclass(frozen=True)
class PlayheadSnapshot(messages.Snapshot):  # type: ignore[misc]
    """Player to panel: what is on show."""

    position: float
    playing: bool
    loop: bool
    speed: float


@dataclass(frozen=True)
class SeekSnapshot(messages.Snapshot):  # type: ignore[misc]
    """Panel to player: show this time [s], and stay there."""

    position: float


@dataclass(frozen=True)
class PlayEvent(messages.Event):  # type: ignore[misc]
    """Panel to player: change what is not None."""

    playing: bool | None = None
    loop: bool | None = None
    speed: float | None = None
    frames: int | None = None


class Player(plugin.SimPlugin):  # type: ignore[misc]
    """Shows recorded frames in real time. Everything that would change the recording is swallowed."""

    def __init__(self, take: Take, playback: Playback) -> None:
        self._take = take
        self._playback = playback
        self._last = time.monotonic()

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step(self, event: messages.StepEvent) -> bool:
        """Put the frame under the playhead into the simulation's data."""
        time.sleep(_PERIOD)
        now = time.monotonic()
        self._playback.advance(now - self._last)
        self._last = now
        frame = self._playback.frame
        event.data.qpos[:] = self._take.qpos[frame]
        event.data.qvel[:] = self._take.qvel[frame]
        event.data.time = self._take.time[frame]
        self._report()
        return True

    def _report(self) -> None:
        head = self._playback
        self.handle.send_to_viewer(PlayheadSnapshot(head.position, head.playing, head.loop, head.speed))

    @messages.handler  # type: ignore[untyped-decorator]
    def on_seek(self, event: SeekSnapshot) -> bool:
        """Jump to a time and stay there."""
        self._playback.pause()
        self._playback.seek(event.position)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_play(self, event: PlayEvent) -> bool:
        """Change how the take is played."""
        head = self._playback
        if event.playing is not None:
            head.play() if event.playing else head.pause()
        if event.loop is not None:
            head.loop = event.loop
        if event.speed is not None:
            head.set_speed(event.speed)
        if event.frames is not None:
            head.step(event.frames)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step_control(self, event: messages.StepControlSnapshot) -> bool:
        """Follow Studio's own pause and speed keys."""
        paused = event.pause_state != sim.PauseState.UNPAUSED
        self._playback.pause() if paused else self._playback.play()
        self._playback.set_speed(min(max(event.speed / 100.0, 0.01), 100.0))
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_single_step(self, event: messages.SingleStepEvent) -> bool:
        """Show the next frame."""
        self._playback.step(1)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_reset(self, event: messages.ResetEvent) -> bool:
        """Go back to the start."""
        self._playback.seek(self._playback.start)
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_load(self, event: messages.LoadModelEvent) -> bool:
        """Refuse other models: this is a take."""
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_state(self, event: messages.StateEvent) -> bool:
        """Refuse edits of a recorded state."""
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_perturb(self, event: messages.PerturbSnapshot) -> bool:
        """Refuse pushes: what happened has happened."""
        return True


class PlayerPanel(plugin.ViewerPlugin):  # type: ignore[misc]
    """The take's window: play, loop, speed, a scrubber, and the beats to jump to."""

    def __init__(self, take: Take, beats: Sequence[tuple[float, str]], camera: Camera, title: str) -> None:
        self._end = take.seconds
        self._beats = beats
        self._camera = camera
        self._title = title
        self._head = PlayheadSnapshot(0.0, True, True, 1.0)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_playhead(self, event: PlayheadSnapshot) -> None:
        """Remember what the player shows."""
        self._head = event

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
        imgui.SetNextWindowSize(imgui.Vec2(330, 150 + 24 * min(len(self._beats) + 1, 14)), once)
        if imgui.Begin(f"{self._title}###take")[0]:
            self._build_buttons()
            self._build_scrubber()
            self._build_beats()
        imgui.End()

    def _send(self, message: messages.Message) -> None:
        self.viewer.send_to_sim(message)

    def _build_buttons(self) -> None:
        head = self._head
        if imgui.Button("Pause###play" if head.playing else "Play###play", imgui.Vec2(64, 0)):
            self._send(PlayEvent(playing=not head.playing))
        for label, frames in (("<", -1), (">", 1)):
            imgui.SameLine()
            if imgui.Button(label):
                self._send(PlayEvent(frames=frames))
            imgui.SetItemTooltip("one frame back" if frames < 0 else "one frame on")
        imgui.SameLine()
        changed, loop = imgui.Checkbox("Loop", head.loop)
        if changed:
            self._send(PlayEvent(loop=loop))
        imgui.SameLine()
        imgui.SetNextItemWidth(-1)
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] - head.speed))
        changed, chosen = imgui.Combo("##speed", nearest, [f"{speed:g}x" for speed in SPEEDS])
        if changed:
            self._send(PlayEvent(speed=SPEEDS[chosen]))

    def _build_scrubber(self) -> None:
        imgui.SetNextItemWidth(-1)
        changed, position = imgui.SliderFloat("##time", self._head.position, 0.0, max(self._end, 1e-6), "%.3f s")
        if changed:
            self._send(SeekSnapshot(position))

    def _build_beats(self) -> None:
        imgui.SeparatorText(f"Beats ({len(self._beats)})" if self._beats else "No beats in this take")
        passed = [k for k, (when, _) in enumerate(self._beats) if when <= self._head.position + 1e-6]
        current = passed[-1] if passed else -1
        for k, (when, label) in enumerate(self._beats):
            if imgui.Selectable(f"{when:7.3f} s   {label}##beat{k}", k == current):
                self._send(SeekSnapshot(when))
