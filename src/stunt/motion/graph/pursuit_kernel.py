"""The compiled part of the search for an opponent: branch and bound over frames, as along a path, with another cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.maths.compiled import compiled
from stunt.motion.graph.search_kernel import _CHILDREN, _placed, _pop, _push, _put, _way_to

X, Y, AIM_X, AIM_Y, NEAREST, FARTHEST, OFF, SHORT, RING_X, RING_Y, RING, BLOW = range(12)
"""Of a goal: where the opponent is, and what of it a blow is aimed at [m]; how near and how far to be [m]; how far to
the left of the hips one fights [rad]; how far short of its aim a blow ends [m]; the ring's middle and radius [m]; the
number of the blow that is wanted, below 0: none."""
TOO_NEAR, TOO_FAR, FACING, OUTSIDE, MIDDLE, WAITING, MISS, CHANGE, HOP, HOPE = range(10)
"""Of the weights."""


@compiled
def _stance_cost(x: float, y: float, facing: float, goal: Any, weights: Any) -> float:
    """Return what being somewhere costs, seen from the opponent and from the ring's middle [m²]."""
    ox, oy = goal[X] - x, goal[Y] - y
    away = np.sqrt(ox * ox + oy * oy)
    off = np.arctan2(oy, ox) - facing - goal[OFF]
    off = off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))
    out = np.sqrt((x - goal[RING_X]) ** 2 + (y - goal[RING_Y]) ** 2)
    return (
        weights[TOO_NEAR] * max(0.0, goal[NEAREST] - away) ** 2
        + weights[TOO_FAR] * max(0.0, away - goal[FARTHEST]) ** 2
        + weights[FACING] * off * off
        + weights[OUTSIDE] * max(0.0, out - goal[RING]) ** 2
        + weights[MIDDLE] * out * out
    )


@compiled
def _blow_cost(
    x: float, y: float, frame: int, at: Any, struck: int, limbs: Any, blows: Any, goal: Any, weights: Any
) -> tuple[float, int]:
    """Return what a frame costs whoever wants to strike [m²], and whether that is done then."""
    if struck or goal[BLOW] < 0.0:
        return 0.0, 1
    if blows[frame] != goal[BLOW]:
        return weights[WAITING], 0
    hx, hy, _ = _placed(limbs, frame, at)
    ax, ay = goal[AIM_X] - x, goal[AIM_Y] - y
    way = max(np.sqrt(ax * ax + ay * ay), 1e-6)
    off_x = goal[AIM_X] - goal[SHORT] * ax / way - hx
    off_y = goal[AIM_Y] - goal[SHORT] * ay / way - hy
    past = max(0.0, -(off_x * ax + off_y * ay) / way)  # to strike through somebody is worse than to fall short
    return weights[MISS] * (off_x * off_x + off_y * off_y + 3.0 * past * past), 1


@compiled
def _through(
    track: Any, limbs: Any, blows: Any, price: Any, leave: int, old: Any, enter: int, new: Any, share: Any, goal: Any,
    struck: int, most: int, weights: Any,
) -> tuple[float, int, int]:  # fmt: skip
    """Return what the frames of a blend cost, whether it struck, and how many there are (at most `most`)."""
    spent, count = 0.0, 0
    for k in range(1, len(share)):
        if count >= most:
            break
        ax, ay, af = _placed(track, leave + k, old)
        bx, by, bf = _placed(track, enter + k, new)
        bf = bf - 2.0 * np.pi * np.round((bf - af) / (2.0 * np.pi))
        s = share[k]
        x, y = ax + s * (bx - ax), ay + s * (by - ay)
        spent += _stance_cost(x, y, af + s * (bf - af), goal, weights) + price[enter + k]
        blow, struck = _blow_cost(x, y, enter + k, new, struck, limbs, blows, goal, weights)
        spent += blow
        count += 1
    return spent, struck, count


@compiled
def pursue(
    track: Any, kept: Any, ends: Any, first: Any, arrive: Any, moves: Any, change: Any, share: Any, limbs: Any,
    blows: Any, price: Any, goal: Any, start: int, at: Any, horizon: int, weights: Any, branches: int, way: Any,
) -> tuple[int, float, int]:  # fmt: skip
    """Find the best way on.

    Args:
        track: Root and facing of all frames of all clips, counted through, (F, 3).
        kept: Which frames belong to the graph, (F,).
        ends: Past which frame each frame's clip ends, (F,).
        first: Number of the first transition that leaves at or after a frame, (F + 1,).
        arrive: The frame each transition arrives in, (T,).
        moves: Where the entered clip lies, seen from the left one, (T, 3).
        change: How far apart the joints are in each transition [m], (T,).
        share: How much of the entered clip there is in each frame of a blend.
        limbs: Where the limb that strikes is over the ground in frames that strike, (F, 3); the third is not used.
        blows: Which blow a frame is the moment of, below 0: none, (F,).
        price: What playing a frame costs in itself, (F,).
        goal: `X` … `BLOW`.
        start: The frame to go on from.
        at: Where its clip lies, (3,).
        horizon: How many frames to look ahead.
        weights: `TOO_NEAR` … `HOPE`.
        branches: Most branches to look at.
        way: The transitions of the best way are written here, (horizon + 1,).

    Returns:
        How many transitions the best way has, what it costs, and how many branches were looked at.
    """
    room = _CHILDREN * branches
    frame, struck, used = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    parent, through, heap = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    place, cost, hopes = np.empty((room, 3)), np.empty(room), np.empty(room)
    frame[0], struck[0], used[0], parent[0], through[0], cost[0], hopes[0] = start, 0, 0, -1, -1, 0.0, 0.0
    place[0] = at
    made, waiting, looked, best, best_node = 1, _push(heap, 0, hopes, 0), 0, np.inf, -1
    while waiting > 0 and looked < branches:
        node = _pop(heap, waiting, hopes)
        waiting -= 1
        if cost[node] >= best:
            continue
        looked += 1
        here, total, done, count = frame[node], cost[node], struck[node], used[node]
        while True:
            for number in range(first[here], first[here + 1]):
                if made >= room:
                    break
                _put(moves[number], place[node], place[made])
                spent, there, taken = _through(
                    track, limbs, blows, price, here, place[node], arrive[number] - len(share) + 1, place[made], share,
                    goal, done, horizon - count, weights,
                )  # fmt: skip
                spent += total + weights[CHANGE] * change[number] ** 2 + weights[HOP]
                if spent >= best:
                    continue
                frame[made], struck[made], used[made], cost[made] = arrive[number], there, count + taken, spent
                parent[made], through[made] = node, number
                hopes[made] = spent + weights[HOPE] * (horizon - count - taken)
                if count + taken >= horizon:
                    best, best_node = spent, made
                else:
                    waiting = _push(heap, waiting, hopes, made)
                made += 1
            if count >= horizon:
                best, best_node = total, node
                break
            here += 1
            if here >= ends[frame[node]] or not kept[here]:
                break
            x, y, facing = _placed(track, here, place[node])
            total += _stance_cost(x, y, facing, goal, weights) + price[here]
            blow, done = _blow_cost(x, y, here, place[node], done, limbs, blows, goal, weights)
            total += blow
            count += 1
            if total >= best:
                break
    return _way_to(best_node, parent, through, way), best, looked
