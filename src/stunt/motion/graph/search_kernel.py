"""The compiled part of the searches: branch and bound over frames, the most hopeful branch first.

One loop serves whoever follows a path and whoever pursues an opponent; what a frame costs them is in `frame_cost`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.maths.compiled import compiled, inlined

PATH, OPPONENT = 0, 1
"""What is searched for."""
CHANGE, HOP, HOPE = 0, 1, 2
"""Of the prices of any search: of how unlike a transition's poses are, of a transition, and of a frame to come."""
FACING, LAG, AHEAD = 0, 1, 2
"""Of the weights of a path."""
X, Y, AIM_X, AIM_Y, NEAREST, FARTHEST, OFF, SHORT, RING_X, RING_Y, RING, BLOW = range(12)
"""Of an opponent: where it is, and what of it a blow is aimed at [m]; how near and how far to be [m]; how far to the
left of the hips one fights [rad]; how far short of its aim a blow ends [m]; the ring's middle and radius [m]; the
number of the blow that is wanted, below 0: none."""
TOO_NEAR, TOO_FAR, TURNED, OUTSIDE, MIDDLE, WAITING, MISS = range(7)
"""Of the weights of an opponent."""
NEAR = 10  # samples from the end that count as its end: whoever stands there need not go on
_PATIENCE = 4  # samples that are farther off before looking for a nearer one ends
_CHILDREN = 64  # made per branch on average; what goes beyond is not looked at


@compiled
def reached(path: Any, places: Any, mark: int, jump: int) -> int:
    """Return which sample of a path (N, 3) was reached after going through places (n, 2) from sample `mark` on."""
    for k in range(len(places)):
        mark = _nearest(places[k, 0], places[k, 1], mark, path, jump)[1]
    return mark


@compiled
def _nearest(x: float, y: float, mark: int, path: Any, jump: int) -> tuple[float, int]:
    """Return the squared distance to the nearest sample from the last one on, and which it is."""
    best, found = (x - path[mark, 0]) ** 2 + (y - path[mark, 1]) ** 2, mark
    for k in range(mark + 1, min(mark + jump, len(path) - 1) + 1):
        off = (x - path[k, 0]) ** 2 + (y - path[k, 1]) ** 2
        if off < best:
            best, found = off, k
        elif k - found >= _PATIENCE:
            break
    return best, found


@compiled
def _path_cost(x: float, y: float, facing: float, mark: int, path: Any, weights: Any, jump: int) -> tuple[float, int]:
    """Return what being somewhere costs, and the path's sample that is reached there."""
    cost, found = _nearest(x, y, mark, path, jump)
    if found < len(path) - 1 - NEAR:
        turn = facing - path[found, 2]
        turn = turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
        lag = max(0.0, 1.0 - (found - mark) / weights[AHEAD])
        cost += weights[FACING] * turn * turn + weights[LAG] * lag
    return cost, found


@compiled
def _placed(track: Any, frame: int, at: Any) -> tuple[float, float, float]:
    """Return where a frame's root is and faces when its clip lies at a place."""
    cosine, sine = np.cos(at[2]), np.sin(at[2])
    x, y = track[frame, 0], track[frame, 1]
    return at[0] + cosine * x - sine * y, at[1] + sine * x + cosine * y, track[frame, 2] + at[2]


@compiled
def _put(inner: Any, outer: Any, out: Any) -> None:
    """Write the place of what lies at `inner` as seen from `outer`."""
    cosine, sine = np.cos(outer[2]), np.sin(outer[2])
    out[0] = outer[0] + cosine * inner[0] - sine * inner[1]
    out[1] = outer[1] + sine * inner[0] + cosine * inner[1]
    out[2] = outer[2] + inner[2]


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
        + weights[TURNED] * off * off
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


@inlined
def frame_cost(
    kind: int, weights: Any, path: Any, jump: int, goal: Any, limbs: Any, blows: Any, price: Any, x: float, y: float,
    facing: float, frame: int, at: Any, mark: int,
) -> tuple[float, int]:  # fmt: skip
    """Return what being somewhere in a frame costs, and what was got done.

    Args:
        kind: What is searched for, `PATH` or `OPPONENT`.
        weights: `FACING` … `AHEAD`, or `TOO_NEAR` … `MISS`.
        path: Of a path: points and direction, (N, 3).
        jump: How many of its samples are passed per frame at most.
        goal: Of an opponent: `X` … `BLOW`.
        limbs: Where the limb that strikes is over the ground in frames that strike, (F, 3); the third is not used.
        blows: Which blow a frame is the moment of, below 0: none, (F,).
        price: What playing a frame costs in itself, (F,).
        x: Where the root is [m].
        y: Likewise.
        facing: Where it faces [rad].
        frame: Which frame it is.
        at: Where its clip lies, (3,).
        mark: What was got done so far: the path's sample that was reached, or whether the blow was struck.
    """
    if kind == PATH:
        return _path_cost(x, y, facing, mark, path, weights, jump)
    blow, struck = _blow_cost(x, y, frame, at, mark, limbs, blows, goal, weights)
    return _stance_cost(x, y, facing, goal, weights) + price[frame] + blow, struck


