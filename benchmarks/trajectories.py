"""What trajectories and impacts cost, and how forward dynamics grows with the number of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import mujoco
import numpy as np

from benchmarks.bare import controlled_steps, put_controlled
from benchmarks.control_cost import cost_of
from benchmarks.result import Measurement
from benchmarks.timing import Floats, Job, exponent, interleaved, median_ratio, stopwatch
from benchmarks.trees import human_like
from stunt.control.core.programs import IMPACT
from stunt.control.impact.memory import ImpactProgram
from stunt.drive.paths.follower import Follower
from stunt.motion.trajectory import Trajectory
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Collisions, Scene

IMPACT_BAR: Final = 5.0
"""Bare steps that an impact may cost."""
GROWTH_BAR: Final = 1.1
SIZES: Final = (10, 20, 40, 80)
_SECONDS: Final = 3.0
_REPEATS: Final = 50


def measure(quick: bool = False) -> list[Measurement]:
    """Measure bodies with every joint on a trajectory, impacts with each kind of friction, and forward dynamics."""
    what = "trajectories over the bare step: every joint of"
    found = [cost_of(f"{what} {body}", on_trajectories(body), _SECONDS, quick) for body in ("human39", "human47")]
    return [*found, *(impact(kind, quick) for kind in ("none", "coulomb", "infinite")), forward_dynamics(quick)]


def on_trajectories(body: str) -> StageLoop:
    """Return a stage with a body whose every joint swings on a trajectory of its own."""
    stage = StageLoop(Scene(characters={"ada": CharacterSpec(body=body)}))
    follower = Follower(stage, "ada")
    times = np.linspace(0.0, 2.0 * _SECONDS, 25)
    for number, (name, joint) in enumerate(follower.character.joints.items()):
        here = float(stage.data.qpos[joint.qpos])
        reach = 0.1 * (joint.range[1] - here) if joint.range is not None else 0.1
        follower.joint(name, Trajectory.through(times.tolist(), list(here + reach * np.sin(times + number) ** 2)))
    return stage


def impact(friction: str, quick: bool = False) -> Measurement:
    """Measure steps of a falling body in which it strikes the floor or itself; the most expensive one counts."""
    collisions = Collisions(restitution=0.3, friction=friction)  # type: ignore[arg-type]
    stage = StageLoop(Scene(characters={"ada": CharacterSpec("human47", root="free")}, collisions=collisions))
    stage.data.qvel[[0, 4]] = -1.5, -1.0  # backwards, and over
    assert stage.impacts is not None
    states = _struck(stage, stage.impacts, 4 if quick else 20)
    jobs = [_impact_jobs(stage, stage.impacts, state) for state in states]
    interleaved(jobs, 2)  # warm up
    seconds = interleaved(jobs, 5 if quick else 41)
    over = np.median(seconds["struck"] / seconds["bare"], axis=0) - 1.0
    contacts = max(state["contacts"] for state in states)
    note = f"the worst of {len(states)}, typically {np.median(over):.2f}; up to {contacts} contacts"
    return Measurement(
        f"an impact on human47 in bare steps: friction {friction}", float(over.max()), "", IMPACT_BAR, note
    )


def _struck(stage: StageLoop, impacts: ImpactProgram, count: int) -> list[dict[str, Any]]:
    """Let the body fall; return the states right before its first impacts."""
    found: list[dict[str, Any]] = []
    while len(found) < count:
        state, memory, known = stage.save(), impacts.save(), impacts.count
        stage.advance(1)
        if impacts.count > known:
            found.append({**state, "impacts": memory, "contacts": impacts.size})
    return found


def _impact_jobs(stage: StageLoop, impacts: ImpactProgram, state: dict[str, Any]) -> dict[str, Job]:
    """Return jobs that take one step, with and without the impact stage."""
    slot = int(impacts.table.ctypes.data)

    def step(program: int) -> float:
        put_controlled(stage, state)
        impacts.restore(state["impacts"])
        stage.board.programs[IMPACT] = program
        try:
            return stopwatch(lambda: controlled_steps(stage, 1))
        finally:
            stage.board.programs[IMPACT] = slot

    return {"bare": lambda: step(0), "struck": lambda: step(slot)}


def forward_dynamics(quick: bool = False) -> Measurement:
    """Measure how forward dynamics grows with the number of joints."""
    sizes = SIZES[:2] if quick else SIZES
    seconds = forward_seconds(sizes, 5 if quick else 41)
    growth = [median_ratio(times, seconds[sizes[0]]) for times in seconds.values()]
    note = ", ".join(f"{size}: {1e6 * float(np.median(times)):.1f} µs" for size, times in seconds.items())
    name = f"exponent of forward dynamics over joints, {sizes[0]} to {sizes[-1]}"
    return Measurement(name, exponent(sizes, growth), "", GROWTH_BAR, note)


def forward_seconds(sizes: Sequence[int], rounds: int) -> dict[int, Floats]:
    """Return the seconds of one forward dynamics of human-like trees by number of joints, (rounds, 1) each."""
    jobs = {str(size): _forward_job(size) for size in sizes}
    interleaved([jobs], 2)  # warm up
    seconds = interleaved([jobs], rounds)
    return {size: seconds[str(size)] for size in sizes}


def _forward_job(size: int) -> Job:
    model = human_like(size)
    data, rng = mujoco.MjData(model), np.random.default_rng(size)
    data.qpos[:], data.qvel[:] = rng.uniform(-0.5, 0.5, model.nq), rng.uniform(-1.0, 1.0, model.nv)

    def work() -> None:
        for _ in range(_REPEATS):
            mujoco.mj_forward(model, data)

    return lambda: stopwatch(work) / _REPEATS
