"""Makes the clips that come with Stunt: key-framed idle, punch, kick and stand-up, as small BVH files.

    python tools/make_clips.py

The pelvis, the feet and the joints of the upper body are key-framed; the legs follow by inverse kinematics, so that
planted feet do not slide. Everything here was invented for the purpose; no capture went into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from stunt.maths.rotations import Floats, conjugate, from_matrix, multiply, rotate, slerp
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import EndSite, Skeleton
from stunt.motion.clips.euler import from_euler
from stunt.motion.formats.bvh_writer import write_bvh

OUT = Path(__file__).parent.parent / "src" / "stunt" / "examples" / "clips"
FPS = 60.0
TRAILS, LOOSE = 0.05, 0.012  # how long hands trail behind forearms [s], and by how much of their speed [s]
THIGH, SHANK, ANKLE = 0.42, 0.42, 0.085
UPPER_ARM, FOREARM = 0.29, 0.26
BALL = np.array([0.125, 0.0, -0.060])  # from the ankle, in the foot's frame
HEEL = np.array([-0.055, 0.0, -0.085])
TIP = np.array([0.065, 0.0, -0.005])  # of the toes, from the ball

_TREE: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
    ("Hips", "", (0.0, 0.0, 0.0)),
    ("Spine", "Hips", (-0.01, 0.0, 0.11)),
    ("Spine1", "Spine", (0.0, 0.0, 0.14)),
    ("Spine2", "Spine1", (0.0, 0.0, 0.13)),
    ("Neck", "Spine2", (-0.01, 0.0, 0.15)),
    ("Head", "Neck", (0.02, 0.0, 0.09)),
    ("LeftShoulder", "Spine2", (0.0, 0.04, 0.10)),
    ("LeftArm", "LeftShoulder", (-0.01, 0.14, 0.01)),
    ("LeftForeArm", "LeftArm", (0.0, 0.0, -0.29)),
    ("LeftHand", "LeftForeArm", (0.0, 0.0, -0.26)),
    ("RightShoulder", "Spine2", (0.0, -0.04, 0.10)),
    ("RightArm", "RightShoulder", (-0.01, -0.14, 0.01)),
    ("RightForeArm", "RightArm", (0.0, 0.0, -0.29)),
    ("RightHand", "RightForeArm", (0.0, 0.0, -0.26)),
    ("LeftUpLeg", "Hips", (0.0, 0.09, 0.0)),
    ("LeftLeg", "LeftUpLeg", (0.0, 0.0, -THIGH)),
    ("LeftFoot", "LeftLeg", (0.0, 0.0, -SHANK)),
    ("LeftToeBase", "LeftFoot", tuple(BALL)),  # type: ignore[arg-type]
    ("RightUpLeg", "Hips", (0.0, -0.09, 0.0)),
    ("RightLeg", "RightUpLeg", (0.0, 0.0, -THIGH)),
    ("RightFoot", "RightLeg", (0.0, 0.0, -SHANK)),
    ("RightToeBase", "RightFoot", tuple(BALL)),  # type: ignore[arg-type]
)
_TIPS = {"Head": (0, 0, 0.18), "LeftHand": (0, 0, -0.17), "RightHand": (0, 0, -0.17)}
_TIPS |= {"LeftToeBase": tuple(TIP), "RightToeBase": tuple(TIP)}
NAMES = tuple(name for name, *_ in _TREE)


def skeleton() -> Skeleton:
    """A man of 1.75 m, standing with hanging arms at rest."""
    parents = tuple(-1 if not parent else NAMES.index(parent) for _, parent, _ in _TREE)
    tips = tuple(EndSite(NAMES.index(name), np.array(tip, float)) for name, tip in _TIPS.items())
    return Skeleton(NAMES, parents, np.array([offset for *_, offset in _TREE], float), tips)


class Track:
    """Values between keys: a monotone curve, or a periodic one."""

    def __init__(self, keys: Mapping[float, float | Sequence[float]], period: float | None = None) -> None:
        times = np.array(sorted(keys))
        values = np.array([np.atleast_1d(keys[time]) for time in sorted(keys)], float)
        if period is not None:
            times, values = np.append(times, period), np.vstack([values, values[:1]])
            self.curve: Callable[..., Floats] = CubicSpline(times, values, bc_type="periodic")
        elif len(times) > 1:
            self.curve = PchipInterpolator(times, values, extrapolate=False)
        else:
            self.curve = lambda t: np.repeat(values, np.size(t), axis=0)
        self.span = (times[0], times[-1])

    def __call__(self, t: Floats) -> Floats:
        """Values at times, (F, k); held before the first key and after the last."""
        return np.asarray(self.curve(np.clip(t, *self.span)))


def turn(pitch: Floats | float = 0.0, roll: Floats | float = 0.0, yaw: Floats | float = 0.0) -> Floats:
    """Rotation by degrees: yaw about up, then pitch forward about the left axis, then roll about forward, (..., 4)."""
    angles = np.stack(np.broadcast_arrays(yaw, pitch, roll), axis=-1)
    return from_euler(np.radians(angles), "ZYX")


def leg(hip: Floats, ankle: Floats, forward: Floats) -> tuple[Floats, Floats]:
    """World orientations of thigh and shank that reach from hip to ankle with the knee forward, (F, 4) each."""
    way = ankle - hip
    reach = np.linalg.norm(way, axis=-1)
    if (reach > 0.999 * (THIGH + SHANK)).any():
        raise ValueError(f"a leg would have to be {reach.max():.3f} m long at frame {int(reach.argmax())}")
    down = way / reach[:, None]
    axis = np.cross(forward, down)  # points to the left's opposite; the knee bends about it
    axis = -axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    bend = np.arccos((THIGH**2 + reach**2 - SHANK**2) / (2 * THIGH * reach))
    ahead = np.cross(down, axis)
    ahead = np.where(np.sum(ahead * forward, axis=-1, keepdims=True) < 0, -ahead, ahead)
    knee = hip + THIGH * (np.cos(bend)[:, None] * down + np.sin(bend)[:, None] * ahead)
    return tuple(_upright(top - low, ahead) for top, low in ((hip, knee), (knee, ankle)))  # type: ignore[return-value]


def arm_to(shoulder: Floats, wrist: Floats, elbow: Floats) -> tuple[Floats, Floats]:
    """World orientations of upper arm and forearm that reach a wrist with the elbow out to a side, (F, 4) each."""
    way = wrist - shoulder
    far = np.linalg.norm(way, axis=-1)
    reach = np.clip(far, 0.06, 0.995 * (UPPER_ARM + FOREARM))
    down = way / far[:, None]
    out = elbow - np.sum(elbow * down, axis=-1, keepdims=True) * down
    out = out / np.linalg.norm(out, axis=-1, keepdims=True)
    bend = np.arccos((UPPER_ARM**2 + reach**2 - FOREARM**2) / (2 * UPPER_ARM * reach))
    joint = UPPER_ARM * (np.cos(bend)[:, None] * down + np.sin(bend)[:, None] * out)
    return _upright(-joint, -out), _upright(joint - reach[:, None] * down, -out)


def _upright(up: Floats, ahead: Floats) -> Floats:
    """Orientation with z along `up` and x near `ahead`, (F, 4)."""
    z = up / np.linalg.norm(up, axis=-1, keepdims=True)
    y = np.cross(z, ahead)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return from_matrix(np.stack([np.cross(y, z), y, z], axis=-1))


class Scenario:
    """A motion as it is put together: pelvis, feet and upper body over time."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.t = np.arange(round(seconds * FPS) + 1) / FPS
        self.local = np.zeros((len(self.t), len(NAMES), 4))
        self.local[..., 0] = 1.0
        self.root = np.zeros((len(self.t), 3))

    def pelvis(self, place: Floats, pitch: Floats, roll: Floats, yaw: Floats) -> None:
        """Put the pelvis at (F, 3) [m], turned by degrees."""
        self.root = place
        self.local[:, 0] = turn(pitch, roll, yaw)

    def joint(
        self, name: str, pitch: Floats | float = 0.0, roll: Floats | float = 0.0, yaw: Floats | float = 0.0
    ) -> None:
        """Turn a joint by degrees: pitch bends forward, roll to the right, yaw to the left."""
        self.local[:, NAMES.index(name)] = turn(np.broadcast_to(pitch, self.t.shape), roll, yaw)

    def arm(
        self,
        side: str,
        flexion: Floats | float,
        abduction: Floats | float,
        twist: Floats | float,
        elbow: Floats | float,
    ) -> None:
        """Pose an arm by anatomical angles [deg]; twist turns the bent forearm inward."""
        sign = 1.0 if side == "Left" else -1.0
        shape = self.t.shape
        flexion, abduction, twist, elbow = (np.broadcast_to(a, shape) for a in (flexion, abduction, twist, elbow))
        order = np.radians(np.stack([-flexion, sign * abduction, -sign * twist], axis=-1))
        self.local[:, NAMES.index(f"{side}Arm")] = from_euler(order, "YXZ")
        self.joint(f"{side}ForeArm", pitch=-elbow)

    def foot(
        self, side: str, ankle: Floats, pitch: Floats, yaw: Floats, toe: Floats | float = 0.0, *, raised: bool = False
    ) -> None:
        """Put an ankle at (F, 3) [m], the foot turned by degrees; the leg follows. The pelvis must be there already.

        `raised`: the leg goes up to the front, and its knee with it: it bends about the axis to the left, whatever way
        the leg points. (A knee that keeps pointing ahead would flip over where the leg does.)
        """
        pelvis = self.local[:, 0]
        hip = self.root + rotate(pelvis, np.array(dict((n, o) for n, _, o in _TREE)[f"{side}UpLeg"]))
        foot = turn(pitch, 0.0, yaw)
        ahead = rotate(turn(0.0, 0.0, yaw), np.array([1.0, 0.0, 0.0])) + rotate(pelvis, np.array([1.0, 0.0, 0.0]))
        if raised:
            ahead = np.cross(ankle - hip, np.cross([0.0, 0.0, 1.0], ahead))
        thigh, shank = leg(hip, ankle, ahead)
        for name, above, own in (("UpLeg", pelvis, thigh), ("Leg", thigh, shank), ("Foot", shank, foot)):
            self.local[:, NAMES.index(side + name)] = multiply(conjugate(above), own)
        self.joint(f"{side}ToeBase", pitch=toe)

    def hand(self, side: str, wrist: Floats, elbow: Floats) -> None:
        """Put a wrist at (F, 3) [m], the elbow pointing to `elbow`; pelvis and back must be there already."""
        world = self.clip().world_at(self.t)
        shoulder = world.positions[:, NAMES.index(f"{side}Arm")]
        above = world.rotations[:, NAMES.index(f"{side}Shoulder")]
        upper, lower = arm_to(shoulder, wrist, np.broadcast_to(elbow, wrist.shape))
        self.local[:, NAMES.index(f"{side}Arm")] = multiply(conjugate(above), upper)
        self.local[:, NAMES.index(f"{side}ForeArm")] = multiply(conjugate(upper), lower)

    def clip(self) -> Clip:
        """Return the finished motion."""
        return Clip(self.name, skeleton(), FPS, self.root, self.local)