@inlined
def _through_blend(
    kind: int, track: Any, leave: int, old: Any, enter: int, new: Any, share: Any, weights: Any, path: Any, jump: int,
    goal: Any, limbs: Any, blows: Any, price: Any, mark: int, most: int,
) -> tuple[float, int, int]:  # fmt: skip
    """Return what the frames of a blend cost, what was got done, and how many there are (at most `most`)."""
    spent, count = 0.0, 0
    for k in range(1, len(share)):
        if count >= most:
            break
        ax, ay, af = _placed(track, leave + k, old)
        bx, by, bf = _placed(track, enter + k, new)
        bf = bf - 2.0 * np.pi * np.round((bf - af) / (2.0 * np.pi))
        s = share[k]
        one, mark = frame_cost(
            kind, weights, path, jump, goal, limbs, blows, price, ax + s * (bx - ax), ay + s * (by - ay),
            af + s * (bf - af), enter + k, new, mark,
        )  # fmt: skip
        spent += one
        count += 1
    return spent, mark, count


@compiled
def _push(heap: Any, size: int, hopes: Any, node: int) -> int:
    """Put a node on the heap; the least `hopes` is on top. Returns its size."""
    k = size
    while k > 0 and hopes[heap[(k - 1) // 2]] > hopes[node]:
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = node
    return size + 1


@compiled
def _pop(heap: Any, size: int, hopes: Any) -> int:
    """Return the top of the heap and close the gap; it has one node less then."""
    top, node = heap[0], heap[size - 1]
    k, size = 0, size - 1
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and hopes[heap[child + 1]] < hopes[heap[child]]:
            child += 1
        if hopes[heap[child]] >= hopes[node]:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = node
    return top


@compiled
def _way_to(node: int, parent: Any, through: Any, way: Any) -> int:
    """Write the transitions that lead to a node, in order; return how many."""
    length, at = 0, node
    while at > 0:
        length += 1
        at = parent[at]
    for k in range(length - 1, -1, -1):
        way[k] = through[node]
        node = parent[node]
    return length


def _searching(kind: int) -> Any:
    """Return the search for a kind of goal: the same loop, compiled once for each, so that neither pays for the other.

    A constant of the compiled function, and not a compiled function as an argument: such a one cannot be cached.
    """

    @compiled
    def search(
        track: Any, kept: Any, ends: Any, first: Any, arrive: Any, moves: Any, change: Any, share: Any, task: Any,
        start: int, at: Any, mark: int, horizon: int, prices: Any, branches: int, way: Any,
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
            task: What is searched for: `weights` … `price` of `frame_cost`; what a kind does not need is empty.
            start: The frame to go on from.
            at: Where its clip lies, (3,).
            mark: What is done already: the path's sample that was reached, or whether the blow was struck.
            horizon: How many frames to look ahead.
            prices: `CHANGE` … `HOPE`.
            branches: Most branches to look at.
            way: The transitions of the best way are written here, (horizon + 1,).

        Returns:
            How many transitions the best way has, what it costs, and how many branches were looked at.
        """
        # Taken apart once: whoever takes a tuple of arrays apart counts all of them.
        weights, path, jump, goal, limbs, blows, price = task
        room = _CHILDREN * branches
        frame, marks, used = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        parent, through, heap = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        place, cost, hopes = np.empty((room, 3)), np.empty(room), np.empty(room)
        frame[0], marks[0], used[0], parent[0], through[0], cost[0], hopes[0] = start, mark, 0, -1, -1, 0.0, 0.0
        place[0] = at
        made, waiting, looked, best, best_node = 1, _push(heap, 0, hopes, 0), 0, np.inf, -1
        while waiting > 0 and looked < branches:
            node = _pop(heap, waiting, hopes)
            waiting -= 1
            if cost[node] >= best:
                continue
            looked += 1
            here, total, spot, count = frame[node], cost[node], marks[node], used[node]
            while True:
                for number in range(first[here], first[here + 1]):
                    if made >= room:
                        break
                    _put(moves[number], place[node], place[made])
                    spent, there, taken = _through_blend(
                        kind, track, here, place[node], arrive[number] - len(share) + 1, place[made], share,
                        weights, path, jump, goal, limbs, blows, price, spot, horizon - count,
                    )  # fmt: skip
                    spent += total + prices[CHANGE] * change[number] ** 2 + prices[HOP]
                    if spent >= best:
                        continue
                    frame[made], marks[made], used[made], cost[made] = arrive[number], there, count + taken, spent
                    parent[made], through[made] = node, number
                    hopes[made] = spent + prices[HOPE] * (horizon - count - taken)
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
                one, spot = frame_cost(
                    kind, weights, path, jump, goal, limbs, blows, price, x, y, facing, here, place[node], spot
                )
                total += one
                count += 1
                if total >= best:
                    break
        return _way_to(best_node, parent, through, way), best, looked

    return search


search_path = _searching(PATH)
search_opponent = _searching(OPPONENT)
