"""Tasks as Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from stunt.errors import UnknownNameError
from stunt.gym.picture import Picture
from stunt.gym.task import Row, Task
from stunt.gym.tasks import make_task
from stunt.stage.loop import SPEED_LIMIT

_MOST = 2.0 * SPEED_LIMIT  # velocities are the largest numbers there are, and a stage stops where they grow beyond


def spaces_of(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """Return a task's observation and action space."""
    return (
        spaces.Box(-_MOST, _MOST, (task.size,), np.float32),
        spaces.Box(-1.0, 1.0, (task.actions,), np.float32),
    )


class StuntEnv(gymnasium.Env[Row, NDArray[np.float32]]):
    """One task, one character.

    Attributes:
        task: What is trained; its stage can be looked at, saved and restored.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, task: str | Task, render_mode: str | None = None, **options: Any) -> None:
        """Build the stage.

        Args:
            task: `track`, `balance`, `beats`, or a task of your own.
            render_mode: `rgb_array` (drawn on the processor, no OpenGL) or None.
            options: What the task takes (see its class).

        Raises:
            StuntError: No such task or rendering, or the stage cannot be built.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise UnknownNameError("render mode", render_mode, self.metadata["render_modes"])
        self.task = make_task(task, **options)
        self.metadata = {**type(self).metadata, "render_fps": round(self.task.rates.policy_hz)}
        self.render_mode = render_mode
        self.observation_space, self.action_space = spaces_of(self.task)  # type: ignore[assignment]
        self._picture: Picture | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Row, dict[str, Any]]:
        """Start an episode; with a seed, always the same one."""
        super().reset(seed=seed)
        self.task.reset(self.np_random)
        return self.task.observation.copy(), self.task.info

    def step(self, action: NDArray[np.float32]) -> tuple[Row, float, bool, bool, dict[str, Any]]:
        """Act once."""
        task = self.task
        task.step(action)
        return task.observation.copy(), task.reward, task.terminated, task.truncated, task.info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the stage, (480, 640, 3)."""
        if self.render_mode is None:
            return None
        if self._picture is None:
            self._picture = Picture(self.task.stage)
        return self._picture.take()
