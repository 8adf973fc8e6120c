"""Files of a performance for other programs, written in the background, their kind told by the suffix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stunt.errors import StuntError, UnknownNameError
from stunt.record.files import written_aside
from stunt.record.report import make_report, report_text
from stunt.record.take import Take

Tell = Callable[..., None]


def _write_take(take: Take, path: Path) -> None:
    take.save(path)


def _write_report(take: Take, path: Path) -> None:
    with written_aside(path) as aside:
        aside.write_text(report_text(make_report(take, wall_seconds=None)), encoding="utf-8")


def _write_filmstrip(take: Take, path: Path) -> None:
    from stunt.record.filmstrip import filmstrip

    filmstrip(take, path)


KINDS: dict[str, tuple[str, Callable[[Take, Path], None]]] = {
    ".npz": ("take", _write_take),
    ".json": ("report", _write_report),
    ".png": ("filmstrip", _write_filmstrip),
}


def kinds() -> dict[str, str]:
    """Return what can be exported here: a few words by suffix."""
    return {suffix: words for suffix, (words, _) in KINDS.items()}


def write(take: Take, path: Path) -> None:
    """Write one file.

    Raises:
        StuntError: Its suffix is none of `kinds`, or it cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in KINDS:
        raise UnknownNameError("export", suffix, kinds())
    KINDS[suffix][1](take, path)


def in_background(take: Take, path: str, tell: Tell) -> threading.Thread:
    """Write one file on a thread of its own, and tell when it begins, is done, or cannot be written."""

    def work() -> None:
        try:
            write(take, Path(path))
            tell(state="done", path=path)
        except (StuntError, OSError, ValueError) as error:
            tell(state="failed", path=path, error=str(error))

    tell(state="writing", path=path)
    thread = threading.Thread(target=work, name=f"export {path}", daemon=True)
    thread.start()
    return thread


def as_data() -> list[dict[str, Any]]:
    """Return the kinds as a list for the page."""
    return [{"suffix": suffix, "words": words} for suffix, words in kinds().items()]
