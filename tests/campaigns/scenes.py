"""Random scenes, half of them extreme: each plays, is refused, blows up with body and time, or warns of what happened.

python -m tests.campaigns.scenes [--count N] [--seed S]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

import numpy as np

from stunt.control.loop.guard import DEEP
from stunt.errors import BlowUpError, StuntError
from stunt.script.file import script_from_data
from stunt.script.performance import Performance

SHAPES = ("sphere", "box", "capsule", "cylinder")


def scene(rng: np.random.Generator, extreme: bool) -> dict[str, Any]:
    """Return a random script."""

    def wide(low: float, high: float) -> float:
        return float(10 ** rng.uniform(np.log10(low), np.log10(high)))

    props = {}
    for number in range(int(rng.integers(1, 5))):
        shape = str(rng.choice(SHAPES))
        size = wide(0.001, 2.0) if extreme else wide(0.05, 0.5)
        prop: dict[str, Any] = {"shape": shape, "at": [*rng.uniform(-2, 2, 2).tolist(), float(rng.uniform(size, 4.0))]}
        if rng.random() < 0.85:
            prop["mass"] = wide(1e-3, 1e9) if extreme else wide(0.1, 50)
            speed = wide(0.1, 900) if extreme else wide(0.1, 10)
            prop["velocity"] = (speed * rng.standard_normal(3) / 1.7).tolist()
            prop["spin"] = (rng.standard_normal(3) * (100 if extreme else 3)).tolist()
        if shape == "box":
            prop["size"] = [size, size * float(rng.uniform(0.3, 3)), size]
        else:
            prop["radius"] = size
        if shape in ("capsule", "cylinder"):
            prop["length"] = 2 * size
        props[f"thing{number}"] = prop
    data: dict[str, Any] = {"seconds": 1.0, "props": props, "seed": int(rng.integers(1000))}
    data["rate"] = int(rng.choice([60, 120, 240, 480]))
    if extreme:
        data["gravity"] = [0, 0, -wide(0.1, 1000)]
        if rng.random() < 0.3:
            data["collisions"] = {"model": "two_stage"}
    if rng.random() < 0.5:
        data["characters"] = {"ada": {"body": "torso28", "root": str(rng.choice(["fixed", "free"]))}}
        if rng.random() < 0.5:
            size = wide(1, 1e5) if extreme else wide(1, 80)
            push = {"push": "ada/thorax", "at": 0.3, "impulse": (size * rng.standard_normal(3)).tolist()}
            data["events"] = [push]
    return data


def judge(data: dict[str, Any]) -> tuple[str, str]:
    """Play a script; return what came of it, and what is wrong with that."""
    try:
        performance = Performance(script_from_data(data), foretell=False)
    except StuntError:
        return "refused", ""
    try:
        take = performance.run()
    except BlowUpError as error:
        take = performance.take()
        if not np.isfinite(take.qpos).all() or not error.body or not performance.black_box().time.size:
            return "blew up", "a blow-up without a body, or with broken frames before it"
        return "blew up", ""
    if not np.isfinite(take.qpos).all() or not np.isfinite(take.qvel).all():
        return "played", "broken numbers in a take"
    told = " ".join(take.meta["warnings"])
    under = [prop.body for prop in take.cast.props.values()]
    stage = performance.stage
    deepest = 0.0
    for body in under:
        address = int(stage.model.body_jntadr[body])
        if address >= 0:
            deepest = min(deepest, float(take.qpos[:, stage.model.jnt_qposadr[address] + 2].min()))
    if deepest < -1.2 * DEEP and "below the ground" not in told:
        return "played", f"a body {-deepest:.2f} m under the ground, and no word of it"
    return (
        "warned" if "below the ground" in told or "came from nowhere" in told or "deep in" in told else "played"
    ), ""


def main() -> int:
    """Run the campaign; return how many finds there were."""
    parser = argparse.ArgumentParser(description="Play random scenes.")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    tally: Counter[str] = Counter()
    finds = []
    for number in range(args.count):
        rng = np.random.default_rng([args.seed, number])
        try:
            came, wrong = judge(scene(rng, number % 2 == 1))
        except Exception as error:
            came, wrong = "raised", f"{type(error).__name__}: {error}"
        tally[came] += 1
        if wrong:
            finds.append(f"scene {number}: {wrong}")
    print(f"{args.count} scenes: {dict(tally)}, {len(finds)} finds")
    for find in finds:
        print(find)
    return min(len(finds), 100)


if __name__ == "__main__":
    sys.exit(main())
