"""How the cost of control grows with the number of joints, in trees grown the way people are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mujoco
import numba
import numpy as np

from benchmarks.result import Measurement
from benchmarks.timing import Floats, Job, exponent, interleaved, median_ratio, stopwatch
from benchmarks.trees import human_like
from papers.p0.inertia import composite_inertias
from stunt.control.core.board import COUPLINGS, Board
from stunt.control.core.kernel import after, before, between
from stunt.control.core.views import views_at

BAR: Final = 1.1
SIZES: Final = (10, 20, 40, 80)
_REPEATS = 200


def _control(model: int, data: int, table: Any, repeats: int, time: float) -> None:
    """Do what one control step does, without the engine's step, again and again."""
    v = views_at(table.ctypes.data)
    for _ in range(repeats):
        before(v, time, 0, 0)
        between(v, time, model, data)
        after(v)


def measure(quick: bool = False) -> list[Measurement]:
    """Measure control under full and composite coupling, and the composite-inertia recursion in plain Python."""
    # Not cached on disk: the cache of this folder would not notice when the kernel changes.
    control = numba.njit(_control)
    sizes = SIZES[:2] if quick else SIZES
    bodies = [_Body(size) for size in sizes]
    jobs: dict[str, Job] = {}
    for body in bodies:
        for coupling in ("full", "composite"):
            jobs[f"{coupling} {body.size}"] = body.control_job(control, coupling)
        jobs[f"recursion {body.size}"] = body.recursion_job()
    interleaved([jobs], 1)  # warm up, and compile
    seconds = interleaved([jobs], 3 if quick else 41)
    return [
        _measurement("control, full coupling", "full", sizes, seconds, BAR),
        _measurement("control, composite coupling", "composite", sizes, seconds, BAR),
        _measurement("composite-inertia recursion (Python)", "recursion", sizes, seconds, BAR),
    ]


def _measurement(what: str, kind: str, sizes: tuple[int, ...], seconds: dict[str, Floats], bar: float) -> Measurement:
    typical = [float(np.median(seconds[f"{kind} {size}"])) for size in sizes]
    times = ", ".join(f"{size}: {1e6 * time:.2f} µs" for size, time in zip(sizes, typical, strict=True))
    # Each size against the smallest of the same round, so that a slow moment of the machine cancels.
    growth = [median_ratio(seconds[f"{kind} {size}"], seconds[f"{kind} {sizes[0]}"]) for size in sizes]
    name = f"exponent of cost over joints, {sizes[0]} to {sizes[-1]}: {what}"
    return Measurement(name, exponent(sizes, growth), "", bar, times)


class _Body:
    """A body of so many joints, in some pose, on its way to another."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.model = human_like(size)
        self.data = mujoco.MjData(self.model)
        rng = np.random.default_rng(size)
        self.data.qpos[:] = rng.uniform(-0.5, 0.5, self.model.nq)
        self.data.qvel[:] = rng.uniform(-1.0, 1.0, self.model.nv)
        mujoco.mj_forward(self.model, self.data)
        self.goal = rng.uniform(-0.5, 0.5, self.model.nq)

    def control_job(self, control: Callable[..., None], coupling: str) -> Job:
        """Return a job that takes control steps, and tells the seconds of one."""
        # Each job with a model of its own: springs that one law leaves behind must not be another's.
        body = _Body(self.size)
        board = Board(body.model, body.data, float(body.model.opt.timestep))
        board.law[:] = COUPLINGS[coupling]
        board.goal[:] = body.goal
        board.goal_time[:] = 1.0

        def job() -> float:
            addresses = body.model._address, body.data._address
            return stopwatch(lambda: control(*addresses, board.table, _REPEATS, 0.5)) / _REPEATS

        return job

    def recursion_job(self) -> Job:
        """Return a job that gathers the composite inertias once."""
        return lambda: stopwatch(lambda: composite_inertias(self.model, self.data))
