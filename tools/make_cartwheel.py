"""Makes the cartwheel that comes with Stunt.

    python tools/make_cartwheel.py

The hips turn about the hand that is planted, the legs are spread in the plane of the wheel, and before and after it the
feet are planted. What `Wheel` holds was found by a search: a body of 1.5 times the tables' strength follows each try
on a weak spring, and what counts is how near it stays to it, and that its hands carry it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from make_clips import _TREE, ANKLE, FPS, NAMES, OUT, SHANK, THIGH, Scenario, Track, column, turn
from make_stunt_clips import STAND, smooth
from scipy.ndimage import gaussian_filter1d

from stunt.maths.rotations import Floats, multiply, rotate, slerp
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

_REACH = Track({
    0: 122, 40: 108, 75: 100, 100: 112, 130: 136, 160: 160, 180: 170, 205: 168, 260: 150, 300: 138, 360: 122,
})  # fmt: skip
"""How far the leading arm is raised sideways, over the angle of the wheel; the other one does it backwards."""


@dataclass(frozen=True)
class Wheel:
    """What a cartwheel is made of.

    Attributes:
        seconds: How long the turn takes [s].
        even: Share of it that turns evenly; the rest begins and ends gently.
        plant: Where the hips are when a quarter is done, from where they stood [m].
        catch: How far beyond its mirrored start the leading foot lands [m].
        land: How far before that line the other foot lands [m].
        bend: How far the trunk bends sideways, per bone [deg].
        spread: How far each leg is out to its side in the air [deg].
        warp: How much of the turn is done early; below 0: late.
        lunge: How far the hips go with the step before the wheel [m].
        lead: How long before the turn they go [s].
        dip: How far they are lowered at the wheel's beginning and end [m].
        swing: When the trailing leg leaves the ground, and the leading one lands: share of the turn from its end.
        push: When the leading leg leaves, and the trailing one lands.
    """

    seconds: float = 1.7536
    even: float = 0.6322
    plant: float = 0.3329
    catch: float = 0.0265
    land: float = 0.277
    bend: float = 6.5829
    spread: float = 42.4339
    warp: float = -0.3
    lunge: float = 0.1856
    lead: float = 0.0025
    dip: float = 0.0827
    swing: float = 0.0787
    push: float = 0.3367


def cartwheel(w: Wheel = Wheel()) -> Clip:  # noqa: B008  (a frozen value)
    """A cartwheel to the left over both hands, from standing to standing."""
    s = Scenario("cartwheel", 3.9)
    t = s.t
    begin, end = 0.90, 0.90 + w.seconds
    x = np.clip((t - begin) / (end - begin), 0.0, 1.0)
    x = x + w.warp * x * (1.0 - x)
    angle = 360.0 * (w.even * x + (1 - w.even) * (x * x * (3 - 2 * x)))
    angle = np.where(x <= 0, 0.0, np.where(x >= 1, 360.0, gaussian_filter1d(angle, 0.04 * FPS, mode="nearest")))
    s.local[:, 0] = turn(0.0 * t, -angle, 0.0 * t)
    up = smooth(t, 0.15, 0.60) * (1 - smooth(t, end - 0.05, end + 0.50))
    for side, about in (("Left", angle), ("Right", 360.0 - angle)):
        reach = column(_REACH, about)
        s.arm(side, 3.0 * (1 - up), 7.0 + (reach - 7.0) * up, 8.0 * (1 - up), 14.0 * (1 - up) + 2.0)
        # Hands that carry are straight, others hang a little.
        s.joint(f"{side}Hand", -9.0 * (1 - up) if side == "Left" else -6.0 * (1 - up))
        s.joint(f"{side}Shoulder", 0.0, (-1.0 if side == "Left" else 1.0) * 12.0 * up)
    bend = w.bend * np.sin(np.radians(angle))
    for name in ("Spine", "Spine1", "Spine2"):
        s.joint(name, 0.0, -bend)
    s.joint("Neck", 2.0 - 14.0 * up)
    s.joint("Head", -2.0 - 12.0 * up)
    _wheel_path(s, t, angle, w, end)
    _wheel_legs(s, t, x, w, begin, end)
    return s.clip()


def _hand(s: Scenario, side: str) -> Floats:
    """Palm of a hand seen from the hips, unturned by them, with everything else as posed, (F, 3)."""
    offsets = {name: np.array(offset) for name, _, offset in _TREE}
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(s.t), 1))
    place = np.zeros((len(s.t), 3))
    for name in ("Spine", "Spine1", "Spine2", f"{side}Shoulder", f"{side}Arm", f"{side}ForeArm", f"{side}Hand"):
        place = place + rotate(turns, offsets[name])
        turns = multiply(turns, s.local[:, NAMES.index(name)])
    return np.asarray(place + rotate(turns, np.array([0.0, 0.0, -0.15])))


def _wheel_path(s: Scenario, t: Floats, angle: Floats, w: Wheel, end: float) -> None:
    """Carry the hips over the hands: while a hand is planted they turn about it."""
    seen = {side: rotate(s.local[:, 0], _hand(s, side)) for side in ("Left", "Right")}
    quarter, middle = int(np.argmin(np.abs(angle - 90.0))), int(np.argmin(np.abs(angle - 180.0)))
    wide = abs(float(seen["Left"][middle, 1] - seen["Right"][middle, 1]))
    left = np.array([0.0, w.plant + float(seen["Left"][quarter, 1]), 0.03])
    right = left + [0.0, wide, 0.0]
    far = float(left[1] + right[1])  # where the feet stand again, mirrored about the hands
    on_left, on_right = left - seen["Left"], right - seen["Right"]
    share = smooth(angle, 170.0, 190.0)[:, None]
    hands = on_left + share * (on_right - on_left)
    out = (
        0.12 * smooth(t, 0.2, 0.55) + w.lunge * smooth(t, 0.6 - w.lead, 1.0 - w.lead) + 0.26 * smooth(angle, 0.0, 105.0)
    )
    start = np.stack([0.0 * t, out, STAND - w.dip * smooth(t, 0.45, 0.95)], axis=-1)
    home = 0.10 - w.catch + 0.26 * (1 - smooth(angle, 255.0, 360.0)) + 0.24 * (1 - smooth(t, end - 0.05, end + 0.6))
    finish = np.stack([0.0 * t, far - home, STAND - w.dip * (1 - smooth(t, end + 0.05, end + 0.65))], axis=-1)
    enter, leave = smooth(angle, 50.0, 110.0)[:, None], smooth(angle, 250.0, 310.0)[:, None]
    path = start * (1 - enter) + hands * enter
    path = path * (1 - leave) + finish * leave
    s.root = gaussian_filter1d(path, 0.03 * FPS, axis=0, mode="nearest")


def _wheel_legs(s: Scenario, t: Floats, x: Floats, w: Wheel, begin: float, end: float) -> None:
    """Feet planted before and after; in between the legs are spread in the plane of the wheel."""
    far = 2.0 * float(s.root[np.argmin(np.abs(x - 0.5)), 1])
    homes = {"Left": (0.46, far + w.catch), "Right": (-0.10, far - w.land)}
    push, swing = w.push * w.seconds, w.swing * w.seconds
    times = {"Left": (begin + push, end + 0.07 - w.swing), "Right": (begin + swing, end - push)}
    # The leg that pushes off last, and the one that lands first, take their time.
    slow = {"Left": (0.34, 0.21), "Right": (0.21, 0.34)}
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        first, last = homes[side]
        y = np.full_like(t, first)
        if side == "Left":  # a step to the side before the wheel
            y = 0.10 + (first - 0.10) * smooth(t, 0.35, 0.75)
        else:
            y = np.full_like(t, -0.10)
        lift = 0.06 * np.sin(np.pi * np.clip((t - 0.35) / 0.4, 0, 1)) ** 2 if side == "Left" else 0.0 * t
        before = np.stack([0.0 * t, y, ANKLE + lift], axis=-1)
        y = last + 0.0 * t
        if side == "Right":  # the feet come together afterwards
            y = last + (far + w.catch - 0.20 - last) * smooth(t, end + 0.35, end + 0.75)
            lift = 0.06 * np.sin(np.pi * np.clip((t - end - 0.35) / 0.4, 0, 1)) ** 2
        else:
            lift = 0.0 * t
        after = np.stack([0.0 * t, y, ANKLE + lift], axis=-1)
        planted = _planted_leg(s, side, np.where((t < 0.5 * (begin + end))[:, None], before, after), sign * 8.0)
        spread = {
            "UpLeg": turn(-6.0, sign * w.spread, 0.0), "Leg": turn(18.0), "Foot": turn(6.0), "ToeBase": turn(0.0),
        }  # fmt: skip
        off, on = times[side]
        free = (smooth(t, off, off + slow[side][0] * w.seconds) * (1 - smooth(t, on - slow[side][1] * w.seconds, on)))[
            :, None
        ]
        # In the air a leg no longer knows where its foot stood: it goes from the pose it left with to that it lands in.
        frame = np.arange(len(t))
        leave, land = round(off * FPS), round(on * FPS)
        known = np.where(frame < (leave + land) // 2, np.minimum(frame, leave), np.maximum(frame, land))
        for name, pose in spread.items():
            joint = NAMES.index(side + name)
            s.local[:, joint] = slerp(planted[name][known], np.tile(pose, (len(t), 1)), free[:, 0])


def _planted_leg(s: Scenario, side: str, ankle: Floats, yaw: float) -> dict[str, Floats]:
    """Local turns of a leg whose ankle is where it should be, as far as the leg reaches."""
    hip = s.root + rotate(s.local[:, 0], np.array(dict((n, o) for n, _, o in _TREE)[f"{side}UpLeg"]))
    way = ankle - hip
    reach = np.linalg.norm(way, axis=-1, keepdims=True)
    near = hip + way * np.minimum(1.0, 0.992 * (THIGH + SHANK) / reach)
    keep = s.local.copy()
    s.foot(side, near, np.zeros(len(s.t)), np.full(len(s.t), yaw))
    found = {name: s.local[:, NAMES.index(side + name)].copy() for name in ("UpLeg", "Leg", "Foot", "ToeBase")}
    s.local = keep
    return found


if __name__ == "__main__":
    write_bvh(cartwheel(), OUT / "cartwheel.bvh")
