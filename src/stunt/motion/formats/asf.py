"""ASF skeletons and AMC motions (Acclaim): CMU's original format.

A bone is a direction and a length in the world's rest pose, and turns about its own axes (`axis`). Here it becomes a
joint at its upper end; at rest every joint's frame is parallel to the world's, so its rotation is C·M·C⁻¹ with C the
bone's axes and M its angles. Angles turn about fixed axes, the first in the list first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stunt.errors import Place
from stunt.maths.rotations import Floats, conjugate, multiply
from stunt.motion.clips.euler import from_euler
from stunt.motion.clips.file_stamps import note_use
from stunt.motion.clips.raw import MAX_JOINTS, ClipFileError, ClipFormat, RawClip, as_numbers, check_size, read_lines

FPS = 120.0  # the files do not say; CMU captured at 120 frames per second
_INCH = 0.0254
_DOFS = ("rx", "ry", "rz", "tx", "ty", "tz", "l")


@dataclass
class _Bone:
    name: str = ""
    direction: Floats = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    dofs: tuple[str, ...] = ()


@dataclass
class AsfSkeleton:
    """A skeleton file: bones by name, and the order of the root's channels."""

    file: str  #: As the user named it
    bones: dict[str, _Bone] = field(default_factory=dict)  #: By name, without the root
    parents: dict[str, str] = field(default_factory=dict)  #: Name of each bone's parent
    #: `TX`, …, `RZ` in the order of the motion's values.
    root_order: tuple[str, ...] = ("tx", "ty", "tz", "rx", "ry", "rz")
    root_axis: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))  #: The root's own axes, wxyz
    unit: float = 1.0  #: The file's length unit (`length` under `:units`)
    degrees: bool = True  #: Whether angles are in degrees

    def order(self) -> list[str]:
        """Bones, parents first; the root first of all."""
        children: dict[str, list[str]] = {}
        for bone, parent in self.parents.items():
            children.setdefault(parent, []).append(bone)
        found: list[str] = []
        pending = ["root"]
        while pending:
            name = pending.pop()
            found.append(name)
            pending += reversed(children.get(name, []))
        return found


