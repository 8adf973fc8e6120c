"""Many tries, kept in a file as they come: an interrupted run goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import StuntError
from stunt.record.files import written_aside
from stunt.supervise.learn.features import FEATURES
from stunt.supervise.learn.practice_trial import BLEW_UP, run_trial
from stunt.supervise.learn.trial import Sample, TrialPlan, plan_digest
from stunt.supervise.practice import Practice

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Samples:
    """What tries showed.

    Attributes:
        plan: What was tried.
        seed: With which randomness.
        body: Digest of the body.
        samples: The tries in order, those that blew up left out.
        blown_up: How many blew up: they say nothing about the controller.
    """

    plan: TrialPlan
    seed: int
    body: str
    samples: tuple[Sample, ...]
    blown_up: int = 0

    @property
    def features(self) -> np.ndarray:
        """States, then the controller's own parameters, (N, 17 + those)."""
        rows = [(*sample.features, *self.plan.practice.features(sample.sampled)) for sample in self.samples]
        return np.array(rows).reshape(-1, len(self.names))

    @property
    def names(self) -> list[str]:
        """What each feature is called."""
        return [*FEATURES, *self.plan.practice.feature_names()]

    @property
    def success(self) -> np.ndarray:
        """(N,) bool."""
        return np.array([sample.success for sample in self.samples], dtype=bool)

    @property
    def digest(self) -> str:
        """A digest of the data: what was learned from it belongs to no other."""
        text = json.dumps([_header(self.plan, self.seed, self.body), *map(_line, self.samples)])
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def collect(
    plan: TrialPlan,
    count: int,
    file: Path,
    *,
    seed: int = 0,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Samples:
    """Try so many times; those already in the file are not tried again.

    Args:
        plan: What to try.
        count: How often in all.
        file: Where tries are kept, one line of JSON each.
        seed: Randomness.
        processes: How many at once; None: one per core; 1: in this process.
        progress: Called with how many are done, of how many.

    Raises:
        StuntError: The file holds tries of something else, or cannot be written.
    """
    header = _header(plan, seed, plan_digest(plan))
    done = _begun(file, header)
    missing = [number for number in range(count) if number not in done]
    if progress is not None:
        progress(count - len(missing), count)
    try:
        with open(file, "a", encoding="utf-8") as out:
            for sample in _tried(plan, seed, missing, processes):
                done[sample.number] = sample
                # One whole line at a time: whatever interrupts, only the last line can be broken.
                out.write(json.dumps(_line(sample)) + "\n")
                out.flush()
                if progress is not None:
                    progress(sum(number < count for number in done), count)
    except OSError as error:
        raise StuntError(f"cannot write '{file}': {error.strerror}.") from error
    whole = tuple(done[number] for number in range(count) if done[number].why != BLEW_UP)
    return Samples(plan, seed, header["body"], whole, count - len(whole))


def _header(plan: TrialPlan, seed: int, body: str) -> dict[str, Any]:
    told = asdict(plan)
    if plan.practice == Practice():
        del told["practice"]  # as files of plain tries have always been
    data = {"schema": SCHEMA, "seed": seed, "body": body, "features": list(FEATURES), "plan": told}
    return json.loads(json.dumps(data))


def _line(sample: Sample) -> dict[str, Any]:
    told = asdict(sample)
    return told if sample.sampled else {key: value for key, value in told.items() if key != "sampled"}


def _begun(file: Path, header: dict[str, Any]) -> dict[int, Sample]:
    """Return the tries a file has, and leave it with whole lines only; begin it where there is none."""
    lines = _lines(file)
    if lines and lines[0] != header:
        raise StuntError(f"'{file}' holds tries of something else (controller, body, seed); give another file.")
    samples = [_sample(line) for line in lines[1:]]
    with written_aside(file) as aside:
        rows = [json.dumps(header), *(json.dumps(_line(sample)) for sample in samples)]
        aside.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return {sample.number: sample for sample in samples}


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    found = []
    rows = file.read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(rows):
        try:
            found.append(json.loads(row))
        except ValueError:
            if number + 1 < len(rows):
                raise StuntError(f"'{file}', line {number + 1}: not a line of JSON.") from None
    return found


def _sample(line: dict[str, Any]) -> Sample:
    try:
        return Sample(
            int(line["number"]), tuple(line["features"]), bool(line["success"]), str(line["why"]),
            tuple(line["parameters"]), tuple(line.get("sampled", ())),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise StuntError(f"a line of the tries is none: {line!r}.") from error


def _tried(plan: TrialPlan, seed: int, numbers: Sequence[int], processes: int | None) -> Iterator[Sample]:
    if processes == 1 or len(numbers) < 2:
        for number in numbers:
            yield run_trial(plan, seed, number)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(run_trial, plan, seed, number) for number in numbers]
        try:
            for job in as_completed(jobs):
                yield job.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
