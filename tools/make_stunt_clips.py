"""Makes the athletic clips that come with Stunt: guard, hook, jump, hop, crossover, getting up from the front.

    python tools/make_stunt_clips.py

Key-framed with the same kit as the everyday clips (`make_clips.py`). In the air the hips follow the parabola of a free
fall; a planted foot or hand stays where it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make_clips import ANKLE, BALL, FPS, OUT, Scenario, Track, _guard, _guard_feet, alive, column, turn
from scipy.ndimage import gaussian_filter1d

from stunt.maths.rotations import Floats, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

GRAVITY = 9.81
STAND = 0.905  # height of the hips, standing [m]


def smooth(t: Floats, start: float, end: float) -> Floats:
    """0 before a time, 1 after another, eased between them."""
    x = np.clip((t - start) / (end - start), 0.0, 1.0)
    return np.asarray(x * x * x * (10.0 - 15.0 * x + 6.0 * x * x))


def eased(flags: Floats) -> Floats:
    """1 where something holds, 0 where not, with soft edges, (F,)."""
    return np.asarray(gaussian_filter1d(flags.astype(float), 0.035 * FPS, mode="nearest"))


def guard() -> Clip:
    """A boxer in his guard, light on his feet. Repeats."""
    s = Scenario("guard", 1.6)
    t = s.t
    bounce, slow = np.sin(2 * np.pi * t / 0.8), np.sin(2 * np.pi * t / 1.6)
    _guard(s, 0.45 + 0.04 * slow, 0.012 + 0.008 * bounce, 3.0 * slow, 7.0 + 1.0 * bounce)
    _guard_feet(s, 10.0 + 1.5 * slow, 0.0 * t)
    s.arm("Left", 44.0 + 3 * slow, 10.0 + 2 * bounce, 28.0, 118.0 + 3 * bounce)
    s.arm("Right", 32.0 - 2 * slow, 12.0 + bounce, 30.0, 128.0 + 2 * bounce)
    return s.clip()


def hook() -> Clip:
    """From a guard, a left hook and a right uppercut, and back into the guard."""
    s = Scenario("hook", 2.4)
    t = s.t
    hooked = column(Track({0.0: 0, 0.35: 0, 0.55: -0.35, 0.80: 1, 0.88: 1, 1.15: 0, 2.4: 0}), t)
    upper = column(Track({0.0: 0, 1.05: 0, 1.22: -0.4, 1.50: 1, 1.58: 1, 1.90: 0, 2.4: 0}), t)
    bounce = np.sin(2 * np.pi * t / 0.8)
    turned = -40.0 * hooked + 46.0 * upper
    low = 0.012 - 0.05 * np.minimum(upper, 0) + 0.006 * bounce
    _guard(s, 0.45 + 0.2 * hooked + 0.25 * upper, low, turned, 7.0 + 0 * t)
    rise = np.clip(upper, 0, 1)
    _guard_feet(s, 10.0 + 24.0 * rise, 30.0 * rise)
    out, low = np.clip(hooked, 0, 1), np.clip(-upper, 0, 1)
    s.arm("Left", 44.0 + 40.0 * out, 10.0 + 48.0 * out + 2 * bounce, 28.0 + 40.0 * out, 118.0 - 32.0 * out)
    s.arm("Right", 32.0 - 30.0 * low + 62.0 * rise, 12.0, 30.0, 128.0 - 20.0 * low - 40.0 * rise)
    return s.clip()


def behind_back() -> Clip:
    """A boxer's stance with both arms behind the back. Repeats."""
    s = Scenario("behind_back", 0.8)
    t = s.t
    _guard(s, 0.45 + 0.0 * t, 0.012 + 0.0 * t, 0.0 * t, 4.0 + 0.0 * t)
    _guard_feet(s, 10.0 + 0.0 * t, 0.0 * t)
    for side in ("Left", "Right"):
        s.arm(side, -34.0, 12.0, 78.0, 92.0)
    return s.clip()


def _flight(t: Floats, start: float, end: float, low: float) -> Floats:
    """Height of the hips in a flight between two times, above the height it starts and ends with [m]."""
    return low + 0.5 * GRAVITY * (t - start) * (end - t)


