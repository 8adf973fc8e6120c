"""The hand-tuned peer of P0's figure 7: a servo with constant gains, tuned so that the first pose is hit on time.

Same body, same integrator, same gravity feed-forward, same beats and the same measurement as the beat law; only the
gains differ. They are those of a patient expert: proportional to what each joint carries at the start, then optimised
on the simulation itself, joint by joint, for the first pose alone.

What is sought are gains that are in the first pose, at rest, when its beat falls, with no joint at the limit of its
strength on the way. Without that last condition the answer would be a servo as stiff as can be: it snaps into every
pose at full strength long before the beat, and times nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from papers.p0.inertia import joint_moments
from stunt.character.character import Joint
from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.core.board import IMPEDANCE
from stunt.drive.beats.performer import Performer, joint_error_deg
from stunt.drive.beats.spec import Part, Script, resolve_beats
from stunt.errors import MissingValueError
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]

_FREQUENCIES = (1.0, 100.0)  # [rad/s] where w is sought
_RATIOS = (0.2, 3.0)  # where ζ is sought
_MOVES = math.radians(1.0)  # A joint that moves by less on the way to the first pose is left as it is.
_STRAIN = 25.0  # [rad²] what it costs to be at one's limit all the way; a single step outweighs any gain in arrival.


@dataclass(frozen=True)
class Gains:
    """Constant gains of every degree of freedom of a model.

    Attributes:
        stiffness: k_s [N·m/rad], (nv,).
        damping: k_d [N·m·s/rad], (nv,).
    """

    stiffness: Floats
    damping: Floats


def gains_of(moments: Floats, frequency: Floats | float, ratio: Floats | float) -> Gains:
    """Return the gains k = m·w², d = 2ζ·m·w.

    Args:
        moments: What each degree of freedom turns [kg·m²], (nv,).
        frequency: w [rad/s].
        ratio: ζ; 1 is critical damping.
    """
    return Gains(moments * np.square(frequency), 2.0 * np.asarray(ratio) * moments * frequency)


class ConstantPD(Performer):
    """Drives one character by springs of constant gains whose rest jumps to the next pose at each beat."""

    def __init__(self, stage: StageLoop, character: str, gains: Gains, *, part: Part | None = None) -> None:
        """Take charge of a character and hold the pose it is in.

        Args:
            stage: Where it is.
            character: Its name.
            gains: The gains.
            part: What to do; coupling, arrival and tension say nothing to a constant servo.
        """
        self._gains = gains
        super().__init__(stage, character, part=part)

    def _take_charge(self) -> None:
        super()._take_charge()
        self.set_gains(self._gains)

    def set_gains(self, gains: Gains) -> None:
        """Change the gains."""
        self._gains = gains
        for name in self.controlled:
            self._drive(self.character.joints[name])

    def _aim(self, name: str) -> None:
        super()._aim(name)
        self._drive(self.character.joints[name])

    def clear(self) -> None:
        """Forget all keys that are still ahead and hold the present pose."""
        super().clear()
        self.set_gains(self._gains)

    def _drive(self, joint: Joint) -> None:
        """Put a joint's spring on the board, at rest where the joint is told to go."""
        board = self.stage.board
        dofs, where = slice(joint.dof, joint.dof + joint.nv), slice(joint.qpos, joint.qpos + joint.nq)
        board.law[joint.id] = IMPEDANCE
        board.stiffness[dofs] = self._gains.stiffness[dofs]
        board.damping[dofs] = self._gains.damping[dofs]
        board.feed_forward[dofs] = 0.0
        board.rest[where] = board.goal[where]


def recast(performance: Performance, gains: Mapping[str, Gains]) -> None:
    """Hand the characters of a performance that has not begun to servos of constant gains.

    Args:
        performance: The performance; its beats, recorder and events stay.
        gains: Per character.
    """
    crew = performance.stage.crew
    for name, of_character in gains.items():
        before = performance.performers[name]
        servo = ConstantPD(performance.stage, name, of_character, part=before.part)
        # In the place of the one before: the order in which the crew acts must not differ.
        crew.remove(servo)
        place = crew.index(before)
        crew.remove(before)
        crew.insert(place, servo)
        performance.performers[name] = servo


def perform_constant_pd(script: Script, gains: Mapping[str, Gains] | None = None) -> Performance:
    """Play a script with constant gains, tuned for the first pose unless they are given; return what was played."""
    performance = Performance(script, foretell=False)
    recast(performance, tune(script) if gains is None else gains)
    performance.run()
    return performance


