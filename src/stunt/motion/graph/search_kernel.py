"""The compiled part of the search: branch and bound over frames, the most hopeful branch first."""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.maths.compiled import compiled

FACING, LAG, CHANGE, AHEAD, HOPE, HOP = 0, 1, 2, 3, 4, 5
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
def _frame_cost(x: float, y: float, facing: float, mark: int, path: Any, weights: Any, jump: int) -> tuple[float, int]:
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
def _through_blend(
    track: Any, leave: int, old: Any, enter: int, new: Any, share: Any, path: Any, mark: int, most: int, weights: Any,
    jump: int,
) -> tuple[float, int, int]:  # fmt: skip
    """Return what the frames of a blend cost, the sample reached, and how many there are (at most `most`)."""
    spent, count = 0.0, 0
    for k in range(1, len(share)):
        if count >= most:
            break
        ax, ay, af = _placed(track, leave + k, old)
        bx, by, bf = _placed(track, enter + k, new)
        bf = bf - 2.0 * np.pi * np.round((bf - af) / (2.0 * np.pi))
        s = share[k]
        one, mark = _frame_cost(ax + s * (bx - ax), ay + s * (by - ay), af + s * (bf - af), mark, path, weights, jump)
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
def search(
    track: Any, kept: Any, ends: Any, first: Any, arrive: Any, moves: Any, change: Any, share: Any, path: Any,
    start: int, at: Any, mark: int, horizon: int, weights: Any, jump: int, branches: int, way: Any,
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
        path: Points and direction, (N, 3).
        start: The frame to go on from.
        at: Where its clip lies, (3,).
        mark: The path's sample that was reached.
        horizon: How many frames to look ahead.
        weights: `FACING` … `HOP`.
        jump: Most samples of the path per frame.
        branches: Most branches to look at.
        way: The transitions of the best way are written here, (horizon + 1,).

    Returns:
        How many transitions the best way has, what it costs, and how many branches were looked at.
    """
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
                    track, here, place[node], arrive[number] - len(share) + 1, place[made], share, path, spot,
                    horizon - count, weights, jump,
                )  # fmt: skip
                spent += total + weights[CHANGE] * change[number] ** 2 + weights[HOP]
                if spent >= best:
                    continue
                frame[made], marks[made], used[made], cost[made] = arrive[number], there, count + taken, spent
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
            one, spot = _frame_cost(x, y, facing, spot, path, weights, jump)
            total += one
            count += 1
            if total >= best:
                break
    return _way_to(best_node, parent, through, way), best, looked


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
