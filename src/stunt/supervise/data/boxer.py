"""A boxer: a kinematic controller that goes through a motion graph after an opponent, and strikes.

It circles the opponent for a while, then wants a blow, and the search through the graph finds the steps that bring the
fist where the opponent's head or chest will be. Whoever is down is left alone, from a distance, until it stands again.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.feet.ground import Ground, on_ground
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths.rotations import Floats
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.pursuit import Pursuit, PursuitSearcher, PursuitWalker
from stunt.motion.graph.walker import FPS
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import RUNNING, Bid, Status
from stunt.supervise.data.base import GraphController, Terms
from stunt.supervise.data.strike import brought
from stunt.supervise.situation import Situation

READY: Final = 0.08
"""Up to which distance a boxer goes over to its graph: from standing upright with the hands anywhere."""
FELT: Final = 0.003
"""The same for the state a blow would leave: boxers are touched all the time, and what touches them should show."""
FIRM: Final = 10.0
"""A fist is driven by the whole body: it weighs more than a hand that hangs."""
_AHEAD = 1.8  # how much of what may come is handed to the body: what a tracking twin goes on with [s]
_EARLY = 0.08  # so long before what is decided ends the next is decided [s]
_SEAM = 0.1  # from one portion into the next [s]
_FORESEEN = 0.3  # how far ahead the opponent's way is thought on [s]
_AIMED = 0.3, 0.2  # before and after a blow lands what its own limb feels is no hit [s]
_STEADY = 0.6  # whoever moves faster than this under forces is not set yet [m/s]
_PATIENCE = 3.0  # how long a blow is tried before the boxer thinks of something else [s]
_WHIM = 1.5  # how much dearer than the nearest blow another may look
_COMING = 0.15  # an opponent that comes faster than this need not be gone to [m/s]
_SURE = 1.2  # a blow that lands so soon is gone through with [s]
_LED = 0.4  # how far a fist is led at most from where its clip has it [m]
_TURN = 1.0  # how long one has the initiative [s]
_PAUSE = 0.0, 0.25  # how long it circles between blows [s]


@dataclass(frozen=True)
class Ring:
    """Where the match is: middle [m] and radius [m]."""

    x: float = 0.0
    y: float = 0.0
    radius: float = 2.5


@dataclass(frozen=True)
class Distances:
    """How near and how far from the opponent to be [m].

    Attributes:
        circling: Between blows.
        striking: For a blow, seen from where it would just reach.
        waiting: While the opponent is down, seen from where its body ends.
    """

    circling: tuple[float, float] = (0.9, 1.25)
    striking: tuple[float, float] = (-0.12, 0.1)
    waiting: tuple[float, float] = (0.7, 1.2)


@dataclass(frozen=True)
class Intent:
    """What a boxer is at: `circle`, `strike` (with which blow) or `wait`, and until when [s]."""

    mood: str
    until: float
    blow: str = ""


class Boxer(GraphController):
    """Boxes with an opponent.

    Attributes:
        against: Who that is.
        searcher: How it finds its way through its graph.
        ring: Where the match is.
        distances: How near and how far to be.
        intent: What it is at.
    """

    def __init__(
        self,
        name: str,
        searcher: PursuitSearcher,
        against: str,
        stage: StageLoop,
        character: str,
        *,
        ring: Ring | None = None,
        distances: Distances | None = None,
        firm: float = FIRM,
        **terms: Unpack[Terms],
    ) -> None:
        """Prepare for a match.

        Args:
            name: What the controller is called.
            searcher: How it finds its way; of a graph of the character's own skeleton.
            against: The opponent.
            stage: Where.
            character: Who boxes.
            ring: Where the match is.
            distances: How near and how far to be.
            firm: With how many times its inertia it pushes what is in its way.
            terms: As of `DataController`; its thresholds are `READY` and `FELT` where not given.

        Raises:
            UnknownNameError: There is no such opponent.
        """
        own: Terms = {"threshold": READY, "hit_threshold": FELT}
        super().__init__(name, searcher.graph, stage, character, **(own | terms))
        self.against, self.searcher, self.firm = against, searcher, firm
        self.ring, self.distances = ring or Ring(), distances or Distances()
        self.recast(stage)
        self._walker = PursuitWalker(searcher, Pursuit((0.0, 0.0)))
        self._fixed: Any = None
        self._decided = 0.0
        self.intent = Intent("circle", 0.0)

    def recast(self, stage: StageLoop) -> None:
        """Find the opponent, and the ground.

        Raises:
            UnknownNameError: There is no such opponent; who was there and has left is remembered where it was.
        """
        self._opponent = stage.character(self.against)
        self._ground = Ground(stage)

    # ---- what the supervisor asks

    @property
    def walked(self) -> tuple[tuple[float, str], ...]:
        """When which clip was entered, since it took over [s]."""
        return tuple((entered.time, entered.clip) for entered in self._walker.log)

    def bid(self, now: Situation) -> Bid | None:
        """Bid where a frame of the graph is alike enough."""
        if self.only_asked and now.request != self.name and self._begun < 0.0:
            return None
        if now.last is None and now.elapsed == 0.0 and self._begun < 0.0:
            return Bid(0.5, "the match begins")
        if now.struck and (limb := self._striking(now)):
            return Bid(0.5, f"its own {limb} struck")
        if self._begun < 0.0 and not self._is_set(now):
            return None
        return self._most_alike(now)

    def _is_set(self, now: Situation) -> bool:
        """Whether it stands on its feet, goes nowhere and is clear of the opponent: data would put limbs into it."""
        if any(touch.other == self.against for touch in now.touches):
            return False
        root = now.character.root
        assert root is not None  # supervised characters have free roots
        high = now.qpos[2] > 0.85 * now.stage.model.qpos0[root.qpos + 2]
        return bool(high) and now.tilt < 0.4 and float(np.linalg.norm(now.root_velocity)) < _STEADY

    def _striking(self, now: Situation) -> str:
        """Return the limb with which it strikes right now, if nothing else of it touches the opponent."""
        since = now.time - self._begun
        before, after = _AIMED
        for one in self._walker.landed:
            if one.time - before < since < one.time + after:
                limb = self.searcher.blow(one.blow).limb
                touched = {touch.body for touch in now.touches if touch.other == self.against}
                return limb if touched <= _LIMBS[limb] else ""
        return ""

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Go over to the graph, from the guard where the match begins with it."""
        source, frame = bid.plan or (0, 0)  # the guard is the first clip
        if bid.plan is None:
            frame = int(np.argmax(self.graph.kept[source]))
            place = Planar(float(now.root_position[0]), float(now.root_position[1]), now.heading)
        else:
            place = self._place(now, source, frame)
        self._walker.begin_at(source, frame, place)
        self._walker.landed = ()
        self._begun, self._fixed, self._decided = now.time, self._walker.save(), 0.0
        self.intent = Intent("circle", now.time + float(now.rng.uniform(*_PAUSE)))
        self._decide(now, actor, 0.0 if bid.plan is None else self.blend)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Box on: decide anew whenever what was decided is about to end."""
        if now.time - self._begun > self._decided - _EARLY:
            self._decide(now, actor, _SEAM)
        return RUNNING

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go."""
        self._begun = -1.0
        actor.firm = 1.0

    # ---- tactics

    def _decide(self, now: Situation, actor: BodyActor, blend: float) -> None:
        """Say what is wanted now, find the way, and hand it to the body with what may come after it."""
        self._walker.restore(self._fixed)
        if actor.by_forces and blend > 0.0 and self._decided > 0.0:
            self._catch_up(now, actor, self._walker)
        self.intent = self._next_intent(now)
        self._walker.goal = self._goal(now, self.intent)
        self._walker.next_piece()
        self._commit()
        self._fixed, self._decided = self._walker.save(), self._walker.made_until
        since = now.time - self._begun
        clip = self._walker.clip_until(max(since, self._decided) + _AHEAD)
        times = since - self._walker.begins + np.arange(round(_AHEAD * FPS) + 1) / FPS
        actor.firm = self.firm
        frames = self._led(now, self._qpos(clip, times), since)
        frames = on_ground(now.stage.model, now.character, self._ground, frames, FPS)
        actor.play(BodyMotion(self.name, FPS, frames), blend=blend, place=False)

    def _commit(self) -> None:
        """Go through with a blow that comes soon: two that think anew at every step only step to and fro."""
        decided, kept = self._walker.made_until, self._walker.save()
        while self.intent.blow and self._walker.made_until < decided + _SURE:
            self._walker.next_piece()
            if any(one.time > decided and one.blow == self.intent.blow for one in self._walker.landed):
                return
        self._walker.restore(kept)

    def _led(self, now: Situation, frames: Floats, since: float) -> Floats:
        """Return frames in which fists meet what they are for, which a graph finds over the ground alone."""
        _, way = self._root_of_opponent(now)
        for one in self._walker.landed:
            left, blow = one.time - since, self.searcher.blow(one.blow)
            if self._stands(now) and -_AIMED[1] < left < _AHEAD:
                point = now.stage.data.xipos[self._opponent.body(blow.aim)].copy()
                point[:2] += min(max(left, 0.0), _FORESEEN) * way
                frames = brought(now.stage, now.character.name, blow.limb, frames, left * FPS, point, FPS, _LED)
        return frames

    def _next_intent(self, now: Situation) -> Intent:
        """Circle, strike, circle …; wait while the opponent is down."""
        if not self._stands(now):
            return Intent("wait", now.time + _PAUSE[0])
        intent = self.intent
        if intent.mood == "strike":
            done = [one.time for one in self._walker.landed if one.blow == intent.blow]
            if done and done[-1] > intent.until - _PATIENCE - self._begun or now.time > intent.until:
                return Intent("circle", now.time + float(now.rng.uniform(*_PAUSE)))
            return intent
        if now.time < intent.until or not self._has_initiative(now):
            return Intent("circle", intent.until)
        tried = [Intent("strike", now.time + _PATIENCE, blow.name) for blow in self.searcher.blows]
        costs = [self.searcher.best(self._walker.here, self._goal(now, one))[1] for one in tried]
        # The blow that is nearest at hand, mostly.
        return tried[int(np.argmin(np.array(costs) * now.rng.uniform(1.0, _WHIM, len(costs))))]

    def _has_initiative(self, now: Situation) -> bool:
        """Whether it is this boxer's turn to go in. Two that go in at once would only run into each other.

        They take turns of `_TURN` seconds, who begins is drawn; both know it without having to talk.
        """
        pair = sorted((now.character.name, self.against))
        drawn = int(np.random.default_rng([now.stage.scene.seed, zlib.crc32("|".join(pair).encode())]).integers(2))
        return pair[(drawn + int(now.time / _TURN)) % 2] == now.character.name

    def _goal(self, now: Situation, intent: Intent) -> Pursuit:
        """Return what the search should go for."""
        where, way = self._root_of_opponent(now)
        near, far = self._distances(now, intent)
        to_me = now.root_position[:2] - where
        if intent.mood != "wait" and float(way @ to_me) > _COMING * float(np.linalg.norm(to_me)):
            far = max(far, float(np.linalg.norm(to_me)))  # it comes by itself; to go and meet it would be too much
        ahead = where + _FORESEEN * way
        goal = Pursuit(
            (float(ahead[0]), float(ahead[1])), nearest=near, farthest=far, middle=(self.ring.x, self.ring.y),
            ring=self.ring.radius,
        )  # fmt: skip
        if not intent.blow:
            return goal
        blow = self.searcher.blow(intent.blow)
        aim = now.stage.data.xpos[self._opponent.body(blow.aim), :2] + _FORESEEN * way
        return replace(goal, aim=(float(aim[0]), float(aim[1])), short=blow.short, blow=blow.name)

    def _distances(self, now: Situation, intent: Intent) -> tuple[float, float]:
        """Return how near and how far from the opponent to be [m]."""
        if intent.mood == "circle":
            return self.distances.circling
        striking = intent.mood == "strike"
        near, far = self.distances.striking if striking else self.distances.waiting
        more = self.searcher.reach(intent.blow) if striking else self._spread(now)
        return near + more, far + more

    def _root_of_opponent(self, now: Situation) -> tuple[Floats, Floats]:
        """Return where the opponent is and how it moves over the ground, (2,) each; not faster than a step [m/s]."""
        root = self._opponent.root
        assert root is not None  # supervised characters have free roots
        way = now.stage.data.qvel[root.dof : root.dof + 2]
        size = float(np.linalg.norm(way))
        return now.stage.data.qpos[root.qpos : root.qpos + 2].copy(), way * min(1.0, 1.0 / max(size, 1e-9))

    def _spread(self, now: Situation) -> float:
        """Return how far the opponent's body reaches from its root over the ground [m]."""
        places = now.stage.data.xpos[list(self._opponent.bodies.values()), :2]
        return float(np.linalg.norm(places - now.stage.data.xpos[self._opponent.root_body, :2], axis=1).max())

    def _stands(self, now: Situation) -> bool:
        """Whether the opponent is on its feet."""
        other = Situation(now.stage, self._opponent)
        root = self._opponent.root
        assert root is not None
        return other.tilt < math.radians(35.0) and other.qpos[2] > 0.8 * now.stage.model.qpos0[root.qpos + 2]

    # ---- memory

    def save(self) -> Any:
        """Return what must survive a restore; states of walkers are never changed, so they are shared."""
        return self._walker.save(), self._fixed, self._decided, self._begun, self.intent

    def restore(self, state: Any) -> None:
        """Put it back."""
        walk, self._fixed, self._decided, self._begun, self.intent = state
        self._walker.restore(walk)


_LIMBS: Final = {
    **{f"{side}_hand": frozenset((f"{side}_hand", f"{side}_forearm")) for side in "lr"},
    **{f"{side}_foot": frozenset((f"{side}_foot", f"{side}_toe", f"{side}_shank")) for side in "lr"},
}
"""What belongs to a limb that strikes."""
