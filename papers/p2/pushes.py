"""Steps before falls: somebody who stands, walks or boxes is pushed, and takes it by ankles, hips, a step, or falls.

`python -m papers.p2.pushes [SEEDS] [FIRST]` pushes as often with each impulse and prints a table, each row with its
help; `... [SEEDS] [FIRST] 40x5 20x4` throws crates of so many kilograms, so fast [m/s], at who stands instead.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from papers.p2 import falls
from papers.p2.experiment import Show
from papers.p2.falls import WHO, PushedOver
from papers.variations import with_events
from stunt.jobs.job import Row
from stunt.many.shove import Shove
from stunt.supervise.reflexes.posture import feet

IMPULSES: Final = (30.0, 60.0, 100.0, 250.0)
"""How hard [N·s]."""
AFTER: Final = 4.0
"""So long after the push it is asked whether it stands [s]."""
EVERY: Final = 1.0 / 30.0
"""How often its feet are looked at [s]."""
LIFTED, MOVED = 0.03, 0.06
"""A foot that was lifted by so much and comes down so far from where it was has made a step [m]."""
FROM, HEIGHT = 2.4, 1.35
"""From how far and how high crates come [m]."""
NEAR: Final = 0.35
"""How far the middle of a crate is from that of the chest it meets [m]."""
CONTROLLERS: Final = ("stumble", "fall", "roll", "lie", "get_up", "rag_doll")


@dataclass(frozen=True)
class PushOutcome:
    """What came of a push.

    Attributes:
        stood: Whether it stayed up, and stands at the end.
        steps: How often a foot was lifted and put down elsewhere; of who walks its own steps are among them.
        help: Mean torque on its root from the push on, as a share of m·g·h.
        tilt: How far its trunk tilted at most [°].
    """

    stood: bool
    steps: int
    help: float
    tilt: float


def pushed(seed: int, impulse: float) -> PushedOver:
    """Return a random push: eight seeds have eight directions, three times two all ways and clips."""
    return replace(falls.pushed_over(seed), impulse=impulse)


def show(push: PushedOver, seed: int) -> Show:
    """Set the scene."""
    scene = falls.scene(push, seed, CONTROLLERS)
    return falls.under_forces(Show.of(with_events(scene, Shove(push.impulse, push.at).event(WHO, push.degrees))))


def thrown(push: PushedOver, mass: float, speed: float, seed: int) -> Show:
    """Set the scene of a crate that flies at a chest, the way a push would go."""
    angle = math.radians(push.degrees)
    at = [-FROM * math.cos(angle), -FROM * math.sin(angle), HEIGHT]
    crate = {"shape": "box", "size": [0.4, 0.4, 0.4], "mass": mass, "at": at}
    throw = {"throw": "crate", "target": f"{WHO}/thorax", "at": push.at - (FROM - NEAR) / speed, "hits_at": push.at}
    scene = falls.scene(push, seed, CONTROLLERS, props={"crate": crate}, events=[throw])
    return falls.under_forces(Show.of(scene))


def outcome(made: Show, push: PushedOver) -> PushOutcome:
    """Play it and look at feet, root and help on the way."""
    made.until(push.at)
    actor = made.stage.actors[WHO]
    before = actor.assistance().angular_impulse
    anatomy = made.felt(WHO).sense.anatomy
    stands = feet(anatomy, made.felt(WHO))
    lifted = dict.fromkeys(stands, False)
    low = {side: place[2] for side, place in stands.items()}
    steps, tilt, lowest = 0, 0.0, 1.0
    for time in np.arange(push.at, push.at + AFTER, EVERY):
        made.until(time + EVERY)
        felt = made.felt(WHO)
        tilt, lowest = max(tilt, felt.tilt), min(lowest, felt.height)
        for side, place in feet(anatomy, felt).items():
            if place[2] > low[side] + LIFTED:
                lifted[side] = True
            elif lifted[side] and place[2] < low[side] + 0.3 * LIFTED:
                steps += bool(np.linalg.norm((place - stands[side])[:2]) > MOVED)
                stands[side], lifted[side] = place, False
    stood = lowest > 0.7 and made.felt(WHO).tilt < 0.4 and made.felt(WHO).height > 0.85
    lever = actor.weight * anatomy.height
    helped = (actor.assistance().angular_impulse - before) / AFTER / lever
    return PushOutcome(bool(stood), steps, helped, float(np.degrees(tilt)))


def told(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a row for each impulse."""
    table = []
    for impulse in dict.fromkeys(row["impulse"] for row in rows):
        some = [row for row in rows if row["impulse"] == impulse]
        table.append(
            {
                "impulse": impulse, "pushed": len(some), "stood": sum(row["stood"] for row in some),
                "stepped": sum(row["steps"] > 0 for row in some),
                "steps": statistics.median(row["steps"] for row in some),
                "help": statistics.mean(row["help"] for row in some),
                "tilt": statistics.median(row["tilt"] for row in some),
            }
        )  # fmt: skip
    return table


def rows(count: int, first: int, impulses: Sequence[float | str], told: bool = False) -> list[Row]:
    """Push with each impulse [N·s], or throw each crate (`40x5`: kilograms, metres per second), for each seed."""
    found = []
    for impulse in impulses:
        for seed in range(first, first + count):
            push = pushed(seed, 0.0 if isinstance(impulse, str) else impulse)
            if isinstance(impulse, str):
                mass, speed = (float(word) for word in impulse.split("x"))
                push = replace(push, clip="idle")
                made = thrown(push, mass, speed, seed)
            else:
                made = show(push, seed)
            found.append({"impulse": impulse, **asdict(outcome(made, push))})
            who = ">".join(who for _, who in made.switches(WHO))
            short = {k: round(v, 2) if isinstance(v, float) else v for k, v in found[-1].items()}
            if told:
                print(seed, f"{push.way} {push.clip} {push.degrees:.0f}° {push.at:.2f} s", short, who, flush=True)
    return found


def main() -> None:
    """Push as often as asked for with each impulse (24), from a seed on (0), and print what came of it."""
    count, first = (int(word) for word in (*sys.argv[1:3], *("24", "0")[len(sys.argv[1:3]) :]))
    how = [word if "x" in word else float(word) for word in sys.argv[3:]] or IMPULSES
    for row in told(rows(count, first, how, told=True)):
        print(row)


if __name__ == "__main__":
    main()
