"""No spring gives more than its joint has, whatever happens within a step."""

import mujoco
import numpy as np
import pytest

from stunt.control.core.board import COUPLINGS, IMPEDANCE
from stunt.drive.beats.performer import Performer
from stunt.examples import example, example_names
from stunt.motion.pose import Pose
from stunt.record.proof.replay import Replay
from stunt.script.file import load_script, script_from_data
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

QUICK = ("marker_arm", "desk", "bow", "crouch", "lift", "nod_sag_shrug", "stuck_arm", "waist_jumps", "ymca")


AT_ATTENTION = [
    *("neck_flexion", "neck_bend", "neck_rotation", "lumbar_flexion", "lumbar_bend", "lumbar_rotation"),
    *("thorax_flexion", "hip_flexion", "hip_abduction", "hip_rotation", "knee_flexion", "ankle_flexion"),
]


def struck_down():
    """A body held at attention by stiff springs, its arms slack, that a heavy ball knocks onto its back at 120 Hz."""
    sided = [f"{side}_{name}" for name in AT_ATTENTION[7:] for side in "lr"]
    held = dict.fromkeys([*AT_ATTENTION[:7], *sided], 0) | {"neck_flexion": 20}
    return script_from_data({
        "rate": 120, "seconds": 2.5, "collisions": {"model": "two_stage", "restitution": 0, "softness": 0.05},
        "characters": {"soldier": {"body": "human39", "root": "free"}},
        "props": {"ball": {"shape": "sphere", "radius": 0.12, "mass": 12, "at": [2.5, 0, 1.4]}},
        "performance": {"soldier": {"trajectories": {"settling": 0.15, "joints": held}}},
        "events": [{"throw": "ball", "target": "soldier/thorax", "at": 0, "hits_at": 0.3}],
    })  # fmt: skip


def stage_of(body="human39", hz=480.0, control=None, **spec):
    cast = {"ada": CharacterSpec(body, self_collision=False, **spec)}
    return StageLoop(Scene(characters=cast, physics_hz=hz, control_hz=control or hz))


def struck(body, joint, hand, hz, control=None):
    """Hold one joint by a stiff spring and strike the limb for one step; yield the stage at every step."""
    stage = stage_of(body, hz, control, root="fixed", at=(0, 0, 0.5))
    board, about = stage.board, stage.character("ada").joints[joint]
    board.law[about.id], board.feed_bias[about.id] = IMPEDANCE, 0
    stage.data.qpos[about.qpos] = board.rest[about.qpos] = 1.0  # off its end stops
    board.stiffness[about.dof], board.damping[about.dof] = 4000.0, 400.0
    limb = mujoco.mj_name2id(stage.model, mujoco.mjtObj.mjOBJ_BODY, f"ada/{hand}")
    for step in range(12):
        stage.data.xfrc_applied[limb, :3] = (0.0, -40.0 * hz, 30.0 * hz) if step == 4 else 0.0
        yield stage, about


def inverse_torque(stage, before, about):
    """Return what must have acted in a joint during the step just taken, from the motion alone [N·m]."""
    model, data = stage.model, mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = before
    mujoco.mj_forward(model, data)
    force, gained = np.zeros(model.nv), (stage.data.qvel - before[1]) / model.opt.timestep
    mujoco.mj_mulM(model, data, force, gained)
    for body in np.flatnonzero(stage.data.xfrc_applied.any(axis=1)):
        push = np.zeros(model.nv)
        mujoco.mj_applyFT(
            model, data, stage.data.xfrc_applied[body, :3], np.zeros(3), data.xipos[body], int(body), push
        )
        force -= push
    own = stage.board.own_damping[about.dof] * stage.data.qvel[about.dof]
    return force[about.dof] + data.qfrc_bias[about.dof] + own


@pytest.mark.parametrize("control", [120.0, 480.0])
def test_a_struck_spring_gives_its_strength_and_is_a_spring_again_when_it_is_less(control):
    shares, last = [], None
    for stage, about in struck("human39", "r_elbow_flexion", "r_hand", 480.0, control):
        before = stage.data.qpos.copy(), stage.data.qvel.copy()
        stage.advance(1)
        torque = stage.board.torque[about.dof]
        assert torque == pytest.approx(inverse_torque(stage, before, about), rel=1e-3, abs=0.02)
        shares.append(float(abs(torque) / about.strength))
        last = stage
    assert max(shares) <= 1.0011 and shares[4] == pytest.approx(1.0, abs=1e-3)
    assert last.board.peak_share[about.id] == pytest.approx(max(shares))
    assert last.model.jnt_stiffness[about.id] == pytest.approx(4000.0 * last.board.scale[about.dof])


def test_couplings_that_are_springs_stay_inside_strength_through_a_fall_at_120_hz():
    rng = np.random.default_rng(4)
    for coupling in COUPLINGS:
        stage = stage_of(hz=120.0, root="free", at=(0, 0, 0.4))
        performer = Performer(stage, "ada", coupling=coupling)
        joints = stage.characters["ada"].joints.items()
        for beat in range(3):
            goal = {name: 0.6 * rng.uniform(*joint.range) for name, joint in joints}
            performer.key(Pose("any", goal), at=0.4 * (beat + 1))
        stage.step(1.5)
        assert 0.9 < stage.strength_of("ada")["peak_share"] <= 1.0011, coupling


@pytest.mark.parametrize("name", QUICK)
def test_an_example_on_springs_stays_inside_strength(name):
    used = Performance(load_script(example(name).path), foretell=False).run().report()["characters"].values()
    assert all(one["strength"]["peak_share"] <= 1.0011 for one in used)


def test_springs_stay_inside_strength_in_a_fall_onto_the_back():
    assert 0.999 < Performance(struck_down(), foretell=False).run().report()["characters"]["soldier"]["strength"][
        "peak_share"
    ] <= 1.0011  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(example_names()) - set(QUICK)))
def test_every_example_stays_inside_strength(name):
    used = Performance(load_script(example(name).path), foretell=False).run().report()["characters"].values()
    assert all(one["strength"]["peak_share"] <= 1.05 for one in used)


def test_steps_taken_again_are_in_the_ledger_bit_for_bit():
    performance = Performance(struck_down(), foretell=False, certify=True)
    performance.stage.advance(performance.stage.tick_of(1.2))
    replay = Replay(performance.take().ledger)
    assert all(number >= 0 for number in replay.steps())
    assert replay.differs == -1 and performance.stage.strength_of("soldier")["peak_share"] > 0.999
