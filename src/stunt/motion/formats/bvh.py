"""BVH files: any hierarchy, any channel order.

A joint's rotation channels turn about its moving axes in the order written. Position channels say where a joint is in
its parent's frame; on inner joints files differ on whether that includes the joint's OFFSET, and the reader tells by
which of the two keeps the bone nearer to its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats
from stunt.motion.clips.euler import from_euler
from stunt.motion.clips.raw import (
    MAX_JOINTS,
    ClipFileError,
    ClipFormat,
    RawClip,
    as_numbers,
    check_size,
    read_lines,
    snapped,
)

UNKNOWN_FPS = 30.0
"""Frame rate of a file whose frame time is none."""
CHANNELS = {f"{axis}{kind}".lower(): f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ"}


@dataclass
class _Parsed:
    """A hierarchy as it is read."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[Floats | None] = field(default_factory=list)
    channels: list[tuple[str, ...]] = field(default_factory=list)
    tips: list[tuple[int, Floats, str]] = field(default_factory=list)


class _Lines:
    """The words of a file line by line; knows where it is."""

    def __init__(self, path: str | Path) -> None:
        self.file = str(path)
        self.number = 0
        self._lines = read_lines(path)

    def __iter__(self) -> Iterator[list[str]]:
        for number, words in self._lines:
            self.number = number
            yield words

    @property
    def place(self) -> Place:
        """Where the last line stands."""
        return Place(self.file, self.number)

    def wrong(self, message: str) -> ClipFileError:
        """Make an error about the last line."""
        return ClipFileError(message, self.place)


def read_bvh(path: str | Path) -> RawClip:
    """Read a BVH file.

    Raises:
        ClipFileError: It is no BVH file or a broken one; with the line.
    """
    lines = _Lines(path)
    parsed = _read_hierarchy(lines)
    fps, values, wrong = _read_motion(lines, sum(map(len, parsed.channels)))
    return _assemble(str(path), parsed, fps, values, wrong)


# ---- hierarchy


def _read_hierarchy(lines: _Lines) -> _Parsed:
    parsed, stack, tip = _Parsed(), [-1], False
    opening: list[int] = []  # what the next `{` opens: a joint's index, or −2 for an end site
    started = False
    for words in _statements(lines):
        word = words[0].upper()
        if not started:
            if word != "HIERARCHY":
                raise lines.wrong(f"a BVH file starts with HIERARCHY, but this one with '{words[0][:40]}'.")
            started = True
        elif word == "MOTION":
            _check_end(lines, parsed, stack, opening)
            return parsed
        elif opening and word != "{":
            raise lines.wrong(f"'{{' is missing before '{words[0][:40]}'.")
        elif word in ("ROOT", "JOINT"):
            opening.append(_begin_joint(lines, parsed, stack[-1], words, tip))
        elif word == "END":
            opening.append(_begin_tip(lines, parsed, stack[-1], words, tip))
            tip = True
        elif word == "{":
            if not opening:
                raise lines.wrong("'{' without a ROOT, JOINT or End Site before it.")
            stack.append(opening.pop())
        elif word == "}":
            tip = _close(lines, parsed, stack, tip)
        elif word == "OFFSET":
            _read_offset(lines, parsed, stack[-1], words)
        elif word == "CHANNELS":
            _read_channels(lines, parsed, stack[-1], words)
        else:
            raise lines.wrong(f"'{words[0][:40]}' is not understood; expected ROOT, JOINT, End Site, OFFSET, CHANNELS.")
    raise lines.wrong("the file ends inside the hierarchy: MOTION is missing." if started else "the file is empty.")


def _statements(lines: _Lines) -> Iterator[list[str]]:
    """Words line by line, with braces on their own: some writers put them behind the name."""
    for words in lines:
        while words:
            if words[0] in "{}":
                yield [words[0]]
                words = words[1:]
                continue
            cut = next((n for n, word in enumerate(words) if word in ("{", "}")), len(words))
            yield words[:cut]
            words = words[cut:]


