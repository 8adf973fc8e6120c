"""What a body on its own feet knows in a tick: its own state, what the clip asks for, and which points carry.

Points of a sole carry where the clip plans it, they are near the ground, and the foot is felt to touch it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.core.engine import contact_at
from stunt.control.own import layout as w
from stunt.maths.compiled import compiled
from stunt.maths.flat import multiply_quaternions, world_difference
from stunt.maths.pointers import floats, longs

GRAVITY: Final = w.GRAVITY
_LOWEST = 0.3  # a centre of mass is taken to be at least so high [m]
_LATE = 0.12  # the clip lets points of a sole go this long after it came down [s]
_EARLIEST = 0.1  # nobody lands sooner after lifting a foot [s]
_STEP_EARLY = 0.12  # a recovery step may land so much too early [s]
_LIFTED = 2.0  # a point that is so many times higher than near the ground has left it
_SETTLES = 0.6  # seconds in which weight goes back between feet that were closed
_AGAIN = 0.03  # seconds between two recovery steps


@compiled
def sample(rows: Any, width: int, frames: int, frame: float, first: int, count: int, out: Any, o: int) -> None:
    """Write some columns of rows at a fractional frame: on the line between two, held outside."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    share = x - low
    a, b = low * width + first, min(low + 1, frames - 1) * width + first
    for k in range(count):
        out[o + k] = (1.0 - share) * rows[a + k] + share * rows[b + k]


@compiled
def unit(values: Any, o: int) -> None:
    """Make the quaternion at values[o:o+4] one of unit length."""
    size = math.sqrt(values[o] ** 2 + values[o + 1] ** 2 + values[o + 2] ** 2 + values[o + 3] ** 2)
    for k in range(4):
        values[o + k] /= size


@compiled
def ask_clip(t: Any, who: Any) -> bool:
    """Write what the clip asks for now: pose, velocities, whole body, feet; return whether it is still going on."""
    frame, frames = who.clip_time * who.fps, who.frames
    live = who.clip_time < (frames - 1.0) / who.fps
    rate = who.rate if live else 0.0
    sample(floats(who.poses), who.nq, frames, frame, 0, who.nq, t.goal, 0)
    unit(t.goal, 3)
    joints = longs(who.joints)
    for j in range(who.joint_count):
        if joints[3 * j] == 3:
            unit(t.goal, joints[3 * j + 1])
    sample(floats(who.velocities), who.nv, frames, frame, 0, who.nv, t.pace, 0)
    sample(floats(who.accelerations), who.nv, frames, frame, 0, who.nv, t.urge, 0)
    for d in range(who.nv):  # a slower clock asks for slower joints
        t.pace[d] *= rate
        t.urge[d] *= rate * rate
    sample(floats(who.centre), w.CENTRE, frames, frame, 0, w.CENTRE, t.middle, 0)
    sample(floats(who.feet), 2 * w.POSE, frames, frame, 0, 2 * w.POSE, t.foot, 0)
    for i in range(w.FEET):
        if who.halted != 0:
            flat_turn(t, who, i, t.foot, w.POSE * i + 3)
        unit(t.foot, w.POSE * i + 3)
        for k in range(7, 16):
            t.foot[w.POSE * i + k] *= rate * rate if 10 <= k < 13 else rate
    if who.halted == 2:  # it is to come to rest where the clip goes on from
        for k in range(2):
            t.middle[k] += t.middle[3 + k] / pendulum_rate(t, who)
    for k in range(3, 15):
        if not live or who.paused != 0:
            t.middle[k] = 0.0
    if not live or who.paused != 0:
        t.middle[19], t.middle[20] = t.middle[17], t.middle[18]
    return live


@compiled
def flat_turn(t: Any, who: Any, i: int, out: Any, o: int) -> None:
    """Write how a foot is turned in the middle of the stance it is in, or swings to: there its sole is flat."""
    phases, frame = floats(who.phases), min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    at = 3 * (w.FEET * frame + i)
    if phases[at] < 0.5:
        frame = min(int(phases[at + 2] * who.fps + 1.5), who.frames - 1)
        at = 3 * (w.FEET * frame + i)
    end = min(phases[at + 2], (who.frames - 1.0) / who.fps)
    sample(floats(who.feet), 2 * w.POSE, who.frames, 0.5 * (phases[at + 1] + end) * who.fps, w.POSE * i + 3, 4, out, o)


