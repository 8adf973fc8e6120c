"""Jobs on a Ray cluster: one actor per core that keeps its stages warm, wherever in the cluster it is.

The driver gives each actor one job at a time and one to follow, hears of what came of it, and writes; actors write
nothing but takes. An actor that is lost, with its process, its node or its network, is replaced as soon as there is
room, and its jobs are given to others; that some job was run twice does no harm, because its row is the same and is
taken once.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from stunt.errors import StuntError
from stunt.jobs.job import Done, Job, JobError, failed_row
from stunt.jobs.pool import ONE_THREAD, JobLine

LOCAL: Final = "local"
"""The address of a cluster that is started for the run, on this machine."""
TRIES: Final = 4
"""How often a job is begun whose actor is lost; nodes may be taken away at any time."""
PATIENCE: Final = 5.0
"""How long an address is waited for [s]."""
ROOM: Final = 120.0
"""How long the first actor is waited for [s]: a cluster may be busy, or have to start machines."""
_IN_HAND = 2  # jobs an actor has at most, the one it runs included: it need not wait for the driver
_AHEAD = 32


class RayActor:
    """Runs jobs, one after another, in a process of the cluster."""

    def hello(self) -> str:
        """Say that it is there."""
        return socket.gethostname()

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run a job."""
        from stunt.jobs.job import run_job

        return run_job(Job.from_data(job)).to_data()


@dataclass
class _Hand:
    """An actor, and what it was asked: by reference, the jobs (None: whether it is there)."""

    actor: Any
    asked: dict[Any, Job | None] = field(default_factory=dict)
    there: bool = False
    near: str | None = None


class RayPool:
    """Actors on a cluster that run jobs. Use it as a context, or close it."""

    def __init__(self, address: str = LOCAL, workers: int | None = None) -> None:
        """Join a cluster, or start one.

        Args:
            address: `host:port` of its head, `auto`, or `local`: one on this machine, for this run.
            workers: How many actors; None: as many as the cluster has cores.

        Raises:
            StuntError: Ray is not installed, or nothing answers there.
        """
        self._ray = _imported()
        self._asked_for = workers
        self._hands: list[_Hand] = []
        self._started = not self._ray.is_initialized()
        if self._started:
            self._join(address)

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _join(self, address: str) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
        if address == LOCAL:
            options |= {"num_cpus": self._asked_for, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        else:
            _check_reachable(address)
            options |= {"address": address}
        try:
            self._ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            reason = " ".join(str(error).split())[:300]
            raise JobError(f"cannot join the Ray cluster '{address}': {reason}") from None

    @property
    def workers(self) -> int:
        """How many actors there should be now: as many as were asked for, or as the cluster has cores."""
        return self._asked_for or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def close(self) -> None:
        """Let the actors go, and the cluster where it was started for this."""
        for hand in self._hands:
            with contextlib.suppress(Exception):
                self._ray.kill(hand.actor)
        self._hands = []
        if self._started and self._ray.is_initialized():
            self._ray.shutdown()
        self._started = False

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """Run jobs and yield what came of each once, in the order in which they end.

        Raises:
            JobError: The cluster has no room for a single actor.
        """
        line, tries = JobLine(jobs, _AHEAD * self.workers), dict[int, int]()
        while self._give_jobs(line):
            asked = {reference: hand for hand in self._hands for reference in hand.asked}
            anybody = any(hand.there for hand in self._hands)
            ready, _ = self._ray.wait(list(asked), num_returns=1, timeout=None if anybody else ROOM)
            if not ready:
                raise JobError(f"the Ray cluster had no free core within {ROOM:g} s; nothing of what was done is lost.")
            for reference in ready:
                if reference in asked[reference].asked:  # else it was lost together with another
                    yield from self._heard(asked[reference], reference, line, tries)

    def _give_jobs(self, line: JobLine) -> bool:
        """Give jobs to whoever is there and has a free hand; return whether there is anything to wait for."""
        while len(self._hands) < self.workers:
            self._hands.append(self._new_hand())
        for busy in range(_IN_HAND):  # everybody gets one before anybody gets two
            for hand in self._hands:
                if not hand.there or len(hand.asked) > busy:
                    continue
                others = {other.near for other in self._hands if other is not hand and other.asked}
                if (job := line.take(hand.near, others)) is None:
                    # Those whom the cluster has no room for are not waited for.
                    return any(None not in hand.asked.values() and hand.asked for hand in self._hands)
                hand.asked[hand.actor.run.remote(job.to_data())] = job
                hand.near = job.near
        return True

    def _new_hand(self) -> _Hand:
        settings = {"num_cpus": 1, "max_restarts": 0, "runtime_env": {"env_vars": ONE_THREAD}}
        hand = _Hand(self._ray.remote(**settings)(RayActor).remote())
        hand.asked[hand.actor.hello.remote()] = None
        return hand

    def _heard(self, hand: _Hand, reference: Any, line: JobLine, tries: dict[int, int]) -> Iterator[Done]:
        job = hand.asked[reference]
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            yield from self._lost(hand, line, tries, str(error).strip().partition("\n")[0])
            return
        del hand.asked[reference]
        if job is None:
            hand.there = True
        else:
            yield Done(**answer)

    def _lost(self, hand: _Hand, line: JobLine, tries: dict[int, int], why: str) -> Iterator[Done]:
        """Give an actor's jobs to others."""
        self._hands.remove(hand)
        if not hand.there and not any(other.there for other in self._hands) and not tries:
            raise JobError(f"the cluster's actors do not start: {why}")
        waiting = [job for job in hand.asked.values() if job is not None]
        for place, job in reversed(list(enumerate(waiting))):
            tries[job.index] = tries.get(job.index, 0) + (place == 0)  # only the first of them can have been the cause
            if tries[job.index] < TRIES:
                line.give_back(job)
            else:
                yield failed_row(job, f"its actor was lost, {TRIES} times")


def _imported() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers of this run
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise StuntError("a cluster needs Ray: pip install 'stunt[scale]'.") from None
    return ray


def _check_reachable(address: str) -> None:
    """Complain at once where nobody answers: Ray itself would wait for long.

    Raises:
        JobError: Nobody does, or it is no address.
    """
    if address == "auto":
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise JobError(f"'{address}' is no address of a Ray cluster; write host:port, auto or local.")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise JobError(
            f"the Ray cluster '{address}' cannot be reached within {PATIENCE:g} s ({reason}); nothing was begun. "
            "Is its head running ('ray status' there says so), and is the port open?"
        ) from None
