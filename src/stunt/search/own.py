"""`stunt.search_own`: a clip in, what to ask for beside it out; with a folder, a search that can be gone on with."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from stunt.errors import NONSENSE, BodyError, InvalidValueError, TakeError, announced
from stunt.jobs.job import Done, Job, JobError, Row, digest, run_job
from stunt.jobs.journal import RowJournal
from stunt.jobs.pool import Machine
from stunt.jobs.run import in_order, machine_of
from stunt.library.bodies import OWN_SKELETON
from stunt.library.names import find_clip
from stunt.many.setting import STRENGTH
from stunt.maths.rotations import Floats
from stunt.record.files import read_file, written_aside
from stunt.record.take import Take
from stunt.search.inputs import SIZE, WINDOW
from stunt.search.search import CPU_PER_SECOND, Search, Trial, landings
from stunt.search.trial import OwnStage, stage_of

BUDGET: Final = 20.0
"""Processor time for a second of the clip, unless told [s]."""
FOUND: Final = "found.json"
_RUN = "stunt.search.trial:attempt"
_MOST = 200_000  # trials of a search
_MOST_BYTES = 64 * 2**20
_FALL = 1.0  # seconds of a fall that are shown


@dataclass(frozen=True, eq=False)
class SearchedMotion:
    """What a search found: what to ask for beside a clip, so that a body does it on its own feet.

    Attributes:
        setting: Clip, body and keys.
        vectors: What is asked for, window by window (see `stunt.search.inputs`), (windows, n); none: the live run.
        row: What comes of it, from the first frame to a second after the clip's end.
        live: What comes of asking for nothing.
        trials: How many were made.
        simulated: Seconds that were simulated.
        cpu: Processor time the trials took, where it is known [s].
        length: Of the clip [s].
        seed: Of the search.
    """

    setting: Mapping[str, Any]
    vectors: Floats
    row: Row
    live: Row
    trials: int
    simulated: float
    cpu: float
    length: float
    seed: int

    @property
    def done(self) -> bool:
        """Whether the body is up a second after the clip's end."""
        return bool(self.row["up"])

    @property
    def how(self) -> str:
        """Whether it was done `live`, `searched`, or `failed`."""
        return "failed" if not self.done else "searched" if len(self.vectors) else "live"

    def told(self) -> str:
        """Say in a sentence what came of it."""
        row, live = self.row, self.live
        if not self.done:
            return f"failed: it leaves its clip at {row['reach']:.2f} s of {self.length:.2f} s for good"
        off, drift, late = row["error_deg"], 100.0 * row["drift_m"], row["late_s"]
        figures = f"{off:.1f}° off on the mean, {drift:.0f} cm at the end, {late:.2f} s late"
        if self.how == "live":
            return f"done live: {figures}"
        before = f"{live['error_deg']:.1f}° off" if live["up"] else f"a fall at {live['reach']:.2f} s"
        return f"done after {self.trials:,} trials: {figures}; live it was {before}"

    def stage(self, *, certify: bool = False) -> OwnStage:
        """Return a stage on which it is about to be performed and recorded."""
        made = OwnStage(
            self.setting, seconds=self.row["ends_s"] + (0.0 if self.done else _FALL), record=True, certify=certify
        )
        made.prompter.follow(self.vectors)
        return made

    def take(self, *, certify: bool = False) -> Take:
        """Perform it and return the take; `certify`: one that `stunt.certify` can go by."""
        return self.stage(certify=certify).performance.run()

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "stunt_search": 1, "setting": dict(self.setting), "how": self.how, "seed": self.seed,
            "length_s": self.length, "window_s": WINDOW, "row": self.row, "live": self.live, "trials": self.trials,
            "simulated_s": self.simulated, "cpu_s": self.cpu, "vectors": self.vectors.tolist(),
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write it into a file.

        Raises:
            TakeError: It cannot be written.
        """
        with written_aside(Path(path)) as aside:
            aside.write_text(json.dumps(self.to_data(), indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> SearchedMotion:
        """Read it from a file.

        Raises:
            TakeError: There is no such file, or it is none of these.
        """
        try:
            data = json.loads(read_file(path, _MOST_BYTES))
            vectors = np.array(data["vectors"], float).reshape(-1, SIZE)
            found = SearchedMotion(
                {**data["setting"]}, vectors, {**data["row"]}, {**data["live"]}, operator.index(data["trials"]),
                float(data["simulated_s"]), float(data["cpu_s"]), float(data["length_s"]), operator.index(data["seed"]),
            )  # fmt: skip
            for row in (found.row, found.live):  # what is told of it, whichever way it ended
                np.array([row[name] for name in ("up", "reach", "error_deg", "drift_m", "late_s", "ends_s")], float)
            found.told()
            return found
        except OSError as error:
            raise TakeError(f"'{path}' cannot be read: {error.strerror}.") from None
        except NONSENSE as error:
            raise TakeError(f"'{path}' is no {FOUND} of a search: {error!r:.300}.") from None


class TrialDesk:
    """Has trials made, by whatever machine, and keeps their rows in a journal.

    Attributes:
        cpu: Processor time of the trials, those of earlier runs included [s].
        known: How many rows were there to begin with.
    """

    def __init__(self, setting: Mapping[str, Any], machine: Machine, journal: RowJournal | None) -> None:
        """Open it."""
        self._setting, self._machine, self._journal = setting, machine, journal
        self._kept = {entry["index"]: entry for entry in journal.entries()} if journal is not None else {}
        self._count, self.cpu, self.known = 0, 0.0, len(self._kept)

    def run(self, trials: Sequence[Trial]) -> list[Row]:
        """Return the rows of trials, in their order."""
        jobs = [
            Job(
                _RUN, {
                    "setting": self._setting, "before": before.tolist(), "now": now.tolist(), "goal": float(goal),
                    "most_off": most_off,
                }, index=self._count + k, near="own",
            )
            for k, (before, now, goal, most_off) in enumerate(trials)
        ]  # fmt: skip
        self._count += len(jobs)
        rows = {job.index: self._row(job) for job in jobs if job.index in self._kept}
        for done in in_order(self._machine.run([job for job in jobs if job.index not in rows])):
            self._note(done)
            rows[done.index] = done.row
        for index, row in rows.items():
            if row.get("failure"):
                raise JobError(f"trial {index} went wrong: {row['failure']}")
        return [rows[job.index] for job in jobs]

    def _row(self, job: Job) -> Row:
        entry = self._kept[job.index]
        if entry["id"] != job.id or (job.index == 0 and run_job(job).row != entry["row"]):
            raise JobError(
                f"the row kept of trial {job.index} is not what comes of it here and now: it was made by another Stunt "
                "or on another machine. Take another folder."
            )
        self.cpu += entry["timing"].get("cpu_s", 0.0)
        row: Row = entry["row"]
        return row

    def _note(self, done: Done) -> None:
        self.cpu += done.timing.get("cpu_s", 0.0)
        if self._journal is not None and not done.failed:
            self._journal.note(done)


def setting_of(
    clip: str | Path, body: str | None = None, *, strength: float = STRENGTH, clips: Sequence[str] = (), **keys: Any
) -> dict[str, Any]:
    """Return what a search is about, as plain data.

    Args:
        clip: A motion file, or the name of a clip.
        body: Whose body; None: the clip's own.
        strength: Factor on the joints' strength.
        clips: Folders to look for names in.
        keys: More keys of a setting: `clock`, `mass`, `height`, … .

    Raises:
        StuntError: There is no such clip.
    """
    if not isinstance(clip, str | Path):
        raise InvalidValueError("clip", type(clip).__name__, "a motion file, or the name of a clip")
    path = find_clip(str(clip), list(clips))
    return {
        "clip": str(path), "body": body or OWN_SKELETON, "folders": list(clips), "keys": {"strength": strength, **keys},
    }  # fmt: skip


@announced
def search_own(
    clip: str | Path,
    body: str | None = None,
    *,
    strength: float = STRENGTH,
    seed: int = 0,
    budget: float = BUDGET,
    workers: int | None = 0,
    out: str | Path | None = None,
    progress: Callable[[Search], None] | None = None,
    machine: Machine | None = None,
    **keys: Any,
) -> SearchedMotion:
    """Find what to ask for beside a clip so that a body does it on its own feet, where live control does not.

    Args:
        clip: A motion file, or the name of a clip.
        body: Whose body; None: the clip's own.
        strength: Factor on the joints' strength.
        seed: Of everything random. The same seed comes to the same end, whatever the number of processes.
        budget: Most processor time for a second of the clip [s], reckoned at 0.08 s for a second of 72 degrees of
            freedom simulated, so that no machine's speed counts; 0: the live run alone.
        workers: How many processes; None: one per core; 0: this one.
        out: A folder in which rows are kept, and from which the same search goes on; None: none.
        progress: Called after every round.
        machine: What makes the trials, where that is there already and stays.
        keys: More keys: `clips` (folders), `clock`, `mass`, `height`, … .

    Raises:
        StuntError: The clip or body is not there, or cannot be done on own feet at all.
    """
    if not 0.0 <= budget < 1e6:
        raise InvalidValueError("budget", budget, "seconds of processor per second of the clip, 0 or more")
    if not 0 <= seed < 2**32:
        raise InvalidValueError("seed", seed, "a whole number from 0 to 4294967295")
    if machine is not None and not hasattr(machine, "run"):
        raise InvalidValueError("machine", machine, "what runs jobs, or None")
    setting = setting_of(clip, body, strength=strength, **keys)
    warm = stage_of(setting)
    if budget > 0.0 and (why := warm.refusal()):
        raise BodyError(f"no search will have this body do '{Path(setting['clip']).stem}' on its own feet: {why}.")
    with ExitStack() as stack:
        journal = None
        if out is not None:
            stamp = digest({"setting": setting, "seed": seed, "budget": budget, "clip": warm.content})
            journal = stack.enter_context(RowJournal(Path(out), stamp, _MOST))
        chosen = machine
        if chosen is None:
            chosen = machine_of(workers)
            stack.callback(chosen.close)
        desk = TrialDesk(setting, chosen, journal)
        reference = warm.reference
        search = Search(
            warm.length, landings(reference.stands, reference.motion.fps), warm.space.spread, desk.run, seed=seed,
            budget=budget / (CPU_PER_SECOND * reference.velocity.shape[1]), told=progress or (lambda search: None),
        )  # fmt: skip
        best = search.find()
    return SearchedMotion(
        setting, best.vectors, best.row, search.live.row, search.trials, search.spent, desk.cpu, warm.length, seed
    )
