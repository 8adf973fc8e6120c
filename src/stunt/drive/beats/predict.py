"""Where a character will be at a time, if its beats are met: what throws aim by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stunt.drive.beats.forecast import minimum_jerk_path
from stunt.drive.beats.spec import ResolvedBeat, Script, resolve_beats
from stunt.stage.loop import StageLoop


class Foresight:
    """Predicts `qpos` at a later time, along minimum-jerk paths from now through the keys that are ahead."""

    def __init__(self, stage: StageLoop, script: Script) -> None:
        """Keep the script's beats.

        Args:
            stage: The stage; its state at the time of a call is where predictions start.
            script: Whose beats are expected to be met.
        """
        self._stage = stage
        self._beats = {name: resolve_beats(part) for name, part in script.parts.items() if part.beats}

    def __call__(self, character: str, time: float) -> NDArray[np.float64]:
        """Return the whole model's positions at `time`, with this character moved, (nq,)."""
        stage = self._stage
        now = stage.time
        ahead: Sequence[ResolvedBeat] = [b for b in self._beats.get(character, ()) if b.time > now + 1e-9]
        if not ahead or time <= now:
            return stage.data.qpos.copy()
        path = minimum_jerk_path(stage.character(character), stage.data.qpos, stage.data.qvel, ahead, start=now)
        index = int(np.argmin(np.abs(path.time - time)))
        return path.qpos[index].copy()
