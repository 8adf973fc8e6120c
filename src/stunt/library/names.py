"""The library: what clips and bodies are called, where they are looked for, and which file that is.

One place resolves what scripts, commands, programs and the studio write: names (`walk`, `pybullet:backflip`), files
(`walk.bvh`, beside the script or where the user is), animations of a file (`dances.glb#Run`) and options (`?fps=60`).
What it finds is read once (`stunt.library.read`).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from stunt.character.bodies import BUILT_IN
from stunt.character.bodies import SUFFIXES as MODEL_SUFFIXES
from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError, see
from stunt.library.read import change_files, cut_reference, read_clip, split_reference
from stunt.motion.clips.assume import Overrides
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import mirrored
from stunt.motion.clips.mapping import read_mapping, with_mapping
from stunt.motion.formats.registry import clip_suffixes, is_motion_file, motion_files

OWN_CLIPS = Path(__file__).parent.parent / "examples" / "clips"
_PYBULLET = "pybullet:"

Reference = str | Path | Clip
"""A clip: its name, its file, or a clip in memory."""


@dataclass(frozen=True)
class ClipEntry:
    """One clip that can be named."""

    name: str  #: What to call it: its file's name without suffix, with `pybullet:` in front where it is from there
    path: Path  #: Its file
    source: str  #: `package`, `pybullet`, or the user's folder


@dataclass(frozen=True)
class Library:
    """Where clips and bodies are looked for. A value: what was read is shared by all libraries of a process."""

    folders: tuple[str, ...] = ()  #: Folders whose clips go before those of the package, by their names
    #: The folder of the script in which references are written; files are looked for there first, then where the user
    #: is.
    beside: str = ""

    @staticmethod
    def of(folders: Iterable[str | Path] = (), beside: str | Path = "") -> Library:
        """Make a library of any folders."""
        return Library(tuple(str(folder) for folder in folders), str(beside))

    # ---- names

    def entries(self) -> dict[str, ClipEntry]:
        """Return all clips by name; a user's folder goes before the package."""
        found = self._own()
        for path in motion_files(OWN_CLIPS):
            found.setdefault(path.stem, ClipEntry(path.stem, path, "package"))
        for path in pybullet_clips():
            walker = f"{path.parent.name}/" if path.parent.name == "walker" else ""
            name = _PYBULLET + walker + path.stem.removeprefix("humanoid3d_")
            found.setdefault(name, ClipEntry(name, path, "pybullet"))
        return found

    def _own(self) -> dict[str, ClipEntry]:
        found: dict[str, ClipEntry] = {}
        for folder in self.folders:
            for path in motion_files(Path(folder)):
                found.setdefault(path.stem, ClipEntry(path.stem, Path(os.path.abspath(path)), folder))
        return found

    def locate(self, reference: str | Clip) -> str | Clip:
        """Return a clip as it is; of anything else the reference as `located` has it."""
        return reference if isinstance(reference, Clip) else self.located(reference)

    def located(self, reference: str) -> str:
        """Return a reference that means the same wherever it is read: with the path of a file that only this knows.

        Names of the package's clips, built-in bodies and absolute paths stay; a name in one of the folders becomes its
        file, and so do files beside the script, also those that options name.
        """
        head, rest = cut_reference(reference)
        if head in BUILT_IN:
            return reference
        own = self._own()
        if head in own:
            head = str(own[head].path)
        return change_files(head + rest, self._file, lambda path: os.path.isfile(self._beside(path)))

    def _beside(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.beside, path)) if self.beside else path

    def _file(self, path: str) -> str:
        """Return where a file is; where it is nowhere, where it should be."""
        if os.path.isabs(path):
            return path
        near = self._beside(path)
        if os.path.isfile(near):
            return near
        named = is_motion_file(path) or Path(path).suffix.lower() in MODEL_SUFFIXES
        return near if named and not os.path.isfile(path) else path

    def find(self, reference: str | Path, place: Place = NOWHERE) -> Path:
        """Return the file of a clip, with what follows it (`?fps=60`) behind it.

        Raises:
            UnknownNameError: It is neither a file nor a name; the message says which names there are.
            InvalidValueError: An option behind it has no such value.
        """
        text = self.located(str(reference))
        split_reference(text, place)  # complains about options here, where it is known who wrote them
        head, rest = cut_reference(text)
        if os.path.isfile(head) or is_motion_file(head):
            return Path(text)
        entries = self.entries()
        if head not in entries:
            others = f"or the path of a {', '.join(clip_suffixes()[:-1])} or {clip_suffixes()[-1]} file"
            raise UnknownNameError("clip", head, (*entries, others), place)
        return Path(f"{entries[head].path}{rest}")

    # ---- clips

    def clip(self, reference: Reference, overrides: Overrides | None = None, place: Place = NOWHERE) -> Clip:
        """Return a clip by name, by file, or as it is.

        Args:
            reference: What is wanted. A clip in memory is taken as it is, but for what the overrides say.
            overrides: What is known better than guesses, and than the options of the reference.
            place: Where it was asked for, for error messages.

        Raises:
            UnknownNameError: There is no such clip; the message says which there are.
            ClipFileError: The file cannot be read.
        """
        if isinstance(reference, Clip):
            return _overridden(reference, overrides, place)
        return read_clip(self.find(reference, place), overrides, place)

    def is_clip(self, reference: Reference) -> bool:
        """Whether a body's reference means the skeleton of a clip: a clip, a motion file, or a clip's name."""
        if isinstance(reference, Clip):
            return True
        head, _ = cut_reference(self.located(str(reference)))
        return is_motion_file(head) or (head not in BUILT_IN and not Path(head).suffix and head in self.entries())


