"""The memory of the impact stage, and where in the engine's memory its contacts are."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.board import Board
from stunt.control.core.programs import IMPACT
from stunt.control.impact import kernel as rows

_GRAVITY_STEPS: Final = 4.0
"""Approaches slower than so many steps of free fall [m/s] are left to the springs: what rests does not bounce."""


class ImpactProgram:
    """The impact stage of one stage.

    Attributes:
        numbers: Settings and what was measured (see `stunt.control.impact.kernel`).
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, board: Board, restitution: float, friction: int
    ) -> None:
        """Take the program's slot on a board.

        Args:
            model: The compiled scene.
            data: Its data.
            board: Its board.
            restitution: 0–1.
            friction: One of `stunt.control.impact.law.FRICTIONS`.
        """
        nv, most = model.nv, rows.MOST
        step = float(model.opt.timestep)
        slowest = _GRAVITY_STEPS * step * max(float(np.linalg.norm(model.opt.gravity)), 1.0)
        self.numbers = np.array([restitution, step, slowest, 0.0, 0.0])
        self._counts = np.array([friction, 0, 0, 0], np.int64)
        self._last = np.zeros((rows.REMEMBERED, 5))
        self._offsets = contact_offsets()
        contact = data._address + contact_pointer_offset()
        self._arrays = (
            np.zeros((3 * most, nv)), np.zeros((3 * most, nv)), np.zeros((3 * most, 3 * most)), np.zeros(3 * most),
            np.zeros(most), np.zeros(3 * most), np.zeros((4, 3 * most)), np.zeros(most, np.int64),
        )  # fmt: skip
        self._last_dof = _last_dofs(model)
        self._keep = (data, model)
        addresses = [
            *(a.ctypes.data for a in (self.numbers, self._counts)), data._address + ncon_offset(), contact,
            self._offsets.ctypes.data,
            self._last.ctypes.data, 0, *(a.ctypes.data for a in self._arrays), data.subtree_com.ctypes.data,
            model.geom_bodyid.ctypes.data, self._last_dof.ctypes.data, model.dof_parentid.ctypes.data,
        ]  # fmt: skip
        self.table = np.array(addresses, np.int64)
        board.programs[IMPACT] = self.table.ctypes.data

    @property
    def count(self) -> int:
        """How many impacts there were."""
        return int(self._counts[rows.C_IMPACTS])

    @property
    def size(self) -> int:
        """How many contacts took part in the last one."""
        return int(self._counts[rows.C_SIZE])

    @property
    def energy(self) -> float:
        """Kinetic energy all impacts added [J]; never positive."""
        return float(self.numbers[rows.N_ENERGY])

    @property
    def hardest(self) -> float:
        """Largest normal impulse at one contact so far [N·s]."""
        return float(self.numbers[rows.N_IMPULSE])

    def save(self) -> tuple[NDArray[Any], ...]:
        """Return what must survive a restore."""
        return self.numbers.copy(), self._counts.copy(), self._last.copy()

    def restore(self, state: tuple[NDArray[Any], ...]) -> None:
        """Put a saved state back."""
        self.numbers[:], self._counts[:], self._last[:] = state


def _last_dofs(model: mujoco.MjModel) -> NDArray[np.int64]:
    """Return the last degree of freedom that moves each body; −1 for what stands still."""
    found = np.full(model.nbody, -1, np.int64)
    for body in range(1, model.nbody):
        count = int(model.body_dofnum[body])
        own = int(model.body_dofadr[body]) + count - 1
        found[body] = own if count else found[model.body_parentid[body]]
    return found


@cache
def contact_offsets() -> NDArray[np.int64]:
    """Return a contact's size and the offsets of its fields from its first one, the distance [bytes]."""
    data = _probe(2)
    contact, base = data.contact, data.contact.dist.ctypes.data
    fields = (contact.pos, contact.frame, contact.friction, contact.geom)
    return np.array([contact.dist.strides[0], *(field.ctypes.data - base for field in fields)], np.int64)


@cache
def ncon_offset() -> int:
    """Return where in the engine's data the number of contacts is [bytes].

    Found by looking at data whose number of contacts is known, rather than trusted to a layout of one version.
    """
    data, found = _probe(12), None
    whole = (ctypes.c_int32 * (contact_pointer_offset() // 4)).from_address(data._address)
    for touching in (12, 3, 7, 0, 5):
        data.qpos[2::7] = np.where(np.arange(12) < touching, 0.09, 1.0)
        mujoco.mj_forward(data.model, data)
        places = set((4 * np.flatnonzero(np.ctypeslib.as_array(whole) == data.ncon)).tolist())
        found = places if found is None else found & places
    if not found or len(found) != 1:
        raise RuntimeError("this MuJoCo keeps its number of contacts where Stunt cannot find it")
    return found.pop()


@cache
def contact_pointer_offset() -> int:
    """Return where in the engine's data the address of the contacts is [bytes]."""
    data, place = _probe(3), 0
    # The pointer that is looked for is part of the data, so this ends before the data does.
    while ctypes.c_int64.from_address(data._address + place).value != data.contact.dist.ctypes.data:
        place += 8
    return place


def _probe(count: int) -> mujoco.MjData:
    """Return data with so many boxes on the floor, each touching it at its corners."""
    box = '<freejoint/><geom type="box" size="0.1 0.1 0.1"/>'
    boxes = "".join(f'<body pos="{number} 0 0.09">{box}</body>' for number in range(count))
    floor = '<geom type="plane" size="1 1 1"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{floor}{boxes}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data
