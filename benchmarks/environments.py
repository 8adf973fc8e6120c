"""What Gymnasium costs: whole steps of an environment against the bare stepping of the same scene.

Bare stepping is the engine alone, `mj_step` in the tightest compiled loop there is, given step by step the forces and
springs control wrote when the environment went the same way: the same states bit for bit, the same contacts, and
neither control, observation, reward nor Python. The stage's own loop without environment is measured beside it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from benchmarks.bare import Bare, Notes, put_controlled
from benchmarks.result import Measurement
from benchmarks.timing import Floats, Job, interleaved, median_ratio, stopwatch, typical
from stunt.errors import StuntError

BAR: Final = 1.25
"""Times the bare stepping: 80 % of its speed."""
_ACTIONS = 16  # of a policy, per look at the clock
_OPTIONS: Final[dict[str, dict[str, Any]]] = {"track": {}, "balance": {"push": 0.0}, "beats": {}}


def measure(quick: bool = False) -> list[Measurement]:
    """Measure every environment alone, then eight at once.

    Raises:
        StuntError: Gymnasium is not installed.
    """
    found = []
    for task in _OPTIONS:
        found += _single(task, quick)
    return [*found, *(_many(task, quick) for task in _OPTIONS)]


def _gym() -> Any:
    try:
        import stunt.gym as environments
    except StuntError as error:
        raise StuntError(f"this benchmark cannot be run: {error}") from error
    return environments


def _single(task: str, quick: bool) -> list[Measurement]:
    import gymnasium

    id_ = _gym().IDS[task]
    env = gymnasium.make(id_, **_OPTIONS[task])
    env.reset(seed=0)
    cases = [_case(env, seed) for seed in range(3 if quick else 12)]
    bare = Bare(env.unwrapped.task.stage)  # type: ignore[attr-defined]
    jobs = [_jobs(env, bare, case) for case in cases]
    interleaved(jobs, 1)  # warm up
    seconds = interleaved(jobs, 3 if quick else 21)
    times = median_ratio(seconds["env"], seconds["bare"])
    step = 1e6 * typical(seconds["env"]) / (len(cases) * _ACTIONS)
    steps = env.unwrapped.task.steps  # type: ignore[attr-defined]
    note = f"{100.0 / times:.0f} % of its speed; env.step {step:.0f} µs = {steps} physics steps"
    loop = median_ratio(seconds["env"], seconds["stage"])
    return [
        Measurement(f"{id_}: env.step over the bare engine", times, "×", BAR, note),
        Measurement(f"{id_}: env.step over Stage.advance", loop, "×", BAR, f"{100.0 / loop:.0f} % of its speed"),
    ]


class _Case:
    """A stretch of an episode: where it starts, the actions, and what control wrote at every physics step."""

    def __init__(self, state: dict[str, Any], actions: Floats, goals: Floats, rows: Floats, task: dict[str, Any]):
        self.state, self.actions, self.goals, self.rows, self.task = state, actions, goals, rows, task


def _case(env: Any, seed: int) -> _Case:
    task, rng = env.unwrapped.task, np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(3):
        env.step(_action(task, rng))
    state, kept = task.stage.save(), _kept(task)
    actions = np.array([_action(task, rng) for _ in range(_ACTIONS)])
    notes, rows, goals = Notes(task.stage), [], []
    from stunt.gym import native

    for action in actions:
        task._before()
        native.steer(task.table, action, task.row)
        goals.append(task.stage.board.goal.copy())
        rows += [notes.of(lambda: task.stage.advance(1)) for _ in range(task.steps)]
    return _Case(state, actions, np.array(goals), np.array(rows), kept)


def _action(task: Any, rng: np.random.Generator) -> Any:
    return (0.2 * rng.standard_normal(task.actions)).astype(np.float32)


def _kept(task: Any) -> dict[str, Any]:
    """Return what a task remembers beside the stage."""
    return {name: value for name, value in vars(task).items() if name in ("row", "due", "next")}


def _put(task: Any, case: _Case) -> None:
    task.stage.restore(case.state)
    put_controlled(task.stage, case.state)  # as the bare engine is put: a restore alone leaves its caches cold
    for name, value in case.task.items():
        setattr(task, name, value)


def _jobs(env: Any, bare: Bare, case: _Case) -> dict[str, Job]:
    task = env.unwrapped.task
    stage = task.stage

    def env_job() -> float:
        _put(task, case)

        def work() -> None:
            for action in case.actions:
                env.step(action)

        return stopwatch(work)

    def stage_job() -> float:
        _put(task, case)

        def work() -> None:
            for goal in case.goals:
                stage.board.goal[:] = goal
                stage.advance(task.steps)

        return stopwatch(work)

    def bare_job() -> float:
        bare.put(case.state)
        return stopwatch(lambda: bare.steps(case.rows))

    return {"env": env_job, "stage": stage_job, "bare": bare_job}


def _many(task: str, quick: bool, count: int = 8) -> Measurement:
    """Measure a vectorised environment in one thread against as many bare engines, stepped in the same turns."""
    import gymnasium

    id_ = _gym().IDS[task]
    mode: Any = "vector_entry_point"
    many: Any = gymnasium.make_vec(id_, num_envs=count, vectorization_mode=mode, threads=1, **_OPTIONS[task])
    one: Any = gymnasium.make(id_, **_OPTIONS[task])
    one.reset(seed=0)
    cases = [_case(one, seed) for seed in range(2 if quick else 8)]
    bares = [Bare(one.unwrapped.task.stage) for _ in range(count)]
    many.reset(seed=0)
    steps = one.unwrapped.task.steps

    def jobs_of(case: _Case) -> dict[str, Job]:
        together = [np.tile(action, (count, 1)) for action in case.actions]

        def vector_job() -> float:
            for member in many.tasks:
                _put(member, case)
            many._over = [False] * count

            def work() -> None:
                for actions in together:
                    many.step(actions)

            return stopwatch(work)

        def bare_job() -> float:
            for bare in bares:
                bare.put(case.state)

            def work() -> None:
                for first in range(0, len(case.rows), steps):
                    for bare in bares:
                        bare.steps(case.rows[first : first + steps])

            return stopwatch(work)

        return {"vector": vector_job, "bare": bare_job}

    jobs = [jobs_of(case) for case in cases]
    interleaved(jobs, 1)
    seconds = interleaved(jobs, 3 if quick else 15)
    times = median_ratio(seconds["vector"], seconds["bare"])
    many.close()
    note = f"{100.0 / times:.0f} % of its speed, one thread"
    return Measurement(f"{id_} × {count}: step over as many bare engines", times, "×", BAR, note)
