"""Many tries, kept in a file as they come: an interrupted run goes on where it was.

One try as its controller declares it: from lying or falling states too, with parameters of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.errors import NONSENSE, BlowUpError, StuntError
from stunt.jobs.job import FAILURE, Job, Row, numbered
from stunt.jobs.pool import Machine
from stunt.jobs.run import machine_of
from stunt.maths import rotations
from stunt.record.files import read_file, written_aside
from stunt.stage.event_specs import Push
from stunt.stage.loop import StageLoop
from stunt.supervise.calls import ask_bid
from stunt.supervise.contract import Bid, Controller, Status, failed
from stunt.supervise.learn import trial
from stunt.supervise.learn.features import FEATURES, features
from stunt.supervise.learn.trial import HZ, STRONGEST, WHO, Sample, TrialPlan, plan_digest, pushed, pushed_stage, stands
from stunt.supervise.practice import Practice
from stunt.supervise.registry import make_controller
from stunt.supervise.situation import Ended, Situation

BLEW_UP: Final = "blew up"
_RUN: Final = "stunt.supervise.learn.samples:try_once"
SETTLE: Final = 1.2
"""How long a limp body lies before it is handed over [s]."""
WEAK: Final = 0.3
"""Strength of a body that is to fall; half a second later it goes limp."""
LONGEST_FALL: Final = 2.5
"""A body that has not tipped so long after is handed over as it is [s]."""
_MOST: Final = 2**30  # bytes of a file of tries
_LOOK: Final = round(HZ / trial.LOOK_HZ)
_START: Final = Status("failed", "a try begins")


def run_trial(plan: TrialPlan, seed: int, number: int) -> Sample:
    """Try once; the same plan, seed and number give the same sample. One that blew up has no features."""
    if plan.practice == Practice():
        sample = trial.run_trial(plan, seed, number)
        return replace(sample, features=()) if sample.why == BLEW_UP else sample
    rng = np.random.default_rng([seed, number])
    start = plan.practice.starts[int(rng.integers(len(plan.practice.starts)))]
    told = tuple(float(rng.uniform(least, most)) for _, least, most in plan.practice.sampled)
    where: tuple[float, ...] = ()
    try:
        stage, actor, where = _STARTS[start](plan, rng)
        seen = features(stage, actor.character)
        names = [name for name, _, _ in plan.practice.sampled]
        controller = make_controller(plan.controller, stage, WHO, parameters=dict(zip(names, told, strict=True)))
        status = _run(controller, stage, actor)
        if status.state == "succeeded" and plan.practice.success == "stands":
            stage.advance(round(trial.AFTER * HZ))
            status = status if stands(stage) else failed("does not stand afterwards")
    except BlowUpError:
        return Sample(number, (), False, BLEW_UP, where, told)
    return Sample(number, tuple(seen.tolist()), status.state == "succeeded", status.reason, where, told)


def _run(controller: Controller, stage: StageLoop, actor: BodyActor) -> Status:
    """Let a controller go on until it has succeeded or failed, and say which."""
    began = stage.time

    def look() -> Situation:
        return Situation(stage, actor.character, since=began, last=Ended("before", _START, began))

    bid = ask_bid(controller, look())
    controller.start(look(), actor, bid or Bid(1.0, "a try"))
    while stage.time - began < controller.longest:
        stage.advance(_LOOK)
        status = controller.step(look(), actor)
        if not status.running:
            controller.stop(look(), actor)
            return status
    return failed("took too long")


def _falling(plan: TrialPlan, rng: np.random.Generator) -> tuple[StageLoop, BodyActor, tuple[float, ...]]:
    """Be pushed hard; the controller takes over once the body leans so far, or lies."""
    stage, actor, (direction, size, _) = pushed(plan, rng, 0.6 * STRONGEST)
    lean, began = float(rng.uniform(0.6, 1.5)), stage.time
    while stage.time < began + LONGEST_FALL and Situation(stage, actor.character).tilt < lean:
        actor.strength(WEAK if stage.time < began + 0.5 else 0.01)
        stage.advance(_LOOK)
    actor.recover()
    return stage, actor, (direction, size, lean)


def _lying(plan: TrialPlan, rng: np.random.Generator) -> tuple[StageLoop, BodyActor, tuple[float, ...]]:
    """Drop limply onto any side, and lie."""
    stage, actor = pushed_stage(plan, plan.clips[0], Push(f"{WHO}/pelvis", 1e6, impulse=(0.0, 0.0, 0.0), duration=0.1))
    side, spin = float(rng.uniform(-np.pi, np.pi)), float(rng.uniform(-np.pi, np.pi))
    root = actor.character.root
    assert root is not None  # bodies that are tried are free
    stood = stage.data.qpos[root.qpos + 3 : root.qpos + 7].copy()
    over = rotations.from_rotation_vector(0.5 * np.pi * np.array([np.cos(side), np.sin(side), 0.0]))
    turned = rotations.multiply(over, rotations.multiply(rotations.from_rotation_vector(np.array([0, 0, spin])), stood))
    actor.go_limp()
    stage.data.qpos[root.qpos + 3 : root.qpos + 7] = turned
    stage.data.qpos[root.qpos + 2] = 0.4
    stage.data.qvel[actor.slices[1]] = 0.3 * rng.standard_normal(actor.layout.nv)
    mujoco.mj_forward(stage.model, stage.data)
    stage.advance(round(SETTLE * HZ))
    return stage, actor, (side, spin, 0.0)


_STARTS: Final = {"pushed": pushed, "falling": _falling, "lying": _lying}


SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Samples:
    """What tries showed."""

    plan: TrialPlan  #: What was tried
    seed: int  #: With which randomness
    body: str  #: Digest of the body
    samples: tuple[Sample, ...]  #: The tries in order, those that blew up left out
    blown_up: int = 0  #: How many blew up: they say nothing about the controller

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
    workers: int | None = None,
    ray: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Samples:
    """Try so many times; those already in the file are not tried again.

    Args:
        plan: What to try.
        count: How often in all.
        file: Where tries are kept, one line of JSON each.
        seed: Randomness.
        workers: How many processes; None: one per core; 0: this one.
        ray: The address of a Ray cluster, or `local`; empty: none.
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
            for sample in _tried(plan, seed, missing, machine_of(workers if missing else 0, ray if missing else "")):
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
    varied = len(header["plan"].get("practice", {}).get("sampled", ()))
    for sample in samples:
        states = {len(FEATURES), 0} if sample.why == BLEW_UP else {len(FEATURES)}  # 0: nothing was felt any more
        if len(sample.features) not in states or len(sample.sampled) != varied:
            raise StuntError(f"'{file}': try {sample.number} has not the {len(FEATURES)} numbers of a state.")
    with written_aside(file) as aside:
        rows = [json.dumps(header), *(json.dumps(_line(sample)) for sample in samples)]
        aside.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return {sample.number: sample for sample in samples}


