"""Where motions one after another take a body that nothing acts on: each is gone over to as data is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.feet.blend import blend_into, window
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.playing import NOWHERE, Track, moved, place_between
from stunt.maths.rotations import Floats


@dataclass(frozen=True, eq=False)
class Stretch:
    """A motion, and from when on it is done.

    Attributes:
        begin: When [s].
        motion: What, fitted to the body; the first one where it is, others are placed where the body is.
        blend: How long going over to it takes [s].
        facing: Which way its first frame faces [rad], for where the body is then, (nq,); None: as the body does.
    """

    begin: float
    motion: BodyMotion
    blend: float = 0.3
    facing: Callable[[Floats], float] | None = None


def lay_course(model: mujoco.MjModel, character: Character, course: Sequence[Stretch], times: Floats) -> Floats:
    """Return a body's own coordinates at some times, (T, nq); what ends before the next one begins is held.

    Args:
        model: The scene.
        character: Who; its root is free.
        course: What it does, in the order of time.
        times: When [s], (T,).
    """
    layout = Layout.of(character)
    path = np.zeros((len(times), layout.nq))
    ends = [*(after.begin for after in course[1:]), float(times.max(initial=course[-1].begin)) + 1.0]
    state = None
    for one, end in zip(course, ends, strict=True):
        now = (times >= one.begin) & (times < end) if state is not None else times < end
        frames = _frames(model, character, layout, one, state, end - one.begin)
        path[now] = _at(layout, frames, one.motion.fps, times[now] - one.begin)[:, : layout.nq]
        state = _at(layout, frames, one.motion.fps, np.array([end - one.begin]))[0]
    return path


def _frames(
    model: mujoco.MjModel, character: Character, layout: Layout, one: Stretch, state: Floats | None, seconds: float
) -> Floats:
    """Return frames of a motion gone over to from a state, for some seconds, (F, nq + nv)."""
    track, fps = Track.of(layout, one.motion), one.motion.fps
    count = math.ceil(seconds * fps) + 2
    if state is None:
        return _held(track, track.laid(0, count, NOWHERE, opens=True), 0)
    here = state[: layout.nq]
    if one.facing is not None:
        faced = BodyMotion("", fps, here[None]).placed((float(here[0]), float(here[1])), one.facing(here))
        at = place_between(track.base[0], faced.qpos[0])
    else:
        at = track.place_at(0, here)
    if one.blend <= 0.0:
        return _held(track, track.laid(0, count, at), 0)
    begins = track.laid(0, min(track.ahead(0), window(one.blend, fps)), at)
    lead, by = blend_into(
        model, character, layout, here, state[layout.nq :], begins, fps, one.blend, wait=one.blend, shift=True
    )
    rest = track.laid(len(lead), max(count - len(lead), 1), moved(at, by))
    return np.concatenate([lead, _held(track, rest, len(lead))])


def _held(track: Track, frames: Floats, first: int) -> Floats:
    """Return frames from one on; those past the end of a motion are at rest."""
    if not track.loop:
        frames[max(len(track.base) - first, 0) :, track.layout.nq :] = 0.0
    return frames


def _at(layout: Layout, frames: Floats, fps: float, times: Floats) -> Floats:
    """Return states between frames at some times [s], (T, nq + nv)."""
    x = np.clip(times * fps, 0.0, len(frames) - 1.0)
    low = np.minimum(x.astype(int), len(frames) - 2)
    share, (one, other) = (x - low)[:, None], (frames[low], frames[low + 1])
    nq = layout.nq
    qpos = layout.moved(one[:, :nq], share * layout.difference(other[:, :nq], one[:, :nq]))
    return np.concatenate([qpos, one[:, nq:] + share * (other[:, nq:] - one[:, nq:])], axis=1)
