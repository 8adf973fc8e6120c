"""A character's body as the supervisor holds it: what it plays or follows now, and what was worked out beforehand.

`Actor` drives it (see there); here is what both ways of driving share.
"""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from stunt.control import worldspace as w
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import Rows, ServoSettings, WorldspaceProgram
from stunt.direction.motion_rows import Motion, repeated, sole_geoms
from stunt.direction.supervisor.feet import gone_over
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.posing import ServoView, servo_rows
from stunt.direction.supervisor.pushes import Pushes
from stunt.direction.supervisor.situation import own_slices
from stunt.direction.supervisor.tracks import Place, Playing, Track
from stunt.errors import InvalidValueError
from stunt.rotations import Floats
from stunt.stage.loop import Stage

LOOK: Final = 1.0 / 240.0
"""Over which time the servo measures the wanted velocity [s]: short, so that it takes over at the data's velocity."""
UNROLL: Final = 12.0
"""Seconds a looping motion is laid out for that is followed; whoever follows it longer says so again."""
AIM_FPS: Final = 60.0
DENSE: Final = 4
"""A twin's targets between two frames: the servo reads straight lines, data is played along curves."""


class HeldBody:
    """One character's body on the stage.

    Attributes:
        character: Whose.
        kinematic: Whether it is where it was told to be, instead of where forces take it.
        firm: With how many times its inertia it pushes what is in its way while it is kinematic.
        motion: What it plays or follows; None after `go_limp`.
        started: When the motion's first frame was, or would have been [s].
        playing: What it plays, blends included, and where; None under forces.
        rows: What it follows, as the servo reads it; None while kinematic or limp.
        layout: Of its own coordinates.
        kept: What it played until forces took over, while they track it.
        dense: Of motions that were prepared, what a twin follows.
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
        self.playing: Playing | None = None
        self.kept: Playing | None = None
        self._leaning: RootSpring | None = None
        self._view = ServoView.of(stage.model, self.character, self.soles)
        self._rows: WeakKeyDictionary[Motion, Rows] = WeakKeyDictionary()
        self._tracks: WeakKeyDictionary[Motion, Track] = WeakKeyDictionary()
        self.dense: WeakKeyDictionary[Track, Rows] = WeakKeyDictionary()
        stage.strings.append(self._string)
        self._warm_up()

    def frame_of(self, motion: Motion, since: float) -> int:
        """Return the frame nearest to a time in a motion [s]; a looping one goes on past its end."""
        if motion.loop and motion.duration > 0.0:
            since %= motion.duration
        return min(max(round(since * motion.fps), 0), max(len(motion.qpos) - 2, 0))

    @property
    def left(self) -> float:
        """How much of what it plays or follows is still to come [s]."""
        if self.playing is not None:
            return self.playing.left(self.stage.time)
        return (len(self.rows.path) - 1) / self.rows.fps - self.elapsed if self.rows is not None else 0.0

    @property
    def placed(self) -> tuple[int, Place]:
        """How many rounds of what it plays (or played last) have passed, and where the present one is placed."""
        f = self.program.numbers[self.number]
        x, y, turn = f[w.KIN_AT : w.KIN_AT + 3].tolist()
        return int(f[w.KIN_ROUNDS]), (x, y, turn)

    def prepare(self, motion: Motion) -> None:
        """Work out beforehand what playing a motion, and tracking it, will take."""
        track = self.track_of(motion)
        dense = self.layout.dense(track.ahead_rows(), track.fps, DENSE)
        self.dense[track] = self.lifted(dense, track.fps * DENSE)

    @property
    def blow(self) -> float:
        """How much contacts gave the body lately, summed over its degrees of freedom [N·s, N·m·s]."""
        return float(np.abs(self.program.owed[self.slices[1]]).sum())

    def kick(self) -> Floats:
        """Return how the body's velocities would change by what contacts gave it lately, were it free, (nv,)."""
        owed, out = self.program.owed, np.zeros((1, self.stage.model.nv))
        if not owed[self.slices[1]].any():
            return np.zeros(self.layout.nv)
        mine = np.zeros((1, self.stage.model.nv))
        mine[0, self.slices[1]] = owed[self.slices[1]]
        mujoco.mj_solveM(self.stage.model, self.stage.data, out, mine)
        return out[0, self.slices[1]]

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

    def _warm_up(self) -> None:
        """Load what is compiled now, so that nothing stops for it when the first ball hits."""
        still = np.concatenate([self.stage.data.qpos[self.slices[0]], np.zeros(self.layout.nv)])
        frames = np.repeat(still[None], 3, axis=0)
        self.lifted(self.layout.dense(frames, AIM_FPS, DENSE), AIM_FPS)
        gone_over(self.stage.model, self.character, self.layout, *self.state, frames, AIM_FPS, 0.05)

    @property
    def here(self) -> Floats:
        """Its own coordinates as they are now, (nq,): a view."""
        return self.stage.data.qpos[self.slices[0]]

    @property
    def state(self) -> tuple[Floats, Floats]:
        """Its own positions and velocities, (nq,) and (nv,): views."""
        return self.here, self.stage.data.qvel[self.slices[1]]

    def track_of(self, motion: Motion) -> Track:
        """Return a motion as this body plays it.

        Raises:
            InvalidValueError: It is no motion of this body.
        """
        if (known := self._tracks.get(motion)) is None:
            check_motion(motion.qpos, self.layout)
            known = self._tracks[motion] = Track.of(self.layout, motion)
        return known

    def rows_of(self, motion: Motion) -> Rows:
        """Return a motion as the servo follows it, unplaced."""
        if (known := self._rows.get(motion)) is None:
            frames = self.layout.frames(repeated(motion, UNROLL))
            known = self._rows[motion] = self.lifted(frames, motion.fps)
        return known

    def lifted(self, frames: Floats, fps: float) -> Rows:
        """Return frames, positions and velocities side by side, as the servo reads them."""
        return servo_rows(self._view, self.layout, frames, fps)

    def take(self, motion: Motion, rows: Rows, started: float) -> None:
        """Follow rows by forces from a time on [s]."""
        self.become(kinematic=False)
        self.motion, self.rows, self.started, self.playing, self.kept = motion, rows, started, None, None
        self.program.aim(self.number, rows, started)

    def become(self, *, kinematic: bool) -> None:
        """Change between data and forces; state and velocity stay."""
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
        told = (self.kinematic, self.motion, self.started, self.rows, self.playing, self.kept, self._leaning)
        return told, self.program.save(), self.pushes.save()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        told, program, pushes = state
        self.kinematic, self.motion, self.started, self.rows, self.playing, self.kept, self._leaning = told
        self.program.restore(program)
        self.pushes.restore(pushes)


def check_motion(qpos: Floats, layout: Layout) -> None:
    """Refuse what would break the simulation, so that whoever said it hears of it.

    Raises:
        InvalidValueError: These are no finite frames of the body.
    """
    if qpos.ndim != 2 or qpos.shape[1] != layout.nq or len(qpos) < 1:
        raise InvalidValueError("a motion", qpos.shape, f"frames of {layout.nq} coordinates")
    if not np.isfinite(qpos).all():
        raise InvalidValueError("a motion", "NaN or infinite", "finite coordinates")
