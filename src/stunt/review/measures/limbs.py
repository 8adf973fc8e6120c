"""How fast joints turn, whether wrists move at all, and whether one side is the other's mirror image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.review.measures.footage import Figurant, Footage
from stunt.review.measures.forces import impacts

Found = tuple[str, float, float | None, str]
"""A figure's name, its value, when it was found [s], and of what."""
PARTS: Final = ("spine", "neck", "upper_arm", "forearm", "hand", "thigh", "shank")
SPAN: Final = 1.0 / 30.0
"""Over how long turns are taken [s]."""
AFTER_IMPACT: Final = 0.05
"""For so long after an impact a part may be thrown about [s]."""
_SHIFT, _SHORTEST = 1.0, 1.0  # [s] how much later the other side may do the same, and least time to judge it by
_STILL = 10.0  # [°] knees and elbows that move less say nothing about sides


def turns(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure the largest turn of each kind of joint in 33 ms."""
    if len(footage.time) < 2:
        return
    excused = _excused(footage, person)
    before = np.searchsorted(footage.time, footage.time - SPAN - 1e-4)
    before = np.minimum(before, np.maximum(np.arange(len(footage.time)) - 1, 0))
    for kind in PARTS:
        worst: Found | None = None
        for part in person.parts:
            if _kind(part) != kind:
                continue
            angle = _turned(footage, person, part, before)
            angle[excused | excused[before]] = 0.0
            frame = int(angle.argmax())
            if worst is None or angle[frame] > worst[1]:
                worst = f"turn_{kind}", float(angle[frame]), float(footage.time[frame]), part
        if worst is not None:
            yield worst


def _turned(footage: Footage, person: Figurant, part: str, before: NDArray[np.intp]) -> Floats:
    """Return how far a part has turned from the one it hangs on since a frame before [°], (T,).

    Of thighs and upper arms only where they point counts: how far a straight limb is turned about itself is hardly
    seen, neither by cameras nor by people, and captures jump in it.
    """
    body = person.parts[part]
    next_ = {"thigh": "shank", "upper_arm": "forearm"}.get(part[2:])
    if next_ is None or f"{part[:2]}{next_}" not in person.parts:
        seen = footage.joint_turns(body)
        return _angle(seen[before], seen)
    way = footage.places[:, person.parts[f"{part[:2]}{next_}"]] - footage.places[:, body]
    above = footage.turns[:, int(footage.model.body_parentid[body])]
    points = rotations.rotate(rotations.conjugate(above), way / np.linalg.norm(way, axis=1, keepdims=True))
    return np.asarray(np.degrees(np.arccos((points * points[before]).sum(axis=1).clip(-1.0, 1.0))))


def _kind(part: str) -> str:
    bare = part[2:] if part[:2] in ("l_", "r_") else part.rstrip("0123456789")
    return "neck" if bare == "head" else bare


def _angle(one: Floats, other: Floats) -> Floats:
    dots = np.abs((one * other).sum(axis=-1)).clip(0.0, 1.0)
    return np.asarray(np.degrees(2.0 * np.arccos(dots)))


def _excused(footage: Footage, person: Figurant) -> NDArray[np.bool_]:
    """Return in which frames somebody has just been hit, (T,)."""
    found = np.zeros(len(footage.time), bool)
    for moment in impacts(footage, person):
        found |= (footage.time > moment - 0.02) & (footage.time < moment + AFTER_IMPACT + SPAN)
    return found


def speeds(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure how fast hands and feet get, and how much wrists are used."""
    root = footage.velocity(footage.places[:, person.about.root_body])
    for kind in ("hand", "foot"):
        found = []
        for part in (f"l_{kind}", f"r_{kind}"):
            if part in person.parts:
                pace = np.linalg.norm(footage.velocity(footage.places[:, person.parts[part]]) - root, axis=1)
                frame = int(pace.argmax())
                found.append((f"{kind}_speed", float(pace[frame]), float(footage.time[frame]), part))
        if found:
            yield max(found, key=lambda one: one[1])
    # A hand that rests, on an arm nobody uses, says nothing: captured ones turn by a quarter of a degree in a second.
    wrists = []
    for side in "lr" if footage.time[-1] - footage.time[0] >= _SHORTEST else "":
        arm = [f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")]
        if all(part in person.parts for part in arm) and np.ptp(footage.angle_at(person, *arm)) > _STILL:
            seen = footage.joint_turns(person.parts[arm[-1]])
            wrists.append(("wrist_range", float(_angle(seen, seen[len(seen) // 2]).max()), None, arm[-1]))
    if wrists:
        yield min(wrists, key=lambda one: one[1])


def mirror(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure how far knees and elbows are from doing what those of the other side do, now or up to a second later.

    Whoever crouches with both legs alike is its own mirror image at once; a walk made by halves is it half a stride
    later. People are neither.
    """
    moving = [*_moves(footage, person, "knee"), *_moves(footage, person, "elbow")]
    if not moving or footage.time[-1] - footage.time[0] < _SHORTEST:
        return
    least = np.inf
    step = float(np.median(np.diff(footage.time)))
    for shift in range(round(min(_SHIFT, 0.5 * (footage.time[-1] - footage.time[0])) / step) + 1):
        end = len(footage.time) - shift
        for one, other in ((slice(shift, None), slice(0, end)), (slice(0, end), slice(shift, None))):
            least = min(least, float(np.mean([np.abs(left[one] - right[other]).mean() for left, right in moving])))
    yield "mirror_deg", least, None, ""


def _moves(footage: Footage, person: Figurant, joint: str) -> list[tuple[Floats, Floats]]:
    """Return the angles of both knees or elbows [°], where one of them moves."""
    chain = ("thigh", "shank", "foot") if joint == "knee" else ("upper_arm", "forearm", "hand")
    if not all(f"{side}_{part}" in person.parts for side in "lr" for part in chain):
        return []
    both = [footage.angle_at(person, *(f"{side}_{part}" for part in chain)) for side in "lr"]
    return [(both[0], both[1])] if max(float(np.ptp(angle)) for angle in both) > _STILL else []
