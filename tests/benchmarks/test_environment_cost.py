"""The bare engine an environment is compared with passes the same states."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is an extra: pip install 'stunt[gym]'")

from benchmarks import environments  # noqa: E402
from benchmarks.bare import Bare  # noqa: E402


@pytest.mark.parametrize("task", ["track", "balance", "beats"])
def test_environment_and_bare_engine_end_in_the_same_state_bit_for_bit(task: str) -> None:
    import stunt.gym as stunt_gym

    env = gymnasium.make(stunt_gym.IDS[task], **environments._OPTIONS[task])
    env.reset(seed=0)
    case = environments._case(env, 1)
    bare = Bare(env.unwrapped.task.stage)
    environments._put(env.unwrapped.task, case)
    for action in case.actions:
        env.step(action)
    bare.put(case.state)
    bare.steps(case.rows)
    assert np.array_equal(bare.data.qpos, env.unwrapped.task.stage.data.qpos)
    assert len(case.rows) == len(case.actions) * env.unwrapped.task.steps
