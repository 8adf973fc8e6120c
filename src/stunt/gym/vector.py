"""Many environments of one task at once: each has its own stage, and physics runs on all cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stunt.errors import InvalidValueError
from stunt.gym.env import make_task, spaces_of
from stunt.gym.task import Row


class StuntVectorEnv(VectorEnv[Row, NDArray[np.float32], NDArray[Any]]):
    """Several tasks of one kind, stepped together.

    An episode that ended is started anew by the next step, whose action it ignores (Gymnasium's `NEXT_STEP`). Physics
    runs without Python's lock: with `threads` the environments share the cores.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: str, num_envs: int = 1, threads: int | None = None, **options: Any) -> None:
        """Build the stages.

        Args:
            task: `track`, `balance` or `beats`.
            num_envs: How many.
            threads: How many work at once; None is one per core, at most one per environment.
            options: What the task takes (see its class).
        """
        if num_envs < 1:
            raise InvalidValueError("num_envs", num_envs, "at least 1")
        options.pop("render_mode", None)  # pictures are taken of single environments
        self.num_envs = num_envs
        self.tasks = [make_task(task, **options) for _ in range(num_envs)]
        self.single_observation_space, self.single_action_space = spaces_of(self.tasks[0])
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observations = np.zeros((num_envs, self.tasks[0].size), np.float32)
        for row, one in zip(self._observations, self.tasks, strict=True):
            one.observation = row  # written in place: nothing is gathered afterwards
        self._rewards, self._ended = np.zeros(num_envs), np.zeros((2, num_envs), bool)
        self._over = [False] * num_envs
        self._chances = [np.random.default_rng() for _ in range(num_envs)]
        workers = min(num_envs, threads or os.cpu_count() or 1)
        edges = [round(number * num_envs / workers) for number in range(workers + 1)]
        self._groups = [range(first, last) for first, last in zip(edges, edges[1:], strict=False)]
        self._pool = ThreadPoolExecutor(workers - 1) if workers > 1 else None

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Row, dict[str, Any]]:
        """Start all episodes; with a seed environment i has seed + i."""
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, int):
            seeds = [seed + number for number in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        mask = (options or {}).get("reset_mask")
        for number, (one, start) in enumerate(zip(self.tasks, seeds, strict=True)):
            if mask is not None and not mask[number]:
                continue
            if start is not None:
                self._chances[number] = np.random.Generator(np.random.PCG64(start))
            one.reset(self._chances[number])
            self._over[number] = False
        return self._observations.copy(), {}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[Row, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Act once in every environment; those whose episode was over start a new one instead."""
        actions = np.asarray(actions, np.float32)
        if actions.shape != (self.num_envs, self.tasks[0].actions):
            expected = f"of shape ({self.num_envs}, {self.tasks[0].actions})"
            raise InvalidValueError("actions", actions.shape, expected)
        if self._pool is None:
            self._work(self._groups[0], actions)
        else:
            waiting = [self._pool.submit(self._work, group, actions) for group in self._groups[1:]]
            self._work(self._groups[0], actions)
            for some in waiting:
                some.result()
        terminated, truncated = self._ended.copy()
        self._over = (terminated | truncated).tolist()
        info: dict[str, Any] = {}
        for number, one in enumerate(self.tasks):
            if one.info:
                info = self._add_info(info, one.info, number)
        return self._observations.copy(), self._rewards.copy(), terminated, truncated, info

    def _work(self, group: range, actions: NDArray[np.float32]) -> None:
        tasks, rewards, ended = self.tasks, self._rewards, self._ended
        for number in group:
            one = tasks[number]
            if self._over[number]:
                one.reset(self._chances[number])
            else:
                one.step(actions[number])
            rewards[number], ended[0, number], ended[1, number] = one.reward, one.terminated, one.truncated

    def close_extras(self, **options: Any) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
