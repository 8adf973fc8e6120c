"""An hour of motion to search in, made of a few clips: for measuring, where no such library is at hand.

How alike states of a body are to frames of clips (P2, equation 1), and the most similar frame of many clips.

The distance is a weighted mean over degrees of freedom of absolute differences in position and, times a time constant,
in velocity (the paper prints signed differences, which would cancel). Where the body is on the ground and which way it
faces is left out. A joint weighs as much as what it moves, unless a clip says otherwise: one of hanging on a bar needs
its hands right, and its feet anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from stunt.character.from_skeleton import bone_masses
from stunt.errors import StuntError, UnknownNameError
from stunt.maths.rotations import Floats, from_rotation_vector, multiply, to_rotation_vector
from stunt.motion.clips.clip import Clip, ClipPose
from stunt.motion.clips.edit import mirrored, sped_up
from stunt.motion.frame_index import FrameIndex
from stunt.motion.rig.skeleton_body import SkeletonBody, body_from_clip

VELOCITY: Final = 0.1
"""Seconds a difference in velocity counts for: 1 rad/s as much as this many radians."""
FPS: Final = 30.0
"""Frames per second of a clip that are compared, where it has more; the paper's rate."""


@dataclass(frozen=True)
class Match:
    """The most similar frame.

    Attributes:
        clip: Name of the clip.
        frame: Which of its own frames.
        distance: How far off [rad], a weighted mean over the body.
    """

    clip: str
    frame: int
    distance: float


@dataclass(frozen=True, eq=False)
class ClipEntry:
    """A clip to be found.

    Attributes:
        clip: The clip.
        weights: Other weights of joints than by mass, by the clip's names of joints.
    """

    clip: Clip
    weights: Mapping[str, float] = field(default_factory=dict)


def joint_weights(body: SkeletonBody, overrides: Mapping[str, float] | None = None) -> Floats:
    """Return what each joint of the clip's skeleton weighs: the share of the body's mass that it moves, (J,).

    Joints that are no bones of the body (fingers, helpers) weigh nothing.

    Args:
        body: A body with the clip's bones.
        overrides: Other weights, by joint.

    Raises:
        UnknownNameError: There is no such joint.
    """
    skeleton = body.clip.skeleton
    weights = np.zeros(len(skeleton))
    moved = np.array(bone_masses(body.plan, "male"))
    for number in range(len(moved) - 1, 0, -1):  # children come after their parents
        moved[body.plan.bones[number].parent] += moved[number]
    weights[list(body.joints)] = moved / moved[0]
    for name, weight in (overrides or {}).items():
        if name not in skeleton.index:
            raise UnknownNameError(f"joint of clip '{body.clip.name}'", name, skeleton.names)
        weights[skeleton.index[name]] = weight
    return weights


def states_of(pose: ClipPose, root_velocity: Floats, angular: Floats) -> Floats:
    """Return states without place and heading, (..., 2 × (3 + 3 J)).

    Args:
        pose: Poses.
        root_velocity: Of the root, in the world [m/s], (..., 3).
        angular: Of the joints relative to their parents in their own frames [rad/s], (..., J, 3).

    Returns:
        Height (0, 0, z) and rotation vectors, then velocities, the root's seen from where it faces.
    """
    w, x, y, z = np.moveaxis(pose.rotations[..., 0, :], -1, 0)
    # Without its twist about the vertical a turn has no z: (w, 0, 0, z)⁻¹ · (w, x, y, z).
    length = np.maximum(np.hypot(w, z), 1e-12)
    cosine, sine = w / length, z / length
    turns = pose.rotations.copy()
    turns[..., 0, :] = np.stack([length, cosine * x + sine * y, cosine * y - sine * x, np.zeros_like(w)], axis=-1)
    c, s = cosine * cosine - sine * sine, 2.0 * cosine * sine  # of the whole heading
    vx, vy, vz = np.moveaxis(np.asarray(root_velocity, float), -1, 0)
    out = np.zeros((*w.shape, 6 * (1 + pose.rotations.shape[-2])))
    half = out.shape[-1] // 2
    out[..., 2] = pose.root[..., 2]
    out[..., 3:half] = to_rotation_vector(turns).reshape(*w.shape, -1)
    out[..., half], out[..., half + 1], out[..., half + 2] = c * vx + s * vy, c * vy - s * vx, vz
    out[..., half + 3 :] = np.asarray(angular).reshape(*w.shape, -1)
    return out


