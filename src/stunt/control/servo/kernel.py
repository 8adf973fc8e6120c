"""The world-space servo, compiled: called between the engine's half-steps, and after them (see `worldspace`).

One step may be taken twice: where a joint turned out to be over its strength (a contact pushed harder than the step
before), the state is put back and the step repeated with the contact forces now known.
"""

from __future__ import annotations

from typing import Any

from stunt.control.core.engine import STEP_STATE, mj_factorM, mj_getState, mj_setState, mj_step2
from stunt.control.core.programs import EACH_STEP, STEPPED, WORLDSPACE, entry
from stunt.control.core.views import floats, ints, longs, views_at
from stunt.control.servo import layout as w
from stunt.control.servo.beat import set_beat_gains
from stunt.control.servo.external import couple_to_root, end_help, see_from_outside, stiffen_root
from stunt.control.servo.kinematic import push_along, put_all
from stunt.control.servo.root_spring import gain_now, help_root, meter_root
from stunt.control.servo.steering import steer_legs, steer_target
from stunt.control.servo.strength import MEASURED, foresee_strength, is_limited, load_of, recover, weaken_all
from stunt.control.servo.torques import add_inertia, add_torques, end_torques, keep_inertia, take_over_damping
from stunt.maths.compiled import inlined
from stunt.maths.flat import mix_quaternions, multiply_quaternions, world_difference

_REPEATS = 6
_STATE = STEP_STATE


@inlined
def frame_at(frames: int, frame: float) -> tuple[int, int, float]:
    """Return the rows before and after a fractional frame, and how far it is between them; held at the ends."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    return low, min(low + 1, frames - 1), x - low


@inlined
def sample_bone(rows: Any, first: int, second: int, share: float, bone: int, hang: int, s: Any, o: int) -> None:
    """Write a bone's orientation in the clip, seen from what it hangs on, to s[o:o+4]; s[28:32] is scratch.

    Rows are seen from the root, whatever the servo: so everything that changes them does so once for all servos.
    """
    mix_quaternions(rows, first + bone, rows, second + bone, share, s, o)
    if hang != 0:
        mix_quaternions(rows, first + hang, rows, second + hang, share, s, 28)
        for k in range(29, 32):
            s[k] = -s[k]
        multiply_quaternions(s, 28, s, o, s, o)


@inlined
def see_bones(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float, gain: float) -> None:
    """Write what the servo sees of every bone: error less the step's motion, and velocity error (6 per body)."""
    xquat, xmat, cvel, parent = floats(t[w.T_XQUAT]), floats(t[w.T_XMAT]), floats(t[w.T_CVEL]), ints(t[w.T_PARENT])
    x, s, rows = floats(t[w.T_SEEN]), floats(t[w.T_SCRATCH]), floats(a[i + w.ROWS])
    root, end, h, rate = a[i + w.ROOT_BODY], a[i + w.END_BODY], v.times.step, 1.0 / f[n + w.LOOK]
    frame = (time + h - f[n + w.START]) * f[n + w.FPS]
    ahead = 0.5 * f[n + w.LOOK] * f[n + w.FPS]
    low, high, share = frame_at(a[i + w.FRAMES], frame)
    low1, high1, share1 = frame_at(a[i + w.FRAMES], frame - ahead)
    low2, high2, share2 = frame_at(a[i + w.FRAMES], frame + ahead)
    own, width = a[i + w.MODE] != w.WORLD, 4 * (end - root)
    leg, steer = longs(t[w.T_LEG]), floats(t[w.T_STEER])
    for k in range(6):
        x[6 * root + k] = 0.0
    for b in range(root + 1, end):
        hang = parent[b] if own else root
        o, p = 4 * (b - root), 4 * (hang - root)
        sample_bone(rows, low * width, high * width, share, o, p, s, 0)
        sample_bone(rows, low1 * width, high1 * width, share1, o, p, s, 24)
        sample_bone(rows, low2 * width, high2 * width, share2, o, p, s, 4)
        multiply_quaternions(xquat, 4 * hang, s, 0, s, 8)
        if leg[b] != 0:
            steer_target(steer, leg, b, hang, own, s, 8, 16)
        world_difference(s, 8, xquat, 4 * b, s, 16)
        world_difference(s, 4, s, 24, s, 20)  # seen from what it hangs on; the matrix turns it into the world
        for k in range(3):
            r, relative = 9 * hang + 3 * k, cvel[6 * b + k] - cvel[6 * hang + k]
            wanted = xmat[r] * s[20] + xmat[r + 1] * s[21] + xmat[r + 2] * s[22]
            x[6 * b + k] = s[16 + k] - h * relative
            x[6 * b + 3 + k] = rate * wanted - relative


