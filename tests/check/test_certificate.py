"""A certificate says what moved a body, and the bare engine, told what was written, does the same again."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.cli.main import main
from stunt.errors import StuntError, TakeError
from stunt.examples import example
from stunt.record.proof.replay import Replay
from stunt.script.file import load_script
from stunt.script.performance import Performance

PROGRAM = Path(__file__).parents[2] / "examples" / "replay_certificate.py"


def stage_of(assist: str = "own", clip: str = "idle", **options) -> stunt.Stage:
    found = stunt.load_clip(clip)
    rates = {"physics_hz": 480.0, "control_hz": 120.0}
    scene = stunt.Scene({"ada": stunt.Body(found, root="free", strength=1.5)}, **rates)
    stage = stunt.Stage(scene, **options)
    stage.actor("ada").follow(found, assist=assist)
    return stage


@pytest.fixture(scope="module")
def own() -> stunt.Take:
    return stage_of().run(1.0, certify=True)


def replayed_bare(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the example in a process that cannot see Stunt."""
    # No folder of the sources, no numba cache, and isolated from the user's own: what is left is the environment's.
    hidden = (
        "import sys, runpy; sys.modules['stunt'] = None; "
        f"sys.argv = ['replay', {str(path)!r}]; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-I", "-c", hidden], capture_output=True, text=True, timeout=300)


def test_a_body_on_its_own_feet_passes(own):
    found = stunt.certify(own)
    ada = found["characters"]["ada"]
    assert found["passed"] and found["replay"]["bit_for_bit"] and ada["help"] == []
    assert ada["external"]["force_n"] == ada["external"]["torque_nm"] == 0.0 and ada["external"]["steps"] == 0
    assert ada["momentum_residual"]["force_share"] < 1e-3
    assert 0.0 < ada["torque"]["peak_share"] <= 1.0 + 1e-6 and ada["torque"]["over_share"] == 0.0
    assert 0.0 < ada["friction"]["peak_use"] <= 1.0 + 1e-6 and ada["penetration"]["others_m"] < 0.05
    assert ada["clock"]["most_s"] >= abs(ada["clock"]["late_s"]) - 1e-9
    json.dumps(found, allow_nan=False)


def test_keeping_a_ledger_changes_no_bit(own):
    other = stage_of().run(1.0)
    assert other.ledger is None and np.array_equal(own.qpos, other.qpos) and np.array_equal(own.qvel, other.qvel)


