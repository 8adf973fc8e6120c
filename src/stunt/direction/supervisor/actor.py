"""The body as a controller drives it: kinematic or dynamic, one at a time.

Dynamic controllers use `follow` (a motion), `aim` (a pose), `strength` and `stun` (how hard), `lean` (how the root is
helped) and `go_limp`. Kinematic ones use `play`. What they say holds until they say something else: the compiled loop
carries it out at every physics step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from stunt import rotations
from stunt.control import worldspace as w
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import Rows, ServoSettings, WorldspaceProgram
from stunt.direction.motion_rows import Motion, blended, repeated, sole_geoms
from stunt.direction.supervisor.feet import common_ground, keep_feet
from stunt.direction.supervisor.inertial import blended_in
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.posing import multiplied_rows, rotated_rows, servo_rows
from stunt.direction.supervisor.pushes import Pushes
from stunt.direction.supervisor.situation import own_slices
from stunt.errors import InvalidValueError
from stunt.rotations import Floats
from stunt.stage.loop import Stage

LOOK: Final = 1.0 / 240.0
"""Over which time the servo measures the wanted velocity [s]: short, so that it takes over at the data's velocity."""
UNROLL: Final = 12.0
"""Seconds a looping motion is laid out for that is followed; whoever follows it longer says so again."""
AHEAD: Final = 4.0
"""Seconds of data laid out ahead of a body that plays it (see `play_on`)."""
AIM_FPS: Final = 60.0
DENSE: Final = 4
"""A twin's targets between two frames: the servo reads straight lines, data is played along curves."""
TWIN: Final = 1.2
"""Seconds of what was played that a tracking twin takes along at a time."""