def reference_name(reference: Reference) -> str:
    """Return what reports call a clip or a body: as it was named, or a clip's own name and what was done to it."""
    return reference.title if isinstance(reference, Clip) else str(reference)


HERE: Final = Library()
"""The library of somebody without a script: the package's names, and files where the user is."""
_IN_MEMORY = ("loop", "mapping", "mirror")


def _overridden(clip: Clip, overrides: Overrides | None, place: Place) -> Clip:
    """Return a clip in memory with what can be said of it: what its file would be read by is said and done."""
    given = {} if overrides is None else overrides.given()
    for option in given:
        if option not in _IN_MEMORY:
            expected = f"left out for '{clip.title}', which is in memory; {', '.join(_IN_MEMORY)} can be given"
            raise InvalidValueError(f"clip option '{option}'", given[option], expected, place)
    if "mapping" in given:
        clip = with_mapping(clip, read_mapping(given["mapping"]))
    if "loop" in given:
        clip = replace(clip, loop=given["loop"])
    return mirrored(clip) if given.get("mirror") else clip


def pybullet_clips() -> list[Path]:
    """Return the motions inside an installed PyBullet wheel; none where there is no such wheel."""
    spec = importlib.util.find_spec("pybullet_data")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    motions = [Path(place) / "data" / "motions" for place in places]
    found = [path for folder in motions for path in (*folder.glob("humanoid3d_*.txt"), *folder.glob("walker/*.txt"))]
    return sorted(found)


def clip_entries(folders: Iterable[str | Path] = ()) -> dict[str, ClipEntry]:
    """Return all clips by name; a user's folder goes before the package."""
    return Library.of(folders).entries()


def find_clip(name: str, folders: Iterable[str | Path] = (), place: Place = NOWHERE) -> Path:
    """Return the file of a clip: a path, or a name in the library. Options behind it (`?fps=60`) stay behind it.

    Raises:
        UnknownNameError: Neither; the message says which names there are.
    """
    return Library.of(folders).find(name, place)


def load_clip(
    name: Reference, folders: Iterable[str | Path] = (), overrides: Overrides | None = None, place: Place = NOWHERE
) -> Clip:
    """Return a clip: the one door for names, files and clips in memory.

    Args:
        name: A clip's name (`walk`), a motion file with or without options (`walk.bvh?fps=60`, `dances.glb#Run`), or a
            clip, which is returned.
        folders: Folders in which names are looked for before the package's.
        overrides: What is known better than guesses, and than the options.
        place: Where it was asked for, for error messages.

    Raises:
        UnknownNameError: There is no such clip; the message says which there are.
        ClipFileError: The file cannot be read.
    """
    see("folders", folders, [Iterable])
    see("overrides", overrides, [Overrides, type(None)])
    return Library.of(folders).clip(name, overrides, place)