class SimilarityIndex:
    """Many clips of one skeleton, in which the frame most like a state is found at once.

    Attributes:
        seconds: How much motion there is [s].
    """

    def __init__(self, entries: Sequence[Clip | ClipEntry], *, fps: float = FPS) -> None:
        """Lay clips out; those with weights of their own are searched by themselves.

        Args:
            entries: The clips, all of one skeleton.
            fps: How many of a clip's frames per second are compared, at most.

        Raises:
            StuntError: No clips, or of different skeletons.
        """
        given = [entry if isinstance(entry, ClipEntry) else ClipEntry(entry) for entry in entries]
        if not given:
            raise StuntError("there are no clips to compare a state with.")
        first = given[0].clip
        for entry in given:
            if entry.clip.skeleton.names != first.skeleton.names:
                raise StuntError(f"clips '{first.name}' and '{entry.clip.name}' have different joints.")
        body = body_from_clip(first)
        groups: dict[tuple[tuple[str, float], ...], list[ClipEntry]] = {}
        for entry in given:
            groups.setdefault(tuple(sorted(entry.weights.items())), []).append(entry)
        self._groups = [_Group(body, some, fps) for some in groups.values()]
        self.seconds = float(sum(entry.clip.duration for entry in given))

    def nearest(
        self,
        pose: ClipPose,
        velocities: tuple[Floats, Floats] | None = None,
        most: float = np.inf,
        *,
        exact: bool = False,
    ) -> Match | None:
        """Return the frame most like a state.

        Args:
            pose: One pose, its ground at z = 0.
            velocities: The root's [m/s] (3,) and the joints' [rad/s] (J, 3), as from `Clip.velocities_at`; None: still.
            most: Largest distance that is of interest.
            exact: Whether to compare with every frame, which takes some twenty times as long.

        Returns:
            The match; None where no frame is within `most`.
        """
        root, angular = velocities if velocities is not None else (np.zeros(3), np.zeros((len(pose.rotations), 3)))
        state = states_of(pose, root, angular)
        best: Match | None = None
        for group in self._groups:
            found = group.nearest(state, most, exact)
            if found is not None and (best is None or found.distance < best.distance):
                best, most = found, found.distance
        return best


class _Group:
    """Clips that share their weights."""

    def __init__(self, body: SkeletonBody, entries: Sequence[ClipEntry], fps: float) -> None:
        joints = np.repeat(joint_weights(body, entries[0].weights), 3)
        degrees = np.concatenate([np.ones(3), joints])
        weights = np.concatenate([degrees, VELOCITY * degrees]) / degrees.sum()
        weights[:2] = 0.0  # where on the ground
        # Only what weighs anything, single precision: an hour of motion must fit into memory.
        self._used = np.flatnonzero(weights)
        self._weights = weights[self._used]
        rows, self._names, self._strides, starts = [], [], [], [0]
        for entry in entries:
            stride = max(1, int(entry.clip.fps / fps + 1e-6))
            rows.append(self.weighted(_clip_states(entry.clip, stride)).astype(np.float32))
            self._names.append(entry.clip.name)
            self._strides.append(stride)
            starts.append(starts[-1] + len(rows[-1]))
        self._starts = np.array(starts)
        self._index = FrameIndex(np.concatenate(rows))

    def weighted(self, states: Floats) -> Floats:
        return np.asarray(states[..., self._used] * self._weights)

    def nearest(self, state: Floats, most: float, exact: bool) -> Match | None:
        found = self._index.nearest(self.weighted(state), most, exact=exact)
        if found is None:
            return None
        clip = int(np.searchsorted(self._starts, found.row, side="right")) - 1
        frame = (found.row - int(self._starts[clip])) * self._strides[clip]
        return Match(self._names[clip], frame, found.distance)


def _clip_states(clip: Clip, stride: int) -> Floats:
    """Return the states of every so many frames of a clip, its ground at z = 0."""
    linear, angular = clip.frame_velocities
    rows = slice(None, None, stride)
    return states_of(ClipPose(clip.root[rows], clip.rotations[rows]), linear[rows], angular[rows])


def variations(clips: Sequence[Clip], seconds: float, rng: np.random.Generator) -> Iterator[Clip]:
    """Yield variations of clips until they last so long: other speeds, sides, postures, and slow drifts of every joint.

    Args:
        clips: What to vary, in turn.
        seconds: How much motion is wanted [s].
        rng: Randomness.
    """
    made, number = 0.0, 0
    while made < seconds:
        clip = sped_up(clips[number % len(clips)], rng.uniform(0.7, 1.4))
        clip = mirrored(clip) if rng.random() < 0.5 else clip
        shape = (1, len(clip.skeleton), 3)
        phase = 2.0 * np.pi * rng.uniform(0.1, 0.6, shape) * clip.times[:, None, None] + rng.uniform(0.0, 6.28, shape)
        off = rng.normal(0.0, 0.06, shape) + 0.04 * np.sin(phase)  # [rad]
        off[:, 0] *= 0.3
        turned = multiply(clip.rotations, from_rotation_vector(off))
        yield replace(clip.with_motion(clip.root, turned), name=f"{clip.name} {number}")
        made += clip.duration
        number += 1
