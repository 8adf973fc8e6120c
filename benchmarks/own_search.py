"""Which captured clips are done on own feet, live or searched: `python -m benchmarks.own_search CLIP… [--seed N]`.

One line per clip: live, searched, failed or refused; where the live run ended; mean error and worst moment against the
prepared motion, drift at the clip's end, how late it is, trials, and seconds of processor per second of the clip.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stunt.errors import StuntError
from stunt.search.own import BUDGET, search_own


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--body")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=BUDGET)
    parser.add_argument("--strength", type=float, default=1.5)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    print("clip | length s | how | live to s (error °) | error ° (worst) | drift cm | late s | trials | cpu s/s")
    for clip in args.clips:
        name = Path(clip).stem[:40]
        try:
            found = search_own(
                clip, args.body, strength=args.strength, seed=args.seed, budget=args.budget, workers=args.workers
            )
        except StuntError as error:
            print(f"{name} | – | refused | {error}", flush=True)
            continue
        row, live = found.row, found.live
        print(
            f"{name} | {found.length:.2f} | {found.how} | {live['reach']:.2f} ({live['error_deg']:.1f}) | "
            f"{row['error_deg']:.1f} ({row['worst_deg']:.0f}) | {100.0 * row['drift_m']:.0f} | {row['late_s']:.2f} | "
            f"{found.trials} | {found.cpu / found.length:.1f}" + ("" if found.done else f" | to {row['reach']:.2f} s"),
            flush=True,
        )


if __name__ == "__main__":
    main()
