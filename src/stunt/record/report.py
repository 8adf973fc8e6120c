"""The report of a take: what a program wants to know about a performance, as JSON-able data.

`docs/report.md` defines every field. Nothing is measured that the take does not hold; only the wall clock is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import mujoco
import numpy as np

from stunt.errors import TakeError, announced
from stunt.record.cast import CastMember
from stunt.record.in_charge import charge_report, charge_warnings
from stunt.record.incidents import assistance, ends_lying, time_of_fall, timing_error_ms
from stunt.record.take import Take, doubted

SCHEMA_VERSION: Final = 1
MISSED_DEG: Final = 1.0
"""A beat whose worst joint is off by more than this [°] counts as missed."""
HELD_DEG: Final = 5.0
"""A joint that holds and is off by more than this at a beat [°] is warned of."""
OVER_STRENGTH: Final = 1.1
"""Torques above so many times a joint's strength are warned of."""
_MEASURED = ("index", "time", "pose", "error_deg", "error_deg_rms", "velocity_error", "worst_joint")
_HELD = ("held_error_deg", "held_worst_joint", "fitted_deg")
_FORECAST = ("feasible", "needed_share", "needed_by")
_OFF_PATH = ("time", "end", "error", "unit", "worst_time", "at_limit", "touching")
Entry = dict[str, Any]


@announced
def make_report(take: Take, *, wall_seconds: float | None = None) -> dict[str, Any]:
    """Report on a take.

    Args:
        take: The performance.
        wall_seconds: How long the playing took on the clock on the wall [s]; None where that is not known.

    Raises:
        TakeError: The take has no frames.
    """
    with doubted(take):
        return _report(take, wall_seconds)


def _report(take: Take, wall_seconds: float | None) -> dict[str, Any]:
    if not take.time.size:
        raise TakeError("the take has no frames, so there is nothing to report.")
    model, meta = take.model(), take.meta
    members = take.cast.characters.values()
    characters = {about.name: _character(take, model, number, about) for number, about in enumerate(members)}
    return {
        "schema_version": SCHEMA_VERSION,
        "title": meta.get("title", ""),
        "source": meta.get("source", ""),
        "seconds": take.seconds,
        "realtime_factor": take.seconds / wall_seconds if wall_seconds else None,
        "seed": meta.get("seed"),
        "physics_hz": meta.get("physics_hz"),
        "control_hz": meta.get("control_hz"),
        "interrupted": bool(meta.get("interrupted", False)),
        "warnings": [*meta.get("warnings", ()), *_aftermath(take, characters)],
        "characters": characters,
    }


