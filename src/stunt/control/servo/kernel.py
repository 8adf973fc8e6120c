"""The world-space servo, compiled: called between the engine's half-steps, and after them (see `law`).

Where a joint turned out to be over its strength (a contact pushed harder than the step before), the servo asks for the
step to be taken again (`stunt.control.core.strength`), with the contact forces now known.
"""

from __future__ import annotations

from typing import Any

from stunt.control.core.engine import mj_factorM
from stunt.control.core.programs import AGAIN, EACH_STEP, STEPPED, TAKEN, WORLDSPACE, entry
from stunt.control.core.views import views_at
from stunt.control.servo.beat import set_beat_gains
from stunt.control.servo.external import couple_to_root, end_help, see_from_outside, stiffen_root
from stunt.control.servo.kinematic import push_along, put_all
from stunt.control.servo.memory import BEAT, HOOK, KINEMATIC, ROOT, WEAK, WORLD, actor_at, servo_at
from stunt.control.servo.root_spring import gain_now, help_root, meter_root
from stunt.control.servo.steering import steer_legs, steer_target
from stunt.control.servo.strength import MEASURED, foresee_strength, is_limited, load_of, recover, weaken_all
from stunt.control.servo.torques import add_inertia, add_torques, end_torques, keep_inertia, take_over_damping
from stunt.maths.compiled import inlined
from stunt.maths.flat import mix_quaternions, multiply_quaternions, world_difference
from stunt.maths.piecewise import frame_at
from stunt.maths.pointers import floats, longs

_REPEATS = 6


@inlined
def sample_bone(rows: Any, first: int, second: int, share: float, bone: int, hang: int, hung: Any, out: Any) -> None:
    """Write a bone's orientation in the clip, seen from what it hangs on; `hung` is scratch.

    Rows are seen from the root, whatever the servo: so everything that changes them does so once for all servos.
    """
    mix_quaternions(rows, first + bone, rows, second + bone, share, out, 0)
    if hang != 0:
        mix_quaternions(rows, first + hang, rows, second + hang, share, hung, 0)
        for k in range(1, 4):
            hung[k] = -hung[k]
        multiply_quaternions(hung, 0, out, 0, out, 0)


@inlined
def see_bones(v: Any, t: Any, who: Any, time: float, gain: float) -> None:
    """Write what the servo sees of every bone: error less the step's motion, and velocity error (6 per body)."""
    xquat, xmat, cvel, parent = t.xquat, t.xmat, t.cvel, t.parent
    x, rows, s = t.seen, floats(who.rows), t.scratch
    hung, goal, error, spin = s.hung, s.goal, s.error, s.spin
    root, end, h, rate = who.root_body, who.end_body, v.times.step, 1.0 / who.look
    frame = (time + h - who.start) * who.fps
    ahead = 0.5 * who.look * who.fps
    low, high, share = frame_at(who.frames, frame)
    low1, high1, share1 = frame_at(who.frames, frame - ahead)
    low2, high2, share2 = frame_at(who.frames, frame + ahead)
    own, width = who.mode != WORLD, 4 * (end - root)
    leg, steer = t.leg, t.steer
    for k in range(6):
        x[6 * root + k] = 0.0
    for b in range(root + 1, end):
        hang = parent[b] if own else root
        o, p = 4 * (b - root), 4 * (hang - root)
        sample_bone(rows, low * width, high * width, share, o, p, hung, s.now)
        sample_bone(rows, low1 * width, high1 * width, share1, o, p, hung, s.before)
        sample_bone(rows, low2 * width, high2 * width, share2, o, p, hung, s.after)
        multiply_quaternions(xquat, 4 * hang, s.now, 0, goal, 0)
        if leg[b] != 0:
            steer_target(steer, leg, b, hang, own, goal, s.turn)
        world_difference(goal, 0, xquat, 4 * b, error, 0)
        world_difference(
            s.after, 0, s.before, 0, spin, 0
        )  # seen from what it hangs on; the matrix turns it into the world
        for k in range(3):
            r, relative = 9 * hang + 3 * k, cvel[6 * b + k] - cvel[6 * hang + k]
            wanted = xmat[r] * spin[0] + xmat[r + 1] * spin[1] + xmat[r + 2] * spin[2]
            x[6 * b + k] = error[k] - h * relative
            x[6 * b + 3 + k] = rate * wanted - relative


@inlined
def stiffen(v: Any, t: Any, who: Any, gain: float) -> None:
    """Write what the step's stiffness of each bone is, S = h·k₂ + h²·k₁, and of everything outboard of it."""
    parent, own = t.parent, who.mode != WORLD
    total, stiff, k1, k2 = t.sum, t.stiff, t.k1, t.k2
    root, end, h = who.root_body, who.end_body, v.times.step
    for b in range(root + 1, end):
        stiff[b] = total[b] = gain * (h * k2[b] + h * h * k1[b])
    if not own:
        for b in range(end - 1, root + 1, -1):
            if parent[b] > root:
                total[parent[b]] += total[b]


@inlined
def foresee_torques(v: Any, t: Any, who: Any, time: float, gain: float) -> None:
    """Write the torques the motion itself takes, as foreseen from the clip, in the measure the servo is awake."""
    feed, first, last = t.feed, who.dof0, who.dof1
    awake = min(1.0, gain / who.gain)
    if who.row_torque == 0:
        # The beat law carries at least what hangs on a joint, as P0 does; the others leave that to their springs.
        share = awake if who.mode == BEAT else 0.0
        for d in range(first, last):
            feed[d] = share * (v.bias[d] - v.passive[d])
        return
    rows, frames, width = floats(who.row_torque), who.frames, last - first
    low, high, share = frame_at(frames, (time + v.times.step - who.start) * who.fps)
    for d in range(first, last):
        one, two = rows[low * width + d - first], rows[high * width + d - first]
        feed[d] = awake * (one + share * (two - one))


