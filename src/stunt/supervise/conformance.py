"""The conformance checker: does a controller keep the contract? For users (`stunt check module:Class`) and for us.

Tries a controller on a small stage: standing, playing data, tipping over, lying, hit by a ball, struck hard, a ball
flying at the head. In each it is asked to bid for up to a second, started once it does, run, stopped, and saved and
restored in the middle. Says everything that is wrong, not only the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import mujoco
import numpy as np

from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.errors import BlowUpError, StuntError
from stunt.library.names import OWN_CLIPS, load_clip
from stunt.maths import rotations
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.calls import MISTAKES, BrokenContract, ask_bid, ask_step, missing_in
from stunt.supervise.contract import Bid, Controller, succeeded
from stunt.supervise.situation import Ended, Situation

WHO: Final = "ada"
BODY: Final = str(OWN_CLIPS / "idle.bvh")
SECONDS: Final = 2.0
"""How long each trial runs [s]."""
WAITS: Final = 30
"""How many looks a controller has to bid in."""
_ENDED: Final = succeeded("the trial begins")
Maker = Callable[[StageLoop, str], Controller]


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
    except MISTAKES as error:  # whatever it is, it is a finding
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


def _stage(seed: int) -> StageLoop:
    ball = PropSpec(shape="sphere", radius=0.11, mass=1.0, at=(2.0, 0.0, 0.11))
    character = CharacterSpec(body=BODY, root="free", strength=1.5)
    return StageLoop(
        Scene(characters={WHO: character}, props={"ball": ball}, seed=seed, physics_hz=240.0, control_hz=240.0)
    )


def _standing(stage: StageLoop, actor: BodyActor) -> None:
    actor.aim(stage.data.qpos[actor.slices[0]].copy(), over=0.0)


def _on_data(stage: StageLoop, actor: BodyActor) -> None:
    motion = motion_of_clip(load_clip("idle"), actor.character)
    actor.play(replace(motion, loop=True), blend=0.0, place=False)


def _tipping(stage: StageLoop, actor: BodyActor) -> None:
    _standing(stage, actor)
    stage.data.qvel[actor.slices[1].start] += 2.0


def _lying(stage: StageLoop, actor: BodyActor) -> None:
    q = actor.slices[0].start
    lean = rotations.from_rotation_vector(np.array([0.0, 0.5 * np.pi, 0.0]))
    stage.data.qpos[q + 3 : q + 7] = rotations.multiply(lean, stage.data.qpos[q + 3 : q + 7])
    stage.data.qpos[q + 2] = 0.3
    mujoco.mj_forward(stage.model, stage.data)
    actor.go_limp()
    stage.step(1.0)


def _hit(stage: StageLoop, actor: BodyActor) -> None:
    _standing(stage, actor)
    _fly(stage, np.array([0.6, 0.0, 1.3]), np.array([-6.0, 0.0, 0.5]))


def _struck(stage: StageLoop, actor: BodyActor) -> None:
    _standing(stage, actor)
    _fly(stage, _head(stage, actor) + [2.0, 0.0, 0.05], np.array([-25.0, 0.0, 0.4]))


def _at_head(stage: StageLoop, actor: BodyActor) -> None:
    """Play data while a ball will be at the head in half a second."""
    _on_data(stage, actor)
    head = _head(stage, actor)
    begin = head + [3.0, 0.0, 0.05]
    _fly(stage, begin, (head + [0.0, 0.0, 0.08] - begin) / 0.5 + [0.0, 0.0, 0.25 * 9.81])


def _head(stage: StageLoop, actor: BodyActor) -> Any:
    """Return where the head is, or what comes nearest to one [m], (3,)."""
    mujoco.mj_kinematics(stage.model, stage.data)
    names = [name for name in ("head", "thorax") if name in actor.character.bodies]
    return stage.data.xpos[actor.character.bodies[names[0]]].copy() if names else np.array([0.0, 0.0, 1.5])


def _fly(stage: StageLoop, position: Any, velocity: Any) -> None:
    prop = stage.prop("ball")
    stage.data.qpos[prop.qpos : prop.qpos + 3] = position
    stage.data.qvel[prop.dof : prop.dof + 3] = velocity


TRIALS: Final[dict[str, Callable[[StageLoop, BodyActor], None]]] = {
    "standing": _standing, "on data": _on_data, "tipping over": _tipping, "lying": _lying, "hit by a ball": _hit,
    "struck hard": _struck, "ball at the head": _at_head,
}  # fmt: skip


class _Trial:
    """One controller in charge on one stage."""

    def __init__(self, make: Maker, prepare: Callable[[StageLoop, BodyActor], None], seed: int) -> None:
        self.stage = _stage(seed)
        self.actor = actor_of(self.stage, WHO)
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
            request=self.controller.name, active=(lambda: frozenset(("ball",))) if self.actor.kinematic else None,
        )  # fmt: skip

    def bid(self, name: str, found: Findings) -> Bid | None:
        """Ask for a bid, look after look, until one comes; add what is wrong to the findings."""
        for _ in range(WAITS):
            before, now = _state(self), self.look()
            bid, again = ask_bid(self.controller, now), ask_bid(self.controller, now)
            if _told(bid) != _told(again):
                found.broken.append(f"{name}: bids differently when asked twice")
            if (_state(self) != before).any():
                found.broken.append(f"{name}: moved the body while bidding")
            if bid is not None or found.broken:
                return bid
            self.stage.step(1.0 / 30.0)
        return None

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


def _try(make: Maker, name: str, prepare: Callable[[StageLoop, BodyActor], None], found: Findings, seed: int) -> str:
    """Run one trial; add what is wrong to the findings, and return what happened."""
    try:
        trial = _Trial(make, prepare, seed)
        bid = trial.bid(name, found)
        if bid is None:
            return "does not bid"
        trial.since = trial.stage.time
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
    except MISTAKES as error:
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
    except MISTAKES as error:
        raise BrokenContract(controller, f"raised in stop: {error!r}") from error
    return words


def _told(bid: Bid | None) -> tuple[float, str, int | None] | None:
    return None if bid is None else (bid.score, bid.why, bid.priority)


def _state(trial: _Trial) -> Any:
    return np.concatenate([trial.stage.data.qpos, trial.stage.data.qvel])
