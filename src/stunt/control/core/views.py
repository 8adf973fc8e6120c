"""Arrays by address, inside compiled code: how the kernel gets at MuJoCo's and the board's memory without copies.

Unpacking an array argument costs a compiled function more than controlling a joint, so the kernel is handed one table
of addresses. `Views` names what the table holds, in order; `stunt.control.core.board.Board` fills it. Inside, they are
plain pointers: arrays of rows are indexed flat (`xanchor[3 * j + k]`). That compiles ten times faster than numpy views.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types
from numba.extending import intrinsic

from stunt.maths.compiled import compiled


class Views(NamedTuple):
    """Pointers to all arrays the kernel touches. Names are the board's (see there), or shortened from the engine's."""

    sizes: Any
    qpos: Any
    qvel: Any
    bias: Any
    passive: Any
    applied: Any
    mass_matrix: Any
    crb: Any
    cdof: Any
    xanchor: Any
    xipos: Any
    ximat: Any
    rownnz: Any
    rowadr: Any
    colind: Any
    jnt_type: Any
    jnt_qposadr: Any
    jnt_dofadr: Any
    jnt_range: Any
    jnt_stiffness: Any
    qpos_spring: Any
    dof_damping: Any
    dof_armature: Any
    dof_jntid: Any
    dof_bodyid: Any
    dof_parentid: Any
    body_mass: Any
    body_inertia: Any
    body_rootid: Any
    law: Any
    arrival: Any
    goal: Any
    goal_velocity: Any
    goal_time: Any
    start_time: Any
    ease: Any
    hold: Any
    feed_bias: Any
    limit: Any
    stiffness: Any
    damping: Any
    rest: Any
    feed_forward: Any
    torque: Any
    saturated: Any
    saturated_steps: Any
    moment: Any
    planted: Any
    grounded: Any
    own_stiffness: Any
    own_rest: Any
    own_damping: Any
    acceleration: Any
    error: Any
    error_rate: Any
    product: Any
    force: Any
    implicit: Any
    right: Any
    inboard: Any
    scale: Any
    quaternion: Any
    dof_tree: Any
    tree_driven: Any
    block: Any
    undriven: Any
    undriven_index: Any
    times: Any
    programs: Any
    carried: Any
    pull: Any
    sprung: Any
    last_law: Any
    full_joints: Any
    spring_joints: Any
    counts: Any
    hooks: Any


def _pointer_maker(kind: Any) -> Any:
    """Return a compiled function that turns an address into a pointer to `kind`."""
    target = types.CPointer(kind)

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(target))

        return target(types.int64), generate

    return make


_floats = _pointer_maker(types.float64)
_ints = _pointer_maker(types.int32)  # the engine's integers
_longs = _pointer_maker(types.int64)  # the board's integers

# For programs, which keep tables of their own.
floats, ints, longs = _floats, _ints, _longs
bytes_ = _pointer_maker(types.uint8)  # the engine's flags


@compiled
def unpack(table: Any) -> Any:
    """Return the `Views` behind a board's table; the first entry is the address of the sizes."""
    return Views(
        sizes=_longs(table[0]),
        qpos=_floats(table[1]),
        qvel=_floats(table[2]),
        bias=_floats(table[3]),
        passive=_floats(table[4]),
        applied=_floats(table[5]),
        mass_matrix=_floats(table[6]),
        crb=_floats(table[7]),
        cdof=_floats(table[8]),
        xanchor=_floats(table[9]),
        xipos=_floats(table[10]),
        ximat=_floats(table[11]),
        rownnz=_ints(table[12]),
        rowadr=_ints(table[13]),
        colind=_ints(table[14]),
        jnt_type=_ints(table[15]),
        jnt_qposadr=_ints(table[16]),
        jnt_dofadr=_ints(table[17]),
        jnt_range=_floats(table[18]),
        jnt_stiffness=_floats(table[19]),
        qpos_spring=_floats(table[20]),
        dof_damping=_floats(table[21]),
        dof_armature=_floats(table[22]),
        dof_jntid=_ints(table[23]),
        dof_bodyid=_ints(table[24]),
        dof_parentid=_ints(table[25]),
        body_mass=_floats(table[26]),
        body_inertia=_floats(table[27]),
        body_rootid=_ints(table[28]),
        law=_longs(table[29]),
        arrival=_longs(table[30]),
        goal=_floats(table[31]),
        goal_velocity=_floats(table[32]),
        goal_time=_floats(table[33]),
        start_time=_floats(table[34]),
        ease=_floats(table[35]),
        hold=_floats(table[36]),
        feed_bias=_longs(table[37]),
        limit=_floats(table[38]),
        stiffness=_floats(table[39]),
        damping=_floats(table[40]),
        rest=_floats(table[41]),
        feed_forward=_floats(table[42]),
        torque=_floats(table[43]),
        saturated=_longs(table[44]),
        saturated_steps=_longs(table[45]),
        moment=_floats(table[46]),
        planted=_longs(table[47]),
        grounded=_longs(table[48]),
        own_stiffness=_floats(table[49]),
        own_rest=_floats(table[50]),
        own_damping=_floats(table[51]),
        acceleration=_floats(table[52]),
        error=_floats(table[53]),
        error_rate=_floats(table[54]),
        product=_floats(table[55]),
        force=_floats(table[56]),
        implicit=_floats(table[57]),
        right=_floats(table[58]),
        inboard=_floats(table[59]),
        scale=_floats(table[60]),
        quaternion=_floats(table[61]),
        dof_tree=_longs(table[62]),
        tree_driven=_longs(table[63]),
        block=_floats(table[64]),
        undriven=_longs(table[65]),
        undriven_index=_longs(table[66]),
        times=_floats(table[67]),
        programs=_longs(table[68]),
        carried=_floats(table[69]),
        pull=_floats(table[70]),
        sprung=_longs(table[71]),
        last_law=_longs(table[72]),
        full_joints=_longs(table[73]),
        spring_joints=_longs(table[74]),
        counts=_longs(table[75]),
        hooks=_longs(table[76]),
    )
