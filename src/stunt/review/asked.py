"""What was asked for and did not happen: throws that missed, pushes nobody felt, beats while lying, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from stunt.record.incidents import down, switches_of
from stunt.review.measures.footage import Figurant, Footage

NEAR: Final = 0.05
"""A throw arrives where it passes its aim by no more than this [m]."""
FELT: Final = 0.15
"""A push is felt where it changes the body's momentum along it by this share of its impulse, or somebody takes over."""
LEAST: Final = 5.0
"""Lighter pushes [N·s] are not looked for."""
_WITHIN = 0.5  # [s] in which a push must show


@dataclass(frozen=True)
class Missing:
    """Something that was asked for and did not happen."""

    time: float  #: When it should have [s]
    what: str  #: A sentence


def missing(footage: Footage) -> list[Missing]:
    """Return what was asked for in a take and did not happen, in order of time."""
    found = [*_throws(footage), *_pushes(footage), *_beats(footage), *_refused(footage), *_blows(footage)]
    return sorted(found, key=lambda one: one.time)


def _throws(footage: Footage) -> Iterator[Missing]:
    take = footage.take
    for event in take.events:
        if event.get("kind") != "throw" or "hits_at" not in event:
            continue
        name, due = str(event["prop"]), float(event["hits_at"])
        prop, who = take.cast.props.get(name), str(event["target"]).partition("/")[0]
        if prop is None or due > take.seconds or _touched(footage, prop.body, who, float(event["time"]), due + 0.05):
            continue
        frame = int(np.abs(footage.time - due).argmin())
        near = footage.places[max(frame - 2, 0) : frame + 3, prop.body]
        far = float(np.linalg.norm(_nearest(near, np.asarray(event["aim"], float))))
        if far > NEAR:
            yield Missing(due, f"'{name}' was to meet {event['target']} at {due:.2f} s and passed {far:.2f} m from it")


def _nearest(way: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return the way from a point to the nearest place on a line of places, (3,)."""
    best = way[0] - point
    for one, other in zip(way[:-1], way[1:], strict=True):
        along = other - one
        share = float(np.clip((point - one) @ along / max(float(along @ along), 1e-12), 0.0, 1.0))
        best = min(best, one + share * along - point, key=lambda step: float(np.linalg.norm(step)))
    return np.asarray(best)


def _touched(footage: Footage, body: int, who: str, start: float, end: float) -> bool:
    """Whether a prop touched somebody in a time."""
    take, model = footage.take, footage.model
    person = next((one for one in footage.people if one.name == who), None)
    if person is None or not take.contact_frame.size:
        return False
    bodies = model.geom_bodyid[take.contact_geoms]
    mine, its = np.isin(bodies, list(person.bodies.values())), bodies == body
    when = take.time[take.contact_frame]
    met = (mine[:, 0] & its[:, 1]) | (mine[:, 1] & its[:, 0])
    return bool((met & (when >= start) & (when <= end)).any())


def _pushes(footage: Footage) -> Iterator[Missing]:
    for event in footage.take.events:
        if event.get("kind") != "push":
            continue
        who = str(event.get("target", "")).partition("/")[0]
        person = next((one for one in footage.people if one.name == who), None)
        impulse = np.asarray(event["impulse"], float)
        size, time = float(np.linalg.norm(impulse)), float(event["time"])
        if person is None or size < LEAST or time + _WITHIN > footage.take.seconds:
            continue
        if not _on_data(footage, person, time) or _gained(footage, person, impulse / size, time) > FELT * size:
            continue
        yield Missing(time, f"the push of {size:.3g} N·s on {event['target']} at {time:.2f} s did nothing")


def _on_data(footage: Footage, person: Figurant, time: float) -> bool:
    """Whether data moved somebody all through the time in which a push must show."""
    modes = [(float(event["time"]), str(event.get("mode"))) for event in switches_of(footage.take, person.name)]
    before = [mode for when, mode in modes if when <= time + 1e-9]
    after = [mode for when, mode in modes if time < when <= time + _WITHIN]
    return bool(before) and {before[-1], *after} == {"kinematic"}


def _gained(footage: Footage, person: Figurant, way: np.ndarray, time: float) -> float:
    """Return by how much somebody's momentum along a direction grew after a time [N·s], beyond how it went before."""
    pace = footage.velocity(footage.centres[:, person.about.root_body]) @ way
    before = (footage.time >= time - _WITHIN) & (footage.time <= time)
    after = (footage.time > time) & (footage.time <= time + _WITHIN)
    if not (before.any() and after.any()):
        return np.inf
    return person.about.mass * float(pace[after].max() - pace[before].max())


def _beats(footage: Footage) -> Iterator[Missing]:
    take = footage.take
    for person in footage.people:
        where = person.about.root_qpos
        if where is None:
            continue
        low = down(take, where, take.model().qpos0[where : where + 7])
        for event in take.events:
            if event.get("kind") != "beat" or event.get("character") != person.name:
                continue
            time = float(event["time"])
            if low[int(np.abs(take.time - time).argmin())]:
                pose = event.get("pose") or "a pose"
                yield Missing(time, f"{person.name} was to be in '{pose}' at {time:.2f} s, and lay on the ground")


def _refused(footage: Footage) -> Iterator[Missing]:
    for event in footage.take.events:
        if event.get("kind") == "supervisor" and event.get("event") == "refused":
            yield Missing(float(event["time"]), _sentence(event))


def _blows(footage: Footage) -> Iterator[Missing]:
    """Say which blows that may fell somebody, by the meter of blows, nobody took notice of."""
    events = footage.take.events
    for blow in events:
        if blow.get("kind") != "blow" or not blow["landed"] or float(blow["worth"]) < 1.0:
            continue
        who, time = blow["character"], float(blow["time"])
        if time + _WITHIN > footage.take.seconds:
            continue
        answers = [one for one in events if one.get("kind") in ("supervisor", "reaction")]
        if not any(one["character"] == who and abs(float(one["time"]) - time) < _WITHIN for one in answers):
            what = f"{float(blow['size']):.0f} N·s of {blow['by']}'s {blow['part']} on {who}/{blow['body']}"
            yield Missing(time, f"{what} at {time:.2f} s did nothing")


def _sentence(event: dict[str, Any]) -> str:
    who, what = event.get("character"), event.get("controller")
    return f"{who} was asked for '{what}' at {float(event['time']):.2f} s: {event.get('reason')}"
