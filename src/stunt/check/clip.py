"""A clip tried on the body of its own skeleton: what would be changed of it so that this body can do it."""

from __future__ import annotations

from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.fit import Changes, fit_motion
from stunt.motion.clips.clip import Clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

_NAME = "it"


def examine_fit(clip: Clip) -> Changes:
    """Return what fitting a clip to its own body would change.

    The body collides with itself, as bodies do unless told otherwise.

    Raises:
        StuntError: The clip has no body that follows clips.
    """
    stage = StageLoop(Scene({_NAME: CharacterSpec(clip, root="free")}))
    character = stage.character(_NAME)
    return fit_motion(stage.model, character, motion_of_clip(clip, character)).changes
