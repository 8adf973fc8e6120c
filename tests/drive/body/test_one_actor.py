"""One machine follows clips, whoever asked for it: `stunt track`, a supervisor's data, or a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tracking_helpers import STRENGTH

from captured import CLIPS, needs_clips
from stunt.drive.body.actor import actor_of, follower_of
from stunt.drive.body.measures import measure
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import Bid
from stunt.supervise.data.clip import ClipController
from stunt.supervise.supervisor import Supervisor
from stunt.supervise.twin import Twin

LEAVES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8)
"""When the supervised body is handed over to forces [s], in as many runs over a stride: one run's drift is chance."""


def stage_with(path: str) -> tuple[StageLoop, BodyMotion]:
    body = CharacterSpec(path, root="free", strength=STRENGTH, self_collision=False)
    stage = StageLoop(Scene({"a": body}, physics_hz=120.0, control_hz=120.0))
    return stage, motion_of_clip(read_clip(path), stage.character("a"))


class StaysTwin(Twin):
    """Takes over when asked to, and tracks on to the motion's end, however near data is."""

    def bid(self, now):
        return Bid(1.0, "asked for") if now.request == self.name else None

    def step(self, now, actor):
        self._ask_at = now.time + 1.0
        return super().step(now, actor)


def supervised(path: str, seconds: float, leaves: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Follow a clip under forces as a supervisor's twin does: played, handed over, and kept on with."""
    stage, motion = stage_with(path)
    data = ClipController("clip", motion.trimmed(0.0, seconds), stage, "a")
    twin = StaysTwin(data)
    supervisor = Supervisor(stage, "a", [data, twin])
    stage.step(leaves)
    supervisor.request(twin.name)
    return followed(stage, min(seconds, motion.duration) - 0.1), supervisor.log


def tracked(path: str, seconds: float, seed: int) -> dict[str, Any]:
    """Follow it as `stunt track` does, from a start that is a little off."""
    stage, motion = stage_with(path)
    follower_of(stage, "a", motion.trimmed(0.0, seconds))
    stage.data.qvel[:] += np.random.default_rng(seed).normal(0.0, 0.05, stage.model.nv)
    return followed(stage, min(seconds, motion.duration) - 0.1)


def followed(stage: StageLoop, until: float) -> dict[str, Any]:
    time, qpos = [], []
    while stage.time < until:
        stage.advance(2)
        time.append(stage.time)
        qpos.append(stage.data.qpos.copy())
    return measure(actor_of(stage, "a"), np.array(time), np.array(qpos))


def compare(clip: str, seconds: float) -> None:
    path, mine, theirs = str(CLIPS.path(clip)), [], []
    for seed, leaves in enumerate(LEAVES):
        run, log = supervised(path, seconds, leaves)
        assert len([entry for entry in log if entry["event"] == "switch"]) == 2, log
        mine.append(run)
        theirs.append(tracked(path, seconds, seed))
    errors, drifts = ([np.mean([run[key] for run in runs]) for runs in (mine, theirs)]
                      for key in ("error_deg_mean", "drift_m"))  # fmt: skip
    print(f"{clip}: supervised {errors[0]:.3f}°, {drifts[0]:.3f} m; tracked {errors[1]:.3f}°, {drifts[1]:.3f} m "
          f"of {theirs[0]['path_m']:.2f} m")  # fmt: skip
    assert errors[0] <= 1.1 * errors[1]
    assert drifts[0] <= max(1.2 * drifts[1], 0.005)


@needs_clips
@pytest.mark.parametrize("clip", ["walk", "run", "punch", "idle"])
def test_a_supervised_body_follows_as_well_as_a_tracked_one(clip: str) -> None:
    compare(clip, 4.0)


@needs_clips
@pytest.mark.long
@pytest.mark.parametrize("clip", ["walk", "run", "punch", "idle"])
def test_a_supervised_body_follows_whole_clips_as_well_as_a_tracked_one(clip: str) -> None:
    compare(clip, 12.0)


def test_what_is_kept_on_with_is_prepared_like_what_is_followed() -> None:
    body = CharacterSpec("walk", root="free", strength=STRENGTH)
    stage = StageLoop(Scene({"a": body}, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip("walk"), stage.character("a"))
    actor = actor_of(stage, "a")
    actor.play(motion, blend=0.0, place=False)
    stage.step(0.3)
    actor.keep_on()
    rows, wanted = actor.rows, actor.motions.targets_of(motion)
    assert rows is not None and rows.torque is not None and rows.swing is not None and rows.twist is not None
    late = round(0.5 * rows.fps)  # past the time in which it goes over from data
    frame = (0.3 + late / rows.fps) * motion.fps
    k = round(frame)
    dots = np.abs((rows.turns[late + round((k - frame) / motion.fps * rows.fps)] * wanted.turns[k]).sum(axis=-1))
    assert np.degrees(2.0 * np.arccos(dots.clip(0.0, 1.0))).max() < 0.5
