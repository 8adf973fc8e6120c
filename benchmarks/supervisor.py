"""What supervisors cost: their looks, hits, hand-overs and blends, over the engine's own bare steps."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import mujoco
import numpy as np

from benchmarks.result import Measurement
from stunt.library.names import OWN_CLIPS, load_clip
from stunt.stage import loop
from stunt.stage.event_specs import Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import REFLEX, BaseController, Bid, Controller
from stunt.supervise.data.clip import clip_player
from stunt.supervise.registry import make_controller
from stunt.supervise.situation import Situation
from stunt.supervise.supervisor import Supervisor

_clock = time.thread_time
BAR = 5.0
"""Supervisor cost over the bare engine step, at most [%]."""
MASKS = ("geom_contype", "geom_conaffinity", "body_contype", "body_conaffinity")
REFLEXES = ("duck", "curl", "fall", "stumble", "roll", "clutch")


class _Watcher(BaseController):
    """One of hundreds that never want anything."""

    priority = REFLEX

    def __init__(self, name: str, *, interrupts: bool) -> None:
        super().__init__(name)
        self.interrupts = interrupts

    def bid(self, now: Situation) -> Bid | float | None:
        """Look at the clock."""
        return None if now.time < 1e9 else 1.0


@dataclass(frozen=True)
class _Case:
    """What is measured: how many characters, at which rate, with how many more controllers, hit or not."""

    count: int
    hz: float
    more: int = 0
    interrupts: bool = False
    reflexes: bool = False
    hits: bool = False

    @property
    def name(self) -> str:
        """In words."""
        who = "one character" if self.count == 1 else f"{self.count} characters"
        more = f", {self.more} more{' that may interrupt' if self.interrupts else ''}" if self.more else ""
        reflexes = ", all reflexes of the house" if self.reflexes else ""
        what = "each hit once, hand-overs and blends included" if self.hits else "looking on"
        return f"supervisor over bare engine steps: {who}, {self.hz:g} Hz{more}{reflexes}, {what}"


CASES = [
    case
    for hz in (480.0, 120.0)
    for case in (
        _Case(1, hz), _Case(5, hz), _Case(1, hz, 300), _Case(1, hz, 300, True), _Case(1, hz, reflexes=True),
        _Case(1, hz, hits=True), _Case(5, hz, hits=True),
    )
]  # fmt: skip


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five characters, at two rates, with hundreds of controllers, and with hits.

    What is counted: all processor time the supervised loop spends outside the compiled steps — the stage's own
    book-keeping, asking who is due, looks, bids, hits, hand-overs and blends — but for throwing the balls, which is the
    scene's doing. Over: the engine alone, `mj_step` and nothing else, set to the states the performance went through
    thirty times a second and stepped on from there.
    """
    seconds, repeats = (1.0, 1) if quick else (6.0, 5)
    _scene(_Case(1, 120.0, hits=True))[0].step(3.0)  # compile and warm up
    return [_measure(case, seconds, repeats) for case in CASES if case.hz < 480.0 or not quick]


def _measure(case: _Case, seconds: float, repeats: int) -> Measurement:
    stage, supervisors = _scene(case)
    stage.step(0.2)
    start = stage.save()
    way = _way(stage, seconds)
    shares, times = list[tuple[float, float]](), list[float]()
    for _ in range(repeats):
        bare = _bare(stage, way)
        stage.restore(start)
        whole, inside = _supervised(stage, seconds)
        shares.append(((whole - inside) / bare, whole / bare))
        times.append(whole - inside)
    share, loop = np.median(np.array(shares), axis=0)
    switches = sum(entry["event"] == "switch" for s in supervisors for entry in s.log) - case.count
    each = 1e6 * float(np.median(times)) / seconds / case.count
    note = f"{each:.0f} µs per simulated second and character, {switches} hand-overs; whole loop {loop:.2f}× bare"
    return Measurement(case.name, 100.0 * float(share), "%", BAR, note)


def _way(stage: StageLoop, seconds: float) -> list[tuple[Any, dict[str, Any]]]:
    """Return the engine's states, and who collides with whom, as the performance goes through them."""
    found = []
    for _ in range(round(seconds * 30)):
        masks = {name: getattr(stage.model, name).copy() for name in MASKS}
        found.append((stage.save()["engine"], masks))
        stage.step(1.0 / 30.0)
    return found


def _supervised(stage: StageLoop, seconds: float) -> tuple[float, float]:
    """Return how long the supervised loop takes, and how much of that are compiled steps and throws [s]."""
    inside, steps, events = [0.0], loop.run, stage.crew[0]

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*arguments: Any) -> Any:
            began = _clock()
            try:
                return call(*arguments)
            finally:
                inside[0] += _clock() - began

        return measured

    with mock.patch.object(loop, "run", timed(steps)), mock.patch.object(events, "act", timed(events.act)):
        began = _clock()
        stage.step(seconds)
        return _clock() - began, inside[0]


def _bare(stage: StageLoop, way: list[tuple[Any, dict[str, Any]]]) -> float:
    """Return how long the engine alone takes for the same stretch of time, from the states it was in [s]."""
    model = copy.deepcopy(stage.model)
    data, kind = mujoco.MjData(model), mujoco.mjtState.mjSTATE_INTEGRATION
    steps, total = round(1.0 / (30.0 * stage.step_time)), 0.0
    for state, masks in way:
        for name, values in masks.items():
            getattr(model, name)[...] = values
        mujoco.mj_setState(model, data, np.asarray(state), kind)
        data.qfrc_applied[:] = 0.0
        data.xfrc_applied[:] = 0.0
        began = _clock()
        mujoco.mj_step(model, data, nstep=steps)
        total += _clock() - began
    return total


def _scene(case: _Case) -> tuple[StageLoop, list[Supervisor]]:
    body = str(OWN_CLIPS / "walk.bvh")
    names = [f"c{k}" for k in range(case.count)]
    characters = {
        name: CharacterSpec(body=body, root="free", strength=1.5, at=(0.0, 2.0 * k, 0.0))
        for k, name in enumerate(names)
    }
    ahead = 4.0 if case.hits else -4.0
    props = {
        f"ball{k}": PropSpec(shape="sphere", radius=0.11, mass=4.0, at=(ahead, 2.0 * k + 0.4, 1.0))
        for k in range(case.count)
    }
    stage = StageLoop(Scene(characters=characters, props=props, physics_hz=case.hz, control_hz=case.hz))
    throws = [
        Throw(prop=f"ball{k}", target=f"{name}/thorax", at=1.0 + 0.3 * k, hits_at=1.5 + 0.3 * k)
        for k, name in enumerate(names if case.hits else [])
    ]
    stage.crew.append(EventCrew(stage, throws))
    return stage, [Supervisor(stage, name, _pool(stage, name, case)) for name in names]


def _pool(stage: StageLoop, name: str, case: _Case) -> list[Controller]:
    pool: list[Controller] = [
        clip_player(stage, name, load_clip(clip), loop=clip in ("walk", "idle"))
        for clip in ("walk", "idle", "kick", "punch")
    ]
    if case.reflexes:
        pool += [make_controller(use, stage, name) for use in REFLEXES]
    return pool + [_Watcher(f"watcher {k}", interrupts=case.interrupts) for k in range(case.more)]
