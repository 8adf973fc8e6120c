"""Files Stunt itself keeps, and reads again: journals, unsaved work, rows, tries, finds, notes beside takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "src" / "stunt" / "examples"


def journal(folder: Path) -> list[bytes]:
    from stunt.record.journal import Journal
    from stunt.script.file import script_from_data
    from stunt.script.performance import Performance

    ball = {"shape": "sphere", "radius": 0.1, "mass": 1, "at": [0, 0, 0.1]}
    performance = Performance(script_from_data({"props": {"ball": ball}, "seconds": 0.1}))
    with open(folder / "j", "w+b", buffering=0) as file:
        journal = Journal(file)
        journal.follow(performance.stage, performance.recorder, performance.told)
        for _ in range(3):
            performance.stage.advance(5)
            journal.append()
    return [(folder / "j").read_bytes()]


def read_journal() -> Callable[[Path], Any]:
    from stunt.record.journal import recovered

    return recovered


def certified(folder: Path) -> list[bytes]:
    """Return a take with its ledger."""
    from stunt.script.file import script_from_data
    from stunt.script.performance import Performance

    data = {
        "seconds": 0.1, "characters": {"ada": {"body": "torso28"}}, "poses": {"up": {"r_elbow_flexion": 10}},
        "performance": {"ada": {"beats": [{"pose": "up", "at": 0.05}]}},
    }  # fmt: skip
    return [Performance(script_from_data(data), certify=True).run().save(folder / "take.npz").read_bytes()]


def read_certified() -> Callable[[Path], Any]:
    from stunt.check.certificate import certify
    from stunt.record.take import Take, doubted

    def read(path: Path) -> None:
        take = Take.load(path)
        with doubted(take):  # as `stunt certify` does
            certify(take)

    return read


def read_review() -> Callable[[Path], Any]:
    from stunt.record.take import Take, doubted
    from stunt.review.verdict import review

    def read(path: Path) -> None:
        take = Take.load(path)
        with doubted(take):  # as `stunt review` does
            review(take).panel()

    return read


def autosave(folder: Path) -> list[bytes]:
    from stunt.studio.paper.keeping import HEADER

    touch = {"push": "dancer/thorax", "at": 0.5, "impulse": [1, 0, 0]}
    head = json.dumps({"base": "", "touches": [touch], "beside": "there.yaml"})
    return [f"{HEADER}{head}\n".encode() + (EXAMPLES / "ymca.yaml").read_bytes()]


def read_autosave() -> Callable[[Path], Any]:
    from stunt.studio.openings import unsaved
    from stunt.studio.paper.document import Document

    def read(path: Path) -> None:
        path.replace(path.with_name(".own.autosave.yaml"))
        unsaved([path.parent])
        Document.open(path.with_name("own.yaml"))

    return read


def rows(folder: Path) -> list[bytes]:
    rows = [{"journal": 1, "digest": "d", "jobs": 3}]
    rows += [{"index": k, "id": f"j{k}", "row": {"fell": False, "error": 0.5}, "timing": {"s": 1.0}} for k in range(3)]
    return ["".join(json.dumps(row) + "\n" for row in rows).encode()]


def read_rows() -> Callable[[Path], Any]:
    from stunt.jobs.journal import NAME, RowJournal, noted_in

    def read(path: Path) -> None:
        path.replace(path.with_name(NAME))
        noted_in(path.parent)
        with RowJournal(path.parent, "d", 3) as journal:
            list(journal.entries())

    return read


def plan(folder: Path) -> list[bytes]:
    return [b"clips: [walk, jab]\nseeds: 3\nnoise: {joints: 2}\nseconds: 1\njobs: [{clip: walk, seed: 3}]\n"]


def read_plan() -> Callable[[Path], Any]:
    from stunt.many.plan import load_plan

    return lambda path: load_plan(path).count


def read_map() -> Callable[[Path], Any]:
    from stunt.archives import ArrayCache

    return lambda path: ArrayCache(path.parent).load(path.stem)


def map(folder: Path) -> list[bytes]:
    from stunt.archives import ArrayCache

    ArrayCache(folder).keep("map", {"costs": np.random.default_rng(1).random((30, 40))})
    return [(folder / "map.npz").read_bytes()]


def tries(folder: Path) -> list[bytes]:
    """Return what `stunt learn` keeps of its tries."""
    from stunt.supervise.learn.features import FEATURES
    from stunt.supervise.learn.samples import _header, _line
    from stunt.supervise.learn.trial import Sample, TrialPlan

    sample = Sample(0, tuple(0.1 * k for k in range(len(FEATURES))), True, "stands", (0.1, 20.0, 0.2))
    lines = [_header(TrialPlan("balance"), 0, "d"), *({**_line(sample), "number": number} for number in range(3))]
    return ["".join(json.dumps(line) + "\n" for line in lines).encode()]


def read_tries() -> Callable[[Path], Any]:
    """Return who goes on with tries, as `stunt learn` does."""
    from stunt.supervise.learn.samples import Samples, _begun, _header
    from stunt.supervise.learn.trial import TrialPlan

    plan = TrialPlan("balance")
    header = _header(plan, 0, "d")

    def read(path: Path) -> None:
        samples = Samples(plan, 0, "d", tuple(_begun(path, header).values()))
        assert len(samples.features) == len(samples.success) and samples.digest

    return read


def found(folder: Path) -> list[bytes]:
    """Return what `stunt own` found."""
    from stunt.search.inputs import SIZE

    row = {"up": True, "reach": 1.0, "error_deg": 3.0, "drift_m": 0.1, "late_s": 0.0, "ends_s": 1.5}
    data = {
        "stunt_search": 1, "setting": {"clip": "walk", "body": None, "strength": 1.5}, "how": "searched", "seed": 0,
        "length_s": 1.0, "window_s": 0.5, "row": row, "live": {**row, "up": False}, "trials": 10, "simulated_s": 3.0,
        "cpu_s": 1.0, "vectors": [[0.0] * SIZE] * 2,
    }  # fmt: skip
    return [json.dumps(data).encode()]


def read_found() -> Callable[[Path], Any]:
    """Return who reads it again."""
    from stunt.search.own import SearchedMotion

    def read(path: Path) -> None:
        motion = SearchedMotion.load(path)
        motion.told()
        json.dumps(motion.to_data())

    return read


def noted_clips(folder: Path) -> list[bytes]:
    """Return which clips a batch had when it was begun."""
    from stunt.many.plan import BatchPlan

    return [json.dumps({"digest": BatchPlan(clips=("walk", "jab")).digest, "clips": ["walk", "jab"]}).encode()]


def read_noted_clips() -> Callable[[Path], Any]:
    """Return who goes on with a batch."""
    from stunt.many.batch import _CLIPS, BatchRun
    from stunt.many.plan import BatchPlan

    def read(path: Path) -> None:
        path.replace(path.with_name(_CLIPS))
        batch = BatchRun(BatchPlan(clips=("walk", "jab")), path.parent)
        assert len([job.id for job in batch.each()]) == batch.count

    return read


def new_take(folder: Path) -> list[bytes]:
    """Return the list of a take that is written and not yet moved into place."""
    return [b"take.npz\nreport.json\n"]


def read_new_take() -> Callable[[Path], Any]:
    """Return who moves such a take into place."""
    from stunt.record.take import COMMITTED
    from stunt.record.take_folder import _LIST, mend

    def read(path: Path) -> None:
        new = path.parent / "takes" / COMMITTED
        new.mkdir(parents=True, exist_ok=True)
        path.replace(new / _LIST)
        (new / "take.npz").write_bytes(b"new")
        mend(new.parent, lambda take: "")

    return read


def mark(folder: Path) -> list[bytes]:
    """Return the mark of a studio that has a script open."""
    return [b"12345\n"]


def read_mark() -> Callable[[Path], Any]:
    """Return who asks whether a script is open elsewhere."""
    from stunt.studio.paper.keeping import open_elsewhere

    def read(path: Path) -> None:
        path.replace(path.with_name(".own.yaml.studio"))
        open_elsewhere(path.with_name("own.yaml"))

    return read