def _lines(file: Path) -> list[dict[str, Any]]:
    found = []
    try:
        rows = read_file(file, _MOST).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StuntError(f"cannot read '{file}': {error.strerror}.") from None
    for number, row in enumerate(rows):
        try:
            found.append(json.loads(row))
        except (ValueError, RecursionError):
            if number + 1 < len(rows):
                raise StuntError(f"'{file}', line {number + 1}: not a line of JSON.") from None
    return found


def _sample(line: dict[str, Any]) -> Sample:
    try:
        return Sample(
            operator.index(line["number"]), _numbers(line["features"]), bool(line["success"]), str(line["why"]),
            _numbers(line["parameters"]), _numbers(line.get("sampled", ())),
        )  # fmt: skip
    except NONSENSE as error:
        raise StuntError(f"a line of the tries is none: {str(line)[:300]}.") from error


def _numbers(values: Sequence[Any]) -> tuple[float, ...]:
    if not all(type(value) in (int, float) and math.isfinite(value) for value in values):
        raise ValueError("no numbers")
    return tuple(values)


def _tried(plan: TrialPlan, seed: int, numbers: Sequence[int], machine: Machine) -> Iterator[Sample]:
    told = asdict(plan)
    jobs = numbered(Job(_RUN, {"plan": told, "seed": seed, "number": number}) for number in numbers)
    with closing(machine):
        for done in machine.run(jobs):
            if done.failed:
                raise StuntError(f"try {numbers[done.index]} could not be made: {done.row[FAILURE]}")
            yield _sample(json.loads(done.row["sample"]))


def try_once(job: Job) -> Row:
    """Run one try as a job: `plan`, `seed` and `number`; its row holds the sample as one line of JSON."""
    told = dict(job.arguments["plan"])
    practice = told.pop("practice")
    rows = tuple((str(name), float(least), float(most)) for name, least, most in practice["sampled"])
    whole = Practice(**{**practice, "starts": tuple(practice["starts"]), "sampled": rows})
    plan = TrialPlan(**{**told, "clips": tuple(told["clips"]), "practice": whole})
    return {"sample": json.dumps(_line(run_trial(plan, job.arguments["seed"], job.arguments["number"])))}
