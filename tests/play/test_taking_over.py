"""Every way of moving takes over from every other one: nobody jumps, the last one has the body, and it can be saved."""

import itertools

import mujoco
import numpy as np
import pytest

import stunt

WALKER = stunt.Body("human39", root="free", strength=1.5)
BENT = stunt.Pose.degrees("bent", r_elbow_flexion=60)


def path(ada: stunt.Actor) -> None:
    now = ada.stage.time
    here = ada.stage.data.site_xpos[ada.character.sites["r_palm"]].copy()
    ada.path("r_palm", stunt.Trajectory.through([now, now + 0.3], [here, here + [0.05, 0.0, 0.1]]))


DRIVERS = {
    "key": lambda ada: ada.key(BENT, after=0.3),
    "tense": lambda ada: ada.tense(BENT, tension="firm", lasts=0.3),
    "path": path,
    "follow": lambda ada: ada.follow("walk"),
    "play": lambda ada: ada.play("walk", loop=True),
    "aim": lambda ada: ada.aim({}),
    "supervise": lambda ada: ada.supervise({"walk": "walk", "idle": "idle"}),
}
JOINTS = {"key", "tense", "path"}


def taken_over(first: str, second: str, *, tick: int = 24) -> tuple[stunt.Stage, stunt.Actor, np.ndarray]:
    stage = stunt.Stage({"ada": WALKER}, hz=240)
    ada = stage.actor("ada")
    DRIVERS[first](ada)
    if tick:
        stage.advance(tick)
        assert ada.state.doing == first
    before = stage.data.qpos.copy()
    DRIVERS[second](ada)
    return stage, ada, before


@pytest.mark.parametrize(("first", "second"), list(itertools.product(DRIVERS, DRIVERS)))
def test_the_second_driver_takes_over_and_nobody_jumps(first, second):
    stage, ada, before = taken_over(first, second)
    assert ada.state.doing == second and np.array_equal(stage.data.qpos, before)
    velocity, moved = stage.data.qvel.copy(), np.zeros(stage.model.nv)
    stage.advance(1)
    mujoco.mj_differentiatePos(stage.model, moved, 1.0, before, stage.data.qpos)
    # Whatever turns fast goes on as it was going, or is held: a free wrist on a path turns by 0.13 in a step.
    assert np.minimum(np.abs(moved), np.abs(moved - velocity / 240.0)).max() < 0.1
    saved = stage.save()
    stage.advance(60)
    one = stage.data.qpos.copy()
    assert np.isfinite(one).all() and ada.state.doing == second
    stage.restore(saved)
    stage.advance(60)
    assert np.array_equal(one, stage.data.qpos)
    assert np.isfinite(stage.run(0.1).qpos).all() and stage.take().report()["characters"]["ada"]


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(DRIVERS, 2)))
def test_a_driver_that_was_taken_over_from_says_nothing_more(first, second):
    """Whoever had the body could as well not be there any more: its laws let go of every joint."""
    stage, ada, _ = taken_over(first, second)
    stage.advance(120)
    law = stage.board.law[[joint.id for joint in ada.character.joints.values()]]
    if second not in JOINTS:
        assert not law.any()  # the servo alone has it
    elif first not in JOINTS:
        assert law.all() or second == "path"  # whatever nobody asks for is held
        assert not ada.body.program.actors["active"].any() and ada.supervisor is None


@pytest.mark.parametrize("second", DRIVERS)
def test_who_takes_over_before_the_first_step_begins_the_performance(second):
    _, ada, _ = taken_over("follow", second, tick=0)
    assert ada.state.doing == second
    stage = ada.stage
    assert np.isfinite(stage.run(0.2).qpos).all()


@pytest.mark.parametrize("first", ["follow", "play", "supervise"])
@pytest.mark.parametrize(
    "wrong",
    [
        lambda ada: ada.key(stunt.Pose("", {"r_elbw": 0.0}), at=1.0), lambda ada: ada.key(BENT, at=0.01),
        lambda ada: ada.key(BENT), lambda ada: ada.tense(BENT, tension="furious"), lambda ada: ada.follow("wlak"),
        lambda ada: ada.tense(BENT, at=0.01), lambda ada: ada.supervise([]), lambda ada: ada.play("wlak"),
        lambda ada: ada.path("r_palm"), lambda ada: ada.aim({"r_elbw": 1.0}), lambda ada: ada.supervise(["wlak"]),
        lambda ada: ada.path("r_palm", stunt.Trajectory.through([0, 1], [[0, 0, 0], [1, 1, 1]]), settling=99.0),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(first, wrong):
    stage = stunt.Stage({"ada": WALKER}, hz=240)
    ada = stage.actor("ada")
    DRIVERS[first](ada)
    stage.advance(24)
    driver = ada.supervisor
    with pytest.raises(stunt.StuntError):
        wrong(ada)
    assert ada.state.doing == first and ada.supervisor is driver


def test_who_goes_on_by_joints_holds_what_nobody_asks_for():
    stage = stunt.Stage({"ada": stunt.Body("human39", root="free", strength=3.0)}, hz=240, gravity=(0.0, 0.0, 0.0))
    ada = stage.actor("ada")
    ada.follow("walk")
    stage.step(0.3)
    before = ada.state.angles
    ada.key(BENT, after=0.4)
    stage.step(0.6)
    assert ada.results[0].error_deg < 2.0
    assert abs(ada.state.angles["l_knee_flexion"] - before["l_knee_flexion"]) < 0.1


def test_what_a_body_was_doing_leaves_no_trace_in_what_it_is_told_next() -> None:
    """What is worked out of a clip is shared in the process: whoever was first must not have left its springs in it."""
    from stunt.drive.prepare import fit, pipeline

    def followed(first: str) -> np.ndarray:
        for known in (pipeline._KNOWN, fit._KNOWN):
            known.clear()
        stage, ada, _ = taken_over(first, "follow")
        rows = ada.body.rows
        assert rows is not None and rows.torque is not None
        return rows.torque[-1].copy()

    for first in ("key", "tense", "path"):
        assert np.array_equal(followed(first), followed("follow"))
