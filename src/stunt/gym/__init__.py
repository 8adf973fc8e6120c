"""Gymnasium environments: learn to track a clip, to balance, to hit beats, on the very stage performances run on.

Importing this registers `Stunt/Track-v0`, `Stunt/Balance-v0` and `Stunt/Beats-v0`, vectorised too:

>>> import gymnasium, stunt.gym
>>> env = gymnasium.make("Stunt/Beats-v0")
>>> many = gymnasium.make_vec("Stunt/Beats-v0", num_envs=8, vectorization_mode="vector_entry_point")
"""

from __future__ import annotations

from stunt.errors import StuntError

try:
    import gymnasium
except ModuleNotFoundError as error:  # an extra
    raise StuntError("environments need Gymnasium: pip install 'stunt[gym]'.") from error

from stunt.gym.balance import BalanceTask
from stunt.gym.beats import Beats
from stunt.gym.env import TASKS, StuntEnv, make_task
from stunt.gym.task import Rates, Task
from stunt.gym.track import TrackTask
from stunt.gym.vector import StuntVectorEnv

IDS = {"track": "Stunt/Track-v0", "balance": "Stunt/Balance-v0", "beats": "Stunt/Beats-v0"}
"""The environments' ids by task."""


def register() -> None:
    """Register the environments; done once, when this is imported."""
    for task, id_ in IDS.items():
        if id_ not in gymnasium.registry:
            gymnasium.register(
                id_, entry_point="stunt.gym.env:StuntEnv", vector_entry_point="stunt.gym.vector:StuntVectorEnv",
                kwargs={"task": task}, disable_env_checker=True, order_enforce=False,  # a task is checked by tests
            )  # fmt: skip


register()

__all__ = [
    "IDS", "TASKS", "BalanceTask", "Beats", "Rates", "StuntEnv", "StuntVectorEnv", "Task", "TrackTask", "make_task",
    "register",
]  # fmt: skip
