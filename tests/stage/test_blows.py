"""The meter of blows: what people's parts give each other, net, and when it is a blow that landed."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.stage import blows
from stunt.stage.blows import LEAST, Struck, meter_of, region_of
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def floating(apart: float = 0.7, pace: float = 1.5) -> StageLoop:
    """Return two rag dolls in weightlessness, of which one drifts into the other."""
    people = {
        "ada": CharacterSpec("idle", root="free", at=(0.0, 0.0, 3.0)),
        "bob": CharacterSpec("idle", root="free", at=(apart, 0.05, 3.0), facing=np.pi),
    }
    stage = StageLoop(Scene(people, physics_hz=480.0, control_hz=480.0, gravity=(0.0, 0.0, 0.0)))
    root = stage.character("ada").root
    assert root is not None
    stage.data.qvel[root.dof] = pace
    return stage


def momentum(stage: StageLoop, name: str) -> np.ndarray:
    import mujoco

    mujoco.mj_forward(stage.model, stage.data)
    mujoco.mj_subtreeVel(stage.model, stage.data)
    about = stage.character(name)
    return about.mass * stage.data.subtree_linvel[about.root_body]


def test_blows_give_each_what_its_momentum_gains_and_both_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blows, "LEAST", 0.0)  # the lightest touch is told too
    stage = floating()
    meter, before = meter_of(stage), {who: momentum(stage, who) for who in ("ada", "bob")}
    stage.advance(720)
    given = {who: np.sum([b.impulse for b in meter.log if b.character == who], axis=0) for who in before}
    gained = {who: momentum(stage, who) - before[who] for who in before}
    assert np.linalg.norm(gained["bob"]) > 10.0
    for who in before:  # friction and all
        assert given[who] == pytest.approx(gained[who], abs=0.02 * np.linalg.norm(gained["bob"]))
    assert given["ada"] == pytest.approx(-given["bob"], abs=0.02 * np.linalg.norm(given["bob"]))


def test_a_blow_is_told_once_when_it_is_over_and_as_often_after_a_restore() -> None:
    stage = floating()
    meter, heard = meter_of(stage), list[Struck]()
    meter.listeners.append(heard.append)
    stage.advance(60)
    kept = stage.save()
    stage.advance(600)
    once = list(meter.log)
    assert once and heard == once and all(blow.size >= LEAST and 0.0 < blow.seconds < 0.16 for blow in once)
    stage.restore(kept)
    stage.advance(600)
    assert meter.log == once


@pytest.mark.parametrize(
    ("part", "body", "landed"),
    [("l_hand", "head", True), ("r_hand", "thorax", True), ("l_toe", "pelvis", True),
     ("l_hand", "r_forearm", False), ("l_forearm", "head", False), ("thorax", "thorax", False)],
)  # fmt: skip
def test_only_ends_of_limbs_land_and_only_on_head_and_trunk(part: str, body: str, landed: bool) -> None:
    blow = Struck(0.0, "ada", body, "bob", part, (3.0, 0.0, 4.0), 100.0, 0.02)
    assert blow.size == 5.0 and blow.landed is landed
    assert (blow.worth() > 0.0) is landed and blow.worth({"head": 10.0, "trunk": 10.0}) == (0.5 if landed else 0.0)


def test_neck_and_head_are_one_region_and_so_is_the_trunk() -> None:
    assert region_of("neck") == region_of("head") == "head" and region_of("lumbar") == region_of("pelvis") == "trunk"
    assert region_of("l_hand") == "l_hand"
