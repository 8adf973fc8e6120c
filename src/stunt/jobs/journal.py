"""A journal: rows on disk as they come, one line each, in a folder that belongs to one run at a time.

The folder holds `journal.jsonl`, whose first line says to which jobs it belongs, and `lock`, which the running process
holds. A line is whole or it is not there: the last one of a run that was killed may be cut, and is taken off. What was
written is on the disk within a second. Whoever runs the same jobs in the same folder goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, Final

from stunt.errors import TakeError
from stunt.jobs.job import FAILURE, Done, JobError, Row
from stunt.record.files import written_aside

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None

NAME: Final = "journal.jsonl"
_LOCK: Final = "lock"
_VERSION: Final = 1
_SAFE_EVERY: Final = 1.0  # [s] how long what was written may not be on the disk yet
MOST_ROWS: Final = 10**8
"""Of one folder: nine bytes of memory each."""
_NONE, _FINE, _FAILED = 0, 1, 2


class RowJournal:
    """Rows of jobs in a folder. Use it as a context, or close it.

    Attributes:
        folder: Where.
        count: How many jobs there are.
        done: How many have a row.
        failed: How many of these went wrong.
        warnings: What the user should know; sentences.
    """

    def __init__(self, folder: Path, digest: str, count: int) -> None:
        """Begin a journal, or go on with it.

        Args:
            folder: Where; made where it is not there.
            digest: Of the jobs.
            count: How many jobs there are.

        Raises:
            JobError: There are too many, another process works there, the folder holds rows of other jobs, or it cannot
                be written to.
        """
        if count > MOST_ROWS:
            raise JobError(f"a folder holds up to {MOST_ROWS:,} rows, not {count:,}; write the plan in parts.")
        self.folder, self.count = folder, count
        self.done = self.failed = 0
        self.warnings: list[str] = []
        self._state = bytearray(count)
        self._offsets = array("q", [-1]) * count
        self._safe_at = time.monotonic()
        self._file: BinaryIO | None = None
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / _LOCK)
            try:
                self._open(folder / NAME, {"journal": _VERSION, "digest": digest, "jobs": count})
            except BaseException:
                self._unlock()
                raise

    def __enter__(self) -> RowJournal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, path: Path, header: Row) -> None:
        if not path.exists() or not path.stat().st_size:
            # Aside and moved: a journal without its first line belongs to nobody.
            with written_aside(path) as aside:
                aside.write_text(json.dumps(header) + "\n", encoding="utf-8")
        file = open(path, "r+b")  # noqa: SIM115 - kept open
        try:
            end = self._read(file, header)
            file.truncate(end)
            file.seek(end)
        except BaseException:
            file.close()
            raise
        self._file = file

    def _read(self, file: BinaryIO, header: Row) -> int:
        """Read what is there; return where the whole lines end."""
        first = _parsed(file.readline())
        if first is None or not {"digest", "jobs"} <= set(first):
            raise JobError(f"'{self.folder / NAME}' is no journal of Stunt's; take another folder.")
        if first.get("journal") != _VERSION:
            raise JobError(
                f"'{self.folder / NAME}' has version {first.get('journal')}, but this Stunt reads {_VERSION}."
            )
        if first["digest"] != header["digest"] or first["jobs"] != header["jobs"]:
            raise JobError(
                f"'{self.folder}' holds rows of another plan ({first['jobs']} jobs; this one has {header['jobs']}, or "
                "says something else). Take another folder for this one, or run that plan again to go on with it."
            )
        end, damaged = file.tell(), 0
        for line in iter(file.readline, b""):
            entry = _parsed(line) if line.endswith(b"\n") else None
            if entry is not None and _is_of_a_job(entry) and 0 <= entry["index"] < self.count:
                self._mark(entry["index"], end, bool(entry["row"].get(FAILURE)))
            elif line.endswith(b"\n"):
                damaged += 1
            else:
                self.warnings.append("the last row was cut off when an earlier run ended; its job is run again.")
                return end
            end = file.tell()
        if damaged:
            self.warnings.append(
                f"{damaged} damaged rows of '{self.folder / NAME}' are left out; their jobs run again."
            )
        return end

    def _mark(self, index: int, offset: int, failed: bool) -> None:
        before = self._state[index]
        self._state[index] = _FAILED if failed else _FINE
        self._offsets[index] = offset  # the last row of a job is the one that counts
        self.done += before == _NONE
        self.failed += int(failed) - (before == _FAILED)

    def has(self, index: int, *, failed: bool = True) -> bool:
        """Whether a job has a row; one that failed counts only if asked so."""
        return self._state[index] == _FINE or (failed and self._state[index] == _FAILED)

    def note(self, done: Done) -> None:
        """Write what came of a job; a second row of one that went well is not written.

        Raises:
            JobError: It cannot be written; what was written before is kept.
        """
        if self._state[done.index] == _FINE:
            return
        assert self._file is not None
        offset = self._file.tell()
        line = json.dumps({"index": done.index, "id": done.id, "row": done.row, "timing": done.timing}, allow_nan=False)
        try:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            if time.monotonic() - self._safe_at >= _SAFE_EVERY:
                self._make_safe()
        except OSError as error:
            self._take_back(offset)
            raise self.full(error.strerror or str(error)) from error
        self._mark(done.index, offset, done.failed)

    def _take_back(self, offset: int) -> None:
        """Take off half a line that a full disk left."""
        path, file = self.folder / NAME, self._file
        self._file = None
        with contextlib.suppress(OSError):
            os.truncate(path, offset)
        with contextlib.suppress(OSError):
            assert file is not None
            file.close()  # may try to write the rest once more
        with contextlib.suppress(OSError):
            os.truncate(path, offset)

    def full(self, reason: str) -> JobError:
        """Return what to say where nothing can be written."""
        return JobError(
            f"cannot write to '{self.folder}': {reason}. The {self.done} rows so far are kept; make room, and the same "
            "command goes on from there."
        )

    def _make_safe(self) -> None:
        assert self._file is not None
        os.fsync(self._file.fileno())
        self._safe_at = time.monotonic()

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield all that was noted, by the jobs' places: dicts with `index`, `id`, `row`, `timing`."""
        with self._explained(), open(self.folder / NAME, "rb") as file:
            for offset in self._offsets:
                if offset >= 0:
                    file.seek(offset)
                    yield json.loads(file.readline())

    def close(self) -> None:
        """Bring everything to the disk and let others work in the folder."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._make_safe()
            self._file.close()
            self._file = None
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, TakeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise JobError(f"cannot work in '{self.folder}': {reason}.") from error


def noted_in(folder: Path) -> list[dict[str, Any]]:
    """Return what a journal in a folder has noted, by the jobs' places, without taking the folder: it may be in use.

    Raises:
        JobError: There is no journal.
    """
    path = folder / NAME
    try:
        with open(path, "rb") as file:
            first = _parsed(file.readline())
            lines = [_parsed(line) for line in file if line.endswith(b"\n")]
    except OSError as error:
        raise JobError(f"'{folder}' holds no rows of a batch ({NAME}: {error.strerror}).") from None
    if first is None or "digest" not in first:
        raise JobError(f"'{path}' is no journal of Stunt's.")
    found = {entry["index"]: entry for entry in lines if entry is not None and _is_of_a_job(entry)}
    return [found[index] for index in sorted(found)]


def _is_of_a_job(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("row"), dict) and type(entry.get("index")) is int


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _locked(path: Path) -> Any:
    """Take a folder's lock; the system gives it back when this process ends, however that comes about."""
    file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - kept open
    if fcntl is None:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        who = file.read(20).strip()
        file.close()
        raise JobError(
            f"another process{f' ({who})' if who else ''} works in '{path.parent}'; wait, or take another folder."
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file