def column(track: Track, t: Floats) -> Floats:
    """Values of a track of one number, (F,)."""
    return track(t)[:, 0]


def idle() -> Clip:
    """Standing at ease: breathing, and weight that wanders from foot to foot. Repeats."""
    seconds = 4.0
    s = Scenario("idle", seconds)
    t = s.t
    slow, breath = 2 * np.pi * t / seconds, 2 * np.pi * 2 * t / seconds
    sway = np.sin(slow)
    place = np.stack(
        [0.004 * np.sin(breath + 0.5), 0.016 * sway, 0.908 - 0.004 * sway**2 + 0.002 * np.sin(breath)], axis=-1
    )
    s.pelvis(place, 2.0 + 0.4 * np.sin(breath), -1.2 * sway, 1.5 * np.sin(slow + 0.7))
    s.joint("Spine", -1.0 - 0.4 * np.sin(breath), 0.8 * sway)
    s.joint("Spine1", 1.0 - 0.8 * np.sin(breath), 0.6 * sway)
    s.joint("Spine2", 2.0 - 1.2 * np.sin(breath), 0.0, -0.8 * np.sin(slow + 0.7))
    s.joint("Neck", 3.0 + 0.8 * np.sin(breath))
    s.joint("Head", -3.0 + 0.8 * np.sin(breath + 0.4), 0.0, 5.0 * np.sin(slow + 2.0))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        bent = 18.0 - 4.0 * sign + 1.5 * np.sin(breath - 0.9)  # nobody's arms hang alike
        s.arm(side, 2.0 + 1.5 * np.sin(breath - 0.6), 7.0 - sign * 1.0 * sway, 12.0, bent)
        s.foot(side, np.tile([0.0, sign * 0.10, ANKLE], (len(t), 1)), np.zeros_like(t), np.full_like(t, sign * 8.0))
    return s.clip()