class Actor:
    """One character's body on the stage.

    Attributes:
        character: Whose.
        kinematic: Whether it is where it was told to be, instead of where forces take it.
        firm: With how many times its inertia it pushes what is in its way while it is kinematic.
        motion: What it plays or follows, placed on the stage; None after `go_limp`.
        started: When the motion's first frame was, or would have been [s].
        played: What it plays: positions and velocities, blends included, (F, nq + nv); None under forces.
        played_since: When its first frame was [s].
        rows: What it follows, as the servo reads it; None while kinematic or limp.
        layout: Of its own coordinates.
    """

    def __init__(
        self, stage: Stage, name: str, *, settings: ServoSettings | None = None, root: RootSpring | None = None
    ) -> None:
        """Take a body on, limp.

        Args:
            stage: Where it is.
            name: Who.
            settings: How it follows.
            root: How its root is helped.
        """
        self.stage, self.character = stage, stage.character(name)
        self.settings, self.root = settings or ServoSettings(look=LOOK), root or RootSpring(yaw=0.1)
        self.program = WorldspaceProgram.on(stage.model, stage.data, stage.board)
        self.soles = sole_geoms(stage.model, self.character)
        self.number = self.program.add(self.character, self.soles, self.settings, self.root)
        self.slices = own_slices(self.character)
        self.kinematic = False
        self.firm = 1.0
        self.motion: Motion | None = None
        self.started = stage.time
        self.rows: Rows | None = None
        self.layout = Layout.of(self.character)
        self.pushes = Pushes(stage, self.character)
        self.played: Floats | None = None
        self._kept: tuple[Floats, float] | None = None
        self._leaning: RootSpring | None = None
        self._base: Motion | None = None  # what it plays, before it was placed
        self.played_since = stage.time
        self._friction = stage.model.geom_friction[self.soles, 0].copy()
        self._rows: WeakKeyDictionary[Motion, Rows] = WeakKeyDictionary()
        self._frames: WeakKeyDictionary[Motion, Floats] = WeakKeyDictionary()
        stage.strings.append(self._string)
        self._warm_up()

    # ---- dynamic

    def follow(
        self, motion: Motion, *, since: float = 0.0, blend: float = 0.3, place: bool = True, actual: bool = False
    ) -> None:
        """Follow a motion by the servo.

        Args:
            motion: What to follow.
            since: Where in it to begin [s].
            blend: How long going over to it takes [s].
            place: Whether to move it to where the character is and faces.
            actual: Whether to blend from the pose the body has, not from what it followed.
        """
        self._check(motion.qpos)
        rows = self._rows_of(motion)
        placed = self._placed(motion, self.frame_of(motion, since)) if place else motion
        if placed is not motion:
            rows = _moved(rows, motion, placed)
        old, at = self._before(actual)
        if blend > 0.0 and old is not None:
            rows = _late_blend(self.stage.model, old, at, rows, since, blend)
        self._take(placed, rows, self.stage.time - since)

    def aim(self, pose: Floats | Mapping[str, Any], *, over: float = 0.2, actual: bool = False) -> None:
        """Go to a pose and hold it.

        Args:
            pose: Own coordinates as in `Motion.qpos`, (nq,); or, by joint, angles [rad] (hinges), quaternions or
                rotation vectors [rad] (balls), the other joints keeping what they aim at.
            over: How long going there takes [s].
            actual: Whether to set out from the pose the body has, not from the one it aims at.
        """
        whole = self.pose_with(pose) if isinstance(pose, Mapping) else np.asarray(pose, float)
        self._check(whole[None])
        frames = max(2, round(over * AIM_FPS) + 1)
        motion = Motion("aim", AIM_FPS, np.repeat(whole[None], frames, axis=0))
        one = self._lifted(np.concatenate([whole, np.zeros(self.layout.nv)])[None], AIM_FPS)
        rows = _repeated_row(one, frames, AIM_FPS)
        old, at = self._before(actual)
        if over > 0.0 and old is not None:
            rows = blended(self.stage.model, old, at, rows, over)
        self._take(motion, rows, self.stage.time)

    def pose_with(self, angles: Mapping[str, Any], base: Floats | None = None) -> Floats:
        """Return own coordinates with some joints changed, from what is aimed at now (or `base`), (nq,)."""
        pose = (self.aimed_at() if base is None else np.asarray(base, float)).copy()
        first = self.slices[0].start
        for name, value in angles.items():
            joint = self.character.joint(name)
            at = joint.qpos - first
            if joint.kind == "ball":
                turn = np.asarray(value, float)
                pose[at : at + 4] = turn if turn.shape == (4,) else rotations.from_rotation_vector(turn)
            else:
                pose[at] = float(value)
        return pose

    def aimed_at(self) -> Floats:
        """Return the pose it is told to have now (its own where it is limp), with the root it has, (nq,)."""
        pose = self.stage.data.qpos[self.slices[0]].copy()
        if self.rows is not None:
            frame = round((self.stage.time - self.started) * self.rows.fps)
            pose[7:] = self.rows.qpos[min(max(frame, 0), len(self.rows.qpos) - 1)]
        return pose

    def strength(self, gain: float) -> None:
        """Scale all servo gains from now on (1: as strong as the body is)."""
        self.program.numbers[self.number, w.GAIN] = self.settings.gain * gain

    def stun(self, low: float, *, down: float = 0.05, hold: float = 0.3, up: float = 1.0) -> None:
        """Lose strength fast, to a share `low`, and get it back slowly [s]."""
        self.program.stun(self.number, self.stage.time, down=down, hold=hold, up=up, low=low)

    def recover(self) -> None:
        """Have all one's strength again, at once."""
        self.program.numbers[self.number, w.STUN_TIME] = np.inf
        self.strength(1.0)

    def lean(self, root: RootSpring | None) -> None:
        """Change how the root is helped; None: as the character came."""
        if root == self._leaning:
            return  # gains need not be worked out again
        self._leaning = root
        gain = float(self.program.numbers[self.number, w.GAIN])
        self.program.settle(self.number, self.settings, root or self.root)
        self.program.numbers[self.number, w.GAIN] = gain

    def go_limp(self) -> None:
        """Become a rag doll."""
        self._become(kinematic=False)
        self.program.release(self.number)
        self.stage.model.geom_friction[self.soles, 0] = self._friction
        self.motion = self.rows = self.played = None

    # ---- kinematic

    def play(self, motion: Motion, *, since: float = 0.0, blend: float = 0.5, place: bool = True) -> None:
        """Be where a motion says, at its velocities, and push what is in the way.

        Args:
            motion: What to play.
            since: Where in it to begin [s].
            blend: How long going over to it from the present state takes [s]; 0: be there at once.
            place: Whether to move it to where the character is and faces.
        """
        self._check(motion.qpos)
        first = self.frame_of(motion, since)
        placed = self._placed(motion, first) if place else motion
        frames = self._frames_of(motion)[first : self._rounds_end(motion, first)]
        if placed is not motion:
            frames = _moved_frames(self.layout, frames, motion, placed)
        data = self.stage.data
        if blend > 0.0:
            qpos, qvel = data.qpos[self.slices[0]], data.qvel[self.slices[1]]
            if place:
                here = np.concatenate([qpos, qvel])
                shift = common_ground(self.stage.model, self.character, self.layout, here, frames, motion.fps)
                frames[:, :3] += shift
                placed = replace(placed, qpos=placed.qpos + np.pad(shift, (0, self.layout.nq - 3)))
            soft = blended_in(self.layout, qpos, qvel, frames, motion.fps, blend)
            frames = keep_feet(self.stage.model, self.character, self.layout, soft, frames, motion.fps, blend)
        else:
            data.qpos[self.slices[0]] = frames[0, : self.layout.nq]
            data.qvel[self.slices[1]] = frames[0, self.layout.nq :]
        self._become(kinematic=True)
        self.motion, self.started, self._base = placed, self.stage.time - first / motion.fps, motion
        self.played, self.played_since, self.rows = frames, self.stage.time, None
        self.program.play(self.number, frames, motion.fps, self.stage.time, self.firm)

    def frame_of(self, motion: Motion, since: float) -> int:
        """Return the frame nearest to a time in a motion [s]; a looping one goes on past its end."""
        if motion.loop and motion.duration > 0.0:
            since %= motion.duration
        return min(max(round(since * motion.fps), 0), max(len(motion.qpos) - 2, 0))

    def play_on(self) -> None:
        """Lay out more of a looping motion that is being played, before it ends."""
        if self.played is None or self.motion is None or not self.kinematic:
            return
        fps = self.motion.fps
        first = int((self.stage.time - self.played_since) * fps)
        self.played = self._longer(self.played[first:])
        self.played_since += first / fps
        self.program.play(self.number, self.played, fps, self.played_since)

    def _rounds_end(self, motion: Motion, first: int) -> int | None:
        """Return one past the last frame of as many whole rounds of a looping motion as are laid out ahead."""
        cycle = len(motion.qpos) - 1
        if not motion.loop or cycle < 1:
            return None
        return math.ceil((first + AHEAD * motion.fps) / cycle) * cycle + 1

    def _longer(self, frames: Floats) -> Floats:
        """Return frames of a looping motion with its next rounds behind them."""
        motion = self._base
        if motion is None or not motion.loop or len(motion.qpos) < 2:
            return frames
        # The last frame laid out is the first one of a round again.
        at, heading = frames[-1, :2], float(rotations.heading(frames[-1, 3:7]))
        start = replace(motion, qpos=motion.qpos[:1]).placed((float(at[0]), float(at[1])), heading)
        rounds = self._frames_of(motion)[1 : self._rounds_end(motion, 0)]
        return np.concatenate([frames, _moved_frames(self.layout, rounds, motion, start)])

    @property
    def left(self) -> float:
        """How much of what it plays or follows is still to come [s]."""
        if self.kinematic and self.played is not None and self.motion is not None:
            return (len(self.played) - 1) / self.motion.fps - (self.stage.time - self.played_since)
        return (len(self.rows.path) - 1) / self.rows.fps - self.elapsed if self.rows is not None else 0.0

    def keep_on(self) -> None:
        """Follow by forces what was played until now: the tracking twin. Position, velocity and momentum are kept.

        Takes a few seconds of it along; called again, the next ones.
        """
        if not self.kinematic and self._kept is not None:
            self.played, self.played_since = self._kept
        if self.played is None or self.motion is None:
            return
        first = int((self.stage.time - self.played_since) * self.motion.fps)
        since, fps = self.played_since + first / self.motion.fps, self.motion.fps
        if self.motion.loop and len(self.played) - first < round(TWIN * fps):
            self.played, first, self.played_since = self._longer(self.played[first:]), 0, since
        frames = self.played[min(first, len(self.played) - 1) : first + round(TWIN * fps)]
        rows = self._lifted(self.layout.dense(frames, fps, DENSE), fps * DENSE)
        self._kept = self.played, self.played_since
        self._take(self.motion, rows, since, keep=True)

    def give_back(self) -> None:
        """Give a body that was kinematic the impulse contacts had for it in the meantime."""
        gained = self.kick()
        self.stage.data.qvel[self.slices[1]] += gained
        self.program.owed[self.slices[1]] = 0.0

    def kick(self) -> Floats:
        """Return how the body's velocities would change by what contacts gave it lately, were it free, (nv,)."""
        owed, out = self.program.owed, np.zeros((1, self.stage.model.nv))
        if not owed[self.slices[1]].any():
            return np.zeros(self.layout.nv)
        mine = np.zeros((1, self.stage.model.nv))
        mine[0, self.slices[1]] = owed[self.slices[1]]
        mujoco.mj_solveM(self.stage.model, self.stage.data, out, mine)
        return out[0, self.slices[1]]

    # ---- facts

    @property
    def broken_for(self) -> float:
        """How long the root spring has been broken [s]."""
        return float(self.program.numbers[self.number, w.BROKEN])

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return float(self.program.numbers[self.number, w.WEIGHT])

    @property
    def elapsed(self) -> float:
        """Where in its motion it is [s]."""
        return self.stage.time - self.started

    # ---- inside

    def _warm_up(self) -> None:
        """Load what is compiled now, so that nothing stops for it when the first ball hits."""
        still = np.concatenate([self.stage.data.qpos[self.slices[0]], np.zeros(self.layout.nv)])
        frames = np.repeat(still[None], 3, axis=0)
        self._lifted(self.layout.dense(frames, AIM_FPS, DENSE), AIM_FPS)
        soft = blended_in(self.layout, still[: self.layout.nq], still[self.layout.nq :], frames, AIM_FPS, 0.05)
        keep_feet(self.stage.model, self.character, self.layout, soft, frames, AIM_FPS, 0.05)

    @property
    def _parent(self) -> bool:
        return self.settings.servo.startswith("parent")

    def _check(self, qpos: Floats) -> None:
        """Refuse what would break the simulation, so that whoever said it hears of it."""
        if qpos.ndim != 2 or qpos.shape[1] != self.layout.nq or len(qpos) < 1:
            raise InvalidValueError("a motion", qpos.shape, f"frames of {self.layout.nq} coordinates")
        if not np.isfinite(qpos).all():
            raise InvalidValueError("a motion", "NaN or infinite", "finite coordinates")

    def _frames_of(self, motion: Motion) -> Floats:
        if (known := self._frames.get(motion)) is None:
            known = self._frames[motion] = self.layout.frames(repeated(motion, AHEAD + 2.0 * motion.duration))
        return known

    def _rows_of(self, motion: Motion) -> Rows:
        if (known := self._rows.get(motion)) is None:
            frames = self.layout.frames(repeated(motion, UNROLL)) if motion.loop else self._frames_of(motion)
            known = self._rows[motion] = self._lifted(frames, motion.fps)
        return known

    def _lifted(self, frames: Floats, fps: float) -> Rows:
        return servo_rows(
            self.stage.model, self.character, self.layout, frames, fps, self.soles, self._friction, parent=self._parent
        )

    def _placed(self, motion: Motion, frame: int) -> Motion:
        """Move a motion so that one of its frames is where the character is and faces."""
        now, data = self.stage.data.qpos[self.slices[0]], self._frames_of(motion)[frame]
        turn = float(rotations.heading(now[3:7]) - rotations.heading(data[3:7]))
        spin = rotations.from_rotation_vector(np.array([0.0, 0.0, turn]))
        qpos = motion.qpos.copy()
        flat = np.array([1.0, 1.0, 0.0])
        qpos[:, :3] = rotated_rows(spin, motion.qpos[:, :3] - data[:3] * flat) + now[:3] * flat
        qpos[:, 3:7] = multiplied_rows(spin, motion.qpos[:, 3:7])
        return replace(motion, qpos=qpos)

    def _before(self, actual: bool) -> tuple[Rows | None, float]:
        """Return what to blend from, and where in it [s]."""
        if self.kinematic and self.played is not None and self.motion is not None:
            return self._lifted(self.played, self.motion.fps), self.stage.time - self.played_since
        if actual or self.rows is None:
            pose = np.concatenate([self.stage.data.qpos[self.slices[0]], np.zeros(self.layout.nv)])
            return self._lifted(pose[None], AIM_FPS), 0.0
        return self.rows, self.elapsed

    def _take(self, motion: Motion, rows: Rows, started: float, *, keep: bool = False) -> None:
        self._become(kinematic=False)
        self._kept = self._kept if keep else None
        self.motion, self.rows, self.started, self.played = motion, rows, started, None
        self.program.aim(self.number, rows, started)

    def _become(self, *, kinematic: bool) -> None:
        if kinematic == self.kinematic:
            return
        self.kinematic = kinematic
        self.pushes.set_kinematic(kinematic)
        if kinematic:
            self.program.release(self.number)
        else:
            self.program.leave_data(self.number, self.settings)
            self.stage.data.qfrc_applied[self.slices[1]] = 0.0
        self.program.owed[self.slices[1]] = 0.0

    def _string(self) -> tuple[str, Floats]:
        f = self.program.numbers[self.number]
        return self.character.name, np.concatenate([f[w.FORCE : w.FORCE + 3], f[w.TORQUE : w.TORQUE + 3]])

    def save(self) -> Any:
        """Return everything that must survive a restore; motions and rows are never changed, so they are shared."""
        told = (
            self.kinematic, self.motion, self.started, self.rows, self.played, self.played_since, self._kept,
            self._leaning, self._base,
        )  # fmt: skip
        return told, self.program.save(), self.pushes.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        told, program, pushes = state
        (
            self.kinematic, self.motion, self.started, self.rows, self.played, self.played_since, self._kept,
            self._leaning, self._base,
        ) = told  # fmt: skip
        self.program.restore(program)
        self.pushes.restore(pushes)


