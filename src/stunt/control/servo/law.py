"""World-space servo (P3): how a clip is followed and the root helped, and gains from inertia.

Every bone is pulled toward its orientation in the clip, lifted into the world through the clip's own frames from the
actual root: `f = k₁Δ + k₂(ω_d − ω)` with Δ and ω seen from the root. The torques are internal, `τ = Jᵀf` without the
root's rows, and solved implicitly: a bone's `S = h·k₂ + h²·k₁` joins the inertia of all joints between it and the root.
The paper's own form, torques from outside, is an option (`external`).

Strength. A joint over its limit gets a weight w < 1, and the servo sees the motion of that joint through it: bones are
seen turned by `Σ w·(turn of each joint on the way)`, and joint torques are `w·Jᵀf`. Whatever the weights, that is the
gradient of a spring: it stays passive and implicit, where cutting a torque off or dropping a reaction blows up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.keys import TRUTH, ByLimb, Choice, Number, key, spec
from stunt.maths.compiled import compiled

Floats = NDArray[np.float64]
Servo = Literal["world", "parent", "parent_equal", "beat"]
Assist = Literal["weak", "hook", "none", "own", "auto", ""]

OMEGA: Final = 40.0
"""Natural frequency of the bone servos [1/s]."""
FLOORS: Final = {"leg": 0.5, "arm": 0.1, "trunk": 0.0}
"""Least moment of inertia the gains scale by, in body mass × length² of the bone."""
YAW_PART: Final = 0.3
"""The root's gains about the vertical, as a share of those across it: a body is tall."""


_LARGEST = 100.0  # more of anything would be another kind of help


@spec("the root's help")
class RootSpring:
    """How the root is helped, whatever moves the body: the one place of its keys and their defaults.

    Attributes:
        kind: Empty, where nobody has said: under beats own feet where the body stands on two, else nothing.
        omega: Natural frequency on the whole body's moment of inertia [1/s].
    """

    kind: Assist = key(
        default="weak", name="assist", kind=Choice("assistance", ("weak", "hook", "none", "own", "auto")),
        help="what holds the root upright: a weak spring, a meat-hook (it goes where the clip's goes), nothing, "
        "nothing but its own feet, which balance it, or these where they will hold, else the spring",
    )  # fmt: skip
    omega: float = 20.0
    limit: float = key(
        default=0.3, kind=Number(0.0, _LARGEST, unit="m·g·h"), help="largest root torque (mass × gravity × hip height)"
    )
    breaks: float = key(
        default=1.8, name="break", kind=Number(0.0, _LARGEST, unit="m·g·h"),
        help="root torque from which on the spring is broken, until less than `limit` would do again (the paper's k_U)",
    )  # fmt: skip
    air: float = key(default=0.3, kind=Number(0.0, 1.0), help="share of the spring while nothing is touched (k_air)")
    yaw: float = key(
        default=0.0, kind=Number(0.0, _LARGEST, unit="m·g·h"), help="largest root torque about the vertical"
    )
    force: float = key(
        default=0.0, kind=Number(0.0, _LARGEST, unit="m·g"), help="largest root force along the ground (body weights)"
    )
    clock: Literal["free", "clip"] = key(
        default="free", kind=Choice("clock", ("free", "clip")),
        help="on own feet: whether the clip's time may give where balance asks for it, or is kept",
    )  # fmt: skip


UNSAID: Final = RootSpring(kind="")
"""Nobody has said how the root is helped."""


