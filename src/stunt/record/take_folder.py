"""The folder of a take: claimed by one process at a time, and changed from one take to the next as a whole.

New files are written into a folder of their own beside the old ones; renaming it to `.new-take` is the one moment at
which the new take is the take. What is left to do then, moving them into place and removing what belonged to the old
one, can be done by anybody: a process that was killed in the middle is finished by the next one that comes along.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from stunt.errors import TakeError, brief
from stunt.record.files import aside_prefix, lock, sweep
from stunt.record.journal import Journal, recovered, writer_of
from stunt.record.take import COMMITTED, TAKE_FILE, Take

JOURNAL: Final = ".take.journal"
"""The journal of the performance under way, which is also the lock of the folder."""
CRASH: Final = "crash.npz"
REPORT: Final = "report.json"
CERTIFICATE: Final = "certificate.json"
PICTURES: Final = ("filmstrip.png", "gains.png", "errors.png", "torques.png")
_FILES: Final = (TAKE_FILE, REPORT, CRASH, CERTIFICATE, *PICTURES)
_LIST: Final = "files"  # of what is in COMMITTED, by name; the last to go


class Claim:
    """A folder this process alone writes takes into.

    Attributes:
        folder: Which.
        journal: Where the performance under way is written down.
        mended: What was mended, left by a process that was killed; sentences.
    """

    def __init__(self, folder: Path, file: BinaryIO, report: Callable[[Take], str]) -> None:
        """Mend what a killed process left, and begin a journal."""
        self.folder = folder
        self.mended = _mend(folder, report)
        file.seek(0)
        file.truncate()
        self.journal = Journal(file)

    def replace(self, write: Callable[[Path], None]) -> None:
        """Put a new take in place of the old one, with all that belongs to it.

        Args:
            write: Writes the files into the folder it is given, each under its own name.

        Raises:
            OSError: It cannot be written. The old take is as it was, or the new one is there and will be moved into
                place by the next run.
        """
        finish(self.folder)
        try:
            self._commit(write)
        except (OSError, TakeError):
            if not self.journal.blocks:
                raise
            self.journal.make_room()  # on a full disk it may be the journal that fills it
            try:
                self._commit(write)
            except (OSError, TakeError) as error:
                self.journal.write_again()
                raise TakeError(
                    f"{error.reason if isinstance(error, TakeError) else error} What was performed up to "
                    f"{self.journal.seconds:.2f} s is kept in '{self.folder / JOURNAL}'; with room on the disk, "
                    f"'stunt show {self.folder}' makes a take of it."
                ) from error
        self.journal.forget()
        finish(self.folder)

    def _commit(self, write: Callable[[Path], None]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)  # somebody may have removed it meanwhile
        aside = Path(tempfile.mkdtemp(prefix=aside_prefix("new-take"), suffix=".part", dir=self.folder))
        try:
            write(aside)
            names = [name for name in _FILES if (aside / name).exists()]
            (aside / _LIST).write_text("".join(f"{name}\n" for name in names), encoding="ascii")
            aside.chmod(0o755)
            aside.rename(self.folder / COMMITTED)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise


@contextlib.contextmanager
def claimed(folder: Path, report: Callable[[Take], str]) -> Iterator[Claim]:
    """Claim a folder, making it where it is not there; what is made goes again if nothing is put into it.

    Args:
        folder: Which.
        report: Makes the report of a take that is recovered from a journal.

    Raises:
        TakeError: Another process has claimed it, or it cannot be written to.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file, claim = _locked(folder), None
        try:
            sweep(folder)
            claim = Claim(folder, file, report)
            yield claim
        finally:
            with contextlib.suppress(OSError):
                # A journal that holds frames stays, for it is all there is of them.
                if os.fstat(file.fileno()).st_size == 0 or (claim is not None and not claim.journal.blocks):
                    (folder / JOURNAL).unlink(missing_ok=True)
            file.close()
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()  # only where it is empty


def mend(folder: Path, report: Callable[[Take], str]) -> list[str]:
    """Finish what a killed process left undone in a folder; return what was done, in sentences.

    Nothing is done where there is nothing to mend, where another process is at work, or nothing can be written.
    """
    if not ((folder / COMMITTED).is_dir() or (folder / JOURNAL).is_file()):
        sweep(folder)
        return []
    with contextlib.suppress(TakeError, OSError), claimed(folder, report) as claim:
        return claim.mended
    return []


def finish(folder: Path) -> bool:
    """Move a take that was written whole into place; return whether there was one."""
    new = folder / COMMITTED
    if new.is_symlink():  # no Stunt made it: what it leads to is not this folder's
        return False
    try:
        names = (new / _LIST).read_text(encoding="ascii", errors="replace").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        with contextlib.suppress(OSError):
            new.rmdir()  # it was at the very end
        return False
    for name in _FILES:
        if (new / name).exists():
            (new / name).replace(folder / name)
        elif name not in names:
            (folder / name).unlink(missing_ok=True)  # pictures of another performance beside this take would be a lie
    (new / _LIST).unlink()
    new.rmdir()
    return True


def _mend(folder: Path, report: Callable[[Take], str]) -> list[str]:
    if finish(folder):
        return ["a take that was written, but not moved into place, is in place now."]  # the journal's own, whole
    journal = folder / JOURNAL
    try:
        take = recovered(journal)
    except TakeError as error:
        kept = _free_name(folder, "unreadable", ".journal")
        shutil.copyfile(journal, kept)
        return [f"{error.reason} It is kept as {kept.name}."]
    if take is None:
        return []
    target = folder / TAKE_FILE
    if target.exists():  # no older take is replaced by what is only a part of one
        target = _free_name(folder, "recovered", ".npz")
    else:
        (folder / REPORT).write_text(report(take), encoding="utf-8")
    take.save(target)
    return [f"a performance that was killed is recovered up to {take.seconds:.2f} s: {target.name}."]


def _free_name(folder: Path, stem: str, suffix: str) -> Path:
    number, path = 1, folder / f"{stem}{suffix}"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{suffix}"
    return path


def _locked(folder: Path) -> BinaryIO:
    """Return the folder's journal, open and locked."""
    path = folder / JOURNAL
    file = lock(path)
    if file is None:
        writer = writer_of(path)
        who = f"another Stunt (process {writer})" if writer else "another Stunt"
        raise TakeError(f"{who} is writing a take into '{brief(folder)}': wait, or name another folder.")
    return file
