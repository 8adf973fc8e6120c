"""People for the reflexes' tests: bodies of the clips' own skeleton, and what they can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from papers.p2.experiment import Show
from stunt.character.character import Character
from stunt.drive.beats.spec import Script
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.library.names import find_clip, load_clip
from stunt.maths import rotations
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import Controller
from stunt.supervise.data.clip import ClipController
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.reflexes.fall import Fall
from stunt.supervise.reflexes.get_up import OWN_CLIPS, GetUp
from stunt.supervise.reflexes.lie import Lie
from stunt.supervise.reflexes.roll import Roll
from stunt.supervise.reflexes.stumble import Stumble
from stunt.supervise.supervisor import Supervisor

HZ = 120.0
STRENGTH = 1.5
"""Of people who do sports, in units of the tables' isometric strengths (as everywhere clips are followed)."""


def person(at: tuple[float, float] = (0.0, 0.0), facing: float = 0.0, body: str = "idle") -> CharacterSpec:
    """Return a person with the own clips' skeleton."""
    where = (at[0], at[1], 0.0)
    return CharacterSpec(str(find_clip(body)), at=where, facing=facing, root="free", strength=STRENGTH)


def motion(stage: StageLoop, name: str, clip: str, *, loop: bool = False) -> BodyMotion:
    """Return an own clip as a motion of a character, where the scene puts it."""
    spec = stage.scene.characters[name]
    found = replace(_motion(clip, stage.character(name)), loop=loop)
    # Own clips go along +x, whatever way their first frame happens to turn the hips.
    facing = spec.facing + float(rotations.heading(found.qpos[0, 3:7]))
    return found.placed((spec.at[0], spec.at[1]), facing)


_KNOWN: dict[str, BodyMotion] = {}


def _motion(clip: str, character: Character) -> BodyMotion:
    """Return an own clip as a motion of a body with the own skeleton; worked out once."""
    if clip not in _KNOWN:
        _KNOWN[clip] = motion_of_clip(load_clip(clip), character)
    return _KNOWN[clip]


def player(
    stage: StageLoop, name: str, clip: str, *, loop: bool = False, pace: float = 1.0, **options: Any
) -> ClipController:
    """Return a controller that plays an own clip, perhaps faster or slower."""
    found = motion(stage, name, clip, loop=loop)
    return ClipController(clip, replace(found, fps=pace * found.fps), stage, name, **options)


def survival(stage: StageLoop, name: str, *, agile: float = 0.4) -> list[Controller]:
    """Return what keeps a person going: balance, stumble, fall, roll, lie, get up.

    Args:
        stage: Where.
        name: Who.
        agile: Help for the root while it catches itself, share of m·g·h: 0.4 catches most trips, 0.1 few.
    """
    return [BalanceReflex(spring=0.75 * agile), Stumble(spring=agile), Fall(), Roll(), Lie(), _get_up(stage, name)]


def _get_up(stage: StageLoop, name: str) -> GetUp:
    return GetUp({side: _motion(clip, stage.character(name)) for side, clip in OWN_CLIPS.items()})


def put_on(
    title: str, characters: Mapping[str, CharacterSpec], props: Mapping[str, PropSpec], *, seed: int, seconds: float
) -> Show:
    """Build a scene; its supervisors are added by whoever knows the parts."""
    scene = Scene(dict(characters), dict(props), physics_hz=HZ, control_hz=HZ, seed=seed)
    performance = Performance(Script(scene, {}, title=title, seconds=seconds), record_hz=60.0, foretell=False)
    show = Show(performance, {}, [])
    show.stage.hit_listeners.append(show.hits.append)
    return show


def supervise(show: Show, name: str, pool: list[Controller]) -> Supervisor:
    """Put a supervisor in charge of a character, which begins in the first frame of the pool's first clip.

    Where nobody else wants a body that stands, it keeps its balance instead of going limp.
    """
    first = next((one.motion for one in pool if isinstance(one, ClipController)), None)
    root = show.stage.character(name).root
    if first is not None and root is not None:
        show.stage.data.qpos[root.qpos : root.qpos + first.qpos.shape[1]] = first.qpos[0]
    safe = next((one for one in pool if type(one) is BalanceReflex), None)
    supervisor = Supervisor(show.stage, name, pool, safe=safe)
    show.supervisors[name] = supervisor
    show.performance.stage.logs.append(supervisor.log)
    return supervisor


def throw(stage: StageLoop, prop: str, target: np.ndarray, seconds: float, start: np.ndarray | None = None) -> None:
    """Send a prop on the flight that has its centre at a point [m] in so many seconds."""
    thing = stage.prop(prop)
    begin = stage.data.qpos[thing.qpos : thing.qpos + 3].copy() if start is None else np.asarray(start, float)
    stage.data.qpos[thing.qpos : thing.qpos + 3] = begin
    gravity = np.asarray(stage.scene.gravity)
    stage.data.qvel[thing.dof : thing.dof + 3] = (target - begin) / seconds - 0.5 * gravity * seconds
    stage.data.qvel[thing.dof + 3 : thing.dof + 6] = 0.0
