"""Pictures of a stage, drawn on the processor: a camera that goes along with the character."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stunt.record.camera import Camera
from stunt.record.raycast import Raycaster
from stunt.stage.loop import Stage

WIDTH, HEIGHT = 640, 480
_AZIMUTH, _ELEVATION = math.radians(40.0), math.radians(10.0)
_MARGIN = 0.85  # of the character's size


class Picture:
    """Takes pictures of one stage's first character."""

    def __init__(self, stage: Stage) -> None:
        """Choose the lens by how large the character is now."""
        self._stage = stage
        self._character = next(iter(stage.characters.values()))
        self._caster = Raycaster(stage.model)
        geoms = sorted(self._character.geoms)
        reach = np.ptp(stage.data.geom_xpos[geoms], axis=0).max() if geoms else 1.0
        self._away = _MARGIN * max(float(reach), 0.3) / math.tan(math.radians(14.0))

    def take(self) -> NDArray[np.uint8]:
        """Return a picture of the present state, (480, 640, 3)."""
        data = self._stage.data
        x, y, z = (float(value) for value in data.subtree_com[self._character.root_body])
        flat = self._away * math.cos(_ELEVATION)
        eye = (x + flat * math.cos(_AZIMUTH), y + flat * math.sin(_AZIMUTH), z + self._away * math.sin(_ELEVATION))
        return self._caster.render(data.geom_xpos, data.geom_xmat, Camera(eye, (x, y, z)), WIDTH, HEIGHT, samples=1)