class _AsfReader:
    """Lines of a file with their numbers, comments and empty ones left out."""

    def __init__(self, path: str | Path) -> None:
        self.file = str(path)
        self._path = path

    @property
    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers and words, read anew."""
        for number, words in read_lines(self._path):
            cut = next((n for n, word in enumerate(words) if word.startswith("#")), len(words))
            if cut:
                yield number, words[:cut]

    def wrong(self, line: int, message: str) -> ClipFileError:
        """Make an error about a line."""
        return ClipFileError(message, Place(self.file, line))

    def numbers(self, line: int, words: list[str], count: int, what: str) -> Floats:
        """Return exactly so many numbers."""
        if len(words) < count:
            raise self.wrong(line, f"{what} needs {count} numbers.")
        return as_numbers(words[:count], what, Place(self.file, line))


def _fixed(angles: Floats, order: str, degrees: bool) -> Floats:
    """Return rotations about fixed axes, the first first, (..., k) → (..., 4)."""
    turns = np.radians(angles) if degrees else angles
    return from_euler(turns[..., ::-1], order[::-1].upper())


def read_asf(path: str | Path) -> AsfSkeleton:
    """Read a skeleton file."""
    reader = _AsfReader(path)
    skeleton = AsfSkeleton(str(path))
    section, bone = "", _Bone()
    for line, words in reader.rows:
        word = words[0].lower()
        if word.startswith(":"):
            section = word
        elif section == ":units":
            _read_unit(reader, skeleton, line, words)
        elif section == ":root":
            _read_root(reader, skeleton, line, words)
        elif section == ":bonedata":
            bone = _read_bone(reader, skeleton, bone, line, words)
        elif section == ":hierarchy" and word not in ("begin", "end"):
            _read_children(reader, skeleton, line, words)
    if not skeleton.bones or not skeleton.parents:
        raise ClipFileError("is no ASF skeleton: it has no :bonedata or no :hierarchy.", Place(str(path)))
    loose = [name for name in skeleton.order() if name != "root" and name not in skeleton.bones]
    if loose or len(skeleton.order()) != len(skeleton.parents) + 1:
        raise ClipFileError(f"the hierarchy does not hang together {loose[:3] or ''}.", Place(str(path)))
    return skeleton


def _read_unit(reader: _AsfReader, skeleton: AsfSkeleton, line: int, words: list[str]) -> None:
    if words[0].lower() == "length":
        skeleton.unit = float(reader.numbers(line, words[1:], 1, "length")[0])
        if not 1e-6 < skeleton.unit < 1e6:
            raise reader.wrong(line, f"a length unit of {skeleton.unit:g} is not possible.")
    elif words[0].lower() == "angle" and len(words) > 1:
        skeleton.degrees = not words[1].lower().startswith("rad")


def _read_root(reader: _AsfReader, skeleton: AsfSkeleton, line: int, words: list[str]) -> None:
    word = words[0].lower()
    if word == "order":
        order = tuple(name.lower() for name in words[1:])
        if not set(order) <= set(_DOFS[:6]) or len(set(order)) != len(order):
            raise reader.wrong(line, f"the root's order has unknown channels: {' '.join(words[1:])[:40]}.")
        skeleton.root_order = order
    elif word == "orientation":
        skeleton.root_axis = _fixed(reader.numbers(line, words[1:], 3, "orientation"), "xyz", skeleton.degrees)


def _read_bone(reader: _AsfReader, skeleton: AsfSkeleton, bone: _Bone, line: int, words: list[str]) -> _Bone:
    word = words[0].lower()
    if word == "begin":
        return _Bone()
    if word == "name":
        bone.name = " ".join(words[1:])
    elif word == "direction":
        bone.direction = reader.numbers(line, words[1:], 3, "direction")
        bone.direction = bone.direction / max(float(np.linalg.norm(bone.direction)), 1e-9)
    elif word == "length":
        bone.length = float(reader.numbers(line, words[1:], 1, "length")[0])
    elif word == "axis":
        order = words[4].lower() if len(words) > 4 else "xyz"
        if sorted(order) != ["x", "y", "z"]:
            raise reader.wrong(line, f"unknown order of axes '{order[:10]}'.")
        bone.axis = _fixed(reader.numbers(line, words[1:], 3, "axis"), order, skeleton.degrees)
    elif word == "dof":
        bone.dofs = tuple(name.lower() for name in words[1:])
        if not set(bone.dofs) <= set(_DOFS) or len(set(bone.dofs)) != len(bone.dofs):
            raise reader.wrong(line, f"unknown degrees of freedom: {' '.join(words[1:])[:40]}.")
    elif word == "end":
        if not bone.name or bone.name in skeleton.bones or len(skeleton.bones) >= MAX_JOINTS:
            raise reader.wrong(line, f"a bone without a name, or one too many: '{bone.name[:40]}'.")
        skeleton.bones[bone.name] = bone
    return bone


def _read_children(reader: _AsfReader, skeleton: AsfSkeleton, line: int, words: list[str]) -> None:
    for child in words[1:]:
        if child in skeleton.parents or child not in skeleton.bones:
            raise reader.wrong(line, f"bone '{child[:40]}' is unknown or has two parents.")
        skeleton.parents[child] = words[0]


def read_amc(path: str | Path, skeleton: str | Path | None = None) -> RawClip:
    """Read a motion file, with its skeleton: the file given, or the one beside it.

    Raises:
        ClipFileError: One of the two is broken or missing.
    """
    return _moved(path, read_asf(skeleton or find_skeleton(path)))


def _moved(path: str | Path, skeleton: AsfSkeleton) -> RawClip:
    dofs = _dofs(skeleton)
    frames, degrees = _read_frames(path, dofs)
    notes = {
        "fps": f"{FPS:g} frames per second, as CMU captured; AMC files do not say",
        "skeleton": f"from {skeleton.file}",
    }
    return _raw(skeleton, "amc", str(path), _turns(skeleton, skeleton.order(), dofs, frames, degrees), notes)


def read_asf_pose(path: str | Path) -> RawClip:
    """Read a skeleton file as a clip of one frame: the skeleton at rest.

    Raises:
        ClipFileError: It is broken or missing.
    """
    skeleton = read_asf(path)
    order, dofs = skeleton.order(), _dofs(skeleton)
    still = {name: np.zeros((1, len(dofs[name]))) for name in order}
    notes = {"motion": "none in an ASF: the skeleton at rest; its motions are .amc files"}
    return _raw(skeleton, "asf", str(path), _turns(skeleton, order, dofs, still, skeleton.degrees), notes)


def _dofs(skeleton: AsfSkeleton) -> dict[str, tuple[str, ...]]:
    order = skeleton.order()
    return {name: skeleton.root_order if name == "root" else skeleton.bones[name].dofs for name in order}


def _raw(
    skeleton: AsfSkeleton, format_: str, path: str, motion: tuple[Floats, Floats], notes: dict[str, str]
) -> RawClip:
    order = skeleton.order()
    place = {name: number for number, name in enumerate(order)}
    bones = [skeleton.bones[name] for name in order[1:]]
    ends = {name: bone.direction * bone.length for name, bone in zip(order[1:], bones, strict=True)}
    parents = [-1, *(place[skeleton.parents[name]] for name in order[1:])]
    offsets = [np.zeros(3), *(ends.get(skeleton.parents[name], np.zeros(3)) for name in order[1:])]
    leaves = [name for name in order[1:] if name not in skeleton.parents.values()]
    return RawClip(
        format=format_,
        file=path,
        names=tuple(order),
        parents=tuple(parents),
        offsets=np.array(offsets),
        end_sites=tuple((place[name], ends[name], "") for name in leaves),
        fps=FPS,
        root=motion[0],
        rotations=motion[1],
        scale=_INCH / skeleton.unit,
        up="y",
        notes={**notes, "scale": f"1 unit is 1/{skeleton.unit:g} inch; y is up"},
    )


def find_skeleton(path: str | Path) -> Path:
    """Return the skeleton beside a motion: the same name, its subject's number, or the only one there."""
    motion = Path(path)
    stem = motion.stem
    note_use(motion.parent)
    for name in (stem, stem.rsplit("_", 1)[0]):
        for suffix in (".asf", ".ASF"):
            if motion.with_name(name + suffix).is_file():
                return motion.with_name(name + suffix)
    some = sorted(motion.parent.glob("*.asf")) if motion.parent.is_dir() else []
    if len(some) == 1 and motion.is_file():
        return some[0]
    if not motion.is_file():
        raise ClipFileError("there is no such file.", Place(str(path)))
    raise ClipFileError("needs its skeleton (.asf) beside it, or named with `skeleton`.", Place(str(path)))


