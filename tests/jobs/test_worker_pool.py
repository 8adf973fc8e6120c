"""The pool: the same rows however many processes, none lost when one dies, none begun before it is needed."""

import itertools
import os
import sys

import pytest
from job_helpers import Some

from stunt.jobs.job import Job, JobError, numbered
from stunt.jobs.pool import ONE_THREAD, JobLine, WorkerPool
from stunt.jobs.run import in_order, machine_of, rows_of


def test_rows_come_in_the_jobs_order_and_are_the_same_for_any_number_of_processes():
    jobs = Some("slow_first", 12)
    here, one, three = (list(rows_of(jobs.each(), workers=workers)) for workers in (0, 1, 3))
    assert here == one == three == [{"x": x, "failure": ""} for x in range(12)]


def test_floats_survive_the_way_between_processes_bit_for_bit():
    jobs = Some("square", 7)
    assert list(rows_of(jobs.each(), workers=0)) == list(rows_of(jobs.each(), workers=2))


def test_processes_stay_warm_from_one_run_to_the_next():
    with WorkerPool(2) as pool:
        first, second = ({done.row["pid"] for done in pool.run(Some("where", 8).each())} for _ in range(2))
        assert pool.used > 0.0
    assert len(first) <= 2 and second <= first and os.getpid() not in first


def test_a_worker_has_one_thread():
    (row,) = rows_of(Some("threads", 1).each(), workers=1)
    assert {name.upper(): row[name] for name in row if name.endswith("_num_threads")} == ONE_THREAD


def test_a_job_whose_process_dies_once_is_tried_once_more(tmp_path):
    rows = list(rows_of(Some("dies", 5, marks=str(tmp_path), times=1).each(), workers=2))
    assert rows == [{"x": x, "failure": ""} for x in range(5)]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_job_whose_process_dies_again_is_a_row_that_says_so_and_the_others_go_on(tmp_path):
    rows = list(rows_of(Some("dies", 5, marks=str(tmp_path), times=99).each(), workers=2))
    assert [row["failure"] for row in rows] == ["", "", "its process was ended by SIGKILL, 2 times", "", ""]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_job_that_hangs_is_stopped_and_says_so():
    with WorkerPool(2, time_limit=1.0) as pool:
        rows = [done.row for done in in_order(pool.run(Some("hangs", 4).each()))]
    assert [row["failure"] for row in rows] == ["", "it took longer than 1 s, and was stopped", "", ""]


def test_jobs_are_taken_only_as_they_are_needed():
    begun = []

    def endless():
        for x in itertools.count():
            begun.append(x)
            yield Job("job_helpers:square", {"x": x}, {"x": x}, index=x)

    with WorkerPool(2) as pool:
        found = [done.index for done in itertools.islice(pool.run(endless()), 5)]
    assert len(found) == 5 and len(begun) < 100


def test_who_stops_listening_leaves_no_answers_for_the_next(tmp_path):
    with WorkerPool(2) as pool:
        run = pool.run(Some("counted", 50, marks=str(tmp_path), sleeps=0.05).each())
        next(run)
        run.close()
        assert [done.row["x"] for done in in_order(pool.run(Some("slow_first", 6).each()))] == list(range(6))


def test_workers_that_cannot_start_are_told_of_at_once(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(JobError, match="ended with code 1 before it was ready"):
        list(rows_of(Some("square", 3).each(), workers=1))


def test_impossible_numbers_of_workers_are_refused():
    with pytest.raises(JobError, match="-1 workers"):
        machine_of(-1)
    with pytest.raises(JobError, match="at least one"):
        WorkerPool(0)


def _near(words: str) -> list[Job]:
    return list(numbered(Job("a:b", {"k": k}, near=word) for k, word in enumerate(words)))


def test_whoever_comes_gets_a_job_near_to_what_it_did_last_and_leaves_the_others_theirs():
    line = JobLine(_near("aabbcc"), ahead=10)
    assert line.take(None).index == 0
    assert line.take(None, {"a"}).index == 2  # the second process begins with another clip
    assert line.take("a", {"b"}).index == 1
    assert line.take("b", {"a"}).index == 3
    assert line.take("a", {"b"}).index == 4
    assert line.take("b", {"c"}).index == 5  # what is left is shared
    assert line.take("b") is None


def test_a_job_that_was_given_back_is_first_in_line():
    jobs = _near("xyz")
    line = JobLine(jobs, ahead=3)
    first = line.take(None)
    line.give_back(first)
    assert line.take(None) is first


def test_jobs_that_share_nothing_are_taken_in_their_order():
    line = JobLine(_near("") + list(Some("square", 4).each()), ahead=2)
    assert [line.take("").index for _ in range(4)] == [0, 1, 2, 3]
