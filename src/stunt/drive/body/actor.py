"""The body as a controller drives it: kinematic or dynamic, one at a time.

Dynamic controllers use `follow` (a motion), `aim` (a pose), `strength` and `stun` (how hard), `lean` (how the root is
helped) and `go_limp`. Kinematic ones use `play`. What they say holds until they say something else: the compiled loop
carries it out at every physics step.

A character's body as the supervisor holds it: what it plays or follows now, and what was worked out beforehand.

`Actor` drives it (see there); here is what both ways of driving share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from stunt.control.servo.memory import ServoSettings, ServoTargets, WorldspaceProgram
from stunt.control.servo.root_spring import RootSpring
from stunt.drive.body.collision_masks import Pushes
from stunt.drive.feet.blend_kernel import blend_into, window
from stunt.drive.motion.body_motion import BodyMotion, blended, repeated
from stunt.drive.motion.layout import Layout, own_slices
from stunt.drive.motion.playing import (
    NOWHERE,
    Place,
    Playing,
    Track,
    cut_rows,
    late_blend,
    moved,
    moved_rows,
    repeated_row,
)
from stunt.drive.motion.posing import ServoView, servo_rows
from stunt.errors import InvalidValueError
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop

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
        self, stage: StageLoop, name: str, *, settings: ServoSettings | None = None, root: RootSpring | None = None
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
        self.motion: BodyMotion | None = None
        self.started = stage.time
        self.rows: ServoTargets | None = None
        self.layout = Layout.of(self.character)
        self.pushes = Pushes(stage, self.character)
        self.playing: Playing | None = None
        self.kept: Playing | None = None
        self._leaning: RootSpring | None = None
        self._view = ServoView.of(stage.model, self.character, self.soles)
        self._rows: WeakKeyDictionary[BodyMotion, ServoTargets] = WeakKeyDictionary()
        self._tracks: WeakKeyDictionary[BodyMotion, Track] = WeakKeyDictionary()
        self.dense: WeakKeyDictionary[Track, ServoTargets] = WeakKeyDictionary()
        stage.strings.append(self._string)
        self._warm_up()

    def frame_of(self, motion: BodyMotion, since: float) -> int:
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
        who = self.program.actors[self.number]
        x, y, turn = who["kin_at"].tolist()
        return int(who["kin_rounds"]), (x, y, turn)

    def prepare(self, motion: BodyMotion) -> None:
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
        return float(self.program.actors[self.number]["broken"])

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return float(self.program.actors[self.number]["weight"])

    @property
    def elapsed(self) -> float:
        """Where in its motion it is [s]."""
        return self.stage.time - self.started

    def _warm_up(self) -> None:
        """Load what is compiled now, so that nothing stops for it when the first ball hits."""
        still = np.concatenate([self.stage.data.qpos[self.slices[0]], np.zeros(self.layout.nv)])
        frames = np.repeat(still[None], 3, axis=0)
        self.lifted(self.layout.dense(frames, AIM_FPS, DENSE), AIM_FPS)
        blend_into(self.stage.model, self.character, self.layout, *self.state, frames, AIM_FPS, 0.05)

    @property
    def here(self) -> Floats:
        """Its own coordinates as they are now, (nq,): a view."""
        return self.stage.data.qpos[self.slices[0]]

    @property
    def state(self) -> tuple[Floats, Floats]:
        """Its own positions and velocities, (nq,) and (nv,): views."""
        return self.here, self.stage.data.qvel[self.slices[1]]

    def track_of(self, motion: BodyMotion) -> Track:
        """Return a motion as this body plays it.

        Raises:
            InvalidValueError: It is no motion of this body.
        """
        if (known := self._tracks.get(motion)) is None:
            check_motion(motion.qpos, self.layout)
            known = self._tracks[motion] = Track.of(self.layout, motion)
        return known

    def rows_of(self, motion: BodyMotion) -> ServoTargets:
        """Return a motion as the servo follows it, unplaced."""
        if (known := self._rows.get(motion)) is None:
            frames = self.layout.frames(repeated(motion, UNROLL))
            known = self._rows[motion] = self.lifted(frames, motion.fps)
        return known

    def lifted(self, frames: Floats, fps: float) -> ServoTargets:
        """Return frames, positions and velocities side by side, as the servo reads them."""
        return servo_rows(self._view, self.layout, frames, fps)

    def take(self, motion: BodyMotion, rows: ServoTargets, started: float) -> None:
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
        who = self.program.actors[self.number]
        return self.character.name, np.concatenate([who["force"], who["torque"]])

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


TWIN: Final = 0.75
"""Seconds of what was played that a tracking twin takes along at a time: about as long as it is in charge."""
PART: Final = 0.015
"""How far a joint may turn in one part of the step in which forces take over [rad]: the engine's step takes inertia for
constant, and loses momentum by the square of that."""
MOST_PARTS: Final = 16


class Actor(HeldBody):
    """One character's body on the stage, and what a controller may tell it."""

    # ---- dynamic

    def follow(
        self, motion: BodyMotion, *, since: float = 0.0, blend: float = 0.3, place: bool = True, actual: bool = False
    ) -> None:
        """Follow a motion by the servo.

        Args:
            motion: What to follow.
            since: Where in it to begin [s].
            blend: How long going over to it takes [s].
            place: Whether to move it to where the character is and faces.
            actual: Whether to blend from the pose the body has, not from what it followed.
        """
        track, rows = self.track_of(motion), self.rows_of(motion)
        if place:
            rows = moved_rows(rows, track.place_at(self.frame_of(motion, since), self.here))
        if blend > 0.0:
            old, at = self._before(actual, blend)
            rows = late_blend(self.stage.model, old, at, rows, since, blend)
        self.take(motion, rows, self.stage.time - since)

    def aim(self, pose: Floats | Mapping[str, Any], *, over: float = 0.2, actual: bool = False) -> None:
        """Go to a pose and hold it.

        Args:
            pose: Own coordinates as in `BodyMotion.qpos`, (nq,); or, by joint, angles [rad] (hinges), quaternions or
                rotation vectors [rad] (balls), the other joints keeping what they aim at.
            over: How long going there takes [s].
            actual: Whether to set out from the pose the body has, not from the one it aims at.
        """
        whole = self.pose_with(pose) if isinstance(pose, Mapping) else np.asarray(pose, float)
        check_motion(whole[None], self.layout)
        frames = max(2, round(over * AIM_FPS) + 1)
        motion = BodyMotion("aim", AIM_FPS, np.repeat(whole[None], frames, axis=0))
        one = self.lifted(np.concatenate([whole, np.zeros(self.layout.nv)])[None], AIM_FPS)
        rows = repeated_row(one, frames, AIM_FPS)
        if over > 0.0:
            old, at = self._before(actual, over)
            rows = blended(self.stage.model, old, at, rows, over)
        self.take(motion, rows, self.stage.time)

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
        self.program.actors[self.number]["gain"] = self.settings.gain * gain

    def stun(self, low: float, *, down: float = 0.05, hold: float = 0.3, up: float = 1.0) -> None:
        """Lose strength fast, to a share `low`, and get it back slowly [s]."""
        self.program.stun(self.number, self.stage.time, down=down, hold=hold, up=up, low=low)

    def recover(self) -> None:
        """Have all one's strength again, at once."""
        self.program.actors[self.number]["stun_time"] = np.inf
        self.strength(1.0)

    def lean(self, root: RootSpring | None) -> None:
        """Change how the root is helped; None: as the character came."""
        if root == self._leaning:
            return  # gains need not be worked out again
        self._leaning = root
        gain = float(self.program.actors[self.number]["gain"])
        self.program.settle(self.number, self.settings, root or self.root)
        self.program.actors[self.number]["gain"] = gain

    def go_limp(self) -> None:
        """Become a rag doll."""
        self.become(kinematic=False)
        self.program.release(self.number)
        self.motion = self.rows = self.playing = None

    # ---- kinematic

    def play(self, motion: BodyMotion, *, since: float = 0.0, blend: float = 0.5, place: bool = True) -> None:
        """Be where a motion says, at its velocities, and push what is in the way.

        Args:
            motion: What to play.
            since: Where in it to begin [s].
            blend: How long going over to it from the present state takes [s]; 0: be there at once.
            place: Whether to move it to where the character is and faces.
        """
        track, first, data = self.track_of(motion), self.frame_of(motion, since), self.stage.data
        at = track.place_at(first, self.here) if place else NOWHERE
        if blend > 0.0:
            lead, at = self._blend_into(track, first, at, blend, shift=place)
        else:
            lead = track.laid(first, min(2, track.ahead(first)), at, opens=True)
            data.qpos[self.slices[0]] = lead[0, : self.layout.nq]
            data.qvel[self.slices[1]] = lead[0, self.layout.nq :]
        self.become(kinematic=True)
        self.motion, self.started, self.rows = motion, self.stage.time - first / motion.fps, None
        self.playing = Playing(track, lead, first, at, self.stage.time)
        self.program.play(self.number, self.playing.data, self.stage.time, self.firm)

    def _blend_into(self, track: Track, first: int, at: Place, blend: float, *, shift: bool) -> tuple[Floats, Place]:
        """Return frames from the present state into a motion, feet kept, and where the motion comes to be placed."""
        frames = track.laid(first, min(track.ahead(first), window(blend, track.fps)), at)
        model, who, (qpos, qvel) = self.stage.model, self.character, self.state
        lead, by = blend_into(model, who, self.layout, qpos, qvel, frames, track.fps, blend, shift=shift)
        return lead, moved(at, by)

    def keep_on(self) -> None:
        """Follow by forces what was played until now: the tracking twin. Position, velocity and momentum are kept.

        Takes some of it along; called again, the next part.
        """
        playing = self.playing or self.kept
        if playing is None or self.motion is None:
            return
        leaves, fps = self.kinematic, playing.track.fps
        first = playing.frame(self.stage.time)
        rows = self._twin_rows(playing, first, round(TWIN * fps))
        self.take(self.motion, rows, playing.since + first / fps)
        self.kept = playing
        if leaves:
            self._leave_softly()

    def _twin_rows(self, playing: Playing, first: int, count: int) -> ServoTargets:
        """Return some frames of what is played as a servo follows them; worked out beforehand but for blends."""
        rounds, at = self.placed
        frame, known = playing.in_round(first, rounds), self.dense.get(playing.track)
        if frame is not None and known is not None and len(known.path) > DENSE * (frame + 1) > 0:
            return moved_rows(cut_rows(known, DENSE * frame, DENSE * (count - 1) + 1), at)
        fps = playing.track.fps
        return self.lifted(self.layout.dense(playing.frames(first, count, rounds, at), fps, DENSE), fps * DENSE)

    def _leave_softly(self) -> None:
        """Take the first step under forces in small parts, if joints turn far within it."""
        fastest = float(np.abs(self.stage.data.qvel[self.slices[1]][6:]).max())
        self.stage.refine(min(max(math.ceil(fastest * self.stage.step_time / PART), 1), MOST_PARTS))

    def give_back(self) -> None:
        """Give a body that was kinematic the impulse contacts had for it in the meantime."""
        gained = self.kick()
        self.stage.data.qvel[self.slices[1]] += gained
        self.program.owed[self.slices[1]] = 0.0

    def _before(self, actual: bool, seconds: float) -> tuple[ServoTargets, float]:
        """Return what to blend from over some seconds, and where in it [s]."""
        if self.playing is not None:
            first, fps, since = self.playing.frame(self.stage.time), self.playing.track.fps, self.playing.since
            frames = self.playing.frames(first, round(seconds * fps) + 2, *self.placed)
            return self.lifted(frames, fps), self.stage.time - since - first / fps
        if actual or self.rows is None:
            pose = np.concatenate([self.here, np.zeros(self.layout.nv)])
            return self.lifted(pose[None], AIM_FPS), 0.0
        return self.rows, self.elapsed
