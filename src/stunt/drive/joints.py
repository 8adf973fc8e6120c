"""A character's joints: beats, tension and trajectories share a body, and whoever spoke last has a joint."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stunt.control.core.board import FULL, STANDING
from stunt.control.servo.law import RootSpring
from stunt.drive.balance.ankles import AnkleBalance
from stunt.drive.balance.support import GroundSense
from stunt.drive.beats.performer import Performer
from stunt.drive.beats.spec import MachineSpec, Part
from stunt.drive.beats.state_machine import StateMachine
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.follower import Follower
from stunt.drive.paths.laid_out import set_out
from stunt.drive.paths.spec import TrajectoryPart
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import TensionPart, cues
from stunt.drive.tension.warnings import foresee
from stunt.errors import BodyError
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop

if TYPE_CHECKING:
    from stunt.drive.own.follower import OwnFeet
    from stunt.drive.upright import Upright


class JointDrivers:
    """The drivers of one character's joints, each made when it is first needed.

    Attributes:
        part: How beats are hit.
        performer: Who hits them; None: nobody yet.
        tension: Who holds joints by tension, likewise.
        follower: Who leads joints and sites along trajectories, likewise.
        machines: State machines that say which beats.
        upright: Who keeps a body with a free root upright, while they drive it.
        owners: Who of them, or of what the body follows, has a joint.
    """

    def __init__(self, stage: StageLoop, name: str) -> None:
        """Look after a character's joints; nothing drives them yet."""
        self._stage, self._name = stage, name
        self.part = Part()
        self.performer: Performer | None = None
        self.tension: TensionPerformer | None = None
        self.follower: Follower | None = None
        self.machines: list[StateMachine] = []
        self.upright: Upright | None = None
        self.owners = stage.owners(name)
        self._beside: OwnFeet | None = None
        self._idle = False

    def hit_beats(self) -> Performer:
        """Return who hits beats; joints that nobody has it holds where they are."""
        if self.performer is None:
            self.performer = Performer(self._stage, self._name, part=self.part)
            self._look_after(self.performer)
            self.performer.fitted = self._fitted
        elif self._idle:
            self.performer.take_again()
            self._look_after(self.performer)
        self._idle = False
        return self.performer

    # ---- what keeps it upright

    def keep_upright(self, root: RootSpring | None = None) -> None:
        """Keep the body upright as its part says, or from now on in another way.

        Raises:
            BodyError: Its root is fixed and was to be helped; or it was to stand on its own feet, and cannot.
        """
        self.part = self.part if root is None else replace(self.part, root=root)
        if self.upright is not None:
            by_beats = self.performer is not None and self.tension is None and self.follower is None
            self.upright.keep(self.part.root, default=by_beats and self.part.coupling == "full")
        elif self.part.root.kind not in ("", "none") and self._stage.character(self._name).root is None:
            raise BodyError(
                f"'{self._name}' has a fixed root, which holds it already; for `assist: {self.part.root.kind}` it "
                "needs `root: free`.", self.part.place,
            )  # fmt: skip

    def _look_after(self, driver: Performer | TensionPerformer | Follower) -> None:
        """Have a body with a free root kept upright while somebody drives its joints."""
        if self._stage.character(self._name).root is None:
            return
        if self._beside is not None:  # what it follows keeps it upright
            self._stands(True)
            return
        if self.upright is None:
            from stunt.drive.upright import Upright  # balance brings a solver, which nobody needs who is held

            self.upright = Upright(self._stage, self._name, self._lay, self.keep_upright, self._stands)
        elif not self.upright.stands:
            self.upright.ask()
        driver.changed = self.upright.replan
        self.upright.replan()

    def _lay(self, path: Floats, times: Floats) -> float:
        """Lay where the joints will be over a path (T, nq) at times (T,); return when all is known [s]."""
        legs = self.upright.body.own.leg_joints if self.upright is not None else ()
        period = float(times[1] - times[0]) if len(times) > 1 else self._stage.step_time
        until = self.performer.lay(path, period, legs) if self.performer is not None else 0.0
        if self.tension is not None:
            self.tension.plan.write(path[: len(times)], times)
            until = max([until, *(leg.end for legs in self.tension.plan.legs.values() for leg in legs)])
        return max(until, self.follower.lay(path, times)) if self.follower is not None else until

    def _stands(self, stands: bool) -> None:
        """Hear whether the body goes on its own feet: legs are the programme's then, beats its tasks."""
        if self.performer is not None:
            self.performer.stand(stands)
        if self.tension is not None:
            own = self._beside or (self.upright.body.own if self.upright is not None else None)
            legs = own.leg_joints if own is not None and stands else ()
            self.tension.spared, self.tension.beat_law = legs, STANDING if stands else FULL

    def beside(self, own: OwnFeet, theirs: Collection[str]) -> None:
        """Drive the other joints of a body that goes on its own feet: beats are tasks of its programme from now on."""
        self._beside = own
        self._stands(True)
        joints = self._stage.character(self._name).joints
        own.take_tasks(joint.id for name, joint in joints.items() if name not in theirs and name not in own.leg_joints)

    def overlaid(self, motion: BodyMotion, theirs: Collection[str], at: float) -> BodyMotion:
        """Return a motion that begins at a time [s] with the joints of others where they will be: it is balanced so.

        Args:
            motion: What the body is to follow.
            theirs: The joints it has; the others are where they are, or are led.
            at: When it begins [s].
        """
        stage, character = self._stage, self._stage.character(self._name)
        own, ahead = own_slices(character)[0], round(max(at - stage.time, 0.0) * motion.fps)
        path = np.tile(stage.data.qpos, (ahead + len(motion.qpos), 1))
        self._lay(path, stage.time + np.arange(len(path)) / motion.fps)
        path = path[ahead:, own]
        for joint in (character.joints[name] for name in theirs):
            kept = slice(joint.qpos - own.start, joint.qpos - own.start + joint.nq)
            path[:, kept] = motion.qpos[:, kept]
        return replace(motion, qpos=np.concatenate([motion.qpos[:, :7], path[:, 7:]], axis=1))

    def fell(self) -> None:
        """Hear that the body has given up going on its own feet."""
        self._stands(False)
        self._beside = None
        self.owners.share(None)

    def _fitted(self, time: float) -> dict[str, Any]:
        """Return where joints of the legs are to be at a time [s], made consistent with planted feet."""
        pose = self.upright.fitted(time) if self.upright is not None else None
        if pose is None or self.upright is None:
            return {}
        body = self.upright.body
        first, joints = body.slices[0].start, body.character.joints
        found = {n: pose[joints[n].qpos - first : joints[n].qpos - first + joints[n].nq] for n in body.own.leg_joints}
        return {n: float(q[0]) if len(q) == 1 else q.copy() for n, q in found.items()}

    def run(self, machine: MachineSpec) -> StateMachine:
        """Let a state machine say which beats are hit, from the last one asked for so far on."""
        performer = self.hit_beats()
        self.machines.append(StateMachine(performer, machine, start_at=performer.last_beat))
        return self.machines[-1]

    def hold(self, part: TensionPart | None = None) -> TensionPerformer:
        """Return who holds joints by tension, made with a part if there is none yet."""
        self._wake_up()
        if self.tension is None:
            self.tension = TensionPerformer(self._stage, self._name, part or TensionPart())
            self._look_after(self.tension)
        return self.tension

    def hold_part(self, part: TensionPart) -> list[str]:
        """Play a part of poses under tension; return what the user should know of it, sentences.

        A body with a free root feels the ground, and balances by its ankles where the part says so.
        """
        performer = self.hold(part)
        told = self._foreseen(performer)
        if performer.character.root is not None and self.part.root.kind not in ("own", "auto"):
            GroundSense(performer)
            if part.balance:
                AnkleBalance(performer)
        return told

    def hold_other(self, part: TensionPart) -> list[str]:
        """Go on with another part of poses under tension (see `TensionPerformer.recast`); return likewise."""
        performer = self.hold()
        performer.recast(part)
        return self._foreseen(performer)

    def _foreseen(self, performer: TensionPerformer) -> list[str]:
        return [finding.sentence(self._name) for finding in foresee(performer, cues(performer.part))]

    def lead(self, part: TrajectoryPart | None = None) -> Follower:
        """Return who leads joints and sites along trajectories, with those of a part on theirs."""
        self._wake_up()
        if self.follower is None:
            self.follower = Follower(self._stage, self._name)
            self._look_after(self.follower)
        if part is not None:
            set_out(self.follower, part)
        return self.follower

    def _wake_up(self) -> None:
        """Hold joints that a driver of the whole body has left."""
        if self._idle:
            self.hit_beats()

    def forget(self, only: Collection[str] | None = None) -> None:
        """Let somebody else move the body: nothing it was asked for is done any more; `only`: by some joints."""
        if only is not None:
            self.hit_beats()  # joints of others that nobody asks for are held
        if self.upright is not None:
            self.upright.leave()
        self.owners.share(only)
        if only is not None:
            if self.performer is not None:
                self.performer.give_up(only)
            if self.tension is not None:
                self.tension.give_up(only)
            if self.follower is not None:
                for name in [name for name in self.follower.driven if name in only]:
                    self.follower.release(name)
            return
        self._beside = None
        self._stands(False)
        if self.performer is not None:
            self.performer.forget()
            self.performer.give_up()
        for driver in (*self.machines, self.tension, self.follower):
            if driver is not None:
                driver.forget()

    def left_alone(self) -> None:
        """Hear that nobody moves the body as a whole any more."""
        self._idle = True

    @property
    def logs(self) -> list[list[dict[str, Any]]]:
        """What happened, as events of a take."""
        drivers = (*self.machines, self.tension, self.follower, self.upright)
        return [*(driver.log for driver in drivers if driver is not None), self.owners.log]
