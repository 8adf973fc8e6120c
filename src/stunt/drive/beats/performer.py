"""A performer: keys in, goals on the board, and a word on how each beat went.

Works inside a script's performance and from a user's own loop alike: keys can be added at any time, for any subset of
joints. Each joint heads for its own next key, from its previous one.

How a beat went: where each joint was at that moment, against where it should have been.
"""

from __future__ import annotations

import bisect
import copy
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.core.board import ARRIVALS, COUPLINGS, HELD, PASSIVE, STANDING
from stunt.control.core.renumbered import Renumbered
from stunt.drive.beats.check import check_pose, matching_joints
from stunt.drive.beats.predict import joint_way, smooth_way
from stunt.drive.beats.spec import Arrival, Coupling, Part, resolve_beats
from stunt.drive.response.giving import Giving
from stunt.errors import InvalidValueError, UnknownNameError, announced
from stunt.motion.pose import Pose
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BeatResult:
    """One beat, measured.

    Attributes:
        index: Number of the beat for its character, in the order they were asked for.
        time: When it was due [s].
        pose: Its pose's name.
        error_deg: Angle error of the worst joint [°]. (A slide's error counts in millimetres.)
        error_deg_rms: Root mean square over the pose's joints [°].
        velocity_error: Largest velocity error of a joint [rad/s or m/s].
        worst_joint: The joint with the largest angle error.
        saturated: Joints that were at the limit of their strength on the way.
        joint_errors_deg: Signed error of each joint [°]: positive is too far. Ball joints: the rotation angle.
        targets: What each joint was asked for [rad or m]; a ball joint's is a quaternion wxyz.
        held_error_deg: Angle error of the worst of the other joints, which hold [°].
        held_worst_joint: Which that is; empty where none holds.
        fitted_deg: By how much joints of legs were asked for something else, so that feet stay where they stand, at
            most [°]; their errors count from there.
    """

    index: int
    time: float
    pose: str
    error_deg: float
    error_deg_rms: float
    velocity_error: float
    worst_joint: str
    saturated: tuple[str, ...]
    joint_errors_deg: dict[str, float] = field(default_factory=dict)
    targets: dict[str, float | list[float]] = field(default_factory=dict)
    held_error_deg: float = 0.0
    held_worst_joint: str = ""
    fitted_deg: float = 0.0


def measure(
    stage: StageLoop,
    character: Character,
    index: int,
    time: float,
    pose: Pose,
    before: tuple[float, Floats, Floats] | None,
    strained: NDArray[np.int64],
    held: Mapping[str, Any] = MappingProxyType({}),
) -> BeatResult:
    """Measure a beat that has just fallen, between the last two steps if it lies between them.

    Args:
        stage: The stage, at or just after the beat.
        character: Whose beat it is.
        index: Its number.
        time: Its time [s].
        pose: What was asked for.
        before: Time and state of the step before, where the beat lies between two steps.
        strained: Steps each degree of freedom spent at its limit on the way, (nv,).
        held: What joints should hold that the pose does not name.
    """
    qpos, qvel = state_at(stage, time, before)
    still = {name: abs(joint_error_deg(character.joints[name], qpos, angle)) for name, angle in held.items()}
    stillest = max(still, key=lambda name: still[name], default="")
    errors: dict[str, float] = {}
    velocity_error = 0.0
    for name, angle in pose.angles.items():
        joint = character.joints[name]
        errors[name] = joint_error_deg(joint, qpos, angle)
        velocity_error = max(velocity_error, _speed_error(joint, qvel, pose.velocities.get(name, 0.0)))
    worst = max(errors, key=lambda name: abs(errors[name]), default="")
    limited = set(np.flatnonzero(strained).tolist())
    at_limit = tuple(n for n, j in character.joints.items() if not limited.isdisjoint(range(j.dof, j.dof + j.nv)))
    return BeatResult(
        index=index,
        time=time,
        pose=pose.name,
        error_deg=abs(errors[worst]) if worst else 0.0,
        error_deg_rms=math.sqrt(sum(e * e for e in errors.values()) / max(1, len(errors))),
        velocity_error=velocity_error,
        worst_joint=worst,
        saturated=at_limit,
        joint_errors_deg=errors,
        targets={
            name: angle if isinstance(angle, float) else np.asarray(angle, float).tolist()
            for name, angle in pose.angles.items()
        },
        held_error_deg=still.get(stillest, 0.0),
        held_worst_joint=stillest,
    )


