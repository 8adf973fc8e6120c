"""Impacts of a falling person, with momentum checked against the engine's own Jacobians and inertia."""

import mujoco
import numba
import numpy as np
import pytest

from stunt.control.impact.kernel import strike as solve_impacts
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Collisions, Scene

solve = numba.njit(solve_impacts)


def jacobian(model, data, number):
    """Return the velocity of a contact's second geom relative to its first, in its frame, (3, nv)."""
    contact, rows = data.contact[number], np.zeros((3, model.nv))
    for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
        linear = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, linear, None, contact.pos, int(model.geom_bodyid[geom]))
        rows += sign * linear
    return contact.frame.reshape(3, 3) @ rows


def strike(stage):
    """Solve the impact of the present state; return how much momentum it misses [kg·m/s, kg·m²/s], and contacts."""
    model, data, impacts = stage.model, stage.data, stage.impacts
    mujoco.mj_step1(model, data)
    before, known = data.qvel.copy(), impacts.count
    solve(stage.board.table.ctypes.data, impacts.table.ctypes.data, stage.time, model._address, data._address)
    if impacts.count == known:
        return None
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    impulses, chosen = impacts.total, impacts.chosen[: impacts.size]
    given = sum(jacobian(model, data, n).T @ impulses[3 * k : 3 * k + 3] for k, n in enumerate(chosen))
    return float(np.abs(mass @ (data.qvel - before) - given).max()), impacts.size


@pytest.mark.parametrize("friction", ["none", "coulomb", "infinite"])
def test_a_falling_person_loses_no_momentum_in_impacts(friction):
    person = CharacterSpec("human47", root="free")
    stage = StageLoop(Scene(characters={"ada": person}, collisions=Collisions(restitution=0.4, friction=friction)))
    stage.data.qvel[[0, 4]] = -1.5, -1.0
    found = []
    for _ in range(480):
        state = stage.save()
        known = stage.impacts.count
        stage.advance(1)
        if stage.impacts.count > known:
            after = stage.save()
            stage.restore(state)
            found.append(strike(stage))
            stage.restore(after)
    residual, contacts = max(entry[0] for entry in found), max(entry[1] for entry in found)
    print(f"friction {friction}: {len(found)} impacts of up to {contacts} contacts, residual {residual:.1e}")
    assert len(found) >= 5 and residual <= 1e-9
