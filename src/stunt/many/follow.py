"""The job of a batch: one clip, followed by one body in one setting, from one start, perhaps pushed; measured.

Stages stay warm: where the next job differs only in its seed and its push, the stage is set back to its beginning, bit
for bit, instead of being built anew. Clips and bodies are shared by all jobs of a process anyway (`stunt.library`).

A controller may lead the body instead of the clip, and is judged by the clip. It is made as a supervisor makes it; one
whose maker has a keyword `motion` is given the clip as a motion of the body, where it lies on the stage.
"""

from __future__ import annotations

import inspect
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import mujoco
import numpy as np

from stunt.drive.body.actor import BodyActor
from stunt.drive.body.followed import Followed
from stunt.drive.body.measures import measure
from stunt.errors import BlowUpError, StuntError
from stunt.jobs.job import Job, Row, canonical
from stunt.keys import read
from stunt.library.names import Library
from stunt.many.plan import StartNoise
from stunt.many.setting import WHO, script_of
from stunt.many.shove import Shove
from stunt.motion.clips.clip import Clip
from stunt.record.effort import effort
from stunt.record.incidents import time_of_fall
from stunt.record.report import make_report
from stunt.record.take import Take
from stunt.review.figures import FIGURES
from stunt.review.verdict import review
from stunt.schema import node_from_plain
from stunt.script.performance import Performance
from stunt.supervise.registry import make_controller, maker_of

SHORTEST_WAY: Final = 0.1
"""Of a shorter way than this [m] drift is no share."""
_START, _PUSH = 0, 1  # streams of random numbers
_WARM = 2  # stages a process keeps


@dataclass(frozen=True)
class Lead:
    """A controller that is to be in charge from the start."""

    name: str  #: What it is called in the pool
    use: str  #: As it was asked for
    asked: Followed  #: The clip it is judged by

    @staticmethod
    def of(performance: Performance, use: str) -> Lead:
        """Let a controller take over from the clip of a performance that has not begun.

        Args:
            performance: In which `WHO` follows a clip.
            use: A registered controller, or `module:Class`.

        Raises:
            StuntError: There is no such controller, or it cannot be made.
        """
        body: BodyActor = performance.stage.actors[WHO]
        asked = body.history[0]
        given: dict[str, Any] = {"motion": body.motion} if _takes_motion(use) else {}
        controller = make_controller(use, performance.stage, WHO, parameters=given)
        body.driver.add(controller)
        body.driver.request(controller.name)
        return Lead(controller.name, use, asked)

    def measured(self, performance: Performance, take: Take) -> dict[str, Any]:
        """Return how well the body did what the clip asked for.

        Raises:
            StuntError: The controller was never in charge: these would be the clip's own figures.
        """
        body: BodyActor = performance.stage.actors[WHO]
        log = [entry for entry in body.driver.log if entry.get("controller") == self.name]
        if not any(entry["event"] == "switch" for entry in log):
            why = next((entry["reason"] for entry in log if entry["event"] == "refused"), "it did not bid")
            raise StuntError(f"controller '{self.use}' was never in charge: {why}.")
        return measure(body, take.time, take.qpos, against=self.asked)


@dataclass
class _Warm:
    """A stage that can be set back to its beginning."""

    performance: Performance
    clip: Clip
    begin: dict[str, Any]
    lead: Lead | None  # whom it follows instead of its clip


_STAGES: OrderedDict[str, _Warm] = OrderedDict()


