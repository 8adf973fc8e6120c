"""C3D files: the points of optical motion capture. Read by hand, every size checked against the file before it is used.

Blocks of 512 bytes: a header, parameters in groups (names, units, rates), then the frames: four numbers a point (place
and residual; a negative residual says it was not seen), then analog samples, as whole numbers or as floats, in the byte
order of the processor that wrote them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.motion.clips.raw import MAX_FRAMES, MAX_JOINTS, MAX_VALUES

_BLOCK: Final = 512
_KEY: Final = 0x50
_INTEL, _DEC, _SGI = 84, 85, 86
_SIZES: Final = {-1: 1, 1: 1, 2: 2, 4: 4}
_MOST_PARAMETERS: Final = 5000
_LONGEST_NAME: Final = 127


@dataclass(frozen=True, eq=False)
class C3dPoints:
    """What Stunt takes from a C3D file.

    Attributes:
        labels: Names of the points.
        unit: Of their places, as the file has it.
        hz: Frames per second.
        points: Places [file units], (frames, points, 3); NaN where a point was not seen.
    """

    labels: tuple[str, ...]
    unit: str
    hz: float
    points: NDArray[np.float64]


def read_points(data: bytes) -> C3dPoints:
    """Read the points of a C3D file.

    Args:
        data: The whole file.

    Raises:
        ValueError: It is none, is cut short, or contradicts itself; it says how.
    """
    if len(data) < _BLOCK or data[1] != _KEY:
        raise ValueError("it does not begin like one")
    start = (data[0] - 1) * _BLOCK
    if data[0] < 1 or start + 4 > len(data):
        raise ValueError("its parameters are beyond its end")
    bits = _Bits(data, data[start + 3])
    found = _parameters(bits, start)
    used = bits.unsigned(2)
    count = int(_number(found, "POINT", "USED", used)) if used == 0 else used
    analog, scale, first_block = bits.unsigned(4), bits.real(12), bits.unsigned(16)
    hz = _number(found, "POINT", "RATE", bits.real(20))
    frames = _frames(found, bits)
    if not 0 < count <= MAX_JOINTS or not 0 < frames <= MAX_FRAMES or frames * count * 4 > MAX_VALUES:
        raise ValueError(f"it announces {frames} frames of {count} points; up to {MAX_FRAMES} of {MAX_JOINTS} are read")
    if not (math.isfinite(scale) and scale != 0.0) or not (math.isfinite(hz) and hz > 0.0):
        raise ValueError(f"its scale is {scale:g} and its rate {hz:g} Hz")
    values = _values(bits, (first_block - 1) * _BLOCK, frames, 4 * count + analog, floats=scale < 0.0)
    points = values[:, : 4 * count].reshape(frames, count, 4)
    places = points[..., :3] * (1.0 if scale < 0.0 else scale)
    places[(points[..., 3] < 0.0) | ~np.isfinite(points).all(axis=2)] = np.nan
    units = found.get(("POINT", "UNITS"))
    unit = units[0] if isinstance(units, list) and units else "mm"
    return C3dPoints(_labels(found, count), unit, hz, places)


class _Bits:
    """The bytes of a file, and how its processor writes numbers."""

    def __init__(self, data: bytes, processor: int) -> None:
        if processor not in (_INTEL, _DEC, _SGI):
            raise ValueError(f"its processor type {processor} is none of 84, 85 and 86")
        self.data, self.dec = data, processor == _DEC
        self.order = ">" if processor == _SGI else "<"

    def unsigned(self, at: int) -> int:
        return int(struct.unpack_from(f"{self.order}H", self.data, at)[0])

    def real(self, at: int) -> float:
        return float(self.reals(self.data[at : at + 4])[0])

    def reals(self, data: bytes) -> NDArray[np.float64]:
        if not self.dec:
            return np.frombuffer(data, f"{self.order}f4").astype(float)
        # A DEC float has its halves exchanged, and an exponent larger by two.
        halves = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1]
        return np.ascontiguousarray(halves).view("<f4")[:, 0].astype(float) / 4.0

    def wholes(self, data: bytes) -> NDArray[np.float64]:
        return np.frombuffer(data, f"{self.order}i2").astype(float)


def _values(bits: _Bits, start: int, frames: int, width: int, *, floats: bool) -> NDArray[np.float64]:
    """Return the frames' numbers, (frames, width); a file that has fewer than it announces is refused."""
    size = 4 if floats else 2
    row = width * size
    present = max(len(bits.data) - start, 0) // row if start >= _BLOCK else 0
    if present < frames:
        raise ValueError(f"it announces {frames} frames and has {present}: it is cut short")
    data = bits.data[start : start + frames * row]
    with np.errstate(all="ignore"):  # what is no number is not seen
        return (bits.reals(data) if floats else bits.wholes(data)).reshape(frames, width)


