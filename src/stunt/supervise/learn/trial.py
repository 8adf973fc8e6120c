"""One try: put a body into some state, let a controller take it, and see whether it gets through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from stunt.character.bodies import BUILT_IN, SUFFIXES
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.errors import BlowUpError
from stunt.library.names import find_clip, load_clip
from stunt.stage.event_specs import Push
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import Bid, Controller, Status, failed
from stunt.supervise.learn.features import FEATURES, body_digest, features
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.registry import make_controller
from stunt.supervise.situation import Ended, Situation

WHO: Final = "body"
HZ: Final = 120.0
LOOK_HZ: Final = 30.0
STRONGEST: Final = 160.0
"""Of a push [N·s]."""
AFTER: Final = 1.0
"""A body that still stands so long after its controller is done was saved [s]; balance has it meanwhile, as it would
under a supervisor."""


PUSHED: Final = Status("failed", "pushed")


@dataclass(frozen=True)
class TrialPlan:
    """What is tried, and on whom."""

    controller: str  #: Its registered name, or module:Class
    body: str = "idle"  #: The clip whose skeleton the body has, or the name of a body
    clips: tuple[str, ...] = ("idle", "idle", "walk")  #: What it does when it is pushed: one of these, by chance
    strength: float = 1.5  #: Factor on the joints' strength
    practice: Practice = Practice()  #: From which states, with which parameters, to what end


@dataclass(frozen=True)
class Sample:
    """What one try showed."""

    number: int  #: Which try
    features: tuple[float, ...]  #: The state the controller took over in
    success: bool  #: Whether it got through
    why: str  #: How it ended, in its own words
    #: The push: direction [rad], size [N·s], delay until the controller took over [s]; or how the body came to lie or
    #: fall.
    parameters: tuple[float, ...]
    sampled: tuple[float, ...] = ()  #: The controller's own parameters, in the order of its practice


def run_trial(plan: TrialPlan, seed: int, number: int) -> Sample:
    """Try once; the same plan, seed and number give the same sample."""
    parameters: tuple[float, ...] = ()
    try:
        stage, actor, parameters = pushed(plan, np.random.default_rng([seed, number]))
        seen = features(stage, actor.character)
        controller = make_controller(plan.controller, stage, WHO)
        status = _let(controller, stage, actor)
        if status.state == "succeeded":
            _let(BalanceReflex(), stage, actor, seconds=AFTER, last=status)
            if not stands(stage):
                status = failed("fell afterwards")
    except BlowUpError:
        return Sample(number, (0.0,) * len(FEATURES), False, "blew up", parameters)
    return Sample(number, tuple(seen.tolist()), status.state == "succeeded", status.reason, parameters)


def pushed(
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


def pushed_stage(plan: TrialPlan, clip: str, push: Push) -> tuple[StageLoop, BodyActor]:
    """Return a stage with a body that follows a clip by forces and will be pushed."""
    body = CharacterSpec(body_name(plan.body), root="free", strength=plan.strength)
    stage = StageLoop(Scene(characters={WHO: body}, physics_hz=HZ, control_hz=HZ))
    stage.crew.append(EventCrew(stage, (push,)))
    actor = actor_of(stage, WHO)
    motion = _motion(clip, plan.body, stage)
    actor.put(motion)
    actor.follow(motion, blend=0.0, place=False)
    return stage, actor


def _let(
    controller: Controller, stage: StageLoop, actor: BodyActor, *, seconds: float | None = None, last: Status = PUSHED
) -> Status:
    """Let a controller go on until it has succeeded or failed, or for some seconds, and say which."""
    began, step = stage.time, round(HZ / LOOK_HZ)

    def look() -> Situation:
        return Situation(stage, actor.character, since=began, last=Ended("push", last, began))

    controller.start(look(), actor, Bid(1.0, "a try"))
    while stage.time - began < (controller.longest if seconds is None else seconds):
        stage.advance(step)
        status = controller.step(look(), actor)
        if not status.running and seconds is None:
            controller.stop(look(), actor)
            return status if status.state == "failed" or stands(stage) else failed("does not stand")
    return failed("took too long")


def stands(stage: StageLoop) -> bool:
    """Whether the body is up: its hips above two thirds of their height, upright within 45°."""
    now = Situation(stage, stage.character(WHO))
    root = now.character.root
    assert root is not None  # bodies that are tried are free
    return bool(now.qpos[2] > 0.67 * stage.model.qpos0[root.qpos + 2]) and now.tilt < 0.79


_MOTIONS: dict[tuple[str, str], BodyMotion] = {}


def _motion(clip: str, body: str, stage: StageLoop) -> BodyMotion:
    """Return a clip as the body's motion; worked out once, for it takes longer than a try."""
    if (clip, body) not in _MOTIONS:
        _MOTIONS[clip, body] = replace(motion_of_clip(load_clip(clip), stage.character(WHO)), loop=True)
    return _MOTIONS[clip, body]


def plan_digest(plan: TrialPlan) -> str:
    """Return the digest of the body a plan tries on.

    Raises:
        StuntError: There is no such body, it has no feet, or the controller cannot be made for it.
    """
    body = CharacterSpec(body_name(plan.body), root="free", strength=plan.strength)
    stage = StageLoop(Scene(characters={WHO: body}))
    features(stage, stage.character(WHO))  # complains where there are no feet, before anything is tried
    make_controller(plan.controller, stage, WHO)
    return body_digest(stage.model, stage.character(WHO))


def body_name(body: str) -> str:
    """Return what a scene calls a body: one that comes with Stunt or is in a file, or the skeleton of a clip."""
    if body in BUILT_IN or Path(body).suffix.lower() in SUFFIXES:
        return body
    return str(find_clip(body))
