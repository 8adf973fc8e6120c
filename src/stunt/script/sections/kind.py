"""What a section of a part says of itself: how a way of moving other than beats joins scripts and performances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stunt.character.character import Character
from stunt.motion.pose import Pose
from stunt.schema import Node
from stunt.stage.scene import Scene

if TYPE_CHECKING:
    from stunt.script.performance import Performance


@dataclass(frozen=True)
class SectionKind:
    """One kind of section.

    Attributes:
        key: Its key in a part.
        read: Makes its frozen value from a script's node; knows the scene and the pose library.
        write: Makes plain data of the value again; `read` of that is equal.
        check: Raises a StuntError where the value does not fit the character.
        start: Puts its crew on the stage, once everyone is there.
        seconds: When it has nothing more to do [s]; None: it does not say.
    """

    key: str
    read: Callable[[Node, Scene, Mapping[str, Pose]], Any]
    write: Callable[[Any], Any]
    check: Callable[[Any, Character], None]
    start: Callable[[Performance, str, Any], None]
    seconds: Callable[[Any], float | None]
