"""Arrays for analysis: one `.npz` with names and units inside, nothing pickled.

`time` [s]; every quantity as `OWNER/quantity`; what its columns are in `OWNER/quantity.of`; all units in the JSON text
`units`, all events in the JSON text `events`. A single character's file also reads as a clip.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stunt.export.contents import rig_of
from stunt.export.measures import measures
from stunt.export.options import Options, Progress, turns_out, vectors_out
from stunt.export.sampling import SampledTake, as_recorded
from stunt.record.take import Take


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write a take."""
    take = takes[0]
    motion = as_recorded(take, options)
    progress(0.3)
    arrays: dict[str, Any] = {"time": motion.times, "fps": np.array(motion.fps)}
    units: dict[str, Any] = {"time": "s", "fps": "1/s"}
    for measure in measures(take, motion, options):
        key = f"{measure.owner}/{measure.name}"
        arrays[key], arrays[f"{key}.of"] = measure.values, np.array(measure.of)
        same = len(set(measure.units)) == 1
        units[key] = measure.units[0] if same else list(measure.units)
    progress(0.7)
    arrays |= _as_clip(take, motion, options)
    arrays["units"], arrays["events"] = np.array(_text(units)), np.array(_text(_events(take, motion)))
    arrays["title"] = np.array(str(take.meta.get("title") or ""))
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _events(take: Take, motion: SampledTake) -> list[dict[str, Any]]:
    first, last = motion.times[0] - 1e-9, motion.times[-1] + 1.0 / motion.fps
    return [event for event in take.events if first <= float(event["time"]) <= last]


def _as_clip(take: Take, motion: SampledTake, options: Options) -> dict[str, Any]:
    """Return what Stunt's own clip files hold (docs/clips.md), where there is one character to take it from."""
    everyone = take.cast.names
    name = options.character or (everyone[0] if len(everyone) == 1 else None)
    if name is None:
        return {}
    rig = rig_of(take, motion, name, options)
    _, turns = rig.local()
    return {
        "names": np.array(rig.names),
        "parents": np.array(rig.parents),
        "offsets": vectors_out(rig.offsets(), options.up),
        "root": vectors_out(rig.positions[:, 0], options.up),
        "rotations": turns_out(turns, options.up),
        "up": np.array(options.up or "z"),
        "scale": np.array(1.0),
    }
