"""A crowd: the nearest are under forces at all times, and whoever is touched; saved and restored bit for bit."""

import math

import numpy as np
import pytest

import stunt
from stunt.drive.body.collision_masks import signs
from stunt.errors import InvalidValueError, StuntError, UnknownNameError

PEOPLE, LEAST = 12, 5
REFLEXES = ("fall", "roll", "lie", "get_up", "rag_doll")


def crowd(people=PEOPLE, least=LEAST, apart=1.6, pushes=(), reflexes=REFLEXES):
    """Return people who walk side by side, the first of them nearest, and the crowd they are."""
    bodies = {
        f"p{k}": stunt.Body("walk", root="free", strength=1.5, at=(0.4 * (k % 3), apart * k)) for k in range(people)
    }
    stage = stunt.Stage(bodies, hz=120, record=False, sleep=True, seed=4)
    walk = stunt.load_clip("walk").looped()
    for name in bodies:
        stage.actor(name).supervise([walk, *reflexes])
    found = stunt.Crowd(stage, least, near=(0.0, -2.0))
    for at, name, impulse in pushes:
        stage.push(f"{name}/thorax", at=at, impulse=impulse, duration=0.1)
    return stage, found


PUSHES = tuple(
    (0.4 + 0.35 * k, f"p{who}", (size * math.cos(angle), size * math.sin(angle), 0.0))
    for k, (who, size, angle) in enumerate(
        zip(
            np.random.default_rng(5).integers(0, PEOPLE, 12), np.random.default_rng(6).uniform(20, 120, 12),
            np.random.default_rng(7).uniform(0, math.tau, 12), strict=True,
        )
    )
)  # fmt: skip


def state_of(stage):
    return np.concatenate([stage.data.qpos, stage.data.qvel, stage.data.tree_asleep])


@pytest.fixture(scope="module")
def way():
    """Return a performance with pushes, tick by tick: states, who is under forces, and the stage at its end."""
    stage, people = crowd(pushes=PUSHES)
    states, forces = [], []
    for _ in range(round(7.0 / stage.step_time)):
        stage.advance(1)
        states.append(state_of(stage))
        forces.append(people.under_forces)
    return stage, people, states, forces


def test_so_many_are_under_forces_at_all_times(way):
    *_, forces = way
    assert min(map(len, forces)) >= LEAST
    assert min(map(len, forces)) < PEOPLE - 2, "far ones are on data"


def test_the_nearest_are_under_forces():
    stage, people = crowd()
    stage.step(0.3)
    assert people.under_forces == tuple(f"p{k}" for k in range(LEAST))
    people.near = (0.0, 1.6 * PEOPLE)
    stage.step(3.0)  # the others go back to data once it is in their reach
    assert people.under_forces == tuple(f"p{k}" for k in range(PEOPLE - LEAST, PEOPLE))
    people.near = "p0"
    stage.step(3.0)
    assert people.under_forces == tuple(f"p{k}" for k in range(LEAST))


def test_who_is_pushed_is_under_forces_within_a_tenth_of_a_second(way):
    stage, _, _, forces = way
    for at, name, _ in PUSHES:
        tick = stage.tick_of(at + 0.1)
        assert name in forces[tick - 1], f"{name}, pushed at {at:.2f} s"


def test_even_a_light_push_brings_one_under_forces_and_then_data_comes_back():
    stage, people = crowd(pushes=[(0.5, "p10", (0.0, 4.0, 0.0))])
    stage.step(0.45)
    assert "p10" in people.on_data
    stage.step(0.15)
    assert "p10" in people.under_forces
    stage.step(4.0)
    assert "p10" in people.on_data


def test_who_falls_gets_up_and_walks_on_and_nobody_is_below_the_floor(way):
    stage, people, states, _ = way
    roots = [stage.character(name).root.qpos for name in people.people]
    heights = np.array(states)[:, np.add(roots, 2)]
    assert heights.min() > 0.03 and heights.max() < 1.2
    drivers = [stage.actors[name].driver for name in people.people]
    assert not any(driver.removed for driver in drivers)
    assert any(entry["controller"] == "fall" for driver in drivers for entry in driver.log), "somebody was pushed over"
    stage, _ = crowd(people=3, least=1, apart=3.0, pushes=[(0.3, "p2", (0.0, 130.0, 0.0))])
    stage.step(8.0)
    walked = [entry["controller"] for entry in stage.actors["p2"].driver.log]
    assert "fall" in walked and "get up" in walked and walked.index("get up") < len(walked) - 1
    assert walked[-1].startswith("walk") and stage.actor("p2").state.position[2] > 0.7


