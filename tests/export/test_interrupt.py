"""Ctrl-C in the middle of an export: exit code 130, and not a trace of the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
from stunt.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_ctrl_c_leaves_nothing(tmp_path, walk_take, suffix):
    if suffix == ".mp4":
        pytest.importorskip("av")
    source, target = tmp_path / "take", tmp_path / "out"
    walk_take.save(source / "take.npz")
    target.mkdir()
    words = ["export", str(source), "--to", str(target / f"a{suffix}"), "--fps", "500", "--renderer", "software"]
    process = subprocess.Popen([sys.executable, "-c", COMMAND, *words], stderr=subprocess.PIPE, text=True)
    for _ in range(6000):
        if list(target.iterdir()) or process.poll() is not None:
            break
        time.sleep(0.1)
    assert [path.name[0] for path in target.iterdir()] == ["."], "written aside, out of sight"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130 and "interrupted" in said
    assert not list(target.iterdir())
