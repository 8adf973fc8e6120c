"""Watching over the physics, compiled: what sinks into the ground or into something else, and energy from nowhere.

A blow-up by speed is found after every physics step (`stunt.control.loop.run`). What is quieter is looked for in every
fourth control step: a body far below the floor, a contact far too deep, and, over the length of that step, energy that
no joint and no applied force can account for. It is only noted here, the worst of each; the take's report warns.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np

from stunt.control.core.engine import contact_at, contact_count, contact_pointer, last_dofs
from stunt.maths.compiled import compiled
from stunt.maths.pointers import AddressTable, address_of, layout

DEEP: Final = 0.25
"""What is deeper in the ground, or in something else, is where no body can be [m]."""
BOOST: Final = 10.0
"""Energy from nowhere that counts, in one control step [J per kg that moves]: all of it thrown upwards by a metre."""
EVERY: Final = 4  # control steps

FOUND: Final = layout(
    ("floor", np.int64),  # whether there is one, at z = 0
    ("steps", np.int64),  # control steps so far
    ("sunk", np.float64),  # how far the deepest body was below the floor [m], which, and in which physics step
    ("sunk_body", np.int64),
    ("sunk_tick", np.int64),
    ("pressed", np.float64),  # how deep the deepest contact was [m], of which body
    ("pressed_body", np.int64),
    ("pressed_tick", np.int64),
    ("boost", np.float64),  # most energy from nowhere [J]
    ("boost_tick", np.int64),
    ("energy", np.float64),  # when the look began [J]
    ("work", np.float64),  # of joints and applied forces since then [J]
    ("moved", np.float64),  # the velocities after the last step, as one number
    ("looking", np.int64),  # whether a look is under way
    ("bodies", np.int64),
    ("dofs", np.int64),
)
"""What was found, and the look that is under way."""
TABLE: Final = AddressTable(
    "PhysicsGuard",
    (
        ("found", FOUND),
        ("watched", np.int64),  # 1 where a body moves, and did not begin below the floor
        ("geom_body", np.int32),
        ("mass", np.float64),
        ("gravity", np.float64),
        ("smooth", np.float64),
        ("ncon", np.int32),
        ("contacts", np.int64),
    ),
)
guard_at = TABLE.reader()


class PhysicsGuard:
    """Watches over one stage.

    Attributes:
        found: What it found so far, (1,) of `FOUND`.
        table: What the compiled loop reads and writes.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, floor: bool) -> None:
        """Begin to watch.

        Args:
            model: The scene.
            data: Its data, with kinematics up to date.
            floor: Whether there is a floor at z = 0.
        """
        self._model, self._floor = model, floor
        self.found = np.zeros(1, FOUND)
        self.found["floor"], self.found["bodies"], self.found["dofs"] = floor, model.nbody, model.nv
        moves = last_dofs(model) >= 0
        self._watched = (moves & (data.xipos[:, 2] > -0.5 * DEEP)).astype(np.int64)
        self._mass = float(model.body_mass[moves].sum())
        self._arrays: dict[str, Any] = {
            "found": self.found, "watched": self._watched, "geom_body": model.geom_bodyid, "mass": model.body_mass,
            "gravity": model.opt.gravity, "smooth": data.qfrc_smooth, "ncon": contact_count(data),
            "contacts": contact_pointer(data),
        }  # fmt: skip
        self._table = TABLE.fill(**self._arrays)
        self.table = address_of(self._table)

    def warnings(self, step_time: float) -> list[str]:
        """Say in sentences what was found."""
        found, told = self.found[0], []
        if found["sunk"] > DEEP:
            told.append(self._told("sunk", step_time, f"was {found['sunk']:.2f} m below the ground"))
        if found["pressed"] > DEEP:
            told.append(self._told("pressed", step_time, f"was {found['pressed']:.2f} m deep in something"))
        if self._mass > 0.0 and found["boost"] > BOOST * self._mass:
            told.append(
                f"{found['boost']:.3g} J came from nowhere at {found['boost_tick'] * step_time:.3f} s: no joint and no "
                "push accounts for them. A higher rate may help."
            )  # fmt: skip
        return told

    def _told(self, what: str, step_time: float, sentence: str) -> str:
        name = self._model.body(int(self.found[0][f"{what}_body"])).name
        return f"'{name}' {sentence} at {self.found[0][f'{what}_tick'] * step_time:.3f} s: it went through. {_ADVICE}"

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self.found.copy()

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.found[:] = state


_ADVICE: Final = "A higher rate, less speed or more thickness may help."


@compiled
def watch_over(address: int, v: Any, tick: int, step: float) -> None:
    """Look, at the beginning of a control step: positions, velocities and inertia are up to date.

    Args:
        address: Of the guard's table.
        v: The views.
        tick: Physics steps so far.
        step: Seconds since the last control step.
    """
    t = guard_at(address)
    found = t.found
    found.steps += 1
    if found.looking != 0:
        found.looking = 0
        now = 0.0
        for i in range(found.dofs):
            now += v.qvel[i]
        if now == found.moved:  # nobody else has set the body moving meanwhile
            boost = energy_of(t, v) - found.energy - found.work
            if boost > found.boost:
                found.boost = boost
                found.boost_tick = tick
    if found.steps % EVERY == 1:
        look_for_depth(t, v, tick)
        found.energy = energy_of(t, v)
        found.work = 0.0
        found.looking = 1


@compiled
def count_work(address: int, v: Any, step: float) -> None:
    """Count, after a physics step, what joints and applied forces have done; only where a look is under way."""
    t = guard_at(address)
    found = t.found
    if found.looking == 0:
        return
    smooth, work, now = t.smooth, 0.0, 0.0
    for i in range(found.dofs):
        applied = smooth[i] + v.bias[i] - v.passive[i]
        work += abs(v.torque[i] * v.qvel[i]) + abs(applied * v.qvel[i])
        now += v.qvel[i]
    found.work += step * work
    found.moved = now


@compiled
def energy_of(t: Any, v: Any) -> float:
    """Return kinetic and potential energy [J]; M is the inertia matrix's lower triangle, row by row."""
    double = 0.0
    for i in range(t.found.dofs):
        start = v.rowadr[i]
        for k in range(start, start + v.rownnz[i]):
            j = v.colind[k]
            double += (1.0 if i == j else 2.0) * v.mass_matrix[k] * v.qvel[i] * v.qvel[j]
    gravity, energy = t.gravity, 0.5 * double
    for body in range(1, t.found.bodies):
        place = 3 * body
        drop = gravity[0] * v.xipos[place] + gravity[1] * v.xipos[place + 1] + gravity[2] * v.xipos[place + 2]
        energy -= t.mass[body] * drop
    return energy


@compiled
def look_for_depth(t: Any, v: Any, tick: int) -> None:
    """Note bodies below the floor, and contacts too deep."""
    found, watched, contacts, geom_body = t.found, t.watched, t.contacts, t.geom_body
    if found.floor != 0:
        for body in range(1, found.bodies):
            if -v.xipos[3 * body + 2] > found.sunk and watched[body] != 0:
                found.sunk = -v.xipos[3 * body + 2]
                found.sunk_body = body
                found.sunk_tick = tick
    for number in range(t.ncon[0]):
        contact = contact_at(contacts[0], number)
        if -contact.dist > found.pressed:
            found.pressed = -contact.dist
            one, two = geom_body[contact.geom[0]], geom_body[contact.geom[1]]
            found.pressed_body = two if watched[two] != 0 or one == 0 else one
            found.pressed_tick = tick
