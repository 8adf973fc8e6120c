"""Hands a posture to the world-space servo, moment by moment, smoothly: the muscles of a behaviour.

What all behaviours share: senses, muscles, and the contract with the supervisor.

A behaviour says what it wants now (`want`: state → targets, tension, help for the root) and how it gets on (`judge`).
Everything it drives is internal torque within the joints' strength, except what it asks of the root spring, which is
metered as assistance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from stunt.control.servo.memory import ServoTargets
from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.sole_hold import SWING_FRICTION
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import RUNNING, BaseController, Bid, Status, failed
from stunt.supervise.reflexes.anatomy import Anatomy
from stunt.supervise.reflexes.posture import Posture
from stunt.supervise.reflexes.senses import Felt, Glimpse, Sense
from stunt.supervise.situation import Situation

PATIENCE = 0.9
"""Share of the time a behaviour may take after which it gives up by itself, before the supervisor takes it out."""


class Behaviour(BaseController):
    """A dynamic controller that moves by postures."""

    kinematic = False
    shared: ClassVar[tuple[str, ...]] = ("sense", "drive")

    def __init__(self, name: str = "") -> None:
        """Name it."""
        super().__init__(name)
        self.sense: Sense | None = None
        self.drive: Drive | None = None

    @property
    def anatomy(self) -> Anatomy:
        """The body, once it has been felt."""
        assert self.sense is not None
        return self.sense.anatomy

    def feel(self, now: Situation) -> Felt:
        """Return the character's own state."""
        if self.sense is None:
            self.sense = Glimpse.of(now.stage).sense(now.character.name)
        return self.sense.feel()

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Take the body as it is."""
        felt = self.feel(now)
        assert self.sense is not None
        self.drive = Drive(actor, self.sense)
        self.drive.begin()
        self.prepare(now, felt, bid)
        self.drive.aim(self.want(now, felt))

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Aim anew, and say how it goes."""
        felt = self.feel(now)
        status = self.judge(now, felt)
        if status.running and now.elapsed > PATIENCE * self.longest:
            return failed("took too long")
        if status.running and self.drive is not None:
            self.drive.aim(self.want(now, felt))
        return status

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Give the body back."""
        if self.drive is not None:
            self.drive.end()

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note what the start was like."""

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Return what the body should do now."""
        raise NotImplementedError

    def judge(self, now: Situation, felt: Felt) -> Status:
        """Return how it goes."""
        return RUNNING

    def lifted(self, posture: Posture, root: Floats) -> Floats:
        """Return a posture as bodies turned from neutral, its root turned so in the world, (B, 4)."""
        result = self.anatomy.lifted(posture)
        result[0] = root
        return result

    def recast(self, stage: StageLoop) -> None:
        """Feel the body where it is now."""
        if self.sense is not None:
            self.sense = Glimpse.of(stage).sense(self.sense.character.name)
            if self.drive is not None:
                self.drive.sense = self.sense
                self.drive.look_up()

    def save(self) -> Any:
        """Return what must survive a restore, the muscles' targets with it."""
        return super().save(), None if self.drive is None else self.drive.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        own, targets = state
        super().restore(own)
        if targets is None or self.sense is None:
            self.drive = None  # it had not begun yet
            return
        if self.drive is None:  # back from before it began
            self.drive = Drive(self.sense.stage.actors[self.sense.character.name], self.sense)
        self.drive.restore(targets)


class Hearing(Behaviour):
    """A behaviour that hears of blows, also of the one that ended data: that is answered before anybody bids."""

    shared: ClassVar[tuple[str, ...]] = ("sense", "drive", "_ears", "_who")
    fresh: ClassVar[float] = 0.5
    """A hit older than this is forgotten [s]."""

    def __init__(self, name: str = "") -> None:
        """Name it."""
        super().__init__(name)
        self._ears, self._who = False, ""
        self._heard: Hit | None = None

    def minds(self, body: str) -> bool:
        """Whether a hit on a body matters."""
        raise NotImplementedError

    def heard(self, now: Situation) -> Hit | None:
        """Return the hardest blow of late under forces; None: there was none."""
        if not self._ears:
            self._ears, self._who = True, now.character.name
            now.stage.hit_listeners.append(self._hear)
        hit = self._heard
        return None if hit is None or under_data(now) or now.time - hit.time > self.fresh else hit

    def _hear(self, hit: Hit) -> None:
        if hit.character != self._who or not self.minds(hit.body):
            return
        if self._heard is None or hit.time - self._heard.time > self.fresh or hit.force > self._heard.force:
            self._heard = hit


def under_data(now: Situation) -> bool:
    """Whether data is in charge: then nothing falls, whatever it looks like."""
    return now.active is not None


def flat(direction: Floats) -> Floats:
    """Return the unit direction over the ground of a vector, (2,); forward where it has none."""
    size = float(np.linalg.norm(direction[:2]))
    return np.array([1.0, 0.0]) if size < 1e-6 else np.asarray(direction[:2]) / size


