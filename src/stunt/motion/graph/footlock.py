"""Feet that stand stay where they stand: what blending would let slide is put back, frame by frame as time goes on.

A foot is locked where it is in the frame in which a point of it (heel or ball) begins to stand; until it lifts, the leg
reaches for that place. What the correction was then fades away while the foot swings. Nothing looks ahead, so a walk
can be made as it goes.

Moving a foot of a pose: the leg follows by two-bone inverse kinematics, the foot keeps its orientation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stunt.maths.rotations import Floats, conjugate, multiply, rotate
from stunt.maths.two_bone import bend_frames
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose, WorldPose
from stunt.motion.clips.standing import feet_of
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.plants import ANKLE, BALL, FREE, contact_points


def with_ankle_at(clip: Clip, pose: ClipPose, world: WorldPose, leg: tuple[int, int, int], ankle: Floats) -> ClipPose:
    """Return poses with one ankle moved.

    Args:
        clip: Whose skeleton.
        pose: The poses, along one leading axis (F).
        world: Where they have the joints.
        leg: Thigh, shank and foot joint.
        ankle: Where the ankle should be [m], (F, 3); as near to it as the leg reaches.
    """
    hip, knee, old = (np.ascontiguousarray(world.positions[:, joint]) for joint in leg)
    side = rotate(world.rotations[:, leg[0]], np.array([0.0, 1.0, 0.0]))  # a straight knee bends about the thigh's axis
    swing, both = np.empty((len(ankle), 4)), np.empty((len(ankle), 4))
    bend_frames(hip, knee, old, ankle, side, swing, both)
    return _with_turned(clip, pose, world, leg, swing, both)


def _with_turned(
    clip: Clip, pose: ClipPose, world: WorldPose, leg: tuple[int, int, int], swing: Floats, both: Floats
) -> ClipPose:
    """Return poses whose thigh and shank are turned in the world; the foot is turned back."""
    thigh, shank, foot = leg
    rotations = pose.rotations.copy()
    parents = clip.skeleton.parents
    identity = np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), swing.shape)
    for joint, turned, above in ((thigh, swing, identity), (shank, both, swing), (foot, identity, both)):
        parent = multiply(above, world.rotations[:, parents[joint]])
        rotations[:, joint] = multiply(conjugate(parent), multiply(turned, world.rotations[:, joint]))
    return ClipPose(pose.root, rotations)


FADE = 0.25  # seconds in which a correction fades once the foot has lifted
FARTHEST = 0.18  # a foot whose place is farther from where the clip has it lets go [m]


@dataclass(frozen=True)
class FootState:
    """What a lock remembers of one foot.

    Attributes:
        kind: What stood in the last frame.
        at: Where that point is locked [m], (3,).
        offset: What was added to the foot in the last frame [m], (3,).
        fading: The offset when the foot lifted [m], (3,).
        since: Seconds since it lifted.
    """

    kind: int = FREE
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fading: tuple[float, float, float] = (0.0, 0.0, 0.0)
    since: float = 1e9

    def moved(self, by: Planar) -> FootState:
        """Return the same foot of a walk that is moved over the ground."""
        at, *ways = (np.asarray(vector) for vector in (self.at, self.offset, self.fading))
        offset, fading = (_three(replace(by, x=0.0, y=0.0).points(way)) for way in ways)
        return replace(self, at=_three(by.points(at)), offset=offset, fading=fading)


LockState = tuple[FootState, ...]


def locked(
    clip: Clip, parts: dict[str, int], pose: ClipPose, kinds: np.ndarray, state: LockState, step: float
) -> tuple[ClipPose, LockState]:
    """Hold planted feet still.

    Args:
        clip: Whose skeleton.
        parts: Which joint is which part.
        pose: What was put together, along one leading axis (F).
        kinds: What of each foot stands, (F, feet).
        state: The feet before the first frame.
        step: Seconds between frames.

    Returns:
        The poses with feet that stand, and the feet after the last frame.
    """
    world = clip.world_of(pose)
    offsets, after = np.zeros((*kinds.shape, 3)), list(state)
    balls, heels = (contact_points(world, parts, np.full_like(kinds, kind)) for kind in (BALL, ANKLE))
    for foot in range(kinds.shape[1]):
        for frame in range(len(kinds)):
            both = {BALL: balls[frame, foot], ANKLE: heels[frame, foot]}
            after[foot] = _next(after[foot], int(kinds[frame, foot]), both, step)
            offsets[frame, foot] = after[foot].offset
    for foot, side in enumerate(feet_of(parts)):
        leg = (parts[f"{side}thigh"], parts[f"{side}shank"], parts[f"{side}foot"])
        target = world.positions[:, leg[2]] + offsets[:, foot]
        pose = with_ankle_at(clip, pose, world, leg, target)
    return pose, tuple(after)


def _next(foot: FootState, kind: int, points: dict[int, Floats], step: float) -> FootState:
    if kind == FREE:
        fading = foot.offset if foot.kind != FREE else foot.fading
        since = step if foot.kind != FREE else foot.since + step
        x = min(since / FADE, 1.0)
        share = 1.0 - x * x * (3.0 - 2.0 * x)
        return FootState(FREE, foot.at, _three(share * np.asarray(fading)), fading, since)
    if kind != foot.kind:  # it lands, or rolls from the heel to the ball: it stays where it is now
        faded = _next(replace(foot, kind=FREE), FREE, points, step).offset if foot.kind == FREE else foot.offset
        foot = replace(foot, kind=kind, at=_three(points[kind] + np.asarray(faded)))
    offset = np.asarray(foot.at) - points[kind]
    offset[2] = max(-points[kind][2], 0.0)  # heights are the clip's; only what is under the ground is lifted
    far = float(np.linalg.norm(offset[:2]))
    if far > FARTHEST:
        offset[:2] *= FARTHEST / far
    return replace(foot, kind=kind, offset=_three(offset), since=0.0)


def _three(vector: Floats) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])