def _speed_error(joint: Joint, qvel: Floats, wanted: Any) -> float:
    """Return how far a joint's velocity is from the wanted one [rad/s or m/s]."""
    if joint.nv == 1 and isinstance(wanted, float):
        return abs(float(qvel[joint.dof]) - wanted)
    return float(np.linalg.norm(qvel[joint.dof : joint.dof + joint.nv] - np.asarray(wanted)))


def state_at(stage: StageLoop, time: float, before: tuple[float, Floats, Floats] | None) -> tuple[Floats, Floats]:
    """Return positions and velocities at a time between the step before and now.

    Within a semi-implicit step positions move linearly; velocities are interpolated.
    """
    now = stage.time
    if before is None or now - time < 1e-9 or not before[0] <= time < now:
        return stage.data.qpos, stage.data.qvel
    share = (time - before[0]) / (now - before[0])
    step = np.zeros(stage.model.nv)
    mujoco.mj_differentiatePos(stage.model, step, 1.0, before[1], stage.data.qpos)
    qpos = before[1].copy()
    mujoco.mj_integratePos(stage.model, qpos, step, share)
    return qpos, before[2] + share * (stage.data.qvel - before[2])


def joint_error_deg(joint: Joint, qpos: Floats, wanted: Any) -> float:
    """Return a joint's error [°] ([mm] for a slide); a ball joint's is the angle of the rotation that is missing."""
    here = qpos[joint.qpos : joint.qpos + joint.nq]
    if joint.kind == "slide":
        return float(1000.0 * (here[0] - wanted))
    if joint.kind == "hinge":
        return math.degrees(here[0] - wanted)
    vector = np.zeros(3)
    mujoco.mju_subQuat(vector, here, np.asarray(wanted, dtype=float))
    return math.degrees(float(np.linalg.norm(vector)))


def _angle_between(joint: Joint, one: Any, other: Any) -> float:
    """Return how far two angles of a joint are apart [°]."""
    qpos = np.zeros(joint.qpos + joint.nq)
    qpos[joint.qpos :] = one
    return abs(joint_error_deg(joint, qpos, other))


@dataclass(frozen=True)
class Key:
    """One joint's key: arrive at `angle` with `velocity` at `time` [s], setting out at `start` [s] at the earliest."""

    time: float
    start: float
    angle: Any
    velocity: Any
    hold: float


@dataclass(frozen=True)
class Beat:
    """A pose due at a time [s]."""

    time: float
    index: int
    pose: Pose = field(compare=False)


