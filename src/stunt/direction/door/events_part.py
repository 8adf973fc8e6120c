"""What happens on the stage: pushes, throws, things taken and let go."""

from __future__ import annotations

from collections.abc import Callable

from stunt.direction.door.node import Node
from stunt.direction.door.values import Section, items, moment, name, number, seconds, told_by, truth, vector3, wrong
from stunt.errors import MissingValueError, UnknownNameError
from stunt.stage.scene import Attach, Drag, Event, Push, Release, Scene, Throw

EVENT_KEYS: dict[str, tuple[str, ...]] = {
    "push": ("push", "at", "impulse", "force", "duration", "point"),
    "throw": ("throw", "target", "at", "hits_at", "origin", "lead"),
    "attach": ("attach", "to", "at", "on_contact", "until"),
    "release": ("release", "at"),
    "drag": ("drag", "at", "until", "path", "strength"),
}
_ALL_KEYS = tuple(dict.fromkeys(key for keys in EVENT_KEYS.values() for key in keys))


def read_events(node: Node | None, scene: Scene) -> tuple[Event, ...]:
    """Read the list of events; who and what they name must be on the stage."""
    return () if node is None else tuple(_event(event, scene) for event in items(node))


def _event(node: Node, scene: Scene) -> Event:
    kind = told_by(node, "an event", tuple(EVENT_KEYS), _ALL_KEYS)
    return _READERS[kind](Section(node, f"a {kind}" if kind != "attach" else "an attach", EVENT_KEYS[kind]), scene)


def _push(section: Section, scene: Scene) -> Push:
    section.one_of(("impulse", "force"))
    return Push(
        target=_pushed(section.need("push"), scene),
        at=moment(section.need("at")),
        impulse=section.read("impulse", vector3),
        force=section.read("force", vector3),
        duration=section.read("duration", seconds, Push.duration),
        point=section.read("point", vector3),
        place=section.place,
    )


def _throw(section: Section, scene: Scene) -> Throw:
    at = section.read("at", moment, Throw.at)
    hits_at = section.need("hits_at")
    if moment(hits_at) <= at:
        raise wrong(hits_at, f"later than the throw at {at:g} s")
    return Throw(
        prop=_movable(section.need("throw"), scene),
        target=_of_character(section.need("target"), scene),
        hits_at=moment(hits_at),
        at=at,
        origin=section.read("origin", vector3),
        lead=section.read("lead", vector3, Throw.lead),
        place=section.place,
    )


def _attach(section: Section, scene: Scene) -> Attach:
    at, until = section.read("at", moment, Attach.at), section.get("until")
    on_contact = section.read("on_contact", truth, False)
    if until is not None and not on_contact:
        raise MissingValueError("on_contact: true", "an attach with 'until'", until.place)
    if until is not None and moment(until) <= at:
        raise wrong(until, f"later than {at:g} s, when waiting for contact begins")
    return Attach(
        prop=_movable(section.need("attach"), scene),
        to=_of_character(section.need("to"), scene),
        at=at,
        on_contact=on_contact,
        until=None if until is None else moment(until),
        place=section.place,
    )


def _release(section: Section, scene: Scene) -> Release:
    return Release(_movable(section.need("release"), scene), moment(section.need("at")), section.place)


def _drag(section: Section, scene: Scene) -> Drag:
    at, until = moment(section.need("at")), section.need("until")
    if moment(until) <= at:
        raise wrong(until, f"later than {at:g} s, when it is taken hold of")
    path = tuple(vector3(point) for point in items(section.need("path")))
    if not path:
        raise MissingValueError("a point", "the path of a drag", section.place)
    return Drag(
        target=_pushed(section.need("drag"), scene),
        at=at,
        until=moment(until),
        path=path,
        strength=section.read("strength", number, Drag.strength, above=0.0, most=1e6),
        place=section.place,
    )


_READERS: dict[str, Callable[[Section, Scene], Event]] = {
    "push": _push,
    "throw": _throw,
    "attach": _attach,
    "release": _release,
    "drag": _drag,
}


def release_warnings(events: tuple[Event, ...]) -> list[str]:
    """Return a sentence for each release of a prop that nobody has taken by then."""
    attached = [event for event in events if isinstance(event, Attach)]
    return [
        f"{event.place}: '{event.prop}' is released at {event.at:g} s, but nobody takes it before."
        for event in events
        if isinstance(event, Release) and not any(a.prop == event.prop and a.at < event.at for a in attached)
    ]


def _movable(node: Node, scene: Scene) -> str:
    """Read the name of a prop that physics moves."""
    prop = name(node)
    if prop not in scene.props:
        raise UnknownNameError("prop", prop, scene.props, node.place)
    if not scene.props[prop].movable:
        raise wrong(node, "a prop that can move: one with a mass")
    return prop


def _of_character(node: Node, scene: Scene) -> str:
    """Read `character/body`. Whether the character has that body is seen once it is built."""
    target = name(node)
    character, slash, part = target.partition("/")
    if character not in scene.characters:
        raise UnknownNameError("character", character, scene.characters, node.place)
    if not slash or not part:
        raise wrong(node, f"a character and its body, such as '{character}/r_hand'")
    return target


def _pushed(node: Node, scene: Scene) -> str:
    """Read `character/body`, or the name of a prop."""
    target = name(node)
    if "/" in target or target in scene.characters:
        return _of_character(node, scene)
    if target not in scene.props:
        places = [f"{character}/<body>" for character in scene.characters]
        raise UnknownNameError("target of a push", target, [*scene.props, *places], node.place)
    return _movable(node, scene)
