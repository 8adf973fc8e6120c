"""Hits from all sides: somebody is always in charge, nothing blows up, and the log explains every switch."""

import numpy as np
import pytest
from helpers import BODY, player

from stunt.stage.event_specs import Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.registry import make_controller, registered
from stunt.supervise.supervisor import Supervisor

NAMES = ("ada", "bob", "cleo", "dan", "eve")
MASSES = (0.5, 1.5, 3.0, 6.0, 10.0)
TARGETS = ("thorax", "head", "pelvis", "l_forearm", "r_forearm", "l_thigh", "r_shank", "lumbar")


def arena(names=NAMES):
    characters = {
        name: CharacterSpec(
            body=BODY, root="free", strength=1.5, at=(2.5 * np.cos(k), 2.5 * np.sin(k), 0.0), facing=1.3 * k
        )
        for k, name in enumerate(names)
    }
    props = {
        f"ball{k}": PropSpec(shape="sphere", radius=0.08 + 0.01 * k, mass=mass, at=(8.0, k - 2.0, 0.3))
        for k, mass in enumerate(MASSES)
    }
    stage = StageLoop(Scene(characters=characters, props=props, physics_hz=120.0, control_hz=120.0, seed=7))
    happenings = EventCrew(stage)
    stage.crew.append(happenings)
    return stage, happenings, [Supervisor(stage, name, pool(stage, name)) for name in names]


def pool(stage, name):
    own = [player(stage, clip, name, only_asked=clip != "idle") for clip in ("idle", "walk", "kick", "punch")]
    return own + [make_controller(other, stage, name) for other in registered() if not other.startswith("learned")]


def throw(stage, happenings, rng):
    """Throw a ball at somebody, from a random side, at 5 to 12 m/s."""
    victim = NAMES[rng.integers(len(stage.characters))]
    ball, target = f"ball{rng.integers(len(MASSES))}", TARGETS[rng.integers(len(TARGETS))]
    at = stage.data.xpos[stage.character(victim).body(target)]
    angle, far = rng.uniform(-np.pi, np.pi), rng.uniform(1.5, 3.0)
    origin = (at[0] + far * np.cos(angle), at[1] + far * np.sin(angle), rng.uniform(0.3, 1.9))
    seconds = far / rng.uniform(5.0, 12.0)
    happenings.add(
        Throw(prop=ball, target=f"{victim}/{target}", at=stage.time, hits_at=stage.time + seconds, origin=origin)
    )


def explained(log):
    """Whether every switch follows from the one before and says why."""
    switches = [entry for entry in log if entry["event"] == "switch"]
    for before, after in zip(switches[:-1], switches[1:], strict=True):
        assert after["before"] == before["controller"], (before, after)
        assert after["time"] >= before["time"]
        assert after["reason"] or after["why"], after
        assert after["cause"] in ("ended", "hit", "request", "interrupt", "removed"), after
    return switches


def rain(seconds, every, seed):
    stage, happenings, supervisors = arena()
    rng = np.random.default_rng(seed)
    due, fastest, lost = 1.0, 0.0, 0
    while stage.time < seconds:
        if round(stage.time * 30) % 1800 == 0:
            entries = sum(len(supervisor.log) for supervisor in supervisors)
            print(f"{stage.time:.0f} s: {entries} entries, fastest {fastest:.0f}", flush=True)
        stage.step(1.0 / 30.0)
        if stage.time >= due:
            throw(stage, happenings, rng)
            due += rng.uniform(0.5, 1.5) * every
            if rng.random() < 0.3:
                supervisors[rng.integers(len(supervisors))].request(("walk", "kick", "punch")[rng.integers(3)])
        fastest = max(fastest, float(np.abs(stage.data.qvel).max()))
        for supervisor in supervisors:
            lost += supervisor.current is not supervisor.pool.get(supervisor.running)
            lost += supervisor.actor.kinematic != supervisor.current.kinematic
    switches = [switch for supervisor in supervisors for switch in explained(supervisor.log)]
    by = {s["cause"]: sum(o["cause"] == s["cause"] for o in switches) for s in switches}
    removed = {name: why for supervisor in supervisors for name, why in supervisor.removed.items()}
    print(f"\n{seconds:g} s, seed {seed}: {len(switches)} switches {by}; fastest {fastest:.0f}; removed {removed}")
    assert lost == 0 and np.isfinite(stage.data.qpos).all() and not removed
    return supervisors


def test_twelve_seconds_of_random_hits_on_five_characters():
    rain(12.0, 0.6, seed=1)


@pytest.mark.long
def test_ten_minutes_of_random_hits_on_five_characters():
    rain(600.0, 1.0, seed=16)
