from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import SCRIPT, listing

from stunt.cli import perform
from stunt.record.take import Take

FILES = {"take.npz", "report.json", "filmstrip.png", "gains.png", "errors.png", "torques.png"}
BEAT_FIELDS = {
    "time": float, "pose": str, "error_deg": float, "error_deg_rms": float, "error_ms": float, "velocity_error": float,
    "saturated": list, "worst_joint": str, "missed": bool, "feasible": bool, "needed_share": float, "needed_by": str,
}  # fmt: skip


def test_json_prints_only_the_report_and_writes_nothing(stunt, script):
    before = listing(script.parent)
    result = stunt("perform", script, "--json")
    assert result.code == 0
    report = json.loads(result.out)
    assert report["schema_version"] == 1
    assert report["seconds"] == pytest.approx(0.3)
    assert report["realtime_factor"] > 0.0
    assert report["warnings"] == []
    ada = report["characters"]["ada"]
    assert ada["fell"] is False and ada["assistance"]["root"] == "fixed" and ada["hits"] == 0
    (beat,) = ada["beats"]
    for name, kind in BEAT_FIELDS.items():
        assert isinstance(beat[name], kind), name
    assert listing(script.parent) == before


def test_a_performance_writes_the_take_the_report_and_the_pictures(stunt, script):
    result = stunt("perform", script, "--out", "here/deep")
    folder = script.parent / "here" / "deep"
    assert result.code == 0
    assert {path.name for path in folder.iterdir()} == FILES
    assert json.loads((folder / "report.json").read_text())["title"] == "Tiny"
    assert Take.load(folder).seconds == pytest.approx(0.3)
    assert "1 of 1 beat made" in result.out and "here/deep: take.npz, report.json" in result.out


def test_without_out_the_take_goes_to_takes_and_the_scripts_name(stunt, script):
    assert stunt("perform", "tiny.yaml", "--no-pictures").code == 0
    assert {path.name for path in Path("takes/tiny").iterdir()} == {"take.npz", "report.json"}


def test_the_same_seed_gives_the_same_take_byte_for_byte(stunt, script):
    for name in ("one", "two"):
        assert stunt("perform", script, "--seed", 7, "--out", name, "--no-pictures").code == 0
    assert Path("one/take.npz").read_bytes() == Path("two/take.npz").read_bytes()
    assert Take.load("one").meta["seed"] == 7


def test_a_new_take_leaves_no_pictures_of_the_one_before_it(stunt, script):
    folder = script.parent / "out"
    folder.mkdir()
    for name in (*FILES, "crash.npz", "notes.txt"):
        (folder / name).write_text("old")
    assert stunt("perform", script, "--out", folder, "--no-pictures").code == 0
    assert {path.name for path in folder.iterdir()} == {"take.npz", "report.json", "notes.txt"}


def test_quiet_prints_nothing(stunt, script):
    result = stunt("perform", script, "--quiet", "--out", "out", "--no-pictures")
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "rates"),
    [
        ((), (120, 120)),
        (("--rate", "240"), (240, 240)),
        (("--physics-hz", "240"), (240, 120)),
        (("--physics-hz", "480", "--control-hz", "240"), (480, 240)),
    ],
)
def test_rates_of_the_command_line_take_the_place_of_the_scripts(stunt, script, options, rates):
    report = json.loads(stunt("perform", script, "--json", *options).out)
    assert (report["physics_hz"], report["control_hz"]) == rates


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rate", "nan"), ("rate", "nan")),
        (("--rate", "-5"), ("rate", "-5")),
        (("--rate", "fast"), ("--rate", "'fast'")),
        (("--physics-hz", "100"), ("100 Hz", "120 Hz")),
        (("--physics-hz", "500", "--control-hz", "480"), ("500 Hz", "480 Hz")),
        (("--rate", "480", "--control-hz", "240"), ("--rate sets both", "--control-hz")),
        (("--seed", "-1"), ("seed", "-1")),
        (("--seed", "1.5"), ("--seed", "1.5")),
        (("--sed", "1"), ("unknown option '--sed'", "Did you mean '--seed'?")),
        (("more",), ("'more'",)),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_line(stunt, script, options, words):
    before = listing(script.parent)
    result = stunt("perform", script, *options)
    assert result.code == 2 and result.out == ""
    assert result.err.startswith("error: ") and result.err.count("\n") == 1
    for word in words:
        assert word in result.err
    assert listing(script.parent) == before


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_performed(stunt, script, monkeypatch):
    monkeypatch.setattr(perform, "play", lambda *args, **kwargs: pytest.fail("performed"))
    before = listing(script.parent)
    result = stunt("perform", script, "--out", script / "below")
    assert result.code == 2 and "cannot write to" in result.err
    assert stunt("perform", script, "--out", script).code == 2
    (script.parent / "taken" / "take.npz").mkdir(parents=True)
    assert "'take.npz' in it is a folder" in stunt("perform", script, "--out", "taken").err
    (script.parent / "taken" / "take.npz").rmdir()
    (script.parent / "taken").rmdir()
    assert listing(script.parent) == before


