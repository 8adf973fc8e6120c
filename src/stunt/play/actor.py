"""A character as a program directs it: one vocabulary for every way of moving, and the one way scripts start them.

Three families of verbs. Joints: `key` (poses on the beat), `tense` (poses held by tension), `path` (trajectories), and
`perform` (a whole part of one of these); they share a body, and whoever spoke last has a joint. The whole body:
`follow` (clips, by forces), `play` (a clip, as data), `aim` (a pose), `put`. And `supervise`: a pool of controllers
that decide among themselves. Whoever comes takes over: the whole body from the joints, joints from the whole body
(which holds still what nobody asks for), one driver of the whole body from another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np

from stunt.character.bodies import by_joint
from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.beats.check import matching_joints
from stunt.drive.beats.spec import Part
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import Thresholds
from stunt.drive.joints import JointDrivers
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.prepare.fit import fit_motion
from stunt.errors import BodyError, InvalidValueError, StuntError, UnknownNameError, must_be
from stunt.maths.rotations import Floats, heading
from stunt.motion.clips.clip import Clip
from stunt.motion.pose import Pose
from stunt.play.arguments import (
    Motion,
    checked,
    finite,
    joint_angles,
    listed,
    motion_of,
    need,
    number,
    numbers,
    positive,
    queued_clip,
)
from stunt.play.joint_actor import ASSISTS, JointActor
from stunt.play.whole_body import WholeBody
from stunt.record.take import Take
from stunt.stage.loop import StageLoop
from stunt.supervise.calls import check_pool
from stunt.supervise.contract import Controller
from stunt.supervise.data.clip import ClipController
from stunt.supervise.data.tracking import QueuedClip, by_forces
from stunt.supervise.hit_rules import Relation
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.registry import make_controller
from stunt.supervise.supervisor import Supervisor

if TYPE_CHECKING:
    from stunt.play.stage import Stage

SERVOS: Final = ("world", "parent", "parent_equal", "beat")
TARGETS: Final = ("egocentric", "absolute")
_PATIENT: Final = 0.1
"""Whoever puts a body somewhere again within this time [s] moves it, at that velocity; else it is put there at rest."""
UNHELD: Final = (
    "the external form turns the body from outside only as far as something holds the root; nothing does, so that its "
    "torques are internal. Hold the root (--assist weak or hook, `assist`), or leave `external` out."
)


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


class Actor(JointActor):
    """One character on a stage, and what it can be told.

    `stage.actor(name)` is the way to get one.
    """

    def __init__(self, stage: Stage, name: str) -> None:
        """Look somebody up; nothing drives it yet."""
        must_be("the stage", stage, StageLoop)
        super().__init__(stage, name)
        self._whole = WholeBody(stage, name, self.joints)
        self._put: tuple[float, Floats] | None = None

    # ---- the whole body

    def follow(
        self,
        clip: Motion | Sequence[Motion | QueuedClip],
        *,
        at: float | None = None,
        blend: float = 0.3,
        begin: float = 0.0,
        end: float | None = None,
        loop: bool | None = None,
        facing: float = 0.0,
        repeat: bool = False,
        toward: str | None = None,
        servo: str | None = None,
        settings: ServoSettings | None = None,
        root: RootSpring | None = None,
        assist: str | None = None,
        react: bool | Thresholds = True,
        get_up: Mapping[str, Motion] | None = None,
        targets: str = "egocentric",
        feet: bool | None = None,
        free_limbs: bool = True,
        joints: Sequence[str] | None = None,
    ) -> Supervisor | None:
        """Follow a clip by forces, or several one after another; another one takes over from them.

        At the beginning of a performance the body is put into the clip's first frame, where its `Body` stands; later it
        goes over to it from what it does. Who is down goes on with the last one it was told once it is up again.

        Args:
            clip: A clip, its name or file, or a motion of this body; or a list of these, or of `QueuedClip`, each with
                its own time and blend.
            at: From when on [s]; None is now.
            blend: How long going over to it takes [s].
            begin: Where in the clip to begin [s].
            end: Where to end [s]; None is its end.
            loop: Whether it goes on from its beginning; None: as the clip says.
            facing: How it is turned from where the body faces [rad].
            repeat: Whether a list begins again when it is over.
            toward: The character to turn to with every clip.
            servo: `world`, `parent`, `parent_equal` or `beat`; None: as before.
            settings: More of how the servo follows, from this clip on; None: as before.
            root: How its root is helped, from this clip on; None: as before.
            assist: What holds its root: `weak`, `hook`, `none`, `own` (its own feet) or `auto`; None: as `root` says.
            react: Whether hits make it give way, stun and fall, and from which forces on; of the first clip.
            get_up: Clips to get up by, lying on the `front` or the `back`; of the first clip.
            targets: `egocentric` or `absolute` (lifted from the actual root, or as the clip has them in the world); of
                the first clip, as are the next two.
            feet: Whether feet are lifted over uneven ground; None: where there is some.
            free_limbs: Whether limbs that are stuck are led out.
            joints: Which joints it has, by name or pattern; None: all. On own feet, where the others may be moved by
                `key`, `tense` and `path`.

        Returns:
            Its supervisor, whose pool the clips are in; None where it follows them later.
        """
        for what, name, known in (("servo", servo, SERVOS), ("targets", targets, TARGETS)):
            if name is not None and name not in known:
                raise UnknownNameError(what, str(name), known)
        for what, value, kind in (("settings", settings, ServoSettings), ("root", root, RootSpring)):
            if value is not None:
                checked(what, value, kind)
        if isinstance(react, Thresholds):
            checked("react", react, Thresholds)
        for what, flag in (("loop", loop), ("repeat", repeat), ("feet", feet), ("free_limbs", free_limbs)):
            if flag is not None:
                need(what, flag, bool, "True or False")
        if servo is not None:
            body = self._whole.taken_on
            before = body.settings if body is not None else ServoSettings()
            settings = replace(settings or before, servo=servo)  # type: ignore[arg-type]
        if assist is not None:
            if assist not in ASSISTS:
                raise UnknownNameError("assistance", str(assist), ASSISTS)
            taken_on = self._whole.taken_on
            root = replace(root or (taken_on.root if taken_on is not None else RootSpring()), kind=assist)  # type: ignore[arg-type]
        need("react", react, (bool, Thresholds), "True, False or stunt.Thresholds")
        number("blend", blend, 0.0)
        finite("facing", facing)
        if toward is not None:
            self.stage.character(need("toward", toward, str, "the name of a character"))
        self._need_free("follow")
        sides = need("get_up", get_up or {}, Mapping, "clips by side, {'front': …, 'back': …}")
        for side in sides:
            if side not in ("front", "back"):
                raise UnknownNameError("side to get up from", str(side), ("front", "back"))
        several = clip if isinstance(clip, Sequence) and not isinstance(clip, str) else [clip]
        queued = [queued_clip(self.character, each, begin, end, loop, blend, facing) for each in several]
        if not queued:
            raise InvalidValueError("clip", clip, "at least one clip")
        limits = (react if isinstance(react, Thresholds) else Thresholds()) if react else None
        rising = {side: motion_of(self.character, motion) for side, motion in sides.items()} if react else {}
        if settings is not None and settings.external and root is not None and root.kind == "none":
            self.stage.warnings.append(f"{self.name}: {UNHELD}")

        def go() -> Supervisor:
            return self._whole.follow(
                queued, settings=settings, root=root, react=limits, get_up=rising, repeat=repeat, toward=toward,
                feet=feet, absolute=targets == "absolute", free_limbs=free_limbs,
                joints=None if joints is None else self._named(joints),
            )  # fmt: skip

        if at is not None and self.stage.when(at) > self.stage.time + 1e-9:
            self.stage.at(at, go)
            return None
        return go()

    def play(self, clip: Motion, *, blend: float = 0.5, since: float = 0.0, loop: bool | None = None) -> None:
        """Play a clip as data: the body is where the clip has it, and pushes what is in its way.

        Args:
            clip: A clip, its name or file, or a motion of this body.
            blend: How long going over to it takes [s].
            since: Where in it to begin [s].
            loop: Whether it goes on from its beginning; None: as the clip says.
        """
        number("blend", blend, 0.0)
        number("since", since, 0.0)
        self._need_free("play")
        self._whole.play(self._played(clip, loop), since=since, blend=blend)

    def aim(self, pose: Pose | str | Mapping[str, Any] | Floats, *, over: float = 0.2) -> None:
        """Go to a pose and hold it; may be said anew at every tick.

        Args:
            pose: A pose or its name; angles by joint [rad]; or all own coordinates, (nq,), of a free body.
            over: How long going there takes [s].
        """
        positive("over", over)
        if isinstance(pose, (Pose, str)):
            pose = self.stage.pose(pose).angles
        need("pose", pose, (Mapping, np.ndarray, Sequence), "a Pose, its name, angles by joint, or all own coordinates")
        if isinstance(pose, Mapping):
            pose = joint_angles(self.character, pose)
        if self.character.root is not None:
            whole = pose if isinstance(pose, Mapping) else numbers("pose", pose, (self._whole.body.layout.nq,))
            self._whole.aim(whole, over=over)
            return
        if not isinstance(pose, Mapping):
            raise InvalidValueError("pose", type(pose).__name__, "a Pose or angles by joint: nothing moves the root")
        performer = self._by_joints("aim").hit_beats()
        performer.forget()
        performer.key(Pose("aim", dict(pose)), at=self.stage.time + over)

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
            frame = numbers("root", root, (3, 7))
            if len(frame) == 7:
                if not np.linalg.norm(frame[3:]) > 0.0:
                    raise InvalidValueError("root", root, "a position, then a quaternion wxyz that is not zero")
                frame[3:] /= np.linalg.norm(frame[3:])
            qpos[first.qpos : first.qpos + len(frame)] = frame
        told = joint_angles(self.character, self.stage.pose(pose).angles) if pose is not None else {}
        for name, angle in told.items():
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
        number("low", low, 0.0, 1.0)
        for what, value in (("down", down), ("hold", hold), ("up", up)):
            number(what, value, 0.0)
        if not self._whole.doing:
            raise StuntError(f"'{self.name}' cannot `stun` yet: it follows and plays nothing.")
        self.body.stun(low, down=down, hold=hold, up=up)
        if (supervisor := self.supervisor) is not None:
            supervisor.wake()

    def stiffen(self, gain: float | Mapping[str, float]) -> None:
        """Scale how stiffly it follows clips from now on, as a whole or by limb, joint and pattern: `{"r_arm": 0.1}`.

        Of joints on one bone the lowest counts; on own feet joints follow their posture so.

        Raises:
            StuntError: There is no such limb or joint, a gain is no number from 0.01 to 100, or it follows nothing yet.
        """
        if not self._whole.doing:
            raise StuntError(f"'{self.name}' cannot `stiffen` yet: it follows and plays nothing.")
        self.body.stiffen(by_joint("gain", gain, self.character.joints, self.name, least=0.01))

    def go_limp(self) -> None:
        """Become a rag doll; who follows clips and has some to get up by gets up again."""
        supervisor = self.supervisor
        dolls = [c.name for c in supervisor.pool.values() if isinstance(c, RagDoll)] if supervisor is not None else []
        if supervisor is not None and dolls:
            supervisor.request(dolls[0])
        elif self._whole.doing:
            self.body.go_limp()
        else:
            self.joints.forget()
            self._doing = ""

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
        relation: Relation | None = None,
        settings: ServoSettings | None = None,
        root: RootSpring | None = None,
        joints: Sequence[str] | None = None,
        forces: bool = False,
    ) -> Supervisor:
        """Let controllers decide among themselves who drives it. In mid-performance who can go on from here begins.

        Args:
            pool: Controllers, names of registered ones, and clips; by name, or in a list.
            safe: Last resort; None: a rag doll.
            hz: How often to look.
            relation: What counts as a hit; None: everything that moves.
            settings: How its body follows; None: as before.
            root: How its root is helped; None: as before.
            joints: Which joints they have, by name or pattern; None: all (see `follow`).
            forces: Whether what is data in the pool is followed by forces from first to last, and never played.

        Returns:
            The supervisor: `request`, `log`, `running`.
        """
        self._need_free("supervise")
        positive("hz", hz, "hertz")
        for what, value, kind in (("settings", settings, ServoSettings), ("root", root, RootSpring)):
            if value is not None:
                checked(what, value, kind)
        if relation is not None:
            need("relation", relation, Relation, "a stunt.Relation")
        if safe is not None:
            need("safe", safe, Controller, "a controller")
        entries = pool.items() if isinstance(pool, Mapping) else [("", entry) for entry in listed("pool", pool)]
        made = [self._controller(name, entry) for name, entry in entries]
        check_pool(self.name, made)
        return self._whole.supervise(
            by_forces(made) if forces else made, safe=safe, hz=hz, relation=relation, settings=settings, root=root,
            joints=None if joints is None else self._named(joints),
        )  # fmt: skip

    def _controller(self, name: str, entry: Any) -> Controller:
        if isinstance(entry, str) and not name:
            return make_controller(entry, self.stage, self.name)
        if isinstance(entry, (Clip, BodyMotion, str, Path)):
            motion = self._played(entry)
            return ClipController(name or motion.name, motion, self.stage, self.name)
        if isinstance(entry, Controller):
            if name:
                entry.name = name
            return entry
        raise InvalidValueError("pool", entry, "controllers, names of registered ones, or clips")

    def add(self, controller: Motion | Controller, name: str = "") -> None:
        """Let a controller, a registered one by its name, or a clip join the pool; it may bid at once.

        Raises:
            StuntError: There is no pool, or one of that name is in it.
        """
        self._asked("add").add(self._controller(name, controller))

    def remove(self, name: str) -> None:
        """Let a controller leave the pool; if it is in charge, it hands over.

        Raises:
            StuntError: There is no pool, none of that name, or it is the last resort.
        """
        self._asked("remove").remove(name)

    def request(self, name: str, *, at: float | None = None, patience: float = 2.0) -> None:
        """Ask for a controller of the pool; it takes over as soon as it can.

        Args:
            name: Which.
            at: When [s]; None is now.
            patience: After how long it is refused, and logged [s].
        """
        supervisor = self._asked("request")
        positive("patience", patience)
        if at is None:
            supervisor.request(name, patience=patience)
            return
        if name not in supervisor.pool:
            raise UnknownNameError(f"controller of '{self.name}'", str(name), supervisor.pool)
        self.stage.at(at, lambda: self._request_later(name, patience))

    def _request_later(self, name: str, patience: float) -> None:
        supervisor = self.supervisor
        if supervisor is not None and name in supervisor.pool:
            supervisor.request(name, patience=patience)
        elif supervisor is not None:
            supervisor.refuse(name, "it was taken out of the pool")

    def _asked(self, verb: str) -> Supervisor:
        if (supervisor := self.supervisor) is None:
            raise StuntError(f"'{self.name}' has no supervisor to {verb}; give it one with `supervise`.")
        return supervisor

    # ---- how it is

    @property
    def body(self) -> BodyActor:
        """Its body as controllers know it; the same one whoever drives it."""
        return self._whole.body

    @property
    def supervisor(self) -> Supervisor | None:
        """Who decides who drives it, where it follows clips or has a pool; None where nobody does."""
        return self._whole.supervisor

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
            data.subtree_com[body].copy(), angles, self._whole.doing or self._doing, self._whole.detail,
        )  # fmt: skip

    def summary(self, take: Take) -> dict[str, Any]:
        """Return how well it followed clips, over a take's frames; empty where it followed none."""
        return self._whole.summary(take.time, take.qpos)

    def logs(self) -> list[list[dict[str, Any]]]:
        """Return what happened to it but for beats, as lists of events of a take."""
        return [*self.joints.logs, *self._whole.logs]

    # ---- who drives it

    def _assist(self, root: RootSpring) -> None:
        self.joints.part = replace(self.joints.part, root=root)
        if self._whole.doing:
            self.body.configure(root=root)
        else:
            super()._assist(root)

    def _by_joints(self, verb: str) -> JointDrivers:
        """Return who drives its joints; whoever drove the whole body lets go."""
        self._whole.leave()
        return super()._by_joints(verb)

    def _named(self, patterns: Sequence[str]) -> list[str]:
        """Return the joints that names and patterns mean."""
        wanted = Part(joints=tuple(listed("joints", patterns)))
        return list(matching_joints(wanted, self.character))

    def _need_free(self, verb: str) -> None:
        if self.character.root is None:
            raise BodyError(f"'{self.name}' has a fixed root; to {verb} it needs a Body with root='free'.")

    def _played(self, clip: Any, loop: bool | None = None) -> BodyMotion:
        """Return what a program gives as a clip as this body plays it: fitted to it, out of the floor."""
        motion = motion_of(self.character, clip, loop=loop)
        return fit_motion(self.stage.model, self.character, motion, "out of the floor").motion
