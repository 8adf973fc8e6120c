"""The session: one document, one stage, and everyone who looks on. Decides; computes nothing that takes long."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stunt.drive.beats.spec import Script
from stunt.errors import NONSENSE, StuntError, UnknownNameError
from stunt.script.file import script_from_text
from stunt.studio.backstage import exports
from stunt.studio.backstage.hand import push_touch, throw_touch
from stunt.studio.clients import Audience, Client, sayable
from stunt.studio.filing import Filing
from stunt.studio.link import Link
from stunt.studio.paper import edits
from stunt.studio.paper.document import Document
from stunt.studio.paper.identity import Marks, followed, marked, numbers_of, placed
from stunt.studio.paper.keeping import OpenScript
from stunt.studio.paper.outline import outline
from stunt.studio.paper.splice import edited, plain

log = logging.getLogger("stunt.studio")
_SHOWN_TEXT = 300_000
MOST_ASKING = 16
"""Questions a page may have open."""


class Session(Filing):
    """What the pages talk to.

    Attributes:
        document: The script being edited.
        folder: Where new files go.
        audience: Who looks on.
        revision: Counts the versions of the document.
        opened: Counts what was opened.
    """

    def __init__(self, document: Document, beside: Path, folder: Path) -> None:
        """Open a document no other studio has open; `beside` is the file bodies and clips are looked for beside."""
        self.document, self.folder = document, folder
        document.beside = beside
        self._held = OpenScript(document.path)
        self.audience = Audience()
        self.revision = self.opened = 1
        self.export_number = 0
        self.dropped: dict[str, Path] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="stunt-studio-")
        self._scratch_folder = Path(self._scratch.name)
        self._link: Link | None = None
        self._editing = asyncio.Lock()
        self._outline: dict[str, Any] = {}
        self._scene: dict[str, Any] | None = None
        self._results: dict[str, Any] | None = None
        self._frame: bytes | None = None
        self._trouble = ""
        self._crashed_at = 0
        self._marked: tuple[str, Marks] | None = None
        self._read: tuple[tuple[str, str], Script] | None = None
        self._seen = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._files: dict[int, dict[str, Any]] = {}

    # -- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the simulation."""
        self._link = Link(asyncio.get_running_loop(), self._heard)
        self._put_on_stage("open")
        watching = asyncio.create_task(self.watch())
        self._tasks.add(watching)

    @property
    def beside(self) -> Path:
        """The file bodies and clips are looked for beside."""
        return self.document.beside

    async def first_picture(self, most: float) -> None:
        """Wait until there is something to see, or to complain about, but not longer than `most` seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._seen.wait(), most)

    def close(self) -> None:
        """End the simulation; unsaved work is kept beside the file."""
        for task in self._tasks:
            task.cancel()
        if self._link is not None:
            self._link.close()
        self.document.keep_aside()
        rescued = self.document.rescue([self.folder, *self.folders, Path(tempfile.gettempdir())])
        if self.document.unkept:
            log.error("unsaved edits could not be kept beside the file (%s)", self.document.unkept)
            log.error("they are %s", f"in {rescued}" if rescued else "lost: no folder could be written")
        self._held.let_go()
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
            data["error"] = sayable(data["error"])
            self._results, self._trouble = data, data["error"]
        elif kind == "error":
            self._trouble = sayable(str(data))
            data = {"error": self._trouble}
        elif kind == "trouble":
            log.error("the simulation had trouble: %s\n%s", data["error"], data["trace"])
            data = {"error": sayable(data["error"])}
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
        self._tell("audience", {"pages": len(self.audience.clients)})
        if self._frame is not None:
            client.show(self._frame)

    async def left(self, client: Client) -> None:
        """Take note that a page was closed."""
        self.audience.leave(client)
        self._tell("audience", {"pages": len(self.audience.clients)})
        await self._agreed(client)

    async def hear(self, client: Client, raw: str) -> None:
        """Do what a page asks; whatever makes no sense is counted against it."""
        try:
            message = json.loads(raw)
            op, number, data = str(message["op"]), int(message.get("number", 0)), dict(message.get("data") or {})
            handler: Callable[..., Any] = HANDLERS[op]
        except NONSENSE:
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
        words = ""
        try:
            answer = await (handler(self, client, **data) if op in _PERSONAL else handler(self, **data))
            if number:
                client.tell(json.dumps({"kind": "reply", "number": number, "data": answer}))
        except StuntError as error:
            words = sayable(str(error))
        except OSError as error:
            log.error("'%s' was not done: %s", op, error)
            words = f"that could not be done: {(error.strerror or type(error).__name__).lower()}."
        except NONSENSE as error:
            client.nonsense(f"asked '{op}' with data that make no sense ({type(error).__name__}: {error})")
            words = f"'{op}' with data that make no sense."
        except Exception:  # a mistake of ours costs nobody their page
            log.exception("'%s' was not done", op)
            words = "a mistake of the studio; it is told in the terminal."
        finally:
            if op == "ask":
                client.asking -= 1
        if words:
            client.tell(json.dumps({"kind": "reply", "number": number, "error": words}))

    async def _aside(self, work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Do something that takes longer than a blink on another thread."""

        def done() -> Any:
            try:
                return work(*args, **options)
            except StopIteration as error:  # no future holds one: whoever waits for it would wait for ever
                raise ValueError("there is nothing in it") from error

        return await asyncio.get_running_loop().run_in_executor(None, done)

    async def _look(self) -> None:
        now = self.document.now
        self._outline = await self._aside(lambda: outline(self._script(now.text), now.touches, self._marks()))

    def _marks(self) -> Marks:
        """Return by which numbers the items of the script are known; nobody else asks for them meanwhile."""
        now = self.document.now
        if now.marks is None:
            before = self._marked
            found = marked(plain(now.text), before and before[1], before and plain(before[0]))
            self.document.now = now = replace(now, marks=found)
        assert now.marks is not None
        self._marked = (now.text, now.marks)
        return now.marks

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
            "revision": self.revision, "opened": self.opened, "path": str(document.path), "name": document.path.name,
            "dirty": document.dirty, "recovered": document.recovered, "outside": document.outside,
            "unkept": document.unkept, "on_disk": document.saved is not None,
            "folders": [str(place) for place in self.folders], "history": document.history, "outline": self._outline,
            "text": text if len(text) < _SHOWN_TEXT else text[:_SHOWN_TEXT] + "\n…",
        }  # fmt: skip

    async def _renew(self, op: str = "change") -> None:
        """After any change of the document: tell the stage, tell the pages."""
        self.revision += 1
        self._put_on_stage(op)
        await self._look()
        self._tell_document()

    def _tell_document(self) -> None:
        if self._outline:
            self._tell("document", self._document_data())

    async def change(
        self, label: str, text: str | None, touches: tuple[Mapping[str, Any], ...] | None = None,
        marks: Marks | None = None,
    ) -> None:  # fmt: skip
        """Make a new version of the document, if it is a script."""
        if text is not None:
            await self._aside(self._script, text)
        await self._aside(self.document.change, label, text=text, touches=touches, marks=marks)
        await self._renew()

    async def on_edit(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Edit the script."""
        if name not in edits.EDITS:
            raise ValueError(name)
        async with self._editing:
            text, before = self.document.now.text, self._marks()

            def work() -> tuple[str, str, Marks]:
                data = plain(text)
                label, found = edits.EDITS[name](data, **placed(args, before))
                new = edited(text, found)
                return label, new, followed(before, found, data, plain(new))

            label, new, marks = await self._aside(work)
            await self.change(label, new, marks=marks)
            made = [number for number in numbers_of(marks) if number not in set(numbers_of(before))]
        return {"revision": self.revision, "made": made}

    async def on_undo(self) -> dict[str, Any]:
        """Take the last step back."""
        return await self._step(self.document.undo)

    async def on_redo(self) -> dict[str, Any]:
        """Take it again."""
        return await self._step(self.document.redo)

    async def _step(self, way: Callable[[], str | None]) -> dict[str, Any]:
        async with self._editing:
            label = await self._aside(way)
            if label is not None:
                await self._renew()
        return {"label": label, "revision": self.revision}

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
            await self._kept()

    async def _kept(self) -> None:
        now, before = self.document.now, self._marks()
        data = plain(now.text)
        label, found = edits.keep_touches(data, [dict(t) for t in now.touches])
        new = await self._aside(edited, now.text, found)
        await self.change(label, new, (), followed(before, found, data, plain(new)))

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

    def _forget_stage(self) -> None:
        self._scene = self._results = self._frame = None
        self.opened += 1


HANDLERS: dict[str, Callable[..., Any]] = {
    name.removeprefix("on_"): getattr(Session, name) for name in dir(Session) if name.startswith("on_")
}
"""What a page may ask for, by name."""
_PERSONAL = {name for name, handler in HANDLERS.items() if "client" in inspect.signature(handler).parameters}
"""Those that depend on who asks."""
