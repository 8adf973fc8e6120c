"""`make faults`: kills at random moments, and each call to the system failing in turn, while takes are made.

    python -m tests.campaigns.faults [--kills N] [--seed S]

After each kill the folder is mended as the next run would (some of the menders are killed, too), and must hold the
older take as it was, or the new one whole, or both the older one and what was recovered: bit for bit the beginning of
the whole performance, and no more than a second less than was performed: of wall time, where the machine let it work.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from stunt.cli.main import main as main_of
from stunt.cli.take_files import _report_of
from stunt.record import take_folder
from stunt.record.take import COMMITTED, Take
from stunt.record.take_folder import JOURNAL, mend
from tests.campaigns.calls import KILLED, RAISED, at_each_call
from tests.campaigns.fuzz import cpu_seconds

ROOT = Path(__file__).parents[2]
SCRIPT = """
stunt: 1
title: Killed
seconds: {seconds}
rate: 120
characters: {{ada: {{body: human39, root: free}}}}
props: {{ball: {{shape: sphere, radius: 0.1, mass: 1.0, at: [1, 0, 1]}}}}
poses: {{up: {{r_elbow_flexion: 40}}}}
performance: {{ada: {{beats: [{{pose: up, after: 0.2}}]}}}}
"""
MOST_LOST = 1.0
FRAMES = 400_000  # bytes; the model alone is shorter


def digest(path: Path) -> str:
    """Return a digest of a file; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class Kills:
    """Performances that are killed.

    Attributes:
        finds: What went wrong.
        lost: The most wall time of a performance that was lost [s], as it passed on this machine.
        worked: The most of it that its process had a processor for [s]: on a busy machine it stands still in between.
        phases: In which state the folders were found; `torn` ones while a block of frames was being written.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        """Perform once, whole: the older take, and what every killed performance must be the beginning of."""
        self.folder, self.random = folder, random.Random(seed)
        self.finds: list[str] = []
        self.lost = self.worked = 0.0
        self.phases = dict.fromkeys(("before", "performing", "torn", "taking", "moving", "written"), 0)
        self.short, self.long = folder / "short.yaml", folder / "long.yaml"
        self.long.write_text(SCRIPT.format(seconds=3600))
        for name, seconds in (("older", 6), ("whole", 120), ("short", 20)):  # here, so that whoever is forked is warm
            script, began = folder / f"{name}.yaml", time.monotonic()
            script.write_text(SCRIPT.format(seconds=seconds))
            if main_of(words_of(script, folder / script.stem)):
                raise RuntimeError(f"{script.name} was not performed")
            self.seconds = time.monotonic() - began
        self.whole = Take.load(folder / "whole")

    def _start(self, script: Path, *, fresh: bool) -> int:
        words = words_of(script, self.folder / "out")
        if fresh:
            environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
            return subprocess.Popen([sys.executable, "-m", "stunt.cli.main", *words], env=environment).pid
        return forked(lambda: main_of(words))

    def _start_dying(self) -> int:
        """Start a performance that is killed inside one of its journal's writes, of which some bytes are written."""
        writes, share = self.random.randrange(40, 1500), self.random.random()

        def work() -> int:
            locked = take_folder._locked
            take_folder._locked = lambda folder: Dying(locked(folder), writes, share)  # type: ignore[assignment]
            return main_of(words_of(self.long, self.folder / "out"))

        return forked(work)

    def kill(self, number: int) -> None:
        """Kill one performance, and look what is left.

        A quarter of them at any moment, a quarter while they perform, a quarter inside the writing of a block, and a
        quarter while the take is written and moved into place. Every eighth is a process of its own, the others are
        forked from this one.
        """
        out, way = self.folder / "out", number % 4
        shutil.rmtree(out, ignore_errors=True)
        older = self.random.random() < 0.5
        if older:
            shutil.copytree(self.folder / "older", out)
        script = self.short if way in (0, 3) else self.long
        dying = number % 8 == 6
        process = self._start_dying() if dying else self._start(script, fresh=number % 8 == 0)
        watched = Watched(out, process)
        if dying:
            watched.until(lambda: False)
        elif way == 0:
            watched.until(lambda: False, self.random.uniform(0.0, 1.2) * self.seconds)
        elif way == 1:
            watched.until(lambda: watched.size > FRAMES)
            watched.until(lambda: False, self.random.uniform(0.0, 1.2))
        elif way == 2:
            watched.until(lambda: watched.size > FRAMES)
            watched.until(lambda: False, self.random.uniform(0.0, 0.8))
            size = watched.size
            watched.until(lambda: watched.size > size + self.random.randrange(200_000), pause=0.0)
        else:
            watched.until(lambda: any(out.glob(".new-take*")))
            watched.until(lambda: False, self.random.uniform(0.0, 0.25) * self.seconds)
        watched.spent = max(watched.spent, cpu_seconds(process))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        ended = time.monotonic()
        os.waitpid(process, 0)
        self.phases[self._phase(out, script, watched, ended)] += 1
        if self.random.random() < 0.3:  # whoever mends is killed, too
            mending = forked(lambda: int(not mend(out, _report_of)))
            time.sleep(self.random.uniform(0.0, 0.3))
            os.kill(mending, signal.SIGKILL)
            os.waitpid(mending, 0)
        self._look(number, out, older)

    def _phase(self, out: Path, script: Path, watched: Watched, ended: float) -> str:
        journal = out / JOURNAL
        if (out / COMMITTED).exists():
            return "moving"
        if not journal.exists() or journal.stat().st_size < FRAMES:
            return "written" if script is self.short and (out / "take.npz").exists() else "before"
        ends = whole_records(journal)
        if any(out.glob(".new-take*")):  # all of it is in the journal
            return "taking"
        if len(ends) > 1:
            when, spent = watched.written(ends[-1])
            self.lost = max(self.lost, ended - when)
            self.worked = max(self.worked, watched.spent - spent)
        return "torn" if ends[-1:] != [journal.stat().st_size] else "performing"

    def _look(self, number: int, out: Path, older: bool) -> None:
        frames = len(whole_records(out / JOURNAL)) > 1 and not (out / COMMITTED).exists()
        whole = any(out.glob(".new-take*"))
        before = {path.name for path in out.glob("recovered*.npz")}
        mend(out, _report_of)
        left = [path.name for path in out.glob(".*")]
        if left:
            self.finds.append(f"kill {number}: left {left}")
        if frames and {path.name for path in out.glob("recovered*.npz")} == before and older:
            self.finds.append(f"kill {number}: frames were written down, and nothing was recovered")
        if older and not (out / "take.npz").exists():
            self.finds.append(f"kill {number}: the older take is gone")
        for path in out.glob("*.npz"):
            if digest(path) == digest(self.folder / "older" / "take.npz"):
                continue
            take = Take.load(path)
            take.report()
            count = min(take.time.size, self.whole.time.size)
            same = all(
                np.array_equal(getattr(take, name)[:count], getattr(self.whole, name)[:count])
                for name in ("time", "qpos", "qvel", "torque")
            )
            if not same:
                self.finds.append(f"kill {number}: {path.name} is not the beginning of the performance")
            if whole and take.seconds < 20 - 1e-6:
                self.finds.append(
                    f"kill {number}: {path.name} ends at {take.seconds:.2f} s, though it was played to its end"
                )
            if older and path.name == "take.npz" and take.meta.get("interrupted"):
                self.finds.append(f"kill {number}: the older take was replaced by a part")


