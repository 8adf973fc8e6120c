"""Every program in examples/ runs, and does what it says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from stunt.examples import example

FOLDER = Path(__file__).parents[1] / "examples"


def program(name: str):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_clip_changed_in_python_is_followed_and_exported(tmp_path, capsys):
    take = program("follow_a_clip").main(tmp_path)
    assert (tmp_path / "walk.glb").stat().st_size > 10_000
    told = take.report()["characters"]["ada"]
    assert told["error_deg_mean"] < 5.0 and told["hits"] >= 1 and "fell" in capsys.readouterr().out
    assert {"push", "reaction"} <= {event["kind"] for event in take.events} or told["hits"]


def test_a_game_loop_steps_by_hand_and_still_makes_a_take(capsys):
    take = program("game_loop").main(1.5)
    assert take.cast.names == ["walker0", "walker1", "late"] and take.seconds > 1.4
    starts = [take.qpos[0, member.root_qpos + 1] for member in take.cast.characters.values()]
    assert np.abs(np.diff(starts)).min() > 1.0  # nobody piles up


def test_two_servos_are_compared_on_the_same_clip_and_pushes(capsys):
    table = program("compare_servos").main(0.8)
    assert len(table) == 6 and table["world", 0.0]["error_deg"] < 5.0
    assert table["world", 0.0] != table["parent", 0.0]
    assert capsys.readouterr().out.count("\n") == 7


def test_ones_own_ai_gives_a_pose_and_a_root_for_every_tick(capsys):
    take = program("own_ai").main(0.8)
    module = program("own_ai")
    elbow = take.cast.character("ada").joints["r_elbow_flexion"].qpos
    wanted = module.wave(take.seconds)["r_elbow_flexion"]
    assert take.qpos[-1, elbow] == pytest.approx(wanted, abs=0.1)
    root = take.cast.character("bob").root_qpos
    assert take.qpos[-1, root] == pytest.approx(0.3 * np.sin(take.seconds), abs=0.02)


def test_fifty_people_walk_and_are_pushed_with_twenty_under_forces(capsys):
    plaza = program("crowd").main(1.0)
    told = capsys.readouterr().out
    assert "50 people, at least 20 under forces" in told and "over real time" in told
    assert len(plaza.crowd.under_forces) + len(plaza.crowd.on_data) == 50
    heights = plaza.stage.data.qpos[[plaza.stage.character(name).root.qpos + 2 for name in plaza.people]]
    assert (heights > 0.1).all() and (heights < 1.2).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_fifty_people_walk_and_are_pushed_for_a_minute(seed):
    plaza = program("crowd").Plaza(50, 20, seed=seed)
    roots = [plaza.stage.character(name).root.qpos for name in plaza.people]
    down = np.zeros(50)
    while plaza.stage.time < 60.0:
        plaza.step()
        assert len(plaza.crowd.under_forces) >= 20
        heights = plaza.stage.data.qpos[np.add(roots, 2)]
        assert (heights > 0.03).all() and (heights < 1.3).all()
        down = np.where(heights < 0.5, down + 1 / 60, 0.0)
        assert down.max() < 20.0, "whoever falls gets up again"
    assert len(plaza.pushed) > 30


def test_every_program_says_what_it_is_and_is_run_here():
    text = Path(__file__).read_text(encoding="utf-8")
    certificates = (Path(__file__).parent / "check" / "test_certificate.py").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert f'program("{path.stem}")' in text or path.name in certificates, path.name
        assert path.read_text(encoding="utf-8").startswith('"""'), path.name
    assert example("ymca").path.is_file()
