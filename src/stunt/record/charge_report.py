"""What a report says of a supervised character: who was in charge when, why, and what came to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stunt.record.take import Take

_WHY: Final = ("controller", "mode", "cause", "why", "ended", "reason")


def charge_report(take: Take, name: str) -> dict[str, Any]:
    """Return the `supervisor` section of a character's entry (see `docs/report.md`); nothing where it has none."""
    log = [e for e in take.events if e["kind"] == "supervisor" and e.get("character") == name]
    if not log:
        return {}
    switches = [e for e in log if e["event"] == "switch"]
    ends = [*(float(e["time"]) for e in switches[1:]), take.seconds]
    charge = [
        {"from": float(e["time"]), "to": end, **{key: e[key] for key in _WHY}, "bids": _scores(e)}
        for e, end in zip(switches, ends, strict=True)
    ]
    return {"supervisor": {"in_charge": charge, **{kind: _noted(log, kind) for kind in ("refused", "removed")}}}


def _scores(event: Mapping[str, Any]) -> dict[str, float]:
    return {str(bid["controller"]): float(bid["score"]) for bid in event["bids"]}


def _noted(log: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [{key: e[key] for key in ("time", "controller", "reason")} for e in log if e["event"] == kind]


def charge_warnings(section: Mapping[str, Any]) -> list[str]:
    """Say in sentences which controllers were taken out of the pool, and which requests came to nothing."""
    taken = [f"controller '{e['controller']}' was taken out at {e['time']:.2f} s: it {e['reason']}"
             for e in section.get("removed", ())]  # fmt: skip
    refused = [f"the request for '{e['controller']}' was refused at {e['time']:.2f} s: {e['reason']}"
               for e in section.get("refused", ())]  # fmt: skip
    return [*taken, *refused]
