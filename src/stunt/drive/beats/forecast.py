"""Saying beforehand whether a body can make its beats.

Between two keys of a joint the smoothest way is a minimum-jerk path. If that path stays inside the joint's limits, and
inverse dynamics finds it cheap compared with the joints' strengths, the beat is feasible; if it needs more than a
joint has, the performance will miss it, and it is fairer to say so before than after.

What the forecast assumes: every joint goes from its previous key to its next one; a joint without a next key holds
still. The root stays where it starts, also a free one, so for a free root the numbers are those of a held pelvis: no
ground, no balance. There are no contacts and no held props, and the model's joint springs and dampers are left out,
because control laws use those fields for themselves.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stunt.character.character import Character, Joint
from stunt.drive.beats.spec import ResolvedBeat
from stunt.errors import BeatOrderError
from stunt.maths import rotations
from stunt.motion.minimum_jerk import BallMinimumJerk, MinimumJerk

Floats = NDArray[np.float64]

_SAMPLE_PERIOD = 0.01  # [s] between the points at which a path is looked at …
_SAMPLES = (16, 100)  # … but at least and at most so many intervals per beat.
_LIMIT_TOLERANCE = 1e-6  # [rad or m] a key on the limit itself is inside.
_DISPLAY = {"hinge": (180.0 / math.pi, "°"), "ball": (180.0 / math.pi, "°"), "slide": (1.0, " m")}
_IGNORED = (
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_SPRING
    | mujoco.mjtDisableBit.mjDSBL_DAMPER
    | mujoco.mjtDisableBit.mjDSBL_SENSOR
)


@dataclass(frozen=True)
class BeatForecast:
    """What a beat will take.

    Attributes:
        index: Number of the beat in its part, from 0.
        time: When it is [s].
        pose: Name of its pose.
        feasible: Inside all limits, and below the asked share of every strength.
        worst_joint: The joint that needs most of its strength; empty where no joint has a strength.
        worst_share: Largest torque over strength on the way to the beat.
        limit_joint: The joint that goes furthest past its limit; empty where none does.
        limit_excess_deg: How far it goes past it, in `limit_unit`.
        limit_unit: `°`, or ` m` where the joint is a slide.
    """

    index: int
    time: float
    pose: str
    feasible: bool
    worst_joint: str
    worst_share: float
    limit_joint: str
    limit_excess_deg: float
    limit_unit: str = "°"


@dataclass(frozen=True)
class Path:
    """A whole part as sampled minimum-jerk motion. K samples; a sample at a beat stands at the end of its interval.

    Attributes:
        beat: Index of the beat each sample leads to, (K,).
        time: [s], (K,).
        qpos: Positions of the whole model, (K, nq).
        qvel: Velocities, (K, nv).
        qacc: Accelerations, (K, nv).
    """

    beat: NDArray[np.int64]
    time: Floats
    qpos: Floats
    qvel: Floats
    qacc: Floats


@dataclass(frozen=True)
class _Key:
    """One joint's key: when, where, how fast."""

    time: float
    position: Floats
    velocity: Floats


def forecast(
    model: mujoco.MjModel,
    character: Character,
    qpos: ArrayLike,
    qvel: ArrayLike,
    keys: Sequence[ResolvedBeat],
    *,
    joints: Collection[str] | None = None,
    threshold: float = 1.0,
    start: float = 0.0,
) -> tuple[BeatForecast, ...]:
    """Forecast every beat of a part.

    Args:
        model: The compiled scene; it is not changed.
        character: Whose part it is.
        qpos: State of the whole model at `start`, (nq,).
        qvel: Its velocity, (nv,).
        keys: The beats, in order (`stunt.drive.beats.spec.resolve_beats`).
        joints: Names of the joints the part controls; the others are taken to hold still, and are not judged.
            None is all.
        threshold: Share of each joint's strength a feasible beat stays below.
        start: Time of the start state [s].

    Raises:
        BeatOrderError: The times do not increase.
        UnknownNameError: A key names a joint the character does not have.
    """
    path = minimum_jerk_path(character, qpos, qvel, keys, start=start)
    judged = [j for j in character.joints.values() if j.kind in _DISPLAY and (joints is None or j.name in joints)]
    shares = _shares(judged, inverse_dynamics(model, path.qpos, path.qvel, path.qacc))  # (K, joints)
    excesses = _excesses(judged, path.qpos)
    since = _window_starts([joint.name for joint in judged], keys)  # (beats, joints)
    forecasts = []
    for number, key in enumerate(keys):
        # A joint keyed here is judged on its whole way from its previous key, which may lie several beats back.
        earliest = since[number].min(initial=number) + 1
        rows = slice(*np.searchsorted(path.beat, (earliest, number + 1)))
        counts = path.beat[rows, None] > since[number]
        load, reach = _largest(shares[rows], counts), _largest(excesses[rows], counts)
        forecasts.append(_verdict(key, judged, load, reach, threshold))
    return tuple(forecasts)


