"""A double rehearses: ways to follow a clip, tried before the take, in order, until one ends as the clip does.

Where a body ends is a matter of small things: which foot gave way in a pivot, how hard a landing was met. A way that
loses the clip's heading, or goes down, loses it each time, while another one, no less physical, keeps it. None of them
helps the root more than the usual one does. Who is told how to follow does as told, and does not rehearse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from stunt.check.body import too_weak
from stunt.control.servo.law import ServoSettings
from stunt.drive.beats.spec import Script
from stunt.drive.body.lost import LOST
from stunt.errors import BlowUpError, StuntError
from stunt.record.report import make_report
from stunt.script.performance import Performance
from stunt.search.beside import BesideSearch

HEADING_DEG: Final = 15.0
"""Who ends turned aside by more than this does not end as the clip does [°]."""
ERROR_DEG: Final = 4.0
"""Nor does who was further off than this, on the mean [°]."""
LONGEST: Final = 60.0
"""No performance longer than this is rehearsed [s]."""
STRENGTH: Final = 1.5
"""Of bodies in `stunt track`, times their tables' or files', where nobody says how strong they are."""
SPARE: Final = 2.0
"""Of a body that cannot hold itself level, the weakest joint is given so many times what hangs on it."""


SEARCHES: Final = 3
"""So often what to ask for is searched for."""


@dataclass(frozen=True)
class Manner:
    """One way to follow.

    Attributes:
        said: How it is called to the user.
        settings: Of the servo.
    """

    said: str
    settings: ServoSettings


USUAL: Final = ServoSettings()
MANNERS: Final = (
    Manner("twice as stiff, `--gain 2`", ServoSettings(gain=2.0)),
    Manner("four times as stiff, `--gain 4`", ServoSettings(gain=4.0)),
    Manner("joint by joint, `--servo parent`", ServoSettings(servo="parent")),
    Manner("with swinging feet lifted", ServoSettings(clear=True)),
    Manner("by the beat law, `--servo beat`", ServoSettings(servo="beat")),
    Manner("with feet as they were captured", ServoSettings(plant=False)),
    Manner("with feet as they were captured, four times as stiff", ServoSettings(plant=False, gain=4.0)),
    Manner("joint by joint and twice as stiff, `--servo parent --gain 2`", ServoSettings(servo="parent", gain=2.0)),
)
"""What is tried after the usual way."""


@dataclass(frozen=True)
class Rehearsed:
    """What rehearsing came to.

    Attributes:
        script: What to perform.
        told: What the user should know; empty: the usual way is good.
        tries: How many ways were tried.
    """

    script: Script
    told: str = ""
    tries: int = 0


def rehearsed(script: Script, name: str = "double") -> Rehearsed:
    """Return a script whose character follows its clips in the first way that ends as they do; else as it is.

    Args:
        script: Where one character follows clips in the usual way, helped by no more than the weak spring.
        name: Who.
    """
    part = script.parts[name].sections["clips"]
    if part.settings != USUAL or part.root.kind != "weak":
        return Rehearsed(script)
    first = _outcome(script, name)
    if not first:
        return Rehearsed(script, tries=int(first is not None))
    strong, said = _strong_enough(script, name)
    ways = [(strong, said)] if said else []
    ways += [
        (_in_manner(strong, name, part, manner), ", ".join([manner.said, *[said] * bool(said)])) for manner in MANNERS
    ]
    for number, (other, how) in enumerate(ways, start=2):
        if _outcome(other, name) == "":
            return Rehearsed(other, f"rehearsed {number} ways: the usual one {first}; followed {how}.", number)
    found, how = _searched(strong, name, part)
    many = f"rehearsed {len(ways) + 1} ways{' and searched' if how else ''}"
    if found is not None:
        told = f"{many}: the usual one {first}; followed {', '.join([how, *[said] * bool(said)])}."
        return Rehearsed(found, told, len(ways) + 2)
    told = f"{many}, and none ends as the clip does: the usual one {first}."
    return Rehearsed(script, told, len(ways) + 1)


def _searched(script: Script, name: str, part: Any) -> tuple[Script | None, str]:
    """Return a script that asks for something beside the clip so that it ends as that does, and how that is called.

    What was found is gone on from. The last try is with a body twice as strong, where nobody said how strong it is.
    """
    plan, trials, how = None, 0, ""
    for turn in range(SEARCHES):
        tried, stronger = script, ""
        if turn == SEARCHES - 1 and script.scene.characters[name].strength == STRENGTH:
            tried, stronger = _as_strong(script, name, 2.0 * STRENGTH), f", `--strength {2.0 * STRENGTH:g}`"
        try:
            search = BesideSearch(tried, name, seed=turn)
        except StuntError:  # the performance itself will say what is wrong, in its own place
            return None, ""
        if not search.possible:
            return None, ""
        plan = found if (found := search.find(plan)) is not None else plan
        trials += search.trials
        how = f"as a search of {trials:,} trials found, with targets beside the clip's{stronger}"
        if found is not None:
            settings = replace(part.settings, beside=tuple(tuple(round(float(x), 6) for x in row) for row in found))
            other = _in_manner(tried, name, part, Manner("", settings))
            if _outcome(other, name) == "":
                return other, how
    return None, how


def _as_strong(script: Script, name: str, strength: float) -> Script:
    people = {**script.scene.characters, name: replace(script.scene.characters[name], strength=strength)}
    return replace(script, scene=replace(script.scene, characters=people))


def _strong_enough(script: Script, name: str) -> tuple[Script, str]:
    """Return a script whose body can hold itself, and how that is called; as it is where it can, or is told how strong.

    Models of other programs often have motors of tens of newton metres where a back of their weight needs hundreds.
    """
    body = script.scene.characters[name]
    if body.strength != STRENGTH:
        return script, ""
    weak = too_weak(body)
    if not weak:
        return script, ""
    enough = math.ceil(10.0 * SPARE * weak[0].share) / 10.0
    said = f"`--strength {enough:g}`, since '{weak[0].joint}' cannot hold what hangs on it with its file's strength"
    return _as_strong(script, name, enough), said


def _in_manner(script: Script, name: str, part: Any, manner: Manner) -> Script:
    sections = {**script.parts[name].sections, "clips": replace(part, settings=manner.settings)}
    return replace(script, parts={**script.parts, name: replace(script.parts[name], sections=sections)})


def _outcome(script: Script, name: str) -> str | None:
    """Return what is wrong with how a performance ends; empty: nothing; None: it cannot be rehearsed."""
    try:
        performance = Performance(script, foretell=False)
        if performance.seconds > LONGEST:
            return None
        take = performance.run()
    except BlowUpError:
        return "blows up"
    except StuntError:
        return None  # the performance itself will say what is wrong, in its own place
    return None if performance.interrupted else fault_of(make_report(take)["characters"][name])


def fault_of(about: Mapping[str, Any]) -> str:
    """Return what is wrong with how a character ended, by its report; empty: it ended as its clip does."""
    error, heading = about.get("error_deg_mean"), about.get("heading_deg")
    if error is None or heading is None:
        return "follows nothing"
    if about.get("fell", True):
        return "falls"
    if not abs(heading) <= HEADING_DEG:
        return f"ends turned {abs(heading):.0f}° aside"
    if about.get("state") == LOST:
        return "loses the clip"
    return "" if error <= ERROR_DEG else f"is {error:.1f}° off on the mean"
