"""The δ-response: one number says how far a body that follows a clip gives to a blow, and when it is back."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import stunt
from stunt.drive.body.actor import GIVING
from stunt.drive.response.yielding import FIRM, softness_of
from stunt.stage.shock import Shock

_WHEN = 0.6


def played(delta: float, blow: dict[str, Any] | None, clip: str = "idle", **how: Any) -> tuple[stunt.Take, Any]:
    """Return a take of somebody who follows a clip and is pushed, or hit by a ball, and the stage."""
    script: dict[str, Any] = {
        "seconds": _WHEN + 0.3 + 1.5 * max(delta, 0.3), "characters": {"ada": {"body": "skeleton", "root": "free"}},
        "performance": {"ada": {"clips": {"play": [{"clip": clip}], "react": {"delta": delta}}}}, **how,
    }  # fmt: skip
    if blow and "throw" in blow:
        script["props"] = {"ball": {"shape": "sphere", "radius": 0.1, "mass": 2, "at": [1.5, -0.6, 1.4]}}
    script["events"] = [blow] if blow else []
    performance = stunt.Performance(stunt.script_from_data(script))
    return performance.run(), performance.stage


def gives(delta: float, blow: dict[str, Any], bone: str, **how: Any) -> tuple[float, float, float]:
    """Return how far [°] a bone gives as seen from the root, and when it is back to a tenth [s].

    That counts once from the blow, once from where it is farthest. A ball presses for a while: it counts from the
    middle of what it gives.
    """
    hit, stage = played(delta, blow, **how)
    still, other = played(delta, None, **how)
    (event,) = [e for e in hit.events if e["kind"] == "reaction"]
    assert event["state"] == GIVING and event["delta"] == delta
    count, turn = min(len(hit.time), len(still.time)), np.zeros(3)
    away = np.zeros(count)
    for k in range(count):
        mujoco.mju_subQuat(turn, seen(stage, hit.qpos[k], bone), seen(other, still.qpos[k], bone))
        away[k] = np.degrees(np.linalg.norm(turn))
    first = int(np.searchsorted(hit.time, _WHEN - 0.05))
    farthest = first + int(away[first:].argmax())
    back = float(hit.time[farthest + int(np.argmax(away[farthest:] < 0.1 * away[farthest]))])
    return float(away[farthest]), back - struck(hit, stage), back - float(hit.time[farthest])


def struck(take: stunt.Take, stage: Any) -> float:
    """Return when somebody was struck [s]: on the average while a ball pressed, else when it was asked for."""
    if "ball" not in stage.built.props:
        return _WHEN
    names = [[stage.model.body(stage.model.geom_bodyid[geom]).name for geom in pair] for pair in take.contact_geoms]
    met = [any(n == "ball" for n in pair) and any(n.startswith("ada/") for n in pair) for pair in names]
    forces = np.linalg.norm(take.contact_force[met][:, :3], axis=1)
    return float(np.average(take.time[take.contact_frame[met]], weights=forces))


def seen(stage: Any, pose: Any, bone: str) -> Any:
    """Return a bone's orientation as seen from the root, in a pose, (4,)."""
    data, turned = mujoco.MjData(stage.model), np.zeros(4)
    data.qpos[:] = pose
    mujoco.mj_kinematics(stage.model, data)
    who = stage.character("ada")
    mujoco.mju_negQuat(turned, data.xquat[who.root_body])
    mujoco.mju_mulQuat(turned, turned.copy(), data.xquat[who.bodies[bone]])
    return turned


_PUSH = {"push": "ada/r_forearm", "impulse": [0, -4, 0], "at": _WHEN}  # outward: inward the arm meets the thigh
_BALL = {"throw": "ball", "target": "ada/r_forearm", "at": 0.0, "hits_at": _WHEN}


@pytest.mark.parametrize("body", ["pelvis", "head", "l_hand", "r_foot"])
def test_whichever_part_is_pushed_a_limb_gives_way(body: str) -> None:
    take, _ = played(0.3, {"push": f"ada/{body}", "impulse": [0, 6, 0], "at": _WHEN})
    (event,) = [e for e in take.events if e["kind"] == "reaction"]
    assert event["state"] == GIVING and event["body"] == body


@pytest.mark.parametrize(
    ("blow", "bone"),
    [
        (_PUSH, "r_upper_arm"),
        (_BALL, "r_upper_arm"),
        ({"push": "ada/l_hand", "impulse": [4, 0, 0], "at": _WHEN}, "l_upper_arm"),
        ({"push": "ada/head", "impulse": [5, 0, 0], "at": _WHEN}, "head"),
    ],
    ids=["forearm", "ball", "hand", "head"],
)
def test_delta_says_how_far_a_hit_limb_gives_and_when_it_is_back(blow: dict[str, Any], bone: str) -> None:
    deltas = (0.1, 0.4, 1.0)
    found = [gives(delta, blow, bone) for delta in deltas]
    far = [one for one, _, _ in found]
    assert far[0] < far[1] < far[2] and far[2] > 5.0 * far[0]
    frame = 1.0 / 120.0  # times are read off frames
    assert all(abs(after - delta) <= 0.2 * delta + frame for delta, (_, after, _) in zip(deltas, found, strict=True)), (
        found
    )


