"""Random scripts, for judging by numbers how well bodies hit their marks.

How a script is drawn, the same way for every body and seed:

- Beats follow each other after 0.25–1 s, uniformly.
- For every beat each hinge or slide picks an angle uniformly inside its limits, sets off for it from where the beat
  before left it, and gets `spread` of the way per second. Every joint moves in every beat, quick beats are smaller than
  slow ones, and all poses lie inside the limits.
- Half of the beats, chosen at random, are passed in motion: each joint has a velocity drawn uniformly up to the
  smaller of 2 rad/s and what would carry it to its nearer limit in a third of a second.
- With `clear`, a pose is drawn anew while the body, on its minimum-jerk path from the beat before, touches itself;
  where 50 draws do not help, the beat before is drawn anew too.

The body hangs by its fixed root, with its feet clear of the ground. The default `spread` makes about seven in ten beats
of `human39` feasible below 0.4 of its strengths; what most often stands in the way is the lumbar spine, which carries
half the body's weight in its bows and swings.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.drive.beats.spec import BeatSpec, Part, Script
from stunt.errors import BodyError, InvalidValueError
from stunt.motion.minimum_jerk import MinimumJerk
from stunt.motion.pose import Pose
from stunt.stage.build import build
from stunt.stage.scene import CharacterSpec, Scene

Floats = NDArray[np.float64]

NAME = "ada"
_SECONDS = (0.25, 1.0)  # between beats
_LEGS = ("hip", "knee", "ankle", "foot", "toe", "subtalar")  # in the names of joints
_TOP_SPEED = 2.0  # [rad/s or m/s]
_BRAKING = 3.0  # [1/s] share of the room to the nearer limit that a velocity may cover in a second
_ROOM = 1.0  # [rad or m] to either side, for a joint without limits
_WHERE = (0.0, 0.0, 0.3)  # [m] high enough for the feet to swing free
_TRIES = 50  # draws of a beat before the one before it is drawn anew
_LOOKS_PER_SECOND = 40


@dataclass(frozen=True)
class _Key:
    """One drawn beat: seconds since the one before, angles and velocities, (n,) each."""

    seconds: float
    angles: Floats
    velocities: Floats


def random_script(
    rng: np.random.Generator,
    body: str = "human39",
    beats: int = 8,
    *,
    spread: float = 0.5,
    clear: bool = True,
    self_collision: bool = True,
    standing: bool = False,
    seconds: tuple[float, float] = _SECONDS,
) -> Script:
    """Draw a script (see the module's text for how).

    Args:
        rng: Where the randomness comes from; the same state gives the same script.
        body: Name of a built-in body, or path of an MJCF file.
        beats: How many.
        spread: How far joints go, as a share of the way to a random angle per second.
        clear: Whether to draw only moves on which the body does not touch itself.
        self_collision: Whether limbs collide in the performance.
        standing: Whether it stands on the ground, its root free, and only arms and trunk are told anything.
        seconds: Least and most between beats [s].
    """
    if beats < 1:
        raise InvalidValueError("beats", beats, "at least 1")
    if not spread > 0:
        raise InvalidValueError("spread", spread, "more than 0")
    character = CharacterSpec(body, at=_WHERE, root="fixed", self_collision=self_collision)
    if standing:
        character = CharacterSpec(body, root="free", self_collision=self_collision)
    drawn = _Drawing(_model_of(body), spread, clear, seconds, arms_and_trunk=standing).beats(rng, beats)
    return Script(scene=Scene({NAME: character}), parts={NAME: Part(beats=drawn)}, title=f"{beats} random beats")


@functools.lru_cache(maxsize=8)
def _model_of(body: str) -> mujoco.MjModel:
    """Return the body alone, limbs colliding. Only read."""
    return build(Scene({NAME: CharacterSpec(body, at=_WHERE)}, ground=False)).model


class _Drawing:
    """Draws the beats of one script on one body."""

    def __init__(
        self, model: mujoco.MjModel, spread: float, clear: bool, seconds: tuple[float, float], *, arms_and_trunk: bool
    ) -> None:
        self._model, self._data, self._seconds = model, mujoco.MjData(model), seconds
        self._joints = [joint for joint in Character(model, NAME).joints.values() if joint.nv == 1]
        if arms_and_trunk:
            self._joints = [joint for joint in self._joints if not any(word in joint.name for word in _LEGS)]
        self._address = np.array([joint.qpos for joint in self._joints])
        neutral = model.qpos0[self._address]
        self._low, self._high = np.array([_room(j, q) for j, q in zip(self._joints, neutral, strict=True)]).T
        self._start = _Key(0.0, neutral, np.zeros(len(self._joints)))
        self._spread, self._clear = spread, clear

    def beats(self, rng: np.random.Generator, count: int) -> tuple[BeatSpec, ...]:
        """Draw that many beats from the neutral pose."""
        moving = rng.permutation(count) < count // 2
        keys = [self._start]
        for _ in range(_TRIES * count):
            if len(keys) > count:
                return tuple(self._spec(index, key) for index, key in enumerate(keys[1:], start=1))
            key = self._after(rng, keys[-1], bool(moving[len(keys) - 1]))
            if key is not None:
                keys.append(key)
            elif len(keys) > 1:
                keys.pop()  # its velocity leads into the body itself: no next beat can help that
        raise BodyError(
            "no random moves were found on which the body does not touch itself; draw them with clear=False."
        )

    def _spec(self, number: int, key: _Key) -> BeatSpec:
        velocities = self._named(key.velocities) if key.velocities.any() else {}
        return BeatSpec(Pose(f"random {number}", self._named(key.angles), velocities), after=key.seconds)

    def _after(self, rng: np.random.Generator, before: _Key, moving: bool) -> _Key | None:
        """Draw the beat that follows another; None where no clear one turns up."""
        seconds = float(rng.uniform(*self._seconds))
        for _ in range(_TRIES):
            goal = rng.uniform(self._low, self._high)
            angles = before.angles + min(1.0, self._spread * seconds) * (goal - before.angles)
            velocities = self._velocities(rng, angles) if moving else np.zeros_like(angles)
            key = _Key(seconds, angles, velocities)
            if not (self._clear and self._touches_itself(before, key)):
                return key
        return None

    def _velocities(self, rng: np.random.Generator, angles: Floats) -> Floats:
        room = np.minimum(angles - self._low, self._high - angles)
        top: Floats = np.minimum(_TOP_SPEED, _BRAKING * room)
        return rng.uniform(-top, top)

    def _touches_itself(self, before: _Key, key: _Key) -> bool:
        path = MinimumJerk.between(0.0, before.angles, before.velocities, key.seconds, key.angles, key.velocities)
        looks = np.linspace(key.seconds, 0.0, int(_LOOKS_PER_SECOND * key.seconds) + 2)[:-1]  # the pose itself first
        return any(self._penetrates(angles) for angles in path.at(looks).position)

    def _penetrates(self, angles: Floats) -> bool:
        self._data.qpos[self._address] = angles
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_collision(self._model, self._data)
        return bool(np.any(self._data.contact.dist < 0.0))

    def _named(self, values: Floats) -> dict[str, float]:
        return {joint.name: float(x) for joint, x in zip(self._joints, values, strict=True)}


def _room(joint: Joint, neutral: float) -> tuple[float, float]:
    return joint.range if joint.range is not None else (neutral - _ROOM, neutral + _ROOM)
