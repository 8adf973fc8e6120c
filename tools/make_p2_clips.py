"""Makes the clips of the hybrid-control experiments: getting up from the front, a goalkeeper's stance, a shot at goal.

    python tools/make_p2_clips.py

Key-framed with the same kit as the everyday clips (`make_clips.py`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make_clips import ANKLE, OUT, Scenario, Track, alive, column

from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh


def get_up_front() -> Clip:
    """From lying face down: push up onto hands and knees, bring the feet under, rise."""
    s = Scenario("get_up_front", 4.0)
    t = s.t
    place = Track({
        0.0: (0.0, 0.0, 0.11), 0.3: (0.0, 0.0, 0.11), 1.0: (-0.18, 0.0, 0.42), 1.4: (-0.22, 0.0, 0.46),
        2.1: (-0.20, 0.0, 0.56), 2.6: (-0.24, 0.0, 0.52), 3.5: (-0.22, 0.0, 0.905), 4.0: (-0.22, 0.0, 0.905),
    })  # fmt: skip
    pitch = Track({0.0: 90, 0.3: 90, 1.0: 82, 1.4: 80, 2.1: 84, 2.6: 52, 3.0: 30, 3.5: 3, 4.0: 2})
    s.pelvis(place(t), column(pitch, t), 0.0 * t, 0.0 * t)
    curl = column(Track({0.0: -4, 0.5: -6, 1.0: 2, 1.6: 10, 2.2: 16, 2.8: 10, 3.5: 1, 4.0: 1}), t)
    for name in ("Spine", "Spine1", "Spine2"):
        s.joint(name, curl)
    neck = column(Track({0.0: -12, 0.6: -16, 1.6: -10, 2.4: -8, 3.5: 3, 4.0: 3}), t)
    s.joint("Neck", neck)
    s.joint("Head", neck)
    # The left foot comes under first, then the right one, behind it; the left hand stays down longest.
    for side, sign, late, near in (("Left", 1.0, -0.15, -0.20), ("Right", -1.0, 0.2, -0.31)):
        y = sign * 0.13
        ankle = Track({
            0.0: (-0.82, y, 0.09), 0.3: (-0.82, y, 0.09), 0.65: (-0.85, y, 0.10), 1.0: (-0.79, y, 0.10),
            1.4 + late: (-0.74, y, 0.12), 1.75 + late: (-0.45, y, 0.20), 2.1 + late: (near, y, ANKLE + 0.03),
            2.5 + late: (near, y, ANKLE),
            3.1: (near, y, ANKLE), 3.3: (0.5 * (near - 0.20), y, ANKLE + 0.4 * (-0.20 - near)), 3.5: (-0.20, y, ANKLE),
            4.0: (-0.20, y, ANKLE),
        })  # fmt: skip
        tilt = Track({0.0: 140, 0.3: 135, 1.0: 95, 1.4 + late: 75, 2.1 + late: 25, 2.5 + late: 0, 4.0: 0})
        toe = Track({0.0: 0, 0.4: -20, 1.0: -60, 1.4 + late: -60, 2.1 + late: -25, 2.5 + late: 0, 4.0: 0})
        s.foot(side, ankle(t), column(tilt, t), np.full_like(t, sign * 8.0), column(toe, t))
        ahead, wide = (0.40, 0.27) if sign > 0 else (0.29, 0.31)
        wrist = Track({
            0.0: (ahead, sign * (wide + 0.03), 0.07), 0.3: (ahead, sign * (wide + 0.02), 0.08),
            0.7: (ahead, sign * wide, 0.09), 2.15 - late: (ahead - 0.02, sign * wide, 0.10),
            2.6 - late: (ahead - 0.04, sign * (wide + 0.02), 0.35), 3.0: (0.15, sign * 0.28, 0.60 - 0.06 * sign),
            3.5: (-0.14, sign * 0.26, 0.80), 4.0: (-0.16, sign * 0.26, 0.79),
        })  # fmt: skip
        elbow = Track({
            0.0: (-0.4, sign, 0.3), 2.3: (-0.6, sign, 0.0), 3.3: (-1.0, 0.4 * sign, 0.0), 4.0: (-1.0, 0.3 * sign, 0.0),
        })  # fmt: skip
        s.hand(side, wrist(t), elbow(t))
        bent = Track({0.0: -55, 0.3: -60, 0.7: -65, 2.15 - late: -65, 2.7 - late: -15, 3.4: 0, 4.0: 0})
        s.joint(f"{side}Hand", column(bent, t))
    return s.clip()


def keeper() -> Clip:
    """A goalkeeper's ready stance: feet apart, knees bent, hands in front, a little bounce. Repeats."""
    seconds = 1.6
    s = Scenario("keeper", seconds)
    t = s.t
    bounce = np.sin(2 * np.pi * 2 * t / seconds)
    sway = np.sin(2 * np.pi * t / seconds)
    place = np.stack([-0.04 + 0.0 * t, 0.012 * sway, 0.79 + 0.008 * bounce], axis=-1)
    s.pelvis(place, 18.0 + 1.0 * bounce, 0.0 * t, 0.0 * t)
    for name in ("Spine", "Spine1", "Spine2"):
        s.joint(name, 6.0 + 0.3 * bounce)
    s.joint("Neck", -12.0 + 0.0 * t)
    s.joint("Head", -14.0 + 0.0 * t)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        s.arm(side, 42.0 + 2.0 * bounce, 24.0, 8.0, 62.0 + 2.0 * bounce)
        s.foot(side, np.tile([0.0, sign * 0.24, ANKLE], (len(t), 1)), 0.0 * t, np.full_like(t, sign * 14.0))
    return s.clip()


