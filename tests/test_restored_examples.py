"""Saved in the middle and restored: every example goes on bit for bit, on its own stage and on a fresh one."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.examples import example, example_names
from stunt.script.file import load_script
from stunt.script.performance import Performance

STRETCH = 0.15


@pytest.mark.parametrize("name", example_names())
def test_an_example_goes_on_from_a_saved_state_bit_for_bit(name):
    script = load_script(example(name).path)
    one = Performance(script, foretell=False)
    steps = one.stage.tick_of(STRETCH)
    one.stage.advance(steps)
    state = one.stage.save()
    one.stage.advance(steps)
    want = one.take()
    other = Performance(script, foretell=False)
    other.stage.advance(steps // 3)  # somewhere else
    for performance in (one, other):
        if performance is one:
            one.stage.restore(state)
        else:
            other.stage.advance(steps - steps // 3)
            state = other.stage.save()
            other.stage.advance(3)
            other.stage.restore(state)
        performance.stage.advance(steps)
        found = performance.take()
        for field in ("time", "qpos", "qvel", "torque", "stiffness", "contact_force"):
            np.testing.assert_array_equal(getattr(found, field), getattr(want, field), err_msg=field)
        assert found.events == want.events and found.meta["warnings"] == want.meta["warnings"]
