"""What a performance took: what carried the body, what helped it, how strong it was, and what hit it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches
from stunt.record.incidents import assistance, switches_of
from stunt.review.measures.footage import Figurant, Footage

Found = tuple[str, float, float | None, str]
BLOW: Final = 0.3
"""A touch by a prop or another person with this much of one's weight is an impact; by the ground it takes `THUD`."""
THUD: Final = 1.0
_GRAVITY = 9.81
_UPWARD = 0.7  # cosine: what pushes up within 45° carries
_LONG = 1.0  # [s] shorter times by forces are not judged


def touches(footage: Footage, person: Figurant) -> tuple[Floats, Floats, np.ndarray, np.ndarray]:
    """Return a body's contacts with anything else: times [s] (K,), forces on it [N] (K, 3), its geoms, the others'."""
    take = footage.take
    mine = np.isin(take.contact_geoms, np.array(person.geoms, int)) if take.contact_geoms.size else np.zeros((0, 2))
    own = mine[:, 0] != mine[:, 1]  # exactly one of the two is its
    second = mine[own, 1].astype(bool)
    pairs, force = take.contact_geoms[own], take.contact_force[own]
    signed = np.where(second[:, None], force, -force)
    geoms, others = np.where(second, pairs[:, 1], pairs[:, 0]), np.where(second, pairs[:, 0], pairs[:, 1])
    return np.asarray(take.time[take.contact_frame[own]]), signed, geoms, others


def impacts(footage: Footage, person: Figurant) -> list[float]:
    """Return when something hit a body hard, or it hit the ground with more than a foot [s]; pushes count."""
    return [moment for moment, _ in blows(footage, person)]


def blows(footage: Footage, person: Figurant) -> list[tuple[float, float]]:
    """Return when something hit a body hard, and how hard [s], [N]; the ground counts, if met with more than a foot."""
    take, weight = footage.take, person.about.mass * _GRAVITY
    found = [
        (float(event["time"]), float(np.linalg.norm(event["impulse"])) / max(float(event.get("seconds", 0.0)), 1e-3))
        for event in take.events
        if event.get("kind") == "push" and str(event.get("target", "")).partition("/")[0] == person.name
    ]
    if not take.contact_frame.size or weight <= 0.0:
        return sorted(found)
    times, force, geoms, others = touches(footage, person)
    # A hand that lies flat touches at four points: what counts is what all of them give a shape at a moment.
    shapes, where = np.unique(np.stack([times, geoms, others]), axis=1, return_inverse=True)
    whole = np.zeros((shapes.shape[1], 3))
    np.add.at(whole, where.ravel(), force)
    times, geoms, others, size = *shapes, np.linalg.norm(whole, axis=1)
    geoms = geoms.astype(int)
    soles = [person.parts[part] for part in ("l_foot", "r_foot", "l_toe", "r_toe") if part in person.parts]
    sole = np.isin(footage.model.geom_bodyid[geoms], soles) if len(geoms) else np.zeros(0, bool)
    # A crate or a hill that carries a foot is ground to it; one that stops it is not.
    carries = sole & (whole[:, 2] > _UPWARD * size) & np.isin(others, footage.surroundings)
    ground = np.isin(others, [g for g in footage.surroundings if not footage.model.geom_bodyid[g]]) | carries
    hit = np.where(ground, (size > THUD * weight) & ~sole, size > BLOW * weight)
    moments = np.unique(times[hit])
    return sorted([*found, *((float(moment), float(size[hit & (times == moment)].max())) for moment in moments)])


def drags(footage: Footage, person: Figurant) -> list[tuple[float, float]]:
    """Return when somebody is pulled about as if by a hand: from, until [s]."""
    return [
        (float(event["time"]), float(event["until"]))
        for event in footage.take.events
        if event.get("kind") == "drag" and str(event.get("target", "")).partition("/")[0] == person.name
    ]


def _by_forces(footage: Footage, person: Figurant, time: Floats) -> np.ndarray:
    """Whether at times somebody was moved by forces, not by data or by a hand, (K,)."""
    found = np.ones(len(time), bool)
    for event in switches_of(footage.take, person.name):
        found[time >= float(event["time"]) - 1e-9] = event.get("mode") != "kinematic"
    for start, end in drags(footage, person):
        found &= (time < start) | (time > end)
    return found


def _support(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure which share of its weight contacts carried, over the times in which forces moved a body.

    What speeds it up or slows it down from the beginning of such a time to its end is taken off.
    """
    take, mass = footage.take, person.about.mass
    gravity = -float(footage.model.opt.gravity[2])
    if not take.contact_frame.size or mass * gravity <= 0.0:
        return
    noted = np.unique(take.contact_frame)
    # Contacts are noted less often than frames: how often is told by the frames that have any.
    every = float(np.median(np.diff(take.time[noted]))) if len(noted) > 1 else take.seconds
    times, force, _, _ = touches(footage, person)
    pace = footage.velocity(footage.centres[:, person.about.root_body, 2])
    carried = seconds = 0.0
    for first, end in stretches(_by_forces(footage, person, footage.time)):
        start, stop = footage.time[first], footage.time[end - 1]
        if stop - start < _LONG:
            continue
        during = (times > start) & (times <= stop)
        carried += float(force[during, 2].sum()) * every - mass * float(pace[end - 1] - pace[first])
        seconds += stop - start
    if seconds > 0.0:
        yield "support", carried / (mass * gravity * seconds), None, ""


def used(footage: Footage, person: Figurant) -> Iterator[Found]:
    """Measure help, support and strength; of a take in which forces acted on a free body."""
    take, about = footage.take, person.about
    if about.root_qpos is None or take.meta.get("kinematic_preview") or not np.abs(take.torque).any():
        return
    if not footage.hangs(person):
        yield from _support(footage, person)
        help_ = assistance(take, person.number, about, footage.model)
        yield "help_force", float(help_["force_mean"]), None, ""
        yield "help_torque", float(help_["torque_mean"]), None, ""
    frames = 1 + np.flatnonzero((take.time[1:] >= footage.time[0]) & (take.time[1:] <= footage.time[-1]))
    # Whoever is pulled about gives way at full strength.
    frames = frames[_by_forces(footage, person, take.time[frames])]
    shares, names = [], []
    for name, joint in about.joints.items():
        if joint.strength:
            torque = take.torque[frames, joint.dof : joint.dof + joint.width]
            shares.append(np.linalg.norm(torque, axis=1) / joint.strength)
            names.append(name)
    if shares and len(frames):
        whole = np.array(shares)
        joint_, frame = np.unravel_index(int(whole.argmax()), whole.shape)
        yield "strength_used", float(np.quantile(whole, 0.99)), float(take.time[frames[frame]]), names[int(joint_)]
