"""The files of a take in a folder: written aside and moved into place, none left over from an earlier take."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from stunt.cli.terminal import say
from stunt.errors import TakeError, brief
from stunt.record import take_folder
from stunt.record.files import aside_prefix
from stunt.record.report import make_report, report_text
from stunt.record.take import TAKE_FILE, Take
from stunt.record.take_folder import CERTIFICATE, CRASH, PICTURES, REPORT, Claim, claimed
from stunt.review.verdict import review

TAKE: Final = TAKE_FILE


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
            handle, name = tempfile.mkstemp(prefix=aside_prefix("writable"), suffix=".part", dir=folder)
            os.close(handle)
            os.unlink(name)
            _check_files(folder)
        finally:
            for path in reversed(made):
                path.rmdir()


def _check_files(folder: Path) -> None:
    """Refuse a folder where one of the files' names is taken by another folder."""
    for name in (TAKE, REPORT, CRASH, CERTIFICATE, *PICTURES):
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"'{name}' in it is a folder")


@contextlib.contextmanager
def claimed_folder(folder: Path, *, quiet: bool = False) -> Iterator[Claim]:
    """Claim a folder for a take, mend what a killed run left in it, and say so.

    Raises:
        TakeError: Another process writes a take into it, or nothing can be written.
    """
    with contextlib.ExitStack() as stack:
        with _explained(folder):
            claim = stack.enter_context(claimed(folder, _report_of))
        if not quiet:
            for sentence in claim.mended:
                say("", f"{folder}: {sentence}")
        yield claim


def mend(folder: Path) -> None:
    """Finish what a killed run left undone in a folder, and say so; nothing where all is well."""
    with contextlib.suppress(OSError):
        if folder.is_dir():
            for sentence in take_folder.mend(folder, _report_of):
                say("", f"{folder}: {sentence}")


def _report_of(take: Take) -> str:
    return report_text(full_report(take))


def full_report(take: Take, wall_seconds: float | None = None) -> dict[str, Any]:
    """Return a take's report with a panel of what its review says (see `docs/report.md`)."""
    report = make_report(take, wall_seconds=wall_seconds)
    try:
        return report | {"review": review(take).panel()}
    except ArithmeticError:  # of a body that blew up
        return report | {"review": None}


def write_take(
    folder: Path, take: Take, report: Mapping[str, Any], *, crash: Take | None = None, claim: Claim | None = None
) -> Path:
    """Write a take, its report and, after a blow-up, the last second of states; remove what an earlier take left.

    The folder holds the old take or the new one, at every moment (see `stunt.record.take_folder`).

    Args:
        folder: Where to.
        take: What was performed.
        report: What is told of it.
        crash: The last second of states.
        claim: That of the folder; None claims it for now.

    Returns:
        The take's file.
    """

    def write(aside: Path) -> None:
        take.save(aside / TAKE)
        (aside / REPORT).write_text(report_text(report), encoding="utf-8")
        if crash is not None:
            crash.save(aside / CRASH)

    with _explained(folder):
        if claim is not None:
            claim.replace(write)
        else:
            with claimed(folder, _report_of) as own:
                own.replace(write)
    return folder / TAKE


def write_certificate(folder: Path, take: Take) -> dict[str, Any]:
    """Certify a take and write its certificate beside it; return it.

    Raises:
        TakeError: It keeps no ledger, or nothing can be written.
    """
    from stunt.check.certificate import certify
    from stunt.record.files import written_aside

    certificate = certify(take)
    with _explained(folder), written_aside(folder / CERTIFICATE) as aside:
        aside.write_text(report_text(certificate), encoding="utf-8")
    return certificate


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
        raise TakeError(f"cannot write to '{brief(folder)}': {error.strerror or error}.") from error
