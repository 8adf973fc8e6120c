"""What following a clip costs: whole steps with servo and root spring over bare steps of the same scene.

Three engines set out from the same states along a clip. *Controlled*: the stage's compiled loop. *Bare*: `mj_step`
under `implicitfast`, nobody in control. *Fed*: the same bare engine, given in every step the torques that control
produced, so that it goes the same way with the same contacts; what differs is control alone. (A body let go collides
differently from the first steps on: sometimes that costs the solver more, sometimes, in flight, less.)
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.bare import controlled_steps, put_engine
from benchmarks.dancers import states_along
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch, typical
from stunt.control.core.engine import engine_function
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.errors import InvalidValueError
from stunt.library.names import clip_entries, find_clip
from stunt.library.read import read_clip
from stunt.maths.compiled import compiled
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

BAR: Final = 1.5
"""Bare steps that a step with servo and spring may cost."""
CLIPS: Final = ("idle", "walk", "punch", "kick")
AS_TRACKED: Final = {"strength": 1.5}
"""Bodies as `stunt track` makes them where nothing else is said."""
RATE: Final = 120.0
_BURST: Final = 8
_Subject = tuple[str, Path, Mapping[str, Any]]
"""Name of a clip, its file, and what its body is besides."""
_mj_step = engine_function("mj_step", 2)


@compiled
def fed_steps(model: int, data: int, rows: Any, applied: Any) -> None:
    """Call `mj_step` once per row, with that row's forces, (steps, nv)."""
    for step in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            applied[i] = rows[step, i]
        _mj_step(model, data)


def measure(quick: bool = False, clips: Sequence[str] = ()) -> list[Measurement]:
    """Measure a body of its own skeleton on each of the package's clips, or on each of the user's.

    Args:
        quick: Few repeats, and only the first clip.
        clips: Files, or folders of them; their bodies are as `stunt track` makes them.
    """
    own: list[_Subject] = [(clip, find_clip(clip), {}) for clip in CLIPS]
    asked: list[_Subject] = [(path.stem, path, AS_TRACKED) for clip in clips for path in _clips_in(clip)]
    found: list[Measurement] = []
    for name, path, how in (asked or own)[: 1 if quick else None]:
        found += cost_of_tracking(name, following(path, **how), quick)
    return found


def _clips_in(place: str) -> list[Path]:
    """Return the clips of a folder, or the one clip a path or name stands for."""
    if not Path(place).is_dir():
        return [find_clip(place)]
    found = [entry.path for entry in clip_entries([place]).values() if entry.source == place]
    if not found:
        raise InvalidValueError("clips", place, "a folder with clips in it, or a clip")
    return found


def following(path: Path, **how: Any) -> BodyActor:
    """Return a tracker of a body built from a clip's skeleton, at the start of that clip.

    Args:
        path: The clip.
        how: What the body's `CharacterSpec` says besides.
    """
    body = CharacterSpec(str(path), root="free", **how)
    stage = StageLoop(Scene({"double": body}, physics_hz=RATE, control_hz=RATE))
    return follower_of(stage, "double", motion_of_clip(read_clip(path), stage.character("double")))


def cost_of_tracking(what: str, tracker: BodyActor, quick: bool) -> list[Measurement]:
    """Measure whole steps of a tracked character over bare ones, from states along its clip."""
    stage = tracker.stage
    assert tracker.motion is not None  # it follows the clip
    states = states_along(stage, tracker.motion.duration - 0.1, 4 if quick else 24)
    bare = copy.deepcopy(stage.model)
    bare.dof_damping[:] = stage.board.own_damping  # the servo had taken it over
    bare.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(bare)
    jobs = [_jobs(stage, tracker, bare, data, state) for state in states]
    interleaved(jobs, 1)  # warm up
    seconds = interleaved(jobs, 3 if quick else 15)
    step = {name: 1e6 * typical(times) / (len(states) * _BURST) for name, times in seconds.items()}
    about = f"{stage.model.nv} degrees of freedom; " + ", ".join(f"{name} {size:.0f} µs" for name, size in step.items())
    name = f"step that follows {what} over"
    return [
        Measurement(f"{name} the bare step", median_ratio(seconds["controlled"], seconds["bare"]), "", BAR, about),
        Measurement(f"{name} a bare step on its way", median_ratio(seconds["controlled"], seconds["fed"]), "", BAR),
    ]


def _jobs(
    stage: StageLoop, tracker: BodyActor, bare: mujoco.MjModel, data: mujoco.MjData, state: Mapping[str, Any]
) -> dict[str, Job]:
    rows = _note(stage, tracker, state)

    def controlled() -> float:
        _put(stage, tracker, state)
        return stopwatch(lambda: controlled_steps(stage, _BURST))

    def engine_alone(forces: NDArray[np.float64]) -> float:
        put_engine(bare, data, state)
        return stopwatch(lambda: fed_steps(bare._address, data._address, forces, data.qfrc_applied))

    nothing = np.zeros_like(rows)
    return {"controlled": controlled, "bare": lambda: engine_alone(nothing), "fed": lambda: engine_alone(rows)}


def _put(stage: StageLoop, tracker: BodyActor, state: Mapping[str, Any]) -> None:
    """Set engine, board and servo to a saved state."""
    stage.restore(dict(state))
    put_engine(stage.model, stage.data, state)


def _note(stage: StageLoop, tracker: BodyActor, state: Mapping[str, Any]) -> NDArray[np.float64]:
    """Go on from a state; return the forces in each step: the root's help, and what the joints produced."""
    _put(stage, tracker, state)
    rows, root = [], tracker.character.root
    assert root is not None
    for _ in range(_BURST):
        controlled_steps(stage, 1)
        forces = stage.board.torque.copy()
        forces[root.dof : root.dof + 6] = stage.data.qfrc_applied[root.dof : root.dof + 6]
        rows.append(forces)
    return np.array(rows)
