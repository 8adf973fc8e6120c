"""Balancing: standing on one's own feet while being pushed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stunt.errors import BodyError
from stunt.gym import native
from stunt.gym.task import NAME, Rates, Task
from stunt.stage.scene import CharacterSpec

_REACH = 0.6  # [rad] an action of 1 moves a joint away from standing
_DOWN = 0.7  # of its standing height: lower is fallen
_TILT = math.cos(math.radians(60.0))
_EFFORT = 0.05


class BalanceTask(Task):
    """A character on its feet, pushed at the trunk every now and then.

    An action of −1 … 1 moves a joint up to 0.6 rad away from standing. The reward is up to 1 per second of standing
    upright at full height, less for effort; the episode ends in a fall.
    """

    def __init__(
        self,
        body: str = "human39",
        *,
        seconds: float = 10.0,
        push: float = 60.0,
        every: float = 2.0,
        pushed: str | None = None,
        tension: float = 0.25,
        rates: Rates | None = None,
        **character: Any,
    ) -> None:
        """Build the stage.

        Args:
            body: Any body that stands.
            seconds: Length of an episode.
            push: Largest impulse of a push [N·s], in any horizontal direction.
            every: Mean time between pushes [s].
            pushed: Which body is pushed; None takes the thorax, or else the root.
            tension: Seconds in which the springs bring a joint to its goal.
            rates: How often things happen.
            character: What else a `CharacterSpec` takes.
        """
        self.push, self.every, self._pushed = push, every, pushed
        spec = CharacterSpec(body, root="free", **character)
        super().__init__(spec, rates or Rates(), seconds, tension)

    def _set_up(self) -> None:
        if self.character.root is None:
            raise BodyError(f"'{NAME}' needs a free root to balance.")
        self.scale = np.full(self.actions, _REACH)
        self.height = float(self.neutral[self.root + 2])
        root = self.character.root_body
        self.target = self.character.bodies.get("thorax", root) if self._pushed is None else (
            self.character.body(self._pushed)
        )  # fmt: skip
        self.next, self.force, self.pushing = 0, np.zeros(2), False
        self.rng = np.random.default_rng(0)
        self.applied = self.stage.data.xfrc_applied[self.target]

    def _begin(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.applied[:] = 0.0
        self.pushing = False
        self._draw()

    def _draw(self) -> None:
        """Draw when the next push comes, and how it goes."""
        wait = self.rng.uniform(0.5, 1.5) * self.every
        self.next = self.stage.tick + max(1, round(wait * self.rates.policy_hz)) * self.steps
        way, size = self.rng.uniform(-math.pi, math.pi), self.rng.uniform(0.0, self.push)
        self.force = size * self.rates.policy_hz * np.array([math.cos(way), math.sin(way)])

    def _before(self) -> None:
        if self.pushing:
            self.applied[:2] = 0.0
        self.pushing = self.stage.tick >= self.next
        if self.pushing:
            self.applied[:2] = self.force  # for one action: its impulse is what was drawn
            self._draw()

    def _look(self) -> None:
        height, tilt, spent = native.look_upright(self.table)
        height /= self.height
        standing = math.exp(-5.0 * (1.0 - tilt) - 20.0 * (1.0 - height) ** 2)
        self.reward = (standing - _EFFORT * spent) / self.rates.policy_hz
        self.terminated = height < _DOWN or tilt < _TILT
