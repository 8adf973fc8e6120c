"""One try as its controller declares it: from lying or falling states too, with parameters of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.errors import BlowUpError
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Push
from stunt.supervise.calls import ask_bid
from stunt.supervise.contract import Bid, Controller, Status, failed
from stunt.supervise.learn import trial
from stunt.supervise.learn.features import features
from stunt.supervise.learn.trial import HZ, STRONGEST, WHO, Sample, TrialPlan, pushed_stage, stands
from stunt.supervise.practice import Practice
from stunt.supervise.registry import make_controller
from stunt.supervise.situation import Ended, Situation

BLEW_UP: Final = "blew up"
SETTLE: Final = 1.2
"""How long a limp body lies before it is handed over [s]."""
WEAK: Final = 0.3
"""Strength of a body that is to fall; half a second later it goes limp."""
LONGEST_FALL: Final = 2.5
"""A body that has not tipped so long after is handed over as it is [s]."""
_LOOK: Final = round(HZ / trial.LOOK_HZ)
_START: Final = Status("failed", "a try begins")


def run_trial(plan: TrialPlan, seed: int, number: int) -> Sample:
    """Try once; the same plan, seed and number give the same sample. One that blew up has no features."""
    if plan.practice == Practice():
        sample = trial.run_trial(plan, seed, number)
        return replace(sample, features=()) if sample.why == BLEW_UP else sample
    rng = np.random.default_rng([seed, number])
    start = plan.practice.starts[int(rng.integers(len(plan.practice.starts)))]
    told = tuple(float(rng.uniform(least, most)) for _, least, most in plan.practice.sampled)
    where: tuple[float, ...] = ()
    try:
        stage, actor, where = _STARTS[start](plan, rng)
        seen = features(stage, actor.character)
        names = [name for name, _, _ in plan.practice.sampled]
        controller = make_controller(plan.controller, stage, WHO, parameters=dict(zip(names, told, strict=True)))
        status = _run(controller, stage, actor)
        if status.state == "succeeded" and plan.practice.success == "stands":
            stage.advance(round(trial.AFTER * HZ))
            status = status if stands(stage) else failed("does not stand afterwards")
    except BlowUpError:
        return Sample(number, (), False, BLEW_UP, where, told)
    return Sample(number, tuple(seen.tolist()), status.state == "succeeded", status.reason, where, told)


def _run(controller: Controller, stage: StageLoop, actor: BodyActor) -> Status:
    """Let a controller go on until it has succeeded or failed, and say which."""
    began = stage.time

    def look() -> Situation:
        return Situation(stage, actor.character, since=began, last=Ended("before", _START, began))

    bid = ask_bid(controller, look())
    controller.start(look(), actor, bid or Bid(1.0, "a try"))
    while stage.time - began < controller.longest:
        stage.advance(_LOOK)
        status = controller.step(look(), actor)
        if not status.running:
            controller.stop(look(), actor)
            return status
    return failed("took too long")


def _pushed(
    plan: TrialPlan, rng: np.random.Generator, weakest: float = 0.0
) -> tuple[StageLoop, BodyActor, tuple[float, ...]]:
    """Stand or walk, and be pushed; the controller takes over a moment later."""
    clip = plan.clips[int(rng.integers(len(plan.clips)))]
    at, delay = float(rng.uniform(0.3, 1.3)), float(rng.uniform(0.05, 0.45))
    direction, size = float(rng.uniform(-np.pi, np.pi)), float(rng.uniform(weakest, STRONGEST))
    target = ("thorax", "pelvis")[int(rng.integers(2))]
    impulse = (size * float(np.cos(direction)), size * float(np.sin(direction)), 0.0)
    stage, actor = pushed_stage(plan, clip, Push(f"{WHO}/{target}", at, impulse=impulse, duration=0.1))
    stage.advance(stage.tick_of(at + delay))
    return stage, actor, (direction, size, delay)


def _falling(plan: TrialPlan, rng: np.random.Generator) -> tuple[StageLoop, BodyActor, tuple[float, ...]]:
    """Be pushed hard; the controller takes over once the body leans so far, or lies."""
    stage, actor, (direction, size, _) = _pushed(plan, rng, 0.6 * STRONGEST)
    lean, began = float(rng.uniform(0.6, 1.5)), stage.time
    while stage.time < began + LONGEST_FALL and Situation(stage, actor.character).tilt < lean:
        actor.strength(WEAK if stage.time < began + 0.5 else 0.01)
        stage.advance(_LOOK)
    actor.recover()
    return stage, actor, (direction, size, lean)


def _lying(plan: TrialPlan, rng: np.random.Generator) -> tuple[StageLoop, BodyActor, tuple[float, ...]]:
    """Drop limply onto any side, and lie."""
    stage, actor = pushed_stage(plan, plan.clips[0], Push(f"{WHO}/pelvis", 1e6, impulse=(0.0, 0.0, 0.0), duration=0.1))
    side, spin = float(rng.uniform(-np.pi, np.pi)), float(rng.uniform(-np.pi, np.pi))
    root = actor.character.root
    assert root is not None  # bodies that are tried are free
    stood = stage.data.qpos[root.qpos + 3 : root.qpos + 7].copy()
    over = rotations.from_rotation_vector(0.5 * np.pi * np.array([np.cos(side), np.sin(side), 0.0]))
    turned = rotations.multiply(over, rotations.multiply(rotations.from_rotation_vector(np.array([0, 0, spin])), stood))
    actor.go_limp()
    stage.data.qpos[root.qpos + 3 : root.qpos + 7] = turned
    stage.data.qpos[root.qpos + 2] = 0.4
    stage.data.qvel[actor.slices[1]] = 0.3 * rng.standard_normal(actor.layout.nv)
    mujoco.mj_forward(stage.model, stage.data)
    stage.advance(round(SETTLE * HZ))
    return stage, actor, (side, spin, 0.0)


_STARTS: Final = {"pushed": _pushed, "falling": _falling, "lying": _lying}
