"""What supervisors cost: their looks, hits, hand-overs and blends, over the engine's own bare steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from stunt.bench.result import Measurement
from stunt.direction.supervisor.clip_player import clip_player
from stunt.direction.supervisor.contract import REFLEX, BaseController, Bid, Controller
from stunt.direction.supervisor.situation import Situation
from stunt.direction.supervisor.supervisor import Supervisor
from stunt.motion.library import OWN_CLIPS, load_clip
from stunt.stage.happenings import Happenings
from stunt.stage.loop import Stage
from stunt.stage.scene import CharacterSpec, PropSpec, Scene, Throw

_clock = time.thread_time
BAR = 5.0
"""Supervisor cost over the bare engine step, at most [%]."""


class _Watcher(BaseController):
    """One of hundreds that never want anything."""

    priority = REFLEX

    def __init__(self, name: str, *, interrupts: bool) -> None:
        super().__init__(name)
        self.interrupts = interrupts

    def bid(self, now: Situation) -> Bid | float | None:
        """Look at the clock."""
        return None if now.time < 1e9 else 1.0


class _Meter:
    """Adds up the processor time of some methods of an object."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, thing: Any, *names: str) -> None:
        """Measure methods from now on."""
        for name in names:
            setattr(thing, name, self._timed(getattr(thing, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            began = _clock()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds += _clock() - began

        return timed


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five characters, at two rates, with hundreds of controllers, and with hits."""
    seconds = 1.0 if quick else 6.0
    _scene(1, 120.0, 0, hits=True)[0].step(3.0)  # compile and warm up
    calm = [(1, 480.0, 0), (5, 480.0, 0), (1, 120.0, 0), (5, 120.0, 0), (1, 480.0, 300), (1, 480.0, -300)]
    found = [_measure(count, hz, more, seconds, hits=False) for count, hz, more in calm]
    return found + [_measure(count, 480.0, 0, seconds, hits=True) for count in (1, 5)]


def _measure(count: int, hz: float, more: int, seconds: float, *, hits: bool) -> Measurement:
    stage, supervisors = _scene(count, hz, more, hits=hits)
    meter = _Meter()
    for supervisor in supervisors:
        meter.watch(supervisor, "act")
    listeners = stage.hit_listeners
    listeners[:] = [meter._timed(listener) for listener in listeners]
    stage.step(0.2)
    meter.seconds, states = 0.0, []
    for _ in range(round(seconds * 30)):
        states.append(stage.save()["engine"])
        stage.step(1.0 / 30.0)
    bare = _bare(stage, states)
    # Asked at every control step, and too quick to be measured one by one.
    asked = 2 * round(seconds * stage.scene.control_hz)
    meter.seconds += sum(asked * _time_of(supervisor.due) for supervisor in supervisors)
    switches = sum(entry["event"] == "switch" for s in supervisors for entry in s.log) - count
    who = "one character" if count == 1 else f"{count} characters"
    more_text = f", {abs(more)} more{' that may interrupt' if more < 0 else ''}" if more else ""
    what = "each hit once, hand-overs and blends included" if hits else "looking on"
    note = f"{1e6 * meter.seconds / seconds / count:.0f} µs per simulated second and character, {switches} hand-overs"
    name = f"supervisor over bare engine steps: {who}, {hz:g} Hz{more_text}, {what}"
    return Measurement(name, 100.0 * meter.seconds / bare, "%", None if hits or more < 0 else BAR, note)


def _time_of(call: Callable[[], object]) -> float:
    """Return how long a quick call takes [s]."""
    began = _clock()
    for _ in range(1000):
        call()
    return (_clock() - began) / 1000


def _scene(count: int, hz: float, more: int, *, hits: bool = True) -> tuple[Stage, list[Supervisor]]:
    body = str(OWN_CLIPS / "walk.bvh")
    names = [f"c{k}" for k in range(count)]
    characters = {
        name: CharacterSpec(body=body, root="free", strength=1.5, at=(0.0, 2.0 * k, 0.0))
        for k, name in enumerate(names)
    }
    props = {
        f"ball{k}": PropSpec(shape="sphere", radius=0.11, mass=4.0, at=(4.0 if hits else -4.0, 2.0 * k + 0.4, 1.0))
        for k in range(count)
    }
    stage = Stage(Scene(characters=characters, props=props, physics_hz=hz, control_hz=hz))
    throws = [
        Throw(prop=f"ball{k}", target=f"{name}/thorax", at=1.0 + 0.3 * k, hits_at=1.5 + 0.3 * k)
        for k, name in enumerate(names if hits else [])
    ]
    stage.crew.append(Happenings(stage, throws))
    return stage, [Supervisor(stage, name, _pool(stage, name, more)) for name in names]


def _pool(stage: Stage, name: str, more: int) -> list[Controller]:
    pool: list[Controller] = [
        clip_player(stage, name, load_clip(clip), loop=clip in ("walk", "idle"))
        for clip in ("walk", "idle", "kick", "punch")
    ]
    return pool + [_Watcher(f"watcher {k}", interrupts=more < 0) for k in range(abs(more))]


def _bare(stage: Stage, states: list[Any]) -> float:
    """Return how long the engine alone takes for the same stretch of time, from the states it was in [s]."""
    model, data = stage.model, mujoco.MjData(stage.model)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    steps, total = round(1.0 / (30.0 * stage.step_time)), 0.0
    for state in states:
        mujoco.mj_setState(model, data, np.asarray(state), kind)
        data.qfrc_applied[:] = 0.0
        data.xfrc_applied[:] = 0.0
        began = _clock()
        mujoco.mj_step(model, data, nstep=steps)
        total += _clock() - began
    return total
