"""The weak spring breaks by the torque it would need and mends below its limit; no blow makes anybody stronger."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stunt.control.servo.law import RootSpring, stun_share
from stunt.control.servo.root_spring import OVERLOAD
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def leaning(degrees: float, **root: float) -> BodyActor:
    """Somebody who follows `idle`, tilted forward about its feet."""
    stage = StageLoop(Scene({"ada": CharacterSpec("idle", root="free", strength=1.5)}))
    motion = motion_of_clip(load_clip("idle"), stage.character("ada"))
    actor = follower_of(stage, "ada", motion, root=RootSpring(**root))  # type: ignore[arg-type]
    turn = rotations.from_rotation_vector(np.array([0.0, np.radians(degrees), 0.0]))
    here = actor.here
    here[:3] = rotations.rotate(turn, here[:3])
    here[3:7] = rotations.multiply(turn, here[3:7])
    mujoco.mj_forward(stage.model, stage.data)
    return actor


def pulls(actor: BodyActor, seconds: float) -> list[float]:
    """Return the root's help over some seconds [N·m]."""
    found = []
    for _ in range(round(seconds / actor.stage.step_time)):
        actor.stage.advance(1)
        found.append(float(np.linalg.norm(actor.program.actors[actor.number]["torque"][:2])))
    return found


def test_a_body_that_leans_25_degrees_off_its_clip_is_let_go() -> None:
    actor = leaning(25.0)
    found = pulls(actor, OVERLOAD + 0.3)
    assert found[0] > 50.0 and found[-1] == 0.0 and actor.broken_for > OVERLOAD


def test_a_body_that_leans_a_little_is_held_and_so_is_whoever_has_a_spring_that_stands_more() -> None:
    for actor in (leaning(8.0), leaning(25.0, breaks=20.0)):
        assert pulls(actor, OVERLOAD + 0.1)[-1] > 0.0 and actor.broken_for == 0.0


def test_a_broken_spring_mends_only_where_less_than_its_limit_would_do() -> None:
    actor = leaning(25.0)
    pulls(actor, OVERLOAD + 0.3)
    who = actor.program.actors[actor.number]
    for degrees, whole in ((10.0, False), (0.5, True)):
        lean = leaning(degrees)
        actor.here[:], actor.state[1][:] = lean.here, 0.0
        mujoco.mj_forward(actor.stage.model, actor.stage.data)
        actor.stage.advance(1)
        assert bool(who["snapped"] == 0) is whole is bool(who["needed"] < who["mend_torque"])


def test_what_it_would_need_is_the_same_however_weak_a_body_is() -> None:
    one, other = leaning(12.0), leaning(12.0)
    other.strength(0.3)
    for actor in (one, other):
        actor.stage.advance(1)
    needed = [float(actor.program.actors[actor.number]["needed"]) for actor in (one, other)]
    assert needed[0] == pytest.approx(needed[1], rel=1e-6) and needed[0] > 0.0


def test_in_its_motions_own_flight_nothing_is_adrift_and_a_lifted_body_is() -> None:
    stage = StageLoop(Scene({"ada": CharacterSpec("jump", root="free", strength=1.5)}))
    clip = load_clip("jump")
    jumps = follower_of(stage, "ada", motion_of_clip(clip, stage.character("ada")))
    falls = np.gradient(np.gradient(clip.root[:, 2], 1.0 / clip.fps), 1.0 / clip.fps) < -6.0  # about freely [m/s²]
    flight = np.flatnonzero(falls) / clip.fps
    flew, adrift = 0, 0.0
    while stage.time < flight[-1]:
        stage.advance(1)
        who = jumps.program.actors[jumps.number]
        flew += int(who["touching"] == 0.0)
        if stage.time > flight[0]:
            adrift = max(adrift, float(who["adrift"]))
    assert flew * stage.step_time > 0.3 and adrift < 0.02
    lifted = leaning(0.0)
    lifted.here[2] += 0.5
    pulls(lifted, 0.2)
    assert lifted.program.actors[lifted.number]["adrift"] > 0.15


def test_what_would_break_a_spring_counts_on_the_ground_and_adrift_but_not_in_the_motions_own_flight() -> None:
    cast = {"ada": CharacterSpec("jump", root="free", strength=1.5)}
    stage = StageLoop(Scene(cast, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip("jump"), stage.character("ada"))
    jumps = follower_of(stage, "ada", motion, root=RootSpring(breaks=1e-9))
    who, seen = jumps.program.actors[jumps.number], set()
    while stage.time < 1.6:
        who["broken"] = who["snapped"] = 0
        stage.advance(1)
        held = bool(who["touching"] != 0.0 or who["adrift"] > 0.0)
        seen.add(held)
        assert bool(who["broken"] > 0.0) == held or who["snapped"]
    assert seen == {True, False}


@pytest.mark.parametrize("seed", range(6))
def test_no_later_blow_makes_anybody_stronger_at_any_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with_, without = leaning(0.0), leaning(0.0)
    program = with_.program
    shares = lambda actor, time: stun_share(  # noqa: E731
        time - actor.program.actors[0]["stun_time"],
        *(float(actor.program.actors[0][f"stun_{name}"]) for name in ("from", "low", "down", "hold", "up")),
    )
    first = {name: float(rng.uniform(0.02, 1.0)) for name in ("down", "hold", "up", "low")}
    for actor in (with_, without):
        actor.program.stun(0, 1.0, **first)
    for at in np.sort(rng.uniform(1.0, 3.0, 3)):
        program.stun(0, float(at), **{name: float(rng.uniform(0.02, 1.0)) for name in first})
        later = np.linspace(at, 6.0, 200)
        assert all(shares(with_, time) <= shares(without, time) + 1e-9 for time in later)
