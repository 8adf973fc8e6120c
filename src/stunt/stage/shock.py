"""What gives a character's body an impulse: something or somebody that hits it, or a push.

Whoever minds listens with `StageLoop.on_shock`: before the first step of a push, and as soon as a contact is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]


TOUCH: Final = 0.01
"""How long something that hits touches, as far as anybody knows beforehand [s]."""


@dataclass(frozen=True)
class Shock:
    """Something gives a character's body an impulse, from now on.

    Attributes:
        time: When it begins [s].
        character: Whose body.
        body: Which of its bodies, by its own name.
        by: A prop's or a character's name, or `push`.
        position: Where [m], world.
        force: What acts on the body in the first step [N], world.
        seconds: For how long [s]; 0: nobody knows.
    """

    time: float
    character: str
    body: str
    by: str
    position: tuple[float, float, float]
    force: tuple[float, float, float]
    seconds: float = 0.0

    @property
    def impulse(self) -> float:
        """How much it gives in all [N·s]; 0 where nobody knows."""
        return float(np.linalg.norm(self.force)) * self.seconds

    def steps(self, step: float) -> int:
        """Return how many physics steps of so many seconds it takes, as far as anybody knows beforehand."""
        return max(1, round((self.seconds or TOUCH) / step))


def turned_by(stage: StageLoop, shock: Shock) -> Floats:
    """Return by how much a shock changes every velocity, for each N·s of it, (nv,).

    Found by the engine itself, on a copy of the present state: contacts, welds and whatever else holds the body are in.
    """
    model, number = stage.model, stage.character(shock.character).bodies[shock.body]
    data = mujoco.MjData(model)
    mujoco.mj_copyData(data, model, stage.data)
    mujoco.mj_forward(model, data)
    before = data.qacc.copy()
    way = np.asarray(shock.force) / max(float(np.linalg.norm(shock.force)), 1e-12)
    data.xfrc_applied[number, :3] += way
    data.xfrc_applied[number, 3:] += np.cross(np.asarray(shock.position) - data.xipos[number], way)
    mujoco.mj_forward(model, data)
    return np.asarray(data.qacc - before)


def inboard(stage: StageLoop, shock: Shock) -> set[int]:
    """Return the first degree of freedom of every joint between the root and the body a shock acts on."""
    model, body = stage.model, stage.character(shock.character).bodies[shock.body]
    found: set[int] = set()
    while body > 0:
        first = int(model.body_jntadr[body])
        found |= {int(model.jnt_dofadr[first + k]) for k in range(int(model.body_jntnum[body]))}
        body = int(model.body_parentid[body])
    return found
