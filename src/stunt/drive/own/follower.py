"""One body on its own feet: what it follows, how it is doing, and when it gives up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stunt.character.character import Character
from stunt.control.own.layout import CENTRE, GRAVITY, POINTS, POSE, SETTINGS, TASK, WHY
from stunt.control.own.memory import OwnFeetProgram, OwnTargets, StandingBody
from stunt.drive.motion.layout import own_slices
from stunt.drive.own.feasible import Reference
from stunt.drive.own.reference import stance_reference
from stunt.drive.own.smoothing import rates, smoothed
from stunt.drive.own.soles import Foot, drawn_in, leg_length, rest_height, size_of, two_feet
from stunt.drive.own.whole_body import spins
from stunt.errors import BodyError, StuntError
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.stage.loop import StageLoop

SLOWEST: Final = 240.0
"""Slower physics does not carry a body that steps [Hz]."""
LOOK_HZ: Final = 30.0
DOOMED: Final = 0.05
"""A body that nothing has been able to save for so long gives up [s]."""
NEVER: Final = 1.0e9
_BESIDE = 0.03  # pressure this near a foot's frame is as good as under it [m]
_FOOT_SMOOTH = 0.008  # over which the velocity of a foot is smoothed [s]


class OwnFeet:
    """One body that may go on its own feet. Crew: it looks after the body while it does.

    Attributes:
        program: The stage's whole-body programme.
        number: Of the body there.
        legs: All bodies of each leg.
        clock: What time it was [s], and where in its clip the body was then.
        leg_joints: Joints it stands by.
        spared: Joints (their numbers) that are somebody else's, whatever it follows.
    """

    def __init__(
        self, stage: StageLoop, character: Character, soles: list[int], give_up: Callable[[str], None]
    ) -> None:
        """Take a body on.

        Args:
            stage: Where it is.
            character: Who; its root is free.
            soles: Geoms it stands on.
            give_up: Called with the reason when it cannot stay up.

        Raises:
            BodyError: It has not two feet, or no strength.
            StuntError: The physics is too slow.
        """
        check_strength(character)
        if stage.scene.physics_hz < SLOWEST:
            raise StuntError(
                f"'{character.name}' cannot go on its own feet at {stage.scene.physics_hz:g} physics steps per second: "
                f"feet need {SLOWEST:g} or more. Write `physics_hz: 480`, or `assist: weak`."
            )
        self._stage, self._character, self._soles, self._give_up = stage, character, soles, give_up
        body = standing_body(stage.model, character, soles)
        self.legs = body.legs
        legs = body.legs[0] | body.legs[1]
        self.leg_joints = frozenset(n for n, j in character.joints.items() if int(stage.model.jnt_bodyid[j.id]) in legs)
        self.program = stage.board.companion(OwnFeetProgram, stage.model, stage.data, stage.board)
        self.number = self.program.add(character, body)
        self.clock: list[tuple[float, float]] = []
        self.spared: list[int] = []
        self._off_clock = 0.0
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / LOOK_HZ))
        self._due = stage.tick
        stage.crew.append(self)

    @property
    def active(self) -> bool:
        """Whether it goes on its own feet now."""
        return bool(self._memory["active"])

    @property
    def helped(self) -> bool:
        """Whether its root is held from outside too; then nothing is said about forces on it."""
        return bool(self._memory["helped"])

    @helped.setter
    def helped(self, helped: bool) -> None:
        self._memory["helped"] = helped

    @property
    def _memory(self) -> Any:
        return self.program.actors[self.number]

    @property
    def clip_time(self) -> float:
        """Where in its clip it is [s]."""
        return float(self._memory["clip_time"])

    def stiffen(self, usual: Floats) -> None:
        """Follow each joint's posture with so much of its gains, by the bodies of the model, (nbody,)."""
        own = own_slices(self._character)[1]
        self.program.share[own] = usual[self._stage.model.dof_bodyid[own]]

    def follow(self, reference: Reference, since: float, *, floor: float, free_clock: bool) -> None:
        """Follow a reference, where it lies on the stage, from a time of it on [s]."""
        board = self._stage.board
        laws = board.law[self.spared].copy()
        self.program.follow(self.number, own_targets(reference), since, floor=floor, free_clock=free_clock)
        board.law[self.spared] = laws
        self.clock.append((self._stage.time, since))
        self._due = self._stage.tick + self._stride
        self._stage.crew.announce(self)

    def stand(self, *, floor: float) -> Reference:
        """Stand where it is, in the pose it has; return what it holds. What joints do else is asked by `ask`.

        Args:
            floor: Height of the ground [m].

        Raises:
            BodyError: Neither foot is near the ground.
        """
        own, _ = own_slices(self._character)
        pose = self._stage.data.qpos[own].copy()
        reference = stance_reference(self._stage.model, self._character, pose, self._soles, floor)
        self.follow(reference, 0.0, floor=floor, free_clock=True)
        return reference

    def ask(self, joint: str, acceleration: ArrayLike, weight: float = TASK) -> None:
        """Ask a joint for an acceleration instead of its posture, until it is asked anew or freed.

        Balance goes first: where both cannot be had, the joint gives. Compiled laws write `program.task_urge` and
        `program.task_weight`, by degrees of freedom of the scene, in the phase before this programme's.

        Args:
            joint: Its name.
            acceleration: Of each of its axes [rad/s²].
            weight: How much it matters; a grown-up's arm's posture has 1, its trunk's 2, its centre of mass 300.
        """
        found = self._character.joints[joint]
        own = slice(found.dof, found.dof + found.nv)
        weight *= float(self._memory["scale"]) ** 2
        self.program.task_urge[own], self.program.task_weight[own] = acceleration, weight

    def take_tasks(self, joints: Iterable[int]) -> None:
        """Carry out what other laws ask of joints (by number), from now on, until it is released.

        Beats give accelerations (`STANDING`), tension and trajectories those of their springs.
        """
        self._stage.board.tasked[list(joints)] = 1

    def free(self, joint: str | None = None) -> None:
        """Give a joint, or all, back to the posture of what the body follows."""
        names = self._character.joints if joint is None else (joint,)
        for name in names:
            found = self._character.joints[name]
            self.program.task_weight[found.dof : found.dof + found.nv] = 0.0

    def ask_beside(self, inputs: ArrayLike, turned: ArrayLike) -> None:
        """Ask for something beside the clip, until it is asked anew: zeros are the clip alone.

        Args:
            inputs: Of the programme, as `stunt.control.own.layout.INPUTS` has them.
            turned: How far each degree of freedom should be from the clip's posture [rad], (nv,); of the root's the
                last three count.
        """
        self._memory["inputs"] = inputs
        self.program.turned[own_slices(self._character)[1]] = turned

    def release(self) -> None:
        """Let go."""
        self.program.release(self.number)

    def when(self, moments: Floats, since: Floats) -> Floats:
        """Return where in its clip it was at some moments [s], (n,); `since`: by a clock that never gives, (n,)."""
        if not self.clock:
            return since
        known = np.array(self.clock)
        return np.asarray(np.interp(moments, known[:, 0], known[:, 1]))

    def summary(self) -> dict[str, float]:
        """Return what it took: steps that caught it, steps that closed its feet, how late it is, force on the root."""
        who = self._memory
        return {
            "recovery_steps": int(who["steps"]), "closing_steps": int(who["closings"]), "late_s": float(who["late"]),
            "off_clock_s": self._off_clock, "outside": float(who["outside"]),
            "unsolved": int(who["fails"]), "ticks": int(who["ticks"]),
        }  # fmt: skip

    @property
    def limit_use(self) -> dict[str, float]:
        """How joints kept to their strength, as `BodyActor.limit_use` has it."""
        who = self._memory
        return {"over_share": float(who["over"] / max(who["joint_ticks"], 1.0)), "worst": float(who["worst"])}

    # ---- crew

    def due(self) -> int | None:
        """Return the tick of the next look; None while it does not go on its own feet."""
        return self._due if self.active else None

    def act(self) -> None:
        """Note the clip's time, see that nothing holds the root, and give up where nothing helps any more."""
        who = self._memory
        self._due = self._stage.tick + self._stride
        if who["outside"] != 0.0:
            raise StuntError(f"something held '{self._character.name}' from outside while on its own feet.")
        self.clock.append((self._stage.time, float(who["clip_time"])))
        self._off_clock = max(self._off_clock, abs(float(who["late"])))
        if who["doomed"] > DOOMED:
            self._give_up(WHY[int(who["why"])])

    def save(self) -> Any:
        """Return what must survive a restore; the programme is saved once for all."""
        return list(self.clock), self._off_clock, self._due, self.program.save() if self.number == 0 else None

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        clock, self._off_clock, self._due, program = state
        self.clock = list(clock)
        if program is not None:
            self.program.restore(program)


