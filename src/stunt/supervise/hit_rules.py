"""Active and passive: what counts as a hit for whom (P2).

A directed relation between things and a character, changing with the controller in charge. Under full simulation
everything is active. While data is in charge, the ground and other scenery are passive, so is what the character holds
itself, and whatever the controller in charge declares (`passive`); all else that moves is active, and so are pushes.
Passive things are still pushed; they only change nothing in who is in charge.
"""

from __future__ import annotations

from dataclasses import dataclass

from stunt.character.character import Character
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import Controller


@dataclass(frozen=True)
class Relation:
    """What a user says about one character.

    Attributes:
        passive: Props and characters that never count while data is in charge.
        active: Props (scenery included) that always count; so do those that say `active: true` themselves.
    """

    passive: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()

    def counts(self, stage: StageLoop, character: Character, current: Controller, by: str) -> bool:
        """Whether a hit by something counts for a character while a controller is in charge."""
        if not current.kinematic or by in self.active:
            return True
        if by in self.passive or by in getattr(current, "passive", ()):
            return False
        if (prop := stage.built.props.get(by)) is not None:
            return prop.spec.counts_as_hit and (prop.dof < 0 or not _held(stage, character, prop.grip))
        return True  # another character, or a push from outside

    def of(self, stage: StageLoop, character: Character, current: Controller) -> frozenset[str]:
        """Return everything that counts now."""
        names = [*stage.built.characters, *stage.built.props]
        return frozenset(n for n in names if n != character.name and self.counts(stage, character, current, n))


def _held(stage: StageLoop, character: Character, grip: int) -> bool:
    """Whether a character holds a prop itself."""
    if not stage.data.eq_active[grip]:
        return False
    return int(stage.model.eq_obj1id[grip]) in character.bodies.values()
