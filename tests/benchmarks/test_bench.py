"""Benchmarks run and give sane numbers; how fast they are is not a test's business."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bare import Bare, note_steps
from benchmarks.dancers import dancers, states_along
from benchmarks.main import BENCHMARKS, run
from benchmarks.result import Measurement
from benchmarks.timing import exponent, interleaved, median_ratio, typical
from benchmarks.trees import human_like
from stunt.errors import StuntError, UnknownNameError
from stunt.library.names import find_clip


@pytest.mark.parametrize("coupling", ["full", "compensated", "local"])
def test_the_bare_engine_takes_the_same_way_bit_for_bit(coupling: str) -> None:
    stage = dancers(1, coupling)  # type: ignore[arg-type]
    states = states_along(stage, 0.6, 2)
    bare = Bare(stage)
    for state in states:
        rows = note_steps(stage, state, 16)
        bare.put(state)
        bare.steps(rows)
        assert (bare.data.qpos == stage.data.qpos).all()
        assert (bare.data.qvel == stage.data.qvel).all()


def test_interleaved_runs_every_job_in_every_round() -> None:
    calls: list[str] = []

    def job(name: str, seconds: float):  # type: ignore[no-untyped-def]
        return lambda: calls.append(name) or seconds

    jobs = [{"a": job("a1", 1.0), "b": job("b1", 2.0)}, {"a": job("a2", 3.0), "b": job("b2", 4.0)}]
    seconds = interleaved(jobs, 3)
    assert sorted(calls) == sorted(["a1", "a2", "b1", "b2"] * 3)
    assert seconds["a"].shape == (3, 2)
    assert typical(seconds["a"]) == 4.0 and typical(seconds["b"]) == 6.0


def test_jobs_take_turns_in_coming_first() -> None:
    order: list[str] = []
    jobs = {name: (lambda name=name: order.append(name) or 0.0) for name in "ab"}  # type: ignore[misc]
    interleaved([jobs], 2)
    assert order == ["a", "b", "b", "a"]


def test_a_median_ratio_does_not_mind_what_slows_both_or_some_of_a_pair() -> None:
    rng = np.random.default_rng(0)
    machine = rng.choice([1.0, 2.0, 5.0], (200, 3))
    under = machine * (1.0 + 0.05 * rng.random((200, 3)))
    over = 1.1 * machine * (1.0 + 0.05 * rng.random((200, 3)))
    over[rng.random(over.shape) < 0.1] *= 30.0
    under[rng.random(under.shape) < 0.1] *= 30.0
    assert median_ratio(over, under) == pytest.approx(1.1, rel=0.02)


def test_the_exponent_of_a_power_is_its_power() -> None:
    sizes = np.array([10.0, 20.0, 40.0])
    assert exponent(list(sizes), list(3e-6 * sizes**1.25)) == pytest.approx(1.25)


@pytest.mark.parametrize("joints", [1, 3, 10, 31, 80])
def test_a_human_like_tree_has_the_joints_asked_for_and_no_long_chain(joints: int) -> None:
    model = human_like(joints)
    assert model.nv == joints
    assert model.M_rownnz.max() <= 13


@pytest.mark.parametrize(("value", "bar", "ok"), [(9.0, 10.0, True), (11.0, 10.0, False), (math.nan, 10.0, False)])
def test_a_measurement_knows_whether_it_meets_its_bar(value: float, bar: float, ok: bool) -> None:
    assert Measurement("cost", value, "%", bar).ok is ok
    assert Measurement("cost", value).ok is None


def test_every_benchmark_runs_quickly_and_json_is_pure(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["--json", "--quick"])
    report = json.loads(capsys.readouterr().out)
    assert code in (0, 1)
    assert report["schema_version"] == 1 and report["quick"]
    assert list(report["benchmarks"]) == list(BENCHMARKS)
    for group in report["benchmarks"].values():
        assert group
        for entry in group:
            assert math.isfinite(entry["value"])
            assert entry["ok"] in (None, entry["bar"] is not None and entry["value"] <= entry["bar"])
    speeds = report["benchmarks"]["speed"]
    assert all(entry["value"] > 0.0 for entry in speeds)


def test_the_table_names_bar_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    run(["speed"], quick=True)
    out = capsys.readouterr().out
    assert "YMCA at 480 Hz" in " ".join(out.replace("│", " ").split())
    assert "bar" in out


def test_an_unknown_benchmark_names_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'control'"):
        run(["contrl"])
    with pytest.raises(StuntError, match="--help"):
        run(["--jsonn"])


def test_the_scene_of_the_speed_claim_has_what_it_says() -> None:
    from benchmarks import dynamo

    stage = dynamo.scene()
    assert [len(who.bodies) for who in stage.characters.values()] == [dynamo.BONES] * dynamo.PEOPLE
    rows, columns = stage.model.hfield_nrow[0], stage.model.hfield_ncol[0]
    assert 2 * (rows - 1) * (columns - 1) == 5000 and sum(p.dof >= 0 for p in stage.built.props.values()) == 50
    stage.step(1.0)
    assert all(stage.data.qpos[who.root.qpos + 2] > 0.7 for who in stage.characters.values() if who.root is not None)


def test_tracking_is_measured_on_clips_of_the_user(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shutil.copy(find_clip("idle"), tmp_path / "mine.bvh")
    run(["tracking", "--quick", "--json", "--clips", str(tmp_path)])
    found = json.loads(capsys.readouterr().out)["benchmarks"]["tracking"]
    assert {m["name"] for m in found} == {
        "step that follows mine over the bare step", "step that follows mine over a bare step on its way"
    }  # fmt: skip
    with pytest.raises(StuntError, match="a folder with clips in it"):
        (tmp_path / "empty").mkdir()
        run(["tracking", "--quick", "--clips", str(tmp_path / "empty")])
