"""Bodies from elsewhere perform like our own."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from stunt.drive.beats.performer import Performer
from stunt.motion.pose import Pose
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

MODELS = Path(__file__).parents[1] / "character" / "models"


def cmu_humanoid() -> str:
    found = importlib.util.find_spec("dm_control")
    if found is None or not found.submodule_search_locations:
        pytest.skip("dm_control is not installed")
    folder = Path(found.submodule_search_locations[0])
    return str(folder / "locomotion" / "walkers" / "assets" / "humanoid_CMU_V2020.xml")


def stage_of(body: str, hz: float) -> StageLoop:
    return StageLoop(Scene(characters={"it": CharacterSpec(body, at=(0, 0, 0.3))}, physics_hz=hz, control_hz=hz))


@pytest.mark.parametrize("hz", [120.0, 480.0])
def test_the_cmu_humanoid_does_not_fight_itself_and_holds_its_pose(hz):
    stage = stage_of(cmu_humanoid(), hz)
    assert stage.data.ncon == 0
    Performer(stage, "it")
    start = stage.data.qpos.copy()
    stage.step(1.0)
    assert np.abs(stage.data.qpos - start).max() < math.radians(0.5)


@pytest.mark.parametrize("hz", [120.0, 480.0])
def test_foreign_bodies_hit_their_beats(hz):
    beats = {
        cmu_humanoid(): Pose.degrees("wave", rhumerusrz=20, rradiusrx=40, lhumerusrz=-15, headrx=8),
        str(MODELS / "arm.xml"): None,
        str(MODELS / "dragon.xml"): None,
    }
    for body, pose in beats.items():
        stage = stage_of(body, hz)
        performer = Performer(stage, "it")
        hinges = [j for j in performer.character.joints.values() if j.kind == "hinge" and j.range is not None]
        if pose is None:
            far = {j.name: j.range[1] if abs(j.range[1]) > 0.2 else j.range[0] for j in hinges}
            pose = Pose("a little", {name: 0.1 * angle for name, angle in far.items()})
        performer.key(pose, at=0.6)
        stage.step(0.6)
        (result,) = performer.results
        print(f"{Path(body).name} at {hz:g} Hz: {result.error_deg:.4f}° off, saturated {result.saturated}")
        assert result.error_deg <= 1.0