def test_saving_never_changes_the_run(way):
    _, _, states, _ = way
    stage, _ = crowd(pushes=PUSHES)
    rng = np.random.default_rng(1)
    for tick in range(480):
        stage.advance(1)
        if rng.uniform() < 0.05:
            stage.save()
        assert np.array_equal(state_of(stage), states[tick]), tick


def test_a_restored_crowd_goes_on_bit_for_bit(way):
    _, _, states, forces = way
    stage, people = crowd(pushes=PUSHES)
    saved = {}
    for tick in (61, 97, 200, 333, 420):
        stage.advance(tick - stage.tick)
        saved[tick] = stage.save()
    stage.advance(100)
    for tick in (333, 61, 420, 97, 200):
        stage.restore(saved[tick])
        for later in range(tick, tick + 90):
            stage.advance(1)
            assert np.array_equal(state_of(stage), states[later]), (tick, later)
            assert people.under_forces == forces[later]


def test_kept_to_forces_it_tracks_for_good_and_asked_for_other_data_tracks_that():
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free", strength=1.5)}, hz=120, record=False)
    clips = {"walk": stunt.load_clip("walk").looped(), "curve": stunt.load_clip("walk_curve").looped()}
    supervisor = stage.actor("ada").supervise(clips)
    supervisor.keep_to_forces()
    assert supervisor.running == "walk (tracking)" and not stage.actor("ada").body.kinematic
    stage.step(3.0)
    assert supervisor.running == "walk (tracking)"
    stage.actor("ada").request("curve")
    stage.step(0.2)
    assert supervisor.running == "curve (tracking)" and not stage.actor("ada").body.kinematic
    supervisor.keep_to_forces(False)
    stage.step(2.0)
    assert stage.actor("ada").body.kinematic


def test_no_sign_contains_another_however_many_there_are():
    assert signs(23) == [1 << k for k in range(8, 31)]
    many = signs(300)
    assert len(set(many)) == 300 and all(8 <= bit.bit_length() <= 31 for bit in many)
    assert all(one & ~two for one in many for two in many if one != two)


def test_of_thirty_on_data_any_two_collide_and_nobody_with_itself():
    people = {f"p{k}": stunt.Body("walk", root="free", at=(3.0 * (k // 2), 0.35 * (k % 2))) for k in range(30)}
    stage = stunt.Stage(people, hz=120, record=False)
    for name in people:
        stage.actor(name).play("idle", loop=True)
    stage.step(1 / 120)
    model, data = stage.model, stage.data
    assert not (model.geom_contype & model.geom_conaffinity)[model.geom_bodyid > 0].any(), "nobody collides with itself"
    owners = model.body_rootid[model.geom_bodyid[data.contact.geom[: data.ncon]]]
    assert (owners[:, 0] != owners[:, 1]).all() and (owners > 0).all()
    roots = {name: stage.character(name).root_body for name in people}
    pairs = {frozenset(pair) for pair in owners.tolist()}
    assert pairs >= {frozenset((roots[f"p{k}"], roots[f"p{k + 1}"])) for k in range(0, 30, 2)}


def test_a_crowd_says_what_it_needs():
    stage, _ = crowd(people=2, least=1)
    with pytest.raises(InvalidValueError, match="from 0 to 2"):
        stunt.Crowd(stage, 3)
    with pytest.raises(UnknownNameError, match="bob"):
        stunt.Crowd(stage, 0, people=["bob"])
    with pytest.raises(InvalidValueError, match="near"):
        stunt.Crowd(stage, 1, near=(0.0, math.nan))
    with pytest.raises(InvalidValueError, match="margin"):
        stunt.Crowd(stage, 1, margin=-1.0)
    alone = stunt.Stage({"ada": stunt.Body("walk", root="free")}, record=False)
    with pytest.raises(StuntError, match="supervise"):
        stunt.Crowd(alone, 1, people=["ada"])
