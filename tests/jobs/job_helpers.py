"""Jobs that cost nothing, for the tests of the machinery: workers import this module by its name."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

from stunt.errors import StuntError
from stunt.jobs.job import Job, numbered

NOTHING_CALLABLE = 3


def square(job: Job) -> dict:
    print("a runner may print what it likes")
    return {"square": job.arguments["x"] ** 2, "third": job.arguments["x"] / 3.0, "cpu_own_s": 0.5}


def slow_first(job: Job) -> dict:
    time.sleep(0.3 if job.arguments["x"] == 0 else 0.0)
    return {"x": job.arguments["x"]}


def where(job: Job) -> dict:
    return {"pid": os.getpid()}


def threads(job: Job) -> dict:
    return {name.lower(): value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}


def mistaken(job: Job) -> dict:
    if job.arguments["x"] % 2:
        raise StuntError("odd numbers\nare not wanted.")
    return {"fine": 1 / job.arguments["x"]}


def nested(job: Job) -> dict:
    return {"list": [1, 2]}


def dies(job: Job) -> dict:
    """Kill its own process, so many times."""
    if job.arguments["x"] != 2:
        return {"x": job.arguments["x"]}
    marks = Path(job.arguments["marks"])
    if len(list(marks.iterdir())) < job.arguments["times"]:
        (marks / str(time.time_ns())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"x": job.arguments["x"]}


def hangs(job: Job) -> dict:
    if job.arguments["x"] == 1:
        time.sleep(600.0)
    return {"x": job.arguments["x"]}


def finds_no_room(job: Job) -> dict:
    if job.arguments["x"] == 3:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return {"x": job.arguments["x"]}


def counted(job: Job) -> dict:
    """Leave a mark each time it is run."""
    (Path(job.arguments["marks"]) / f"{job.arguments['x']}-{time.time_ns()}-{os.getpid()}").touch()
    time.sleep(job.arguments.get("sleeps", 0.0))
    return {"square": job.arguments["x"] ** 2}


class Some:
    """Jobs in a list."""

    digest = "some jobs"

    def __init__(self, run: str, count: int, **arguments: object) -> None:
        self.run, self.count, self.arguments = run, count, arguments

    def each(self):
        return numbered(Job(f"job_helpers:{self.run}", {"x": x, **self.arguments}, {"x": x}) for x in range(self.count))