def tune(script: Script, *, refine: bool = True, within_strength: bool = True) -> dict[str, Gains]:
    """Optimise constant gains of every character for its first pose alone. Deterministic.

    First one frequency and one damping ratio for all joints, then both for each joint that moves (left and right
    together), keeping the others.

    Args:
        script: The script; only its start and first beats matter.
        refine: Whether to go on to the single joints.
        within_strength: Whether joints must stay below the limit of their strength on the way.

    Returns:
        Gains per character that has beats.

    Raises:
        MissingValueError: No character has beats.
    """
    names = [name for name, part in script.parts.items() if part.beats]
    if not names:
        raise MissingValueError("beats", "a script that a servo is tuned for")
    return {name: _Trials(script, name, _STRAIN if within_strength else 0.0).optimise(refine) for name in names}


class _Trials:
    """The first beat, played again and again from the same start with other gains."""

    def __init__(self, script: Script, name: str, strain: float = _STRAIN) -> None:
        self.strain = strain
        performance = Performance(script, record_hz=1.0, foretell=False)
        self.stage = performance.stage
        self.moments = joint_moments(self.stage.model, self.stage.data)
        self.beat = resolve_beats(script.parts[name])[0]
        self.start_frequency = TIME_CONSTANTS / self.beat.time
        recast(performance, {name: gains_of(self.moments, self.start_frequency, 1.0)})
        servo = performance.performers[name]
        assert isinstance(servo, ConstantPD)
        self.servo = servo
        self.start = self.stage.save()

    def optimise(self, refine: bool) -> Gains:
        """Return the best gains found."""
        frequency = np.full(self.stage.model.nv, self.start_frequency)
        ratio = np.ones(self.stage.model.nv)
        groups = [list(range(self.stage.model.nv)), *(self._moving() if refine else [])]
        for dofs in groups:
            frequency[dofs], ratio[dofs] = self._search(frequency, ratio, dofs, 60 if dofs is groups[0] else 24)
        return gains_of(self.moments, frequency, ratio)

    def _search(self, frequency: Floats, ratio: Floats, dofs: Sequence[int], most: int) -> tuple[float, float]:
        """Find frequency and damping ratio of some degrees of freedom, all others kept."""

        def cost(x: Floats) -> float:
            trial_frequency, trial_ratio = frequency.copy(), ratio.copy()
            trial_frequency[dofs], trial_ratio[dofs] = np.exp(x)
            return self.cost(gains_of(self.moments, trial_frequency, trial_ratio))

        at = np.log([frequency[dofs[0]], ratio[dofs[0]]])
        simplex = at + np.array([[0.0, 0.0], [0.25, 0.0], [0.0, -0.25]])
        bounds = [tuple(np.log(_FREQUENCIES)), tuple(np.log(_RATIOS))]
        options = {"initial_simplex": simplex, "maxfev": most, "xatol": 1e-3, "fatol": 1e-10}
        found = minimize(cost, at, method="Nelder-Mead", bounds=bounds, options=options)
        best_frequency, best_ratio = np.exp(found.x)
        return float(best_frequency), float(best_ratio)

    def cost(self, gains: Gains) -> float:
        """Return how badly gains hit the first pose [rad²]: position, velocity in units of λ, and strain."""
        stage, servo = self.stage, self.servo
        stage.restore(self.start)
        servo.set_gains(gains)
        stage.advance(stage.tick_of(self.beat.time))
        total = 0.0
        for name, angle in self.beat.pose.angles.items():
            joint = servo.character.joints[name]
            wanted = np.asarray(self.beat.pose.velocities.get(name, 0.0))
            off = stage.data.qvel[joint.dof : joint.dof + joint.nv] - wanted
            error = math.radians(joint_error_deg(joint, stage.data.qpos, angle))
            total += error**2 + float(off @ off) / self.start_frequency**2
        strained = stage.board.saturated_steps[servo.character.dofs].sum() / stage.tick
        return total / len(self.beat.pose.angles) + self.strain * float(strained)

    def _moving(self) -> list[list[int]]:
        """Return the degrees of freedom of each joint that the first pose moves; mirrored joints together."""
        self.stage.restore(self.start)
        groups: dict[str, list[int]] = {}
        for name, angle in self.beat.pose.angles.items():
            joint = self.servo.character.joints[name]
            if abs(math.radians(joint_error_deg(joint, self.stage.data.qpos, angle))) > _MOVES:
                stem = name[2:] if name[:2] in ("l_", "r_") else name
                groups.setdefault(stem, []).extend(range(joint.dof, joint.dof + joint.nv))
        return list(groups.values())
