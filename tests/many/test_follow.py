"""One job of a batch: its start is its seed's, whatever the setting; a stage that is set back gives the same row."""

import math

import numpy as np
import pytest

from stunt.jobs.job import run_job
from stunt.many import follow
from stunt.many.columns import COLUMNS
from stunt.many.plan import StartNoise, plan_from_data
from stunt.many.shove import Shove
from stunt.record.take import Take


def jobs_of(**data):
    return list(plan_from_data({"clips": ["walk"], "seconds": 0.5, **data}).each())


def cold(job):
    follow._STAGES.clear()
    return run_job(job)


def started(job):
    """Return a job's performance at its start, and to where it is pushed."""
    performance = follow._set_back(job.arguments, job.folder).performance
    return performance, follow.begin(performance, job.arguments)


def test_a_row_has_the_columns_that_are_documented_in_their_order():
    done = cold(jobs_of(seeds=1, pushes=["30@0.1:thorax:90"])[0])
    assert list(done.row) == list(COLUMNS) and not done.failed
    assert set(done.timing) >= {"cpu_s", "cpu_prepare_s", "cpu_step_s", "cpu_measure_s"}


def test_a_stage_that_is_set_back_gives_the_rows_of_new_ones_bit_for_bit():
    jobs = jobs_of(seeds=3, pushes=["40@0.1:thorax:random", {"impulse": 0}])
    new = [cold(job).row for job in jobs]
    follow._STAGES.clear()
    assert [run_job(job).row for job in jobs] == new
    assert len(follow._STAGES) == 1
    assert [run_job(job).row for job in reversed(jobs)] == new[::-1]
    assert len({row["error_deg_mean"] for row in new}) == 6


def test_all_settings_begin_with_the_same_start_and_are_pushed_alike():
    jobs = jobs_of(settings={"a": {}, "b": {"servo": "parent", "gain": 2}}, seeds=2, pushes=["40@0.1:thorax:random"])
    states = []
    for job in jobs:
        performance, degrees = started(job)
        states.append((performance.stage.data.qpos.copy(), performance.stage.data.qvel.copy(), degrees))
    (a0, a1, b0, b1) = states
    assert all(np.array_equal(x, y) for x, y in zip(a0, b0, strict=True))
    assert all(np.array_equal(x, y) for x, y in zip(a1, b1, strict=True))
    assert not np.array_equal(a0[0], a1[0]) and a0[2] != a1[2]


def test_without_a_seed_it_starts_as_its_clip_does_and_another_plan_has_other_noise():
    plans = ({}, {"seeds": 1}, {"seeds": 1, "seed": 5})
    own, shaken, other = (started(jobs_of(**data)[0])[0].stage.data.qpos.copy() for data in plans)
    assert np.array_equal(own[:7], shaken[:7])  # the root stays where it is
    assert not np.array_equal(own, shaken) and not np.array_equal(shaken, other)


def test_noise_has_the_size_that_was_asked_for():
    job = jobs_of(seeds=1)[0]
    performance, _ = started(jobs_of()[0])
    data, model = performance.stage.data, performance.stage.model
    begin, speeds, angles = performance.stage.save(), [], []
    own, rest = data.qpos.copy(), data.qvel.copy()
    for seed in range(200):
        performance.stage.restore(begin)
        follow.shake(performance, StartNoise(2.0, 0.3, 0.1), np.random.default_rng(seed))
        speeds.append(data.qvel - rest)
        turned = np.zeros(model.nv)
        follow.mujoco.mj_differentiatePos(model, turned, 1.0, own, data.qpos)
        angles.append(turned)
    assert job.arguments["noise"] == {}
    speeds, angles = np.array(speeds), np.array(angles)
    assert np.std(speeds[:, :3]) == pytest.approx(0.1, rel=0.1)
    assert np.std(speeds[:, 3:]) == pytest.approx(0.3, rel=0.05)
    assert np.std(angles[:, 6:]) == pytest.approx(math.radians(2.0), rel=0.05)
    assert np.abs(np.mean(speeds, axis=0)).max() < 0.1 and not angles[:, :6].any()


