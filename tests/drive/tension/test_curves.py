"""The course of a transition belongs to a degree of freedom (P4, section 5)."""

from __future__ import annotations

import numpy as np
import pytest

import stunt
from stunt.errors import StuntError


def shown(**pose: object) -> tuple[stunt.Take, stunt.Performance]:
    both = {"l_shoulder_flexion": 60, "r_shoulder_flexion": 60}
    performance = stunt.Performance(stunt.script_from_data({
        "seconds": 1.2, "characters": {"ada": "human39"},
        "performance": {"ada": {"tension_poses": {"tension": "tight", "poses": [
            {"angles": both, "at": 0.1, "lasts": 1.0, **pose}]}}},
    }))  # fmt: skip
    return performance.run(), performance


def test_a_limb_has_a_course_of_its_own_and_the_others_keep_the_pose_s() -> None:
    names = ("l_shoulder_flexion", "r_shoulder_flexion")
    takes = [shown(curve="ease", curves={"r_arm": "overshoot"}), shown(curve="ease"), shown(curve="overshoot")]
    joints = takes[0][1].stage.character("ada").joints
    mixed, ease, over = ([np.degrees(t.qpos[:, joints[name].qpos]) for name in names] for t, _ in takes)
    assert np.abs(mixed[0] - ease[0]).max() < 1.0 and np.abs(mixed[1] - over[1]).max() < 1.0
    assert np.abs(mixed[0] - mixed[1]).max() > 4.0


def test_a_written_script_says_it_again_and_an_unknown_one_is_refused() -> None:
    _, performance = shown(curves={"r_arm": "overshoot", "l_elbow_flexion": "ease"})
    data = stunt.script_to_data(performance.script)
    assert stunt.script_from_data(data) == performance.script
    for wrong in ({"r_arm": "sideways"}, {"tail": "ease"}):
        with pytest.raises(StuntError):
            shown(curves=wrong)
