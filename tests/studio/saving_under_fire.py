"""Saves a document again and again, each time with another system call failing, or killed at it. Run by a test.

A process that has everything imported forks a child for each case; the child makes an edit and stops; `strace` is put
onto it, and it saves. Prints one line of JSON per case.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from stunt.errors import StuntError
from stunt.studio.paper.document import Document

CALLS = (
    "openat open read write pwrite64 close fsync rename renameat renameat2 unlink unlinkat chmod fchmod fchmodat mkdir "
    "stat newfstatat fstat lseek access faccessat faccessat2 link linkat"
)
TRACE = ",".join(f"?{name}" for name in CALLS.split())  # not every machine has them all
OLD = "stunt: 1\ntitle: old\ncharacters: {ada: torso28}\nseconds: 1\n"
NEW = OLD.replace("old", "new")
ANY = ctypes.c_ulong(-1)


def child(folder: Path, other: str) -> None:
    ctypes.CDLL(None).prctl(0x59616D61, ANY, 0, 0, 0)  # anybody may trace it
    document = Document.open(folder / "a.yaml")
    document.change("title", text=NEW)
    os.kill(os.getpid(), signal.SIGSTOP)
    failed = ""
    try:
        document.save(folder / other if other else None)
    except StuntError as error:
        failed = str(error)
    except BaseException as error:  # noqa: BLE001 — that is what must not be
        failed = f"RAW {type(error).__name__}: {error}"
    os.access(b"/the-end", os.F_OK)
    # The fault is over; whatever happened, the document must be usable.
    found = {"failed": failed, "path": document.path.name, "text": document.now.text, "dirty": document.dirty}
    found["there"] = {p.name: p.read_text() for p in folder.iterdir() if p.suffix == ".yaml"}
    try:
        again = document.save(folder / other if failed and other else None)
        found["again"] = again.read_text() == NEW
    except StuntError as error:
        found["again"] = str(error)
    Path(folder / "result.json").write_text(json.dumps(found))


def case(options: list[str], other: str) -> tuple[dict, str]:
    folder = Path(tempfile.mkdtemp())
    (folder / "a.yaml").write_text(OLD)
    pid = os.fork()
    if pid == 0:
        try:
            child(folder, other)
        finally:
            os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    strace = subprocess.Popen(
        ["strace", "-p", str(pid), "-o", folder / "log", *options], stderr=subprocess.PIPE, text=True
    )
    said = strace.stderr.readline()
    if "attached" not in said:
        os.kill(pid, signal.SIGKILL)
        sys.exit(f"strace cannot attach: {said}")
    os.kill(pid, signal.SIGCONT)
    os.waitpid(pid, 0)
    strace.wait()
    result = folder / "result.json"
    found = json.loads(result.read_text()) if result.exists() else {"killed": True}
    if "killed" in found:
        found["there"] = {p.name: p.read_text() for p in folder.iterdir() if p.suffix == ".yaml"}
        found["reopened"] = Document.open(folder / "a.yaml").now.text
    log = (folder / "log").read_text()
    shutil.rmtree(folder)
    return found, log


def main() -> None:
    other = sys.argv[1] if len(sys.argv) > 1 else ""
    _, log = case(["-e", f"trace={TRACE}"], other)
    before = log[: log.index("/the-end")]
    names = re.findall(r"^(\w+)\(", before, re.MULTILINE)[:-1]
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        for fault in ("error=ENOSPC", "signal=KILL"):
            where = f"{name}:{fault}:when={counts[name]}"
            found, _ = case(["-e", f"trace={name}", "-e", f"inject={where}"], other)
            print(json.dumps({"where": where, **found}), flush=True)


main()