def _guard(s: Scenario, weight: Floats, low: Floats, twist: Floats, lean: Floats) -> None:
    """A boxer's stance: left foot in front; weight 0 (back) to 1 (front), twist of the shoulders to the left [deg]."""
    place = np.stack([-0.06 + 0.13 * weight, 0.015 * np.ones_like(weight), 0.855 - low], axis=-1)
    s.pelvis(place, 4.0 + 0.4 * lean, np.zeros_like(weight), -32.0 + 0.55 * twist)
    for name, share in (("Spine", 0.12), ("Spine1", 0.15), ("Spine2", 0.18)):
        s.joint(name, 0.25 * lean + 2.0, 0.0, share * twist)
    s.joint("Neck", -0.4 * lean, 0.0, 16.0 - 0.45 * twist)
    s.joint("Head", -0.4 * lean, 0.0, 16.0 - 0.55 * twist)


def _guard_feet(s: Scenario, heel: Floats, pivot: Floats) -> None:
    """Plant the feet; the rear heel rises and turns out about its ball [deg]."""
    t = s.t
    s.foot("Left", np.tile([0.22, 0.10, ANKLE], (len(t), 1)), np.zeros_like(t), np.full_like(t, -12.0))
    yaw = -45.0 + pivot
    ball = np.array([-0.26, -0.13, ANKLE]) + rotate(turn(0.0, 0.0, -45.0), BALL)
    ankle = ball - rotate(turn(heel, 0.0, yaw), BALL)
    s.foot("Right", ankle, heel, yaw, -heel)


