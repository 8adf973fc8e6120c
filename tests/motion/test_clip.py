"""Sampling, velocities, loops, and cutting and mixing of clips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from clip_helpers import random_clip

from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.maths.rotations import difference, rotate
from stunt.motion.clips import edit as clip_edit


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(difference(a, b), axis=-1).max())


def test_at_a_frame_a_clip_is_that_frame_and_between_frames_on_the_way() -> None:
    clip = random_clip()
    pose = clip.at(clip.times)
    assert np.allclose(pose.root, clip.root, atol=1e-12)
    assert _angle(pose.rotations, clip.rotations) < 1e-7
    middle = clip.at(2.5 / clip.fps)
    to_first = np.linalg.norm(difference(middle.rotations, clip.rotations[2]), axis=-1)
    to_next = np.linalg.norm(difference(clip.rotations[3], middle.rotations), axis=-1)
    assert np.allclose(to_first, to_next, atol=1e-9)


def test_sampling_many_times_is_sampling_each() -> None:
    clip = random_clip()
    times = np.array([-0.1, 0.0, 0.123, 0.4, 9.0])
    many = clip.world_at(times)
    for number, time in enumerate(times):
        one = clip.world_at(float(time))
        assert np.allclose(many.positions[number], one.positions)
        assert _angle(many.rotations[number], one.rotations) < 1e-7


def test_the_world_of_every_joint_is_its_parents_world_times_its_own() -> None:
    clip = random_clip()
    world = clip.world
    for joint, parent in enumerate(clip.skeleton.parents):
        if parent >= 0:
            reached = world.positions[:, parent] + rotate(world.rotations[:, parent], clip.skeleton.offsets[joint])
            assert np.allclose(reached, world.positions[:, joint])


def test_velocities_are_the_derivatives_of_what_is_sampled() -> None:
    clip = random_clip(fps=240.0, frames=160)
    time, step = 0.3, 1.0 / 240
    before, after = clip.at(time - step), clip.at(time + step)
    linear, angular = clip.velocities_at(time)
    assert np.allclose(linear, (after.root - before.root) / (2 * step), atol=1e-6)
    assert np.allclose(angular, difference(after.rotations, before.rotations) / (2 * step), atol=1e-3)


def test_a_loop_goes_on_where_it_left_off_and_can_be_run_backwards() -> None:
    walk = replace(load_clip("walk"), loop=True)
    seam = walk.duration
    for shift in (-1, 1, 2, 5):
        before, after = walk.at(shift * seam - 1e-6), walk.at(shift * seam + 1e-6)
        assert np.abs(before.root - after.root).max() < 1e-4
        assert _angle(before.rotations, after.rotations) < np.radians(1.0)
    assert walk.at(3 * seam).root[0] - walk.at(0.0).root[0] == pytest.approx(3 * walk.stride[1][0], abs=1e-6)


def test_a_loop_that_turns_keeps_turning() -> None:
    clip = replace(random_clip(), loop=True)
    start, once, twice = clip.at(0.0), clip.at(clip.duration * (1 + 1e-12)), clip.at(2 * clip.duration)
    way, again = (once.root - start.root)[:2], (twice.root - once.root)[:2]
    assert np.linalg.norm(way) == pytest.approx(np.linalg.norm(again), abs=1e-9)


def test_mirroring_twice_gives_the_clip_back_and_once_exchanges_the_sides() -> None:
    kick = load_clip("kick")
    mirror = clip_edit.mirrored(kick)
    assert _angle(clip_edit.mirrored(mirror).rotations, kick.rotations) < 1e-7
    left, right = kick.skeleton.joint("LeftFoot"), kick.skeleton.joint("RightFoot")
    seen = kick.world.positions[:, right] * [1, -1, 1]
    assert np.allclose(mirror.world.positions[:, left], seen, atol=1e-6)


def test_trimming_keeps_frames_and_warping_bends_time() -> None:
    clip = random_clip(frames=61)
    part = clip_edit.trimmed(clip, 0.25, 0.75)
    assert part.frames == 31 and np.allclose(part.root[0], clip.root[15])
    fast = clip_edit.sped_up(clip, 2.0)
    assert fast.duration == pytest.approx(0.5) and np.allclose(fast.at(0.3).root, clip.at(0.6).root)
    slow = clip_edit.warped(clip, lambda t: t**2, 1.0)
    assert np.allclose(slow.at(0.5).root, clip.at(0.25).root)
    assert clip_edit.resampled(clip, 30.0).frames == 31
    with pytest.raises(StuntError, match="do not fall"):
        clip_edit.warped(clip, lambda t: -t, 1.0)


def test_joined_clips_start_as_the_first_and_end_as_the_second_without_a_jump() -> None:
    walk, punch = load_clip("walk"), load_clip("punch")
    both = clip_edit.joined(walk, punch, 0.4)
    assert _angle(both.rotations[0], walk.rotations[0]) < 1e-7
    assert _angle(both.rotations[-1][1:], punch.rotations[-1][1:]) < 1e-6
    steps = np.linalg.norm(np.diff(both.root, axis=0), axis=-1)
    assert steps.max() < 0.06
    with pytest.raises(StuntError, match="different skeletons"):
        clip_edit.joined(walk, random_clip(), 0.1)
