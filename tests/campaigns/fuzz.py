"""`make fuzz`: every reader, fed with mutants: a result or a `StuntError`, in bounded time and memory, or it is a find.

    python -m tests.campaigns.fuzz [--count N] [--seed S] [--only READER …]

Mutants are read in child processes. A child that does not come back within ten seconds, dies, takes more than a
gigabyte, raises anything but a `StuntError`, says more than 4,100 letters, or opens a file outside its folder is one.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

HANG = 10.0
MOST_MB = 1024.0
LONGEST = 4100
OF_A_CHILD = 2000  # mutants; the engine keeps a little of each mesh it read, which is no single file's doing
ROOT = Path(__file__).parents[2]


def work(name: str, seed: int, first: int, count: int, folder: Path) -> None:
    """Read mutants one after the other, and tell of each on the standard output (the child's side)."""
    from tests.campaigns.guards import Forked
    from tests.campaigns.readers import READERS, mutant, prepared

    reader, seeds = READERS[name], prepared(name, folder)
    read, opened = reader.read(), Opened(folder)
    forked = Forked(lambda: opened.outside)
    path = folder / f"mutant{reader.suffix}"
    for suffix, data in reader.beside().items():
        path.with_suffix(suffix).write_bytes(data)
    for good in seeds:  # mutants of what is refused anyway reach nothing
        path.write_bytes(good)
        read(path)
    sys.addaudithook(opened)
    tell({"ready": True})
    for number in range(first, count):
        path.write_bytes(mutant(name, seeds, seed, number))
        found: dict[str, Any] = {"number": number}
        tell({"begins": number})
        opened.watching, opened.outside, before = True, [], resident()
        forked.seconds, forked.outside, died = 0.0, [], forked.died
        began = time.process_time()
        try:
            read(path)
            found["read"] = True
        except BaseException as error:
            found |= judged(error)
        opened.watching = False
        found["seconds"] = time.process_time() - began + forked.seconds
        found["outside"] = (opened.outside + forked.outside)[:3]
        found |= {"megabytes": max(resident(), before, forked.megabytes), "died": forked.died - died}
        tell(found)


def judged(error: BaseException) -> dict[str, Any]:
    """Return what is to be told of an error: refused as it should be, or a find."""
    from stunt.errors import StuntError

    if isinstance(error, StuntError):
        return {"refused": True} if len(str(error)) <= LONGEST else {"find": f"a message of {len(str(error))} letters"}
    where = [frame for frame in traceback.extract_tb(error.__traceback__) if "stunt" in frame.filename][-1:]
    at = f"{Path(where[0].filename).name}:{where[0].lineno}" if where else ""
    return {"find": f"{type(error).__name__} {at} {str(error)[:100]}"}


class Opened:
    """Notes files that are opened outside a folder, and are not Stunt's or Python's own (an audit hook)."""

    def __init__(self, folder: Path) -> None:
        """Allow a folder, and where programs and libraries are."""
        import stunt

        self.watching, self.outside = False, []
        places = (
            folder,
            Path(stunt.__file__).parent,
            ROOT / "tests",
            sys.prefix,
            sys.base_prefix,
            Path(np.__file__).parents[1],  # where packages are
            "/proc",
            "/sys",
            "/dev",
            "/usr",
            "/lib",
            os.environ.get("NUMBA_CACHE_DIR", "/dev"),
        )
        self.allowed = tuple(str(Path(place).resolve()) for place in places)
        self.folder = str(folder.resolve())

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Hear of a call."""
        if not self.watching or event not in ("open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.system"):
            return
        if event == "os.system":
            self.outside.append("a command was run")
        elif isinstance(args[0], str | bytes | os.PathLike):
            path = os.path.realpath(os.fsdecode(args[0]))
            writes = event != "open" or (isinstance(args[1], str) and set(args[1]) & set("wax+"))
            compiled = os.environ.get("NUMBA_CACHE_DIR", "__pycache__")
            cache = path.endswith((".nbi", ".nbc", ".tmp", ".pyc")) or "__pycache__" in path or compiled in path
            if not path.startswith(self.allowed) or (
                writes and not cache and not path.startswith((self.folder, "/dev"))
            ):
                self.outside.append(path)


def resident() -> float:
    """Return the most memory this process has had [MB]."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024.0
    return 0.0


def tell(found: dict[str, Any]) -> None:
    """Tell the parent something."""
    os.write(3, json.dumps(found).encode() + b"\n")


def cpu_seconds(process: int) -> float:
    """Return how long a process and those it waited for have worked [s]."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(word) for word in words[11:15]) / os.sysconf("SC_CLK_TCK")


class Campaign:
    """Feeds one reader, and starts a child again where one did not survive."""

    def __init__(self, name: str, seed: int, count: int) -> None:
        """Plan it."""
        self.name, self.seed, self.count = name, seed, count
        self.tally: Counter[str] = Counter()
        self.finds: list[str] = []
        self.slowest = self.megabytes = 0.0
        self.died = 0

    def run(self) -> None:
        """Feed all mutants."""
        first = 0
        while first < self.count:
            with tempfile.TemporaryDirectory() as folder:
                first = self._child(first, min(first + OF_A_CHILD, self.count), Path(folder))

    def _child(self, first: int, stop: int, folder: Path) -> int:
        inside, outside = os.pipe()
        code = (
            "import os, sys; os.dup2(int(sys.argv[6]), 3)\n"
            "from pathlib import Path; from tests.campaigns.fuzz import work\n"
            "work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))"
        )
        words = [self.name, str(self.seed), str(first), str(stop), str(folder), str(outside)]
        with open(folder / "said", "wb") as said:
            child = subprocess.Popen(
                [sys.executable, "-c", code, *words], pass_fds=[outside], cwd=ROOT, stdout=said, stderr=said,
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HOME": str(folder)},
            )  # fmt: skip
        os.close(outside)
        try:
            return self._listen(child, inside, first, stop, folder)
        finally:
            os.close(inside)
            child.kill()
            child.wait()

    def _listen(self, child: subprocess.Popen[bytes], inside: int, first: int, stop: int, folder: Path) -> int:
        waiting, now, ready, spent, quiet = b"", first, False, 0.0, 0.0
        while True:
            there, _, _ = select.select([inside], [], [], 1.0)
            # On a busy machine a second on the wall is no second of work.
            quiet = 0.0 if there else quiet + 1.0
            if there:
                spent = cpu_seconds(child.pid)
            elif quiet < 20 * HANG and (not ready or cpu_seconds(child.pid) - spent < HANG):
                continue
            data = os.read(inside, 1 << 16) if there else b""
            if there and not data:
                if now == stop:
                    return stop
                if not ready:
                    raise RuntimeError((folder / "said").read_text(errors="replace")[-2000:])
                self._find(now, f"the process died ({child.wait()})")
                return now + 1
            if not there:
                self._find(now, f"did not come back within {HANG:g} s")
                return now + 1
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                told = json.loads(line)
                ready = True
                if "begins" in told:
                    now = told["begins"]
                elif "number" in told:
                    self._note(told)
                    now = told["number"] + 1

    def _note(self, told: dict[str, Any]) -> None:
        self.slowest = max(self.slowest, told["seconds"])
        self.tally["read" if told.get("read") else "refused" if told.get("refused") else "finds"] += 1
        self.died += told["died"]
        if told["seconds"] > HANG:
            self._find(told["number"], f"took {told['seconds']:.1f} s")
        if "find" in told:
            self.finds.append(f"{self.name} {told['number']}: {told['find']}")
        if told["outside"]:
            self._find(told["number"], f"opened {told['outside']}")
        if told["megabytes"] > MOST_MB >= self.megabytes:
            self._find(told["number"], f"took {told['megabytes']:.0f} MB")
        self.megabytes = max(self.megabytes, told["megabytes"])

    def _find(self, number: int, what: str) -> None:
        self.tally["finds"] += 1
        self.finds.append(f"{self.name} {number}: {what}")

    def row(self) -> str:
        """Return a line of the table in `docs/reliability_measured.md`."""
        t = self.tally
        return (
            f"| {self.name} | {self.count} | {t['read']} | {t['refused']} | {t['finds']} | {self.slowest:.2f} | "
            f"{self.megabytes:.0f} |"
        )


def main() -> int:
    """Run the campaign; return how many finds there were."""
    from tests.campaigns.readers import READERS

    parser = argparse.ArgumentParser(description="Feed every reader with mutants.")
    parser.add_argument("--count", type=int, default=300, help="mutants per reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(READERS), choices=list(READERS))
    args = parser.parse_args()
    print("| reader | mutants | read | refused | finds | slowest [s CPU] | most memory [MB] |\n" + "|---" * 7 + "|")
    finds: list[str] = []
    for name in args.only:
        campaign = Campaign(name, args.seed, args.count)
        campaign.run()
        print(campaign.row(), flush=True)
        if campaign.died:
            print(f"  {campaign.died} of those that were refused ended the child that read them", flush=True)
        finds += campaign.finds
        for find in campaign.finds:
            print(f"  find: {find}", flush=True)
    return min(len(finds), 100)


if __name__ == "__main__":
    sys.exit(main())
