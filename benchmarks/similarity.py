"""How long it takes to find the most similar frame in an hour of motion, and how near to the best it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from benchmarks.result import Measurement
from benchmarks.timing import stopwatch
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.motion.layout import Layout
from stunt.library.names import load_clip
from stunt.maths.rotations import Floats, from_rotation_vector, multiply
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import mirrored, resampled, sped_up
from stunt.stage.build import build
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.similarity import Similarity

BAR: Final = 1.0
"""[ms]."""
HOUR: Final = 3600.0
FPS: Final = 30.0
"""Frames per second of the motion; the paper's rate."""
LIKE: Final = 0.06
"""What a clip player calls alike."""
_CLIPS = ("idle", "walk", "walk_turn", "walk_curve", "walk_start", "walk_stop", "punch", "kick", "stand_up")
_SEED = 7

State = tuple[Floats, Floats]


def measure(quick: bool = False) -> list[Measurement]:
    """Search an hour of varied clips (five minutes when quick) for states of other variations."""
    rng = np.random.default_rng(_SEED)
    clips = [load_clip(name) for name in _CLIPS]
    built = build(Scene({"ada": CharacterSpec(_CLIPS[1], root="free")}))
    ada = built.characters["ada"]
    varied = [resampled(clip, FPS) for clip in variations(clips, HOUR / 12 if quick else HOUR, rng)]
    index = Similarity.to_motions(built.model, ada, [motion_of_clip(clip, ada) for clip in varied])
    layout, states = Layout.of(ada), list[State]()
    for clip in variations(clips, 20.0 if quick else 400.0, rng):
        frames = layout.frames(motion_of_clip(clip, ada))
        states += [(row[: layout.nq], row[layout.nq :]) for row in frames[rng.integers(0, len(frames), 3)]]
    strangers = [_mixed_up(layout, state, rng) for state in states]
    off = [_distance(index, state) / _distance(index, state, exact=True) for state in states[:40]]
    note = f"{index.frames / FPS / 60:.0f} minutes of motion at {FPS:g} frames per second, {len(states)} states"
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


def _mixed_up(layout: Layout, state: State, rng: np.random.Generator) -> State:
    """Return a state in which every joint has another's rotation."""
    qpos, qvel = state[0].copy(), state[1]
    columns = layout.turn_q[:, None] + np.arange(4)
    qpos[columns] = qpos[columns[rng.permutation(len(columns))]]
    return qpos, qvel


def _missed(index: Similarity, states: Iterable[State]) -> float:
    """Return in which share of the states that are alike to a frame none is found."""
    alike = [state for state in states if index.best(*state, LIKE, exact=True) is not None]
    return float(np.mean([index.best(*state, LIKE) is None for state in alike])) if alike else 0.0


def _distance(index: Similarity, state: State, exact: bool = False) -> float:
    found = index.best(*state, exact=exact)
    assert found is not None  # nothing is too far here
    return max(found.distance, 1e-9)


def _milliseconds(index: Similarity, states: list[State], percent: float, most: float = np.inf) -> float:
    index.best(*states[0])
    seconds = [min(stopwatch(lambda s=state: index.best(*s, within=most)) for _ in range(3)) for state in states]  # type: ignore[misc]
    return 1e3 * float(np.percentile(seconds, percent))


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