def punch() -> Clip:
    """From a guard, a left jab and a right straight, and back into the guard."""
    s = Scenario("punch", 2.4)
    t = s.t
    jab = column(Track({0.0: 0, 0.45: 0, 0.62: 1, 0.70: 1, 0.95: 0, 2.4: 0}), t)
    cross = column(Track({0.0: 0, 0.95: 0, 1.05: -0.12, 1.27: 1, 1.36: 1, 1.70: 0, 2.4: 0}), t)
    bounce = np.sin(2 * np.pi * t / 0.8)
    weight = 0.45 + 0.03 * bounce + 0.25 * jab + 0.5 * cross
    _guard(s, weight, 0.012 + 0.006 * bounce + 0.03 * cross, -6.0 * jab + 62.0 * cross, 7.0 + 2 * jab + 3.0 * cross)
    rise = np.clip(cross, 0, 1)
    _guard_feet(s, 10.0 + 28.0 * rise, 38.0 * rise)
    s.joint("LeftShoulder", 0.0, 0.0, -12.0 * jab)
    s.joint("RightShoulder", 0.0, 0.0, 12.0 * rise)
    mix = lambda rest, out, share: rest + (out - rest) * share  # noqa: E731
    s.arm("Left", mix(44, 97, jab), mix(10, 4, jab) + 2 * bounce, mix(28, 20, jab), mix(118, 6, jab) + 3 * bounce)
    s.arm("Right", mix(32, 101, cross), mix(12, 2, cross), mix(30, 14, cross), mix(128, 7, cross))
    return s.clip()