def _begin_joint(lines: _Lines, parsed: _Parsed, parent: int, words: list[str], in_tip: bool) -> int:
    name = " ".join(words[1:])
    if in_tip:
        raise lines.wrong("a joint inside an End Site.")
    if not name:
        raise lines.wrong(f"{words[0]} needs a name.")
    if (parent < 0) == bool(parsed.names):
        raise lines.wrong(f"joint '{name[:40]}' is outside the skeleton: a clip has one ROOT and all JOINTs in it.")
    if name in parsed.names:
        raise lines.wrong(f"two joints are called '{name[:40]}'.")
    if len(parsed.names) >= MAX_JOINTS:
        raise lines.wrong(f"more than {MAX_JOINTS} joints.")
    parsed.names.append(name)
    parsed.parents.append(parent)
    parsed.offsets.append(None)
    parsed.channels.append(())
    return len(parsed.names) - 1


def _begin_tip(lines: _Lines, parsed: _Parsed, parent: int, words: list[str], in_tip: bool) -> int:
    if parent < 0 or in_tip:
        raise lines.wrong("End Site outside a joint.")
    parsed.tips.append((parent, np.full(3, np.nan), " ".join(words[2:])))
    return -2


def _close(lines: _Lines, parsed: _Parsed, stack: list[int], in_tip: bool) -> bool:
    if len(stack) == 1:
        raise lines.wrong("'}' without its '{'.")
    inner = stack.pop()
    missing = np.isnan(parsed.tips[-1][1]).any() if inner == -2 else parsed.offsets[inner] is None
    if missing:
        raise lines.wrong(f"{'End Site' if inner == -2 else parsed.names[inner][:40]} has no OFFSET.")
    return False if inner == -2 else in_tip


def _read_offset(lines: _Lines, parsed: _Parsed, owner: int, words: list[str]) -> None:
    if owner == -1 or len(words) != 4:
        raise lines.wrong("OFFSET takes three numbers inside a joint or End Site.")
    values = as_numbers(words[1:], "OFFSET", lines.place)
    if owner == -2:
        parent, _, name = parsed.tips[-1]
        parsed.tips[-1] = (parent, values, name)
    else:
        parsed.offsets[owner] = values


def _read_channels(lines: _Lines, parsed: _Parsed, owner: int, words: list[str]) -> None:
    if owner < 0:
        raise lines.wrong("CHANNELS belong into a joint.")
    names = words[2:]
    if len(words) < 2 or not words[1].isdigit() or int(words[1][:9]) != len(names):
        raise lines.wrong(f"CHANNELS names {len(names)} channels, but says '{' '.join(words[1:2])[:20]}'.")
    known = []
    for name in names:
        if name.lower() not in CHANNELS:
            raise lines.wrong(f"unknown channel '{name[:40]}'. Available: {', '.join(CHANNELS.values())}.")
        known.append(CHANNELS[name.lower()])
    if sum("position" in name for name in known) != len({name for name in known if "position" in name}):
        raise lines.wrong("a position channel twice.")
    if sum("rotation" in name for name in known) > 3:
        raise lines.wrong("more than three rotation channels.")
    turns = [name for name in known if "rotation" in name]
    if any(one == other for one, other in zip(turns, turns[1:], strict=False)):
        raise lines.wrong("the same rotation channel twice in a row.")
    if parsed.channels[owner]:
        raise lines.wrong("CHANNELS twice in one joint.")
    parsed.channels[owner] = tuple(known)


def _check_end(lines: _Lines, parsed: _Parsed, stack: list[int], opening: list[int]) -> None:
    if len(stack) > 1 or opening:
        raise lines.wrong(f"{max(len(stack) - 1, 1)} brackets are not closed before MOTION.")
    if not parsed.names:
        raise lines.wrong("the hierarchy has no ROOT.")


# ---- motion


def _read_motion(lines: _Lines, width: int) -> tuple[float, Floats, dict[str, str]]:
    """Return frames per second, the frames there are, and what is wrong with how they are written down."""
    frames, seconds, wrong = _read_head(lines)
    if width == 0:
        raise lines.wrong("the skeleton has no channels, so nothing moves.")
    rows: list[Floats] = []
    waiting: list[Floats] = []  # what is there of a frame that goes over several lines
    for words in lines:
        check_size(len(rows) + 1, width, lines.place)
        row = as_numbers(words, f"frame {len(rows)}", lines.place)
        if not waiting and len(row) == width:
            rows.append(row)
            continue
        waiting.append(row)
        have = sum(map(len, waiting))
        if len(row) == width or have > width:
            bad = len(waiting[0])
            raise lines.wrong(f"frame {len(rows)} has {bad} values, but the skeleton has {width} channels.")
        if have == width:
            rows.append(np.concatenate(waiting))
            waiting = []
    if not rows:
        raise lines.wrong(f"the file ends before the first of its {frames} frames.")
    return snapped(1.0 / seconds), np.array(rows), wrong | _miscounted(frames, len(rows), bool(waiting))


