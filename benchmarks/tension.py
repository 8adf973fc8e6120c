"""What tension costs: control over the bare step on the paper's two bodies, and how fast previews are."""

from __future__ import annotations

import time
from typing import Final

from benchmarks.control_cost import cost_of
from benchmarks.result import Measurement
from stunt.control.tension.units import Tension
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import EVERY, ByJoint, TensionPart
from stunt.examples import example
from stunt.motion.pose import Pose
from stunt.script.file import load_script
from stunt.script.preview import Preview
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

PREVIEW_BAR: Final = 50.0
_SECONDS = 3.0


def measure(quick: bool = False) -> list[Measurement]:
    """Measure both bodies, every joint on its way all the time, and previews of two examples."""
    found = [
        cost_of(f"tension over the bare step: {body}", moving(body), _SECONDS, quick) for body in ("torso28", "human47")
    ]
    return found + [_preview(name) for name in ("go_left", "wave")]


def moving(body: str) -> StageLoop:
    """Return a stage with a body whose every joint goes to and fro under tension."""
    stage = StageLoop(Scene(characters={"ada": CharacterSpec(body=body)}))
    performer = TensionPerformer(stage, "ada", TensionPart(tension=ByJoint({EVERY: Tension(0.5)})))
    joints = performer.character.joints
    for k in range(6):
        share = 0.15 if k % 2 == 0 else 0.05
        angles = {name: share * joint.range[1] for name, joint in joints.items() if joint.range is not None}
        performer.play(Pose(f"pose {k}", angles), lasts=0.5, at=0.5 * k)
    return stage


def _preview(name: str) -> Measurement:
    """Measure a preview from a script in memory to a finished take, as the worst of three."""
    script = load_script(example(name).path)
    Preview(script).take()
    slowest = 0.0
    for _ in range(3):
        began = time.perf_counter()
        take = Preview(script).take()
        slowest = max(slowest, (time.perf_counter() - began) / take.seconds)
    note = f"{1.0 / slowest:.0f} times real time; the bar is {PREVIEW_BAR:g}"
    return Measurement(f"preview: {name}", 1e3 * slowest, "ms per second", 1e3 / PREVIEW_BAR, note)
