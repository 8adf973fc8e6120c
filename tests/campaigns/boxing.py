"""Boxing as its meter of blows tells it: what was landed, what came of it, who went down and after what.

`python -m tests.campaigns.boxing [COUNT] [FIRST] [SECONDS]` boxes so many matches of `boxing_match` (20 of 20 s) from a
seed on, starts and ground varied, and prints a line for each and what came of all; `… --queue` those of `boxing`,
where fighters follow clips by forces; `… --forces` matches under forces alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.stats import spearmanr

from papers.p2 import boxing
from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import with_character
from stunt.stage.blows import STRIKING, Struck, meter_of

PEOPLE: Final = boxing.PEOPLE
EVERY: Final = 1.0 / 60.0
AFTER: Final = 1.2
"""So long after a blow its effect is looked for [s]."""
FELLING: Final = {"head": 12.0, "trunk": 30.0}
"""A fist that gives less fells nobody [N·s]."""
HARD: Final = 20.0
"""A blow on the head that gives so much is answered [N·s]."""


@dataclass(frozen=True)
class Bout:
    """What happened: blows, each with how far the struck trunk tilted then [°] and how it was answered (0 to 3)."""

    blows: list[Struck]
    effects: list[tuple[Struck, float, int]]
    downs: list[tuple[float, str, Struck | None]]  #: When [s], who, and the hardest blow of a fist before
    up: list[bool]  #: Whether who went down boxed again, or had less than `GRACE` left for it
    tries: list[int]  #: How often each began to get up
    gap: float  #: Longest time without a fist that met the other, while both were up [s]
    starts: float  #: How deep they are in each other at the start [m]
    forces: float  #: Share of the time under forces


def show_of(seed: int, queue: bool, forces: bool) -> Show:
    """Set the scene."""
    if queue:
        script, rng = shipped("boxing"), np.random.default_rng(seed)
        for name in PEOPLE:
            at = script.scene.characters[name].at
            off = rng.uniform(-0.04, 0.04, 2)
            script = with_character(script, name, at=(at[0] + off[0], at[1] + off[1], at[2]))
        made = Show.of(replace(script, seconds=60.0))
        made.supervisors.update({name: made.stage.actors[name].driver for name in PEOPLE})
        return made
    made = boxing.boxing(seed, seconds=60.0)
    if forces:
        for one in made.supervisors.values():
            one.keep_to_forces()
    return made


def bout(seed: int, seconds: float, *, queue: bool = False, forces: bool = False) -> Bout:
    """Box."""
    made = show_of(seed, queue, forces)
    meter = meter_of(made.stage)
    starts, times, by_forces = boxing.overlap(made), list[float](), list[float]()
    tilts, stands = {who: list[float]() for who in PEOPLE}, {who: list[bool]() for who in PEOPLE}
    while made.stage.time < seconds:
        made.until(made.stage.time + EVERY)
        times.append(made.stage.time)
        for who in PEOPLE:
            felt = made.felt(who)
            tilts[who].append(float(np.degrees(felt.tilt)))
            stands[who].append(felt.height > 0.8 and felt.tilt < 0.7)
        by_forces.append(float(np.mean([not made.stage.actors[who].kinematic for who in PEOPLE])))
    blows = [one for one in meter.log if one.time < seconds]
    when = np.array(times)
    downs, up, tries, effects = list[tuple[float, str, Struck | None]](), [], [], []
    for who in PEOPLE:
        switches = made.switches(who)
        low = np.array([not one for one in stands[who]])
        for time in _onsets(when, low):
            mine = [b for b in blows if b.character == who and time - 2.0 <= b.time <= time and b.landed]
            downs.append((time, who, max(mine, key=lambda b: b.size / FELLING[b.region], default=None)))
            again = [t for t, name in switches if t > time and name in ("box", "clips")]
            up.append(bool(again) or time > seconds - boxing.GRACE)
            tries.append(sum(name in ("get up", "get_up") for t, name in switches if time < t < (again or [1e9])[0]))
        for blow in blows:
            if blow.character != who or not blow.landed or blow.time + AFTER > seconds or not _first(blow, blows):
                continue
            span = (when >= blow.time) & (when <= blow.time + AFTER)
            begin = int(np.flatnonzero(span)[0])
            if low[max(begin - 2, 0)]:
                continue
            fell = any(name == who and blow.time <= time <= blow.time + AFTER for time, name, _ in downs)
            held = [name for t, name in switches if blow.time <= t <= blow.time + 0.5]
            noted = [one["state"] for one in made.stage.actors[who].log if 0.0 <= one["time"] - blow.time <= 0.5]
            staggers = {"reel", "stumble", "stunned"} & {*held, *noted}
            grade = 3 if fell else 2 if staggers else 1 if held or noted else 0
            moved = np.array(tilts[who])[span]
            effects.append((blow, float(np.ptp(moved)), grade))
    return Bout(blows, effects, downs, up, tries, _gap(when, stands, blows), starts, float(np.mean(by_forces)))


def _first(blow: Struck, blows: list[Struck]) -> bool:
    """Whether what comes of a blow is its own: no other that was worth as much fell on the same person about then."""
    return not any(
        one is not blow and one.character == blow.character and abs(one.time - blow.time) < AFTER
        and (one.worth(FELLING), one.time) > (blow.worth(FELLING), blow.time) for one in blows
    )  # fmt: skip


def _onsets(when: np.ndarray, low: np.ndarray) -> list[float]:
    """Return when somebody went down: low for half a second after a second of standing."""
    found, stood = list[float](), 60
    for k, lies in enumerate(low):
        if lies and stood >= 30 and low[k : k + 30].all():
            found.append(float(when[k]))
        stood = 0 if lies else stood + 1
    return found


def _gap(when: np.ndarray, stands: dict[str, list[bool]], blows: list[Struck]) -> float:
    """Return the longest time without a fist that met the other, while both were up."""
    both = np.all([stands[who] for who in PEOPLE], axis=0)
    met = sorted(b.time for b in blows if b.part.endswith(STRIKING))
    longest = since = 0.0
    for time, ready in zip(when, both, strict=True):
        if not ready or any(time - EVERY < one <= time for one in met):
            since = float(time)
        longest = max(longest, float(time) - since)
    return longest


def told(bouts: list[Bout]) -> dict[str, Any]:
    """Return what came of all."""
    effects = [one for bout in bouts for one in bout.effects]
    downs = [one for bout in bouts for one in bout.downs]
    once = [b for bout in bouts for b in bout.blows if b.size >= 4.0 and _meant(b)]
    hard = [one for one in effects if one[0].region == "head" and one[0].size >= HARD]
    worth = [one[0].size / FELLING[one[0].region] for one in effects]
    tries = [t for bout in bouts for t, up in zip(bout.tries, bout.up, strict=True) if up and t]
    return {
        "landed": len(effects), "blows": len(once), "fists_on_target": sum(b.landed for b in once) / max(len(once), 1),
        "downs": len(downs), "after_a_fist": sum(_felled(blow) for *_, blow in downs),
        "matches_with_downs": sum(bool(bout.downs) for bout in bouts),
        "hard_head": len(hard), "hard_answered": sum(grade >= 2 for *_, grade in hard),
        "rank_grade": _rank(worth, [grade for *_, grade in effects]),
        "rank_tilt": _rank(worth, [tilt for _, tilt, _ in effects]),
        "gaps": [round(bout.gap, 1) for bout in bouts], "within_3_s": sum(bout.gap <= 3.0 for bout in bouts),
        "up": sum(all(bout.up) for bout in bouts), "up_at_once": f"{sum(t == 1 for t in tries)} of {len(tries)}",
        "start_cm": 100.0 * max(bout.starts for bout in bouts), "forces": float(np.mean([b.forces for b in bouts])),
    }  # fmt: skip


def _meant(blow: Struck) -> bool:
    """Whether a blow is told by its striker's side: the same touch is felt by both, and counts once."""
    if blow.region in ("head", "trunk"):
        return True
    return (
        not blow.part.startswith(("head", "neck", "thorax", "spine", "lumbar", "pelvis")) and blow.character < blow.by
    )


