"""The inner loop: many physics steps in one compiled call, control and guard included."""

from __future__ import annotations

from functools import partial
from typing import Any

from stunt.control.core.contact_scan import scan_contacts
from stunt.control.core.engine import mj_step1
from stunt.control.core.kernel import after, before, between, meter_strength, sort_joints, update_moments
from stunt.control.core.ledger import note_before, note_between, note_first_half, note_stepped, turn_page
from stunt.control.core.loads import choose_felt, feel_loads
from stunt.control.core.programs import CONTACTS, EACH_STEP, STEPPED, WORLDSPACE, call_programs
from stunt.control.core.strength import finish_step
from stunt.control.core.views import views_at
from stunt.control.loop.guard import count_work, watch_over
from stunt.control.loop.lookout import look_out
from stunt.maths.compiled import compiled


@partial(compiled, nogil=True)
def run(
    model: int,
    data: int,
    table: Any,
    tick: int,
    steps: int,
    steps_per_control: int,
    step_time: float,
    speed_limit: float,
) -> int:
    """Advance the simulation.

    Args:
        model: Address of the MjModel.
        data: Address of the MjData.
        table: The board's table.
        tick: Physics steps taken since the start.
        steps: How many to take.
        steps_per_control: Physics steps per control step.
        step_time: Length of a physics step [s].
        speed_limit: Velocity beyond which the simulation counts as blown up [rad/s or m/s].

    Returns:
        Steps taken; negative where the simulation blew up in the last of them. Fewer than asked for where someone was
        hit in the last one, if contacts are watched (`counts.watch`; `counts.hits` says how many), or a look-out saw
        something coming (`counts.lookouts`).
    """
    choose_felt(table.ctypes.data)
    v = views_at(table.ctypes.data)
    v.counts.table = table.ctypes.data  # for programs, which unpack it again
    v.counts.hits = 0
    for step in range(steps):
        control = (tick + step) % steps_per_control == 0
        time = (tick + step) * step_time
        if control:
            before(v, time, model, data)
        if v.counts.ledger != 0:
            note_before(v.counts.ledger, model, data)
        mj_step1(model, data)
        if v.counts.ledger != 0:
            note_first_half(v.counts.ledger, model, data)
        if control and v.counts.guard != 0:
            watch_over(v.counts.guard, v, tick + step, step_time)
        call_programs(v, CONTACTS, time, model, data)
        if control:
            between(v, time, model, data)
        call_programs(v, EACH_STEP, time, model, data)
        if v.counts.ledger != 0:
            note_between(v.counts.ledger, model, data)
        finish_step(v, time, model, data)
        if v.counts.ledger != 0:
            note_stepped(v.counts.ledger, model, data)
        call_programs(v, STEPPED, time, model, data)
        if v.counts.ledger != 0:
            turn_page(v.counts.ledger)
        after(v)
        meter_strength(v, time + step_time)
        if v.counts.guard != 0:
            count_work(v.counts.guard, v, step_time)
        for i in range(v.sizes.nv):
            # Written so that NaN fails it.
            if not abs(v.qvel[i]) < speed_limit:
                return -(step + 1)
        rang = 0
        if v.counts.lookouts != 0:
            rang = look_out(v.counts.lookouts, v.qpos, v.qvel, v.programs[WORLDSPACE], tick + step + 1)
        if v.counts.watch != 0 and (tick + step + 1) % steps_per_control == 0:
            v.counts.hits = scan_contacts(v.counts.watch, (tick + step + 1) * step_time)
        if v.counts.hits != 0 or rang != 0:
            return step + 1
    return steps


@compiled
def prepare(table: Any) -> None:
    """Fill in what springs scale by before the first step; needs inertia and bias up to date."""
    choose_felt(table.ctypes.data)
    v = views_at(table.ctypes.data)
    sort_joints(v)
    feel_loads(v)
    update_moments(v)
    for i in range(v.sizes.nv):
        v.carried[i] = v.felt_bias[i]
