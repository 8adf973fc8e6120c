"""`make mutants`: laws, drivers, reactions and meters, each changed in one place, and which test notices.

    python -m tests.campaigns.physics [--only WORD …] [--cores N] [--own] [--sure] [--fresh]

Every mutant (`physics_table`) is one snippet of one file, replaced in a copy of the sources: the working tree is never
touched, and each copy has a compiled cache of its own. The tests its room has for it are tried first, by the
interpreter where the file is compiled: the same functions, the same tests, and nothing to compile. Whatever they let
pass is tried on the room's whole folder, compiled. Results are written as they come; whoever runs it again goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from queue import Queue

from tests.campaigns.physics_table import Mutant, mutants

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "mutants"
PARTS = ("src", "tests", "papers", "benchmarks", "tools", "docs", "examples", "pyproject.toml", "README.md")
FIRST, REST = 240, 600
"""Seconds of processor time for a mutant's own tests, and for its room's: whoever takes longer hangs."""
ENOUGH = 0.9
"""Share of mutants that have to be noticed."""


@dataclass(frozen=True)
class Result:
    """What came of a mutant."""

    key: str  #: Of the mutant, its file and its tests, as they were
    name: str
    file: str
    noticed: bool
    by: str  #: The test that failed; empty where none did
    seconds: float  #: Of processor time


def key_of(mutant: Mutant) -> str:
    """Return what a result is known by: another text of the file or of its tests asks for another."""
    tests = [path for name in mutant.tests if (path := ROOT / name.partition("::")[0]).is_file()]
    texts = [mutant.name, mutant.old, mutant.new, *mutant.tests, mutant.path(ROOT).read_text("utf-8")]
    texts += [path.read_text("utf-8") for path in tests]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Copy:
    """A copy of the sources, in which mutants are tried one after the other."""

    def __init__(self, number: int) -> None:
        """Copy what tests need."""
        self.place = WORK / f"copy-{number}"
        self.cache = WORK / f"cache-{number}"
        shutil.rmtree(self.place, ignore_errors=True)
        for part in PARTS:
            source, goal = ROOT / part, self.place / part
            if source.is_dir():
                shutil.copytree(source, goal, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, goal)
        found = self._run([sys.executable, "-c", "import stunt; print(stunt.__file__)"], False, FIRST)[1]
        if not found.startswith(str(self.place)):
            raise RuntimeError(f"tests would not be run on the copy in {self.place}, but on {found.strip()}")

    def _run(self, words: Sequence[str], interpreted: bool, seconds: int) -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NUMBA"))}
        environment |= {"PYTHONPATH": str(self.place / "src"), "NUMBA_CACHE_DIR": str(self.cache)}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
        if interpreted:
            environment["NUMBA_DISABLE_JIT"] = "1"
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # noqa: E731
        done = subprocess.run(
            words, cwd=self.place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=limit,
        )  # fmt: skip
        return done.returncode, done.stdout

    def failed(self, tests: Sequence[str], interpreted: bool, seconds: int) -> str:
        """Run tests until one fails; return which, empty where all pass."""
        words = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
        code, said = self._run(words, interpreted, seconds)
        if code in (0, 5):
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        if found is None and code > 0:
            raise RuntimeError(f"pytest ended with {code}:\n{said[-3000:]}")
        return found[1] if found else f"the time ({seconds} s)"

    def tried(self, mutant: Mutant, own: bool) -> Result:
        """Try one mutant, on its own tests alone or on its room's too."""
        path = mutant.path(self.place)
        whole, before = path.read_text("utf-8"), cpu()
        try:
            path.write_text(mutant.applied(whole), "utf-8")
            by = self.failed(mutant.tests, mutant.interpreted, FIRST)
            if not by and not own:
                by = self.failed([mutant.room], False, REST)
        finally:
            path.write_text(whole, "utf-8")
        return Result(key_of(mutant), mutant.name, mutant.file, bool(by), by, round(cpu() - before, 1))