def check_strength(character: Character) -> None:
    """Complain of a body whose joints have no strength.

    Raises:
        BodyError: They have none.
    """
    weak = [joint.name for joint in character.joints.values() if not joint.strength > 0.0]
    if weak:
        raise BodyError(
            f"'{character.name}' has no strength in {', '.join(weak[:3])}{' …' if len(weak) > 3 else ''}: on its own "
            "feet a body stands by its joints' torques alone. Give it `strength`, or hold it with `assist: weak`."
        )


# ---- what the programme reads


def standing_body(model: mujoco.MjModel, character: Character, soles: list[int]) -> StandingBody:
    """Return a body as it stands on two feet.

    Args:
        model: The scene.
        character: Who.
        soles: Geoms it stands on.

    Raises:
        BodyError: It has not two feet.
    """
    feet, stance = two_feet(model, character, soles), mujoco.MjData(model)
    mujoco.mj_kinematics(model, stance)
    ways = [_ahead(stance, foot) for foot in feet]
    ahead = np.sum([way / max(float(np.linalg.norm(way)), 1e-9) for way in ways], axis=0)
    seen = stance.xmat[character.root_body].reshape(3, 3).T @ ahead
    axis = int(np.argmax(np.abs(seen)))
    hips = [foot.chain[0] for foot in feet]
    across = stance.xpos[hips[0]] - stance.xpos[hips[1]]
    rest = np.array([rest_height(foot) for foot in feet])
    legs = [frozenset([*foot.chain, *([foot.toe] if foot.toe >= 0 else [])]) for foot in feet]
    long = np.array([leg_length(model, foot) for foot in feet])
    spare = np.array([np.zeros(3) if foot.rolls else foot.ahead for foot in feet])
    drawn = [drawn_in(model, foot, SETTINGS["shrink"]) for foot in feet]
    return StandingBody(
        (feet[0].body, feet[1].body), (hips[0], hips[1]), (legs[0], legs[1]), (feet[0].owners, feet[1].owners),
        (drawn[0], drawn[1]), (_front(stance, feet[0]), _front(stance, feet[1])), rest, long,
        spare, (axis, float(np.sign(seen[axis]))), bool(across @ [-ahead[1], ahead[0], 0.0] > 0.0),
        size_of(model, feet), min(character.grip[geom] for geom in soles),
    )  # fmt: skip