def _frames(found: dict[tuple[str, str], Any], bits: _Bits) -> int:
    """Return how many frames there are; the header has 16 bits for that, so long recordings say it elsewhere."""
    ends = [found.get(("TRIAL", key)) for key in ("ACTUAL_START_FIELD", "ACTUAL_END_FIELD")]
    words = [end for end in ends if isinstance(end, np.ndarray) and len(end) == 2 and np.isfinite(end).all()]
    if len(words) == 2:
        first, last = (int(end[0]) % 65536 + 65536 * (int(end[1]) % 65536) for end in words)
        return last - first + 1
    frames = bits.unsigned(8) - bits.unsigned(6) + 1
    if bits.unsigned(8) == 65535:
        told = _number(found, "POINT", "FRAMES", frames)
        return int(told) % 65536 if told < 0 else int(told)
    return frames


def _number(found: dict[tuple[str, str], Any], group: str, name: str, default: float) -> float:
    value = found.get((group, name))
    number = float(value[0]) if isinstance(value, np.ndarray) and len(value) else float(default)
    return number if math.isfinite(number) else float(default)


def _labels(found: dict[tuple[str, str], Any], count: int) -> tuple[str, ...]:
    """Return the points' names; lists longer than 255 go on in LABELS2 and so on. Points without one are numbered."""
    names: list[str] = []
    for number in range(1, 2 + MAX_JOINTS // 255):
        more = found.get(("POINT", "LABELS" if number == 1 else f"LABELS{number}"))
        if not isinstance(more, list):
            break
        names += more
    return tuple(names[n] if n < len(names) and names[n] else f"point{n + 1}" for n in range(count))


def _parameters(bits: _Bits, start: int) -> dict[tuple[str, str], Any]:
    """Return the parameters by group and name: lists of texts, or arrays of numbers."""
    data = bits.data
    end = min(len(data), start + max(data[start + 2], 1) * _BLOCK)
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Any]] = []
    at = start + 4
    for _ in range(_MOST_PARAMETERS):
        if at + 2 > end or data[at] == 0:
            break
        length, number = abs(struct.unpack_from("b", data, at)[0]), struct.unpack_from("b", data, at + 1)[0]
        after = at + 2 + length
        if length > _LONGEST_NAME or after + 2 > end:
            raise ValueError("a parameter's name is beyond its end")
        name = _text(data[at + 2 : after]).upper()
        step = struct.unpack_from(f"{bits.order}h", data, after)[0]
        if step < 0 or (step and after + step > end):
            raise ValueError(f"the parameter after '{name}' is beyond its end")
        if number < 0:
            groups[-number] = name
        elif number > 0:
            found.append((number, name, _parameter(bits, after + 2, after + step if step else end, name)))
        if step == 0:
            break
        at = after + step
    return {(groups.get(number, ""), name): value for number, name, value in found}


def _parameter(bits: _Bits, at: int, end: int, name: str) -> Any:
    """Return a parameter's value: texts along the first of its dimensions, or numbers."""
    if at + 2 > end:
        raise ValueError(f"the parameter '{name}' is cut short")
    kind, dimensions = struct.unpack_from("b", bits.data, at)[0], bits.data[at + 1]
    sizes = list(bits.data[at + 2 : at + 2 + dimensions])
    if kind not in _SIZES or dimensions > 7 or len(sizes) < dimensions:
        raise ValueError(f"the parameter '{name}' is of no kind C3D has")
    count, begin = math.prod(sizes), at + 2 + dimensions
    if begin + count * _SIZES[kind] > end:
        raise ValueError(f"the parameter '{name}' is larger than its place")
    raw = bits.data[begin : begin + count * _SIZES[kind]]
    if kind == -1:
        width = sizes[0] if sizes else 1
        return [_text(raw[n : n + width]) for n in range(0, len(raw), width)] if width else []
    if kind == 4:
        return bits.reals(raw)
    return bits.wholes(raw) if kind == 2 else np.frombuffer(raw, "i1").astype(float)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").replace("\0", " ").strip()
