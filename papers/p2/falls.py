"""Random falls: somebody who stands, walks or boxes, by a queue of clips or under a supervisor, is pushed over.

`python -m papers.p2.falls` runs them and prints a line for each, and what came of all.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np

from papers.p2.experiment import Show
from papers.variations import with_events
from stunt.drive.beats.spec import Script
from stunt.jobs.job import Row
from stunt.many.shove import Shove
from stunt.review.measures.depths import sunk
from stunt.review.measures.falls import falling
from stunt.review.measures.footage import Footage
from stunt.review.measures.limbs import mirror, turns
from stunt.script.file import script_from_data
from stunt.supervise.supervisor import Supervisor

WHO: Final = "faller"
CLIPS: Final = {"idle": "idle", "walk": "walk", "boxing": "guard"}
WAYS: Final = ("tracked", "supervised")
IMPULSE: Final = (150.0, 300.0)
"""Least and most of a push [N·s]."""
AT: Final = (0.6, 1.6)
"""Earliest and latest push [s]."""
GET_UP: Final = {"front": "get_up_front", "back": "stand_up"}
CONTROLLERS: Final = ("fall", "roll", "lie", "get_up", "rag_doll")
SWEPT: Final = 0.5
"""After so long everybody is on the way down [s]."""
LAIN: Final = 4.0
"""So long after the push somebody who lies there is put back on its feet [s]."""
SECONDS: Final = 16.0
"""Time to fall, lie and be up again [s]."""
LIMITS: Final = {"forearm": 46.0, "upper_arm": 33.0, "hand": 41.0, "thigh": 23.0, "shank": 48.0, "spine": 18.0}
"""Furthest that captured people's joints turn in 33 ms [°]."""


@dataclass(frozen=True)
class PushedOver:
    """A push: on whom, doing what, how hard [N·s], to where [°] and when [s]."""

    way: str
    clip: str
    impulse: float
    degrees: float
    at: float


@dataclass(frozen=True)
class FallOutcome:
    """How one fell and got up.

    Attributes:
        fell: Whether at all.
        head_first: Whether the head met the floor before anything but the legs.
        head_speed: Of the head as it met the floor [m/s]; 0: it did not.
        bend: How far a hip or knee gave on the way down [°].
        first: What met the floor first.
        turned: The joints that turned faster than people's, with how far in 33 ms [°].
        tries: How often it began to get up.
        up: Whether it stood at the end.
        sides: How far knees and elbows are from a mirror image of the other side's while it gets up [°].
        sunk: How deep it was below the floor [cm].
    """

    fell: bool
    head_first: bool
    head_speed: float
    bend: float
    first: str
    turned: str
    tries: int
    up: bool
    sides: float
    sunk: float


