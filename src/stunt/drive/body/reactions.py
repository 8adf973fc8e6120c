"""What a tracked character does when it is hit: give way and come back, be stunned, go limp, and get up.

A light hit is answered by the δ-response: the target starts from the pose the hit left and is back in the clip δ later.
A stronger one stuns: strength sinks fast and comes back slowly. A very strong one, or a root spring broken for half a
second, lets it fall; once it lies still it gets up, if it was given clips to get up by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.drive.body.tracker import Tracker
from stunt.drive.motion.body_motion import BodyMotion
from stunt.keys import Number, key, spec
from stunt.maths import rotations
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop

LOOK_HZ = 30.0
HARDY = ("hand", "forearm", "foot", "toe", "shank")
HARDY_SHARE = 0.2
"""Limbs that people strike and block with, and how much a hit on one of them counts."""
FOLLOWING, STUNNED, DOWN, RISING = "following", "stunned", "down", "rising"
_HIT = Number(0.0, 1e9, unit="m·g")
_SECONDS = Number(0.0, 1e9, unit="s")


@spec("react")
class Thresholds:
    """When what happens."""

    respond: float = key(default=0.3, kind=_HIT, help="force of a hit (body weights) from which it gives way")
    stun: float = key(default=3.0, kind=_HIT, help="from which it is weakened for a second")
    limp: float = key(default=12.0, kind=_HIT, help="from which it falls")
    delta: float = key(default=0.3, kind=_SECONDS, help="after which it is back in the clip when it gave way; 0: never")
    broken: float = key(default=0.5, kind=_SECONDS, help="of a broken root spring after which it is stunned")
    still: float = key(default=0.3, kind=Number(0.0, 1e9, unit="m/s"), help="slower than which a fallen body lies")
    lying: float = key(default=0.7, kind=_SECONDS, help="it lies before it gets up")


class Reactions:
    """Crew that watches one tracked character.

    Attributes:
        state: `following`, `stunned`, `down` or `rising`.
        log: What happened, as events of the take.
    """

    def __init__(
        self,
        stage: StageLoop,
        tracker: Tracker,
        *,
        thresholds: Thresholds | None = None,
        get_up: dict[str, BodyMotion] | None = None,
        then: BodyMotion | None = None,
    ) -> None:
        """Watch a character.

        Args:
            stage: Where it is.
            tracker: Who.
            thresholds: When what happens.
            get_up: Motions to get up by: `front` (lying face down) and `back`.
            then: What to follow once it stands again.
        """
        self._stage, self.tracker = stage, tracker
        self.thresholds = thresholds or Thresholds()
        self.get_up, self.then = get_up or {}, then
        self.state, self.log = FOLLOWING, list[dict[str, Any]]()
        self._since, self._rest_since = 0.0, -1.0
        self._due = stage.tick + self._stride
        stage.hit_listeners.append(self._hit)
        stage.crew.append(self)

    @property
    def _stride(self) -> int:
        return max(1, round(1.0 / (LOOK_HZ * self._stage.step_time)))

    def _hit(self, hit: Hit) -> None:
        if hit.character != self.tracker.character.name or self.state == DOWN:
            return
        weights = hit.force / float(self.tracker.program.actors[self.tracker.number]["weight"])
        if hit.body.endswith(HARDY):
            weights *= HARDY_SHARE  # whoever strikes feels the blow in the fist, and stands it
        limits = self.thresholds
        if weights >= limits.limp or (weights >= limits.stun and self.state == RISING):
            self._fall("limp")
        elif weights >= limits.stun:
            low = 1.0 - 0.8 * (weights - limits.stun) / (limits.limp - limits.stun)
            self._enter(STUNNED, force=weights)
            self.tracker.stun(max(0.1, 0.8 * low))
        elif weights >= limits.respond and limits.delta > 0.0 and self.state == FOLLOWING:
            self.tracker.respond(limits.delta)

    def _enter(self, state: str, **about: Any) -> None:
        self.state, self._since = state, self._stage.time
        entry = {"kind": "reaction", "time": self._stage.time, "character": self.tracker.character.name}
        self.log.append({**entry, "state": state, **about})

    def _fall(self, why: str) -> None:
        self._enter(DOWN, why=why)
        self._rest_since = -1.0
        # Limp, but not without any tone: a body that falls still holds itself together a little.
        self.tracker.stun(0.02, down=0.05, hold=1e9, up=1.0)

    def due(self) -> int:
        """Return when to look next."""
        return self._due

    def act(self) -> None:
        """Look how it is."""
        self._due = self._stage.tick + self._stride
        elapsed = self._stage.time - self._since
        if self.state in (FOLLOWING, STUNNED, RISING) and self.tracker.broken_for > self.thresholds.broken:
            self._fall("broken")
        elif self.state == STUNNED and elapsed > 1.4:
            self._enter(FOLLOWING)
        elif self.state == DOWN and self._lies() and self.get_up:
            self._rise()
        elif self.state == RISING and elapsed > self.tracker.motion.duration:
            self._enter(FOLLOWING)
            if self.then is not None:
                self.tracker.play(self.then)

    def _lies(self) -> bool:
        root = self.tracker.character.root
        speed = float(np.linalg.norm(self._stage.data.qvel[root.dof : root.dof + 3])) if root else 1.0
        if speed > self.thresholds.still:
            self._rest_since = -1.0
        elif self._rest_since < 0.0:
            self._rest_since = self._stage.time
        return self._rest_since >= 0.0 and self._stage.time - self._rest_since > self.thresholds.lying

    def side(self) -> str:
        """Return on which side the character lies: `front` (face down) or `back`.

        Judged by what the get-up motions look like: the first frame whose tilt is nearest to the root's.
        """
        root = self.tracker.character.root
        if root is None:
            return next(iter(self.get_up))
        up = np.array([0.0, 0.0, 1.0])
        now = rotations.rotate(rotations.conjugate(self._stage.data.qpos[root.qpos + 3 : root.qpos + 7]), up)
        seen = {
            name: float(now @ rotations.rotate(rotations.conjugate(motion.qpos[0, 3:7]), up))
            for name, motion in self.get_up.items()
        }
        return max(seen, key=lambda name: seen[name])

    def _rise(self) -> None:
        side = self.side()
        self._enter(RISING, side=side)
        self.tracker.stun(1.0, down=0.01, hold=0.0, up=0.01)
        self.tracker.play(self.get_up[side], blend=0.6, actual=True)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self.state, list(self.log), self._since, self._rest_since, self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.state, log, self._since, self._rest_since, self._due = state
        self.log[:] = log
