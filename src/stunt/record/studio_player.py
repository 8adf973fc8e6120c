"""A take in MuJoCo Studio: a plugin that replays recorded frames instead of stepping, and a panel to steer it.

Studio runs two threads. `Player` lives on the simulation's, `PlayerPanel` on the viewer's; they talk only through the
messages below (a snapshot: only the latest counts; an event: every one counts). Import only where Studio is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mujoco.studio import messages
from mujoco.studio.dear_imgui import dear_imgui as imgui

from stunt.record.playback import SPEEDS, Playback
from stunt.record.raycast.camera import Camera
from stunt.record.studio_plugin import ShownElsewhere, Window, show_state
from stunt.record.take import Take

_FASTEST = 100.0  # times real time


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


class Player(ShownElsewhere):
    """Shows recorded frames in real time. Everything that would change the recording is swallowed."""

    def __init__(self, take: Take, playback: Playback) -> None:
        super().__init__()
        self._take = take
        self._playback = playback

    def go_on(self, passed: float, data: Any) -> None:
        """Put the frame under the playhead into the simulation's data."""
        self._playback.advance(passed)
        frame = self._playback.frame
        show_state(data, self._take.qpos[frame], self._take.qvel[frame], self._take.time[frame])
        self._report()

    def go_on_one(self) -> None:
        """Show the next frame."""
        self._playback.step(1)

    def from_the_start(self) -> None:
        """Go back to the start."""
        self._playback.seek(self._playback.start)

    def pace(self, playing: bool, speed: float) -> None:
        """Play or pause, at a speed."""
        self._playback.play() if playing else self._playback.pause()
        self._playback.set_speed(min(speed, _FASTEST))

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
    def on_state(self, event: messages.StateEvent) -> bool:
        """Refuse edits of a recorded state."""
        return True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_perturb(self, event: messages.PerturbSnapshot) -> bool:
        """Refuse pushes: what happened has happened."""
        return True


class PlayerPanel(Window):
    """The take's window: play, loop, speed, a scrubber, and the beats to jump to."""

    def __init__(self, take: Take, beats: Sequence[tuple[float, str]], camera: Camera, title: str) -> None:
        super().__init__(title, camera, (330, 150 + 24 * min(len(beats) + 1, 14)))
        self._end = take.seconds
        self._beats = beats
        self._head = PlayheadSnapshot(0.0, True, True, 1.0)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_playhead(self, event: PlayheadSnapshot) -> None:
        """Remember what the player shows."""
        self._head = event

    def build(self) -> None:
        """Build buttons, scrubber and beats."""
        self._build_buttons()
        self._build_scrubber()
        self._build_beats()

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
