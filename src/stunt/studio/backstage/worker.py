"""The simulation's own process: one stage, one playhead, told what to do by messages, telling what there is to see.

Nothing here knows of pages or sockets; nothing there touches the stage. Whatever goes wrong is said, not raised.
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time as clock
import traceback
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from stunt.drive.beats.spec import Script
from stunt.errors import StuntError
from stunt.schema import node_from_plain
from stunt.script.file import script_from_text
from stunt.stage.scene import read_events, read_props
from stunt.studio.backstage import exports, hand
from stunt.studio.backstage import results as curves
from stunt.studio.backstage.frames import FrameMaker, scenery
from stunt.studio.backstage.posing import Posing, mirrored
from stunt.studio.backstage.rehearsal import Rehearsal
from stunt.studio.backstage.results import results

TICK = 1.0 / 60.0
"""How often the page gets a picture [s]."""
_BUDGET = 0.006  # how long the simulation may run before the playhead moves on [s]
_PROGRESS = 0.15  # how often progress is told [s]
_TELL = 0.25  # how often results are told while simulating [s]
_ALIVE = 5.0  # how often it is told that there is somebody, however long one thing takes [s]


def script_with(text: str, source: str, touches: Sequence[Mapping[str, Any]]) -> Script:
    """Make the script that is played: the document's, and what the hand did.

    Raises:
        StuntError: The text is no script, or a touch does not fit it.
    """
    script = script_from_text(text, source)
    extra = {str(t["throw"]): t["prop"] for t in touches if "prop" in t}
    if extra:
        props = read_props(node_from_plain(extra, "the hand"), script.scene.characters)
        script = dataclasses.replace(
            script, scene=dataclasses.replace(script.scene, props={**props, **script.scene.props})
        )
    plain = [{key: value for key, value in touch.items() if key != "prop"} for touch in touches]
    events = read_events(node_from_plain(plain, "the hand"), script.scene) if plain else ()
    scene = dataclasses.replace(script.scene, events=(*script.scene.events, *events))
    return dataclasses.replace(script, scene=scene)


class Worker:
    """Runs the stage.

    Attributes:
        playhead: The time on show [s].
    """

    def __init__(self, pipe: Connection) -> None:
        """Listen at a pipe."""
        self._pipe = pipe
        self._speaking = threading.Lock()
        self._rehearsal: Rehearsal | None = None
        self._frames: FrameMaker | None = None
        self._pull: hand.Pull | None = None
        self._pulled: list[dict[str, Any]] = []
        self._next_pull = self._pull_end = 0.0
        self.playhead = 0.0
        self._playing, self._loop, self._speed, self._ghost = False, False, 1.0, False
        self._revision = 0
        self._dirty = self._untold = True
        self._last_told = self._shown = 0.0
        self._looks: dict[str, Any] | None = None
        self._picture: tuple[int, float, bool] | None = None
        self._running = True

    # -- the loop ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Work until told to quit or until nobody is there any more."""
        last = clock.perf_counter()
        while self._running:
            busy = self._rehearsal is not None and not self._rehearsal.done
            self._listen(0.0 if busy or self._playing else 0.1, last + TICK)
            now = clock.perf_counter()
            try:
                self._simulate()
                self._move(now - last)
                last = now
                self._show()
            except StuntError as error:
                self._send("error", str(error))
                self._rehearsal = None

    def live(self) -> None:
        """Say again and again that it lives: what is compiled first may take minutes on a busy machine."""
        while self._running:
            self._send("alive", None)
            clock.sleep(_ALIVE)

    def _listen(self, idle: float, next_tick: float) -> None:
        """Do what was asked for; wait for the next picture's time, or for a word."""
        wait = idle if idle else max(0.0, next_tick - clock.perf_counter()) if self._waiting() else 0.0
        try:
            while self._pipe.poll(wait):
                number, op, data = self._pipe.recv()
                self._do(number, op, data)
                wait = 0.0
        except (EOFError, OSError):
            self._running = False

    def _waiting(self) -> bool:
        return self._rehearsal is None or self._rehearsal.done or self._pull is not None

    def _do(self, number: int, op: str, data: dict[str, Any]) -> None:
        try:
            answer = getattr(self, f"do_{op}")(**data)
            if number:
                self._send("reply", {"number": number, "data": answer})
        except StuntError as error:
            if number:
                self._send("reply", {"number": number, "error": str(error)})
            else:
                self._send("error", str(error))
        except Exception as error:  # noqa: BLE001 — a mistake of ours must not end the user's session
            text = f"{type(error).__name__}: {error}"
            self._send("trouble", {"error": text, "trace": traceback.format_exc(limit=-4)})
            if number:
                self._send("reply", {"number": number, "error": text})

    def _send(self, kind: str, data: Any) -> None:
        with self._speaking, contextlib.suppress(OSError):  # exports speak from their own threads
            self._pipe.send((kind, data))

    # -- time -------------------------------------------------------------------------------------------------------

    def _simulate(self) -> None:
        stage = self._rehearsal
        if stage is None or self._pull is not None:
            return
        if not stage.done:
            stage.play_for(_BUDGET)
            self._dirty = self._untold = True
        if self._untold and (stage.done or clock.perf_counter() - self._last_told > _TELL):
            self._tell()

    def _tell(self) -> None:
        assert self._rehearsal is not None
        self._send("results", {"revision": self._revision, **results(self._rehearsal)})
        self._last_told, self._untold = clock.perf_counter(), False

    def _move(self, passed: float) -> None:
        """Let the playhead run; it never overtakes the simulation."""
        stage = self._rehearsal
        if stage is None or not self._playing:
            return
        wanted = self.playhead + min(passed, 0.25) * self._speed
        if self._pull is not None:
            self._pull_to(min(wanted, self._pull_end))
        known = stage.simulated
        if wanted >= stage.seconds - 1e-9 and stage.done:
            wanted = 0.0 if self._loop and self._pull is None else min(stage.seconds, known)
            self._playing = self._loop and self._pull is None
            self._untold = True
        self.playhead = min(wanted, known)
        self._dirty = True

    def _pull_to(self, time: float) -> None:
        """Simulate in step with the clock while the hand holds the body."""
        stage = self._rehearsal
        assert stage is not None and self._pull is not None
        while stage.simulated < time - 1e-9 and not stage.done:
            if stage.simulated >= self._next_pull - 1e-9:
                push = hand.push_of(self._pull, stage.performance.stage)
                stage.touch(push)
                self._pulled.append(hand.event_data(push))
                self._next_pull = stage.simulated + push.duration
            stage.play_to(min(time, self._next_pull))

    def _show(self) -> None:
        stage = self._rehearsal
        if stage is None or self._frames is None or not self._dirty:
            return
        now = clock.perf_counter()
        # While only the simulation goes on behind a standing picture, its progress is told less often.
        still = not self._playing and not stage.done and self._picture == (self._revision, self.playhead, self._ghost)
        if now - self._shown < (_PROGRESS if still else TICK * 0.9):
            return
        self._shown, self._dirty = now, False
        self._picture = (self._revision, self.playhead, self._ghost)
        header = {
            1: self._revision, 2: self.playhead, 3: stage.simulated, 4: stage.seconds, 5: self._playing, 6: self._speed,
            7: self._loop, 11: self._pull is not None, 12: stage.done,
        }  # fmt: skip
        self._send("pose", self._frames.pack(self.playhead, header, ghost=self._ghost))

    # -- what can be asked for --------------------------------------------------------------------------------------

    def do_open(self, text: str, source: str, touches: list[dict[str, Any]], revision: int) -> None:
        """Put another script on the stage."""
        self._pull, self._playing, self.playhead = None, False, 0.0
        self._rehearsal = None
        self._begin(script_with(text, source, touches), revision)

    def do_change(self, text: str, source: str, touches: list[dict[str, Any]], revision: int) -> None:
        """Play an edited script on from where the edit matters."""
        script = script_with(text, source, touches)
        if self._rehearsal is None:
            self._begin(script, revision)
            return
        before = self._rehearsal.performance
        self._rehearsal.change(script)
        self._revision = revision
        self._pull = None
        if self._rehearsal.performance is not before:
            self._set_up(edited=True)
        self.playhead = min(self.playhead, self._rehearsal.seconds)
        self._dirty = self._untold = True

    def _begin(self, script: Script, revision: int) -> None:
        self._rehearsal = Rehearsal(script)
        self._revision = revision
        self._set_up()

    def _set_up(self, *, edited: bool = False) -> None:
        assert self._rehearsal is not None
        self._rehearsal.performance.stage.advance(0)
        self._frames = FrameMaker(self._rehearsal.performance)
        looks = scenery(self._rehearsal.performance)
        if not edited or looks != self._looks:  # most edits leave the bodies as they are
            self._send("scene", {"revision": self._revision, **looks})
        self._looks = looks
        self._dirty = self._untold = True

    def do_play(
        self, playing: bool | None = None, loop: bool | None = None, speed: float | None = None,
        seek: float | None = None, step: int | None = None,
    ) -> None:  # fmt: skip
        """Steer the playhead."""
        stage = self._rehearsal
        if stage is None:
            return
        if loop is not None:
            self._loop = bool(loop)
        if speed is not None:
            self._speed = float(np.clip(speed, 0.05, 4.0))
        if seek is not None:
            self.playhead = float(np.clip(seek, 0.0, min(stage.seconds, stage.simulated)))
        if step is not None:
            self._playing = False
            frame = stage.performance.recorder.frame_time
            self.playhead = float(np.clip(self.playhead + step * frame, 0.0, stage.simulated))
        if playing is not None:
            at_end = stage.done and self.playhead >= min(stage.seconds, stage.simulated) - 1e-6
            if playing and at_end and not self._playing:
                self.playhead = 0.0
            self._playing = bool(playing)
        self._dirty = True

    def do_ghost(self, on: bool) -> None:
        """Send the target's pose too, or not."""
        self._ghost, self._dirty = bool(on), True

    def do_pull(self, data: dict[str, Any] | None) -> list[dict[str, Any]] | None:
        """Take hold of a body, move the hand, or (None) let go; letting go returns the events that came of it."""
        stage = self._rehearsal
        if stage is None:
            return None
        if data is None:
            self._pull, pulled, self._pulled = None, self._pulled, []
            self._untold = True
            return hand_merged(pulled)
        if self._pull is None:
            stage.stand_at(self.playhead)
            if stage.performance is not getattr(self._frames, "performance", None):
                self._set_up()
            self._pull, self._pulled = hand.pull_from(stage.performance.stage, data), []
            self._next_pull = stage.simulated
            self._pull_end = stage.seconds  # a pull makes no performance longer but by its last push
            self._playing = True
        else:
            self._pull.goal = np.array(data["goal"], float)
        return None

    def do_curves(self, character: str, joints: list[str], quantity: str) -> dict[str, Any]:
        """Return curves of some joints."""
        self._need()
        assert self._rehearsal is not None
        found = curves.curves(self._rehearsal.performance, character, joints, quantity)
        return {"revision": self._revision, **found}

    def do_trail(self, body: int) -> list[list[float]]:
        """Return the way of a body, thinned out [m]."""
        self._need()
        assert self._rehearsal is not None and self._frames is not None
        recorder = self._rehearsal.performance.recorder
        stride = max(1, recorder.count // 400)
        rows = recorder.column("qpos")[::stride]
        ways = [self._frames.poses(row).reshape(-1, 7)[int(body), :3] for row in rows]
        return [[round(float(x), 4) for x in way] for way in ways]

    def do_pose(
        self, character: str, angles: dict[str, float], mirror: bool = False, reach: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a pose's angles [°] after mirroring or reaching, and where all bodies are in it."""
        self._need()
        assert self._rehearsal is not None
        posing = Posing(self._rehearsal.performance)
        known = set(self._rehearsal.performance.stage.character(character).joints)
        if mirror:
            angles = {name: angle for name, angle in mirrored(angles).items() if name in known}
        if reach is not None:
            angles = posing.reach(character, angles, reach["body"], reach["point"], reach["goal"])
        poses = posing.poses(posing.qpos_of(character, angles))
        return {"character": character, "angles": angles, "poses": [round(float(x), 4) for x in poses.ravel()]}

    def do_angles(self, character: str, time: float | None = None) -> dict[str, float]:
        """Return a character's joint angles [°] on show at a time."""
        self._need()
        assert self._rehearsal is not None and self._frames is not None
        recorder = self._rehearsal.performance.recorder
        qpos = recorder.column("qpos")[self._frames.frame_at(self.playhead if time is None else time)]
        joints = self._rehearsal.performance.stage.character(character).joints.values()
        return {
            j.name: round(float(qpos[j.qpos] if j.kind == "slide" else np.degrees(qpos[j.qpos])), 2)
            for j in joints
            if j.nq == 1
        }

    def do_export(self, kind: str, path: str, number: int) -> None:
        """Write what was performed to a file; says how far it is."""
        self._need()
        assert self._rehearsal is not None
        self._rehearsal.play_to(self._rehearsal.seconds)

        def tell(**what: Any) -> None:
            self._send("export", {"number": number, **what})

        exports.in_background(self._rehearsal.take(), kind, path, tell)

    def do_quit(self) -> None:
        """Stop."""
        self._running = False

    def _need(self) -> None:
        if self._rehearsal is None:
            raise StuntError("there is nothing on the stage.")


def hand_merged(pulled: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out pushes of next to nothing."""
    return [push for push in pulled if max(abs(x) for x in push["force"]) > 0.0]


def main(pipe: Connection) -> None:
    """Run a worker; the process's entry point."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    worker = Worker(pipe)
    threading.Thread(target=worker.live, name="stunt studio pulse", daemon=True).start()
    worker.run()
