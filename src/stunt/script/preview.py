"""The kinematic preview: a script's poses by their curves alone, many times faster than real time.

Joints under tension follow the very curves the springs will be led along; joints on the beat follow minimum-jerk paths
through their keys; who follows clips does what its body is asked to do, the clips fitted to it; joints and sites on
trajectories are on them; a free body that nothing pulls stands on its soles. Nothing is simulated: props stay where
they are and pushes do nothing. What cannot be shown is among the warnings.
"""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.beats.forecast import minimum_jerk_path
from stunt.drive.beats.spec import Script, resolve_beats
from stunt.drive.paths.shown import stand_on
from stunt.drive.tension.spec import Floats
from stunt.record.take import Take
from stunt.script.check import check_against_stage
from stunt.script.kinds import KINDS
from stunt.script.performance import Performance

PREVIEW_HZ = 60.0


class Preview:
    """A script ready to be looked at, at any time."""

    def __init__(self, script: Script) -> None:
        """Build the stage and lay out every way.

        Args:
            script: What to preview.

        Raises:
            StuntError: The script does not fit its bodies.
        """
        # Nobody moves by physics, so nobody need take the stage; what they are to do is checked all the same.
        bare = {name: dataclasses.replace(part, sections={}) for name, part in script.parts.items()}
        self._performance = Performance(dataclasses.replace(script, parts=bare), foretell=False)
        check_against_stage(script, self._performance.stage.built.characters)
        self._performance.script = script
        self.script = script
        self.stage = self._performance.stage
        self.seconds = self._performance.seconds
        self._start = self.stage.data.qpos.copy()
        hidden = [(n, k) for n, part in script.parts.items() for k in part.sections if KINDS[k].preview is None]
        self.warnings = [f"the preview cannot show what {who} does: '{key}' needs physics" for who, key in hidden]
        told = "the preview cannot show {}'s machine: where it goes depends on physics"
        self.warnings += [told.format(name) for name, part in script.parts.items() if part.machine is not None]
        if events := sorted({type(event).__name__.lower() for event in script.scene.events}):
            self.warnings.append(f"the preview does not show events: {', '.join(events)}")

    def qpos(self, times: Floats) -> Floats:
        """Return the positions of everything at times, (T, nq)."""
        path = np.tile(self._start, (len(times), 1))
        for name, part in self.script.parts.items():
            character = self.stage.character(name)
            if part.beats:
                self._beats(character, name, path, times)
            for key, value in part.sections.items():
                if (lay := KINDS[key].preview) is not None:
                    told = lay(value, self.stage, name, path, times) or ()
                    self.warnings += [sentence for sentence in told if sentence not in self.warnings]
            if not any(KINDS[key].whole for key in part.sections) and not self._moved(character, path):
                stand_on(self.stage, name, path)
        for name in self.script.scene.characters.keys() - self.script.parts.keys():
            stand_on(self.stage, name, path)
        return path

    def _moved(self, character: Character, path: Floats) -> bool:
        """Return whether something moves a free root: whom strings pull does not stand where the start was."""
        own = slice(character.root.qpos, character.root.qpos + 7) if character.root is not None else slice(0)
        return not np.array_equal(path[:, own], np.broadcast_to(self._start[own], path[:, own].shape))

    def _beats(self, character: Character, name: str, path: Floats, times: Floats) -> None:
        beats = resolve_beats(self.script.parts[name])
        way = minimum_jerk_path(character, self._start, np.zeros(self.stage.model.nv), beats, start=0.0)
        frames = np.clip(np.searchsorted(way.time, times), 0, len(way.time) - 1)
        for joint in character.joints.values():
            path[:, joint.qpos : joint.qpos + joint.nq] = way.qpos[frames, joint.qpos : joint.qpos + joint.nq]

    def take(self, hz: float = PREVIEW_HZ) -> Take:
        """Return the preview as a take: no forces, targets met exactly."""
        times = np.arange(round(self.seconds * hz) + 1) / hz
        path = self.qpos(times)
        model, count = self.stage.model, len(times)
        velocity = np.zeros((count, model.nv))
        for k in range(count - 1):
            mujoco.mj_differentiatePos(model, velocity[k], 1.0 / hz, path[k], path[k + 1])
        empty = np.zeros((count, model.nv))
        recorded = self._performance.recorder
        told = self._performance._meta()
        told["warnings"] = [*told["warnings"], *self.warnings]
        blank = recorded.take([], {**told, "kinematic_preview": True})
        return dataclasses.replace(
            blank, time=times, qpos=path, qvel=velocity, target=path.copy(), target_velocity=velocity.copy(),
            torque=empty, stiffness=empty.copy(), damping=empty.copy(), saturated=np.zeros((count, model.nv), bool),
            assistance=np.zeros((count, len(self.script.scene.characters), 6)),
        )  # fmt: skip


def preview(script: Script, hz: float = PREVIEW_HZ) -> Take:
    """Return a script's kinematic preview as a take."""
    return Preview(script).take(hz)
