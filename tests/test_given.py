"""Wrong arguments to what programs call beside the stage: each is a Stunt error that names the argument."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import stunt
from stunt.errors import InvalidValueError, UnknownNameError, announced, seen
from stunt.many.batch import plan_of, rows_in
from stunt.many.comparison import compare
from stunt.review import take_of_clip

NAN = math.nan


@cache
def made():
    """Return a stage S, a take T, a clip C and somebody who walks W."""
    stage = stunt.Stage({"ada": stunt.Body("torso28")})
    walker = stunt.Stage({"ada": stunt.Body("walk", root="free", strength=1.5)})
    return SimpleNamespace(S=stage, T=stage.run(0.05), C=stunt.load_clip("walk"), W=walker)


def planned(**changed):
    """Ask for the plan of a batch, changed."""
    return plan_of(stunt.BatchPlan(**{"clips": ("walk",), "seconds": 0.1, **changed}))


def own(**changed):
    """Search, which is refused before anything is tried."""
    return stunt.search_own("walk", **{"budget": 0.0, **changed})


def follow(**changed):
    """Let somebody follow a clip."""
    return made().W.actor("ada").follow("walk", **changed)


def motion(**changed):
    """Let somebody follow a motion of its body's coordinates."""
    whole = {"name": "x", "fps": 30.0, "qpos": np.tile(made().W.data.qpos, (5, 1)), **changed}
    return made().W.actor("ada").follow(stunt.BodyMotion(**whole))


WRONG = {
    "take": lambda: stunt.review.review(None),
    "take ": lambda: stunt.review.review(made().C),
    "clip ": lambda: take_of_clip(None),
    "take  ": lambda: stunt.certify("a.npz"),
    "clip": lambda: stunt.search_own(None),
    "wlak": lambda: stunt.search_own("wlak"),
    "strength": lambda: own(strength="x"),
    "strength ": lambda: own(strength=NAN),
    "budget": lambda: own(budget="x"),
    "budget ": lambda: own(budget=NAN),
    "budget  ": lambda: own(budget=-1.0),
    "seed": lambda: own(seed="x"),
    "seed ": lambda: own(seed=1.5),
    "seed  ": lambda: own(seed=-1),
    "workers": lambda: own(workers="x"),
    "workers ": lambda: list(stunt.batch("walk", workers=1.5)),
    "body": lambda: own(body=3),
    "nobody": lambda: own(body="nobody"),
    "out": lambda: own(out=3),
    "progress": lambda: own(progress=3),
    "machine": lambda: own(machine=3),
    "out ": lambda: stunt.batch({"clips": "walk"}, out=3),
    "most": lambda: stunt.batch({"clips": "walk"}, most="x"),
    "most ": lambda: stunt.batch({"clips": "walk"}, most=NAN),
    "ray": lambda: stunt.batch({"clips": "walk"}, ray=3),
    "wrkers": lambda: stunt.batch({"clips": "walk"}, wrkers=3),
    "clips": lambda: planned(clips="walk"),
    "clips ": lambda: planned(clips=(3,)),
    "seconds": lambda: planned(seconds="x"),
    "seconds ": lambda: planned(seconds=NAN),
    "seconds  ": lambda: planned(seconds=-1.0),
    "seeds": lambda: planned(seeds=-3),
    "seed   ": lambda: planned(seed="x"),
    "setting": lambda: planned(settings={"a": 3}),
    "zz": lambda: planned(settings={"a": {"zz": 3}}),
    "pushes": lambda: planned(pushes=(3,)),
    "jobs": lambda: planned(jobs=(3,)),
    "folder": lambda: rows_in(None),
    "rows": lambda: compare(None),
    "rows ": lambda: compare([3]),
    "sides": lambda: compare([{"side": "a"}], sides=3),
    "by": lambda: compare([{"side": "a"}], by=3),
    "measures": lambda: compare([{"side": "a"}], measures="x"),
    "resamples": lambda: compare([{"side": "a"}], resamples="x"),
    "take   ": lambda: stunt.filmstrip(None, "a.png"),
    "path": lambda: stunt.filmstrip(made().T, None),
    "times": lambda: stunt.filmstrip(made().T, "a.png", times="x"),
    "times ": lambda: stunt.filmstrip(made().T, "a.png", times=["x"]),
    "times  ": lambda: stunt.filmstrip(made().T, "a.png", times=[NAN]),
    "columns": lambda: stunt.filmstrip(made().T, "a.png", columns="x"),
    "side": lambda: stunt.filmstrip(made().T, "a.png", side=NAN),
    "title": lambda: stunt.filmstrip(made().T, "a.png", title=3),
    "wall_seconds": lambda: stunt.make_report(made().T, wall_seconds="x"),
    "take    ": lambda: stunt.export.export(None, "a.glb"),
    "video": lambda: made().T.export("a.mp4", video=3),
    "foo": lambda: made().T.export("a.glb", foo=3),
    "end": lambda: made().T.export("a.csv", end="x"),
    "progress ": lambda: made().T.export("a.csv", progress=3),
    "progress  ": lambda: stunt.perform(stunt.script_from_data(
        {"characters": {"ada": "torso28"}, "seconds": 0.1}), 3),
    "path ": lambda: stunt.save_script(stunt.script_from_data({"characters": {"ada": "torso28"}, "seconds": 1}), None),
    "record_hz": lambda: stunt.Recorder(made().S, record_hz=-1.0),
    "record_hz ": lambda: stunt.Recorder(made().S, record_hz=NAN),
    "hz": lambda: stunt.Supervisor(made().W, "ada", [stunt.BaseController()], hz=NAN),
    "passive": lambda: stunt.Supervisor(made().W, "ada", [stunt.BaseController()], relation=stunt.Relation(3)),
    "settings": lambda: stunt.BodyActor(made().W, "ada", settings=3),
    "root": lambda: stunt.BodyActor(made().W, "ada", root=3),
    "stage": lambda: stunt.Actor(None, "ada"),
    "tolerance_deg": lambda: stunt.Follower(made().S, "ada", tolerance_deg=NAN),
    "part": lambda: stunt.TensionPerformer(made().S, "ada", 3),
    "part ": lambda: stunt.Performer(made().S, "ada", part=3),
    "mapping": lambda: stunt.retarget(made().C, made().S.character("ada"), 3),
    "parts": lambda: stunt.body_from_clip(made().C, parts=3),
    "zz ": lambda: stunt.body_from_clip(made().C, parts={"zz": 1}),
    "head": lambda: stunt.body_from_clip(made().C, parts={"head": 999}),
    "finite": lambda: made().C.with_motion(made().C.root * NAN, made().C.rotations),
    "folders": lambda: stunt.load_clip("walk", folders=3),
    "overrides": lambda: stunt.load_clip("walk", overrides=3),
    "start": lambda: made().C.trimmed("x"),
    "respond": lambda: follow(react=stunt.Thresholds(respond="x")),
    "omega": lambda: follow(root=stunt.RootSpring(omega=NAN)),
    "break": lambda: follow(root=stunt.RootSpring(breaks="x")),
    "omega ": lambda: follow(settings=stunt.ServoSettings(omega="x")),
    "look": lambda: follow(settings=stunt.ServoSettings(look=NAN)),
    "motion|clip": lambda: made().W.actor("ada").play(stunt.QueuedClip(None)),
    "motion|qpos": lambda: motion(qpos=None),
    "fps|frame": lambda: motion(fps=NAN),
    "fps|frame ": lambda: motion(fps=0.0),
    "finite|numbers": lambda: motion(qpos=np.full((5, len(made().W.data.qpos)), NAN)),
    "character": lambda: stunt.describe_body(made().S.model, 3),
}  # fmt: skip


