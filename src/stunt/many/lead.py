"""A controller in charge of a body instead of the clip it would follow, and judged by that clip.

It is made as a supervisor makes it. One whose maker has a keyword `motion` is given the clip as a motion of the body,
where it lies on the stage.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from stunt.drive.body.actor import BodyActor
from stunt.drive.body.followed import Followed
from stunt.drive.body.measures import measure
from stunt.errors import StuntError
from stunt.many.setting import WHO
from stunt.record.take import Take
from stunt.script.performance import Performance
from stunt.supervise.registry import make_controller, maker_of


@dataclass(frozen=True)
class Lead:
    """A controller that is to be in charge from the start."""

    name: str  #: What it is called in the pool
    use: str  #: As it was asked for
    asked: Followed  #: The clip it is judged by

    @staticmethod
    def of(performance: Performance, use: str) -> Lead:
        """Let a controller take over from the clip of a performance that has not begun.

        Args:
            performance: In which `WHO` follows a clip.
            use: A registered controller, or `module:Class`.

        Raises:
            StuntError: There is no such controller, or it cannot be made.
        """
        body: BodyActor = performance.stage.actors[WHO]
        asked = body.history[0]
        given: dict[str, Any] = {"motion": body.motion} if _takes_motion(use) else {}
        controller = make_controller(use, performance.stage, WHO, parameters=given)
        body.driver.add(controller)
        body.driver.request(controller.name)
        return Lead(controller.name, use, asked)

    def measured(self, performance: Performance, take: Take) -> dict[str, Any]:
        """Return how well the body did what the clip asked for.

        Raises:
            StuntError: The controller was never in charge: these would be the clip's own figures.
        """
        body: BodyActor = performance.stage.actors[WHO]
        log = [entry for entry in body.driver.log if entry.get("controller") == self.name]
        if not any(entry["event"] == "switch" for entry in log):
            why = next((entry["reason"] for entry in log if entry["event"] == "refused"), "it did not bid")
            raise StuntError(f"controller '{self.use}' was never in charge: {why}.")
        return measure(body, take.time, take.qpos, against=self.asked)


def _takes_motion(use: str) -> bool:
    try:
        return "motion" in inspect.signature(maker_of(use)).parameters
    except (TypeError, ValueError):
        return False
