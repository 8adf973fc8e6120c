"""A task for a policy: one character on a stage, what it feels, and what it is rewarded for.

A task knows nothing of Gymnasium; `env` and `vector` wrap it. It drives the stage's own loop, so that a policy trained
here meets the same physics, the same strength and the same springs as in a performance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.core.board import COMPOSITE
from stunt.errors import BlowUpError, InvalidValueError
from stunt.gym import native
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

NAME = "double"
"""The character's name on the stage."""
Row = NDArray[np.float32]


@dataclass(frozen=True)
class Rates:
    """How often things happen.

    Attributes:
        physics_hz: Physics steps per second.
        control_hz: How often springs are written; divides `physics_hz`. The springs themselves are solved at every
            physics step; writing them anew only where the policy acts is the fastest.
        policy_hz: How often the policy acts; divides `control_hz`.
    """

    physics_hz: float = 120.0
    control_hz: float = 30.0
    policy_hz: float = 30.0

    @property
    def steps(self) -> int:
        """Physics steps per action.

        Raises:
            InvalidValueError: That is no whole number of control steps.
        """
        ratio = self.control_hz / self.policy_hz
        if ratio < 1.0 or abs(ratio - round(ratio)) > 1e-9:
            expected = f"a whole fraction of control_hz ({self.control_hz:g})"
            raise InvalidValueError("policy_hz", self.policy_hz, expected)
        return round(self.physics_hz / self.policy_hz)


class Task:
    """What all tasks share: the stage, the joints, actions as goals of springs, observation of the body itself.

    A task of your own says `_set_up`, `_begin`, `_before` and `_look`.

    Attributes:
        stage: Where it happens.
        character: Who.
        size: Numbers in an observation.
        actions: Numbers in an action: one per degree of freedom, in −1 … 1.
        row: Which of the poses in `rows` actions are relative to.
        table: Addresses of all arrays a step touches (see `stunt.gym.native`).
        reward: Of the last step.
        terminated: Whether the episode has come to a bad end.
        truncated: Whether its time is up.
        info: What else there is to say of the last step.
    """

    tail = 0
    """Numbers a task adds to the observation of the body itself."""

    def __init__(self, character: CharacterSpec, rates: Rates, seconds: float, tension: float) -> None:
        """Build the stage.

        Args:
            character: Body, root and strength.
            rates: How often things happen.
            seconds: Length of an episode.
            tension: Seconds in which the springs bring a joint to its goal; at least two control periods' worth.

        Raises:
            StuntError: A value that makes no sense, or a stage that cannot be built.
        """
        for what, value in (("seconds", seconds), ("tension", tension)):
            if not (math.isfinite(value) and value > 0):
                raise InvalidValueError(what, value, "a positive number of seconds")
        self.rates, self.seconds, self.steps = rates, seconds, rates.steps
        scene = Scene({NAME: character}, physics_hz=rates.physics_hz, control_hz=rates.control_hz)
        self.stage = StageLoop(scene)
        self.character: Character = self.stage.character(NAME)
        self.qpos, self.qvel = self.stage.data.qpos, self.stage.data.qvel
        root = self.character.root
        self.root, self.root_dof = (-1, -1) if root is None else (root.qpos, root.dof)
        self.actions = len(self.character.dofs)
        self.row = 0
        self.neutral: Floats = self.stage.data.qpos.copy()
        self.rows: Floats = self.neutral[None].copy()
        self.paces: Floats = np.zeros((1, self.stage.model.nv))
        self.ends: NDArray[np.int64] = np.zeros(0, np.int64)
        self.places: Floats = np.zeros((1, 0, 3))
        self.scale: Floats = np.ones(self.actions)
        self.wanted: Floats = self.neutral.copy()
        self._take_charge(tension)
        self._set_up()
        self.own = (native.ROOT_NUMBERS if root is not None else 0) + 2 * self.actions
        self.size = self.own + self.tail
        self.observation = np.zeros(self.size, np.float32)
        self.reward, self.terminated, self.truncated = 0.0, False, False
        self.info: dict[str, Any] = {}
        self._start = self.stage.save()
        self._end = self.stage.tick_of(seconds)

    def _take_charge(self, tension: float) -> None:
        board = self.stage.board
        for joint in self.character.joints.values():
            board.law[joint.id] = COMPOSITE
            board.hold[joint.id] = tension / TIME_CONSTANTS
            board.feed_bias[joint.id] = 1

    @property
    def observation(self) -> Row:
        """The last observation, (size,). May be set to any row of a larger array: it is written in place."""
        return self._observation

    @observation.setter
    def observation(self, row: Row) -> None:
        self._observation = row
        joints = list(self.character.joints.values())
        ranges = [joint.range if joint.range is not None and joint.nv == 1 else (-np.inf, np.inf) for joint in joints]
        limits = np.array(ranges, float)
        model, data, board = self.stage.model, self.stage.data, self.stage.board
        sizes = (len(joints), self.actions, self.root, self.root_dof, len(self.ends), model.nq, model.nv)
        self._arrays: dict[str, NDArray[Any]] = dict(  # kept alive
            sizes=np.array([sizes], native.SIZES), qpos=data.qpos, qvel=data.qvel, xpos=data.xpos, torque=board.torque,
            limit=board.limit, goal=board.goal, ball=np.array([joint.kind == "ball" for joint in joints], np.int64),
            qadr=np.array([joint.qpos for joint in joints], np.int64),
            vadr=np.array([joint.dof for joint in joints], np.int64), low=limits[:, 0].copy(), high=limits[:, 1].copy(),
            scale=self.scale, dofs=self.character.dofs.astype(np.int64), ends=self.ends, rows=self.rows,
            paces=self.paces, places=self.places, wanted=self.wanted, out=row,
        )  # fmt: skip
        self.table = native.TABLE.fill(**self._arrays)

    # ---- what a task says for itself

    def _set_up(self) -> None:
        """Prepare what never changes: `tail`, `scale`, and poses in `rows`."""

    def _begin(self, rng: np.random.Generator) -> None:
        """Set the stage for an episode; it is at its start. All chance comes from `rng`, now and later."""

    def _before(self) -> None:
        """Do what happens between two actions: a push, the next row of a clip."""

    def _look(self) -> None:
        """Write observation, reward, terminated and info for the present state."""
        raise NotImplementedError

    # ---- the loop

    def reset(self, rng: np.random.Generator) -> None:
        """Start an episode; all chance comes from `rng`."""
        self.stage.restore(self._start)
        self.info = {}
        self._begin(rng)
        self._look()
        self.reward, self.terminated, self.truncated = 0.0, False, False

    def step(self, action: NDArray[Any]) -> None:
        """Act once and go on to the next decision."""
        self._before()
        native.steer(self.table, action, self.row)
        self.info = {}
        try:
            self.stage.advance(self.steps)
        except BlowUpError as error:
            # Physics broke: the episode is over, the observation stays that of the step before.
            self.reward, self.terminated, self.truncated = 0.0, True, False
            self.info = {"blow_up": str(error)}
            return
        self._look()
        self.truncated = self.stage.tick >= self._end and not self.terminated
