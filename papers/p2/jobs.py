"""The experiments of P2 as jobs: one seed each, so that statistics over many run on all cores, or a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from papers.p2 import boxing, duck, falls, goalie, kick, trip
from stunt.errors import StuntError
from stunt.jobs.job import FAILURE, Job, Row, numbered
from stunt.jobs.run import rows_of


def run(experiment: str, seeds: Iterable[int], *, workers: int | None = None, **told: Any) -> list[Row]:
    """Run an experiment of this module for many seeds; return its rows in their order.

    Raises:
        StuntError: One failed.
    """
    jobs = numbered(Job(f"{__name__}:{experiment}", {"seed": seed, **told}, {"seed": seed}) for seed in seeds)
    found = []
    for row in rows_of(jobs, workers=workers):
        if row[FAILURE]:
            raise StuntError(f"{experiment}, seed {row['seed']}: {row[FAILURE]}")
        print(f"{experiment} {row}", flush=True)
        found.append(row)
    return found


def shot(job: Job) -> Row:
    """Shoot at the goalkeeper."""
    seed = job.arguments["seed"]
    aimed = goalie.shot(seed)
    return asdict(goalie.outcome(goalie.goalie(aimed, seed=seed), aimed, seconds=0.0))


def throw(job: Job) -> Row:
    """Throw at somebody's head (`at_head`) or past it; `counts`: whether it would have hit one who does not duck."""
    seed, at_head = job.arguments["seed"], bool(job.arguments["at_head"])
    pitch = duck.pitch(seed, at_head=at_head)
    idle = duck.outcome(duck.duck(pitch, seed=seed, reflex=False), pitch, seconds=1.2)
    if not (idle.head_hit if at_head else not idle.hit):
        return {"counts": False}
    return {"counts": True, **asdict(duck.outcome(duck.duck(pitch, seed=seed), pitch, seconds=2.0))}


def kicked(job: Job) -> Row:
    """Kick a partner; `counts`: whether the foot met it."""
    how = kick.outcome(kick.kick(job.arguments["seed"]))
    return {"counts": how.connected, "strong": how.strong, **asdict(how)}


def tripped(job: Job) -> Row:
    """Walk into a stone; `counts`: whether it took the walker off its data."""
    how = trip.outcome(trip.trip(job.arguments["seed"]))
    return {"counts": how.tripped >= 0.0, **asdict(how)}


def match(job: Job) -> Row:
    """Box for so many `seconds`."""
    seconds = float(job.arguments["seconds"])
    how = boxing.outcome(boxing.boxing(job.arguments["seed"], seconds=seconds), seconds=seconds)
    return {**asdict(how), "ropes": boxing.ROPES}


def pushed_over(job: Job) -> Row:
    """Push somebody over."""
    push = falls.pushed_over(job.arguments["seed"])
    return asdict(falls.outcome(falls.show(push, job.arguments["seed"]), push))