@inlined
def stiffen(v: Any, t: Any, a: Any, i: int, gain: float) -> None:
    """Write what the step's stiffness of each bone is, S = h·k₂ + h²·k₁, and of everything outboard of it."""
    parent, own = ints(t[w.T_PARENT]), a[i + w.MODE] != w.WORLD
    total, stiff, k1, k2 = floats(t[w.T_SUM]), floats(t[w.T_STIFF]), floats(t[w.T_K1]), floats(t[w.T_K2])
    root, end, h = a[i + w.ROOT_BODY], a[i + w.END_BODY], v.times.step
    for b in range(root + 1, end):
        stiff[b] = total[b] = gain * (h * k2[b] + h * h * k1[b])
    if not own:
        for b in range(end - 1, root + 1, -1):
            if parent[b] > root:
                total[parent[b]] += total[b]


@inlined
def foresee_torques(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float, gain: float) -> None:
    """Write the torques the motion itself takes, as foreseen from the clip, in the measure the servo is awake."""
    feed, first, last = floats(t[w.T_FEED]), a[i + w.DOF0], a[i + w.DOF1]
    awake = min(1.0, gain / f[n + w.GAIN])
    if a[i + w.ROW_TORQUE] == 0:
        # The beat law carries at least what hangs on a joint, as P0 does; the others leave that to their springs.
        share = awake if a[i + w.MODE] == w.BEAT else 0.0
        for d in range(first, last):
            feed[d] = share * (v.bias[d] - v.passive[d])
        return
    rows, frames, width = floats(a[i + w.ROW_TORQUE]), a[i + w.FRAMES], last - first
    low, high, share = frame_at(frames, (time + v.times.step - f[n + w.START]) * f[n + w.FPS])
    for d in range(first, last):
        one, two = rows[low * width + d - first], rows[high * width + d - first]
        feed[d] = awake * (one + share * (two - one))


@inlined
def drive(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float) -> bool:
    """Write one actor's torques and inertia; return whether one of its joints is near its strength."""
    gain = gain_now(f, n, time)
    xquat, cvel, constraint = floats(t[w.T_XQUAT]), floats(t[w.T_CVEL]), floats(t[w.T_CONSTRAINT])
    help_root(v, a, i, f, n, time, gain, xquat, cvel, constraint, floats(t[w.T_SCRATCH]))
    set_friction(t, a, i, f, n, time)
    near = recover(t, a, i)
    if a[i + w.LEG_COUNT] > 0:
        steer_legs(v, t, a, i, f, n, time, floats(t[w.T_XPOS]))
    take_over_damping(v, t, a, i)
    see_bones(v, t, a, i, f, n, time, gain)
    if a[i + w.EXTERNAL] != 0:
        see_from_outside(v, t, a, i, f, n, time)
    if a[i + w.MODE] == w.BEAT:
        set_beat_gains(v, a, i, f, n, gain)
    else:
        stiffen(v, t, a, i, gain)
    foresee_torques(v, t, a, i, f, n, time, gain)
    add_torques(v, t, a, i, gain)
    keep_inertia(v, t, a, i)
    add_inertia(v, t, a, i)
    hook_inertia(v, a, i, f, n)
    if a[i + w.EXTERNAL] != 0:
        stiffen_root(v, t, a, i, f, n, gain)
        couple_to_root(v, t, a, i, f, n)
    return near and is_limited(a, i)


@inlined
def hook_inertia(v: Any, a: Any, i: int, f: Any, n: int) -> None:
    """A meat-hook is stiff: its spring is implicit too."""
    if a[i + w.ROOT_MODE] != w.HOOK:
        return
    h, d, rate = v.times.step, a[i + w.ROOT_DOF], f[n + w.HOOK_K]
    for k in range(6):
        stiff = h * f[n + w.ROOT_K2] + h * h * f[n + w.ROOT_K1]
        if k < 3:
            stiff = f[n + w.WHOLE_MASS] * (2.0 * rate * h + (rate * h) ** 2)
        v.mass_matrix[v.rowadr[d + k] + v.rownnz[d + k] - 1] += stiff


