"""A batch gives the same files whoever runs it, and keeps what was done whatever ends it."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stunt
from stunt.cli.main import main
from stunt.jobs.job import JobError
from stunt.jobs.journal import NAME, RowJournal
from stunt.library.names import OWN_CLIPS
from stunt.many.plan import load_plan, plan_from_data

HELPERS = Path(__file__).parents[1] / "jobs"
PLAN = """\
clips: [walk, jump]
settings:
  weak: {}
  stiff: {gain: 2}
pushes: ["40@0.1:thorax:random"]
seeds: 2
seconds: 0.3
"""
TABLES = ("table.csv", "table.md", "table.parquet")


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return str(path)


@pytest.fixture
def cheap(tmp_path, monkeypatch):
    """Return a plan's file of jobs that leave marks, and where the marks are."""
    monkeypatch.syspath_prepend(str(HELPERS))
    marks = tmp_path / "marks"
    marks.mkdir()
    jobs = [f"  - {{run: 'job_helpers:counted', with: {{x: {x}, marks: '{marks}', sleeps: 0.1}}}}" for x in range(30)]
    path = tmp_path / "cheap.yaml"
    path.write_text("jobs:\n" + "\n".join(jobs) + "\n")
    return str(path), marks


def listing(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in TABLES}


def test_tables_are_the_same_bit_for_bit_for_any_number_of_workers(plan, tmp_path, capsys):
    found = []
    for workers in (1, 2, 3):
        out = tmp_path / str(workers)
        assert main(["batch", plan, "--out", str(out), "--workers", str(workers), "--quiet"]) == 0
        found.append(listing(out))
    assert set(found[0]) == set(TABLES) and found[0] == found[1] == found[2]
    assert len(found[0]["table.csv"].splitlines()) == 9
    assert "cpu_s" in (tmp_path / "1" / "timing.csv").read_text() and b"cpu_" not in found[0]["table.csv"]


