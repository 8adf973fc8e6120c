"""A motion graph: clips, the places where one may turn into another, and only what never runs into a dead end.

The clips a motion graph is made of: one skeleton, one floor, and what the search needs to know of every frame.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import scipy

from stunt.archives import ArrayCache, user_cache
from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import mirrored
from stunt.motion.clips.standing import floor_height
from stunt.motion.graph.distance import Clouds, alignment, distance_map, local_minima, make_clouds
from stunt.motion.graph.planar import Planar
from stunt.motion.rig.skeleton_body import NEEDED

MIRROR = "~"
"""In front of the name of a clip with left and right exchanged."""
_VERSION = b"stunt distance map 1"
LAID_OUT = (
    3.0  # a looping clip is laid out for so long [s], at least twice: its end and its beginning are any two frames
)


@dataclass(frozen=True, eq=False)
class Source:
    """One clip as the graph sees it."""

    clip: Clip  #: On the common skeleton, its ground at z = 0, loops laid out
    parts: dict[str, int]  #: Which joint is which part of a person
    fps: float  #: The rate of the frames below [1/s]

    @property
    def name(self) -> str:
        """The clip's name."""
        return self.clip.name

    @cached_property
    def frames(self) -> int:
        """How many frames the graph sees."""
        return int(np.floor(self.clip.duration * self.fps + 1e-6)) + 1

    @cached_property
    def times(self) -> Floats:
        """When they are [s], (F,)."""
        return np.arange(self.frames) / self.fps

    @cached_property
    def points(self) -> Floats:
        """Where the parts' joints are in every frame [m], (F, P, 3)."""
        return np.asarray(self.clip.world_at(self.times).positions[:, sorted(set(self.parts.values()))])

    @cached_property
    def ground_track(self) -> Floats:
        """Where the root is over the ground and which way the hips face, in every frame: [m], [m], [rad], (F, 3)."""
        places = self.clip.world_at(self.times).positions
        across = places[:, self.parts["l_thigh"]] - places[:, self.parts["r_thigh"]]
        facing = np.arctan2(-across[:, 0], across[:, 1])  # forward is left turned back by a quarter
        return np.column_stack([places[:, 0, :2], np.unwrap(facing)])


def make_sources(clips: Sequence[Clip], fps: float, mirror: bool) -> tuple[Source, ...]:
    """Prepare clips for a graph.

    Args:
        clips: At least one; all of skeletons with the same joints. Bones of other lengths become the first clip's.
        fps: At which rate frames are compared [1/s].
        mirror: Whether every clip also counts with left and right exchanged.

    Raises:
        StuntError: No clips, two of one name, joints that differ, or a skeleton that is no person's.
    """
    if not clips:
        raise InvalidValueError("the clips of a motion graph", "none", "at least one")
    names = [clip.name for clip in clips]
    if len(set(names)) < len(names):
        raise InvalidValueError("the clips of a motion graph", ", ".join(names), "clips of different names")
    first = clips[0]
    parts = first.parts
    missing = [part for part in (*NEEDED, "l_foot", "r_foot") if part not in parts]
    if missing:
        raise StuntError(f"clip '{first.name}' has no joint that is {', '.join(missing)}; no motion graph can use it.")
    common = [_laid_out(_grounded(_on_skeleton(clip, first, parts), parts)) for clip in clips]
    if mirror:
        flipped = [replace(mirrored(clip), name=MIRROR + clip.name) for clip in common]
        common += [_grounded(clip, parts) for clip in flipped]
    return tuple(Source(clip, parts, fps) for clip in common)


def _on_skeleton(clip: Clip, model: Clip, parts: dict[str, int]) -> Clip:
    """Return a clip with another's bones; its way over the ground goes with the length of the legs."""
    if clip.skeleton.names != model.skeleton.names or clip.skeleton.parents != model.skeleton.parents:
        raise StuntError(f"clips '{model.name}' and '{clip.name}' have different joints; retarget one of them first.")
    ratio = _leg(model, parts) / _leg(clip, parts)
    moved = clip.with_motion(clip.root * ratio, clip.rotations, shifts=None)
    return replace(moved, skeleton=model.skeleton)


def _leg(clip: Clip, parts: dict[str, int]) -> float:
    joints = [parts[part] for part in ("l_shank", "l_foot", "r_shank", "r_foot")]
    return float(np.linalg.norm(clip.skeleton.offsets[joints], axis=-1).sum())


