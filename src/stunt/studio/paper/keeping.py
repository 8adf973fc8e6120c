"""Scripts and unsaved work on disk: read whole, written whole or not at all; what goes wrong is said in words."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from stunt.errors import StuntError, TakeError
from stunt.record.files import lock, read_file, written_aside

HEADER = "# unsaved: "
"""Begins the first line of an autosave; what a script cannot say follows as JSON."""
_MOST = 64 * 2**20  # bytes of a file that is looked at; scripts have far less
_TOUCHES = "# touches: "  # what version 0.1 wrote


class NotWrittenError(StuntError):
    """A file that cannot be written, or read; nothing was changed."""


class NotReadError(StuntError):
    """A file holds something that was not read here; it is written over only by whoever says so.

    Attributes:
        why: `changed` if it is the document's own file, changed by somebody else; `there` if it is another one.
    """

    def __init__(self, sentence: str, why: Literal["changed", "there"]) -> None:
        super().__init__(sentence)
        self.why = why


class OpenElsewhereError(StuntError):
    """A script that another studio has open: the two would write over each other's unsaved work."""


class OpenScript:
    """A script that this studio alone has open, from now until it is let go of, or the process ends however it ends.

    Attributes:
        path: Which.
    """

    def __init__(self, path: Path) -> None:
        """Take it.

        Raises:
            OpenElsewhereError: Another studio has it.
        """
        self.path, self._mark = path, path.with_name(f".{path.name}.studio")
        self._file: BinaryIO | None = None
        try:
            self._file = lock(self._mark)
        except (OSError, ValueError):  # nothing can be written there, so there is nothing to write over either
            return
        if self._file is None:
            who = f"another studio (process {_holder(self._mark)})"
            raise OpenElsewhereError(f"'{_cut(path.name)}' is open in {who}: go on there, or end it first.")
        with contextlib.suppress(OSError):
            self._file.truncate()
            self._file.write(b"%d\n" % os.getpid())

    def let_go(self) -> None:
        """Let others have it."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._mark.unlink(missing_ok=True)
            self._file.close()
            self._file = None


def open_elsewhere(path: Path) -> bool:
    """Whether another studio has a script open."""
    mark = path.with_name(f".{path.name}.studio")
    if not mark.exists() or _holder(mark) == str(os.getpid()):
        return False
    try:
        OpenScript(path).let_go()
    except OpenElsewhereError:
        return True
    return False


def _holder(mark: Path) -> str:
    try:
        return mark.read_bytes()[:20].decode("ascii", "replace").strip() or "?"
    except OSError:
        return "?"


@dataclass(frozen=True)
class Unsaved:
    """What an autosave holds.

    Attributes:
        text: The script.
        touches: What the hand did besides.
        base: Digest of the file that was edited; "" where there was no file, None where it is not known.
        beside: The file its bodies and clips were looked for beside; None if that is its own.
    """

    text: str
    touches: tuple[Mapping[str, Any], ...] = ()
    base: str | None = None
    beside: Path | None = None


def autosave_of(path: Path) -> Path:
    """Return where unsaved edits of a file are kept: beside it."""
    name = path.stem if path.suffix == ".yaml" else path.name
    return path.with_name(f".{name}.autosave.yaml")


def file_of(autosave: Path) -> Path:
    """Return the file whose unsaved edits lie in an autosave."""
    name = autosave.name.removeprefix(".").removesuffix(".autosave.yaml")
    return autosave.with_name(name if name.endswith(".yml") else f"{name}.yaml")


def read_autosave(autosave: Path) -> Unsaved:
    """Read what was not saved.

    Raises:
        OSError, ValueError, TypeError: There is nothing, or nothing of sense.
    """
    text = read_file(autosave, _MOST).decode("utf-8")
    head: dict[str, Any] = {}
    if text.startswith((HEADER, _TOUCHES)):
        line, _, text = text.partition("\n")
        found = json.loads(line[len(HEADER) :] if line.startswith(HEADER) else line[len(_TOUCHES) :])
        head = found if isinstance(found, dict) else {"touches": found}
    beside = head.get("beside")
    return Unsaved(text, tuple(dict(t) for t in head.get("touches", ())), head.get("base"), beside and Path(beside))


def as_bytes(text: str) -> bytes:
    """Return a text as its file holds it; also what was read of a file that is no text."""
    return text.encode("utf-8", "surrogateescape")


def digest_of(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(as_bytes(text)).hexdigest()


def reason_of(error: OSError) -> str:
    """Return why the file system refused, in words."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def kind_of(path: Path) -> Literal["", "file", "other"]:
    """Return what there is under a name: nothing, a file, or something else.

    Raises:
        NotWrittenError: No file can have that name, or nobody may look.
    """
    try:
        return "file" if path.is_file() else "other" if path.exists() else ""
    except OSError as error:
        raise NotWrittenError(f"cannot use '{_cut(path.name)}': {reason_of(error)}.") from error


def _cut(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:40]}…{name[-12:]}"


def bytes_of(path: Path) -> bytes | None:
    """Return what a file holds; None if there is none."""
    try:
        return read_file(path, _MOST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotWrittenError(f"cannot read '{_cut(path.name)}': {reason_of(error)}.") from error


def text_of(path: Path) -> str:
    """Read a script, with the ends of its lines as they are.

    Raises:
        NotWrittenError: It is not there, or no text.
    """
    found = bytes_of(path)
    if found is None:
        raise NotWrittenError(f"there is no '{path.name}'.")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotWrittenError(f"cannot read '{path.name}': it is no text (UTF-8).") from error


def write_text(path: Path, text: str, *, safely: bool = False) -> None:
    """Write a script whole or not at all; `safely` waits until it is on the disk."""
    write_bytes(path, as_bytes(text), safely=safely)


def write_bytes(path: Path, content: bytes, *, safely: bool = False) -> None:
    """Write a file whole or not at all.

    Raises:
        NotWrittenError: That is not possible; what was there stays.
    """
    try:
        with written_aside(path) as aside, open(aside, "wb") as file:
            file.write(content)
            if safely:
                file.flush()
                os.fsync(file.fileno())
    except (OSError, TakeError) as error:
        with contextlib.suppress(NotWrittenError):
            if bytes_of(path) == content:  # it stands; what failed came after
                return
        reason = error if isinstance(error, OSError) else error.__cause__
        words = reason_of(reason) if isinstance(reason, OSError) else str(error)
        raise NotWrittenError(f"cannot write '{_cut(path.name)}': {words}.") from error


def move_file(old: Path, new: Path) -> None:
    """Rename a file, but never over another one."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if new.exists():
            raise
        old.rename(new)
        return
    try:
        old.unlink()
    except OSError:
        new.unlink()
        raise


def out_of_the_way(autosave: Path) -> None:
    """Give an autosave that somebody may still want another name."""
    if not autosave.exists():
        return
    stem = autosave.name.removeprefix(".").removesuffix(".autosave.yaml")
    number = 2
    while (new := autosave.with_name(f".{stem}-{number}.autosave.yaml")).exists() or file_of(new).exists():
        number += 1
    autosave.rename(new)