class Dying:
    """A file whose process is killed inside its n-th write."""

    def __init__(self, file: BinaryIO, writes: int, share: float) -> None:
        """Wait for it; `share` of its bytes are written."""
        self._file, self._left, self._share = file, writes, share

    def write(self, data: memoryview) -> int:
        """Write, or be killed."""
        self._left -= 1
        if self._left == 0:
            self._file.write(data[: int(self._share * len(data))])
            os.kill(os.getpid(), signal.SIGKILL)
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        """Be the file otherwise."""
        return getattr(self._file, name)


class Watched:
    """Looks at a folder's journal while a process writes it.

    Attributes:
        size: How long it is [bytes].
        spent: Processor time of the process when it was last looked at [s].
    """

    def __init__(self, out: Path, process: int) -> None:
        """Watch."""
        self.size, self.spent = 0, 0.0
        self._journal, self._process = out / JOURNAL, process
        self._seen: list[tuple[float, float, int]] = []

    def until(self, condition: Callable[[], bool], seconds: float = 60.0, pause: float = 0.002) -> None:
        """Look on until something is the case, or the process has ended, or some time has passed [s]."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not condition():
            with contextlib.suppress(OSError):
                self.size = self._journal.stat().st_size
            if not self._seen or self._seen[-1][2] != self.size:
                self.spent = cpu_seconds(self._process)
                self._seen.append((time.monotonic(), self.spent, self.size))
            if os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
            time.sleep(pause)

    def written(self, size: int) -> tuple[float, float]:
        """Return when the journal was seen to have so many bytes, and what the process had worked by then."""
        found = ((when, spent) for when, spent, seen in self._seen if seen >= size)
        return next(found, (time.monotonic(), self.spent))


def words_of(script: Path, out: Path) -> list[str]:
    """Return the command line that performs a script."""
    return ["perform", str(script), "--out", str(out), "--no-pictures", "--quiet"]


def forked(work: Callable[[], int]) -> int:
    """Do something in a process of its own, which is as warm as this one; return its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def whole_records(journal: Path) -> list[int]:
    """Return where each whole record of a journal ends [bytes]; read here without Stunt's reader."""
    data, ends = journal.read_bytes() if journal.exists() else b"", []
    place = data.find(b"\n") + 1
    while place and place + 16 <= len(data):
        _, text, numbers = struct.unpack_from("<4sIQ", data, place)
        place += 16 + text + numbers
        if place > len(data):
            break
        ends.append(place)
    return ends


