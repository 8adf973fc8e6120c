"""`make soak`: a long performance with hits: memory and time per step stay flat, and the bits the same.

    python -m tests.campaigns.soak [--seconds S] [--seed S]

A body follows a clip and is pushed every seven seconds of simulated time; nothing is recorded.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import stunt

PARTS = 10
PUSH_EVERY = 7.0


def memory() -> float:
    """Return how much memory this process has now [MB]."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024.0
    return 0.0


def main() -> int:
    """Run; return how many measures were not flat."""
    parser = argparse.ArgumentParser(description="Perform for long.")
    parser.add_argument("--seconds", type=float, default=300.0, help="simulated time [s]")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    stage = stunt.Stage({"ada": stunt.Body("idle", root="free", strength=1.5)}, hz=120, record=False, seed=args.seed)
    stage.actor("ada").follow("idle")
    stage.step(5.0)  # everything is compiled
    part, due, rows = args.seconds / PARTS, stage.time + PUSH_EVERY, []
    for _ in range(PARTS):
        began, end = time.process_time(), stage.time + part
        while stage.time < end - 1e-9:
            if stage.time >= due - 1e-9:
                angle = float(rng.uniform(0, 2 * np.pi))
                stage.push("ada/thorax", impulse=(16 * np.cos(angle), 16 * np.sin(angle), 0.0), duration=0.1)
                due += PUSH_EVERY
            stage.step(max(min(end, due) - stage.time, stage.step_time))
        rows.append((stage.time, memory(), (time.process_time() - began) / part))
        print(f"{rows[-1][0]:9.0f} s simulated: {rows[-1][1]:7.1f} MB, {1e3 * rows[-1][2]:6.2f} ms of CPU per second")
    grown = rows[-1][1] - rows[1][1]
    slower = np.median([row[2] for row in rows[-3:]]) / np.median([row[2] for row in rows[1:4]])
    print(f"memory grew by {grown:.1f} MB after the first fifth; the last steps cost {slower:.2f} of the first")
    return int(grown > 5.0 + 0.005 * rows[1][1]) + int(slower > 1.5)


if __name__ == "__main__":
    sys.exit(main())
