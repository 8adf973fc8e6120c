"""Looking out for a character, compiled: the inner loop comes back to Python only when there is something to see.

Each look-out belongs to one character and looks some thirty times a second. It may look out for what flies: every
movable thing is followed ahead in free flight, and one that is fast enough and will come near in time rings. And it may
look after the character itself: whether it tips over, its root spring has been broken for some time, or it goes
elsewhere than its motion does.
"""

from __future__ import annotations

import math
from typing import Any, Final

import mujoco
import numpy as np

from stunt.control.core.board import Board
from stunt.control.servo.memory import actor_at, servo_at
from stunt.maths.compiled import compiled
from stunt.maths.pointers import ADDRESS, AddressTable, address_of, layout, record

SLOW: Final = 0.5
"""What no part of whose velocity exceeds this [m/s] does not fly."""
HORIZON: Final = 1.25
"""How far ahead to look [s]: as far as any behaviour does, and a little more."""
NEAR: Final = 3.5
"""What comes nearer to the root than this may be meant for it [m]."""
_SAMPLES: Final = 25

LOOKOUT: Final = layout(
    ("flying", np.int64),  # whether it looks out for what flies
    ("falling", np.int64),  # whether it looks after the character itself
    ("next", np.int64),  # when it looks next, and
    ("stride", np.int64),  # how much later again [physics steps]
    ("rang", np.int64),  # whether it saw something
    ("root", np.int64),  # where the root's place is
    ("actor", np.int64),  # which actor of the world-space servo it looks after
    ("up", np.float64, 3),  # the vertical as the root stood
    ("cosine", np.float64),  # of the tilt that rings
    ("broken", np.float64),  # how long the root spring may be broken [s]
    ("strays", np.float64),  # how much faster than its motion's its root may go [m/s]
)
"""Somebody's look-out."""
SIZES: Final = layout(("lookouts", np.int64), ("things", np.int64))
THING: Final = layout(("body", np.int64), ("dof", np.int64))
"""What may fly: its body, and its first degree of freedom."""
TABLE: Final = AddressTable(
    "Lookouts",
    (("sizes", SIZES), ("lookouts", ADDRESS), ("things", ADDRESS), ("places", np.float64), ("gravity", np.float64)),
)
lookout_at, thing_at, lookouts_at = record(LOOKOUT), record(THING), TABLE.reader()


class Lookouts:
    """The look-outs of one stage.

    Attributes:
        rows: One per character that looks out, (n,) of `LOOKOUT`.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board, things: list[tuple[int, int]]) -> None:
        """Take the board's look-outs on.

        Args:
            model: The scene.
            data: Its data.
            board: Where the inner loop finds them.
            things: Body and first degree of freedom of everything that may fly.
        """
        self.rows, self._things, self._sizes = np.zeros(0, LOOKOUT), np.array(things, THING), np.zeros(1, SIZES)
        self._model, self._data, self._board = model, data, board
        self.table = np.zeros(len(TABLE.names), np.int64)

    def add(self, root_qpos: int, actor: int, stride: int) -> int:
        """Post a look-out for nothing yet; return its number."""
        w, x, y, z = self._model.qpos0[root_qpos + 3 : root_qpos + 7].tolist()
        new = np.zeros(1, LOOKOUT)
        new["stride"], new["root"], new["actor"], new["cosine"] = stride, root_qpos, actor, -2.0
        new["broken"] = new["strays"] = np.inf
        new["up"] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
        self.rows = np.append(self.rows, new)
        self._sizes["lookouts"], self._sizes["things"] = len(self.rows), len(self._things)
        self._gravity = self._model.opt.gravity
        self.table[:] = TABLE.fill(
            sizes=self._sizes, lookouts=self.rows, things=self._things, places=self._data.xipos, gravity=self._gravity
        )
        self._board.counts["lookouts"] = address_of(self.table)
        return len(self.rows) - 1

    def carry(self, old: Lookouts, number: int, before: int) -> None:
        """Look out as number `before` of another scene did."""
        for field in ("flying", "falling", "next", "rang", "cosine", "broken", "strays"):
            self.rows[field][number] = old.rows[field][before]

    def for_flying(self, number: int, tick: int | None) -> None:
        """Let one look out for what flies from a tick on; None: not any more."""
        row = self.rows[number]
        row["flying"], row["rang"], row["next"] = tick is not None and len(self._things) > 0, 0, tick or 0

    def for_falling(self, number: int, tilt: float, broken: float, strays: float = math.inf) -> None:
        """Let one look after the character.

        Args:
            number: Whose look-out.
            tilt: It rings once the character tilts further [rad],
            broken: its spring is broken longer [s],
            strays: or its root goes so much faster than its motion's [m/s].
        """
        row = self.rows[number]
        row["falling"] = tilt < math.pi or broken < math.inf or strays < math.inf
        row["strays"] = strays
        row["cosine"], row["broken"] = math.cos(tilt) if tilt < math.pi else -2.0, broken


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
    t, found = lookouts_at(address), 0
    for number in range(t.sizes.lookouts):
        lookout = lookout_at(t.lookouts, number)
        if tick < lookout.next or (lookout.flying == 0 and lookout.falling == 0):
            continue
        lookout.next = tick + lookout.stride
        seen = lookout.flying != 0 and comes_near(t, qpos, qvel, lookout.root)
        if seen or (lookout.falling != 0 and falls(lookout, qpos, servo)):
            lookout.rang = 1
            found += 1
    return found


@compiled
def falls(lookout: Any, qpos: Any, servo: int) -> bool:
    """Whether a character tips over, its root spring has been broken too long, or it goes elsewhere."""
    q, up = lookout.root + 3, lookout.up
    w, x, y, z = qpos[q], qpos[q + 1], qpos[q + 2], qpos[q + 3]
    height = 2.0 * (x * z - w * y) * up[0] + 2.0 * (y * z + w * x) * up[1]
    height += (1.0 - 2.0 * (x * x + y * y)) * up[2]
    who = actor_at(servo_at(servo).actors, lookout.actor)
    return bool(height < lookout.cosine or who.broken > lookout.broken or who.strays > lookout.strays)


@compiled
def comes_near(t: Any, qpos: Any, qvel: Any, root: int) -> bool:
    """Whether anything that flies will come near a root, on a way without obstacles."""
    places, gravity = t.places, t.gravity
    for k in range(t.sizes.things):
        thing = thing_at(t.things, k)
        body, dof = 3 * thing.body, thing.dof
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
