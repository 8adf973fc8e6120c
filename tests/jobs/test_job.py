"""A job is data, and whatever comes of it is a row."""

import errno
from dataclasses import replace

import numpy as np
import pytest
from job_helpers import Some

from stunt.errors import UnknownNameError
from stunt.jobs.job import Job, JobError, cell, digest, run_job, runner_of


def test_a_jobs_digest_is_of_what_it_does_and_not_of_where_it_stands():
    job = Job("job_helpers:square", {"x": 3, "y": [1, 2.5]}, {"x": 3})
    same = Job("job_helpers:square", {"y": [1, 2.5], "x": 3}, {"x": 3}, index=7, folder="there", keep="takes")
    assert job.id == same.id
    assert job.id != replace(job, arguments={"x": 3, "y": [1, 2.5000000000000004]}).id
    assert Job.from_data(same.to_data()) == same


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object(), b"bytes"])
def test_what_is_no_plain_data_is_no_argument(value):
    with pytest.raises(JobError, match="plain data"):
        digest({"x": value})


def test_a_row_begins_with_the_jobs_columns_and_timing_stands_apart():
    done = run_job(Job("job_helpers:square", {"x": 5}, {"x": 5}, index=4))
    assert done.row == {"x": 5, "failure": "", "square": 25, "third": 5 / 3}
    assert list(done.row) == ["x", "failure", "square", "third"] and done.index == 4
    assert set(done.timing) == {"cpu_s", "wall_s", "cpu_own_s"} and not done.failed


def test_a_users_mistake_is_a_row_with_its_sentence_and_a_programs_one_says_where():
    odd, zero = (run_job(Job("job_helpers:mistaken", {"x": x}, {"x": x})).row for x in (1, 0))
    assert odd == {"x": 1, "failure": "odd numbers are not wanted."}
    assert zero["failure"].startswith("ZeroDivisionError: ") and "(job_helpers.py:" in zero["failure"]


def test_a_full_disk_is_told_from_other_mistakes():
    jobs = list(Some("finds_no_room", 4).each())
    assert [bool(run_job(job).full) for job in jobs] == [False, False, False, True]
    assert "No space left" in run_job(jobs[3]).full and errno.ENOSPC == 28


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("job_helpers", JobError, "module:function"),
        ("no_such_module:run", JobError, "no_such_module"),
        ("job_helpers:squire", UnknownNameError, "Did you mean 'square'"),
        ("job_helpers:NOTHING_CALLABLE", UnknownNameError, "NOTHING_CALLABLE"),
    ],
)
def test_a_runner_that_is_none_is_named(name, error, words):
    with pytest.raises(error, match=words):
        runner_of(name)


def test_cells_are_plain_and_what_is_no_number_is_empty():
    values = [np.float64(0.1), np.int32(3), np.bool_(True), float("nan"), float("inf"), "text", None, False]
    assert [cell(value, "x") for value in values] == [0.1, 3, True, None, None, "text", None, False]
    assert [type(cell(value, "x")) for value in values[:3]] == [float, int, bool]
    assert "'list'" in run_job(Job("job_helpers:nested")).row["failure"]
