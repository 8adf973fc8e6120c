"""Every edit the page can ask for, by name: poses, events, clips, tension and beats, as edits of the script."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stunt.drive.tension.spec import EVERY
from stunt.keys import key_of, names_of
from stunt.motion.pose import Pose
from stunt.motion.pose_keys import read_poses
from stunt.schema import node_from_plain
from stunt.script.sections.clips import CLIPS, PlaySpec
from stunt.script.sections.kind import SectionKind
from stunt.script.sections.tension import TENSION
from stunt.studio.paper import beat_edits
from stunt.studio.paper.beat_edits import Data, tidy
from stunt.studio.paper.identity import Path
from stunt.studio.paper.splice import Delete, Edit, EditError, Insert, Set

Made = tuple[str, list[Edit]]


def _added(data: Data, key: str, value: Any) -> list[Edit]:
    """Return the edits that put one more item into a top-level list."""
    have = data.get(key)
    if have:
        return [Insert((key,), len(have), value)]
    return [Set((key,), [value])]


def _named(data: Data, section: str, name: str, value: Any) -> list[Edit]:
    """Return the edits that set an entry of a top-level mapping."""
    return [Set((section, name), value)] if data.get(section) else [Set((section,), {name: value})]


def save_pose(
    data: Data, name: str, angles: Mapping[str, float], like: str | None = None, gone: Sequence[str] = ()
) -> Made:
    """Put a pose into the script's library, or change one: only the joints that differ are touched.

    Args:
        data: The script.
        name: The pose's.
        angles: Joint angles [°]; those a pose has from the one it is `like` are written only where they differ.
        like: For a new pose, the one it is like.
        gone: Joints it is no longer about.
    """
    if not name or not name.replace("_", "").replace("-", "").isalnum():
        raise EditError(f"'{name}' is no name for a pose: letters, digits, '_' and '-'.")
    rounded = {joint: _number(angle) for joint, angle in angles.items()}
    old = (data.get("poses") or {}).get(name)
    if not isinstance(old, dict):
        new = {"like": like, **rounded} if like else rounded
        return f"new pose {name}", _named(data, "poses", name, new)
    place = ("poses", name, "angles") if "angles" in old else ("poses", name)
    have = old.get("angles", old)
    before = degrees_of(read_poses(node_from_plain(data["poses"], "poses"))[name])
    if any(joint in before and joint not in have for joint in gone):  # what is inherited can only be left with all
        return f"pose {name}", [Set(("poses", name), rounded)]
    edits: list[Edit] = [
        Set((*place, joint), angle) for joint, angle in rounded.items() if abs(before.get(joint, 1e9) - angle) > 0.005
    ]
    return f"pose {name}", [*edits, *(Delete((*place, joint)) for joint in gone if joint in have)]


def degrees_of(pose: Pose) -> dict[str, float]:
    """Return a pose's single angles as the page shows them [°; m for slides]."""
    return {
        joint: round(float(angle) if pose.units.get(joint) == "m" else math.degrees(angle), 3)
        for joint, angle in pose.angles.items()
        if isinstance(angle, int | float)
    }


def _number(value: float) -> float:
    if not (isinstance(value, int | float) and math.isfinite(value)):
        raise EditError(f"{value!r} is no angle.")
    return round(float(value), 2)


def add_event(data: Data, event: Mapping[str, Any]) -> Made:
    """Let something happen."""
    if not isinstance(event, Mapping) or not event:
        raise EditError("an event says what it is: push, throw, drag, ….")
    return f"add {next(iter(event))}", _added(data, "events", dict(event))


def keep_touches(data: Data, touches: list[Mapping[str, Any]]) -> Made:
    """Write what the hand did into the script, with the things it threw."""
    edits: list[Edit] = []
    props = {str(t["throw"]): dict(t["prop"]) for t in touches if "prop" in t}
    missing = {name: prop for name, prop in props.items() if name not in (data.get("props") or {})}
    for name, prop in missing.items():
        edits += _named({**data, "props": {**(data.get("props") or {}), **dict(list(missing.items())[:1])}}
                        if edits else data, "props", name, prop)  # fmt: skip
    events = [{key: value for key, value in touch.items() if key != "prop"} for touch in touches]
    have = data.get("events")
    if have:
        edits += [Insert(("events",), len(have) + k, event) for k, event in enumerate(events)]
    elif events:
        edits.append(Set(("events",), events))
    return "keep touches", edits


def move_event(data: Data, index: int, at: float) -> Made:
    """Let an event happen at another time; a throw's hit and the end of waiting move with it."""
    event = _event(data, index)
    by = max(tidy(at), 0.0) - float(event.get("at", 0.0))
    moved = [key for key in ("at", "hits_at", "until") if key == "at" or event.get(key) is not None]
    edits: list[Edit] = [Set(("events", index, key), tidy(float(event.get(key, 0.0)) + by)) for key in moved]
    return f"move {next(iter(event))}", edits


def set_event(data: Data, index: int, values: Mapping[str, Any]) -> Made:
    """Change what happens in an event."""
    event = _event(data, index)
    edits: list[Edit] = [Set(("events", index, str(k)), v) for k, v in values.items() if v is not None]
    edits += [Delete(("events", index, str(k))) for k, v in values.items() if v is None and k in event]
    return f"change {next(iter(event))}", edits


