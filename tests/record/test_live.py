"""The playhead, the player's plugin, and a page that only this machine can reach."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stunt.errors import InvalidValueError, TakeError
from stunt.record.live import has_display, start_live
from stunt.record.playback import Playback

TIMES = np.linspace(0.0, 2.0, 201)


def test_time_passes_at_the_speed_asked_for():
    playback = Playback(TIMES)
    playback.set_speed(0.5)
    for _ in range(10):
        playback.advance(0.1)
    assert playback.position == pytest.approx(0.5)
    assert playback.frame == 50


def test_a_loop_leads_from_the_end_to_the_start_however_long_the_step():
    playback = Playback(TIMES)
    playback.seek(1.9)
    playback.advance(4.3)
    assert playback.position == pytest.approx(0.2)
    assert playback.playing


def test_without_a_loop_it_stops_at_the_end_and_playing_again_starts_over():
    playback = Playback(TIMES, loop=False)
    playback.advance(5.0)
    assert (playback.position, playback.playing, playback.frame) == (2.0, False, 200)
    playback.play()
    assert (playback.position, playback.playing) == (0.0, True)


def test_while_paused_time_stands_still_and_seeking_moves_it():
    playback = Playback(TIMES, playing=False)
    playback.seek(0.755)
    playback.advance(1.0)
    assert playback.position == 0.755
    playback.seek(99.0)
    assert playback.frame == 200
    playback.seek(-1.0)
    assert playback.frame == 0


def test_the_frame_shown_is_the_nearest_recorded_one():
    playback = Playback(np.array([0.0, 0.1, 0.4]))
    rng = np.random.default_rng(0)
    for when in rng.uniform(0.0, 0.4, 100):
        playback.seek(when)
        assert playback.frame == int(np.abs(np.array([0.0, 0.1, 0.4]) - when).argmin())


def test_stepping_goes_from_frame_to_frame_and_stops_at_both_ends():
    playback = Playback(TIMES)
    playback.step(3)
    assert (playback.frame, playback.playing) == (3, False)
    playback.step(-10)
    assert playback.frame == 0


def test_a_single_frame_can_be_shown_for_ever():
    playback = Playback(np.array([0.0]))
    playback.advance(1.0)
    assert playback.frame == 0


def test_nonsense_is_refused():
    with pytest.raises(TakeError, match="no frames"):
        Playback(np.empty(0))
    with pytest.raises(InvalidValueError, match="speed"):
        Playback(TIMES).set_speed(0.0)
    with pytest.raises(InvalidValueError, match="time"):
        Playback(TIMES).seek(float("nan"))


def test_a_port_that_is_none_is_refused_before_anything_is_opened(take):
    with pytest.raises(InvalidValueError, match="port"):
        start_live(take, web=True, port=70000)


def test_a_machine_without_a_display_is_recognised(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_display()


class _Handle:
    def __init__(self) -> None:
        self.sent: list[object] = []

    def send_to_viewer(self, message: object) -> None:
        self.sent.append(message)


def test_the_player_shows_the_recorded_frame_and_holds_where_the_slider_was_dragged(take):
    from mujoco.studio import messages

    from stunt.record.studio_player import Player, PlayEvent, SeekSnapshot

    model = take.model()
    data = mujoco.MjData(model)
    player = Player(take, Playback(take.time))
    player.handle = handle = _Handle()
    player.on_seek(SeekSnapshot(1.2))
    for _ in range(3):
        assert player.on_step(messages.StepEvent(model=model, data=data))
    assert data.qpos == pytest.approx(take.qpos[120])
    assert data.time == pytest.approx(1.2)
    assert (handle.sent[-1].position, handle.sent[-1].playing) == (1.2, False)
    player.on_play(PlayEvent(playing=True, speed=2.0))
    player.on_step(messages.StepEvent(model=model, data=data))
    assert handle.sent[-1].position > 1.2


def test_a_recording_cannot_be_changed_from_the_viewer(take):
    from mujoco.studio import messages

    from stunt.record.studio_player import Player

    player = Player(take, Playback(take.time))
    state = np.zeros(3)
    assert player.on_load(messages.LoadModelEvent(path="other.xml"))
    assert player.on_state(messages.StateEvent(state=state, state_sig=1))
    assert player.on_perturb(messages.PerturbSnapshot(state=state, state_sig=1))


def test_a_socket_open_to_other_machines_is_closed_before_it_serves():
    from stunt.record.live import ExposedServerError, LoopbackViewer

    with socket.socket() as exposed, socket.socket() as inner:
        exposed.bind(("0.0.0.0", 0))
        viewer = LoopbackViewer.__new__(LoopbackViewer)
        viewer._http_sock, viewer._tcp_sock = exposed, inner
        with pytest.raises(ExposedServerError, match="0.0.0.0"):
            viewer._start_server()
        assert exposed.fileno() == -1


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listening(pid: int) -> list[str]:
    """Return the addresses, as the kernel writes them, on which a process listens."""
    links = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()]
    mine = {m.group(1) for link in links if (m := re.match(r"socket:\[(\d+)\]", link))}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in mine:
                found.append(fields[1].split(":")[0])
    return found


def _page(port: int, seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _interrupted(process: subprocess.Popen[bytes]) -> int:
    """Press Ctrl-C as a person would: once more where the first fell into a moment of the engine's own threads."""
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(60.0)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("three interrupts did not end it")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_live_page_is_served_on_loopback_alone_and_ctrl_c_ends_it(take, tmp_path):
    take.save(tmp_path / "take.npz")
    port = _free_port()
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may have had it ignored
        "from stunt.record.live import show_live; from stunt.record.take import Take; "
        f"show_live(Take.load({str(tmp_path / 'take.npz')!r}), web=True, port={port}, open_browser=False)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert b"<html" in _page(port, 300.0)
        addresses = _listening(process.pid)
        assert addresses
        assert set(addresses) <= {"0100007F", "00000000000000000000000001000000"}
        assert _interrupted(process) == 0
    finally:
        process.kill()
        _, trouble = process.communicate()
    assert b"Traceback" not in trouble
