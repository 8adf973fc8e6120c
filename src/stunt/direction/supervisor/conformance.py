"""The conformance checker: does a controller keep the contract? For users (`stunt check module:Class`) and for us.

Tries a controller on a small stage: standing, tipping over, lying, hit by a ball. In each it is asked to bid, started
if it does, run, stopped, and saved and restored in the middle. Says everything that is wrong, not only the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import mujoco
import numpy as np

from stunt import rotations
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import Bid, Controller, succeeded
from stunt.direction.supervisor.guard import BrokenContract, ask_bid, ask_step, missing_in
from stunt.direction.supervisor.situation import Ended, Situation
from stunt.errors import BlowUpError, StuntError
from stunt.motion.library import OWN_CLIPS
from stunt.stage.contacts import Hit
from stunt.stage.loop import Stage
from stunt.stage.scene import CharacterSpec, PropSpec, Scene

WHO: Final = "ada"
BODY: Final = str(OWN_CLIPS / "idle.bvh")
SECONDS: Final = 2.0
"""How long each trial runs [s]."""
_ENDED: Final = succeeded("the trial begins")
Maker = Callable[[Stage, str], Controller]


@dataclass
class Findings:
    """What a check found.

    Attributes:
        name: The controller's name.
        kinematic: Whether it is kinematic.
        broken: Sentences on what it may not do.
        notes: Sentences on what one should know.
        trials: What it did in each trial: state → a few words.
    """

    name: str
    kinematic: bool = False
    broken: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trials: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it keeps the contract."""
        return not self.broken


def check_controller(make: Maker, *, name: str = "", seed: int = 0) -> Findings:
    """Check a controller.

    Args:
        make: Makes one for a stage and a character; called several times, and must make equal ones.
        name: What to call it where it has no name.
        seed: Of what is random in the trials.
    """
    try:
        first = make(_stage(seed), WHO)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
        return Findings(name, broken=[f"cannot be made: {error!r}"])
    found = Findings(getattr(first, "name", name) or name, bool(getattr(first, "kinematic", False)))
    found.broken += missing_in(first)
    if not found.broken and not first.name:
        found.broken.append("has an empty name")
    if found.broken:
        return found
    for trial, prepare in TRIALS.items():
        found.trials[trial] = _try(make, trial, prepare, found, seed)
    if all(words == "does not bid" for words in found.trials.values()):
        found.notes.append("bid in none of the trials: only its attributes and its bid were checked")
    return found


def _stage(seed: int) -> Stage:
    ball = PropSpec(shape="sphere", radius=0.11, mass=1.0, at=(2.0, 0.0, 0.11))
    character = CharacterSpec(body=BODY, root="free", strength=1.5)
    return Stage(
        Scene(characters={WHO: character}, props={"ball": ball}, seed=seed, physics_hz=240.0, control_hz=240.0)
    )


def _standing(stage: Stage, actor: Actor) -> None:
    actor.aim(stage.data.qpos[actor.slices[0]].copy(), over=0.0)


def _tipping(stage: Stage, actor: Actor) -> None:
    _standing(stage, actor)
    stage.data.qvel[actor.slices[1].start] += 2.0


def _lying(stage: Stage, actor: Actor) -> None:
    q = actor.slices[0].start
    lean = rotations.from_rotation_vector(np.array([0.0, 0.5 * np.pi, 0.0]))
    stage.data.qpos[q + 3 : q + 7] = rotations.multiply(lean, stage.data.qpos[q + 3 : q + 7])
    stage.data.qpos[q + 2] = 0.3
    mujoco.mj_forward(stage.model, stage.data)
    actor.go_limp()
    stage.step(1.0)


def _hit(stage: Stage, actor: Actor) -> None:
    _standing(stage, actor)
    prop = stage.prop("ball")
    stage.data.qpos[prop.qpos : prop.qpos + 3] = [0.6, 0.0, 1.3]
    stage.data.qvel[prop.dof : prop.dof + 3] = [-6.0, 0.0, 0.5]


