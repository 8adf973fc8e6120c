"""What a body on its own feet follows: a clip made feasible, with its contacts and the path of its centre of mass.

Worked out once for a body and a motion, of the motion alone: soles of standing feet lie flat on the ground, where they
stand; the centre of mass goes where the contacts can carry it; poses are fitted to both. What that changed is told.

Whoever walks out of a clip's last frame comes to stand: the foot in the air comes down ahead, by how fast the body
goes; the other one closes up beside it; then both stand. That stop is made feasible as the clip itself is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.playing import NOWHERE
from stunt.drive.own.centroidal import CentroidalPlan, PoseFit, plan_path
from stunt.drive.own.feasible import Reference, ReferenceNotes
from stunt.drive.own.footholds import FREE_FALL, FootTargets, carrying_points, lay_flat, put_down
from stunt.drive.own.smoothing import eased, rates, smoothed
from stunt.drive.own.soles import Foot, leg_length, rest_height, size_of, two_feet
from stunt.drive.own.whole_body import BodyInMotion, sole_points
from stunt.drive.prepare.apart import limbs_apart
from stunt.errors import BodyError
from stunt.maths import rotations
from stunt.maths.rotations import Floats

RATE: Final = 120.0
"""Frames per second of what is followed: derivatives of a clip with 16 are worth nothing."""
SMOOTH: Final = 0.015
"""Over which a capture is smoothed [s]."""
RELEASE, SOON = 0.008, 0.02
"""A sole point so high above its rest [m], so soon [s], carries no more."""
_FIT_SMOOTH = 0.01
_HOVERS = 0.12  # a body whose lowest sole is higher flies [m]
_GROUND_SMOOTH = 0.1  # over which the captured floor is smoothed [s]
_FLOOR = 0.1  # of the frames have their lowest sole below the floor's height
_STANDS = 0.15  # share of the frames in which a foot has to stand
_OUTSIDE = 0.03  # a zero-moment point that far outside the support is not carried [m]
_MOVED, _TURNED = 0.05, 4.0  # what is changed by more is another motion [m, °]
SLOW: Final = 0.15
"""Who is slower than this at the end stands [m/s]."""
LANDS, CLOSES, BOTH, STANDS = 0.3, 0.42, 0.12, 0.6
"""Seconds until the first foot is down, the second one takes, both stand in between, and both stand at the end."""
NEARLY, AT_ONCE = 0.3, 0.1
"""A foot in the air with less than the first left to go is down sooner [m], in this time at the soonest [s]: whoever
holds it up has the other one dragged along from behind."""
LONGEST: Final = 0.6
"""Longest step, of legs of a metre [m]."""
HIGH: Final = 0.06
"""How high feet are lifted [m]."""
_FADES = 0.15  # time constant with which joints come to rest [s]
_UP = np.array([0.0, 0.0, 1.0])


def make_reference(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int], floor: float = 0.0
) -> Reference:
    """Make a motion feasible.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        soles: Geoms it stands on.
        floor: Height of the ground it is meant for [m].

    Raises:
        BodyError: The body has not two feet, or they never touch the ground in the motion.
    """
    feet, layout = two_feet(model, character, soles), Layout.of(character)
    asked, fps = _resampled(layout, motion)
    asked[:, 2] -= floor
    # Arms give way to all they touch. Legs, which steps move, are kept clear of each other there.
    apart = limbs_apart(model, character, replace(motion, fps=fps, qpos=asked), clear=False, legs=False).motion
    qpos = _smooth(layout, apart.qpos, SMOOTH * fps)
    body = BodyInMotion.of(model, character, qpos, fps)
    size = size_of(model, feet)
    qpos[:, 2] -= _ground(feet, character.root_body, body, fps, size)
    body = BodyInMotion.of(model, character, qpos, fps)
    clip_com = body.com[:, :2].copy()
    offsets, mass = np.stack([_toe_offset(model, foot) for foot in feet]), character.mass
    holds = _holds(feet, character.root_body, body)
    # What a foot that stands looks like was measured on grown-ups.
    grown = replace(feet[0], points=feet[0].points / size), replace(feet[1], points=feet[1].points / size)
    holds.enlarge(1.0 / size)
    lay_flat(grown, holds, offsets / size, fps)
    qpos[:, 2] += size * put_down(grown, holds, offsets / size, body.com / size, fps)
    holds.enlarge(size)
    _check_contacts(motion, holds)
    body = BodyInMotion.of(model, character, qpos, fps)
    qpos = with_stop(model, character, feet, qpos, holds, body, fps)
    if len(qpos) > len(body.com):
        body = BodyInMotion.of(model, character, qpos, fps)
        for number in range(2):
            holds.point_up(feet, offsets, number)
    carries = _carries(holds, fps, size)
    plan = plan_path(body, holds.points, carries, mass, fps, size)
    before = plan.outside[0]
    qpos = _carried_along(model, character, feet, holds, qpos, body, plan, fps)
    qpos = _smooth(layout, PoseFit(model, character, feet).fitted(qpos, holds, plan), _FIT_SMOOTH * fps)
    body = BodyInMotion.of(model, character, qpos, fps)
    plan = plan_path(body, holds.points, carries, mass, fps, size)
    notes = _notes(model, character, asked, qpos, holds, plan, clip_com, before, size)
    velocity = layout.velocities(qpos, fps)
    found = Reference(
        replace(motion, qpos=qpos, fps=fps), velocity, rates(smoothed(velocity, SMOOTH * fps), fps), plan,
        holds.places, holds.turns, holds.stands, np.stack(carries, axis=1), notes,
    )  # fmt: skip
    return found.moved(NOWHERE, floor)


def _ground(feet: tuple[Foot, Foot], root: int, body: BodyInMotion, fps: float, size: float) -> Floats:
    """Return how high the ground is that the motion was captured on [m], (F,): captured floors slope and drift."""
    low = np.min([sole_points(f, root, body.places, body.turns)[..., 2].min(axis=1) for f in feet], axis=0)
    low = low - (base := float(np.quantile(low, _FLOOR)))
    fall = rates(rates(smoothed(body.com[:, 2], 0.03 * fps), fps), fps)
    carried = (fall > FREE_FALL * size) & (low < _HOVERS * size)
    if not carried.any():
        return np.full(len(low), base)
    frames = np.arange(len(low))
    return base + smoothed(np.interp(frames, frames[carried], low[carried]), _GROUND_SMOOTH * fps)


def _resampled(layout: Layout, motion: BodyMotion) -> tuple[Floats, float]:
    """Return the frames of a motion at the rate they are followed at, quaternions without jumps of sign."""
    qpos = _continuous(layout, motion.qpos)
    if motion.fps >= 0.9 * RATE or len(qpos) < 4:
        return qpos, motion.fps
    from scipy.interpolate import CubicSpline

    times = np.arange(len(qpos)) / motion.fps
    wanted = np.minimum(np.arange(round(times[-1] * RATE) + 1) / RATE, times[-1])
    return _unit(layout, CubicSpline(times, qpos)(wanted)), RATE


def _continuous(layout: Layout, qpos: Floats) -> Floats:
    out = qpos.copy()
    for column in layout.turn_q:
        turns = out[:, column : column + 4]
        flips = np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
        turns[1:] *= flips[:, None]
    return out


def _unit(layout: Layout, qpos: Floats) -> Floats:
    for column in layout.turn_q:
        turns = qpos[:, column : column + 4]
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return qpos


def _smooth(layout: Layout, qpos: Floats, sigma: float) -> Floats:
    return _unit(layout, smoothed(_continuous(layout, qpos), sigma))


def _toe_offset(model: mujoco.MjModel, foot: Foot) -> Floats:
    return model.body_pos[foot.toe].copy() if foot.toe >= 0 else np.zeros(3)


def _holds(feet: tuple[Foot, Foot], root: int, body: BodyInMotion) -> FootTargets:
    """Return the feet as the motion has them."""
    count = len(body.com)
    places = np.stack([body.places[:, f.body - root] for f in feet], axis=1)
    turns = np.stack([body.turns[:, f.body - root] for f in feet], axis=1)
    toes = np.zeros((count, 2, 4))
    toes[..., 0] = 1.0
    for number, foot in enumerate(feet):
        if foot.toe >= 0:
            back = rotations.conjugate(turns[:, number])
            toes[:, number] = rotations.multiply(back, body.turns[:, foot.toe - root])
    points = [sole_points(foot, root, body.places, body.turns) for foot in feet]
    return FootTargets(places, turns, toes, points, np.zeros((count, 2), bool), np.zeros(2), np.zeros(2))


def _check_contacts(motion: BodyMotion, holds: FootTargets) -> None:
    if holds.stands.any(axis=1).mean() < _STANDS:
        raise BodyError(
            f"hardly ever does a foot stand in '{motion.name}': nothing could carry a body on its own feet; "
            "with `assist: weak` or `hook` it is held from outside."
        )


def _carries(holds: FootTargets, fps: float, size: float) -> list[NDArray[np.bool_]]:
    return [carrying_points(holds.points[n] / size, holds.stands[:, n], RELEASE, SOON, fps) for n in range(2)]


def _carried_along(
    model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot], holds: FootTargets, qpos: Floats, body:
    BodyInMotion, plan: CentroidalPlan, fps: float
) -> Floats:  # fmt: skip
    """Return poses turned and moved as the plan has it, toes as they lie; feet in flight go along."""
    out, turn = qpos.copy(), rotations.from_rotation_vector(plan.lean)
    shift = plan.com - body.com
    airborne = eased(np.asarray(~holds.stands.any(axis=1)), 0.02 * fps)
    for number in range(2):
        free = ((1.0 - eased(holds.stands[:, number], 0.025 * fps)) * airborne)[:, None]
        arm = holds.places[:, number] - body.com
        holds.places[:, number] += free * (shift + rotations.rotate(turn, arm) - arm)
        lean = rotations.from_rotation_vector(plan.lean * free)
        holds.turns[:, number] = rotations.multiply(lean, holds.turns[:, number])
    out[:, :3] = plan.com + rotations.rotate(turn, qpos[:, :3] - body.com)
    out[:, 3:7] = rotations.multiply(turn, qpos[:, 3:7])
    first = character.root.qpos if character.root is not None else 0
    for number, foot in enumerate(feet):
        joint = int(model.body_jntadr[foot.toe]) if foot.toe >= 0 else -1
        if joint >= 0 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            column = int(model.jnt_qposadr[joint]) - first
            rest = rotations.conjugate(np.broadcast_to(model.body_quat[foot.toe], holds.toes[:, number].shape))
            out[:, column : column + 4] = rotations.multiply(rest, holds.toes[:, number])
    return out


def _notes(
    model: mujoco.MjModel, character: Character, asked: Floats, qpos: Floats, holds: FootTargets, plan:
    CentroidalPlan, clip_com: Floats, before: Floats, size: float
) -> ReferenceNotes:  # fmt: skip
    from stunt.character.kinematics import pose_frames

    count = len(asked)  # without a stop that was added
    old, new = (pose_frames(model, character, poses)[1] for poses in (asked, qpos[:count]))
    turned = np.degrees(2.0 * np.arccos(np.abs((old * new).sum(axis=2)).clip(0.0, 1.0))).mean(axis=0)
    names = {body - character.root_body: name for name, body in character.bodies.items()}
    foot = np.array([("foot" in names.get(k, "")) or ("toe" in names.get(k, "")) for k in range(len(turned))])
    moved = float(np.linalg.norm(plan.com[:count, :2] - clip_com, axis=1).mean())
    outside = (float(np.quantile(before, 0.95)), float(np.quantile(plan.outside[1], 0.95)))
    flight = float((~holds.stands.any(axis=1)).mean())
    why = ""
    if outside[1] > _OUTSIDE * size:
        why = f"its weight is {100.0 * outside[1]:.0f} cm outside what carries it"
    elif moved > _MOVED * size:
        why = f"its weight had to be moved by {100.0 * moved:.0f} cm: where feet stand was not found as it was captured"
    elif turned[~foot].mean() > _TURNED:
        why = f"its poses had to be turned by {turned[~foot].mean():.0f}° to stand"
    return ReferenceNotes(
        float(turned[~foot].mean()), float(turned[foot].mean()) if foot.any() else 0.0, moved, outside, flight,
        float(holds.stands.any(axis=1).mean()), why,
    )  # fmt: skip


# ---- a stop


def with_stop(
    model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot], qpos: Floats, holds: FootTargets, body:
    BodyInMotion, fps: float
) -> Floats:  # fmt: skip
    """Return poses with a stop after them, if they end in motion; footholds are lengthened alike.

    Args:
        model: The scene.
        character: Who.
        feet: Its feet.
        qpos: The poses, on a floor at height 0, (F, nq).
        holds: Where its feet should be.
        body: The motion.
        fps: Frames per second.
    """
    pace = smoothed(np.gradient(body.com, 1.0 / fps, axis=0), 0.03 * fps)[-1] * [1.0, 1.0, 0.0]
    speed, down = float(np.linalg.norm(pace)), holds.stands[-1]
    size = size_of(model, feet)
    tempo = float(np.sqrt(size))
    if not down.any() or (down.all() and speed < SLOW * tempo):
        return qpos
    layout, com = Layout.of(character), body.com[-1]
    heading = _heading(feet, holds)
    ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
    order = _order(holds, pace if speed > SLOW * tempo else ahead)
    first, other = order
    begins, lands = (0.0, LANDS * tempo) if not down[first] else (BOTH * tempo, (BOTH + LANDS) * tempo)
    spots = _spots(model, feet, holds, com, pace, ahead, first, lands)
    if not down[first]:
        left = float(np.linalg.norm(spots[first] - holds.places[-1, first]))
        lands = tempo * max(AT_ONCE, LANDS * min(left / (NEARLY * size), 1.0))
        spots = _spots(model, feet, holds, com, pace, ahead, first, lands)
    times = (begins, lands, lands + BOTH * tempo, lands + (BOTH + CLOSES) * tempo)
    rests = times[3] + 0.5 * STANDS * tempo
    count = round((times[3] + STANDS * tempo) * fps)
    now = np.asarray((np.arange(count) + 1.0) / fps, float)
    _lengthen(feet, holds, spots, order, times, now, heading, size)
    goal = 0.5 * (spots[0] + spots[1])
    path = _coming_to_rest(com, pace, goal, now / rests, rests)
    fade = _FADES * tempo * (1.0 - np.exp(-now / (_FADES * tempo)))
    last = layout.velocities(qpos[-8:], fps)[-3:].mean(axis=0)
    last[:3] = 0.0
    tail = layout.moved(np.repeat(qpos[-1:], count, axis=0), fade[:, None] * last)
    tail[:, :2] = qpos[-1, :2] + path[:, :2] - com[:2]
    return np.concatenate([qpos, _upright(model, character, feet, tail, now / times[3])])


def _heading(feet: tuple[Foot, Foot], holds: FootTargets) -> float:
    """Return which way the feet point at the end [rad]."""
    ways = [rotations.rotate(holds.turns[-1, n], foot.ahead)[:2] for n, foot in enumerate(feet)]
    way = np.sum([w / max(float(np.linalg.norm(w)), 1e-9) for w in ways], axis=0)
    return float(np.arctan2(way[1], way[0]))


def _order(holds: FootTargets, way: Floats) -> tuple[int, int]:
    """Return the foot that steps first, and the other: the one in the air, else the one behind."""
    down = holds.stands[-1]
    if not down.all():
        return (0, 1) if not down[0] else (1, 0)
    behind = int(np.argmin(holds.places[-1, :, :2] @ way[:2]))
    return behind, 1 - behind


def _spots(
    model: mujoco.MjModel, feet: tuple[Foot, Foot], holds: FootTargets, com: Floats, pace: Floats, ahead: Floats,
    first: int, lands: float
) -> Floats:  # fmt: skip
    """Return where both feet come to stand [m], (2, 3)."""
    left = np.array([-ahead[1], ahead[0], 0.0])
    hips = [model.body_pos[foot.chain[0]] for foot in feet]
    wide = max(float(np.linalg.norm(hips[0] - hips[1])), 0.1 * size_of(model, feet))
    stands = holds.places[-1, 1 - first]
    # Beside the foot that stands, and as far ahead as the capture point will have gone.
    far = float((com + pace * (lands + np.sqrt(com[2] / 9.81)) - stands) @ ahead)
    far = min(max(far, 0.0), LONGEST * leg_length(model, feet[0]) / 0.9)
    side = 1.0 if float((holds.places[-1, 0] - holds.places[-1, 1]) @ left) > 0.0 else -1.0
    spots = np.zeros((2, 3))
    for number, foot in enumerate(feet):
        to_left = side if number == 0 else -side
        own = wide if number == first else 0.0
        spots[number] = stands + far * ahead + to_left * own * left
        spots[number, 2] = rest_height(foot)
    return spots


def _lengthen(
    feet: tuple[Foot, Foot],
    holds: FootTargets,
    spots: Floats,
    order: tuple[int, int],
    times: tuple[float, float, float, float],
    now: Floats,
    heading: float,
    size: float,
) -> None:
    """Let the feet step to their spots."""
    count = len(now)
    places, turns = np.zeros((count, 2, 3)), np.zeros((count, 2, 4))
    toes, stands = np.zeros((count, 2, 4)), np.zeros((count, 2), bool)
    for number, (lifts, lands) in ((order[0], times[:2]), (order[1], times[2:])):
        foot = feet[number]
        flat = _flat(foot, heading)
        x = np.clip((now - lifts) / (lands - lifts), 0.0, 1.0)
        share = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        start = holds.places[-1, number]
        places[:, number] = start + share[:, None] * (spots[number] - start)
        high = HIGH * size * min((lands - lifts) / (LANDS * np.sqrt(size)), 1.0)
        places[:, number, 2] += high * np.sin(np.pi * x) ** 2
        before = np.repeat(holds.turns[-1:, number], count, axis=0)
        turns[:, number] = rotations.slerp(before, np.broadcast_to(flat, before.shape), share)
        stands[:, number] = (now >= lands) | ((now < lifts) & holds.stands[-1, number])
        rest = holds.toes[_flattest(foot, holds, number), number]
        bent = np.repeat(holds.toes[-1:, number], count, axis=0)
        toes[:, number] = rotations.slerp(bent, np.broadcast_to(rest, bent.shape), np.clip(2.0 * x, 0.0, 1.0))
    holds.places, holds.turns = np.concatenate([holds.places, places]), np.concatenate([holds.turns, turns])
    holds.toes, holds.stands = np.concatenate([holds.toes, toes]), np.concatenate([holds.stands, stands])


def _flat(foot: Foot, heading: float) -> Floats:
    """Return the orientation of a foot that lies flat and points somewhere, (4,)."""
    own = np.column_stack([foot.ahead, np.cross(foot.normal, foot.ahead), foot.normal])
    way = np.array([np.cos(heading), np.sin(heading), 0.0])
    wanted = np.column_stack([way, np.cross(_UP, way), _UP])
    return np.asarray(rotations.from_matrix(wanted @ own.T))


def _flattest(foot: Foot, holds: FootTargets, number: int) -> int:
    """Return the frame in which a standing foot lies flattest."""
    up = rotations.rotate(holds.turns[:, number], foot.normal)[:, 2]
    return int(np.argmax(np.where(holds.stands[:, number], up, -1.0)))


def _coming_to_rest(start: Floats, pace: Floats, goal: Floats, x: Floats, seconds: float) -> Floats:
    """Return a way from a place at a speed to rest at another, x from 0 to 1 and on, (n, 3)."""
    s = np.clip(x, 0.0, 1.0)[:, None]
    value = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    slope = (s - s**3 * (6.0 - 8.0 * s + 3.0 * s * s)) * seconds
    return np.asarray(start + value * (goal - start) + slope * pace)


def _upright(
    model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot], tail: Floats, x: Floats
) -> Floats:  # fmt: skip
    """Return poses whose legs and hips go over to those of the body's reference stance; heading and arms stay."""
    share = np.clip(x, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    root = character.root
    assert root is not None
    rest = model.qpos0[root.qpos : root.qpos + tail.shape[1]]
    out = tail.copy()
    legs = {body for foot in feet for body in (*foot.chain, foot.toe)}
    out[:, 2] += share * (min(float(rest[2]), float(tail[0, 2]) * 1.05) - tail[:, 2])
    turned = float(rotations.heading(tail[-1, 3:7]) - rotations.heading(rest[3:7]))
    stance = rotations.multiply(rotations.from_rotation_vector(np.array([0.0, 0.0, turned])), rest[3:7])
    out[:, 3:7] = rotations.slerp(tail[:, 3:7], np.broadcast_to(stance, (len(tail), 4)), share)
    for joint in character.joints.values():
        if int(model.jnt_bodyid[joint.id]) not in legs:
            continue
        own = slice(joint.qpos - root.qpos, joint.qpos - root.qpos + joint.nq)
        if joint.nq == 4:
            out[:, own] = rotations.slerp(tail[:, own], np.broadcast_to(rest[own], (len(tail), 4)), share)
        else:
            out[:, own] += share[:, None] * (rest[own] - tail[:, own])
    return out


STANCE: Final = 0.5
"""Length of the motion that a pose becomes that is held without a clip [s]; its last frame is held on."""


def stance_reference(
    model: mujoco.MjModel, character: Character, pose: Floats, soles: list[int], floor: float = 0.0
) -> Reference:
    """Return a pose as a body on its own feet holds it: soles flat, its weight over them.

    Args:
        model: The scene.
        character: Who; its root is free.
        pose: Its own coordinates, where it stands, (nq,).
        soles: Geoms it stands on.
        floor: Height of the ground [m].

    Raises:
        BodyError: The body has not two feet, or neither is near the ground.
    """
    frames = np.repeat(np.asarray(pose, float)[None], round(STANCE * RATE) + 1, axis=0)
    return make_reference(model, character, BodyMotion(f"{character.name}'s stance", RATE, frames), soles, floor)
