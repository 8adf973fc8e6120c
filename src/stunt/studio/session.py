"""The session: one document, one stage, and everyone who looks on. Decides; computes nothing that takes long."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stunt.drive.beats.spec import Script
from stunt.errors import StuntError, UnknownNameError
from stunt.library.doctor import examine
from stunt.script.file import script_from_text
from stunt.studio import edits, exports, openings
from stunt.studio.clients import Audience, Client
from stunt.studio.document import Document
from stunt.studio.hand import push_touch, throw_touch
from stunt.studio.link import Link
from stunt.studio.outline import outline
from stunt.studio.splice import edited, plain

log = logging.getLogger("stunt.studio")
_SHOWN_TEXT = 300_000
MOST_ASKING = 16
"""Questions a page may have open."""


class Session:
    """What the pages talk to.

    Attributes:
        document: The script being edited.
        folder: Where new files go.
        audience: Who looks on.
        revision: Counts the versions of the document.
    """

    def __init__(self, document: Document, beside: Path, folder: Path) -> None:
        """Open a document; `beside` is the file its bodies and clips are looked for beside."""
        self.document, self.beside, self.folder = document, beside, folder
        self.audience = Audience()
        self.revision = 1
        self.export_number = 0
        self.dropped: dict[str, Path] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="stunt-studio-")
        self._link: Link | None = None
        self._editing = asyncio.Lock()
        self._outline: dict[str, Any] = {}
        self._scene: dict[str, Any] | None = None
        self._results: dict[str, Any] | None = None
        self._frame: bytes | None = None
        self._trouble = ""
        self._crashed_at = 0
        self._read: tuple[tuple[str, str], Script] | None = None
        self._seen = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._files: dict[int, dict[str, Any]] = {}

    # -- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the simulation."""
        self._link = Link(asyncio.get_running_loop(), self._heard)
        self._put_on_stage("open")

    async def first_picture(self, most: float) -> None:
        """Wait until there is something to see, or to complain about, but not longer than `most` seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._seen.wait(), most)

    def close(self) -> None:
        """End the simulation; unsaved work is kept beside the file."""
        if self._link is not None:
            self._link.close()
        self.document.keep_aside()
        self._scratch.cleanup()

    @property
    def link(self) -> Link:
        """The simulation."""
        assert self._link is not None
        return self._link

    def _put_on_stage(self, op: str) -> None:
        now = self.document.now
        self.link.say(
            op, text=now.text, source=str(self.beside), touches=[dict(t) for t in now.touches], revision=self.revision
        )  # fmt: skip

    # -- what the simulation says -----------------------------------------------------------------------------------

    def _heard(self, kind: str, data: Any) -> None:
        if kind in ("pose", "error"):
            self._seen.set()
        if kind == "pose":
            self._frame = data
            self.audience.show(data)
            return
        if kind == "scene":
            self._scene, self._trouble = data, ""
        elif kind == "results":
            self._results = data
            self._trouble = data["error"]
        elif kind == "error":
            self._trouble = str(data)
            data = {"error": data}
        elif kind == "trouble":
            log.error("the simulation had trouble: %s\n%s", data["error"], data["trace"])
        elif kind == "export":
            self._files[data["number"]] = data
        elif kind == "gone":
            self._restart()
            return
        self._tell(kind, data)

    def _restart(self) -> None:
        """Bring the simulation back after a crash; not twice for the same version of the script."""
        again = self._crashed_at != self.revision
        self._crashed_at = self.revision
        hope = "it was started again" if again else "it starts again with the next edit"
        self._trouble = f"the simulation crashed; no edit is lost, and {hope}."
        log.error("%s", self._trouble)
        self._tell("error", {"error": self._trouble})
        self._link = Link(asyncio.get_running_loop(), self._heard)
        if again:
            self._put_on_stage("open")

    def _tell(self, kind: str, data: Any) -> None:
        if self.audience.clients:
            self.audience.tell(json.dumps({"kind": kind, **data}))

    # -- what pages say ---------------------------------------------------------------------------------------------

    async def greet(self, client: Client) -> None:
        """Tell a new page everything."""
        if not self._outline:
            await self._look()
        for word in (self._document_data(), self._scene, self._results):
            if word is not None:
                kind = "document" if "outline" in word else "scene" if "geoms" in word else "results"
                client.tell(json.dumps({"kind": kind, **word}))
        if self._trouble:
            client.tell(json.dumps({"kind": "error", "error": self._trouble}))
        client.tell(json.dumps({"kind": "kinds", "exports": exports.as_data()}))
        if self._frame is not None:
            client.show(self._frame)

    async def hear(self, client: Client, raw: str) -> None:
        """Do what a page asks; whatever makes no sense is counted against it."""
        try:
            message = json.loads(raw)
            op, number, data = str(message["op"]), int(message.get("number", 0)), dict(message.get("data") or {})
            handler: Callable[..., Any] = HANDLERS[op]
        except (ValueError, KeyError, TypeError, RecursionError):
            client.nonsense("said something that is no request")
            return
        if op == "ask":  # takes a while, and nothing said later depends on it
            if client.asking >= MOST_ASKING:
                client.tell(json.dumps({"kind": "reply", "number": number, "error": "too many questions at once."}))
                return
            client.asking += 1
            task = asyncio.create_task(self._answer(client, op, number, handler, data))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        await self._answer(client, op, number, handler, data)

    async def _answer(
        self, client: Client, op: str, number: int, handler: Callable[..., Any], data: dict[str, Any]
    ) -> None:
        try:
            answer = await handler(self, **data)
            if number:
                client.tell(json.dumps({"kind": "reply", "number": number, "data": answer}))
        except StuntError as error:
            client.tell(json.dumps({"kind": "reply", "number": number, "error": str(error)}))
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            client.nonsense(f"asked '{op}' with data that make no sense ({type(error).__name__}: {error})")
            words = f"'{op}' with data that make no sense."
            client.tell(json.dumps({"kind": "reply", "number": number, "error": words}))
        finally:
            if op == "ask":
                client.asking -= 1

    async def _aside(self, work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Do something that takes longer than a blink on another thread."""
        return await asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *args, **options))

    async def _look(self) -> None:
        now = self.document.now
        self._outline = await self._aside(lambda: outline(self._script(now.text), now.touches))

    def _script(self, text: str) -> Script:
        """Read the text; what was read last is remembered."""
        key = (text, str(self.beside))
        if self._read is None or self._read[0] != key:
            self._read = (key, script_from_text(*key))
        return self._read[1]

    def _document_data(self) -> dict[str, Any]:
        document = self.document
        text = document.now.text
        return {
            "revision": self.revision, "path": str(document.path), "name": document.path.name, "dirty": document.dirty,
            "recovered": document.recovered, "history": document.history, "outline": self._outline,
            "text": text if len(text) < _SHOWN_TEXT else text[:_SHOWN_TEXT] + "\n…",
        }  # fmt: skip

    async def _renew(self, op: str = "change") -> None:
        """After any change of the document: tell the stage, tell the pages."""
        self.revision += 1
        self._put_on_stage(op)
        await self._look()
        self._tell("document", self._document_data())

    async def change(self, label: str, text: str | None, touches: tuple[Mapping[str, Any], ...] | None = None) -> None:
        """Make a new version of the document, if it is a script."""
        if text is not None:
            await self._aside(self._script, text)
        self.document.change(label, text=text, touches=touches)
        await self._renew()

    async def on_edit(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Edit the script."""
        if name not in edits.EDITS:
            raise ValueError(name)
        async with self._editing:
            text = self.document.now.text

            def work() -> tuple[str, str]:
                label, found = edits.EDITS[name](plain(text), **args)
                return label, edited(text, found)

            label, new = await self._aside(work)
            await self.change(label, new)
        return {"revision": self.revision}

    async def on_undo(self) -> dict[str, Any]:
        """Take the last step back."""
        return await self._step(self.document.undo)

    async def on_redo(self) -> dict[str, Any]:
        """Take it again."""
        return await self._step(self.document.redo)

    async def _step(self, way: Callable[[], str | None]) -> dict[str, Any]:
        async with self._editing:
            label = way()
            if label is not None:
                await self._renew()
        return {"label": label, "revision": self.revision}

    async def on_save(self, name: str | None = None) -> dict[str, str]:
        """Write the script to its file, or beside it under another name."""
        path = None
        if name:
            if Path(name).name != name or not name.endswith((".yaml", ".yml")):
                raise StuntError(f"'{name}' is no file name of a script; it would end with .yaml.")
            path = self.document.path.with_name(name)
        async with self._editing:
            folder = (path or self.document.path).parent
            await self._aside(openings.companions, self.document.now.text, self.beside, folder)
            saved = await self._aside(self.document.save, path)
            self.beside = saved
            self._tell("document", self._document_data())
        return {"path": str(saved)}

    async def on_discard(self) -> None:
        """Go back to what is on disk; this, too, can be undone."""
        async with self._editing:
            self.document.discard()
            await self._renew()

    async def on_play(self, **data: Any) -> None:
        """Steer the playhead."""
        known = {"playing": bool, "loop": bool, "speed": float, "seek": float, "step": int}
        self.link.say("play", **{key: known[key](value) for key, value in data.items()})

    async def on_ghost(self, on: bool) -> None:
        """Show the target beside the body, or not."""
        self.link.say("ghost", on=bool(on))

    async def on_push(self, **data: Any) -> None:
        """Push a body."""
        await self._touch("push", push_touch(**data))

    async def on_throw(self, **data: Any) -> None:
        """Throw something at a body."""
        taken = [*self._outline.get("props", []), *(str(t["throw"]) for t in self.document.now.touches if "throw" in t)]
        await self._touch("throw", throw_touch(**data, taken=taken))

    async def on_pull(self, data: dict[str, Any] | None = None) -> None:
        """Pull a body with the mouse; None lets go."""
        if data is not None:
            clean = {key: data[key] for key in ("target", "point", "goal")}
            self.link.say("pull", data=clean)
            return
        pulled = await self.link.ask("pull", data=None)
        if pulled:
            await self._touch("pull", *pulled)

    async def _touch(self, label: str, *touches: Mapping[str, Any]) -> None:
        async with self._editing:
            await self.change(label, None, (*self.document.now.touches, *touches))

    async def on_keep(self) -> None:
        """Write what the hand did into the script."""
        async with self._editing:
            now = self.document.now
            label, found = edits.keep_touches(plain(now.text), [dict(t) for t in now.touches])
            await self.change(label, await self._aside(edited, now.text, found), ())

    async def on_forget(self) -> None:
        """Forget what the hand did."""
        async with self._editing:
            await self.change("forget touches", None, ())

    async def on_ask(self, op: str, **data: Any) -> Any:
        """Ask the stage for curves, a trail, a pose or angles."""
        if op not in ("curves", "trail", "pose", "angles"):
            raise ValueError(op)
        return await self.link.ask(op, **data)

    async def on_export(self, kind: str) -> dict[str, Any]:
        """Write the performance to a file beside the script."""
        kinds = exports.kinds()
        if kind not in kinds:
            raise UnknownNameError("export", kind, kinds)
        self.export_number += 1
        stem = self.document.path.stem
        path = self.document.path.parent / "takes" / stem / kinds[kind].file.format(stem)
        self.link.say("export", kind=kind, path=str(path), number=self.export_number)
        return {"number": self.export_number, "path": str(path)}

    def exported(self, number: int) -> Path | None:
        """Return the file of a finished export."""
        about = self._files.get(number, {})
        return Path(about["path"]) if about.get("state") == "done" else None

    async def on_library(self) -> dict[str, Any]:
        """List what could be opened."""
        return dict(await self._aside(openings.listing, self.folder))

    async def on_open(self, name: str) -> None:
        """Open another script, example or clip; unsaved work of this one is kept beside its file."""
        document, beside = await self._aside(openings.open_anything, name, self.folder)
        await self._aside(script_from_text, document.now.text, str(beside))
        await self._open(document, beside)

    async def _open(self, document: Document, beside: Path) -> None:
        async with self._editing:
            self.document.keep_aside()
            self.document, self.beside = document, beside
            self._scene = self._results = self._frame = None
            await self._renew("open")

    async def receive_file(self, name: str, content: bytes) -> dict[str, Any]:
        """Take a dropped motion file and let the doctor look at it; nothing else happens to it yet."""
        safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in Path(name).name)[-80:]
        path = Path(self._scratch.name) / safe
        await self._aside(path.write_bytes, content)
        diagnosis = await self._aside(examine, path)
        self.dropped[safe] = path
        return {"file": safe, "diagnosis": json.loads(json.dumps(diagnosis.to_data(), default=str))}

    async def on_use(self, file: str, character: str | None = None, at: float | None = None) -> dict[str, str]:
        """Use a dropped file: as one more clip of a character, or as a new script."""
        if file not in self.dropped:
            raise StuntError(f"'{file}' was not dropped on this page.")
        kept = self.document.path.parent / file
        if not kept.exists():
            await self._aside(kept.write_bytes, self.dropped[file].read_bytes())
        if character:
            await self.on_edit("add_clip", {"character": character, "clip": file, "at": at})
        else:
            await self._open(*await self._aside(openings.open_clip, str(kept), self.folder))
        return {"path": str(kept)}


HANDLERS: dict[str, Callable[..., Any]] = {
    name.removeprefix("on_"): getattr(Session, name) for name in dir(Session) if name.startswith("on_")
}
"""What a page may ask for, by name."""
