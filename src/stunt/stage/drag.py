"""A body pulled about as if by a hand or a mouse: a spring to a moving point, with a strength of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.stage.loop import Stage
from stunt.stage.scene import Drag

STRETCH: Final = 0.15
"""How far behind the point a body is when it is pulled with full strength [m]."""
_STABLE = 0.4  # share of what an explicit spring on the body alone could bear


@dataclass(frozen=True, eq=False)
class Dragging:
    """A drag under way.

    Attributes:
        event: What was asked for.
        body: Index of the body.
        start: Where its centre of mass was when it was taken hold of [m], (3,).
    """

    event: Drag
    body: int
    start: NDArray[np.float64]

    def point(self, time: float) -> NDArray[np.float64]:
        """Return where the hand is at a time [m], (3,): eased from point to point."""
        way = np.vstack([np.zeros(3), np.asarray(self.event.path, float)])
        share = (time - self.event.at) / (self.event.until - self.event.at) * (len(way) - 1)
        low = int(np.clip(share, 0, len(way) - 2))
        x = float(np.clip(share - low, 0.0, 1.0))
        return np.asarray(self.start + way[low] + (x * x * (3.0 - 2.0 * x)) * (way[low + 1] - way[low]))

    def force(self, stage: Stage) -> NDArray[np.float64]:
        """Return the pull on the body's centre of mass now [N], (3,)."""
        model, data, step = stage.model, stage.data, stage.step_time
        # What a push on the body has to move: the engine's own estimate, as for its mouse.
        mass = 1.0 / max(float(model.body_invweight0[self.body, 0]), 1e-6)
        stiffness = min(self.event.strength / STRETCH, _STABLE * mass / step**2)
        damping = min(2.0 * np.sqrt(stiffness * mass), _STABLE * mass / step)
        speed = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, self.body, speed, 0)
        pull = stiffness * (self.point(stage.time) - data.xipos[self.body]) - damping * speed[3:]
        size = float(np.linalg.norm(pull))
        return np.asarray(pull * min(1.0, self.event.strength / max(size, 1e-9)))