def strike() -> Clip:
    """A footballer's shot: a step up to the ball with the left foot, the right leg swings through, and stands."""
    s = Scenario("strike", 2.2)
    t = s.t
    along = column(Track({0.0: 0.0, 0.25: 0.06, 0.7: 0.66, 0.95: 0.82, 1.15: 0.88, 1.6: 0.90, 2.2: 0.90}), t)
    wind = column(Track({0.0: 0, 0.35: 0, 0.72: 1, 0.95: 0, 2.2: 0}), t)
    swing = column(Track({0.0: 0, 0.78: 0, 0.95: 0.6, 1.08: 1, 1.25: 0.8, 1.6: 0, 2.2: 0}), t)
    place = np.stack([along, 0.04 * wind + 0.06 * swing, 0.885 - 0.03 * wind - 0.01 * swing], axis=-1)
    s.pelvis(place, 6.0 + 6.0 * wind - 12.0 * swing, -3.0 * swing, -14.0 * wind + 12.0 * swing)
    for name in ("Spine", "Spine1", "Spine2"):
        s.joint(name, 2.0 - 2.0 * wind + 5.0 * swing, 0.0, 6.0 * wind - 6.0 * swing)
    s.joint("Neck", 12.0 * (wind + swing))
    s.joint("Head", 8.0 * (wind + swing))
    left = Track({
        0.0: (0.0, 0.10, ANKLE), 0.25: (0.0, 0.10, ANKLE), 0.45: (0.38, 0.11, 0.20), 0.66: (0.80, 0.11, ANKLE),
        2.2: (0.80, 0.11, ANKLE),
    })  # fmt: skip
    pitch = Track({0.0: 0, 0.25: 10, 0.4: 25, 0.62: -8, 0.7: 0, 2.2: 0})
    s.foot("Left", left(t), column(pitch, t), np.full_like(t, 8.0))
    right = Track({
        0.0: (0.0, -0.10, ANKLE), 0.34: (0.0, -0.10, ANKLE), 0.52: (0.14, -0.12, 0.24), 0.74: (0.36, -0.13, 0.42),
        0.95: (0.87, -0.08, 0.115), 1.08: (1.30, -0.05, 0.42), 1.25: (1.34, -0.05, 0.46), 1.55: (1.02, -0.11, 0.12),
        1.64: (1.00, -0.11, ANKLE), 2.2: (1.00, -0.11, ANKLE),
    })  # fmt: skip
    point = Track({
        0.0: 0, 0.3: 0, 0.36: 20, 0.52: 60, 0.74: 75, 0.95: 25, 1.08: -30, 1.25: -25, 1.55: -5, 1.64: 0, 2.2: 0,
    })  # fmt: skip
    s.foot("Right", right(t), column(point, t), np.full_like(t, -8.0))
    s.arm("Left", 10.0 + 10.0 * wind + 42.0 * swing, 12.0 + 55.0 * wind + 20.0 * swing, 10.0, 20.0 + 10.0 * wind)
    s.arm("Right", 4.0 + 12.0 * wind - 35.0 * swing, 10.0 + 18.0 * wind + 14.0 * swing, 10.0, 22.0 + 15.0 * wind)
    return s.clip()


MAKERS = {"get_up_front": get_up_front, "keeper": keeper, "strike": strike}


def make(out: Path = OUT) -> list[Path]:
    """Write all clips."""
    out.mkdir(parents=True, exist_ok=True)
    return [write_bvh(alive(maker()), out / f"{name}.bvh") for name, maker in MAKERS.items()]


if __name__ == "__main__":
    make()
