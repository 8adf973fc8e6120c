"""The most similar frame: what counts, what does not, and that it is found."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import make_stage

from benchmarks.similarity import variations
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.motion.layout import Layout
from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.maths.rotations import from_rotation_vector, heading, multiply, rotate, to_rotation_vector
from stunt.motion.frame_index import FEW
from stunt.supervise.similarity import VELOCITY, Similarity, dof_weights

NAMES = ("idle", "walk", "walk_turn", "punch", "kick", "stand_up")
STAGE = make_stage()
ADA = STAGE.character("ada")
LAYOUT = Layout.of(ADA)


def motion(name):
    return motion_of_clip(load_clip(name), ADA)


def similarity(*names, weights=None):
    return Similarity.to_motions(STAGE.model, ADA, [motion(name) for name in names or NAMES], weights)


def states(some):
    """Positions and velocities of a motion's frames."""
    frames = LAYOUT.frames(some)
    return frames[:, : LAYOUT.nq], frames[:, LAYOUT.nq :]


def test_every_frame_finds_itself_wherever_it_is_and_wherever_it_faces():
    index, rng = similarity(), np.random.default_rng(0)
    for name in NAMES:
        moved = motion(name).placed(tuple(rng.normal(size=2) * 10), rng.uniform(-3, 3))
        qpos, qvel = states(moved)
        for frame in range(4, len(qpos) - 4, 16):
            match = index.best(qpos[frame], qvel[frame])
            assert match.distance < 1e-5, (name, frame, match)


def test_the_distance_is_the_weighted_mean_of_absolute_differences():
    index = similarity("walk")
    (walk_q, walk_v), (kick_q, kick_v) = states(motion("walk")), states(motion("kick"))
    match = index.best(kick_q[30], kick_v[30])

    def seen(qpos, qvel):
        """Height and rotation vectors, then velocities, as seen from where the root faces."""
        back = from_rotation_vector(np.array([0.0, 0.0, -heading(qpos[3:7])]))
        turns = LAYOUT.turns(qpos).copy()
        turns[0] = multiply(back, turns[0])
        moving = np.concatenate([rotate(back, qvel[:3]), LAYOUT.spins(qvel).ravel()])
        return np.concatenate([qpos[2:3], to_rotation_vector(turns).ravel()]), moving

    weights = dof_weights(STAGE.model, ADA)
    (q, v), (q_walk, v_walk) = seen(kick_q[30], kick_v[30]), seen(walk_q[match.frame], walk_v[match.frame])
    total = np.abs(q - q_walk) @ weights[2:] + VELOCITY * np.abs(v - v_walk) @ weights
    assert match.distance == pytest.approx(total / weights.sum(), rel=1e-9)
    assert match.distance == pytest.approx(index.distance(kick_q[30], kick_v[30], match.frame), rel=1e-9)


def test_a_trunk_weighs_more_than_a_wrist():
    names = [joint.name for joint in ADA.joints.values() for _ in range(joint.nv)]
    weights = dict(zip(names, dof_weights(STAGE.model, ADA)[6:], strict=True))
    thigh, trunk, wrist = weights["l_hip"], max(weights.values()), min(weights.values())
    assert trunk > 0.4 > thigh > wrist > 0.0
    assert thigh == pytest.approx(weights["r_hip"])


def test_velocity_counts():
    index = similarity("walk_start")
    qpos, qvel = states(motion("walk_start"))
    frame = round(2.5 * motion("walk_start").fps)
    assert index.best(qpos[frame], qvel[frame]).distance < 1e-5
    assert index.best(qpos[frame], 0.0 * qvel[frame]).distance > 0.02


def test_weights_of_ones_own_say_what_counts():
    """Hanging on a bar: the hands count, the legs do not."""
    legs = {name: 0.0 for name in ADA.joints if "hip" in name or "knee" in name or "ankle" in name}
    usual, own = similarity("idle"), similarity("idle", weights={**legs, "l_wrist": 3.0})
    qpos, qvel = states(motion("idle"))

    def turned(joint):
        pose, first = qpos[0].copy(), ADA.joints[joint].qpos - ADA.root.qpos
        pose[first : first + 4] = multiply(pose[first : first + 4], from_rotation_vector(np.array([0.0, 0.8, 0.0])))
        return pose, qvel[0]

    assert usual.best(*turned("l_hip")).distance > 3 * usual.best(*turned("l_wrist")).distance
    assert own.best(*turned("l_hip")).distance < 0.02 < own.best(*turned("l_wrist")).distance


def test_nothing_is_found_where_nothing_is_alike():
    index = similarity("walk", "idle")
    qpos, qvel = states(motion("stand_up"))
    assert index.best(qpos[3], qvel[3], 0.06) is None
    assert index.best(qpos[3], qvel[3]).distance > 0.1


def test_in_much_motion_what_is_found_is_as_near_as_can_be():
    rng = np.random.default_rng(3)
    clips = [load_clip(name) for name in NAMES]
    index = Similarity.to_motions(
        STAGE.model, ADA, [motion_of_clip(clip, ADA) for clip in variations(clips, 300.0, rng)]
    )
    assert index.frames > FEW
    worse = []
    for clip in variations(clips, 40.0, rng):
        qpos, qvel = states(motion_of_clip(clip, ADA))
        pose, pace = qpos[len(qpos) // 3], qvel[len(qpos) // 3]
        worse.append(index.best(pose, pace).distance / index.best(pose, pace, exact=True).distance)
    print(f"\nfound {100 * (np.mean(worse) - 1):.2f} % farther than the very nearest at the mean, {np.max(worse):.3f}×")
    assert np.mean(worse) < 1.05
    assert np.max(worse) < 1.5


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(StuntError, match="no motions"):
        Similarity.to_motions(STAGE.model, ADA, [])
    with pytest.raises(StuntError, match="unknown joint 'l_hipp' of 'ada'"):
        dof_weights(STAGE.model, ADA, {"l_hipp": 1.0})
