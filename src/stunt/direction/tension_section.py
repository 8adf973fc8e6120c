"""`tension_poses` joins scripts and performances."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stunt.direction.balance import Balance
from stunt.direction.door.tension_part import check_tension_part, read_tension_part, tension_part_to_data
from stunt.direction.ground_sense import GroundSense
from stunt.direction.sections import KINDS, SectionKind
from stunt.direction.tension_performer import LEVEL, TensionPerformer
from stunt.direction.tension_script import EVERY, TensionPart, cues
from stunt.direction.tension_warnings import foresee

if TYPE_CHECKING:
    from stunt.direction.performance import Performance

KEY = "tension_poses"


def _start(performance: Performance, name: str, part: TensionPart) -> None:
    script = performance.script.parts[name]
    if not script.beats and script.machine is None and len(script.sections) == 1:
        # Nobody else moves this character: all of it is under tension from the start.
        part = replace(part, tension=replace(part.tension, values={EVERY: LEVEL, **part.tension.values}))
    performer = TensionPerformer(performance.stage, name, part)
    performance.warnings += [finding.sentence(name) for finding in foresee(performer, cues(part))]
    performance.sections[name][KEY] = performer
    performance.logs.append(performer.log)
    if performer.character.root is not None:
        GroundSense(performer)
        if part.balance:
            Balance(performer)


def _seconds(part: TensionPart) -> float | None:
    return max((cue.end for cue in cues(part)), default=None)


KINDS[KEY] = SectionKind(KEY, read_tension_part, tension_part_to_data, check_tension_part, _start, _seconds)
