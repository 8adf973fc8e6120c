"""BVH: the motion of one character."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stunt.export.as_clip import clip_to_write
from stunt.export.options import Options, Progress
from stunt.motion.formats.bvh_writer import bvh_text
from stunt.record.take import Take


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write the one character the options name."""
    clip = clip_to_write(takes[0], options)
    progress(0.5)
    path.write_text(bvh_text(clip), encoding="utf-8", newline="\n")
