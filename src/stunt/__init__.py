"""Stunt: a physically simulated stunt double for animated characters.

>>> import stunt
>>> stage = stunt.Stage({"ada": stunt.Body("human39")})
>>> ada = stage.actor("ada")
>>> ada.key(stunt.Pose.degrees("salute", r_shoulder_flexion=80, r_elbow_flexion=120), at=0.6)
>>> take = stage.run(0.6)
>>> ada.results[0].error_deg < 0.3
True

Names are looked up when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from stunt import export as export
    from stunt import review as review
    from stunt.character.notes import describe_body as describe_body
    from stunt.check.body import BodyDiagnosis as BodyDiagnosis
    from stunt.check.body import examine_body as examine_body
    from stunt.check.certificate import certify as certify
    from stunt.control.servo.law import RootSpring as RootSpring
    from stunt.control.servo.law import ServoSettings as ServoSettings
    from stunt.drive.beats.performer import BeatResult as BeatResult
    from stunt.drive.beats.performer import Performer as Performer
    from stunt.drive.beats.spec import BeatSpec as BeatSpec
    from stunt.drive.beats.spec import MachineSpec as MachineSpec
    from stunt.drive.beats.spec import Part as Part
    from stunt.drive.beats.spec import Script as Script
    from stunt.drive.beats.spec import StateSpec as StateSpec
    from stunt.drive.body.actor import BodyActor as BodyActor
    from stunt.drive.body.actor import actor_of as actor_of
    from stunt.drive.body.reactions import Thresholds as Thresholds
    from stunt.drive.motion.body_motion import BodyMotion as BodyMotion
    from stunt.drive.motion.body_motion import motion_of_clip as motion_of_clip
    from stunt.drive.paths.follower import Follower as Follower
    from stunt.drive.paths.spec import TrajectoryPart as TrajectoryPart
    from stunt.drive.response.ways_out import Exit as Exit
    from stunt.drive.tension.performer import TensionPerformer as TensionPerformer
    from stunt.drive.tension.spec import TensionPart as TensionPart
    from stunt.errors import BlowUpError as BlowUpError
    from stunt.errors import StuntError as StuntError
    from stunt.library.names import load_clip as load_clip
    from stunt.many.batch import batch as batch
    from stunt.many.plan import BatchPlan as BatchPlan
    from stunt.motion.clips.clip import Clip as Clip
    from stunt.motion.pose import Pose as Pose
    from stunt.motion.rig.retarget import retarget as retarget
    from stunt.motion.rig.skeleton_body import body_from_clip as body_from_clip
    from stunt.motion.trajectory import Trajectory as Trajectory
    from stunt.play.actor import Actor as Actor
    from stunt.play.crowd import Crowd as Crowd
    from stunt.play.stage import Stage as Stage
    from stunt.record.cast import Cast as Cast
    from stunt.record.cast import CastMember as CastMember
    from stunt.record.filmstrip import filmstrip as filmstrip
    from stunt.record.recorder import Recorder as Recorder
    from stunt.record.report import make_report as make_report
    from stunt.record.take import Take as Take
    from stunt.script.file import load_script as load_script
    from stunt.script.file import save_script as save_script
    from stunt.script.file import script_from_data as script_from_data
    from stunt.script.file import script_to_data as script_to_data
    from stunt.script.performance import Performance as Performance
    from stunt.script.performance import perform as perform
    from stunt.search.own import SearchedMotion as SearchedMotion
    from stunt.search.own import search_own as search_own
    from stunt.stage.contacts import Hit as Hit
    from stunt.stage.event_specs import Attach as Attach
    from stunt.stage.event_specs import Drag as Drag
    from stunt.stage.event_specs import Push as Push
    from stunt.stage.event_specs import Release as Release
    from stunt.stage.event_specs import Throw as Throw
    from stunt.stage.props import PropSpec as PropSpec
    from stunt.stage.scene import Body as Body
    from stunt.stage.scene import CharacterSpec as CharacterSpec
    from stunt.stage.scene import Collisions as Collisions
    from stunt.stage.scene import Scene as Scene
    from stunt.stage.scene import SegmentSite as SegmentSite
    from stunt.stage.schedule import Crew as Crew
    from stunt.supervise.contract import BaseController as BaseController
    from stunt.supervise.data.tracking import QueuedClip as QueuedClip
    from stunt.supervise.hit_rules import Relation as Relation
    from stunt.supervise.supervisor import Supervisor as Supervisor

_FROM: Final[dict[str, tuple[str, ...]]] = {
    "stunt.character.notes": ("describe_body",),
    "stunt.check.body": ("BodyDiagnosis", "examine_body"),
    "stunt.check.certificate": ("certify",),
    "stunt.control.servo.law": ("RootSpring", "ServoSettings"),
    "stunt.drive.beats.performer": ("BeatResult", "Performer"),
    "stunt.drive.beats.spec": ("BeatSpec", "MachineSpec", "Part", "Script", "StateSpec"),
    "stunt.drive.body.actor": ("BodyActor", "actor_of"),
    "stunt.drive.body.reactions": ("Thresholds",),
    "stunt.drive.response.ways_out": ("Exit",),
    "stunt.drive.motion.body_motion": ("BodyMotion", "motion_of_clip"),
    "stunt.drive.paths.follower": ("Follower",),
    "stunt.drive.paths.spec": ("TrajectoryPart",),
    "stunt.drive.tension.performer": ("TensionPerformer",),
    "stunt.drive.tension.spec": ("TensionPart",),
    "stunt.errors": ("BlowUpError", "StuntError"),
    "stunt.library.names": ("load_clip",),
    "stunt.many.batch": ("batch",),
    "stunt.many.plan": ("BatchPlan",),
    "stunt.motion.clips.clip": ("Clip",),
    "stunt.motion.pose": ("Pose",),
    "stunt.motion.rig.retarget": ("retarget",),
    "stunt.motion.rig.skeleton_body": ("body_from_clip",),
    "stunt.motion.trajectory": ("Trajectory",),
    "stunt.play.actor": ("Actor",),
    "stunt.play.crowd": ("Crowd",),
    "stunt.play.stage": ("Stage",),
    "stunt.record.cast": ("Cast", "CastMember"),
    "stunt.record.filmstrip": ("filmstrip",),
    "stunt.record.recorder": ("Recorder",),
    "stunt.record.report": ("make_report",),
    "stunt.record.take": ("Take",),
    "stunt.script.file": ("load_script", "save_script", "script_from_data", "script_to_data"),
    "stunt.script.performance": ("Performance", "perform"),
    "stunt.search.own": ("SearchedMotion", "search_own"),
    "stunt.stage.contacts": ("Hit",),
    "stunt.stage.event_specs": ("Attach", "Drag", "Push", "Release", "Throw"),
    "stunt.stage.props": ("PropSpec",),
    "stunt.stage.scene": ("Body", "CharacterSpec", "Collisions", "Scene", "SegmentSite"),
    "stunt.stage.schedule": ("Crew",),
    "stunt.supervise.contract": ("BaseController",),
    "stunt.supervise.data.tracking": ("QueuedClip",),
    "stunt.supervise.hit_rules": ("Relation",),
    "stunt.supervise.supervisor": ("Supervisor",),
}  # fmt: skip
"""Where the names of the front door come from; the block for type checkers says the same."""
_WHERE: Final = {name: module for module, names in _FROM.items() for name in names}

__all__ = [
    "Actor", "Attach", "BaseController", "BatchPlan", "BeatResult", "BeatSpec", "BlowUpError", "Body", "BodyActor",
    "BodyDiagnosis", "BodyMotion", "Cast", "CastMember", "CharacterSpec", "Clip", "Collisions", "Crew", "Crowd", "Drag",
    "Exit", "Follower", "Hit", "MachineSpec", "Part", "Performance", "Performer", "Pose", "PropSpec", "Push",
    "QueuedClip", "Recorder", "Relation", "Release", "RootSpring", "Scene", "Script",
    "SearchedMotion", "SegmentSite", "ServoSettings", "Stage", "StateSpec", "StuntError",
    "Supervisor", "Take", "TensionPart", "TensionPerformer", "Thresholds", "Throw", "Trajectory", "TrajectoryPart",
    "__version__", "actor_of",
    "batch", "body_from_clip", "certify", "describe_body", "examine_body", "export", "filmstrip", "load_clip",
    "load_script", "make_report", "motion_of_clip", "perform", "retarget", "review", "save_script", "script_from_data",
    "script_to_data", "search_own",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what a name stands for, the first time it is asked for."""
    if name in ("export", "review"):
        return import_module(f"stunt.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'stunt' has no attribute '{name}'")
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List what can be asked for."""
    return sorted({*globals(), *__all__})
