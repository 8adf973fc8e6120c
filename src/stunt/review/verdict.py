"""The review of a take: every figure of everybody beside its range, and what was asked for and did not happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from stunt.errors import TakeError, announced
from stunt.record.take import Take, doubted
from stunt.review.asked import Missing, missing
from stunt.review.figures import FIGURES, FoundFigure, measure
from stunt.review.measures.footage import Footage
from stunt.review.ranges import Range, ranges

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True)
class ReviewFinding:
    """A figure of somebody beside its range."""

    character: str
    measured: FoundFigure
    range: Range

    @property
    def inside(self) -> bool:
        """Whether it is believable."""
        return self.range.holds(self.measured.value)

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON-able data."""
        one, about = self.measured, FIGURES[self.measured.figure]
        return {
            "figure": one.figure, "value": one.value, "unit": about.unit, "low": self.range.low,
            "high": self.range.high, "inside": self.inside, "time": one.time, "what": one.what,
        }  # fmt: skip

    def sentence(self) -> str:
        """Say it in a sentence."""
        one, about = self.measured, FIGURES[self.measured.figure]
        when = "" if one.time is None else f" at {one.time:.2f} s"
        what = f" ({one.what})" if one.what else ""
        return f"{self.character}: {one.figure} {one.value:.3g} {about.unit}{when}{what}; people: {self.range.told()}"


@dataclass(frozen=True)
class Review:
    """What a reviewer says of a take.

    Attributes:
        title: The take's.
        seconds: How long it is [s].
        findings: All figures, character by character.
        missing: What was asked for and did not happen.
        hanging: Who hangs on a meat-hook because the script says so: what carries them is not judged.
    """

    title: str
    seconds: float
    findings: tuple[ReviewFinding, ...]
    missing: tuple[Missing, ...]
    hanging: tuple[str, ...] = ()

    @property
    def outside(self) -> tuple[ReviewFinding, ...]:
        """Figures out of range."""
        return tuple(finding for finding in self.findings if not finding.inside)

    @property
    def passed(self) -> bool:
        """Whether all is in range and all that was asked for happened."""
        return not self.outside and not self.missing

    def of(self, character: str) -> Mapping[str, ReviewFinding]:
        """Return somebody's figures by name."""
        return {finding.measured.figure: finding for finding in self.findings if finding.character == character}

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON-able data (see `docs/review.md`)."""
        names = list(dict.fromkeys(finding.character for finding in self.findings))
        return {
            "schema_version": SCHEMA_VERSION,
            "title": self.title,
            "seconds": self.seconds,
            "passed": self.passed,
            "outside": len(self.outside),
            "missing": [{"time": one.time, "what": one.what} for one in self.missing],
            "hanging": list(self.hanging),
            "characters": {name: [finding.to_data() for finding in self.of(name).values()] for name in names},
        }

    def panel(self) -> dict[str, Any]:
        """Return what a report says of it: whether it passed, what is out of range, what did not happen."""
        return {
            "passed": self.passed,
            "told": self.told(),
            "figures": len(self.findings),
            "outside": [{"character": one.character, **one.to_data()} for one in self.outside],
            "missing": [{"time": one.time, "what": one.what} for one in self.missing],
        }

    def told(self) -> str:
        """Say in a line what came of it."""
        hung = "".join(f" {name} hangs on a hook, as asked." for name in self.hanging)
        if self.passed:
            return f"all {len(self.findings)} figures are as captured people's.{hung}"
        out = f"{len(self.outside)} of {len(self.findings)} figures are out of captured people's range"
        pieces = [out] if self.outside else []
        pieces += [f"{len(self.missing)} asked for and did not happen"] if self.missing else []
        return "; ".join(pieces) + "." + hung


@announced
def review(take: Take) -> Review:
    """Review a take.

    Raises:
        TakeError: It has no frames, or makes no sense.
    """
    if not take.time.size:
        raise TakeError("the take has no frames, so there is nothing to review.")
    with doubted(take):
        footage, known = Footage.of(take), ranges()
        findings = [
            ReviewFinding(person.name, one, known[one.figure])
            for person in footage.people
            for one in measure(footage, person)
            if one.figure in known
        ]
        hung = tuple(person.name for person in footage.people if footage.hangs(person))
        return Review(str(take.meta.get("title", "")), take.seconds, tuple(findings), tuple(missing(footage)), hung)
