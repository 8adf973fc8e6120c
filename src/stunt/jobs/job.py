"""What a job is: data that says which function to call with what, and the row that comes of it.

A new kind of job is one function in a module that can be imported; nothing is registered::

    # mymodule.py
    def throw(job: Job) -> Row:
        speed = job.arguments["speed"]
        return {"distance_m": speed**2 / 9.81}

    # anywhere
    jobs = numbered(Job("mymodule:throw", {"speed": v}, {"speed": v}) for v in range(100))
    for row in rows_of(jobs, workers=2):  # stunt.jobs.run; or run_in_folder for files, resuming and tables
        ...

The contract:

* A job is data. Its arguments are JSON: mappings with text as keys, lists, text, numbers, true, false, None. Seeds are
  among them: the same job gives the same row, bit for bit, in any process and after any other job.
* A runner is `Job -> Row`, found by `module:function`. It may keep what is dear to make (compiled stages, clips) in its
  module, for the jobs that come after it in that process; `near` says which jobs like to share a process.
* A row is flat: text, numbers, true, false, None. Its first cells are the job's `columns`. Cells whose names begin with
  `cpu_` or `wall_` are timing: they stand in a table of their own and are no part of what must be equal.
* A mistake (any exception) is a row with its text under `failure`; nothing else stops. Only a full disk stops a run.
* Whatever a runner writes goes into the folder `job.keep`, under a name with the job's `id` in it; `keep` is empty
  where nothing is to be written.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import math
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

from stunt.errors import StuntError, UnknownNameError

Row = dict[str, Any]
FAILURE: Final = "failure"
"""The column with the text of what went wrong; empty where nothing did."""
TIMING: Final = ("cpu_", "wall_")
"""How the names of timing cells begin."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class JobError(StuntError):
    """A job that is none, or jobs that cannot be run."""


@dataclass(frozen=True)
class Job:
    """One thing to do.

    Attributes:
        run: Which function does it, `module:function`.
        arguments: What it is told; JSON-able.
        columns: The first cells of its row: what tells it from other jobs.
        index: Its place among the jobs, from 0; rows are sorted by it.
        folder: Where relative file names in the arguments begin; empty: where the process is.
        keep: The folder for what it writes; empty: it writes nothing.
        keeps: Whether it writes always (`all`), or only where something went wrong (`failed`).
        near: Jobs with the same word share what is dear to make, and are given to the same process where that is
            possible.
    """

    run: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    index: int = 0
    folder: str = ""
    keep: str = ""
    keeps: str = "all"
    near: str = ""

    @cached_property
    def id(self) -> str:
        """Twelve letters that tell it from any other job: a digest of what it does, not of where it stands."""
        return digest({"run": self.run, "arguments": self.arguments, "columns": self.columns})[:12]

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data, for another process."""
        return {
            "run": self.run, "arguments": dict(self.arguments), "columns": dict(self.columns), "index": self.index,
            "folder": self.folder, "keep": self.keep, "keeps": self.keeps, "near": self.near,
        }  # fmt: skip

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Job:
        """Make it of plain data."""
        return Job(**data)


@dataclass(frozen=True)
class Done:
    """What came of a job.

    Attributes:
        index: Which.
        id: Its digest.
        row: Its cells.
        timing: What it cost: `cpu_s`, `wall_s` and what the runner measured.
        full: What was said of a full disk; empty where it is not.
    """

    index: int
    id: str
    row: Row
    timing: Row
    full: str = ""

    @property
    def failed(self) -> bool:
        """Whether it went wrong."""
        return bool(self.row.get(FAILURE))

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"index": self.index, "id": self.id, "row": self.row, "timing": self.timing, "full": self.full}


def digest(data: Any) -> str:
    """Return the digest of plain data; the order of a mapping's keys does not matter.

    Raises:
        JobError: It is no plain data.
    """
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def canonical(data: Any) -> str:
    """Return plain data as the one text that means it.

    Raises:
        JobError: It is no plain data.
    """
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, default=dict)
    except (TypeError, ValueError) as error:
        raise JobError(f"a job's arguments must be plain data (text, numbers, lists, mappings): {error}.") from None


def numbered(jobs: Iterable[Job]) -> Iterator[Job]:
    """Yield jobs with their places."""
    for index, job in enumerate(jobs):
        yield replace(job, index=index)


def runner_of(name: str) -> Callable[[Job], Mapping[str, Any]]:
    """Return the function that runs a job.

    Raises:
        JobError: There is no such module, or nothing to call in it.
        UnknownNameError: The module has no such function; the message says which there are.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise JobError(f"'{name}' is no function; write module:function, such as 'mymodule:throw'.")
    try:
        home = importlib.import_module(module)
    except ImportError as error:
        raise JobError(f"'{name}' cannot be run, because '{module}' cannot be imported: {error}.") from None
    found = getattr(home, function, None)
    if not callable(found):
        there = [key for key, value in vars(home).items() if callable(value) and not key.startswith("_")]
        raise UnknownNameError(f"function of '{module}'", function, there)
    return found


def run_job(job: Job) -> Done:
    """Run a job in this process; whatever goes wrong becomes its row."""
    wall, cpu = time.perf_counter(), time.process_time()
    found: Row = {}
    failure = full = ""
    try:
        found = {str(key): cell(value, str(key)) for key, value in runner_of(job.run)(job).items()}
    except Exception as error:  # a row, not a crash: other jobs have nothing to do with it
        failure, full = told(error), _full(error)
    timing = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    timing |= {key: found.pop(key) for key in list(found) if key.startswith(TIMING)}
    return Done(job.index, job.id, {**job.columns, FAILURE: failure, **found}, timing, full)


def failed_row(job: Job, failure: str) -> Done:
    """Return what becomes of a job that could not be run to its end."""
    return Done(job.index, job.id, {**job.columns, FAILURE: failure}, {})


def cell(value: Any, name: str) -> Any:
    """Return a value as it stands in a row; what is no finite number is None.

    Raises:
        JobError: A row holds plain values only.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if type(value).__name__ == "bool":  # NumPy's
        return bool(value)
    raise JobError(f"cell '{name}' must be text, a number, true, false or None, but it is {type(value).__name__}.")


def told(error: BaseException) -> str:
    """Return one line about a mistake: a user's as its sentence, a program's with its type and where it happened."""
    text = " ".join(str(error).split())
    if isinstance(error, StuntError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{where}"


def _full(error: BaseException | None) -> str:
    """Return what the system says where the cause of a mistake is a full disk; else nothing."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return str(error)
        error = error.__cause__ or error.__context__
    return ""