def test_a_trunk_that_gives_does_not_buckle() -> None:
    far = [gives(delta, {"push": "ada/thorax", "impulse": [12, 0, 0], "at": _WHEN}, "thorax") for delta in (0.1, 1.0)]
    assert 5.0 * far[0][0] < far[1][0] < 25.0 and far[1][1] == pytest.approx(1.0, rel=0.2)


def test_it_gives_before_the_stiff_servo_has_taken_the_blow() -> None:
    """At half the rate a push finds the same limb: nothing of it went by first."""
    coarse, fine = (gives(0.5, _PUSH, "r_upper_arm", rate=rate)[0] for rate in (120, 240))
    assert coarse == pytest.approx(fine, rel=0.15)


def test_others_hold_as_ever_and_all_is_as_before_after_it() -> None:
    script = stunt.script_from_data({
        "seconds": 2, "characters": {"ada": {"body": "skeleton", "root": "free"}},
        "performance": {"ada": {"clips": {"play": [{"clip": "idle"}], "react": {"delta": 0.3}}}}, "events": [_PUSH],
    })  # fmt: skip
    stage = stunt.Performance(script).stage
    actor = stage.actors["ada"]
    stage.step(0.1)
    before = actor.program.k1.copy(), actor.program.k2.copy()
    stage.step(_WHEN)
    changed = {stage.model.body(int(b)).name for b in np.flatnonzero(actor.program.k1 != before[0])}
    assert {"ada/r_forearm", "ada/r_upper_arm", "ada/r_hand"} <= changed
    assert not any(word in name for name in changed for word in ("/l_", "lumbar", "thorax", "head"))
    state = stage.save()
    stage.step(0.5)
    np.testing.assert_array_equal(actor.program.k1, before[0])
    np.testing.assert_array_equal(actor.program.k2, before[1])
    end = stage.data.qpos.copy()
    stage.restore(state)
    stage.step(0.5)
    np.testing.assert_array_equal(stage.data.qpos, end)


def just_pushed(body: str, impulse: list[float], delta: float) -> tuple[stunt.Stage, Any, np.ndarray]:
    """Return a stage just after a push, who was pushed, and how stiff its bones were before."""
    script = stunt.script_from_data({
        "seconds": 3, "characters": {"ada": {"body": "skeleton", "root": "free"}},
        "performance": {"ada": {"clips": {"play": [{"clip": "idle"}], "react": {"delta": delta}}}},
        "events": [{"push": f"ada/{body}", "impulse": impulse, "at": 0.2}],
    })  # fmt: skip
    stage = stunt.Performance(script).stage
    stage.step(0.1)
    before = stage.actors["ada"].program.k1.copy()
    stage.step(0.15)
    return stage, stage.actors["ada"], before


def test_a_limb_is_held_as_before_again_bit_by_bit() -> None:
    stage, actor, before = just_pushed("r_forearm", [0, 4, 0], 0.4)
    limb, path = list(actor.yielding.limb), []
    for _ in range(60):
        path.append(actor.program.k1[limb].copy())
        stage.step(1 / 120)
    ways = np.diff(np.array(path), axis=0) / (before[limb] - path[0])
    assert ways.min() >= -1e-9 and 0.02 < ways.max() < 0.2 and ways.sum(axis=0) == pytest.approx(1.0)


def test_a_leg_that_is_struck_still_stands() -> None:
    _, actor, before = just_pushed("l_shank", [0, 3, 0], 1.0)
    limb = actor.yielding.limb
    share = actor.program.k1[limb] / before[limb]
    assert limb and share.max() < 0.99 and share.min() >= FIRM**2 - 1e-9


def test_what_a_body_stands_on_holds_its_feet_when_it_is_struck() -> None:
    stage, actor, _ = just_pushed("r_hand", [0, 0.5, 0], 0.3)
    body, own = actor.character.bodies, actor.slices[1]
    shock = Shock(0.0, "ada", "thorax", "push", tuple(stage.data.xipos[body["thorax"]]), (9.0, 0.0, 0.0))
    blow = softness_of(actor, actor.yielding._limb_of(body["thorax"]), shock).blow
    jacobian = np.zeros((3, stage.model.nv))

    def speed(name: str) -> float:
        mujoco.mj_jacBody(stage.model, stage.data, jacobian, None, body[name])
        return float(np.linalg.norm(jacobian[:, own] @ blow))

    assert max(speed("l_foot"), speed("r_foot")) < 0.01 * speed("thorax")


def test_without_delta_nobody_gives_way() -> None:
    take, _ = played(0.0, _PUSH)
    assert not [event for event in take.events if event["kind"] == "reaction"]


def test_a_hand_that_strikes_out_at_something_does_not_give_way_to_it() -> None:
    props = {"ball": {"shape": "sphere", "radius": 0.1, "mass": 2, "at": [1.5, -0.6, 1.4]}}
    stage = played(0.3, None, props=props)[1]
    struck, root = stage.actors["ada"].yielding.is_struck, stage.character("ada").root

    def against(way: float, by: str = "ball") -> Shock:
        return Shock(0.0, "ada", "r_hand", by, (0.0, 0.0, 1.0), (way, 0.0, 0.0))

    for speed in (0.1, 2.0):
        stage.data.qvel[:] = 0.0
        stage.data.qvel[root.dof] = speed
        mujoco.mj_forward(stage.model, stage.data)
        assert struck(against(-100.0)) == (speed < 0.5)
        assert struck(against(100.0))
        assert not struck(against(100.0, "bob"))