def _grounded(clip: Clip, parts: dict[str, int]) -> Clip:
    return clip.with_motion(clip.root - np.array([0.0, 0.0, floor_height(clip, parts)]), clip.rotations)


def _laid_out(clip: Clip) -> Clip:
    if not clip.loop or clip.duration <= 0.0:
        return clip
    rounds = max(2, math.ceil(LAID_OUT / clip.duration))
    times = np.arange(rounds * (clip.frames - 1) + 1) / clip.fps
    pose = clip.at(times)
    return clip.with_motion(pose.root, pose.rotations, loop=False)


@dataclass(frozen=True)
class GraphSettings:
    """How a graph is made."""

    fps: float = 30.0  #: At which rate frames are compared [1/s]
    blend: float = 0.4  #: How long going over from one clip to another takes [s]; also the window that is compared
    most: float = 0.12  #: Largest root-mean-square distance of the joints at a transition [m]
    apart: float = 0.25  #: A transition this close to a better one between the same clips does not count [s]
    mirror: bool = True  #: Whether every clip also counts with left and right exchanged

    def __post_init__(self) -> None:
        for what, value in (("fps", self.fps), ("blend", self.blend), ("most", self.most), ("apart", self.apart)):
            if not (np.isfinite(value) and value > 0.0):
                raise InvalidValueError(f"'{what}' of a motion graph", value, "a positive number")

    @property
    def half(self) -> int:
        """Frames before and after a transition that are compared and blended."""
        return max(1, round(0.5 * self.blend * self.fps))


@dataclass(frozen=True)
class Transition:
    """A place where one clip may turn into another.

    Blending begins in frame `leave` of clip `source`, and has ended in frame `arrive` of clip `target`.
    """

    source: int  #: Number of the clip that is left
    leave: int  #: The frame in which the blend begins
    target: int  #: Number of the clip that is entered
    arrive: int  #: The frame in which the blend has ended
    move: Planar  #: Brings the target's frames to where the source's are
    cost: float  #: How far the joints are apart [m], root mean square over the blend


@dataclass(frozen=True, eq=False)
class MotionGraph:
    """Clips and transitions between them; from every kept frame every other kept one can be reached."""

    sources: tuple[Source, ...]  #: The clips
    settings: GraphSettings  #: How it was made
    transitions: tuple[Transition, ...]  #: Sorted by the clip and frame they leave
    kept: tuple[np.ndarray, ...]  #: For each clip which frames belong to the graph, (F,) bool
    found: int  #: How many transitions there were before dead ends were cut off

    @property
    def seconds(self) -> float:
        """How much motion is in it [s]."""
        return float(sum(flags.sum() for flags in self.kept)) / self.settings.fps

    @property
    def skeleton_clip(self) -> Clip:
        """A clip with the skeleton of all."""
        return self.sources[0].clip

    def source_number(self, name: str) -> int:
        """Return a clip's number by name, or say which there are."""
        names = [source.name for source in self.sources]
        if name not in names:
            raise UnknownNameError("clip of the motion graph", name, names)
        return names.index(name)


