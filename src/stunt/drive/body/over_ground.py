"""Feet on uneven ground: steps land on treads, swinging feet pass over what they would catch on, hips go along.

The clip was recorded on a flat floor. Where the ground ahead is another one, its next steps are laid over it: as long
as the treads want them, as high as the ground is (see `landings`). Each foot swings there, lifted over what is in its
way, and the hips go with the mean of both feet, low enough for both legs to reach. (The paper pushes a scuffing foot up
with a force from outside; here only targets change.)

Targets shaped while they are followed: crew that looks a moment ahead and hands the servo a changed window of rows.

The clip's own rows stay as they are; what is handed over is a copy of the next fifth of a second. Whoever shapes it
(feet over uneven ground, absolute targets) sees the clip, never an earlier change.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.control.servo.memory import ServoTargets
from stunt.control.servo.steering import SHIFT
from stunt.drive.body.actor import BodyActor
from stunt.drive.feet.ground import Ground
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.stance import Gait, gait_of
from stunt.drive.feet.steps import Footsteps, MotionView, StepPlanner
from stunt.drive.motion.body_motion import each_row
from stunt.maths import rotations
from stunt.maths.rotations import Floats

WINDOW: Final = 0.2
"""Seconds that are handed over at a time."""
BEHIND: Final = 1.0 / 60.0
"""So much of what is over is handed over too: wanted velocities are measured around the moment."""
SHAPE_HZ: Final = 30.0


@dataclass(frozen=True, eq=False)
class TargetWindow:
    """A stretch of a clip's rows.

    Attributes:
        rows: A copy, to be changed.
        start: When its first row is due [s].
    """

    rows: ServoTargets
    start: float

    def times(self) -> rotations.Floats:
        """Return when each row is due [s], (F,)."""
        return self.start + np.arange(len(self.rows.turns)) / self.rows.fps


class TargetShape(Protocol):
    """One way of changing targets."""

    every_step: bool

    def shape(self, window: TargetWindow) -> TargetWindow:
        """Return a changed window."""

    def save(self) -> Any:
        """Return what must survive a restore."""

    def restore(self, state: Any) -> None:
        """Put it back."""


class Shaper:
    """Crew that shapes one actor's targets.

    Attributes:
        shapes: What is done to each window, in this order.
    """

    def __init__(self, actor: BodyActor, shapes: Sequence[TargetShape]) -> None:
        """Start shaping.

        Args:
            actor: Whose targets.
            shapes: What is done to them.
        """
        self.actor, self.shapes = actor, list(shapes)
        self._due = actor.stage.tick
        actor.attend(self)

    @property
    def _stride(self) -> int:
        stage = self.actor.stage
        if any(shape.every_step for shape in self.shapes):
            return stage.steps_per_control
        return max(1, round(1.0 / (SHAPE_HZ * stage.control_period))) * stage.steps_per_control

    def due(self) -> int | None:
        """Return when to shape next; never while it follows nothing."""
        return self._due if self.actor.follows else None

    def act(self) -> None:
        """Hand the servo the next window."""
        actor = self.actor
        self._due = actor.stage.tick + self._stride
        assert actor.rows is not None  # it follows a clip
        window = window_of(actor.rows, actor.started, actor.stage.time)
        for shape in self.shapes:
            window = shape.shape(window)
        actor.show_rows(window.rows, window.start)

    def move(self, by: Renumbered) -> bool:
        """Go on, if whose targets they are does."""
        stays = self.actor.character.name in self.actor.stage.built.characters
        for shape in self.shapes if stays else ():
            if isinstance(shape, Feet):
                shape.look_up()
        return stays

    def save(self) -> Any:
        """Return what must survive a restore; the window itself is the program's."""
        return self._due, [shape.save() for shape in self.shapes]

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._due, shapes = state
        for shape, saved in zip(self.shapes, shapes, strict=True):
            shape.restore(saved)


def window_of(rows: ServoTargets, started: float, now: float, seconds: float = WINDOW) -> TargetWindow:
    """Return a copy of the rows from now on, and of a moment before."""
    first = int(np.clip(np.floor((now - BEHIND - started) * rows.fps), 0, len(rows.turns) - 1))
    last = min(first + max(2, round(seconds * rows.fps)), len(rows.turns) - 1)
    cut = each_row(rows, lambda value: value[first : last + 1].copy())
    return TargetWindow(cut, started + first / rows.fps)


