"""What the studio can open: scripts, examples, clips; and what lies about to be opened."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stunt.errors import NONSENSE, StuntError, UnknownNameError
from stunt.examples import example, example_names
from stunt.keys import with_references
from stunt.library.names import Library, clip_entries, find_clip
from stunt.library.read import change_files, cut_reference
from stunt.motion.formats.asf import find_skeleton
from stunt.script.file import script_from_text
from stunt.script.kinds import KINDS
from stunt.studio.paper.document import Document
from stunt.studio.paper.keeping import autosave_of, file_of, open_elsewhere, read_autosave, write_bytes
from stunt.studio.paper.splice import Edit, Set, edited, flow, plain

PICTURES = Path(__file__).parent / "pictures"
_OWN_OUTPUT = ("take.npz", "report.json")
"""What lies in `takes/` and is no clip, though its suffix is one of a clip's."""
_QUOTED = re.compile(r"""["']([^"'<>\s]{1,200})["']""")
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_CLIP_SCRIPT = """\
# A body made from the clip's own skeleton follows it.
stunt: 1
title: {title}
rate: 120
characters:
  double: {{body: skeleton, root: free, strength: 1.5}}
performance:
  double:
    clips:
      play:
        - {{clip: {clip}}}
"""


def free_path(folder: Path, stem: str) -> Path:
    """Return a file name in a folder that is not taken: by a file, by unsaved work, or by another studio."""
    path = folder / f"{stem}.yaml"
    number = 2
    while path.exists() or autosave_of(path).exists() or open_elsewhere(path):
        path = folder / f"{stem}-{number}.yaml"
        number += 1
    return path


def open_anything(name: str, folder: Path) -> tuple[Document, Path]:
    """Open a script's file, an example, or a clip, by what the user typed.

    A script is opened with the edits that were not saved; an example always as it came.

    Returns:
        The document, and the file beside which its bodies and clips are looked for.

    Raises:
        StuntError: There is no such thing, or it cannot be read.
    """
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml") and (path.exists() or autosave_of(path).exists()):
        document = Document.open(path.resolve())
        return document, document.beside
    if name.lower() in example_names():
        source = example(name).path
        text = source.read_bytes().decode("utf-8")
        return Document(free_path(folder, source.stem), text, on_disk=False, beside=source), source
    if Library.of([folder]).is_clip(name):
        return open_clip(name, folder)
    raise UnknownNameError("script, example or clip", name, (*example_names(), *clip_entries([folder])))


def open_clip(name: str, folder: Path) -> tuple[Document, Path]:
    """Make a script in which somebody follows a clip; it names the clip's file as seen from beside it."""
    bare, rest = cut_reference(name)
    path = free_path(folder, re.sub(r"\W+", "_", Path(bare).stem) or "clip")
    clip, beside = name, path
    if bare not in clip_entries():
        file = Path(cut_reference(find_clip(name, [folder]))[0]).resolve()
        inside = file.is_relative_to(folder.resolve())
        clip = f"{file.relative_to(folder.resolve()).as_posix() if inside else file.name}{rest}"
        beside = path if inside else file.with_name(path.name)
    text = _CLIP_SCRIPT.format(title=flow(f"{Path(bare).stem}, followed"), clip=flow(clip))
    return Document(path, text, on_disk=False, beside=beside), beside


def files_of(text: str, beside: Path) -> dict[str, Path]:
    """Return the files a script names by relative paths (bodies, clips, what belongs to them), by how it names them.

    Raises:
        StuntError: The text is no script.
    """
    found: set[str] = set()

    def note(reference: Any) -> Any:
        return change_files(reference, seen, os.path.isfile) if isinstance(reference, str) else reference

    def seen(file: str) -> str:
        found.add(os.path.abspath(file))
        return file

    script = script_from_text(text, str(beside))
    with_references(script.scene, note)
    for part in script.parts.values():
        for key, section in part.sections.items():
            KINDS[key].references(section, note)
    files: dict[str, Path] = {}

    def written(word: str) -> str:
        for place in (
            () if not word or os.path.isabs(word) else (os.path.abspath(beside.parent / word), os.path.abspath(word))
        ):
            if place in found and os.path.isfile(place):
                files.setdefault(word, Path(place))
        return word

    for word in _words(plain(text)):
        change_files(word, written, lambda file: True)
    return files


