"""A small state machine over poses: the next pose comes by time, contact, a joint's angle, or by what happened."""

from __future__ import annotations

from typing import Any

from stunt.control.core.renumbered import Renumbered
from stunt.drive.beats.performer import Performer
from stunt.drive.beats.spec import MachineSpec
from stunt.drive.response.happened import Happened
from stunt.drive.response.ways_out import Exit


class StateMachine:
    """Crew that gives a performer its next pose. Looks at its exits once per control step."""

    def __init__(self, performer: Performer, spec: MachineSpec, *, start_at: float = 0.0) -> None:
        """Prepare; the first state is entered at `start_at` [s].

        Args:
            performer: Whom it directs.
            spec: States and exits.
            start_at: When it begins [s].
        """
        self._performer = performer
        self._stage = performer.stage
        self._spec = spec
        self._state: str | None = None
        self._entered = 0.0
        self._due: int | None = self._stage.tick_of(start_at)
        self.log: list[dict[str, Any]] = []
        self._happened = Happened(self._stage, performer.character.name)
        self._stage.crew.append(self)

    @property
    def state(self) -> str | None:
        """Name of the present state; None before it begins."""
        return self._state

    def due(self) -> int | None:
        """Return the next tick at which an exit might be taken."""
        return self._due

    def act(self) -> None:
        """Take the first exit that is open, if any, and say when to look again."""
        if self._state is None:
            self._enter(self._spec.start, "start")
        else:
            for exit_ in self._spec.states[self._state].exits:
                if self._open(exit_):
                    self._enter(exit_.to, _why(exit_))
                    break
        self._due = self._next_look()

    def _next_look(self) -> int | None:
        exits = self._spec.states[str(self._state)].exits
        if not exits:
            return None
        if all(exit_.after is not None for exit_ in exits):
            first = min(exit_.after for exit_ in exits if exit_.after is not None)
            return max(self._stage.tick_of(self._entered + first), self._stage.tick + 1)
        return self._stage.tick + self._stage.steps_per_control

    def _open(self, exit_: Exit) -> bool:
        if exit_.after is not None:
            return self._stage.time >= self._entered + exit_.after - 1e-9
        if exit_.hit is not None:
            return self._happened.hit(exit_.hit)
        if exit_.signal is not None:
            return self._happened.said(exit_.signal)
        if exit_.fell:
            return self._happened.fell
        if exit_.missed or exit_.reached:
            return self._met() is exit_.reached
        character = self._performer.character
        if exit_.contact is not None:
            return self._stage.watch.touching(character.name, exit_.contact, exit_.with_prop)
        joint = character.joint(str(exit_.joint))
        angle = float(self._stage.data.qpos[joint.qpos])
        if exit_.above is not None:
            return angle > exit_.above
        return exit_.below is not None and angle < exit_.below

    def _met(self) -> bool | None:
        """Return whether the state's pose was met; None: it is not due yet."""
        due = self._entered + self._spec.states[str(self._state)].within
        results = [result for result in self._performer.results if abs(result.time - due) < 1e-9]
        return results[-1].error_deg <= self._performer.missed_deg and not self._happened.fell if results else None

    def _enter(self, name: str, why: str) -> None:
        self.log.append(
            {
                "time": self._stage.time,
                "kind": "state",
                "character": self._performer.character.name,
                "state": name,
                "from": self._state,
                "why": why,
            }
        )
        self._state = name
        self._entered = self._stage.time
        self._happened.forget()
        state = self._spec.states[name]
        self._performer.forget()  # what the last state still wanted no longer counts
        self._performer.key(state.pose, at=self._entered + state.within)

    def forget(self) -> None:
        """Take no exit any more: somebody else moves the body."""
        self._due = None
        self._stage.crew.announce(self)

    def move(self, by: Renumbered) -> bool:
        """Go on, if whom it directs does."""
        return self._performer.character.name in self._stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._state, self._entered, self._due, list(self.log), self._happened.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._state, self._entered, self._due, log, happened = state
        self._happened.restore(happened)
        self.log[:] = log


def _why(exit_: Exit) -> str:
    if exit_.after is not None:
        return f"after {exit_.after:g} s"
    if exit_.contact is not None:
        return f"contact of {exit_.contact}" + (f" with {exit_.with_prop}" if exit_.with_prop else "")
    if exit_.hit is not None or exit_.signal is not None:
        return f"hit on {exit_.hit}" if exit_.hit is not None else f"signal {exit_.signal}"
    if exit_.missed or exit_.reached or exit_.fell:
        return "fell" if exit_.fell else "reached" if exit_.reached else "missed"
    side = f"above {exit_.above:g}" if exit_.above is not None else f"below {exit_.below:g}"
    return f"{exit_.joint} {side} rad"
