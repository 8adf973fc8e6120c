"""What a section of a part says of itself: how a way of moving other than beats joins scripts and performances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.servo.law import RootSpring
from stunt.errors import Place, UnknownNameError
from stunt.keys import Change, Context, Number, Whole, read, references, with_references, write
from stunt.play.actor import Actor
from stunt.schema import Node
from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]
BID: Final = Number(above=0.0, most=100.0)
HIT: Final = Number(0.0, 1e6)
FIRMNESS: Final = Number(0.1, 1000.0)
PRIORITY: Final = Whole(-1000, 1000)


def from_the_start(old: Any, new: Any) -> float:
    """Return when two values begin to differ that matter as a whole [s]: at the start, or never."""
    return math.inf if old == new else 0.0


def root_of(actor: Actor, root: RootSpring) -> RootSpring:
    """Return how a section's body is helped: as it says, or, where it says nothing, as its part does."""
    return actor.part.root if actor.part.root.kind and root == RootSpring() else root


def claimed(part: Any, character: Character) -> dict[str, Place]:
    """Return the joints a section has that moves the whole body, or those of it that it names."""
    patterns = ["*"] if part.joints is None else part.joints
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in character.joints):
            raise UnknownNameError(f"joint of '{character.name}'", pattern, character.joints, part.place)
    found = [name for name in character.joints if any(fnmatchcase(name, pattern) for pattern in patterns)]
    return dict.fromkeys(found, part.place)


def _nothing(value: Any, character: Character) -> dict[str, Place]:
    return {}


def _first_reference(value: Any) -> tuple[str, Place] | None:
    return next(iter(references(value, "clip")), None)


@dataclass(frozen=True)
class SectionKind:
    """One kind of section. What it may say is declared by its spec (see `stunt.keys`).

    Attributes:
        key: Its key in a part.
        spec: The class of its frozen value.
        check: Raises a StuntError where the value does not fit the character.
        start: Tells an actor what it says, once everyone is there, and whether nothing else moves it; returns who
            carries it out, for those who want to talk to it.
        seconds: When it has nothing more to do [s]; None: it does not say.
        body_clip: The clip whose skeleton is the body where a script says `body: skeleton`, and where that is said.
        outline: What a timeline shows of it, as plain data.
        entries: The specs of what it shows there, by the outline's keys: an inspector shows their keys.
        chosen: The key of its list whose items are chosen one by one on a timeline, and shown under the section's own
            key in the outline; empty: there is none.
        preview: Lays where it leads somebody on a stage, which is at its beginning, over a path (T, nq) at times (T,);
            returns what cannot be shown, in sentences.
        recast: Lets an actor that plays it go on with another value, given the same way as to `start`; returns what the
            user should know of that, sentences. None: what was started cannot be changed, only started anew.
        first_change: When two values of it begin to matter differently [s]: a state saved before then can be recast.
        whole: Whether it moves the whole body, or as much of it as it says.
        claims: Which joints it has, and where that is said.
    """

    key: str
    spec: type
    check: Callable[[Any, Character], None]
    start: Callable[[Actor, Any, bool], Any]
    seconds: Callable[[Any], float | None]
    body_clip: Callable[[Any], tuple[str, Place] | None] = _first_reference
    outline: Callable[[Any], dict[str, Any]] = lambda value: {}
    entries: Mapping[str, type] = field(default_factory=dict)
    chosen: str = ""
    preview: Callable[[Any, StageLoop, str, Floats, Floats], list[str] | None] | None = None
    recast: Callable[[Actor, Any, bool], list[str]] | None = None
    first_change: Callable[[Any, Any], float] = from_the_start
    whole: bool = False
    claims: Callable[[Any, Character], Mapping[str, Place]] = _nothing

    def read(self, node: Node, context: Context) -> Any:
        """Make its value of a script's node; the context knows characters, props and poses."""
        return read(self.spec, node, context)

    def write(self, value: Any, context: Context) -> Any:
        """Make plain data of the value again; `read` of that is equal."""
        return write(value, context)

    def references(self, value: Any, change: Change) -> Any:
        """Return the value with every clip and file it names changed."""
        return with_references(value, change)
