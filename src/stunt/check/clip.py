"""A clip tried on the body of its own skeleton: what would be changed of it so that this body can do it.

On its own feet too: what the reference pass changes, what that takes of the body's strength, and whether it holds.
"""

from __future__ import annotations

from typing import Any, Final

from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import actor_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare.fit import Changes, fit_motion
from stunt.errors import StuntError
from stunt.motion.clips.clip import Clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

_NAME = "it"
STRENGTH: Final = 1.5
"""Of the body the clip is tried on: the tables', times this."""
SHORTEST, LONGEST = 0.3, 60.0
"""Clips that are tried on own feet last so long [s]."""
QUICK: Final = 5.0
"""And up to so long [s] without being asked to: trying takes a third of that, and a check answers at once."""


def examine_fit(clip: Clip) -> Changes:
    """Return what fitting a clip to its own body would change.

    The body collides with itself, as bodies do unless told otherwise.

    Raises:
        StuntError: The clip has no body that follows clips.
    """
    stage = StageLoop(Scene({_NAME: CharacterSpec(clip, root="free")}))
    character = stage.character(_NAME)
    return fit_motion(stage.model, character, motion_of_clip(clip, character)).changes


def examine_feet(clip: Clip, strength: float = STRENGTH, longest: float = LONGEST) -> dict[str, Any]:
    """Say whether a clip's own body can do it on its own feet, as JSON-able data.

    Args:
        clip: Which.
        strength: Of the body, times the tables'.
        longest: Clips that are longer [s] are not tried.

    Returns:
        `holds` (None: not tried); `why` not, in words; and, where there are feet to stand on, what the reference pass
        changed (`pose_deg`, `feet_deg`, `com_m`), how far the zero-moment point is outside (`outside_m`), shares of
        the time in the air (`flight`) and of the frames that strength and friction allow (`feasible_share`), the
        torque over strength of 95 % of the frames (`load`), the `worst_joint` and when it is asked most [s].
    """
    if not SHORTEST <= clip.duration <= longest:
        more = "; --own-feet tries it" if longest < clip.duration <= LONGEST else ""
        said = f"not tried: it lasts {clip.duration:.2g} s, and {SHORTEST:g} to {longest:g} s are tried{more}"
        return {"holds": None, "why": said, "strength": strength}
    body = CharacterSpec(clip, root="free", strength=strength)
    stage = StageLoop(Scene({_NAME: body}, physics_hz=480.0, control_hz=120.0))
    actor = actor_of(stage, _NAME, root=RootSpring(kind="auto"))
    motion = motion_of_clip(clip, actor.character)
    why = actor.motions.doubt_about(motion)
    found: dict[str, Any] = {"holds": not why, "why": why, "strength": strength}
    try:
        notes, feasible = actor.motions.reference_of(motion).notes, actor.motions.feasibility_of(motion)
    except StuntError:
        return found  # why says it
    return found | {
        "pose_deg": notes.pose_deg, "feet_deg": notes.feet_deg, "com_m": notes.com_m, "outside_m": notes.outside_m[1],
        "flight": notes.flight, "feasible_share": feasible.share, "load": feasible.load,
        "worst_joint": feasible.joint, "worst_time": feasible.worst,
    }  # fmt: skip
