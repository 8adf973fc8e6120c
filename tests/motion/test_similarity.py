"""The most similar frame: what counts, what does not, and that it is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from clip_helpers import random_clip

from benchmarks.similarity_states import ClipEntry, SimilarityIndex, joint_weights, states_of, variations
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.maths.rotations import from_rotation_vector, heading, multiply, rotate, to_rotation_vector
from stunt.motion.clips.clip import ClipPose
from stunt.motion.clips.edit import placed
from stunt.motion.frame_index import FEW, FrameIndex
from stunt.motion.rig.skeleton_body import body_from_clip

NAMES = ("idle", "walk", "walk_turn", "punch", "kick", "stand_up")


def index_of(*entries):
    return SimilarityIndex(entries or [load_clip(name) for name in NAMES])


def test_every_frame_finds_itself_wherever_it_is_and_wherever_it_faces():
    index, rng = index_of(), np.random.default_rng(0)
    for name in NAMES:
        clip = placed(load_clip(name), rng.normal(size=2) * 10, rng.uniform(-3, 3))
        for frame in range(4, clip.frames - 4, 16):
            time = frame / clip.fps
            match = index.nearest(clip.at(time), clip.velocities_at(time))
            assert match.distance < 1e-5, (name, frame, match)


def test_the_distance_is_the_weighted_mean_of_absolute_differences():
    walk, kick = load_clip("walk"), load_clip("kick")
    index = SimilarityIndex([walk])
    pose, velocities = kick.at(1.0), kick.velocities_at(1.0)
    match = index.nearest(pose, velocities, exact=True)

    def state(clip, time):
        p, (v, spin) = clip.at(time), clip.velocities_at(time)
        back = from_rotation_vector(np.array([0.0, 0.0, -heading(p.rotations[0])]))
        turns = p.rotations.copy()
        turns[0] = multiply(back, turns[0])
        return np.concatenate([p.root[2:], to_rotation_vector(turns).ravel()]), np.concatenate(
            [rotate(back, v), spin.ravel()]
        )

    weights = np.repeat(joint_weights(body_from_clip(walk)), 3)
    (q, v), (q_walk, v_walk) = state(kick, 1.0), state(walk, match.frame / walk.fps)
    total = np.abs(q - q_walk) @ np.concatenate([[1.0], weights])
    total += 0.1 * np.abs(v - v_walk) @ np.concatenate([np.ones(3), weights])
    assert match.distance == pytest.approx(total / (3 + weights.sum()), rel=1e-4)


def test_a_trunk_weighs_more_than_a_wrist():
    body = body_from_clip(load_clip("walk"))
    weights = dict(zip(body.clip.skeleton.names, joint_weights(body), strict=True))
    assert weights["Hips"] == pytest.approx(1.0)
    assert weights["Spine"] > 0.4 > weights["LeftUpLeg"] > weights["LeftArm"] > weights["LeftHand"] > 0.0
    assert weights["LeftUpLeg"] == pytest.approx(weights["RightUpLeg"])


def test_velocity_counts():
    clip = load_clip("walk_start")
    index = SimilarityIndex([clip])
    pose, (root, spin) = clip.at(2.5), clip.velocities_at(2.5)
    moving, still = index.nearest(pose, (root, spin)), index.nearest(pose)
    assert moving.distance < 1e-5
    assert still.distance > 0.02


def test_a_clip_can_say_what_counts_for_it():
    """Hanging on a bar: the hands count, the legs do not."""
    clip = load_clip("idle")
    legs = [name for name in clip.skeleton.names if "Leg" in name or "Foot" in name or "Toe" in name]
    hanging = ClipEntry(replace(clip, name="hang"), {**dict.fromkeys(legs, 0.0), "LeftHand": 3.0, "RightHand": 3.0})
    usual, own = SimilarityIndex([clip]), SimilarityIndex([hanging])

    def turned(joint):
        rotations = clip.rotations[0].copy()
        number = clip.skeleton.joint(joint)
        rotations[number] = multiply(rotations[number], from_rotation_vector(np.array([0.0, 0.8, 0.0])))
        return ClipPose(clip.root[0], rotations)

    assert usual.nearest(turned("LeftUpLeg")).distance > 5 * usual.nearest(turned("LeftHand")).distance
    assert own.nearest(turned("LeftUpLeg")).distance < 0.01 < own.nearest(turned("LeftHand")).distance
    both = SimilarityIndex([clip, hanging])
    assert both.nearest(turned("LeftUpLeg")).clip == "hang"
    assert both.nearest(turned("LeftHand")).clip == "idle"


def test_nothing_is_found_where_nothing_is_alike():
    index = SimilarityIndex([load_clip("walk"), load_clip("idle")])
    lying = load_clip("stand_up")
    assert index.nearest(lying.at(0.1), lying.velocities_at(0.1), most=0.06) is None
    assert index.nearest(lying.at(0.1), lying.velocities_at(0.1)).distance > 0.1


def test_in_much_motion_what_is_found_is_as_near_as_can_be():
    rng = np.random.default_rng(3)
    clips = [load_clip(name) for name in NAMES]
    index = SimilarityIndex(list(variations(clips, 300.0, rng)))
    worse = []
    for clip in variations(clips, 40.0, rng):
        pose, velocities = clip.at(1.0), clip.velocities_at(1.0)
        worse.append(index.nearest(pose, velocities).distance / index.nearest(pose, velocities, exact=True).distance)
    print(f"\nfound {100 * (np.mean(worse) - 1):.2f} % farther than the very nearest at the mean, {np.max(worse):.3f}×")
    assert index.seconds > 300.0
    assert np.mean(worse) < 1.05
    assert np.max(worse) < 1.5


def test_few_rows_are_compared_exactly():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(FEW, 21))
    index = FrameIndex(rows)
    for query in rng.normal(size=(20, 21)):
        found = index.nearest(query)
        far = np.abs(rows - query).sum(axis=1)
        assert (found.row, found.distance) == (int(far.argmin()), pytest.approx(far.min(), rel=1e-5))
        assert index.nearest(query, most=0.99 * far.min()) is None


def test_states_of_many_frames_are_those_of_each():
    clip = load_clip("kick")
    times = np.linspace(0.0, 2.0, 7)
    many = states_of(clip.at(times), *clip.velocities_at(times))
    each = [states_of(clip.at(time), *clip.velocities_at(time)) for time in times]
    assert np.allclose(many, each)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(StuntError, match="no clips"):
        SimilarityIndex([])
    with pytest.raises(StuntError, match="different joints"):
        SimilarityIndex([load_clip("walk"), random_clip()])
    with pytest.raises(StuntError, match="LeftHand"):
        SimilarityIndex([ClipEntry(load_clip("walk"), {"Tail": 1.0})])
    clip = load_clip("walk")
    with pytest.raises(StuntError, match="finite"):
        SimilarityIndex([clip]).nearest(ClipPose(np.full(3, np.nan), clip.rotations[0]))
