"""The body of one character: the one machine that follows clips by forces, or is where data says.

Under forces it is told `follow` (a motion), `aim` (a pose), `strength` and `stun` (how hard), `lean` (how its root is
helped) and `go_limp`; as data, `play`; and `keep_on` goes on by forces with what was played. What it is told holds
until it is told something else: the compiled loop carries it out at every physics step.

Whoever drives a character, from a script, a supervisor or a program, drives this one: `actor_of` returns it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.control.servo.law import RootSpring, ServoSettings, part_of, stun_share
from stunt.control.servo.memory import ROOT, ServoTargets, let_soles_count
from stunt.drive.body.collision_masks import Pushes
from stunt.drive.body.followed import Followed, followed_at
from stunt.drive.body.repertoire import DENSE, Repertoire
from stunt.drive.body.servo_body import ServoBody
from stunt.drive.feet.blend import blend_into
from stunt.drive.motion.body_motion import BodyMotion, blended
from stunt.drive.motion.layout import check_motion
from stunt.drive.motion.playing import NOWHERE, Place, Playing, eased_in, moved_rows, place_between, repeated_row
from stunt.drive.prepare.first_velocity import first_velocity
from stunt.drive.response.yielding import Yielding
from stunt.errors import BodyError, StuntError, announced, must_be
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop
from stunt.stage.schedule import Crew

if TYPE_CHECKING:
    from stunt.drive.own.feasible import Reference
    from stunt.drive.own.follower import OwnFeet
    from stunt.stage.shock import Shock

AIM_FPS: Final = 60.0
GAVE_UP: Final = "gave up"
GIVING: Final = "giving"
"""It gives way to a blow while it follows: no state it is in from now on."""
SHAKEN, OUT = "shaken", "unconscious"
"""The ground has struck it: it is weaker for a while, or lies there. Neither says what it does."""
_PASSING = (GIVING, SHAKEN, OUT)
TWIN: Final = 0.75
"""Seconds of what was played that are taken along at a time: about as long as they are followed."""
PART: Final = 0.015
"""How far a joint may turn in one part of the step in which forces take over [rad]: the engine's step takes inertia for
constant, and loses momentum by the square of that."""
MOST_PARTS: Final = 16


class BodyActor(ServoBody):
    """One character's body on the stage, and what it may be told.

    Attributes:
        motions: Those it knows.
        kinematic: Whether it is where it was told to be, instead of where forces take it.
        firm: With how many times its inertia it pushes what is in its way while it is kinematic.
        motion: What it plays or follows; None after `go_limp`.
        started: When the motion's first frame was, or would have been [s].
        playing: What it plays, blends included, and where; None under forces.
        rows: What it follows, as the servo reads it; None while kinematic or limp.
        kept: What it played until forces took over, while they follow it.
        history: What it followed so far.
        log: How it answered hits, as events of the take.
        driver: The supervisor in charge of it; None: whoever tells it something.
        by_forces: Whether forces follow what it is told to play, from the first frame on.
        low: Whether who drives it means it to crouch, roll or lie.
    """

    @announced
    def __init__(
        self, stage: StageLoop, name: str, *, settings: ServoSettings | None = None, root: RootSpring | None = None
    ) -> None:
        """Take a body on.

        Args:
            stage: Where it is.
            name: Who.
            settings: How it follows.
            root: How its root is helped.

        Raises:
            StuntError: It was taken on before: one body has one actor.
        """
        super().__init__(stage, name, settings=settings, root=root)
        if name in stage.actors:
            raise StuntError(f"'{name}' has an actor already, and a body has one; `actor_of(stage, '{name}')` is it.")
        self.motions = Repertoire(self)
        self.kinematic, self.firm = False, 1.0
        self.motion: BodyMotion | None = None
        self.started = stage.time
        self.rows: ServoTargets | None = None
        self.playing: Playing | None = None
        self.kept: Playing | None = None
        self.history: list[Followed] = []
        self.log: list[dict[str, Any]] = []
        self.driver: Any = None
        self.low = self.by_forces = False
        self._attended: list[Crew] = []
        self._dazes: tuple[tuple[float, ...], ...] = ()
        self._own: OwnFeet | None = None
        self._gave_up = ""
        self.on_give_up: Callable[[], None] | None = None
        stage.actors[name] = self
        stage.keep(self)
        self.yielding = Yielding(self)
        stage.crew.append(self.yielding)

    def configure(self, settings: ServoSettings | None = None, root: RootSpring | None = None) -> None:
        """Change how it follows, and how its root is helped, from now on; None: as it is."""
        if settings is not None and settings != self.settings:
            self.motions.forget_targets()
        super().configure(settings, root)

    # ---- how awake

    def daze(self, low: float, *, down: float, hold: float, up: float) -> None:
        """Lose strength as by a stun, whatever it does: a posture is held more weakly, too."""
        self.stun(low, down=down, hold=hold, up=up)
        now = self.stage.time
        self._dazes = (*(one for one in self._dazes if stun_share(now - one[0], *one[1:]) < 1.0),
                       (now, 1.0, low, down, hold, up))  # fmt: skip

    @property
    def awake(self) -> float:
        """Which share of its strength impacts with the ground have left it now."""
        now = self.stage.time
        return min((stun_share(now - one[0], *one[1:]) for one in self._dazes), default=1.0)

    @property
    def lands_on_trunk(self) -> bool:
        """Whether its trunk or head touches anything but itself now."""
        data, bodies = self.stage.data, self.stage.model.geom_bodyid
        own = set(self.character.bodies.values())
        trunk = {body for name, body in self.character.bodies.items() if part_of(name) == "trunk"}
        pairs = bodies[data.contact.geom[: data.ncon]]
        return any((a in trunk and b not in own) or (b in trunk and a not in own) for a, b in pairs.tolist())

    # ---- on its own feet

    @property
    def own(self) -> OwnFeet:
        """It on its own feet, made when first asked for.

        Raises:
            StuntError: It cannot go on its own feet.
        """
        if self._own is None:
            from stunt.drive.own.follower import OwnFeet

            let_soles_count(self.stage.model, self.soles)
            self._own = OwnFeet(self.stage, self.character, self.soles, self.give_up)
            if "program" in self.__dict__:
                self._own.stiffen(self.program.usual)
        return self._own

    def stiffen(self, share: Mapping[str, float]) -> None:
        """Scale the gains of joints, on its own feet too."""
        super().stiffen(share)
        if self._own is not None:
            self._own.stiffen(self.program.usual)

    @property
    def on_own_feet(self) -> bool:
        """Whether contacts and its joints alone move it."""
        return self._own is not None and self._own.active

    @property
    def broken_for(self) -> float:
        """How long the root spring has been broken [s]; infinitely long where it gave up on its own feet."""
        return math.inf if self._gave_up else super().broken_for

    @property
    def limit_use(self) -> dict[str, float]:
        """How joints kept to their strength (see `ServoBody.limit_use`), on its own feet if it ever was."""
        return super().limit_use if self._own is None else self._own.limit_use

    def own_summary(self) -> dict[str, float]:
        """Return what going on its own feet took (see `OwnFeet.summary`); nothing of who never did."""
        return self._own.summary() if self._own is not None else {}

    def goes_on_feet(self, motion: BodyMotion) -> bool:
        """Whether it is to follow a motion on its own feet.

        Raises:
            BodyError: It was told to, and cannot: no two feet, no strength for it, soles that slide.
        """
        kind = (self._leaning or self.root).kind
        if kind == "own":
            if why := self.motions.refusal_of(motion, self.floor):
                raise BodyError(
                    f"'{self.character.name}' cannot do '{motion.name}' on its own feet: {why}. Give it more, or "
                    "hold it with `assist: weak`."
                )
            return True
        if kind != "auto":
            return False
        why = self.motions.doubt_about(motion, self.floor)
        entry = {
            "kind": "assist", "time": self.stage.time, "character": self.character.name, "clip": motion.name,
            "assist": "weak" if why else "own", "why": why or "strength, friction and rehearsals say it holds",
        }  # fmt: skip
        if entry not in self.log[-1:]:
            self.log.append(entry)
        return not why

    @cached_property
    def pushes(self) -> Pushes:
        """Whom it pushes while it is kinematic."""
        return Pushes(self.stage, self.character)

    def prepare(self, motion: BodyMotion) -> None:
        """Work out beforehand what playing a motion, and going on with it by forces, will take."""
        self.motions.dense_of(motion)

    def warm_up(self) -> None:
        """Load what is compiled now, so that nothing stops for it when the first ball hits."""
        still = np.concatenate([self.here, np.zeros(self.layout.nv)])
        frames = np.repeat(still[None], 3, axis=0)
        self.motions.lifted(self.layout.dense(frames, AIM_FPS, DENSE), AIM_FPS)
        blend_into(self.stage.model, self.character, self.layout, *self.state, frames, AIM_FPS, 0.05, wait=0.05)

    # ---- under forces

    def put(self, motion: BodyMotion) -> None:
        """Be in a motion's first frame at once, at the velocity it begins with."""
        stage = self.stage
        own, speeds = self.slices
        stage.data.qpos[own] = motion.qpos[0]
        speed = first_velocity(stage.model, stage.data.qpos, self.character, motion)
        stage.data.qvel[speeds] = speed[speeds]
        mujoco.mj_forward(stage.model, stage.data)
        self.program.settle(self.number, self.settings, self.root)  # the body is weighed in the pose it has

    def begin(self, motion: BodyMotion) -> None:
        """Be in a motion's first frame at once, and follow it, where it lies on the stage."""
        if self.goes_on_feet(motion):
            reference = self.motions.reference_of(motion, self.floor)
            self.put(reference.motion)
            self.stage.data.qvel[self.slices[1]] = reference.velocity[0]
            mujoco.mj_forward(self.stage.model, self.stage.data)
        else:
            self.put(motion)
        self.follow(motion, blend=0.0, place=False)

    def follow(
        self, motion: BodyMotion, *, since: float = 0.0, blend: float = 0.3, place: bool = True, actual: bool = False
    ) -> None:
        """Follow a motion by the servo.

        Args:
            motion: What to follow.
            since: Where in it to begin [s].
            blend: How long going over to it takes [s]; feet that have far to go step.
            place: Whether to move it to where the character is and faces.
            actual: Whether to blend from the pose the body has, not from what it followed.
        """
        if self.goes_on_feet(motion):
            self._follow_own(motion, since, place)
            return
        rows, at = self.motions.targets_of(motion), NOWHERE
        first = min(max(round(since * rows.fps), 0), len(rows.turns) - 1)
        if place:
            at = place_between(np.concatenate([rows.path[first], rows.turns[first, 0]]), self.here)
        if blend > 0.0:
            before, leaving = self._before(actual, blend), self._sets_out(actual)
            rows = self.motions.rows_into(motion, first, at, blend, before=before, leaving=leaving, shift=place)
        elif place:
            rows = moved_rows(rows, at)
        self.take(motion, rows, self.stage.time - first / rows.fps, clip=True)

    def _follow_own(self, motion: BodyMotion, since: float, place: bool) -> None:
        """Follow a motion on its own feet, from the state it is in."""
        reference = self.motions.reference_of(motion, self.floor if not place else 0.0)
        frame = min(max(round(since * reference.motion.fps), 0), len(reference.motion.qpos) - 1)
        if place:
            at = place_between(reference.motion.qpos[frame, :7], self.here)
            reference = reference.moved(at, self.floor)
        rows = self.motions.lifted(self.layout.frames(reference.motion), reference.motion.fps)
        self.take(motion, rows, self.stage.time - since, clip=True, own=reference)

    def give_up(self, why: str) -> None:
        """Stop balancing: what comes is a fall, which is for who is in charge of the body."""
        self.note(GAVE_UP, why=why)
        self._gave_up = why
        if self.rows is not None:
            self.program.aim(self.number, self.rows, self.started)
        self.own.release()
        if self.on_give_up is not None:
            self.on_give_up()
        if self.driver is not None:
            self.driver.wake()

    def hold_root(self, root: RootSpring) -> None:
        """Have its root held where it is, its joints left to those who have them."""
        laws = self.stage.board.law.copy()
        self.configure(root=root)
        self.program.settle(self.number, self.settings, root)
        self.stage.board.law[:] = laws
        self.program.hold_root(self.number, self._pose_rows(), self.stage.time)

    def lead_root(self, motion: BodyMotion) -> None:
        """Have its root held where a motion that begins now has it."""
        rows = self.motions.lifted(self.layout.frames(motion), motion.fps)
        self.program.hold_root(self.number, rows, self.stage.time)

    @property
    def holds_root(self) -> bool:
        """Whether its root is held while others drive its joints."""
        return self.joined and bool(self._memory["active"]) and bool(self._memory["mode"] == ROOT)

    @property
    def floor(self) -> float:
        """Height of the floor its motions stand on [m]: a character may be put on something."""
        spec = self.stage.scene.characters.get(self.character.name)
        return float(spec.at[2]) if spec is not None else 0.0

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
        one = self.motions.lifted(np.concatenate([whole, np.zeros(self.layout.nv)])[None], AIM_FPS)
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
        pose = self.here.copy()
        if self.rows is not None:
            frame = round((self.stage.time - self.started) * self.rows.fps)
            pose[7:] = self.rows.qpos[min(max(frame, 0), len(self.rows.qpos) - 1)]
        return pose

    def respond(self, delta: float, shock: Shock | None = None) -> None:
        """Give way to a blow, and be back in the clip `delta` seconds from now (the δ-response).

        Where no blow is named, and under the servo `beat`, the target sets out from the pose the blow left.
        """
        if self.rows is None or self.on_own_feet:
            return
        if shock is not None:
            self.note(GIVING, body=shock.body, by=shock.by, delta=delta)
        if shock is not None and self.yielding.give_way(delta, shock):
            return
        first = min(round((self.stage.time - self.started) * self.rows.fps), len(self.rows.turns) - 1)
        rest = replace(self.rows, turns=self.rows.turns[first:], asked=None, torque=None)
        turns = self.rows.turns.copy()
        turns[first:] = blended(self.stage.model, self._pose_rows(), 0.0, rest, delta).turns
        self.change_rows(replace(self.rows, turns=turns))

    def go_limp(self) -> None:
        """Become a rag doll."""
        self.become(kinematic=False)
        self._leave_own_feet()
        self.program.release(self.number)
        self.motion = self.rows = self.playing = self.kept = None
        self._follows_now(None, None)

    def take(
        self,
        motion: BodyMotion,
        rows: ServoTargets,
        started: float,
        *,
        clip: bool = False,
        own: Reference | None = None,
    ) -> None:
        """Follow rows by forces from a time on [s].

        Args:
            motion: What they are of.
            rows: What to follow.
            started: When their first one was, or would have been [s].
            clip: Whether they are a motion's, and count as following it.
            own: The same as a body on its own feet follows it; None: by the servo.
        """
        self.become(kinematic=False)
        self.motion, self.rows, self.started, self.playing, self.kept = motion, rows, started, None, None
        self._gave_up = ""
        self._follows_now(motion if clip else None, rows if clip else None)
        if own is not None:
            self.program.release(self.number)
            free = (self._leaning or self.root).clock == "free"
            self.own.follow(own, self.stage.time - started, floor=self.floor, free_clock=free)
            return
        self._leave_own_feet()
        if self._memory["mode"] == ROOT:
            self.program.settle(self.number, self.settings, self.root)
        self.program.aim(self.number, rows, started)

    def _leave_own_feet(self) -> None:
        if self._own is not None:
            self._own.release()

    def change_rows(self, rows: ServoTargets) -> None:
        """Follow other rows of the same motion."""
        if self.on_own_feet:
            return  # its feet carry it: a changed posture would not
        self.rows = rows
        self.program.aim(self.number, rows, self.started)

    def lay_anew(self, by: Place) -> None:
        """Lay what it follows elsewhere over the ground, as where forces have taken it; joints follow the same."""
        if self.rows is not None:
            self.change_rows(moved_rows(self.rows, by))

    def show_rows(self, rows: ServoTargets, start: float) -> None:
        """Hand the servo some rows, due from a time on [s], in place of those it has; what it follows is the same."""
        if self.on_own_feet:
            return
        self.program.aim(self.number, rows, start)

    # ---- as data

    def play(self, motion: BodyMotion, *, since: float = 0.0, blend: float = 0.5, place: bool = True) -> None:
        """Be where a motion says, at its velocities, and push what is in the way; or follow it (see `by_forces`).

        Args:
            motion: What to play.
            since: Where in it to begin [s].
            blend: How long going over to it from the present state takes [s]; 0: be there at once.
            place: Whether to move it to where the character is and faces.
        """
        track, first, data = self.motions.track_of(motion), frame_of(motion, since), self.stage.data
        at = track.place_at(first, self.here) if place else NOWHERE
        if blend > 0.0 and self.by_forces:
            self.follow(motion, since=first / motion.fps, blend=blend, place=place)
            return
        if blend > 0.0:
            lead, at = self.motions.frames_into(track, first, at, blend, shift=place)
        else:
            lead = track.laid(first, min(2, track.ahead(first)), at, opens=True)
            data.qpos[self.slices[0]] = lead[0, : self.layout.nq]
            data.qvel[self.slices[1]] = lead[0, self.layout.nq :]
        if self.by_forces:
            mujoco.mj_forward(self.stage.model, data)
            self.program.settle(self.number, self.settings, self.root)  # it is weighed in the pose it has
            self.follow(motion, since=first / motion.fps, blend=0.0, place=place)
            return
        self.become(kinematic=True)
        self.motion, self.started, self.rows = motion, self.stage.time - first / motion.fps, None
        self._follows_now(None, None)
        self.playing = Playing(track, lead, first, at, self.stage.time)
        self.program.play(self.number, self.playing.data, self.stage.time, self.firm)

    def keep_on(self) -> None:
        """Follow by forces what was played until now: the tracking twin. Position, velocity and momentum are kept.

        Takes some of it along; called again, the next part.
        """
        playing = self.playing or self.kept
        if playing is None or self.motion is None:
            return
        leaves, fps = self.kinematic, playing.track.fps
        first = playing.frame(self.stage.time)
        rows = self.motions.twin_rows(playing, self.motion, first, round(TWIN * fps), *self.placed)
        self.take(self.motion, eased_in(rows) if leaves else rows, playing.since + first / fps, clip=True)
        self.kept = playing
        if leaves and playing.since < self.stage.time:  # data has moved it, and not only been named
            self._leave_softly()

    def _leave_softly(self) -> None:
        """Take the first step under forces in small parts, if joints turn far within it."""
        fastest = float(np.abs(self.stage.data.qvel[self.slices[1]][6:]).max())
        self.stage.refine(min(max(math.ceil(fastest * self.stage.step_time / PART), 1), MOST_PARTS))

    def become(self, *, kinematic: bool) -> None:
        """Change between data and forces; state and velocity stay."""
        if kinematic == self.kinematic:
            return
        self.kinematic = kinematic
        self.pushes.set_kinematic(kinematic)
        if kinematic:
            self._leave_own_feet()
            self.program.release(self.number)
        else:
            self.program.leave_data(self.number, self.settings)
            self.stage.data.qfrc_applied[self.slices[1]] = 0.0
        self.program.owed[self.slices[1]] = 0.0

    def _before(self, actual: bool, seconds: float) -> tuple[ServoTargets, float]:
        """Return what to blend from over some seconds, and where in it [s]."""
        if self.playing is not None:
            first, fps, since = self.playing.frame(self.stage.time), self.playing.track.fps, self.playing.since
            frames = self.playing.frames(first, round(seconds * fps) + 2, *self.placed)
            return self.motions.lifted(frames, fps), self.stage.time - since - first / fps
        if actual or self.rows is None:
            return self._pose_rows(), 0.0
        return self.rows, self.elapsed

    def _pose_rows(self) -> ServoTargets:
        """Return the pose the body has, as rows of one frame."""
        return self.motions.lifted(np.concatenate([self.here, np.zeros(self.layout.nv)])[None], AIM_FPS)

    def _sets_out(self, actual: bool) -> tuple[Floats, Floats]:
        """Return the state a change of motion sets out from: its own, or with the joints it is told to have."""
        qpos, qvel = (value.copy() for value in self.state)
        if not actual and self.rows is not None:
            joints, last = self.rows.qpos, len(self.rows.qpos) - 1
            at = min(max(self.elapsed * self.rows.fps, 0.0), float(last))
            one, two = (np.concatenate([qpos[:7], joints[min(int(at) + k, last)]]) for k in (0, 1))
            change = self.layout.difference(two, one)
            qpos = self.layout.moved(one, (at - int(at)) * change)
        return qpos, qvel

    # ---- how it is

    @property
    def elapsed(self) -> float:
        """Where in its motion it is [s]."""
        return self.stage.time - self.started

    @property
    def left(self) -> float:
        """How much of what it plays or follows is still to come [s]."""
        if self.playing is not None:
            return self.playing.left(self.stage.time)
        return (len(self.rows.path) - 1) / self.rows.fps - self.elapsed if self.rows is not None else 0.0

    @property
    def follows(self) -> bool:
        """Whether it follows a clip by forces."""
        return bool(self.history) and self.history[-1].rows is not None

    @property
    def placed(self) -> tuple[int, Place]:
        """How many rounds of what it plays (or played last) have passed, and where the present one is placed."""
        who = self._memory
        x, y, turn = who["kin_at"].tolist()
        return int(who["kin_rounds"]), (x, y, turn)

    def wanted_at(self, time: float) -> Floats | None:
        """Return the pose of the clip it followed at a time [s], on its place, (nq,); None: it followed none."""
        entry = followed_at(self.history, time)
        if entry is None or (rows := entry.rows) is None:
            return None
        k = min(max(round(float(self.in_clip(np.array([time]), entry.since)[0]) * rows.fps), 0), len(rows.path) - 1)
        return np.concatenate([rows.path[k], rows.turns[k, 0], rows.qpos[k]])

    def expected_at(self, time: float) -> Floats | None:
        """Return where it will be at a time [s], if it goes on as it does, (nq,); None: nobody knows."""
        if self.playing is not None:
            at = self.playing.frame(time)
            return self.playing.frames(at, 1, *self.placed)[0, : self.layout.nq]
        now, then = self.wanted_at(self.stage.time), self.wanted_at(time)
        if now is None or then is None or not self.follows:
            return None
        then[:3] += self.here[:3] - now[:3]
        return then

    def in_clip(self, time: Floats, since: float) -> Floats:
        """Return where in a clip, followed since then, it was at times [s], (T,); on own feet clocks may give."""
        return self._own.when(time, time - since) if self._own is not None else time - since

    def summary(self, time: Floats, qpos: Floats) -> dict[str, Any]:
        """Return how well it followed, over a take's frames (see `stunt.drive.body.measures`)."""
        from stunt.drive.body.measures import measure

        return measure(self, time, qpos) if self.joined else {}

    def note(self, state: str, **about: Any) -> None:
        """Write down how it is from now on, as an event of the take."""
        entry = {"kind": "reaction", "time": self.stage.time, "character": self.character.name}
        self.log.append({**entry, "state": state, **about})

    @property
    def said(self) -> str:
        """How it last said that it is (see `note`); empty: it never did."""
        return next(
            (str(entry["state"]) for entry in reversed(self.log) if entry.get("state", GIVING) not in _PASSING), ""
        )

    def _follows_now(self, motion: BodyMotion | None, rows: ServoTargets | None) -> None:
        """Write down what it follows from now on; that it follows nothing, once."""
        if rows is not None or self.follows or not self.history:
            self.history.append(Followed(self.stage.time, self.started, motion, rows))
            for member in self._attended:
                self.stage.crew.announce(member)

    def attend(self, member: Crew) -> None:
        """Let somebody join the crew who is due only while it follows a clip."""
        self._attended.append(member)
        self.stage.crew.append(member)

    # ---- saving

    def save(self) -> Any:
        """Return everything that must survive a restore; motions and rows are never changed, so they are shared."""
        told = (
            self.kinematic, self.motion, self.started, self.rows, self.playing, self.kept, self._leaning, self.firm,
            self.settings, self.root, self.low, self.by_forces, self._gave_up, self._dazes,
        )  # fmt: skip
        pushes = self.pushes.save() if "pushes" in self.__dict__ else None
        program = self.program.save() if self._number == 0 else None  # one for all
        return self.joined, told, list(self.history), list(self.log), program, pushes

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        joined, told, history, log, program, pushes = state
        if "pushes" in self.__dict__:
            self.pushes.set_kinematic(False) if pushes is None else self.pushes.restore(pushes)
        (
            self.kinematic, self.motion, self.started, self.rows, self.playing, self.kept, self._leaning, self.firm,
            self.settings, self.root, self.low, self.by_forces, self._gave_up, self._dazes,
        ) = told  # fmt: skip
        self.history, self.log[:] = list(history), log
        if program is not None:
            self.program.restore(program)
        if self.joined and not joined:
            self.program.release(self.number)

    # ---- a change of cast

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast, with what it plays or follows."""
        old, before, pushed = self.__dict__.get("program"), self._number, self.__dict__.pop("pushes", None)
        if not self.known_anew():
            return False
        if old is not None and before >= 0:
            self._number = self.program.add(self.character, self.soles, self.settings, self._leaning or self.root)
            self.program.carry(old, self._number, before, by)
        if pushed is not None:
            self.pushes.set_kinematic(self.kinematic)
        return True


def frame_of(motion: BodyMotion, since: float) -> int:
    """Return the frame nearest to a time in a motion [s]; a looping one goes on past its end."""
    if motion.loop and motion.duration > 0.0:
        since %= motion.duration
    return min(max(round(since * motion.fps), 0), max(len(motion.qpos) - 2, 0))


def actor_of(
    stage: StageLoop, name: str, *, settings: ServoSettings | None = None, root: RootSpring | None = None
) -> BodyActor:
    """Return a character's one actor, made if there is none yet.

    Args:
        stage: Where it is.
        name: Who.
        settings: How it follows from now on; None: as it is.
        root: How its root is helped from now on; None: as it is.
    """
    must_be("the stage", stage, StageLoop)
    actor: BodyActor = stage.actors.get(name) or BodyActor(stage, name)
    if settings is not None or root is not None:
        actor.configure(settings, root)
    return actor


def follower_of(
    stage: StageLoop,
    name: str,
    motion: BodyMotion,
    *,
    settings: ServoSettings | None = None,
    root: RootSpring | None = None,
) -> BodyActor:
    """Return a character's actor (see `actor_of`), put into a motion's first frame and following it."""
    actor = actor_of(stage, name, settings=settings, root=root)
    actor.begin(motion)
    return actor
