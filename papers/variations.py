"""Variations of a script: an experiment is a shipped example in which some values are others.

What varies, and between which limits, is declared beside each experiment (`RANGES`); the example's own values lie
between them, so that the scene a user performs is one of those the statistics are about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stunt.drive.beats.spec import Script
from stunt.stage.event_specs import Event

Ranges = Mapping[str, tuple[float, float]]
"""Least and most of each value that varies."""


def drawn(rng: np.random.Generator, ranges: Ranges) -> dict[str, float]:
    """Return a value of each, evenly between its limits."""
    return {name: float(rng.uniform(*limits)) for name, limits in ranges.items()}


def outside(values: Mapping[str, float], ranges: Ranges) -> list[str]:
    """Return which values are beyond their limits."""
    return [name for name, (least, most) in ranges.items() if not least <= values[name] <= most]


def with_character(script: Script, name: str, **values: Any) -> Script:
    """Return a script in which a character's spec has other values."""
    others = script.scene.characters
    return _with_scene(script, characters={**others, name: replace(others[name], **values)})


def with_prop(script: Script, name: str, **values: Any) -> Script:
    """Return a script in which a prop has other values."""
    return _with_scene(script, props={**script.scene.props, name: replace(script.scene.props[name], **values)})


def with_only_props(script: Script, *names: str) -> Script:
    """Return a script without all other props."""
    return _with_scene(script, props={name: script.scene.props[name] for name in names})


def with_events(script: Script, *events: Event) -> Script:
    """Return a script in which other things happen."""
    return _with_scene(script, events=events)


def with_seed(script: Script, seed: int) -> Script:
    """Return a script with another seed."""
    return _with_scene(script, seed=seed)


def with_rate(script: Script, rate: float) -> Script:
    """Return a script at another rate [Hz], physics and control alike."""
    return _with_scene(script, physics_hz=rate, control_hz=rate)


def with_part(script: Script, name: str, **values: Any) -> Script:
    """Return a script in which a character's part has other values."""
    return replace(script, parts={**script.parts, name: replace(script.parts[name], **values)})


def with_section(script: Script, name: str, key: str, **values: Any) -> Script:
    """Return a script in which a section of a character's part has other values."""
    sections = script.parts[name].sections
    return with_part(script, name, sections={**sections, key: replace(sections[key], **values)})


def _with_scene(script: Script, **values: Any) -> Script:
    return replace(script, scene=replace(script.scene, **values))