def _read_frames(path: str | Path, dofs: dict[str, tuple[str, ...]]) -> tuple[dict[str, Floats], bool]:
    """Return the values of every bone, (F, dofs of the bone); a bone the motion never names stays at rest."""
    reader = _AsfReader(path)
    values: dict[str, list[Floats]] = {}
    count, degrees, line = 0, True, 0
    for line, words in reader.rows:
        if words[0].startswith(":"):
            degrees = degrees and not words[0].lower().startswith(":rad")
        elif len(words) == 1 and words[0].isdigit():
            _check_frame(reader, line, values, count)
            count += 1
            check_size(count, sum(map(len, dofs.values())), Place(reader.file, line))
        else:
            _read_values(reader, line, words, dofs, values, count)
    _check_frame(reader, line, values, count)
    if "root" not in values:
        raise reader.wrong(line, "the file has no frames.")
    still = {name: np.zeros((count, len(dofs[name]))) for name in dofs if name not in values}
    return {**still, **{name: np.array(rows) for name, rows in values.items()}}, degrees


def _read_values(
    reader: _AsfReader,
    line: int,
    words: list[str],
    dofs: dict[str, tuple[str, ...]],
    values: dict[str, list[Floats]],
    count: int,
) -> None:
    name = words[0]
    if name not in dofs or not count:
        what = "is before the first frame number" if name in dofs else "is no bone of the skeleton"
        raise reader.wrong(line, f"'{name[:40]}' {what}.")
    if len(words) - 1 != len(dofs[name]):
        raise reader.wrong(line, f"'{name}' has {len(words) - 1} values, not {len(dofs[name])}.")
    rows = values.setdefault(name, [])
    if len(rows) != count - 1:
        raise reader.wrong(line, f"'{name}' is there twice in frame {count}, or was missing in an earlier one.")
    rows.append(as_numbers(words[1:], name, Place(reader.file, line)))


def _check_frame(reader: _AsfReader, line: int, values: dict[str, list[Floats]], count: int) -> None:
    short = next((name for name, rows in values.items() if len(rows) != count), None)
    if short is not None:
        raise reader.wrong(line, f"frame {count} ends without '{short}'.")


def _turns(
    skeleton: AsfSkeleton, order: list[str], dofs: dict[str, tuple[str, ...]], values: dict[str, Floats], degrees: bool
) -> tuple[Floats, Floats]:
    frames = len(values["root"])
    root = np.zeros((frames, 3))
    rotations = np.zeros((frames, len(order), 4))
    for number, name in enumerate(order):
        letters = "".join(dof[1] for dof in dofs[name] if dof[0] == "r")
        turns = [n for n, dof in enumerate(dofs[name]) if dof[0] == "r"]
        turn = _fixed(values[name][:, turns], letters, degrees)
        axis = skeleton.root_axis if name == "root" else skeleton.bones[name].axis
        rotations[:, number] = multiply(multiply(axis, turn), conjugate(axis))
        if name == "root":
            ways = [n for n, dof in enumerate(dofs[name]) if dof[0] == "t"]
            root[:, ["xyz".index(dofs[name][n][1]) for n in ways]] = values[name][:, ways]
    return root, rotations


AMC = ClipFormat("amc", (".amc",), read_amc, heeds=("skeleton",), listed=("*.amc",))
ASF = ClipFormat("asf", (".asf",), read_asf_pose)
