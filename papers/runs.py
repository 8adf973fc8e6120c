"""Fresh runs of the examples, for the figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.p0.constant_pd import perform_constant_pd
from papers.variations import with_part, with_rate
from stunt.drive.beats.performer import BeatResult
from stunt.drive.beats.spec import Coupling, Script
from stunt.examples import example
from stunt.record.cast import CastJoint
from stunt.record.take import Take
from stunt.script.file import load_script
from stunt.script.performance import Performance


@dataclass(frozen=True)
class Played:
    """A performance of one character, over.

    Attributes:
        script: What was played.
        take: What was recorded.
        results: How each beat went.
    """

    script: Script
    take: Take
    results: list[BeatResult]

    @property
    def beats(self) -> list[tuple[float, str]]:
        """When beats fell [s], and their poses."""
        return [(result.time, result.pose) for result in self.results]

    @property
    def mean_error_deg(self) -> float:
        """Mean over the beats of the worst joint's error [°]."""
        return mean_error_deg(self.results)

    def gains(self, joint: str) -> NDArray[np.float64]:
        """Return a joint's stiffness k_s over time [N·m/rad], (T,)."""
        return np.asarray(self.take.stiffness[:, self._about(joint).dof])

    def angles_deg(self, joint: str) -> NDArray[np.float64]:
        """Return a hinge's angle over time [°], (T,)."""
        return np.degrees(self.take.qpos[:, self._about(joint).qpos])

    def _about(self, joint: str) -> CastJoint:
        (about,) = self.take.cast.characters.values()
        return about.joints[joint]


def mean_error_deg(results: list[BeatResult]) -> float:
    """Return the mean over the beats of the worst joint's error [°]."""
    return float(np.mean([result.error_deg for result in results]))


def play(name: str, *, coupling: Coupling | None = None, rate: float | None = None, record_hz: float = 480.0) -> Played:
    """Play an example, perhaps at another coupling level or rate [Hz]."""
    script = scripted(name, coupling=coupling, rate=rate)
    performance = Performance(script, record_hz=record_hz, foretell=False)
    performance.run()
    return _played(performance)


def play_constant_pd(name: str, *, rate: float | None = None) -> Played:
    """Play an example with constant gains, tuned for its first pose."""
    return _played(perform_constant_pd(scripted(name, rate=rate)))


def shipped(name: str) -> Script:
    """Return an example's script."""
    return load_script(example(name).path)


def scripted(name: str, *, coupling: Coupling | None = None, rate: float | None = None) -> Script:
    """Return an example's script, perhaps at another coupling level or rate [Hz]."""
    script = shipped(name)
    for who in script.parts if coupling is not None else ():
        script = with_part(script, who, coupling=coupling)
    return script if rate is None else with_rate(script, rate)


def _played(performance: Performance) -> Played:
    (performer,) = performance.performers.values()
    return Played(performance.script, performance.take(), performer.results)
