"""A character on data is in the world: pushes and drags count, walls stop it, and nobody is walked through."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from stunt.examples import example
from stunt.script.file import script_from_data
from stunt.script.performance import Performance

CLIPS = example("trip").path.parent / "clips"
PUSHES = [
    (clip, body, size)
    for clip in ("walk", "idle")
    for body in ("thorax", "pelvis", "head")
    for size in (30, 60, 150, 300)
]
WALLS: dict[str, dict[str, Any]] = {
    "kerb": {"shape": "box", "size": [0.4, 3.0, 0.2], "at": [2.0, 0.0, 0.1]},
    "wall": {"shape": "box", "size": [0.2, 3.0, 2.0], "at": [2.0, 0.0, 1.0]},
    "post": {"shape": "cylinder", "radius": 0.1, "length": 2.0, "at": [2.0, -0.1, 1.0]},
    "step": {"shape": "box", "size": [0.4, 3.0, 0.13], "at": [2.0, 0.0, 0.065]},
}


def on_data(clip: str, *, at: float = 0.0, props: Any = None, events: Any = (), **more: Any) -> Performance:
    """Somebody who plays a clip from data, with reflexes."""
    ada = {"body": str(CLIPS / f"{clip}.bvh"), "root": "free", "strength": 1.5, "facing": -5, "at": [0, 0, at]}
    part = {
        "clips": {clip: {"clip": clip, "loop": True}}, "controllers": ["balance", "stumble", "fall", "lie", "get_up"],
        "safe": "balance", **more,
    }  # fmt: skip
    script = {
        "stunt": 1, "seconds": 5, "rate": 120, "characters": {"ada": ada}, "props": props or {},
        "events": list(events), "performance": {"ada": {"supervisor": part}},
    }  # fmt: skip
    return Performance(script_from_data(script), foretell=False)


def left_data(made: Performance) -> list[tuple[float, str]]:
    """When data was left for a blow, and why."""
    log = made.sections["ada"]["supervisor"].log
    return [(entry["time"], entry["why"]) for entry in log if entry.get("cause") == "hit"]


def pushed(clip: str, body: str, size: float, seed: int = 0) -> Performance:
    """Push somebody from a random side, over a random time."""
    rng = np.random.default_rng([seed, round(size)])
    side, seconds = rng.uniform(0.0, 2.0 * np.pi), float(rng.uniform(0.02, 0.25))
    impulse = [float(size * np.cos(side)), float(size * np.sin(side)), 0.0]
    made = on_data(clip, events=[{"push": f"ada/{body}", "at": 1.0, "impulse": impulse, "duration": seconds}])
    made.stage.step(1.5)
    return made


def check_push(clip: str, body: str, size: float, seed: int = 0) -> None:
    """A push of 60 N·s and more is noticed, and the log says what it was."""
    found = left_data(pushed(clip, body, size, seed))
    assert size < 60.0 or (found and 1.0 <= found[0][0] < 1.5 and "push" in found[0][1])


@pytest.mark.parametrize(
    ("clip", "body", "size"), [("walk", "thorax", 60), ("idle", "head", 60), ("idle", "pelvis", 150)]
)
def test_a_push_makes_data_give_way_and_is_written_down(clip: str, body: str, size: float) -> None:
    check_push(clip, body, size)


@pytest.mark.long
@pytest.mark.parametrize(("clip", "body", "size"), PUSHES)
@pytest.mark.parametrize("seed", range(1, 4))
def test_every_push_counts(clip: str, body: str, size: float, seed: int) -> None:
    check_push(clip, body, size, seed)


def test_a_touch_does_not_stop_data_and_a_drag_does() -> None:
    light = on_data("idle", events=[{"push": "ada/thorax", "at": 0.5, "impulse": [1.0, 0, 0]}])
    light.stage.step(1.0)
    assert not left_data(light)
    drag = {"drag": "ada/r_hand", "at": 0.5, "until": 2.0, "path": [[0.5, 0.3, 0.2]], "strength": 150}
    dragged = on_data("idle", events=[drag])
    dragged.stage.step(0.5)
    hand = dragged.stage.character("ada").body("r_hand")
    start = dragged.stage.data.xpos[hand].copy()
    dragged.stage.step(1.4)
    assert left_data(dragged) and "drag" in left_data(dragged)[0][1]
    assert np.linalg.norm(dragged.stage.data.xpos[hand] - start) > 0.03


def into(made: Performance, prop: str, seconds: float) -> float:
    """How deep somebody gets into a prop [m]."""
    stage, deepest = made.stage, 0.0
    model, data = stage.model, stage.data
    (wall,) = np.flatnonzero(model.geom_bodyid == stage.prop(prop).body)
    while stage.time < seconds:
        stage.advance(1)
        mujoco.mj_kinematics(model, data)
        near = (mujoco.mj_geomDistance(model, data, own, wall, 0.01, None) for own in stage.character("ada").geoms)
        deepest = max(deepest, -min(near))
    return deepest


def check_wall(name: str, off: float) -> None:
    """Nobody goes into a wall: it leaves data, and is not past it unless over it."""
    x, y, z = WALLS[name]["at"]
    made = on_data("walk", props={name: {**WALLS[name], "at": [x + off, y, z]}})
    deep, found = into(made, name, 4.0), left_data(made)
    print(f"{name} {100 * deep:.1f} cm deep, {found}")
    assert deep < 0.03 and found and name in found[0][1]


@pytest.mark.parametrize("name", ["kerb", "wall"])
def test_walls_and_kerbs_stop_who_walks_by_data(name: str) -> None:
    check_wall(name, 0.0)


@pytest.mark.long
@pytest.mark.parametrize("name", WALLS)
@pytest.mark.parametrize("off", np.linspace(-0.35, 0.35, 8))
def test_walls_kerbs_and_posts_anywhere_stop_who_walks_by_data(name: str, off: float) -> None:
    check_wall(name, off)


def test_what_carries_somebody_and_what_is_told_not_to_count_does_not_stop_data() -> None:
    floor = {"shape": "box", "size": [8.0, 3.0, 0.2], "at": [2.0, 0.0, 0.1]}
    ghost = {**WALLS["wall"], "active": False}
    for made in (on_data("walk", at=0.2, props={"floor": floor}), on_data("walk", props={"ghost": ghost})):
        made.stage.step(3.0)
        assert not left_data(made)


def test_a_walker_at_a_wall_goes_on_bit_for_bit_after_a_restore() -> None:
    made = on_data("walk", props={"wall": WALLS["wall"]})
    made.stage.step(1.3)
    state, ends = made.stage.save(), []
    for _ in range(2):
        made.stage.advance(60)
        ends.append(made.stage.data.qpos.copy())
        made.stage.restore(state)
    assert np.array_equal(*ends)
