"""Small state machines over poses: states, and ways out of them.

What the characters do: beats, state machines, and how they are played.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stunt.drive.beats.spec import BeatSpec, Exit, MachineSpec, Part, StateSpec, beat_times
from stunt.errors import InvalidValueError, MissingValueError, Place, UnknownNameError
from stunt.motion.pose import Pose
from stunt.schema import (
    MAX_SECONDS,
    Node,
    Section,
    choice,
    entries,
    items,
    known,
    moment,
    name,
    number,
    plain_from_node,
    seconds,
    told_by,
    truth,
    whole,
    wrong,
)
from stunt.script.kinds import KINDS
from stunt.script.poses import INLINE_KEYS, read_inline
from stunt.script.units import read_measure
from stunt.stage.scene import Scene

COUPLINGS = ("local", "composite", "compensated", "full")
ARRIVALS = ("critical", "minimum_effort")
PART_KEYS = (
    *("beats", "cycle", "machine", "coupling", "arrival", "tension", "ease", "joints", "gravity_compensation"),
    *KINDS,
)
BEAT_KEYS = (*INLINE_KEYS, "at", "after", "hold", "duration")
MAX_BEATS = 5000
MAX_CYCLES = 1000
MAX_PLAYED = 100_000


def read_parts(node: Node | None, scene: Scene, poses: Mapping[str, Pose], warnings: list[str]) -> dict[str, Part]:
    """Read what each character does; `warnings` gains a sentence for each section that is not performed yet."""
    if node is None:
        return {}
    parts: dict[str, Part] = {}
    for key, value in entries(node).items():
        if key not in scene.characters:
            raise UnknownNameError("character", key, scene.characters, value.place)
        parts[key] = _part(key, value, scene, poses, warnings)
    return parts


def _part(key: str, node: Node, scene: Scene, poses: Mapping[str, Pose], warnings: list[str]) -> Part:
    what = f"the part of '{key}'"
    if node.value is None:
        raise MissingValueError("beats' or 'machine", what, node.place)
    section = Section(node, what, PART_KEYS)
    reserved = _reserved(section, warnings)
    sections = {key: kind.read(section.need(key), scene, poses) for key, kind in KINDS.items() if key in section}
    beats = _beats(section.get("beats"), poses)
    machine, joints = section.get("machine"), section.read("joints", _joints, {})
    if not beats and machine is None and not reserved and not sections:
        raise MissingValueError("beats' or 'machine", what, section.place)
    return Part(
        beats=beats,
        cycle=_cycle(section, beats),
        machine=None if machine is None else read_machine(machine, scene, poses),
        coupling=section.read("coupling", choice, Part.coupling, options=COUPLINGS, kind="coupling"),
        arrival=section.read("arrival", choice, Part.arrival, options=ARRIVALS, kind="arrival"),
        tension=Part.tension if "tension" in reserved else section.read("tension", seconds, Part.tension),
        ease=section.read("ease", number, Part.ease, least=0.0, most=0.5),
        joints=tuple(joints) or None,
        gravity_compensation=section.read("gravity_compensation", truth, True),
        sections=sections,
        reserved=reserved,
        place=node.place,
        joint_places=joints,
    )


def _reserved(section: Section, warnings: list[str]) -> dict[str, Any]:
    """Keep a tension that is no number: a script that has one plays here as far as it can."""
    tension = section.get("tension")
    if tension is None or not isinstance(tension.value, dict | tuple):  # one number is a tension in seconds
        return {}
    warnings.append(f"{tension.place}: reserved: not performed by this version.")
    return {"tension": plain_from_node(tension)}


def _beats(node: Node | None, poses: Mapping[str, Pose]) -> tuple[BeatSpec, ...]:
    if node is None:
        return ()
    written = items(node)
    if not 0 < len(written) <= MAX_BEATS:
        raise InvalidValueError("the number of beats", len(written), f"from 1 to {MAX_BEATS}", node.place)
    beats = tuple(_beat(i, beat, poses) for i, beat in enumerate(written))
    beat_times(beats)
    return beats


def _beat(index: int, node: Node, poses: Mapping[str, Pose]) -> BeatSpec:
    section = Section(node, "a beat", BEAT_KEYS)
    section.one_of(("at", "after"))
    return BeatSpec(
        pose=read_inline(section, poses, f"beat {index + 1}"),
        at=section.read("at", moment),
        after=section.read("after", seconds),
        hold=section.read("hold", seconds),
        duration=section.read("duration", seconds),
        place=node.place,
    )


def _cycle(section: Section, beats: tuple[BeatSpec, ...]) -> int:
    node = section.get("cycle")
    if node is None:
        return 1
    cycle = whole(node, 1, MAX_CYCLES)
    if not beats and cycle > 1:
        raise MissingValueError("beats", "'cycle'", node.place)
    if cycle * len(beats) > MAX_PLAYED or (beats and cycle * beat_times(beats)[-1] > MAX_SECONDS):
        raise wrong(node, f"so few that at most {MAX_PLAYED} beats and {MAX_SECONDS:g} s are played")
    return cycle


def _joints(node: Node) -> dict[str, Place]:
    """Read names or patterns of joints, and where each stands; a single one needs no list."""
    written = (node,) if isinstance(node.value, str) else items(node)
    if not written:
        raise wrong(node, "at least one joint's name or pattern (leave it out to control them all)")
    return {name(x): x.place for x in written}


def read_seconds(section: Section, parts: Mapping[str, Part]) -> float | None:
    """Read how long the performance lasts [s]; it may be left out where a last beat says so."""
    given = section.get("seconds")
    if given is not None:
        return seconds(given)
    if any(part.machine for part in parts.values()):
        raise MissingValueError("seconds", "a script with a state machine, which has no last beat,", section.place)
    if not any(part.beats or part.sections for part in parts.values()):
        raise MissingValueError("performance' or 'seconds", "a script without beats", section.place)
    return None


def end_warnings(parts: Mapping[str, Part], end: float | None) -> list[str]:
    """Return a sentence for each part whose last beat falls after the end."""
    found = []
    for key, part in parts.items():
        last = part.cycle * beat_times(part.beats)[-1] if part.beats else 0.0
        if end is not None and last > end:
            place = part.beats[-1].place
            found.append(f"{place}: the last beat of '{key}' is at {last:g} s, but the performance ends at {end:g} s.")
    return found


MACHINE_KEYS = ("start", "states")
STATE_KEYS = (*INLINE_KEYS, "within", "next")
EXIT_KEYS = ("to", "after", "contact", "with", "joint", "above", "below")
MAX_STATES = 1000
_EXIT_KINDS = {"after": (), "contact": ("with",), "joint": ("above", "below")}


def read_machine(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> MachineSpec:
    """Read a machine; it starts in `start`, or in the first state written."""
    section = Section(node, "a machine", MACHINE_KEYS)
    states = entries(section.need("states"))
    if not 0 < len(states) <= MAX_STATES:
        place = section.need("states").place
        raise InvalidValueError("the number of states", len(states), f"from 1 to {MAX_STATES}", place)
    return MachineSpec(
        start=section.read("start", known, next(iter(states)), kind="state", available=states),
        states={key: _state(key, value, states, scene, poses) for key, value in states.items()},
        place=node.place,
    )


def _state(key: str, node: Node, states: Mapping[str, Node], scene: Scene, poses: Mapping[str, Pose]) -> StateSpec:
    section = Section(node, f"state '{key}'", STATE_KEYS)
    return StateSpec(
        pose=read_inline(section, poses, key),
        within=seconds(section.need("within")),
        exits=section.read("next", _exits, (), states=states, scene=scene),
        place=node.place,
    )


def _exits(node: Node, states: Mapping[str, Node], scene: Scene) -> tuple[Exit, ...]:
    """Read the ways out, tried in the order they are written; a single one needs no list."""
    written = (node,) if isinstance(node.value, dict) else items(node)
    return tuple(_exit(way, states, scene) for way in written)


def _exit(node: Node, states: Mapping[str, Node], scene: Scene) -> Exit:
    kind = told_by(node, "a way out", tuple(_EXIT_KINDS), EXIT_KEYS)
    section = Section(node, f"a way out by '{kind}'", ("to", kind, *_EXIT_KINDS[kind]))
    value, unit = None, ""
    if kind == "joint":
        side = section.one_of(("above", "below"))
        value, unit = read_measure(section.need(side))
    return Exit(
        to=known(section.need("to"), "state", states),
        after=section.read("after", seconds),
        contact=section.read("contact", name),
        with_prop=section.read("with", known, None, kind="prop", available=scene.props),
        joint=section.read("joint", name),
        above=value if "above" in section else None,
        below=value if "below" in section else None,
        place=node.place,
        unit=unit,
    )
