"""What may happen on a stage, as plain data: pushes, throws, what is taken and let go, what is dragged about.

Each is a frozen value with its time; `stunt.stage.events` lets them happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stunt.errors import NOWHERE, MissingValueError, Place, UnknownNameError
from stunt.keys import MOMENT, SECONDS, TRUTH, Context, ListOf, Number, OneOf, ValueKind, Vector, key, spec
from stunt.schema import Node, Section, name, wrong
from stunt.stage.props import ORIGIN, XYZ, Vector3


def _of_character(node: Node, context: Context) -> str:
    """Read `character/body`. Whether the character has that body is seen once it is built."""
    target = name(node)
    character, slash, part = target.partition("/")
    if character not in context["character"]:
        raise UnknownNameError("character", character, context["character"], node.place)
    if not slash or not part:
        raise wrong(node, f"a character and its body, such as '{character}/r_hand'")
    return target


def _movable(node: Node, context: Context) -> str:
    """Read the name of a prop that physics moves."""
    prop = name(node)
    if prop not in context["prop"]:
        raise UnknownNameError("prop", prop, context["prop"], node.place)
    if not context["prop"][prop].movable:
        raise wrong(node, "a prop that can move: one with a mass")
    return prop


def _pushed(node: Node, context: Context) -> str:
    """Read `character/body`, or the name of a prop."""
    target = name(node)
    if "/" in target or target in context["character"]:
        return _of_character(node, context)
    if target not in context["prop"]:
        places = [f"{character}/<body>" for character in context["character"]]
        raise UnknownNameError("target of a push", target, [*context["prop"], *places], node.place)
    return _movable(node, context)


@dataclass(frozen=True)
class Target(ValueKind):
    """Somebody's body, or a prop, on the stage."""

    reader: Any
    says: str

    def read(self, node: Node, context: Context, name: str) -> str:
        """Read it."""
        return str(self.reader(node, context))

    def told(self) -> str:
        """Say what it is."""
        return self.says


_BODY = Target(_of_character, "a body or site, `ada/r_hand`")
_PROP = Target(_movable, "a prop with a mass")
_BODY_OR_PROP = Target(_pushed, "a body `ada/r_forearm`, or a prop")


@spec("a push")
class Push:
    """A force or an impulse on a body, from a time on; exactly one of the two."""

    target: str = key(kind=_BODY_OR_PROP, name="push", help="what is pushed")
    at: float = key(kind=MOMENT, help="when it starts")
    impulse: Vector3 | None = key(
        default=None, kind=Vector(unit="N·s", says=XYZ), help="spread evenly over `duration`; this or `force`"
    )
    force: Vector3 | None = key(default=None, kind=Vector(unit="N", says=XYZ), help="constant during `duration`")
    duration: float = key(default=0.02, kind=SECONDS, help="how long it lasts")
    point: Vector3 | None = key(
        default=None, kind=Vector(unit="m", says=XYZ), help="where, in the body's own frame; else its centre of mass"
    )
    felt: bool = key(
        default=False, kind=TRUTH, help="whether it is felt like a touch: reactions and supervisors hear of it"
    )
    known: bool = key(
        default=False, kind=TRUTH, help="whether it is expected: beats and poses under tension hold against it"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Push:
        """Complain unless exactly one of impulse and force is given."""
        section.one_of(("impulse", "force"))
        return self


@spec("a throw")
class Throw:
    """A prop thrown so that it meets a body at a time; until then it hangs, unless something carries it.

    At `at` the prop is put at `origin` with the velocity whose ballistic flight meets, at `hits_at`, the target's skin
    where its clip or its beats will have it then, plus `lead`, what is known beside them. It leaves ground and hand
    without touching them.
    """

    prop: str = key(kind=_PROP, name="throw", help="what is thrown")
    target: str = key(kind=_BODY, help="at whom")
    hits_at: float = key(kind=MOMENT, help="when it should hit")
    at: float = key(default=0.0, kind=MOMENT, help="when it leaves")
    origin: Vector3 | None = key(
        default=None, kind=Vector(unit="m", says=XYZ), help="from where; else where the prop is then"
    )
    lead: Vector3 = key(default=ORIGIN, kind=Vector(unit="m", says=XYZ), help="how far from there to aim")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Throw:
        """Complain about a hit before the throw."""
        if self.hits_at <= self.at:
            raise wrong(section.need("hits_at"), f"later than the throw at {self.at:g} s")
        return self


@spec("an attach")
class Attach:
    """A prop taken into a hand (any body): at a time, or when they first touch from that time on."""

    prop: str = key(kind=_PROP, name="attach", help="what is taken")
    to: str = key(kind=_BODY, help="who holds it, in the relative pose they have then")
    at: float = key(default=0.0, kind=MOMENT, help="when")
    on_contact: bool = key(default=False, kind=TRUTH, help="wait, from `at` on, until they touch")
    until: float | None = key(default=None, kind=MOMENT, help="with `on_contact`: until when to wait")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Attach:
        """Complain about an end of waiting where nobody waits, or before that begins."""
        if self.until is not None and not self.on_contact:
            raise MissingValueError("on_contact: true", "an attach with 'until'", section.need("until").place)
        if self.until is not None and self.until <= self.at:
            raise wrong(section.need("until"), f"later than {self.at:g} s, when waiting for contact begins")
        return self


@spec("a release")
class Release:
    """A held prop let go at a time."""

    prop: str = key(kind=_PROP, name="release", help="what is let go")
    at: float = key(kind=MOMENT, help="when")
    place: Place = field(default=NOWHERE, compare=False)


@spec("a drag")
class Drag:
    """A body pulled about as if by a hand: a spring from it to a point that moves, no stronger than its strength."""

    target: str = key(kind=_BODY_OR_PROP, name="drag", help="what is pulled about")
    at: float = key(kind=MOMENT, help="when it is taken hold of")
    until: float = key(kind=MOMENT, help="when it is let go")
    path: tuple[Vector3, ...] = key(
        kind=ListOf(Vector(unit="m", says=XYZ)),
        help="displacements from where it was taken hold of, passed one after another, evenly over the time",
    )
    strength: float = key(default=500.0, kind=Number(above=0.0, most=1e6, unit="N"), help="largest force")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Drag:
        """Complain about an end before the beginning, and about no way."""
        if self.until <= self.at:
            raise wrong(section.need("until"), f"later than {self.at:g} s, when it is taken hold of")
        if not self.path:
            raise MissingValueError("a point", "the path of a drag", self.place)
        return self


Event = Push | Throw | Attach | Release | Drag
EVENTS = {"push": Push, "throw": Throw, "attach": Attach, "release": Release, "drag": Drag}
"""What may happen, by the key that tells it."""
EVENT_LIST = ListOf(OneOf("an event", EVENTS))


def release_warnings(events: tuple[Event, ...]) -> list[str]:
    """Return a sentence for each release of a prop that nobody has taken by then."""
    attached = [event for event in events if isinstance(event, Attach)]
    return [
        f"{event.place}: '{event.prop}' is released at {event.at:g} s, but nobody takes it before."
        for event in events
        if isinstance(event, Release) and not any(a.prop == event.prop and a.at < event.at for a in attached)
    ]
