"""What a page may do with files: open, save, rename, go back, use what was dropped, see what somebody else did."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stunt.errors import StuntError
from stunt.library.doctor import examine
from stunt.script.file import script_from_text
from stunt.studio import openings
from stunt.studio.clients import Audience, Client
from stunt.studio.paper.document import Document
from stunt.studio.paper.keeping import NotReadError, OpenScript, autosave_of, open_elsewhere, write_bytes

LOOK = 0.5
"""How often it is seen whether somebody else changed the file [s]."""


@dataclass
class Wish:
    """One page's wish to open something else, which the others were asked about."""

    client: Client
    number: int
    document: Document
    asked: set[Client]


class Filing:
    """The files of a session.

    Attributes:
        document: The script being edited.
        folder: Where new files go.
        audience: Who looks on.
        dropped: Files that were dropped on the page, by name.
    """

    document: Document
    folder: Path
    audience: Audience
    dropped: dict[str, Path]
    _scratch_folder: Path
    _editing: asyncio.Lock
    _held: OpenScript
    _wish: Wish | None = None
    _wishes = 0

    async def _aside(self, work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def _renew(self, op: str = "change") -> None:
        raise NotImplementedError

    async def _kept(self) -> None:
        raise NotImplementedError

    async def on_edit(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Edit the script."""
        raise NotImplementedError

    def _tell(self, kind: str, data: Any) -> None:
        raise NotImplementedError

    def _tell_document(self) -> None:
        raise NotImplementedError

    @contextlib.contextmanager
    def _holding(self, path: Path) -> Iterator[None]:
        """Have another script instead of this one, if what is done meanwhile goes well.

        Raises:
            OpenElsewhereError: Another studio has it.
        """
        if path == self._held.path:
            yield
            return
        new = OpenScript(path)
        try:
            yield
        except BaseException:
            new.let_go()
            raise
        self._held.let_go()
        self._held = new

    # -- saving

    @property
    def folders(self) -> list[Path]:
        """Where scripts can be saved: beside this one, where the studio was started, at home."""
        found = [self.document.path.parent, self.folder]
        with contextlib.suppress(RuntimeError):  # nobody has a home here
            found.append(Path.home())
        return list(dict.fromkeys(found))

    def _named(self, name: str, folder: str | None = None) -> Path:
        if Path(name).name != name or not name.endswith((".yaml", ".yml")) or name.startswith(".") or "\0" in name:
            raise StuntError(f"'{name[:60]}' is no file name of a script; it would end with .yaml.")
        places = {str(place): place for place in self.folders}
        if folder is not None and folder not in places:
            raise StuntError("that folder is none of those this script can be saved to.")
        return (self.document.path.parent if folder is None else places[folder]) / name

    async def on_save(
        self, name: str | None = None, folder: str | None = None, over: bool = False, touches: str | None = None
    ) -> dict[str, Any]:
        """Write the script to its file, or to another one; asks back (`asks`) where something would be lost.

        Args:
            name: The other file's name.
            folder: The other file's folder, one of `folders`.
            over: Write over what the file holds, though it was not read here.
            touches: `keep` writes what the hand did into the script first, `leave` saves without it.
        """
        path = self._named(name, folder) if name else None
        async with self._editing:
            count = len(self.document.now.touches)
            if count and touches not in ("keep", "leave"):
                return {"asks": "touches", "count": count}
            if count and touches == "keep":
                await self._kept()
            try:
                saved = await self._aside(self._save, path, over)
            except NotReadError as error:
                return {"asks": error.why, "words": str(error)}
            finally:
                self._tell_document()
        return {"path": str(saved)}

    def _save(self, path: Path | None, over: bool) -> Path:
        document, target = self.document, path or self.document.path
        document.check(target, document.now.text, over=over)
        text, made = openings.moved_in(document.now.text, document.beside, target.parent)
        try:
            with self._holding(target):
                return document.save(path, over=over, text=text)
        except StuntError:
            openings.taken_back(made)
            raise

    async def on_rename(self, name: str) -> dict[str, str]:
        """Give the file another name."""
        path = self._named(name)
        async with self._editing:
            try:
                with self._holding(path):
                    await self._aside(self.document.rename, path)
            finally:
                self._tell_document()
        return {"path": str(path)}

    async def on_discard(self) -> None:
        """Go back to what is on disk; this, too, can be undone."""
        async with self._editing:
            if self.document.base is None:
                raise StuntError("this script was never saved: there is nothing to go back to.")
            await self._aside(self.document.discard)
            await self._renew()

    # -- what somebody else did to the file

    async def watch(self) -> None:
        """See again and again whether somebody else changed the file, and keep what could not be kept before."""
        while True:
            await asyncio.sleep(LOOK)
            with contextlib.suppress(StuntError, OSError):
                await self._watch_once()

    async def _watch_once(self) -> None:
        async with self._editing:
            news = bool(await self._aside(self.document.look))
            if self.document.unkept:
                before = self.document.unkept
                await self._aside(self.document.keep_aside)
                news = news or before != self.document.unkept
            if news:
                self._tell_document()

    async def on_reload(self) -> dict[str, str]:
        """Go on with what the file holds now; Undo brings this version back."""
        async with self._editing:
            text = await self._aside(self.document.theirs)
            await self._aside(script_from_text, text, str(self.document.beside))
            await self._aside(self.document.reload, text)
            await self._renew()
        return {"path": str(self.document.path)}

    async def on_keep_mine(self) -> None:
        """Go on with this version; Save will write over what the file holds."""
        async with self._editing:
            await self._aside(self.document.keep_mine)
            self._tell_document()

    async def on_compare(self) -> dict[str, Any]:
        """Return how the file differs from this version."""
        return {"lines": await self._aside(self.document.compare)}

    # -- opening

    async def on_library(self) -> dict[str, Any]:
        """List what could be opened."""
        return dict(await self._aside(openings.listing, self.folder))

    async def on_unsaved(self) -> list[dict[str, Any]]:
        """List the work that is not saved."""
        found = await self._aside(openings.unsaved, [self.folder, self.document.path.parent])
        return [{**entry, "here": entry["path"] == str(self.document.path)} for entry in found]

    async def on_throw_away(self, path: str) -> None:
        """Throw unsaved work away, of a script that is not open."""
        if path not in [entry["path"] for entry in await self.on_unsaved() if not entry["here"]]:
            raise StuntError("there is no such unsaved work, or it is what is open.")
        if await self._aside(open_elsewhere, Path(path)):
            raise StuntError(
                f"'{Path(path).name}' is open in another studio: its unsaved work is not yours to throw away."
            )
        await self._aside(autosave_of(Path(path)).unlink, missing_ok=True)

    async def on_open(self, client: Client, name: str, anyway: bool = False) -> dict[str, Any]:
        """Open another script, example or clip; unsaved work of this one is kept beside its file."""
        document, beside = await self._aside(openings.open_anything, name, self.folder)
        await self._aside(script_from_text, document.now.text, str(beside))
        return await self._go(client, document, anyway)

    async def _go(self, client: Client, document: Document, anyway: bool) -> dict[str, Any]:
        """Open something else, once the other pages agree."""
        if document.path != self._held.path:
            await self._aside(lambda: OpenScript(document.path).let_go())  # before anybody is asked
        others = [other for other in self.audience.clients.values() if other is not client]
        if others and not anyway:
            self._wishes += 1
            self._wish = Wish(client, self._wishes, document, set(others))
            word = json.dumps({"kind": "leaving", "number": self._wishes, "name": document.path.name})
            for other in others:
                other.tell(word)
            return {"asks": "others", "pages": len(others)}
        self._wish = None
        await self._open(document)
        return {}

    async def on_unwish(self, client: Client) -> None:
        """Stay, though the others were asked to go along."""
        if self._wish is not None and self._wish.client is client:
            number, self._wish = self._wish.number, None
            self._tell("stayed", {"number": number})

    async def on_leave(self, client: Client, number: int, go: bool) -> None:
        """Answer whether another page may open something else."""
        wish = self._wish
        if wish is None or wish.number != number or client not in wish.asked:
            return
        if not go:
            self._wish = None
            wish.client.tell(json.dumps({"kind": "stays"}))
            return
        await self._agreed(client)

    async def _agreed(self, client: Client) -> None:
        """Somebody who was asked has nothing against it, or is gone."""
        wish = self._wish
        if wish is None:
            return
        if client is wish.client:
            self._wish = None
            return
        wish.asked.discard(client)
        if not wish.asked:
            self._wish = None
            try:
                await self._open(wish.document)
            except StuntError:  # another studio was faster
                wish.client.tell(json.dumps({"kind": "stays"}))

    async def _open(self, document: Document) -> None:
        async with self._editing:
            with self._holding(document.path):
                self.document.keep_aside()
            self.document = document
            self._forget_stage()
            await self._renew("open")

    def _forget_stage(self) -> None:
        raise NotImplementedError

    # -- dropped files

    async def receive_file(self, name: str, content: bytes) -> dict[str, Any]:
        """Take a dropped motion file and let the doctor look at it; nothing else happens to it yet."""
        safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in Path(name).name)[-80:]
        path = self._scratch_folder / safe
        await self._aside(path.write_bytes, content)
        diagnosis = await self._aside(examine, path)
        self.dropped[safe] = path
        return {"file": safe, "diagnosis": json.loads(json.dumps(diagnosis.to_data(), default=str))}

    async def on_use(
        self, client: Client, file: str, character: str | None = None, at: float | None = None, anyway: bool = False
    ) -> dict[str, Any]:
        """Use a dropped file: as one more clip of a character, or as a new script. Never in place of another file."""
        if file not in self.dropped:
            raise StuntError(f"'{file}' was not dropped on this page.")
        content = await self._aside(self.dropped[file].read_bytes)
        folder = self.document.path.parent if character else self.folder
        kept = await self._aside(openings.unlike, folder / file, content)
        if not kept.exists():
            await self._aside(write_bytes, kept, content)
        if character:
            await self.on_edit("add_clip", {"character": character, "clip": kept.name, "at": at})
            return {"path": str(kept), "name": kept.name}
        document, _ = await self._aside(openings.open_clip, str(kept), self.folder)
        return {"path": str(kept), "name": kept.name, **await self._go(client, document, anyway)}