def moved_in(text: str, beside: Path, folder: Path) -> tuple[str, list[Path]]:
    """Copy the files a script names from beside one file into a folder, unless they are there.

    Nothing is written outside the folder or over another file: what would be gets another name, and the script says so.

    Returns:
        The script as it names them from there, and the files that were made.

    Raises:
        StuntError: A file cannot be copied; those that were made are gone again.
    """
    if folder == beside.parent:
        return text, []
    copied: list[Path] = []
    names: dict[str, str] = {}
    try:
        for word, source in files_of(text, beside).items():
            inside = (folder / word).resolve().is_relative_to(folder.resolve())
            there = unlike(folder / word if inside else folder / source.name, source.read_bytes())
            for file in (source, *belongings(source)):
                place = there if file == source else there.parent / file.relative_to(source.parent)
                if not place.exists():
                    write_bytes(place, file.read_bytes())
                    copied.append(place)
                elif place.read_bytes() != file.read_bytes():
                    raise StuntError(
                        f"'{source.name}' needs its '{file.name}', and there is another one in that folder."
                    )
            if there != folder / word:
                names[word] = there.relative_to(folder).as_posix()
        return _renamed(text, names), copied
    except (OSError, StuntError) as error:
        taken_back(copied)
        if isinstance(error, OSError):
            raise StuntError(f"cannot copy what the script names: {error.strerror or error}.") from error
        raise


def belongings(file: Path) -> list[Path]:
    """Return what a clip or body needs beside it or in the folders there: a skeleton, buffers, meshes, textures."""
    if file.suffix.lower() == ".amc":
        return [Path(find_skeleton(file))]
    if file.suffix.lower() not in (".gltf", ".xml", ".urdf"):
        return []
    words = set(_QUOTED.findall(file.read_text(encoding="utf-8", errors="replace")))
    folders = [
        file.parent,
        *(file.parent / word for word in words if (file.parent / word).is_dir()),
    ]  # such as `meshdir`
    found = {Path(os.path.abspath(folder / word)) for folder in folders for word in words if (folder / word).is_file()}
    return sorted(place for place in found - {file} if place.is_relative_to(file.parent))


def taken_back(files: list[Path]) -> None:
    """Remove files that were made for nothing."""
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()


def unlike(path: Path, content: bytes) -> Path:
    """Return the path for some content: where it is already, or where there is no other file of that name."""
    number, stem = 2, path.stem
    while path.exists() and (not path.is_file() or path.read_bytes() != content):
        path = path.with_name(f"{stem}-{number}{path.suffix}")
        number += 1
    return path


def _renamed(text: str, names: dict[str, str]) -> str:
    """Return a script with other names for some files."""
    edits: list[Edit] = []

    def walk(data: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(data, dict | list):
            for key, value in data.items() if isinstance(data, dict) else enumerate(data):
                walk(value, (*path, key))
        elif isinstance(data, str):
            new = change_files(data, lambda file: names.get(file, file), lambda file: True)
            edits.extend([Set(path, new)] if new != data else [])

    walk(plain(text), ())
    return edited(text, edits) if edits else text


def _words(data: Any) -> list[str]:
    if isinstance(data, dict | list):
        values = data.values() if isinstance(data, dict) else data
        return [word for value in values for word in _words(value)]
    return [data] if isinstance(data, str) and 0 < len(data) < 1000 else []


def listing(folder: Path) -> dict[str, Any]:
    """Return what could be opened: examples with pictures, the user's scripts, and clips."""
    shown = []
    for name in example_names():
        entry = example(name)
        shown.append(
            {
                "name": name, "title": _title(entry.text(), name), "words": entry.description,
                "picture": (PICTURES / f"{name}.jpg").exists(),
            }
        )  # fmt: skip
    return {"examples": shown, "scripts": _scripts(folder), "clips": _clips(folder), "unsaved": unsaved([folder])}


def unsaved(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the unsaved work that lies in some folders, the latest first."""
    found = []
    for folder in dict.fromkeys(folders):
        for path in sorted(folder.glob(".*.autosave.yaml"))[:200]:
            try:
                text, when = read_autosave(path).text, path.stat().st_mtime
            except (OSError, *NONSENSE):
                continue
            file = file_of(path)
            about = {"name": file.name, "path": str(file), "title": _title(text, file.stem)}
            found.append({**about, "when": when, "saved": file.exists()})
    return sorted(found, key=lambda entry: -float(entry["when"]))


def _scripts(folder: Path) -> list[dict[str, str]]:
    found = []
    for path in sorted(folder.glob("*.y*ml"))[:200]:
        try:
            head = path.read_text(encoding="utf-8")[:20_000]
        except (OSError, UnicodeDecodeError):
            continue
        if not path.name.startswith(".") and re.search(r"^(characters|performance):", head, re.MULTILINE):
            found.append({"name": path.name, "path": str(path), "title": _title(head, path.stem)})
    return found


def _clips(folder: Path) -> list[dict[str, str]]:
    entries = clip_entries([folder] if folder != Path(folder.anchor) else [])
    found = [entry for entry in entries.values() if entry.path.name not in _OWN_OUTPUT]
    return [{"name": e.name, "path": str(e.path), "source": e.source} for e in found[:300]]


def _title(text: str, otherwise: str) -> str:
    found = _TITLE.search(text)
    return found.group(1).strip("'\"") if found else otherwise