def _places(stance: mujoco.MjData, foot: Foot) -> Floats:
    """Return a foot's points in the reference stance [m], (points, 3)."""
    turns = stance.xmat[foot.owners].reshape(-1, 3, 3)
    return np.asarray(stance.xpos[foot.owners] + np.einsum("pij,pj->pi", turns, foot.points))


def _ahead(stance: mujoco.MjData, foot: Foot) -> Floats:
    """Return which way a foot points in the reference stance, (3,)."""
    return np.asarray(stance.xmat[foot.body].reshape(3, 3) @ foot.ahead * [1.0, 1.0, 0.0])


def _front(stance: mujoco.MjData, foot: Foot) -> NDArray[np.bool_]:
    along = _places(stance, foot) @ _ahead(stance, foot)
    return np.asarray(along > 0.5 * (along.min() + along.max()))


def own_targets(reference: Reference) -> OwnTargets:
    """Return a reference as the programme reads it."""
    motion, plan, fps = reference.motion, reference.plan, reference.motion.fps
    count = len(motion.qpos)
    centre = np.zeros((count, CENTRE))
    parts = (plan.com, plan.velocity, plan.acceleration, plan.momentum, plan.moment, plan.zmp)
    centre[:] = np.concatenate([*parts, *_pressures(reference)], axis=1)
    feet = np.zeros((count, 2, POSE))
    turns = _continuous(reference.turns)
    velocity = smoothed(rates(reference.places, fps), _FOOT_SMOOTH * fps)
    feet[..., :3], feet[..., 3:7] = reference.places, turns
    feet[..., 7:10], feet[..., 10:13] = velocity, rates(velocity, fps)
    feet[..., 13:16] = smoothed(spins(turns, fps), _FOOT_SMOOTH * fps)
    carries = np.zeros((count, 2, POINTS))
    carries[..., : reference.carries.shape[2]] = reference.carries
    return OwnTargets(
        fps, *(np.ascontiguousarray(rows) for rows in (
            motion.qpos, reference.velocity, reference.acceleration, centre, feet, _phases(reference.stands, fps),
            carries, _flights(reference.stands, fps),
        )),
    )  # fmt: skip