@spec("a servo")
class ServoSettings:
    """How a clip is followed.

    `parent` sums each joint's stiffness over what hangs on it; `parent_equal` has the gains per bone of world space
    (the paper's comparison); `beat` is the beat law, joint by joint, each heading for the clip a little ahead (see
    `stunt.control.servo.beat`). `external` is the paper's form (see `worldspace_external`).

    Attributes:
        omega: Natural frequency of the bones [1/s].
        plant: Whether the motion is fitted to the body: feet that stand made to stand, joints inside
            their limits, limbs apart (see `stunt.drive.prepare.fit`).
        clear: Whether swinging feet are lifted where they pass the floor too low (see
            `stunt.drive.feet.plant`): they scuff a third to a half less, and hold the heading less.
        foresee: Whether the torques the motion takes are fed forward (see `stunt.drive.prepare.feed_forward`); never
            with `external`.
        beside: What is asked for beside the motion, window by window (see `stunt.drive.prepare.aside`); mostly nothing.
    """

    servo: Servo = key(
        default="world", kind=Choice("servo", ("world", "parent", "parent_equal", "beat")), help="how it is followed"
    )
    omega: float = OMEGA
    gain: float | Mapping[str, float] = key(
        default=1.0, kind=ByLimb(0.01, 100.0), help="factor on gains, all, or by limb, joint or pattern: `{r_arm: 0.1}`"
    )
    look: float = key(
        default=1.0 / 240.0,
        kind=Number(1e-4, 1.0, unit="s"),
        help="over which the wanted velocity is measured (the paper's δ)",
    )
    ahead: float = key(
        default=0.04, kind=Number(0.01, 1.0, unit="s"), help="how far the servo `beat` looks ahead; that servo only"
    )
    limited: bool = key(default=True, kind=TRUTH, help="whether joints keep within their strength")
    external: bool = key(
        default=False, kind=TRUTH, help="the paper's form: torques on the bones from outside, as far as the root is "
        "held; all of it counts as assistance; servo `world` only",
    )  # fmt: skip
    plant: bool = True
    clear: bool = False
    steer: bool = key(
        default=True, kind=TRUTH, help="whether swinging legs bring the body back to the clip's place and heading"
    )
    foresee: bool = True
    beside: tuple[tuple[float, ...], ...] = ()

    @property
    def whole_gain(self) -> float:
        """The factor on all gains; beside it stands what is said by limb."""
        return 1.0 if isinstance(self.gain, Mapping) else self.gain


@compiled
def stun_share(since: float, start: float, low: float, down: float, hold: float, up: float) -> float:
    """Return which share of its strength a body has so long after a blow [s]: down fast, up slowly."""
    if since < down:
        return start - (start - low) * since / down
    return min(1.0, low + (1.0 - low) * max(since - down - hold, 0.0) / max(up, 1e-9))


def part_of(name: str) -> str:
    """Return whether a body belongs to a `leg`, an `arm` or the `trunk`, by its name."""
    plain = name.split("/")[-1].lower()
    if any(word in plain for word in ("thigh", "shank", "foot", "toe", "leg")):
        return "leg"
    if any(word in plain for word in ("arm", "hand", "clavicle", "shoulder", "wrist")):
        return "arm"
    return "trunk"


def bone_moments(model: mujoco.MjModel, root: int, end: int) -> Floats:
    """Return the moment of inertia each bone's gains scale by [kg·m²], (nbody,); 0 outside the character.

    A segment about its own joint plus what hangs on it as point masses, floored: a foot alone weighs little, but it
    turns the person above it.

    Args:
        model: The compiled scene.
        root: First body of the character.
        end: One past its last.
    """
    moments = np.zeros(model.nbody)
    total = float(model.body_subtreemass[root])
    for body in range(root + 1, end):
        children = [k for k in range(body + 1, end) if model.body_parentid[k] == body]
        own = float(model.body_inertia[body].max() + model.body_mass[body] * (model.body_ipos[body] ** 2).sum())
        carried = sum(float(model.body_subtreemass[k] * (model.body_pos[k] ** 2).sum()) for k in children)
        reach = [float(np.linalg.norm(model.body_pos[k])) for k in children]
        length = max([*reach, 2.0 * float(np.linalg.norm(model.body_ipos[body]))])
        moments[body] = max(own + carried, FLOORS[part_of(model.body(body).name)] * total * length**2)
    return moments


def summed(model: mujoco.MjModel, root: int, end: int, values: Floats) -> Floats:
    """Return each body's value plus those of everything outboard of it, (nbody,)."""
    result = values.copy()
    for body in range(end - 1, root + 1, -1):
        parent = int(model.body_parentid[body])
        if parent > root:
            result[parent] += result[body]
    return result


def whole_moment(model: mujoco.MjModel, data: mujoco.MjData, root: int, end: int) -> float:
    """Return about the whole body's moment of inertia about its root, across the vertical [kg·m²]."""
    arms = ((data.xipos[root:end] - data.xpos[root]) ** 2).sum(axis=1)
    spread = float((model.body_mass[root:end] * arms).sum() + model.body_inertia[root:end].max(axis=1).sum())
    return 0.7 * spread  # the mean over two axes across, of a body that is mostly tall
