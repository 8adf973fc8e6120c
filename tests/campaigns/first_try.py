"""First try: what becomes of clips at `stunt track FILE`, with no flag and no mapping file.

A first try counts if it ends as the clip ends, its heading within 15°, its mean error within 4°; or if the doctor had
refused it beforehand, with the reason: `stunt check` and `stunt track` refuse the same files, which is looked at too.

`python -m tests.campaigns.first_try FOLDER …` prints the table of any folder of clips; without a folder those of
`../shared`, of pybullet's wheel and of generated rigs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.captured import PYBULLET, SHARED

HEADING_DEG = 15.0
ERROR_DEG = 4.0


@dataclass(frozen=True)
class Try:
    """What became of one clip."""

    clip: str
    verdict: str  #: `followed`, `fell`, `turned`, `off`, `lost`, `refused`, `error`, `blew up`, `traceback`
    error_deg: float = float("nan")
    heading_deg: float = float("nan")
    seconds: float = 0.0
    cpu: float = 0.0
    why: str = ""

    @property
    def right(self) -> bool:
        """Whether it is as wanted, or was refused for a reason."""
        return self.verdict in ("followed", "refused")


def first_try(clip: str | Path, *more: str) -> Try:
    """Follow a clip as `stunt track CLIP` does; more arguments may be typed behind it."""
    from stunt.cli.track_command import add_track_arguments, rehearses, script_of
    from stunt.errors import BlowUpError, StuntError
    from stunt.library.names import find_clip
    from stunt.record.report import make_report
    from stunt.script.performance import Performance
    from stunt.search.manners import Rehearsed, rehearsed

    parser = argparse.ArgumentParser()
    add_track_arguments(parser)
    args = parser.parse_args([str(clip), *more])
    name, began = Path(clip).name, time.process_time()
    try:
        script = script_of(find_clip(args.clip, args.clips), args)
        rehearsal = rehearsed(script) if rehearses(args) else Rehearsed(script)
        take = Performance(rehearsal.script).run()
    except BlowUpError as error:
        return Try(name, "blew up", why=str(error))
    except StuntError as error:
        kind = "refused" if checked(args.clip) == str(error) else "error"
        return Try(name, kind, cpu=time.process_time() - began, why=str(error)[:160])
    except Exception:
        return Try(name, "traceback", why=traceback.format_exc().strip().splitlines()[-1][:160])
    about = make_report(take)["characters"]["double"]
    error, heading = about.get("error_deg_mean", float("nan")), about.get("heading_deg", float("nan"))
    verdict = "followed"
    if about["fell"]:
        verdict = "fell"
    elif about.get("state") == "lost" and not abs(heading) > HEADING_DEG:
        verdict = "lost"
    elif not abs(heading) <= HEADING_DEG:
        verdict = "turned"
    elif not error <= ERROR_DEG:
        verdict = "off"
    return Try(name, verdict, error, heading, take.seconds, time.process_time() - began, rehearsal.told)


def checked(clip: str) -> str:
    """Return why `stunt check CLIP` refuses a clip; nothing where it does not."""
    from stunt.errors import StuntError
    from stunt.library.doctor import examine
    from stunt.library.names import find_clip

    try:
        examine(find_clip(clip, ()))
    except StuntError as error:
        return str(error)
    return ""


def rigs(folder: Path, count: int = 40, seed: int = 7) -> list[Path]:
    """Write the package's clips on rigs nobody has seen: random names, units, up axes and rates; return the files."""
    import numpy as np

    from stunt.library.names import load_clip
    from stunt.motion.clips.clip_parts import Door
    from stunt.motion.clips.edit import resampled
    from stunt.motion.formats.bvh_writer import write_bvh
    from tests.campaigns.rigs import named

    rng, files = np.random.default_rng(seed), []
    names = ("walk", "idle", "punch", "kick", "walk_turn", "jab", "box_left", "walk_stop", "guard", "jump")
    for number in range(count):
        clip = load_clip(names[number % len(names)])
        clip = resampled(clip, float(rng.choice([12.0, 24.0, 30.0, 60.0, 120.0])))
        style, joints = named(dict(clip.parts), len(clip.skeleton), rng)
        up = np.eye(3) if rng.random() < 0.3 else np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        door = Door(format="bvh", scale=float(rng.choice([1.0, 0.01, 0.001, 0.0254])), axes=up)
        skeleton = replace(clip.skeleton, names=joints, channels=())
        path = folder / f"{number:02}_{clip.name}_{style}.bvh"
        files.append(write_bvh(replace(clip, skeleton=skeleton, door=door), path))
    return files


def sets() -> dict[str, list[Path]]:
    """Return the sets of clips there are here."""
    mocap = SHARED / "mocap"
    found = {
        "cmu": sorted((mocap / "cmu").glob("*.bvh")),
        "other": sorted((mocap / "other_skeletons").glob("*.bvh")) + sorted((mocap / "amc").glob("*.amc")),
        "deepmimic": [p for p in sorted((mocap / "deepmimic").glob("*.txt")) if p.stem != "humanoid3d_character"],
        "pybullet": sorted(PYBULLET.glob("*.txt")) + sorted(PYBULLET.glob("walker/*.txt")),
        "gltf": sorted((SHARED / "assets" / "gltf").glob("*.glb")),
    }
    return {name: files for name, files in found.items() if files}


def show(tries: Iterable[Try]) -> float:
    """Print a line for each as it comes, then the share that is right; return that."""
    done = []
    for one in tries:
        done.append(one)
        figures = f"{one.error_deg:6.2f}° {one.heading_deg:7.1f}° {one.seconds:6.1f} s {one.cpu:6.1f} s cpu"
        print(f"{one.clip:52.52} {one.verdict:10} {figures}  {one.why}", flush=True)
    share = sum(one.right for one in done) / max(len(done), 1)
    refused = sum(one.verdict == "refused" for one in done)
    print(f"{sum(one.right for one in done)} of {len(done)} right at the first try ({share:.0%}), {refused} refused")
    return share


def main(words: list[str]) -> int:
    """Print the tables of the sets, or of folders."""
    from stunt.motion.formats.registry import motion_files

    chosen = {
        word: motion_files(Path(word)) if Path(word).is_dir() else [Path(word)]
        for word in words
        if word not in (*sets(), "rigs")
    }
    chosen |= {name: files for name, files in sets().items() if name in words or not words}
    for name, files in chosen.items():
        print(f"== {name}")
        show(first_try(file) for file in files)
    if not words or "rigs" in words:
        print("== rigs")
        with tempfile.TemporaryDirectory() as folder:
            show(first_try(file) for file in rigs(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
