"""What a controller sees: its body, who touches it, who else is there. Computed only when asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.layout import own_slices
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.blows import Struck
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import Status


@dataclass(frozen=True)
class Touch:
    """One contact of a character with something that is not itself.

    Attributes:
        body: Which of its bodies, by its own name.
        other: Name of the prop or character; empty for the ground and other scenery.
        position: Where [m], (3,).
        normal: Direction in which the character is pushed, (3,).
        force: Magnitude [N].
    """

    body: str
    other: str
    position: Floats
    normal: Floats
    force: float


@dataclass(frozen=True)
class Thing:
    """Another character's root, or a prop.

    Attributes:
        name: Who or what.
        character: Whether it is a character.
        position: Centre [m], (3,).
        velocity: [m/s], (3,).
        mass: [kg]; infinite for scenery.
        radius: Of a sphere around it [m].
        active: Whether a hit by it counts for the character that looks (see `stunt.supervise.hit_rules`).
    """

    name: str
    character: bool
    position: Floats
    velocity: Floats
    mass: float
    radius: float
    active: bool


@dataclass(frozen=True)
class Ended:
    """Who was in charge before, and how it ended."""

    name: str
    status: Status
    time: float


class Situation:
    """A character's situation at one moment. Hands out copies; reading it changes nothing.

    Attributes:
        stage: The stage, for those who need more than is here.
        character: Whose situation.
        time: The clock [s].
        elapsed: How long the one in charge has been [s].
        hits: Touches by things that count since the last look, oldest first.
        blows: What others' limbs gave it in blows that ended since then.
        request: Name of the controller the user asked for, or empty.
        last: Who was in charge before; None at the start.
        struck: Whether `qvel` is what a blow would leave, of which data is asked whether it can go on from there.
        rng: The character's own randomness (saved and restored with the performance).
    """

    def __init__(
        self,
        stage: StageLoop,
        character: Character,
        *,
        since: float = 0.0,
        hits: tuple[Hit, ...] = (),
        blows: tuple[Struck, ...] = (),
        request: str = "",
        last: Ended | None = None,
        active: Callable[[], frozenset[str] | None] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Take a look.

        Args:
            stage: Where.
            character: Who.
            since: When the one in charge took over [s].
            hits: What touched it since the last look.
            blows: Blows that ended since then.
            request: Whom the user asked for.
            last: Who was in charge before.
            active: Says what counts for it; None: everything does.
            rng: Its randomness.
        """
        self.stage, self.character = stage, character
        self.time, self.elapsed = stage.time, stage.time - since
        self.hits, self.blows, self.request, self.last = hits, blows, request, last
        self._active, self.struck = active, False
        self.rng = rng if rng is not None else stage.rng

    @property
    def kinematic(self) -> bool:
        """Whether data is in charge, not forces."""
        return self._active is not None

    @cached_property
    def active(self) -> frozenset[str] | None:
        """Names of what counts as a hit for the character now; None: everything."""
        return None if self._active is None else self._active()

    # ---- the body

    @cached_property
    def _slices(self) -> tuple[slice, slice]:
        return own_slices(self.character)

    @cached_property
    def qpos(self) -> Floats:
        """Own coordinates: root position and orientation, then the joints, (nq,). As in `Motion.qpos`."""
        return self.stage.data.qpos[self._slices[0]].copy()

    @cached_property
    def qvel(self) -> Floats:
        """Own velocities: root linear (world) and angular (root frame), then the joints, (nv,)."""
        return self.stage.data.qvel[self._slices[1]].copy()

    @property
    def root_position(self) -> Floats:
        """Where the root is [m], (3,)."""
        return self.qpos[:3]

    @property
    def root_quaternion(self) -> Floats:
        """How the root is turned, (4,)."""
        return self.qpos[3:7]

    @property
    def root_velocity(self) -> Floats:
        """[m/s] in the world, (3,)."""
        return self.qvel[:3]

    @cached_property
    def heading(self) -> float:
        """Where it faces, about the vertical [rad]."""
        return float(rotations.heading(self.qpos[3:7]))

    @cached_property
    def tilt(self) -> float:
        """Angle between the root's up axis and the vertical [rad], against the standing pose; 0: upright."""
        first = self._slices[0].start
        w, x, y, z = self.stage.model.qpos0[first + 3 : first + 7].tolist()
        up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))  # the vertical, as it stood
        w, x, y, z = self.stage.data.qpos[first + 3 : first + 7].tolist()
        height = 2.0 * (x * z - w * y) * up[0] + 2.0 * (y * z + w * x) * up[1] + (1.0 - 2.0 * (x * x + y * y)) * up[2]
        return math.acos(min(max(height, -1.0), 1.0))

    def position(self, body: str) -> Floats:
        """Where a body's frame is [m], (3,)."""
        return self.stage.data.xpos[self.character.body(body)].copy()

    def orientation(self, body: str) -> Floats:
        """How a body is turned, (4,)."""
        return self.stage.data.xquat[self.character.body(body)].copy()

    def velocity(self, body: str) -> Floats:
        """Velocity of a body's frame in the world: angular [rad/s], then linear [m/s], (6,)."""
        out = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(self.stage.model, self.stage.data, kind, self.character.body(body), out, 0)
        return out

    @cached_property
    def com(self) -> Floats:
        """Centre of mass [m], (3,)."""
        return self.stage.data.subtree_com[self.character.root_body].copy()

    @cached_property
    def com_velocity(self) -> Floats:
        """Velocity of the centre of mass [m/s], (3,)."""
        mujoco.mj_subtreeVel(self.stage.model, self.stage.data)
        return self.stage.data.subtree_linvel[self.character.root_body].copy()

    # ---- touch

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """All contacts with what is not itself."""
        return tuple(_touches(self.stage, self.character))

    @property
    def pushed(self) -> bool:
        """Whether an event pushes or drags it now."""
        return bool(self.stage.data.xfrc_applied[list(self.character.bodies.values())].any())

    def touching(self, body: str | None = None, other: str | None = None) -> bool:
        """Whether a body (or any) touches a prop (or anything not itself)."""
        return self.stage.watch.touching(self.character.name, body, other)

    def load(self, body: str) -> float:
        """How hard something presses on a body, upward part [N]."""
        return float(sum(t.force * max(0.0, t.normal[2]) for t in self.touches if t.body == body))

    # ---- others

    def things(self) -> Mapping[str, Thing]:
        """All other characters and all movable props, by name."""
        if "_things" not in self.__dict__:
            self.__dict__["_things"] = {t.name: t for t in _things(self)}
        known: Mapping[str, Thing] = self.__dict__["_things"]
        return known

    def others(self) -> Mapping[str, Situation]:
        """The other characters, each as it would see itself."""
        return {
            name: Situation(self.stage, other)
            for name, other in self.stage.built.characters.items()
            if name != self.character.name
        }


