"""Sweeps of P3: gains in world and parent space, and δ, the time a response takes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from papers.style import legend, save
from stunt.control.servo.law import RootSpring, Servo, ServoSettings
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.measures import measure
from stunt.drive.body.stuck import bone_errors
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import find_clip, load_clip
from stunt.maths.rotations import Floats
from stunt.record.plots import BLUE, GREEN, INK, ORANGE, SKY, dress, page
from stunt.stage.event_specs import Push
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

GAINS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
CLIPS: Final = ("walk", "punch", "jump")
SERVOS: Final[dict[Servo, tuple[str, str]]] = {
    "world": ("world space", BLUE),
    "parent_equal": ("parent space, equal gains per bone (the paper's comparison)", ORANGE),
    "parent": ("parent space, stiffness summed over the subtree", GREEN),
}
DELTAS: Final = {0.0: INK, 0.1: BLUE, 0.2: SKY, 0.4: GREEN, 0.8: ORANGE}
LOOKS: Final = (1 / 240, 1 / 120, 1 / 60, 1 / 30, 1 / 15, 1 / 8)
_PUSH = Push("a/r_forearm", 0.5, impulse=(12.0, 0.0, 9.0), duration=0.05)


def tracked(clip: str, settings: ServoSettings) -> BodyActor:
    """Put a character on a stage that follows one of the package's clips."""
    body = CharacterSpec(str(find_clip(clip)), root="free", strength=1.5, self_collision=False)
    stage = StageLoop(Scene({"a": body}, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip(clip), stage.character("a"))
    return follower_of(stage, "a", motion, settings=settings, root=RootSpring(yaw=0.1))


def followed(clip: str, settings: ServoSettings) -> tuple[float, float]:
    """Follow a clip to its end; return the mean error seen from the root, and from the parents [°]."""
    tracker = tracked(clip, settings)
    stage, time, qpos = tracker.stage, [], []
    assert tracker.motion is not None  # it follows the clip
    for _ in range(stage.tick_of(tracker.motion.duration) // 4):
        stage.advance(4)
        time.append(stage.time)
        qpos.append(stage.data.qpos.copy())
    found = measure(tracker, np.array(time), np.array(qpos))
    return float(found["error_deg_mean"]), float(np.mean(list(found["joint_error_deg"].values())))


def gain_sweep(clips: tuple[str, ...] = CLIPS, gains: tuple[float, ...] = GAINS) -> dict[Servo, Floats]:
    """Return per servo the mean errors over the clips: gains × (from the root, from the parents) [°]."""
    return {
        servo: np.array([
            np.mean([followed(clip, ServoSettings(servo=servo, gain=gain)) for clip in clips], axis=0) for gain in gains
        ])
        for servo in SERVOS
    }  # fmt: skip


def draw_gains(out: Path) -> list[Path]:
    """Draw the errors over the gain multiplier."""
    found = gain_sweep()
    figure = page(4.6, "Gains × 0.25 to 4, world space against parent space", f"Mean over {', '.join(CLIPS)}.")
    for place, column, what in ((0.07, 0, "seen from the root  [°]"), (0.56, 1, "seen from the parent  [°]")):
        axes = figure.add_axes((place, 0.22, 0.41, 0.56))
        for servo, (label, color) in SERVOS.items():
            axes.loglog(GAINS, found[servo][:, column], "o-", color=color, label=label, linewidth=1.8, markersize=4)
        axes.set_xticks(GAINS, [f"× {gain:g}" for gain in GAINS])
        axes.minorticks_off()
        dress(axes, f"mean error, {what}", "gains")
        ticks = [t for t in (0.5, 1, 2, 5, 10, 20) if axes.get_ylim()[0] <= t <= axes.get_ylim()[1]]
        axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    legend(axes, below=True)
    return save(figure, out, "gain_sweep", ("png", "svg"))


def response(delta: float, seconds: float = 2.5) -> tuple[Floats, Floats, float]:
    """Push an arm, and answer by a δ-response (0: none).

    Returns:
        Times since the push [s], mean error of the arm's bones [°], and the largest torque after the push, in units of
        the joint's strength.
    """
    tracker = tracked("idle", ServoSettings(gain=0.3))
    stage = tracker.stage
    happenings = EventCrew(stage, [_PUSH])
    stage.crew.append(happenings)
    stage.step(_PUSH.at + _PUSH.duration)
    if delta > 0.0:
        tracker.respond(delta)
    clip = tracker.history[0].rows
    first = tracker.character.root_body
    arm = [tracker.character.bodies[f"r_{part}"] - first for part in ("upper_arm", "forearm", "hand")]
    dofs = [tracker.character.joints[f"r_{name}"] for name in ("shoulder", "elbow", "wrist")]
    time, error, load = [], [], 0.0
    for _ in range(stage.tick_of(seconds)):
        stage.advance(1)
        rows, tracker.rows = tracker.rows, clip
        error.append(float(bone_errors(tracker)[arm].mean()))
        tracker.rows = rows
        time.append(stage.time - _PUSH.at)
        for joint in dofs:
            torque = stage.board.torque[joint.dof : joint.dof + joint.nv]
            load = max(load, float(np.linalg.norm(torque)) / joint.strength)
    return np.array(time), np.array(error), load


def draw_deltas(out: Path) -> list[Path]:
    """Draw how an arm that was hit comes back, by δ, and what the servo's own look-ahead does."""
    figure = page(
        4.6, "δ: how long a response takes", "Left: an arm is hit by 15 N·s. Middle: what that asks of its joints. "
        "Right: the servo's own δ, over which the wanted velocity is measured.",
    )  # fmt: skip
    left, middle, right = (figure.add_axes((x, 0.16, w, 0.62)) for x, w in ((0.06, 0.40), (0.54, 0.17), (0.80, 0.18)))
    loads = []
    for delta, color in DELTAS.items():
        time, error, load = response(delta)
        loads.append(load)
        label = f"δ = {delta:g} s" if delta else "no response: the servo alone"
        left.plot(time, error, color=color, linewidth=1.8, label=label)
    left.legend(frameon=False, fontsize=9)
    dress(left, "error of the arm's bones  [°]", "time since the hit  [s]")
    middle.bar(range(len(loads)), loads, color=list(DELTAS.values()), width=0.7)
    middle.set_xticks(range(len(loads)), [f"{delta:g}" for delta in DELTAS])
    dress(middle, "largest torque  [of strength]", "δ  [s]")
    errors = [followed("punch", ServoSettings(look=look))[0] for look in LOOKS]
    right.semilogx([1000 * look for look in LOOKS], errors, "o-", color=BLUE, linewidth=1.8, markersize=4)
    right.set_xticks([4, 8, 17, 33, 67, 125], ["4", "8", "17", "33", "67", "125"])
    right.minorticks_off()
    right.set_ylim(bottom=0.0)
    dress(right, "mean error  [°]", "look-ahead  [ms]")
    return save(figure, out, "delta_sweep", ("png", "svg"))
