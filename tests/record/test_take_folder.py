"""The folder of a take: old or new, whatever fails; what a killed process left is mended by the next."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys

import pytest

from stunt.errors import TakeError
from stunt.record import take_folder
from stunt.record.files import aside_prefix, sweep, written_aside
from stunt.record.take import Take
from stunt.record.take_folder import JOURNAL, claimed
from tests.campaigns.calls import KILLED, RAISED, at_each_call

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
OLD = {"take.npz", "report.json", "filmstrip.png", "crash.npz"}
NEW = {"take.npz", "report.json"}


def report(take):
    return json.dumps({"title": take.meta["title"]})


def put_into(aside, take):
    take.save(aside / "take.npz")
    (aside / "report.json").write_text(report(take))


def put(folder, take):
    with claimed(folder, report) as claim:
        claim.replace(lambda aside: put_into(aside, take))


@pytest.fixture()
def setting(tmp_path, take):
    """Return a folder with an old take, the old take, and the new one."""
    old = dataclasses.replace(take, meta={**take.meta, "title": "old"})
    pristine, folder = tmp_path / "pristine", tmp_path / "out"
    old.save(pristine / "take.npz")
    old.save(pristine / "crash.npz")
    (pristine / "report.json").write_text(report(old))
    (pristine / "filmstrip.png").write_text("old")

    def prepare():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(pristine, folder)

    return folder, prepare, dataclasses.replace(take, meta={**take.meta, "title": "new"})


def whole(folder):
    """Return whether a folder holds the old take or the new one; anything between is an error."""
    names = {path.name for path in folder.iterdir()}
    title, told = Take.load(folder).meta["title"], json.loads((folder / "report.json").read_text())["title"]
    assert title == told and names == (OLD if title == "old" else NEW), (title, told, names)
    return title


@pytest.mark.parametrize("how", ["kill", "ENOSPC", "EIO", "EACCES"])
def test_at_every_call_the_folder_is_old_or_new_once_it_is_mended(setting, how):
    folder, prepare, new = setting
    seen = []

    def check(number, code):
        assert code in (KILLED, RAISED)
        before = Take.load(folder).meta["title"]  # readable at every moment
        take_folder.mend(folder, report)
        with claimed(folder, report):  # the next run
            pass
        seen.append(whole(folder))
        assert seen[-1] == before, "what was readable stays what it was"

    calls = at_each_call(prepare, lambda: put(folder, new), check, how, (TakeError, OSError))
    assert calls > 15 and set(seen) == {"old", "new"} and sorted(seen) == sorted(seen, key=lambda title: title != "new")
    assert seen == sorted(seen, reverse=True) or how != "kill", "once new, it stays new"


def test_a_take_that_could_not_be_written_leaves_the_old_one_and_nothing_else(setting):
    folder, prepare, new = setting
    prepare()

    def fail(aside):
        new.save(aside / "take.npz")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"), claimed(folder, report) as claim:
        claim.replace(fail)
    assert whole(folder) == "old"


def test_a_folder_that_was_removed_meanwhile_is_made_again(setting):
    folder, prepare, new = setting
    prepare()
    with claimed(folder, report) as claim:
        shutil.rmtree(folder)
        claim.replace(lambda aside: put_into(aside, new))
    assert whole(folder) == "new"


def test_a_link_in_the_new_takes_place_is_not_followed(setting, tmp_path):
    folder, prepare, new = setting
    prepare()
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "files").write_text("take.npz\n")
    new.save(foreign / "take.npz")
    (folder / ".new-take").symlink_to(foreign)
    take_folder.mend(folder, report)
    (folder / ".new-take").unlink()
    assert whole(folder) == "old" and {path.name for path in foreign.iterdir()} == {"files", "take.npz"}


def test_a_second_process_is_told_who_writes(tmp_path):
    with claimed(tmp_path / "out", report):
        code = (
            "from pathlib import Path; from stunt.record.take_folder import claimed\n"
            "try:\n    claimed(Path('out'), str).__enter__()\nexcept Exception as error: print(error)"
        )
        said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert f"another Stunt (process {os.getpid()}) is writing a take into 'out'" in said.stdout
    assert not (tmp_path / "out").exists(), "what was made for nothing goes again"
    with claimed(tmp_path / "out", report):
        pass


def test_a_folder_that_cannot_be_mended_keeps_its_journal(tmp_path):
    (tmp_path / JOURNAL).write_bytes(b"stunt journal 1, process 1\nSTNJ" + bytes([2, 0, 0, 0] + 8 * [0]) + b"[]")
    with claimed(tmp_path, report) as claim:
        assert "unreadable.journal" in claim.mended[0]
    assert {path.name for path in tmp_path.iterdir()} == {"unreadable.journal"}


def test_what_dead_processes_left_is_swept_and_what_living_ones_write_is_not(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mine = aside_prefix("take") + "abcdefgh.npz.part"
    left = mine.replace(f"-{os.getpid()}-", f"-{dead.pid}-")
    other = "notes.part"
    for name in (mine, left, other, ".take-1234.npz.part"):
        (tmp_path / name).write_text("x")
    folder = tmp_path / left.replace("take", "new-take")
    folder.mkdir()
    (folder / "take.npz").write_text("x")
    assert set(sweep(tmp_path)) == {left, folder.name}
    assert {path.name for path in tmp_path.iterdir()} == {mine, other, ".take-1234.npz.part"}


@pytest.mark.parametrize("how", ["kill", "ENOSPC"])
def test_a_file_that_is_written_is_the_old_one_or_the_new_one(tmp_path, how):
    file = tmp_path / "a" / "file.txt"

    def write():
        with written_aside(file) as aside:
            aside.write_text("new")

    def prepare():
        file.parent.mkdir(exist_ok=True)
        file.write_text("old")

    def check(number, code):
        assert code in (KILLED, RAISED) and file.read_text() in ("old", "new")
        sweep(file.parent)
        assert [path.name for path in file.parent.iterdir()] == ["file.txt"]

    assert at_each_call(prepare, write, check, how, (TakeError,)) >= 5
    assert file.read_text() == "new"


def test_a_full_disk_is_one_sentence(tmp_path):
    with pytest.raises(TakeError, match=r"cannot write '.*take.npz': No space left on device\."):
        with written_aside(tmp_path / "take.npz"):
            raise OSError(28, "No space left on device")
    with pytest.raises(FileNotFoundError):  # another file's error is not this one's
        with written_aside(tmp_path / "take.npz"):
            open(tmp_path / "nowhere")
    assert not list(tmp_path.iterdir())


def test_a_pipe_in_the_journals_place_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / JOURNAL)
    with pytest.raises(OSError, match="is no file"), claimed(tmp_path, str):
        pass


def test_who_may_read_a_file_is_for_the_umask_and_the_older_file_to_say(tmp_path):
    before = os.umask(0o077)
    try:
        for mode in (0o600, 0o640):
            with written_aside(tmp_path / "a.txt") as aside:
                aside.write_text("x")
            assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode
            (tmp_path / "a.txt").chmod(0o640)
    finally:
        os.umask(before)


def test_a_damaged_list_of_a_take_that_is_to_be_moved_loses_none_of_its_files(setting):
    folder, prepare, new = setting
    prepare()
    aside = folder / take_folder.COMMITTED
    aside.mkdir()
    put_into(aside, new)
    (aside / take_folder._LIST).write_bytes(b"t\xffke.npz\nreport.json\n")
    assert take_folder.finish(folder)
    assert Take.load(folder).meta["title"] == "new" and {path.name for path in folder.iterdir()} == NEW
