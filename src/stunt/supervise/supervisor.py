"""The supervisor of one character: who is in charge, and why.

Exactly one controller is in charge at any time. It stays until it says that it has succeeded or failed, until the user
asks for another that can take over, until one of higher priority interrupts, or until it breaks the contract. Then all
bid, and the highest priority, then the highest score, then the earlier place in the pool wins. Somebody always can: the
pool's last resort takes any state.

It looks some thirty times a second and whenever its character is touched. Its log is part of the take.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.body.reactions import Thresholds, feel_ground
from stunt.drive.motion.body_motion import BodyMotion
from stunt.errors import InvalidValueError, StuntError, UnknownNameError, announced, must_be, seen
from stunt.maths.rotations import Floats
from stunt.stage.blows import Struck, meter_of
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.calls import MISTAKES, BrokenContract, as_broken, ask_step, check_pool, missing_in, tell_recast
from stunt.supervise.contract import RUNNING, Bid, Controller, Status
from stunt.supervise.hit_rules import Blows, Relation
from stunt.supervise.pool import Pool, priority
from stunt.supervise.situation import Ended, Situation
from stunt.supervise.twin import Twin, with_twins
from stunt.supervise.wakeups import Watchers

LOOK_HZ: Final = 30.0
MOST_BROKEN: Final = 3
"""After so many controllers that break the contract at one moment the last resort takes over."""
SELDOM: Final = 24
SELDOM_TIME: Final = 0.1
"""At most every so many physics steps, and so many seconds, those are asked, while data is in charge, who may interrupt
and do not say when: a look into Python costs about as much as a step of the engine."""
ALERT_HZ: Final = 120.0


class Supervisor:
    """Crew that puts controllers in charge of one character.

    Attributes:
        actor: The body.
        pool: All controllers, tracking twins and the last resort included, by name; who was taken out, and why.
        current: Who is in charge.
        since: Since when [s].
        log: Who bid what, who won, why the last one ended: events of the take.
        blows: What data has gone on under.
        relation: What counts as a hit for the character.
    """

    @announced
    def __init__(
        self,
        stage: StageLoop,
        name: str,
        pool: Sequence[Controller],
        *,
        actor: BodyActor | None = None,
        safe: Controller | None = None,
        relation: Relation | None = None,
        hz: float = LOOK_HZ,
        last: Ended | None = None,
        react: Thresholds | None = None,
    ) -> None:
        """Take a character on and put the first controller in charge.

        Args:
            stage: Where it is.
            name: Who.
            pool: Who may be in charge, in the order that decides between equals.
            actor: Its body, if it was already taken on.
            safe: Last resort: must take any state. None: a rag doll.
            relation: What counts as a hit; None: everything that moves.
            hz: How often to look.
            last: Who had it until now: somebody who can go on from the state it is in takes over. None: nobody, and
                the performance begins.
            react: How hard the ground must stop it to stun it.

        Raises:
            StuntError: The pool is empty, two have one name, one is no controller, or somebody else supervises it.
        """
        must_be("the pool of controllers", pool, Sequence)
        check_pool(name, pool)
        self.relation = seen(relation or Relation())
        self.stage, self.actor = stage, actor or actor_of(stage, name)
        if self.actor.driver is not None:
            raise StuntError(f"'{name}' has a supervisor already, with {_listed(self.actor.driver.pool)} in its pool.")
        self.actor.driver = self
        self.name, self.character = name, self.actor.character
        self.pool, self.relation = Pool(pool, safe, self._remove), relation or Relation()
        self.blows = Blows(stage, self.actor, self.pool, self.relation, self.look, lambda: self.current)
        self._react = react or Thresholds()
        self._named_safe, self._broken, self._broken_at = safe, 0, -1
        self._data_ready = False
        self.log: list[dict[str, Any]] = []
        self.since = stage.time
        self.last = last
        self._bid, self._level = Bid(0.0), 0
        self._request, self._patience = "", -1.0
        self._hits: list[Hit] = []
        self._blows: list[Struck] = []
        self._waiting, self._asleep = False, 0
        self.rng = np.random.default_rng([stage.scene.seed, zlib.crc32(name.encode())])
        self._stride = max(1, round(1.0 / (hz * stage.step_time)))
        self._seldom = max(self._stride, SELDOM, round(SELDOM_TIME / stage.step_time))
        self._close = max(1, round(1.0 / (ALERT_HZ * stage.step_time)))
        self._due = stage.tick + self._stride
        self.watchers = Watchers(stage, self.character, self.actor.number, self._stride)
        self._get_ready(self.pool.values())
        stage.hit_listeners.append(self._hit)
        meter_of(stage).listeners.append(self._struck)
        stage.crew.append(self)
        self.current: Controller = self.pool.safe
        begins = Status("succeeded", "the performance begins" if last is None else "it takes over")
        self._choose(self.look(), begins, "begin", start=True)

    def _get_ready(self, controllers: Collection[Controller]) -> None:
        """Work out what they will need: nothing should have to be in the middle of a scene."""
        if not self._data_ready and any(controller.kinematic for controller in controllers):
            self._data_ready = True
            self._touch_scenery()
            self.actor.warm_up()
        for controller in controllers:
            with contextlib.suppress(InvalidValueError):  # it is taken out once it tries to play that
                if controller.kinematic and isinstance(motion := getattr(controller, "motion", None), BodyMotion):
                    self.actor.prepare(motion)
                for motion in getattr(controller, "motions", {}).values():  # to get up by
                    self.actor.motions.targets_of(motion)

    def _touch_scenery(self) -> None:
        """Let scenery that counts be touched: else it would not be noticed."""
        props = self.stage.built.props.items()
        self.actor.pushes.let_push([p.body for n, p in props if n in self.relation.active and p.dof < 0])

    # ---- what others may ask

    def request(self, name: str, *, patience: float = 2.0) -> None:
        """Ask for a controller; it takes over as soon as it can, or is refused after `patience` seconds.

        Raises:
            UnknownNameError: There is none of that name.
        """
        if name not in self.pool:
            raise UnknownNameError(f"controller of '{self.name}'", name, self.pool)
        self._request, self._patience = name, self.stage.time + patience
        self._due = min(self._due, self.stage.tick)
        self.stage.crew.announce(self)

    def add(self, controller: Controller) -> None:
        """Let a controller join the pool, after the others; it may bid at the next look, which is now.

        Raises:
            StuntError: It is none, or one of that name is in the pool.
        """
        twins = with_twins([controller])[1:] if not missing_in(controller) else []
        check_pool(self.name, [*self.pool.values(), controller, *twins])
        self._get_ready([controller])
        self.pool |= {joined.name: joined for joined in (controller, *twins)}
        self.pool.removed.pop(controller.name, None)
        self._note("joined", controller=controller.name)
        self.watchers.sort(self.pool.values(), self.current, self._level)
        self.wake()

    def remove(self, name: str) -> None:
        """Let a controller leave the pool, its tracking twin with it; if one of them is in charge, it hands over.

        Raises:
            StuntError: There is none of that name, or nobody could be the last resort then.
        """
        if name not in self.pool:
            raise UnknownNameError(f"controller of '{self.name}'", name, self.pool)
        leaves = self.pool[name]
        if leaves is self.pool.safe:
            raise StuntError(
                f"'{name}' is the last resort of '{self.name}', and somebody always has to be able to go on."
            )
        twin = self.pool.pop(Twin.name_for(name), None)
        del self.pool[name]
        self._note("left", controller=name)
        if self._request == name:
            self.refuse(name, "it has left the pool")
            self._request = ""
        if self.current in (leaves, twin):
            self._replace(self.current, Status("succeeded", "it has left the pool"), f"'{name}' has left", "left")
        self.watchers.sort(self.pool.values(), self.current, self._level)
        self.wake()

    def resign(self) -> Ended:
        """Let somebody else have the body; return who had it until now."""
        now = self.look()
        with contextlib.suppress(*MISTAKES):
            self.current.stop(now, self.actor)
        self.actor.driver = None
        self.stage.crew.remove(self)
        self.stage.hit_listeners.remove(self._hit)
        meter_of(self.stage).listeners.remove(self._struck)
        self._note("resigned", controller=self.current.name)
        return Ended(self.current.name, Status("failed", "somebody else took over"), now.time)

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast; controllers that cannot are taken out."""
        if self.name not in self.stage.built.characters:
            return False
        self.character = self.actor.character
        self.watchers.move(self.character, self.actor.number)
        if self._data_ready:
            self._touch_scenery()
        for controller in [*self.pool.values()]:
            try:
                tell_recast(controller, self.stage)
            except MISTAKES as error:
                self._remove(self.look(), as_broken(controller, "recast", error))
        return True

    def wake(self) -> None:
        """Look after the character now: somebody has changed what it is to do."""
        self._due, self._asleep = min(self._due, self.stage.tick), 0
        self.stage.crew.announce(self)

    def keep_to_forces(self, stays: bool = True, why: str = "kept to forces") -> None:
        """Let twins track whatever data is in charge from now on; False: data may take over again where it can.

        Where data is in charge its twin takes over at once, with what blows had for the body. A pool without data is
        under forces anyway.
        """
        for controller in self.pool.values():
            if isinstance(controller, Twin):
                controller.stay(stays)
        self._leave_data(why)
        self.wake()

    def _leave_data(self, why: str) -> None:
        """Let the twin of data that is in charge take over, if it is to."""
        twin = self.pool.get(Twin.name_for(self.current.name)) if self.current.kinematic else None
        if isinstance(twin, Twin) and twin.stays:
            self._switch(self.look(), twin, Bid(1.0, why), RUNNING, "forces", {}, kick=self.actor.kick())

    def refuse(self, name: str, reason: str) -> None:
        """Write down that a request came to nothing."""
        self._note("refused", controller=name, reason=reason)

    def look(self) -> Situation:
        """Return the character's situation now."""
        return Situation(
            self.stage, self.character, since=self.since, hits=tuple(self._hits), blows=tuple(self._blows),
            request=self._request, last=self.last, active=self._active if self.actor.kinematic else None, rng=self.rng,
        )  # fmt: skip

    def _active(self) -> frozenset[str]:
        return self.relation.of(self.stage, self.character, self.current)

    @property
    def running(self) -> str:
        """Name of who is in charge."""
        return self.current.name

    def summary(self, time: Floats, qpos: Floats) -> dict[str, Any]:
        """Return how well the body followed what it was told, over a take's frames."""
        return self.actor.summary(time, qpos)

    @property
    def removed(self) -> dict[str, str]:
        """Controllers taken out of the pool, with the reason."""
        return self.pool.removed

    # ---- crew

    def due(self) -> int:
        """Return when to look next."""
        return self.stage.tick if self.watchers.rang else self._due

    def act(self) -> None:
        """Look after the character."""
        tick = self.stage.tick
        feel_ground(self.actor, self._react)
        alert = self.blows.is_alert()
        self._due = tick + (self._close if alert else self._stride)
        now = self.look()
        if (turn := self.blows.blocked()) is not None:
            now = self.look()  # it stands back
        elif alert:
            turn = self.blows.struck(now)
        if turn is not None:
            self._switch(now, turn.winner, turn.bid, RUNNING, "hit", turn.bids, kick=turn.kick)
        else:
            self._go_on(now, tick, alert)
            self._blows.clear()  # of one that ended as the body was taken from its data it hears at the next look
        self._hits.clear()
        self.watchers.calm()

    def _go_on(self, now: Situation, tick: int, alert: bool) -> None:
        """Let the one in charge go on, if nobody else has to take over."""
        wakes = tick >= self._asleep or now.hits or now.blows or self._request or self.watchers.rang
        status = self._step(now) if wakes else RUNNING
        if self._request:
            self._serve_request(now, status)
        elif not status.running or self._waiting:
            self._choose(now, status, "ended")
        elif not self._interrupted(now):
            if status.wake > 0.0:
                self._asleep = self.stage.tick_of(now.time + status.wake)
            if wakes:
                self.watchers.look_after(status.tilt, status.broken)
            if not alert and self._asleep > tick:
                self._due = min(self._asleep, tick + self._most())

    def _most(self) -> int:
        """Return how many steps may pass until somebody else wants to be asked."""
        if not self.watchers.restless:
            return self._asleep
        return self._seldom if self.actor.kinematic else self._stride

    def _hit(self, hit: Hit) -> None:
        if hit.character != self.name:
            return
        self._hits.append(hit)
        self._due = min(self._due, self.stage.tick)  # the crew acts right after the listeners
        self.stage.crew.announce(self)
        self.blows.hear(hit)

    def _struck(self, blow: Struck) -> None:
        if blow.character == self.name and blow.landed:
            self._blows.append(blow)
            self._due = min(self._due, self.stage.tick)
            self.stage.crew.announce(self)

    # ---- deciding

    def _step(self, now: Situation) -> Status:
        try:
            return ask_step(self.current, now, self.actor)
        except BrokenContract as broken:
            self._remove(now, broken)
            return RUNNING

    def _serve_request(self, now: Situation, status: Status) -> None:
        wanted = self.pool.get(self._request)
        bid = self.pool.bid_of(wanted, now) if wanted is not None and wanted is not self.current else None
        if wanted is not None and bid is not None:
            self._request = ""
            self._switch(now, wanted, bid, status, "request", {wanted.name: bid})
            return
        if wanted is self.current or now.time > self._patience or wanted is None:
            reason = "already in charge" if wanted is self.current else "could not take over from here"
            self.refuse(self._request, reason)
            self._request = ""
        if not status.running or self._waiting:
            self._choose(now, status, "ended")

    def _interrupted(self, now: Situation) -> bool:
        """Ask those who may interrupt and count for more than the one in charge; return whether one took over."""
        asked = self.watchers.everyone if now.hits or now.blows else self.watchers.group()
        bids = self.pool.bids_above(self._level, now, [c for c in asked if c is not self.current])
        if not bids:
            return False
        winner = self.pool.best(bids)
        kick = self.actor.kick() if now.blows and self.actor.kinematic else None  # what data has not taken of them
        self._switch(now, winner, bids[winner.name], RUNNING, "interrupt", bids, kick=kick)
        return True

    def _choose(self, now: Situation, status: Status, cause: str, *, start: bool = False) -> None:
        """Let all bid and put the best in charge."""
        ended = None if start or self._waiting else self.current
        bids = self.pool.bids(now, [c for c in self.pool.values() if c is not ended and c is not self.pool.safe])
        if not bids and status.state == "succeeded" and not start:
            bids = self.pool.data_if_asked(self.look)  # it stands, and nothing is to be gained by letting it fall
        if not bids:
            bids = self.pool.bids(now, [self.pool.safe])
        winner = self.pool.best(bids) if bids else self.pool.safe
        if winner is self.current and not start:
            self._waiting = True  # nobody else wants it: it goes on as it is
            return
        self._switch(now, winner, bids.get(winner.name, Bid(0.0)), status, cause, bids)

    def _switch(
        self,
        now: Situation,
        winner: Controller,
        bid: Bid,
        status: Status,
        cause: str,
        bids: dict[str, Bid],
        kick: Any = None,
    ) -> None:
        """Put a controller in charge, and write down why."""
        before, begins = self.current, not self.log
        if not begins:
            try:
                before.stop(now, self.actor)
            except MISTAKES as error:  # whatever it is, the character goes on
                if before.name in self.pool:  # who was taken out already has its reason in the log
                    self._remove(now, BrokenContract(before, f"raised in stop: {error!r}"), go_on=False)
            state = status.state if not status.running else "interrupted"
            self.last = Ended(
                before.name, Status("failed" if state == "interrupted" else state, status.reason), now.time
            )
        self.current, self.since, self._waiting = winner, self.stage.time, False
        self._level, self._bid, self._asleep, self.blows.borne = priority(winner, bid), bid, 0, 0.0
        self.actor.low = bool(getattr(winner, "low", False))
        self.watchers.sort(self.pool.values(), winner, self._level)
        self._note(
            "switch", controller=winner.name, mode="kinematic" if winner.kinematic else "dynamic", cause=cause,
            low=self.actor.low, why=bid.why,
            before="" if begins else before.name, ended=status.state, reason=status.reason,
            bids=[{"controller": n, "score": b.score, "priority": priority(self.pool[n], b), "why": b.why}
                  for n, b in bids.items() if n in self.pool],
        )  # fmt: skip
        try:
            winner.start(self.look() if not begins else now, self.actor, bid)
            if winner.kinematic != self.actor.kinematic:
                used = "kinematic" if self.actor.kinematic else "dynamic"
                raise BrokenContract(winner, f"left the body {used} in start")
        except BrokenContract as broken:
            self._remove(now, broken)
        except MISTAKES as error:
            self._remove(now, as_broken(winner, "start", error))
        else:
            if kick is not None:
                self.stage.data.qvel[self.actor.slices[1]] += kick
            self._leave_data(bid.why)

    def _remove(self, now: Situation, broken: BrokenContract, *, go_on: bool = True) -> None:
        """Take a controller out of the pool; if it was in charge, somebody safe takes over.

        Without one that is the whole performance (`vital`) nothing is left to go on with: what it raised is raised.
        """
        bad = broken.controller
        if broken.__cause__ is not None and getattr(bad, "vital", False):
            raise broken.__cause__
        self.pool.take_out(broken)
        self.watchers.sort(self.pool.values(), self.current, self._level)
        self._note("removed", controller=bad.name, reason=broken.reason)
        if bad is self.current and go_on:
            self._replace(bad, Status("failed", broken.reason), f"'{bad.name}' was taken out", "removed")

    def _replace(self, bad: Controller, status: Status, reason: str, cause: str) -> None:
        """Put somebody in charge instead of one that was taken out.

        The user's own safe one, where one was named. Else whoever of the pool can; else data that a body which still
        stands could be asked for; and only then the rag doll. Where several break at one moment it is that at once.
        """
        self._broken = self._broken + 1 if self._broken_at == self.stage.tick else 1
        self._broken_at, self.last = self.stage.tick, Ended(bad.name, status, self.stage.time)
        now, bids = self.look(), {}
        if self._broken <= MOST_BROKEN and self.pool.safe is not self._named_safe:
            others = [c for c in self.pool.values() if c is not self.pool.safe]
            bids = self.pool.bids(now, others) or self.pool.data_if_asked(self.look)
        winner = self.pool.best(bids) if bids else self.pool.safe
        bid = bids.get(winner.name, Bid(0.0))
        why = reason + (f"; {bid.why}" if bid.why else "")
        self._switch(now, winner, replace(bid, why=why), status, cause, bids)

    def _note(self, event: str, **what: Any) -> None:
        entry = {"kind": "supervisor", "time": self.stage.time, "character": self.name, "event": event}
        self.log.append({**entry, **what})

    # ---- saving

    def save(self) -> Any:
        """Return everything that must survive a restore."""
        told = (
            self.current.name, self.since, self.last, self._bid, self._level, self._request, self._patience,
            self._waiting, self._due, self._asleep, self.blows.alert, self.blows.borne, self.blows.by,
        )  # fmt: skip
        lists = list(self.log), list(self._hits), list(self._blows)
        return told, self.pool.save(), lists, self.rng.bit_generator.state, self.watchers.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        told, pool, (log, hits, blows), rng, watchers = state
        self.pool.restore(pool)
        (
            current, self.since, self.last, self._bid, self._level, self._request, self._patience,
            self._waiting, self._due, self._asleep, self.blows.alert, self.blows.borne, self.blows.by,
        ) = told  # fmt: skip
        self.current = self.pool[current]
        self.log[:], self._hits, self._blows = log, list(hits), list(blows)
        self.rng.bit_generator.state = rng
        self.watchers.sort(self.pool.values(), self.current, self._level)
        self.watchers.restore(watchers)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
