"""Makes a boxer's footwork: steps and turns in the guard, and dropping the guard and taking it up again.

    python tools/make_boxing_clips.py

Key-framed with the same kit as the everyday clips (`make_clips.py`). All begin and end in the guard of `guard`,
`punch`, `hook` and `kick`, so that a motion graph can go from any of them to any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from make_clips import ANKLE, BALL, NAMES, OUT, Scenario, Track, _guard, alive, column, turn
from make_stunt_clips import smooth

from stunt.maths.rotations import Floats, multiply, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

LEFT, LEFT_YAW = np.array([0.22, 0.10, ANKLE]), -12.0
RIGHT_BALL, RIGHT_YAW, HEEL_UP = np.array([-0.26, -0.13, ANKLE]) + rotate(turn(0.0, 0.0, -45.0), BALL), -45.0, 10.0
PIVOT = np.array([0.10, 0.0])  # a turn goes about a point under the front half of the stance
SECONDS = 1.0


@dataclass(frozen=True)
class Step:
    """A step in the guard.

    Attributes:
        ahead: How far [m].
        left: How far to the left [m].
        turned: By how much to the left [deg].
        first: Which foot goes first.
    """

    ahead: float
    left: float
    turned: float
    first: str


STEPS = {
    "box_forward": Step(0.27, 0.0, 0.0, "Left"),
    "box_back": Step(-0.27, 0.0, 0.0, "Right"),
    "box_left": Step(0.0, 0.25, 0.0, "Left"),
    "box_right": Step(0.0, -0.25, 0.0, "Right"),
    "box_turn_left": Step(0.0, 0.0, 35.0, "Left"),
    "box_turn_right": Step(0.0, 0.0, -35.0, "Right"),
    "box_circle_left": Step(0.06, 0.24, -24.0, "Left"),
    "box_circle_right": Step(0.06, -0.24, 24.0, "Right"),
}


def step(name: str, how: Step) -> Clip:
    """One step, both feet one after the other, hands up."""
    s = Scenario(name, SECONDS)
    t = s.t
    bounce = np.sin(2 * np.pi * t / 0.5)
    went = smooth(t, 0.20, 0.82)
    push = np.sin(np.pi * went) ** 2
    _guard(s, 0.45 + 0.04 * push * np.sign(how.ahead), 0.012 + 0.005 * bounce + 0.040 * push, 0.0 * t, 7.0 + 0.0 * t)
    _carry(s, how, went)
    early, late = (0.18, 0.46), (0.48, 0.82)
    for side in ("Left", "Right"):
        _stepping_foot(s, side, how, *(early if side == how.first else late))
    _guarding_arms(s, 3.0 * bounce)
    return s.clip()


def _carried(how: Step, share: Floats, place: Floats) -> Floats:
    """Where a place of the stance has gone after a share of a step, (F, 3)."""
    angle = np.radians(how.turned) * share
    off = place[..., :2] - PIVOT
    x = PIVOT[0] + np.cos(angle) * off[..., 0] - np.sin(angle) * off[..., 1] + how.ahead * share
    y = PIVOT[1] + np.sin(angle) * off[..., 0] + np.cos(angle) * off[..., 1] + how.left * share
    return np.stack([x, y, place[..., 2] + 0.0 * x], axis=-1)


def _carry(s: Scenario, how: Step, went: Floats) -> None:
    """Move pelvis and all above it along."""
    s.root = _carried(how, went, s.root)
    s.local[:, 0] = multiply(turn(0.0, 0.0, how.turned * went), s.local[:, 0])


def _stepping_foot(s: Scenario, side: str, how: Step, start: float, end: float) -> None:
    """Lift a foot, and put it down where the stance is going to be."""
    share = smooth(s.t, start, end)
    up = np.sin(np.pi * share) ** 2
    yaw = how.turned * share
    if side == "Left":
        ankle = LEFT + share[:, None] * (_carried(how, np.array(1.0), LEFT) - LEFT)
        ankle[:, 2] += 0.045 * up
        s.foot("Left", ankle, -6.0 * up * np.sign(how.ahead), LEFT_YAW + yaw)
        return
    ball = RIGHT_BALL + share[:, None] * (_carried(how, np.array(1.0), RIGHT_BALL) - RIGHT_BALL)
    ball[:, 2] += 0.035 * up
    heel = HEEL_UP + 14.0 * up
    s.foot("Right", ball - rotate(turn(heel, 0.0, RIGHT_YAW + yaw), BALL), heel, RIGHT_YAW + yaw, -heel)


def _guarding_arms(s: Scenario, sway: Floats) -> None:
    s.arm("Left", 44.0 + 0.5 * sway, 10.0, 28.0, 118.0 + sway)
    s.arm("Right", 32.0 - 0.5 * sway, 12.0, 30.0, 128.0 + sway)


def box_breather() -> Clip:
    """From the guard into standing at ease, and into the guard again: how a boxer gets set."""
    s = Scenario("box_breather", 2.8)
    t = s.t
    ease = smooth(t, 0.15, 1.05) - smooth(t, 1.65, 2.55)
    _guard(s, 0.45 + 0.0 * t, 0.012 + 0.0 * t, 0.0 * t, 7.0 - 7.0 * ease)
    guard, stand = s.root.copy(), np.array([0.0, 0.0, 0.906])
    pelvis = guard + ease[:, None] * (stand - guard)
    s.pelvis(pelvis, (4.0 + 2.8) * (1.0 - ease) + 2.0 * ease, 0.0 * t, -32.0 * (1.0 - ease))
    for name, rest in (("Spine", -1.0), ("Spine1", 1.0), ("Spine2", 2.0)):
        s.joint(name, (0.25 * 7.0 + 2.0) * (1.0 - ease) + rest * ease)
    s.joint("Neck", -2.8 * (1.0 - ease) + 3.0 * ease, 0.0, 16.0 * (1.0 - ease))
    s.joint("Head", -2.8 * (1.0 - ease) - 3.0 * ease, 0.0, 16.0 * (1.0 - ease))
    _gathering_foot(s, "Left", (0.15, 0.55), (2.10, 2.55))
    _gathering_foot(s, "Right", (0.55, 1.00), (1.65, 2.10))
    mix = lambda up, down: up + (down - up) * ease  # noqa: E731
    s.arm("Left", mix(44.0, 3.0), mix(10.0, 7.0), mix(28.0, 12.0), mix(118.0, 15.0))
    s.arm("Right", mix(32.0, 3.0), mix(12.0, 7.0), mix(30.0, 12.0), mix(128.0, 15.0))
    return s.clip()


def _gathering_foot(s: Scenario, side: str, there: tuple[float, float], back: tuple[float, float]) -> None:
    """Bring a foot under the body, and into the stance again."""
    go, come = smooth(s.t, *there), smooth(s.t, *back)
    share, up = go - come, np.sin(np.pi * go) ** 2 + np.sin(np.pi * come) ** 2
    sign = 1.0 if side == "Left" else -1.0
    beside = np.array([0.0, sign * 0.10, ANKLE])
    if side == "Left":
        ankle = LEFT + share[:, None] * (beside - LEFT)
        ankle[:, 2] += 0.05 * up
        s.foot("Left", ankle, 0.0 * s.t, LEFT_YAW + (8.0 - LEFT_YAW) * share)
        return
    heel, yaw = HEEL_UP * (1.0 - share) + 12.0 * up, RIGHT_YAW + (-8.0 - RIGHT_YAW) * share
    rest = beside + rotate(turn(0.0, 0.0, -8.0), BALL)
    ball = RIGHT_BALL + share[:, None] * (rest - RIGHT_BALL)
    ball[:, 2] += 0.04 * up
    s.foot("Right", ball - rotate(turn(heel, 0.0, yaw), BALL), heel, yaw, -np.minimum(heel, 30.0))


def _straight(name: str, side: str, fist: tuple[float, float, float], twist: float, shift: float, heel: float) -> Clip:
    """From a guard, one quick straight to where a head would be, and back.

    Args:
        name: What it is called.
        side: Which hand.
        fist: Where the wrist goes [m]; the arm gets as near as it can.
        twist: Of the shoulders to the left [deg].
        shift: Of the weight to the front.
        heel: By how much the rear heel rises and turns out [deg].
    """
    s = Scenario(name, 1.2)
    t = s.t
    out = column(Track({0.0: 0, 0.25: 0, 0.51: 1, 0.57: 1, 0.85: 0, 1.2: 0}), t)
    _guard(s, 0.45 + shift * out, 0.012 + 0.015 * out, twist * out, 7.0 + 2.0 * out)
    s.foot("Left", np.tile(LEFT, (len(t), 1)), 0.0 * t, LEFT_YAW + 0.0 * t)
    raised, yaw = HEEL_UP + heel * out, RIGHT_YAW + heel * out
    s.foot("Right", RIGHT_BALL - rotate(turn(raised, 0.0, yaw), BALL), raised, yaw, -raised)
    s.joint(f"{side}Shoulder", 0.0, 0.0, (-12.0 if side == "Left" else 12.0) * out)
    _guarding_arms(s, 0.0 * t)
    wrist = s.clip().world_at(t).positions[:, NAMES.index(f"{side}Hand")]
    path = wrist + out[:, None] * (np.array(fist) - wrist)
    sign = 1.0 if side == "Left" else -1.0
    s.hand(side, path, np.array([-0.1, 0.55 * sign, -1.0]))
    return s.clip()


def jab() -> Clip:
    """A left straight."""
    return _straight("jab", "Left", (0.80, -0.02, 1.42), -10.0, 0.30, 8.0)


def cross() -> Clip:
    """A right straight, the hips behind it."""
    return _straight("cross", "Right", (0.86, 0.02, 1.38), 58.0, 0.5, 30.0)


def make(out: Path = OUT) -> list[Path]:
    """Write all clips."""
    out.mkdir(parents=True, exist_ok=True)
    clips = [*(step(name, how) for name, how in STEPS.items()), box_breather(), jab(), cross()]
    return [write_bvh(alive(clip), out / f"{clip.name}.bvh") for clip in clips]


if __name__ == "__main__":
    make()
