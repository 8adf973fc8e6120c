"""A performance that can be wound back: played in small pieces, edited, and played on from the last saved state."""

from __future__ import annotations

import dataclasses
import time as clock
from typing import Any

from stunt.drive.beats.spec import Script
from stunt.errors import BlowUpError
from stunt.record.take import Take
from stunt.script.performance import Performance
from stunt.script.revise import NEVER, first_change, revise
from stunt.stage.event_specs import Push

CHUNK = 1.0 / 60.0
"""Simulated time between two looks at the clock [s]."""
SPACING = 0.25
"""Simulated time between two saved states [s]; more in long performances."""
_MOST_STATES = 240


class Rehearsal:
    """One stage, played as far as needed.

    Attributes:
        performance: What is played. Its recorder holds the frames so far.
        error: What stopped it, as a sentence; "" while all is well.
        restarted_at: From where the last edit was played [s].
    """

    def __init__(self, script: Script) -> None:
        """Build the stage.

        Raises:
            StuntError: The script does not fit its bodies.
        """
        self.performance = Performance(script)
        self.error = ""
        self.restarted_at = 0.0
        self._states: list[tuple[int, dict[str, Any], tuple[int, int]]] = []

    @property
    def script(self) -> Script:
        """What is played."""
        return self.performance.script

    @property
    def simulated(self) -> float:
        """How far it has been played [s]."""
        return self.performance.stage.time

    @property
    def seconds(self) -> float:
        """How long the whole performance is [s]."""
        return self.performance.seconds

    @property
    def done(self) -> bool:
        """Whether there is nothing more to simulate."""
        stage = self.performance.stage
        return bool(self.error) or stage.tick >= stage.tick_of(self.seconds)

    def play_for(self, budget: float) -> None:
        """Simulate for so much time of the clock on the wall [s], or to the end."""
        until = clock.perf_counter() + budget
        while not self.done:
            self.play_to(self.simulated + CHUNK)
            if clock.perf_counter() >= until:
                return

    def play_to(self, time: float) -> None:
        """Simulate up to a time [s], or to the end."""
        stage = self.performance.stage
        end = min(stage.tick_of(time), stage.tick_of(self.seconds))
        try:
            while stage.tick < end and not self.error:
                stage.advance(min(end - stage.tick, max(1, round(CHUNK / stage.step_time))))
                self._keep_state()
        except BlowUpError as error:
            self.error = str(error)

    def _keep_state(self) -> None:
        stage = self.performance.stage
        spacing = max(SPACING, self.seconds / _MOST_STATES)
        last = self._states[-1][0] if self._states else 0
        if (stage.tick - last) * stage.step_time >= spacing - 1e-9:
            state = stage.save()
            # The recorder only grows, so a bookmark does instead of a copy of all its frames.
            state["crew"][stage.crew.index(self.performance.recorder)] = None
            self._states.append((stage.tick, state, self.performance.recorder.mark()))

    def rewind(self, time: float) -> bool:
        """Go back to the last saved state strictly before a time [s]; False if there is none but the start."""
        stage = self.performance.stage
        first = stage.tick_of(time)
        keep = [entry for entry in self._states if entry[0] < first]
        if not keep:
            return False
        _, state, mark = keep[-1]
        recorder = self.performance.recorder
        recorder.rewind(mark)
        crew = [recorder.save() if saved is None else saved for saved in state["crew"]]
        stage.restore({**state, "crew": crew})
        self._states = keep
        self.error = ""
        return True

    def change(self, script: Script) -> None:
        """Play another version of the script: on from where the two begin to differ, or else from the start.

        Raises:
            StuntError: The script does not fit its bodies; what was played before stays.
        """
        when = first_change(self.script, script)
        if when == NEVER or when > self.simulated:
            self._go_on_with(script)
        elif when > 0.0 and self.rewind(when):
            self._go_on_with(script)
        else:
            self.__init__(script)  # type: ignore[misc]
            return
        self.restarted_at = self.simulated

    def _go_on_with(self, script: Script) -> None:
        revise(self.performance, script)
        self._drop_after_end()

    def _drop_after_end(self) -> None:
        """A performance that became shorter ends where it ends."""
        stage = self.performance.stage
        if stage.tick > stage.tick_of(self.seconds):
            end = self.seconds
            if self.rewind(end):
                revise(self.performance, self.script)
                self.play_to(end)
            else:
                self.__init__(self.script)  # type: ignore[misc]

    def stand_at(self, time: float) -> None:
        """Have the stage itself, not just the recording, at a time [s]; what was played after it is forgotten."""
        stage = self.performance.stage
        if stage.tick_of(time) < stage.tick:
            script = self.script
            if self.rewind(time + stage.step_time):
                revise(self.performance, script)
            else:
                self.__init__(script)  # type: ignore[misc]
        self.play_to(time)

    def touch(self, push: Push) -> None:
        """Let a push begin now, and be part of what is played."""
        scene = self.script.scene
        script = dataclasses.replace(self.script, scene=dataclasses.replace(scene, events=(*scene.events, push)))
        self.performance.script = script
        self.performance.happenings.add(push)

    def take(self) -> Take:
        """Return the take so far."""
        return self.performance.take()
