"""Always simulated: walks and matches that forces follow from first to last, beside the same motion as one clip.

`python -m papers.p2.always [SECONDS] [MATCHES] [FIRST]` walks so long (60), boxes so many matches (10), from a seed on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from papers.p2 import boxing
from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import with_seed
from stunt.drive.beats.spec import Script
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.followed import followed_at
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.playing import Place, place_between
from stunt.maths.rotations import Floats
from stunt.motion.graph.planar import Planar
from stunt.script.file import script_from_data
from stunt.stage.loop import StageLoop

WHO: Final = "walker"
PATH: Final = ((0, 0), (4, 0), (6, 2), (6, 6), (3, 8), (0, 8), (-2, 5), (-2, 2), (0, -2), (4, -3), (9, -3), (12, 0),
               (12, 6), (8, 10), (0, 12), (-6, 10), (-12, 10), (-20, 0))  # fmt: skip
"""Round and round, to both sides: over 70 m."""
SETTLES: Final = 0.5
"""So long after it took over from a reflex it still goes over to its motion [s]."""
LEAST: Final = 2.0
"""Shorter stretches are not compared [s]."""
FPS: Final = 60.0


@dataclass(frozen=True)
class Stretch:
    """A time in which somebody followed the motion it chose.

    Attributes:
        who: Who.
        seconds: How long.
        error: Mean error of its bones [°].
        as_clip: The same where that motion is one clip, and nobody else is there [°].
    """

    who: str
    seconds: float
    error: float
    as_clip: float


def by_forces(script: Script) -> Script:
    """Return a script in which everybody who is supervised is under forces from first to last."""
    parts = {
        name: replace(part, sections={key: replace(what, forces=True) for key, what in part.sections.items()})
        for name, part in script.parts.items()
    }
    return replace(script, parts=parts)


def walk(seconds: float, **more: Any) -> Show:
    """Set the scene of a walk along `PATH`. `more`: keys of the script."""
    part = {
        "walks": {"stroll": {"path": [list(point) for point in PATH]}}, "forces": True,
        "clips": {"idle": {"loop": True, "priority": 5}},
        "controllers": ["stumble", "fall", "roll", "lie", "get_up", "rag_doll"],
    }  # fmt: skip
    script = script_from_data(
        {
            "stunt": 1, "seconds": seconds, "rate": 120,
            "characters": {WHO: {"body": "idle", "root": "free", "strength": 1.5}},
            "performance": {WHO: {"supervisor": part}}, **more,
        }
    )  # fmt: skip
    return Show.of(script)


def match(seed: int, seconds: float) -> Show:
    """Set the scene of a match (see `papers.p2.boxing`)."""
    script = shipped(boxing.EXAMPLE)
    script = boxing.varied(script, boxing.corners(seed, boxing.corners_of(script).ground))
    return Show.of(replace(with_seed(by_forces(script), seed), seconds=seconds))


def on_data(made: Show) -> float:
    """Return the share of the time in which data was in charge of anybody, by the log of who was."""
    kinds = [
        entry["mode"] == "kinematic"
        for one in made.supervisors.values()
        for entry in one.log
        if entry["event"] == "switch"
    ]
    return float(np.mean(kinds))


def stretches(made: Show, seconds: float, names: tuple[str, ...] = ("stroll", "box")) -> Iterator[Stretch]:
    """Play it, and compare each stretch in which somebody followed what it chose with the same motion as a clip."""
    made.until(seconds)
    take = made.take()
    for who in made.supervisors:
        actor, switches = made.stage.actors[who], [*made.switches(who), (seconds, "")]
        for (begin, name), (end, _) in zip(switches, switches[1:], strict=False):
            begin += SETTLES if begin > 0.0 else 0.0
            if name not in names or end - begin < LEAST:
                continue
            motion = followed(actor, begin, end - 1.0 / FPS)
            end = begin + len(motion.qpos) / FPS
            during = (take.time >= begin) & (take.time < end)
            error = actor.summary(take.time[during], take.qpos[during])["error_deg_mean"]
            yield Stretch(who, end - begin, error, error_as_clip(actor, motion))


def followed(actor: BodyActor, begin: float, end: float) -> BodyMotion:
    """Return what somebody followed, as one motion: each piece goes on from where the one before it had come to."""
    frames, at, entry = list[Floats](), None, None
    for time in np.arange(begin, end, 1.0 / FPS):
        wanted, now = actor.wanted_at(time), followed_at(actor.history, time)
        if wanted is None:
            break
        if frames and now is not entry:
            ahead = frames[-1].copy()
            if len(frames) > 1:
                ahead[:2] += frames[-1][:2] - frames[-2][:2]
            at = place_between(wanted, ahead)
        entry = now
        frames.append(wanted if at is None else _laid(wanted, at))
    return BodyMotion("followed", FPS, np.array(frames))


def _laid(pose: Floats, at: Place) -> Floats:
    x, y, _ = Planar(*at).points(pose[:3])
    one = BodyMotion("", FPS, pose[None])
    return one.placed((float(x), float(y)), one.heading + at[2]).qpos[0]


def error_as_clip(actor: BodyActor, motion: BodyMotion) -> float:
    """Return the mean error with which a body alone in the same scenery follows a motion [°]."""
    name = actor.character.name
    alone = replace(actor.stage.scene, characters={name: actor.stage.scene.characters[name]})
    stage = StageLoop(alone)
    follower = follower_of(stage, name, motion, settings=actor.settings, root=actor.root)
    times, states = list[float](), list[Floats]()
    while stage.time < motion.duration:
        stage.advance(max(1, round(1.0 / (FPS * stage.step_time))))
        times.append(stage.time)
        states.append(stage.data.qpos.copy())
    return float(follower.summary(np.array(times), np.array(states))["error_deg_mean"])


def told(found: list[Stretch]) -> dict[str, float]:
    """Return the errors over all stretches [°], by how long they are, and how they compare."""
    seconds = np.array([one.seconds for one in found])
    error, as_clip = (
        float(np.average([getattr(one, what) for one in found], weights=seconds)) for what in ("error", "as_clip")
    )
    return {"seconds": float(seconds.sum()), "error": error, "as_clip": as_clip, "ratio": error / as_clip}


def main() -> None:
    """Walk and box as asked for, and print what came of it."""
    seconds, matches, first = (int(word) for word in (*sys.argv[1:], *("60", "10", "0")[len(sys.argv) - 1 :]))
    made = walk(float(seconds))
    print("walk", told(list(stretches(made, float(seconds)))), f"on data {on_data(made)}", flush=True)
    found = list[Stretch]()
    for seed in range(first, first + matches):
        made = match(seed, 20.0)
        found += (some := list(stretches(made, 20.0)))
        who = {name: ">".join(one for _, one in made.switches(name)) for name in made.supervisors}
        print(seed, told(some), f"on data {on_data(made)}", who, flush=True)
    print("matches", told(found))


if __name__ == "__main__":
    main()
