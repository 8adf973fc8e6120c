"""Blows: what a part of one person gives a part of another, net, from the first touch until they part.

A hit (`stunt.stage.contacts`) is the moment in which two people begin to touch, and one of their many contacts; what a
blow does goes by what it gives in all. So while people touch, the forces between their parts are added up, step by
step, and a blow is told as soon as it is over: by one meter, for behaviours, reports and reviews alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stunt.stage.loop import StageLoop

HEAD: Final = ("head", "neck")
TRUNK: Final = ("thorax", "spine2", "lumbar", "pelvis")
STRIKING: Final = ("hand", "foot", "toe")
"""Ends of limbs: with what one strikes."""
PARTED: Final = 0.03
"""A blow is over once its parts have not touched for so long [s],"""
LONGEST: Final = 0.15
"""and in any case so long after it began [s]: what comes then is leaning, until they part."""
LEAST: Final = 1.0
"""Less than this is a touch [N·s]."""
APART: Final = 0.1
"""People who have not touched for so long are looked at again when they hit [s]."""
FELLS: Final = {"head": 20.0, "trunk": 30.0}
"""What a blow there has to give until it may fell somebody [N·s]."""
STAGGERS: Final = 1.0 / 3.0
"""A blow that is worth such a share of one that fells makes who gets it stagger."""


@dataclass(frozen=True)
class Struck:
    """A person's part was given an impulse by a part of somebody else.

    Attributes:
        time: When the two met [s].
        character: Who was struck.
        body: Which of its bodies, by its own name: that which got most, where several of one region did.
        by: Who struck.
        part: With which body.
        impulse: What it gave in all, net [N·s], world.
        peak: Largest force [N].
        seconds: How long it took [s].
    """

    time: float
    character: str
    body: str
    by: str
    part: str
    impulse: tuple[float, float, float]
    peak: float
    seconds: float

    @property
    def size(self) -> float:
        """How much it gave [N·s]."""
        return float(np.linalg.norm(self.impulse))

    @property
    def region(self) -> str:
        """Where it landed: `head`, `trunk`, or the name of another part."""
        return region_of(self.body)

    @property
    def landed(self) -> bool:
        """Whether it is a blow as it was meant: of a hand or a foot, on head or trunk."""
        return self.part.endswith(STRIKING) and self.region in ("head", "trunk")

    def worth(self, fells: Mapping[str, float] = FELLS) -> float:
        """Return what it is worth, as a share of a blow that fells; 0 for one that has not landed."""
        most = fells.get(self.region, 0.0)
        return self.size / most if self.landed and most > 0.0 else 0.0

    def to_data(self) -> dict[str, Any]:
        """Return it as an event of a take."""
        return {
            "kind": "blow", "time": self.time, "character": self.character, "body": self.body, "by": self.by,
            "part": self.part, "size": self.size, "impulse": list(self.impulse), "peak": self.peak,
            "seconds": self.seconds, "landed": self.landed, "worth": self.worth(),
        }  # fmt: skip


def region_of(body: str) -> str:
    """Return the region a body belongs to; a limb's bodies are regions of their own."""
    return "head" if body in HEAD else "trunk" if body in TRUNK else body


@dataclass
class _Meeting:
    """Two parts that touch, as far as it went: by the owners' numbers, and what each body got."""

    since: float
    last: float
    shares: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    peak: float = 0.0
    told: bool = False


_Key = tuple[str, str, str, str]  # who, which region, by whom, with which body


