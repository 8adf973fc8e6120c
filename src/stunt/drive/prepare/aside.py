"""What a body is asked for beside its clip, as vectors: legs, feet, trunk and arms turned from where the clip has them.

A servo does what its targets say as far as the ground lets it, and where it lands is not where the clip does. Targets
that are a few degrees aside bring it there: a hip turned a little further takes the heading back, a leg stretched
sooner jumps higher. One vector holds at the end of each window of time, and between two windows targets go over evenly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.servo.memory import ServoTargets
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.rig.retarget import body_parts

WINDOW: Final = 0.1
"""Seconds from one vector to the next."""
_ALL = np.eye(3)  # forward, left and up, seen from the root
_ACROSS, _FLAT = _ALL[1:2], _ALL[:2]


@dataclass(frozen=True, eq=False)
class _Turned:
    """Bodies that turn together.

    Attributes:
        bodies: Counted from the root.
        axes: Of each number of theirs, seen from the root, (numbers, 3).
        spread: One standard deviation [rad].
    """

    bodies: NDArray[np.int64]
    axes: Floats
    spread: float


class AskedBeside:
    """What one body can be asked for.

    Attributes:
        spread: One standard deviation of each number of a vector [rad], (n,).
        group: Which numbers go together, (n,).
        thrusts: Numbers of the legs' stretching, one each.
    """

    def __init__(self, model: mujoco.MjModel, character: Character) -> None:
        """Find the parts of a body; one without legs that Stunt knows has none, and nothing is asked of it."""
        parts, first = body_parts(character), character.root_body
        count = max(character.bodies.values()) + 1 - first
        self._numbers: list[list[_Turned]] = []

        def outboard(part: str) -> NDArray[np.int64]:
            found = {parts[part] - first}
            for body in range(parts[part] - first + 1, count):
                if int(model.body_parentid[body + first]) - first in found:
                    found.add(body)
            return np.array(sorted(found))

        for side in ("l_", "r_"):
            thigh, shank, foot, arm = (side + part for part in ("thigh", "shank", "foot", "upper_arm"))
            if {thigh, shank, foot} <= set(parts):
                self._numbers += [
                    [_Turned(outboard(thigh), _ALL, 0.12)],
                    [_Turned(outboard(foot), _FLAT, 0.15)],
                    # A leg stretched or folded between hip and ankle.
                    [_Turned(outboard(part), share * _ACROSS, 0.15) for part, share in
                     ((thigh, 1.0), (shank, -2.0), (foot, 1.0))],
                ]  # fmt: skip
            if arm in parts:
                self._numbers.append([_Turned(outboard(arm), _ALL, 0.2)])
        spine = [part for part in parts if part.startswith("spine")]
        if spine:
            self._numbers.append([_Turned(outboard(min(spine, key=lambda part: parts[part])), _ALL, 0.12)])
        sizes = [len(some[0].axes) for some in self._numbers]
        self.group = np.repeat(np.arange(len(sizes)), sizes)
        self.spread = np.repeat([some[0].spread for some in self._numbers], sizes)
        starts = np.cumsum([0, *sizes])
        self.thrusts = [int(starts[k]) for k, some in enumerate(self._numbers) if len(some) == 3]

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        return len(self.spread)

    def beside(self, rows: ServoTargets, plan: Floats) -> ServoTargets:
        """Return rows with what a plan asks for, (windows, n), from the first of them on; errors stay the clip's."""
        used = min(int((len(plan) + 1) * WINDOW * rows.fps) + 1, len(rows.turns))
        edges = np.concatenate([np.zeros((1, self.size)), plan, np.zeros((1, self.size))])
        at = np.arange(used) / rows.fps / WINDOW
        low = np.minimum(at.astype(int), len(edges) - 2)
        numbers = edges[low] + np.minimum(at - low, 1.0)[:, None] * (edges[low + 1] - edges[low])
        turns = rows.turns.copy()
        first = 0
        for some in self._numbers:
            own = numbers[:, first : first + len(some[0].axes)]
            first += len(some[0].axes)
            when = np.flatnonzero(own.any(axis=1))
            for one in some if len(when) else ():
                turn = rotations.from_rotation_vector(own[when] @ one.axes)
                some_turns = turns[when[:, None], one.bodies]
                turns[when[:, None], one.bodies] = rotations.multiply(
                    np.broadcast_to(turn[:, None], some_turns.shape), some_turns
                )
        return replace(rows, turns=turns, asked=rows.turns if rows.asked is None else rows.asked)