@pytest.mark.parametrize("degrees", [0.0, 90.0, -135.0])
def test_a_push_goes_where_it_is_told_with_the_impulse_it_is_told(degrees):
    push = Shove(50.0, 0.2, "thorax", degrees).event("double", degrees)
    along = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
    assert np.allclose(push.impulse, 50.0 * along) and push.target == "double/thorax"
    # In mid-air nothing else pushes: the body's momentum changes by the impulse.
    momenta = []
    for pushes in ([], [{"impulse": 50, "at": 0.1, "direction": degrees}]):
        performance, _ = started(jobs_of(pushes=pushes, settings={"a": {"assist": "none"}})[0])
        stage = performance.stage
        stage.data.qpos[2] += 5.0
        stage.advance(stage.tick_of(0.25))
        follow.mujoco.mj_subtreeVel(stage.model, stage.data)
        momenta.append(stage.data.subtree_linvel[0] * stage.model.body_subtreemass[0])
    assert np.allclose(momenta[1] - momenta[0], 50.0 * along, atol=0.5)


def test_a_text_that_a_push_writes_of_itself_reads_back():
    for push in (Shove(40.0, 1.5, "thorax", 90.0), Shove(-3.5, 0.25, "l_forearm", "random")):
        assert Shove.of_text(push.label) == push


def test_random_directions_are_drawn_from_all_around():
    rng = np.random.default_rng(0)
    drawn = np.array([Shove(1.0, direction="random").degrees(rng) for _ in range(400)])
    assert (np.histogram(drawn, bins=4, range=(-180, 180))[0] > 70).all()


def test_takes_are_kept_of_those_that_were_asked_for(tmp_path):
    hit, fine = jobs_of(seconds=2.0, pushes=["400@0.1:thorax:90", {"impulse": 0}])
    rows = {}
    for keeps in ("failed", "all"):
        folder = tmp_path / keeps / "takes"
        rows[keeps] = [run_job(follow.replace(job, keep=str(folder), keeps=keeps)).row for job in (hit, fine)]
    assert [row["fell"] for row in rows["all"]] == [True, False]
    assert [row["take"] for row in rows["failed"]] == [f"takes/{hit.id}.npz", ""]
    take = Take.load(tmp_path / "all" / rows["all"][1]["take"])
    assert take.meta["job"]["clip"] == "walk" and take.seconds == 2.0
    assert follow.measures(take) == {key: rows["all"][1][key] for key in follow.measures(take)}


def test_a_clip_that_changes_or_goes_is_noticed_by_a_warm_stage(tmp_path):
    from stunt.library.names import OWN_CLIPS

    clip = tmp_path / "one.bvh"
    clip.write_bytes((OWN_CLIPS / "walk.bvh").read_bytes())
    (job,) = jobs_of(clips=[str(clip)])
    walked = run_job(job).row
    clip.write_bytes((OWN_CLIPS / "idle.bvh").read_bytes())
    assert run_job(job).row["error_deg_mean"] != walked["error_deg_mean"]
    clip.unlink()
    assert "one.bvh" in run_job(job).row["failure"]


def test_effort_and_work_are_what_their_definitions_say():
    performance, _ = started(jobs_of()[0])
    performance.stage.advance(performance.stage.tick_of(0.5))
    take = performance.take()
    row = follow.measures(take)
    joints = take.cast.characters["double"].joints.values()
    shares, work = [], 0.0
    for frame in range(1, len(take.time)):
        for joint in joints:
            dofs = slice(joint.dof, joint.dof + joint.width)
            if joint.strength:
                shares.append(math.sqrt(sum(x * x for x in take.torque[frame, dofs])) / joint.strength)
            power = np.abs(take.torque[frame, dofs] * take.qvel[frame, dofs]).sum()
            work += power * (take.time[frame] - take.time[frame - 1])
    assert row["effort"] == pytest.approx(np.mean(shares)) and row["work_j"] == pytest.approx(work)
    assert 0.0 < row["effort"] < row["strength_peak"]
