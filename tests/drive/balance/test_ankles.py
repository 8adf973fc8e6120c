"""Balance by the ankles: it leans against what is off and how fast that grows, no farther than it may."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stunt
from stunt.drive.balance.ankles import MOST, AnkleBalance
from stunt.drive.balance.capture import pressure_on
from stunt.drive.tension.performer import TensionPerformer
from stunt.stage.scene import Scene


def stood(lean: float = 0.0, pace: float = 0.0) -> tuple[stunt.Stage, TensionPerformer, float]:
    """Return somebody who leans by an angle [rad] and whose weight moves ahead [m/s], and what its ankles are told."""
    stage = stunt.Stage(Scene({"ada": stunt.CharacterSpec("human39", root="free")}))
    performer = TensionPerformer(stage, "ada")
    turn = np.array([np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0])
    here = stage.data.qpos[3:7].copy()
    mujoco.mju_mulQuat(stage.data.qpos[3:7], turn, here)
    stage.data.qvel[0] = pace
    mujoco.mj_forward(stage.model, stage.data)
    balance = AnkleBalance(performer)
    balance.act()
    shifts = [performer.program.rows["shift"][performer.character.joints[f"{s}_ankle_flexion"].dof] for s in "lr"]
    assert shifts[0] == shifts[1]
    return stage, performer, float(shifts[0])


def forward_per_ankle(stage: stunt.Stage, performer: TensionPerformer) -> float:
    """Return how the centre of mass goes ahead, seen from the feet, as both ankles bend [m/rad]."""
    model, found = stage.model, []
    for bent in (-1e-3, 1e-3):
        data = mujoco.MjData(model)
        data.qpos[:] = stage.data.qpos
        for side in "lr":
            data.qpos[performer.character.joints[f"{side}_ankle_flexion"].qpos] += bent
        mujoco.mj_forward(model, data)
        foot = performer.character.bodies["l_foot"]
        seen = data.xmat[foot].reshape(3, 3).T @ (data.subtree_com[performer.character.root_body] - data.xpos[foot])
        found.append(seen[0])
    return (found[1] - found[0]) / 2e-3


@pytest.mark.parametrize(("lean", "pace"), [(0.05, 0.0), (-0.05, 0.0), (0.0, 0.2), (0.0, -0.2), (0.02, 0.1)])
def test_ankles_move_the_weight_back_against_how_far_and_how_fast_it_is_off(lean: float, pace: float) -> None:
    base = stood()[2]
    stage, performer, shift = stood(lean, pace)
    feet = [stage.data.xipos[performer.character.bodies[f"{side}_foot"]] for side in "lr"]
    off = stage.data.subtree_com[performer.character.root_body] - np.mean(feet, axis=0)
    assert shift == pytest.approx(-(1.2 * off[0] + 0.35 * pace), abs=0.01)
    assert (shift - base) * forward_per_ankle(stage, performer) * (lean + pace) < 0.0


def test_ankles_lean_no_farther_than_they_may() -> None:
    assert stood(0.6, 1.0)[2] == -MOST and stood(-0.6, -1.0)[2] == MOST


def test_the_centre_of_pressure_under_a_foot_is_that_of_its_forces() -> None:
    """Its moment about any point is that of all contacts together."""
    stage = stunt.Stage(Scene({"ada": stunt.CharacterSpec("human39", root="free")}))
    for _ in range(80):
        mujoco.mj_step(stage.model, stage.data)
    stage.data.qvel[4] += 0.3
    mujoco.mj_forward(stage.model, stage.data)
    character, wrench = stage.character("ada"), np.zeros(6)
    sums: dict[int, np.ndarray] = {}
    for k in range(stage.data.ncon):
        mujoco.mj_contactForce(stage.model, stage.data, k, wrench)
        body = max(int(stage.model.geom_bodyid[g]) for g in stage.data.contact.geom[k])
        up = abs(stage.data.contact.frame[k][2] * wrench[0])
        sums[body] = sums.get(body, np.zeros(4)) + up * np.array([1.0, *stage.data.contact.pos[k]])
    found = pressure_on(stage.model, stage.data, character)
    assert len(found) >= 2
    for body, (force, centre) in found.items():
        assert force == pytest.approx(sums[body][0]) and force * centre == pytest.approx(sums[body][1:])
