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

__version__ = "0.2.0.dev0"

from stunt.character.notes import describe_body
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import ServoSettings
from stunt.direction.body_doctor import BodyDiagnosis, examine_body
from stunt.direction.follower import Follower
from stunt.direction.measure import BeatResult
from stunt.direction.motion_rows import Motion, motion_of_clip
from stunt.direction.performance import Performance, perform
from stunt.direction.performer import Performer
from stunt.direction.reactions import Reactions
from stunt.direction.script import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec
from stunt.direction.script_file import load_script, save_script, script_from_data, script_to_data
from stunt.direction.tension_performer import TensionPerformer
from stunt.direction.tracker import Tracker
from stunt.errors import BlowUpError, StuntError
from stunt.motion.clip import Clip
from stunt.motion.library import load_clip
from stunt.motion.pose import Pose
from stunt.motion.read import read_clip
from stunt.motion.retarget import retarget
from stunt.motion.skeleton_body import body_from_clip
from stunt.motion.trajectory import Trajectory
from stunt.record.filmstrip import filmstrip
from stunt.record.report import make_report
from stunt.record.take import Take
from stunt.stage.build import build
from stunt.stage.contacts import Hit
from stunt.stage.happenings import Happenings
from stunt.stage.loop import Crew, Stage
from stunt.stage.scene import Attach, CharacterSpec, Collisions, Drag, PropSpec, Push, Release, Scene, Throw

__all__ = [
    "Attach", "BeatResult", "BeatSpec", "BlowUpError", "BodyDiagnosis", "CharacterSpec", "Clip", "Collisions", "Crew",
    "Drag", "Exit", "Follower", "Happenings", "Hit", "MachineSpec", "Motion", "Part", "Performance", "Performer",
    "Pose", "PropSpec", "Push", "Reactions", "Release", "RootSpring", "Scene", "Script", "ServoSettings", "Stage",
    "StateSpec", "StuntError", "Take", "TensionPerformer", "Throw", "Tracker", "Trajectory", "__version__",
    "body_from_clip", "build", "describe_body", "examine_body", "filmstrip", "load_clip", "load_script", "make_report",
    "motion_of_clip", "perform", "read_clip", "retarget", "save_script", "script_from_data", "script_to_data",
]  # fmt: skip
