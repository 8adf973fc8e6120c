"""Figures of a review beside what was planted: as large as that, whichever way somebody faces or goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import planted
import pytest

import stunt
from stunt.maths import rotations
from stunt.record.take import Take
from stunt.review.filmed import take_of_clip
from stunt.review.measures.falls import falling
from stunt.review.measures.feet import standing
from stunt.review.measures.footage import Footage
from stunt.review.measures.forces import blows, touches, used
from stunt.review.measures.gait import walking
from stunt.review.measures.limbs import speeds, turns


def measured(measure, take: Take) -> dict[str, float]:
    footage = Footage.of(take)
    return {name: value for name, value, *_ in measure(footage, footage.people[0])}


def turned_about(take: Take, heading: float) -> Take:
    """Turn a whole take about the vertical."""
    turn = rotations.from_rotation_vector(np.array([0.0, 0.0, heading]))
    qpos = take.qpos.copy()
    qpos[:, :3], qpos[:, 3:7] = rotations.rotate(turn, qpos[:, :3]), rotations.multiply(turn, qpos[:, 3:7])
    return replace(take, qpos=qpos)


@pytest.mark.parametrize("way", [(0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (-0.2, 0.1, 0.0)])
def test_feet_that_are_drawn_along_slide_as_far_as_that_whichever_way(way: tuple[float, float, float]) -> None:
    found = measured(standing, planted.moved(planted.standing(), np.outer(planted.TIME, way)))
    pace = float(np.linalg.norm(way))
    assert found["slide_mean"] == pytest.approx(pace, rel=0.02) and found["slide_cm"] == pytest.approx(
        100 * pace, rel=0.05
    )


def test_feet_hover_as_high_as_they_are_held() -> None:
    low = measured(standing, planted.standing())["hover_cm"]
    for lifted in (0.02, 0.04):
        high = measured(
            standing, planted.moved(planted.standing(), np.tile([0.0, 0.0, lifted], (len(planted.TIME), 1)))
        )
        assert high["hover_cm"] - low == pytest.approx(100.0 * lifted, abs=0.2)


@pytest.mark.parametrize("degrees", [25.0, 70.0])
def test_a_joint_that_snaps_is_told_to_have_turned_so_far(degrees: float) -> None:
    take = planted.snapping("l_forearm", -degrees)()
    assert measured(turns, take)["turn_forearm"] == pytest.approx(degrees, abs=3.0)


def test_a_walk_is_measured_alike_whichever_way_it_goes_and_mirrored_steps_swing_forward_and_back() -> None:
    take = take_of_clip(stunt.load_clip("walk_slow"))
    found = measured(walking, take)
    for heading in (1.0, 2.5):
        other = measured(walking, turned_about(take, heading))
        assert {name: pytest.approx(value, abs=0.05) for name, value in found.items()} == other
    # A thigh swings further forward than back in a walk, and the knee bends most in the swing.
    assert found["thigh_front"] > 15.0 and 5.0 < found["thigh_back"] < found["thigh_front"]
    assert found["knee_least"] < 20.0 < 40.0 < found["knee_most"] and 0.8 < found["hips_high"] < 1.1


def test_a_head_meets_the_floor_as_fast_as_it_falls() -> None:
    take = planted.plank()
    footage = Footage.of(take)
    head = footage.people[0].parts["head"]
    paces = np.linalg.norm(np.diff(footage.places[:, head], axis=0), axis=1) / np.diff(footage.time)
    assert measured(falling, take)["head_speed"] == pytest.approx(paces.max(), rel=0.15) and paces.max() > 3.0


def test_a_body_pushes_on_what_carries_it_and_is_pushed_up_by_as_much() -> None:
    """Newton's third law of the record, and his second: contacts carry weight and what speeds the body up."""
    take = planted.performed()
    footage = Footage.of(take)
    person = footage.people[0]
    times, force, geoms, others = touches(footage, person)
    assert (force[:, 2] > -1e-6).all() and force[:, 2].max() > 50.0
    assert np.isin(geoms, person.geoms).all() and not np.isin(others, person.geoms).any()
    still = dict((name, value) for name, value, *_ in used(footage, person))["support"]
    assert still == pytest.approx(1.0, abs=0.05)
    # The same, speeding up steadily, its contacts giving that too, and its pairs of geoms written the other way round.
    rise, mass = 0.4, person.about.mass
    qpos = take.qpos.copy()
    qpos[:, 2] += 0.5 * rise * take.time**2
    noted, counts = np.unique(take.contact_frame, return_counts=True)
    more = mass * rise / counts[np.searchsorted(noted, take.contact_frame)]
    sign = np.where(np.isin(take.contact_geoms[:, 1], np.array(person.geoms)), 1.0, -1.0)
    pushed = take.contact_force.copy()
    pushed[:, 2] += sign * more
    faster = Footage.of(replace(take, qpos=qpos, contact_force=-pushed, contact_geoms=take.contact_geoms[:, ::-1]))
    found = dict((name, value) for name, value, *_ in used(faster, faster.people[0]))["support"]
    assert found == pytest.approx(still, abs=0.03)


