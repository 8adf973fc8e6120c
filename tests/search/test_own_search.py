"""Searches for what a body is asked for on its own feet: the same on any number of processes, and after a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stunt
from captured import MOCAP, PYBULLET
from stunt.cli.main import main
from stunt.control.own import layout as w
from stunt.errors import BodyError, TakeError
from stunt.jobs.job import JobError
from stunt.search.inputs import SIZE
from stunt.search.own import SearchedMotion, search_own, setting_of
from stunt.search.search import WITH, Search
from stunt.search.trial import OwnStage, stage_of

RUN = next((p for p in (MOCAP / "deepmimic", PYBULLET) if (p / "humanoid3d_run.txt").exists()), None)
SEED = 0


def found_in(folder: Path | None = None, **options: Any) -> SearchedMotion:
    """Search for a run of 0.8 s, which falls live."""
    if RUN is None:
        pytest.skip("no captured run: neither ../shared/mocap nor pybullet's wheel is there")
    return search_own(RUN / "humanoid3d_run.txt", **{"seed": SEED, "out": folder, **options})


@pytest.fixture(scope="module")
def standing() -> OwnStage:
    return OwnStage(setting_of("idle"))


def asked(stage: OwnStage, number: int, value: float, seconds: float = 0.6) -> OwnStage:
    """Ask a body that stands for one input from the beginning on."""
    stage.go_to(np.zeros((0, SIZE)))
    plan = np.zeros((4, SIZE))
    plan[:, number] = value
    stage.prompter.follow(plan)
    stage.stage.advance(stage.stage.tick_of(seconds))
    return stage


def sensed(stage: OwnStage, number: int, value: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how an input moves the centre of mass [m] and tilts the pelvis, against asking for nothing."""
    found, root = list[tuple[np.ndarray, np.ndarray]](), stage.body.character.root_body
    for some in (0.0, value):
        data = asked(stage, number, some).stage.data
        found.append((data.subtree_com[root].copy(), data.xmat[root, 6:].copy()))
    return found[1][0] - found[0][0], found[1][1] - found[0][1]


@pytest.mark.parametrize("axis", [0, 1])
def test_a_body_goes_where_its_centre_of_mass_is_asked_for(standing: OwnStage, axis: int) -> None:
    off, _ = sensed(standing, w.PLACE + axis, 0.02)
    assert 0.01 < off[axis] < 0.03 and abs(off[1 - axis]) < 0.01


def test_it_sinks_turns_and_hurries_as_it_is_asked(standing: OwnStage) -> None:
    assert -0.04 < sensed(standing, w.PLACE + 2, -0.03)[0][2] < -0.008
    before = asked(standing, w.CLOCK, 0.0).body.own.clip_time
    assert asked(standing, w.CLOCK, 0.2).body.own.clip_time - before == pytest.approx(0.12, abs=0.01)
    assert np.linalg.norm(sensed(standing, w.INPUTS, 0.1)[1]) > 0.03


def test_rotations_turn_the_trunk_and_the_arms_and_no_leg(standing: OwnStage) -> None:
    axes, body = standing.space.axes, standing.body
    legs = {part for leg in body.own.legs for part in leg}
    root = body.character.root
    assert root is not None
    for joint in body.character.joints.values():
        rows = axes[joint.dof - root.dof : joint.dof - root.dof + joint.nv]
        assert not (rows.any() and int(body.stage.model.jnt_bodyid[joint.id]) in legs)
    assert all(np.abs(axes[:, column]).max() > 0.1 for column in range(12))


def test_a_plan_of_zeros_is_the_clip_alone_bit_for_bit(standing: OwnStage) -> None:
    standing.go_to(np.zeros((0, SIZE)))
    standing.stage.advance(300)
    alone = standing.stage.data.qpos.tobytes()
    asked(standing, 0, 0.0, 0.0).stage.advance(300)
    assert standing.stage.data.qpos.tobytes() == alone


def test_a_restored_state_goes_on_as_it_would_have(standing: OwnStage) -> None:
    plan = np.random.default_rng(0).normal(size=(4, SIZE)) * standing.space.spread
    standing.stage.restore(standing._begin)
    standing.prompter.follow(plan)
    standing.stage.advance(standing.prompter.tick_of(5))
    through = standing.stage.data.qpos.tobytes()
    standing.go_to(plan[:2])
    standing.prompter.follow(plan)
    standing.stage.advance(standing.prompter.tick_of(5) - standing.stage.tick)
    assert standing.stage.data.qpos.tobytes() == through


