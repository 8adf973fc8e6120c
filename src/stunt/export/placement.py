"""Where an exported clip lies: on the stage, or where the clip it followed lay in its own file."""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.errors import ExportError
from stunt.export.options import Options
from stunt.motion.clip import Clip
from stunt.record.take import Take
from stunt.rotations import from_rotation_vector, multiply, rotate


def put_in_place(clip: Clip, take: Take, name: str, options: Options) -> Clip:
    """Return a character's motion where the options want it; it comes as it was on the stage.

    Raises:
        ExportError: It is to lie where its source lay, and the take does not know where that was.
    """
    known: dict[str, Any] | None = take.meta["characters"][name].get("placement")
    if options.placement == "stage" or (known is None and options.placement == "auto"):
        return clip
    if known is None:
        raise ExportError(
            f"the take does not know where the clip of '{name}' lay: it followed none from its start, or the take was "
            "made before takes remembered it. Export it with --placement stage."
        )
    source, stage = np.array(known["source"], float), np.array(known["stage"], float)
    spin = from_rotation_vector(np.array([0.0, 0.0, source[3] - stage[3]]))
    rotations = clip.rotations.copy()
    rotations[:, 0] = multiply(spin, rotations[:, 0])
    return clip.with_motion(rotate(spin, clip.root - stage[:3]) + source[:3], rotations)
