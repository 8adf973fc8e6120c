"""Looking out for what flies at a character, compiled: the inner loop comes back to Python only when something does.

Each look-out belongs to one character. At its look it follows every movable thing ahead in free flight; one that is
fast enough and will come near in time rings.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.compiled import compiled
from stunt.control.board import Board
from stunt.control.views import floats, longs

SLOW: Final = 0.5
"""What no part of whose velocity exceeds this [m/s] does not fly."""
HORIZON: Final = 1.25
"""How far ahead to look [s]: as far as any behaviour does, and a little more."""
NEAR: Final = 3.5
"""What comes nearer to the root than this may be meant for it [m]."""
_SAMPLES: Final = 25

# A look-out: whether it is on, when it looks next, steps between looks, whether it rang, where the root's place is.
ON, NEXT, STRIDE, RANG, ROOT = range(5)
LOOKOUT: Final = 5
# Entries of the table.
T_COUNT, T_LOOKOUTS, T_THINGS, T_PLACES, T_GRAVITY = range(5)
# A thing: its body, and its first degree of freedom.
_THING: Final = 2


class Lookouts:
    """The look-outs of one stage.

    Attributes:
        rows: One per character that looks out, (n, LOOKOUT).
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board, things: list[tuple[int, int]]) -> None:
        """Take the board's look-outs on.

        Args:
            model: The scene.
            data: Its data.
            board: Where the inner loop finds them.
            things: Body and first degree of freedom of everything that may fly.
        """
        self.rows = np.zeros((0, LOOKOUT), np.int64)
        self._board, self._things = board, np.array(things, np.int64).reshape(-1, _THING)
        self._count = np.zeros(2, np.int64)
        self._kept = [self._count, self._things, data.xipos, model.opt.gravity]
        self.table = np.zeros(5, np.int64)

    @staticmethod
    def on(model: mujoco.MjModel, data: mujoco.MjData, board: Board, things: list[tuple[int, int]]) -> Lookouts:
        """Return the board's look-outs, making them if there are none."""
        known = getattr(board, "lookouts", None)
        if not isinstance(known, Lookouts):
            known = board.lookouts = Lookouts(model, data, board, things)  # type: ignore[attr-defined]
        return known

    def add(self, root_qpos: int, stride: int) -> int:
        """Post a look-out, off at first; return its number."""
        self.rows = np.vstack([self.rows, np.array([[0, 0, stride, 0, root_qpos]], np.int64)])
        self._count[:] = len(self.rows), len(self._things)
        arrays: list[NDArray[Any]] = [self._count, self.rows, self._things, self._kept[2], self._kept[3]]
        self.table[:] = [array.ctypes.data for array in arrays]
        self._board.counts[8] = self.table.ctypes.data if len(self._things) else 0
        return len(self.rows) - 1

    def post(self, number: int, tick: int | None) -> None:
        """Let one look out from a tick on; None: not at all."""
        self.rows[number, ON], self.rows[number, RANG] = tick is not None, 0
        self.rows[number, NEXT] = 0 if tick is None else tick

    def rang(self, number: int) -> bool:
        """Whether one has seen something coming since it was posted."""
        return bool(self.rows[number, RANG])


@compiled
def look_out(address: int, qpos: Any, qvel: Any, tick: int) -> int:
    """Let everyone look out who is due; return how many have just seen something coming."""
    table = longs(address)
    count, rows, found = longs(table[T_COUNT])[0], longs(table[T_LOOKOUTS]), 0
    for number in range(count):
        r = number * LOOKOUT
        if rows[r + ON] == 0 or tick < rows[r + NEXT]:
            continue
        rows[r + NEXT] = tick + rows[r + STRIDE]
        if comes_near(table, qpos, qvel, rows[r + ROOT]):
            rows[r + RANG] = 1
            found += 1
    return found


@compiled
def comes_near(table: Any, qpos: Any, qvel: Any, root: int) -> bool:
    """Whether anything that flies will come near a root, on a way without obstacles."""
    things, places, gravity = longs(table[T_THINGS]), floats(table[T_PLACES]), floats(table[T_GRAVITY])
    for k in range(longs(table[T_COUNT])[1]):
        body, dof = 3 * things[_THING * k], things[_THING * k + 1]
        if max(abs(qvel[dof]), abs(qvel[dof + 1]), abs(qvel[dof + 2])) <= SLOW:
            continue
        for sample in range(_SAMPLES):
            time, far = HORIZON * sample / (_SAMPLES - 1), 0.0
            for axis in range(3):
                way = places[body + axis] - qpos[root + axis] + qvel[dof + axis] * time
                far += (way + 0.5 * gravity[axis] * time * time) ** 2
            if far < NEAR * NEAR:
                return True
    return False
