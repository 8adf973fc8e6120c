"""Walking along a drawn path under a supervisor."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.errors import StuntError
from stunt.examples import example
from stunt.library.own_walks import own_walk_graph
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.script.file import load_script, script_from_data, script_to_data
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.data.path import PathWalker

POINTS = [[0, 0], [2, 0], [3.5, 1.5], [3.5, 3.5]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path_factory.getbasetemp() / "cache"))


def script(seconds=9.0, walk=None, **more):
    body = {"body": str(example("path_walk").path.parent / "clips" / "idle.bvh"), "root": "free", "strength": 1.5}
    section = {
        "walks": {"stroll": {"path": POINTS, **(walk or {})}},
        "clips": {"idle": {"clip": "idle", "loop": True, "priority": 5}},
        "controllers": ["rag_doll"],
    }
    performance = {"ada": {"supervisor": {**section, **more.pop("section", {})}}}
    return script_from_data(
        {"rate": 120, "seconds": seconds, "characters": {"ada": body}, "performance": performance, **more}
    )


def test_a_section_with_walks_survives_writing_and_reading():
    one = script(walk={"clips": ["walk_start", "walk?loop=true"], "speed": 1.0, "tension": 0.3, "asked": True})
    assert script_from_data(script_to_data(one)) == one


def test_the_character_walks_along_the_path_and_stands_at_its_end():
    performance = Performance(script())
    take = performance.run()
    path = DrawnPath.through(POINTS)
    who = [e["controller"] for e in take.events if e["kind"] == "supervisor" and e["event"] == "switch"]
    distance = path.distances(take.qpos[:, :2]).mean()
    print(f"\n{path.length:.1f} m, mean distance {distance:.3f} m; in charge: {who}")
    assert distance <= 0.25
    assert who == ["stroll", "idle"]
    assert np.linalg.norm(take.qpos[-1, :2] - POINTS[-1]) < 0.6
    assert np.abs(np.diff(take.qpos[:, :3], axis=0)).max() < 2.5 / 60.0  # no jump where portions meet


def test_a_saved_walk_goes_on_bit_for_bit():
    stage = Performance(script()).stage
    stage.advance(150)
    state = stage.save()
    stage.advance(300)
    there = stage.data.qpos.copy()
    stage.restore(state)
    stage.advance(300)
    assert np.array_equal(stage.data.qpos, there)


def test_knocked_off_its_path_it_walks_on_once_it_is_caught():
    ball = {"ball": {"shape": "sphere", "radius": 0.11, "mass": 1.5, "at": [1.5, -0.6, 0.12]}}
    throw = {"throw": "ball", "at": 1.4, "target": "ada/thorax", "hits_at": 1.5}
    take = Performance(script(seconds=12.0, props=ball, events=[throw])).run()
    who = [e["controller"] for e in take.events if e["kind"] == "supervisor" and e["event"] == "switch"]
    print(f"\nin charge: {who}")
    assert who[:2] == ["stroll", "stroll (tracking)"]
    assert "stroll" in who[2:]
    assert np.linalg.norm(take.qpos[-1, :2] - POINTS[-1]) < 1.0


def test_a_walk_that_cannot_be_is_refused_with_its_place():
    with pytest.raises(StuntError, match="two or more points"):
        script(walk={"path": [[0, 0]]})
    with pytest.raises(StuntError, match="two numbers"):
        script(walk={"path": [[0, 0], [1, 2, 3]]})
    with pytest.raises(StuntError, match="Did you mean|Available"):
        script(walk={"paht": POINTS})
    with pytest.raises(StuntError, match="moonwalk"):
        Performance(script(walk={"clips": ["moonwalk"]}))


def test_a_body_with_other_bones_is_refused():
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human39", root="free")}))
    with pytest.raises(StuntError, match="bones"):
        PathWalker("stroll", own_walk_graph(), DrawnPath.through(POINTS), stage, "ada")


def test_the_example_follows_its_path():
    made = load_script(example("path_walk").path)
    (walk,) = made.parts["ada"].sections["supervisor"].walks
    performance = Performance(made)
    performance.stage.advance(round(6.0 * 240))
    root = performance.stage.data.qpos[:2].copy()
    assert walk.path.distances(root[None])[0] < 0.25
    assert performance.stage.time == pytest.approx(6.0)
