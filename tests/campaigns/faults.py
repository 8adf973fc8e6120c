"""`make faults`: kills at random moments, and each call to the system failing in turn, while takes are made.

    python -m tests.campaigns.faults [--kills N] [--seed S]

After each kill the folder is mended as the next run would, and must hold the older take as it was, or the new one
whole, or both the older one and what was recovered; and no more may be lost than a second of the performance's time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stunt.cli.take_files import _report_of
from stunt.record.take import Take
from stunt.record.take_folder import JOURNAL, mend
from tests.campaigns.calls import KILLED, RAISED, at_each_call

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


def digest(path: Path) -> str:
    """Return a digest of a file; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class Kills:
    """Performances that are killed.

    Attributes:
        finds: What went wrong.
        lost: The most wall time of a performance that was lost [s].
        phases: In which state the folders were found.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        """Perform once, whole: the older take."""
        self.folder, self.random = folder, random.Random(seed)
        self.finds: list[str] = []
        self.lost, self.phases = 0.0, {"before": 0, "performing": 0, "written": 0}
        self.short, self.long = folder / "short.yaml", folder / "long.yaml"
        self.short.write_text(SCRIPT.format(seconds=20))
        self.long.write_text(SCRIPT.format(seconds=3600))
        began = time.monotonic()
        self._start(self.short).wait()
        self.whole = time.monotonic() - began
        shutil.copytree(folder / "out", folder / "older")

    def _start(self, script: Path) -> subprocess.Popen[bytes]:
        words = [
            sys.executable,
            "-m",
            "stunt.cli.main",
            "perform",
            str(script),
            "--out",
            "out",
            "--no-pictures",
            "--quiet",
        ]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        return subprocess.Popen(words, cwd=self.folder, env=environment, stderr=subprocess.DEVNULL)

    def kill(self, number: int) -> None:
        """Kill one performance at a random moment, and look what is left."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        older = bool(number % 2)
        if older:
            shutil.copytree(self.folder / "older", out)
        # From where there is something to lose, or at any moment: the short ones while they begin, or write their take.
        script = self.long if number % 4 else self.short
        process = self._start(script)
        if number % 4:
            journal = out / JOURNAL
            while process.poll() is None and not (journal.exists() and journal.stat().st_size > 10_000):
                time.sleep(0.01)
            time.sleep(self.random.uniform(0.0, 1.5))
        else:
            time.sleep(self.random.uniform(0.0, 1.2) * self.whole)
        written = time.time()
        process.kill()
        process.wait()
        journal = out / JOURNAL
        if journal.exists() and journal.stat().st_size > 10_000:
            self.lost = max(self.lost, written - journal.stat().st_mtime)
            self.phases["performing"] += 1
        else:
            self.phases["written" if (out / "take.npz").exists() and script is self.short else "before"] += 1
        self._look(number, out, older)

    def _look(self, number: int, out: Path, older: bool) -> None:
        before = digest(out / "take.npz")
        mend(out, _report_of)
        left = [path.name for path in out.glob(".*")] if out.exists() else []
        if left:
            self.finds.append(f"kill {number}: left {left}")
        if older and digest(out / "take.npz") not in (before, digest(self.folder / "older" / "take.npz")):
            take = Take.load(out)  # a whole new one that was only to be moved into place
            if take.meta.get("interrupted"):
                self.finds.append(f"kill {number}: the older take was replaced by a part")
        for path in out.glob("*.npz") if out.exists() else ():
            Take.load(path).report()


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
        if kills.lost > MOST_LOST:
            kills.finds.append(f"{kills.lost:.2f} s were lost")
        print(f"{args.kills} kills ({kills.phases}): {len(kills.finds)} finds, at most {kills.lost:.2f} s lost")
        for find in kills.finds:
            print(find)
        return min(len(kills.finds), 100)


if __name__ == "__main__":
    sys.exit(main())