def cpu() -> float:
    """Return the processor time of all processes that have ended so far [s]; of several at once, of all of them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def unmutated(copy: Copy, chosen: Sequence[Mutant]) -> str:
    """Return which of the mutants' own tests fails without any mutant: it would notice nothing."""
    for interpreted in (True, False):
        tests = sorted({test for mutant in chosen if mutant.interpreted is interpreted for test in mutant.tests})
        by = copy.failed(tests, interpreted, REST) if tests else ""
        if by:
            return by
    return ""


def known() -> dict[str, Result]:
    """Return the results of earlier runs, by key."""
    file = WORK / "results.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {found.key: found for found in (Result(**json.loads(line)) for line in lines)}


def campaign(chosen: Sequence[Mutant], cores: int, own: bool, sure: bool) -> Iterator[Result]:
    """Try mutants, each on whichever copy is free."""
    copies: Queue[Copy] = Queue()
    for number in range(cores):
        copies.put(Copy(number))
    first = copies.get()
    by = "" if sure else unmutated(first, chosen)
    copies.put(first)
    if by:
        raise SystemExit(f"{by} fails without any mutant")

    def one(mutant: Mutant) -> Result:
        copy = copies.get()
        try:
            return copy.tried(mutant, own)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(cores) as pool:
        yield from pool.map(one, chosen)


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in Markdown, by file; mutants that nobody noticed are bold."""
    rows = ["| file | mutants | noticed by |", "|---|---|---|"]
    for file, some in groupby(results, lambda found: found.file):
        whole = list(some)
        names = "; ".join(found.name if found.noticed else f"**{found.name}**" for found in whole)
        tests = dict.fromkeys(found.by.partition("::")[0].removeprefix("tests/") for found in whole if found.noticed)
        rows.append(f"| `{file}` | {names} | {', '.join(f'`{test}`' for test in tests)} |")
    return "\n".join(rows)


def main() -> int:
    """Run the campaign; return whether too few were noticed."""
    parser = argparse.ArgumentParser(description="Try physical mutants on the tests.")
    parser.add_argument("--only", nargs="*", default=[], help="mutants whose file or name contains one of these")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--own", action="store_true", help="only tests of their own, not the room's")
    parser.add_argument("--sure", action="store_true", help="their tests are known to pass without any mutant")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    args = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if args.fresh:
        (WORK / "results.jsonl").unlink(missing_ok=True)
    chosen = [m for m in mutants() if not args.only or any(word in f"{m.file} {m.name}" for word in args.only)]
    before = known()
    done = [before[key_of(m)] for m in chosen if key_of(m) in before]
    left = [m for m in chosen if key_of(m) not in before]
    print(f"{len(chosen)} mutants, {len(done)} known from before", flush=True)
    began = time.monotonic()
    with (WORK / "results.jsonl").open("a", encoding="utf-8") as file:
        for number, found in enumerate(campaign(left, args.cores, args.own, args.sure) if left else (), 1):
            done.append(found)
            file.write(json.dumps(asdict(found)) + "\n")
            file.flush()
            rest = (time.monotonic() - began) / number * (len(left) - number) / 60.0
            verdict = found.by if found.noticed else "NOT NOTICED"
            print(f"{number}/{len(left)}, {rest:.0f} min left: {found.file}: {found.name}: {verdict}", flush=True)
    order = {(m.file, m.name): k for k, m in enumerate(chosen)}
    done.sort(key=lambda found: order[found.file, found.name])
    noticed = sum(found.noticed for found in done)
    text = f"{table(done)}\n\n{noticed} of {len(done)} are noticed ({noticed / max(len(done), 1):.0%}).\n"
    (WORK / "table.md").write_text(text, "utf-8")
    print(text)
    return int(noticed < ENOUGH * len(done))


if __name__ == "__main__":
    sys.exit(main())
