"""A character as a program directs it: one vocabulary for every way of moving.

Three families of verbs. Joints: `key` (poses on the beat), `tense` (poses held by tension), `path` (trajectories); they
share a body, and whoever spoke last has a joint. The whole body: `follow` (a clip, by forces), `play` (a clip, as
data), `aim` (a pose), `put`. And `supervise`: a pool of controllers that decide among themselves. The whole body takes
over from the joints, and whoever follows or supervises from what was played or aimed at; what cannot be taken over is
refused in words. All of the second and third family tell the character's one `BodyActor` what to do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np

from stunt.control.servo.memory import ServoSettings
from stunt.control.servo.root_spring import RootSpring
from stunt.drive.beats.performer import BeatResult, Performer
from stunt.drive.beats.spec import MachineSpec, Part
from stunt.drive.beats.state_machine import StateMachine
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.body.over_ground import shape_targets
from stunt.drive.body.reactions import Thresholds
from stunt.drive.body.stuck import StuckLimbs
from stunt.drive.feet.plant import grounded
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.drive.paths.follower import Follower
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import TensionPart
from stunt.errors import BodyError, InvalidValueError, StuntError, UnknownNameError
from stunt.library.names import load_clip
from stunt.maths.rotations import Floats, heading
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.standing import feet_of, floor_height
from stunt.motion.pose import Pose
from stunt.motion.trajectory import Trajectory
from stunt.record.take import Take
from stunt.stage.scene import Placement
from stunt.supervise.contract import Controller
from stunt.supervise.data.clip import ClipController
from stunt.supervise.data.tracking import ClipQueue, QueuedClip, follow_clips, queue_of
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.registry import make_controller
from stunt.supervise.supervisor import Supervisor

if TYPE_CHECKING:
    from stunt.play.stage import Stage

SERVOS: Final = ("world", "parent", "parent_equal", "beat")
ASSISTS: Final = ("weak", "hook", "none", "own")
Motion = Clip | BodyMotion | str | Path
_PATIENT: Final = 0.1
"""Whoever puts a body somewhere again within this time [s] moves it, at that velocity; else it is put there at rest."""


@dataclass(frozen=True, eq=False)
class ActorState:
    """How a character is at a moment.

    Attributes:
        time: [s].
        position: Of its root [m], world, (3,).
        heading: Where it faces, about the vertical [rad].
        orientation: Of its root, wxyz, (4,).
        velocity: Of its root [m/s], (3,).
        center: Centre of mass [m], (3,).
        angles: By joint: angle [rad] or position [m]; a ball joint's as a quaternion, (4,).
        doing: Which verb drives it: `key`, `tense`, `path`, `follow`, `play`, `aim`, `supervise`; empty for none.
        detail: Of what: the clip's name, the controller in charge.
    """

    time: float
    position: Floats
    heading: float
    orientation: Floats
    velocity: Floats
    center: Floats
    angles: Mapping[str, Any]
    doing: str
    detail: str


class Actor:
    """One character on a stage, and what it can be told.

    Attributes:
        stage: Where it is.
        name: Who.
        character: Its joints, bodies and sites in the model.
    """

    def __init__(self, stage: Stage, name: str) -> None:
        """Look somebody up; nothing drives it yet. `stage.actor(name)` is the way to get one."""
        self.stage, self.name, self.character = stage, name, stage.character(name)
        self._part = Part()
        self._performer: Performer | None = None
        self._tension: TensionPerformer | None = None
        self._follower: Follower | None = None
        self._doing = ""
        self._put: tuple[float, Floats] | None = None

    # ---- joints

    def beats(self, **how: Any) -> None:
        """Say how beats are hit, before the first: `coupling`, `arrival`, `tension`, `ease`, `joints`, … of `Part`.

        Raises:
            StuntError: There is no such setting, or it comes too late.
        """
        known = ("coupling", "arrival", "tension", "ease", "joints", "gravity_compensation")
        for key in how:
            if key not in known:
                raise UnknownNameError("setting of beats", key, known)
        if self._performer is not None:
            raise StuntError(f"'{self.name}' hits beats already; say how before the first `key`.")
        self._part = replace(self._part, **how)

    def key(
        self,
        pose: Pose | str,
        *,
        at: float | None = None,
        after: float | None = None,
        hold: float | None = None,
        duration: float | None = None,
    ) -> None:
        """Be in a pose at a time.

        Args:
            pose: Any subset of the joints; or the name of one of the stage's poses.
            at: When [s]; must lie ahead.
            after: Instead: how long after the last beat asked for so far (or now).
            hold: Tension after it [s to come back].
            duration: Set out only so long before it [s].
        """
        wanted = self.stage.pose(pose)
        for what, value in (("at", at), ("after", after), ("hold", hold), ("duration", duration)):
            _check_number(what, value)
        self._joints("key").key(wanted, at=at, after=after, hold=hold, duration=duration)
        self._doing = "key"

    def perform(self, part: Part) -> None:
        """Play a part of beats: poses with times, repeated `cycle` times, then its state machine."""
        if not isinstance(part, Part):
            raise InvalidValueError("part", part, "a stunt.Part")
        if self._performer is not None:
            raise StuntError(f"'{self.name}' hits beats already; a part comes first, `key` adds to it.")
        self._part = part
        self._joints("perform")
        if part.machine is not None:
            self.run_machine(part.machine)
        self._doing = "key"

    def run_machine(self, machine: MachineSpec) -> None:
        """Go from pose to pose by a small state machine, from the last beat asked for so far on."""
        if not isinstance(machine, MachineSpec):
            raise InvalidValueError("machine", machine, "a stunt.MachineSpec")
        performer = self._joints("run_machine")
        self.stage.logs.append(StateMachine(performer, machine, start_at=performer.last_beat).log)
        self._doing = "key"

    def tense(
        self,
        pose: Pose | str | None = None,
        *,
        tension: Any = None,
        lasts: float = 0.5,
        at: float | None = None,
        joints: str = "all",
        **how: Any,
    ) -> None:
        """Move into a pose held by tension; without a pose change the tension of joints that are held.

        Args:
            pose: Any subset of the joints, or the name of one of the stage's poses.
            tension: A word, a level, `'40 N·m/rad'`, `'0.4 s'`; None keeps what they have.
            lasts: How long it takes [s].
            at: When it begins [s]; None is now.
            joints: Without a pose: which limb, joint or pattern.
            **how: Other fields of `TensionPose` (`curve`, `path`, `then`, …).
        """
        _check_number("lasts", lasts)
        performer = self._tense()
        if pose is None:
            if tension is None:
                raise InvalidValueError("tense", None, "told a pose, a tension, or both")
            performer.retense(tension, joints, lasts=lasts)
        else:
            start = None if at is None else self.stage._when(at)
            performer.play(self.stage.pose(pose), lasts=lasts, tension=tension, at=start, **how)
        self._doing = "tense"

    def path(
        self,
        what: str,
        trajectory: Trajectory | None = None,
        *,
        orientation: Trajectory | None = None,
        settling: float = 0.2,
        damping: float = 1.0,
        strength: float | None = None,
        bare: bool = False,
    ) -> None:
        """Put a joint on a trajectory, or pull a site along one like a marionette's string.

        Args:
            what: A hinge, a slide or a site.
            trajectory: Angle [rad] or position [m] over time; None only for a site that is just turned.
            orientation: How a site is turned, quaternions wxyz.
            settling: Settling time [s].
            damping: 1 without overshoot.
            strength: Largest force of a string [N].
            bare: Whether a joint goes by the law as printed, for comparison.
        """
        for given, path in (("trajectory", trajectory), ("orientation", orientation)):
            if path is not None and not isinstance(path, Trajectory):
                raise InvalidValueError(given, path, "a stunt.Trajectory")
        if what not in self.character.joints and what not in self.character.sites:
            raise UnknownNameError(
                f"joint or site of '{self.name}'", str(what), [*self.character.joints, *self.character.sites]
            )
        follower = self._paths()
        if what in self.character.joints:
            if trajectory is None:
                raise InvalidValueError("trajectory", None, f"one for joint '{what}'")
            follower.joint(what, trajectory, settling=settling, damping=damping, bare=bare)
        else:
            follower.site(what, trajectory, orientation, settling=settling, damping=damping, strength=strength)
        self._doing = "path"

    def let_go(self, what: str | None = None) -> None:
        """Take a joint or site off its trajectory; without a name forget all keys and let every joint swing."""
        if what is not None:
            self._paths().release(what)
        elif self._performer is not None:
            self._performer.release()

    # ---- the whole body

    def follow(
        self,
        clip: Motion,
        *,
        at: float | None = None,
        blend: float = 0.3,
        begin: float = 0.0,
        end: float | None = None,
        loop: bool | None = None,
        facing: float = 0.0,
        servo: str | None = None,
        settings: ServoSettings | None = None,
        root: RootSpring | None = None,
        assist: str | None = None,
        react: bool | Thresholds = True,
        get_up: Mapping[str, Motion] | None = None,
    ) -> None:
        """Follow a clip by forces; another one takes over from it.

        At the beginning of a performance the body is put into the clip's first frame, where its `Body` stands; later it
        goes over to it from what it does. Who is down goes on with the last one it was told once it is up again.

        Args:
            clip: A clip, its name or file, or a motion of this body.
            at: From when on [s]; None is now.
            blend: How long going over to it takes [s].
            begin: Where in the clip to begin [s].
            end: Where to end [s]; None is its end.
            loop: Whether it goes on from its beginning; None: as the clip says.
            facing: How it is turned from where the body faces [rad].
            servo: `world`, `parent`, `parent_equal` or `beat`; None: as before.
            settings: More of how the servo follows, from this clip on; None: as before.
            root: How its root is helped, from this clip on; None: as before.
            assist: What holds its root: `weak`, `hook`, `none` or `own` (its own feet); None: as `root` says.
            react: Whether hits make it give way, stun and fall, and from which forces on; of the first clip.
            get_up: Clips to get up by, lying on the `front` or the `back`; of the first clip.
        """
        if servo is not None:
            if servo not in SERVOS:
                raise UnknownNameError("servo", str(servo), SERVOS)
        for what, value, kind in (("settings", settings, ServoSettings), ("root", root, RootSpring)):
            if value is not None and not isinstance(value, kind):
                raise InvalidValueError(what, value, f"a stunt.{kind.__name__}")
        if servo is not None:
            before = self._driven.settings if self._driven is not None else ServoSettings()
            settings = replace(settings or before, servo=servo)  # type: ignore[arg-type]
        if assist is not None:
            if assist not in ASSISTS:
                raise UnknownNameError("assistance", str(assist), ASSISTS)
            held = self._driven.root if self._driven is not None else RootSpring()
            root = replace(root or held, kind=assist)  # type: ignore[arg-type]
        if not isinstance(react, (bool, Thresholds)):
            raise InvalidValueError("react", react, "True, False or stunt.Thresholds")
        _check_number("blend", blend, least=0.0)
        self._need_free("follow")
        self._not_supervised("follow")
        if isinstance(clip, (str, Path)):
            clip = load_clip(str(clip))
        floor = 0.0
        if self.stage.tick == 0 and isinstance(clip, Clip) and feet_of(clip.parts):
            floor = floor_height(clip, clip.parts)
        queued = QueuedClip(self._motion(clip, begin, end, loop), blend=blend, turned=facing)
        limits = (react if isinstance(react, Thresholds) else Thresholds()) if react else None
        rising = {side: self._motion(motion) for side, motion in (get_up or {}).items()} if react else {}

        def go() -> None:
            self._follow(queued, floor, settings, root, limits, rising)

        if at is not None and self.stage._when(at) > self.stage.time + 1e-9:
            self.stage.at(at, go)
        else:
            go()

    def _follow(
        self,
        clip: QueuedClip,
        floor: float,
        settings: ServoSettings | None,
        root: RootSpring | None,
        react: Thresholds | None,
        get_up: Mapping[str, BodyMotion],
    ) -> None:
        """Hand a clip to the queue that drives the body, or begin one with it; `floor`: on which it lay [m]."""
        self._not_supervised("follow")
        stage, queue, supervisor = self.stage, self._queue, self.supervisor
        if queue is not None and supervisor is not None:
            actor_of(stage, self.name, settings=settings, root=root)
            queue.go_over(clip, stage.time)
            supervisor.wake()
            return
        begins, spec = stage.tick == 0, stage.scene.characters[self.name]
        where, turned = (spec.at[0], spec.at[1]), spec.facing
        if not begins:
            here = self.state
            where, turned = (float(here.position[0]), float(here.position[1])), here.heading
        first = clip.motion.placed(where, turned + clip.turned)
        first = first.raised(spec.at[2]) if spec.at[2] else first
        if begins:
            stage.placements[self.name] = Placement(_spot(clip.motion, floor), _spot(first, spec.at[2]))
        self._forget_joints()
        body = actor_of(stage, self.name, settings=settings, root=root)
        follow_clips(stage, self.name, [clip], first=first, put=begins, react=react, get_up=get_up)
        self._look_after(body)

    def _look_after(self, body: BodyActor) -> None:
        """Fit what the body follows to the ground, free limbs that are stuck, and let the take tell of it."""
        shape_targets(body)
        self.stage.logs += [body.log, StuckLimbs(body).log]

    def play(self, clip: Motion, *, blend: float = 0.5, since: float = 0.0, loop: bool | None = None) -> None:
        """Play a clip as data: the body is where the clip has it, and pushes what is in its way.

        Args:
            clip: A clip, its name or file, or a motion of this body.
            blend: How long going over to it takes [s].
            since: Where in it to begin [s].
            loop: Whether it goes on from its beginning; None: as the clip says.
        """
        _check_number("blend", blend, least=0.0)
        self._need_free("play")
        motion = self._motion(clip, loop=loop)
        held = self._taken_on("play")
        if self.stage.tick == 0:
            spec = self.stage.scene.characters[self.name]
            placed = motion.placed((spec.at[0], spec.at[1]), spec.facing).raised(spec.at[2])
            self._set(placed.qpos[0])
            held.play(placed, since=since, blend=0.05, place=False)
        else:
            held.play(motion, since=since, blend=blend)

    def aim(self, pose: Pose | str | Mapping[str, Any] | Floats, *, over: float = 0.2) -> None:
        """Go to a pose and hold it; may be said anew at every tick.

        Args:
            pose: A pose or its name; angles by joint [rad]; or all own coordinates, (nq,), of a free body.
            over: How long going there takes [s].
        """
        _check_number("over", over)
        if isinstance(pose, (Pose, str)):
            pose = self.stage.pose(pose).angles
        if not isinstance(pose, (Mapping, np.ndarray, Sequence)):
            raise InvalidValueError("pose", pose, "a Pose, its name, angles by joint, or all own coordinates")
        if isinstance(pose, Mapping):
            for joint in pose:
                self.character.joint(str(joint))
        by_joints = self.character.root is None or self._drives() in ("key", "tense", "path")
        if by_joints:
            if not isinstance(pose, Mapping):
                raise InvalidValueError(
                    "pose", type(pose).__name__, "a Pose or angles by joint: nothing moves the root"
                )
            performer = self._joints("aim")
            performer.forget()
            performer.key(Pose("aim", dict(pose)), at=self.stage.time + over)
            self._doing = self._doing or "aim"
        else:
            self._taken_on("aim").aim(pose if isinstance(pose, Mapping) else np.asarray(pose, float), over=over)

    def put(self, *, root: Sequence[float] | Floats | None = None, pose: Pose | str | None = None) -> None:
        """Be somewhere, or in a pose, at once; said again within 0.1 s, be moved there.

        Args:
            root: Where its root is [m], (3,), or position and orientation wxyz, (7,).
            pose: Any subset of the joints.
        """
        if root is None and pose is None:
            raise InvalidValueError("put", None, "told a root frame, a pose, or both")
        first = self.character.root
        qpos = self.stage.data.qpos.copy()
        if root is not None:
            if first is None:
                raise BodyError(f"'{self.name}' has a fixed root, which nothing moves; make it `root='free'`.")
            frame = _numbers("root", root, (3, 7))
            if len(frame) == 7:
                frame[3:] /= np.linalg.norm(frame[3:])
            qpos[first.qpos : first.qpos + len(frame)] = frame
        for name, angle in self.stage.pose(pose).angles.items() if pose is not None else ():
            joint = self.character.joint(name)
            qpos[joint.qpos : joint.qpos + joint.nq] = angle
        now, last = self.stage.time, self._put
        velocity = np.zeros(self.stage.model.nv)
        if last is not None and 0.0 < now - last[0] <= _PATIENT:
            mujoco.mj_differentiatePos(self.stage.model, velocity, now - last[0], last[1], qpos)
        mine = self._own_dofs(root is not None, pose)
        self.stage.data.qpos[:] = qpos
        self.stage.data.qvel[mine] = velocity[mine]
        mujoco.mj_forward(self.stage.model, self.stage.data)
        self._put = (now, qpos)

    def _own_dofs(self, root: bool, pose: Pose | str | None) -> list[int]:
        first = self.character.root
        found = list(range(first.dof, first.dof + 6)) if root and first is not None else []
        for name in self.stage.pose(pose).angles if pose is not None else ():
            joint = self.character.joints[name]
            found += range(joint.dof, joint.dof + joint.nv)
        return found

    def stun(self, low: float = 0.2, *, down: float = 0.05, hold: float = 0.3, up: float = 1.0) -> None:
        """Lose strength fast, to a share `low`, and get it back slowly [s]."""
        body = self._driven
        if body is None:
            raise StuntError(f"'{self.name}' cannot `stun` yet: it follows and plays nothing.")
        body.stun(low, down=down, hold=hold, up=up)
        if (supervisor := self.supervisor) is not None:
            supervisor.wake()

    def go_limp(self) -> None:
        """Become a rag doll; who follows clips and has some to get up by gets up again."""
        body, supervisor = self._driven, self.supervisor
        dolls = [c.name for c in supervisor.pool.values() if isinstance(c, RagDoll)] if supervisor is not None else []
        if body is None:
            self._forget_joints()
            if self._performer is not None:
                self._performer.release()
        elif supervisor is not None and dolls:
            supervisor.request(dolls[0])
        else:
            body.go_limp()

    def hit(
        self,
        body: str,
        *,
        impulse: Sequence[float] | None = None,
        force: Sequence[float] | None = None,
        at: float | None = None,
        duration: float = 0.02,
        point: Sequence[float] | None = None,
    ) -> None:
        """Hit one of its bodies; it is felt as what touches it is (see `Stage.push`)."""
        self.character.body(body) if body not in self.character.sites else None
        self.stage.push(f"{self.name}/{body}", at=at, impulse=impulse, force=force, duration=duration, point=point)

    # ---- a pool

    def supervise(
        self,
        pool: Mapping[str, Motion | Controller | str] | Sequence[Controller | str | Clip],
        *,
        safe: Controller | None = None,
        hz: float = 30.0,
        **how: Any,
    ) -> Supervisor:
        """Let controllers decide among themselves who drives it.

        Args:
            pool: Controllers, names of registered ones, and clips; by name, or in a list.
            safe: Last resort; None: a rag doll.
            hz: How often to look.
            **how: Other arguments of `Supervisor` (`relation`).

        Returns:
            The supervisor: `request`, `log`, `running`.
        """
        self._not_supervised("supervise")
        if self._queue is not None:
            raise StuntError(f"'{self.name}' follows a clip already; supervise it from the start, with that clip.")
        self._need_free("supervise")
        entries = pool.items() if isinstance(pool, Mapping) else [("", entry) for entry in _listed("pool", pool)]
        made = [self._controller(name, entry) for name, entry in entries]
        self._forget_joints()
        supervisor = Supervisor(self.stage, self.name, made, actor=self.body, safe=safe, hz=hz, **how)
        self.stage.logs.append(supervisor.log)
        self._look_after(self.body)
        return supervisor

    def _controller(self, name: str, entry: Any) -> Controller:
        if isinstance(entry, str) and not name:
            return make_controller(entry, self.stage, self.name)
        if isinstance(entry, (Clip, BodyMotion, str, Path)):
            motion = grounded(self.stage.model, self.character, self._motion(entry))
            return ClipController(name or motion.name, motion, self.stage, self.name)
        if isinstance(entry, Controller):
            if name:
                entry.name = name
            return entry
        raise InvalidValueError("pool", entry, "controllers, names of registered ones, or clips")

    def request(self, name: str, *, patience: float = 2.0) -> None:
        """Ask for a controller of the pool; it takes over as soon as it can."""
        if (supervisor := self.supervisor) is None:
            raise StuntError(f"'{self.name}' has no supervisor to ask; give it one with `supervise`.")
        supervisor.request(name, patience=patience)

    # ---- how it is

    @property
    def results(self) -> list[BeatResult]:
        """Beats that have fallen, and how they were met."""
        return self._performer.results if self._performer is not None else []

    @property
    def body(self) -> BodyActor:
        """Its body as controllers know it; the same one whoever drives it."""
        return actor_of(self.stage, self.name)

    @property
    def supervisor(self) -> Supervisor | None:
        """Who decides who drives it, where it follows clips or has a pool; None where nobody does."""
        known: BodyActor | None = self.stage.actors.get(self.name)
        return known.driver if known is not None else None

    @property
    def state(self) -> ActorState:
        """How it is now: copies, not views."""
        stage, body = self.stage, self.character.root_body
        data, speed = stage.data, np.zeros(6)
        mujoco.mj_objectVelocity(stage.model, data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
        angles: dict[str, Any] = {}
        for name, joint in self.character.joints.items():
            value = data.qpos[joint.qpos : joint.qpos + joint.nq].copy()
            angles[name] = float(value[0]) if joint.nq == 1 else value
        turn = data.xquat[body].copy()
        return ActorState(
            stage.time, data.xpos[body].copy(), float(heading(turn)), turn, speed[3:].copy(),
            data.subtree_com[body].copy(), angles, self._drives(), self._detail(),
        )  # fmt: skip

    def _drives(self) -> str:
        """Return which verb drives it now."""
        if (body := self._driven) is None:
            return self._doing
        if self.supervisor is not None:
            return "follow" if self._queue is not None else "supervise"
        if body.kinematic:
            return "play"
        return "follow" if body.follows else "aim" if body.rows is not None else ""

    def _detail(self) -> str:
        if (supervisor := self.supervisor) is not None and self._queue is None:
            return supervisor.running
        body = self._driven
        return body.motion.name if body is not None and body.motion is not None else ""

    def summary(self, take: Take) -> dict[str, Any]:
        """Return how well it followed clips, over a take's frames; empty where it followed none."""
        body = self._driven
        followed = body is not None and any(entry.rows is not None for entry in body.history)
        return body.summary(take.time, take.qpos) if body is not None and followed else {}

    def happened(self) -> list[dict[str, Any]]:
        """Return its beats so far, as events of a take."""
        return [{"kind": "beat", "character": self.name, **asdict(result)} for result in self.results]

    # ---- a change of cast

    def doing_now(self) -> dict[str, Any]:
        """Return what it is doing, so that it can go on with it on a stage built anew.

        Raises:
            StuntError: What it is doing cannot go on there.
        """
        body, supervisor = self._driven, self.supervisor
        for stops, what in (
            (self._tension is not None, "moves by tension"), (self._follower is not None, "is on trajectories"),
            (supervisor is not None and self._queue is None, "is driven by a supervisor"),
            (body is not None and body.kinematic, "is driven by data"),
        ):  # fmt: skip
            if stops:
                raise StuntError(f"the cast cannot change while '{self.name}' {what}.")
        found: dict[str, Any] = {}
        if self._performer is not None:
            found["beats"] = self._performer.part, self._performer.ahead(), self._performer.results
        if body is not None:
            found["body"] = body.taken_along()
        if supervisor is not None:
            found["follow"] = list(supervisor.pool.values()), supervisor.safe, supervisor.save()
            found["placement"] = self.stage.placements.get(self.name)
        return found

    def go_on(self, doing: Mapping[str, Any]) -> None:
        """Go on with what it was doing, on a stage that was built anew."""
        self.character = self.stage.character(self.name)
        self._performer = self._put = None
        if "beats" in doing:
            part, ahead, results = doing["beats"]
            self._part = replace(part, beats=(), cycle=1, machine=None)
            self._performer = Performer(self.stage, self.name, part=self._part)
            self._performer.results[:] = results
            for pose, time, hold, duration in ahead:
                self._performer.key(pose, at=time, hold=hold, duration=duration)
        if "body" in doing:
            self._forget_joints()
            self.body.go_on(doing["body"])
        if "follow" in doing:
            pool, safe, saved = doing["follow"]
            Supervisor(self.stage, self.name, pool, safe=safe, going_on=saved)
            self._look_after(self.body)
            if (placement := doing["placement"]) is not None:
                self.stage.placements[self.name] = placement

    # ---- who drives it

    def _joints(self, verb: str) -> Performer:
        """Return who hits its beats."""
        self._not_whole(verb)
        if self._performer is None:
            self._performer = Performer(self.stage, self.name, part=self._part)
        return self._performer

    def _tense(self) -> TensionPerformer:
        self._not_whole("tense")
        if self._tension is None:
            self._tension = TensionPerformer(self.stage, self.name, TensionPart())
            self.stage.logs.append(self._tension.log)
        return self._tension

    def _paths(self) -> Follower:
        self._not_whole("path")
        if self._follower is None:
            self._follower = Follower(self.stage, self.name)
            self.stage.logs.append(self._follower.log)
        return self._follower

    def _not_whole(self, verb: str) -> None:
        self._not_supervised(verb)
        if self._driven is not None:
            doing = self._drives() or "go_limp"
            raise StuntError(
                f"'{self.name}' is driven as a whole body (`{doing}`), so `{verb}` cannot have its joints."
            )

    def _not_supervised(self, verb: str) -> None:
        if self.supervisor is not None and self._queue is None:
            raise StuntError(
                f"'{self.name}' has a supervisor, which decides who drives it: instead of `{verb}` put a controller "
                "into its pool and `request` it."
            )

    def _need_free(self, verb: str) -> None:
        if self.character.root is None:
            raise BodyError(f"'{self.name}' has a fixed root; to {verb} it needs a Body with root='free'.")

    @property
    def _driven(self) -> BodyActor | None:
        """Its body, if somebody has told that anything as a whole."""
        known: BodyActor | None = self.stage.actors.get(self.name)
        return known if known is not None and known.joined else None

    @property
    def _queue(self) -> ClipQueue | None:
        """The clips it follows, if it does."""
        return queue_of(self.supervisor)

    def _taken_on(self, verb: str) -> BodyActor:
        """Return the body as one who is told poses and data."""
        self._not_supervised(verb)
        self._need_free(verb)
        if self._queue is not None:
            raise StuntError(f"'{self.name}' follows clips already, so it cannot `{verb}` besides.")
        self._forget_joints()
        return self.body

    def _forget_joints(self) -> None:
        """Let the whole body take over from whoever had its joints."""
        if self._driven is not None:
            return
        if self._performer is not None:
            self._performer.forget()
        if self._tension is not None or self._follower is not None:
            raise StuntError(f"'{self.name}' moves by tension or trajectories; no other driver can take over.")

    def _set(self, qpos: Floats) -> None:
        first = self.character.root
        assert first is not None  # whoever plays has a free root
        self.stage.data.qpos[first.qpos : first.qpos + len(qpos)] = qpos
        mujoco.mj_forward(self.stage.model, self.stage.data)

    def _motion(self, clip: Any, begin: float = 0.0, end: float | None = None, loop: bool | None = None) -> BodyMotion:
        """Return what a program gives as a clip as a motion of this body."""
        if isinstance(clip, (str, Path)):
            clip = load_clip(str(clip))
        if isinstance(clip, Clip):
            clip = motion_of_clip(clip, self.character)
        if not isinstance(clip, BodyMotion):
            raise InvalidValueError("clip", clip, "a Clip, the name or file of one, or a BodyMotion")
        if begin or end is not None:
            _check_number("begin", begin, least=0.0)
            _check_number("end", end)
            last = clip.duration if end is None else end
            if not begin < min(last, clip.duration):
                expected = f"before {last:g} s, where it ends, in clip '{clip.name}' of {clip.duration:.3f} s"
                raise InvalidValueError("begin", begin, expected)
            clip = clip.trimmed(begin, last)
        return clip if loop is None else replace(clip, loop=loop)


def _spot(motion: BodyMotion, floor: float) -> tuple[float, float, float, float]:
    x, y = motion.qpos[0, :2]
    return float(x), float(y), float(floor), float(heading(motion.qpos[0, 3:7]))


def _check_number(what: str, value: object, least: float | None = None) -> None:
    """Complain where something is given that is no finite number, or not above 0 (or not at least `least`)."""
    if value is None:
        return
    number = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    if not number or (float(value) < least if least is not None else float(value) <= 0.0):  # type: ignore[arg-type]
        expected = "a positive number" if least is None else f"a number of at least {least:g}"
        raise InvalidValueError(what, value, expected)


def _numbers(what: str, value: Any, sizes: tuple[int, ...]) -> Floats:
    try:
        found = np.array(value, float).ravel()
    except (TypeError, ValueError):
        found = np.zeros(0)
    if len(found) not in sizes or not np.isfinite(found).all():
        raise InvalidValueError(what, value, f"{' or '.join(map(str, sizes))} finite numbers")
    return found


def _listed(what: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise InvalidValueError(what, value, "a list, or a mapping by name")
    return list(value)
