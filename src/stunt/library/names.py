"""Clips by name: from the user's folder, from the package, and from an installed PyBullet."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stunt.character.bodies import BUILT_IN
from stunt.errors import NOWHERE, Place, UnknownNameError
from stunt.library.read import READERS, change_files, read_clip, split_reference
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.clip import Clip

OWN_CLIPS = Path(__file__).parent.parent / "examples" / "clips"
_PYBULLET = "pybullet:"


@dataclass(frozen=True)
class ClipEntry:
    """One clip that can be named.

    Attributes:
        name: What to call it: its file's name without suffix, with `pybullet:` in front where it is from there.
        path: Its file.
        source: `package`, `pybullet`, or the user's folder.
    """

    name: str
    path: Path
    source: str


def clip_entries(folders: Iterable[str | Path] = ()) -> dict[str, ClipEntry]:
    """Return all clips by name; a user's folder goes before the package."""
    found: dict[str, ClipEntry] = {}
    for folder in folders:
        for path in _motions(Path(folder)):
            found.setdefault(path.stem, ClipEntry(path.stem, Path(os.path.abspath(path)), str(folder)))
    for path in _motions(OWN_CLIPS):
        found.setdefault(path.stem, ClipEntry(path.stem, path, "package"))
    for path in pybullet_clips():
        walker = f"{path.parent.name}/" if path.parent.name == "walker" else ""
        name = _PYBULLET + walker + path.stem.removeprefix("humanoid3d_")
        found.setdefault(name, ClipEntry(name, path, "pybullet"))
    return found


def _motions(folder: Path) -> list[Path]:
    suffixes = set(READERS) - {".txt"}  # any text may lie in a folder
    some = [path for path in folder.rglob("*") if path.suffix.lower() in suffixes] if folder.is_dir() else []
    return sorted(some + ([path for path in folder.rglob("humanoid3d_*.txt")] if folder.is_dir() else []))


def pybullet_clips() -> list[Path]:
    """Return the motions inside an installed PyBullet wheel; none where there is no such wheel."""
    spec = importlib.util.find_spec("pybullet_data")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    motions = [Path(place) / "data" / "motions" for place in places]
    found = [path for folder in motions for path in (*folder.glob("humanoid3d_*.txt"), *folder.glob("walker/*.txt"))]
    return sorted(found)


def find_clip(name: str, folders: Iterable[str | Path] = (), place: Place = NOWHERE) -> Path:
    """Return the file of a clip: a path, or a name in the library. Options behind it (`?fps=60`) stay behind it.

    Raises:
        UnknownNameError: Neither; the message says which names there are.
    """
    bare, _ = split_reference(name, place)
    if Path(bare).is_file() or Path(bare).suffix.lower() in (*READERS, ".asf"):
        return Path(name)
    entries = clip_entries(folders)
    if bare not in entries:
        raise UnknownNameError("clip", bare, (*entries, "or the path of a .bvh, .amc, .json or .npz file"), place)
    return Path(f"{entries[bare].path}{name[len(bare) :]}")


def clip_beside(name: str, folder: str | Path) -> str:
    """Return a clip's name as a path where there is such a file in a folder; so with files its options name."""

    def beside(path: str) -> str:
        there = Path(folder) / path
        return str(there) if there.is_file() else path

    return name if Path(name).is_file() else change_files(name, beside, lambda path: True)


def body_reference(body: str, folders: Iterable[str | Path] = ()) -> str:
    """Return the file of a body that is named by a clip's name (`idle`); any other body's name as it is."""
    bare = body.partition("?")[0]
    if bare in BUILT_IN or Path(bare).suffix:
        return body
    entry = clip_entries(folders).get(bare)
    return body if entry is None else f"{entry.path}{body[len(bare) :]}"


def load_clip(
    name: str, folders: Iterable[str | Path] = (), overrides: Overrides | None = None, place: Place = NOWHERE
) -> Clip:
    """Read a clip by path or by name."""
    return read_clip(find_clip(name, folders, place), overrides, place)
