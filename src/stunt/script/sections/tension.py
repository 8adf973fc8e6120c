"""`tension_poses` joins scripts and performances. The format is described in `docs/tension.md`."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

from stunt.character.character import Character
from stunt.drive.beats.check import check_pose
from stunt.drive.tension.performer import LEVEL, TensionPerformer
from stunt.drive.tension.spec import EVERY, MAIN, Floats, Plan, Span, TensionPart, TensionPose, cues
from stunt.errors import MissingValueError, Place
from stunt.play.actor import Actor
from stunt.script.sections.kind import SectionKind
from stunt.stage.loop import StageLoop


def check_tension_part(part: TensionPart, character: Character) -> None:
    """Check joints, limbs and angles against the character."""
    part.tension.check(character)
    part.damping.check(character)
    for controller in part.controllers.values():
        for entry in controller.poses:
            if not entry.pose.angles:
                raise MissingValueError("angles", f"pose '{entry.pose.name}'", entry.place)
            check_pose(entry.pose, character)
            for setting in (entry.tension, entry.damping, entry.update, entry.compensate, entry.springs, entry.curves):
                setting.check(character)


KEY = "tension_poses"


def _start(actor: Actor, part: TensionPart, alone: bool) -> TensionPerformer | None:
    actor.perform(_whole(part) if alone else part)
    return actor.joints.tension


def _claims(part: TensionPart, character: Character) -> dict[str, Place]:
    return {n: entry.place for each in part.controllers.values() for entry in each.poses for n in entry.pose.angles}


def _whole(part: TensionPart) -> TensionPart:
    """Return a part of a character that nobody else moves: all of it is under tension from the start."""
    return replace(part, tension=replace(part.tension, values={EVERY: LEVEL, **part.tension.values}))


def _recast(actor: Actor, part: TensionPart, alone: bool) -> list[str]:
    return actor.joints.hold_other(_whole(part) if alone else part)


def _first_change(old: TensionPart, new: TensionPart) -> float:
    """Return when the first pose sets out that is not the same, or that looks ahead to where such a one leads."""
    if replace(old, controllers={}, plays=()) != replace(new, controllers={}, plays=()):
        return 0.0
    ours, theirs = cues(old), cues(new)
    same = [a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))]
    others = [cue.start for found in (ours, theirs) for cue in found[len(same) : len(same) + 1]]
    when = min(others, default=math.inf)
    return min([when, *(cue.start for cue in same if cue.end > when - 1e-6)])


def _seconds(part: TensionPart) -> float | None:
    return max((cue.end for cue in cues(part)), default=None)


def _level(tension: Any) -> float | None:
    tension = tension.end if isinstance(tension, Span) else tension
    return float(tension.amount) if tension is not None and tension.unit == "level" else None


def _outline(part: TensionPart) -> dict[str, Any]:
    held = part.tension.values
    own = part.controllers[MAIN].poses if MAIN in part.controllers else ()
    places = {id(entry): number for number, entry in enumerate(own)}
    shown = [
        {
            "index": places.get(id(cue.entry), len(own) + number), "pose": cue.entry.pose.name,
            "start": round(cue.start, 4), "end": round(cue.end, 4),
            "joints": list(cue.entry.pose.angles), "level": _level(next(iter(cue.entry.tension.values.values()), None)),
            "limb": next(iter(cue.entry.tension.values), EVERY),
        }
        for number, cue in enumerate(cues(part))
    ]  # fmt: skip
    limb = EVERY if EVERY in held else next(iter(held), EVERY)
    return {KEY: shown, "tension_start": _level(held.get(limb)), "tension_limb": limb}


def _preview(part: TensionPart, stage: StageLoop, name: str, path: Floats, times: Floats) -> None:
    Plan(stage.character(name), stage.data.qpos, cues(part)).write(path, times)


TENSION = SectionKind(
    KEY, TensionPart, check_tension_part, _start, _seconds, outline=_outline, preview=_preview,
    entries={KEY: TensionPose}, chosen="poses", recast=_recast, first_change=_first_change, claims=_claims,
)  # fmt: skip
