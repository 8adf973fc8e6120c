"""Following clips by forces, one after another: the controller behind `clips` and `stunt track`, and its pool."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import DOWN, FOLLOWING, Thresholds, feel, feel_push
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths import rotations
from stunt.stage.events import PUSHED
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock
from stunt.supervise.contract import BaseController, Bid, Controller, Status, failed
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.reflexes.anatomy import is_person
from stunt.supervise.reflexes.fall import LOST, STRAINED, Fall, strayed
from stunt.supervise.reflexes.get_up import GetUp
from stunt.supervise.reflexes.stumble import Stumble
from stunt.supervise.situation import Situation
from stunt.supervise.supervisor import Supervisor
from stunt.supervise.twin import Twin

TONE: Final = 0.02
"""Share of its strength a body keeps that has gone down: limp, but it holds itself together a little."""
LEAN: Final = math.radians(45.0)
HEIGHT: Final = 0.25
"""A body whose root leans by more than this from a clip's [rad], or is off its height by more than this share, cannot
go on with it."""
ASLEEP: Final = 60.0
"""Longest time it needs nobody to look after it [s]."""
SOON: Final = 1.0
"""With less than this left of what was laid out of a looping clip it is laid out again [s]."""
DEFAULT: Final = Thresholds()
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class QueuedClip:
    """One clip and when it is its turn.

    Attributes:
        motion: What.
        at: When [s]; None: when the one before it ends.
        blend: How long going over to it takes [s].
        facing: How the hips are turned in its first frame, from where it is said to face [rad].
        turned: How far it is turned, when it is its turn, from where the body faces then [rad].
        floor: Height of the floor it was on in its file [m].
    """

    motion: BodyMotion
    at: float | None = None
    blend: float = 0.3
    facing: float = 0.0
    turned: float = 0.0
    floor: float = 0.0


class ClipQueue(BaseController):
    """Follows clips at their times; after a fall it goes on with the next one once the body is up again."""

    name = "clips"
    longest = 1e9
    vital = True
    shared = ("_clips", "_first", "_react", "_broke_off")

    def __init__(
        self,
        clips: Sequence[QueuedClip],
        *,
        first: BodyMotion | None = None,
        put: bool = True,
        repeat: bool = False,
        toward: str | None = None,
        react: Thresholds | None = None,
        name: str = "",
    ) -> None:
        """Queue clips.

        Args:
            clips: Which; the performance begins with the first one.
            first: The first one where it lies on the stage; None: as it is.
            put: Whether the body is put into its first frame; else it goes over to it from what it does.
            repeat: Whether they begin again.
            toward: The character to turn to with every clip.
            react: When hits make it give way, stun and fall; None: never.
            name: What it is called.
        """
        super().__init__(name)
        self._clips, self._first, self._put = tuple(clips), first or clips[0].motion, put
        self._repeat, self._toward, self._react = repeat, toward, react
        self._next, self._round, self._stunned = 1, 0, False
        self._at = self._time_of_next(0.0)
        self._broke_off: tuple[BodyMotion, float] | None = None  # by a reflex: what, and when its first frame was [s]

    def go_over(
        self, clips: Sequence[QueuedClip], at: float, *, repeat: bool = False, toward: str | None = None
    ) -> None:
        """Follow other clips from a time on [s], instead of all that were to come; who is down, once it is up."""
        self._clips, self._repeat, self._toward = tuple(clips), repeat, toward
        self._next, self._round, self._at = 0, 0, at

    def _time_of_next(self, now: float) -> float:
        """Return when the next clip is due [s]; infinity: never."""
        if self._next >= len(self._clips):
            if not self._repeat:
                return math.inf
            self._next, self._round = 0, self._round + 1
        at = self._clips[self._next].at
        before = self._clips[self._next - 1].motion
        return now + before.duration if at is None or self._round else at

    @property
    def _coming(self) -> QueuedClip:
        """What it would go on with: where it was at the last one, that once more."""
        return self._clips[min(self._next, len(self._clips) - 1)]

    def bid(self, now: Situation) -> Bid | None:
        """Bid at the beginning, and for a body that is as high and as upright as the clip to go on with."""
        if now.last is None:
            return Bid(1.0, "the performance begins")
        pose, qpos = self._coming.motion.qpos[0], now.qpos
        seen = [rotations.rotate(rotations.conjugate(turn), _UP) for turn in (pose[3:7], qpos[3:7])]
        lean = math.acos(float(np.clip(seen[0] @ seen[1], -1.0, 1.0)))
        high = float(qpos[2]) - now.stage.scene.characters[now.character.name].at[2]
        if lean > LEAN or abs(high - pose[2]) > HEIGHT * max(float(pose[2]), 0.05):
            return None
        return Bid(1.0 - 0.5 * lean / LEAN, f"{math.degrees(lean):.0f}° from how '{self._coming.motion.name}' begins")

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Begin with the first clip, or go on."""
        if now.last is None:
            if self._put:
                actor.begin(self._first)
            else:
                actor.follow(self._first, blend=self._clips[0].blend, place=False)
            return
        actor.recover()
        actor.lean(None)
        actor.note(FOLLOWING)
        self._stunned = False
        if self._broke_off is None or now.time >= self._at - 1e-9 or not now.last.name != Stumble.name:
            self._play(now, actor)
        else:
            self._go_on(now, actor, *self._broke_off)

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Note what was broken off."""
        self._broke_off = (actor.motion, actor.started) if actor.motion is not None else None

    def _go_on(self, now: Situation, actor: BodyActor, motion: BodyMotion, started: float) -> None:
        """Go on with a clip that was broken off: by the clock, or where it loops, where it is most like the body."""
        since = now.time - started
        if motion.loop:
            bend = np.mean((motion.qpos[:, 7:] - now.qpos[7:]) ** 2, axis=1)
            since = float(bend[:-1].argmin()) / motion.fps
        actor.follow(motion, since=min(since, motion.duration), actual=True)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Give way to hits, and go over to the next clip when it is its turn."""
        if why := loses(actor, now, self._react):
            actor.note(DOWN, why=why)
            return failed(why)
        if self._react is not None:
            if self._stunned and not actor.weakened:
                actor.note(FOLLOWING)
            self._stunned = actor.weakened
        if now.time >= self._at - 1e-9:
            self._play(now, actor)
        elif actor.motion is not None and actor.motion.loop and actor.left < SOON:
            actor.follow(actor.motion, since=actor.elapsed % actor.motion.duration)
        return Status("running", wake=self._sleep(now, actor), broken=STRAINED)

    def _sleep(self, now: Situation, actor: BodyActor) -> float:
        """Return how long nobody has to look after it [s]."""
        wake = min(self._at - now.time, ASLEEP)
        if actor.motion is not None and actor.motion.loop:
            wake = min(wake, actor.left - 0.5 * SOON)
        if actor.broken_for >= STRAINED:
            return 1e-6  # somebody has to see whether it goes down
        return max(min(wake, 0.1) if self._stunned else wake, 1e-6)

    def _play(self, now: Situation, actor: BodyActor) -> None:
        """Go over to the next clip."""
        clip = self._coming
        self._next = min(self._next, len(self._clips) - 1) + 1
        self._at = self._time_of_next(now.time)
        if self._toward is not None:
            actor.follow(self._aimed(now, clip), blend=clip.blend, place=False)
        elif clip.turned:
            actor.follow(_turned(now, clip), blend=clip.blend, place=False)
        else:
            actor.follow(clip.motion, blend=clip.blend)

    def _aimed(self, now: Situation, clip: QueuedClip) -> BodyMotion:
        """Return a motion where the character is, facing the other one."""
        other = now.stage.character(str(self._toward))
        theirs = now.stage.data.xpos[other.root_body]
        x, y = float(now.qpos[0]), float(now.qpos[1])
        return clip.motion.placed((x, y), math.atan2(theirs[1] - y, theirs[0] - x) + clip.facing)

    def recast(self, stage: StageLoop) -> None:
        """Turn to nobody who has left."""
        self._toward = self._toward if self._toward in stage.built.characters else None

    def save(self) -> Any:
        """Return what must survive a restore; clips are never changed, but others may take their place."""
        return self._clips, self._broke_off, super().save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._clips, self._broke_off, rest = state
        super().restore(rest)