@inlined
def drive(v: Any, t: Any, who: Any, time: float) -> bool:
    """Write one actor's torques and inertia; return whether one of its joints is near its strength."""
    gain = gain_now(who, time)
    help_root(v, t, who, time, gain)
    set_friction(t, who, time)
    near = recover(t, who)
    if who.leg_count > 0:
        steer_legs(v, t, who, time)
    take_over_damping(v, t, who)
    see_bones(v, t, who, time, gain)
    if who.external != 0:
        see_from_outside(v, t, who, time)
    if who.mode == BEAT:
        set_beat_gains(v, t, who, gain)
    else:
        stiffen(v, t, who, gain)
    foresee_torques(v, t, who, time, gain)
    add_torques(v, t, who, gain)
    keep_inertia(v, t, who)
    add_inertia(v, t, who)
    hook_inertia(v, who)
    if who.external != 0:
        stiffen_root(v, t, who, gain)
        couple_to_root(v, t, who)
    return near and is_limited(who)


@inlined
def hook_inertia(v: Any, who: Any) -> None:
    """A meat-hook is stiff: its spring is implicit too; so is a weak one where joints do not stiffen what it turns."""
    weak = who.root_mode == WEAK and who.mode == ROOT
    if who.root_mode != HOOK and not weak:
        return
    h, d, rate = v.times.step, who.root_dof, who.hook_k
    for k in range(3 if weak else 0, 6):
        stiff = (h * who.root_k2 + h * h * who.root_k1) * (who.held_tilt if weak else 1.0)
        if k < 3:
            stiff = who.whole_mass * (2.0 * rate * h + (rate * h) ** 2)
        v.mass_matrix[v.rowadr[d + k] + v.rownnz[d + k] - 1] += stiff


@inlined
def set_friction(t: Any, who: Any, time: float) -> None:
    """Let a foot that swings slide (the clip lifts it less than uneven ground would need) and one that turns turn."""
    soles, rows, sliding = longs(who.soles), floats(who.friction), t.sliding
    count = who.sole_count
    frame = int((time - who.start) * who.fps)
    frame = min(max(frame, 0), who.frames - 1)
    for k in range(count):
        c = 3 * soles[k]
        sliding[c], sliding[c + 1] = rows[2 * frame * count + k], rows[(2 * frame + 1) * count + k]


@entry(WORLDSPACE, EACH_STEP)
def each_step(table: int, program: int, time: float, model: int, data: int) -> None:
    """Drive all actors, once the engine knows inertia and contacts of the present state."""
    v, t = views_at(table), servo_at(program)
    near = False
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if who.active == 0:
            continue
        if who.mode == KINEMATIC:
            push_along(v, t, who, time)
        elif who.mode == ROOT:
            help_root(v, t, who, time, gain_now(who, time))
            hook_inertia(v, who)
        elif drive(v, t, who, time):
            near = True
    mj_factorM(model, data)
    if near:
        foresee_strength(v, t, time, model, data)


@entry(WORLDSPACE, TAKEN)
def taken(table: int, program: int, time: float, model: int, data: int) -> None:
    """Note what the joints produced; ask for another step where one went over its strength."""
    v, t = views_at(table), servo_at(program)
    torque, acceleration, loads = t.torque, t.qacc, t.load
    worst = 0.0
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if who.active == 0 or who.mode >= KINEMATIC:
            continue
        end_torques(v, t, who, acceleration)
        if who.limited == 0:
            continue
        for b in range(who.root_body, who.end_body):
            loads[b] = 0.0
        for j in range(who.jnt0, who.jnt1):
            b, load = v.dof_bodyid[v.jnt_dofadr[j]], load_of(v, torque, j)
            loads[b] = max(loads[b], load)
            worst = max(worst, load)
    if worst > 1.0 and v.counts.repeats < _REPEATS:
        v.counts.again += 1


@entry(WORLDSPACE, AGAIN)
def again(table: int, program: int, time: float, model: int, data: int) -> None:
    """Weaken who was over. Only the step's second half is taken back: what the first found still holds."""
    v, t = views_at(table), servo_at(program)
    weaken_all(v, t, time, 1.0, MEASURED)


@entry(WORLDSPACE, STEPPED)
def stepped(table: int, program: int, time: float, model: int, data: int) -> None:
    """Write down what was done."""
    v, t = views_at(table), servo_at(program)
    write_down(v, t)
    put_all(v, t, time)


@inlined
def write_down(v: Any, t: Any) -> None:
    """Put torques and saturation on the board and add to the meters."""
    torque, weight = t.torque, t.weight
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if who.active == 0 or who.mode == KINEMATIC:
            continue
        if who.external != 0:
            end_help(v, t, who)
        meter_root(who, v.times.step)
        if who.mode == ROOT:
            continue
        for j in range(who.jnt0, who.jnt1):
            load = load_of(v, torque, j)
            who.joint_steps += 1.0
            who.over += 1.0 if load > 1.0 + 1e-6 else 0.0
            who.worst = max(who.worst, load)
        for d in range(who.dof0, who.dof1):
            v.torque[d] = torque[d]
            v.saturated[d] = 1 if weight[v.dof_bodyid[d]] < 1.0 else 0
            v.saturated_steps[d] += v.saturated[d]
