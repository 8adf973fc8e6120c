"""How thick people are, and what of them may be in what."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from body_helpers import posed, touching

from stunt.character.bodies import BUILT_IN, make_body
from stunt.character.contacts import write_excludes
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

# Gordon et al. 1989 (1988 survey of the US Army), means [m]: 1,774 men of 1.756 m and 78.5 kg, 2,208 women of 1.629 m
# and 62.0 kg. Arms: flexed, at their thickest.
PUBLISHED = {
    "male": {"chest": 0.991, "waist": 0.862, "hips": 0.984, "thigh": 0.597, "shank": 0.378, "upper_arm": 0.338,
             "forearm": 0.303, "neck": 0.380, "head": 0.568},
    "female": {"chest": 0.907, "waist": 0.792, "hips": 0.966, "thigh": 0.580, "shank": 0.357, "upper_arm": 0.281,
               "forearm": 0.258, "neck": 0.318, "head": 0.546},
}  # fmt: skip
BUILD = {"male": (1.756, 78.5), "female": (1.629, 62.0)}
OURS = {"male": (1.741, 73.0), "female": (1.735, 61.9)}
TRUNK = {"chest": ("thorax", "spine2"), "waist": ("lumbar", "waist"), "hips": ("pelvis",)}
MOST = 45
"""So many of 231 pairs of parts may be left out: joined ones, and the few that cannot but touch."""


def published(sex: str, what: str) -> float:
    """Return a girth as a person of ours would have it [m]: it grows with √(mass / height)."""
    ours, theirs = (math.sqrt(kg / tall) for tall, kg in (OURS[sex], BUILD[sex]))
    return PUBLISHED[sex][what] * (1.0 if what == "head" else ours / theirs)


def girth(
    model: mujoco.MjModel, data: mujoco.MjData, bodies: tuple[str, ...], along: np.ndarray, halfway=None
) -> float:
    """Return the largest girth of parts across a direction, or that halfway [m]: that of the hull of what is cut."""
    geoms = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name in bodies and model.geom_contype[g]]
    along = along / np.linalg.norm(along)
    side = np.cross(along, [1.0, 0.0, 0.0] if abs(along[0]) < 0.7 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    angles = np.linspace(0.0, 2.0 * math.pi, 240, endpoint=False)
    ways = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(along, side)
    if halfway is not None:
        heights = np.array([halfway @ along])
    else:
        heights = np.concatenate([data.geom_xpos[g] @ along + np.linspace(-0.05, 0.05, 11) for g in geoms])
    most = 0.0
    for height in heights:
        cuts = np.array([[width(model, data, g, along, height, way) for way in ways] for g in geoms])
        reach = cuts.max(axis=0)
        if np.isfinite(reach).all():
            most = max(most, float(reach.mean() * 2.0 * math.pi))  # Cauchy: the mean width times π is a hull's girth
    return most


def width(model: mujoco.MjModel, data: mujoco.MjData, geom: int, along: np.ndarray, height: float, way) -> float:
    """Return how far a cut through an ellipsoid or a capsule reaches in a direction [m]; −∞: it is not cut."""
    turn, size = data.geom_xmat[geom].reshape(3, 3), model.geom_size[geom]
    away = height - float(data.geom_xpos[geom] @ along)
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        cut = turn @ np.diag(size**2) @ turn.T
        own, cross = float(along @ cut @ along), float(way @ cut @ along)
        if away**2 >= own:
            return -math.inf
        middle = data.geom_xpos[geom] @ way + cross / own * away
        return float(middle + math.sqrt((1.0 - away**2 / own) * (float(way @ cut @ way) - cross**2 / own)))
    axis = turn[:, 2]
    best = -math.inf
    for point in np.linspace(-size[1], size[1], 41):
        left = size[0] ** 2 - (away - point * float(axis @ along)) ** 2
        if left > 0.0:
            best = max(best, float((data.geom_xpos[geom] + point * axis) @ way) + math.sqrt(left))
    return best


def rest_of(body: str) -> tuple[mujoco.MjModel, mujoco.MjData, dict[str, str]]:
    """Return a body in its neutral stance, and its parts' names in the scene by their own."""
    if body in BUILT_IN:
        model, data = posed(make_body(body))
    else:
        stage = StageLoop(Scene({"a": CharacterSpec(body, root="free")}, {}, physics_hz=120.0, control_hz=120.0))
        model, data = stage.model, mujoco.MjData(stage.model)
        mujoco.mj_forward(model, data)
    names = (model.body(number).name for number in range(1, model.nbody))
    return model, data, {name.rpartition("/")[2]: name for name in names}


LIMBS = {"thigh": "shank", "shank": "foot", "upper_arm": "forearm", "forearm": "hand"}