def _turned(now: Situation, clip: QueuedClip) -> BodyMotion:
    """Return a motion where the character is, turned from where it faces."""
    x, y = float(now.qpos[0]), float(now.qpos[1])
    return clip.motion.placed((x, y), float(rotations.heading(now.qpos[3:7])) + clip.turned)


def loses(actor: BodyActor, now: Situation, react: Thresholds | None) -> str:
    """Return why a body that follows a motion cannot stay up any more; empty: it can. It gives way to what hit it.

    Args:
        actor: The body.
        now: Its situation, with what hit it.
        react: When hits make it give way, stun and fall; None: never.
    """
    if react is not None and feel(actor, now.hits, react, blows=now.blows):
        return "limp"
    if actor.broken_for < STRAINED:
        return ""
    if actor.broken_for > (react or DEFAULT).broken:
        return "broken"
    return "lost its balance" if strayed(actor, now.com, now.com_velocity) > LOST else ""


def queue_of(supervisor: Supervisor | None) -> ClipQueue | None:
    """Return the queue of clips a supervisor has in its pool; None: none."""
    pool = supervisor.pool.values() if supervisor is not None else ()
    return next((controller for controller in pool if isinstance(controller, ClipQueue)), None)


def follow_clips(
    stage: StageLoop,
    name: str,
    clips: Sequence[QueuedClip],
    *,
    first: BodyMotion | None = None,
    put: bool = True,
    repeat: bool = False,
    toward: str | None = None,
    react: Thresholds | None = DEFAULT,
    get_up: Mapping[str, BodyMotion] | None = None,
) -> Supervisor:
    """Put a queue of clips in charge of a character, with the reflexes that go with it.

    Args:
        stage: Where.
        name: Who.
        clips: Which.
        first: The first one where it lies on the stage; None: as it is.
        put: Whether the body is put into its first frame; else it goes over to it from what it does.
        repeat: Whether they begin again.
        toward: The character to turn to with every clip.
        react: When hits make it give way, stun and fall; None: never.
        get_up: Motions to get up by, lying on the `front` or the `back`.
    """
    limits = react or DEFAULT
    safe = RagDoll(still=limits.still, rest=limits.lying, tone=TONE)
    queue = ClipQueue(clips, first=first, put=put, repeat=repeat, toward=toward, react=react)
    pool: list[Controller] = [queue, safe]
    if is_person(stage.character(name)):
        fall = Fall(rest=limits.lying)
        fall.interrupts = False  # who follows a cartwheel tips over: whether it is lost, the queue says
        pool.insert(1, fall)
        if react is not None and react.steps:
            pool.insert(1, Stumble())
    if get_up:
        pool.append(GetUp(get_up, thresholds=limits))
    unmoved = replace(limits, ground=math.inf, out=math.inf)
    supervisor = Supervisor(stage, name, pool, safe=safe, react=limits if react is not None else unmoved)

    def pushed(shock: Shock) -> None:
        if shock.by == PUSHED and shock.character == name and react is not None and supervisor.current is queue:
            feel_push(supervisor.actor, shock, react)

    stage.shock_listeners.append(pushed)
    return supervisor


