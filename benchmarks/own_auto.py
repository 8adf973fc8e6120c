"""Whether `assist: auto` takes own feet where they hold: `python -m benchmarks.own_auto CLIP… [--seeds N --first S]`.

For each clip: what `auto` says of it beforehand, and how often the body really did it from starts that rehearsals did
not have. Below the table: of the clips that it did in nine tenths of the starts, how many `auto` gives to own feet, and
of all runs of those that `auto` gives to them, how many fell.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from benchmarks.own_feet import on_stage, run_once
from stunt.errors import StuntError
from stunt.library.names import find_clip

HOLDS: Final = 0.9
"""Share of the starts that a clip has to be done in to be one that own feet survive."""


def main() -> None:
    """Print the table and what comes of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--body")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--strength", type=float, default=1.5)
    args = parser.parse_args()
    held, taken, both, runs, fell = 0, 0, 0, 0, 0
    print("clip | done | auto")
    for name in args.clips:
        path = str(find_clip(name, []))
        try:
            _, actor, motion = on_stage(path, args.body, args.strength, "own")
        except StuntError as error:
            print(f"{Path(path).stem[:34]} | – | refused: {error}", flush=True)
            continue
        why = actor.motions.doubt_about(motion)
        seeds = range(args.first, args.first + args.seeds)
        done = sum(run_once(path, args.body, s, strength=args.strength, clock="free").done for s in seeds)
        holds = done >= HOLDS * args.seeds
        held, taken, both = held + holds, taken + (not why), both + (holds and not why)
        runs, fell = runs + (0 if why else args.seeds), fell + (0 if why else args.seeds - done)
        print(f"{Path(path).stem[:34]} | {done}/{args.seeds} | {why or 'own'}", flush=True)
    print(f"of {held} that own feet survive, auto gives them {both}")
    print(f"of {runs} runs of the {taken} that auto gives them {fell} fell")


if __name__ == "__main__":
    main()