STEP_HZ = 30.0
"""How often behaviours look and aim."""
LEAST_TENSION = 1e-3
SOLE = 0.9
"""Friction of a sole that does not swing."""


@dataclass(frozen=True, eq=False)
class Aim:
    """What a behaviour wants now."""

    #: How every body should be turned from neutral, seen from the root; the root's own in the world, (B, 4).
    lifted: Floats
    tension: float = 1.0  #: Factor on all stiffness: 1 is following a clip, 0 a rag doll
    spring: float = 0.0  #: Largest torque on the root from outside, as a share of m·g·h; 0 is none
    quickness: float = 0.08  #: Time constant with which targets move [s]
    fastest: float = math.inf  #: No bone is asked to turn faster [rad/s]
    #: How stiff parts are held beside that: a factor for each named body; others 1
    tone: Mapping[str, float] = field(default_factory=dict)
    #: Side (`l` or `r`) of a foot that swings and may scuff over the ground, as a clip's swinging foot may.
    swing: str = ""


class Drive:
    """Moves a tracked character's targets toward what its behaviour wants."""

    def __init__(self, actor: BodyActor, sense: Sense) -> None:
        """Take over a tracked character."""
        self.actor, self.sense = actor, sense
        self._now: Floats | None = None
        self._at = -1.0
        joints = list(actor.character.joints.values())
        # Servos read orientations; joint coordinates are for whoever asks what pose was wanted.
        self._joints = np.zeros((2, sum(j.nq for j in joints)))
        self.look_up()

    def look_up(self) -> None:
        """Note which of its bodies the soles belong to."""
        actor = self.actor
        model = actor.stage.model
        own = {body: name for name, body in actor.character.bodies.items()}
        self._soles = [own[int(model.geom_bodyid[geom])] for geom in actor.soles]
        self._friction = np.array([[max(actor.character.grip[g], SOLE) for g in actor.soles]] * 2)

    def begin(self) -> None:
        """Start from the pose the body has."""
        felt = self.sense.feel()
        self._now = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        self._now[0] = felt.turn
        self._at = -1.0

    def aim(self, wanted: Aim) -> None:
        """Move the targets one step of the behaviour on."""
        if self._now is None:
            self.begin()
        assert self._now is not None
        passed = min(self.actor.stage.time - self._at, 1.0 / STEP_HZ) if self._at >= 0.0 else 1.0 / STEP_HZ
        self._at = self.actor.stage.time
        share = 1.0 - np.exp(-passed / max(wanted.quickness, 1e-3))
        way = rotations.difference(wanted.lifted, self._now)
        reach = wanted.fastest * passed if passed > 0.0 else 0.0  # no time passes twice, however fast
        most = reach / np.maximum(np.linalg.norm(way, axis=1), 1e-9)
        most[0] = np.inf  # the root is not turned, only where it would be
        after = rotations.integrate(self._now, way, np.minimum(share, most))
        self._lead(self._now, after, wanted.swing)
        self._now = after
        self._strengthen(wanted)

    def _lead(self, now: Floats, after: Floats, swing: str) -> None:
        """Give the servo two rows: the targets of now and those of the next step."""
        actor, anatomy = self.actor, self.sense.anatomy
        turns = anatomy.turns(np.stack([now, after]))
        turns[:, 0] = rotations.multiply(np.stack([now[0], after[0]]), anatomy.stance)
        place = self.sense.feel().root
        rows = ServoTargets(STEP_HZ, turns, np.stack([place, place]), self._grip(swing), self._joints)
        here = actor.stage.data.qpos[None, actor.slices[0]].copy()
        actor.take(BodyMotion("posture", STEP_HZ, here), rows, actor.stage.time)

    def _grip(self, swing: str) -> Floats:
        """Return the friction of each sole for two rows, (2, soles)."""
        if not swing:
            return self._friction
        loose = np.array([name.startswith(f"{swing}_") for name in self._soles])
        return np.where(loose, SWING_FRICTION, self._friction)

    def _strengthen(self, wanted: Aim) -> None:
        """Set stiffness and help at once."""
        tone = np.array([wanted.tone.get(name, 1.0) for name in self.sense.anatomy.names]) if wanted.tone else 1.0
        awake = self.actor.awake
        self.actor.brace(max(awake * wanted.tension, LEAST_TENSION), awake * wanted.spring, tone)

    def end(self) -> None:
        """Give the character back as it was taken."""
        self._now = None
        self.actor.unbrace()

    def save(self) -> Any:
        """Return what must survive a restore."""
        return None if self._now is None else self._now.copy(), self._at

    def restore(self, state: Any) -> None:
        """Put it back."""
        now, self._at = state
        self._now = None if now is None else now.copy()
