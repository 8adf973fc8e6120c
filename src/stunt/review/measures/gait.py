"""How somebody walks: knees, thighs, ankles and hips over strides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.review.measures.footage import Figurant, Footage
from stunt.review.measures.forces import impacts

Found = tuple[str, float, float | None, str]
WALKS: Final = (0.5, 2.0)
"""Whoever goes on at such a pace, upright, walks [m/s]."""
CROUCHED: Final = 40.0
"""Whoever never stretches a knee further than this [°] goes crouched, and is no walker."""
LEVEL: Final = 0.04
"""Ground that rises or sinks by more than this within `_AROUND` is a slope or a step [m]."""
HIGH: Final = 0.9
"""Whose hips are below this share of their usual height still gets up [1]."""
AFTER: Final = 1.0
"""So long after a blow nobody just walks [s]."""
_LONG, _UPRIGHT, _AROUND = 1.2, 40.0, 0.6  # [s] a stride at least, [°], [s] before and after


def walking(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure the gait over the longest stretch of walking; nothing where there is none as long as a stride."""
    found = _stretch(footage, person)
    if found is None:
        return
    some = slice(*found)
    legs = [_leg(footage, person, side)[some] for side in "lr"]  # thigh, knee, ankle height, each (T, 3)
    long = float(np.mean([_leg_length(footage, person, side) for side in "lr"]))
    middle = float(footage.time[(found[0] + found[1]) // 2])
    knees = np.concatenate([leg[:, 1] for leg in legs])
    thighs = np.concatenate([leg[:, 0] for leg in legs])
    hips = np.mean([footage.places[some, person.parts[f"{side}_thigh"], 2] for side in "lr"], axis=0)
    ground = min(float(np.percentile(leg[:, 2], 5)) for leg in legs)
    if float(np.percentile(knees, 1)) > CROUCHED:
        return
    yield "knee_least", float(np.percentile(knees, 1)), middle, ""
    yield "knee_most", float(min(leg[:, 1].max() for leg in legs)), middle, ""
    yield "thigh_back", float(-np.percentile(thighs, 1)), middle, ""
    yield "thigh_front", float(np.percentile(thighs, 99)), middle, ""
    yield "ankle_rise", float(min(np.ptp(leg[:, 2]) for leg in legs)) / long, middle, ""
    yield "hips_high", (float(hips.mean()) - ground) / long, middle, ""
    yield "hips_bob", float(np.percentile(hips, 98) - np.percentile(hips, 2)) / long, middle, ""


def _stretch(footage: Footage, person: Figurant) -> tuple[int, int] | None:
    if len(footage.time) < 3 or footage.time[-1] - footage.time[0] < _LONG:
        return None
    velocity = footage.velocity(footage.places[:, person.about.root_body])
    span = max(1, round(0.5 / float(np.median(np.diff(footage.time)))))
    smooth = np.stack([np.convolve(velocity[:, k], np.ones(span) / span, mode="same") for k in range(2)], axis=1)
    count = np.convolve(np.ones(len(velocity)), np.ones(span) / span, mode="same")
    pace = np.linalg.norm(smooth, axis=1) / count
    goes = (pace > WALKS[0]) & (pace < WALKS[1]) & (footage.tilt(person) < _UPRIGHT) & _faces(footage, person, smooth)
    hips = footage.places[:, person.about.root_body, 2]
    goes &= _on_level_ground(footage, person) & ~_struck(footage, person) & (hips > HIGH * np.percentile(hips, 90))
    longest = max(stretches(goes), key=lambda part: part[1] - part[0], default=None)
    if longest is None or footage.time[longest[1] - 1] - footage.time[longest[0]] < _LONG:
        return None
    return longest if _steps(footage, person, longest) else None


def _on_level_ground(footage: Footage, person: Figurant) -> np.ndarray:
    """Whether feet stand as high before a moment as after it, (T,)."""
    low = np.min([footage.places[:, person.parts[f"{side}_foot"], 2] for side in "lr"], axis=0)
    ahead = np.searchsorted(footage.time, footage.time + _AROUND)
    behind = np.searchsorted(footage.time, footage.time - _AROUND)
    change = [
        low[k:end].min() - low[start : k + 1].min() for k, (start, end) in enumerate(zip(behind, ahead, strict=True))
    ]
    return np.abs(np.array(change)) < LEVEL


def _struck(footage: Footage, person: Figurant) -> np.ndarray:
    """Whether something hit somebody just before, or is about to within a step, (T,)."""
    found = np.zeros(len(footage.time), bool)
    for moment in impacts(footage, person):
        found |= (footage.time > moment - 0.1) & (footage.time < moment + AFTER)
    return found


def _faces(footage: Footage, person: Figurant, velocity: Floats) -> np.ndarray:
    """Whether somebody goes where they face, (T,)."""
    return (velocity * _forward(footage, person)).sum(axis=1) > 0.7 * np.linalg.norm(velocity, axis=1)


def _forward(footage: Footage, person: Figurant) -> Floats:
    """Return which way the hips face over the ground, (T, 2)."""
    across = footage.places[:, person.parts["l_thigh"], :2] - footage.places[:, person.parts["r_thigh"], :2]
    forward = np.stack([across[:, 1], -across[:, 0]], axis=1)
    return np.asarray(forward / np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-9))


def _steps(footage: Footage, person: Figurant, part: tuple[int, int]) -> bool:
    """Whether each foot passes the other in a stretch: whoever slides along takes no steps."""
    some = slice(*part)
    apart = footage.places[some, person.parts["l_foot"], :2] - footage.places[some, person.parts["r_foot"], :2]
    lead = (apart * _forward(footage, person)[some]).sum(axis=1)
    return bool(lead.max() > 0.15 and lead.min() < -0.15)


def _leg(footage: Footage, person: Figurant, side: str) -> Floats:
    """Return a leg's thigh angle to the vertical (forward positive) and knee angle [°], and its ankle's height [m]."""
    hip, knee, ankle = (footage.places[:, person.parts[f"{side}_{part}"]] for part in ("thigh", "shank", "foot"))
    way = knee - hip
    forward = (way[:, :2] * _forward(footage, person)).sum(axis=1)
    thigh = np.degrees(np.arctan2(forward, -way[:, 2]))
    bent = footage.angle_at(person, f"{side}_thigh", f"{side}_shank", f"{side}_foot")
    return np.stack([thigh, bent, ankle[:, 2]], axis=1)


def _leg_length(footage: Footage, person: Figurant, side: str) -> float:
    hip, knee, ankle = (footage.places[0, person.parts[f"{side}_{part}"]] for part in ("thigh", "shank", "foot"))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
