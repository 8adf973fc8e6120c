"""`stunt track`: any body, the keys of its report, options of clips, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stunt.cli.main import main
from stunt.direction.performance import Performance
from stunt.direction.script_file import load_script
from stunt.motion.library import OWN_CLIPS

KEYS = {
    "error_deg_mean", "error_deg", "joint_error_deg", "drift_m", "path_m", "foot_slide_m", "fell", "assistance",
    "root_spring", "limits",
}  # fmt: skip


def tracked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["track", *words, "--yaw", "0.1", "--json"]) == 0
    report: dict[str, object] = json.loads(capsys.readouterr().out)["characters"]["double"]
    return report


@pytest.mark.parametrize("body", ["skeleton", "human39", "human47", "idle.bvh"])
def test_a_walk_is_followed_on_its_own_built_in_and_other_bodies(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = str(OWN_CLIPS / body) if body.endswith(".bvh") else body
    found = tracked(capsys, "walk", "--body", named)
    print(body, found["error_deg_mean"], found["drift_m"])
    assert set(found) >= KEYS and not found["fell"]
    assert found["error_deg_mean"] < 2.0 and found["drift_m"] < 0.1 * found["path_m"]  # type: ignore[operator]


def test_a_foreign_body_follows_by_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    dm_control = pytest.importorskip("dm_control", reason="dm_control is not installed")
    assets = Path(dm_control.__path__[0]) / "locomotion" / "walkers" / "assets"
    found = tracked(capsys, "walk", "--body", str(assets / "humanoid_CMU_V2020.xml"))
    print("CMU humanoid", found["error_deg_mean"], found["drift_m"])
    assert not found["fell"] and found["drift_m"] < 0.2  # type: ignore[operator]


def test_absolute_targets_are_an_option_of_the_world_servo_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert not tracked(capsys, "walk", "--targets", "absolute")["fell"]
    assert main(["track", "walk", "--targets", "absolute", "--servo", "parent"]) == 2
    assert "--servo world" in capsys.readouterr().err


def test_options_of_a_clip_beside_a_script_are_read(tmp_path: Path) -> None:
    (tmp_path / "mine.bvh").write_bytes((OWN_CLIPS / "walk.bvh").read_bytes())
    (tmp_path / "script.yaml").write_text(
        "characters:\n  ada: {body: 'mine.bvh?fps=30', root: free}\n"
        "performance:\n  ada: {clips: {play: [{clip: 'mine.bvh?fps=30'}]}}\nrate: 120\n"
    )
    performance = Performance(load_script(tmp_path / "script.yaml"))
    assert performance.seconds == pytest.approx(64 / 30.0, abs=0.01)


def test_clips_of_the_users_folder_go_before_the_packages(tmp_path: Path) -> None:
    (tmp_path / "walk.bvh").write_bytes((OWN_CLIPS / "kick.bvh").read_bytes())
    (tmp_path / "script.yaml").write_text(
        "characters:\n  ada: {body: skeleton, root: free}\nperformance:\n  ada: {clips: {play: [{clip: walk}]}}\n"
    )
    plain, mine = load_script(tmp_path / "script.yaml"), load_script(tmp_path / "script.yaml", clips=[tmp_path])
    assert plain.scene.characters["ada"].body == str(OWN_CLIPS / "walk.bvh")
    assert mine.scene.characters["ada"].body == str(tmp_path / "walk.bvh")