@pytest.mark.parametrize("named", WRONG)
def test_every_argument_is_named_that_is_of_another_kind(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(stunt.StuntError, match=named.strip()):
        WRONG[named]()
    assert not list(tmp_path.iterdir())


@announced
def asked(a: float, b: int | None = None, *, c: str | Path = "", d: tuple[int, ...] = (), e: bool = False) -> str:
    """Return its arguments, to be looked at."""
    return f"{a} {b} {c} {d} {e}"


def test_what_is_announced_is_taken_and_nothing_else():
    assert asked(np.float32(1), np.int64(2), c=Path("x"), d=[3], e=np.True_) == "1.0 2 x [3] True"
    for wrong in (
        {"a": True},
        {"a": math.inf},
        {"a": 10**400},
        {"b": 1.0},
        {"b": True},
        {"c": 3},
        {"d": "x"},
        {"e": 1},
    ):
        with pytest.raises(InvalidValueError, match=next(iter(wrong))):
            asked(**{"a": 1.0, **wrong})
    with pytest.raises(UnknownNameError, match="argument of asked 'f'|unknown argument 'f'"):
        asked(1.0, f=3)
    assert seen(stunt.RootSpring()) == stunt.RootSpring()
    with pytest.raises(InvalidValueError, match="limit must be a finite number"):
        seen(stunt.RootSpring(limit="x"))


NONSENSE = (3.5, -1, math.inf, NAN, "no such", b"x", {}, (1, 2), object(), np.array("x"), "a\0b", 1j)
OF_A_PROP = {
    "box": ("at", "size", "mass", "velocity", "facing", "friction", "active", "rope", "believed_mass", "color"),
    "stairs": ("steps",), "heightfield": ("heights",), "mesh": ("file", "up", "scale"),
}  # fmt: skip


@pytest.mark.parametrize(("shape", "argument"), [(s, a) for s, arguments in OF_A_PROP.items() for a in arguments])
def test_what_is_no_prop_is_refused_by_its_argument_when_the_stage_is_built(shape, argument):
    fine = {"facing": (3.5, -1), "rope": (3.5,), "mass": (3.5,), "believed_mass": (3.5,), "friction": (3.5,)}
    for value in NONSENSE:
        if value in fine.get(argument, (3.5,) if argument == "scale" else ()):
            continue
        prop = stunt.PropSpec(shape, **{"mass": 1.0 if shape == "box" else None, argument: value})
        with pytest.raises(stunt.StuntError, match=f"{argument}|no such|file|mesh"):
            stunt.Stage({}, props={"thing": prop})


@pytest.mark.parametrize("value", [3, NAN, "x", b"x", [], {}, object(), np.array("x"), np.zeros(3)])
def test_what_a_scene_adds_to_a_body_is_refused_by_its_argument(value):
    def built(**changed):
        return stunt.Stage({"ada": stunt.Body("torso28", **changed)})

    def site(**changed):
        return built(sites=(stunt.SegmentSite(**{"name": "q", "on": "thorax", **changed}),))

    for wrong in (
        lambda: built(sites=[3] if isinstance(value, list) else value),
        lambda: built(damping={3: 1.0} if isinstance(value, dict) else -1.0 if isinstance(value, int) else value),
        lambda: built(damping={"arms": -1 if isinstance(value, int) else value}),
        lambda: site(name="" if isinstance(value, str) else value),
        lambda: site(on=value),
        lambda: site(at=None if np.shape(value) == (3,) else value),
        lambda: site(turned=value),
    ):
        with pytest.raises(stunt.StuntError):
            wrong()
    with pytest.raises(InvalidValueError, match="known"):
        made().S.push("ada/thorax", impulse=(1, 0, 0), known=value)