def _continuous(turns: Floats) -> Floats:
    """Return orientations without jumps of sign, (F, …, 4)."""
    signs = np.where((turns[1:] * turns[:-1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.concatenate([turns[:1], turns[1:] * np.cumprod(signs, axis=0)])


def _pressures(reference: Reference) -> tuple[Floats, Floats]:
    """Return each foot's share of the pressure, (F, 2), and of ∫ ω·exp(−ω·s)·pressure(t + s) ds from now on, (F, 2).

    Of what is to come only the stance counts that a foot is in, or swings to: where the one after it will be is open.
    """
    stands, places, fps = reference.stands, reference.places, reference.motion.fps
    far = np.linalg.norm(reference.plan.zmp[:, None] - places[..., :2], axis=2)
    share = np.where(stands, 1.0 / (_BESIDE + far), 0.0)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
    height = float(np.median(reference.plan.com[:, 2] - places[..., 2].min()))
    fades = float(np.exp(-np.sqrt(GRAVITY / max(height, 0.1)) / fps))
    ahead = np.zeros_like(share)
    for foot in range(2):
        to_come = share[-1, foot]
        for frame in range(len(share) - 1, -1, -1):
            if frame + 1 < len(share) and stands[frame, foot] and not stands[frame + 1, foot]:
                to_come = 0.0
            to_come = fades * to_come + (1.0 - fades) * share[frame, foot]
            ahead[frame, foot] = to_come
    return share, ahead


def _phases(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return whether each foot stands, and when that began and ends [s], (F, 2, 3); what is not in the clip: never."""
    found = np.zeros((len(stands), 2, 3))
    for foot in range(2):
        for flags, value in ((stands[:, foot], 1.0), (~stands[:, foot], 0.0)):
            for start, end in stretches(flags):
                over = end / fps if end < len(stands) else NEVER
                found[start:end, foot] = value, start / fps, over
    return found


def _flights(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return the flight each frame is in, or nearest to, [s], (F, 2)."""
    found = np.full((len(stands), 2), NEVER)
    spans = [(start / fps, end / fps) for start, end in stretches(np.asarray(~stands.any(axis=1)))]
    for frame in range(len(stands) if spans else 0):
        now = frame / fps
        found[frame] = min(spans, key=lambda span: max(span[0] - now, now - span[1]))
    return found
