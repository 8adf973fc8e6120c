"""Poses under tension on the stage: crew that sets each transition going and says how it ended."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any, Final

import numpy as np

from stunt.character.character import Joint
from stunt.control.core.board import COUPLINGS, IMPEDANCE, PASSIVE
from stunt.control.core.renumbered import Renumbered
from stunt.control.tension.law import least_tension
from stunt.control.tension.memory import ISOANGLE, LINE, SAMPLING, Antagonist
from stunt.control.tension.units import Tension, joint_scales, tension_of
from stunt.drive.beats.check import check_pose
from stunt.drive.beats.performer import joint_error_deg
from stunt.drive.tension.external_torques import ExternalTorques, Load
from stunt.drive.tension.spec import EVERY, ByJoint, Cue, Floats, Plan, Slack, Span, TensionPart, TensionPose, cues
from stunt.drive.tension.stability import STEADY, unstable_joints
from stunt.errors import InvalidValueError, announced
from stunt.motion.pose import Pose
from stunt.motion.transition import PRESETS, Curve
from stunt.stage.loop import StageLoop

RATIO: Final = 0.7
"""Damping ratio of a joint that nothing is said of."""
LEVEL: Final = Tension(0.5)
"""Tension of a joint that nothing is said of."""


def antagonist_of(stage: StageLoop) -> Antagonist:
    """Return a stage's antagonist program, in use from the first call on."""
    return stage.board.companion(Antagonist, stage.model, stage.data, stage.board)


