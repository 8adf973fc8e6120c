"""Moving pictures into files: H.264 in an .mp4 by PyAV, animated .gif by Pillow."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from PIL import Image

from stunt.errors import ExportError

_QUALITY = "19"  # H.264's constant rate factor: hardly to be told from the original.
_PALETTE = 255
_CENTISECOND = 0.01


class Reel(Protocol):
    """Where pictures go, one after another."""

    def add(self, picture: Image.Image) -> None:
        """Take the next picture."""

    def __enter__(self) -> Reel:
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
