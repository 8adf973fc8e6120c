"""The δ-response of a body that follows a clip (P0, section 5.3.1): after a blow it is back in the clip δ later.

The paper replaces the target by the clip's own key at t + δ, and the key's time left gives the gains: k = m/λ², d =
2m/λ, λ = δ/n. Whoever is on the way there is on the clip, so that the pull is toward the clip as it is now, and what
the motion takes is fed forward: what changes is how softly the limb is held that was hit. So one number says how far
it gives and when it is back, as in the paper; and because gains are changed before the first step of a push, or as
soon as a contact is seen, the stiff servo has not taken the blow by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.servo.law import part_of
from stunt.control.servo.memory import BEAT

if TYPE_CHECKING:
    from stunt.control.core.renumbered import Renumbered
    from stunt.drive.body.actor import BodyActor

HASTE: Final = 1.13
"""Time constants to the key as a multiple of n: back to a tenth, from the blow or the farthest point."""
TAKES: Final = 0.05
"""How long a blow and the answer of what hangs beside the limb take [s]: what is left of δ is for the return."""
HASTIEST: Final = 1.5
"""Most that a limb is held more tightly than ever, to be back in so short a time."""
FIRM: Final = 0.5
"""Softest a leg is held, as a share of its own frequency: somebody stands on it."""
AGAIN: Final = 0.25
"""Over which share of δ a limb is held as before again, after δ."""


class Yielding:
    """Holds a limb softly for a while. Crew of the stage, due only while it does.

    Attributes:
        limb: The bodies that are held softly; empty: none.
    """

    def __init__(self, actor: BodyActor) -> None:
        """Look after a body; it is held as ever."""
        self._actor = actor
        self.limb: list[int] = []
        self._heavy, self._topple = 1.0, np.zeros(0)
        self._soft, self._back, self._whole, self._last = 1.0, 0, 0, -1
        self._written = np.zeros(0)

    def give_way(self, delta: float, body: str) -> bool:
        """Hold the limb of a body softly, so that it is back δ [s] from now; return whether that is possible."""
        actor = self._actor
        if int(actor._memory["mode"]) == BEAT:
            return False
        self._let_be()
        stage, tick = actor.stage, actor.stage.tick
        limb = self._limb_of(actor.character.bodies[body])
        if not limb:  # hips that have nothing but legs
            return False
        rate = HASTE * TIME_CONSTANTS / max(delta - TAKES, 1e-3)
        least = FIRM if part_of(body) == "leg" else 0.0
        self.limb, self._soft = limb, min(max(rate / float(actor.program._omega[limb].max()), least), HASTIEST)
        self._weigh()
        self._back = tick + round(delta / stage.step_time)
        self._whole = tick + round((1.0 + AGAIN) * delta / stage.step_time)
        self._written = actor.program.k1[limb].copy()
        self._hold(self._soft, 0.0)
        stage.crew.announce(self)
        return True

    def _limb_of(self, body: int) -> list[int]:
        """Return the bodies of a limb, and what hangs on them: of an arm or a leg, or all that stands on the hips."""
        actor, model = self._actor, self._actor.stage.model
        root = actor.character.root_body
        if body == root:
            return [n for n in actor.character.bodies.values() if n != root and part_of(model.body(n).name) != "leg"]
        kind = part_of(model.body(body).name)
        top = body
        while (above := int(model.body_parentid[top])) not in (root, 0) and part_of(model.body(above).name) == kind:
            top = above
        limb: list[int] = []
        for number in sorted(actor.character.bodies.values()):
            if number == top or int(model.body_parentid[number]) in limb:
                limb.append(number)
        return limb

    def _weigh(self) -> None:
        """Note what a limb weighs about the joint it hangs on, against its bones: its inertia, and what topples it."""
        stage, limb = self._actor.stage, self.limb
        model, data = stage.model, stage.data
        mass, away = model.body_mass[limb], data.xipos[limb] - data.xpos[limb[0]]
        inertia = float(mass @ (away**2).sum(axis=1)) + float(model.body_inertia[limb].mean(axis=1).sum())
        self._heavy = inertia / float(self._actor.program._moments[limb].sum())
        # A bone carries its own weight, and that of what hangs on it where it hangs: a spine buckles bone by bone.
        torque = mass * (data.xipos[limb, 2] - data.xpos[limb, 2])
        for number in limb[1:]:
            parent = int(model.body_parentid[number])
            if parent in limb:
                height = float(data.xpos[number, 2] - data.xpos[parent, 2])
                torque[limb.index(parent)] += float(model.body_subtreemass[number]) * height
        self._topple = np.maximum(torque, 0.0) * float(np.linalg.norm(model.opt.gravity))

    def _hold(self, share: float, as_ever: float) -> None:
        """Hold the limb at a share of its own frequency, and so much as ever; somebody else's gains stay theirs."""
        program, limb = self._actor.program, self.limb
        if not np.array_equal(program.k1[limb], self._written):
            self.limb = []
            return
        moments, omega = program.usual[limb] * program._moments[limb], share * program._omega[limb]
        moments = moments * (self._heavy + as_ever * (1.0 - self._heavy))
        program.k1[limb] = moments * omega**2 + self._topple * (1.0 - as_ever)
        program.k2[limb] = 2.0 * moments * omega
        self._written = program.k1[limb].copy()

    def _let_be(self) -> None:
        if self.limb:
            self._hold(1.0, 1.0)
            self.limb = []

    def due(self) -> int | None:
        """Return when the limb is next held otherwise, as a tick."""
        if not self.limb:
            return None
        return max(self._back, self._last + self._actor.stage.steps_per_control)

    def act(self) -> None:
        """Hold the limb more and more as before."""
        self._last = tick = self._actor.stage.tick
        if not self.limb:
            return
        share = min(max((tick - self._back) / max(self._whole - self._back, 1), 0.0), 1.0)
        self._hold(self._soft + share * (1.0 - self._soft), share)
        if share >= 1.0:
            self.limb = []

    def save(self) -> Any:
        """Return what must survive a restore."""
        held = (self._heavy, self._topple, self._soft, self._back, self._whole, self._last)
        return list(self.limb), held, self._written.copy()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        limb, held, written = state
        self._heavy, self._topple, self._soft, self._back, self._whole, self._last = held
        self.limb, self._written = list(limb), written.copy()

    def move(self, by: Renumbered) -> bool:
        """Go on, on a stage with another cast."""
        self.limb = [by.number("body", body) for body in self.limb]
        return self._actor.character.name in self._actor.stage.built.characters
