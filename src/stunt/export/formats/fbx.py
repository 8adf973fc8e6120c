"""FBX: the motion of one character, on the skeletons that BVH files are written on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stunt.export.as_clip import clip_to_write
from stunt.export.options import Options, Progress
from stunt.motion.formats.fbx_writer import fbx_bytes
from stunt.record.take import Take


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write the one character the options name."""
    clip = clip_to_write(takes[0], options)
    progress(0.5)
    path.write_bytes(fbx_bytes(clip))
