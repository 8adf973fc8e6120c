"""The script as a timeline shows it: lanes with beats, tension, clips and events, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stunt.drive.beats.spec import Part, Script, resolve_beats
from stunt.drive.tension.spec import EVERY, TensionPart, cues
from stunt.library.names import reference_name
from stunt.motion.pose import Pose
from stunt.script.sections.clips import ClipsPart, played_seconds
from stunt.stage.scene import Attach, Drag, Event, Push, Release, Throw


def outline(script: Script, touches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Describe a script for the page.

    Args:
        script: The document's script, without the touches.
        touches: What the hand did besides.
    """
    return {
        "title": script.title,
        "seconds": script.seconds,
        "poses": {name: pose_degrees(pose) for name, pose in script.poses.items()},
        "characters": {
            name: _character(script.parts.get(name), spec.body_name) for name, spec in script.scene.characters.items()
        },
        "events": [_event(event) for event in script.scene.events],
        "touches": [_touch(touch) for touch in touches],
        "props": list(script.scene.props),
        "warnings": list(script.warnings),
    }


def pose_degrees(pose: Pose) -> dict[str, float]:
    """Return a pose's single angles as the page shows them [°; m for slides]."""
    return {
        joint: round(float(angle) if pose.units.get(joint) == "m" else float(np.degrees(angle)), 3)
        for joint, angle in pose.angles.items()
        if isinstance(angle, int | float)
    }


def _character(part: Part | None, body: str) -> dict[str, Any]:
    if part is None:
        return {"body": body, "beats": [], "clips": [], "tension_poses": [], "tension": None, "machine": False}
    return {
        "body": body,
        "tension": part.tension,
        "cycle": part.cycle,
        "beats": _beats(part),
        "clips": _clips(part.sections.get("clips")),
        "tension_poses": _tension(part.sections.get("tension_poses")),
        "tension_start": _start_tension(part.sections.get("tension_poses")),
        "machine": part.machine is not None,
        "sections": list(part.sections),
    }


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
            "angles": pose_degrees(beat.pose),
        }
        for beat in resolve_beats(part)
    ]


def _clips(section: ClipsPart | None) -> list[dict[str, Any]]:
    found, clock = [], 0.0
    for number, play in enumerate(section.play if section is not None else ()):
        length = played_seconds(play)
        start = clock if play.at is None else play.at
        found.append(
            {
                "index": number, "clip": reference_name(play.clip), "start": round(start, 4),
                "length": round(length, 4), "blend": play.blend, "from": play.begin, "to": play.end, "loop": play.loop,
                "placed": play.at is not None,
            }
        )  # fmt: skip
        clock = start + length
    return found


def _tension(section: TensionPart | None) -> list[dict[str, Any]]:
    if section is None:
        return []
    return [
        {
            "index": number, "start": round(cue.start, 4), "end": round(cue.end, 4), "pose": cue.entry.pose.name,
            "joints": list(cue.entry.pose.angles), "level": _level(_first(cue.entry)),
        }
        for number, cue in enumerate(cues(section))
    ]  # fmt: skip


def _first(entry: Any) -> Any:
    values = list(entry.tension.values.values())
    return values[0] if values else None


def _level(span: Any) -> float | None:
    tension = getattr(span, "end", span)
    return float(tension.amount) if tension is not None and tension.unit == "level" else None


def _start_tension(section: TensionPart | None) -> float | None:
    if section is None:
        return None
    values = section.tension.values
    return _level(values.get(EVERY, next(iter(values.values()), None)))


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
