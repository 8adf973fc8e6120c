"""What fells a body that follows a clip, and what does not: balls, boxes, with and without its root spring."""

from __future__ import annotations

import numpy as np
import pytest
from tracking_helpers import follow, tracked

from captured import needs_clips
from stunt.control.servo.law import RootSpring
from stunt.stage.props import PropSpec
from stunt.supervise.data.tracking import QueuedClip, follow_clips

HIT = ("idle", "punch", "walk")
BALL = PropSpec("sphere", at=(50.0, 0.0, 1.0), radius=0.1, mass=0.3)
_WHEN, _LASTS = 0.7, 3.0


def box(mass: float) -> PropSpec:
    """A box of a mass [kg], waiting far away."""
    return PropSpec("box", at=(50.0, 0.0, 1.0), size=(0.3, 0.3, 0.3), mass=mass)


def falls(clip: str, thing: PropSpec, speed: float, angle: float, root: RootSpring, *, react: bool = False) -> bool:
    """Whether a body falls that is hit at the chest from a direction [rad] while it follows a clip."""
    tracker = tracked(clip, seconds=_LASTS, props={"thing": thing}, root=root)
    stage, prop = tracker.stage, tracker.stage.prop("thing")
    if react:
        follow_clips(stage, "a", [QueuedClip(tracker.motion)])
    stage.step(_WHEN)
    chest = tracker.character.bodies["thorax"]
    toward = np.array([np.cos(angle), np.sin(angle), 0.0])
    pace = np.array([*stage.data.qvel[:2], 0.0])
    # Seen from the body it comes at that speed, and falls no further than it was thrown up.
    stage.data.qpos[prop.qpos : prop.qpos + 3] = stage.data.xipos[chest] - 0.5 * toward
    stage.data.qvel[prop.dof : prop.dof + 3] = pace + speed * toward + [0.0, 0.0, 0.5 * 9.81 * 0.3 / speed]
    return bool(follow(tracker)["fell"])


def felled(thing: PropSpec, speed: float, root: RootSpring, *, ways: int, react: bool = False) -> float:
    """Return the share of trials that end in a fall, over clips and directions."""
    trials = [
        falls(clip, thing, speed, 2.0 * np.pi * (way + 0.25) / ways, root, react=react)
        for clip in HIT
        for way in range(ways)
    ]
    return float(np.mean(trials))


def check_hits(ways: int) -> None:
    """Judge all kinds of hits."""
    weak, none, hook = RootSpring(), RootSpring(kind="none"), RootSpring(kind="hook")
    shares = {
        "0.3 kg ball at 8 m/s": felled(BALL, 8.0, weak, ways=ways),
        "10 kg box at 5 m/s": felled(box(10.0), 5.0, weak, ways=ways),
        "40 kg box at 5 m/s": felled(box(40.0), 5.0, weak, ways=ways),
        "40 kg box at 5 m/s, reacting": felled(box(40.0), 5.0, weak, ways=ways, react=True),
        "10 kg box at 5 m/s, reacting": felled(box(10.0), 5.0, weak, ways=ways, react=True),
        "10 kg box at 5 m/s, no root spring": felled(box(10.0), 5.0, none, ways=ways),
        "40 kg box at 5 m/s, on a hook": felled(box(40.0), 5.0, hook, ways=ways),
    }
    print({what: f"{100.0 * share:.0f} % fell" for what, share in shares.items()}, f"of {len(HIT) * ways} each")
    fell = list(shares.values())
    assert fell[0] == 0.0 and fell[1] <= 0.05
    assert fell[2] >= 0.85
    assert fell[5] >= 0.9 and fell[6] == 0.0


@needs_clips
@pytest.mark.long
def test_small_things_never_fell_it_boxes_seldom_heavy_ones_nearly_always() -> None:
    check_hits(ways=8)
