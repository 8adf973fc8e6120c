"""The body as a controller drives it: kinematic or dynamic, one at a time.

Dynamic controllers use `follow` (a motion), `aim` (a pose), `strength` and `stun` (how hard), `lean` (how the root is
helped) and `go_limp`. Kinematic ones use `play`. What they say holds until they say something else: the compiled loop
carries it out at every physics step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from stunt import rotations
from stunt.control import worldspace as w
from stunt.control.root_spring import RootSpring
from stunt.control.worldspace_program import Rows
from stunt.direction.motion_rows import Motion, blended
from stunt.direction.supervisor.feet import gone_over, window
from stunt.direction.supervisor.followed_rows import cut_rows, late_blend, moved_rows, repeated_row
from stunt.direction.supervisor.held_body import AIM_FPS, DENSE, HeldBody, check_motion
from stunt.direction.supervisor.tracks import NOWHERE, Place, Playing, Track, moved
from stunt.rotations import Floats

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
            pose: Own coordinates as in `Motion.qpos`, (nq,); or, by joint, angles [rad] (hinges), quaternions or
                rotation vectors [rad] (balls), the other joints keeping what they aim at.
            over: How long going there takes [s].
            actual: Whether to set out from the pose the body has, not from the one it aims at.
        """
        whole = self.pose_with(pose) if isinstance(pose, Mapping) else np.asarray(pose, float)
        check_motion(whole[None], self.layout)
        frames = max(2, round(over * AIM_FPS) + 1)
        motion = Motion("aim", AIM_FPS, np.repeat(whole[None], frames, axis=0))
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
        self.become(kinematic=False)
        self.program.release(self.number)
        self.motion = self.rows = self.playing = None

    # ---- kinematic

    def play(self, motion: Motion, *, since: float = 0.0, blend: float = 0.5, place: bool = True) -> None:
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
        lead, by = gone_over(model, who, self.layout, qpos, qvel, frames, track.fps, blend, shift=shift)
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

    def _twin_rows(self, playing: Playing, first: int, count: int) -> Rows:
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

    def _before(self, actual: bool, seconds: float) -> tuple[Rows, float]:
        """Return what to blend from over some seconds, and where in it [s]."""
        if self.playing is not None:
            first, fps, since = self.playing.frame(self.stage.time), self.playing.track.fps, self.playing.since
            frames = self.playing.frames(first, round(seconds * fps) + 2, *self.placed)
            return self.lifted(frames, fps), self.stage.time - since - first / fps
        if actual or self.rows is None:
            pose = np.concatenate([self.here, np.zeros(self.layout.nv)])
            return self.lifted(pose[None], AIM_FPS), 0.0
        return self.rows, self.elapsed
