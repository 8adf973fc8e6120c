"""The stage as a program sees it."""

from __future__ import annotations

from stunt.stage.loop import StageLoop


class Stage(StageLoop):
    """A scene being played."""
