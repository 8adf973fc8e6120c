"""Whether a character fell: left its stand without meaning to. Who ducks, dives or rolls means to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.record.footing import down, tilt_deg
from stunt.record.take import Take

UPRIGHT_DEG: Final = 25.0
UPRIGHT_HEIGHT: Final = 0.85
"""A root that leans less than this and is above this share of its standing height is up; what leads from there to
the ground belongs to one descent."""
Event = Mapping[str, Any]


def time_of_fall(take: Take, name: str) -> float | None:
    """Return when a character fell [s]; None if it did not, or if its root is fixed.

    A character without a supervisor fell when it first left its stand. Under a supervisor going down is a fall only
    where nobody meant it: on the way down somebody was in charge by forces who does not mean to be low, or one who
    does failed, or was interrupted by one who does not. Data goes where it is shown to.
    """
    where = take.cast.character(name).root_qpos
    if where is None:
        return None
    switches = switches_of(take, name)
    low = down(take, where, _stood(take, where, bool(switches)))
    if not switches:
        return float(take.time[np.argmax(low)]) if low.any() else None
    for first, end in _runs(~_upright(take, where)):
        fallen = np.flatnonzero(low[first:end])
        if len(fallen) and (found := _unmeant(take, switches, first, first + int(fallen[0]), end)) is not None:
            return found
    return None


def ends_lying(take: Take, name: str) -> bool:
    """Whether a character's free root is tilted or low in the last frame."""
    where = take.cast.character(name).root_qpos
    return where is not None and bool(down(take, where, _stood(take, where, bool(switches_of(take, name))))[-1])


def switches_of(take: Take, name: str) -> list[Event]:
    """Return the events by which somebody was put in charge of a character; none where it has no supervisor."""
    return [
        event
        for event in take.events
        if event["kind"] == "supervisor" and event.get("event") == "switch" and event.get("character") == name
    ]


def _stood(take: Take, where: int, supervised: bool) -> NDArray[np.float64]:
    """Return how a root stands, (7,): under a supervisor as the body was built, for a clip may begin lying."""
    return np.asarray(take.model().qpos0[where : where + 7] if supervised else take.qpos[0, where : where + 7])


def _upright(take: Take, where: int) -> NDArray[np.bool_]:
    stood = _stood(take, where, True)
    lean = tilt_deg(take.qpos[:, where + 3 : where + 7], stood[3:7])
    return np.asarray((lean < UPRIGHT_DEG) & (take.qpos[:, where + 2] > UPRIGHT_HEIGHT * stood[2]))


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and end of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _unmeant(take: Take, switches: Sequence[Event], first: int, fallen: int, end: int) -> float | None:
    """Return when going down from frame `first` on became a fall [s]; it was down at `fallen`, up again at `end`."""
    begins, down_at, up_at = (float(take.time[min(k, len(take.time) - 1)]) for k in (first, fallen, end))
    meant = True
    for event, after in zip(switches, [*switches[1:], None], strict=True):
        until = np.inf if after is None else float(after["time"])
        # What follows a dive that succeeded on the same way down is part of it, whoever catches the body.
        goes_on = meant and float(event["time"]) > begins and (event["cause"], event["ended"]) == ("ended", "succeeded")
        meant = _means_it(event) or goes_on
        if float(event["time"]) <= down_at and until > begins and not meant:
            return down_at
    for event in switches:
        lost = event["ended"] == "failed" or event["cause"] in ("interrupt", "hit", "removed")
        if begins < float(event["time"]) <= up_at and lost and not _means_it(event):
            return max(float(event["time"]), down_at)
    return None


def _means_it(event: Event) -> bool:
    """Whether who was put in charge plays data, or means to be low."""
    return bool(event.get("mode") == "kinematic" or event.get("low", False))
