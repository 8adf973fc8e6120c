"""What running many jobs costs beyond the jobs: processes beside each other, and the machinery around them.

Processor time where that says it: two processes on free cores are twice as fast as one if each job costs the same.
"""

from __future__ import annotations

import time
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.result import Measurement
from stunt.jobs.job import Done
from stunt.jobs.pool import Machine, WorkerPool
from stunt.many.batch import BatchRun
from stunt.many.plan import BatchPlan, plan_from_data

SECONDS = 10.0
ROUNDS = 5
"""How often one and two workers take turns: what else the machine does is then the same for both."""
_WORK = ("cpu_prepare_s", "cpu_step_s", "cpu_measure_s")


def plan(count: int, seed: int) -> BatchPlan:
    """Return a plan of jobs of ten seconds: one clip, looped, from many starts."""
    data = {"clips": ["walk"], "settings": {"loop": {"loop": True}}, "seeds": count, "seed": seed, "seconds": SECONDS}
    return plan_from_data(data)


def measure(quick: bool) -> list[Measurement]:
    """Measure the pool."""
    count, rounds = (8, 1) if quick else (24, ROUNDS)
    with WorkerPool(1) as one, WorkerPool(2) as two:
        starts = [_warm_up(pool) for pool in (one, two)]
        ratios, outside = [], []
        for turn in range(rounds):
            alone, _, _ = _run(one, count, turn)
            used = two.used
            beside, _, driver = _run(two, count, turn)
            whole = driver + two.used - used
            ratios.append(median(_cpu(beside)) / median(_cpu(alone)))
            outside.append(1.0 - sum(done.timing[name] for done in beside for name in _WORK) / whole)
    note = f"{count} jobs of {SECONDS:g} s, {rounds} turns"
    ratio = median(ratios)
    return [
        Measurement("batch: CPU per job, two workers over one", ratio, bar=1.05, note=f"{note}: {2 / ratio:.2f} ×"),
        Measurement("batch: CPU outside preparing, stepping, measuring", 100 * median(outside), "%", 5.0, note),
        Measurement("batch: CPU per job", median(_cpu(alone)), "s", note=note),
        Measurement("batch: CPU to start a worker and load a clip", starts[0], "s", note="import, compiled code, clip"),
    ]


def measure_ray(quick: bool) -> list[Measurement]:
    """Measure a cluster of two actors on this machine against a pool of two processes.

    A share of time is compared, that in which workers are at a job: on a machine that does other things too, all jobs
    take longer, but those of both alike.
    """
    from stunt.jobs.ray_pool import RayPool

    count, rounds = (8, 1) if quick else (24, ROUNDS)
    ratios, waits, drivers = [], [], []
    with WorkerPool(2) as pool, RayPool("local", 2) as cluster:
        _warm_up(pool), _warm_up(cluster)
        for turn in range(rounds):
            here, elapsed, _ = _run(pool, count, turn)
            there, taken, driver = _run(cluster, count, turn)
            drivers.append(1000.0 * driver / count)
            busy = [sum(done.timing["wall_s"] for done in some) for some in (here, there)]
            ratios.append((busy[0] / elapsed) / (busy[1] / taken))
            waits.append(1000.0 * (2 * taken - busy[1]) / count)
    note = f"{count} jobs of {SECONDS:g} s, {rounds} turns"
    ratio = median(ratios)
    return [
        Measurement("batch: pool's throughput over Ray's", ratio, bar=1.0 / 0.9, note=f"{note}: Ray {1 / ratio:.3f}"),
        Measurement("batch: Ray's wait per job", median(waits), "ms", note=note),
        Measurement("batch: Ray's driver, CPU per job", median(drivers), "ms", note=note),
    ]


def _warm_up(machine: Machine) -> float:
    """Let every worker run a job; return what the dearest cost, its start included [CPU s]."""
    _run(machine, 4, 999)
    return machine.used / machine.workers if isinstance(machine, WorkerPool) else 0.0


def _run(machine: Machine, count: int, seed: int) -> tuple[list[Done], float, float]:
    """Run jobs into a folder, as `stunt batch` does.

    Returns:
        What came of them, how long it took [s], and the processor time of this process, which drives them [s].
    """
    with TemporaryDirectory() as folder:
        run = BatchRun(plan(count, seed), folder)
        with run.open():
            began, driver = time.perf_counter(), time.process_time()
            found = list(run.run(machine))
            return found, time.perf_counter() - began, time.process_time() - driver


def _cpu(found: list[Done]) -> list[float]:
    return [done.timing["cpu_s"] for done in found]
