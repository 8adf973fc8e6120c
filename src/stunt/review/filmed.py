"""A clip as if it were a take: its own body put through its frames, nothing simulated."""

from __future__ import annotations

import mujoco
import numpy as np

from stunt.drive.motion.body_motion import motion_of_clip, repeated
from stunt.errors import announced
from stunt.motion.clips.clip import Clip
from stunt.record.cast import cast_of
from stunt.record.take import Take
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.stage.stored_model import model_bytes

WHO = "it"
LONG_ENOUGH = 3.0
"""Loops are played for at least as long [s]: a stride is over too soon to judge a walk by."""


@announced
def take_of_clip(clip: Clip, name: str = "") -> Take:
    """Return a clip as a take of the body built from its skeleton; `meta` says that nothing was simulated.

    Raises:
        StuntError: The clip has no body that follows clips.
    """
    stage = StageLoop(Scene({WHO: CharacterSpec(clip, root="free")}))
    character = stage.character(WHO)
    motion = repeated(motion_of_clip(clip, character), LONG_ENOUGH)
    model, count = stage.model, len(motion.qpos)
    qpos = np.tile(stage.data.qpos, (count, 1))
    first = character.root.qpos if character.root is not None else 0
    qpos[:, first : first + motion.qpos.shape[1]] = motion.qpos
    qvel = np.zeros((count, model.nv))
    for k in range(count - 1):
        mujoco.mj_differentiatePos(model, qvel[k], 1.0 / motion.fps, qpos[k], qpos[k + 1])
    none, empty = np.zeros((count, model.nv)), np.zeros((0, 3))
    return Take(
        time=np.arange(count) / motion.fps, qpos=qpos, qvel=qvel, target=qpos, target_velocity=qvel, torque=none,
        stiffness=none, damping=none, saturated=none.astype(bool), assistance=np.zeros((count, 1, 6)),
        contact_frame=np.zeros(0, np.int32), contact_geoms=np.zeros((0, 2), np.int32), contact_position=empty,
        contact_force=empty, model_bytes=model_bytes(model), cast=cast_of(stage.built),
        meta={"title": name or motion.name, "kinematic_preview": True},
    )  # fmt: skip
