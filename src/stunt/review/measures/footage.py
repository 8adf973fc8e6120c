"""A take looked at evenly: where every part of everybody was, sixty times a second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.recognise import guess_parts
from stunt.record.cast import CastMember
from stunt.record.take import Take

FPS: Final = 60.0
"""How often it is looked [1/s]; takes and clips of fewer frames are looked at in each of theirs."""


@dataclass(frozen=True, eq=False)
class Figurant:
    """Somebody in a take, as a reviewer sees them.

    Attributes:
        about: From the cast.
        number: Which of the take's characters.
        bodies: Index of each body by its name, without the character's prefix.
        parts: Index of the body of each part of a person, by the parts' usual names; few of a robot or an animal.
        geoms: Shapes that can touch something.
    """

    about: CastMember
    number: int
    bodies: dict[str, int]
    parts: dict[str, int]
    geoms: tuple[int, ...]

    @property
    def name(self) -> str:
        """As in the cast."""
        return self.about.name

    @property
    def is_person(self) -> bool:
        """Whether there are legs, arms and a head that are known by name."""
        needed = [f"{side}_{part}" for side in "lr" for part in ("thigh", "shank", "foot", "upper_arm", "forearm")]
        return all(part in self.parts for part in (*needed, "head"))


@dataclass(frozen=True, eq=False)
class Footage:
    """Where everything was, T times.

    Attributes:
        take: What is looked at.
        model: Its model.
        frames: Which of the take's frames, (T,).
        time: When [s], (T,).
        places: Of bodies [m], (T, bodies, 3).
        turns: Of bodies in the world, (T, bodies, 4).
        shapes: Where geoms are [m], (T, geoms, 3).
        axes: And how they are turned, (T, geoms, 3, 3).
        centres: Of the mass of each body with all that hangs on it [m], (T, bodies, 3).
    """

    take: Take
    model: mujoco.MjModel
    frames: NDArray[np.intp]
    time: Floats
    places: Floats
    turns: Floats
    shapes: Floats
    axes: Floats
    centres: Floats

    @staticmethod
    def of(take: Take) -> Footage:
        """Look at a take."""
        model, frames = take.model(), _evenly(take.time)
        data, count = mujoco.MjData(model), len(frames)
        places, turns = np.zeros((count, model.nbody, 3)), np.zeros((count, model.nbody, 4))
        shapes, axes = np.zeros((count, model.ngeom, 3)), np.zeros((count, model.ngeom, 9))
        centres = np.zeros((count, model.nbody, 3))
        for k, frame in enumerate(frames):
            data.qpos[:] = take.qpos[frame]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            places[k], turns[k], shapes[k], axes[k] = data.xpos, data.xquat, data.geom_xpos, data.geom_xmat
            centres[k] = data.subtree_com
        whole = axes.reshape(count, model.ngeom, 3, 3)
        return Footage(take, model, frames, take.time[frames], places, turns, shapes, whole, centres)

    @cached_property
    def people(self) -> list[Figurant]:
        """Everybody in it."""
        return [self._figurant(number, about) for number, about in enumerate(self.take.cast.characters.values())]

    def _figurant(self, number: int, about: CastMember) -> Figurant:
        names = [self.model.body(body).name for body in range(self.model.nbody)]
        bodies = {
            name.removeprefix(f"{about.name}/"): body
            for body, name in enumerate(names)
            if name.startswith(f"{about.name}/")
        }
        order = sorted(bodies.values())
        by_number = {body: name for name, body in bodies.items()}
        place = {body: k for k, body in enumerate(order)}
        parents = [place.get(int(self.model.body_parentid[body]), -1) for body in order]
        guessed = guess_parts([by_number[body] for body in order], parents)
        return Figurant(
            about, number, bodies, {part: order[k] for part, k in guessed.items()}, self.solid(set(bodies.values()))
        )

    def solid(self, bodies: set[int]) -> tuple[int, ...]:
        """Return the shapes of bodies that can touch something."""
        model = self.model
        touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        return tuple(geom for geom in range(model.ngeom) if touches[geom] and int(model.geom_bodyid[geom]) in bodies)

    @cached_property
    def surroundings(self) -> tuple[int, ...]:
        """Shapes of the ground, scenery and props: of whatever is nobody's and in nobody's hand."""
        mine = {body for person in self.people for body in person.bodies.values()}
        held = {event.get("prop") for event in self.take.events if event.get("kind") == "attach"}
        mine |= {prop.body for name, prop in self.take.cast.props.items() if name in held}
        return self.solid(set(range(self.model.nbody)) - mine)

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """Of the surroundings, what does not move."""
        return tuple(g for g in self.surroundings if not self.model.body_weldid[self.model.geom_bodyid[g]])

    def between(self, start: float, end: float) -> Footage:
        """Return what is seen from a time until another [s]."""
        there = (self.time >= start) & (self.time <= end)
        names = ("frames", "time", "places", "turns", "shapes", "axes", "centres")
        return replace(self, **{name: getattr(self, name)[there] for name in names})

    def back(self, frame: int, seconds: float) -> int:
        """Return the frame so long before one, or the first."""
        return int(np.searchsorted(self.time, self.time[frame] - seconds - 1e-6))

    def joint_turns(self, body: int) -> Floats:
        """Return how a body is turned from the one it hangs on, (T, 4)."""
        above = int(self.model.body_parentid[body])
        return np.asarray(rotations.multiply(rotations.conjugate(self.turns[:, above]), self.turns[:, body]))

    def velocity(self, way: Floats) -> Floats:
        """Return how fast a point moves [m/s], (T, …), from where it is."""
        if len(self.time) < 2:
            return np.zeros_like(way)
        return np.asarray(np.gradient(way, self.time, axis=0))

    def angle_at(self, person: Figurant, first: str, middle: str, last: str) -> Floats:
        """Return the angle by which a limb is bent at its middle joint [°], (T,): 0 is straight."""
        a, b, c = (self.places[:, person.parts[part]] for part in (first, middle, last))
        one, other = b - a, c - b
        sine, cosine = np.linalg.norm(np.cross(one, other), axis=1), (one * other).sum(axis=1)
        return np.asarray(np.degrees(np.arctan2(sine, cosine)))

    def hangs(self, person: Figurant) -> bool:
        """Whether somebody hangs on a meat-hook, as was asked: that carries them, as its base carries a fixed root."""
        return bool(self.take.meta.get("tracking", {}).get(person.name, {}).get("assist") == "hook")

    def tilt(self, person: Figurant) -> Floats:
        """Return how far the trunk is from upright [°], (T,): from between the hips to between the shoulders."""
        hips = np.mean([self.places[:, person.parts[f"{side}_thigh"]] for side in "lr"], axis=0)
        shoulders = np.mean([self.places[:, person.parts[f"{side}_upper_arm"]] for side in "lr"], axis=0)
        way = shoulders - hips
        return np.asarray(np.degrees(np.arctan2(np.linalg.norm(way[:, :2], axis=1), way[:, 2])))


def _evenly(time: Floats) -> NDArray[np.intp]:
    """Choose a take's frames: about `FPS` a second, all where there are fewer."""
    if len(time) < 3:
        return np.arange(len(time))
    period = float(np.median(np.diff(time)))
    if period > 0.75 / FPS:
        return np.arange(len(time))
    due = np.arange(time[0], time[-1] + 0.5 * period, 1.0 / FPS)
    return np.unique(np.clip(np.searchsorted(time, due - 0.5 * period), 0, len(time) - 1))