def _verdict(
    key: ResolvedBeat, joints: Sequence[Joint], load: tuple[float, int], reach: tuple[float, int], threshold: float
) -> BeatForecast:
    """Judge a beat by its largest share of a strength and its largest excess over a limit, each with its joint."""
    (share, worst), (excess, beyond) = load, reach
    inside = excess <= _LIMIT_TOLERANCE
    factor, unit = _DISPLAY[joints[beyond].kind]
    return BeatForecast(
        index=key.index,
        time=key.time,
        pose=key.pose.name,
        feasible=inside and share < threshold,
        worst_joint=joints[worst].name if share > 0.0 else "",
        worst_share=share,
        limit_joint="" if inside else joints[beyond].name,
        limit_excess_deg=0.0 if inside else excess * factor,
        limit_unit=unit,
    )


def warnings_for(forecasts: Iterable[BeatForecast], threshold: float = 1.0) -> list[str]:
    """Say in sentences which beats need more strength, or more room, than there is. Beats are counted from 1."""
    sentences = []
    for beat in forecasts:
        name = f"beat {beat.index + 1} '{beat.pose}' at {beat.time:.2f} s"
        if beat.worst_share >= threshold:
            sentences.append(f"{name} needs {100 * beat.worst_share:.0f} % of {beat.worst_joint}'s strength")
        if beat.limit_joint:
            sentences.append(
                f"{name}: the smoothest way there takes {beat.limit_joint} "
                f"{beat.limit_excess_deg:.3g}{beat.limit_unit} past its limit"
            )
    return sentences


