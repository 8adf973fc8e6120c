"""A character as other tools know one: bones in a tree, a rest pose, and where every bone is in every frame.

In the rest pose the character stands at the origin facing +x, arms held away from the body, and every bone's frame is
parallel to the world's: its rotation in a frame is the turn from there. A bone sits where its joint is.

The rest pose of a rig: upright at the origin, facing +x, with arms and legs apart.

Apart, so that a skin knows which limb a point belongs to, and because animators expect it so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from stunt.character.bodies import BUILT_IN
from stunt.character.character import Character
from stunt.errors import ExportError
from stunt.export.sampling import SampledTake
from stunt.maths.rotations import Floats, conjugate, from_rotation_vector, heading, multiply, rotate
from stunt.record.cast import CastMember

_ARM, _LEG = np.radians(48.0), np.radians(7.0)  # From straight down.
_HINGES = {"shoulder_abduction": _ARM, "hip_abduction": _LEG}
_BALLS = (("shoulder", "upper_arm", "forearm", _ARM), ("hip", "thigh", "shank", _LEG))


def rest_pose(model: mujoco.MjModel, character: Character, about: CastMember) -> tuple[Floats, Floats]:
    """Return where all bodies are in the rest pose, seen from where the character was put on the stage.

    Args:
        model: The scene.
        character: Who.
        about: What the take's cast says of it.

    Returns:
        Places [m], (nbody, 3), and turns, (nbody, 4).
    """
    data = mujoco.MjData(model)
    at, facing = about.at, about.facing
    if about.body in BUILT_IN:
        for name, joint in character.joints.items():
            if name[:2] in ("l_", "r_") and name[2:] in _HINGES:
                data.qpos[joint.qpos] = _HINGES[name[2:]]
    elif about.clip is not None:
        _spread(model, data, character, facing)
    mujoco.mj_kinematics(model, data)
    root = data.xpos[character.root_body]
    origin = np.array([root[0], root[1], 0.0]) if at is None else np.asarray(at, float)
    back = from_rotation_vector(np.array([0.0, 0.0, -facing]))
    return rotate(back, data.xpos - origin), multiply(back, data.xquat)


def _spread(model: mujoco.MjModel, data: mujoco.MjData, character: Character, facing: float) -> None:
    """Turn hanging arms and closed legs of a body with ball joints outward, about the axis it faces along."""
    mujoco.mj_kinematics(model, data)
    forward = np.array([np.cos(facing), np.sin(facing), 0.0])
    left = np.array([-np.sin(facing), np.cos(facing), 0.0])
    for side, sign in (("l_", 1.0), ("r_", -1.0)):
        for joint_name, upper, lower, wanted in _BALLS:
            joint = character.joints.get(f"{side}{joint_name}")
            if joint is None or joint.kind != "ball" or f"{side}{lower}" not in character.bodies:
                continue
            body, below = character.bodies[f"{side}{upper}"], character.bodies[f"{side}{lower}"]
            way = data.xpos[below] - data.xpos[body]
            out = float(np.arctan2(sign * (way @ left), -way[2]))  # 0: straight down, π/2: level
            if out < wanted:
                turn = from_rotation_vector(forward * sign * (wanted - out))
                own = np.asarray(data.xquat[body], float)
                data.qpos[joint.qpos : joint.qpos + 4] = multiply(conjugate(own), multiply(turn, own))


GROUND_BONE = "root"


@dataclass(frozen=True, eq=False)
class Rig:
    """A character's bones over time. B bones, parents before children, the first the only root; F frames."""

    character: str  #: Its name
    names: tuple[str, ...]  #: Bone names
    parents: tuple[int, ...]  #: Index of each bone's parent; −1 for the root
    bodies: tuple[int, ...]  #: Body of each bone in the model; −1 for bones that were added
    rest: Floats  #: Where the bones are in the rest pose [m], (B, 3)
    body_rest: Floats  #: Where their bodies are in the rest pose [m], (B, 3)
    body_turn: Floats  #: How their bodies are turned in the rest pose, (B, 4)
    positions: Floats  #: Where the bones are in the world [m], (F, B, 3)
    #: How they are turned from the rest pose, (F, B, 4); of the two signs the one nearer the frame before.
    rotations: Floats

    def offsets(self) -> Floats:
        """Return where each bone is from its parent in the rest pose [m], (B, 3); the root from the origin."""
        result = self.rest.copy()
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                result[bone] -= self.rest[parent]
        return result

    def local(self) -> tuple[Floats, Floats]:
        """Return places [m] (F, B, 3) and turns (F, B, 4) of all bones in their parents' frames."""
        places, turns = self.positions.copy(), self.rotations.copy()
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                back = conjugate(self.rotations[:, parent])
                places[:, bone] = rotate(back, self.positions[:, bone] - self.positions[:, parent])
                turns[:, bone] = multiply(back, self.rotations[:, bone])
        return places, continuous(turns)


