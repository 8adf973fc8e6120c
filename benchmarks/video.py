"""How long a video takes on a machine without OpenGL."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.result import Measurement
from stunt.examples import example
from stunt.export import Video, export
from stunt.record.raycast.render import core_count
from stunt.record.take import Take
from stunt.script.file import load_script
from stunt.script.performance import Performance

SECONDS, FPS, SIZE = 10.0, 30.0, (640, 480)


def measure(quick: bool) -> list[Measurement]:
    """Write a video of one character by the software ray-caster; `quick` measures a little of it."""
    length = 0.3 if quick else SECONDS
    script = replace(load_script(example("ymca").path), seconds=length)
    take = Performance(script, foretell=False).run()
    suffix = ".mp4" if _has_encoder() else ".gif"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"video{suffix}"
        _film(take, target, 0.1)  # compile and warm up
        wall, cpu = time.perf_counter(), time.process_time()
        _film(take, target, length)
        scale = SECONDS / length
        wall, cpu = scale * (time.perf_counter() - wall), scale * (time.process_time() - cpu)
    frames = f"{SECONDS:g} s, {FPS:g} fps, {SIZE[0]}×{SIZE[1]}, one character, {suffix}, no OpenGL"
    return [
        Measurement("video, processor time of two cores", cpu / 2.0, "s", 30.0, frames),
        # What neighbours on the machine take is not the video's: said, not judged.
        Measurement("video, on the wall", wall, "s", note=f"{core_count()} cores, of which it got {cpu / wall:.2g}"),
    ]


def _film(take: Take, target: Path, seconds: float) -> None:
    export(take, target, fps=FPS, end=seconds, video=Video(size=SIZE, renderer="software"))


def _has_encoder() -> bool:
    try:
        import av  # noqa: F401
    except ImportError:
        return False
    return True
