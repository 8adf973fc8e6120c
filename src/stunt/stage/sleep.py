"""What lies still sleeps: the engine leaves it out until something touches it (a scene's `sleep`).

The engine wakes what is touched, pushed, moved or tied to something awake; it does not notice springs or laws. So who
is driven never sleeps: a character may only while nothing moves its joints, as a rag doll may that has come to rest.

The engine's own saved state does not say what sleeps, and a body woken by a restore would go on otherwise than one that
slept on. So that is saved beside it. What the engine keeps of a sleeper besides, poses, inertia and the like, follows
from where it lies and is worked out again.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.board import PASSIVE, Board
from stunt.control.core.engine import call_engine
from stunt.control.servo.memory import WorldspaceProgram
from stunt.stage.build import Built

_AWAKE: Final = -(1 + mujoco.mjMINAWAKE)
"""The engine's word for a tree that has only just moved."""
_NEVER, _ALLOWED = int(mujoco.mjtSleepPolicy.mjSLEEP_NEVER), int(mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED)


class Sleep:
    """Who sleeps on one stage."""

    def __init__(self, built: Built, data: mujoco.MjData, board: Board) -> None:
        """Keep everybody awake until it is known who lies still."""
        self._model, self._data, self._board = built.model, data, board
        model, joints = built.model, [j for c in built.characters.values() for j in c.joints.values()]
        self._joints = np.array([joint.id for joint in joints], int)
        self._tree = model.dof_treeid[np.array([joint.dof for joint in joints], int)]
        self._people = np.unique(self._tree)
        self._driven = np.zeros(max(1, model.ntree), bool)
        model.tree_sleep_policy[self._people] = _NEVER

    @property
    def asleep(self) -> NDArray[np.bool_]:
        """Which trees sleep, (ntree,)."""
        return np.asarray(self._data.tree_asleep >= 0)

    def watch(self) -> None:
        """Let those sleep whom nothing drives any more, and wake those whom something does: before steps are taken."""
        driven, model = self._driven, self._model
        driven[:] = False
        driven[self._tree[self._board.law[self._joints] != PASSIVE]] = True
        if (servo := self._board.companions.get(WorldspaceProgram)) is not None:
            driven[model.dof_treeid[servo.actors["root_dof"][servo.actors["active"] != 0]]] = True
        wanted = np.where(driven[self._people], _NEVER, _ALLOWED)
        for tree in self._people[wanted != model.tree_sleep_policy[self._people]]:
            model.tree_sleep_policy[tree] = _NEVER if driven[tree] else _ALLOWED
            if driven[tree] and self._data.tree_asleep[tree] >= 0:
                # To the engine any velocity but +0 is somebody's doing, and wakes; this one changes nothing else.
                self._data.qvel[model.tree_dofadr[tree]] = -0.0

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._data.tree_asleep.copy(), self._model.tree_sleep_policy.copy()

    def restore(self, state: Any) -> None:
        """Put it back, once everything else is: positions, velocities, who collides with whom."""
        asleep, policy = state
        model, data = self._model, self._data
        model.tree_sleep_policy[:] = policy
        constraint = data.qfrc_constraint.copy()  # of the last step: servos read it in the next one
        for sleeping in (np.full_like(asleep, _AWAKE), asleep):  # with all awake first, so that everything is known
            data.tree_asleep[:] = sleeping
            call_engine("mj_updateSleep", model, data)
            forward(model, data)
        data.qfrc_constraint[:] = constraint


def forward(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Work out what the engine derives from a state, leaving what belongs to the state as it is."""
    applied, warmstart = data.qfrc_applied.copy(), data.qacc_warmstart.copy()
    mujoco.mj_forward(model, data)
    data.qfrc_applied[:], data.qacc_warmstart[:] = applied, warmstart
