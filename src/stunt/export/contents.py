"""Who and what of a take goes into a scene file: rigs of the characters, and the props."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stunt.errors import ExportError
from stunt.export.options import Options
from stunt.export.rig import Rig, continuous, in_place, make_rig, travel, with_root_motion
from stunt.export.sampling import Floats, SampledTake, sample
from stunt.maths.rotations import from_rotation_vector, multiply, rotate
from stunt.record.take import Take

SCENE_FPS = 60.0
"""Frames per second of scene files, unless asked otherwise."""


@dataclass(frozen=True, eq=False)
class PropTrack:
    """A prop over time."""

    name: str  #: As in the scene
    body: int  #: Its body in the model
    positions: Floats  #: [m], (F, 3)
    rotations: Floats  #: (F, 4)
    moves: bool  #: Whether it is ever anywhere else than at first


def rig_of(take: Take, motion: SampledTake, name: str, options: Options) -> Rig:
    """Return a character's rig as the options want it."""
    rig = make_rig(motion, take.cast.character(name))
    if options.in_place:
        return in_place(rig)
    return with_root_motion(rig) if options.root_motion else rig


def gather(take: Take, options: Options) -> tuple[SampledTake, list[Rig], list[PropTrack]]:
    """Return the motion, the rigs and the props of a scene file; props only where everyone is exported."""
    motion = sample(take, options, SCENE_FPS)
    everyone = take.cast.names
    names = everyone if options.character is None else [options.character]
    rigs = [rig_of(take, motion, name, options) for name in names]
    props = [] if options.character is not None else _props(take, motion, options, names)
    return motion, rigs, props


def _props(take: Take, motion: SampledTake, options: Options, names: Sequence[str]) -> list[PropTrack]:
    """Return the props; in place they keep to a lone character, so that what it holds stays in its hand."""
    back = np.zeros((len(motion.times), 3))
    if options.in_place and len(names) == 1:
        back = travel(make_rig(motion, take.cast.character(names[0])))
    found = []
    for prop in take.cast.props.values():
        places = motion.positions[:, prop.body] - back
        turns = continuous(motion.rotations[:, prop.body])
        moves = bool(np.ptp(places, axis=0).max() > 1e-9 or np.ptp(turns, axis=0).max() > 1e-9)
        found.append(PropTrack(prop.name, prop.body, places, turns, moves))
    return found


def move_to_source(take: Take, name: str, options: Options) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
    """Return what moves places (…, 3) and turns (…, 4) from the stage to where the options want a character's motion.

    Raises:
        ExportError: It is to lie where its source lay, and the take does not know where that was.
    """
    known = take.cast.character(name).placement
    if options.placement == "stage" or (known is None and options.placement == "auto"):
        return lambda places, turns: (places, turns)
    if known is None:
        raise ExportError(
            f"the take does not know where the clip of '{name}' lay: it followed none from its start, or the take was "
            "made before takes remembered it. Export it with --placement stage."
        )
    source, stage = np.array(known.source), np.array(known.stage)
    spin = from_rotation_vector(np.array([0.0, 0.0, source[3] - stage[3]]))
    return lambda places, turns: (rotate(spin, places - stage[:3]) + source[:3], multiply(spin, turns))