def _touches(stage: StageLoop, character: Character) -> list[Touch]:
    found, model, contact = list[Touch](), stage.model, stage.data.contact
    wrench = np.zeros(6)
    own = {body: name for name, body in character.bodies.items()}
    geoms = contact.geom
    for k in range(stage.data.ncon):
        one, two = (int(model.geom_bodyid[g]) for g in geoms[k])
        if (one in own) == (two in own) or contact.dist[k] > 0.0:
            continue
        mujoco.mj_contactForce(model, stage.data, k, wrench)
        sign = 1.0 if two in own else -1.0  # the engine's normal points from the first to the second
        mine, theirs = (two, one) if two in own else (one, two)
        frame = contact.frame[k].reshape(3, 3)
        name = model.body(int(model.body_rootid[theirs])).name.partition("/")[0] if theirs else ""
        size = float(np.linalg.norm(wrench[:3]))
        found.append(Touch(own[mine], name, contact.pos[k].copy(), sign * frame[0], size))
    return found


def _things(now: Situation) -> list[Thing]:
    stage, found = now.stage, list[Thing]()
    for name, character in stage.built.characters.items():
        if name != now.character.name and character.root is not None:
            d, q = character.root.dof, character.root.qpos
            at, speed = stage.data.qpos[q : q + 3].copy(), stage.data.qvel[d : d + 3].copy()
            found.append(Thing(name, True, at, speed, character.mass, 0.5, _counts(now, name)))
    for name, prop in stage.built.props.items():
        if prop.dof >= 0:
            at = stage.data.xipos[prop.body].copy()
            speed = stage.data.qvel[prop.dof : prop.dof + 3].copy()
            geoms = np.flatnonzero(stage.model.geom_bodyid == prop.body)
            size = float(stage.model.geom_rbound[geoms].max(initial=0.0))
            mass = float(stage.model.body_mass[prop.body])
            found.append(Thing(name, False, at, speed, mass, size, _counts(now, name)))
    return found


def _counts(now: Situation, name: str) -> bool:
    return now.active is None or name in now.active
