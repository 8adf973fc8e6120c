"""A push as a plan or a command line writes it: so many newton-seconds, when, on which body, from which side."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any, Final

import numpy as np

from stunt.errors import NOWHERE, Place, StuntError
from stunt.keys import MOMENT, NAME, SECONDS, TRUTH, Context, Number, ValueKind, key, read, spec, write
from stunt.schema import Node, number, number_to_data, wrong
from stunt.stage.event_specs import Push

RANDOM: Final = "random"
SECONDS_BEFORE: Final = 1.0
DURATION: Final = 0.1
"""How long a push lasts [s]: a shove. Two hundred newton-seconds within 20 ms, on a chest of 3 kg, are an explosion."""
EXPECTED: Final = (
    "newton-seconds, a time, and where you like a body and a direction in degrees: 40@1.5, 40@1.5:l_forearm, "
    "40@1.5:thorax:90"
)


class Direction(ValueKind):
    """Degrees from where it faces at the start, counterclockwise from above, or `random`."""

    unit = "°"

    def read(self, node: Node, context: Context, name: str) -> float | str:
        """Read it."""
        if node.value == RANDOM:
            return RANDOM
        if not isinstance(node.value, int | float):
            raise wrong(node, f"a number of degrees, or '{RANDOM}'")
        return number(node, least=-360.0, most=360.0)

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return value if value == RANDOM else number_to_data(float(value))

    def told(self) -> str:
        """Say what it is."""
        return f"a number, or `{RANDOM}`"


@spec("a push")
class Shove:
    """One push on a body, level with the ground."""

    impulse: float = key(kind=Number(-1e5, 1e5, unit="N·s"), help="how hard; 0 is no push, to compare with")
    at: float = key(default=SECONDS_BEFORE, kind=MOMENT, help="when it begins")
    body: str = key(default="thorax", kind=NAME, help="which body of the character")
    direction: float | str = key(
        default=0.0, kind=Direction(),
        help="to where, from where it faces at the start, counterclockwise from above; `random`: drawn by the seed",
    )  # fmt: skip
    duration: float = key(default=DURATION, kind=SECONDS, help="over how long the impulse is spread")
    felt: bool = key(default=False, kind=TRUTH, help="whether it is felt like a touch, so that reactions hear of it")
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def label(self) -> str:
        """As `stunt track --push` would write it; empty where there is no push."""
        if not self.impulse:
            return ""
        side = self.direction if isinstance(self.direction, str) else f"{self.direction:g}"
        return f"{self.impulse:g}@{self.at:g}:{self.body}:{side}"

    def degrees(self, rng: np.random.Generator) -> float:
        """Return the direction [°]; a random one is drawn."""
        return float(rng.uniform(-180.0, 180.0)) if isinstance(self.direction, str) else float(self.direction)

    def event(self, who: str, degrees: float) -> Push:
        """Return it as an event on the stage.

        Args:
            who: The character.
            degrees: To where [°].
        """
        angle = math.radians(degrees)
        along = (self.impulse * math.cos(angle), self.impulse * math.sin(angle), 0.0)
        return Push(f"{who}/{self.body}", self.at, impulse=along, duration=self.duration, felt=self.felt)

    @staticmethod
    def of_text(text: str) -> Shove:
        """Read `40@1.5:thorax:90`: newton-seconds, a time [s], a body, degrees or `random`; all but the first optional.

        Raises:
            ValueError: It is no push.
        """
        size, _, rest = text.partition("@")
        when, body, side, *more = [*rest.split(":"), "", ""]
        impulse, at = float(size), float(when or SECONDS_BEFORE)
        direction: float | str = RANDOM if side == RANDOM else float(side or 0.0)
        numbers = (impulse, at, 0.0 if isinstance(direction, str) else direction)
        if more[2:] or not all(map(math.isfinite, numbers)) or at < 0.0:
            raise ValueError(text)
        return Shove(impulse, at, body or "thorax", direction)


class Shoved(ValueKind):
    """A push: a mapping, or text such as `40@1.5:thorax:90`."""

    def read(self, node: Node, context: Context, name: str) -> Shove:
        """Read it."""
        if isinstance(node.value, dict):
            return read(Shove, node, context, name)
        try:
            return Shove.of_text(str(node.value))
        except ValueError:
            raise wrong(node, EXPECTED) from None

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return write(value, context)

    def told(self) -> str:
        """Say what it is."""
        return "a mapping, or text such as `40@1.5:thorax:90`"


def shoves(texts: list[str], option: str) -> list[Shove]:
    """Read pushes as they were typed.

    Raises:
        StuntError: One is none; the message names the option.
    """
    found = []
    for text in texts:
        try:
            found.append(Shove.of_text(text))
        except ValueError:
            raise StuntError(f"{option} {text} is no push; write {EXPECTED}.") from None
    return found
