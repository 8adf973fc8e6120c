"""The motions one body knows, each worked out once: as the servo follows it, as data plays it, on own feet.

A body gets into a motion from what it does, its feet stepping to their place.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import numpy as np

from stunt.control.servo.memory import ServoTargets
from stunt.drive.body.servo_body import ServoBody
from stunt.drive.feet.blend import blend_into, window
from stunt.drive.motion.body_motion import BodyMotion, blended, repeated, smooth
from stunt.drive.motion.layout import check_motion
from stunt.drive.motion.playing import (
    NOWHERE,
    Place,
    Playing,
    Track,
    chained,
    cut_rows,
    entered_late,
    moved,
    moved_rows,
)
from stunt.drive.motion.posing import servo_rows
from stunt.drive.prepare.content import digest
from stunt.drive.prepare.fit import rounds_around
from stunt.drive.prepare.pipeline import UNROLL, as_prepared, prepare
from stunt.errors import StuntError
from stunt.maths.compiled import source_digest
from stunt.maths.rotations import Floats

if TYPE_CHECKING:
    from stunt.drive.own.doctor import Feasibility
    from stunt.drive.own.feasible import Reference

DENSE: Final = 4
"""Targets between two frames of what was played: the servo reads straight lines, data is played along curves."""
MOVING: Final = 0.5
"""Whoever goes faster than this against the motion it goes over to cannot stop where that begins [m/s]."""
_REHEARSED = 8.0  # seconds of a motion that loops
State = tuple[Floats, Floats]
"""Own coordinates and velocities, (nq,) and (nv,)."""


class Repertoire:
    """What a body knows of motions. They are never changed, and forgotten when nobody has them any more.

    Attributes:
        body: Whose.
    """

    def __init__(self, body: ServoBody) -> None:
        """Begin with none.

        Args:
            body: Whose; motions are prepared by its settings.
        """
        self.body = body
        self._targets: WeakKeyDictionary[BodyMotion, ServoTargets] = WeakKeyDictionary()
        self._tracks: WeakKeyDictionary[BodyMotion, Track] = WeakKeyDictionary()
        self._dense: WeakKeyDictionary[BodyMotion, ServoTargets] = WeakKeyDictionary()
        self._references: WeakKeyDictionary[BodyMotion, Reference] = WeakKeyDictionary()
        self._feasible: WeakKeyDictionary[BodyMotion, Feasibility] = WeakKeyDictionary()
        self._doubts: WeakKeyDictionary[BodyMotion, str] = WeakKeyDictionary()

    def forget_targets(self) -> None:
        """Work out anew what the servo follows: the body's settings are others now."""
        self._targets.clear()
        self._dense.clear()

    def targets_of(self, motion: BodyMotion) -> ServoTargets:
        """Return a motion as the servo follows it, unplaced; worked out once.

        Raises:
            InvalidValueError: It is no motion of this body.
        """
        if (known := self._targets.get(motion)) is None:
            check_motion(motion.qpos, self.body.layout)
            # Foreseen torques are the body's own, whoever drives it now.
            with self.body.stage.board.own_springs(self.body.stage.model):
                known = prepare(self.body.stage.model, self.body.character, motion, self.body.soles, self.body.settings)
            self._targets[motion] = known
        return known

    def reference_of(self, motion: BodyMotion, floor: float = 0.0) -> Reference:
        """Return a motion made feasible for a body on its own feet, where it lies; worked out once and kept on disk.

        Args:
            motion: Which; of a looping one `UNROLL` seconds.
            floor: Height of the ground it is meant for [m].

        Raises:
            BodyError: The body has not two feet, or no foot ever touches the ground.
        """
        if (known := self._references.get(motion)) is None:
            from stunt.drive.own import reference
            from stunt.drive.own.feasible import kept

            check_motion(motion.qpos, self.body.layout)
            body, unrolled = self.body, repeated(motion, UNROLL)
            made = partial(reference.make_reference, body.stage.model, body.character, unrolled, body.soles, floor)
            soles = [geom - min(body.character.geoms) for geom in body.soles]
            code = source_digest(Path(reference.__file__))
            known = kept(digest(body.stage.model, body.character, unrolled, floor, soles, code), made)
            self._references[motion] = known
        return known

    def refusal_of(self, motion: BodyMotion, floor: float = 0.0) -> str:
        """Return why a body must not even try a motion on its own feet, in words; empty: it may."""
        from stunt.drive.own.doctor import refusal

        return refusal(self.feasibility_of(motion, floor))

    def feasibility_of(self, motion: BodyMotion, floor: float = 0.0) -> Feasibility:
        """Return what a motion takes of the body on its own feet (see `stunt.drive.own.doctor`); worked out once."""
        if (known := self._feasible.get(motion)) is None:
            from stunt.drive.own.doctor import diagnose

            body, reference = self.body, self.reference_of(motion, floor)
            with body.stage.board.own_springs(body.stage.model):
                known = diagnose(body.stage.model, body.character, reference, body.soles)
            self._feasible[motion] = known
        return known

    def doubt_about(self, motion: BodyMotion, floor: float = 0.0) -> str:
        """Return why a motion will not hold on the body's own feet, in words; empty: it will. Rehearsed once."""
        if (known := self._doubts.get(motion)) is None:
            from stunt.drive.own.doctor import rehearse

            body = self.body
            try:
                known = self.feasibility_of(motion, floor).why
                if not known:
                    reference = self.reference_of(motion, floor).moved(NOWHERE, -floor)
                    length = _REHEARSED if motion.loop else motion.duration
                    free = body.root.clock == "free"
                    known = rehearse(body.stage.scene, body.character.name, reference, length, free_clock=free)
            except StuntError as error:
                known = str(error)
            self._doubts[motion] = known
        return known

    def track_of(self, motion: BodyMotion) -> Track:
        """Return a motion as this body plays it.

        Raises:
            InvalidValueError: It is no motion of this body.
        """
        if (known := self._tracks.get(motion)) is None:
            check_motion(motion.qpos, self.body.layout)
            known = self._tracks[motion] = Track.of(self.body.layout, motion)
        return known

    def dense_of(self, motion: BodyMotion) -> ServoTargets:
        """Return what the servo follows of a motion that was played: along its curves, prepared, unplaced."""
        if (known := self._dense.get(motion)) is None:
            track = self.track_of(motion)
            rows = self.lifted(self.body.layout.dense(track.ahead_rows(), track.fps, DENSE), track.fps * DENSE)
            frames = np.arange(len(rows.path)) / DENSE
            known = self._dense[motion] = self.between(rows, motion, frames, np.ones(len(frames)))
        return known

    def between(self, rows: ServoTargets, motion: BodyMotion, frames: Floats, share: Floats) -> ServoTargets:
        """Return rows between a motion's frames, of which round ever, as it was prepared."""
        cycle = len(motion.qpos) - 1
        if around := rounds_around(motion):
            frames = around * cycle + np.mod(frames, cycle)
        return as_prepared(rows, self.targets_of(motion), frames, share)

    def lifted(self, frames: Floats, fps: float) -> ServoTargets:
        """Return frames, positions and velocities side by side, as the servo reads them."""
        return servo_rows(self.body.servo_view, self.body.layout, frames, fps)

    def twin_rows(
        self, playing: Playing, motion: BodyMotion, first: int, count: int, rounds: int, at: Place
    ) -> ServoTargets:
        """Return some frames of what is played as a servo follows them; worked out beforehand but for blends."""
        frame = playing.in_round(first, rounds)
        if frame is not None and len((known := self.dense_of(motion)).path) > DENSE * (frame + 1) > 0:
            return moved_rows(cut_rows(known, DENSE * frame, DENSE * (count - 1) + 1), at)
        fps = playing.track.fps
        rows = self.lifted(self.body.layout.dense(playing.frames(first, count, rounds, at), fps, DENSE), fps * DENSE)
        frames = first + np.arange(len(rows.path)) / DENSE
        share = np.clip(frames / max(len(playing.lead) - 1, 1), 0.0, 1.0)
        return self.between(rows, motion, playing.first + frames, share)

    def rows_into(
        self,
        motion: BodyMotion,
        first: int,
        at: Place,
        blend: float,
        *,
        before: tuple[ServoTargets, float],
        leaving: State,
        shift: bool,
    ) -> ServoTargets:
        """Return a motion's rows entered from what a body does now: feet stand till they step to their place.

        Args:
            motion: Which to enter.
            first: At which frame.
            at: Where it is placed.
            blend: How long that takes [s].
            before: What the body follows, and where in it it is [s].
            leaving: The state it sets out from.
            shift: Whether to place the motion ahead of a body that goes faster than it.
        """
        body, rows, (old, then) = self.body, self.targets_of(motion), before
        fps, model = rows.fps, body.stage.model
        if len(rows.turns) - first < 3:
            rows = moved_rows(rows, at)
            rest = blended(model, old, then, cut_rows(rows, first, len(rows.turns)), blend)
            return entered_late(rows, rest, first)
        track = self.track_of(motion)
        if shift:  # whoever goes faster than the data comes to rest ahead of it
            pace = body.state[1][:2] - fps * np.diff(track.laid(first, 2, at)[:, :2], axis=0)[0]
            at = moved(at, 0.5 * blend * pace) if np.linalg.norm(pace) > MOVING else at
        frames = track.laid(first, min(len(rows.turns) - first, window(blend, fps)), at)
        lead, _ = blend_into(model, body.character, body.layout, *leaving, frames, fps, blend, wait=0.0)
        rows, plain = moved_rows(rows, at), self.lifted(lead, fps)
        count = len(lead)
        share = smooth(np.arange(count) / (count - 1))
        begin = self.between(plain, motion, first + np.arange(float(count)), share)
        torque, swing = begin.torque, None if rows.swing is None else np.zeros((count, rows.swing.shape[1]))
        if torque is not None:
            torque = share[:, None] * torque
            if old.torque is not None:
                frame = np.clip((then + np.arange(count) / fps) * old.fps, 0, len(old.turns) - 1).astype(int)
                torque += (1.0 - share[:, None]) * old.torque[frame]
        asked = None if rows.asked is None else begin.asked
        begin = replace(begin, friction=plain.friction, torque=torque, swing=swing, asked=asked)
        return entered_late(rows, chained([begin, cut_rows(rows, first + count, len(rows.turns))]), first)

    def frames_into(self, track: Track, first: int, at: Place, blend: float, *, shift: bool) -> tuple[Floats, Place]:
        """Return frames from a body's present state into a motion it plays, and where the motion comes to be placed.

        Args:
            track: The motion as it plays it.
            first: At which frame to enter it.
            at: Where it is placed.
            blend: How long that takes [s].
            shift: Whether the motion may be placed where the feet get to.
        """
        body = self.body
        frames = track.laid(first, min(track.ahead(first), window(blend, track.fps)), at)
        lead, by = blend_into(
            body.stage.model,
            body.character,
            body.layout,
            *body.state,
            frames,
            track.fps,
            blend,
            wait=blend,
            shift=shift,
        )
        return lead, moved(at, by)