@inlined
def set_friction(t: Any, a: Any, i: int, f: Any, n: int, time: float) -> None:
    """Let a foot that swings slide (the clip lifts it less than uneven ground would need) and one that turns turn."""
    soles, rows, sliding = longs(a[i + w.SOLES]), floats(a[i + w.FRICTION]), floats(t[w.T_SLIDING])
    count = a[i + w.SOLE_COUNT]
    frame = int((time - f[n + w.START]) * f[n + w.FPS])
    frame = min(max(frame, 0), a[i + w.FRAMES] - 1)
    for k in range(count):
        c = 3 * soles[k]
        sliding[c], sliding[c + 1] = rows[2 * frame * count + k], rows[(2 * frame + 1) * count + k]


@entry(WORLDSPACE, EACH_STEP)
def each_step(table: int, program: int, time: float, model: int, data: int) -> None:
    """Drive all actors, once the engine knows inertia and contacts of the present state."""
    v, t = views_at(table), longs(program)
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    mj_getState(model, data, t[w.T_STATE], _STATE)
    near = False
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0:
            continue
        if a[i + w.MODE] == w.KINEMATIC:
            push_along(v, t, a, i, f, n, time)
        elif drive(v, t, a, i, f, n, time):
            near = True
    mj_factorM(model, data)
    if near:
        foresee_strength(v, t, count, a, f, time, model, data)


@inlined
def finish(v: Any, t: Any) -> float:
    """Note what the joints produced; return the largest share of a strength."""
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    torque, acceleration, loads = floats(t[w.T_TORQUE]), floats(t[w.T_QACC]), floats(t[w.T_LOAD])
    worst = 0.0
    for actor in range(count):
        i = actor * w.INTS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] == w.KINEMATIC:
            continue
        end_torques(v, t, a, i, f, actor * w.NUMBERS, acceleration)
        if a[i + w.LIMITED] == 0:
            continue
        for b in range(a[i + w.ROOT_BODY], a[i + w.END_BODY]):
            loads[b] = 0.0
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            b, load = v.dof_bodyid[v.jnt_dofadr[j]], load_of(v, torque, j)
            loads[b] = max(loads[b], load)
            worst = max(worst, load)
    return worst


@entry(WORLDSPACE, STEPPED)
def stepped(table: int, program: int, time: float, model: int, data: int) -> None:
    """Repeat a step that went over a strength, then write down what was done."""
    v, t = views_at(table), longs(program)
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    worst = finish(v, t)
    for _ in range(_REPEATS):
        if worst <= 1.0:
            break
        f[w.REPEATS] += 1.0
        # Only the second half is taken back: what the first found out of the state still holds.
        mj_setState(model, data, t[w.T_STATE], _STATE)
        weaken_all(v, t, count, a, f, time, 1.0, MEASURED)
        mj_factorM(model, data)
        mj_step2(model, data)
        worst = finish(v, t)
    write_down(v, t, worst)
    put_all(v, t, time)


@inlined
def write_down(v: Any, t: Any, worst: float) -> None:
    """Put torques and saturation on the board and add to the meters."""
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    torque, weight = floats(t[w.T_TORQUE]), floats(t[w.T_WEIGHT])
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] == w.KINEMATIC:
            continue
        if a[i + w.EXTERNAL] != 0:
            end_help(v, t, a, i, f, n)
        meter_root(f, n, v.times.step)
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            load = load_of(v, torque, j)
            f[n + w.JOINT_STEPS] += 1.0
            f[n + w.OVER] += 1.0 if load > 1.0 + 1e-6 else 0.0
            f[n + w.WORST] = max(f[n + w.WORST], load)
        for d in range(a[i + w.DOF0], a[i + w.DOF1]):
            v.torque[d] = torque[d]
            v.saturated[d] = 1 if weight[v.dof_bodyid[d]] < 1.0 else 0
            v.saturated_steps[d] += v.saturated[d]
