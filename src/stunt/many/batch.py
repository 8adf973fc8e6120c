"""`stunt.batch`: a plan in, rows out; with a folder, tables, and a run that can be gone on with."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from stunt.errors import NONSENSE, announced, asked_at, see, seen
from stunt.jobs.job import Done, Job, JobError, Row, runner_of
from stunt.jobs.journal import RowJournal, noted_in
from stunt.jobs.pool import Machine
from stunt.jobs.run import in_order, machine_of, run_in_folder
from stunt.jobs.table import check_formats, write_table
from stunt.keys import write
from stunt.library.bodies import OWN_SKELETON, body_spec
from stunt.library.names import Library
from stunt.library.read import cut_reference
from stunt.many.plan import BatchPlan, PlannedJob, load_plan, plan_from_data
from stunt.many.shove import Shove
from stunt.record.files import written_aside

MOST: Final = 100_000
"""Plans with more jobs are not begun unless that is said."""
TABLE: Final = "table"
TIMING: Final = "timing"
_CLIPS: Final = "clips.json"
_CHECKED: Final = 10_000  # clips whose files are looked for before anything is begun
_CPU_PER_SECOND: Final = 0.02  # [CPU s / s] what a second of a person following a clip costs (docs/batch_scale.md)
_USUAL_SECONDS: Final = 10.0
_BYTES: Final = 1800.0  # of a row in the journal and its tables (docs/batch_scale.md)
_TIMES: Final = {"years": 31_557_600.0, "days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
_SIZES: Final = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}

Source = BatchPlan | Mapping[str, Any] | str | Path


@announced
def batch(
    plan: Source, *, out: str | Path | None = None, workers: int | None = None, ray: str = "", most: int = MOST
) -> Iterator[Row]:
    """Run a plan and yield its rows, in the order of its jobs.

    Args:
        plan: A plan, its data, its file, or a folder or pattern of clips.
        out: A folder for rows and tables, in which the same plan goes on where it stopped; None: rows are only yielded.
        workers: How many processes; None: one per core; 0: this process.
        ray: The address of a Ray cluster, or `local`.
        most: A plan with more jobs is not begun.

    Raises:
        StuntError: The plan is none, or cannot be run; the message says why. What goes wrong in a job is its row's
            `failure`.
    """
    run = BatchRun(plan_of(plan), out, most=most)
    return run.rows(workers, ray)


def plan_of(source: Source) -> BatchPlan:
    """Return a plan, however it is given.

    Raises:
        StuntError: It is none.
    """
    if isinstance(source, BatchPlan):
        seen(source)
        for name, kind in (("clips", str), ("bodies", str), ("folders", str), ("pushes", Shove), ("jobs", PlannedJob)):
            for item in getattr(source, name):
                see(name, item, [kind])
        plan_from_data(write(source))  # as it would be read from a file
        return source
    return plan_from_data(source) if isinstance(source, Mapping) else load_plan(source)


@announced
def rows_in(folder: str | Path) -> Iterator[Row]:
    """Yield the rows a batch has left in its folder so far, by their jobs' places.

    Raises:
        JobError: There is no batch in it.
    """
    return (entry["row"] for entry in noted_in(Path(folder)))


def rounded(value: float, units: Mapping[str, float]) -> str:
    """Return a value in the largest unit that leaves at least one of it, with two or three digits."""
    unit = next((unit for unit, size in units.items() if value >= size), list(units)[-1])
    share = value / units[unit]
    return f"{share:,.0f} {unit}" if share >= 100 else f"{share:.2g} {unit}"


def estimate(plan: BatchPlan) -> str:
    """Say how many jobs a plan has, and what they will take, in a few words."""
    seconds = plan.count * _CPU_PER_SECOND * (plan.seconds or _USUAL_SECONDS)
    time, room = rounded(seconds, _TIMES), rounded(plan.count * _BYTES, _SIZES)
    return f"{plan.count:,} jobs: about {time} of one core, and {room} of rows"


class BatchRun:
    """One run of a plan: its jobs, and where their rows go.

    Attributes:
        plan: What is done.
        out: The folder; None: rows are only yielded.
        journal: Its rows so far; None without a folder, or before it is open.
    """

    def __init__(
        self, plan: BatchPlan, out: str | Path | None = None, *, most: int = MOST, takes: str | None = None
    ) -> None:
        """Look at a plan before anything is made.

        Args:
            plan: What is to be done.
            out: The folder for rows, tables and takes.
            most: A plan with more jobs is not begun.
            takes: Of which jobs takes are kept, where that is not what the plan says.

        Raises:
            StuntError: A plan that is too large, or names clips that are not there.
        """
        self.out = None if out is None else Path(out)
        self.journal: RowJournal | None = None
        self._takes = takes or plan.takes
        self.warnings: list[str] = []
        self.plan = self._as_begun(plan)
        if self.plan.count > most:
            raise JobError(
                f"this plan has {estimate(self.plan)}. Nothing was begun: more than {most:,} jobs are run only where "
                "that is said (--most N; in a program, `most`)."
            )

    def _as_begun(self, plan: BatchPlan) -> BatchPlan:
        """Return a plan with the clips it had when it was begun in this folder; else with those there are now."""
        known = self.out / _CLIPS if self.out is not None else None
        if known is not None and known.is_file():
            try:
                data = json.loads(known.read_text(encoding="utf-8"))
                if data["digest"] == plan.digest:
                    _check_functions(plan)
                    return self._with_clips(plan, tuple(map(str, data["clips"])))
            except (OSError, *NONSENSE):
                pass  # the journal says to whom the folder belongs
        _check_names(plan)
        return replace(plan, expanded=plan.found_clips)

    def _with_clips(self, plan: BatchPlan, clips: tuple[str, ...]) -> BatchPlan:
        try:
            new = len(set(plan.found_clips) - set(clips))
        except JobError:  # all of them are gone: rows will say so
            new = 0
        if new:
            self.warnings.append(f"{new} clips are new since this was begun; they are left out here.")
        return replace(plan, expanded=clips)

    @property
    def digest(self) -> str:
        """Tells its jobs from any others."""
        return self.plan.digest

    @property
    def count(self) -> int:
        """How many jobs there are."""
        return self.plan.count

    def each(self) -> Iterator[Job]:
        """Yield the jobs."""
        keep = str((self.out / "takes").absolute()) if self.out is not None and self._takes != "none" else ""
        for job in self.plan.each():
            yield replace(job, keep=keep, keeps=self._takes)

    def open(self) -> RowJournal:
        """Begin in the folder, or go on there.

        Raises:
            JobError: Another process is there, or rows of another plan.
        """
        assert self.out is not None
        self.journal = RowJournal(self.out, self.digest, self.count)
        try:
            with written_aside(self.out / _CLIPS) as aside:
                clips = {"digest": self.digest, "clips": list(self.plan.found_clips)}
                aside.write_text(json.dumps(clips), encoding="utf-8")
        except BaseException as error:
            self.journal.close()
            if isinstance(error, OSError):
                raise self.journal.full(error.strerror or str(error)) from error
            raise
        return self.journal

    def rows(self, workers: int | None = None, ray: str = "") -> Iterator[Row]:
        """Run what is left and yield all rows in the jobs' order."""
        machine = machine_of(workers, ray)
        try:
            if self.out is None:
                yield from (done.row for done in in_order(machine.run(self.each())))
                return
            with self.open() as journal:
                for _ in self.run(machine):
                    pass
                self.write_tables(("csv", "md"))
                yield from (entry["row"] for entry in journal.entries())
        finally:
            machine.close()

    def run(
        self, machine: Machine, *, limit: int | None = None, retry: bool = False,
        progress: Callable[[Done], None] | None = None,
    ) -> Iterator[Done]:  # fmt: skip
        """Run what is left in the open folder (see `stunt.jobs.run.run_in_folder`)."""
        assert self.journal is not None
        return run_in_folder(self, self.journal, machine, limit=limit, retry=retry, progress=progress)

    def write_tables(self, formats: Sequence[str]) -> list[Path]:
        """Write the tables of all rows so far: of what came out, and of what it cost.

        Raises:
            StuntError: A missing package, or a place that cannot be written to.
        """
        assert self.journal is not None and self.out is not None
        check_formats(formats)
        journal = self.journal
        paths = write_table(
            self.out, TABLE, lambda: (entry["row"] for entry in journal.entries()), formats, self.plan.columns
        )
        return paths + write_table(self.out, TIMING, lambda: map(_timing, journal.entries()), ("csv",))


