"""One trial of a search, as a job: a body goes on from a known start with some vectors, then with none, and is judged.

A trial is data: which clip and body, what was asked before (`before`), what is asked now (`now`), up to where in the
clip it goes (`goal`). Stages stay warm in their process, and so do the states in which `before` ended: a process that
does not know one plays it from the beginning, and comes to the same bits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from stunt.character.kinematics import corners_over, pose_frames
from stunt.drive.body.actor import BodyActor
from stunt.drive.prepare.content import digest
from stunt.errors import BlowUpError
from stunt.jobs.job import Job, Row, canonical
from stunt.library.names import Library
from stunt.library.read import cut_reference
from stunt.many.setting import WHO, script_of
from stunt.maths.rotations import Floats
from stunt.script.performance import Performance
from stunt.search.inputs import SIZE, InputSpace, Prompter

AFTER: Final = 1.0
"""Seconds a body has to stay up after its clip's end."""
PATIENCE: Final = 1.5
"""A body that takes so many times the clip's length, and 3 s, does not arrive."""
_LOOKS = 30.0  # looks at a body in a second
_KEPT = 24  # states a stage keeps
_TOUCHES = 0.03  # a part so near to the ground is on it [m]
_HELD = 0.1  # and carries if that lasts [s]
_STAGES: OrderedDict[str, OwnStage] = OrderedDict()