def pushed_over(seed: int) -> PushedOver:
    """Return a random push; eight seeds have eight directions, three times two all ways and clips."""
    rng = np.random.default_rng(seed)
    impulse, at = (float(rng.uniform(*limits)) for limits in (IMPULSE, AT))
    return PushedOver(WAYS[seed // 3 % 2], list(CLIPS)[seed % 3], impulse, 45.0 * (seed // 6 % 8), at)


def scene(
    push: PushedOver, seed: int, controllers: Sequence[str] = CONTROLLERS, get_up: Any = GET_UP, **more: Any
) -> Script:
    """Return the scene of a push; those who are supervised have these controllers. `more`: keys of the script."""
    clip = CLIPS[push.clip]
    section: dict[str, Any] = {
        "clips": {
            "play": [{"clip": clip, "loop": True}], "get_up": get_up,
        }
    }  # fmt: skip
    if push.way == "supervised":
        section = {"supervisor": {"clips": {push.clip: {"clip": clip, "loop": True}}, "controllers": list(controllers)}}
    return script_from_data(
        {
            "stunt": 1, "seconds": SECONDS, "rate": 120, "seed": seed,
            "characters": {WHO: {"body": clip, "root": "free", "strength": 1.5}},
            "performance": {WHO: section}, **more,
        }
    )  # fmt: skip


def show(push: PushedOver, seed: int, **more: Any) -> Show:
    """Set the scene."""
    return under_forces(
        Show.of(with_events(scene(push, seed, **more), Shove(push.impulse, push.at).event(WHO, push.degrees)))
    )


def under_forces(made: Show) -> Show:
    """Keep supervised bodies to forces from the start."""
    supervisor: Supervisor = made.stage.actors[WHO].driver
    supervisor.keep_to_forces()
    made.supervisors[WHO] = supervisor
    return made


def put_back(seed: int) -> tuple[Show, PushedOver]:
    """Push somebody over who cannot get up, and put it back as it stood, where it lies; return it with its push."""
    push = replace(pushed_over(seed), way="tracked", clip=("idle", "boxing")[seed % 2])
    made = show(push, seed, get_up={})
    actor = made.stage.actors[WHO]
    stood = actor.here.copy()
    made.until(push.at + LAIN)
    actor.here[2:], actor.state[1][:] = stood[2:], 0.0
    mujoco.mj_forward(made.stage.model, made.stage.data)
    return made, push


def outcome(made: Show, push: PushedOver) -> FallOutcome:
    """Play it and look at it as a reviewer does; once it falls, data may take it back as soon as it is up."""
    made.until(push.at + SWEPT)
    made.supervisors[WHO].keep_to_forces(False)
    made.until(SECONDS)
    take = made.take()
    footage = Footage.of(take)
    person = footage.people[0]
    found = {name: (value, what) for name, value, _, what in falling(footage, person)}
    rises = [time for time, who in made.switches(WHO) if who in ("get up", "get_up")]
    fast = {name.removeprefix("turn_"): (value, time, part) for name, value, time, part in turns(footage, person)}
    over = [
        f"{part} {fast[kind][0]:.0f}° at {fast[kind][1]:.2f}"
        for kind, most in LIMITS.items()
        if (part := fast[kind][2]) and fast[kind][0] > most
    ]
    felt = made.felt(WHO)
    sides = 90.0
    if rises:
        later = [time for time, _ in made.switches(WHO) if time > rises[0]]
        rising = footage.between(rises[0], later[0] if later else SECONDS)
        sides = next((value for _, value, _, _ in mirror(rising, person)), 90.0)
    return FallOutcome(
        "fall_bend" in found, bool(found.get("head_first", (0.0,))[0]), found.get("head_speed", (0.0,))[0],
        found.get("fall_bend", (0.0,))[0], found.get("head_speed", (0.0, ""))[1], "; ".join(over), len(rises),
        bool(felt.height > 0.85 and felt.tilt < 0.4), sides, 100.0 * sunk(footage, person).depth,
    )  # fmt: skip


def told(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what came of all falls."""
    fell = [row for row in rows if row["fell"]]
    up = [row for row in fell if row["up"] and row["tries"] == 1]
    return {
        "pushed": len(rows), "fell": len(fell), "head_first": sum(row["head_first"] for row in fell),
        "head_speed": statistics.median(row["head_speed"] for row in fell) if fell else 0.0,
        "bent": sum(row["bend"] >= 30.0 for row in fell), "too_fast": sum(bool(row["turned"]) for row in fell),
        "up_at_once": len(up), "up": sum(row["up"] for row in fell),
        "sides": min((row["sides"] for row in up), default=0.0),
        "sunk": max((row["sunk"] for row in fell), default=0.0),
    }  # fmt: skip


def main() -> None:
    """Run as many falls as asked for (60), from a seed on (0), and print them."""
    count, first = (int(word) for word in (*sys.argv[1:], *("60", "0")[len(sys.argv) - 1 :]))
    rows = []
    for seed in range(first, first + count):
        push = pushed_over(seed)
        made = show(push, seed)
        rows.append(asdict(outcome(made, push)))
        who = ">".join(who for _, who in made.switches(WHO))
        short = {k: round(v, 1) if isinstance(v, float) else v for k, v in rows[-1].items()}
        print(
            seed,
            f"{push.way} {push.clip} {push.impulse:.0f} N·s {push.degrees:.0f}° {push.at:.2f} s",
            short,
            who,
            flush=True,
        )
    print(told(rows))


if __name__ == "__main__":
    main()