TRIALS: Final[dict[str, Callable[[Stage, Actor], None]]] = {
    "standing": _standing, "tipping over": _tipping, "lying": _lying, "hit by a ball": _hit,
}  # fmt: skip


class _Trial:
    """One controller in charge on one stage."""

    def __init__(self, make: Maker, prepare: Callable[[Stage, Actor], None], seed: int) -> None:
        self.stage = _stage(seed)
        self.actor = Actor(self.stage, WHO)
        prepare(self.stage, self.actor)
        mujoco.mj_forward(self.stage.model, self.stage.data)
        self.controller = make(self.stage, WHO)
        self.hits: list[Hit] = []
        self.stage.hit_listeners.append(self.hits.append)
        self.since, self.rng = self.stage.time, np.random.default_rng(seed)

    def look(self) -> Situation:
        hits = tuple(self.hits)
        self.hits.clear()
        last = Ended("before", _ENDED, self.since)
        return Situation(
            self.stage, self.actor.character, since=self.since, hits=hits, last=last, rng=self.rng,
            request=self.controller.name,
        )  # fmt: skip

    def run(self, looks: int) -> str:
        """Run for some looks; return its last state."""
        for _ in range(looks):
            self.stage.step(1.0 / 30.0)
            status = ask_step(self.controller, self.look(), self.actor)
            if not status.running:
                if not status.reason:
                    raise BrokenContract(self.controller, f"{status.state} without saying why")
                return f"{status.state}: {status.reason}"
        return "running"


def _try(make: Maker, name: str, prepare: Callable[[Stage, Actor], None], found: Findings, seed: int) -> str:
    """Run one trial; add what is wrong to the findings, and return what happened."""
    try:
        trial = _Trial(make, prepare, seed)
        before = _state(trial)
        bid = ask_bid(trial.controller, trial.look())
        if ask_bid(trial.controller, trial.look()) != bid:
            found.broken.append(f"{name}: bids differently when asked twice")
        if (_state(trial) != before).any():
            found.broken.append(f"{name}: moved the body while bidding")
        if bid is None:
            return "does not bid"
        return f"bids {bid.score:.2f}, " + _play(trial, bid, name, found)
    except BrokenContract as broken:
        found.broken.append(f"{name}: {broken.reason}")
    except BlowUpError as error:
        found.broken.append(f"{name}: the simulation blew up ({error})")
    except StuntError as error:
        found.broken.append(f"{name}: {error}")
    return "breaks the contract"


def _play(trial: _Trial, bid: Bid, name: str, found: Findings) -> str:
    """Start, run, save, run, restore, run again, stop."""
    controller, actor = trial.controller, trial.actor
    try:
        controller.start(trial.look(), actor, bid)
    except Exception as error:
        raise BrokenContract(controller, f"raised in start: {error!r}") from error
    if actor.kinematic != controller.kinematic:
        used = "kinematic" if actor.kinematic else "dynamic"
        raise BrokenContract(controller, f"is declared otherwise, but left the body {used} in start")
    words = trial.run(int(10 * SECONDS))
    if words == "running":
        kept = trial.stage.save(), actor.save(), controller.save(), trial.rng.bit_generator.state
        trial.run(int(10 * SECONDS))
        once = _state(trial)
        trial.stage.restore(kept[0])
        actor.restore(kept[1])
        controller.restore(kept[2])
        trial.rng.bit_generator.state = kept[3]
        trial.hits.clear()
        words = trial.run(int(10 * SECONDS))
        if (_state(trial) != once).any():
            found.broken.append(f"{name}: does not go on the same after save and restore")
    try:
        controller.stop(trial.look(), actor)
    except Exception as error:
        raise BrokenContract(controller, f"raised in stop: {error!r}") from error
    return words


def _state(trial: _Trial) -> Any:
    return np.concatenate([trial.stage.data.qpos, trial.stage.data.qvel])
