"""Makes the table of ranges that `stunt review` holds performances against, from captured clips.

    python tools/make_ranges.py ../shared/mocap/cmu --gait ../shared/design/gait

Every capture is measured as a clip on the body of its own skeleton, and followed once as `stunt track` follows it, for
the figures that are about forces. A range reaches as far as the captures do. The two oddest captures are left
out, for recordings have faults of their own (`oddness`). Figures that fewer than three captures
have are told below, with the reason, wide enough for what those captures do. Averages of many more subjects' strides,
where they are given, widen the ranges of walking to what one spread around them is.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import stunt
from stunt.cli.parser import parse
from stunt.cli.track_command import script_of
from stunt.library.names import load_clip
from stunt.review.figures import FIGURES, PAIRS, measure
from stunt.review.filmed import take_of_clip
from stunt.review.measures.footage import Footage
from stunt.review.measures.forces import used
from stunt.review.ranges import TABLE

LEFT_OUT = 2
HARDEST = 2.0
FEW, MANY = 3, 10  # captures a range, and a judgement which of them are odd, need
FORCES = ("support", "help_force", "help_torque", "strength_used")
TOLD = {
    "support": (0.95, 1.05, "captures, followed: 0.98 to 1.03, from contacts noted 60 times a second"),
    "reaction_s": (None, 0.4, "half as long again as the one captured fall (0.27 s)"),
    "head_speed": (None, 3.0, "half of what a body has that falls like a plank; the captured fall: 0.5 m/s"),
    "head_first": (None, 0.0, "the captured fall lands on a hand"),
    "fall_bend": (18.0, None, "the captured fall gives by 19°"),
}
OUT = Path(stunt.__file__).parent / "review" / TABLE


WALKS = ("slow_walk", "walk")
STRIDES = {  # figure: column of the averages, sign, whether its largest or its smallest value is meant
    "knee_most": ("knee_deg", 1.0, max), "thigh_back": ("thigh_deg", -1.0, min),
    "thigh_front": ("thigh_deg", 1.0, max),
}  # fmt: skip


def averages(folder: Path) -> dict[str, list[float]]:
    """Return what walkers one spread to either side of the average do, by figure."""
    found: dict[str, list[float]] = {name: [] for name in STRIDES}
    for walk in WALKS:
        with open(folder / f"{walk}.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for name, (column, sign, pick) in STRIDES.items():
            value, spread = pick((float(row[column]), float(row[f"{column}_sd"])) for row in rows)
            found[name] += [sign * value - spread, sign * value + spread]
    return found


def figures_of(path: Path) -> dict[str, float]:
    """Measure a capture as a clip, and the forces of following it."""
    footage = Footage.of(take_of_clip(load_clip(path)))
    found = {one.figure: one.value for one in measure(footage, footage.people[0])}
    followed = Footage.of(stunt.perform(script_of(path, parse(["track", str(path)]))))
    found |= {one.figure: one.value for one in measure(followed, followed.people[0]) if one.figure in FORCES}
    if "strength_used" in found:
        found["strength_used"] = max(found["strength_used"], *hardest(followed))
    return found


def hardest(followed: Footage) -> Iterator[float]:
    """Yield what strength is used in each `HARDEST` seconds: a take may be of nothing but a fall or a wheel."""
    yield 0.0
    for start in np.arange(0.0, followed.time[-1] - HARDEST, 0.25):
        part = followed.between(start, start + HARDEST)
        yield from (value for name, value, *_ in used(part, part.people[0]) if name == "strength_used")


def oddness(name: str, rows: dict[str, dict[str, float]]) -> float:
    """Return how odd a capture is: over its figures, by how many times the spread it is off the middle, in logarithms.

    The spread is that of the middle half of the captures, and only what is further off than three times as much, on
    the side on which too much (or too little) is unbelievable, counts: Tukey's far outliers.
    """
    total = 0.0
    for figure, about in FIGURES.items():
        values = sorted(row[figure] for row in rows.values() if figure in row)
        if figure not in rows[name] or figure in TOLD or len(values) < MANY:
            continue
        low, middle, high = (values[round(share * (len(values) - 1))] for share in (0.25, 0.5, 0.75))
        off = rows[name][figure] - middle
        judged = about.high if off > 0.0 else about.low
        times = abs(off) / max(high - low, 1e-9)
        total += math.log(times / 3.0) if judged and times > 3.0 else 0.0
    return total


def make(rows: dict[str, dict[str, float]], strides: dict[str, list[float]]) -> dict[str, Any]:
    """Make the table from the captures' figures."""
    left = sorted(rows, key=lambda name: oddness(name, rows))[-LEFT_OUT:]
    kept = {name: row for name, row in rows.items() if name not in left}
    table: dict[str, dict[str, Any]] = {}
    for name, about in FIGURES.items():
        owners = {capture: row[name] for capture, row in kept.items() if name in row}
        if name in TOLD:
            low, high, why = TOLD[name]
            table[name] = {"low": low, "high": high, "captures": len(owners), "source": f"told: {why}"}
        elif len(owners) >= FEW and name not in PAIRS:
            least, most = min(owners, key=lambda key: owners[key]), max(owners, key=lambda key: owners[key])
            table[name] = {
                "low": rounded(owners[least], down=True) if about.low else None,
                "high": rounded(owners[most], down=False) if about.high else None,
                "captures": len(owners),
                "source": " to ".join([least] * about.low + [most] * about.high),
            }
        if name in strides and name in table:
            table[name]["low"] = rounded(min(table[name]["low"], *strides[name]), down=True)
            table[name]["high"] = rounded(max(table[name]["high"], *strides[name]), down=False)
            table[name]["source"] += ", and one spread around averages of walkers"
    return {"made_by": "tools/make_ranges.py", "captures": sorted(rows), "left_out": sorted(left), "ranges": table}


def rounded(value: float, *, down: bool) -> float:
    """Round away from the middle, to three digits."""
    if value == 0.0:
        return 0.0
    digits = 2 - math.floor(math.log10(abs(value)))
    scale = 10.0**digits
    return (math.floor(value * scale) if down else math.ceil(value * scale)) / scale


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder of captures (.bvh)")
    parser.add_argument("--gait", type=Path, help="a folder of averages over strides (slow_walk.csv, walk.csv)")
    parser.add_argument("--json", type=Path, help="keep each capture's figures in this file, or take them from it")
    args = parser.parse_args()
    if args.json and args.json.is_file():
        rows = json.loads(args.json.read_text(encoding="utf-8"))
    else:
        rows = {path.stem: figures_of(path) for path in sorted(args.folder.glob("*.bvh"))}
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    table = make(rows, averages(args.gait) if args.gait else {})
    OUT.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{OUT}: left out {', '.join(table['left_out'])}")


if __name__ == "__main__":
    main()
