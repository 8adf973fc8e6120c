"""Files of a performance for people and other programs, written in the background with their progress."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stunt.errors import StuntError, UnknownNameError
from stunt.record.files import written_aside
from stunt.record.filmstrip import filmstrip
from stunt.record.report import make_report, report_text
from stunt.record.take import Take

Tell = Callable[..., None]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Kind:
    """One kind of file."""

    words: str  #: What it is, for people
    file: str  #: Its name, with `{}` for the script's
    #: Writes a take to a path, telling the share that is done; returns the files.
    write: Callable[[Take, Path, Progress], list[Path]]


def _write_take(take: Take, path: Path, progress: Progress) -> list[Path]:
    return [take.save(path)]


def _write_report(take: Take, path: Path, progress: Progress) -> list[Path]:
    with written_aside(path) as aside:
        aside.write_text(report_text(make_report(take, wall_seconds=None)), encoding="utf-8")
    return [path]


def _write_filmstrip(take: Take, path: Path, progress: Progress) -> list[Path]:
    return [filmstrip(take, path)]


def _write_for_tools(take: Take, path: Path, progress: Progress) -> list[Path]:
    """Write a file for another tool through Stunt's one door out, which goes by the suffix."""
    files: list[Path] = importlib.import_module("stunt.export").export(take, path, progress=progress)
    return files


def kinds() -> dict[str, Kind]:
    """Return what can be written here, by name; formats whose packages are missing are left out."""
    found = {
        "take": Kind("take (.npz)", "take.npz", _write_take),
        "report": Kind("report (.json)", "report.json", _write_report),
        "filmstrip": Kind("filmstrip (.png)", "{}.png", _write_filmstrip),
    }
    if importlib.util.find_spec("stunt.export") is None:
        return found
    for suffix, about in importlib.import_module("stunt.export").FORMATS.items():
        if about.needs is None or importlib.util.find_spec(about.needs[0]) is not None:
            name = f"{{}}-arrays{suffix}" if suffix == ".npz" else f"{{}}{suffix}"
            found[suffix] = Kind(f"{about.name} ({suffix})", name, _write_for_tools)
    return found


def in_background(take: Take, kind: str, path: str, tell: Tell) -> threading.Thread:
    """Write one file on a thread of its own, and tell how far it is, that it is done, or why it cannot be written."""

    def work() -> None:
        try:
            if kind not in kinds():
                raise UnknownNameError("export", kind, kinds())
            files = kinds()[kind].write(take, Path(path), lambda share: tell(state="writing", path=path, share=share))
            tell(state="done", path=str(files[0]), files=[str(file) for file in files])
        except (StuntError, OSError, ValueError) as error:
            tell(state="failed", path=path, error=str(error))

    tell(state="writing", path=path, share=0.0)
    thread = threading.Thread(target=work, name=f"export {path}", daemon=True)
    thread.start()
    return thread


def as_data() -> list[dict[str, Any]]:
    """Return the kinds as a list for the page."""
    return [{"kind": name, "words": kind.words} for name, kind in kinds().items()]
