"""How long it takes to find the most similar frame in an hour of motion, and how near to the best it is."""

from __future__ import annotations

import numpy as np

from benchmarks.result import Measurement
from benchmarks.similarity_states import SimilarityIndex, variations
from benchmarks.timing import stopwatch
from stunt.library.names import load_clip
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import ClipPose

BAR = 1.0  # [ms]
HOUR = 3600.0
LIKE = 0.06  # what a clip player calls alike
_CLIPS = ("idle", "walk", "walk_turn", "walk_curve", "walk_start", "walk_stop", "punch", "kick", "stand_up")
_SEED = 7

State = tuple[ClipPose, tuple[Floats, Floats]]


def measure(quick: bool = False) -> list[Measurement]:
    """Search an hour of varied clips (five minutes when quick) for states of other variations."""
    rng = np.random.default_rng(_SEED)
    clips = [load_clip(name) for name in _CLIPS]
    index = SimilarityIndex(list(variations(clips, HOUR / 12 if quick else HOUR, rng)))
    states = _states(variations(clips, 20.0 if quick else 400.0, rng), rng)
    strangers = [_mixed_up(state, rng) for state in states]
    off = [_distance(index, state) / _distance(index, state, exact=True) for state in states[:40]]
    note = f"{index.seconds / 60:.0f} minutes of motion at 30 frames per second, {len(states)} states"
    return [
        Measurement("most similar frame of an hour: median", _milliseconds(index, states, 50), "ms", BAR, note),
        Measurement("the same, 95 of 100 searches", _milliseconds(index, states, 95), "ms", BAR, note),
        Measurement(
            "the same, states like nothing in it", _milliseconds(index, strangers, 95, LIKE), "ms", BAR,
            f"95 of 100 searches, within {LIKE:g}",
        ),
        Measurement(
            "farther than the very nearest", 100.0 * (float(np.mean(off)) - 1.0), "%", None,
            f"mean; {100 * np.mean(np.array(off) < 1.0001):.0f} % of the searches find the very nearest",
        ),
        Measurement(
            "searches that miss what is alike", 100.0 * _missed(index, states), "%", None,
            f"a frame within {LIKE:g} is there, none is found",
        ),
    ]  # fmt: skip


def _states(clips: object, rng: np.random.Generator) -> list[State]:
    found: list[State] = []
    for clip in clips:  # type: ignore[attr-defined]
        for time in rng.uniform(0.0, clip.duration, 3):
            found.append((clip.at(time), clip.velocities_at(time)))
    return found


def _mixed_up(state: State, rng: np.random.Generator) -> State:
    """Return a state in which every joint has another's rotation."""
    pose, velocities = state
    return ClipPose(pose.root, pose.rotations[rng.permutation(len(pose.rotations))]), velocities


def _missed(index: SimilarityIndex, states: list[State]) -> float:
    """Return in which share of the states that are alike to a frame none is found."""
    alike = [state for state in states if index.nearest(*state, most=LIKE, exact=True) is not None]
    return float(np.mean([index.nearest(*state, most=LIKE) is None for state in alike])) if alike else 0.0


def _distance(index: SimilarityIndex, state: State, exact: bool = False) -> float:
    found = index.nearest(*state, exact=exact)
    assert found is not None  # nothing is too far here
    return max(found.distance, 1e-9)


def _milliseconds(index: SimilarityIndex, states: list[State], percent: float, most: float = np.inf) -> float:
    index.nearest(*states[0])
    seconds = [min(stopwatch(lambda s=state: index.nearest(*s, most=most)) for _ in range(3)) for state in states]  # type: ignore[misc]
    return 1e3 * float(np.percentile(seconds, percent))
