"""Tasks as Gymnasium environments.

Pictures of a stage, drawn on the processor: a camera that goes along with the character.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from stunt.errors import UnknownNameError
from stunt.gym.balance import BalanceTask
from stunt.gym.beats import Beats
from stunt.gym.task import Row, Task
from stunt.gym.track import TrackTask
from stunt.record.raycast.camera import Camera
from stunt.record.raycast.render import Raycaster
from stunt.stage.loop import SPEED_LIMIT, StageLoop

WIDTH, HEIGHT = 640, 480
_AZIMUTH, _ELEVATION = math.radians(40.0), math.radians(10.0)
_MARGIN = 0.85  # of the character's size


class Picture:
    """Takes pictures of one stage's first character."""

    def __init__(self, stage: StageLoop) -> None:
        """Choose the lens by how large the character is now."""
        self._stage = stage
        self._character = next(iter(stage.characters.values()))
        self._caster = Raycaster(stage.model)
        geoms = sorted(self._character.geoms)
        reach = np.ptp(stage.data.geom_xpos[geoms], axis=0).max() if geoms else 1.0
        self._away = _MARGIN * max(float(reach), 0.3) / math.tan(math.radians(14.0))

    def take(self) -> NDArray[np.uint8]:
        """Return a picture of the present state, (480, 640, 3)."""
        data = self._stage.data
        x, y, z = (float(value) for value in data.subtree_com[self._character.root_body])
        flat = self._away * math.cos(_ELEVATION)
        eye = (x + flat * math.cos(_AZIMUTH), y + flat * math.sin(_AZIMUTH), z + self._away * math.sin(_ELEVATION))
        return self._caster.render(data.geom_xpos, data.geom_xmat, Camera(eye, (x, y, z)), WIDTH, HEIGHT, samples=1)


TASKS: Final[dict[str, Callable[..., Task]]] = {"track": TrackTask, "balance": BalanceTask, "beats": Beats}
"""What can be trained, by name; add a task of your own here to register it."""


def make_task(task: str | Task, **options: Any) -> Task:
    """Return a task by name, or the task itself.

    Raises:
        UnknownNameError: There is no such task.
    """
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise UnknownNameError("task", task, TASKS)
    return TASKS[task](**options)


_MOST = 2.0 * SPEED_LIMIT  # velocities are the largest numbers there are, and a stage stops where they grow beyond


def spaces_of(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """Return a task's observation and action space."""
    return (spaces.Box(-_MOST, _MOST, (task.size,), np.float32), spaces.Box(-1.0, 1.0, (task.actions,), np.float32))


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
