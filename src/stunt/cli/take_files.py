"""The files of a take in a folder: written aside and moved into place, none left over from an earlier take."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from stunt.errors import TakeError
from stunt.record.files import written_aside
from stunt.record.report import report_text
from stunt.record.take import Take

TAKE: Final = "take.npz"
REPORT: Final = "report.json"
CRASH: Final = "crash.npz"
PICTURES: Final = ("filmstrip.png", "gains.png", "errors.png", "torques.png")


def check_writable(folder: Path) -> None:
    """Make sure before a long performance that its take can be written; leaves nothing behind.

    Raises:
        TakeError: It cannot.
    """
    made: list[Path] = []
    with _explained(folder):
        try:
            for path in reversed((folder, *folder.parents)):
                if not path.exists():
                    path.mkdir()
                    made.append(path)
            handle, name = tempfile.mkstemp(prefix=".stunt-", dir=folder)
            os.close(handle)
            os.unlink(name)
            _check_files(folder)
        finally:
            for path in reversed(made):
                path.rmdir()


def _check_files(folder: Path) -> None:
    """Refuse a folder where one of the files' names is taken by another folder."""
    for name in (TAKE, REPORT, CRASH, *PICTURES):
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"'{name}' in it is a folder")


def write_take(folder: Path, take: Take, report: Mapping[str, Any], *, crash: Take | None = None) -> Path:
    """Write a take, its report and, after a blow-up, the last second of states; remove what an earlier take left.

    Returns:
        The take's file.
    """
    with _explained(folder):
        take.save(folder / TAKE)
        with written_aside(folder / REPORT) as aside:
            aside.write_text(report_text(report), encoding="utf-8")
        # Pictures of another performance beside this take would be a lie.
        for name in (CRASH, *PICTURES):
            (folder / name).unlink(missing_ok=True)
        if crash is not None:
            crash.save(folder / CRASH)
    return folder / TAKE


def draw_pictures(folder: Path, take: Take) -> list[Path]:
    """Draw the filmstrip and the plots of a take.

    Returns:
        The pictures' files; none for a take without characters.
    """
    from stunt.record.filmstrip import filmstrip
    from stunt.record.plots import plot_errors, plot_gains, plot_torques

    draw: tuple[Callable[[Take, Path], Any], ...] = (filmstrip, plot_gains, plot_errors, plot_torques)
    if not take.cast.characters:
        draw = (filmstrip,)  # there are no joints to plot
    paths = [folder / name for name in PICTURES[: len(draw)]]
    with _explained(folder):
        for picture, path in zip(draw, paths, strict=True):
            picture(take, path)
    return paths


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TakeError(f"cannot write to '{folder}': {error.strerror or error}.") from error
