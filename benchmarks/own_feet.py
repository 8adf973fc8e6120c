"""How captured clips fare on own feet, from noisy starts: `python -m benchmarks.own_feet CLIP… [--seeds N]`.

Every start is off by 1° in each joint and 1° in the root's turn, 0.15 rad/s and 0.05 m/s. A clip counts as done if the
body is still up a second after its end; the error is against the prepared motion, the drift is that of the root at the
clip's end. One line per clip: done, error, drift, recovery steps, how late the clip's clock is, seconds of processor
per second.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import mujoco
import numpy as np

from stunt.character.kinematics import pose_frames
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import BodyActor, actor_of
from stunt.drive.motion.body_motion import BodyMotion, motion_of_clip
from stunt.library.names import find_clip, load_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

JOINT, SPIN, SPEED = np.radians(1.0), 0.15, 0.05
"""Standard deviations of a start: of joints [rad], their velocities [rad/s], and of the root's speed [m/s]."""
AFTER: Final = 1.0
"""Seconds it has to stay up after the clip's end."""
DIRECTIONS: Final = 16
SUNK: Final = 0.25
"""Hips lower by this share are those of somebody who fell."""
PATIENCE: Final = 1.5
"""A body that takes so many times the clip's length does not arrive."""


@dataclass(frozen=True)
class Trial:
    """One run.

    Attributes:
        done: Whether it was up a second after the clip's end.
        error_deg: Mean error of a bone's orientation during the clip [°].
        drift: Of the root at the clip's end [m].
        steps: Recovery steps.
        late: How late the clip ended [s].
        cpu: Seconds of processor per second, physics included.
    """

    done: bool
    error_deg: float
    drift: float
    steps: int
    late: float
    cpu: float


def run_once(path: str, body: str | None, seed: int, *, strength: float, clock: str) -> Trial:
    """Let a body follow a clip on its own feet from a noisy start."""
    stage, actor, motion = on_stage(path, body, strength, "own", clock)
    shake(stage, np.random.default_rng(seed))
    reference = actor.motions.reference_of(motion).motion
    frames, poses, drift, late = list[int](), list[np.ndarray](), 0.0, 0.0
    began, up = time.thread_time(), True
    while actor.own.clip_time < motion.duration + AFTER and stage.time < PATIENCE * motion.duration + 3.0:
        stage.advance(stage.steps_per_control)
        if not actor.on_own_feet:
            up = False
            break
        if actor.own.clip_time <= motion.duration:
            frame = min(round(actor.own.clip_time * reference.fps), len(reference.qpos) - 1)
            frames.append(frame)
            poses.append(actor.here.copy())
            drift = float(np.linalg.norm(actor.here[:2] - reference.qpos[frame, :2]))
            late = stage.time - actor.own.clip_time
    cpu = (time.thread_time() - began) / max(stage.time, 0.1)
    turns = [pose_frames(stage.model, actor.character, q)[1] for q in (np.array(poses), reference.qpos[frames])]
    error = np.degrees(2.0 * np.arccos(np.abs((turns[0] * turns[1]).sum(axis=-1)).clip(0.0, 1.0)))
    steps = int(actor.own.summary()["recovery_steps"])
    done = up and actor.own.clip_time >= motion.duration + AFTER
    return Trial(done, float(error.mean()), drift, steps, late, cpu)


def shake(stage: StageLoop, rng: np.random.Generator) -> None:
    """Disturb a stage's one body."""
    model, data = stage.model, stage.data
    speed = rng.normal(size=model.nv) * SPIN
    speed[:3] *= SPEED / SPIN
    mujoco.mj_integratePos(model, data.qpos, np.r_[np.zeros(3), rng.normal(size=model.nv - 3) * JOINT], 1.0)
    data.qvel[:] += speed
    mujoco.mj_forward(model, data)


