"""Who is off its trajectory: since when, how far, and why, as events of a take."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stunt.character.character import Character
from stunt.control.adaptive.memory import AdaptiveProgram, number_after
from stunt.control.core.renumbered import Renumbered
from stunt.stage.loop import StageLoop

_SETTLED = 0.5  # back on the path below this share of the tolerance, so that one excursion is one event
_SHORTEST = 0.05  # an excursion shorter than this is no news [s]


@dataclass(frozen=True)
class Watched:
    """A joint or site on a trajectory: its name, `joint` or `site`, and its index in the model."""

    name: str
    kind: str
    id: int


class OffPath:
    """Watches driven joints and sites of one character."""

    def __init__(
        self, stage: StageLoop, character: Character, program: AdaptiveProgram, angle: float, distance: float
    ) -> None:
        """Watch nothing yet.

        Args:
            stage: Where the character is.
            character: Who.
            program: What drives it.
            angle: Tolerance of angles [rad].
            distance: Tolerance of positions [m].
        """
        self._stage, self._character, self._program = stage, character, program
        self._angle, self._distance = angle, distance
        self._watched: dict[str, Watched] = {}
        self._open: dict[str, dict[str, Any]] = {}

    def watch(self, what: Watched) -> None:
        """Start watching."""
        self._watched[what.name] = what

    def forget(self, name: str) -> None:
        """Stop watching."""
        self._watched.pop(name, None)
        self._open.pop(name, None)

    def look(self) -> list[dict[str, Any]]:
        """Look at the present errors; return the excursions that have just ended."""
        program = self._program
        if not self._open and not self._anything(program):
            return []
        ended = []
        for name, what in self._watched.items():
            share, error = self._share(what)
            if name in self._open:
                self._go_on(self._open[name], what, share, error)
                if share < _SETTLED:
                    ended.append(self._close(self._open.pop(name)))
            elif share > 1.0:
                self._open[name] = self._begin(what, share, error)
        return [entry for entry in ended if entry["end"] - entry["time"] >= _SHORTEST]

    def _anything(self, program: AdaptiveProgram) -> bool:
        distance, angle = program.site_errors()
        most = max(np.max(distance, initial=0.0) / self._distance, np.max(angle, initial=0.0) / self._angle)
        joints = np.max(np.abs(program.joint_errors()), initial=0.0) / min(self._angle, self._distance)
        return bool(max(most, joints) > 1.0)

    def _share(self, what: Watched) -> tuple[float, float]:
        """Return how far off it is, in tolerances, and in degrees or millimetres."""
        if what.kind == "joint":
            error = self._program.joint_error(what.id)
            if self._character.joints[what.name].kind == "slide":
                return abs(error) / self._distance, 1000.0 * error
            return abs(error) / self._angle, math.degrees(error)
        distance, angle = (float(e[self._program.sites.index(what.id)]) for e in self._program.site_errors())
        if distance / self._distance >= angle / self._angle:
            return distance / self._distance, 1000.0 * distance
        return angle / self._angle, math.degrees(angle)

    def _begin(self, what: Watched, share: float, error: float) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "time": self._stage.time, "kind": "off_path", "character": self._character.name, what.kind: what.name,
            "end": self._stage.time, "error": 0.0, "worst_time": self._stage.time, "unit": self._unit(what),
            "at_limit": False, "touching": [], "_share": 0.0,
        }  # fmt: skip
        self._go_on(entry, what, share, error)
        return entry

    def _unit(self, what: Watched) -> str:
        if what.kind == "joint":
            return "mm" if self._character.joints[what.name].kind == "slide" else "deg"
        distance, angle = (float(e[self._program.sites.index(what.id)]) for e in self._program.site_errors())
        return "mm" if distance / self._distance >= angle / self._angle else "deg"

    def _go_on(self, entry: dict[str, Any], what: Watched, share: float, error: float) -> None:
        entry["end"] = self._stage.time
        if share > entry["_share"]:
            entry.update(_share=share, error=error, worst_time=self._stage.time, unit=self._unit(what))
        if what.kind == "joint":
            entry["at_limit"] |= bool(self._stage.board.saturated[self._character.joints[what.name].dof])
        for other in self._touched(what):
            if other not in entry["touching"]:
                entry["touching"].append(other)

    def _touched(self, what: Watched) -> list[str]:
        """Return what anything that moves with the joint or site touches, other than the character itself."""
        stage = self._stage
        model, data = stage.model, stage.data
        if what.kind == "joint":
            body = int(model.jnt_bodyid[what.id])
        else:
            body = int(model.site_bodyid[what.id]) if what.id >= 0 else -1 - what.id
        found: dict[str, None] = {}
        for pair, gap in zip(data.contact.geom[: data.ncon], data.contact.dist[: data.ncon], strict=True):
            for mine, theirs in (pair, pair[::-1]):
                if gap <= 0.0 and int(mine) in self._character.geoms and int(theirs) not in self._character.geoms:
                    if self._outboard(int(model.geom_bodyid[mine]), body):
                        found[self._owner(int(theirs))] = None
        return list(found)

    def _outboard(self, body: int, joint_body: int) -> bool:
        while body > joint_body:
            body = int(self._stage.model.body_parentid[body])
        return body == joint_body

    def _owner(self, geom: int) -> str:
        name = str(self._stage.model.body(int(self._stage.model.geom_bodyid[geom])).name)
        return "the ground" if name == "world" else name.partition("/")[0]

    @staticmethod
    def _close(entry: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if not key.startswith("_")}

    def unfinished(self) -> list[dict[str, Any]]:
        """Return the excursions that have not ended yet, up to now."""
        entries = [self._close(entry) for entry in self._open.values()]
        return [entry for entry in entries if entry["end"] - entry["time"] >= _SHORTEST]

    def move(self, character: Character, program: AdaptiveProgram, by: Renumbered) -> None:
        """Watch on, on a stage with another cast."""
        self._character, self._program = character, program
        self._watched = {
            name: replace(what, id=found)
            for name, what in self._watched.items()
            if (found := number_after(by, what.kind, what.id)) is not None
        }

    def save(self) -> Any:
        """Return what must survive a restore."""
        return dict(self._watched), copy.deepcopy(self._open)

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._watched, self._open = dict(state[0]), copy.deepcopy(state[1])