def each_call(folder: Path) -> dict[str, int]:
    """Let each call of writing a take fail in turn; return how many there were, by kind of fault."""
    from stunt.cli.take_files import write_take
    from stunt.record.report import make_report

    older, out = Take.load(folder / "older"), folder / "each"
    report = make_report(older)
    counts = {}
    for how in ("kill", "ENOSPC", "EIO", "EACCES", "EROFS"):

        def prepare() -> None:
            shutil.rmtree(out, ignore_errors=True)
            shutil.copytree(folder / "older", out)

        def check(number: int, code: int, how: str = how) -> None:
            assert code in (KILLED, RAISED), (how, number, code)
            mend(out, _report_of)
            found = sorted(path.name for path in out.iterdir())
            assert found == ["report.json", "take.npz"], (how, number, found)
            Take.load(out).report()

        def action() -> None:
            write_take(out, older, report)

        from stunt.errors import StuntError

        counts[how] = at_each_call(prepare, action, check, how, (StuntError, OSError))
    return counts


def main() -> int:
    """Run the campaign; return how many finds there were."""
    parser = argparse.ArgumentParser(description="Kill performances, and let calls to the system fail.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kills = Kills(folder, args.seed)
        print(f"calls that failed in turn, the folder old or new after each: {each_call(folder)}")
        for number in range(args.kills):
            kills.kill(number)
        if min(kills.lost, kills.worked) > MOST_LOST:
            kills.finds.append(f"{kills.lost:.2f} s were lost")
        lost = f"at most {kills.lost:.2f} s lost, {kills.worked:.2f} s of them with a processor"
        print(f"{args.kills} kills ({kills.phases}): {len(kills.finds)} finds, {lost}")
        for find in kills.finds:
            print(find)
        return min(len(kills.finds), 100)


if __name__ == "__main__":
    sys.exit(main())
