"""Takes to export: a stage full of different bodies that fall about, and a walk that was tracked."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from stunt.cli.parser import parse
from stunt.cli.track_command import script_of
from stunt.drive.beats.spec import Script
from stunt.library.names import find_clip
from stunt.record.take import Take
from stunt.script.performance import Performance
from stunt.stage.event_specs import Push
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

MODELS = Path(__file__).parents[1] / "character" / "models"


def stage_script() -> Script:
    """Nobody is told what to do: bodies of all kinds sag, swing and fall, one of them facing another way."""
    scene = Scene(
        characters={
            "ada": CharacterSpec("human39", root="free", at=(0.5, -1.0, 0.3), facing=1.0),
            "arm": CharacterSpec(str(MODELS / "arm.xml"), at=(2.5, 0.0, 0.0), facing=-0.6),
            "dragon": CharacterSpec(str(MODELS / "dragon.xml"), root="free", at=(-3.0, 1.0, 0.2)),
        },
        props={
            "ball": PropSpec("sphere", radius=0.1, mass=1.0, at=(0.5, 1.5, 1.0), spin=(2.0, 5.0, 1.0)),
            "step": PropSpec("box", size=(0.5, 0.5, 0.2), at=(3.5, 3.0, 0.1), facing=0.4),
        },
        events=(Push("ada/thorax", 0.1, impulse=(20.0, 30.0, 0.0)),),
        physics_hz=240.0,
        control_hz=120.0,
    )
    return Script(scene, {}, title="Falling about", seconds=0.7)


@pytest.fixture(scope="session")
def stage_take() -> Take:
    take = Performance(stage_script()).run()
    assert np.ptp(take.qpos, axis=0).max() > 0.5
    return take


@pytest.fixture(scope="session")
def walk_take() -> Take:
    args: argparse.Namespace = parse(["track", "walk", "--yaw", "0.1"])
    return Performance(script_of(find_clip("walk"), args)).run()


@pytest.fixture(scope="session")
def ada_take() -> Take:
    """One person, a little motion, quick to export."""
    ada = CharacterSpec("human39", root="free", at=(0.0, 0.0, 0.2))
    scene = Scene(characters={"ada": ada}, physics_hz=240.0, control_hz=120.0)
    return Performance(Script(scene, {}, title="A fall", seconds=0.5)).run()
