"""P3's scene of its speed claim: five characters of 36 bones, 50 bodies and 5000 triangles at 120 Hz.

The paper claims 0.001 s per frame of 30 Hz on its machine. Here the whole frame is measured, and how much of it is
control: the same states, four steps on, once controlled and once by the bare engine.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np

from benchmarks.bare import Bare, controlled_steps, put_controlled
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch, typical
from stunt.character.character import Character
from stunt.character.from_skeleton import Build
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import follower_of
from stunt.drive.motion.body_motion import retargeted_motion
from stunt.library.names import load_clip
from stunt.motion.clips.clip import Clip
from stunt.motion.rig.skeleton_body import body_from_clip
from stunt.stage.build import Built, Prop
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec, add_prop
from stunt.stage.scene import CharacterSpec, Scene

PEOPLE, BONES, BOXES, GRID = 5, 36, 50, 51
"""Characters, bones of each, loose boxes, and points per side of the ground: 2 · 50 · 50 triangles."""
RATE: Final = 120.0
_STEPS = 4  # of 120 Hz in a frame of 30 Hz
_SECONDS = 2.0


def measure(quick: bool = False) -> list[Measurement]:
    """Measure a frame, and the share of control in it."""
    stage = scene()
    states = []
    for _ in range(4 if quick else 24):
        stage.step(_SECONDS / (4 if quick else 24))
        states.append(stage.save())
    bare = Bare(stage)
    jobs = [_jobs(stage, bare, state) for state in states]
    interleaved(jobs, 1)  # warm up, and compile
    seconds = interleaved(jobs, 3 if quick else 15)
    frame = 1e3 * typical(seconds["controlled"]) / len(states)
    share = 100.0 * (1.0 - 1.0 / median_ratio(seconds["controlled"], seconds["bare"]))
    what = f"{PEOPLE} × {BONES} bones, {BOXES} boxes, {2 * (GRID - 1) ** 2} triangles"
    contacts = f"{stage.data.ncon} contacts, {stage.model.nv} degrees of freedom, everything awake"
    return [
        Measurement(f"a frame of 30 Hz at 120 Hz: {what}", frame, "ms", None, f"{contacts}; the paper claims 1 ms"),
        Measurement("share of control in it", share, "%", None, "against the bare engine from the same states"),
    ]


def scene() -> StageLoop:
    """Return the stage with everyone following a clip of the package."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 1.0 / RATE
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    props = _props()
    clips = [load_clip(name) for name in ("walk", "guard", "punch", "kick", "idle")]
    places = [(1.6 * (k - 2), 0.0, 0.0) for k in range(PEOPLE)]
    for number, (clip, place) in enumerate(zip(clips, places, strict=True)):
        body = person(clip)
        for option in ("timestep", "integrator"):
            setattr(body.option, option, getattr(spec.option, option))
        spec.attach(body, prefix=f"p{number}/", frame=spec.worldbody.add_frame(pos=place))
    for name, prop in props.items():
        add_prop(spec, name, prop)
    model = spec.compile()
    cast = {f"p{k}": CharacterSpec("", root="free", at=place) for k, place in enumerate(places)}
    whole = Scene(cast, props, physics_hz=RATE, control_hz=RATE)
    people = {name: Character(model, name) for name in cast}
    stage = StageLoop(Built(whole, model, people, {name: _found(model, name, prop) for name, prop in props.items()}, 1))
    for (name, who), clip, place in zip(people.items(), clips, places, strict=True):
        motion = retargeted_motion(clip, who).placed((place[0], place[1]), 0.0).raised(0.03)
        follower_of(stage, name, motion, root=RootSpring(yaw=0.1))
    return stage


def person(clip: Clip) -> mujoco.MjSpec:
    """Return a clip's body with fingers: 36 bones in all."""
    spec = body_from_clip(clip, Build(root="free", strength=1.5, self_collision=False)).spec
    missing = BONES - len([body for body in spec.bodies if body.name != "world"])
    for number in range(missing):
        hand = spec.body(("l_hand", "r_hand")[number % 2])
        rank = number // 2
        finger = hand.add_body(name=f"{hand.name}_finger{rank}", pos=[0.02 * (rank - 3), 0.0, -0.09])
        finger.add_joint(
            name=f"{hand.name}_finger{rank}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0],
            actfrcrange=[-5.0, 5.0],
        )  # fmt: skip
        finger.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, -0.06], size=[0.008, 0, 0], mass=0.02,
            contype=0, conaffinity=0,
        )  # fmt: skip
    return spec


def _props() -> dict[str, PropSpec]:
    rng = np.random.default_rng(3)
    heights = rng.uniform(0.0, 1.0, (GRID, GRID))
    ground = PropSpec("heightfield", size=(12.0, 12.0, 0.03), heights=tuple(tuple(row) for row in heights.tolist()))
    boxes = {
        f"box{k}": PropSpec("box", at=(-4.5 + (k % 10), 1.5 + 0.6 * (k // 10), 0.25), size=(0.25, 0.25, 0.25), mass=2.0)
        for k in range(BOXES)
    }
    return {"hills": ground, **boxes}


def _found(model: mujoco.MjModel, name: str, prop: PropSpec) -> Prop:
    body = model.body(name).id
    if not prop.movable:
        return Prop(name, prop, body, -1, -1, -1)
    joint = model.joint(f"{name}/free")
    return Prop(name, prop, body, int(joint.qposadr[0]), int(joint.dofadr[0]), model.equality(f"{name}/grip").id)


def _jobs(stage: StageLoop, bare: Bare, state: dict[str, Any]) -> dict[str, Job]:
    model = stage.model
    passive = np.concatenate([np.zeros(model.nv), stage.board.own_damping, model.jnt_stiffness, model.qpos_spring])
    rows = np.tile(passive, (_STEPS, 1))

    def controlled() -> float:
        put_controlled(stage, state)
        return stopwatch(lambda: controlled_steps(stage, _STEPS))

    def engine() -> float:
        bare.put(state)
        return stopwatch(lambda: bare.steps(rows))

    return {"controlled": controlled, "bare": engine}