@compiled
def pose_error(v: Any, t: Any, who: Any) -> None:
    """Write how far the body is from the pose, in the body's tangent space."""
    q0, error, scratch = who.root_qpos, t.error, t.scratch
    for k in range(3):
        error[k] = t.goal[k] - v.qpos[q0 + k]
    _turn_error(v, t.goal, 3, q0 + 3, error, 3, scratch)
    joints = longs(who.joints)
    for j in range(who.joint_count):
        q, d = joints[3 * j + 1], joints[3 * j + 2]
        if joints[3 * j] == 3:
            _turn_error(v, t.goal, q, q0 + q, error, d, scratch)
        else:
            error[d] = t.goal[q] - v.qpos[q0 + q]


@compiled
def _turn_error(v: Any, goal: Any, g: int, q: int, out: Any, o: int, scratch: Any) -> None:
    """Write the rotation vector, in the frame of the orientation that is, that turns it into the goal."""
    for k in range(4):
        scratch[k] = v.qpos[q + k] if k == 0 else -v.qpos[q + k]
    multiply_quaternions(scratch, 0, goal, g, scratch, 4)
    scratch[8], scratch[9], scratch[10], scratch[11] = 1.0, 0.0, 0.0, 0.0
    world_difference(scratch, 4, scratch, 8, out, o)


@compiled
def weigh(v: Any, t: Any, who: Any) -> None:
    """Write the body's own inertia matrix, dense, and the forces that are there without control."""
    first, n, inertia = who.root_dof, who.nv, t.inertia
    for k in range(n * n):
        inertia[k] = 0.0
    for i in range(n):
        start = v.rowadr[first + i]
        for k in range(start, start + v.rownnz[first + i]):
            j = v.colind[k] - first
            inertia[i * n + j] = v.felt_inertia[k]
            inertia[j * n + i] = v.felt_inertia[k]
        t.bias[i] = v.felt_bias[first + i] - v.passive[first + i]


@compiled
def pendulum_rate(t: Any, who: Any) -> float:
    """Return the rate at which a body as high as this one falls over [1/s]."""
    return math.sqrt(GRAVITY / max(t.com[3 * who.root_body + 2] - who.floor, _LOWEST * who.scale))


# ---- contacts


@compiled
def feel_ground(t: Any, who: Any, number: int) -> None:
    """Note which feet really touch something that is not the body itself, and joints between parts of it that touch."""
    who.touch[0] = who.touch[1] = 0
    for d in range(who.root_dof, who.root_dof + who.nv):
        t.between[d] = 0
    for c in range(t.ncon[0]):
        contact = contact_at(t.contacts[0], c)
        one, other = contact.geom[0], contact.geom[1]
        mine, theirs = t.geom_actor[one] == number + 1, t.geom_actor[other] == number + 1
        if mine and theirs:  # joints below both are passed twice
            join(t, who, t.geom_body[one])
            join(t, who, t.geom_body[other])
        if mine == theirs:
            continue
        body = t.geom_body[one if mine else other]
        for i in range(w.FEET):
            if body == who.foot_body[i] or t.body_parent[body] == who.foot_body[i]:
                who.touch[i] = 1


@compiled
def join(t: Any, who: Any, body: int) -> None:
    """Turn over the marks of all joints between a body and the root."""
    while body > who.root_body:
        for d in range(t.body_dof[body], t.body_dof[body] + t.body_dofs[body]):
            t.between[d] = 1 - t.between[d]
        body = t.body_parent[body]


@compiled
def place_points(t: Any, who: Any) -> None:
    """Write where all points of the soles are [m]."""
    xpos, xmat, soles = t.xpos, t.xmat, t.soles
    for i in range(w.FEET):
        for n in range(who.point_count[i]):
            p = i * w.POINTS + n
            body = who.point_owner[p]
            for k in range(3):
                row = 9 * body + 3 * k
                soles[3 * p + k] = (
                    xpos[3 * body + k]
                    + xmat[row] * who.point_at[3 * p]
                    + xmat[row + 1] * who.point_at[3 * p + 1]
                    + xmat[row + 2] * who.point_at[3 * p + 2]
                )


