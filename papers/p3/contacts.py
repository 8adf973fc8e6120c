"""The scenes of P3 by contact: which part met what, how hard, and what carried a body while it was upside down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import mujoco
import numpy as np

from papers.variations import with_character, with_prop
from stunt.drive.beats.spec import Script
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop

HANDS: Final = frozenset(("l_hand", "r_hand"))
FELT: Final = 5.0
"""What presses harder carries [N]."""


@dataclass
class Met:
    """What somebody met.

    Attributes:
        impulse: By prop and part: how hard in all [N·s].
        inverted: How long it was upside down [s].
        carried: How long of that by a hand at least [s].
        flew: How long of that by nothing [s].
        fell: Whether it went down while it should not.
        help: Largest force from outside on its root [N].
    """

    impulse: dict[tuple[str, str], float] = field(default_factory=dict)
    inverted: float = 0.0
    carried: float = 0.0
    flew: float = 0.0
    fell: bool = False
    help: float = 0.0

    def hardest(self, prop: str) -> str:
        """Return by which part a prop was met hardest; none: an empty name."""
        met = {part: size for (name, part), size in self.impulse.items() if name == prop}
        return max(met, key=lambda part: met[part], default="")

    def parts(self, prop: str) -> set[str]:
        """Return by which parts a prop was met."""
        return {part for name, part in self.impulse if name == prop}


def met(script: Script, who: str, seconds: float) -> Met:
    """Play a script, and note what somebody met."""
    performance = Performance(script, foretell=False)
    stage, found = performance.stage, Met()
    person = stage.character(who)
    while stage.time < seconds:
        stage.advance(1)
        touching = _touch(stage, who, found)
        if stage.data.xmat[person.bodies["thorax"]][8] < 0.0:
            found.inverted += stage.step_time
            found.carried += stage.step_time * bool(touching & HANDS)
            found.flew += stage.step_time * (not touching)
    take = performance.take()
    number = take.cast.names.index(who)
    found.help = float(np.linalg.norm(take.assistance[:, number, :3], axis=1).max())
    found.fell = any(
        event["kind"] == "reaction" and event["character"] == who and event["state"] == "down" for event in take.events
    )
    return found


def _touch(stage: StageLoop, who: str, found: Met) -> set[str]:
    """Note all touches of a step; return the parts that carry."""
    model, data, person, force = stage.model, stage.data, stage.character(who), np.zeros(6)
    touching = set()
    for k in range(data.ncon):
        one, two = (int(geom) for geom in data.contact.geom[k])
        if (one in person.geoms) == (two in person.geoms):
            continue
        own, other = (one, two) if one in person.geoms else (two, one)
        mujoco.mj_contactForce(model, data, k, force)
        size, part = float(np.linalg.norm(force[:3])), model.body(int(model.geom_bodyid[own])).name.partition("/")[2]
        prop = model.body(int(model.geom_bodyid[other])).name
        found.impulse[prop, part] = found.impulse.get((prop, part), 0.0) + size * stage.step_time
        touching |= {part} if size > FELT else set()
    return touching


def with_blocks_elsewhere(script: Script, seed: int) -> Script:
    """Return the cartwheels over blocks that lie elsewhere by up to 8 cm across and 5 cm along them."""
    rng = np.random.default_rng(seed)
    across, along = rng.uniform(-0.08, 0.08), rng.uniform(-0.05, 0.05)
    for name in ("block1", "block2"):
        x, y, z = script.scene.props[name].at
        script = with_prop(script, name, at=(x + across, y + along, z))
    return script


def with_course_elsewhere(script: Script, seed: int) -> Script:
    """Return the course with its walker up to 5 cm from its place, its crate up to 4 cm, its blocks up to 3 cm."""
    rng = np.random.default_rng(seed)
    ((who, walker),) = script.scene.characters.items()
    x, y, z = walker.at
    script = with_character(script, who, at=(x + rng.uniform(-0.05, 0.05), y + rng.uniform(-0.05, 0.05), z))
    for name, most in (("crate", 0.04), ("block1", 0.03), ("block2", 0.03), ("block3", 0.03)):
        x, y, z = script.scene.props[name].at
        at = (x + rng.uniform(-most, most), y + rng.uniform(-most, most), z)
        script = with_prop(script, name, at=at)
    return script