def kick() -> Clip:
    """From a guard, a front kick with the rear leg, and back into the guard.

    As people kick: the knee comes up bent by some 110° with the thigh nearly level, the shank snaps forward in a fifth
    of a second while the hips push after it and the trunk leans back, and the leg is drawn back before it is set down.
    """
    s = Scenario("kick", 2.4)
    t = s.t
    over = column(Track({0.0: 0, 0.40: 0, 0.72: 1, 1.25: 1, 1.70: 0, 2.4: 0}), t)  # weight over the left foot
    snap = column(Track({0.0: 0, 0.78: 0, 0.98: 1, 1.02: 1, 1.28: 0, 2.4: 0}), t)
    bounce = np.sin(2 * np.pi * t / 0.8) * (1 - over)
    place = np.stack([
        0.0 + 0.16 * over + 0.05 * snap, 0.015 + 0.055 * over, 0.845 + 0.035 * over + 0.005 * bounce,
    ], axis=-1)  # fmt: skip
    s.pelvis(place, 4.0 - 4.0 * over - 16.0 * snap, 4.0 * over, -32.0 + 30.0 * over + 10.0 * snap)
    for name in ("Spine", "Spine1", "Spine2"):
        s.joint(name, 4.0 + 1.0 * over - 1.0 * snap, -1.0 * over, -1.0 * over)
    s.joint("Neck", 5.0 + 6.0 * snap, 0.0, 14.0 - 13.0 * over)
    s.joint("Head", 2.0 + 10.0 * snap, 0.0, 14.0 - 13.0 * over - 3.0 * snap)
    s.foot("Left", np.tile([0.22, 0.10, ANKLE], (len(t), 1)), np.zeros_like(t), -12.0 + 0.0 * t)
    rest = np.array([-0.26, -0.13, ANKLE]) + rotate(turn(0.0, 0.0, -45.0), BALL) - rotate(turn(10.0, 0.0, -45.0), BALL)
    path = Track({  # where the foot leaves and comes down; between them its joints lead
        0.0: rest, 0.46: rest, 0.60: (-0.10, -0.13, 0.30), 0.80: (0.22, -0.10, 0.45), 1.26: (0.22, -0.10, 0.45),
        1.46: (-0.02, -0.13, 0.26), 1.72: rest, 2.4: rest,
    })  # fmt: skip
    tilt = Track({0.0: 10, 0.44: 10, 0.54: 52, 0.76: 22, 1.26: 10, 1.46: 24, 1.72: 10, 2.4: 10})
    bend = Track({0.0: -10, 0.44: -10, 0.50: -40, 0.6: 0, 1.64: 0, 1.72: -10, 2.4: -10})
    s.foot("Right", path(t), column(tilt, t), -45.0 + 43.0 * over, column(bend, t), raised=True)
    hip = Track({0.0: 0, 0.50: 0, 0.64: 48, 0.82: 108, 0.98: 97, 1.04: 95, 1.24: 84, 1.44: 50, 1.62: 22, 2.4: 22})
    knee = Track({0.0: 40, 0.50: 50, 0.64: 98, 0.82: 116, 0.99: 14, 1.03: 14, 1.24: 98, 1.44: 92, 1.62: 62, 2.4: 62})
    sole = Track({0.0: 30, 0.60: 34, 0.84: -4, 0.98: -14, 1.1: 0, 1.44: 4, 1.62: 14, 2.4: 14})  # the ankle, toes down
    toe = column(Track({0.0: 0, 0.84: -20, 1.02: -32, 1.3: 0, 2.4: 0}), t)
    flies = column(Track({0.0: 0, 0.52: 0, 0.66: 1, 1.46: 1, 1.70: 0, 2.4: 0}), t)
    led = {
        "UpLeg": turn(-column(hip, t), 2.0, -4.0), "Leg": turn(column(knee, t)), "Foot": turn(column(sole, t)),
        "ToeBase": turn(toe),
    }  # fmt: skip
    for name, turns in led.items():
        bone = NAMES.index(f"Right{name}")
        s.local[:, bone] = slerp(s.local[:, bone], turns, flies)
    s.arm("Left", 42.0 - 6 * snap, 12.0 + 4 * over, 28.0, 114.0 - 12 * snap + 3 * bounce)
    # Out of the way of the knee that comes up.
    s.arm("Right", 30.0 - 34 * snap, 14.0 + 14 * snap + 26 * over, 30.0 - 20 * over, 124.0 - 62 * snap)
    s.joint("LeftHand", -6.0 - 5.0 * snap + 2.0 * bounce, 3.0 * over)
    s.joint("RightHand", -9.0 + 12.0 * snap + 1.5 * bounce, -4.0 * over)
    return s.clip()