@compiled
def read_phase(who: Any, i: int, live: bool) -> None:
    """Note whether the clip has a foot stand, for how long still, and since when."""
    frame = min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    phases, at = floats(who.phases), 3 * (w.FEET * frame + i)
    who.planned[i] = 1 if phases[at] > 0.5 or not live else 0
    who.left[i], who.since[i] = phases[at + 2] - who.clip_time, who.clip_time - phases[at + 1]
    who.length[i] = phases[at + 2] - phases[at + 1]


@compiled
def find_stance(t: Any, who: Any, gains: Any, live: bool, air: bool) -> None:
    """Decide which feet stand: as planned, early on a real contact, or where a recovery step has come down."""
    frame = min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    for i in range(w.FEET):
        read_phase(who, i, live)
        stepping = who.step_on[i] != 0
        if stepping:
            who.planned[i] = 0
            who.left[i], who.length[i] = who.step_length[i] - who.step_time[i], who.step_length[i]
            who.since[i] = who.step_time[i]
        down = False
        for n in range(who.point_count[i]):
            if t.soles[3 * (i * w.POINTS + n) + 2] - who.floor < gains.near:
                down = True
        if who.planned[i] != 0:
            who.locked[i] = 0
        elif who.locked[i] != 0 and not stepping:
            who.planned[i] = 1  # put down against the clip: it stands until the clip stands
        early = _STEP_EARLY * who.tempo if stepping else (gains.early_air if air else gains.early)
        if who.planned[i] == 0 and who.touch[i] != 0 and who.left[i] < early and who.since[i] > _EARLIEST * who.tempo:
            who.planned[i] = 1
        if stepping and (who.planned[i] != 0 or who.left[i] <= 0.0):
            who.step_on[i], who.planned[i], who.was[i], who.cool = 0, 1, 1, _AGAIN * who.tempo
            if who.closing != 0:
                who.closing, who.settle = 0, _SETTLES * who.tempo
            for k in range(2):
                here = t.xpos[3 * who.foot_body[i] + k] - t.foot[w.POSE * i + k]
                who.off[2 * i + k] = who.sole_off[2 * i + k] = here
                who.off_from[2 * i + k] = who.off_to[2 * i + k] = here
                who.off_last[2 * i + k] = here  # it did not get there in a tick
            at = 3 * (w.FEET * frame + i)
            who.locked[i] = 1 if floats(who.phases)[at] < 0.5 and live else 0
        # What hovers gives no force, however near it is: the programme would count on it and sink.
        who.stance[i] = 1 if who.planned[i] != 0 and down and who.touch[i] != 0 else 0


@compiled
def choose_points(t: Any, who: Any, gains: Any, live: bool) -> None:
    """List the points that carry, at most four of a foot, and hold them where they came down."""
    frame = min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    carries, count, hovers = floats(who.carries), 0, 0
    for i in range(w.FEET):
        base = i * w.POINTS
        if who.stance[i] == 0:
            for n in range(w.POINTS):
                who.anchored[base + n] = 0
            who.held[i] = 0
            continue
        stands = floats(who.phases)[3 * (w.FEET * frame + i)] > 0.5
        planned = (
            live
            and stands
            and who.step_on[i] == 0
            and (who.since[i] > _LATE * who.tempo or who.clip_time < 0.2 * who.tempo)
        )
        some = False
        for n in range(who.point_count[i]):
            if near_ground(t, who, gains, base + n) and carries[(w.FEET * frame + i) * w.POINTS + n] > 0.5:
                some = True
        who.held[i] = 0
        if who.halted != 0:  # whoever was stopped on their way stands on whole soles
            who.held[i] = 1
        elif planned and some and who.stance[1 - i] == 0:
            who.held[i] = 1 if short_of_toes(t, who, gains, i, carries, (w.FEET * frame + i) * w.POINTS) else 0
        planned = planned and who.held[i] == 0
        chosen = 0  # a bit for each point
        for way in range(4):
            chosen |= outermost(t, who, gains, i, way, planned and some, carries, (w.FEET * frame + i) * w.POINTS)
        for n in range(who.point_count[i]):
            p = base + n
            if near_ground(t, who, gains, p):
                anchor_point(t, who, gains, p)
            elif t.soles[3 * p + 2] - who.floor > _LIFTED * gains.near:
                who.anchored[p] = 0
            if (chosen >> n) & 1 == 0:
                wanted = planned and some and carries[(w.FEET * frame + i) * w.POINTS + n] > 0.5
                if wanted or (who.held[i] != 0 and not near_ground(t, who, gains, p)):
                    t.hover[hovers] = p
                    hovers += 1
                continue
            for k in range(3):
                t.where[3 * count + k] = t.soles[3 * p + k]
            t.owner[count] = p
            count += 1
    who.points, who.hovers = count, hovers