@pytest.mark.parametrize("assist", ["own", "weak"])
def test_a_program_without_stunt_confirms_every_bit(assist, own, tmp_path):
    take = own if assist == "own" else stage_of(assist).run(0.5, certify=True)
    take.save(tmp_path / "take.npz")
    (tmp_path / "certificate.json").write_text(json.dumps(stunt.certify(take)))
    done = replayed_bare(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bits" in done.stdout and done.stdout.count("as certified") == 3
    assert len(PROGRAM.read_text().splitlines()) <= 80
    assert "import stunt" not in PROGRAM.read_text() and "from stunt" not in PROGRAM.read_text()


def test_one_altered_torque_is_found_by_both(own, tmp_path):
    value = own.ledger.value.copy()
    place = int(np.flatnonzero(own.ledger.written("qfrc_applied"))[300])
    value[place] = np.nextafter(value[place], np.inf)
    forged = dataclasses.replace(own, ledger=dataclasses.replace(own.ledger, value=value))
    found = stunt.certify(forged)
    assert not found["passed"] and not found["replay"]["bit_for_bit"]
    assert found["replay"]["first_difference"] == int(own.ledger.step[place])
    forged.save(tmp_path / "take.npz")
    (tmp_path / "certificate.json").write_text(json.dumps(stunt.certify(own)))
    done = replayed_bare(tmp_path)
    assert done.returncode == 1 and "NOT as certified" in done.stdout


def test_frames_that_are_not_its_states_are_found(own):
    qpos = own.qpos.copy()
    qpos[40, 2] += 1e-9
    found = stunt.certify(dataclasses.replace(own, qpos=qpos))
    assert not found["passed"] and not found["replay"]["frames_are_states"]


def planted(fault) -> dict:
    """Certify a second on own feet, in which somebody does something every control step from 0.2 s on."""
    stage = stage_of(certify=True)
    stage.advance(96)
    for _ in range(60):
        fault(stage)
        stage.advance(4)
    return stunt.certify(stage.take())


def test_a_hidden_force_is_found_and_measured():
    def fault(stage):
        stage.data.xfrc_applied[stage.character("ada").root_body, 2] = 50.0

    found = planted(fault)
    assert found["replay"]["bit_for_bit"] and not found["passed"]
    assert any("nobody declared" in sentence and "50" in sentence for sentence in found["characters"]["ada"]["help"])


def test_a_torque_on_the_root_is_found_and_measured():
    stage = stage_of(certify=True)
    stage.advance(97)
    root = stage.character("ada").root.dof
    stage.data.qfrc_applied[root + 4] = 20.0
    with pytest.raises(StuntError, match="held 'ada' from outside"):
        stage.advance(240)
    ada = stunt.certify(stage.take())["characters"]["ada"]
    assert not ada["passed"] and ada["external"]["torque_nm"] == 20.0 and ada["external"]["steps"] == 3


def test_friction_changed_by_somebody_is_help():
    def soles(stage):
        stage.model.geom_friction[list(stage.character("ada").geoms), 0] = 2.0

    def ground(stage):
        stage.model.geom_friction[stage.model.geom("ground").id, 0] = 2.0

    for fault, said in ((soles, "friction of"), (ground, "whose friction was changed")):
        found = planted(fault)
        assert found["replay"]["bit_for_bit"] and not found["passed"]
        assert any(said in sentence for sentence in found["characters"]["ada"]["help"])


def test_a_body_that_is_put_somewhere_or_a_lighter_world_does_not_pass():
    def put(stage):
        stage.data.qpos[stage.character("ada").root.qpos] += 1e-4

    def lighter(stage):
        stage.model.opt.gravity[2] = -9.0

    for fault, said in ((put, "was put where it is"), (lighter, "opt.gravity")):
        found = planted(fault)
        assert found["replay"]["bit_for_bit"] and not found["passed"]
        assert any(said in sentence for sentence in found["characters"]["ada"]["help"])


def test_what_is_not_in_the_ledger_breaks_the_replay(own):
    stage = stage_of(certify=True)
    stage.advance(96)
    stage.ledger._others._arrays.clear()  # a ledger that looks away
    stage.ledger._others._runs.clear()
    stage.ledger._others._bytes.clear()
    stage.model.body_mass[stage.character("ada").root_body] *= 0.5
    stage.advance(48)
    found = stunt.certify(stage.take())
    assert not found["passed"] and 96 <= found["replay"]["first_difference"] <= 98


def test_a_declared_push_is_listed_and_passes():
    stage = stage_of()
    stage.push("ada/" + chest(stage), at=0.2, impulse=(8.0, 0.0, 0.0), duration=0.1, point=(0.02, 0.0, 0.05))
    found = stunt.certify(stage.run(0.6, certify=True))
    ada = found["characters"]["ada"]
    assert found["passed"], ada["help"]
    assert ada["pushed_ns"] == pytest.approx(8.0) and "bodies were pushed" in found["listed"]


def test_a_drag_is_help():
    stage = stage_of()
    stage.drag("ada/" + chest(stage), [(0.0, 0.0, 0.05)], at=0.1, until=0.4, strength=60.0)
    ada = stunt.certify(stage.run(0.6, certify=True))["characters"]["ada"]
    assert not ada["passed"] and any("dragged" in sentence for sentence in ada["help"])


def chest(stage: stunt.Stage) -> str:
    names = stage.character("ada").bodies
    return next(name for name in names if "thorax" in name or "spine" in name or "chest" in name)


def test_the_weak_spring_never_passes_and_says_how_much():
    take = stage_of("weak", "walk").run(1.0, certify=True)
    found = stunt.certify(take)
    ada = found["characters"]["ada"]
    assert found["replay"]["bit_for_bit"] and not found["passed"]
    told = take.report()["characters"]["ada"]["root_spring"]
    assert ada["external"]["torque_impulse_nms"] == pytest.approx(told["angular_impulse"], rel=1e-6)
    assert any("had its root held" in sentence for sentence in ada["help"])
    assert any("inertia between joints was patched" in sentence for sentence in found["listed"])


EVERY_DRIVER = [
    "ymca", "crouch", "bow", "marionette", "marker_arm", "shove", "trip", "catch", "drag", "beach_balls", "cradle",
    "duck", "supervised_walk",
]  # fmt: skip


@pytest.mark.parametrize("name", EVERY_DRIVER)
def test_every_way_of_moving_is_replayed_bit_for_bit(name):
    performance = Performance(load_script(example(name).path), foretell=False, certify=True)
    performance.stage.advance(performance.stage.tick_of(1.2))
    take = performance.take()
    replay = Replay(take.ledger)
    for _ in replay.steps():
        pass
    assert replay.differs == -1 and replay.number + 1 == take.ledger.steps > 0


def test_what_control_says_of_its_torques_is_what_the_motion_says():
    performance = Performance(load_script(example("ymca").path), certify=True)
    take = performance.run()
    found = stunt.certify(take)["characters"]
    for name, entry in found.items():
        joints = take.cast.character(name).joints.values()
        shares = [np.abs(take.torque[1:, j.dofs]).max() / j.strength for j in joints if j.strength]
        assert entry["torque"]["peak_share"] == pytest.approx(max(shares), rel=0.05)
        assert any("fixed root" in sentence for sentence in entry["help"])


def test_a_restored_stage_keeps_the_ledger_of_what_was_played(own):
    stage = stage_of(certify=True)
    stage.advance(240)
    state = stage.save()
    stage.advance(100)
    stage.restore(state)
    stage.advance(240)
    take = stage.take()
    assert np.array_equal(take.ledger.states, own.ledger.states)
    assert stunt.certify(take)["replay"]["bit_for_bit"]


def test_a_take_without_a_ledger_says_how_to_make_one(own, tmp_path, capsys):
    with pytest.raises(TakeError, match="--certify"):
        stunt.certify(dataclasses.replace(own, ledger=None))
    dataclasses.replace(own, ledger=None).save(tmp_path / "take.npz")
    assert main(["certify", str(tmp_path)]) == 2 and not (tmp_path / "certificate.json").exists()
    with pytest.raises(StuntError, match="from its beginning"):
        stage = stage_of()
        stage.run(0.1)
        stage.run(0.1, certify=True)


def test_the_command_writes_the_certificate_and_its_exit_code_says_whether_it_passed(own, tmp_path, capsys):
    own.save(tmp_path / "take.npz")
    assert main(["certify", str(tmp_path)]) == 0
    written = json.loads((tmp_path / "certificate.json").read_text())
    assert written == stunt.certify(own) and "passed" in capsys.readouterr().out
    os.unlink(tmp_path / "certificate.json")
    assert main(["certify", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == written and not (tmp_path / "certificate.json").exists()


def test_tracking_with_certify_leaves_a_certificate_beside_the_take(tmp_path, capsys):
    words = ["track", "idle", "--assist", "weak", "--seconds", "0.4", "--certify", "--no-pictures", "--out"]
    assert main([*words, str(tmp_path)]) == 0
    assert json.loads((tmp_path / "certificate.json").read_text())["passed"] is False
    assert main([*[word for word in words if word != "--certify"], str(tmp_path)]) == 0
    assert not (tmp_path / "certificate.json").exists()  # of another take