def make_rig(motion: SampledTake, about: CastMember) -> Rig:
    """Make a character's rig.

    Args:
        motion: The take at the export's times.
        about: What the take's cast says of it.
    """
    model, name = motion.model, about.name
    character = Character(model, name)
    if not character.bodies:
        raise ExportError(f"the take's model has no bodies of '{name}'.")
    names = sorted(character.bodies, key=lambda body: character.bodies[body])
    bodies = [character.bodies[body] for body in names]
    index = {body: bone for bone, body in enumerate(bodies)}
    parents = tuple(index.get(int(model.body_parentid[body]), -1) for body in bodies)
    anchors = np.array([_anchor(model, body) for body in bodies])
    places, turns = rest_pose(model, character, about)
    places, turns = places[bodies], turns[bodies]
    world = motion.rotations[:, bodies]
    rig = Rig(
        character=name,
        names=tuple(names),
        parents=parents,
        bodies=tuple(bodies),
        rest=places + rotate(turns, anchors),
        body_rest=places,
        body_turn=turns,
        positions=motion.positions[:, bodies] + rotate(world, anchors),
        rotations=continuous(multiply(world, conjugate(turns))),
    )
    return rig if parents.count(-1) == 1 else _with_ground(rig, moving=False)


def in_place(rig: Rig) -> Rig:
    """Return a rig whose root stays over the spot where it began."""
    return replace(rig, positions=rig.positions - travel(rig)[:, None])


def travel(rig: Rig) -> Floats:
    """Return how far over the ground the root has come since the first frame [m], (F, 3)."""
    root = next(bone for bone, body in enumerate(rig.bodies) if body >= 0)
    return np.asarray((rig.positions[:, root] - rig.positions[0, root]) * [1.0, 1.0, 0.0])


def with_root_motion(rig: Rig) -> Rig:
    """Return a rig with a bone on the ground that carries the root's travel and heading."""
    return _with_ground(rig, moving=True)


def _with_ground(rig: Rig, *, moving: bool) -> Rig:
    frames = len(rig.positions)
    place, turn = np.zeros((frames, 1, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1, 1))
    if moving:
        place[:, 0, :2] = rig.positions[:, 0, :2]
        spins = np.zeros((frames, 3))
        spins[:, 2] = np.unwrap(heading(rig.rotations[:, 0]))
        turn[:, 0] = from_rotation_vector(spins)
    name = GROUND_BONE
    while name in rig.names:
        name = f"ground_{name}"
    return replace(
        rig,
        names=(name, *rig.names),
        parents=(-1, *(parent + 1 for parent in rig.parents)),
        bodies=(-1, *rig.bodies),
        rest=np.concatenate([np.zeros((1, 3)), rig.rest]),
        body_rest=np.concatenate([np.zeros((1, 3)), rig.body_rest]),
        body_turn=np.concatenate([[[1.0, 0.0, 0.0, 0.0]], rig.body_turn]),
        positions=np.concatenate([place, rig.positions], axis=1),
        rotations=continuous(np.concatenate([turn, rig.rotations], axis=1)),
    )


def continuous(turns: Floats) -> Floats:
    """Return quaternions (F, …, 4) with signs such that none jumps: the same rotation, smooth to interpolate."""
    if len(turns) < 2:
        return turns
    flips = np.where(np.sum(turns[1:] * turns[:-1], axis=-1) < 0.0, -1.0, 1.0)
    signs = np.concatenate([np.ones_like(flips[:1]), np.cumprod(flips, axis=0)])
    return np.asarray(turns * signs[..., None])


def _anchor(model: mujoco.MjModel, body: int) -> Floats:
    """Return where a body's joint is in its frame [m], (3,); its origin where it has none, or several apart."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    turning = [j for j in range(first, first + count) if model.jnt_type[j] in _TURNING]
    places = model.jnt_pos[turning]
    if not len(places) or np.ptp(places, axis=0).max() > 1e-9:
        return np.zeros(3)
    return np.asarray(places[0].copy())


_TURNING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_BALL)
