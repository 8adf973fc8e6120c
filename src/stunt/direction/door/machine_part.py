"""Small state machines over poses: states, and ways out of them."""

from __future__ import annotations

from collections.abc import Mapping

from stunt.direction.door.angles import read_measure
from stunt.direction.door.node import Node
from stunt.direction.door.poses import INLINE_KEYS, read_inline
from stunt.direction.door.values import Section, entries, items, known, name, seconds, told_by
from stunt.direction.script import Exit, MachineSpec, StateSpec
from stunt.errors import InvalidValueError
from stunt.motion.pose import Pose
from stunt.stage.scene import Scene

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
