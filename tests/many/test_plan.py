"""A plan is counted by multiplying, its jobs are made one by one, and its mistakes are told with their lines."""

import itertools
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stunt.errors import InvalidValueError, MissingValueError, ScriptFileError, StuntError, UnknownNameError
from stunt.jobs.job import JobError
from stunt.library.names import OWN_CLIPS
from stunt.many.batch import BatchRun, batch, estimate
from stunt.many.plan import BatchPlan, load_plan, plan_from_data
from stunt.many.setting import setting_keys
from stunt.many.shove import Shove

DATA = {
    "clips": ["walk", "jump"],
    "bodies": ["skeleton", "human39"],
    "settings": {"weak": {"assist": "weak"}, "own": {"assist": "none", "strength": 2}, "plain": None},
    "pushes": ["40@1.5:thorax:90", {"impulse": 30, "direction": "random"}],
    "seeds": 3,
    "seconds": 2,
    "jobs": [{"clip": "idle", "setting": "own", "seed": 7}, {"run": "job_helpers:square", "with": {"x": 2}}],
}


def test_a_plan_has_every_clip_on_every_body_in_every_setting_with_every_push_and_seed():
    plan = plan_from_data(DATA)
    jobs = list(plan.each())
    assert plan.count == len(jobs) == 2 * 2 * 3 * 2 * 3 + 2
    assert [job.index for job in jobs] == list(range(plan.count))
    assert len({job.id for job in jobs}) == plan.count
    cells = [tuple(job.columns.values()) for job in jobs[:-2]]
    labels = ("40@1.5:thorax:90", "30@1:thorax:random")
    assert cells == list(itertools.product(*(DATA[key] for key in ("clips", "bodies", "settings")), labels, range(3)))
    assert jobs[-1].columns == {"run": "job_helpers:square", "x": 2} and jobs[-1].arguments == {"x": 2}
    assert jobs[-2].arguments["setting"] == {"assist": "none", "strength": 2} and jobs[-2].columns["seed"] == 7


def test_jobs_and_their_digests_are_the_same_whenever_a_plan_is_read():
    first, second = ([(job.index, job.id) for job in plan_from_data(DATA).each()] for _ in range(2))
    assert first == second
    assert plan_from_data(DATA).digest == plan_from_data(dict(reversed(DATA.items()))).digest


@pytest.mark.parametrize("change", [{"seeds": 4}, {"seed": 1}, {"noise": {"joints": 2}}, {"clips": ["walk"]}])
def test_a_plan_that_says_something_else_has_another_digest(change):
    assert plan_from_data(DATA | change).digest != plan_from_data(DATA).digest


def test_what_is_kept_and_shown_of_rows_does_not_make_another_plan():
    other = DATA | {"title": "x", "takes": "all", "columns": ["clip"], "jobs": DATA["jobs"]}
    assert plan_from_data(other).digest == plan_from_data(DATA).digest


def test_without_seeds_and_pushes_there_is_one_job_per_clip_from_its_own_start():
    (job,) = plan_from_data({"clips": "walk"}).each()
    assert job.columns == {"clip": "walk", "body": "skeleton", "setting": "default", "push": "", "seed": None}
    assert job.arguments["push"] is None and job.arguments["seed"] is None


def test_a_push_of_nothing_is_no_push():
    (job,) = plan_from_data({"clips": "walk", "pushes": [{"impulse": 0}]}).each()
    assert job.arguments["push"] is None and job.columns["push"] == ""


def test_a_billion_jobs_cost_nothing_until_they_are_run_and_are_refused_with_what_they_would_take(tmp_path):
    plan = plan_from_data({"clips": ["walk"], "seeds": 10**9})
    assert plan.count == 10**9 and next(plan.each()).columns["seed"] == 0
    with pytest.raises(
        JobError, match=r"1,000,000,000 jobs: about [\d.]+ years of one core, and [\d.]+ TB .*Nothing was"
    ):
        BatchRun(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert BatchRun(plan, most=10**9).count == 10**9
    assert (
        estimate(plan_from_data({"clips": ["walk"], "seeds": 30}))
        == "30 jobs: about 6 seconds of one core, and 54 kB of rows"
    )


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("clips: [walk]\nbodys: [human39]\n", UnknownNameError, "plan.yaml:2 .*'bodys'.*Did you mean 'bodies'"),
        ("clips: [walk]\nsettings: {a: {servos: beat}}\n", UnknownNameError, "servos.*Did you mean 'servo'"),
        ("clips: [walk]\nsettings: {a: {ahead: 0.1}}\n", InvalidValueError, "only `servo: beat` heeds it"),
        ("clips: [walk]\nsettings: {a: {strength: -1}}\n", InvalidValueError, "strength must be"),
        ("clips: [walk]\nsettings: {a: {rate: 1}}\n", InvalidValueError, "rate must be"),
        ("clips: [walk]\nsettings: {}\n", InvalidValueError, "the number of settings"),
        ("clips: [walk]\ncolumns: [clip, eror_deg_mean]\n", UnknownNameError, "Did you mean 'error_deg_mean'"),
        ("clips: [walk]\npushes: [hard]\n", InvalidValueError, "newton-seconds"),
        ("clips: [walk]\npushes: [{impulse: 1, direction: up}]\n", InvalidValueError, "degrees, or 'random'"),
        ("clips: [walk]\nseeds: -1\n", InvalidValueError, "seeds must be"),
        ("clips: [walk]\nseeds: 0\n", InvalidValueError, "at least 1"),
        ("clips: [walk]\nseeds: [1, 2, 1]\n", InvalidValueError, "seeds that differ"),
        ("clips: [walk]\ntakes: some\n", UnknownNameError, "none, failed, all"),
        ("title: nothing\n", MissingValueError, "'clips' or 'jobs'"),
        ("jobs: [{clip: walk, setting: soft}]\n", UnknownNameError, "unknown setting 'soft'"),
        ("jobs: [{clip: walk, run: 'a:b'}]\n", StuntError, "exactly one of"),
        ("jobs: [{run: 'a:b', seed: 2}]\n", UnknownNameError, "seed"),
    ],
)
def test_a_mistake_in_a_plan_is_told_in_one_line(tmp_path, text, error, words):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(error, match=words):
        load_plan(path)


