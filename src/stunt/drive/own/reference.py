"""What a body on its own feet follows: a clip made feasible, with its contacts and the path of its centre of mass.

Worked out once for a body and a motion, of the motion alone: soles of standing feet lie flat on the ground, where they
stand; the centre of mass goes where the contacts can carry it; poses are fitted to both. What that changed is told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.playing import NOWHERE, Place
from stunt.drive.own.centroidal import CentroidalPlan, plan_path
from stunt.drive.own.fit import PoseFit
from stunt.drive.own.footholds import FREE_FALL, Footholds, carrying_points, lay_flat, put_down
from stunt.drive.own.smoothing import eased, rates, smoothed
from stunt.drive.own.soles import Foot, two_feet
from stunt.drive.own.stopping import with_stop
from stunt.drive.own.whole_body import WholeBody, sole_points
from stunt.errors import BodyError
from stunt.maths import rotations
from stunt.maths.rotations import Floats

RATE: Final = 120.0
"""Frames per second of what is followed: derivatives of a clip with 16 are worth nothing."""
SMOOTH: Final = 0.015
"""Over which a capture is smoothed [s]."""
RELEASE, SOON = 0.008, 0.02
"""A sole point so high above its rest [m], so soon [s], carries no more."""
_FIT_SMOOTH = 0.01
_HOVERS = 0.12  # a body whose lowest sole is higher flies [m]
_GROUND_SMOOTH = 0.1  # over which the captured floor is smoothed [s]
_FLOOR = 0.1  # of the frames have their lowest sole below the floor's height
_OUTSIDE = 0.03  # a zero-moment point that far outside the support is not carried [m]


@dataclass(frozen=True)
class ReferenceNotes:
    """What was changed, and whether the result can be done.

    Attributes:
        pose_deg: Mean change of a bone's orientation, without the feet [°].
        feet_deg: Of the feet [°].
        com_m: Mean change of the centre of mass along the ground [m].
        outside_m: How far the zero-moment point was outside the support, and is: 95 % of the frames [m].
        flight: Share of the frames in which nothing touches the ground.
        stands: Share of the frames in which a foot stands.
        why: What speaks against it; empty: nothing.
    """

    pose_deg: float
    feet_deg: float
    com_m: float
    outside_m: tuple[float, float]
    flight: float
    stands: float
    why: str = ""

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.why


@dataclass(frozen=True, eq=False)
class Reference:
    """A motion as a body on its own feet follows it.

    Attributes:
        motion: The poses it should have.
        velocity: [m/s, rad/s], (F, nv).
        acceleration: (F, nv).
        plan: What its whole body does.
        places: Of its feet [m], (F, 2, 3).
        turns: Likewise, (F, 2, 4).
        stands: Whether each foot stands, (F, 2).
        carries: Which of their points carry, (F, 2, points).
        notes: What was changed.
    """

    motion: BodyMotion
    velocity: Floats
    acceleration: Floats
    plan: CentroidalPlan
    places: Floats
    turns: Floats
    stands: NDArray[np.bool_]
    carries: NDArray[np.bool_]
    notes: ReferenceNotes

    def moved(self, at: Place, height: float = 0.0) -> Reference:
        """Return it moved over the ground: by x and y [m], turned about the vertical [rad], and raised [m]."""
        if at == NOWHERE and height == 0.0:
            return self
        turn = rotations.from_rotation_vector(np.array([0.0, 0.0, at[2]]))
        by = np.array([at[0], at[1], height])

        def place(points: Floats) -> Floats:
            return np.asarray(rotations.rotate(turn, points) + by)

        def way(vectors: Floats) -> Floats:
            return np.asarray(rotations.rotate(turn, vectors))

        plan, qpos = self.plan, self.motion.qpos.copy()
        qpos[:, :3], qpos[:, 3:7] = place(qpos[:, :3]), rotations.multiply(turn, qpos[:, 3:7])
        velocity, acceleration = self.velocity.copy(), self.acceleration.copy()
        velocity[:, :3], acceleration[:, :3] = way(velocity[:, :3]), way(acceleration[:, :3])
        flat = np.column_stack([plan.zmp, np.zeros(len(plan.zmp))])
        plan = replace(
            plan, com=place(plan.com), velocity=way(plan.velocity), acceleration=way(plan.acceleration),
            momentum=way(plan.momentum), moment=way(plan.moment), zmp=place(flat)[:, :2], lean=way(plan.lean),
        )  # fmt: skip
        return replace(
            self, motion=replace(self.motion, qpos=qpos), velocity=velocity, acceleration=acceleration, plan=plan,
            places=place(self.places), turns=rotations.multiply(turn, self.turns),
        )  # fmt: skip


def make_reference(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int], floor: float = 0.0
) -> Reference:
    """Make a motion feasible.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        soles: Geoms it stands on.
        floor: Height of the ground it is meant for [m].

    Raises:
        BodyError: The body has not two feet, or they never touch the ground in the motion.
    """
    feet, layout = two_feet(model, character, soles), Layout.of(character)
    asked, fps = _resampled(layout, motion)
    asked[:, 2] -= floor
    qpos = _smooth(layout, asked, SMOOTH * fps)
    body = WholeBody.of(model, character, qpos, fps)
    qpos[:, 2] -= _ground(feet, character.root_body, body, fps)
    body = WholeBody.of(model, character, qpos, fps)
    clip_com = body.com[:, :2].copy()
    offsets, mass = np.stack([_toe_offset(model, foot) for foot in feet]), character.mass
    holds = _holds(feet, character.root_body, body)
    lay_flat(feet, holds, offsets, fps)
    qpos[:, 2] += put_down(feet, holds, offsets, body.com, fps)
    _check_contacts(motion, holds)
    body = WholeBody.of(model, character, qpos, fps)
    qpos = with_stop(model, character, feet, qpos, holds, body, fps)
    if len(qpos) > len(body.com):
        body = WholeBody.of(model, character, qpos, fps)
        for number in range(2):
            holds.point_up(feet, offsets, number)
    carries = _carries(holds, fps)
    plan = plan_path(body, holds.points, carries, mass, fps)
    before = plan.outside[0]
    qpos = _carried_along(model, character, feet, holds, qpos, body, plan, fps)
    qpos = _smooth(layout, PoseFit(model, character, feet).fitted(qpos, holds, plan), _FIT_SMOOTH * fps)
    body = WholeBody.of(model, character, qpos, fps)
    plan = plan_path(body, holds.points, carries, mass, fps)
    notes = _notes(model, character, asked, qpos, holds, plan, clip_com, before)
    velocity = layout.velocities(qpos, fps)
    found = Reference(
        replace(motion, qpos=qpos, fps=fps), velocity, rates(smoothed(velocity, SMOOTH * fps), fps), plan,
        holds.places, holds.turns, holds.stands, np.stack(carries, axis=1), notes,
    )  # fmt: skip
    return found.moved(NOWHERE, floor)


def _ground(feet: tuple[Foot, Foot], root: int, body: WholeBody, fps: float) -> Floats:
    """Return how high the ground is that the motion was captured on [m], (F,): captured floors slope and drift."""
    low = np.min([sole_points(f, root, body.places, body.turns)[..., 2].min(axis=1) for f in feet], axis=0)
    low = low - (base := float(np.quantile(low, _FLOOR)))
    fall = rates(rates(smoothed(body.com[:, 2], 0.03 * fps), fps), fps)
    carried = (fall > FREE_FALL) & (low < _HOVERS)
    if not carried.any():
        return np.full(len(low), base)
    frames = np.arange(len(low))
    return base + smoothed(np.interp(frames, frames[carried], low[carried]), _GROUND_SMOOTH * fps)


def _resampled(layout: Layout, motion: BodyMotion) -> tuple[Floats, float]:
    """Return the frames of a motion at the rate they are followed at, quaternions without jumps of sign."""
    qpos = _continuous(layout, motion.qpos)
    if motion.fps >= 0.9 * RATE or len(qpos) < 4:
        return qpos, motion.fps
    from scipy.interpolate import CubicSpline

    times = np.arange(len(qpos)) / motion.fps
    wanted = np.minimum(np.arange(round(times[-1] * RATE) + 1) / RATE, times[-1])
    return _unit(layout, CubicSpline(times, qpos)(wanted)), RATE


def _continuous(layout: Layout, qpos: Floats) -> Floats:
    out = qpos.copy()
    for column in layout.turn_q:
        turns = out[:, column : column + 4]
        flips = np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
        turns[1:] *= flips[:, None]
    return out


def _unit(layout: Layout, qpos: Floats) -> Floats:
    for column in layout.turn_q:
        turns = qpos[:, column : column + 4]
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return qpos


def _smooth(layout: Layout, qpos: Floats, sigma: float) -> Floats:
    return _unit(layout, smoothed(_continuous(layout, qpos), sigma))


def _toe_offset(model: mujoco.MjModel, foot: Foot) -> Floats:
    return model.body_pos[foot.toe].copy() if foot.toe >= 0 else np.zeros(3)


def _holds(feet: tuple[Foot, Foot], root: int, body: WholeBody) -> Footholds:
    """Return the feet as the motion has them."""
    count = len(body.com)
    places = np.stack([body.places[:, f.body - root] for f in feet], axis=1)
    turns = np.stack([body.turns[:, f.body - root] for f in feet], axis=1)
    toes = np.zeros((count, 2, 4))
    toes[..., 0] = 1.0
    for number, foot in enumerate(feet):
        if foot.toe >= 0:
            back = rotations.conjugate(turns[:, number])
            toes[:, number] = rotations.multiply(back, body.turns[:, foot.toe - root])
    points = [sole_points(foot, root, body.places, body.turns) for foot in feet]
    return Footholds(places, turns, toes, points, np.zeros((count, 2), bool), np.zeros(2), np.zeros(2))


def _check_contacts(motion: BodyMotion, holds: Footholds) -> None:
    if not holds.stands.any():
        raise BodyError(
            f"no foot ever stands on the ground in '{motion.name}': nothing could carry a body on its own feet; "
            "with `assist: weak` or `hook` it is held from outside."
        )


def _carries(holds: Footholds, fps: float) -> list[NDArray[np.bool_]]:
    return [carrying_points(holds.points[n], holds.stands[:, n], RELEASE, SOON, fps) for n in range(2)]


def _carried_along(
    model: mujoco.MjModel,
    character: Character,
    feet: tuple[Foot, Foot],
    holds: Footholds,
    qpos: Floats,
    body: WholeBody,
    plan: CentroidalPlan,
    fps: float,
) -> Floats:
    """Return poses turned and moved as the plan has it, toes as they lie; feet in flight go along."""
    out, turn = qpos.copy(), rotations.from_rotation_vector(plan.lean)
    shift = plan.com - body.com
    airborne = eased(np.asarray(~holds.stands.any(axis=1)), 0.02 * fps)
    for number in range(2):
        free = ((1.0 - eased(holds.stands[:, number], 0.025 * fps)) * airborne)[:, None]
        arm = holds.places[:, number] - body.com
        holds.places[:, number] += free * (shift + rotations.rotate(turn, arm) - arm)
        lean = rotations.from_rotation_vector(plan.lean * free)
        holds.turns[:, number] = rotations.multiply(lean, holds.turns[:, number])
    out[:, :3] = plan.com + rotations.rotate(turn, qpos[:, :3] - body.com)
    out[:, 3:7] = rotations.multiply(turn, qpos[:, 3:7])
    first = character.root.qpos if character.root is not None else 0
    for number, foot in enumerate(feet):
        joint = int(model.body_jntadr[foot.toe]) if foot.toe >= 0 else -1
        if joint >= 0 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            column = int(model.jnt_qposadr[joint]) - first
            rest = rotations.conjugate(np.broadcast_to(model.body_quat[foot.toe], holds.toes[:, number].shape))
            out[:, column : column + 4] = rotations.multiply(rest, holds.toes[:, number])
    return out


def _notes(
    model: mujoco.MjModel,
    character: Character,
    asked: Floats,
    qpos: Floats,
    holds: Footholds,
    plan: CentroidalPlan,
    clip_com: Floats,
    before: Floats,
) -> ReferenceNotes:
    from stunt.character.kinematics import pose_frames

    count = len(asked)  # without a stop that was added
    old, new = (pose_frames(model, character, poses)[1] for poses in (asked, qpos[:count]))
    turned = np.degrees(2.0 * np.arccos(np.abs((old * new).sum(axis=2)).clip(0.0, 1.0))).mean(axis=0)
    names = {body - character.root_body: name for name, body in character.bodies.items()}
    foot = np.array([("foot" in names.get(k, "")) or ("toe" in names.get(k, "")) for k in range(len(turned))])
    moved = float(np.linalg.norm(plan.com[:count, :2] - clip_com, axis=1).mean())
    outside = (float(np.quantile(before, 0.95)), float(np.quantile(plan.outside[1], 0.95)))
    flight = float((~holds.stands.any(axis=1)).mean())
    why = ""
    if outside[1] > _OUTSIDE:
        why = f"its weight is {100.0 * outside[1]:.0f} cm outside what carries it"
    return ReferenceNotes(
        float(turned[~foot].mean()), float(turned[foot].mean()) if foot.any() else 0.0, moved, outside, flight,
        float(holds.stands.any(axis=1).mean()), why,
    )  # fmt: skip
