"""Running jobs: rows one after another, or a folder that fills with them and can be gone on with.

`rows_of` is for programs that want the rows; `run_in_folder` for what must survive Ctrl-C, a dead machine and a full
disk. Both take any machine (`machine_of`): this process, a pool of warm processes, a Ray cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Protocol

from stunt.errors import announced
from stunt.jobs.job import Done, Job, JobError, Row
from stunt.jobs.journal import RowJournal
from stunt.jobs.pool import Machine, ThisProcess, WorkerPool


class JobList(Protocol):
    """Jobs that can be gone through again and again, in the same order.

    Attributes:
        digest: Tells them from any other jobs.
        count: How many there are.
    """

    @property
    def digest(self) -> str:
        """Tells them from any other jobs."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def each(self) -> Iterator[Job]:
        """Yield them with their places, lazily."""
        ...


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@announced
def machine_of(workers: int | None = None, ray: str = "", time_limit: float | None = None) -> Machine:
    """Return what runs jobs.

    Args:
        workers: How many processes; None: one per core (of a cluster: all of its cores); 0: this process.
        ray: The address of a Ray cluster, or `local`; empty: no cluster.
        time_limit: How long a job may take in a pool [s]; None: as long as it likes.

    Raises:
        StuntError: There is no such cluster.
    """
    if workers is not None and workers < 0:
        raise JobError(f"there cannot be {workers} workers; 0 runs jobs in this process.")
    if ray:
        from stunt.jobs.ray_pool import RayPool  # a heavy library, of an extra

        return RayPool(ray, workers)
    if workers == 0:
        return ThisProcess()
    return WorkerPool(cores() if workers is None else workers, time_limit=time_limit)


def rows_of(
    jobs: Iterable[Job], *, workers: int | None = None, ray: str = "", machine: Machine | None = None
) -> Iterator[Row]:
    """Run jobs and yield their rows in the jobs' order, whatever the order in which they end.

    Args:
        jobs: Which, with their places (`numbered`); taken lazily.
        workers: How many processes; None: one per core; 0: this process.
        ray: The address of a Ray cluster, or `local`.
        machine: What runs them, where that is there already and stays.
    """
    chosen = machine_of(workers, ray) if machine is None else machine
    try:
        for done in in_order(chosen.run(jobs)):
            yield done.row
    finally:
        if machine is None:
            chosen.close()


def in_order(found: Iterator[Done]) -> Iterator[Done]:
    """Yield what came of jobs by their places: 0, 1, 2, … ."""
    waiting: dict[int, Done] = {}
    following = 0
    for done in found:
        waiting[done.index] = done
        while following in waiting:
            yield waiting.pop(following)
            following += 1
    for index in sorted(waiting):  # not all places were taken
        yield waiting[index]


def run_in_folder(
    jobs: JobList,
    journal: RowJournal,
    machine: Machine,
    *,
    limit: int | None = None,
    retry: bool = False,
    progress: Callable[[Done], None] | None = None,
) -> Iterator[Done]:
    """Run those jobs whose rows a journal does not have yet, and note and yield what came of each as it ends.

    Args:
        jobs: All of them.
        journal: Where rows go.
        machine: What runs them.
        limit: Run no more than so many this time; None: all.
        retry: Whether those that failed before are run again.
        progress: Called with each.

    Raises:
        JobError: The disk is full; what was done is kept.
    """
    with closing(_as_generator(machine.run(_left(jobs, journal, limit, retry)))) as found:
        for done in found:
            if done.full:
                raise journal.full(done.full)
            journal.note(done)
            if progress is not None:
                progress(done)
            yield done


def _as_generator(found: Iterator[Done]) -> Generator[Done, None, None]:
    yield from found


def _left(jobs: JobList, journal: RowJournal, limit: int | None, retry: bool) -> Iterator[Job]:
    begun = 0
    for job in jobs.each():
        if limit is not None and begun >= limit:
            return
        if not journal.has(job.index, failed=not retry):
            begun += 1
            yield job