class ByForces(BaseController):
    """A controller on data whose motions forces follow from first to last (P3, §4.5): it only chooses them.

    Attributes:
        guide: The controller on data.
        thresholds: How hard a hit must be to stun or fell the body.
    """

    kinematic = False
    shared = ("guide", "thresholds", "motions")

    def __init__(self, guide: Controller, thresholds: Thresholds | None = None) -> None:
        """Take a controller on data as a guide; it is called as that is."""
        super().__init__(guide.name)
        self.guide, self.thresholds = guide, thresholds or Thresholds()
        self.priority, self.longest, self.interrupts = guide.priority, guide.longest, guide.interrupts
        self.low = bool(getattr(guide, "low", False))
        motion = getattr(guide, "motion", None)
        self.motions = {} if motion is None else {motion.name: motion}

    def bid(self, now: Situation) -> Bid | float | None:
        """Offer what its guide offers."""
        return self.guide.bid(now)

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Begin what the guide would play."""
        actor.recover()
        actor.lean(None)
        actor.by_forces = True
        self.guide.start(now, actor, bid)

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Follow, give way to blows, and let the guide go on."""
        if why := loses(actor, now, self.thresholds):
            return failed(why)
        if actor.motion is not None and actor.motion.loop and actor.left < SOON:
            actor.follow(actor.motion, since=actor.elapsed % actor.motion.duration)
        status = self.guide.step(now, actor)
        if not status.running:
            return status
        later = 0.0 if status.wake <= 0.0 else max(min(status.wake, actor.left - 0.5 * SOON), 0.0)
        return Status("running", status.reason, wake=later, broken=STRAINED)

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go."""
        actor.by_forces = False
        self.guide.stop(now, actor)

    def recast(self, stage: StageLoop) -> None:
        """Let the guide look up anew what it knows."""
        if hasattr(self.guide, "recast"):
            self.guide.recast(stage)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return super().save(), self.guide.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        own, guide = state
        super().restore(own)
        self.guide.restore(guide)


def by_forces(pool: Sequence[Controller]) -> list[Controller]:
    """Return a pool whose controllers on data are followed by forces; twins give way to them, and say how hard."""
    felt = {one.brother: one.thresholds for one in pool if isinstance(one, Twin)}
    rest = [one for one in pool if not isinstance(one, Twin)]
    return [ByForces(one, felt.get(one)) if one.kinematic else one for one in rest]