def test_a_full_disk_leaves_the_earlier_take_as_it_was(stunt, script, monkeypatch):
    assert stunt("perform", script, "--out", "out", "--no-pictures").code == 0
    before = listing(script.parent)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    result = stunt("perform", script, "--out", "out", "--no-pictures")
    assert result.code == 2 and "No space left on device" in result.err
    left = listing(script.parent)
    assert left.pop(str(Path("out/.take.journal")))  # what was performed; the next command makes it a take
    assert left == before


PUSHED = SCRIPT + "events:\n  - {push: ada/r_forearm, impulse: [0, 5000000, 0], at: 0.1}\n"


def test_a_blow_up_leaves_the_take_so_far_and_the_last_second_of_states(stunt, script):
    script.write_text(PUSHED)
    result = stunt("perform", script, "--out", "out")
    assert result.code == 3
    assert "blew up at 0.1" in result.err and "body 'ada/" in result.err and "out/crash.npz" in result.err
    assert {path.name for path in Path("out").iterdir()} == {"take.npz", "report.json", "crash.npz"}
    take, crash = Take.load("out"), Take.load("out/crash.npz")
    assert np.isfinite(take.qpos).all() and take.seconds == pytest.approx(0.1, abs=0.02)
    assert crash.time[-1] > take.time[-1]  # the broken state itself is in it
    assert any("blew up" in sentence for sentence in json.loads(Path("out/report.json").read_text())["warnings"])
    assert stunt("show", "out/crash.npz").code == 0


def test_a_blow_up_with_json_alone_writes_no_file_and_still_reports(stunt, script):
    script.write_text(PUSHED)
    before = listing(script.parent)
    result = stunt("perform", script, "--json")
    assert result.code == 3 and "crash" not in result.err
    assert any("blew up" in sentence for sentence in json.loads(result.out)["warnings"])
    assert listing(script.parent) == before


def test_ctrl_c_in_the_middle_of_a_step_still_leaves_whole_frames(stunt, script, monkeypatch):
    """The signal comes while a frame is being noted; the performance stops after its chunk."""
    script.write_text(SCRIPT.replace("seconds: 0.3", "seconds: 30"))
    note, seen = perform.Performance.run, []

    def run(self, progress):
        act = self.recorder.act

        def acting():
            act()
            if self.stage.time > 0.5 and not seen:
                seen.append(signal.raise_signal(signal.SIGINT))

        self.recorder.act = acting
        return note(self, progress)

    monkeypatch.setattr(perform.Performance, "run", run)
    result = stunt("perform", script, "--out", "out")
    assert result.code == 130 and "the take so far is in out/take.npz" in result.err
    take = Take.load("out")
    assert 0.5 < take.seconds < 0.6 and take.meta["interrupted"]
    assert take.qpos.shape[0] == take.assistance.shape[0] == take.time.size
    assert json.loads(Path("out/report.json").read_text())["interrupted"] is True


def test_ctrl_c_before_the_performance_begins_writes_nothing(stunt, script, monkeypatch):
    def pressed(stage):
        raise KeyboardInterrupt

    monkeypatch.setattr(perform, "warm_up", pressed)
    before = listing(script.parent)
    result = stunt("perform", script)
    assert (result.code, result.out) == (130, "") and "interrupted" in result.err
    assert listing(script.parent) == before


def test_ctrl_c_from_the_keyboard_leaves_a_take_that_loads(script):
    script.write_text(SCRIPT.replace("seconds: 0.3", "seconds: 3000"))
    command = [sys.executable, "-m", "stunt.cli.main", "perform", str(script), "--out", "out", "--no-pictures"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "performing Tiny: 3000.00 s\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Traceback" not in errors and "the take so far is in out/take.npz" in errors
    assert Take.load(script.parent / "out").seconds < 3000
    assert {path.name for path in (script.parent / "out").iterdir()} == {"take.npz", "report.json"}


def test_a_process_prints_nothing_but_json_and_bears_a_reader_who_goes_away(script):
    command = [sys.executable, "-m", "stunt.cli.main", "perform", str(script), "--json"]
    whole = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert whole.returncode == 0
    assert json.loads(whole.stdout)["schema_version"] == 1
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == 141
    assert "Traceback" not in errors and "BrokenPipe" not in errors
