"""Where poses under tension lead, by their curves alone: what the preview shows and predictions are made from.

Poses held by tension, as a script has them: frozen values, and the order in which they are played.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.bodies import GROUPS
from stunt.character.character import Character, Joint
from stunt.control.tension.units import Tension
from stunt.errors import NOWHERE, Place, UnknownNameError
from stunt.motion.pose import Pose
from stunt.motion.transition import PRESETS, Curve

Update = Literal["sampling", "prediction"]
Path = Literal["constant", "line", "isoangle"]
After = Literal["hold", "beats", "passive"]


@dataclass(frozen=True)
class Span:
    """Tension at the start of a transition and at its end; a start of None is what the joint has then."""

    end: Tension
    start: Tension | None = None


@dataclass(frozen=True)
class Slack:
    """Factors on the two springs of a pair: one tightened (> 1) or relaxed (< 1) alone."""

    low: float = 1.0
    high: float = 1.0


@dataclass(frozen=True)
class ByJoint:
    """A setting for some joints: values by joint, limb or pattern; later ones win. Empty says nothing.

    Attributes:
        values: Settings by key, in the order they were written.
        places: Where each was written.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    def of(self, joint: str, default: Any = None) -> Any:
        """Return the setting of a joint."""
        found = default
        for key, value in self.values.items():
            if any(fnmatchcase(joint, pattern) for pattern in GROUPS.get(key, (key,))):
                found = value
        return found

    def check(self, character: Character) -> None:
        """Complain about a key that fits no joint of the character."""
        for key in self.values:
            if not any(fnmatchcase(joint, p) for joint in character.joints for p in GROUPS.get(key, (key,))):
                raise UnknownNameError(
                    f"limb or joint of '{character.name}'", key, (*GROUPS, *character.joints),
                    self.places.get(key, NOWHERE),
                )  # fmt: skip


EVERY = "all"


@dataclass(frozen=True)
class TensionPose:
    """One transition into a pose.

    Attributes:
        pose: Angles of any subset of the joints.
        at: When it begins, counted from its controller's start [s].
        lasts: How long the transition takes [s].
        curve: Its course.
        tension: `Span`s by joint; joints it does not name keep the tension they have.
        damping: Damping ratio by joint; joints it does not name keep theirs.
        update: How gains follow external torque, by joint; by default arms predict, and what
            bears weight (trunk, head, legs) samples.
        path: The way predicted gains take.
        compensate: Whether external torque is balanced, by joint.
        start: Begin from the gains in force, or from gains recalculated for where the joint is.
        springs: `Slack`s by joint.
        then: What follows: hold, hand the joints to the beat law, or let them go.
        place: Where it was written.
    """

    pose: Pose
    at: float = 0.0
    lasts: float = 0.5
    curve: Curve = PRESETS["ease"]
    tension: ByJoint = ByJoint()
    damping: ByJoint = ByJoint()
    update: ByJoint = ByJoint()
    path: Path = "line"
    compensate: ByJoint = ByJoint()
    start: Literal["current", "recalculated"] = "current"
    springs: ByJoint = ByJoint()
    then: After = "hold"
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class PoseGroup:
    """Poses that belong together.

    Attributes:
        poses: Each with its time within the controller.
        cycles: How often they are played.
        duration: Length of one cycle [s]; needed where there is more than one.
    """

    poses: tuple[TensionPose, ...]
    cycles: int = 1
    duration: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Play:
    """A controller started at a time [s]."""

    controller: str
    at: float
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class TensionPart:
    """What a character does under tension.

    Attributes:
        tension: `Tension`s by joint; these joints are held by tension from the start.
        damping: Damping ratios by joint.
        controllers: By name.
        plays: Which start when.
        balance: Whether a free character keeps its centre of mass over its feet.
    """

    tension: ByJoint = ByJoint()
    damping: ByJoint = ByJoint()
    controllers: Mapping[str, PoseGroup] = field(default_factory=dict)
    plays: tuple[Play, ...] = ()
    balance: bool = False
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Cue:
    """One transition on the performance's clock, from `start` to `end` [s]."""

    start: float
    end: float
    entry: TensionPose


def cues(part: TensionPart) -> list[Cue]:
    """Return all transitions in the order in which they begin; of those that begin together, as written."""
    found = []
    for play in part.plays:
        controller = part.controllers[play.controller]
        for cycle in range(controller.cycles):
            began = play.at + cycle * (controller.duration or 0.0)
            for entry in controller.poses:
                found.append(Cue(began + entry.at, began + entry.at + entry.lasts, entry))
    return sorted(found, key=lambda cue: cue.start)


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PhaseLeg:
    """One joint's way through one transition, from `start` to `end` [s], between two positions (nq,)."""

    start: float
    end: float
    begin: Floats
    goal: Floats
    curve: Curve

    def at(self, time: Any, ball: bool) -> Floats:
        """Return positions at times, (…, nq)."""
        progress = self.curve.at((np.asarray(time, float) - self.start) / max(self.end - self.start, 1e-9))
        if not ball:
            return np.asarray(self.begin + progress[..., None] * (self.goal - self.begin))
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, self.goal, self.begin)
        flat = np.array([_turned(self.begin, float(p) * turn) for p in np.ravel(progress)])
        return flat.reshape(*np.shape(progress), 4)


class Plan:
    """All legs of all joints, each joint's in order; a later one takes over from an earlier one wherever it is."""

    def __init__(self, character: Character, qpos: Floats, cues: Iterable[Cue]) -> None:
        """Lay the legs out.

        Args:
            character: Whose.
            qpos: Where everything starts, (nq,).
            cues: Transitions in the order in which they begin.
        """
        self.character = character
        self.legs: dict[str, list[PhaseLeg]] = {}
        self._home = {name: _position(joint, qpos).copy() for name, joint in character.joints.items()}
        for cue in cues:
            self.add(cue)

    def add(self, cue: Cue) -> None:
        """Append a transition; it must not begin before those that are there."""
        for name, angle in cue.entry.pose.angles.items():
            begin = self.at(name, cue.start)
            leg = PhaseLeg(cue.start, cue.end, begin, np.atleast_1d(np.asarray(angle, float)), cue.entry.curve)
            self.legs.setdefault(name, []).append(leg)

    def at(self, name: str, time: float) -> Floats:
        """Return one joint's position at a time, (nq,)."""
        legs = self.legs.get(name, [])
        index = bisect.bisect_right([leg.start for leg in legs], time + 1e-9) - 1
        if index < 0:
            return self._home[name]
        return legs[index].at(time, self.character.joints[name].kind == "ball")

    def write(self, qpos: Floats, times: Floats) -> None:
        """Lay the planned positions over a path, from each joint's first leg on.

        Args:
            qpos: The path, changed in place, (T, nq).
            times: Its times [s], (T,).
        """
        for name, legs in self.legs.items():
            joint = self.character.joints[name]
            starts = [leg.start for leg in legs]
            which = np.searchsorted(starts, times + 1e-9, side="right") - 1
            for index, leg in enumerate(legs):
                here = which == index
                if here.any():
                    qpos[here, joint.qpos : joint.qpos + joint.nq] = leg.at(times[here], joint.kind == "ball")


def _position(joint: Joint, qpos: Floats) -> Floats:
    return qpos[joint.qpos : joint.qpos + joint.nq]


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    out = quaternion.copy()
    mujoco.mju_quatIntegrate(out, vector, 1.0)
    return out
