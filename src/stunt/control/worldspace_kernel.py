"""The world-space servo, compiled: called between the engine's half-steps, and after them (see `worldspace`).

One step may be taken twice: where a joint turned out to be over its strength (a contact pushed harder than the step
before), the state is put back and the step repeated with the contact forces now known.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.compiled import compiled, inlined
from stunt.control import worldspace as w
from stunt.control.engine import STEP_STATE, mj_factorM, mj_getState, mj_setState, mj_solveM, mj_step1, mj_step2
from stunt.control.kinematic import push_along, put_all
from stunt.control.root_spring import gain_now, help_root, meter_root, sample_rows
from stunt.control.small import multiply_quaternions, world_difference
from stunt.control.steering import steer_legs, turn_target
from stunt.control.views import floats, ints, longs

_BALL = 1
_GROW = 1.15
"""How fast a joint's weight recovers per step."""
_TARGET = 0.93
"""Share of its strength a joint is held to: contacts may push a little harder than predicted."""
_TOLERATED = 0.985
"""Share of its strength a joint may be foreseen at without being held back any more."""
_LEAST = 0.02
_TRIES = 5
_REPEATS = 2
_STATE = STEP_STATE


@compiled
def see_bones(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float, gain: float) -> None:
    """Write what the servo sees of every bone: error less the step's motion, and velocity error (6 per body)."""
    xquat, cvel, parent = floats(t[w.T_XQUAT]), floats(t[w.T_CVEL]), ints(t[w.T_PARENT])
    x, s = floats(t[w.T_SEEN]), floats(t[w.T_SCRATCH])
    total, k1, k2 = floats(t[w.T_SUM]), floats(t[w.T_K1]), floats(t[w.T_K2])
    root, end, h, look = a[i + w.ROOT_BODY], a[i + w.END_BODY], v.times[0], f[n + w.LOOK]
    rows, frames = floats(a[i + w.ROWS]), a[i + w.FRAMES]
    frame = (time + h - f[n + w.START]) * f[n + w.FPS]
    own = a[i + w.MODE] == w.PARENT
    leg, steer = longs(t[w.T_LEG]), floats(t[w.T_STEER])
    for b in range(root + 1, end):
        hang = parent[b] if own else root
        sample_rows(rows, end - root, b - root, frames, frame, s, 0)
        sample_rows(rows, end - root, b - root, frames, frame + 0.5 * look * f[n + w.FPS], s, 4)
        sample_rows(rows, end - root, b - root, frames, frame - 0.5 * look * f[n + w.FPS], s, 24)
        multiply_quaternions(xquat, 4 * hang, s, 0, s, 8)
        multiply_quaternions(xquat, 4 * hang, s, 4, s, 12)
        multiply_quaternions(xquat, 4 * hang, s, 24, s, 28)
        if leg[b] != 0 and not own:
            turn_target(steer, abs(leg[b]), leg[b] > 0, s, 8, 16)
        world_difference(s, 8, xquat, 4 * b, s, 16)
        world_difference(s, 12, s, 28, s, 20)
        for k in range(3):
            relative = cvel[6 * b + k] - cvel[6 * hang + k]
            x[6 * b + k] = s[16 + k] - h * relative
            x[6 * b + 3 + k] = s[20 + k] / look - relative
        total[b] = gain * (h * k2[b] + h * h * k1[b])
    if not own:
        for b in range(end - 1, root + 1, -1):
            if parent[b] > root:
                total[parent[b]] += total[b]