class BlowMeter:
    """Crew that adds up, while people touch, what their parts give each other.

    Attributes:
        log: All blows of `LEAST` and more so far.
        events: The same, as events of a take.
        listeners: Who is told of each as it is over.
    """

    def __init__(self, stage: StageLoop) -> None:
        """Watch over everybody on a stage; `meter_of` gives a stage its one."""
        self._stage = stage
        self.log: list[Struck] = []
        self.events: list[dict[str, Any]] = []
        self.listeners: list[Callable[[Struck], None]] = []
        self._meetings: dict[_Key, _Meeting] = {}
        self._touched = -np.inf
        self._due: int | None = None
        self._look_up()
        stage.hit_listeners.append(self._hit)

    def _look_up(self) -> None:
        """Note whose every body is."""
        model, self._names = self._stage.model, dict[int, tuple[str, str]]()
        for name, character in self._stage.built.characters.items():
            self._names |= {body: (name, own) for own, body in character.bodies.items()}
        people = list(self._stage.built.characters)
        owner = np.full(model.nbody, -1)
        for body, (name, _) in self._names.items():
            owner[body] = people.index(name)
        self._owner = owner[model.geom_bodyid]

    def _hit(self, hit: Any) -> None:
        if hit.by in self._stage.built.characters and self._due is None:
            self._due = self._stage.tick
            self._stage.crew.announce(self)

    def due(self) -> int | None:
        """Return when to look: at every step while people touch."""
        return self._due

    def act(self) -> None:
        """Add up what the last step gave; tell of blows that are over."""
        now, period = self._stage.time, self._stage.step_time
        if self._add(now, period):
            self._touched = now
        for key, meeting in [*self._meetings.items()]:
            parted = now - meeting.last > PARTED
            if not meeting.told and (parted or now - meeting.since > LONGEST):
                meeting.told = True
                self._tell(key, meeting)
            if parted:
                del self._meetings[key]
        self._due = None if now - self._touched > APART else self._stage.tick + 1

    def _add(self, now: float, period: float) -> bool:
        """Add the impulses of the step just taken; return whether people touch."""
        model, data = self._stage.model, self._stage.data
        contact, wrench = data.contact, np.zeros(6)
        geoms, given = contact.geom[: data.ncon], dict[_Key, dict[int, NDArray[np.float64]]]()
        owners = self._owner[geoms]
        between = np.flatnonzero((owners >= 0).all(axis=1) & (owners[:, 0] != owners[:, 1]))
        for index in between:
            mujoco.mj_contactForce(model, data, int(index), wrench)
            if not wrench[0] > 0.0:
                continue
            force = wrench[:3] @ contact.frame[index].reshape(3, 3)  # of the first on the second
            pair = [int(body) for body in model.geom_bodyid[geoms[index]]]
            for mine, other, sign in ((pair[1], pair[0], 1.0), (pair[0], pair[1], -1.0)):
                (who, own), (by, part) = self._names[mine], self._names[other]
                got = given.setdefault((who, region_of(own), by, part), {})
                got[mine] = got.get(mine, 0.0) + sign * force
        for key, got in given.items():
            meeting = self._meetings.setdefault(key, _Meeting(now, now))
            meeting.last = now
            if not meeting.told:
                meeting.peak = max(meeting.peak, float(np.linalg.norm(sum(got.values()))))
                for body, force in got.items():
                    meeting.shares[body] = meeting.shares.get(body, 0.0) + period * force
        return len(between) > 0

    def _tell(self, key: _Key, meeting: _Meeting) -> None:
        who, _, by, part = key
        most = max(meeting.shares, key=lambda body: float(np.linalg.norm(meeting.shares[body])))
        x, y, z = (float(value) for value in np.sum([*meeting.shares.values()], axis=0))
        seconds = min(meeting.last, meeting.since + LONGEST) - meeting.since + self._stage.step_time
        struck = Struck(meeting.since, who, self._names[most][1], by, part, (x, y, z), meeting.peak, seconds)
        if struck.size < LEAST:
            return
        self.log.append(struck)
        self.events.append(struck.to_data())
        for listener in self.listeners:
            listener(struck)

    def move(self, by: object) -> bool:
        """Go on, on a stage with another cast; what two were at is forgotten."""
        self._meetings.clear()
        self.events.clear()  # a take has one cast
        self._look_up()
        return True

    def save(self) -> Any:
        """Return what must survive a restore."""
        kept = {
            key: _Meeting(one.since, one.last, dict(one.shares), one.peak, one.told)
            for key, one in self._meetings.items()
        }
        return list(self.log), len(self.events), kept, self._touched, self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        log, told, kept, self._touched, self._due = state
        self.log[:], self.events[:] = log, [struck.to_data() for struck in log[len(log) - told :]]
        self._meetings = {
            key: _Meeting(one.since, one.last, dict(one.shares), one.peak, one.told) for key, one in kept.items()
        }


def meter_of(stage: StageLoop) -> BlowMeter:
    """Return a stage's meter of blows; where it has none yet, it is made, and acts before everybody else."""
    for member in stage.crew:
        if isinstance(member, BlowMeter):
            return member
    meter = BlowMeter(stage)
    stage.crew.insert(0, meter)
    getattr(stage, "logs", []).append(meter.events)  # a bare loop keeps no take
    return meter