class AbsoluteTargets:
    """World targets as the clip has them, whichever way the root is turned (the paper's "absolute coordinates").

    The servo lifts targets from the actual root; here the root's own turn and spin are taken out of them beforehand, so
    that what comes out is the clip's orientation in the world. Where nothing holds the root's heading (yaw off) that
    heading is left in: bones that kept the clip's compass directions on a root that turns away would be torn off it.
    """

    every_step = True

    def __init__(self, actor: BodyActor) -> None:
        """Take an actor's root out of its targets."""
        self._actor = actor
        actor.keep_to_world()
        self._heads = actor.root.kind == "hook" or (actor.root.kind in ("weak", "auto") and actor.root.yaw > 0.0)

    def shape(self, window: TargetWindow) -> TargetWindow:
        """Express the clip's world orientations as seen from where the root is, and will be."""
        data, root = self._actor.stage.data, self._actor.character.root
        assert root is not None  # only free characters are taken on
        turn = data.qpos[root.qpos + 3 : root.qpos + 7]
        spin = data.qvel[root.dof + 3 : root.dof + 6]  # in the root's own frame
        ahead = window.times() - self._actor.stage.time
        later = rotations.multiply(
            np.broadcast_to(turn, (len(ahead), 4)), rotations.from_rotation_vector(ahead[:, None] * spin)
        )
        turns = window.rows.turns.copy()
        held = turns[:, :1]
        if not self._heads:
            aside = np.zeros((len(turns), 1, 3))
            aside[:, 0, 2] = rotations.heading(later) - rotations.heading(turns[:, 0])
            held = rotations.multiply(rotations.from_rotation_vector(aside), held)
        world = rotations.multiply(held, turns[:, 1:])
        turns[:, 1:] = rotations.multiply(rotations.conjugate(later)[:, None], world)
        return replace(window, rows=replace(window.rows, turns=turns))

    def save(self) -> Any:
        """Nothing is remembered."""
        return None

    def restore(self, state: Any) -> None:
        """Nothing is remembered."""


AIM: Final = 0.08
"""A swinging foot is put no farther than this from where the body would bring it, to land where it should [m]."""
SAG: Final = 0.1
"""And no higher, for hips that are too low [m]."""
GIVE_BACK: Final = 0.2
"""Time within which a leg that stands gives up what it was put aside by [s]."""
REACH: Final = 0.985
"""Of its length: how far a leg is stretched to the ground at most."""
LANDING: Final = 0.15
"""So long before it lands, hips go down for a foot [s]."""


