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
from stunt.check.body import BodyDiagnosis, examine_body
from stunt.control.servo.memory import ServoSettings
from stunt.control.servo.root_spring import RootSpring
from stunt.drive.beats.performer import BeatResult, Performer
from stunt.drive.beats.spec import BeatSpec, Exit, MachineSpec, Part, Script, StateSpec
from stunt.drive.body.reactions import Reactions
from stunt.drive.body.tracker import Tracker
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.paths.follower import Follower
from stunt.drive.tension.performer import TensionPerformer
from stunt.errors import BlowUpError, StuntError
from stunt.library.names import load_clip
from stunt.library.read import read_clip
from stunt.motion.clips.clip import Clip
from stunt.motion.pose import Pose
from stunt.motion.rig.retarget import retarget
from stunt.motion.rig.skeleton_body import body_from_clip
from stunt.motion.trajectory import Trajectory
from stunt.play.stage import Stage
from stunt.record.filmstrip import filmstrip
from stunt.record.report import make_report
from stunt.record.take import Take
from stunt.script.file import load_script, save_script, script_from_data, script_to_data
from stunt.script.performance import Performance, perform
from stunt.stage.build import build
from stunt.stage.contacts import Hit
from stunt.stage.events import EventCrew
from stunt.stage.scene import Attach, CharacterSpec, Collisions, Drag, PropSpec, Push, Release, Scene, Throw
from stunt.stage.schedule import Crew

__all__ = [
    "Attach", "BeatResult", "BeatSpec", "BlowUpError", "BodyDiagnosis", "CharacterSpec", "Clip", "Collisions", "Crew",
    "Drag", "Exit", "Follower", "EventCrew", "Hit", "MachineSpec", "BodyMotion", "Part", "Performance", "Performer",
    "Pose", "PropSpec", "Push", "Reactions", "Release", "RootSpring", "Scene", "Script", "ServoSettings", "Stage",
    "StateSpec", "StuntError", "Take", "TensionPerformer", "Throw", "Tracker", "Trajectory", "__version__",
    "body_from_clip", "build", "describe_body", "examine_body", "filmstrip", "load_clip", "load_script", "make_report",
    "motion_of_clip", "perform", "read_clip", "retarget", "save_script", "script_from_data", "script_to_data",
]  # fmt: skip