def minimum_jerk_path(
    character: Character, qpos: ArrayLike, qvel: ArrayLike, keys: Sequence[ResolvedBeat], *, start: float = 0.0
) -> Path:
    """Return the smooth motion through the keys, sampled; arguments as in `forecast`."""
    qpos, qvel = np.asarray(qpos, float), np.asarray(qvel, float)
    tracks = {joint.name: _track(joint, qpos, qvel, keys, start) for joint in character.joints.values()}
    for key in keys:
        for name in key.pose.angles:
            character.joint(name, key.pose.place)
    late = sorted({key.time - key.duration for key in keys if key.duration is not None})
    pieces = []
    previous = start
    for index, key in enumerate(keys):
        if not key.time > previous:
            raise BeatOrderError(key.time, previous, key.place)
        for end in _stops(late, previous, key.time):
            count = int(np.clip(math.ceil((end - previous) / _SAMPLE_PERIOD), *_SAMPLES))
            times = np.linspace(previous, end, count + 1)
            pieces.append((np.full(count + 1, index), times, *_sampled(character, qpos, qvel.size, tracks, times)))
            previous = end
    if not pieces:
        return Path(np.zeros(0, int), np.zeros(0), *(np.zeros((0, n)) for n in (qpos.size, qvel.size, qvel.size)))
    return Path(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


def inverse_dynamics(model: mujoco.MjModel, qpos: Floats, qvel: Floats, qacc: Floats) -> Floats:
    """Return the generalized forces M·a + c of a free, contactless body at each sample, (K, nv).

    Works on a private copy: under the `discrete` integrator the model's own inverse would be that of the step map,
    and contacts, limits, springs and dampers would all take their share.
    """
    model = copy.copy(model)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= int(_IGNORED)
    model.opt.enableflags = 0
    data = mujoco.MjData(model)
    q, v, a, force = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
    forces = np.empty_like(qvel)
    for k in range(len(forces)):
        q[:], v[:], a[:] = qpos[k], qvel[k], qacc[k]
        mujoco.mj_inverse(model, data)
        forces[k] = force
    return forces


def _stops(late: list[float], previous: float, time: float) -> list[float]:
    """Return where a joint's motion may change between two beats: where others set out late, and at the beat."""
    return [*late[bisect_right(late, previous) : bisect_left(late, time)], time]


def _track(joint: Joint, qpos: Floats, qvel: Floats, keys: Sequence[ResolvedBeat], start: float) -> list[_Key]:
    """Return the joint's keys, its start state first."""
    track = [_Key(start, qpos[joint.qpos : joint.qpos + joint.nq], qvel[joint.dof : joint.dof + joint.nv])]
    for key in keys:
        if joint.name in key.pose.angles:
            position = np.atleast_1d(np.asarray(key.pose.angles[joint.name], float))
            velocity = np.atleast_1d(np.asarray(key.pose.velocities.get(joint.name, np.zeros(joint.nv)), float))
            if key.duration is not None and key.time - key.duration > track[-1].time:
                track.append(_Key(key.time - key.duration, track[-1].position, np.zeros(joint.nv)))
            track.append(_Key(key.time, position, velocity))
    return track


def _segment(track: list[_Key], times: Floats) -> tuple[_Key, _Key]:
    """Return the keys before and after an interval; where none comes after, the joint holds still."""
    after = bisect_left(track, times[-1], lo=1, key=lambda key: key.time)
    if after < len(track):
        return track[after - 1], track[after]
    last = track[-1]
    still = np.zeros_like(last.velocity)
    return _Key(times[0], last.position, still), _Key(times[-1], last.position, still)


def _sampled(
    character: Character, qpos: Floats, nv: int, tracks: dict[str, list[_Key]], times: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return positions, velocities and accelerations of the whole model over one interval between beats."""
    positions = np.tile(qpos, (len(times), 1))
    velocities, accelerations = np.zeros((2, len(times), nv))
    scalars = [joint for joint in character.joints.values() if joint.nv == 1]
    ends = [_segment(tracks[joint.name], times) for joint in scalars]
    if ends:
        flat = [[x for key in pair for x in (key.time, key.position[0], key.velocity[0])] for pair in ends]
        motion = MinimumJerk.between(*np.array(flat).T).at(times)
        positions[:, [joint.qpos for joint in scalars]] = motion.position
        velocities[:, [joint.dof for joint in scalars]] = motion.velocity
        accelerations[:, [joint.dof for joint in scalars]] = motion.acceleration
    for joint in (joint for joint in character.joints.values() if joint.kind == "ball"):
        a, b = _segment(tracks[joint.name], times)
        turn = BallMinimumJerk.between(a.time, a.position, a.velocity, b.time, b.position, b.velocity).at(times)
        dofs = slice(joint.dof, joint.dof + 3)
        positions[:, joint.qpos : joint.qpos + 4] = turn.position
        velocities[:, dofs], accelerations[:, dofs] = turn.velocity, turn.acceleration
    return positions, velocities, accelerations


def _shares(joints: Sequence[Joint], forces: Floats) -> Floats:
    """Return each joint's torque (a ball's: the length of its torque vector) over its strength, (K, joints)."""
    columns = [np.linalg.norm(forces[:, j.dof : j.dof + j.nv], axis=1) / max(j.strength, 1e-9) for j in joints]
    return np.stack(columns, axis=1)


def _excesses(joints: Sequence[Joint], qpos: Floats) -> Floats:
    """Return how far each joint is past its limits [rad or m], negative inside, (K, joints)."""
    columns = []
    for joint in joints:
        if joint.range is None:
            columns.append(np.full(len(qpos), -np.inf))
        elif joint.kind == "ball":
            turned = rotations.to_rotation_vector(qpos[:, joint.qpos : joint.qpos + 4])
            columns.append(np.linalg.norm(turned, axis=1) - joint.range[1])
        else:
            angle = qpos[:, joint.qpos]
            columns.append(np.maximum(joint.range[0] - angle, angle - joint.range[1]))
    return np.stack(columns, axis=1)


def _window_starts(names: Sequence[str], keys: Sequence[ResolvedBeat]) -> NDArray[np.int64]:
    """Return, per beat and joint, the beat its way to this one begins at; −1 is the start, (beats, joints)."""
    since = np.empty((len(keys), len(names)), dtype=np.int64)
    last = np.full(len(names), -1)
    for index, key in enumerate(keys):
        keyed = np.array([name in key.pose.angles for name in names], dtype=bool)
        since[index] = np.where(keyed, last, index - 1)
        last[keyed] = index
    return since


def _largest(values: Floats, counts: NDArray[np.bool_]) -> tuple[float, int]:
    """Return the largest value among those that count, and its column."""
    per_joint = np.where(counts, values, -np.inf).max(axis=0)
    column = int(np.argmax(per_joint))
    return float(per_joint[column]), column
