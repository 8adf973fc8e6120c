"""A motion as a body on its own feet follows it, and what had to be changed for that; kept on the disk by content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

from stunt.archives import ArrayCache, user_cache
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.playing import NOWHERE, Place
from stunt.drive.own.centroidal import CentroidalPlan
from stunt.errors import NONSENSE
from stunt.maths import rotations
from stunt.maths.rotations import Floats

KEPT: Final = 200
"""How many references are kept on the disk."""


@dataclass(frozen=True)
class ReferenceNotes:
    """What was changed, and whether the result can be done.

    Attributes:
        pose_deg: Mean change of a bone's orientation, without the feet [°].
        feet_deg: Of the feet [°].
        com_m: Mean change of the centre of mass along the ground [m].
        outside_m: How far the zero-moment point was outside the support, and is: 95 % of the frames [m].
        flight: Share of the frames in which nothing touches the ground.
        stands: Share of the frames in which a foot stands.
        why: What speaks against it; empty: nothing.
    """

    pose_deg: float
    feet_deg: float
    com_m: float
    outside_m: tuple[float, float]
    flight: float
    stands: float
    why: str = ""

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.why


@dataclass(frozen=True, eq=False)
class Reference:
    """A motion as a body on its own feet follows it.

    Attributes:
        motion: The poses it should have.
        velocity: [m/s, rad/s], (F, nv).
        acceleration: (F, nv).
        plan: What its whole body does.
        places: Of its feet [m], (F, 2, 3).
        turns: Likewise, (F, 2, 4).
        stands: Whether each foot stands, (F, 2).
        carries: Which of their points carry, (F, 2, points).
        notes: What was changed.
    """

    motion: BodyMotion
    velocity: Floats
    acceleration: Floats
    plan: CentroidalPlan
    places: Floats
    turns: Floats
    stands: NDArray[np.bool_]
    carries: NDArray[np.bool_]
    notes: ReferenceNotes

    def moved(self, at: Place, height: float = 0.0) -> Reference:
        """Return it moved over the ground: by x and y [m], turned about the vertical [rad], and raised [m]."""
        if at == NOWHERE and height == 0.0:
            return self
        turn = rotations.from_rotation_vector(np.array([0.0, 0.0, at[2]]))
        by = np.array([at[0], at[1], height])

        def place(points: Floats) -> Floats:
            return np.asarray(rotations.rotate(turn, points) + by)

        def way(vectors: Floats) -> Floats:
            return np.asarray(rotations.rotate(turn, vectors))

        plan, qpos = self.plan, self.motion.qpos.copy()
        qpos[:, :3], qpos[:, 3:7] = place(qpos[:, :3]), rotations.multiply(turn, qpos[:, 3:7])
        velocity, acceleration = self.velocity.copy(), self.acceleration.copy()
        velocity[:, :3], acceleration[:, :3] = way(velocity[:, :3]), way(acceleration[:, :3])
        flat = np.column_stack([plan.zmp, np.zeros(len(plan.zmp))])
        plan = replace(
            plan, com=place(plan.com), velocity=way(plan.velocity), acceleration=way(plan.acceleration),
            momentum=way(plan.momentum), moment=way(plan.moment), zmp=place(flat)[:, :2], lean=way(plan.lean),
        )  # fmt: skip
        return replace(
            self, motion=replace(self.motion, qpos=qpos), velocity=velocity, acceleration=acceleration, plan=plan,
            places=place(self.places), turns=rotations.multiply(turn, self.turns),
        )  # fmt: skip


def kept(key: str, make: Callable[[], Reference]) -> Reference:
    """Return the reference that is kept on the disk by a digest, made if there is none."""
    cache = ArrayCache(user_cache("own_feet"), KEPT)
    if (arrays := cache.load(key)) is not None:
        try:
            return cast(Reference, _rebuilt(Reference, arrays))
        except NONSENSE:  # made again, as if there were none
            pass
    made = make()
    cache.keep(key, dict(_packed(made)))
    return made


def _packed(value: Any, prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield the fields of a dataclass by name, as arrays; those of dataclasses in it behind a dot."""
    for field in fields(value):
        name, found = prefix + field.name, getattr(value, field.name)
        if is_dataclass(found):
            yield from _packed(found, f"{name}.")
        else:
            yield name, found if isinstance(found, np.ndarray) else np.array(json.dumps(found))


def _rebuilt(cls: type, arrays: dict[str, np.ndarray], prefix: str = "") -> Any:
    """Return a dataclass of packed fields."""
    values, kinds = dict[str, Any](), get_type_hints(cls)
    for field in fields(cls):
        name = prefix + field.name
        if is_dataclass(kinds[field.name]):
            values[field.name] = _rebuilt(kinds[field.name], arrays, f"{name}.")
        elif (found := arrays[name]).dtype.kind == "U":
            plain = json.loads(str(found))
            values[field.name] = tuple(plain) if isinstance(plain, list) else plain
        else:
            values[field.name] = found
    return cls(**values)
