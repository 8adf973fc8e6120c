"""The `supervisor` section of scripts: read, written, checked, performed, saved."""

import pytest

from stunt.errors import StuntError
from stunt.examples import example
from stunt.record.filmstrip import choose_panels
from stunt.record.in_charge import charges, in_charge
from stunt.record.take import Take
from stunt.script.file import load_script, save_script, script_from_data, script_to_data
from stunt.script.performance import Performance

BASE = {
    "seconds": 2.0,
    "rate": 120,
    "characters": {"ada": {"body": "skeleton", "root": "free", "strength": 1.5}},
    "props": {"ball": {"shape": "sphere", "radius": 0.1, "mass": 5, "at": [3, 0.4, 1.2]}},
}


def script(supervisor, **more):
    return script_from_data({**BASE, "performance": {"ada": {"supervisor": supervisor}}, **more})


FULL = {
    "clips": {
        "idle": {"loop": True, "weights": {"l_knee": 2.0}},
        "walk": {"clip": "walk", "loop": True, "asked": True, "hit_threshold": 1.0, "passive": ["ball"]},
        "kick": {"clip": "kick", "whole": True, "asked": True, "from": 0.2, "to": 2.2, "priority": 12},
    },
    "controllers": ["rag_doll", {"use": "rag_doll", "name": "limp", "priority": 3, "longest": 5.0}],
    "safe": "rag_doll",
    "requests": [{"at": 0.5, "do": "kick"}, {"at": 1.5, "do": "walk", "patience": 1.0}],
    "passive": ["ball"],
    "rate": 60.0,
    "yaw": 0.2,
}


def test_a_section_survives_writing_and_reading(tmp_path):
    one = script(FULL)
    assert script_from_data(script_to_data(one)) == one
    save_script(one, tmp_path / "it.yaml")
    assert load_script(tmp_path / "it.yaml").parts == one.parts


def test_it_is_performed_and_its_log_is_part_of_the_take(tmp_path):
    throw = {"throw": "ball", "at": 0.4, "target": "ada/thorax", "hits_at": 0.8}
    performance = Performance(script({"clips": {"idle": {"loop": True}}}, events=[throw]))
    take = performance.run()
    take.save(tmp_path / "take.npz")
    events = [e for e in Take.load(tmp_path / "take.npz").events if e["kind"] == "supervisor"]
    assert [e["controller"] for e in events][:2] == ["idle", "idle (tracking)"]
    assert "hit by ball" in events[1]["why"] and events[0]["bids"][0]["controller"] == "idle"
    who = charges(take)
    assert in_charge(who, 0.1) == "idle" and who["ada"][0].kinematic and not who["ada"][1].kinematic
    assert choose_panels(take, None, ["ada"])[0].name == "idle"


def test_requests_are_made_at_their_times():
    performance = Performance(script({**FULL, "passive": []}))
    performance.run()
    switches = [e for e in performance.sections["ada"]["supervisor"].log if e["event"] == "switch"]
    assert [(e["controller"], round(e["time"], 1)) for e in switches[:2]] == [("idle", 0.0), ("kick", 0.5)]


def test_a_scripted_performance_goes_on_bit_for_bit():
    performance = Performance(script({**FULL, "passive": []}))
    stage = performance.stage
    stage.step(0.7)
    kept = stage.save()
    stage.step(1.2)
    once = stage.data.qpos.copy()
    stage.restore(kept)
    stage.step(1.2)
    assert (stage.data.qpos == once).all()


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "a supervisor, which needs somebody to put in charge, needs 'clips' or 'controllers'"),
        ({"clips": {}}, "needs 'clips' or 'controllers'"),
        ({"clip": {"idle": "idle"}}, "Did you mean clips|unknown key 'clip'"),
        ({"clips": {"idle": {"looop": True}}}, "'looop'"),
        ({"clips": {"idle": {"threshold": -1}}}, "greater than 0"),
        ({"clips": {"idle": "idle"}, "requests": [{"at": 1, "do": "fly"}]}, "unknown controller 'fly'"),
        ({"clips": {"idle": "idle"}, "requests": [{"do": "idle"}]}, "needs 'at'"),
        ({"controllers": ["rag_dol"]}, "unknown controller 'rag_dol'"),
        ({"controllers": ["no_module:Thing"]}, "cannot be loaded"),
        ({"controllers": ["rag_doll", "rag_doll"]}, "two controllers are called 'rag_doll'"),
        ({"clips": {"idle": "idle"}, "passive": ["bat"]}, "unknown prop or character 'bat'"),
        ({"clips": {"idle": "idle"}, "safe": "nobody"}, "unknown controller 'nobody'"),
    ],
)
def test_mistakes_are_named_with_their_place(section, message):
    with pytest.raises(StuntError, match=message) as caught:
        script(section)
    assert "supervisor" in caught.value.place.path


def test_a_fixed_root_and_unknown_joints_are_refused():
    data = {**BASE, "characters": {"ada": {"body": "skeleton", "root": "fixed"}}}
    with pytest.raises(StuntError, match="needs `root: free`"):
        Performance(script_from_data({**data, "performance": {"ada": {"supervisor": {"clips": {"idle": "idle"}}}}}))
    with pytest.raises(StuntError, match="l_knie"):
        Performance(script({"clips": {"idle": {"weights": {"l_knie": 1.0}}}}))


def test_the_example_says_who_was_in_charge():
    performance = Performance(load_script(example("supervised_walk").path), record_hz=30.0)
    performance.run()
    names = [e["controller"] for e in performance.sections["ada"]["supervisor"].log if e["event"] == "switch"]
    assert names == ["walk", "walk (tracking)", "walk", "idle", "punch"]