class Performer:
    """Drives one character by the beat law."""

    @announced
    def __init__(
        self,
        stage: StageLoop,
        character: str,
        *,
        part: Part | None = None,
        coupling: Coupling = "full",
        arrival: Arrival = "critical",
        tension: float = 0.5,
        give: float | None = None,
        ease: float = 0.2,
        missed_deg: float = 1.0,
    ) -> None:
        """Take charge of a character and hold the pose it is in.

        Args:
            stage: Where it is.
            character: Its name.
            part: What to do; overrides the arguments that follow.
            coupling: How much of the other joints a joint knows.
            arrival: Which law of arrival.
            tension: Seconds to come back to a held pose when disturbed.
            give: How far the joint that gives most gives to a blow [°/(N·s)], while it holds; None: `tension` says.
            ease: Share of each approach over which its acceleration is gathered.
            missed_deg: A beat whose worst joint is off by more than this counts as missed.
        """
        self.stage = stage
        self.character = stage.character(character)
        self.part = part or Part(coupling=coupling, arrival=arrival, tension=tension, give=give, ease=ease)
        if not (math.isfinite(self.part.tension) and self.part.tension > 0.0):
            raise InvalidValueError("tension", self.part.tension, "a positive number of seconds", self.part.place)
        for kind, value, known in (
            ("coupling", self.part.coupling, COUPLINGS),
            ("arrival", self.part.arrival, ARRIVALS),
        ):
            if value not in known:
                raise UnknownNameError(kind, value, known, self.part.place)
        self.controlled = matching_joints(self.part, self.character)
        self.missed_deg, self.stands = missed_deg, False
        self.results: list[BeatResult] = []
        self.missed_listeners: list[Callable[[BeatResult], None]] = []
        self.changed: Callable[[], None] = lambda: None
        self.fitted: Callable[[float], Mapping[str, Any]] = lambda time: {}
        self._owners = stage.owners(character)
        self._queues: dict[str, list[Key]] = {name: [] for name in self.controlled}
        self._aimed: dict[str, Key] = {}  # the key each joint is on its way to
        self._beats: list[Beat] = []
        self._count = 0
        self._last = -1
        self._before: tuple[float, Any, Any] | None = None
        self._saturated_from = stage.board.saturated_steps.copy()
        self._giving = Giving(stage)
        self._take_charge()
        if self.part.give is not None:
            stage.shock_listeners.append(self._give_way)
        for beat in resolve_beats(self.part) if self.part.beats else ():
            self.key(beat.pose, at=beat.time, hold=beat.hold, duration=beat.duration)
        stage.crew.append(self)

    @property
    def _law(self) -> int:
        return STANDING if self.stands else COUPLINGS[self.part.coupling]

    def _take_charge(self) -> None:
        board, part = self.stage.board, self.part
        for name in self.controlled:
            joint = self.character.joints[name]
            board.law[joint.id] = self._law
            board.arrival[joint.id] = ARRIVALS[part.arrival]
            board.feed_bias[joint.id] = int(part.gravity_compensation)
            self._hold(joint, part.tension)
            board.goal[joint.qpos : joint.qpos + joint.nq] = self.stage.data.qpos[joint.qpos : joint.qpos + joint.nq]

    def _hold(self, joint: Joint, tension: float) -> None:
        board = self.stage.board
        board.goal_time[joint.id] = HELD
        board.goal_velocity[joint.dof : joint.dof + joint.nv] = 0.0
        board.hold[joint.id] = tension / TIME_CONSTANTS
        self._giving.drop(joint.name)

    def _give_way(self, shock: Shock) -> None:
        """Have joints that hold give to a blow as far as the part says (see `stunt.drive.response.give`)."""
        if shock.character == self.character.name and self.part.give is not None:
            board, joints = self.stage.board, [self.character.joints[name] for name in self.controlled]
            held = [j for j in joints if board.law[j.id] == self._law and board.goal_time[j.id] == HELD]
            self._giving.answer(shock, held, math.radians(self.part.give))
            self.stage.crew.announce(self)

    def key(
        self,
        pose: Pose,
        *,
        at: float | None = None,
        after: float | None = None,
        hold: float | None = None,
        duration: float | None = None,
    ) -> None:
        """Ask for a pose at a time.

        Args:
            pose: Any subset of the controlled joints.
            at: When [s]; must lie ahead.
            after: Instead: how long after the last beat asked for so far (or now).
            hold: Tension after it [s to come back]; None is the performer's.
            duration: Set out only so long before it [s].

        Raises:
            StuntError: An unknown or uncontrolled joint, an angle outside the limits, a time that has passed.
        """
        at = self._time_of(at, after, pose)
        hold = self.part.tension if hold is None else hold
        for what, value in (("hold", hold), ("duration", duration)):
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InvalidValueError(what, value, "a positive number of seconds", pose.place)
        self._check(pose)
        self._drop(pose.angles, at)  # what this pose replaces
        start = -np.inf if duration is None else at - duration
        for name, angle in pose.angles.items():
            joint = self.character.joints[name]
            velocity = pose.velocities.get(name, 0.0 if joint.nv == 1 else (0.0,) * joint.nv)
            queue = self._queues[name]
            queue[:] = [key for key in queue if abs(key.time - at) > 1e-9]
            bisect.insort(queue, Key(at, start, angle, velocity, hold), key=lambda key: key.time)
            self._aim(name)
        bisect.insort(self._beats, Beat(at, self._count, pose), key=lambda beat: beat.time)
        self._count += 1
        self.stage.crew.announce(self)
        self.changed()

    @property
    def last_beat(self) -> float:
        """When the last beat asked for so far falls [s]; now, where there is none ahead."""
        return self._beats[-1].time if self._beats else self.stage.time

    def _time_of(self, at: float | None, after: float | None, pose: Pose) -> float:
        now = self.stage.time
        if (at is None) == (after is None):
            raise InvalidValueError("the time of a key", (at, after), "exactly one of at and after", pose.place)
        if after is not None:
            at = self.last_beat + after
        if at is None or not (math.isfinite(at) and at > now):
            raise InvalidValueError("the time of a key", at, f"later than now ({now:.6g} s)", pose.place)
        return at

    def _check(self, pose: Pose) -> None:
        """Refuse a pose before anything is changed."""
        if not pose.angles:
            raise InvalidValueError(f"pose '{pose.name}'", {}, "one that names at least one joint", pose.place)
        check_pose(pose, self.character)
        for name in pose.angles:
            if name not in self._queues:
                raise InvalidValueError(f"joint '{name}'", "passive", "one the part controls", pose.place)
        self._owners.check(pose.angles, pose.place)

    def _drop(self, joints: Collection[str], at: float | None = None) -> None:
        """Take joints out of beats, all or those at a time [s], that are never going to be met."""
        kept = []
        for beat in self._beats:
            if at is None or abs(beat.time - at) < 1e-9:
                angles = {name: angle for name, angle in beat.pose.angles.items() if name not in joints}
                if not angles:
                    continue
                beat = replace(beat, pose=replace(beat.pose, angles=angles))
            kept.append(beat)
        self._beats[:] = kept

    def forget(self) -> None:
        """Forget all keys that are still ahead; joints on their way go on, and hold where they arrive."""
        self._beats.clear()
        for queue in self._queues.values():
            queue.clear()
        self.stage.crew.announce(self)

    def ahead(self) -> list[tuple[Pose, float, float, float | None]]:
        """Return the beats still to come: pose, time [s], hold [s], and how long before to set out [s] (or None)."""
        found = []
        for beat in self._beats:
            keys = [key for name in beat.pose.angles for key in self._queues[name] if abs(key.time - beat.time) < 1e-9]
            start = keys[0].start if keys else -math.inf
            hold = keys[0].hold if keys else self.part.tension
            found.append((beat.pose, beat.time, hold, beat.time - start if math.isfinite(start) else None))
        return found

    def recast(self, part: Part) -> None:
        """Play another part from now on, whose keys up to the next one of each joint are those of this one.

        See `stunt.script.revise`, which knows when that is so.
        """
        self.forget()
        self.part, self._count, now = part, 0, self.stage.time
        for beat in resolve_beats(part) if part.beats else ():
            if beat.time > now + 1e-9:
                self._count = beat.index
                self.key(beat.pose, at=beat.time, hold=beat.hold, duration=beat.duration)
            self._count = beat.index + 1

    def clear(self) -> None:
        """Forget all keys that are still ahead and hold the present pose."""
        self.forget()
        for name in self.controlled:
            joint = self.character.joints[name]
            self._hold(joint, self.part.tension)
            here = self.stage.data.qpos[joint.qpos : joint.qpos + joint.nq]
            self.stage.board.goal[joint.qpos : joint.qpos + joint.nq] = here

    def _aim(self, name: str) -> None:
        """Point a joint at its next key, if it is time to set out."""
        queue, joint, board = self._queues[name], self.character.joints[name], self.stage.board
        now = self.stage.time
        if not queue or queue[0].start > now + 1e-9:
            return
        key = self._aimed[name] = queue[0]
        if board.goal_time[joint.id] != key.time:
            # Whoever spoke last has the joint: setting out for a new key takes it from any other law.
            self._owners.take("beats", [name])
            board.law[joint.id] = self._law
            board.feed_bias[joint.id] = int(self.part.gravity_compensation)
            board.start_time[joint.id] = now
            board.ease[joint.id] = self.part.ease * (key.time - now)
        board.goal[joint.qpos : joint.qpos + joint.nq] = key.angle
        board.goal_velocity[joint.dof : joint.dof + joint.nv] = key.velocity
        board.goal_time[joint.id] = key.time

    def due(self) -> int | None:
        """Return the next tick at which a beat falls or a joint sets out."""
        dues = []
        if self._beats:
            ceiling = self.stage.tick_of(self._beats[0].time)
            floor = ceiling if self._on_grid(self._beats[0].time) else ceiling - 1
            dues.append(floor if floor > self._last else ceiling)
        starts = [self.stage.tick_of(q[0].start) for q in self._queues.values() if q and q[0].start > 0.0]
        dues += [start for start in starts if start > self._last]
        dues += self._giving.due(self._last)
        return max(min(dues), self._last + 1) if dues else None

    def _on_grid(self, time: float) -> bool:
        return abs(time / self.stage.step_time - round(time / self.stage.step_time)) < 1e-6

    def act(self) -> None:
        """Measure beats that fall now, and send joints on their way."""
        stage = self.stage
        self._last = stage.tick
        now = stage.time
        while self._beats and self._beats[0].time <= now + 1e-9:
            self._finish(self._beats.pop(0))
        for name, queue in self._queues.items():
            if not queue:
                continue
            while queue and queue[0].time <= now + 1e-9:
                self._hold(self.character.joints[name], queue.pop(0).hold)
            if queue and queue[0] is not self._aimed.get(name):
                self._aim(name)
        self._giving.end(self._last, self.character)
        # Kept for a beat that falls inside the coming step.
        self._before = (now, stage.data.qpos.copy(), stage.data.qvel.copy())

    def _finish(self, beat: Beat) -> None:
        stage = self.stage
        strained = stage.board.saturated_steps - self._saturated_from
        self._saturated_from = stage.board.saturated_steps.copy()
        pose, by = self._as_fitted(beat)
        held = self._held(pose, beat.time)
        result = measure(stage, self.character, beat.index, beat.time, pose, self._before, strained, held)
        result = replace(result, fitted_deg=by)
        self.results.append(result)
        if result.error_deg > self.missed_deg:
            for listener in self.missed_listeners:
                listener(result)

    def _as_fitted(self, beat: Beat) -> tuple[Pose, float]:
        """Return a beat's pose with the angles its legs can have, and by how much that changes them at most [°]."""
        fitted = {name: angle for name, angle in self.fitted(beat.time).items() if name in beat.pose.angles}
        by = [_angle_between(self.character.joints[name], fitted[name], beat.pose.angles[name]) for name in fitted]
        return replace(beat.pose, angles={**beat.pose.angles, **fitted}), max(by, default=0.0)

    def _held(self, pose: Pose, time: float) -> dict[str, Any]:
        """Return what joints hold that a pose does not name, and nobody else has; those on their way hold nothing."""
        board, fitted = self.stage.board, self.fitted(time)
        found: dict[str, Any] = {}
        for name in self.controlled:
            joint = self.character.joints[name]
            if name not in pose.angles and board.law[joint.id] == self._law and board.goal_time[joint.id] == HELD:
                goal = board.goal[joint.qpos : joint.qpos + joint.nq].copy()
                found[name] = fitted.get(name, float(goal[0]) if joint.nq == 1 else goal)
        return found

    def let_slip(self) -> tuple[float, str]:
        """Return by how much the worst of the joints that hold now is off [°], and which; 0 where none holds."""
        held = self._held(Pose("", {}), self.stage.time).items()
        joints, qpos = self.character.joints, self.stage.data.qpos
        return max(((abs(joint_error_deg(joints[n], qpos, a)), n) for n, a in held), default=(0.0, ""))

    def on_missed(self, listener: Callable[[BeatResult], None]) -> None:
        """Call `listener` with every beat that is missed."""
        self.missed_listeners.append(listener)

    def on_hit(self, listener: Callable[[Hit], None]) -> None:
        """Call `listener` whenever something that counts touches this character."""

        def mine(hit: Hit) -> None:
            if hit.character == self.character.name:
                listener(hit)

        self.stage.hit_listeners.append(mine)

    def release(self) -> None:
        """Let go: all joints passive."""
        self.clear()
        self.give_up()

    def stand(self, stands: bool) -> None:
        """Have joints driven as those of a body on its own feet, or no longer; those that others have stay theirs."""
        before, self.stands = self._law, stands
        for name in self.controlled:
            joint = self.character.joints[name].id
            if self.stage.board.law[joint] == before:
                self.stage.board.law[joint] = self._law

    def lay(self, path: Floats, period: float, legs: Collection[str] = ()) -> float:
        """Lay where its joints will be over a path that begins now, in steps of a period [s], (T, nq).

        Args:
            path: Where everything would be.
            period: [s].
            legs: Joints that go the smoothest way, others by their law.

        Returns:
            When its last beat falls [s].
        """
        board, part = self.stage.board, self.part
        how = (part.ease, part.tension / TIME_CONSTANTS, part.arrival == "minimum_effort")
        for name, keys in self._queues.items():
            joint = self.character.joints[name]
            if board.law[joint.id] == self._law:
                own, speed = slice(joint.qpos, joint.qpos + joint.nq), self.stage.data.qvel[joint.dof :][: joint.nv]
                now, steps = self.stage.time, len(path)
                if name in legs:
                    path[:, own] = smooth_way(joint, path[0, own], speed, keys, now, period, steps)
                    continue
                path[:, own] = joint_way(
                    joint, path[0, own], float(speed[0]), board.goal[own], keys, how, now, period, steps
                )
        return self.last_beat

    def give_up(self, only: Collection[str] | None = None) -> None:
        """Leave all joints, or some, to whoever takes them; keys of theirs are forgotten."""
        for name in self.controlled:
            if only is None or name in only:
                self.stage.board.law[self.character.joints[name].id] = PASSIVE
        if only is not None:
            self._drop(only)
            for name in only:
                self._queues.get(name, []).clear()
            self.stage.crew.announce(self)

    def take_again(self) -> None:
        """Take all joints, after somebody else had the body, and hold them where they are."""
        self.forget()
        self._aimed.clear()
        self._take_charge()

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast."""
        stage, name = self.stage, self.character.name
        if name not in stage.built.characters:
            return False
        self.character = stage.character(name)
        self._saturated_from = by.carried("dof", self._saturated_from, stage.board.saturated_steps)
        if self._before is not None:
            time, qpos, qvel = self._before
            data = stage.data
            self._before = time, by.carried("qpos", qpos, data.qpos), by.carried("dof", qvel, data.qvel)
        return True

    def save(self) -> Any:
        """Return what must survive a restore."""
        return copy.deepcopy(
            (
                self._queues,
                self._beats,
                self._count,
                self._last,
                self._before,
                self._saturated_from,
                self.results,
                self.stands,
                self._giving.given,
            )
        )

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._aimed.clear()
        (
            self._queues, self._beats, self._count, self._last, self._before, self._saturated_from, self.results,
            self.stands, self._giving.given,
        ) = copy.deepcopy(state)  # fmt: skip