class OwnStage:
    """A performance of one clip by one body on its own feet, and who asks it for something beside the clip.

    Attributes:
        performance: At whatever time it is.
        body: Who.
        prompter: Who asks.
        space: What can be asked for.
        stage: Where.
        length: Of the clip [s].
        reference: The prepared motion.
        content: What tells this body and this motion from any other.
    """

    def __init__(
        self, setting: Mapping[str, Any], *, seconds: float | None = None, record: bool = False, certify: bool = False
    ) -> None:
        """Build it.

        Args:
            setting: `clip`, `body`, `folders` and `keys` (strength, clock, …).
            seconds: How long it lasts; None: as long as the clip.
            record: Whether a take is wanted.
            certify: Whether one that can be certified.
        """
        library = Library.of(setting["folders"])
        keys = {"assist": "own", "self_collision": True, **setting["keys"]}
        script = script_of(keys, setting["clip"], setting["body"], library, seconds=seconds)
        script = replace(script, title=f"{Path(cut_reference(setting['clip'])[0]).stem}, on own feet")
        self.performance = Performance(script, record_hz=120.0 if record else 1.0, foretell=False, certify=certify)
        self.stage = self.performance.stage
        body: BodyActor = self.stage.actors[WHO]
        self.body = body
        assert body.motion is not None
        self.length = body.motion.duration
        self.reference = body.motions.reference_of(body.motion, body.floor)
        self._turns = pose_frames(self.stage.model, body.character, self.reference.motion.qpos)[1]
        size, free = float(body.own.program.actors[body.own.number]["scale"]), body.root.clock == "free"
        self.space = InputSpace(body.character, size, free)
        self.prompter = Prompter(body, self.space)
        self.content = digest(self.stage.model, body.character, body.motion)
        self._begin = self.stage.save()
        self._states: OrderedDict[bytes, Any] = OrderedDict()

    def refusal(self) -> str:
        """Return why not to search at all, in words; empty: it may be tried.

        Only feet carry a body here. Where preparing the motion found that feet alone do not do it, and something else
        is on the ground as it was captured, no input of the programme helps.
        """
        body, model, why = self.body, self.stage.model, self.reference.notes.why
        assert body.motion is not None
        if not why:
            return ""
        places, turns = pose_frames(model, body.character, body.motion.qpos)
        held = {part for own in body.own.legs for part in own}
        for name, part in body.character.bodies.items():
            geoms = [geom for geom in body.character.geoms if model.geom_bodyid[geom] == part]
            if part in held or not geoms:
                continue
            low = corners_over(model, body.character, geoms, places, turns)[..., 2].min(axis=1)
            down = np.flatnonzero(low - body.floor < _TOUCHES)
            if len(down) > _HELD * body.motion.fps:
                return f"its {name} is on the ground at {down[0] / body.motion.fps:.2f} s, feet alone carry, and {why}"
        return ""

    @property
    def most(self) -> float:
        """After so long nobody waits for it [s]."""
        return PATIENCE * self.length + 3.0

    def go_to(self, before: Floats) -> None:
        """Be where the vectors of a plan end, (windows, n)."""
        key = before.tobytes()
        found = self._states.get(key)
        if found is None:
            self.stage.restore(self._begin)
            self.prompter.follow(before)
            self.stage.advance(self.prompter.tick_of(len(before)) - self.stage.tick)
            found = self._states[key] = self.stage.save()
            if len(self._states) > _KEPT:
                self._states.popitem(last=False)
        else:
            self._states.move_to_end(key)
            self.stage.restore(found)

    def play(self, goal: float, most_off: float = 180.0) -> Row:
        """Go on until a time of the clip [s], a fall, or until it is no longer with its clip; return how it went.

        Args:
            goal: Where in the clip.
            most_off: Mean error of a bone's orientation at which it counts as having left its clip [°].
        """
        stage, body, own = self.stage, self.body, self.body.own
        began, memory = stage.time, own.program.actors
        steps, bones = int(memory[own.number]["steps"]), slice(body.character.root_body, None)
        stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / _LOOKS))
        errors, off, drift, up, last, left = list[float](), list[float](), 0.0, False, float(own.clip_time), 0.0
        while not up and stage.time < self.most:
            try:
                stage.advance(stride - stage.tick % stride)
            except BlowUpError:
                break
            if not body.on_own_feet:
                break
            frame = min(round(own.clip_time * self.reference.motion.fps), len(self._turns) - 1)
            off.append(float(np.hypot(*memory[own.number]["error"])))
            if own.clip_time <= self.length:  # after that it has to stay up, and nothing else
                errors.append(_error(self._turns[frame], stage.data.xquat[bones]))
                if errors[-1] > most_off:  # somewhere between two looks
                    before = errors[-2] if len(errors) > 1 else 0.0
                    left = (own.clip_time - last) * (errors[-1] - most_off) / max(errors[-1] - before, 1e-9)
                    break
                drift = float(np.linalg.norm(body.here[:2] - self.reference.motion.qpos[frame, :2]))
            up, last = bool(own.clip_time >= goal), float(own.clip_time)
        return {
            "up": up, "reach": float(own.clip_time - left), "error_deg": float(np.mean(errors)) if errors else 0.0,
            "worst_deg": max(errors, default=0.0), "drift_m": drift,
            "off_m": float(np.sqrt(np.mean(np.square(off)))) if off else 0.0,
            "steps": int(memory[own.number]["steps"]) - steps, "late_s": float(memory[own.number]["late"]),
            "ends_s": stage.time, "seconds": stage.time - began,
        }  # fmt: skip


def _error(one: Floats, other: Floats) -> float:
    """Return the mean angle between orientations of bones [°]."""
    return float(np.degrees(2.0 * np.arccos(np.abs((one * other).sum(axis=-1)).clip(0.0, 1.0))).mean())


def attempt(job: Job) -> Row:
    """Run one trial."""
    told = job.arguments
    warm = stage_of(told["setting"])
    before, now = (np.array(told[name], float).reshape(-1, SIZE) for name in ("before", "now"))
    warm.go_to(before)
    warm.prompter.follow(np.concatenate([before, now]))
    return warm.play(told["goal"], told["most_off"])


def stage_of(setting: Mapping[str, Any]) -> OwnStage:
    """Return a warm stage; one is kept."""
    key = canonical(setting)
    if key not in _STAGES:
        _STAGES.clear()
        _STAGES[key] = OwnStage(setting)
    return _STAGES[key]
