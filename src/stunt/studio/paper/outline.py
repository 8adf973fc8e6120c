"""The script as a timeline shows it: lanes with beats, tension, clips and events, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from stunt.drive.beats.spec import BeatSpec, Part, Script, resolve_beats
from stunt.keys import shown, write
from stunt.script.kinds import KINDS
from stunt.stage.event_specs import EVENTS, Attach, Drag, Event, Push, Release, Throw
from stunt.studio.paper.edits import degrees_of
from stunt.studio.paper.identity import Marks, numbered


def outline(script: Script, touches: Sequence[Mapping[str, Any]], marks: Marks | None = None) -> dict[str, Any]:
    """Describe a script for the page.

    Args:
        script: The document's script, without the touches.
        touches: What the hand did besides.
        marks: By which numbers its items are known.
    """
    found = {
        "title": script.title,
        "seconds": script.seconds,
        "poses": {name: degrees_of(pose) for name, pose in script.poses.items()},
        "characters": {
            name: _character(script.parts.get(name), spec.body_name) for name, spec in script.scene.characters.items()
        },
        "events": [{**_event(event), "written": write(event)} for event in script.scene.events],
        "touches": [_touch(touch) for touch in touches],
        "props": list(script.scene.props),
        "warnings": list(script.warnings),
        "keys": inspected(),
    }
    return numbered(found, marks or {})


@cache
def inspected() -> dict[str, list[dict[str, Any]]]:
    """Return what an inspector shows of the keys of what can be chosen, as they are declared."""
    specs = {"beats": BeatSpec, **EVENTS}
    for kind in KINDS.values():
        specs |= kind.entries
    return {name: shown(cls) for name, cls in specs.items()}


def _character(part: Part | None, body: str) -> dict[str, Any]:
    if part is None:
        return {"body": body, "beats": [], **_nothing_chosen(), "tension": None, "machine": False}
    return {
        "body": body,
        "tension": part.tension,
        "cycle": part.cycle,
        "beats": _beats(part),
        **_nothing_chosen(),
        "tension_start": None,
        "machine": part.machine is not None,
        "sections": list(part.sections),
    } | {name: shown for key, value in part.sections.items() for name, shown in KINDS[key].outline(value).items()}


def _nothing_chosen() -> dict[str, Any]:
    """Return the lanes of sections, empty."""
    return {kind.key: [] for kind in KINDS.values() if kind.chosen}


def _beats(part: Part) -> list[dict[str, Any]]:
    if not part.beats:
        return []
    count = len(part.beats)
    return [
        {
            "index": beat.index % count,
            "number": beat.index,
            "cycle": beat.index // count,
            "time": round(beat.time, 6),
            "pose": beat.pose.name,
            "hold": beat.hold,
            "own_hold": part.beats[beat.index % count].hold is not None,
            "joints": list(beat.pose.angles),
            "angles": degrees_of(beat.pose),
        }
        for beat in resolve_beats(part)
    ]


def _event(event: Event) -> dict[str, Any]:
    match event:
        case Push():
            size = event.impulse or event.force or (0.0, 0.0, 0.0)
            what = f"{np.linalg.norm(size):.3g} {'N·s' if event.impulse else 'N'}"
            end = event.at + event.duration
            return {"kind": "push", "at": event.at, "end": end, "target": event.target, "size": what}
        case Throw():
            return {"kind": "throw", "at": event.at, "end": event.hits_at, "target": event.target, "prop": event.prop}
        case Attach():
            return {"kind": "attach", "at": event.at, "end": event.at, "target": event.to, "prop": event.prop}
        case Release():
            return {"kind": "release", "at": event.at, "end": event.at, "prop": event.prop}
        case Drag():
            strength = f"{event.strength:.3g} N"
            return {"kind": "drag", "at": event.at, "end": event.until, "target": event.target, "size": strength}


def _touch(touch: Mapping[str, Any]) -> dict[str, Any]:
    kind = "push" if "push" in touch else "throw"
    end = touch.get("hits_at", float(touch["at"]) + float(touch.get("duration", 0.02)))
    return {"kind": kind, "at": touch["at"], "end": end, "target": touch.get("push") or touch.get("target")}
