"""SIGTERM, SIGHUP and kill -9: what was performed is kept, and nothing older is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from cli_helpers import SCRIPT

from stunt.record.journal import recovered
from stunt.record.take import Take

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are another thing on Windows")
ENDLESS = SCRIPT.replace("seconds: 0.3", "seconds: 3600")


def performing(script, *words):
    """Start a performance, and wait until it plays."""
    command = [sys.executable, "-m", "stunt.cli.main", "perform", str(script), "--out", "out", "--no-pictures", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "performing" not in (line := process.stderr.readline()):
        assert line, "it ended before it began"
    return process


def with_frames(folder):
    """Wait until a journal holds frames: what it says of the stage is there first, and comes in several writes."""
    for _ in range(6000):
        if (take := recovered(folder / ".take.journal")) is not None and take.time.size:
            return
        time.sleep(0.05)
    raise AssertionError("no frames were written down")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_the_take_so_far(script, name):
    script.write_text(ENDLESS)
    process = performing(script)
    process.send_signal(getattr(signal, name))
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 128 + getattr(signal, name) and "the take so far is in out/take.npz" in errors
    assert Take.load("out").meta["interrupted"] and {path.name for path in os.scandir("out")} == {
        "take.npz",
        "report.json",
    }


def test_an_ignored_hangup_stays_ignored(script, stunt, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        from stunt.cli import perform

        monkeypatch.setattr(perform, "warm_up", lambda stage: signal.raise_signal(signal.SIGHUP))
        assert stunt("perform", script, "--no-pictures").code == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_sigterm_before_the_performance_begins_clears_up(script, stunt, monkeypatch):
    from stunt.cli import perform

    monkeypatch.setattr(perform, "warm_up", lambda stage: signal.raise_signal(signal.SIGTERM))
    assert stunt("perform", script).code == 143
    assert [path.name for path in script.parent.iterdir()] == [script.name]


def test_kill_9_is_mended_by_showing_it_and_by_the_next_run(script, stunt):
    script.write_text(ENDLESS)
    process = performing(script)
    with_frames(script.parent / "out")
    process.kill()
    process.communicate()
    assert [path.name for path in os.scandir("out")] == [".take.journal"]
    shown = stunt("show", "out")
    assert shown.code == 0 and "a performance that was killed is recovered up to" in shown.err
    first = Take.load("out")
    assert first.meta["interrupted"] and first.seconds > 0.0 and {p.name for p in os.scandir("out")} == {
        "take.npz", "report.json",
    }  # fmt: skip
    process = performing(script)
    with_frames(script.parent / "out")
    process.kill()
    process.communicate()
    script.write_text(SCRIPT)
    result = stunt("perform", script, "--out", "out", "--no-pictures")
    assert result.code == 0 and "recovered.npz" in result.err
    assert Take.load("out").meta["interrupted"] is False and Take.load("out/recovered.npz").meta["interrupted"]
    assert {p.name for p in os.scandir("out")} == {"take.npz", "report.json", "recovered.npz"}


def test_two_performances_with_one_folder_the_second_says_so(script, stunt):
    script.write_text(ENDLESS)
    process = performing(script)
    try:
        result = stunt("perform", script, "--out", "out")
        assert result.code == 2 and f"another Stunt (process {process.pid}) is writing a take into 'out'" in result.err
    finally:
        process.terminate()
        process.communicate()


def test_journalled_or_not_the_take_is_the_same_bytes(script, stunt, monkeypatch):
    from stunt.record import journal

    assert stunt("perform", script, "--out", "a", "--no-pictures").code == 0
    blocks = []
    append = journal.Journal.append
    monkeypatch.setattr(journal.Journal, "keep_up", lambda self: (append(self), blocks.append(1)))
    assert stunt("perform", script, "--out", "b", "--no-pictures").code == 0
    assert len(blocks) > 5
    assert (script.parent / "a/take.npz").read_bytes() == (script.parent / "b/take.npz").read_bytes()


def test_ctrl_c_while_it_is_being_loaded_is_no_traceback():
    pressed = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from stunt.cli.main import main
sys.exit(main(["examples"]))
"""
    done = subprocess.run([sys.executable, "-c", pressed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
