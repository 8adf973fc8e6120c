"""The papers' claims hold: each is a plan that `stunt compare` runs; here a part of each."""

from pathlib import Path

import pytest

import papers.claims
from stunt.many.batch import plan_of
from stunt.many.comparison import compare

FOLDER = Path(papers.claims.__file__).parent
PLANS = sorted(path.name for path in FOLDER.glob("*.yaml"))


def difference(rows, side, measure):
    found = compare(rows)
    return next(m for m in found.measures if m.name == measure).differences[side]


@pytest.mark.parametrize("name", PLANS)
def test_every_claim_is_a_plan_with_two_sides_or_more(name):
    plan = plan_of(FOLDER / name)
    jobs = list(plan.each())
    assert len(jobs) == plan.count and len({job.columns["setting"] for job in jobs}) >= 2
    assert len({job.id for job in jobs}) == len(jobs)


def run(name, keep):
    from stunt.jobs.job import run_job

    return [run_job(job).row for job in plan_of(FOLDER / name).each() if keep(job.columns)]


def test_the_adaptive_law_carries_a_load_that_makes_a_servo_sag():
    rows = run("adaptive_against_pd.yaml", lambda said: said["seed"] < 2 and said["load"] in (0, 2))
    assert difference(rows, "pd", "sag_deg").low > 0.0
    loaded = {row["setting"]: row["sag_deg"] for row in rows if row["load"] == 2 and row["seed"] == 0}
    assert loaded["adaptive"] < 0.1 and loaded["pd"] > 3.0


def test_the_beat_law_hits_what_gains_of_single_links_miss():
    rows = run("beat_against_constant.yaml", lambda said: said["seed"] < 3 and said["setting"] != "constant")
    assert difference(rows, "local", "missed_share").low > 0.0
    assert all(row["missed_share"] == 0.0 for row in rows if row["setting"] == "full")
