"""`supervisor` joins scripts and performances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stunt.control.worldspace_program import ServoSettings
from stunt.direction.clips_section import trimmed_motion
from stunt.direction.motion_rows import motion_of_clip
from stunt.direction.sections import KINDS, SectionKind
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.clip_player import ClipPlayer
from stunt.direction.supervisor.contract import Controller
from stunt.direction.supervisor.fight_part import fight_controllers
from stunt.direction.supervisor.grounding import grounded
from stunt.direction.supervisor.held_body import LOOK
from stunt.direction.supervisor.parameters import values_for
from stunt.direction.supervisor.part import (
    ClipSpec,
    ControllerSpec,
    RequestSpec,
    SupervisorPart,
    check_supervisor_part,
    read_supervisor_part,
    supervisor_part_to_data,
)
from stunt.direction.supervisor.registry import make_controller, maker_of
from stunt.direction.supervisor.relation import Relation
from stunt.direction.supervisor.supervisor import Supervisor
from stunt.direction.supervisor.walk_part import walk_controller
from stunt.errors import asked_at
from stunt.motion.library import clip_beside, load_clip
from stunt.stage.loop import Stage

if TYPE_CHECKING:
    from stunt.direction.performance import Performance

KEY = "supervisor"


class Requests:
    """Crew that asks for controllers at their times."""

    def __init__(self, stage: Stage, supervisor: Supervisor, later: tuple[RequestSpec, ...]) -> None:
        """Queue what is asked for."""
        self._stage, self._supervisor = stage, supervisor
        self._later = sorted(later, key=lambda request: request.at)
        # Before the supervisor, so that what is asked for now is served now.
        stage.crew.insert(stage.crew.index(supervisor), self)

    def due(self) -> int | None:
        """Return the tick of the next request."""
        return self._stage.tick_of(self._later[0].at) if self._later else None

    def act(self) -> None:
        """Ask."""
        request = self._later.pop(0)
        if request.do in self._supervisor.pool:
            self._supervisor.request(request.do, patience=request.patience)
        else:
            self._supervisor.refuse(request.do, "it was taken out of the pool")

    def save(self) -> Any:
        """Return what is still to come."""
        return list(self._later)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._later = list(state)


def clip_controller(stage: Stage, name: str, spec: ClipSpec, source: str) -> ClipPlayer:
    """Make a clip player as a script describes it."""
    beside = Path(source).parent if source else Path()
    character = stage.character(name)
    with asked_at(spec.place):
        motion = motion_of_clip(load_clip(clip_beside(spec.clip, beside), place=spec.place), character)
    motion = grounded(stage.model, character, trimmed_motion(motion, spec.begin, spec.end, spec.place))
    return ClipPlayer(
        spec.name, replace(motion, loop=spec.loop), stage, name, threshold=spec.threshold,
        hit_threshold=spec.hit_threshold, blend=spec.blend, begins=spec.whole, priority=spec.priority,
        only_asked=spec.asked, weights=dict(spec.weights), passive=frozenset(spec.passive), firm=spec.firm,
    )  # fmt: skip


def registered_controller(stage: Stage, name: str, spec: ControllerSpec) -> Controller:
    """Make a registered controller as a script describes it."""
    parameters = values_for(maker_of(spec.use, spec.place), dict(spec.parameters))
    made = make_controller(spec.use, stage, name, spec.place, parameters)
    made.name = spec.name
    for key in ("priority", "interrupts", "longest"):
        if (value := getattr(spec, key)) is not None:
            setattr(made, key, value)
    return made


def _start(performance: Performance, name: str, part: SupervisorPart) -> None:
    stage, source = performance.stage, performance.script.source
    actor = Actor(stage, name, settings=ServoSettings(look=LOOK, gain=part.gain), root=part.root)
    pool: list[Controller] = [clip_controller(stage, name, spec, source) for spec in part.clips]
    pool += [walk_controller(stage, name, walk, source) for walk in part.walks]
    for fight in part.fights:
        pool += fight_controllers(stage, name, fight, source)
    pool += [registered_controller(stage, name, spec) for spec in part.controllers]
    safe = next((c for c in pool if c.name == part.safe), None)
    relation = Relation(frozenset(part.passive), frozenset(part.active))
    supervisor = Supervisor(stage, name, pool, actor=actor, safe=safe, relation=relation, hz=part.rate)
    Requests(stage, supervisor, part.requests)
    performance.sections[name][KEY] = supervisor
    performance.logs.append(supervisor.log)


def _seconds(part: SupervisorPart) -> float | None:
    return max([0.0, *(request.at for request in part.requests)]) + 5.0


KINDS[KEY] = SectionKind(KEY, read_supervisor_part, supervisor_part_to_data, check_supervisor_part, _start, _seconds)