class _Phases:
    """Processor time by what it was used for."""

    def __init__(self) -> None:
        self.cells: Row = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Measure what is done inside."""
        began = time.process_time()
        try:
            yield
        finally:
            self.cells[f"cpu_{name}_s"] = time.process_time() - began


def follow(job: Job) -> Row:
    """Run a job whose arguments a plan made.

    Raises:
        StuntError: A clip that is not there, a setting that does not fit, a stage that blew up.
    """
    told, phases = job.arguments, _Phases()
    with phases.of("prepare"):
        warm = _set_back(told, job.folder)
        performance = warm.performance
        pushed = begin(performance, told)
    stage = performance.stage
    try:
        with phases.of("step"):
            stage.advance(stage.tick_of(performance.seconds) - stage.tick)
    except BlowUpError:
        if job.keep:
            _keep(performance.take(), job)
        raise
    with phases.of("measure"):
        take = performance.take()
        row = measures(take, led=warm.lead.measured(performance, take) if warm.lead is not None else {})
    failed = bool(row["fell"])
    with phases.of("keep"):
        kept = _keep(take, job) if job.keep and (job.keeps == "all" or failed) else ""
    return {**row, "push_deg": pushed, "take": kept, **phases.cells}


def _set_back(told: Mapping[str, Any], folder: str) -> _Warm:
    """Return a performance at its beginning: one that is warm, or a new one."""
    key = canonical([told[name] for name in ("clip", "body", "setting", "seconds", "folders")] + [folder])
    library = Library.of([str(Path(folder, own)) for own in told["folders"]], folder)
    clip = library.clip(told["clip"])  # complains where it is gone; another one where its file has changed
    warm = _STAGES.get(key)
    if warm is None or warm.clip is not clip:
        script = script_of(told["setting"], told["clip"], told["body"], library, seconds=told["seconds"])
        performance = Performance(script)
        use = told["setting"].get("controller")
        lead = Lead.of(performance, use) if use else None
        warm = _STAGES[key] = _Warm(performance, clip, performance.stage.save(), lead)
    else:
        warm.performance.stage.restore(warm.begin)
    _STAGES.move_to_end(key)
    while len(_STAGES) > _WARM:
        _STAGES.popitem(last=False)
    return warm


def begin(performance: Performance, told: Mapping[str, Any]) -> float | None:
    """Give a performance its seed's start and its push.

    Noise and direction are drawn from the plan's and the job's seed alone, so that all settings and controllers are
    given the same ones: rows of one seed can be compared in pairs.

    Args:
        performance: At its beginning.
        told: `plan` (seed), `seed` (None: no noise), `noise` and `push` of a job.

    Returns:
        To where the push goes, from where the body faces at the start [°]; None where there is none.
    """
    stage, plan, seed = performance.stage, told["plan"], told["seed"]
    stage.rng.bit_generator.state = np.random.default_rng([plan, 0 if seed is None else seed + 1]).bit_generator.state
    if seed is not None:
        shake(
            performance, read(StartNoise, node_from_plain(told["noise"])), np.random.default_rng([plan, seed, _START])
        )
    if told["push"] is None:
        return None
    push = read(Shove, node_from_plain(told["push"]))
    degrees = push.degrees(np.random.default_rng([plan, 0 if seed is None else seed, _PUSH]))
    stage.happen(push.event(WHO, degrees))
    return degrees


def shake(performance: Performance, noise: StartNoise, rng: np.random.Generator) -> None:
    """Disturb a start: joints' angles and velocities, and the root's velocity; it stays where it is."""
    model, data = performance.stage.model, performance.stage.data
    turn = rng.normal(0.0, np.radians(noise.joints), model.nv)
    speed = rng.normal(0.0, noise.spin, model.nv)
    along = rng.normal(0.0, noise.speed, model.nv)
    for joint in range(model.njnt):
        first = model.jnt_dofadr[joint]
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            turn[first : first + 6] = 0.0
            speed[first : first + 3] = along[first : first + 3]
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
            turn[first], speed[first] = 0.0, along[first]
    mujoco.mj_integratePos(model, data.qpos, turn, 1.0)
    _keep_within_limits(model, data.qpos)
    data.qvel[:] += speed


def _keep_within_limits(model: mujoco.MjModel, qpos: np.ndarray) -> None:
    """Bring hinges back that noise took over their limits: a start there would be a blow."""
    hinges = (model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE) & (model.jnt_limited == 1)
    where = model.jnt_qposadr[hinges]
    qpos[where] = np.clip(qpos[where], *model.jnt_range[hinges].T)


def measures(take: Take, who: str = WHO, led: Mapping[str, Any] = MappingProxyType({})) -> Row:
    """Return what a batch's table says of a take: figures of its report, and what it took of the joints.

    Args:
        take: The take.
        who: Of whom.
        led: Figures of a controller that was in charge, in place of the report's.
    """
    report = make_report(take)
    about = {**report["characters"][who], **led}
    fell = time_of_fall(take, who)
    drift, way = about.get("drift_m"), about.get("path_m", 0.0)
    help_, limits, used = about["assistance"], about.get("limits", {}), effort(take, who)
    return {
        "seconds": report["seconds"],
        "error_deg_mean": about.get("error_deg_mean"),
        "error_deg_max": about.get("error_deg_max"),
        "fell": about["fell"],
        "fell_at": fell,
        "ended": "lying" if about["ended_lying"] else "up",
        "drift_m": drift,
        "drift_share": drift / way if drift is not None and way >= SHORTEST_WAY else None,
        "slide_m": about.get("foot_slide_m"),
        **used,
        "strength_peak": limits.get("worst"),
        "strength_over": limits.get("over_share"),
        **{f"help_{name}": help_[name] for name in ("torque_mean", "torque_peak", "force_mean", "force_peak")},
        "hits": about["hits"],
        "warnings": len(report["warnings"]),
        **_reviewed(take, who),
    }


def _reviewed(take: Take, who: str) -> Row:
    """Return the figures of a take's review; None where there is nothing to measure."""
    found = review(take)
    known = found.of(who)
    return {
        "outside": sum(not finding.inside for finding in known.values()),
        "not_happened": len(found.missing),
        **{f"review_{name}": known[name].measured.value if name in known else None for name in FIGURES},
    }


def _keep(take: Take, job: Job) -> str:
    """Write a take into the folder for it; return its name beside the table."""
    name = f"{job.id}.npz"
    about = {"seed": job.arguments["seed"], "job": dict(job.columns)}
    replace(take, meta={**take.meta, **about}).save(Path(job.keep) / name)
    return f"{Path(job.keep).name}/{name}"


def _takes_motion(use: str) -> bool:
    try:
        return "motion" in inspect.signature(maker_of(use)).parameters
    except (TypeError, ValueError):
        return False
