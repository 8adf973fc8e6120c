"""What may be asked of a body on its own feet beside its clip, as one vector, and who asks for it window by window.

A few inputs of the whole-body programme come first (`stunt.control.own.layout.INPUTS`), then rotations: of the pelvis,
the trunk and each arm. One vector holds for a window of time; a row of vectors is a plan. Zeros are the clip alone.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.own import layout as w
from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.layout import own_slices
from stunt.maths.rotations import Floats
from stunt.motion.rig.retarget import body_parts

WINDOW: Final = 0.15
"""How long one vector holds [s]."""
ROTATIONS: Final = ("pelvis", "trunk", "left arm", "right arm")
SIZE: Final = w.INPUTS + 3 * len(ROTATIONS)
"""Numbers in a vector."""
_SPREADS: Final = {
    w.PLACE: (0.02, 0.02, 0.015), w.PACE: (0.10, 0.10, 0.12), w.SPIN: (2.5, 2.5, 1.2), w.STEP: (0.04,) * 4,
    w.CLOCK: (0.10,), w.HEED: (0.7,), w.INPUTS: (0.06,) * 3, w.INPUTS + 3: (0.12,) * 3, w.INPUTS + 6: (0.3,) * 6,
}  # fmt: skip
MOST: Final = 4.0
"""No input is asked for beyond so many of its spreads."""


class InputSpace:
    """The inputs of one body.

    Attributes:
        spread: One standard deviation of each, (n,).
        axes: How far each degree of freedom turns by each rotation, (nv, 3 · rotations).
    """

    def __init__(self, character: Character, size: float, clock: bool) -> None:
        """Make it.

        Args:
            character: Whose.
            size: Length of its legs as a share of a grown-up's.
            clock: Whether the clip's time may give.
        """
        self.spread = np.zeros(SIZE)
        for first, values in _SPREADS.items():
            self.spread[first : first + len(values)] = values
        self.spread[: w.SPIN] *= size
        self.spread[w.SPIN : w.STEP] *= character.mass / 66.0 * size**2
        self.spread[w.STEP : w.CLOCK] *= size
        self.spread[w.CLOCK] *= clock
        self.axes = _axes(character)

    def ask(self, body: BodyActor, vector: Floats) -> None:
        """Ask a body for something beside its clip, from now on."""
        body.own.ask_beside(vector[: w.INPUTS], self.axes @ vector[w.INPUTS :])


def _axes(character: Character) -> Floats:
    """Return how far each of a body's own degrees of freedom turns by a rotation of a part, in the pelvis's frame."""
    model, parts = character.model, body_parts(character)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    dofs = own_slices(character)[1]
    found = np.zeros((dofs.stop - dofs.start, 3 * len(ROTATIONS)))
    found[3:6, :3] = np.eye(3)
    pelvis = data.xmat[character.root_body].reshape(3, 3)
    spine = [body for part, body in parts.items() if part.startswith(("spine", "chest", "thorax"))]
    arms = [[body for part, body in parts.items() if part == f"{side}_upper_arm"] for side in "lr"]
    for column, bodies in enumerate((spine, *arms), start=1):
        for body in bodies:
            turning, first = np.zeros((3, model.nv)), int(model.body_dofadr[body])
            mujoco.mj_jacBody(model, data, None, turning, body)
            for dof in range(first, first + int(model.body_dofnum[body])):
                found[dof - dofs.start, 3 * column : 3 * column + 3] = pelvis.T @ turning[:, dof] / len(bodies)
    return found


class Prompter:
    """Crew: asks a body for the vectors of a plan, window by window.

    Attributes:
        plan: (windows, n).
    """

    def __init__(self, body: BodyActor, space: InputSpace) -> None:
        """Join a stage's crew; without a plan nothing is asked."""
        self.plan = np.zeros((0, SIZE))
        self._body, self._space, self._stage = body, space, body.stage
        self._stride = round(WINDOW * self._stage.scene.control_hz) * self._stage.steps_per_control
        self._due: int | None = 0
        self._stage.crew.append(self)

    def tick_of(self, window: int) -> int:
        """Return the tick a window begins at."""
        return window * self._stride

    def follow(self, plan: Floats) -> None:
        """Ask for a plan from now on, (windows, n)."""
        self.plan = plan
        self._set_due(self._stage.tick)
        self._stage.crew.announce(self)

    def _set_due(self, after: int) -> None:
        following = -(-after // self._stride)
        self._due = following * self._stride if following <= len(self.plan) else None

    def due(self) -> int | None:
        """Return the tick of the next window; None where nothing is asked any more."""
        return self._due

    def act(self) -> None:
        """Ask for the next vector."""
        window = self._stage.tick // self._stride
        if self._body.on_own_feet:
            vector = self.plan[window] if window < len(self.plan) else np.zeros(SIZE)
            self._space.ask(self._body, vector)
        self._set_due(self._stage.tick + 1)

    def save(self) -> Any:
        """Return what must survive a restore; plans are never changed."""
        return self.plan, self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.plan, self._due = state
