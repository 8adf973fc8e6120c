"""Looking out for a character, compiled: the inner loop comes back to Python only when there is something to see.

Each look-out belongs to one character and looks some thirty times a second. It may look out for what flies: every
movable thing is followed ahead in free flight, and one that is fast enough and will come near in time rings. And it may
look after the character itself: whether it tips over, or its root spring has been broken for some time.
"""

from __future__ import annotations

import math
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.board import Board
from stunt.control.core.views import floats, longs
from stunt.control.servo import layout as worldspace
from stunt.maths.compiled import compiled

SLOW: Final = 0.5
"""What no part of whose velocity exceeds this [m/s] does not fly."""
HORIZON: Final = 1.25
"""How far ahead to look [s]: as far as any behaviour does, and a little more."""
NEAR: Final = 3.5
"""What comes nearer to the root than this may be meant for it [m]."""
_SAMPLES: Final = 25

# A look-out: for what flies, for the character itself, when it looks next, steps between looks, whether it rang, where
# the root's place is, and which actor of the world-space servo it is.
FLYING, FALLING, NEXT, STRIDE, RANG, ROOT, ACTOR = range(7)
LOOKOUT: Final = 7
# Its numbers: the vertical as the root stood, cosine of the tilt and time of a broken spring that ring.
UP, COSINE, BROKEN = 0, 3, 4
NUMBERS: Final = 5
# Entries of the table.
T_COUNT, T_LOOKOUTS, T_NUMBERS, T_THINGS, T_PLACES, T_GRAVITY = range(6)
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
        self.rows, self.numbers = np.zeros((0, LOOKOUT), np.int64), np.zeros((0, NUMBERS))
        self._model, self._data, self._board = model, data, board
        self._things, self._count = np.array(things, np.int64).reshape(-1, _THING), np.zeros(2, np.int64)
        self.table = np.zeros(6, np.int64)

    @staticmethod
    def on(model: mujoco.MjModel, data: mujoco.MjData, board: Board, things: list[tuple[int, int]]) -> Lookouts:
        """Return the board's look-outs, making them if there are none."""
        known = getattr(board, "lookouts", None)
        if not isinstance(known, Lookouts):
            known = board.lookouts = Lookouts(model, data, board, things)  # type: ignore[attr-defined]
        return known

    def add(self, root_qpos: int, actor: int, stride: int) -> int:
        """Post a look-out for nothing yet; return its number."""
        w, x, y, z = self._model.qpos0[root_qpos + 3 : root_qpos + 7].tolist()
        up = [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y), -2.0, np.inf]
        self.rows = np.vstack([self.rows, np.array([[0, 0, 0, stride, 0, root_qpos, actor]], np.int64)])
        self.numbers = np.vstack([self.numbers, np.array([up])])
        self._count[:] = len(self.rows), len(self._things)
        arrays = self._count, self.rows, self.numbers, self._things, self._data.xipos, self._model.opt.gravity
        self._kept: tuple[NDArray[Any], ...] = arrays
        self.table[:] = [array.ctypes.data for array in arrays]
        self._board.counts[8] = self.table.ctypes.data
        return len(self.rows) - 1

    def for_flying(self, number: int, tick: int | None) -> None:
        """Let one look out for what flies from a tick on; None: not any more."""
        row = self.rows[number]
        row[FLYING], row[RANG], row[NEXT] = tick is not None and len(self._things) > 0, 0, tick or 0

    def for_falling(self, number: int, tilt: float, broken: float) -> None:
        """Let one look after the character: ring once it tilts further [rad] or the spring is broken longer [s]."""
        self.rows[number, FALLING] = tilt < math.pi or broken < math.inf
        self.numbers[number, COSINE:] = math.cos(tilt) if tilt < math.pi else -2.0, broken


@compiled
def look_out(address: int, qpos: Any, qvel: Any, servo: int, tick: int) -> int:
    """Let everyone look out who is due; return how many have just seen something.

    Args:
        address: Of the look-outs' table.
        qpos: Positions.
        qvel: Velocities.
        servo: Address of the world-space servo's table.
        tick: Physics steps so far.
    """
    table = longs(address)
    count, rows, found = longs(table[T_COUNT])[0], longs(table[T_LOOKOUTS]), 0
    for number in range(count):
        r = number * LOOKOUT
        if tick < rows[r + NEXT] or (rows[r + FLYING] == 0 and rows[r + FALLING] == 0):
            continue
        rows[r + NEXT] = tick + rows[r + STRIDE]
        seen = rows[r + FLYING] != 0 and comes_near(table, qpos, qvel, rows[r + ROOT])
        if seen or (rows[r + FALLING] != 0 and falls(table, number, qpos, rows[r + ROOT], rows[r + ACTOR], servo)):
            rows[r + RANG] = 1
            found += 1
    return found


@compiled
def falls(table: Any, number: int, qpos: Any, root: int, actor: int, servo: int) -> bool:
    """Whether a character tips over, or its root spring has been broken too long."""
    f, q = floats(table[T_NUMBERS]), root + 3
    n = number * NUMBERS
    w, x, y, z = qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3]
    height = 2.0 * (x * z - w * y) * f[n + UP] + 2.0 * (y * z + w * x) * f[n + UP + 1]
    height += (1.0 - 2.0 * (x * x + y * y)) * f[n + UP + 2]
    broken = floats(longs(servo)[worldspace.T_NUMBERS])[actor * worldspace.NUMBERS + worldspace.BROKEN]
    return height < f[n + COSINE] or broken > f[n + BROKEN]


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