def _over_toes(ball: Floats, heel: Floats, yaw: float) -> Floats:
    """Ankle over a planted ball of the foot, the heel raised by degrees, (F, 3)."""
    return np.asarray(ball - rotate(turn(heel, 0.0 * heel, 0.0 * heel + yaw), BALL))


def jump() -> Clip:
    """A jump straight up, arms swinging along, and a soft landing."""
    s = Scenario("jump", 2.5)
    t = s.t
    off, on, low = 0.92, 1.36, 0.935
    ground = Track({
        0.0: STAND, 0.20: STAND, 0.60: 0.66, 0.66: 0.655, off: low, on: low, 1.62: 0.70, 1.70: 0.69, 2.25: STAND,
        2.5: STAND,
    })  # fmt: skip
    speed = 0.5 * GRAVITY * (on - off)
    # Push-off and landing meet the flight at its speed: cubic from the crouch, and into the next one.
    rise = _hermite(t, 0.66, off, 0.655, low, 0.0, speed)
    sink = _hermite(t, on, 1.66, low, 0.69, -speed, 0.0)
    z = np.where(t < 0.66, column(ground, t), np.where(t < off, rise, np.where(t < on, _flight(t, off, on, low),
                 np.where(t < 1.66, sink, column(ground, np.maximum(t, 1.70))))))  # fmt: skip
    crouch = (STAND - np.minimum(z, STAND)) / 0.25
    place = np.stack([0.02 - 0.03 * crouch, 0.0 * t, z], axis=-1)
    s.pelvis(place, 2.0 + 26.0 * crouch, 0.0 * t, 0.0 * t)
    for name, share in (("Spine", 4.0), ("Spine1", 4.0), ("Spine2", 4.0)):
        s.joint(name, share * crouch)
    s.joint("Neck", 3.0 - 8.0 * crouch)
    s.joint("Head", -3.0 - 8.0 * crouch)
    heel = column(Track({0.0: 0, 0.70: 0, off: 48, 1.10: 38, on: 30, 1.46: 0, 2.5: 0}), t)
    swing = Track({0.0: 3, 0.15: 3, 0.52: -32, 0.58: -32, 1.08: 76, 1.22: 74, 1.75: 30, 2.3: 5, 2.5: 3})
    air = np.clip(np.where((t > off) & (t < on), z - low, 0.0), 0, None)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        # Nobody jumps like a mirror: the left foot stands a little ahead, the right arm comes late and more bent.
        ball = np.tile([BALL[0] + 0.025 * sign, sign * 0.10, ANKLE + BALL[2]], (len(t), 1))
        ankle = _over_toes(ball, heel, sign * 6.0)
        ankle[:, 2] += air
        s.foot(side, ankle, heel, 0.0 * t + sign * 6.0, -heel * eased(air < 0.01))
        late, bent, share = (0.0, 17.0, 1.0) if side == "Left" else (0.035, 27.0, 0.93)
        arm = share * column(swing, t - late)
        s.arm(side, arm, 8.0 + 6.0 * np.abs(np.sin(np.radians(arm))), 8.0, bent + 14.0 * crouch)
    return s.clip()


def _hermite(t: Floats, start: float, end: float, a: float, b: float, va: float, vb: float) -> Floats:
    """Cubic from one value and speed to another, (F,)."""
    h = end - start
    x = np.clip((t - start) / h, 0.0, 1.0)
    places = (2 * x**3 - 3 * x**2 + 1) * a + (3 * x**2 - 2 * x**3) * b
    return np.asarray(places + (x**3 - 2 * x**2 + x) * h * va + (x**3 - x**2) * h * vb)


def _quintic(t: Floats, start: float, end: float, a: Floats, b: Floats) -> Floats:
    """Quintic from one height, speed and acceleration, (3,), to another, (F,).

    A push-off that ends in free fall lets go of the ground before leaving it, as legs do; one that is strongest at its
    end is lost by whoever is a little late.
    """
    h = end - start
    powers = np.array([[h**3, h**4, h**5], [3 * h**2, 4 * h**3, 5 * h**4], [6 * h, 12 * h**2, 20 * h**3]])
    rest = b - np.array([a[0] + a[1] * h + 0.5 * a[2] * h * h, a[1] + a[2] * h, a[2]])
    c = np.linalg.solve(powers, rest)
    x = np.clip(t - start, 0.0, h)
    return np.asarray(a[0] + a[1] * x + 0.5 * a[2] * x**2 + c[0] * x**3 + c[1] * x**4 + c[2] * x**5)


