"""The memory of the impact stage: what is remembered of contacts, what is measured, and room to solve in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.board import Board
from stunt.control.core.engine import contact_count, contact_pointer
from stunt.control.core.programs import IMPACT
from stunt.control.core.renumbered import Renumbered
from stunt.maths.pointers import ADDRESS, AddressTable, address_of, layout, record

MOST: Final = 40
"""Contacts that take part in one impact at most."""
REMEMBERED: Final = 256
"""Contacts remembered from the step before."""
_GRAVITY_STEPS: Final = 4.0
"""Approaches slower than so many steps of free fall [m/s] are left to the springs: what rests does not bounce."""

STATE: Final = layout(
    ("restitution", np.float64),  # 0–1
    ("friction", np.int64),  # one of `stunt.control.impact.FRICTIONS`
    ("step", np.float64),  # of the physics [s]
    ("slowest", np.float64),  # approach that counts as an impact [m/s]
    ("remembered", np.int64),  # contacts of the step before
    ("impacts", np.int64),  # so far
    ("involved", np.int64),  # contacts of the last impact
    ("energy", np.float64),  # added by all of them [J]
)
LAST: Final = layout(("geoms", np.int64, 2), ("point", np.float64, 3))
"""A contact of the step before."""
remembered_at = record(LAST)

TABLE: Final = AddressTable(
    "Impact",
    (
        ("state", STATE),
        ("last", ADDRESS),
        ("ncon", np.int32),  # the engine's number of contacts
        ("contacts", np.int64),  # the address of the engine's contacts
        ("rows", np.float64),  # J, three rows per contact
        ("solved", np.float64),  # M⁻¹·Jᵀ, likewise
        ("matrix", np.float64),  # J·M⁻¹·Jᵀ
        ("velocity", np.float64),  # J·v
        ("friction", np.float64),  # of each contact
        ("bounce", np.float64),  # restitution of each contact
        ("geom_bounce", np.float64),  # of each geom; below 0: the scene's
        ("total", np.float64),  # impulses
        ("again", np.float64),  # scratch of `collide`, as are the next three
        ("after", np.float64),
        ("first", np.float64),
        ("spare", np.float64),
        ("chosen", np.int64),  # which of the engine's contacts take part
        ("geom_body", np.int32),
    ),
)


class ImpactProgram:
    """The impact stage of one stage.

    Attributes:
        total: Impulses at the contacts of the last impact, normal first [N·s], (3·MOST,).
        chosen: Which of the engine's contacts they were, (MOST,).
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, board: Board, restitution: float, friction: int,
        bodies: Mapping[int, float],
    ) -> None:  # fmt: skip
        """Take the program's slot on a board.

        Args:
            model: The compiled scene.
            data: Its data.
            board: Its board.
            restitution: 0–1.
            friction: One of `stunt.control.impact.FRICTIONS`.
            bodies: Restitution of bodies that have one of their own.
        """
        step, rows = float(model.opt.timestep), 3 * MOST
        self._state, self._last = np.zeros(1, STATE), np.zeros(REMEMBERED, LAST)
        state = self._state[0]
        state["restitution"], state["friction"], state["step"] = restitution, friction, step
        state["slowest"] = _GRAVITY_STEPS * step * max(float(np.linalg.norm(model.opt.gravity)), 1.0)
        self.total, self.chosen = np.zeros(rows), np.zeros(MOST, np.int64)
        self._arrays: dict[str, NDArray[Any]] = {
            "state": self._state, "last": self._last, "ncon": contact_count(data), "contacts": contact_pointer(data),
            "rows": np.zeros((rows, model.nv)), "solved": np.zeros((rows, model.nv)),
            "matrix": np.zeros((rows, rows)), "velocity": np.zeros(rows), "friction": np.zeros(MOST),
            "bounce": np.zeros(MOST), "geom_bounce": np.array([bodies.get(int(b), -1.0) for b in model.geom_bodyid]),
            "total": self.total, "again": np.zeros(rows), "after": np.zeros(rows), "first": np.zeros(rows),
            "spare": np.zeros(rows), "chosen": self.chosen, "geom_body": model.geom_bodyid,
        }  # fmt: skip
        self._keep = (data, model)
        self.table = TABLE.fill(**self._arrays)
        board.programs[IMPACT] = address_of(self.table)

    @property
    def count(self) -> int:
        """How many impacts there were."""
        return int(self._state["impacts"][0])

    @property
    def size(self) -> int:
        """How many contacts took part in the last one."""
        return int(self._state["involved"][0])

    @property
    def energy(self) -> float:
        """Kinetic energy all impacts added [J]; never positive."""
        return float(self._state["energy"][0])

    def save(self) -> tuple[NDArray[Any], ...]:
        """Return what must survive a restore."""
        return self._state.copy(), self._last.copy()

    def restore(self, state: tuple[NDArray[Any], ...]) -> None:
        """Put a saved state back."""
        self._state[:], self._last[:] = state

    def carry(self, old: ImpactProgram, by: Renumbered) -> None:
        """Remember what touched in another scene, as far as it is in this one."""
        self._state[:], self._last[:] = old._state, old._last
        self._last["geoms"] = [[by.number("geom", geom) for geom in pair] for pair in old._last["geoms"]]
