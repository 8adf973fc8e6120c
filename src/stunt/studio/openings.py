"""What the studio can open: scripts, examples, clips; and what lies about to be opened."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from stunt.errors import UnknownNameError
from stunt.examples import example, example_names
from stunt.library.names import Library, clip_entries, find_clip
from stunt.library.read import cut_reference
from stunt.studio.document import Document
from stunt.studio.splice import flow, plain

PICTURES = Path(__file__).parent / "pictures"
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_CLIP_SCRIPT = """\
# A body made from the clip's own skeleton follows it.
stunt: 1
title: {title}
rate: 120
characters:
  double: {{body: skeleton, root: free, strength: 1.5, self_collision: false}}
performance:
  double:
    clips:
      play:
        - {{clip: {clip}}}
"""


def free_path(folder: Path, stem: str) -> Path:
    """Return a file name in a folder that is not taken."""
    path = folder / f"{stem}.yaml"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}.yaml"
        number += 1
    return path


def open_anything(name: str, folder: Path) -> tuple[Document, Path]:
    """Open a script's file, an example, or a clip, by what the user typed.

    Returns:
        The document, and the file beside which its bodies and clips are looked for.

    Raises:
        StuntError: There is no such thing, or it cannot be read.
    """
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml") and path.exists():
        return Document.open(path.resolve()), path.resolve()
    if name.lower() in example_names():
        source = example(name).path
        return Document(free_path(folder, source.stem), source.read_text(encoding="utf-8"), on_disk=False), source
    if Library.of([folder]).is_clip(name):
        return open_clip(name, folder)
    raise UnknownNameError("script, example or clip", name, (*example_names(), *clip_entries([folder])))


def open_clip(name: str, folder: Path) -> tuple[Document, Path]:
    """Make a script in which somebody follows a clip."""
    bare, _ = cut_reference(name)
    file = find_clip(name, [folder])
    clip = name if bare in clip_entries() else str(Path(file).resolve())
    stem = re.sub(r"\W+", "_", Path(bare).stem) or "clip"
    text = _CLIP_SCRIPT.format(title=flow(f"{Path(bare).stem}, followed"), clip=flow(clip))
    path = free_path(folder, stem)
    return Document(path, text, on_disk=False), path


def companions(text: str, beside: Path, folder: Path) -> list[Path]:
    """Copy the files a script names (bodies, clips) from beside one file into a folder, unless they are there."""
    copied = []
    for word in _words(plain(text)):
        source, there = beside.parent / word, folder / word
        if word and len(word) < 200 and not Path(word).is_absolute() and source.is_file() and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            copied.append(Path(shutil.copyfile(source, there)))
    return copied


def _words(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [word for value in data.values() for word in _words(value)]
    if isinstance(data, list):
        return [word for value in data for word in _words(value)]
    return [data] if isinstance(data, str) and "." in data else []


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
    return {"examples": shown, "scripts": _scripts(folder), "clips": _clips(folder)}


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
    return [{"name": e.name, "path": str(e.path), "source": e.source} for e in list(entries.values())[:300]]


def _title(text: str, otherwise: str) -> str:
    found = _TITLE.search(text)
    return found.group(1).strip("'\"") if found else otherwise