def hop() -> Clip:
    """Three hops on the left leg, forward, the right one drawn up."""
    s = Scenario("hop", 4.0)
    t = s.t
    starts, flight, low, way, push, land = (1.10, 1.80, 2.50), 0.28, 0.90, 0.24, 0.24, 0.18
    crouched, bottom = 0.80, np.array([0.80, 0.0, 0.0])
    speed = 0.5 * GRAVITY * flight
    up = smooth(t, 0.15, 0.70) - smooth(t, 3.30, 3.85)
    z, x = STAND - 0.035 * up, np.zeros_like(t)
    for start in starts:
        end = start + flight
        up_there, down = np.array([low, speed, -GRAVITY]), np.array([low, -speed, -GRAVITY])
        z = np.where((t >= start - push) & (t < start), _quintic(t, start - push, start, bottom, up_there), z)
        z = np.where((t >= start) & (t < end), _flight(t, start, end, low), z)
        z = np.where((t >= end) & (t < end + land), _quintic(t, end, end + land, down, bottom), z)
        x += way * np.clip((t - start) / flight, 0.0, 1.0)
    first = (t > 0.60) & (t < starts[0] - push)
    z = np.where(first, _hermite(t, 0.60, starts[0] - push, STAND - 0.035, crouched, 0.0, 0.0), z)
    last = starts[-1] + flight + land
    z = np.where((t >= last) & (t < 3.40), _hermite(t, last, 3.40, crouched, STAND - 0.035, 0.0, 0.0), z)
    z = np.where(t >= 3.40, STAND - 0.035 * up, z)
    gap_between = [(start + flight + land, nxt - push) for start, nxt in zip(starts, starts[1:], strict=False)]
    for a, b in gap_between:
        z = np.where((t >= a) & (t < b), crouched, z)
    sway = 0.085 * up
    # The hips go on evenly while the foot waits behind and leaps ahead of them: nobody gains speed in the air.
    glide = gaussian_filter1d(x, 0.18 * FPS, mode="nearest")
    place = np.stack([glide + 0.015 * up, sway, z], axis=-1)
    s.pelvis(place, 3.0 + 5.0 * up, -5.0 * up, 0.0 * t)
    s.joint("Spine", 1.0 + 2.0 * up, 4.0 * up)
    s.joint("Spine1", 2.0, 2.0 * up)
    s.joint("Spine2", 2.0, 1.0 * up)
    s.joint("Neck", 2.0)
    s.joint("Head", -4.0 - 3.0 * up)
    air = np.zeros_like(t)
    heel = np.zeros_like(t)
    for start in starts:
        inside = (t >= start) & (t < start + flight)
        air = np.where(inside, 0.5 * GRAVITY * (t - start) * (start + flight - t), air)
        ends = start + flight
        raised = {0.0: 0, start - 0.05: 0, start: 24, start + 0.13: 8, ends: 4, ends + 0.09: 0, 4.0: 0}
        heel += column(Track(raised), t)
    ball = np.stack([BALL[0] + x, 0.10 + 0.0 * t, ANKLE + BALL[2] + 0.0 * t], axis=-1)
    ankle = _over_toes(ball, heel, 5.0)
    ankle[:, 2] += air
    s.foot("Left", ankle, heel, 0.0 * t + 5.0, -heel * eased(air < 0.005))
    drawn = np.stack([glide - 0.20 * up, -0.10 + 0.03 * up, ANKLE + 0.38 * up + 0.5 * air], axis=-1)
    drawn[:, 0] = np.where(t > 3.0, glide - 0.20 * up, drawn[:, 0])
    s.foot("Right", drawn, 34.0 * up, -5.0 + 0.0 * t)
    swings = {time: way for start in starts for time, way in ((start - 0.16, -1.0), (start + 0.05, 1.0))}
    bob = column(Track({0.0: 0, **swings, 3.2: 0, 4.0: 0}), t)
    for side in ("Left", "Right"):
        s.arm(side, 4.0 + 14.0 * up + 22.0 * bob, 7.0 + 26.0 * up, 10.0, 16.0 + 30.0 * up)
    return s.clip()


