"""Video: takes in front of a camera, side by side where there are several, with labels and the beat clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from stunt.errors import ExportError
from stunt.export.options import Options, Progress
from stunt.export.sampling import sample
from stunt.export.video_files import Gif, Mp4, Reel
from stunt.export.video_overlay import Overlay, beats_of
from stunt.export.video_shots import make_shot, pictures
from stunt.record.take import Take

MP4_FPS, GIF_FPS = 30.0, 25.0
_GAP = 4  # Between pictures side by side [px].
_PAGE = (255, 255, 255)


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write a video; the suffix of the file that `path` stands aside for says which kind."""
    if options.in_place or options.root_motion:
        raise ExportError("a video shows the stage as it was; to stay with the character use --camera follow.")
    is_gif = ".gif" in (suffix.lower() for suffix in path.suffixes)
    fps = options.fps or (GIF_FPS if is_gif else MP4_FPS)
    motions = [sample(take, options, fps) for take in takes]
    count = max(len(motion.times) for motion in motions)
    shots = [make_shot(take, motion, options) for take, motion in zip(takes, motions, strict=True)]
    span = (float(motions[0].times[0]), max(float(motion.times[-1]) for motion in motions))
    overlays = [
        Overlay(options.video.size, label, beats_of(take, options.character), span, options.video.clock)
        for take, label in zip(takes, _labels(takes, options), strict=True)
    ]
    width, height = options.video.size
    whole = (len(takes) * (width + _GAP) - _GAP, height)
    reel: Reel = Gif(path, fps) if is_gif else Mp4(path, whole, fps)
    with reel:
        streams = [pictures(shot, count, options) for shot in shots]
        for number, row in enumerate(zip(*streams, strict=True)):
            page = Image.new("RGB", whole, _PAGE)
            for place, (picture, overlay, motion) in enumerate(zip(row, overlays, motions, strict=True)):
                time = float(motion.times[min(number, len(motion.times) - 1)])
                page.paste(overlay.draw(picture, time), (place * (width + _GAP), 0))
            reel.add(page)
            progress((number + 1) / count)


def _labels(takes: Sequence[Take], options: Options) -> list[str]:
    """Return what is written over each take: what was asked for; of several takes at least their titles."""
    labels = options.video.labels
    if labels is not None:
        if len(labels) != len(takes):
            raise ExportError(f"{len(takes)} takes need {len(takes)} labels, but {len(labels)} were given.")
        return list(labels)
    titles = [str(take.meta.get("title") or f"take {number}") for number, take in enumerate(takes, start=1)]
    if len(takes) == 1:
        return [""]
    same = len(set(titles)) < len(titles)
    return [f"{number} · {title}" if same else title for number, title in enumerate(titles, start=1)]
