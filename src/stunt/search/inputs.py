"""What may be asked of a body on its own feet beside its clip, as one vector, and who asks for it window by window.

A few inputs of the whole-body programme come first (`stunt.control.own.layout.INPUTS`), then rotations: of the pelvis,
the trunk and each arm. One vector holds for a window of time; a row of vectors is a plan. Zeros are the clip alone.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    def limited(self, vectors: Floats) -> Floats:
        """Return vectors of which no input is too far out."""
        return np.asarray(np.clip(vectors, -MOST * self.spread, MOST * self.spread))

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


@dataclass(frozen=True, eq=False)
class LinearFeedback:
    """Corrections of a plan by what a body is like when a window begins.

    Attributes:
        gains: Inputs per state, (windows, n, states).
        states: What it was like there when the plan was found, (windows, states).
    """

    gains: Floats
    states: Floats


class Prompter:
    """Crew: asks a body for the vectors of a plan, window by window.

    Attributes:
        plan: (windows, n).
        feedback: What corrects it; None: nothing.
        states: What the body was like when each window began, where that is wanted: a list to be filled; None: not.
        senses: What tells it what the body is like.
    """

    def __init__(self, body: BodyActor, space: InputSpace) -> None:
        """Join a stage's crew; without a plan nothing is asked."""
        self.plan = np.zeros((0, SIZE))
        self.feedback: LinearFeedback | None = None
        self.states: list[Floats] | None = None
        self._body, self._space, self._stage = body, space, body.stage
        self._stride = round(WINDOW * self._stage.scene.control_hz) * self._stage.steps_per_control
        self.senses = BodySenses(body)
        self._due: int | None = 0
        self._stage.crew.append(self)

    def tick_of(self, window: int) -> int:
        """Return the tick a window begins at."""
        return window * self._stride

    def follow(self, plan: Floats, feedback: LinearFeedback | None = None) -> None:
        """Ask for a plan from now on, (windows, n)."""
        self.plan, self.feedback = plan, feedback
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
        if self.states is not None:
            self.states.append(self.senses.state(self._body))
        if self._body.on_own_feet:
            vector = self.plan[window] if window < len(self.plan) else np.zeros(SIZE)
            if self.feedback is not None and window < len(self.feedback.gains):
                off = self.senses.state(self._body) - self.feedback.states[window]
                vector = self._space.limited(vector + self.feedback.gains[window] @ off)
            self._space.ask(self._body, vector)
        self._set_due(self._stage.tick + 1)

    def save(self) -> Any:
        """Return what must survive a restore; plans are never changed."""
        return self.plan, self.feedback, self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.plan, self.feedback, self._due = state


class BodySenses:
    """What a body is like, in a few numbers of its own state alone: the same whoever asks, and when."""

    def __init__(self, body: BodyActor) -> None:
        """Look at a body's kind."""
        self._data = mujoco.MjData(body.stage.model)

    def state(self, body: BodyActor) -> Floats:
        """Return centre of mass and its velocity, angular momentum, tilt, feet from the centre of mass, (18,)."""
        model, data, root = body.stage.model, self._data, body.character.root_body
        data.qpos[:], data.qvel[:] = body.stage.data.qpos, body.stage.data.qvel
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_subtreeVel(model, data)
        centre = data.subtree_com[root]
        feet = [data.xpos[foot] - centre for foot in body.own.feet]
        up = data.xmat[root].reshape(3, 3)
        return np.concatenate([centre, data.subtree_linvel[root], data.subtree_angmom[root], up[2], *feet])