def stand_up() -> Clip:
    """From lying on the back: sit up with drawn knees, rock forward over the feet, and rise."""
    s = Scenario("stand_up", 3.6)
    t = s.t
    place = Track({
        0.0: (0.0, 0.0, 0.105), 0.35: (0.0, 0.0, 0.105), 0.95: (0.02, 0.0, 0.125), 1.30: (0.08, 0.0, 0.15),
        1.75: (0.34, 0.0, 0.34), 2.15: (0.46, 0.0, 0.47), 3.1: (0.50, 0.0, 0.905), 3.6: (0.50, 0.0, 0.905),
    })  # fmt: skip
    pitch = Track({0.0: -90, 0.3: -90, 1.0: -28, 1.35: -2, 1.75: 38, 2.15: 46, 2.7: 26, 3.15: 2, 3.6: 2})
    s.pelvis(place(t), column(pitch, t), 0.0 * t, 0.0 * t)
    curl = column(Track({0.0: 1, 0.25: 3, 0.7: 17, 1.1: 17, 1.7: 12, 2.3: 9, 3.1: 1, 3.6: 1}), t)
    for name, share in (("Spine", 1.0), ("Spine1", 1.1), ("Spine2", 0.9)):
        s.joint(name, share * curl)
    s.joint("Neck", column(Track({0.0: 4, 0.3: 22, 0.9: 14, 1.6: -12, 2.2: -14, 3.1: 3, 3.6: 3}), t))
    s.joint("Head", column(Track({0.0: 2, 0.3: 16, 0.9: 6, 1.6: -14, 2.2: -16, 3.1: -3, 3.6: -3}), t))
    # The left foot is drawn in first; the right one, on whose side a hand props the body, joins it late.
    for side, sign, late, near in (("Left", 1.0, 0.0, 0.47), ("Right", -1.0, 0.16, 0.36)):
        ankle = Track({
            0.0: (0.835, sign * 0.12, 0.070), 0.12 + late: (0.835, sign * 0.12, 0.070),
            0.50 + late: (near + 0.19, sign * 0.13, 0.14), 0.85 + late: (near, sign * 0.13, ANKLE),
            2.75: (near, sign * 0.13, ANKLE), 2.95: (0.5 * (near + 0.47), sign * 0.13, ANKLE + 0.4 * (0.47 - near)),
            3.15: (0.47, sign * 0.13, ANKLE), 3.6: (0.47, sign * 0.13, ANKLE),
        })  # fmt: skip
        tilt = Track({0.0: -72, 0.15 + late: -72, 0.85 + late: 0, 1.5: 0, 3.6: 0})
        s.foot(side, ankle(t), column(tilt, t), np.full_like(t, sign * 8.0))
    reach = Track({0.0: 4, 0.3: 8, 0.9: 62, 1.5: 82, 2.1: 78, 2.8: 30, 3.2: 6, 3.6: 3})
    elbow = Track({0.0: 10, 0.9: 22, 1.6: 28, 2.2: 34, 3.2: 14, 3.6: 14})
    for side in ("Left", "Right"):
        s.arm(side, column(reach, t), column(Track({0.0: 14, 0.9: 12, 2.0: 10, 3.6: 7}), t), 8.0, column(elbow, t))
    hangs = s.local.copy()
    prop = Track({
        0.0: (-0.02, -0.27, 0.06), 0.3: (-0.08, -0.29, 0.05), 0.5: (-0.20, -0.31, 0.09), 1.25: (-0.22, -0.31, 0.10),
        1.75: (0.30, -0.27, 0.30), 2.2: (0.72, -0.22, 0.50), 2.8: (0.66, -0.26, 0.68), 3.2: (0.55, -0.27, 0.79),
        3.6: (0.54, -0.26, 0.79),
    })  # fmt: skip
    out = Track({0.0: (-0.5, -0.8, 0.3), 1.3: (-0.8, -0.5, 0.2), 2.2: (-0.6, -0.5, -0.4), 3.6: (-1.0, -0.3, 0.0)})
    s.hand("Right", prop(t), out(t))
    for name in ("RightArm", "RightForeArm"):
        bone = NAMES.index(name)
        s.local[:, bone] = slerp(s.local[:, bone], hangs[:, bone], column(Track({0.0: 0, 2.4: 0, 3.2: 1, 3.6: 1}), t))
    s.joint("RightHand", column(Track({0.0: -20, 0.4: -65, 1.3: -65, 1.8: -12, 3.2: 0, 3.6: 0}), t))
    s.joint("LeftHand", column(Track({0.0: -8, 1.6: -22, 2.4: -14, 3.2: 0, 3.6: 0}), t))
    return s.clip()


