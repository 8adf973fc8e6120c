"""A setting: one way of following clips, as the keys in which it differs from what is assumed.

Its keys are those of `clips` in a script (servo, gain, assist, react, …), what is played of a clip (`from`, `to`,
`loop`), some of a character's (strength, mass, …) and the rate. Whatever `clips` learns, settings know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from stunt.drive.beats.spec import Part, Script
from stunt.errors import NOWHERE, Place
from stunt.keys import Context, Number, ValueKind, Word, key, names_of, read, spec
from stunt.library.bodies import OWN_SKELETON
from stunt.library.names import Library
from stunt.schema import Node, Section, node_from_plain, plain_from_node
from stunt.script.sections.clips import ClipsPart, physics_rate
from stunt.stage.scene import CharacterSpec, Scene

WHO: Final = "double"
"""The character's name on the stage."""
STRENGTH: Final = 1.5
"""Factor on joints' peak torque, as `stunt track` has it."""
RATE: Final = 120.0
_OF_PLAY: Final = ("from", "to", "loop")
_OF_CHARACTER: Final = ("height", "mass", "sex", "strength", "self_collision")
_NOT_ALONE: Final = ("play", "toward", "repeat")
_OF_RUN: Final = ("rate", "controller")


def setting_keys() -> tuple[str, ...]:
    """Return all keys of a setting."""
    of_clips = tuple(name for name in names_of(ClipsPart) if name not in _NOT_ALONE)
    return (*of_clips, *_OF_PLAY, *_OF_CHARACTER, *_OF_RUN)


@spec("a run")
class _Run:
    rate: float = key(default=RATE, kind=Number(10.0, 10_000.0, unit="Hz"), help="physics and control steps per second")
    controller: str | None = key(
        default=None, kind=Word("a registered controller, or `module:Class`"),
        help="who is in charge instead of the clip, and judged by it; else nobody",
    )  # fmt: skip
    place: Place = field(default=NOWHERE, compare=False)


class SettingKind(ValueKind):
    """A setting: checked here, kept as plain data, so that a job can carry it anywhere."""

    def read(self, node: Node, context: Context, name: str) -> dict[str, Any]:
        """Read it."""
        if node.value is None:
            return {}
        _parts(node, name, "walk")
        return dict(plain_from_node(node))

    def told(self) -> str:
        """Say what it is."""
        return "a mapping: keys of `clips`, `from`, `to`, `loop`, `strength`, `mass`, `rate`, …"


def checked_settings(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return settings as a plan keeps them.

    Raises:
        StuntError: One says something impossible.
    """
    return {name: SettingKind().read(node_from_plain(dict(own)), {}, name) for name, own in settings.items()}


def _parts(node: Node, name: str, clip: str) -> tuple[ClipsPart, dict[str, Any], float]:
    """Return what a setting says of following a clip, its keys of the character, and the rate [Hz]."""
    section = Section(node, f"setting '{name}'", setting_keys())
    given: dict[str, Node] = {key: value for key, value in node.value.items() if value.value is not None}
    taken = {kind: {key: given[key] for key in names if key in given} for kind, names in _OWNERS.items()}
    play = Node({"clip": node_from_plain(clip), **taken["play"]}, section.place)
    rest = {key: value for key, value in given.items() if not any(key in some for some in taken.values())}
    part = read(ClipsPart, Node({"play": Node((play,), section.place), **rest}, section.place))
    rate = read(_Run, Node(taken["run"], section.place)).rate
    read(CharacterSpec, Node({"body": node_from_plain("human39"), **taken["character"]}, section.place), {}, name)
    return part, {key: plain_from_node(value) for key, value in taken["character"].items()}, rate


_OWNERS: Final = {"play": _OF_PLAY, "character": _OF_CHARACTER, "run": _OF_RUN}


def script_of(
    setting: Mapping[str, Any], clip: str, body: str, library: Library, *, seconds: float | None = None
) -> Script:
    """Return the performance of one clip by one body in one setting; nobody pushes.

    Args:
        setting: As a plan has it.
        clip: Which clip.
        body: Whose body; `skeleton`: the clip's own.
        library: Where both are looked for.
        seconds: How long [s]; None: as long as the clip.

    Raises:
        StuntError: There is no such clip or body, or the setting says something impossible.
    """
    where = str(library.find(clip))
    part, own, rate = _parts(node_from_plain(dict(setting)), "", where)
    named = {"body": where if body == OWN_SKELETON else library.located(body), "root": "free"}
    keys = {"strength": STRENGTH, **own, **named}
    double = read(CharacterSpec, node_from_plain(keys), {}, WHO)
    scene = Scene(characters={WHO: double}, physics_hz=physics_rate(part, rate), control_hz=rate)
    part = replace(part, play=(replace(part.play[0], clip=where),))
    return Script(scene, {WHO: Part(sections={"clips": part})}, seconds, title=clip)
