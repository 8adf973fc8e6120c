"""The document: a script's text, what was done to it, and what is on disk. The text is the only truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stunt.record.files import written_aside
from stunt.script.file import script_from_text

_TOUCHES = "# touches: "
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


class Document:
    """One open script with its history.

    Attributes:
        path: The file it is saved to.
        now: The present version.
        saved: The text on disk; None if there is no file yet.
        recovered: Whether it was opened with edits that had not been saved.
    """

    def __init__(self, path: Path, text: str, *, on_disk: bool) -> None:
        """Open a text that belongs to a file.

        Args:
            path: Where it is saved to; an autosave lies beside it.
            text: The script.
            on_disk: Whether that is what the file holds now.
        """
        self.path = path
        self.now = Version(text)
        self.saved: str | None = text if on_disk else None
        self._original = text
        self.recovered = False
        self._past: list[Version] = []
        self._future: list[Version] = []
        self._recover()

    @staticmethod
    def open(path: Path) -> Document:
        """Open a file."""
        return Document(path, path.read_text(encoding="utf-8"), on_disk=True)

    @property
    def autosave(self) -> Path:
        """Where unsaved edits are kept: beside the file."""
        return self.path.with_name(f".{self.path.stem}.autosave.yaml")

    @property
    def dirty(self) -> bool:
        """Whether something is not saved."""
        return bool(self.now.touches) or self.now.text != (self._original if self.saved is None else self.saved)

    @property
    def history(self) -> dict[str, Any]:
        """What could be undone and redone, as labels."""
        undo = self.now.label if self._past else None
        return {"undo": undo, "redo": self._future[-1].label if self._future else None, "depth": len(self._past)}

    def change(
        self, label: str, *, text: str | None = None, touches: tuple[Mapping[str, Any], ...] | None = None
    ) -> None:
        """Make a new version; it can be undone."""
        new = Version(self.now.text if text is None else text, self.now.touches if touches is None else touches, label)
        if new.text == self.now.text and new.touches == self.now.touches:
            return
        self._past = [*self._past[-_MOST + 1 :], self.now]
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

    def save(self, path: Path | None = None) -> Path:
        """Write the script to its file (or to another one, which it belongs to from then on).

        Raises:
            TakeError: The file cannot be written; what was there stays.
        """
        self.autosave.unlink(missing_ok=True)
        self.path = path or self.path
        with written_aside(self.path) as aside:
            aside.write_text(self.now.text, encoding="utf-8", newline="")
        self.saved, self.recovered = self.now.text, False
        if self.now.touches:
            self.keep_aside()
        return self.path

    def keep_aside(self) -> None:
        """Write the autosave, or take it away where everything is saved."""
        if not self.dirty:
            self.autosave.unlink(missing_ok=True)
            return
        touches = f"{_TOUCHES}{json.dumps(list(self.now.touches))}\n" if self.now.touches else ""
        with written_aside(self.autosave) as aside:
            aside.write_text(touches + self.now.text, encoding="utf-8", newline="")

    def _recover(self) -> None:
        """Go on with edits of a session that ended without saving."""
        try:
            text = self.autosave.read_bytes().decode("utf-8")
            touches: tuple[Mapping[str, Any], ...] = ()
            if text.startswith(_TOUCHES):
                line, _, text = text.partition("\n")
                touches = tuple(json.loads(line[len(_TOUCHES) :]))
            script_from_text(text, str(self.path))
        except (OSError, ValueError, TypeError):
            return
        except Exception:  # noqa: BLE001 — an autosave that is no script any more is left where it is
            return
        if text != self.now.text or touches:
            self._past.append(self.now)
            self.now = Version(text, touches, "edits of the last session")
            self.recovered = True

    def discard(self) -> None:
        """Go back to what is on disk (or was opened), as one more version."""
        text = self._original if self.saved is None else self.saved
        self.change("back to the saved script", text=text, touches=())