# ---- whole searches


class Enough(KeyboardInterrupt):
    """Somebody stops a search."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[SearchedMotion, Path]:
    folder = tmp_path_factory.mktemp("whole")
    return found_in(folder), folder


def rows_in(folder: Path) -> list[Any]:
    lines = (folder / "journal.jsonl").read_text().splitlines()[1:]
    return [(entry["index"], entry["id"], entry["row"]) for entry in map(json.loads, lines)]


def test_a_search_that_was_stopped_goes_on_to_the_same_rows(whole: tuple[SearchedMotion, Path], tmp_path: Path) -> None:
    found, folder = whole

    def stop(search: Search) -> None:
        raise Enough

    with pytest.raises(Enough):
        found_in(tmp_path, progress=stop)
    some = rows_in(tmp_path)
    assert 0 < len(some) < found.trials
    again = found_in(tmp_path)
    assert again.vectors.tobytes() == found.vectors.tobytes() and again.row == found.row
    assert sorted(rows_in(tmp_path), key=lambda row: row[0]) == sorted(rows_in(folder), key=lambda row: row[0])


def test_two_processes_find_the_same(whole: tuple[SearchedMotion, Path]) -> None:
    found = found_in(workers=2)
    assert found.vectors.tobytes() == whole[0].vectors.tobytes() and found.row == whole[0].row


def test_a_run_that_falls_live_is_done_and_is_with_its_clip_all_the_while(whole: tuple[SearchedMotion, Path]) -> None:
    found = whole[0]
    assert not found.live["up"] and found.how == "searched" and found.row["worst_deg"] <= WITH


def test_what_was_found_is_what_is_performed_and_nothing_holds_the_root(whole: tuple[SearchedMotion, Path]) -> None:
    found = whole[0]
    made = found.stage(certify=True)
    row = made.play(made.length + 1.0)
    assert {name: row[name] for name in row if name != "seconds"} == {
        name: found.row[name] for name in row if name != "seconds"
    }
    certificate = stunt.certify(made.performance.take())
    outside = certificate["characters"]["double"]["external"]
    assert certificate["replay"]["bit_for_bit"] and outside["force_n"] == outside["torque_nm"] == 0.0


def test_rows_of_another_search_are_not_taken(whole: tuple[SearchedMotion, Path]) -> None:
    with pytest.raises(JobError, match="another"):
        found_in(whole[1], seed=SEED + 1)


def test_what_was_found_can_be_kept(whole: tuple[SearchedMotion, Path], tmp_path: Path) -> None:
    whole[0].save(tmp_path / "found.json")
    again = SearchedMotion.load(tmp_path / "found.json")
    assert again.vectors.tobytes() == whole[0].vectors.tobytes() and again.told() == whole[0].told()
    good = json.loads((tmp_path / "found.json").read_text())
    for damage in ("{}", "[" * 9000, json.dumps({**good, "row": [1]}), json.dumps({**good, "live": {"up": True}})):
        (tmp_path / "found.json").write_text(damage)
        with pytest.raises(TakeError, match="is no found.json") as refused:
            SearchedMotion.load(tmp_path / "found.json")
        assert len(str(refused.value)) < 1000


def test_what_stands_on_hands_is_refused_before_anything_is_tried(tmp_path: Path) -> None:
    with pytest.raises(BodyError, match="on the ground at .* feet alone carry"):
        search_own("cartwheel", out=tmp_path / "rows")
    assert not (tmp_path / "rows").exists()


def test_a_clip_that_is_done_live_takes_one_trial() -> None:
    assert (found := search_own("idle", budget=1.0)).how == "live" and found.trials == 1
    assert stage_of(found.setting).refusal() == ""


def test_the_command_does_a_clip_live_and_writes_a_take_and_a_clip(tmp_path: Path, capsys: Any) -> None:
    assert main(["own", "idle", "--out", str(tmp_path), "--no-pictures"]) == 0
    assert {"take.npz", "report.json", "found.json", "motion.bvh"} <= {path.name for path in tmp_path.iterdir()}
    assert "done live" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["--budget", "3"], ["--workers", "2"]])
def test_options_of_a_search_without_one_are_refused(options: list[str], capsys: Any) -> None:
    assert main(["own", "idle", *options]) == 2
    assert "goes with --search" in capsys.readouterr().err
