"""Figures of P1's collisions: two stages against mild springs alone and against the engine's own contacts."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import mujoco
import numpy as np

from papers.style import save
from stunt.record.plots import BLUE, GREEN, ORANGE, dress, page
from stunt.record.take import Floats
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Collisions, Scene

_KINDS: Final = {
    "two stages": (Collisions(), BLUE),
    "mild springs alone": (Collisions(impact=False), ORANGE),
    "the engine's contacts": (None, GREEN),
}
_RATES: Final = (60.0, 120.0, 240.0, 480.0)
_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Fall:
    """A soldier knocked onto his back.

    Attributes:
        time: When [s], (T,).
        depth: Deepest penetration at each step [m], (T,).
        energy: Kinetic and potential energy [J], (T,).
        cost: Time per second of simulation [s].
    """

    time: Floats
    depth: Floats
    energy: Floats
    cost: float


def fall(collisions: Collisions | None, rate: float) -> Fall:
    """Knock a soldier over, with these collisions, at this rate [Hz]."""
    soldier = CharacterSpec("human39", root="free")
    scene = Scene(characters={"soldier": soldier}, physics_hz=rate, control_hz=rate, collisions=collisions)
    stage, rows, cost = StageLoop(scene), [], 0.0
    stage.data.qvel[[0, 4]] = -1.5, -1.0  # backwards, and over
    for _ in range(round(_SECONDS * rate)):
        began = clock.perf_counter()
        stage.advance(1)
        cost += clock.perf_counter() - began
        rows.append((stage.time, -float(stage.data.contact.dist.min(initial=0.0)), _energy(stage)))
    time, depth, energy = np.array(rows).T
    return Fall(time, depth, energy, cost / _SECONDS)


def _energy(stage: StageLoop) -> float:
    mujoco.mj_energyPos(stage.model, stage.data)
    mujoco.mj_energyVel(stage.model, stage.data)
    return float(stage.data.energy.sum())


def draw(out: Path) -> list[Path]:
    """Draw penetration, energy, the time-step needed, and cost."""
    note = "A soldier falls onto his back; above at 120 Hz. Below: what smaller steps bring, and what they cost."
    figure = page(7.0, "Two-stage collisions against the engine's contacts", note)
    boxes = ((0.07, 0.49, 0.42, 0.34), (0.56, 0.49, 0.42, 0.34), (0.07, 0.08, 0.42, 0.32), (0.56, 0.08, 0.42, 0.32))
    depth, energy, deepest, cost = (figure.add_axes(box) for box in boxes)
    fall(Collisions(), 120.0)  # compile
    for label, (collisions, color) in _KINDS.items():
        falls = {rate: fall(collisions, rate) for rate in _RATES}
        shown = falls[120.0]
        depth.plot(shown.time, 1000.0 * shown.depth, color=color, lw=1.2, label=label)
        energy.plot(shown.time, shown.energy, color=color, lw=1.2)
        deepest.loglog(_RATES, [1000.0 * f.depth.max() for f in falls.values()], "o-", color=color)
        cost.semilogx(_RATES, [100.0 * f.cost for f in falls.values()], "o-", color=color)
    depth.legend(frameon=False)
    deepest.set_yticks([5, 10, 20, 50, 100], ["5", "10", "20", "50", "100"])
    cost.set_ylim(bottom=0.0)
    for axes in (deepest, cost):
        axes.set_xticks(_RATES, [f"{rate:g}" for rate in _RATES])
        axes.minorticks_off()
    dress(depth, "penetration  [mm]")
    dress(energy, "energy  [J]")
    dress(deepest, "deepest penetration  [mm]", "steps per second")
    dress(cost, "cost  [% of real time]", "steps per second")
    return save(figure, out, "p1-collisions")
