"""The journal: whatever ends a run, what was done is kept, and the next run goes on from there."""

import json
import resource

import pytest
from job_helpers import Some

from stunt.jobs.job import Done, JobError
from stunt.jobs.journal import NAME, RowJournal, noted_in
from stunt.jobs.pool import ThisProcess
from stunt.jobs.run import run_in_folder


def run(folder, jobs, **options):
    """Run jobs in a folder; return which were run, and all rows there are."""
    with RowJournal(folder, jobs.digest, jobs.count) as journal:
        ran = [done.index for done in run_in_folder(jobs, journal, ThisProcess(), **options)]
        return ran, [entry["row"] for entry in journal.entries()], journal


def test_a_run_goes_on_where_it_stopped_and_ends_with_the_rows_of_one_that_did_not(tmp_path):
    jobs = Some("square", 10)
    assert run(tmp_path / "a", jobs, limit=4)[0] == [0, 1, 2, 3]
    ran, rows, _ = run(tmp_path / "a", jobs)
    assert ran == [4, 5, 6, 7, 8, 9]
    assert rows == run(tmp_path / "b", jobs)[1]
    assert run(tmp_path / "a", jobs)[0] == []


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_last_line_that_was_cut_is_taken_off_and_its_job_run_again(tmp_path, cut):
    jobs = Some("square", 5)
    whole = run(tmp_path, jobs)[1]
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:-cut])
    ran, rows, journal = run(tmp_path, jobs)
    assert ran == [4] and rows == whole
    assert "cut off" in journal.warnings[0]
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_damaged_line_in_the_middle_costs_its_own_row_only(tmp_path):
    jobs = Some("square", 5)
    whole = run(tmp_path, jobs)[1]
    path = tmp_path / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"index": 2, "row"\x00\xff:\n'
    path.write_bytes(b"".join(lines))
    ran, rows, journal = run(tmp_path, jobs)
    assert ran == [2] and rows == whole and "1 damaged rows" in journal.warnings[0]


@pytest.mark.parametrize("index", ["1.0", '"1"', "null", "[1]", "true", "-1", "99"])
def test_a_row_of_no_job_is_left_out(tmp_path, index):
    jobs = Some("square", 5)
    whole = run(tmp_path, jobs)[1]
    with open(tmp_path / NAME, "a", encoding="utf-8") as file:
        file.write(f'{{"index": {index}, "row": {{"value": 7}}}}\n{{"row": {{}}}}\n')
    assert run(tmp_path, jobs)[1] == whole
    assert [entry["row"] for entry in noted_in(tmp_path) if entry["index"] in range(5)] == whole


def test_rows_of_other_jobs_in_the_folder_are_refused_and_kept(tmp_path):
    run(tmp_path, Some("square", 5))
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(JobError, match=r"rows of another plan \(5 jobs; this one has 6"):
        run(tmp_path, Some("square", 6))
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        "not a journal\n",
        '{"journal": 1}\n',
        '{"journal": 1, "digest": "x"}\n',
        '{"journal": 99, "digest": "x", "jobs": 1}\n',
    ],
)
def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path, content):
    (tmp_path / NAME).write_text(content)
    with pytest.raises(JobError, match="journal"):
        run(tmp_path, Some("square", 1))
    assert (tmp_path / NAME).read_text() == content


def test_a_second_run_in_the_folder_is_refused_while_the_first_one_lasts(tmp_path):
    with RowJournal(tmp_path, "digest", 3), pytest.raises(JobError, match="another process .* works in"):
        RowJournal(tmp_path, "digest", 3)
    RowJournal(tmp_path, "digest", 3).close()


def test_more_rows_than_a_folder_holds_are_refused_before_it_is_made(tmp_path):
    with pytest.raises(JobError, match="write the plan in parts"):
        RowJournal(tmp_path / "out", "digest", 10**9)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(JobError, match="cannot work in"):
        RowJournal(tmp_path / "file" / "below", "digest", 3)


def test_only_jobs_that_failed_are_tried_again_and_their_new_rows_count(tmp_path):
    jobs = Some("mistaken", 6)
    _, rows, journal = run(tmp_path, jobs)
    assert journal.failed == 4 and [bool(row["failure"]) for row in rows] == [True, True, False, True, False, True]
    assert run(tmp_path, jobs)[0] == []
    ran, again, journal = run(tmp_path, jobs, retry=True)
    assert ran == [0, 1, 3, 5] and again == rows and (journal.done, journal.failed) == (6, 4)


def test_no_row_stands_there_twice(tmp_path):
    with RowJournal(tmp_path, "digest", 2) as journal:
        for _ in range(3):
            journal.note(Done(1, "id", {"x": 1, "failure": ""}, {}))
        assert len(list(journal.entries())) == 1
    assert len((tmp_path / NAME).read_text().splitlines()) == 2


def test_a_full_disk_keeps_what_was_done_and_the_run_goes_on_when_there_is_room(tmp_path):
    jobs = Some("square", 200)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))  # a write past it comes back short, then fails
    try:
        with pytest.raises(JobError, match=r"cannot write to .* rows so far are kept; make room"):
            run(tmp_path, jobs)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    lines = (tmp_path / NAME).read_bytes()
    assert 1000 < len(lines) <= 2000 and lines.endswith(b"\n")
    ran, rows, journal = run(tmp_path, jobs)
    assert ran == list(range(len(lines.splitlines()) - 1, 200)) and len(rows) == 200 and not journal.warnings


def test_a_disk_that_is_full_for_what_jobs_write_stops_the_run_too(tmp_path):
    jobs = Some("finds_no_room", 6)
    with pytest.raises(JobError, match="No space left .*The 3 rows so far are kept"):
        run(tmp_path, jobs)
    with RowJournal(tmp_path, jobs.digest, jobs.count) as journal:
        assert journal.done == 3
