"""Where one foot goes in a blend, compiled (see `feet`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stunt.maths.compiled import compiled
from stunt.maths.flat import exponential, logarithm, product


@compiled
def eased_out(s: float) -> float:
    """Return 1 falling to 0 along a quintic that begins and ends at rest, for a share of the time."""
    s = min(max(s, 0.0), 1.0)
    return 1.0 - s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@compiled
def eased_rate(s: float) -> float:
    """Return what an offset of 0 that begins at rate 1 does, for a share of the time; it ends at rest at 0."""
    s = min(max(s, 0.0), 1.0)
    return s - s * s * s * (6.0 - 8.0 * s + 3.0 * s * s)


@compiled
def foot_steps(places: Any, foot: int, fps: float, still: float, low: float, out: Any) -> None:
    """Note when a foot stands in the data: low and slow.

    Args:
        places: Of all bodies, (F, bodies, 3).
        foot: Which.
        fps: Frames per second.
        still: Slower than this it stands [m/s].
        low: If it is lower than this above its lowest [m].
        out: Written: its lowest height [m], whether it stands in the first frame, the first frame in which it stands
            (or how many there are), and the first in which it does not.
    """
    count, lowest = places.shape[0], math.inf
    for f in range(count):
        lowest = min(lowest, places[f, foot, 2])
    out[0], out[1], out[2], out[3] = lowest, 0.0, count, count
    for f in range(count - 1, -1, -1):
        before, after, way = max(f - 1, 0), min(f + 1, count - 1), 0.0
        for k in range(3):
            way += (places[after, foot, k] - places[before, foot, k]) ** 2
        stands = (count < 2) or (0.5 * fps * math.sqrt(way) < still and places[f, foot, 2] < lowest + low)
        out[2 if stands else 3] = f
        if f == 0 and stands:
            out[1] = 1.0


@compiled
def write_course(
    places: Any, turns: Any, foot: int, here: Any, turned: Any, tick: float, fps: float, begin: float, seconds: float,
    lift: float, brake: float, roll: float, path: Any, feet: Any,
) -> None:  # fmt: skip
    """Write where a foot goes from where it is to where the data has it (see `feet.Course`).

    Args:
        places: Where the data has all bodies, (F, bodies, 3).
        turns: How it has them turned, (F, bodies, 4).
        foot: Which body.
        here: Where the bodies are now, and where they will be after `tick`, (2, bodies, 3).
        turned: How they are turned, likewise, (2, bodies, 4).
        tick: [s].
        fps: Frames per second.
        begin: When it leaves its place [s].
        seconds: How long it takes.
        lift: How high it goes on the way [m].
        brake: Within which time one that stands comes to rest [s].
        roll: Over which time it tilts as the data has it [s].
        path: Written, (F, 3).
        feet: How it is turned, written, (F, 4).
    """
    off, rate, lean, spin, later = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(4)
    for k in range(3):
        off[k] = here[0, foot, k] - places[0, foot, k]
        rate[k] = (here[1, foot, k] - here[0, foot, k]) / tick - (places[1, foot, k] - places[0, foot, k]) * fps
    # How fast what it is turned off by changes: what it will be a moment later, the data having gone on as well.
    write_lean(turns[0, foot], turns[1, foot], lean)
    write_turned(turns[0, foot], tick * fps * lean[0], tick * fps * lean[1], tick * fps * lean[2], later)
    write_lean(later, turned[1, foot], spin)
    write_lean(turns[0, foot], turned[0, foot], lean)
    for k in range(3):
        spin[k] = (spin[k] - lean[k]) / tick
    brake = min(brake, begin)
    for f in range(path.shape[0]):
        time = f / fps
        rolled, share = eased_out(time / roll), min(max((time - begin) / seconds, 0.0), 1.0)
        if begin <= 0.0:
            value, slope = eased_out(time / seconds), seconds * eased_rate(time / seconds)
            high = eased_out(time / min(seconds, roll))
        else:
            value, slope, high = eased_out((time - begin) / seconds), brake * eased_rate(time / brake), rolled
        for k in range(3):
            path[f, k] = places[f, foot, k] + (high if k == 2 else value) * off[k] + slope * rate[k]
        path[f, 2] += lift * 16.0 * (share * (1.0 - share)) ** 2
        early = roll * eased_rate(time / roll)
        for k in range(3):
            later[k] = rolled * lean[k] + early * spin[k]
        write_turned(turns[f, foot], later[0], later[1], later[2], feet[f])


@compiled
def write_lean(data: Any, turn: Any, out: Any) -> None:
    """Write the rotation vector, in the data's frame, from the data's orientation to another."""
    w, x, y, z = product(data[0], -data[1], -data[2], -data[3], turn[0], turn[1], turn[2], turn[3])
    out[0], out[1], out[2] = logarithm(w, x, y, z)


@compiled
def write_turned(data: Any, x: float, y: float, z: float, out: Any) -> None:
    """Write an orientation turned on by a rotation vector in its own frame."""
    w, x, y, z = exponential(x, y, z)
    out[0], out[1], out[2], out[3] = product(data[0], data[1], data[2], data[3], w, x, y, z)


@compiled
def add_need(places: Any, thigh: int, foot: int, path: Any, longest: float, need: Any) -> float:
    """Raise `need` to how much lower the root must be for a foot to be within reach [m], (F,); return its largest.

    Args:
        places: Where the bodies are, (F, bodies, 3).
        thigh: Where the leg begins.
        foot: Where it ends.
        path: Where the foot should be, (F, 3).
        longest: How far it reaches [m].
        need: Written.
    """
    most = 0.0
    for f in range(need.shape[0]):
        hip, ankle = places[f, thigh], places[f, foot]
        flat = (hip[0] - path[f, 0]) ** 2 + (hip[1] - path[f, 1]) ** 2
        # As far as the body stretches it anyway, it may go on doing.
        own = math.sqrt((hip[0] - ankle[0]) ** 2 + (hip[1] - ankle[1]) ** 2 + (hip[2] - ankle[2]) ** 2)
        reach = max(longest, own)
        highest = math.sqrt(max(reach * reach - flat, (0.6 * longest) ** 2))
        need[f] = max(need[f], hip[2] - path[f, 2] - highest)
        most = max(most, need[f])
    return most


@compiled
def widened(values: Any, reach: int, deviation: float) -> Any:
    """Return values that reach so many frames further on both sides, then smoothed, (F,); held beyond the ends.

    Args:
        values: (F,).
        reach: Each frame gets the largest value so many frames around it.
        deviation: Standard deviation of the bell it is smoothed with [frames]; cut off at four of them.
    """
    count, half = values.shape[0], int(4.0 * deviation + 0.5)
    wide, bell, out, total = np.empty(count), np.empty(half + 1), np.empty(count), 0.0
    for f in range(count):
        wide[f] = values[f]
        for g in range(max(f - reach, 0), min(f + reach + 1, count)):
            wide[f] = max(wide[f], values[g])
    for k in range(half + 1):
        bell[k] = math.exp(-0.5 * (k / deviation) ** 2)
        total += bell[k] if k == 0 else 2.0 * bell[k]
    for f in range(count):
        soft = bell[0] * wide[f]
        for k in range(1, half + 1):
            soft += bell[k] * (wide[max(f - k, 0)] + wide[min(f + k, count - 1)])
        out[f] = soft / total
    return out
