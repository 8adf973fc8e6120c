"""Soles hold: who stands on a heel does not creep round, and who turns on a foot turns with the clip."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from tracking_helpers import tracked

from captured import CLIPS, needs_clips
from stunt.character.from_skeleton import GRIP


def creep(twist: float) -> float:
    """Return how fast a body of 60 kg on one contact turns under 3 N·m about the vertical [rad/s], after a second."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{1 / 120}" integrator="implicitfast"/><worldbody><geom type="plane" size="5 5 1"/>
        <body pos="0 0 0.1"><freejoint/><inertial pos="0 0 0" mass="60" diaginertia="10 10 1.5"/>
        <geom type="sphere" size="0.1" condim="4" priority="1" friction="{GRIP[0]} {twist} {GRIP[2]}"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qfrc_applied[5] = 3.0
    mujoco.mj_step(model, data, 120)
    return float(data.qvel[5])


def test_a_contact_twice_as_firm_against_turning_creeps_a_fourth_as_fast() -> None:
    soft, firm = creep(0.5 * GRIP[1]), creep(GRIP[1])
    print("creep under 3 N·m of the 36 and 18 N·m that friction would hold [rad/s]:", firm, soft)
    assert 0.0 < firm < soft / 3.0


@needs_clips
@pytest.mark.parametrize(("clip", "until", "allowed"), CLIPS.heading)
def test_the_heading_is_kept_on_one_foot_whether_it_stands_or_turns(clip: str, until: float, allowed: float) -> None:
    tracker = tracked(clip, seconds=4.0)
    tracker.stage.step(until)
    off = math.degrees(tracker.program.actors[tracker.number]["heading"])
    print(clip, "is off its heading by [deg]:", off)
    assert np.abs(off) < allowed
