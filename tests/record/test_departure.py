"""Two takes of one script: the same bits, or where they part and why."""

from __future__ import annotations

import dataclasses

import numpy as np

from stunt.record.departure import departure, machine, other_machine


def test_the_same_take_does_not_depart(take):
    assert departure(take, dataclasses.replace(take, qpos=take.qpos.copy())) is None


def test_the_first_differing_frame_its_joint_and_how_it_grows_are_told(take):
    column = take.cast.characters["ada"].joints["r_elbow_flexion"].qpos
    changed = take.qpos.copy()
    changed[40:, column] += 1e-15 * np.exp(np.arange(len(changed) - 40) / 10.0)
    found = departure(take, dataclasses.replace(take, qpos=changed))
    assert found.time == take.time[40] and found.what == "ada/r_elbow_flexion"
    assert 0.0 < found.first < 3e-15 < found.later < found.largest and "part at 0.4000 s" in str(found)


def test_a_velocity_alone_is_a_difference(take):
    changed = take.qvel.copy()
    changed[7, 3] = 1e-300
    assert departure(take, dataclasses.replace(take, qvel=changed)).time == take.time[7]


def test_a_take_that_ends_earlier_is_another(take):
    frames = {name: getattr(take, name)[:100] for name in ("time", "qpos", "qvel")}
    found = departure(take, dataclasses.replace(take, **frames))
    assert found.frames == (181, 100) and "181 and 100 frames" in str(found)


def test_what_differs_about_the_machines_is_told(take):
    here = dataclasses.replace(take, meta={**take.meta, "machine": dict(machine()), "seed": 1})
    assert other_machine(here, here) == []
    other = {**machine(), "features": [*machine()["features"], "teleport"], "cpu": "abacus"}
    told = other_machine(dataclasses.replace(here, meta={**here.meta, "machine": other, "mujoco": "3.0"}), here)
    assert len(told) == 3 and "teleport there, nothing more here" in "".join(told) and "abacus there" in "".join(told)