def _miscounted(frames: int, found: int, torn: bool) -> dict[str, str]:
    """Say that a file has other frames than it announces; those that are there are used."""
    if found == frames and not torn:
        return {}
    half = ", and the beginning of one more" if torn else ""
    return {"frames": f"the file announces {frames} and has {found}{half}; what is there is used"}


def _read_head(lines: _Lines) -> tuple[int, float, dict[str, str]]:
    """Return how many frames are announced, how long one lasts [s], and what is wrong with that."""
    frames: int | None = None
    for words in lines:
        text = " ".join(words)
        key, _, value = text.partition(":")
        key = key.strip().lower()
        if key == "frames" and frames is None:
            if not value.strip().isdigit():
                raise lines.wrong(f"'Frames:' needs a count, not '{value.strip()[:20]}'.")
            frames = int(value.strip()[:12])
        elif key == "frame time" and frames is not None:
            seconds = float(as_numbers([value.strip() or "nothing"], "Frame Time", lines.place)[0])
            if 1e-5 <= seconds <= 1e3:
                return frames, seconds, {}
            said = f"{seconds:g} s is not possible; {UNKNOWN_FPS:g} frames per second are assumed"
            return frames, 1.0 / UNKNOWN_FPS, {"frame time": said}
        else:
            wanted = "Frames:" if frames is None else "Frame Time:"
            raise lines.wrong(f"expected '{wanted}', but found '{text[:40]}'.")
    raise lines.wrong("the file ends before 'Frames:' and 'Frame Time:'.")


# ---- values to rotations


def _assemble(file: str, parsed: _Parsed, fps: float, values: Floats, wrong: dict[str, str]) -> RawClip:
    frames, joints = len(values), len(parsed.names)
    offsets = np.array(parsed.offsets, dtype=float)
    rotations = np.zeros((frames, joints, 4))
    shifts, notes = np.zeros((frames, joints, 3)), dict[str, str]()
    added: list[int] = []
    column = 0
    for joint, channels in enumerate(parsed.channels):
        block = values[:, column : column + len(channels)]
        column += len(channels)
        turns = [n for n, name in enumerate(channels) if "rotation" in name]
        rotations[:, joint] = from_euler(np.radians(block[:, turns]), "".join(channels[n][0] for n in turns))
        ways = [n for n, name in enumerate(channels) if "position" in name]
        if ways:
            where = np.tile(offsets[joint], (frames, 1))
            axes = ["XYZ".index(channels[n][0]) for n in ways]
            where[:, axes] = block[:, ways]
            shifts[:, joint], note = _displaced(where, offsets[joint], axes, joint == 0)
            if note:
                notes[f"position channels of {parsed.names[joint]}"] = note
            if note == _ADDED:
                added.append(joint)
    root = offsets[0] + shifts[:, 0]
    inner = bool(np.abs(shifts[:, 1:]).max(initial=0.0) > 0.0)
    shifts[:, 0] = 0.0
    return RawClip(
        format="bvh",
        file=file,
        names=tuple(parsed.names),
        parents=tuple(parsed.parents),
        offsets=offsets,
        end_sites=tuple(parsed.tips),
        fps=fps,
        root=root,
        rotations=rotations,
        shifts=shifts if inner else None,
        channels=tuple(parsed.channels),
        values=values,
        added=tuple(added),
        notes=notes,
        wrong=wrong,
    )


_ADDED = "they are added to its OFFSET"


def _displaced(where: Floats, offset: Floats, axes: list[int], is_root: bool) -> tuple[Floats, str]:
    """Return a joint's displacement from its offset, and what had to be assumed to tell."""
    if is_root:
        note = "the root's OFFSET is not added to its position channels" if np.abs(offset).max() > 0 else ""
        return where - offset, note
    as_whole = np.linalg.norm((where - offset)[:, axes], axis=-1).mean()
    as_extra = np.linalg.norm(where[:, axes], axis=-1).mean()
    if as_whole <= as_extra:
        return where - offset, "they include its OFFSET"
    extra = np.zeros_like(where)
    extra[:, axes] = where[:, axes]
    return extra, _ADDED


BVH = ClipFormat("bvh", (".bvh",), read_bvh, listed=("*.bvh",))
