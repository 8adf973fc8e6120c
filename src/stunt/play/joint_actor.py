"""A character's joints as a program directs them: poses on the beat, poses held by tension, trajectories.

They share a body, and whoever spoke last has a joint. Who moves the body as a whole is `Actor`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, Final

from stunt.character.bodies import by_joint
from stunt.character.character import Character
from stunt.control.servo.law import RootSpring
from stunt.control.tension.units import tension_of
from stunt.drive.beats.performer import BeatResult
from stunt.drive.beats.spec import MachineSpec, Part
from stunt.drive.joints import JointDrivers
from stunt.drive.paths.follower import ROOT, check_damping, check_joint, check_settling, check_site, site_of
from stunt.drive.paths.laid_out import placed
from stunt.drive.paths.spec import SitePath, TrajectoryPart
from stunt.drive.tension.spec import ByJoint, TensionPart
from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.motion.pose import Pose
from stunt.motion.trajectory import Trajectory
from stunt.play.arguments import check_told_pose, checked, need, positive, setting, tension_setting

if TYPE_CHECKING:
    from stunt.play.stage import Stage

BEATS: Final = ("coupling", "arrival", "tension", "give", "ease", "joints", "gravity_compensation")
ASSISTS: Final = ("weak", "hook", "none", "own", "auto")
Parts = Part | TensionPart | TrajectoryPart


class JointActor:
    """One character on a stage, and what its joints can be told.

    Attributes:
        stage: Where it is.
        name: Who.
        joints: Who drives its joints: who hits beats, holds by tension and leads along trajectories.
    """

    def __init__(self, stage: Stage, name: str) -> None:
        """Look somebody up; nothing drives it yet."""
        self.stage, self.name = stage, name
        self.joints = JointDrivers(stage, name)
        self._doing = ""

    @property
    def character(self) -> Character:
        """Its joints, bodies and sites in the model.

        Raises:
            UnknownNameError: It has left the stage.
        """
        return self.stage.character(self.name)

    def beats(self, **how: Any) -> None:
        """Say how beats are hit, before the first: `coupling`, `arrival`, `tension`, `ease`, `joints`, … of `Part`.

        Raises:
            StuntError: There is no such setting, or it comes too late.
        """
        for name, value in how.items():
            if name not in BEATS:
                raise UnknownNameError("setting of beats", name, BEATS)
            how[name] = value if name == "joints" and value is None else setting(Part, name, value)
        if self.joints.performer is not None:
            raise StuntError(f"'{self.name}' hits beats already; say how before the first `key`.")
        self.joints.part = replace(self.joints.part, **how)

    def assist(self, kind: str, **how: Any) -> None:
        """Say what keeps its body upright, from now on, whatever moves it.

        Args:
            kind: `own` (its own feet), `weak` (a spring on its root), `hook`, `none`, or `auto`: own feet where they
                will hold, else the spring.
            **how: Other keys of `RootSpring`: `limit`, `breaks`, `air`, `yaw`, `force`, `clock`.

        Raises:
            StuntError: There is no such kind or key; its root is fixed; or it cannot stand on its own feet.
        """
        if kind not in ASSISTS:
            raise UnknownNameError("assistance", str(kind), ASSISTS)
        known = [field.name for field in fields(RootSpring) if field.name not in ("kind", "omega")]
        for name in how:
            if name not in known:
                raise UnknownNameError("setting of assistance", name, known)
        self._assist(checked("assist", RootSpring(kind=kind, **how), RootSpring))  # type: ignore[arg-type]

    def _assist(self, root: RootSpring) -> None:
        self.joints.keep_upright(root)

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
            if value is not None:
                positive(what, value)
        check_told_pose(self.character, wanted)
        if (at is None) == (after is None) or (at is not None and at <= self.stage.time):
            expected = f"exactly one of at and after, later than now ({self.stage.time:.6g} s)"
            raise InvalidValueError("the time of a key", (at, after), expected, wanted.place)
        self._by_joints("key").hit_beats().key(wanted, at=at, after=after, hold=hold, duration=duration)

    def perform(self, part: Parts) -> None:
        """Play a part: of beats (poses with times, `cycle` times, then its state machine), tension or trajectories."""
        need("part", part, (Part, TensionPart, TrajectoryPart), "a stunt.Part, TensionPart or TrajectoryPart")
        joints = self.joints
        if isinstance(part, TensionPart):
            if joints.tension is not None:
                raise StuntError(f"'{self.name}' moves by tension already; a part comes first, `tense` adds to it.")
            self.stage.warnings += self._by_joints("tense").hold_part(part)
        elif isinstance(part, TrajectoryPart):
            self.stage.warnings += self._by_joints("path").lead(part).told
        else:
            if joints.performer is not None:
                raise StuntError(f"'{self.name}' hits beats already; a part comes first, `key` adds to it.")
            joints.part = part
            self._by_joints("key").hit_beats()
            if part.machine is not None:
                joints.run(part.machine)

    def run_machine(self, machine: MachineSpec) -> None:
        """Go from pose to pose by a small state machine, from the last beat asked for so far on."""
        need("machine", machine, MachineSpec, "a stunt.MachineSpec")
        self._by_joints("key").run(machine)

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
            **how: Other fields of `TensionPose` (`curve`, `path`, `then`, …); settings of joints by joint, or one for
                all.
        """
        positive("lasts", lasts)
        if pose is None and tension is None:
            raise InvalidValueError("tense", None, "told a pose, a tension, or both")
        wanted = None if pose is None else self.stage.pose(pose)
        start = None if at is None else self.stage.when(at)
        told = {name: tension_setting(name, value) for name, value in how.items()}
        if wanted is not None:
            check_told_pose(self.character, wanted)
        elif all(ByJoint({joints: True}).of(name) is None for name in self.character.joints):
            raise InvalidValueError("joints", joints, f"a limb, joint or pattern of joints that '{self.name}' has")
        if tension is not None:
            tension_of(tension)
        performer = self._by_joints("tense").hold()
        if wanted is None:
            performer.retense(tension, joints, lasts=lasts)
        else:
            performer.play(wanted, lasts=lasts, tension=tension, at=start, **told)

    def path(
        self,
        what: str,
        trajectory: Trajectory | None = None,
        *,
        orientation: Trajectory | None = None,
        settling: float = 0.2,
        damping: float = 1.0,
        strength: float | None = None,
        relative: bool = False,
        bare: bool = False,
    ) -> None:
        """Put a joint on a trajectory, or pull a site along one like a marionette's string.

        Args:
            what: A joint, a site, or `root`: the frame of a free root.
            trajectory: Angle [rad], a ball joint's quaternion against its parent, or position [m] over time; None only
                for a site that is just turned.
            orientation: How a site is turned, quaternions wxyz.
            settling: Settling time [s].
            damping: 1 without overshoot.
            strength: Largest force of a string [N].
            relative: Whether a site's positions count from where it is now.
            bare: Whether a joint goes by the law as printed, for comparison.
        """
        need("what", what, str, "the name of a joint or site")
        for given, path in (("trajectory", trajectory), ("orientation", orientation)):
            if path is not None and not isinstance(path, Trajectory):
                raise InvalidValueError(given, path, "a stunt.Trajectory")
        if what not in self.character.joints and what not in (known := (*self.character.sites, ROOT)):
            raise UnknownNameError(f"joint or site of '{self.name}'", str(what), [*self.character.joints, *known])
        for given, value in (("settling", settling), ("damping", damping), ("strength", strength)):
            if value is not None:
                positive(given, value, "seconds" if given == "settling" else "newtons or a ratio")
        if what in self.character.joints:
            if trajectory is None:
                raise InvalidValueError("trajectory", None, f"one for joint '{what}'")
            check_joint(self.character.joint(what), trajectory, bare=bare)
        else:
            site_of(self.character, what)
            check_site(what, trajectory, orientation)
        check_settling(settling, self.stage.control_period)
        check_damping(damping)
        follower = self._by_joints("path").lead()
        if trajectory is not None and what in self.character.joints:
            follower.joint(what, trajectory, settling=settling, damping=damping, bare=bare)
        else:
            site = SitePath(what, trajectory, orientation, relative=relative)
            path = placed(self.stage, self.character, site).position
            follower.site(what, path, orientation, settling=settling, damping=damping, strength=strength)

    def strengthen(self, share: float | Mapping[str, float]) -> None:
        """Scale joints' strengths from now on, all or by limb, joint and pattern: `{"r_arm": 0.2}`; the rest have all.

        Raises:
            StuntError: There is no such limb or joint, or a share is no number from 0 to 100.
        """
        shares = by_joint("strength", share, self.character.joints, self.name)
        for name, joint in self.character.joints.items():
            self.stage.board.limit[joint.dof : joint.dof + joint.nv] = shares.get(name, 1.0) * joint.strength

    def let_go(self, what: str | None = None) -> None:
        """Take a joint or site off its trajectory; without a name forget all keys and let every joint swing."""
        joints = self.joints
        if what is not None:
            known = joints.follower.driven if joints.follower is not None else ()
            if joints.follower is None or what not in known:
                raise UnknownNameError("joint or site on a trajectory", str(what), known)
            joints.follower.release(what)
        elif joints.performer is not None:
            joints.performer.release()

    @property
    def part(self) -> Part:
        """How it hits beats."""
        return self.joints.part

    @property
    def results(self) -> list[BeatResult]:
        """Beats that have fallen, and how they were met."""
        return self.joints.performer.results if self.joints.performer is not None else []

    def happened(self) -> list[dict[str, Any]]:
        """Return its beats so far, as events of a take."""
        return [{"kind": "beat", "character": self.name, **asdict(result)} for result in self.results]

    def _by_joints(self, verb: str) -> JointDrivers:
        """Return who drives its joints, which a verb has just been said to; nobody moves the body as a whole."""
        self._doing = verb
        return self.joints