def _timing(entry: Mapping[str, Any]) -> Row:
    return {"job": entry["index"], "id": entry["id"], **entry["timing"]}


def _check_names(plan: BatchPlan) -> None:
    """Complain about clips, bodies and functions that are not there, before anything is begun.

    Raises:
        StuntError: There is no such thing.
    """
    library = Library.of([str(Path(plan.folder, folder)) for folder in plan.folders], plan.folder)
    single = [(job.clip, job.place) for job in plan.jobs if job.clip is not None]
    for clip, place in [*((clip, plan.place) for clip in plan.found_clips), *single][:_CHECKED]:
        file = Path(cut_reference(library.find(clip, place))[0])
        if not file.is_file():
            raise JobError(f"there is no clip '{clip}' ({file}).", place)
    for body in dict.fromkeys([*plan.bodies, *(job.body for job in plan.jobs)]):
        if body != OWN_SKELETON:
            body_spec(body, library=library, place=plan.place)
    _check_functions(plan)


def _check_functions(plan: BatchPlan) -> None:
    """Complain about functions that are not there; modules may stand beside the plan, here and in workers."""
    own = [job for job in plan.jobs if job.run is not None]
    beside = str(Path(plan.folder or ".").absolute())
    if own and beside not in sys.path:
        sys.path.append(beside)
    for job in own:
        with asked_at(job.place):
            runner_of(str(job.run))