def test_a_clip_of_a_name_no_file_can_have_is_told(tmp_path):
    (tmp_path / "plan.yaml").write_text(f"clips: [{'a' * 5000}]\n")
    with pytest.raises(StuntError, match="there is no clip 'aaa.*too long") as told:
        assert load_plan(tmp_path / "plan.yaml").count
    assert len(str(told.value)) < 4000


def test_a_plan_that_is_not_there_is_named():
    with pytest.raises(ScriptFileError, match="cannot read the plan 'none.yaml'"):
        load_plan("none.yaml")


@pytest.fixture
def folder(tmp_path):
    clips = tmp_path / "walks"
    (clips / "more").mkdir(parents=True)
    for name, to in (("walk", "b.bvh"), ("jump", "a.bvh"), ("idle", "more/c.bvh")):
        shutil.copy(OWN_CLIPS / f"{name}.bvh", clips / to)
    (clips / "notes.txt").write_text("nothing")
    return clips


def test_a_folder_is_all_its_clips_and_a_pattern_those_that_fit(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert load_plan("walks").found_clips == ("walks/a.bvh", "walks/b.bvh", "walks/more/c.bvh")
    assert load_plan("walks/*").found_clips == ("walks/a.bvh", "walks/b.bvh")
    assert load_plan(str(folder)).count == 3
    with pytest.raises(JobError, match="no clips in 'walks/z"):
        load_plan("walks/z*").found_clips  # noqa: B018


def test_a_plans_clips_are_looked_for_beside_it(folder, monkeypatch):
    path = folder.parent / "plan.yaml"
    path.write_text("clips: [walks, jump]\nfolders: walks\n")
    plan = load_plan(path)
    assert plan.found_clips == ("walks/a.bvh", "walks/b.bvh", "walks/more/c.bvh", "jump")
    ids = [job.id for job in plan.each()]
    other = Path(shutil.copytree(folder.parent, folder.parent.parent / "moved", dirs_exist_ok=True))
    assert [job.id for job in load_plan(other / "plan.yaml").each()] == ids  # wherever the plan stands
    assert BatchRun(plan).count == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clips": ["walk", "wlak"]}, "unknown clip 'wlak'. Did you mean 'walk'"),
        ({"clips": ["gone.bvh"]}, "there is no clip 'gone.bvh'"),
        ({"bodies": ["human93"]}, "unknown body 'human93'. Did you mean 'human39'"),
        ({"jobs": [{"clip": "wlak"}]}, "unknown clip 'wlak'"),
        ({"jobs": [{"run": "job_helpers:squire"}]}, "squire"),
        ({"jobs": [{"run": "nowhere_at_all:f"}]}, "'nowhere_at_all' cannot be imported"),
    ],
)
def test_what_is_not_there_is_told_before_anything_is_begun(tmp_path, change, words):
    with pytest.raises(StuntError, match=words):
        BatchRun(plan_from_data({"clips": ["walk"], **change}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_function_may_stand_beside_its_plan_for_workers_too(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_jobs_beside.py").write_text("def double(job):\n    return {'twice': 2 * job.arguments['x']}\n")
    (tmp_path / "plan.yaml").write_text("jobs: [{run: 'own_jobs_beside:double', with: {x: 4}}]\n")
    (row,) = batch(tmp_path / "plan.yaml", workers=1)
    assert row == {"run": "own_jobs_beside:double", "x": 4, "failure": "", "twice": 8}


def test_whatever_clips_may_say_in_a_script_a_setting_may_say():
    assert {"servo", "gain", "assist", "react", "get_up", "targets", "loop", "strength", "rate"} <= set(setting_keys())
    assert not {"play", "toward", "clip", "body"} & set(setting_keys())


def test_a_plan_made_in_a_program_is_one_that_is_read():
    made = BatchPlan(clips=("walk",), pushes=(Shove(40.0, 1.5, direction=90.0),))
    told = plan_from_data({"clips": ["walk"], "pushes": ["40@1.5:thorax:90"]})
    assert made == replace(told, place=made.place) and made.digest == told.digest
