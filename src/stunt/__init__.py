"""Stunt: a physically simulated stunt double for animated characters.

>>> import stunt
>>> scene = stunt.Scene(characters={"ada": stunt.CharacterSpec(body="human39")})
>>> stage = stunt.Stage(scene)
>>> ada = stunt.Performer(stage, "ada")
>>> ada.key(stunt.Pose.degrees("salute", r_shoulder_flexion=80, r_elbow_flexion=120), at=0.6)
>>> stage.step(0.6)
>>> ada.results[0].error_deg < 0.3
True
"""

__version__ = "0.1.0"

from stunt.direction.performance import Performance, perform
from stunt.direction.performer import Performer
from stunt.direction.script import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec
from stunt.direction.script_file import load_script, save_script, script_from_data, script_to_data
from stunt.errors import StuntError
from stunt.motion.pose import Pose
from stunt.record.take import Take
from stunt.stage.build import build
from stunt.stage.happenings import Happenings
from stunt.stage.loop import Stage
from stunt.stage.scene import Attach, CharacterSpec, Drag, PropSpec, Push, Release, Scene, Throw

__all__ = [
    "Attach", "BeatSpec", "CharacterSpec", "Drag", "Exit", "Happenings", "MachineSpec", "Part", "Performance",
    "Performer", "Pose", "PropSpec", "Push", "Release", "Scene", "Script", "Stage", "StateSpec", "StuntError", "Take",
    "Throw", "__version__", "build", "load_script", "perform", "save_script", "script_from_data", "script_to_data",
]  # fmt: skip
