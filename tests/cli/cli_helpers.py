"""A tiny script, and how to look at what a command did."""

from __future__ import annotations

from pathlib import Path

SCRIPT = """\
# One arm up.
stunt: 1
title: Tiny
seconds: 0.3
rate: 120
characters: {ada: {body: torso28}}
poses:
  up: {r_shoulder_flexion: 30, r_elbow_flexion: 20}
performance:
  ada:
    beats:
      - {pose: up, after: 0.2}
"""


class Result:
    """What a command did: its exit code and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def listing(folder: Path) -> dict[str, bytes]:
    """Return everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}