def test_rows_are_yielded_in_the_plans_order_with_and_without_a_folder(plan, tmp_path):
    rows = list(stunt.batch(plan, workers=0))
    assert [(r["clip"], r["setting"], r["seed"]) for r in rows] == [
        (clip, setting, seed) for clip in ("walk", "jump") for setting in ("weak", "stiff") for seed in (0, 1)
    ]
    assert rows == list(stunt.batch(load_plan(plan), out=tmp_path / "out", workers=0))
    assert rows == list(stunt.batch(plan, out=tmp_path / "out", workers=0))  # all of them were there
    assert not any(row["failure"] for row in rows)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_batch_goes_on_where_it_stopped_and_runs_nothing_twice(cheap, tmp_path, number, capsys):
    path, marks = cheap
    out = tmp_path / "out"
    command = [sys.executable, "-m", "stunt.cli.main", "batch", path, "--out", str(out), "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while len(list(marks.iterdir())) < 6 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(number)
    _, said = running.communicate(timeout=120)
    rows = (out / NAME).read_bytes().count(b"\n") - 1
    assert 3 <= rows < 30
    if number != signal.SIGKILL:
        assert running.returncode == 128 + number and f"interrupted: {rows} of 30 rows are kept" in said
        assert len((out / "table.csv").read_text().splitlines()) == rows + 1
    time.sleep(0.5)  # workers of a killed batch end with the job they are at
    begun = len(list(marks.iterdir()))
    assert main(["batch", path, "--out", str(out), "--workers", "0"]) == 0
    assert f"going on: {rows} of 30" in capsys.readouterr().err
    assert len(list(marks.iterdir())) == begun + 30 - rows
    assert (out / "table.csv").read_text().splitlines()[1:] == [
        f"job_helpers:counted,{x},{marks},0.1,,{x * x}" for x in range(30)
    ]


@pytest.fixture
def clips(tmp_path):
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("walk", "jump", "idle"):
        shutil.copy(OWN_CLIPS / f"{name}.bvh", folder)
    return folder


def test_a_clip_that_vanishes_is_a_row_that_says_so_and_the_batch_goes_on_with_it(clips, tmp_path, capsys):
    command = ["batch", str(clips), "--out", str(tmp_path / "out"), "--workers", "0", "--quiet"]
    assert main([*command, "--limit", "1"]) == 0
    (clips / "walk.bvh").rename(tmp_path / "walk.bvh")
    assert main(command) == 1
    table = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert len(table) == 4 and [("No such file" in line or "there is no" in line) for line in table] == [
        False,
        False,
        False,
        True,
    ]
    shutil.move(tmp_path / "walk.bvh", clips / "walk.bvh")
    assert main(command) == 1  # what failed stays as it is …
    assert main([*command, "--retry"]) == 0  # … unless it is asked for again
    assert "No such file" not in (tmp_path / "out" / "table.csv").read_text()


def test_clips_that_come_later_are_left_out_and_that_is_said(clips, tmp_path, capsys):
    command = ["batch", str(clips), "--out", str(tmp_path / "out"), "--workers", "0"]
    main([*command, "--limit", "1"])
    shutil.copy(OWN_CLIPS / "hop.bvh", clips)
    assert main(command) == 0
    assert "1 clips are new since this was begun" in capsys.readouterr().err


def one_line(capsys, *words):
    """Check that a command said one line, with these words in it."""
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and said.err.startswith("error: ") and not said.out
    for word in words:
        assert word in said.err


def test_a_second_batch_in_the_folder_is_refused(plan, tmp_path, capsys):
    with RowJournal(tmp_path / "out", load_plan(plan).digest, 8):
        assert main(["batch", plan, "--out", str(tmp_path / "out"), "--workers", "0"]) == 2
    one_line(capsys, f"another process ({os.getpid()}) works in")


def test_another_plan_in_the_folder_is_refused_and_its_rows_are_kept(plan, tmp_path, capsys):
    RowJournal(tmp_path / "out", "another", 3).close()
    before = (tmp_path / "out" / NAME).read_bytes()
    assert main(["batch", plan, "--out", str(tmp_path / "out"), "--workers", "0"]) == 2
    one_line(capsys, "rows of another plan (3 jobs; this one has 8")
    assert (tmp_path / "out" / NAME).read_bytes() == before


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(cheap, tmp_path, capsys):
    path, marks = cheap
    command = ["batch", path, "--out", str(tmp_path / "out"), "--workers", "0", "--quiet"]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        assert main(command) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    one_line(capsys, "cannot write to", "rows so far are kept; make room")
    begun = len(list(marks.iterdir()))
    assert 3 < begun < 30 and main(command) == 0
    assert len(list(marks.iterdir())) == 31  # the one that could not be written was run again


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.yaml"], "cannot read the plan"),
        (["nowhere/*.bvh"], "no clips in"),
        (["wlak"], "Did you mean 'walk'"),
        (["walk", "--workers", "-1"], "--workers must be"),
        (["walk", "--limit", "0"], "--limit must be"),
        (["walk", "--time-limit", "0"], "--time-limit must be"),
        (["walk", "--takes", "some"], "some"),
        (["walk", "--ray", "nonsense"], "is no address of a Ray cluster"),
        (["a.yaml", "walk"], "one plan at a time"),
    ],
)
def test_bad_input_is_one_line_and_makes_nothing(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["batch", *words]) == 2
    one_line(capsys, said)
    assert not list(tmp_path.iterdir())


def test_a_plan_of_a_billion_jobs_is_one_line_with_what_it_would_take(tmp_path, capsys):
    (tmp_path / "huge.yaml").write_text("clips: [walk]\nseeds: 1000000000\n")
    assert main(["batch", str(tmp_path / "huge.yaml"), "--out", str(tmp_path / "out")]) == 2
    one_line(capsys, "1,000,000,000 jobs: about 6.3 years of one core, and 1.8 TB of rows", "--most N")
    assert not (tmp_path / "out").exists()
    assert main(["batch", str(tmp_path / "huge.yaml"), "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("1,000,000,000 jobs: about")


def test_several_clips_are_a_plan_and_what_came_of_them_is_shown(tmp_path, capsys):
    out = tmp_path / "out"
    clips = [str(OWN_CLIPS / "walk.bvh"), str(OWN_CLIPS / "hop.bvh")]
    assert main(["batch", *clips, "--out", str(out), "--workers", "0", "--format", "md", "--takes", "all"]) == 0
    said = capsys.readouterr().out
    assert "default" in said and f"{out}/table.md" in said
    assert not (out / "table.csv").exists() and len(list((out / "takes").iterdir())) == 2


def test_a_program_that_asks_for_too_much_is_told(tmp_path):
    with pytest.raises(JobError, match="Nothing was begun"):
        stunt.batch({"clips": ["walk"], "seeds": 200_000})
    assert next(
        stunt.batch(plan_from_data({"clips": ["walk"], "seeds": 200_000, "seconds": 0.1}), most=10**6, workers=0)
    )
