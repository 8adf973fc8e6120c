"""A cast is made by the stage, whatever stage it is, and says what reports and exports need."""

import dataclasses
import json

import numpy as np
import pytest

from stunt.errors import ExportError, TakeError, UnknownNameError
from stunt.export import export
from stunt.record.cast import Cast, cast_from_data
from stunt.record.recorder import Recorder
from stunt.record.report import make_report
from stunt.record.take import Take
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene


@pytest.fixture(scope="module")
def take() -> Take:
    """Nobody drives anybody: a stage with a person, one built from a clip, and a ball."""
    people = {"ada": CharacterSpec("human39"), "bob": CharacterSpec("walk", root="free", at=(0.0, 1.5, 0.0))}
    stage = StageLoop(Scene(people, {"ball": PropSpec("sphere", at=(1.0, 0.0, 1.0), mass=1.0)}))
    recorder = Recorder(stage)
    stage.step(0.1)
    return recorder.take()


def as_version_0_1_stored_it(take: Take, path) -> None:
    take.save(path)
    stored = dict(np.load(path))
    text = json.loads(str(stored["json"]))
    cast = text.pop("cast")
    for about in cast["characters"].values():
        kinds = {name: joint["kind"] for name, joint in about["joints"].items()}
        width = {name: 3 if kind == "ball" else 1 for name, kind in kinds.items()}
        about["dofs"] = [j["dof"] + k for n, j in about["joints"].items() for k in range(width[n])]
        about["strength"] = [j["strength"] for n, j in about["joints"].items() for _ in range(width[n])]
        for joint in about["joints"].values():
            del joint["strength"]
    text["meta"] |= {"characters": cast["characters"], "props": {n: p["body"] for n, p in cast["props"].items()}}
    text["schema_version"] = 1
    np.savez_compressed(path, **{**stored, "json": np.array(json.dumps(text))})


def test_every_stage_makes_a_take_that_reports_and_exports(take, tmp_path):
    report = make_report(take)
    assert list(report["characters"]) == ["ada", "bob"] and report["characters"]["bob"]["root"] == "free"
    for suffix in ("glb", "npz", "csv"):
        written = export(take, tmp_path / f"take.{suffix}")
        assert all(path.stat().st_size > 10_000 for path in written)


def test_a_cast_says_who_is_there_with_which_joints(take):
    ada, model = take.cast.character("ada"), take.model()
    assert take.cast.names == ["ada", "bob"] and take.cast.props["ball"].shape == "sphere"
    for name, joint in ada.joints.items():
        assert model.joint(f"ada/{name}").dofadr[0] == joint.dof
        assert model.joint(f"ada/{name}").qposadr[0] == joint.qpos
    assert len(ada.dofs) == len(ada.dof_names) == sum(joint.width for joint in ada.joints.values())
    assert ada.clip is None and take.cast.character("bob").clip is not None
    with pytest.raises(UnknownNameError, match="bob"):
        take.cast.character("bobb")


def test_a_cast_survives_its_file(take, tmp_path):
    again = Take.load(take.save(tmp_path / "take.npz"))
    assert again.cast.to_data() == take.cast.to_data()
    assert cast_from_data(json.loads(json.dumps(take.cast.to_data()))).to_data() == take.cast.to_data()


def test_takes_stored_before_there_were_casts_are_read(take, tmp_path):
    as_version_0_1_stored_it(take, tmp_path / "old.npz")
    old = Take.load(tmp_path / "old.npz")
    assert old.cast.character("ada").joints == take.cast.character("ada").joints
    assert old.cast.props["ball"].body == take.cast.props["ball"].body and "characters" not in old.meta
    assert make_report(old) == make_report(take)


def test_takes_of_a_later_schema_are_refused(take, tmp_path):
    path = take.save(tmp_path / "take.npz")
    stored = dict(np.load(path))
    text = json.loads(str(stored["json"])) | {"schema_version": 99}
    np.savez_compressed(path, **{**stored, "json": np.array(json.dumps(text))})
    with pytest.raises(TakeError, match="schema 99"):
        Take.load(path)


@pytest.mark.parametrize(
    "body",
    [float("inf"), 10**400, "x", None, [1], -1.5e300],
    ids=["infinite", "huge", "text", "nothing", "list", "negative"],
)
def test_takes_that_say_what_no_take_says_are_refused_in_words(take, tmp_path, body):
    path = take.save(tmp_path / "take.npz")
    stored = dict(np.load(path))
    text = json.loads(str(stored["json"]))
    text["cast"]["props"]["ball"]["body"] = body
    np.savez_compressed(path, **{**stored, "json": np.array(json.dumps(text))})
    with pytest.raises(TakeError, match="is not a take Stunt can read"):
        Take.load(path)


@pytest.mark.parametrize("suffix", ["glb", "bvh", "npz", "csv", "usd", "mp4"])
def test_nothing_is_written_of_a_take_without_anybody_or_without_frames(take, tmp_path, suffix):
    if suffix == "usd":
        pytest.importorskip("pxr")
    nobody = dataclasses.replace(take, cast=Cast())
    with pytest.raises(ExportError, match="cast of the take is empty"):
        export(nobody, tmp_path / f"a.{suffix}")
    unplayed = Recorder(StageLoop(Scene({"ada": CharacterSpec("human39")}))).take()
    with pytest.raises(ExportError, match="no frames"):
        export(unplayed, tmp_path / f"a.{suffix}")
    assert not list(tmp_path.iterdir())