@compiled
def foresee_torques(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float, gain: float) -> None:
    """Write the torques the motion itself takes, as foreseen from the clip, in the measure the servo is awake."""
    feed, first, last = floats(t[w.T_FEED]), a[i + w.DOF0], a[i + w.DOF1]
    if a[i + w.ROW_TORQUE] == 0:
        for d in range(first, last):
            feed[d] = 0.0
        return
    rows, frames, width = floats(a[i + w.ROW_TORQUE]), a[i + w.FRAMES], last - first
    x = min(max((time + v.times[0] - f[n + w.START]) * f[n + w.FPS], 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    high, share = min(low + 1, frames - 1), x - low
    awake = min(1.0, gain / f[n + w.GAIN])
    for d in range(first, last):
        one, two = rows[low * width + d - first], rows[high * width + d - first]
        feed[d] = awake * (one + share * (two - one))


@compiled
def add_torques(v: Any, t: Any, a: Any, i: int, gain: float) -> None:
    """Turn what is seen into joint torques, through the joints' weights."""
    parent, x, u, force = ints(t[w.T_PARENT]), floats(t[w.T_SEEN]), floats(t[w.T_LEAN]), floats(t[w.T_FORCE])
    k1, k2, weight, joint = floats(t[w.T_K1]), floats(t[w.T_K2]), floats(t[w.T_WEIGHT]), floats(t[w.T_JOINT])
    feed = floats(t[w.T_FEED])
    root, end = a[i + w.ROOT_BODY], a[i + w.END_BODY]
    own = a[i + w.MODE] == w.PARENT
    for k in range(6):
        x[6 * root + k] = u[6 * root + k] = 0.0
    for b in range(root + 1, end):
        p = root if own else parent[b]
        for k in range(6):
            u[6 * b + k] = u[6 * p + k] + weight[b] * (x[6 * b + k] - x[6 * p + k])
        for k in range(3):
            force[3 * b + k] = gain * (k1[b] * u[6 * b + k] + k2[b] * u[6 * b + 3 + k])
    for k in range(3):
        force[3 * root + k] = 0.0
    for b in range(end - 1, root, -1):
        if not own or parent[b] == root:
            for k in range(3):
                force[3 * parent[b] + k] += force[3 * b + k]
    for d in range(a[i + w.DOF0], a[i + w.DOF1]):
        b, c = v.dof_bodyid[d], 6 * d
        push = v.cdof[c] * force[3 * b] + v.cdof[c + 1] * force[3 * b + 1] + v.cdof[c + 2] * force[3 * b + 2]
        joint[d] = v.applied[d] = weight[b] * (push + feed[d])


@compiled
def add_inertia(v: Any, t: Any, a: Any, i: int) -> None:
    """Add S to the engine's inertia matrix, in its own sparsity: joints on one way to the root are coupled."""
    total, weight = floats(t[w.T_SUM]), floats(t[w.T_WEIGHT])
    kept, implicit = floats(t[w.T_INERTIA]), floats(t[w.T_IMPLICIT])
    first, own = a[i + w.DOF0], a[i + w.MODE] == w.PARENT
    for d in range(first, a[i + w.DOF1]):
        b, start, count = v.dof_bodyid[d], v.rowadr[d], v.rownnz[d]
        x, y, z = v.cdof[6 * d], v.cdof[6 * d + 1], v.cdof[6 * d + 2]
        share = total[b] * weight[b]
        for k in range(start, start + count):
            c = v.colind[k]
            if c < first or (own and v.dof_bodyid[c] != b):
                implicit[k] = 0.0
                continue
            along = x * v.cdof[6 * c] + y * v.cdof[6 * c + 1] + z * v.cdof[6 * c + 2]
            implicit[k] = share * weight[v.dof_bodyid[c]] * along
            v.mass_matrix[k] = kept[k] + implicit[k]


@compiled
def end_torques(v: Any, t: Any, a: Any, i: int, acceleration: Any) -> None:
    """Write the torques the joints produce in a step that accelerates so: τ − S·a."""
    joint, torque, implicit = floats(t[w.T_JOINT]), floats(t[w.T_TORQUE]), floats(t[w.T_IMPLICIT])
    first, last = a[i + w.DOF0], a[i + w.DOF1]
    for d in range(first, last):
        torque[d] = joint[d]
    for d in range(first, last):
        start, count = v.rowadr[d], v.rownnz[d]
        for k in range(start, start + count):
            c = v.colind[k]
            if c >= first:
                torque[d] -= implicit[k] * acceleration[c]
                if c != d:
                    torque[c] -= implicit[k] * acceleration[d]


@inlined
def load_of(v: Any, torque: Any, j: int) -> float:
    """Return a joint's torque as a share of its strength; of a ball joint the length of its torque."""
    d = v.jnt_dofadr[j]
    size = abs(torque[d])
    if v.jnt_type[j] == _BALL:
        size = math.sqrt(torque[d] ** 2 + torque[d + 1] ** 2 + torque[d + 2] ** 2)
    return float(size / v.limit[d])


@compiled
def weaken(v: Any, t: Any, a: Any, i: int) -> bool:
    """Lower the weights of joints over their strength; return whether any was."""
    torque, weight = floats(t[w.T_TORQUE]), floats(t[w.T_WEIGHT])
    found = False
    for j in range(a[i + w.JNT0], a[i + w.JNT1]):
        load = load_of(v, torque, j)
        if load > _TOLERATED:
            b = v.dof_bodyid[v.jnt_dofadr[j]]
            weight[b] = max(_LEAST, weight[b] * math.sqrt(_TARGET / load))
            found = True
    return found


@compiled
def recover(t: Any, a: Any, i: int) -> None:
    """Let weights grow again, no faster than what a joint did in the last step leaves room for."""
    weight, load = floats(t[w.T_WEIGHT]), floats(t[w.T_LOAD])
    for b in range(a[i + w.ROOT_BODY], a[i + w.END_BODY]):
        if weight[b] < 1.0:
            room = math.sqrt(_TARGET / max(load[b], 1e-3))
            weight[b] = min(1.0, weight[b] * min(max(room, 1.0), _GROW))


@compiled
def servo_step(v: Any, t: Any, time: float, model: int, data: int, again: bool) -> None:
    """Write torques and inertia of all actors for one physics step; `again`: the step is being repeated."""
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    kept = floats(t[w.T_INERTIA])
    xquat, cvel, constraint = floats(t[w.T_XQUAT]), floats(t[w.T_CVEL]), floats(t[w.T_CONSTRAINT])
    s = floats(t[w.T_SCRATCH])
    for k in range(v.sizes[5]):
        kept[k] = v.mass_matrix[k]
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0:
            continue
        if a[i + w.MODE] == w.KINEMATIC:
            push_along(v, t, a, i, f, n, time)
            continue
        gain = gain_now(f, n, time)
        help_root(v, a, i, f, n, time, gain, xquat, cvel, constraint, s)
        set_friction(t, a, i, f, n, time)
        if a[i + w.MODE] == w.BOARD:
            continue
        if not again:
            recover(t, a, i)
            if a[i + w.LEG_COUNT] > 0:
                steer_legs(v, t, a, i, f, n, time, floats(t[w.T_XPOS]))
        see_bones(v, t, a, i, f, n, time, gain)
        foresee_torques(v, t, a, i, f, n, time, gain)
        add_torques(v, t, a, i, gain)
        add_inertia(v, t, a, i)
        hook_inertia(v, a, i, f, n)
        push_from_outside(v, t, a, i, f, n)
    mj_factorM(model, data)
    for _ in range(_TRIES):
        if not predict(v, t, count, a, f, time, model, data):
            return
        mj_factorM(model, data)


@compiled
def hook_inertia(v: Any, a: Any, i: int, f: Any, n: int) -> None:
    """A meat-hook is stiff: its spring is implicit too."""
    if a[i + w.ROOT_MODE] != w.HOOK:
        return
    h, d, rate = v.times[0], a[i + w.ROOT_DOF], f[n + w.HOOK_K]
    for k in range(6):
        stiff = h * f[n + w.ROOT_K2] + h * h * f[n + w.ROOT_K1]
        if k < 3:
            stiff = f[n + w.WHOLE_MASS] * (2.0 * rate * h + (rate * h) ** 2)
        v.mass_matrix[v.rowadr[d + k] + v.rownnz[d + k] - 1] += stiff


@compiled
def push_from_outside(v: Any, t: Any, a: Any, i: int, f: Any, n: int) -> None:
    """The paper's form: the bones' torques come from outside, so that the root gets their sum as well."""
    if a[i + w.EXTERNAL] == 0:
        return
    force, root, d = floats(t[w.T_FORCE]), a[i + w.ROOT_BODY], a[i + w.ROOT_DOF]
    for k in range(3):
        f[n + w.TORQUE + k] += force[3 * root + k]
        c = 6 * (d + 3 + k)
        v.applied[d + 3 + k] += (
            v.cdof[c] * force[3 * root] + v.cdof[c + 1] * force[3 * root + 1] + v.cdof[c + 2] * force[3 * root + 2]
        )


@compiled
def predict(v: Any, t: Any, count: int, a: Any, f: Any, time: float, model: int, data: int) -> bool:
    """Foresee the step with the last contact forces; weaken who would be over the limit; return whether anyone was."""
    right, ahead, constraint = floats(t[w.T_RIGHT]), floats(t[w.T_ACCELERATION]), floats(t[w.T_CONSTRAINT])
    for d in range(v.sizes[1]):
        right[d] = v.passive[d] - v.bias[d] + v.applied[d] + constraint[d]
    mj_solveM(model, data, t[w.T_ACCELERATION], t[w.T_RIGHT], 1)
    found = False
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0 or a[i + w.LIMITED] == 0 or a[i + w.MODE] >= w.BOARD:
            continue
        end_torques(v, t, a, i, ahead)
        if weaken(v, t, a, i):
            f[n + w.TRIES] += 1.0
            gain = gain_now(f, n, time)
            add_torques(v, t, a, i, gain)
            add_inertia(v, t, a, i)
            found = True
    return found


@compiled
def set_friction(t: Any, a: Any, i: int, f: Any, n: int, time: float) -> None:
    """Let a foot that swings slide: the clip lifts it less than uneven ground would need."""
    soles, rows, sliding = longs(a[i + w.SOLES]), floats(a[i + w.FRICTION]), floats(t[w.T_SLIDING])
    count = a[i + w.SOLE_COUNT]
    frame = int((time - f[n + w.START]) * f[n + w.FPS])
    frame = min(max(frame, 0), a[i + w.FRAMES] - 1)
    for k in range(count):
        c = 3 * soles[k]
        sliding[c + 1] *= rows[frame * count + k] / sliding[c]  # it twists as easily as it slides
        sliding[c] = rows[frame * count + k]


@compiled
def worldspace_before(v: Any, address: int, time: float) -> None:
    """Give the board the goals of actors it drives: the clip a little ahead, to be passed at the clip's velocity."""
    t = longs(address)
    count, a, f, s = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS]), floats(t[w.T_SCRATCH])
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] != w.BOARD:
            continue
        frame = (time + f[n + w.AHEAD] - f[n + w.START]) * f[n + w.FPS]
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            v.goal_time[j], v.start_time[j] = time + f[n + w.AHEAD], time
            aim_joint(v, a, i, j, frame, s)


