"""A worker: a process that runs one job after another and stays warm. `pool.py` starts it, by `python -m`.

Lines of JSON. First it says `{"ready": true}`; then for each line with a job it answers with one of what came of it,
and how much processor time the process has used so far. It ends when nobody can ask any more.
"""

from __future__ import annotations

import json
import os
import sys

from stunt.jobs.job import Job, run_job


def serve() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a runner prints does not get between the answers
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()
    for line in sys.stdin:
        done = run_job(Job.from_data(json.loads(line)))
        used = sum(os.times()[:2])
        answers.write(json.dumps({**done.to_data(), "used": used}) + "\n")
        answers.flush()


if __name__ == "__main__":
    try:
        serve()
    except (BrokenPipeError, KeyboardInterrupt):  # whoever asked is gone
        os._exit(1)
