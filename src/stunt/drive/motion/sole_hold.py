"""How soles hold the ground through a motion: against sliding, and against turning about the vertical.

Boxes cannot show what a foot stands on. Whoever turns a foot on the ground stands on its ball or heel, whoever does
not stands on all of the sole; the clip tells which by how fast it turns the foot.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from stunt.character.character import Character
from stunt.maths import rotations
from stunt.maths.rotations import Floats

SWING_SPEED: Final = 0.8
"""A toe that the clip moves faster than this over the ground [m/s] may slip.

Another question than whether a foot stands (`stunt.motion.clips.standing`): a sole holds through all of a stand, its
landing and its push-off, which are faster than what counts as standing."""
SWING_FRICTION: Final = 0.05
PIVOT_FRICTION: Final = 0.3
PIVOTS: Final = (4.0, 8.0)
"""A foot that the clip turns about the vertical faster than this begins to slide, and slides [rad/s]."""
TWISTS: Final = (1.0, 3.0)
"""A foot that the clip turns faster than this stands on less than its sole, and on its ball or heel only [rad/s]."""
BALL: Final = 0.25
"""How firmly ball or heel hold against turning, as a share of the whole sole: a pad of radius 2.5 cm, 2/3·0.9·r."""


def friction_of(character: Character, soles: list[int], places: Floats, turns: Floats, fps: float) -> Floats:
    """Return each sole's sliding friction in every frame, (F, soles).

    A foot follows its toe; one that pivots in the clip may pivot.

    Args:
        character: Who.
        soles: Geoms.
        places: Positions of its bodies [m], (F, bodies, 3).
        turns: Their orientations in the world, (F, bodies, 4).
        fps: Frames per second.
    """
    model, first = character.model, character.root_body
    friction = np.zeros((len(places), max(len(soles), 1)))
    for number, geom in enumerate(soles):
        body = int(model.geom_bodyid[geom])
        toes = [b for b in range(body + 1, first + places.shape[1]) if model.body_parentid[b] == body]
        track = places[:, (toes[0] if toes else body) - first, :2]
        pace = np.linalg.norm(np.gradient(track, 1.0 / fps, axis=0), axis=1) if len(track) > 1 else np.zeros(1)
        full = character.grip[geom]
        low = SWING_FRICTION if toes else PIVOT_FRICTION
        pivot = low + _slow(turning(turns[:, body - first], fps), PIVOTS) * (full - low)
        friction[:, number] = np.where(pace > SWING_SPEED, SWING_FRICTION, pivot)
    return friction


def twist_of(character: Character, soles: list[int], turns: Floats, fps: float) -> Floats:
    """Return how firmly each sole holds against turning, as a share of all of it, (F, soles).

    Args:
        character: Who.
        soles: Geoms.
        turns: Orientations of its bodies in the world, (F, bodies, 4).
        fps: Frames per second.
    """
    share = np.ones((len(turns), max(len(soles), 1)))
    for number, geom in enumerate(soles):
        rate = turning(turns[:, int(character.model.geom_bodyid[geom]) - character.root_body], fps)
        share[:, number] = BALL + (1.0 - BALL) * _slow(rate, TWISTS)
    return share


def turning(turns: Floats, fps: float) -> Floats:
    """Return how fast a body turns about the vertical [rad/s], (F,), over a twentieth of a second."""
    reach = max(1, round(fps / 40.0))
    frames = np.arange(len(turns))
    early, late = np.maximum(frames - reach, 0), np.minimum(frames + reach, len(turns) - 1)
    way = rotations.multiply(turns[late], rotations.conjugate(turns[early]))
    angle = 2.0 * np.arctan2(way[:, 3], way[:, 0])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return np.asarray(np.abs(angle) * fps / np.maximum(late - early, 1))


def _slow(rate: Floats, between: tuple[float, float]) -> Floats:
    """Return 1 below the first of two rates, 0 above the second, and in proportion in between."""
    return np.asarray(np.clip((between[1] - rate) / (between[1] - between[0]), 0.0, 1.0))