def run_pushes(
    path: str, body: str | None, impulse: float, seed: int, *, strength: float, assist: str, loop: bool
) -> int:  # fmt: skip
    """Push a body that follows a clip in 16 directions, at random times; return how often it is up 4 s later.

    The push lasts 0.1 s, at the chest, and is scaled with mass / 70 kg [N·s]. A clip that is repeated begins noisily
    and is pushed after 2 to 3.5 s.
    """
    stage, actor, _ = on_stage(path, body, strength, assist, loop=loop)
    began, rng, up = stage.save(), np.random.default_rng(seed), 0
    chest, high = actor.character.bodies["thorax"], float(actor.here[2])
    for way in 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        stage.restore(began)
        if loop:
            shake(stage, rng)
        stage.advance(4 * round(120.0 * (2.0 + 1.5 * rng.uniform() if loop else 0.5 + rng.uniform())))
        force = impulse * actor.character.mass / 70.0 / 0.1
        stage.data.xfrc_applied[chest, :2] = force * np.cos(way), force * np.sin(way)
        stage.advance(48)
        stage.data.xfrc_applied[chest] = 0.0
        stage.advance(480 * 4)
        up += abs(float(actor.here[2]) - high) < SUNK * high and (assist != "own" or actor.on_own_feet)
    return up


def run_long(path: str, body: str | None, seed: int, seconds: float, *, strength: float) -> tuple[float, float]:
    """Repeat a clip from a noisy start; return how long it stayed up [s], and how far it ended from its line [m]."""
    stage, actor, _ = on_stage(path, body, strength, "own", loop=True)
    shake(stage, np.random.default_rng(seed))
    off = 0.0
    while stage.time < seconds and actor.on_own_feet:
        off = float(np.linalg.norm(actor.own.program.actors[actor.own.number]["press_off"]))
        stage.advance(480)
    return stage.time, off


def on_stage(
    path: str, body: str | None, strength: float, assist: str, clock: str = "free", *, loop: bool | None = None
) -> tuple[StageLoop, BodyActor, BodyMotion]:
    """Return a stage, somebody on it who begins a clip, and that as their motion."""
    kind, *size = (body or path).split("@")
    spec = CharacterSpec(kind, root="free", strength=strength, self_collision=True)
    if size:
        spec = replace(spec, height=float(size[0]), mass=float(size[1]))
    stage = StageLoop(Scene({"double": spec}, physics_hz=480.0, control_hz=120.0))
    actor = actor_of(stage, "double", root=RootSpring(kind=assist, clock=clock))  # type: ignore[arg-type]
    motion = motion_of_clip(load_clip(path), stage.character("double"))
    motion = motion if loop is None else replace(motion, loop=loop)
    actor.begin(motion)
    return stage, actor, motion


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--body", help="instead of the clip's own; human38@1.05@16: so high [m], so heavy [kg]")
    parser.add_argument("--seeds", type=int, default=5, help="how many; of pushes each is 16 of them")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--strength", type=float, default=1.5)
    parser.add_argument("--clock", choices=("free", "clip"), default="free")
    parser.add_argument("--push", type=float, nargs="*", help="impulses at the chest instead, 16 directions each [N·s]")
    parser.add_argument("--assist", choices=("own", "weak"), default="own", help="what holds those that are pushed")
    parser.add_argument("--loop", action="store_true", help="repeat the clip that pushed bodies follow")
    parser.add_argument("--repeat", type=float, help="repeat clips for so long instead [s]")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    for name in args.clips if args.push else ():
        for impulse in args.push:
            up = [
                run_pushes(
                    str(find_clip(name, [])), args.body, impulse, seed, strength=args.strength, assist=args.assist,
                    loop=args.loop,
                )
                for seed in seeds
            ]  # fmt: skip
            print(f"{Path(name).stem[:34]} | {impulse:g} N·s | up {sum(up)}/{DIRECTIONS * len(up)}", flush=True)
    for name in args.clips if args.repeat else ():
        for seed in seeds:
            path = str(find_clip(name, []))
            lasted, off = run_long(path, args.body, seed, args.repeat, strength=args.strength)
            print(f"{Path(name).stem[:34]} | seed {seed} | up for {lasted:.0f} s | {off:.2f} m off", flush=True)
    if args.push or args.repeat:
        return
    print("clip | done | error ° | drift cm (most) | steps | late s | cpu s/s")
    for name in args.clips:
        path = str(find_clip(name, []))
        found = [run_once(path, args.body, seed, strength=args.strength, clock=args.clock) for seed in seeds]
        drift = 100.0 * np.array([trial.drift for trial in found])
        print(
            f"{Path(path).stem[:34]} | {sum(trial.done for trial in found)}/{len(found)} | "
            f"{np.median([trial.error_deg for trial in found]):.1f} | {np.median(drift):.0f} ({drift.max():.0f}) | "
            f"{np.mean([trial.steps for trial in found]):.1f} | {np.median([trial.late for trial in found]):.2f} | "
            f"{np.median([trial.cpu for trial in found]):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