class Feet:
    """Lays the steps of one tracked character over the ground."""

    every_step = False

    def __init__(self, actor: BodyActor) -> None:
        """Watch where a character steps."""
        self._actor = actor
        self.look_up()
        self.steps = Footsteps(np.zeros((0, 3)))
        # Of each leg: the frames at which its foot last was lifted and is put down, and how far it is put aside.
        self._aside: list[tuple[int, int, Floats] | None] = [None] * len(self.legs)

    def look_up(self) -> None:
        """Note what is known of the scene: its legs, and what they walk on."""
        actor = self._actor
        self.legs = legs_of(actor.stage.model, actor.character, actor.soles)
        # A motion placed on something starts that much above its own floor.
        self._planner = StepPlanner(Ground(actor.stage), actor.floor)
        self._gait: tuple[Floats, Gait] | None = None  # and the path of the rows it was found in

    @property
    def _rows(self) -> ServoTargets:
        assert self._actor.rows is not None  # it follows a clip
        return self._actor.rows

    def shape(self, window: TargetWindow) -> TargetWindow:
        """Return the window with feet where the ground wants them."""
        if not self.legs or len(window.rows.turns) < 3:
            return window
        rows, view = self._rows, self._view()
        gait = self._gait_of_rows()
        base = bisect_right(gait.starts, view.frame) - 1
        if base < 0:
            return window
        if base != self.steps.base or self.steps.path is not rows.path:
            before = self.steps
            if before.path is not rows.path:
                before, self._aside = Footsteps(rows.path), [None] * len(self.legs)
            self.steps = self._planner.planned(gait, rows.path, before, base, view)
        return self._laid(window, gait, view)

    def _gait_of_rows(self) -> Gait:
        rows, actor = self._rows, self._actor
        if self._gait is None or self._gait[0] is not rows.path:
            found = gait_of(actor.stage.model, actor.character, rows, self.legs)
            self._gait = rows.path, found
        return self._gait[1]

    def _view(self) -> MotionView:
        """Return where the body is in its motion."""
        actor, rows = self._actor, self._rows
        data, root = actor.stage.data, actor.character.root
        assert root is not None  # only free characters are taken on
        frame = int(np.clip((actor.stage.time - actor.started) * rows.fps, 0, len(rows.path) - 1))
        turn = data.qpos[root.qpos + 3 : root.qpos + 7]
        off = float(rotations.heading(turn) - rotations.heading(rows.turns[frame, 0]))
        spin = np.array([[math.cos(off), -math.sin(off)], [math.sin(off), math.cos(off)]])
        here, speed = data.qpos[root.qpos : root.qpos + 3].copy(), data.qvel[root.dof : root.dof + 2].copy()
        return MotionView(frame, rows.path[frame], here, spin, speed, rows.fps)

    def _laid(self, window: TargetWindow, gait: Gait, view: MotionView) -> TargetWindow:
        """Return the window with the steps laid over the ground."""
        rows = window.rows
        first = round((window.start - self._actor.started) * rows.fps)
        frames = first + np.arange(len(rows.turns), dtype=float)
        hips = self.steps.hips(gait, frames, rows.fps)
        matrices = rotations.to_matrix(rows.turns)
        own = matrices[:, 0]
        shifts = [self._shift(leg, gait, frames, view, rows.swing is not None) - hips for leg in range(len(self.legs))]
        if max(np.abs(shift).max() for shift in shifts) > 1e-4:
            down = self._down(shifts, gait, frames, matrices)
            hips[:, 2] -= down
            turns = rows.turns
            for number, shift in enumerate(shifts):
                shift[:, 2] += down
                turns = self._put(turns, number, shift, self.steps.tilt(gait, number, frames), own)
            rows = replace(rows, turns=turns)
        if np.abs(hips).max() > 0.0:
            rows = replace(rows, path=rows.path + hips)
        return replace(window, rows=rows)

    def _put(self, turns: Floats, leg: int, shift: Floats, tilt: Floats, root: Floats) -> Floats:
        """Return turns with a foot moved [m] and tilted [rad], (F, 3) each in the motion's world."""
        shift, tilt = (np.einsum("fji,fj->fi", root, value) for value in (shift, tilt))
        if np.abs(tilt).max() > 1e-4:
            turns, kept = self.legs[leg].tilted(turns, tilt)
            shift = shift + kept
        return self.legs[leg].lifted(turns, shift)

    def _shift(self, leg: int, gait: Gait, frames: Floats, view: MotionView, steered: bool) -> Floats:
        """Return how far a foot is put from where the clip has it over its ground [m], (F, 3)."""
        steps = self.steps
        shift = steps.track(gait, leg, frames, eased=True)
        shift[:, 2] += steps.lift(gait, leg, frames)
        known = steps.known(gait, leg)
        for one, two in zip(known, known[1:], strict=False):
            end, start = gait.falls[one].end, gait.falls[two].start
            if two in steps.anchors and end <= view.frame < start:
                self._aside[leg] = end, start, self._missing(two, gait, view, steered)
        if (last := self._aside[leg]) is None:
            return shift
        up, down, aside = last
        share = np.clip((frames - up) / max(0.3 * (down - up), 1.0), 0.0, 1.0)
        share = share * np.clip(1.0 - (frames - down) / (GIVE_BACK * view.fps), 0.0, 1.0)
        return np.asarray(shift + share[:, None] * aside)

    def _missing(self, number: int, gait: Gait, view: MotionView, steered: bool) -> Floats:
        """Return how far a swinging foot would land from where it should [m], (3,)."""
        steps, hips = self.steps, self.steps.hips_at(gait, view)
        lands = view.world(gait.falls[number].place + steps.shifts[number] - hips)
        off = steps.anchors[number] - lands
        lost = view.place + hips - view.here
        if steered:  # a part of it is done by turning the leg
            size = float(np.linalg.norm(lost[:2]))
            off = off - lost[:2] * min(1.0, SHIFT / max(size, 1e-9))
        off = off * min(1.0, AIM / max(float(np.linalg.norm(off)), 1e-9))
        return np.array([*(view.spin.T @ off), float(np.clip(lost[2], -0.5 * SAG, SAG))])

    def _down(self, shifts: list[Floats], gait: Gait, frames: Floats, matrices: Floats) -> Floats:
        """Return how far the hips go down for all feet to reach the ground [m], (F,)."""
        down = np.zeros(len(frames))
        for number, (leg, shift) in enumerate(zip(self.legs, shifts, strict=True)):
            joints = leg.joints(matrices)
            way = np.einsum("fij,fj->fi", matrices[:, 0], joints[:, -1] - joints[:, -3])
            whole = sum(float(np.linalg.norm(offset)) for offset in leg.offsets[-2:])
            longest = np.maximum(REACH * whole, np.linalg.norm(way, axis=1))
            to = way + shift
            height = np.sqrt(np.maximum(longest**2 - (to[:, :2] ** 2).sum(axis=1), 0.0))
            down = np.maximum(down, self._weight(number, gait, frames) * np.maximum(-to[:, 2] - height, 0.0))
        return down

    def _weight(self, leg: int, gait: Gait, frames: Floats) -> Floats:
        """Return whether a foot stands, or is about to, 0 to 1, (F,)."""
        weight = np.zeros(len(frames))
        for number in self.steps.known(gait, leg):
            fall = gait.falls[number]
            early = 1.0 - np.clip((fall.start - frames) / (LANDING * self._rows.fps), 0.0, 1.0)
            weight = np.maximum(weight, np.where(frames < fall.end, early, 0.0))
        return weight

    def save(self) -> Any:
        """Return what must survive a restore; plans are never changed."""
        return self.steps, list(self._aside)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.steps, aside = state
        self._aside = list(aside)


def shape_targets(actor: BodyActor, *, feet: bool | None = None, absolute: bool = False) -> None:
    """Shape what a body follows where the ground asks for it, or somebody.

    Args:
        actor: Who.
        feet: Whether its steps are laid over the ground; None: where that is uneven.
        absolute: Whether it keeps the clip's directions in the world, however its root is turned.
    """
    shapes: list[TargetShape] = []
    if feet or (feet is None and not Ground(actor.stage).flat):
        shapes.append(Feet(actor))
    if absolute:
        shapes.append(AbsoluteTargets(actor))
    if shapes:
        Shaper(actor, shapes)
