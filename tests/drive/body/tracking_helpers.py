"""Characters that follow captured clips, for the tests of tracking. The clips are not part of the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from captured import CLIPS
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.measures import measure
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip, repeated
from stunt.jobs.job import Job, Row
from stunt.library.read import read_clip
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

STRENGTH = 1.5
_MOTIONS: dict[Path, BodyMotion] = {}


def tracked(
    name: str,
    *,
    seconds: float = 12.0,
    hz: float = 120.0,
    gravity: float = -9.81,
    settings: ServoSettings | None = None,
    root: RootSpring | None = None,
    props: dict[str, PropSpec] | None = None,
    strength: float = STRENGTH,
    seed: int | None = None,
) -> BodyActor:
    """Put a character built from a clip on a stage, following it; a seed perturbs its start a little."""
    path = CLIPS.path(name)
    body = CharacterSpec(str(path), root="free", strength=strength, self_collision=False)
    down, ground = (0.0, 0.0, gravity), gravity != 0.0
    stage = StageLoop(Scene({"a": body}, props or {}, physics_hz=hz, control_hz=hz, gravity=down, ground=ground))
    if path not in _MOTIONS:
        motion = motion_of_clip(read_clip(path), stage.character("a"))
        _MOTIONS[path] = repeated(motion, CLIPS.lasts(name)) if CLIPS.lasts(name) else motion
    motion = _MOTIONS[path].trimmed(0.0, min(seconds, _MOTIONS[path].duration))
    tracker = follower_of(stage, "a", motion, settings=settings, root=root)
    if seed is not None:
        rng, data, last = np.random.default_rng(seed), stage.data, int(tracker.program.actors[tracker.number]["dof1"])
        data.qvel[:3] += rng.normal(0.0, 0.05, 3)
        data.qvel[3:last] += rng.normal(0.0, 0.1, last - 3)
    return tracker


def follow(tracker: BodyActor, seconds: float | None = None) -> dict[str, Any]:
    """Follow to the end and measure."""
    stage, time, qpos = tracker.stage, [], []
    ticks = stage.tick_of(tracker.motion.duration if seconds is None else seconds) - stage.tick
    for _ in range(ticks // 2):
        stage.advance(2)
        time.append(stage.time)
        qpos.append(stage.data.qpos.copy())
    return measure(tracker, np.array(time), np.array(qpos))


def followed_once(job: Job) -> Row:
    """Follow a clip, whole, from one perturbed start, as a job; its row holds what was measured as JSON."""
    told = job.arguments
    settings = None if told["settings"] is None else ServoSettings(**told["settings"])
    tracker = tracked(
        told["clip"], seconds=1e9, root=RootSpring(**told["root"]), strength=told["strength"], settings=settings,
        seed=told["seed"],
    )  # fmt: skip
    return {"run": json.dumps(follow(tracker))}