def test_strength_used_is_the_length_of_a_joints_torque_over_its_strength() -> None:
    take = planted.performed()
    about = take.cast.character("ada")
    joint = next(joint for joint in about.joints.values() if joint.width == 3 and joint.strength)
    torque = np.zeros_like(take.torque)
    torque[:, joint.dof : joint.dof + 3] = np.array([2.0, 3.0, 6.0]) / 7.0 * 1.2 * joint.strength
    footage = Footage.of(replace(take, torque=torque))
    found = dict((name, value) for name, value, *_ in used(footage, footage.people[0]))
    assert found["strength_used"] == pytest.approx(1.2, rel=1e-6)


@pytest.mark.parametrize("way", ["carries", "stops"])
def test_a_crate_that_carries_a_foot_is_ground_and_one_that_stops_it_is_a_blow(way: str) -> None:
    take = planted.on_a_crate()
    size = np.linalg.norm(take.contact_force, axis=1, keepdims=True)
    sign = np.sign(take.contact_force[:, 2:])
    aside = np.hstack([sign * size, np.zeros((len(size), 2))])
    footage = Footage.of(take if way == "carries" else replace(take, contact_force=aside))
    found = blows(footage, footage.people[0])
    assert (not found) if way == "carries" else (len(found) > 10)


def test_a_hand_that_rests_on_an_arm_nobody_uses_is_not_judged() -> None:
    base = planted.standing()
    still = replace(base, qpos=np.tile(base.qpos[:1], (len(planted.TIME), 1)))
    wave = 1.0 + np.sin(2.0 * np.pi * planted.TIME / 2.0)
    one = planted.turned(still, "r_forearm", (0.0, np.radians(-30.0), 0.0), wave)
    bent = planted.turned(one, "r_hand", (0.0, np.radians(-9.0), 0.0), wave)
    assert "wrist_range" not in measured(speeds, still)
    assert measured(speeds, one)["wrist_range"] < 0.1 and measured(speeds, bent)["wrist_range"] > 8.0


def test_whoever_turns_over_with_the_hips_up_has_not_fallen() -> None:
    take = planted.plank()
    found = measured(falling, take)
    assert "head_speed" in found
    lifted = take.qpos.copy()
    lifted[:, 2] = np.maximum(lifted[:, 2], 0.87 * np.percentile(lifted[:, 2], 95))
    assert "head_speed" not in measured(falling, replace(take, qpos=lifted))


def test_who_hangs_on_a_hook_is_not_asked_what_carries_them() -> None:
    take = planted.performed()
    name = next(iter(take.cast.characters))
    known = {**take.meta.get("tracking", {}).get(name, {}), "assist": "hook"}
    hung = replace(take, meta={**take.meta, "tracking": {name: known}})
    assert {"support", "help_force", "help_torque"} <= set(measured(used, take))
    assert not {"support", "help_force", "help_torque"} & set(measured(used, hung))
    assert hung.review().hanging == (name,) and "hook" in hung.review().told() and not take.review().hanging
