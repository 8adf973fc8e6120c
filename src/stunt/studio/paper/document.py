"""The document: a script's text, what was done to it, and what is on disk. The text is the only truth."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from stunt.errors import NONSENSE
from stunt.script.file import script_from_text
from stunt.studio.paper.identity import Marks
from stunt.studio.paper.keeping import (
    HEADER,
    NotReadError,
    NotWrittenError,
    as_bytes,
    autosave_of,
    bytes_of,
    digest_of,
    kind_of,
    move_file,
    out_of_the_way,
    read_autosave,
    reason_of,
    stamp_of,
    text_of,
    write_text,
)

_MOST = 500
"""How many steps can be undone."""


@dataclass(frozen=True)
class Version:
    """The document at one moment."""

    text: str  #: The script
    #: What the hand did that is not in the script (yet), as a script would write it; with a prop's own definition under
    #: `prop` where the thing thrown is not in the script.
    touches: tuple[Mapping[str, Any], ...] = ()
    label: str = ""  #: What was done to get here
    marks: Marks | None = None  #: By which numbers the items of its lists are known; None: nobody has looked yet


class Document:
    """One open script with its history.

    Attributes:
        path: The file it is saved to.
        beside: The file its bodies and clips are looked for beside.
        now: The present version.
        saved: The text on disk as it was last read or written; None if there is no file yet.
        recovered: Whether it was opened with edits that had not been saved.
        outside: `changed` if the file holds something that was not read, `gone` if it is no longer there, or "".
        unkept: Why unsaved edits could not be kept on disk; "" while they are.
    """

    def __init__(self, path: Path, text: str, *, on_disk: bool, beside: Path | None = None) -> None:
        """Open a text that belongs to a file.

        Args:
            path: Where it is saved to; an autosave lies beside it.
            text: The script.
            on_disk: Whether that is what the file holds now.
            beside: The file its bodies and clips are looked for beside, if that is another one.
        """
        self.path, self.beside = path, beside or path
        self.now = Version(text)
        self.saved: str | None = text if on_disk else None
        self._original: str | None = text
        self.recovered = False
        self.outside: Literal["", "changed", "gone"] = ""
        self.unkept = ""
        self._past: list[Version] = []
        self._future: list[Version] = []
        self._stamp = stamp_of(path)
        self._strange = False
        self._recover()

    @staticmethod
    def open(path: Path) -> Document:
        """Open a file, with edits that were not saved; without the file, those alone.

        Raises:
            NotWrittenError: It cannot be read.
        """
        if kind_of(path):
            return Document(path, text_of(path), on_disk=True)
        try:
            found = read_autosave(autosave_of(path))
        except (OSError, *NONSENSE) as error:
            raise NotWrittenError(f"there is no '{path.name}', and no unsaved work on it.") from error
        document = Document(path, found.text, on_disk=False, beside=found.beside)
        document.now = Version(found.text, found.touches)
        document._past, document._original, document.recovered = [], None, True
        return document

    @property
    def autosave(self) -> Path:
        """Where unsaved edits are kept."""
        return autosave_of(self.path)

    @property
    def base(self) -> str | None:
        """What Revert goes back to: the file's text, or what was opened; None where that is not known any more."""
        return self._original if self.saved is None else self.saved

    @property
    def dirty(self) -> bool:
        """Whether something is not saved."""
        return bool(self.now.touches) or self.now.text != self.base

    @property
    def history(self) -> dict[str, Any]:
        """What could be undone and redone, as labels."""
        undo = self.now.label if self._past else None
        return {"undo": undo, "redo": self._future[-1].label if self._future else None, "depth": len(self._past)}

    # -- editing

    def change(
        self,
        label: str,
        *,
        text: str | None = None,
        touches: tuple[Mapping[str, Any], ...] | None = None,
        marks: Marks | None = None,
    ) -> None:
        """Make a new version; it can be undone. Never fails: `unkept` says where it could not be kept on disk."""
        now = self.now
        same = text is None or text == now.text
        new = Version(
            now.text if text is None else text, now.touches if touches is None else touches, label,
            now.marks if same and marks is None else marks,
        )  # fmt: skip
        if same and new.touches == now.touches:
            return
        self._past = [*self._past[-_MOST + 1 :], now]
        self.now, self._future = new, []
        self.keep_aside()

    def undo(self) -> str | None:
        """Go one version back; returns what was undone."""
        if not self._past:
            return None
        label = self.now.label
        self._future.append(self.now)
        self.now = self._past.pop()
        self.keep_aside()
        return label

    def redo(self) -> str | None:
        """Go one version forth again; returns what was done."""
        if not self._future:
            return None
        self._past.append(self.now)
        self.now = self._future.pop()
        self.keep_aside()
        return self.now.label

    def discard(self) -> None:
        """Go back to what is on disk (or was opened), as one more version."""
        if self.base is not None:
            self.change("back to the saved script", text=self.base, touches=())

    # -- the file

    def save(self, path: Path | None = None, *, over: bool = False, text: str | None = None) -> Path:
        """Write the script to its file (or to another one, which it belongs to from then on).

        Only when the file stands is anything else changed: whatever goes wrong before leaves the file, the autosave and
        the document as they were.

        Args:
            path: The other file.
            over: Write over what the file holds, though it was not read here.
            text: The script as that file says it, where it names its bodies and clips by other paths.

        Raises:
            NotReadError: The file holds something that was not read here.
            NotWrittenError: It cannot be written.
        """
        target, text = path or self.path, self.now.text if text is None else text
        self.check(target, text, over=over)
        write_text(target, text, safely=True)
        before = self.autosave
        if target != self.path:
            with contextlib.suppress(OSError):
                out_of_the_way(autosave_of(target))
        self.path = self.beside = target
        self.now = replace(self.now, text=text)
        self.saved, self.recovered, self.outside = text, False, ""
        self._stamp = stamp_of(target)
        self.keep_aside()
        if before != self.autosave and not self.unkept:
            with contextlib.suppress(OSError):
                before.unlink(missing_ok=True)
        return self.path

    def check(self, target: Path, text: str, *, over: bool) -> None:
        """Complain, before anything is written, about what a file holds, or about its name; see `save`."""
        if kind_of(target) == "other":
            raise NotWrittenError(f"cannot write '{target.name}': there is a folder of that name.")
        there = bytes_of(target)
        if there is not None and not os.access(target, os.W_OK):
            raise NotWrittenError(f"cannot write '{target.name}': it is read-only. Save it under another name.")
        if over or there is None or there == as_bytes(text):
            pass
        elif target != self.path:
            raise NotReadError(f"there is already a '{target.name}'.", "there")
        elif self.outside == "changed" or self.saved is None or there != as_bytes(self.saved):
            raise NotReadError(f"'{target.name}' was changed by somebody else since it was read here.", "changed")
        if target != self.path and not over and kind_of(autosave_of(target)):
            raise NotReadError(f"there is unsaved work on a '{target.name}'.", "there")

    def rename(self, path: Path) -> None:
        """Give the file another name; edits that are not saved stay so.

        Raises:
            NotReadError: There is such a file already, or unsaved work on one.
            NotWrittenError: The file system does not want to.
        """
        if path == self.path:
            return
        if kind_of(path) or kind_of(autosave_of(path)):
            raise NotReadError(f"there is already a '{path.name}', or unsaved work on one.", "there")
        before = self.autosave
        if self.saved is not None:
            try:
                move_file(self.path, path)
            except OSError as error:
                raise NotWrittenError(f"cannot rename it to '{path.name}': {reason_of(error)}.") from error
        self.beside = path if self.beside == self.path else self.beside
        self.path, self._stamp = path, stamp_of(path)
        self.keep_aside()
        if not self.unkept:
            with contextlib.suppress(OSError):
                before.unlink(missing_ok=True)

    def look(self) -> bool:
        """See whether somebody else changed the file; returns whether that is news."""
        stamp, before = stamp_of(self.path), self.outside
        if stamp == self._stamp:
            return False
        there = bytes_of(self.path)
        self._stamp = stamp
        if there is None:
            self.outside = "" if self.saved is None else "gone"
        elif there == as_bytes(self.now.text):  # somebody wrote what this document says
            self.saved, self.outside = self.now.text, ""
            self.keep_aside()
        else:
            self.outside = "" if self.saved is not None and there == as_bytes(self.saved) else "changed"
        return bool(self.outside or before)

    def theirs(self) -> str:
        """Return what the file holds now.

        Raises:
            NotWrittenError: It cannot be read.
        """
        return text_of(self.path)

    def compare(self) -> list[str]:
        """Return how the file differs from this document, line by line: `-` this one, `+` the file."""
        mine, theirs = self.now.text.splitlines(), self.theirs().splitlines()
        return list(difflib.unified_diff(mine, theirs, "mine", "file", lineterm="", n=2))

    def reload(self, text: str) -> None:
        """Go on with what the file holds now, as one more version."""
        self.saved, self.outside, self.recovered = text, "", False
        self.change("read the file again", text=text, touches=())
        self.keep_aside()

    def keep_mine(self) -> None:
        """Go on with this text, knowing what the file holds: Save will write over that."""
        there = bytes_of(self.path)
        if there is None:
            self.saved, self._original = None, None
        else:
            self.saved = there.decode("utf-8", "surrogateescape")
        self.outside = ""
        self.keep_aside()

    # -- what is not saved

    def keep_aside(self) -> None:
        """Write the autosave, or take it away where everything is saved. Never fails; `unkept` says what went wrong."""
        self.unkept = ""
        if not self.dirty:
            if not self._strange:
                with contextlib.suppress(OSError):  # it holds what the file holds, and is never taken for more
                    self.autosave.unlink(missing_ok=True)
            return
        try:
            if self._strange:
                out_of_the_way(self.autosave)
                self._strange = False
            write_text(self.autosave, self._header() + self.now.text)
        except (OSError, NotWrittenError) as error:
            self.unkept = error.args[0] if isinstance(error, NotWrittenError) else f"{reason_of(error)}."

    def rescue(self, folders: Iterable[Path]) -> Path | None:
        """Keep what could not be kept beside the file in the first of some folders that lets one; returns where."""
        for folder in folders if self.unkept else ():
            place = folder / self.autosave.name
            with contextlib.suppress(OSError, NotWrittenError):
                out_of_the_way(place)
                write_text(place, self._header() + self.now.text)
                return place
        return None

    def _header(self) -> str:
        head: dict[str, Any] = {"base": "" if self.saved is None else digest_of(self.saved)}
        if self.now.touches:
            head["touches"] = list(self.now.touches)
        if self.beside != self.path:
            head["beside"] = str(self.beside)
        return f"{HEADER}{json.dumps(head)}\n"

    def _recover(self) -> None:
        """Go on with edits of a session that ended without saving."""
        try:
            found = read_autosave(self.autosave)
            script_from_text(found.text, str(found.beside or self.path))
        except FileNotFoundError:
            return
        except Exception:  # noqa: BLE001 — an autosave that is no script (any more) is left, and later moved away
            self._strange = True
            return
        if found.text != self.now.text or found.touches:
            self._past.append(self.now)
            self.now = Version(found.text, found.touches, "edits of the last session")
            self.recovered = True
            known = "" if self.saved is None else digest_of(self.saved)
            self.outside = "" if found.base in (None, known) else "changed"
