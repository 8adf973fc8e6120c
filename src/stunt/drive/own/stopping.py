"""A stop after a clip that ends in motion: whoever walks out of the last frame comes to stand.

The foot in the air comes down ahead, by how fast the body goes; the other one closes up beside it; then both stand. The
rest of the preparation makes that feasible as it does the clip itself.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.layout import Layout
from stunt.drive.own.footholds import Footholds
from stunt.drive.own.smoothing import smoothed
from stunt.drive.own.soles import Foot
from stunt.drive.own.whole_body import WholeBody
from stunt.maths import rotations
from stunt.maths.rotations import Floats

SLOW: Final = 0.15
"""Who is slower than this at the end stands [m/s]."""
LANDS, CLOSES, BOTH, STANDS = 0.3, 0.42, 0.12, 0.6
"""Seconds until the first foot is down, the second one takes, both stand in between, and both stand at the end."""
LONGEST: Final = 0.6
"""Longest step, of legs of a metre [m]."""
HIGH: Final = 0.06
"""How high feet are lifted [m]."""
_FADES = 0.15  # time constant with which joints come to rest [s]
_UP = np.array([0.0, 0.0, 1.0])


def with_stop(
    model: mujoco.MjModel,
    character: Character,
    feet: tuple[Foot, Foot],
    qpos: Floats,
    holds: Footholds,
    body: WholeBody,
    fps: float,
) -> Floats:
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
    if not down.any() or (down.all() and speed < SLOW):
        return qpos
    layout, com = Layout.of(character), body.com[-1]
    heading = _heading(feet, holds)
    ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
    order = _order(holds, pace if speed > SLOW else ahead)
    first, other = order
    begins = 0.0 if not down[first] else BOTH
    times = (begins, LANDS + begins, LANDS + begins + BOTH, LANDS + begins + BOTH + CLOSES)
    count = round((times[3] + STANDS) * fps)
    now = np.asarray((np.arange(count) + 1.0) / fps, float)
    spots = _spots(model, feet, holds, com, pace, ahead, first, LANDS + begins)
    _lengthen(feet, holds, spots, order, times, now, heading)
    goal = 0.5 * (spots[0] + spots[1])
    path = _coming_to_rest(com, pace, goal, now / (times[3] + 0.5 * STANDS), times[3] + 0.5 * STANDS)
    fade = _FADES * (1.0 - np.exp(-now / _FADES))
    last = layout.velocities(qpos[-8:], fps)[-3:].mean(axis=0)
    last[:3] = 0.0
    tail = layout.moved(np.repeat(qpos[-1:], count, axis=0), fade[:, None] * last)
    tail[:, :2] = qpos[-1, :2] + path[:, :2] - com[:2]
    return np.concatenate([qpos, _upright(model, character, feet, tail, now / times[3])])


def _heading(feet: tuple[Foot, Foot], holds: Footholds) -> float:
    """Return which way the feet point at the end [rad]."""
    ways = [rotations.rotate(holds.turns[-1, n], foot.ahead)[:2] for n, foot in enumerate(feet)]
    way = np.sum([w / max(float(np.linalg.norm(w)), 1e-9) for w in ways], axis=0)
    return float(np.arctan2(way[1], way[0]))


def _order(holds: Footholds, way: Floats) -> tuple[int, int]:
    """Return the foot that steps first, and the other: the one in the air, else the one behind."""
    down = holds.stands[-1]
    if not down.all():
        return (0, 1) if not down[0] else (1, 0)
    behind = int(np.argmin(holds.places[-1, :, :2] @ way[:2]))
    return behind, 1 - behind


def _spots(
    model: mujoco.MjModel,
    feet: tuple[Foot, Foot],
    holds: Footholds,
    com: Floats,
    pace: Floats,
    ahead: Floats,
    first: int,
    lands: float,
) -> Floats:
    """Return where both feet come to stand [m], (2, 3)."""
    left = np.array([-ahead[1], ahead[0], 0.0])
    hips = [model.body_pos[foot.chain[0]] for foot in feet]
    wide = max(float(np.linalg.norm(hips[0] - hips[1])), 0.1)
    stands = holds.places[-1, 1 - first]
    long = sum(float(np.linalg.norm(model.body_pos[body])) for body in feet[0].chain[1:])
    # Beside the foot that stands, and as far ahead as the capture point will have gone.
    far = float((com + pace * (lands + np.sqrt(com[2] / 9.81)) - stands) @ ahead)
    far = min(max(far, 0.0), LONGEST * long / 0.9)
    side = 1.0 if float((holds.places[-1, 0] - holds.places[-1, 1]) @ left) > 0.0 else -1.0
    spots = np.zeros((2, 3))
    for number, foot in enumerate(feet):
        to_left = side if number == 0 else -side
        own = wide if number == first else 0.0
        spots[number] = stands + far * ahead + to_left * own * left
        spots[number, 2] = -float((foot.points[foot.owners == foot.body] @ foot.normal).min())
    return spots


def _lengthen(
    feet: tuple[Foot, Foot],
    holds: Footholds,
    spots: Floats,
    order: tuple[int, int],
    times: tuple[float, float, float, float],
    now: Floats,
    heading: float,
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
        places[:, number, 2] += HIGH * np.sin(np.pi * x) ** 2
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


def _flattest(foot: Foot, holds: Footholds, number: int) -> int:
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
