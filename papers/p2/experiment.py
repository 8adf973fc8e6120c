"""An experiment on its stage: a shipped example or a variation of it, played bit by bit and looked at on the way."""

from __future__ import annotations

from dataclasses import dataclass

from stunt.drive.beats.spec import Script
from stunt.record.take import Take
from stunt.script.performance import Performance
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.reflexes.senses import Felt, Glimpse
from stunt.supervise.supervisor import Supervisor


@dataclass
class Show:
    """An experiment on its stage.

    Attributes:
        performance: The performance.
        supervisors: By character.
        hits: All hits so far.
    """

    performance: Performance
    supervisors: dict[str, Supervisor]
    hits: list[Hit]

    @classmethod
    def of(cls, script: Script) -> Show:
        """Put a script on."""
        performance = Performance(script, record_hz=60.0, foretell=False)
        found = {name: sections.get("supervisor") for name, sections in performance.sections.items()}
        show = cls(performance, {name: one for name, one in found.items() if one is not None}, [])
        show.stage.hit_listeners.append(show.hits.append)
        return show

    @property
    def stage(self) -> StageLoop:
        """Where it plays."""
        return self.performance.stage

    def felt(self, name: str) -> Felt:
        """Return a character's state."""
        return Glimpse.of(self.stage).sense(name).feel()

    def switches(self, name: str) -> list[tuple[float, str]]:
        """Return who was in charge of a character, since when [s]."""
        log = self.supervisors[name].log
        return [(entry["time"], entry["controller"]) for entry in log if entry["event"] == "switch"]

    def ran(self, name: str, controller: str) -> bool:
        """Whether a controller was ever in charge."""
        return any(who == controller for _, who in self.switches(name))

    def until(self, time: float) -> None:
        """Play on to a time [s]."""
        steps = self.stage.tick_of(time) - self.stage.tick
        if steps > 0:
            self.stage.advance(steps)

    def take(self) -> Take:
        """Return the take so far."""
        return self.performance.take()