class TensionPerformer:
    """Drives joints of one character by tension; the others are left to whoever has them.

    Attributes:
        part: What it does.
        since: When it came [s].
        stood: Positions of the whole scene (nq,) and of all bodies (nbody, 3) when it came.
        plan: Where its poses lead its joints.
        log: What became of them, as events of the take.
    """

    @announced
    def __init__(self, stage: StageLoop, character: str, part: TensionPart | None = None) -> None:
        """Take charge of the joints the part gives a tension to; others follow with their first pose.

        Args:
            stage: Where the character is.
            character: Its name.
            part: What it does; None waits for `play`.
        """
        self.stage = stage
        self.character = stage.character(character)
        self.part = part or TensionPart()
        self.program = antagonist_of(stage)
        self._look_up()
        self.log: list[dict[str, Any]] = []
        self.since, self.stood = stage.time, (stage.data.qpos.copy(), stage.data.xpos.copy())
        self._waiting = cues(self.part)
        self._begun = 0
        self.spared: Collection[str] = ()
        self.beat_law = COUPLINGS["full"]
        self.changed: Callable[[], None] = lambda: None
        self._owners = stage.owners(character)
        self._running: list[Cue] = []
        self.plan = Plan(self.character, self.stood[0], self._waiting)
        self._take_held()
        stage.crew.append(self)

    def _look_up(self) -> None:
        """Note what is known of the scene."""
        stage = self.stage
        self.scales = joint_scales(stage.model, self.character)
        self._believed = {p.grip: (p.body, p.spec.felt_mass) for p in stage.built.props.values() if p.grip >= 0}
        self._weigher = ExternalTorques(stage.model)

    def _take_held(self) -> None:
        """Hold the joints that have a tension from the start where they are."""
        held = {name: self.part.tension.of(name) for name in self.character.joints}
        held = {name: tension for name, tension in held.items() if tension is not None}
        if held:
            entry = TensionPose(
                Pose("start", {name: self._here(self.character.joints[name]) for name in held}),
                lasts=0.0, tension=ByJoint({name: Span(tension) for name, tension in held.items()}),
                start="recalculated",
            )  # fmt: skip
            self._begin(Cue(self.stage.time, self.stage.time, entry))

    def _here(self, joint: Joint) -> Any:
        values = self.stage.data.qpos[joint.qpos : joint.qpos + joint.nq]
        return float(values[0]) if joint.nq == 1 else tuple(float(x) for x in values)

    def play(
        self,
        pose: Pose,
        *,
        lasts: float,
        tension: Any = None,
        at: float | None = None,
        curve: Curve = PRESETS["ease"],
        **options: Any,
    ) -> None:
        """Move into a pose from a script of one's own.

        Args:
            pose: Any subset of the joints.
            lasts: Seconds of the transition.
            tension: At its end, for all its joints: a word, a level, `'40 N·m/rad'`, `'0.4 s'`; None keeps theirs.
            at: When it begins [s]; None is now.
            curve: Its course.
            **options: Other fields of `TensionPose`.

        Raises:
            StuntError: A joint, angle, time or tension that is not possible.
        """
        check_pose(pose, self.character)
        self._owners.check(pose.angles, pose.place)
        if not (np.isfinite(lasts) and lasts > 0.0):
            raise InvalidValueError("lasts", lasts, "a positive number of seconds", pose.place)
        if tension is not None:
            options["tension"] = ByJoint({EVERY: Span(tension_of(tension))})
        start = max(self.stage.time if at is None else at, self.stage.time)
        cue = Cue(start, start + lasts, TensionPose(pose, lasts=lasts, curve=curve, **options))
        self._waiting = sorted([*self._waiting, cue], key=lambda each: each.start)
        done = [each for each in self._running if each not in self._waiting]
        self.plan = Plan(self.character, self.stage.data.qpos, sorted([*done, *self._waiting], key=lambda c: c.start))
        self.stage.crew.announce(self)
        self.changed()

    def retense(self, tension: Any, joints: str = EVERY, *, lasts: float = 0.3) -> None:
        """Change the tension of joints that are held, along their isoangle lines: nothing moves.

        Args:
            tension: The new one.
            joints: A limb, joint or pattern.
            lasts: Over how many seconds.
        """
        wanted = ByJoint({joints: Span(tension_of(tension))})
        held = [n for n, j in self.character.joints.items() if self._owned(j) and wanted.of(n) is not None]
        rows = self.program.rows
        angles = {name: self._target(self.character.joints[name], rows) for name in held}
        self.play(Pose("", angles), lasts=lasts, tension=tension, path="isoangle")

    def _target(self, joint: Joint, rows: Any) -> Any:
        row = rows[joint.dof]
        return float(row["angle1"]) if joint.nq == 1 else tuple(float(x) for x in row["ball1"])

    def _owned(self, joint: Joint) -> bool:
        return bool(self.program.rows["active"][joint.dof]) and self.stage.board.law[joint.id] == IMPEDANCE

    def due(self) -> int | None:
        """Return the tick at which the next transition begins or ends."""
        times = [cue.start for cue in self._waiting[:1]] + [cue.end for cue in self._running]
        return self.stage.tick_of(min(times)) if times else None

    def act(self) -> None:
        """Begin what begins now, and report what has ended."""
        now = self.stage.time + 1e-9
        for cue in [cue for cue in self._running if cue.end <= now]:
            self._running.remove(cue)
            self._finish(cue)
        while self._waiting and self._waiting[0].start <= now:
            cue = self._waiting.pop(0)
            self._begun += 1
            self._running.append(cue)
            self._begin(cue)
        self._rebalance()

    def _state_at(self, time: float) -> Floats:
        """Return the state expected at a time: planned joints where their curves lead, the others at their goals."""
        stage, board = self.stage, self.stage.board
        qpos = np.array(stage.data.qpos)
        for name, joint in self.character.joints.items():
            if name in self.plan.legs and (self._owned(joint) or self.plan.legs[name][0].start <= time):
                qpos[joint.qpos : joint.qpos + joint.nq] = self.plan.at(name, time)
            elif self._owned(joint):
                qpos[joint.qpos : joint.qpos + joint.nq] = self._target(joint, self.program.rows)
            elif board.law[joint.id] != PASSIVE and board.goal_time[joint.id] <= time:
                qpos[joint.qpos : joint.qpos + joint.nq] = board.goal[joint.qpos : joint.qpos + joint.nq]
        return qpos

    def _expected(self, time: float) -> Floats:
        """Return the whole scene's positions with this character where its poses lead it at a time, (nq,)."""
        state = self.stood[0].copy()
        for name, joint in self.character.joints.items():
            state[joint.qpos : joint.qpos + joint.nq] = self.plan.at(name, time)
        return state

    def _held(self) -> list[int]:
        own = set(self.character.bodies.values())
        data, model = self.stage.data, self.stage.model
        return [grip for grip in self._believed if data.eq_active[grip] and int(model.eq_obj1id[grip]) in own]

    def _loads(self) -> list[Load]:
        """Return what is carried now, at the weight it is believed to have."""
        model = self.stage.model
        return [
            Load(int(model.eq_obj1id[grip]), tuple(model.eq_data[grip, 3:6]), self._believed[grip][1])
            for grip in self._held()
        ]

    def _begin(self, cue: Cue) -> None:
        now = self._weigher.torques(np.array(self.stage.data.qpos), self._loads())
        then = self._weigher.torques(self._state_at(cue.end), self._loads())
        taken = [name for name in cue.entry.pose.angles if name not in {*self.spared, *self._owners.followed}]
        self._owners.take("tension_poses", taken)
        for name, angle in cue.entry.pose.angles.items():
            if name in taken:
                self._aim(self.character.joints[name], name, angle, cue, now, then)
        if self.part.steady:
            for time in (cue.start, 0.5 * (cue.start + cue.end), cue.end):
                self._steady(time)

    def _steady(self, time: float) -> None:
        """Tighten what gravity and loads would tip over in the state expected at a time (see `stability`)."""
        rows = self.program.rows
        joints = [
            joint for joint in self.character.joints.values()
            if self._owned(joint) and rows["mode"][joint.dof] != SAMPLING and rows["compensate"][joint.dof]
        ]  # fmt: skip
        dofs = [joint.dof + k for joint in joints for k in range(joint.nv)]
        owner = [number for number, joint in enumerate(joints) for _ in range(joint.nv)]
        if not joints:
            return
        self._weigher.torques(self._state_at(time), self._loads())
        tension = np.array([rows["tension1"][joints[number].dof] for number in owner])
        for number, least in unstable_joints(tension, self._weigher.gradient(dofs), owner):
            joint = joints[number]
            row, used = rows[joint.dof], STEADY * least
            self._note("tension_raised", joint=joint.name, asked=float(row["tension1"]), used=used, why="unstable")
            row["tension0"], row["tension1"], row["settled"] = max(row["tension0"], used), used, 0
            row["rest0"] = row["angle0"] - row["force0"] / row["tension0"]
            row["rest1"] = row["angle1"] - row["force1"] / row["tension1"]

    def _aim(self, joint: Joint, name: str, angle: Any, cue: Cue, now: Floats, then: Floats) -> None:
        """Write one joint's transition into its row."""
        entry, board = cue.entry, self.stage.board
        row = self.program.rows[joint.dof]
        owned = self._owned(joint)
        span: Span | None = entry.tension.of(name)
        tension = float(row["tension1"])  # not yet in force where the stage has not moved since
        if owned and row["gain_low"] + row["gain_high"] > 0.0:
            tension = row["gain_low"] / row["slack_low1"] + row["gain_high"] / row["slack_high1"]
        first, last = self._tensions(name, span, tension if owned else None)
        if entry.path == "constant" and self._update(name, entry) == "prediction":
            first = last
        balanced = bool(entry.compensate.of(name, True))
        forces = [np.array(f[joint.dof : joint.dof + joint.nv]) * balanced for f in (now, then)]
        curve = entry.curve_of(name)
        row["warp"], row["knots"] = curve.warp, len(curve.knots)
        row["curve"][: 3 * len(curve.knots)] = np.ravel(curve.knots)
        row["compensate"] = float(balanced)
        row["mode"] = SAMPLING
        if self._update(name, entry) == "prediction":
            row["mode"] = ISOANGLE if entry.path == "isoangle" else LINE
        row["ratio"] = entry.damping.of(name, row["ratio"] if owned else self.part.damping.of(name, RATIO))
        self._slacken(row, entry.springs.of(name, Slack()))
        self.program.set_times(joint.dof, cue.start, cue.end)
        row["tension0"], row["tension1"] = first, last
        if joint.kind == "ball":
            self._aim_ball(joint, angle, entry, owned, forces)
        else:
            self._aim_hinge(joint, float(angle), entry, owned, forces)
        if not owned:
            self.program.external[joint.dof : joint.dof + joint.nv] = now[joint.dof : joint.dof + joint.nv]
        row["active"] = 1
        board.law[joint.id] = IMPEDANCE
        board.feed_bias[joint.id] = 0

    def _tensions(self, name: str, span: Span | None, current: float | None) -> tuple[float, float]:
        """Return the stiffness at the start and at the end [N·m/rad]."""
        scale = self.scales[name]
        if span is None:
            held = scale.stiffness(self.part.tension.of(name, LEVEL)) if current is None else current
            return held, held
        last = scale.stiffness(span.end)
        if span.start is not None:
            return scale.stiffness(span.start), last
        return (last if current is None else current), last

    def _update(self, name: str, entry: TensionPose) -> str:
        # What stands on a joint is moved by all that moves above it; what hangs from it is its own.
        return str(entry.update.of(name, "sampling" if self.scales[name].upright else "prediction"))

    def _slacken(self, row: Any, slack: Slack) -> None:
        owned = row["active"] != 0
        row["slack_low0"], row["slack_high0"] = (row["slack_low1"], row["slack_high1"]) if owned else (1.0, 1.0)
        row["slack_low1"], row["slack_high1"] = slack.low, slack.high

    def _aim_hinge(self, joint: Joint, angle: float, entry: TensionPose, owned: bool, forces: list[Floats]) -> None:
        row, data = self.program.rows[joint.dof], self.stage.data
        low, high = row["low"], row["high"]
        force0, force1 = float(forces[0][0]), float(forces[1][0])
        begin = float(data.qpos[joint.qpos])
        if owned and entry.start == "current":
            # The balance in force, without what one spring alone was tightened by.
            if row["gain_low"] + row["gain_high"] > 1e-9:
                force0 = float(row["force"]) if row["compensate"] else 0.0
                soft, hard = row["gain_low"] / row["slack_low0"], row["gain_high"] / row["slack_high0"]
                begin = (soft * low + hard * high + force0) / (soft + hard)
            else:
                begin = float(row["angle1"])
        row["tension0"] = self._raised(joint, row["tension0"], least_tension(force0, begin, low, high))
        row["tension1"] = self._raised(joint, row["tension1"], least_tension(force1, angle, low, high))
        row["angle0"], row["angle1"] = begin, angle
        row["force0"], row["force1"] = force0, force1
        row["rest0"] = begin - force0 / max(row["tension0"], 1e-9)
        row["rest1"] = angle - force1 / max(row["tension1"], 1e-9)

    def _aim_ball(self, joint: Joint, angle: Any, entry: TensionPose, owned: bool, forces: list[Floats]) -> None:
        rows, row = self.program.rows, self.program.rows[joint.dof]
        begin = np.array(self.stage.data.qpos[joint.qpos : joint.qpos + 4])
        if owned and entry.start == "current":
            begin = np.array(self.stage.board.goal[joint.qpos : joint.qpos + 4])
        rows["force0"][joint.dof : joint.dof + 3] = forces[0]
        rows["force1"][joint.dof : joint.dof + 3] = forces[1]
        row["ball0"] = begin
        row["ball1"] = angle

    def _raised(self, joint: Joint, asked: float, least: float) -> float:
        if asked >= least * (1.0 - 1e-9):
            return asked
        self._note("tension_raised", joint=joint.name, asked=float(asked), used=float(least))
        return least

    def _note(self, kind: str, **what: Any) -> None:
        self.log.append({"time": self.stage.time, "kind": kind, "character": self.character.name, **what})

    def _rebalance(self) -> None:
        """Keep predicted joints that have arrived in balance while others go on moving."""
        now = self.stage.time
        horizon = max((cue.end for cue in self._running), default=now)
        if horizon <= now + 1e-9:
            return
        force = None
        for joint in self.character.joints.values():
            row = self.program.rows[joint.dof]
            if not self._owned(joint) or joint.nv != 1 or row["mode"] == SAMPLING or row["end"] > now + 1e-9:
                continue
            if force is None:
                force = self._weigher.torques(self._state_at(horizon), self._loads())
            self._follow(joint.dof, float(force[joint.dof]) * row["compensate"], now, horizon)

    def _follow(self, dof: int, force: float, now: float, horizon: float) -> None:
        """Let a held joint's gains follow the load it will have, at the same angle and tension."""
        row, knots = self.program.rows[dof], PRESETS["ease"].knots
        row["mode"], row["warp"], row["knots"] = ISOANGLE, 0.0, len(knots)
        row["curve"][: 3 * len(knots)] = np.ravel(knots)
        row["force0"], row["force1"] = row["force1"], force
        row["angle0"], row["tension0"] = row["angle1"], row["tension1"]
        row["slack_low0"], row["slack_high0"] = row["slack_low1"], row["slack_high1"]
        self.program.set_times(dof, now, horizon)

    def _finish(self, cue: Cue) -> None:
        errors, raised = {}, {}
        for name, angle in cue.entry.pose.angles.items():
            joint = self.character.joints[name]
            errors[name] = joint_error_deg(joint, self.stage.data.qpos, angle)
            row = self.program.rows[joint.dof]
            if row["raised"] > 0.0:
                raised[name] = {"asked": float(row["asked"]), "used": float(row["raised"])}
                row["raised"] = 0.0
            if cue.entry.then != "hold" and row["end"] == cue.end:
                self._let_go(joint, cue.entry.then)
        worst = max(errors, key=lambda name: abs(errors[name]))
        self._note(
            "tension_pose", pose=cue.entry.pose.name, began=cue.start, error_deg=abs(errors[worst]), worst_joint=worst,
            raised=raised, joint_errors_deg=errors,
        )  # fmt: skip

    def _let_go(self, joint: Joint, to: str) -> None:
        """Hand a joint to the beat law, which holds it where it is, or to nobody."""
        board = self.stage.board
        self.program.rows["active"][joint.dof] = 0
        self.changed()
        if to == "passive":
            board.law[joint.id] = PASSIVE
            return
        board.law[joint.id] = self.beat_law
        board.feed_bias[joint.id] = 1
        if board.goal_time[joint.id] <= self.stage.time:
            target = self._target(joint, self.program.rows)
            board.goal[joint.qpos : joint.qpos + joint.nq] = target

    def hand_over(self, joints: str = EVERY, to: str = "beats") -> None:
        """Hand joints back: to the beat law, or `to` nobody ("passive"). The torque does not jump."""
        for name, joint in self.character.joints.items():
            if ByJoint({joints: True}).of(name) and self._owned(joint):
                self._let_go(joint, to)

    def give_up(self, only: Collection[str]) -> None:
        """Leave joints to whoever takes them, now and in poses to come."""
        for name in only:
            if self._owned(joint := self.character.joints[name]):
                self._let_go(joint, "passive")

    def forget(self) -> None:
        """Forget all poses that are under way or to come, and let go of every joint: somebody else moves the body."""
        self._waiting, self._running = [], []
        self.hand_over(to="passive")
        self.stage.crew.announce(self)

    def recast(self, part: TensionPart) -> None:
        """Play another part from now on, whose poses so far are those of this one and lead as far as now alike.

        See `stunt.script.revise`, which knows when that is so.
        """
        coming = cues(part)
        self.part, self._waiting = part, coming[self._begun :]
        self.plan = Plan(self.character, self.stood[0], coming)
        self.stage.crew.announce(self)

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast."""
        if self.character.name not in self.stage.built.characters:
            return False
        old, self.program = self.program, antagonist_of(self.stage)
        self.program.carry(old, by)
        self.plan.character = self.character = self.stage.character(self.character.name)
        self._look_up()
        return True

    def save(self) -> Any:
        """Return what must survive a restore."""
        state = (list(self._waiting), self._begun, list(self._running), copy.deepcopy(self.log))
        return self.program.save(), state, self.plan

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        program, (waiting, self._begun, running, log), self.plan = state
        self.program.restore(program)
        self._waiting, self._running = list(waiting), list(running)
        self.log[:] = copy.deepcopy(log)