@compiled
def short_of_toes(t: Any, who: Any, gains: Any, i: int, carries: Any, flags: int) -> bool:
    """Whether the clip has a foot stand on its front alone, and the body has not come so far."""
    hx, hy = heading_of_foot(t, who, i)
    front, back, fronts, backs = 0.0, 0.0, 0, 0
    for n in range(who.point_count[i]):
        p = i * w.POINTS + n
        along = (who.capture[0] - t.soles[3 * p]) * hx + (who.capture[1] - t.soles[3 * p + 1]) * hy
        if carries[flags + n] > 0.5:
            front, fronts = front + along, fronts + 1
        else:
            back, backs = back + along, backs + 1
    if fronts == 0 or backs == 0:
        return False
    return bool(front / fronts < back / backs and front / fronts < gains.over_toes)


@compiled
def near_ground(t: Any, who: Any, gains: Any, p: int) -> bool:
    """Whether a point is near enough to the ground to carry."""
    return bool(t.soles[3 * p + 2] - who.floor < gains.near)


@compiled
def outermost(
    t: Any, who: Any, gains: Any, i: int, way: int, planned: bool, carries: Any, flags: int
) -> int:  # fmt: skip
    """Return a bit for the carrying point of a foot farthest out in one of four ways across its sole."""
    base, body = i * w.POINTS, who.foot_body[i]
    along = 1.0 if way < 2 else -1.0
    across = 1.0 if way % 2 == 0 else -1.0
    hx, hy = heading_of_foot(t, who, i)
    best, found = -1e9, 0
    for n in range(who.point_count[i]):
        if not near_ground(t, who, gains, base + n) or (planned and carries[flags + n] < 0.5):
            continue
        dx = t.soles[3 * (base + n)] - t.xpos[3 * body]
        dy = t.soles[3 * (base + n) + 1] - t.xpos[3 * body + 1]
        # Across counts for more: a sole is some three times as long as it is wide.
        far = along * (dx * hx + dy * hy) + 3.0 * across * (dy * hx - dx * hy)
        if far > best:
            best, found = far, 1 << n
    return found


@compiled
def heading_of_foot(t: Any, who: Any, i: int) -> tuple[float, float]:
    """Return which way a foot points along the ground, by the front and the back of its sole."""
    x, y, front, back = 0.0, 0.0, 0.0, 0.0
    fx, fy, bx, by = 0.0, 0.0, 0.0, 0.0
    for n in range(who.point_count[i]):
        p = i * w.POINTS + n
        if who.point_front[p] > 0.5:
            fx, fy, front = fx + t.soles[3 * p], fy + t.soles[3 * p + 1], front + 1.0
        else:
            bx, by, back = bx + t.soles[3 * p], by + t.soles[3 * p + 1], back + 1.0
    x, y = fx / max(front, 1.0) - bx / max(back, 1.0), fy / max(front, 1.0) - by / max(back, 1.0)
    size = max((x * x + y * y) ** 0.5, 1e-9)
    return x / size, y / size


@compiled
def anchor_point(t: Any, who: Any, gains: Any, p: int) -> None:
    """Remember where a point came down; one that really slid is let go."""
    x, y = t.soles[3 * p], t.soles[3 * p + 1]
    if who.anchored[p] == 0:
        who.anchored[p] = 1
        who.anchor[2 * p], who.anchor[2 * p + 1] = x, y
    gx, gy = x - who.anchor[2 * p], y - who.anchor[2 * p + 1]
    far = (gx * gx + gy * gy) ** 0.5
    if far > gains.anchor_slip:
        who.anchor[2 * p] = x - gx * gains.anchor_slip / far
        who.anchor[2 * p + 1] = y - gy * gains.anchor_slip / far