def _felled(blow: Struck | None) -> bool:
    return blow is not None and blow.size >= FELLING[blow.region]


def _after(blow: Struck | None) -> str:
    return "nothing" if blow is None else f"{blow.size:.0f} {blow.part}>{blow.body}"


def _rank(one: list[float], other: list[Any]) -> float:
    return float(spearmanr(one, other).statistic) if len(set(other)) > 1 else 0.0


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description="Box, and measure it.")
    parser.add_argument("count", type=int, nargs="?", default=20)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("seconds", type=float, nargs="?", default=20.0)
    parser.add_argument("--queue", action="store_true")
    parser.add_argument("--forces", action="store_true")
    parser.add_argument("--all", action="store_true", help="print every blow")
    args = parser.parse_args()
    bouts = []
    for seed in range(args.first, args.first + args.count):
        bouts.append(one := bout(seed, args.seconds, queue=args.queue, forces=args.forces))
        heard = sorted([f"{b.size:.0f} {b.part}>{b.body} {t:.0f}° {g}" for b, t, g in one.effects])
        down = [
            f"{t:.1f} {w} ({'nothing' if b is None else f'{b.size:.0f} {b.part}>{b.body}'})" for t, w, b in one.downs
        ]
        print(seed, heard, "down:", down, f"up {one.up} tries {one.tries} gap {one.gap:.1f} s", flush=True)
        for blow in one.blows if args.all else ():
            print(
                "   ",
                f"{blow.time:.2f} {blow.part}>{blow.character}/{blow.body} {blow.size:.1f} N·s {blow.seconds:.2f} s",
            )
    for name, value in told(bouts).items():
        print(f"{name}: {value if not isinstance(value, float) else round(value, 2)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
