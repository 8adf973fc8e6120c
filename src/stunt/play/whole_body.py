"""Who moves a character's body as a whole: clips it follows, data, a pose, or a pool; whoever comes takes over."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import mujoco

from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.body.led import Led
from stunt.drive.body.lost import Watch
from stunt.drive.body.over_ground import shape_targets
from stunt.drive.body.reactions import Thresholds
from stunt.drive.body.stuck import StuckLimbs
from stunt.drive.joints import JointDrivers
from stunt.drive.motion.body_motion import BodyMotion
from stunt.errors import BodyError
from stunt.maths.rotations import Floats, heading
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Placement
from stunt.supervise.contract import Controller, Status
from stunt.supervise.data.tracking import ClipQueue, QueuedClip, follow_clips, queue_of
from stunt.supervise.hit_rules import Relation
from stunt.supervise.situation import Ended
from stunt.supervise.supervisor import Supervisor


class WholeBody:
    """The drivers of one character's body, which take over from each other and from those of its joints."""

    def __init__(self, stage: StageLoop, name: str, joints: JointDrivers) -> None:
        """Look after a body; nothing drives it yet."""
        self._stage, self._name, self._joints = stage, name, joints
        self._supervisors: list[Supervisor] = []
        self._stuck: StuckLimbs | None = None
        self._looked_after = False
        self._only: Collection[str] | None = None

    # ---- who drives it

    @property
    def body(self) -> BodyActor:
        """The body as controllers know it; the same one whoever drives it."""
        return actor_of(self._stage, self._name)

    @property
    def taken_on(self) -> BodyActor | None:
        """The body, if anybody has ever told it anything as a whole."""
        known: BodyActor | None = self._stage.actors.get(self._name)
        return known if known is not None and known.joined else None

    @property
    def supervisor(self) -> Supervisor | None:
        """Who decides who drives it, where it follows clips or has a pool; None where nobody does."""
        known: BodyActor | None = self._stage.actors.get(self._name)
        return known.driver if known is not None else None

    @property
    def queue(self) -> ClipQueue | None:
        """The clips it follows, if it does."""
        return queue_of(self.supervisor)

    @property
    def doing(self) -> str:
        """Which verb drives it; empty: none."""
        body = self.taken_on
        if self.supervisor is not None:
            return "follow" if self.queue is not None else "supervise"
        if body is None or body.rows is None:
            return "play" if body is not None and body.kinematic else ""
        return "follow" if body.follows else "aim"

    @property
    def detail(self) -> str:
        """Of what: the controller in charge, or the motion's name."""
        if self.supervisor is not None and self.queue is None:
            return self.supervisor.running
        body = self.taken_on
        return body.motion.name if body is not None and body.motion is not None else ""

    @property
    def logs(self) -> list[list[dict[str, Any]]]:
        """What happened, as events of a take."""
        found = [supervisor.log for supervisor in self._supervisors]
        if self._looked_after:
            found += [self.body.log, *([self._stuck.log] if self._stuck is not None else ())]
        return found

    def summary(self, time: Floats, qpos: Floats) -> dict[str, Any]:
        """Return how well it followed clips, over a take's frames; empty where it followed none."""
        body = self.taken_on
        if body is None or not (self.supervisor or any(entry.rows is not None for entry in body.history)):
            return {}
        return body.summary(time, qpos)

    # ---- taking over

    def leave(self) -> None:
        """Let whoever drives joints have the body; who has only some of them keeps those."""
        if self.doing and self._only is None:
            self._resign()
            self.body.go_limp()
            self._joints.left_alone()

    def _resign(self) -> Ended | None:
        """Let nobody decide who drives it; return who did."""
        return self.supervisor.resign() if self.supervisor is not None else None

    def _take_over(self, only: Collection[str] | None = None) -> Ended | None:
        """Let go of all that moved it, or of some joints; return who decided so far."""
        self._only = only
        self._joints.forget(only)
        return self._resign()

    def _share(self, body: BodyActor, first: BodyMotion | None) -> None:
        """Have only some of a body's joints, on its own feet; the others go on as they are driven."""
        if self._only is None:
            return
        if (first is not None and not body.goes_on_feet(first)) or body.root.kind not in ("own", "auto"):
            raise BodyError(
                f"'{self._name}' shares its joints with other ways of moving, for which it has to go on its own feet: "
                "write `assist: own`."
            )
        joints = body.character.joints
        if missing := [name for name in joints if name in body.own.leg_joints and name not in self._only]:
            raise BodyError(
                f"'{self._name}' goes on its own feet, and legs are moved as a whole: `joints:` lacks "
                f"{', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}."
            )
        body.own.spared = [joint.id for name, joint in joints.items() if name not in self._only]
        body.program.spared[self._name] = body.own.spared
        body.on_give_up = self._joints.fell

    def _look_after(self, *, feet: bool | None = None, absolute: bool = False, free_limbs: bool = True) -> None:
        """Fit what the body follows to the ground, and free limbs that are stuck; from the first time on."""
        if not self._looked_after:
            shape_targets(self.body, feet=feet, absolute=absolute)
            self._stuck = StuckLimbs(self.body) if free_limbs else None
            Watch(self.body)
            Led(self.body)
        self._looked_after = True

    # ---- ways of moving

    def follow(
        self,
        clips: Sequence[QueuedClip],
        *,
        settings: ServoSettings | None,
        root: RootSpring | None,
        react: Thresholds | None,
        get_up: Mapping[str, BodyMotion],
        repeat: bool,
        toward: str | None,
        joints: Collection[str] | None = None,
        **looked_after: Any,
    ) -> Supervisor:
        """Hand clips to the queue that drives the body, or begin one with them.

        Where the performance begins the body is put into the first one's first frame.
        """
        stage, name, queue, supervisor = self._stage, self._name, self.queue, self.supervisor
        if (
            queue is not None
            and supervisor is not None
            and stage.tick > 0
            and set(joints or ()) == set(self._only or ())
        ):
            actor_of(stage, name, settings=settings, root=root)
            clips = clips if joints is None else self._overlaid(clips, joints)
            queue.go_over(clips, stage.time, repeat=repeat, toward=toward)
            supervisor.wake()
            return supervisor
        begins, spec = stage.tick == 0, stage.scene.characters[name]
        where, turned = (spec.at[0], spec.at[1]), spec.facing
        self._take_over(joints)
        if not begins:
            place, turn = stage.data.xpos[self.body.character.root_body], stage.data.xquat
            where, turned = (float(place[0]), float(place[1])), float(heading(turn[self.body.character.root_body]))
        if joints is not None:
            clips = self._overlaid(clips, joints)
        clip = clips[0]
        first = clip.motion.placed(where, turned + clip.turned + clip.facing)
        first = first.raised(spec.at[2]) if spec.at[2] else first
        if begins:
            spots = _spot(clip.motion, clip.floor), _spot(first, spec.at[2])
            stage.placements[name] = Placement(*spots, clip.motion.name)
        body = actor_of(stage, name, settings=settings, root=root)
        body.goes_on_feet(first)  # who cannot hears of it now
        self._share(body, first)
        supervisor = follow_clips(
            stage, name, clips, first=first, put=begins, repeat=repeat, toward=toward, react=react, get_up=get_up
        )
        self._look_after(**looked_after)
        if joints is not None:
            self._joints.beside(body.own, joints)
        return supervisor

    def _overlaid(self, clips: Sequence[QueuedClip], joints: Collection[str]) -> list[QueuedClip]:
        """Return clips of some joints with the others where they are led while each of them is followed."""
        made, now = [], self._stage.time
        for clip in clips:
            now = now if clip.at is None else max(now, clip.at)
            made.append(replace(clip, motion=self._joints.overlaid(clip.motion, joints, now)))
            now += clip.motion.duration
        return made

    def play(self, motion: BodyMotion, *, since: float, blend: float) -> None:
        """Be where a motion has the body."""
        self._take_over()
        stage, body = self._stage, self.body
        if stage.tick == 0:
            spec = stage.scene.characters[self._name]
            motion, blend = motion.placed((spec.at[0], spec.at[1]), spec.facing).raised(spec.at[2]), 0.05
            stage.data.qpos[body.slices[0]] = motion.qpos[0]
            mujoco.mj_forward(stage.model, stage.data)
        body.play(motion, since=since, blend=blend, place=stage.tick > 0)

    def aim(self, pose: Floats | Mapping[str, Any], *, over: float) -> None:
        """Go to a pose and hold it."""
        if self.doing != "aim":
            self._take_over()
        self.body.aim(pose, over=over)

    def supervise(
        self,
        pool: Sequence[Controller],
        *,
        safe: Controller | None,
        hz: float,
        relation: Relation | None,
        settings: ServoSettings | None,
        root: RootSpring | None,
        joints: Collection[str] | None = None,
    ) -> Supervisor:
        """Let a pool of controllers decide among themselves who drives it.

        Raises:
            BodyError: They are to do so on own feet.
        """
        stage, before = self._stage, self.doing
        if root is not None and root.kind in ("own", "auto"):
            raise BodyError(
                f"'{self._name}' is to be supervised on its own feet: reflexes are helped by springs, so that would "
                "not be true. Expected assist weak, hook or none; those who follow clips stand on their own feet."
            )
        last = self._take_over(joints)
        if last is None and stage.tick > 0:
            last = Ended(before, Status("failed", "somebody else took over"), stage.time)
        body = actor_of(stage, self._name, settings=settings, root=root)
        self._share(body, None)
        made = Supervisor(stage, self._name, pool, actor=body, safe=safe, relation=relation, hz=hz, last=last)
        self._supervisors.append(made)
        self._look_after()
        if joints is not None:
            self._joints.beside(body.own, joints)
        return made


def _spot(motion: BodyMotion, floor: float) -> tuple[float, float, float, float]:
    x, y = motion.qpos[0, :2]
    return float(x), float(y), float(floor), float(heading(motion.qpos[0, 3:7]))