def report_text(report: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Return a report as JSON text that every reader of JSON takes: no NaN, no infinity."""
    return json.dumps(report, indent=2, ensure_ascii=ascii_only, allow_nan=False) + "\n"


def _character(take: Take, model: mujoco.MjModel, number: int, about: CastMember) -> dict[str, Any]:
    name = about.name
    return {
        "body": about.body,
        "root": about.root,
        "fell": time_of_fall(take, name) is not None,
        "ended_lying": ends_lying(take, name),
        "assistance": assistance(take, number, about, model),
        "hits": sum(event["kind"] == "hit" and event.get("character") == name for event in take.events),
        **_blows(take, name),
        **({"strength": used} if (used := take.meta.get("strength", {}).get(name)) else {}),
        **({"held_at_end": held} if (held := take.meta.get("held_at_end", {}).get(name)) else {}),
        "beats": _beats(take, name),
        **_trajectories(take, name),
        **charge_report(take, name),
        **take.meta.get("tracking", {}).get(name, {}),
    }


def _blows(take: Take, name: str) -> dict[str, Any]:
    """Report on what others' hands and feet gave head and trunk; nothing where nobody met it."""
    met = [event for event in take.events if event["kind"] == "blow" and event["character"] == name]
    landed = [event for event in met if event["landed"]]
    hardest = max(landed, key=lambda event: float(event["worth"]), default={})
    told = {key: hardest[key] for key in ("time", "body", "by", "part", "size") if key in hardest}
    return {"blows": {"met": len(met), "landed": len(landed), **({"hardest": told} if told else {})}} if met else {}


_STRINGS = ("sum", "net", "fighting", "fights", "ground", "peak", "weight")


def _trajectories(take: Take, name: str) -> dict[str, Any]:
    """Report on a character's trajectories, each with the times it was off; nothing where it has none."""
    own = [event for event in take.events if event.get("character") == name]
    followed = [event for event in own if event["kind"] == "trajectory"]
    if not followed:
        return {}
    entries = []
    for event in followed:
        what = "joint" if "joint" in event else "site"
        off = [e for e in own if e["kind"] == "off_path" and e.get(what) == event[what]]
        entry = {key: value for key, value in event.items() if key not in ("time", "kind", "character")}
        entries.append({**entry, "off_path": [{key: e[key] for key in _OFF_PATH} for e in off]})
    pulled = [event for event in own if event["kind"] == "strings"]
    together = {"strings": {key: pulled[-1][key] for key in _STRINGS}} if pulled else {}
    return {"trajectories": entries, **together}


def _strayed(entry: Mapping[str, Any]) -> list[str]:
    """Say of each trajectory when physics did not let it be followed, how far off it was, and why.

    Lagging behind a jump is as it should be: that is among the numbers, not among the warnings.
    """
    sentences = []
    if entry.get("strings", {}).get("fights"):
        strings = entry["strings"]
        sentences.append(
            f"strings pull against each other: {strings['sum']:.0f} N in sum, {strings['net']:.0f} N together. "
            "Markers may be swapped, or the person may have another size (`fit: body`)"
        )
    for path in entry.get("trajectories", ()):
        for off in path["off_path"]:
            unit = "°" if off["unit"] == "deg" else " mm"
            why = ["at the limit of its strength"] if off["at_limit"] else []
            why += [f"touching {' and '.join(off['touching'])}"] if off["touching"] else []
            if not why:
                continue
            who, when = path.get("joint") or path["site"], f"from {off['time']:.2f} to {off['end']:.2f} s"
            sentences.append(
                f"{who} was off its trajectory {when}, by {abs(off['error']):.3g}{unit} at most, {' and '.join(why)}"
            )
    return sentences


def _beats(take: Take, name: str) -> list[dict[str, Any]]:
    events = [e for e in take.events if e["kind"] == "beat" and e.get("character") == name]
    due = [float(event["time"]) for event in events]
    beats = []
    for event, before, after in zip(events, [0.0, *due], [*due[1:], math.inf], strict=False):
        beats.append(_beat(take, take.cast.character(name), event, before, after))
    return beats


def _beat(take: Take, about: CastMember, event: Mapping[str, Any], before: float, after: float) -> Entry:
    """Report on one beat; `before` and `after` are the times of its neighbours [s]."""
    used_share, used_by = _strength_used(take, about, before, float(event["time"]))
    fell = time_of_fall(take, about.name)
    lying = fell is not None and fell <= float(event["time"])
    return {
        **{key: event[key] for key in _MEASURED},
        "error_ms": timing_error_ms(take, about.joints, event, before, after),
        "saturated": list(event["saturated"]),
        "missed": bool(event["error_deg"] > MISSED_DEG) or lying,
        "lying": lying,
        "used_share": used_share,
        "used_by": used_by,
        **{key: event[key] for key in (*_HELD, *_FORECAST) if key in event},
    }


def _strength_used(take: Take, about: CastMember, before: float, due: float) -> tuple[float, str]:
    """Return the largest torque on the way to a beat as a share of its joint's strength, and the joint."""
    # A frame holds the torque of the step that led to it, so the one after the beat is not on the way.
    frames = (take.time > before + 1e-9) & (take.time <= due + 1e-9)
    worst = (0.0, "")
    for name, joint in about.joints.items():
        if not joint.strength or not frames.any():
            continue
        torque = take.torque[frames, joint.dof : joint.dof + joint.width]
        worst = max(worst, (float(np.linalg.norm(torque, axis=1).max()) / joint.strength, name))
    return worst


def _aftermath(take: Take, characters: Mapping[str, Any]) -> list[str]:
    """Say in sentences what went wrong, character by character."""
    sentences = []
    for name, entry in characters.items():
        fell = time_of_fall(take, name)
        if "fell" in take.meta.get("tracking", {}).get(name, {}):
            # Whoever follows a clip may lie down with it; only an end unlike the clip's is a fall.
            lost = entry.get("state") == "lost"
            sentences += [f"{name} did not end as its clip does"] if entry["fell"] else []
            sentences += [f"{name} has lost its clip: {_lost_by(entry)}"] if lost and not entry["fell"] else []
        elif fell is not None:
            lies = "supervisor" in entry and entry["ended_lying"]
            sentences.append(f"{name} fell at {fell:.2f} s" + (" and ended lying" if lies else ""))
        sentences += [f"{name}: {sentence}" for sentence in charge_warnings(entry.get("supervisor", {}))]
        sentences += [f"{name}: {_miss(beat, take.cast.character(name))}" for beat in entry["beats"] if beat["missed"]]
        sentences += [f"{name}: {sentence}" for beat in entry["beats"] for sentence in _let_slip(beat)]
        end = entry.get("held_at_end", {"error_deg": 0.0})
        if end["error_deg"] > HELD_DEG and fell is None:
            sentences.append(f"{name}: at the end {end['joint']}, which holds, was off by {end['error_deg']:.3g}°")
        sentences += [f"{name}: {sentence}" for sentence in (*_strayed(entry), *_too_strong(entry))]
    return sentences


def _lost_by(entry: Mapping[str, Any]) -> str:
    aside = f"it ends turned {abs(entry['heading_deg']):.0f}° aside, " if abs(entry["heading_deg"]) > 30.0 else ""
    return f"{aside}it was off for {entry['lost_s']:.1f} s"


def _let_slip(beat: Mapping[str, Any]) -> list[str]:
    """Say which joint did not hold where it was while others met a beat."""
    if beat["lying"] or beat.get("held_error_deg", 0.0) <= HELD_DEG:
        return []
    what = f"at beat {beat['index'] + 1} '{beat['pose']}' at {beat['time']:.2f} s"
    return [f"{what} {beat['held_worst_joint']}, which holds, was off by {beat['held_error_deg']:.3g}°"]


def _too_strong(entry: Mapping[str, Any]) -> list[str]:
    """Say which joint produced more than it has."""
    used = entry.get("strength")
    if used is None or used["peak_share"] <= OVER_STRENGTH:
        return []
    share, over = used["peak_share"], 100.0 * used["share_of_time_over"]
    return [f"{used['joint']} produced {share:.3g} times its strength at {used['time']:.2f} s (over for {over:.2g} %)"]


def _miss(beat: Mapping[str, Any], about: CastMember) -> str:
    unit = " mm" if about.joints[beat["worst_joint"]].kind == "slide" else "°"
    what = f"beat {beat['index'] + 1} '{beat['pose']}' at {beat['time']:.2f} s"
    if beat["lying"]:
        return f"{what} missed: lying"
    return f"{what} missed by {beat['error_deg']:.3g}{unit} ({beat['worst_joint']}); {_limits_met(beat, about)}"


def _limits_met(beat: Mapping[str, Any], about: CastMember) -> str:
    """Say which joints were at the limit of their strength, the one that missed first."""
    joints: Sequence[str] = sorted(beat["saturated"], key=lambda name: name != beat["worst_joint"])
    if not joints:
        return "no joint was at its limit"
    first = f"{joints[0]} was at its limit of {about.joints[joints[0]].strength or math.inf:.3g} N·m"
    others = len(joints) - 1
    if others == 1:
        return f"{first}, as was {joints[1]}"
    return f"{first}, as were {others} other joints" if others else first