@compiled
def aim_joint(v: Any, a: Any, i: int, j: int, frame: float, s: Any) -> None:
    """Write one joint's goal and the velocity to pass it with."""
    frames, q0, q1, d0, d1 = a[i + w.FRAMES], a[i + w.QPOS0], a[i + w.QPOS1], a[i + w.DOF0], a[i + w.DOF1]
    places, speeds = floats(a[i + w.ROW_QPOS]), floats(a[i + w.ROW_QVEL])
    q, d = v.jnt_qposadr[j], v.jnt_dofadr[j]
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    high, share = min(low + 1, frames - 1), x - low
    ball = v.jnt_type[j] == _BALL
    first, second = low * (q1 - q0) + q - q0, high * (q1 - q0) + q - q0
    sign, norm = 1.0, 0.0
    if ball:
        dot = 0.0
        for k in range(4):
            dot += places[first + k] * places[second + k]
        sign = 1.0 if dot >= 0.0 else -1.0
    for k in range(4 if ball else 1):
        s[k] = (1.0 - share) * places[first + k] + share * sign * places[second + k]
        norm += s[k] * s[k]
    for k in range(4 if ball else 1):
        v.goal[q + k] = s[k] / math.sqrt(norm) if ball else s[k]
    for k in range(3 if ball else 1):
        one, two = speeds[low * (d1 - d0) + d - d0 + k], speeds[high * (d1 - d0) + d - d0 + k]
        v.goal_velocity[d + k] = one + share * (two - one) if frame < frames - 1.0 else 0.0


