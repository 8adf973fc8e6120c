"""What keeps a body upright whose joints are driven one by one: its own feet, a spring on its root, or nothing.

On its own feet legs are the whole-body programme's. Beats of arms and trunk are tasks of it; tension and trajectories
stay springs, whose torques it counts on; where all of them lead is known beforehand, and made a motion in which both
feet stand (`stunt.drive.own.standing`). Whatever they are told anew is planned anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from stunt.character.character import Joint
from stunt.control.core.board import IMPEDANCE, PASSIVE, STANDING
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.own.reference import RATE
from stunt.drive.own.standing import standing_reference
from stunt.errors import BodyError, StuntError
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop

TAIL: Final = 1.0
"""How long after the last thing that is known a plan goes on [s]."""
NEAR: Final = 0.05
"""A sole so far above the ground, or below it, does not stand on it [m]."""


class Upright:
    """Keeps one body upright. Crew: it plans when something has changed."""

    def __init__(
        self,
        stage: StageLoop,
        name: str,
        lay: Callable[[Floats, Floats], float],
        begin: Callable[[], None],
        changed: Callable[[bool], None],
    ) -> None:
        """Look after a body with a free root; nothing holds it yet.

        Args:
            stage: Where it is.
            name: Who.
            lay: Lays where its joints will be over a path (T, nq) at times (T,); returns when all is known of them [s].
            begin: Says how it is kept upright, before anything moves.
            changed: Hears whether it goes on its own feet from now on.
        """
        self._stage, self._name, self._lay, self._begin, self._changed = stage, name, lay, begin, changed
        self.stands, self._stale, self._asks = False, False, True
        self._taken: dict[int, int] = {}  # joints taken from others, and the law each had
        self._fitted: tuple[float, Floats] = 0.0, np.zeros((0, 0))
        self.log: list[dict[str, Any]] = []
        stage.crew.append(self)

    @property
    def body(self) -> BodyActor:
        """The body it keeps upright."""
        return actor_of(self._stage, self._name)

    def why_not(self, *, passive: bool) -> str:
        """Return why it cannot stand on its own feet as it is; empty: it can. `passive`: whether legs may be."""
        stage, body = self._stage, self.body
        try:
            legs = body.own.leg_joints
        except StuntError as error:
            return str(error)
        if not np.any(stage.model.opt.gravity):
            return "nothing pulls it to the ground"
        if passive and not all(stage.board.law[body.character.joints[name].id] != PASSIVE for name in legs):
            return "joints of its legs are passive"
        low = [self._lowest(foot) for foot in body.own.program.actors["foot_body"][body.own.number]]
        if max(abs(height - body.floor) for height in low) > NEAR:
            return "its feet are not on the ground"
        return ""

    def _lowest(self, foot: int) -> float:
        """Return the height of the lowest point of a foot's soles [m]."""
        stage, body = self._stage, self.body
        who = body.own.program.actors[body.own.number]
        number = int(np.flatnonzero(who["foot_body"] == foot)[0])
        count, points = int(who["point_count"][number]), who["point_at"].reshape(2, -1, 3)[number]
        owners = who["point_owner"].reshape(2, -1)[number][:count]
        turned = np.einsum("pij,pj->pi", stage.data.xmat[owners].reshape(-1, 3, 3), points[:count])
        return float((stage.data.xpos[owners] + turned)[:, 2].min())

    def ask(self) -> None:
        """Have it said how it is kept upright before the next step, where that is not known."""
        self._asks = True
        self._stage.crew.announce(self)

    def keep(self, root: RootSpring, default: bool) -> None:
        """Keep it upright from now on.

        Args:
            root: How.
            default: Whether it stands on its own feet where nobody says, and it can.

        Raises:
            BodyError: It is told to stand on its own feet, and cannot.
        """
        self._asks = False
        self.release()
        kind, why = root.kind, ""
        if kind == "none" or not (kind or default):
            return
        why = self.why_not(passive=not kind)
        if why and kind == "own":
            raise BodyError(f"'{self._name}' cannot stand on its own feet: {why}. Hold it with `assist: weak`.")
        if kind in ("auto", ""):
            kind = "own" if not why else "weak" if kind == "auto" else "none"
            self._note(kind, why or "it stands on two feet")
        if not why:  # also who is helped stands by its legs
            self.stands = True
            self.body.on_give_up = self._fall
            self._changed(True)
            self.replan()
        if kind in ("weak", "hook"):
            self.body.hold_root(replace(root, kind=kind))

    def _note(self, kind: str, why: str) -> None:
        entry = {"kind": "assist", "time": self._stage.time, "character": self._name, "assist": kind, "why": why}
        self.log.append(entry)

    def replan(self) -> None:
        """Hear that somebody has been told something else."""
        if self.stands:
            self._stale = True
            self._stage.crew.announce(self)

    def release(self) -> None:
        """Hold it no longer."""
        if self.stands:
            self._let_go()
        body = self.body
        if body.joined and body.holds_root:
            body.program.release(body.number)

    def leave(self) -> None:
        """Hold it no longer, and ask nobody: somebody else moves it."""
        self._asks = False
        self.release()

    def _let_go(self) -> None:
        """Give joints back to those who had them."""
        self.stands = self._stale = False
        self.body.own.release()
        for joint, law in self._taken.items():
            self._stage.board.law[joint] = law
        self._taken = {}
        self._changed(False)

    def _fall(self) -> None:
        self._let_go()
        self._note("none", "it gave up standing")

    def fitted(self, time: float) -> Floats | None:
        """Return its own coordinates as they were planned for a time [s], (nq,); None while it does not stand."""
        began, poses = self._fitted
        return poses[min(max(round((time - began) * RATE), 0), len(poses) - 1)] if self.stands and len(poses) else None

    # ---- crew

    def due(self) -> int | None:
        """Return now, where there is something to say or to plan."""
        return self._stage.tick if self._stale or self._asks else None

    def act(self) -> None:
        """Have it said how it is kept upright, and plan how to stand through what is known."""
        if self._asks:
            self._asks = False
            self._begin()
        if self._stale:
            self._plan()

    def _plan(self) -> None:
        """Plan how to stand through what is known, from the state the body is in."""
        self._stale = False
        stage, body = self._stage, self.body
        board, own = stage.board, body.own
        path = np.tile(stage.data.qpos, (2, 1))
        until = max(self._lay(path, np.array([stage.time])), stage.time) + TAIL
        count = round((until - stage.time) * RATE) + 1
        path = np.tile(stage.data.qpos, (count, 1))
        self._lay(path, stage.time + np.arange(count) / RATE)
        reference = standing_reference(stage.model, body.character, path[:, body.slices[0]], body.soles, body.floor)
        self._fitted = stage.time, reference.motion.qpos
        if body.holds_root:
            body.lead_root(reference.motion)
        laws = board.law.copy()
        own.follow(reference, 0.0, floor=body.floor, free_clock=False)
        board.law[:] = laws
        own.helped = body.holds_root or bool(board.counts["strings"][0])  # a marionette's strings are help too
        own.free()
        limp = [joint.id for joint in body.character.joints.values() if joint.id in self._taken]
        own.take_tasks(joint.id for joint in body.character.joints.values() if joint.id not in limp)
        for name, joint in body.character.joints.items():
            law = int(laws[joint.id])
            if name in own.leg_joints:
                if law != STANDING:
                    self._take(joint, PASSIVE)
            elif law == PASSIVE:  # nobody drives it: it swings, and the programme counts on that
                self._take(joint, IMPEDANCE)
                board.tasked[joint.id] = 0
                board.feed_bias[joint.id] = 0
                for array in (board.stiffness, board.damping, board.feed_forward):
                    array[joint.dof : joint.dof + joint.nv] = 0.0

    def _take(self, joint: Joint, law: int) -> None:
        """Drive a joint otherwise while the body stands."""
        self._taken.setdefault(joint.id, int(self._stage.board.law[joint.id]))
        self._stage.board.law[joint.id] = law

    def move(self, by: Any) -> bool:
        """Go on, on a stage with another cast; whoever stands on its own feet keeps its cast together."""
        return self._name in self._stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self.stands, self._stale, self._asks, dict(self._taken), self._fitted, list(self.log)

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self.stands, self._stale, self._asks, taken, self._fitted, log = state
        self._taken, self.log[:] = dict(taken), log