def alive(clip: Clip) -> Clip:
    """Return a motion whose hands, where nobody led them, hang a little and trail behind their forearms."""
    local = clip.rotations.copy()
    for side, rest in (("Left", -6.0), ("Right", -9.0)):
        hand, elbow = (clip.skeleton.joint(f"{side}{bone}") for bone in ("Hand", "ForeArm"))
        if np.ptp(local[:, hand], axis=0).max() > 1e-6:
            continue
        bent = np.degrees(2.0 * np.arctan2(np.linalg.norm(local[:, elbow, 1:], axis=1), local[:, elbow, 0]))
        rate = gaussian_filter1d(np.gradient(bent, 1.0 / clip.fps), TRAILS * clip.fps, mode="nearest")
        sway = 5.0 * np.sin(2.0 * np.pi * np.arange(len(local)) / (len(local) - 1))
        local[:, hand] = turn(rest + np.clip(LOOSE * rate, -14.0, 14.0) + sway, 0.3 * sway)
    return replace(clip, rotations=local)


MAKERS = {"idle": idle, "punch": punch, "kick": kick, "stand_up": stand_up}


def make(out: Path = OUT) -> list[Path]:
    """Write all clips."""
    out.mkdir(parents=True, exist_ok=True)
    return [write_bvh(alive(maker()), out / f"{name}.bvh") for name, maker in MAKERS.items()]


if __name__ == "__main__":
    make()
