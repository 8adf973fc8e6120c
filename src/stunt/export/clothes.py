"""What a rig is seen as: a smooth skin for people, rigid parts for everyone else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco

from stunt.character.bodies import BUILT_IN
from stunt.export.options import Options
from stunt.export.rig import Rig
from stunt.export.skin import skin
from stunt.export.solids import body_surface, colored_geoms
from stunt.export.surface import Color, Surface, together


def dress(model: mujoco.MjModel, rig: Rig, about: Mapping[str, Any], options: Options) -> Surface:
    """Return a character's surface in its rest pose, hanging on its bones."""
    colors = colored_geoms(model)
    person = about.get("body") in BUILT_IN or about.get("clip") is not None
    if person and not options.rigid:
        return skin(model, rig, colors)
    return rigid_parts(model, rig, colors)


def rigid_parts(model: mujoco.MjModel, rig: Rig, colors: dict[int, Color]) -> Surface:
    """Return every bone's own shapes, each hanging on its bone alone."""
    pieces = []
    for bone, body in enumerate(rig.bodies):
        if body >= 0:
            piece = body_surface(model, body, colors).moved(rig.body_rest[bone], rig.body_turn[bone])
            pieces.append(piece.on_bone(bone))
    return together(pieces)
