"""Ways out of a state of a small machine: after a time, on contact, at a joint's angle, or by what happened."""

from __future__ import annotations

from dataclasses import field, replace

from stunt.errors import NOWHERE, Place
from stunt.keys import SECONDS, TEXT, TRUTH, Context, Data, Known, Plain, Word, key, spec
from stunt.schema import Section, angle_to_data, measure_to_data, read_measure, wrong

_BOUND = Plain(lambda node: read_measure(node).value, "an angle", "°", angle_to_data)


@spec("a way out", by=("after", "contact", "joint", "hit", "missed", "reached", "fell", "signal"))
class Exit:
    """A way out of a state: exactly one of after a time, on contact, when a joint passes an angle, and what happened.

    `unit` is the one `above` or `below` was written in (see `Pose.units`).
    """

    to: str = key(kind=Known("state"), help="the state that follows")
    after: float | None = key(default=None, kind=SECONDS, only=("after",), help="leave this long after entering")
    contact: str | None = key(
        default=None, kind=Word("a body, or `any`"), only=("contact",),
        help="leave when this body of the character touches something that is not itself",
    )  # fmt: skip
    with_prop: str | None = key(
        default=None, name="with", kind=Known("prop"), only=("contact",), help="this prop, and nothing else"
    )
    joint: str | None = key(
        default=None, kind=Word("a joint"), only=("joint",), help="leave when it is `above` or `below` an angle"
    )
    above: float | None = key(default=None, kind=_BOUND, only=("joint",), help="see `joint`")
    below: float | None = key(default=None, kind=_BOUND, only=("joint",), help="see `joint`")
    hit: str | None = key(
        default=None, kind=Word("a body, or `any`"), only=("hit",),
        help="leave when this body is hit or pushed while in the state",
    )  # fmt: skip
    missed: bool = key(default=False, kind=TRUTH, only=("missed",), help="leave when its pose was missed")
    reached: bool = key(default=False, kind=TRUTH, only=("reached",), help="leave when its pose was met")
    fell: bool = key(default=False, kind=TRUTH, only=("fell",), help="leave when the character has fallen")
    signal: str | None = key(
        default=None, kind=TEXT, only=("signal",), help="leave when a program says this (`stage.signal`)"
    )
    place: Place = field(default=NOWHERE, compare=False)
    unit: str = field(default="", compare=False)

    def after_reading(self, section: Section, context: Context) -> Exit:
        """Remember the unit of the angle, of which there must be exactly one; what has to happen is said by `true`."""
        for name in ("missed", "reached", "fell"):
            if (said := section.get(name)) is not None and not getattr(self, name):
                raise wrong(said, "true, or left out")
        if self.joint is None:
            return self
        return replace(self, unit=read_measure(section.need(section.one_of(("above", "below")))).unit)

    def after_writing(self, data: Data, context: Context) -> Data:
        """Write the angle in the unit it had."""
        bounds = {"above": self.above, "below": self.below}
        return data | {key: measure_to_data(value, self.unit) for key, value in bounds.items() if value is not None}