@compiled
def worldspace_between(v: Any, address: int, time: float, model: int, data: int) -> None:
    """Drive all actors, once the engine knows inertia and contacts of the present state."""
    t = longs(address)
    mj_getState(model, data, t[w.T_STATE], _STATE)
    servo_step(v, t, time, model, data, False)


@compiled
def finish(v: Any, t: Any) -> float:
    """Note what the joints produced; return the largest share of a strength."""
    count, a = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS])
    torque, acceleration, loads = floats(t[w.T_TORQUE]), floats(t[w.T_QACC]), floats(t[w.T_LOAD])
    worst = 0.0
    for actor in range(count):
        i = actor * w.INTS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] >= w.BOARD:
            continue
        end_torques(v, t, a, i, acceleration)
        if a[i + w.LIMITED] == 0:
            continue
        for b in range(a[i + w.ROOT_BODY], a[i + w.END_BODY]):
            loads[b] = 0.0
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            b, load = v.dof_bodyid[v.jnt_dofadr[j]], load_of(v, torque, j)
            loads[b] = max(loads[b], load)
            worst = max(worst, load)
    return worst


@compiled
def worldspace_stepped(v: Any, address: int, time: float, model: int, data: int) -> None:
    """Repeat a step that went over a strength, then write down what was done."""
    t = longs(address)
    constraint = floats(t[w.T_CONSTRAINT])
    worst = finish(v, t)
    for _ in range(_REPEATS):
        if worst <= 1.0:
            break
        floats(t[w.T_NUMBERS])[w.REPEATS] += 1.0
        kept = floats(t[w.T_KEPT])
        for d in range(v.sizes[1]):
            kept[d] = constraint[d]
        mj_setState(model, data, t[w.T_STATE], _STATE)
        mj_step1(model, data)
        for d in range(v.sizes[1]):
            constraint[d] = kept[d]
        servo_step(v, t, time, model, data, True)
        mj_step2(model, data)
        worst = finish(v, t)
    write_down(v, t, worst)
    put_all(v, t, time)


@compiled
def write_down(v: Any, t: Any, worst: float) -> None:
    """Put torques and saturation on the board and add to the meters."""
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    torque, weight = floats(t[w.T_TORQUE]), floats(t[w.T_WEIGHT])
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] == w.KINEMATIC:
            continue
        meter_root(f, n, v.times[0])
        if a[i + w.MODE] == w.BOARD:
            continue
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            load = load_of(v, torque, j)
            f[n + w.JOINT_STEPS] += 1.0
            f[n + w.OVER] += 1.0 if load > 1.0 + 1e-6 else 0.0
            f[n + w.WORST] = max(f[n + w.WORST], load)
        for d in range(a[i + w.DOF0], a[i + w.DOF1]):
            v.torque[d] = torque[d]
            v.saturated[d] = 1 if weight[v.dof_bodyid[d]] < 1.0 else 0
            v.saturated_steps[d] += v.saturated[d]
