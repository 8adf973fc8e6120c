"""One body on its own feet: its references, what it follows, how it is doing, and when it gives up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from stunt.character.character import Character
from stunt.control.own.layout import WHY
from stunt.control.own.memory import OwnFeetProgram
from stunt.drive.motion.body_motion import BodyMotion, repeated
from stunt.drive.own.following import own_targets, standing_body
from stunt.drive.own.reference import Reference, make_reference
from stunt.errors import BodyError, StuntError
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop

SLOWEST: Final = 240.0
"""Slower physics does not carry a body that steps [Hz]."""
LOOK_HZ: Final = 30.0
LAID_OUT: Final = 60.0
"""Seconds a looping motion is laid out for."""
DOOMED: Final = 0.05
"""A body that nothing has been able to save for so long gives up [s]."""


class OwnFeet:
    """One body that may go on its own feet. Crew: it looks after the body while it does.

    Attributes:
        program: The stage's whole-body programme.
        number: Of the body there.
        clock: What time it was [s], and where in its clip the body was then.
    """

    def __init__(
        self, stage: StageLoop, character: Character, soles: list[int], give_up: Callable[[str], None]
    ) -> None:
        """Take a body on.

        Args:
            stage: Where it is.
            character: Who; its root is free.
            soles: Geoms it stands on.
            give_up: Called with the reason when it cannot stay up.

        Raises:
            BodyError: It has not two feet, or no strength.
            StuntError: The physics is too slow.
        """
        check_strength(character)
        if stage.scene.physics_hz < SLOWEST:
            raise StuntError(
                f"'{character.name}' cannot go on its own feet at {stage.scene.physics_hz:g} physics steps per second: "
                f"feet need {SLOWEST:g} or more. Write `physics_hz: 480`, or `assist: weak`."
            )
        self._stage, self._character, self._soles, self._give_up = stage, character, soles, give_up
        body = standing_body(stage.model, character, soles)
        self.program = OwnFeetProgram.on(stage.model, stage.data, stage.board)
        self.number = self.program.add(character, body)
        self.clock: list[tuple[float, float]] = []
        self._references: WeakKeyDictionary[BodyMotion, Reference] = WeakKeyDictionary()
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / LOOK_HZ))
        self._due = stage.tick
        stage.crew.append(self)

    @property
    def active(self) -> bool:
        """Whether it goes on its own feet now."""
        return bool(self._memory["active"])

    @property
    def _memory(self) -> Any:
        return self.program.actors[self.number]

    @property
    def clip_time(self) -> float:
        """Where in its clip it is [s]."""
        return float(self._memory["clip"])

    def reference_of(self, motion: BodyMotion, floor: float) -> Reference:
        """Return a motion made feasible, where it lies; worked out once.

        Args:
            motion: Which; of a looping one `LAID_OUT` seconds.
            floor: Height of the ground it is meant for [m].

        Raises:
            BodyError: No foot ever touches the ground.
        """
        if (known := self._references.get(motion)) is None:
            whole = repeated(motion, LAID_OUT)
            known = make_reference(self._stage.model, self._character, whole, self._soles, floor)
            self._references[motion] = known
        return known

    def follow(self, reference: Reference, since: float, *, floor: float, free_clock: bool) -> None:
        """Follow a reference, where it lies on the stage, from a time of it on [s]."""
        self.program.follow(self.number, own_targets(reference), since, floor=floor, free_clock=free_clock)
        self.clock.append((self._stage.time, since))
        self._due = self._stage.tick + self._stride
        self._stage.crew.announce(self)

    def release(self) -> None:
        """Let go."""
        self.program.release(self.number)

    def when(self, moments: Floats, since: Floats) -> Floats:
        """Return where in its clip it was at some moments [s], (n,); `since`: by a clock that never gives, (n,)."""
        if not self.clock:
            return since
        known = np.array(self.clock)
        return np.asarray(np.interp(moments, known[:, 0], known[:, 1]))

    def summary(self) -> dict[str, float]:
        """Return what it took: recovery steps, how late the clip is [s], the largest force on the root by control."""
        who = self._memory
        return {
            "recovery_steps": int(who["steps"]), "late_s": float(who["late"]), "outside": float(who["outside"]),
            "unsolved": int(who["fails"]), "ticks": int(who["ticks"]),
        }  # fmt: skip

    @property
    def limit_use(self) -> dict[str, float]:
        """How joints kept to their strength, as `BodyActor.limit_use` has it."""
        who = self._memory
        return {"over_share": float(who["over"] / max(who["joint_ticks"], 1.0)), "worst": float(who["worst"])}

    # ---- crew

    def due(self) -> int | None:
        """Return the tick of the next look; None while it does not go on its own feet."""
        return self._due if self.active else None

    def act(self) -> None:
        """Note the clip's time, see that nothing holds the root, and give up where nothing helps any more."""
        who = self._memory
        self._due = self._stage.tick + self._stride
        if who["outside"] != 0.0:
            raise StuntError(f"something held '{self._character.name}' from outside while on its own feet.")
        self.clock.append((self._stage.time, float(who["clip"])))
        if who["doomed"] > DOOMED:
            self._give_up(WHY[int(who["why"])])

    def save(self) -> Any:
        """Return what must survive a restore; the programme is saved once for all."""
        return list(self.clock), self._due, self.program.save() if self.number == 0 else None

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        clock, self._due, program = state
        self.clock = list(clock)
        if program is not None:
            self.program.restore(program)


def check_strength(character: Character) -> None:
    """Complain of a body whose joints have no strength.

    Raises:
        BodyError: They have none.
    """
    weak = [joint.name for joint in character.joints.values() if not joint.strength > 0.0]
    if weak:
        raise BodyError(
            f"'{character.name}' has no strength in {', '.join(weak[:3])}{' …' if len(weak) > 3 else ''}: on its own "
            "feet a body stands by its joints' torques alone. Give it `strength`, or hold it with `assist: weak`."
        )
