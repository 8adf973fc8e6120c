"""An experiment's scenes are the shipped example's: one script, varied within declared limits."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import pytest

from papers.p2 import boxing, duck, goalie, kick, trip
from papers.runs import shipped
from papers.variations import outside
from stunt.drive.beats.spec import Script
from stunt.script.file import script_to_data

EXPERIMENTS: dict[Any, Any] = {
    trip: trip.obstacle_of, goalie: goalie.place_of, kick: kick.encounter_of, boxing: boxing.corners_of
}  # fmt: skip


def alike(one: Any, other: Any) -> bool:
    """Whether two scripts' plain data are the same but for rounding; angles count by where they point."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(
            math.isclose(math.remainder(one[key] - other[key], 360.0), 0.0, abs_tol=0.01)
            if key == "facing" else alike(one[key], other[key])
            for key in one
        )  # fmt: skip
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return math.isclose(one, other, abs_tol=1e-3) if isinstance(one, float | int) else bool(one == other)


def data_of(script: Script) -> dict[str, Any]:
    """A script as plain data, every facing written down."""
    data = script_to_data(script)
    for entry in (*data["characters"].values(), *data.get("props", {}).values()):
        entry["facing"] = entry.pop("facing", 0.0)
        entry["at"] = [float(x) for x in entry.pop("at", (0.0, 0.0, 0.0))]
        entry["at"] += [0.0] * (3 - len(entry["at"]))
    return data


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.EXAMPLE)
def test_the_shipped_scene_is_one_of_the_experiments(experiment: Any) -> None:
    script = shipped(experiment.EXAMPLE)
    values = EXPERIMENTS[experiment](script)
    print(values)
    assert outside(asdict(values), experiment.RANGES) == []
    assert alike(data_of(experiment.varied(script, values)), data_of(script))


def test_the_shipped_throws_are_of_the_kind_that_is_thrown_at_random() -> None:
    script = shipped(duck.EXAMPLE)
    for pitch in duck.pitches_of(script):
        limits = {name: limit for name, limit in duck.RANGES.items() if name != "at"}  # three in one scene: later
        assert outside(duck.values_of(pitch), limits) == []
        off = math.hypot(*pitch.beside)
        assert any(least <= off <= most for least, most in (duck.AT_HEAD, duck.PAST))
    first = duck.pitches_of(script)[0]
    made = duck.varied(script, first).scene
    (throw,) = made.events
    assert outside(duck.values_of(first), duck.RANGES) == []
    assert throw.hits_at == pytest.approx(duck.throws_of(script)[0].hits_at)
    assert made.props[throw.prop] == script.scene.props[throw.prop]


@pytest.mark.parametrize(
    "varied",
    [
        lambda seed: trip.varied(shipped("trip"), trip.obstacle(seed)),
        lambda seed: goalie.varied(shipped("goalkeeper"), goalie.ball_place(seed)),
        lambda seed: kick.varied(shipped("kick_partner"), kick.encounter(seed)),
        lambda seed: duck.varied(shipped("duck"), duck.pitch(seed, at_head=True)),
        lambda seed: boxing.varied(shipped("boxing_match"), boxing.corners(seed, HILLS)),
    ],
)
def test_a_seed_makes_one_scene_and_another_seed_another(varied: Any) -> None:
    assert varied(5) == varied(5) != varied(6)


HILLS = boxing.corners_of(shipped("boxing_match")).ground


def test_random_ground_keeps_its_hills_and_its_rim() -> None:
    other = boxing.corners(3, HILLS).ground
    assert other != HILLS and sorted(sum(other, ())) == sorted(sum(HILLS, ()))
    assert other[0] == HILLS[0] and [row[-1] for row in other] == [row[-1] for row in HILLS]
