"""All formats of motion files: the one list of suffixes, and the one way to read what a file says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stunt.errors import InvalidValueError, Place
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.raw import ClipFileError, ClipFormat, RawClip
from stunt.motion.formats.asf import AMC, ASF
from stunt.motion.formats.bvh import BVH
from stunt.motion.formats.deepmimic import DEEPMIMIC
from stunt.motion.formats.fbx import FBX
from stunt.motion.formats.gltf_clip import GLTF
from stunt.motion.formats.npz import NPZ
from stunt.motion.formats.usd_clip import USD

FORMATS: Final[tuple[ClipFormat, ...]] = (BVH, AMC, ASF, DEEPMIMIC, NPZ, GLTF, FBX, USD)
"""A new format is a module with its `ClipFormat`, and its name here."""


def clip_suffixes() -> tuple[str, ...]:
    """Return how the names of motion files end."""
    return tuple(suffix for form in FORMATS for suffix in form.suffixes)


def is_motion_file(path: str | Path) -> bool:
    """Whether a file's name is that of a motion file."""
    return Path(path).suffix.lower() in clip_suffixes()


def motion_files(folder: Path) -> list[Path]:
    """Return the motion files in a folder and the folders in it, in order; texts by the names they are known by."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if is_listed(path))


def is_listed(path: Path) -> bool:
    """Whether a file's name is that of a motion file; a text's, only where it is one that such texts are known by."""
    lower = path.with_suffix(path.suffix.lower())
    return any(lower.match(pattern) for form in FORMATS for pattern in form.listed)


def read_raw(path: str | Path, overrides: Overrides | None = None) -> RawClip:
    """Read what a motion file says, before anything is assumed about it.

    Raises:
        ClipFileError: It is no motion file, or a broken one.
        InvalidValueError: An option that files of its format do not have.
    """
    suffix, wanted = Path(path).suffix.lower(), overrides or Overrides()
    form = next((form for form in FORMATS if suffix in form.suffixes), None)
    if form is None:
        message = f"is no motion file Stunt reads. Available: {', '.join(clip_suffixes())}."
        raise ClipFileError(message, Place(str(path)))
    for option in ("skeleton", "animation"):
        value = getattr(wanted, option)
        if value is not None and option not in form.heeds:
            others = [end for other in FORMATS if option in other.heeds for end in other.suffixes]
            expected = f"left out: only {' and '.join(others)} files have one"
            raise InvalidValueError(f"clip option '{option}'", value, expected, Place(str(path)))
    return form.read(path, **{option: getattr(wanted, option) for option in form.heeds})