def delete_event(data: Data, index: int) -> Made:
    """Let an event not happen."""
    event = _event(data, index)
    label = f"delete {next(iter(event))}"
    return label, [Delete(("events",)) if len(data["events"]) == 1 else Delete(("events", index))]


def _event(data: Data, index: int) -> Mapping[str, Any]:
    events = data.get("events") or []
    if not 0 <= index < len(events):
        raise EditError(f"there is no event {index}; there are {len(events)}.")
    found: Mapping[str, Any] = events[index]
    return found


def set_clip(data: Data, character: str, index: int, values: Mapping[str, Any]) -> Made:
    """Change keys of a clip, as `PlaySpec` declares them; None takes one out."""
    plays = _plays(data, character)
    if not 0 <= index < len(plays):
        raise EditError(f"there is no clip {index}; there are {len(plays)}.")
    path = (*_chosen(character, CLIPS), index)
    edits: list[Edit] = []
    for key, value in values.items():
        if key not in names_of(PlaySpec):
            raise EditError(f"a clip has no '{key}'.")
        if value is None:
            edits += [Delete((*path, key))] if key in plays[index] else []
        else:
            edits.append(Set((*path, key), _kept(key, value)))
    return f"clip {plays[index]['clip']}", edits


def _kept(key: str, value: Any) -> Any:
    """Return a value of a clip's key, tidy and not below what the key may be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    least = getattr(key_of(PlaySpec, key).kind, "least", None)
    return tidy(value) if least is None else max(tidy(value), least)


def add_clip(data: Data, character: str, clip: str, at: float | None = None) -> Made:
    """Let a character follow one more clip."""
    plays = _plays(data, character)
    entry: dict[str, Any] = {"clip": clip} if at is None else {"clip": clip, "at": tidy(at)}
    return f"add clip {clip}", [Insert(_chosen(character, CLIPS), len(plays), entry)]


def delete_clip(data: Data, character: str, index: int) -> Made:
    """Take a clip out; the first one stays, somebody follows it from the start."""
    plays = _plays(data, character)
    if len(plays) < 2:
        raise EditError("the only clip of a character stays.")
    return f"delete clip {plays[index]['clip']}", [Delete((*_chosen(character, CLIPS), index))]


def _plays(data: Data, character: str) -> list[dict[str, Any]]:
    clips = _section(data, character, CLIPS)
    if not clips:
        raise EditError(f"'{character}' follows no clips.")
    return list(clips[CLIPS.chosen])


def _section(data: Data, character: str, kind: SectionKind) -> Any:
    """Return what a script says in a section of a part."""
    return ((data.get("performance") or {}).get(character) or {}).get(kind.key)


def _chosen(character: str, kind: SectionKind) -> Path:
    """Return where the items of a section stand that can be chosen."""
    return ("performance", character, kind.key, kind.chosen)


def set_tension_pose(data: Data, character: str, index: int, values: Mapping[str, Any]) -> Made:
    """Move (`at`), stretch (`lasts`) or tighten (`tension`) a pose held by tension; −1 is the tension at the start."""
    section = _section(data, character, TENSION)
    if not isinstance(section, dict):
        raise EditError(f"'{character}' has no poses held by tension.")
    path: Path = ("performance", character, TENSION.key)
    if index >= 0:
        poses = section.get(TENSION.chosen) or []
        if index >= len(poses):
            raise EditError("this pose belongs to a controller; edit it in the file.")
        path = (*_chosen(character, TENSION), index)
        section = poses[index]
    clean = {str(k): tidy(max(v, 0.0)) if isinstance(v, int | float) else v for k, v in values.items()}
    edits: list[Edit] = []
    for key, value in clean.items():
        inside = _shown_tension(section.get(key), first=index >= 0) if key == "tension" else ()
        edits.append(Set((*path, key, *inside), value))
    return "tension", edits


def _shown_tension(tension: Any, *, first: bool) -> tuple[str, ...]:
    """Return the keys that lead to the one value a dot shows: of a mapping `all` (or the first), of a span its end."""
    if not isinstance(tension, dict):
        return ()
    if set(tension) <= {"from", "to"}:
        return ("to",)
    key = next(iter(tension)) if first or EVERY not in tension else EVERY
    return (str(key), *_shown_tension(tension[key], first=first))


def set_seconds(data: Data, seconds: float) -> Made:
    """Say how long the performance lasts."""
    return "length", [Set(("seconds",), max(tidy(seconds), 0.1))]


EDITS: dict[str, Callable[..., Made]] = {
    edit.__name__: edit
    for edit in (
        beat_edits.move_beats,
        beat_edits.add_beat,
        beat_edits.copy_beat,
        beat_edits.copy_beats,
        beat_edits.delete_beats,
        beat_edits.set_hold,
        beat_edits.set_holds,
        beat_edits.set_beat_pose,
        beat_edits.set_beat_angles,
        beat_edits.split_limb,
        save_pose,
        add_event,
        move_event,
        set_event,
        delete_event,
        set_clip,
        add_clip,
        delete_clip,
        set_tension_pose,
        set_seconds,
    )  # fmt: skip
}
"""What the page may ask for, by name."""