def _moved_frames(layout: Layout, frames: Floats, motion: Motion, placed: Motion) -> Floats:
    """Return frames of a motion moved over the ground."""
    one, two, out = motion.qpos[0], placed.qpos[0], frames.copy()
    spin = rotations.multiply(two[3:7], rotations.conjugate(one[3:7]))
    out[:, :3] = rotated_rows(spin, frames[:, :3] - one[:3]) + two[:3]
    out[:, 3:7] = multiplied_rows(spin, frames[:, 3:7])
    velocity = slice(layout.nq, layout.nq + 3)
    out[:, velocity] = rotated_rows(spin, frames[:, velocity])
    return out


def _moved(rows: Rows, motion: Motion, placed: Motion) -> Rows:
    """Return rows of a motion moved over the ground: only the root's own place and turn change."""
    one, two = motion.qpos[0], placed.qpos[0]
    spin = rotations.multiply(two[3:7], rotations.conjugate(one[3:7]))
    turns = rows.turns.copy()
    turns[:, 0] = multiplied_rows(spin, turns[:, 0])
    return replace(rows, turns=turns, path=rotated_rows(spin, rows.path - one[:3]) + two[:3])


def _late_blend(model: mujoco.MjModel, old: Rows, at: float, new: Rows, since: float, seconds: float) -> Rows:
    """Blend into rows that are entered at a later frame than their first."""
    first = min(max(round(since * new.fps), 0), len(new.turns) - 1)
    tail = Rows(new.fps, new.turns[first:], new.path[first:], new.friction[first:], new.qpos[first:], new.qvel[first:])
    turns = new.turns.copy()
    turns[first:] = blended(model, old, at, tail, seconds).turns
    return replace(new, turns=turns)


def _repeated_row(row: Rows, frames: int, fps: float) -> Rows:
    """Hold one row for some frames."""
    several = [np.repeat(x[:1], frames, axis=0) for x in (row.turns, row.path, row.friction, row.qpos, row.qvel)]
    return Rows(fps, *several)
