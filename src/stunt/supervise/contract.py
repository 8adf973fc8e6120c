"""The contract between a supervisor and its controllers (P2: black boxes in a pool).

A controller is anything with a name, a flag and five verbs:

* `bid(now)`: can I take the character from here? None, or a score from 0 to 1: the pre-condition;
* `start(now, actor, bid)`: take it, with the bid that won;
* `step(now, actor)`: how it goes: RUNNING, `succeeded(why)` or `failed(why)`: the post-condition;
* `stop(now, actor)`: someone else takes over, whatever the reason.

It is asked some thirty times a second and whenever its character is hit; between these moments the compiled loop plays
or follows what it told the `actor`. Kinematic controllers say where the body is (`actor.play`); dynamic ones where it
should go and how strong it is (`actor.follow`, `actor.aim`, `actor.stun`, `actor.go_limp`, …).

`BaseController` has a default for everything but `step`, if one likes to derive. Where a controller has a `recast`, it
is told when somebody joined or left the stage: numbers of bodies and joints are other ones then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from stunt.drive.body.actor import BodyActor
    from stunt.stage.loop import StageLoop
    from stunt.supervise.situation import Situation


State = Literal["running", "succeeded", "failed"]
STATES: Final = ("running", "succeeded", "failed")


@dataclass(frozen=True)
class Status:
    """How a controller gets on.

    Attributes:
        state: `running`, `succeeded` or `failed`.
        reason: Why, for the log; a few words.
        wake: Running, it need not be asked again before so many seconds have passed, if nothing happens and nobody else
            wants to be asked; 0: at the next look.
        tilt: Unless, before that, the character tilts further than this [rad] …
        broken: … or its root spring has been broken for so long [s]: the compiled loop looks after it.
    """

    state: State
    reason: str = ""
    wake: float = 0.0
    tilt: float = math.inf
    broken: float = math.inf

    @property
    def running(self) -> bool:
        """Whether it wants to go on."""
        return self.state == "running"


RUNNING: Final = Status("running")


def succeeded(reason: str) -> Status:
    """Say that what was wanted is reached: the next one may take over."""
    return Status("succeeded", reason)


def failed(reason: str) -> Status:
    """Say that it will not be reached: someone else must take over."""
    return Status("failed", reason)


@dataclass(frozen=True)
class Bid:
    """An offer to take the character.

    Attributes:
        score: How well it fits, from 0 (barely) to 1 (perfectly). Decides among controllers of equal priority.
        why: For the log; a few words.
        plan: Whatever `start` needs to carry it out (a frame to go on from, a direction). Not looked at.
        priority: Overrides the controller's own, where an emergency counts for more.
    """

    score: float
    why: str = ""
    plan: Any = None
    priority: int | None = None


IDLE, ORDINARY, RECOVERY, REFLEX, EMERGENCY = 0, 10, 20, 30, 40
"""Priorities the house uses: a last resort; motion one asks for; getting up; ducking and catching; going limp."""


Wakes = Literal["always", "flying", "hit", "forces", "strays"]
"""When one that may interrupt is asked while data is in charge: at every look, once something flies near (within 3.5 m
in the next 1.25 s), after a hit, or not before forces are in charge. A controller that has no `wakes` is always asked;
under forces, and after hits, all are, but those of `strays` only once the root goes elsewhere than its motion does."""


@runtime_checkable
class Controller(Protocol):
    """What a supervisor can put in charge.

    Attributes:
        name: What it is called in the log; unique in its pool.
        kinematic: Whether it says where the body is (True) or drives it by forces (False).
        priority: Goes before the score; the higher one wins.
        interrupts: Whether it may take over while another of lower priority still runs.
        longest: After so many seconds in charge it counts as stuck and is stopped [s].
    """

    name: str
    kinematic: bool
    priority: int
    interrupts: bool
    longest: float

    def bid(self, now: Situation) -> Bid | float | None:
        """Offer to take the character from here, or None."""

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Take it."""

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Go on, and say how it goes."""

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go; the next one is started right after."""

    def save(self) -> Any:
        """Return a copy of what must survive a restore."""

    def restore(self, state: Any) -> None:
        """Put it back."""


class BaseController:
    """Defaults for controllers: bids 0.5 anywhere, remembers everything it keeps in plain attributes."""

    name: str = ""
    kinematic: bool = False
    priority: int = ORDINARY
    interrupts: bool = False
    longest: float = 60.0
    low: bool = False
    """Whether it means the body to crouch, roll or lie: being down under it is no fall (see `record/falls.py`)."""
    wakes: Wakes = "always"
    """When it is asked, if it interrupts, while data is in charge."""
    shared: ClassVar[tuple[str, ...]] = ()
    """Attributes that never change (clips, models) and need not be copied on save."""

    def __init__(self, name: str = "") -> None:
        """Name it; the class's name in small letters if nobody does."""
        self.name = name or type(self).name or type(self).__name__.lower()

    def bid(self, now: Situation) -> Bid | float | None:
        """Offer to take the character from here."""
        return 0.5

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Take it."""

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Go on."""
        return RUNNING

    def stop(self, now: Situation, actor: BodyActor) -> None:
        """Let go."""

    def recast(self, stage: StageLoop) -> None:
        """Look up anew what it knows of the scene by number: somebody has joined or left."""

    def save(self) -> Any:
        """Return a copy of all attributes but the shared ones."""
        import copy

        return copy.deepcopy({key: value for key, value in vars(self).items() if key not in self.shared})

    def restore(self, state: Any) -> None:
        """Put them back."""
        import copy

        vars(self).update(copy.deepcopy(state))
