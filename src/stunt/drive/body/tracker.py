"""A character that follows clips: crew around the world-space servo and the root spring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from stunt.control.servo.memory import ServoSettings, ServoTargets, WorldspaceProgram, hip_height
from stunt.control.servo.root_spring import RootSpring
from stunt.drive.feet.blend import Momentum, change_of_motion, owner_of
from stunt.drive.feet.leg import legs_of
from stunt.drive.motion.body_motion import BodyMotion, blended, make_rows
from stunt.drive.prepare.first_velocity import first_velocity
from stunt.drive.prepare.pipeline import prepare
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop


@dataclass(frozen=True)
class Assistance:
    """What the root got from outside so far: by its spring and, in the external form, by the torques on the bones.

    Attributes:
        torque_mean: Mean torque as a share of m·g·h.
        torque_peak: Largest torque, likewise.
        force_mean: Mean force as a share of body weight.
        force_peak: Largest force, likewise.
        impulse: ∫|force|dt [N·s].
        angular_impulse: ∫|torque|dt [N·m·s].
    """

    torque_mean: float
    torque_peak: float
    force_mean: float
    force_peak: float
    impulse: float
    angular_impulse: float


class Tracker:
    """Makes one character follow motions.

    Attributes:
        motion: What it follows now, placed on the stage.
        started: Since when [s].
        number: Its number in the program.
        history: What it followed so far: since when [s], the motion, its rows.
    """

    def __init__(
        self,
        stage: StageLoop,
        name: str,
        motion: BodyMotion,
        *,
        settings: ServoSettings | None = None,
        root: RootSpring | None = None,
        put: bool = True,
    ) -> None:
        """Take a character on.

        Args:
            stage: Where it is.
            name: Who.
            motion: What it follows from now on.
            settings: How.
            root: How its root is helped.
            put: Whether to put it into the motion's first frame, at the motion's velocity.
        """
        self.stage, self.character = stage, stage.character(name)
        self.settings, self.root = settings or ServoSettings(), root or RootSpring()
        self.soles = sole_geoms(stage.model, self.character)
        self.program = WorldspaceProgram.on(stage.model, stage.data, stage.board)
        self.number = self.program.add(self.character, self.soles, self.settings, self.root)
        if put:
            self._put(motion)
        self.program.settle(self.number, self.settings, self.root)
        self.motion, self.started = motion, stage.time
        self.rows: ServoTargets = self._rows_of(motion)
        self.history: list[tuple[float, BodyMotion, ServoTargets]] = [(stage.time, motion, self.rows)]
        self.program.aim(self.number, self.rows, stage.time)
        stage.strings.append(self._string)
        stage.crew.append(self)

    def _rows_of(self, motion: BodyMotion) -> ServoTargets:
        return prepare(self.stage.model, self.character, motion, self.soles, self.settings)

    def _put(self, motion: BodyMotion) -> None:
        stage, root = self.stage, self.character.root
        if root is None:
            return
        width = motion.qpos.shape[1]
        stage.data.qpos[root.qpos : root.qpos + width] = motion.qpos[0]
        speed = first_velocity(stage.model, stage.data.qpos, self.character, motion)
        last = int(self.program.actors[self.number]["dof1"])
        stage.data.qvel[root.dof : last] = speed[root.dof : last]
        mujoco.mj_forward(stage.model, stage.data)

    def play(self, motion: BodyMotion, *, blend: float = 0.3, place: bool = True, actual: bool = False) -> None:
        """Go over to another motion, by interpolating the bones' orientations.

        Args:
            motion: What to follow.
            blend: How long the change takes [s].
            place: Whether to move it to where the character is and faces.
            actual: Whether to blend from the pose the body has, not from the one it should have.
        """
        root = self.character.root
        if place and root is not None:
            qpos = self.stage.data.qpos[root.qpos : root.qpos + 7]
            motion = motion.placed((float(qpos[0]), float(qpos[1])), float(rotations.heading(qpos[3:7])))
        rows = self._rows_of(motion)
        old, since = (self.pose_rows(), 0.0) if actual else (self.rows, self.stage.time - self.started)
        if blend <= 0.0:
            self.rows = rows
        elif self.settings.plant and not actual:
            self.rows = self._stepping_over(old, since, rows, blend)
        else:
            self.rows = blended(self.stage.model, old, since, rows, blend)
        self.motion, self.started = motion, self.stage.time
        self.history.append((self.started, motion, self.rows))
        self.program.aim(self.number, self.rows, self.stage.time)

    def _stepping_over(self, old: ServoTargets, since: float, rows: ServoTargets, blend: float) -> ServoTargets:
        """Return the blend with feet that step instead of sliding (see `stepping_over`)."""
        stage, root = self.stage, self.character.root
        assert root is not None  # only free characters are taken on
        legs, floor = legs_of(stage.model, self.character, self.soles), self._floor()
        place, turn = stage.data.qpos[root.qpos : root.qpos + 3], stage.data.qpos[root.qpos + 3 : root.qpos + 7]
        body = Momentum(place.copy(), turn.copy(), stage.data.qvel[root.dof : root.dof + 2].copy(), floor)
        owners = [owner_of(stage.model, self.character, legs, geom) for geom in self.soles]
        return change_of_motion(stage.model, legs, owners, old, since, rows, blend, body)

    def _floor(self) -> float:
        """Return the height of the floor its motions stand on [m]: a character may be put on something."""
        spec = self.stage.scene.characters.get(self.character.name)
        return float(spec.at[2]) if spec is not None else 0.0

    def pose_rows(self) -> ServoTargets:
        """Return the pose the body has, as rows of one frame."""
        root = self.character.root
        assert root is not None  # only free characters are taken on
        width = self.motion.qpos.shape[1]
        pose = BodyMotion("pose", self.motion.fps, self.stage.data.qpos[None, root.qpos : root.qpos + width].copy())
        return make_rows(self.stage.model, self.character, pose, self.soles)

    def respond(self, delta: float) -> None:
        """Give way, and be back in the clip's own state `delta` seconds from now (the δ-response)."""
        since = self.stage.time - self.started
        first = min(round(since * self.rows.fps), len(self.rows.turns) - 1)
        rest = replace(self.rows, turns=self.rows.turns[first:], asked=None, torque=None)
        rows = blended(self.stage.model, self.pose_rows(), 0.0, rest, delta)
        whole = self.rows.turns.copy()
        whole[first:] = rows.turns
        self.rows = replace(self.rows, turns=whole)
        self.program.aim(self.number, self.rows, self.started)

    def stun(self, low: float, *, down: float = 0.05, hold: float = 0.3, up: float = 1.0) -> None:
        """Lose strength fast, to a share `low`, and get it back slowly [s]."""
        self.program.stun(self.number, self.stage.time, down=down, hold=hold, up=up, low=low)

    def go_limp(self) -> None:
        """Become a rag doll."""
        self.program.release(self.number)

    @property
    def broken_for(self) -> float:
        """How long the root spring has been broken [s]."""
        return float(self.program.actors[self.number]["broken"])

    @property
    def limit_use(self) -> dict[str, float]:
        """How joints kept to their strength: share of joint-steps above it, and the largest torque over a limit."""
        who = self.program.actors[self.number]
        return {"over_share": float(who["over"] / max(who["joint_steps"], 1.0)), "worst": float(who["worst"])}

    def assistance(self) -> Assistance:
        """Return what the root got from outside so far."""
        who, model = self.program.actors[self.number], self.stage.model
        steps, step = max(float(who["steps"]), 1.0), self.stage.step_time
        weight = float(who["weight"])
        lever = weight * hip_height(model, int(self.program.actors[self.number]["root_qpos"]))
        return Assistance(
            float(who["torque_sum"]) / steps / lever, float(who["torque_peak"]) / lever,
            float(who["force_sum"]) / steps / weight, float(who["force_peak"]) / weight,
            float(who["force_sum"]) * step, float(who["torque_sum"]) * step,
        )  # fmt: skip

    def summary(self, time: Floats, qpos: Floats) -> dict[str, Any]:
        """Return how well it followed, over a take's frames (see `stunt.drive.body.measures`)."""
        from stunt.drive.body.measures import measure

        return measure(self, time, qpos)

    def _string(self) -> tuple[str, Floats]:
        who = self.program.actors[self.number]
        return self.character.name, np.concatenate([who["force"], who["torque"]])

    def due(self) -> int | None:
        """Nothing to do between steps: the servo is compiled."""
        return None

    def act(self) -> None:
        """Nothing to do."""

    def save(self) -> Any:
        """Return everything that must survive a restore."""
        return self.motion, self.started, self.rows, list(self.history), self.program.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self.motion, self.started, self.rows, history, program = state
        self.history = list(history)
        self.program.restore(program)
