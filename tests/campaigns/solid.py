"""Solid: how deep a body is in itself, over all pairs of parts that are not joined, left-out ones too, beyond rest.

`python -m tests.campaigns.solid [CLIP …]` follows clips (without any: the captures) as `stunt track` does, with
self-collision and without, and prints for each the clip's own depth, the bodies' depths, mean errors, and who fell.
`python -m tests.campaigns.solid --scenes [NAME …]` performs scenes of the package and prints the depth of everybody.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from stunt.record.take import Take
from stunt.review.measures.depths import Depth, overlaps
from stunt.review.measures.footage import Footage
from tests.captured import SHARED

SECONDS = 12.0


@dataclass(frozen=True)
class Followed:
    """What became of a clip."""

    depth: Depth
    error_deg: float
    ended: bool
    clip_cm: float  #: How deep the clip was, beyond what flesh gives, as the report says [cm]


def script(clip: str | Path, solid: bool, *more: str) -> Any:
    """Return the script of `stunt track CLIP`, with self-collision or without."""
    from stunt.cli.track_command import add_track_arguments, script_of
    from stunt.library.names import find_clip

    parser = argparse.ArgumentParser()
    add_track_arguments(parser)
    args = parser.parse_args([str(clip), *more])
    made = script_of(find_clip(args.clip, args.clips), args)
    who = {name: replace(one, self_collision=solid) for name, one in made.scene.characters.items()}
    return replace(made, scene=replace(made.scene, characters=who), seconds=SECONDS)


def followed(clip: str | Path, solid: bool, *more: str) -> Followed:
    """Follow a clip."""
    from stunt.record.report import make_report
    from stunt.script.performance import Performance

    performance = Performance(script(clip, solid, *more))
    performance.script = replace(performance.script, seconds=min(SECONDS, performance.seconds))
    take = performance.run()
    about = make_report(take)["characters"]["double"]
    clip_cm = max((motion["overlap_cm"] for motion in about.get("prepared", {}).values()), default=np.nan)
    return Followed(itself(take)[0], about.get("error_deg_mean", np.nan), not about["fell"], clip_cm)


def itself(take: Take) -> list[Depth]:
    """Return how deep everybody in a take is in itself."""
    footage = Footage.of(take)
    return [max(overlaps(footage, person), key=lambda depth: depth.depth) for person in footage.people]


def told(depth: Depth) -> str:
    """Say it in words."""
    return f"{100 * depth.depth:5.1f} cm {depth.between:26.26} {depth.time or 0.0:5.2f} s"


def clips(names: Sequence[str]) -> None:
    """Print a line for each clip."""
    from stunt.library.names import load_clip
    from stunt.review import take_of_clip

    for name in names:
        words = [f"{Path(name).stem:30.30} clip {told(itself(take_of_clip(load_clip(name)))[0])}"]
        for solid in (False, True):
            one = followed(name, solid)
            words.append(
                f"{'on ' if solid else 'off'} {one.error_deg:5.2f}° {told(one.depth)} {'    ' if one.ended else 'FELL'}"
            )
        print(" | ".join(words), f"| told {one.clip_cm:.1f} cm", flush=True)


def scenes(names: Sequence[str]) -> None:
    """Print a line for each scene."""
    from stunt.examples import example
    from stunt.script.file import load_script
    from stunt.script.performance import Performance

    for name in names:
        performance = Performance(load_script(example(name).path))
        take = performance.run()
        for person, depth in zip(take.cast.characters, itself(take), strict=True):
            print(f"{name:22.22} {person:12.12} {told(depth)}", flush=True)


def main() -> None:
    """Look at what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--scenes", action="store_true")
    args = parser.parse_args()
    if args.scenes:
        scenes(args.names)
        return
    clips(args.names or [str(path) for path in sorted((SHARED / "mocap" / "cmu").glob("*.bvh"))])


if __name__ == "__main__":
    main()
