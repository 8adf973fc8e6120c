"""Jobs in a pool of warm processes on this machine, or in this process.

Each worker is an interpreter of its own (`python -m stunt.jobs.worker`), so a program needs no
`if __name__ == "__main__"`, and nothing of it is imported twice. It is sent one job at a time and stays for the next.
One that dies is replaced, and its job tried once more.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from stunt.jobs.job import Done, Job, JobError, failed_row, run_job

TRIES: Final = 2
"""How often a job is begun whose process dies."""
ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""A worker has one core: libraries that would start a thread per core are told so."""
_AHEAD = 32  # jobs per worker among which those that share something are looked for


class Machine(Protocol):
    """Whatever runs jobs: this process, a pool of processes, a cluster."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """Run jobs and yield what came of each, in the order in which they end. The jobs are taken lazily."""
        ...

    def close(self) -> None:
        """End what it started."""
        ...


class ThisProcess:
    """Runs jobs in this process, one after another: for debuggers, and where a pool does not pay."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """Run jobs."""
        return map(run_job, jobs)

    def close(self) -> None:
        """Do nothing."""


class JobLine:
    """Jobs waiting for a process: in order, but whoever comes gets one that is near to what it did last.

    Of any number of jobs only a few are looked at ahead.
    """

    def __init__(self, jobs: Iterable[Job], ahead: int) -> None:
        """Stand jobs in line.

        Args:
            jobs: Which; taken lazily.
            ahead: How many of them are looked at ahead.
        """
        self._jobs, self._ahead = iter(jobs), ahead
        self._seen: deque[Job] = deque()

    def give_back(self, job: Job) -> None:
        """Put a job first in line."""
        self._seen.appendleft(job)

    def take(self, near: str | None, others: frozenset[str | None] | set[str | None] = frozenset()) -> Job | None:
        """Return the next job for one who did something like `near` last; None where none is left.

        Args:
            near: What it did last.
            others: What others are at: where there is a choice, those are left to them.
        """
        while len(self._seen) < self._ahead:
            job = next(self._jobs, None)
            if job is None:
                break
            self._seen.append(job)
        if not self._seen:
            return None
        chosen = next((k for k, job in enumerate(self._seen) if job.near and job.near == near), None)
        if chosen is None:
            chosen = next((k for k, job in enumerate(self._seen) if not job.near or job.near not in others), 0)
        job = self._seen[chosen]
        del self._seen[chosen]
        return job


class _Process:
    """One worker's process, and what it is doing."""

    def __init__(self) -> None:
        path = os.pathsep.join([entry or os.getcwd() for entry in sys.path])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stunt.jobs.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path}, start_new_session=True, text=False,
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._asks, self.answers = self._process.stdin, self._process.stdout
        self.ready = False
        self.job: Job | None = None
        self.near: str | None = None
        self.began = time.monotonic()
        self.used = 0.0
        self._said = b""

    def send(self, job: Job) -> None:
        """Give it a job."""
        self.job, self.near, self.began = job, job.near, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # that it is gone is seen where its answers end
            self._asks.write(json.dumps(job.to_data()).encode() + b"\n")
            self._asks.flush()

    def hear(self) -> list[dict[str, Any]] | None:
        """Return what it said since; None: it is gone."""
        said = os.read(self.answers.fileno(), 1 << 16)
        if not said:
            return None
        *lines, self._said = (self._said + said).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> str:
        """End it, if it has not ended, and say how it did."""
        with contextlib.suppress(OSError):
            self._asks.close()
        if self._process.poll() is None:
            try:
                self._process.wait(0.1 if self.job is None else 0.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        code = self._process.wait()
        self.answers.close()
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class WorkerPool:
    """Warm processes that run jobs. Use it as a context, or close it.

    Attributes:
        workers: How many processes.
        used: Processor time all its processes have used so far, their start included [s].
    """

    def __init__(self, workers: int, *, time_limit: float | None = None) -> None:
        """Make a pool; its processes start when there is something to do.

        Args:
            workers: How many processes.
            time_limit: How long a job may take on the clock on the wall [s]; None: as long as it likes.
        """
        if workers < 1:
            raise JobError(f"a pool needs at least one worker, not {workers}.")
        self.workers = workers
        self._limit = time_limit
        self._processes: list[_Process] = []
        self._past = 0.0

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def used(self) -> float:
        """Processor time all its processes have used [s], as of their last answers."""
        return self._past + sum(process.used for process in self._processes)

    def close(self) -> None:
        """End all processes; what they were doing is given up."""
        while self._processes:
            self._end(self._processes[-1])

    def _end(self, process: _Process) -> str:
        self._processes.remove(process)
        self._past += process.used
        return process.end()

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """Run jobs and yield what came of each, in the order in which they end.

        Raises:
            JobError: Workers cannot even start.
        """
        line, tries = JobLine(jobs, _AHEAD * self.workers), dict[int, int]()
        try:
            while self._give_jobs(line):
                for process in self._waited():
                    yield from self._heard(process, line, tries)
        finally:
            for process in [process for process in self._processes if process.job is not None]:
                self._end(process)  # somebody stopped listening: its answer would be taken for another's

    def _give_jobs(self, line: JobLine) -> bool:
        """Give a job to everyone who has none; return whether anybody has one."""
        free = [process for process in self._processes if process.job is None]
        while True:
            others = {process.near for process in self._processes if process.job is not None}
            process = free.pop(0) if free else None
            if process is None and len(self._processes) >= self.workers:
                break
            job = line.take(process.near if process else None, others)
            if job is None:
                break
            if process is None:
                process = _Process()
                self._processes.append(process)
            process.send(job)
        return any(process.job is not None for process in self._processes)

    def _waited(self) -> list[_Process]:
        """Return who has something to say, or is out of time."""
        busy = [process for process in self._processes if process.job is not None]
        with selectors.DefaultSelector() as selector:
            for process in busy:
                selector.register(process.answers, selectors.EVENT_READ, process)
            left = (
                None if self._limit is None else max(0.0, min(p.began for p in busy) + self._limit - time.monotonic())
            )
            said = [key.data for key, _ in selector.select(left)]
        return said or [process for process in busy if self._late(process)]

    def _late(self, process: _Process) -> bool:
        return self._limit is not None and time.monotonic() - process.began >= self._limit

    def _heard(self, process: _Process, line: JobLine, tries: dict[int, int]) -> Iterator[Done]:
        job = process.job
        assert job is not None
        if self._late(process):
            self._end(process)
            yield failed_row(job, f"it took longer than {self._limit:g} s, and was stopped")
            return
        answers = process.hear()
        if answers is None:
            how = self._end(process)
            if not process.ready:
                raise JobError(f"a worker process {how} before it was ready; what it says stands above.")
            tries[job.index] = tries.get(job.index, 1) + 1
            if tries[job.index] <= TRIES:
                line.give_back(job)
            else:
                yield failed_row(job, f"its process {how}, {TRIES} times")
            return
        for answer in answers:
            if answer.pop("ready", False):
                process.ready, process.began = True, time.monotonic()
                continue
            process.used = answer.pop("used")
            process.job = None
            yield Done(**answer)