def build_graph(
    clips: Sequence[Clip],
    settings: GraphSettings | None = None,
    *,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MotionGraph:
    """Make a motion graph.

    Args:
        clips: What it is made of; looping clips (`Clip.loop`) go on from their end.
        settings: How.
        cache: A folder in which distance maps are kept and found again; None keeps nothing.
        progress: Called with how many maps are done, of how many.

    Raises:
        StuntError: Clips that do not go together, or among which nothing goes on for ever.
    """
    settings = settings or GraphSettings()
    sources = make_sources(clips, settings.fps, settings.mirror)
    found = _transitions(sources, settings, None if cache is None else ArrayCache(cache), progress)
    kept, alive = _without_dead_ends(sources, found)
    if not alive:
        nearest = "shorter blends or a larger `most`"
        raise StuntError(
            f"no way through {', '.join(s.name for s in sources)} goes on for ever "
            f"({len(found)} transitions of at most {settings.most:g} m); try more clips, {nearest}."
        )
    order = sorted(alive, key=lambda one: (one.source, one.leave, one.target, one.arrive))
    return MotionGraph(sources, settings, tuple(order), kept, len(found))


def _transitions(
    sources: Sequence[Source],
    settings: GraphSettings,
    cache: ArrayCache | None,
    progress: Callable[[int, int], None] | None,
) -> list[Transition]:
    half, spread = settings.half, max(1, round(settings.apart * settings.fps))
    clouds = [make_clouds(source.points, half) for source in sources]
    found: list[Transition] = []
    count = len(sources)
    for a in range(count):
        for b in range(a, count):  # the map of (b, a) is the same one, transposed
            costs = _map(sources[a], sources[b], clouds[a], clouds[b], half, cache)
            if a == b:
                _forget_diagonal(costs, 2 * half)
            pairs = local_minima(costs, settings.most, _REACH, spread)
            found += [_transition(a, b, int(i), int(j), clouds, costs, half) for i, j in pairs]
            if a != b:
                found += [_transition(b, a, int(j), int(i), clouds, costs.T, half) for i, j in pairs]
            if progress is not None:
                progress(a * count - a * (a - 1) // 2 + b - a + 1, count * (count + 1) // 2)
    return found


def _map(one: Source, other: Source, a: Clouds, b: Clouds, half: int, cache: ArrayCache | None) -> np.ndarray:
    key = map_key(one.points, other.points, half) if cache is not None else ""
    known = (cache.load(key) or {}).get("costs") if cache is not None else None
    if known is not None and known.shape == (len(a.x), len(b.x)) and np.isfinite(known).all():
        return np.asarray(known, dtype=np.float64)
    # A tenth of a millimetre is finer than any capture and coarser than the noise of summing in another order, so that
    # a graph is the same on every machine; and single precision is what is kept.
    costs = np.round(distance_map(a, b), 4).astype(np.float32).astype(np.float64)
    if cache is not None:
        cache.keep(key, {"costs": costs.astype(np.float32)})
    return costs


def users_maps() -> Path:
    """Return the folder where a user's distance maps are kept."""
    return user_cache("motion_graphs")


def map_key(one: Floats, other: Floats, half: int) -> str:
    """Return what the map of two clips' joints (F, P, 3) with windows of `half` frames to either side is kept by."""
    digest = hashlib.sha256(_VERSION + half.to_bytes(4, "little"))
    for points in (one, other):
        digest.update(repr(points.shape).encode())
        digest.update(np.ascontiguousarray(points).tobytes())
    return digest.hexdigest()[:40]


_FAR: Final = 1e9
_REACH: Final = 1  # a minimum is lower than its neighbours [frames]


def _forget_diagonal(costs: np.ndarray, near: int) -> None:
    """A frame is always like itself and its neighbours: going there is no transition."""
    frames = np.arange(len(costs))
    costs[np.abs(frames[:, None] - frames) <= near] = _FAR


def _transition(a: int, b: int, i: int, j: int, clouds: Sequence[Clouds], costs: np.ndarray, half: int) -> Transition:
    """Cloud number n is frame n + half: the blend begins in frame n of the source and ends in n + 2·half."""
    return Transition(a, i, b, j + 2 * half, alignment(clouds[a], clouds[b], i, j), float(costs[i, j]))


def _without_dead_ends(
    sources: Sequence[Source], found: Sequence[Transition]
) -> tuple[tuple[np.ndarray, ...], list[Transition]]:
    """Return which frames lie in the largest strongly connected part, and the transitions inside it."""
    starts = np.concatenate([[0], np.cumsum([source.frames for source in sources])])
    here = [starts[k] + np.arange(source.frames - 1) for k, source in enumerate(sources)]
    tails = np.concatenate([*here, [starts[t.source] + t.leave for t in found]]).astype(np.int64)
    heads = np.concatenate([*(h + 1 for h in here), [starts[t.target] + t.arrive for t in found]]).astype(np.int64)
    size = int(starts[-1])
    edges = scipy.sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(size, size))
    _, label = scipy.sparse.csgraph.connected_components(edges.tocsr(), directed=True, connection="strong")
    largest = int(np.argmax(np.bincount(label)))
    inside = label == largest
    alive = [t for t in found if inside[starts[t.source] + t.leave] and inside[starts[t.target] + t.arrive]]
    return tuple(inside[starts[k] : starts[k + 1]] for k in range(len(sources))), alive
