"""Short performances that between them call every law; run as a program, they are written to a file.

`python short_performances.py states.npz` is how the same kernels are run without compiling them: with
`NUMBA_DISABLE_JIT=1` in a process of its own.
"""

import sys

import numpy as np

from stunt import Performance, load_script
from stunt.examples import example

SECONDS = {
    "ymca": 0.5,  # beats, full coupling
    "balance_flat": 0.1,  # beats of a body on its own feet
    "wave": 0.3,  # tension
    "waist_smooth": 0.2,  # joints along paths
    "marionette": 0.2,  # a site pulled along a path
    "walk_clip": 0.2,  # the servo follows a clip
    "kick_partner": 0.2,  # bodies on data, watched and looked out for
    "falling_chain": 0.3,  # two-stage impacts
}


def states(names=tuple(SECONDS)):
    """Return positions, velocities and torques of each performance, a row every fiftieth of a second."""
    found = {}
    for name in names:
        stage, rows = Performance(load_script(example(name).path), foretell=False).stage, []
        while stage.time < SECONDS[name] - 1e-9:
            stage.step(0.02)
            rows.append(np.concatenate([stage.data.qpos, stage.data.qvel, stage.board.torque]))
        found[name] = np.array(rows)
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **states())
