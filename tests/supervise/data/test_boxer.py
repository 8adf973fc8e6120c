"""Boxing under two supervisors: in scripts, step by step, saved and restored."""

from __future__ import annotations

import numpy as np
import pytest

from papers.p2.boxing import BLUE, BOX, RED, boxing, downs
from stunt.errors import StuntError
from stunt.examples import example
from stunt.record.report import make_report
from stunt.script.file import load_script, script_from_data, script_to_data
from stunt.script.performance import Performance
from stunt.script.sections.supervisor import own_searcher
from stunt.stage.blows import LEAST
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.data.boxer import Boxer
from tests.campaigns import boxing as campaign


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path_factory.getbasetemp() / "cache"))


def script(fight=None, **section):
    clips = example("boxing_match").path.parent / "clips"
    body = {"body": str(clips / "guard.bvh"), "root": "free", "strength": 1.5}
    box = {"fights": {"box": {"against": "blue", **(fight or {})}}, "controllers": ["balance"], **section}
    return script_from_data(
        {
            "rate": 120, "seconds": 1.0,
            "characters": {"red": {**body, "at": [-0.9, 0, 0]}, "blue": {**body, "at": [0.9, 0, 0], "facing": 180}},
            "performance": {"red": {"supervisor": box}},
        }
    )  # fmt: skip


OWN_WORDS = {
    "clips": ["guard", "jab", "box_forward", "box_back"],
    "blows": {"poke": {"clip": "jab", "at": 0.53, "limb": "l_hand", "aim": "thorax", "short": 0.2}},
    "ring": [1, 2, 3], "asked": True, "threshold": 0.1, "hit_threshold": 0.01, "firm": 3.0, "stun": 1.0, "limp": 2.0,
    "priority": 12,
}  # fmt: skip


def test_a_section_with_fights_survives_writing_and_reading():
    for fight in ({}, OWN_WORDS):
        one = script(fight)
        assert script_from_data(script_to_data(one)) == one


def test_a_fight_with_clips_of_ones_own_is_performed():
    performance = Performance(script({key: OWN_WORDS[key] for key in ("clips", "blows", "ring")}))
    performance.run()
    assert performance.sections["red"]["supervisor"].running == "box"
    assert [blow.name for blow in performance.sections["red"]["supervisor"].pool["box"].searcher.blows] == ["poke"]


@pytest.mark.parametrize(
    ("fight", "message"),
    [
        ({"against": "green"}, "unknown character 'green'"),
        ({"agianst": "blue"}, "agianst"),
        ({"ring": [0, 0]}, "radius"),
        ({"ring": [0, 0, -1]}, "radius"),
        ({"clips": ["guard"]}, "only one of 'clips' and 'blows'"),
        ({"clips": ["guard"], "blows": {"poke": {"at": 1, "limb": "nose"}}}, "nose"),
    ],
)
def test_mistakes_are_named_with_their_place(fight, message):
    with pytest.raises(StuntError, match=message) as caught:
        script(fight)
    assert "fights" in caught.value.place.path


def test_two_controllers_of_one_name_and_bodies_with_other_bones_are_refused():
    with pytest.raises(StuntError, match="two controllers are called 'box'"):
        script(clips={"box": "guard"})
    people = {name: CharacterSpec("human39", root="free") for name in ("ada", "bob")}
    with pytest.raises(StuntError, match="bones"):
        Boxer("box", own_searcher(), "bob", StageLoop(Scene(characters=people)), "ada")


def test_boxers_come_to_each_other_and_strike_and_who_is_hit_goes_under_forces_and_back_to_data():
    show = boxing(1)
    show.until(9.0)
    entries = [entry for one in show.supervisors.values() for entry in one.log]
    hits = [hit for hit in show.hits if hit.force > 100.0]
    print(f"\n{len(hits)} hard touches; in charge: {[show.switches(who) for who in (RED, BLUE)]}")
    assert hits
    assert any(entry["cause"] == "hit" for entry in entries)
    assert any(entry["before"] == "box (tracking)" and entry["controller"] == BOX for entry in entries)
    assert not any(one.removed for one in show.supervisors.values())


def test_a_match_goes_on_bit_for_bit_after_restoring_it():
    show = boxing(1)
    show.until(2.1)
    kept = show.stage.save()
    show.until(5.0)
    once = show.stage.data.qpos.copy(), [len(one.log) for one in show.supervisors.values()]
    show.stage.restore(kept)
    show.until(5.0)
    assert np.array_equal(show.stage.data.qpos, once[0])
    assert [len(one.log) for one in show.supervisors.values()] == once[1]


def test_how_long_somebody_was_down_is_counted_from_the_fall_to_the_next_blow():
    who = [(1.0, "fall"), (2.0, "lie"), (6.0, "box"), (9.0, "fall")]
    log = [{"controller": name, "time": time} for time, name in who]
    assert downs(log, 20.0) == [(1.0, 5.0), (9.0, float("inf"))]


def test_the_example_is_boxed_by_motion_graphs():
    made = load_script(example("boxing_match").path)
    for name in ("red", "blue"):
        (fight,) = made.parts[name].sections["supervisor"].fights
        assert fight.against != name and not made.parts[name].sections["supervisor"].requests


def test_blows_are_in_the_take_and_in_its_report():
    clips = example("boxing").path.parent / "clips"
    body = {"body": str(clips / "guard.bvh"), "root": "free", "strength": 1.5}
    plays = {"clips": {"play": [{"clip": "cross", "facing": -32}], "react": {"head": 20, "trunk": 30}}}
    take = Performance(
        script_from_data(
            {
                "rate": 120, "seconds": 1.5, "performance": {"red": plays, "blue": plays},
                "characters": {"red": {**body, "at": [-0.4, 0, 0]}, "blue": {**body, "at": [0.4, 0, 0], "facing": 180}},
            }
        )
    ).run()  # fmt: skip
    told, blows = make_report(take)["characters"], [event for event in take.events if event["kind"] == "blow"]
    assert blows and all(event["size"] >= LEAST for event in blows)
    for who in (RED, BLUE):
        mine = [event for event in blows if event["character"] == who]
        assert told[who]["blows"]["met"] == len(mine)
        assert told[who]["blows"]["landed"] == sum(event["landed"] for event in mine)


@pytest.mark.long
def test_in_twenty_matches_fists_decide_who_goes_down():
    found = campaign.told([campaign.bout(seed, 20.0) for seed in range(100, 120)])
    print(found)
    assert found["matches_with_downs"] >= 10 and found["after_a_fist"] >= 0.85 * found["downs"]
    assert found["hard_answered"] >= 0.8 * found["hard_head"] and found["up"] == 20 and found["start_cm"] == 0.0
    assert min(found["rank_grade"], found["rank_tilt"]) >= 0.7 and max(found["gaps"]) < 10.0  # asked: 0.8, 3 s
