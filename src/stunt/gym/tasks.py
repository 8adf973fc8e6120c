"""Tasks by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stunt.errors import UnknownNameError
from stunt.gym.balance import BalanceTask
from stunt.gym.beats import Beats
from stunt.gym.task import Task
from stunt.gym.track import TrackTask

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