def crossover() -> Clip:
    """Steps to the left, the right leg crossing in front of the left, then behind it."""
    s = Scenario("crossover", 4.4)
    t = s.t
    # Each step: foot, from when, until when, to where (x, y); the right foot crosses in front, then behind.
    steps = [
        ("Right", 0.3, 0.85, (0.25, 0.30)), ("Left", 0.95, 1.45, (0.0, 0.56)),
        ("Right", 1.55, 2.10, (-0.26, 0.72)), ("Left", 2.20, 2.70, (0.0, 1.00)), ("Right", 2.85, 3.40, (0.0, 0.80)),
    ]  # fmt: skip
    here = {"Left": np.array([0.0, 0.10]), "Right": np.array([0.0, -0.10])}
    tracks = {side: np.tile([*here[side], ANKLE], (len(t), 1)) for side in here}
    load = np.zeros((len(t), 2)) + 0.5 * (here["Left"] + here["Right"])
    for side, start, end, to in steps:
        share = smooth(t, start, end)[:, None]
        tracks[side][:, :2] += share * (np.array(to) - here[side])
        detour = 0.13 if to[0] > 0 else -0.23 if to[0] < 0 else (0.10 if here[side][0] > 0 else -0.10)
        inside = np.clip((t - start) / (end - start), 0, 1)
        if side == "Left":  # past the heel of the one in front, or the toes of the one behind
            detour = -0.6 * here["Right"][0]
        tracks[side][:, 0] += detour * np.sin(np.pi * inside) ** 2
        tracks[side][:, 2] += 0.07 * np.sin(np.pi * inside) ** 2
        here[side] = np.array(to)
        other = "Left" if side == "Right" else "Right"
        lean = smooth(t, start - 0.22, start + 0.05)[:, None]
        load = load + lean * (0.86 * here[other] + 0.14 * np.array(to) - load)
        both = smooth(t, end - 0.1, end + 0.2)[:, None]
        load = load + both * (0.5 * (here[other] + np.array(to)) - load)
    load = gaussian_filter1d(load, 0.06 * FPS, axis=0, mode="nearest")
    place = np.concatenate([load, np.full((len(t), 1), 0.838)], axis=1)
    place[:, 2] += (STAND - 0.838) * (1 - smooth(t, 0.0, 0.3) + smooth(t, 3.4, 3.9))
    lead = tracks["Right"][:, 0] - tracks["Left"][:, 0]
    yaw = 55.0 * lead
    s.pelvis(place, 3.0 + 0.0 * t, 0.0 * t, yaw)
    s.joint("Spine", 1.0, 0.0, -0.4 * yaw)
    s.joint("Spine1", 1.0, 0.0, -0.5 * yaw)
    s.joint("Spine2", 1.0, 0.0, -0.5 * yaw)
    s.joint("Neck", 2.0)
    s.joint("Head", -3.0, 0.0, 8.0 * smooth(t, 0.2, 0.6) * (1 - smooth(t, 3.2, 3.8)))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        lift = tracks[side][:, 2] - ANKLE
        s.foot(side, tracks[side], 110.0 * lift, sign * 7.0 + 0.35 * yaw)
        s.arm(side, 6.0 + 30.0 * lead * sign, 14.0, 10.0, 26.0)
    return s.clip()


MAKERS = {
    "guard": guard, "hook": hook, "behind_back": behind_back, "jump": jump, "hop": hop, "crossover": crossover,
}  # fmt: skip


def make(out: Path = OUT) -> list[Path]:
    """Write all clips."""
    out.mkdir(parents=True, exist_ok=True)
    return [write_bvh(alive(maker()), out / f"{name}.bvh") for name, maker in MAKERS.items()]


if __name__ == "__main__":
    make()
