"""Video: takes in front of a camera, side by side where there are several, with labels and the beat clock.

Moving pictures into files: H.264 in an .mp4 by PyAV, animated .gif by Pillow.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from PIL import Image

from stunt.errors import ExportError
from stunt.export.formats.video_shots import Overlay, beats_of, make_shot, pictures
from stunt.export.options import Options, Progress
from stunt.export.sampling import sample
from stunt.record.take import Take

_QUALITY = "19"  # H.264's constant rate factor: hardly to be told from the original.
_PALETTE = 255
_CENTISECOND = 0.01


class VideoReel(Protocol):
    """Where pictures go, one after another."""

    def add(self, picture: Image.Image) -> None:
        """Take the next picture."""

    def __enter__(self) -> VideoReel:
        """Open."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Finish the file."""


class Mp4:
    """An .mp4 file."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        import av

        self._container: Any = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        rate = Fraction(fps).limit_denominator(1001)
        self._stream: Any = self._container.add_stream(_encoder(av), rate=rate)
        self._stream.width, self._stream.height = size[0] + size[0] % 2, size[1] + size[1] % 2
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": _QUALITY, "preset": "veryfast"}

    def add(self, picture: Image.Image) -> None:
        """Encode a picture; an odd row or column is doubled, since the format wants even ones."""
        import av

        pixels = np.asarray(picture.convert("RGB"))
        spare = ((0, pixels.shape[0] % 2), (0, pixels.shape[1] % 2), (0, 0))
        frame = av.VideoFrame.from_ndarray(np.pad(pixels, spare, mode="edge"), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> Mp4:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self._container.mux(self._stream.encode())
        self._container.close()


def _encoder(av: Any) -> str:
    for name in ("libx264", "libopenh264", "h264", "mpeg4"):
        if name in av.codecs_available:
            return str(name)
    raise ExportError("this build of PyAV has no encoder for .mp4; write a .gif, or reinstall: pip install -U av.")


class Gif:
    """An animated .gif; all pictures share the colours of the first, so that nothing flickers."""

    def __init__(self, path: Path, fps: float) -> None:
        self._path, self._fps = path, fps
        self._palette: Image.Image | None = None
        self._pictures: list[Image.Image] = []

    def add(self, picture: Image.Image) -> None:
        """Keep a picture."""
        if self._palette is None:
            self._palette = picture.convert("RGB").quantize(_PALETTE, Image.Quantize.MEDIANCUT)
        shade = Image.Dither.NONE  # dithering would crawl over still backgrounds
        self._pictures.append(picture.convert("RGB").quantize(palette=self._palette, dither=shade))

    def __enter__(self) -> Gif:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None or not self._pictures:
            return
        # The format counts in hundredths of a second: durations differ by one so that none is lost on the way.
        marks = np.round(np.arange(len(self._pictures) + 1) / self._fps / _CENTISECOND).astype(int)
        first, *others = self._pictures
        first.save(
            self._path, format="GIF", save_all=True, append_images=others, loop=0, disposal=1,
            duration=(10 * np.maximum(np.diff(marks), 2)).tolist(),
        )  # fmt: skip


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
    reel: VideoReel = Gif(path, fps) if is_gif else Mp4(path, whole, fps)
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