@pytest.mark.parametrize("what", PUBLISHED["male"])
@pytest.mark.parametrize(("body", "sex"), [("human39", "male"), ("human39", "female"), ("idle", "male")])
def test_girths_are_within_15_percent_of_published_ones(body: str, sex: str, what: str) -> None:
    if body == "idle":
        model, data, names = rest_of(body)
        tall = float(data.geom_xpos[:, 2].max())
        assert tall > 1.5
        scale = OURS["male"][0] / 1.777
    else:
        model, data = posed(make_body(body, sex=sex))
        names, scale = {model.body(number).name: model.body(number).name for number in range(1, model.nbody)}, 1.0
    if what in TRUNK:
        bodies, along = tuple(names[name] for name in TRUNK[what] if name in names), np.array([0.0, 0.0, 1.0])
    elif what in LIMBS:
        bodies = (names[f"l_{what}"],)
        along = data.body(names[f"l_{LIMBS[what]}"]).xpos - data.body(bodies[0]).xpos
    else:
        bodies, along = (names[what],), np.array([0.0, 0.0, 1.0])
    # Arms are measured over the biceps, not over the shoulder.
    halfway = data.body(bodies[0]).xpos + 0.5 * along if what == "upper_arm" else None
    found = scale * girth(model, data, bodies, along, halfway)
    assert found == pytest.approx(published(sex, what), rel=0.15)


@pytest.mark.parametrize("body", ["human39", "human47", "idle", "walk"])
def test_few_pairs_are_left_out_of_self_collision(body: str) -> None:
    model, _, names = rest_of(body)
    assert len(names) >= 20 and len(names) - 1 <= model.nexclude <= MOST


def test_a_neck_of_two_bones_bends_onto_the_trunk_and_toes_towards_the_shank() -> None:
    chain = {"pelvis": "world", "spine": "pelvis", "thorax": "spine", "neck": "thorax", "neck2": "neck",
             "l_clavicle": "thorax", "l_thigh": "pelvis", "l_shank": "l_thigh", "l_foot": "l_shank", "l_toe": "l_foot",
             "r_toe": "pelvis"}  # fmt: skip
    spec, bodies = mujoco.MjSpec(), {}
    bodies["world"] = spec.worldbody
    for number, (name, parent) in enumerate(chain.items()):
        bodies[name] = bodies[parent].add_body(name=name, pos=[0.0, 0.3 * number, 0.0])
        bodies[name].add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.01, 0.0, 0.0])
        bodies[name].add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL)
    write_excludes(spec)
    left_out = {frozenset((exclude.bodyname1, exclude.bodyname2)) for exclude in spec.excludes}
    never = (("neck2", "thorax"), ("neck2", "spine"), ("neck2", "l_clavicle"), ("l_toe", "l_shank"))
    assert {frozenset(pair) for pair in never} <= left_out
    touching = (("r_toe", "l_shank"), ("l_toe", "l_thigh"), ("l_toe", "r_toe"), ("neck2", "l_thigh"))
    assert not {frozenset(pair) for pair in touching} & left_out


@pytest.mark.parametrize("body", BUILT_IN)
def test_arms_of_the_built_in_people_hang_free(body: str) -> None:
    model, data = posed(make_body(body))
    assert touching(model, data) == set()


def test_arms_of_a_clips_own_body_hang_free() -> None:
    model, data, _ = rest_of("idle")
    assert not [c for c in data.contact if model.geom_bodyid[c.geom1] and model.geom_bodyid[c.geom2]]


@pytest.mark.parametrize("sunk", [0.0, 15.0, 25.0])
def test_a_shoulder_that_sinks_under_a_load_does_not_wedge_the_raised_arm_off_the_ribs(sunk: float) -> None:
    model, data, names = rest_of("cartwheel")
    for side, out in (("l", 1.0), ("r", -1.0)):
        raised = [math.cos(math.radians(75.0)), out * math.sin(math.radians(75.0)), 0.0, 0.0]  # by 150°
        low = [math.cos(math.radians(sunk / 2)), -out * math.sin(math.radians(sunk / 2)), 0.0, 0.0]
        for bone, turn in (("upper_arm", raised), ("clavicle", low)):
            at = model.jnt_qposadr[model.body(names[f"{side}_{bone}"]).jntadr[0]]
            data.qpos[at : at + 4] = turn
    mujoco.mj_forward(model, data)
    assert data.body(names["l_hand"]).xpos[2] > data.body(names["head"]).xpos[2]
    ribs = {names[name] for name in ("thorax", "spine2", "lumbar")}
    arms = {names[f"{side}_upper_arm"] for side in "lr"}
    pairs = ([model.body(int(model.geom_bodyid[geom])).name for geom in c.geom] for c in data.contact)
    assert not [pair for pair in pairs if ribs & set(pair) and arms & set(pair)]
