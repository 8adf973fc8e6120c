"""The programme of a body on its own feet beside a second one, made of the engine's own Jacobians and inertia."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import stunt
from stunt.control.own import layout as w
from stunt.control.own.layout import POSE, ROLL
from stunt.control.own.memory import OwnFeetProgram
from stunt.control.own.programme import spare_roll
from stunt.control.own.recovery import step_pose
from stunt.control.servo.law import RootSpring
from stunt.drive.body.actor import actor_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

G = 9.81


def walking(seconds: float) -> StageLoop:
    """Somebody who walks on its own feet, at a control rate of its own."""
    stage = StageLoop(
        Scene({"a": CharacterSpec("walk", root="free", strength=1.5)}, physics_hz=240.0, control_hz=120.0)
    )
    actor = actor_of(stage, "a", root=RootSpring(kind="own"))
    actor.begin(motion_of_clip(load_clip("walk"), stage.character("a")))
    stage.step(seconds)
    return stage


def standing(seconds: float) -> StageLoop:
    """Somebody with hinges who meets beats on its own feet."""
    moves = {"beats": [{"angles": {"r_shoulder_flexion": 40, "l_elbow_flexion": 30}, "after": 1.0}]}
    data = {"characters": {"ada": {"body": "human39", "root": "free"}}, "performance": {"ada": moves}}
    stage = stunt.Performance(stunt.script_from_data(data), foretell=False).stage
    stage.step(seconds)
    return stage


class Programme:
    """One tick, set up anew: what a choice of accelerations and contact forces costs, and which torques it takes."""

    def __init__(self, stage: StageLoop, seed: int) -> None:
        """Shake the body a little, take the tick, and work it out from the state before it."""
        rng, program = np.random.default_rng(seed), stage.board.companions[OwnFeetProgram]
        self.model, self.who, self.gains = stage.model, program.actors[0], program.gains[0]
        while self.who["wait"] or stage.tick % stage.steps_per_control:
            stage.advance(1)
        stage.data.qvel[:] += rng.normal(0.0, 0.05, stage.model.nv)
        self.data = mujoco.MjData(stage.model)
        self.data.qpos[:], self.data.qvel[:] = stage.data.qpos, stage.data.qvel
        with stage.board.own_springs(stage.model):
            mujoco.mj_forward(stage.model, self.data)
        mujoco.mj_subtreeVel(stage.model, self.data)
        stage.advance(1)
        self.board, self.t, nv = stage.board, program._buffers, int(self.who["nv"])
        self.mass, self.nv = np.zeros((stage.model.nv, stage.model.nv)), nv
        mujoco.mj_fullM(stage.model, self.data, self.mass)
        self.mass, self.bias = (
            self.mass[:nv, :nv],
            (self.data.qfrc_bias - self.data.qfrc_passive - self.t["pushed"])[:nv],
        )
        self.points = int(self.who["points"])
        self.where = self.t["where"][: 3 * self.points].reshape(-1, 3)
        owner = self.t["owner"][: self.points]
        self.feet = owner // w.POINTS
        self.anchor = self.who["anchor"].reshape(-1, 2)[owner]
        self.jacobians = [
            self.moves(p, int(self.who["point_owner"][o])) for p, o in zip(self.where, owner, strict=True)
        ]
        self.size = nv - 6 + w.SIDES * self.points

    def moves(self, point: np.ndarray, body: int, turn: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a point's Jacobian (or its body's, of turning), its velocity, and J̇·v."""
        model, found = self.model, []
        for function in (mujoco.mj_jac, mujoco.mj_jacDot):
            linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            function(model, self.data, linear, angular, np.asarray(point, float), body)
            found.append(angular if turn else linear)
        return found[0][:, : self.nv], found[0] @ self.data.qvel, found[1] @ self.data.qvel

    def unpacked(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all accelerations, the forces at the points, and the joints' torques."""
        joints, who = self.nv - 6, self.who
        grip = float(who["friction"] * self.gains["grip"]) / np.sqrt(2.0)
        edges = np.array([[grip, grip, 1.0], [grip, -grip, 1.0], [-grip, grip, 1.0], [-grip, -grip, 1.0]]) / 2.0
        force = 100.0 / 66.0 * float(who["mass"]) * x[joints:].reshape(-1, 4) @ edges
        push = sum((j[0].T @ f for j, f in zip(self.jacobians, force, strict=True)), np.zeros(self.nv))
        root = np.linalg.solve(self.mass[:6, :6], push[:6] - self.bias[:6] - self.mass[:6, 6:] @ x[:joints])
        whole = np.concatenate([root, x[:joints]])
        return whole, force, (self.mass @ whole + self.bias - push)[6:]

    def cost(self, x: np.ndarray) -> float:
        """Return half the weighted squares of all that is asked for."""
        who, g, t, mass = self.who, self.gains, self.t, float(self.who["mass"])
        a, force, torque = self.unpacked(x)
        total = 1e-7 * x @ x + g["w_force"] * x[self.nv - 6 :] @ x[self.nv - 6 :]
        total += g["w_torque"] * torque @ torque
        total += self._posture(a)
        root = int(who["root_body"])
        com, pace = self.data.subtree_com[root], self.data.subtree_linvel[root]
        middle = t["middle"]
        goal = middle[6:9] + [
            *(g["k_com_p"] * (middle[:2] + who["com_off"] - com[:2])
              + g["k_com_d"] * (middle[3:5] + who["com_pace"] - pace[:2]) + who["com_push"]),
            g["k_height"] ** 2 * (middle[2] - who["drop"] - com[2]) + 2.0 * g["k_height"] * (middle[5] - pace[2]),
        ]  # fmt: skip
        goal[2] = max(goal[2], -0.8 * G) + G
        off = force.sum(axis=0) / mass - goal
        total += g["w_com"] * off[:2] @ off[:2] + g["w_height"] * off[2] ** 2
        spin = np.cross(self.where - com, force).sum(axis=0)
        wanted = middle[12:15] + g["k_momentum"] * (middle[9:12] - self.data.subtree_angmom[root])
        weight = g["w_momentum"] * np.exp(who["inputs"][w.HEED])
        total += weight * (spin - wanted) @ (spin - wanted)
        for (jacobian, speed, drift), place, anchor in zip(self.jacobians, self.where, self.anchor, strict=True):
            hold = -g["k_contact"] * speed - drift
            hold[:2] -= g["k_anchor"] ** 2 * (place[:2] - anchor)
            hold[2] -= g["k_press"] ** 2 * (place[2] - who["floor"] + g["sink"])
            total += g["w_contact"] * ((jacobian @ a - hold) ** 2).sum()
        return float(0.5 * (total + self._shear(force) + self._hovering(a) + self._feet(a)))

    def _posture(self, a: np.ndarray) -> float:
        who, g, t, model, nv = self.who, self.gains, self.t, self.model, self.nv
        error = np.zeros(model.nv)
        goal = self.data.qpos.copy()
        goal[: int(who["nq"])] = t["goal"][: int(who["nq"])]
        mujoco.mj_differentiatePos(model, error, 1.0, self.data.qpos, goal)
        error[3:nv] += t["turned"][3:nv]
        off = t["pace"][:nv] - self.data.qvel[:nv]
        wanted = np.clip(
            t["urge"][6:nv] + g["k_joint"] ** 2 * error[6:nv] + 2.0 * g["k_joint"] * off[6:],
            -g["hardest"],
            g["hardest"],
        )
        name = stunt_names(self.model, who)
        weight = np.array([g["w_leg" if part == "leg" else "w_arm" if part == "arm" else "w_trunk"] for part in name])
        leg = leg_of(self.model, who)
        swings = np.array([foot >= 0 and not who["stance"][foot] for foot in leg])
        weight = np.where(swings, g["w_swing_leg"], weight)
        tasks = t["task_weight"][6:nv]
        weight = np.where(tasks > 0.0, tasks, weight)
        wanted = np.where(tasks > 0.0, np.clip(t["task_urge"][6:nv], -g["hardest"], g["hardest"]), wanted)
        turn = t["urge"][3:6] + g["k_pelvis"] ** 2 * error[3:6] + 2.0 * g["k_pelvis"] * off[3:6]
        return float(weight @ (a[6:] - wanted) ** 2 + g["w_pelvis"] * ((a[3:6] - turn) ** 2).sum())

    def _shear(self, force: np.ndarray) -> float:
        g, unit, total = self.gains, 100.0 / 66.0 * float(self.who["mass"]), 0.0
        for foot in range(2):
            own = self.feet == foot
            if not self.who["stance"][foot] or not own.any():
                continue
            place, crept = self.where[own, :2], self.where[own, :2] - self.anchor[own]
            arm, turn = place - place.mean(axis=0), crept - crept.mean(axis=0)
            turned = cross(arm, turn).sum() / ((arm**2).sum() + 1e-9)
            pull, lever = g["k_pull"] * float(self.who["mass"]), 0.1 * float(self.who["scale"])
            off = force[own, :2].sum(axis=0) / unit - pull * crept.mean(axis=0) / unit
            twist = cross(arm, force[own, :2]).sum() / lever / unit - pull * lever * turned / unit
            total += g["w_shear"] * off @ off + g["w_twist"] * twist**2
        return float(total)

    def _hovering(self, a: np.ndarray) -> float:
        g, total, soles = self.gains, 0.0, self.t["soles"].reshape(-1, 3)
        for p in self.t["hover"][: int(self.who["hovers"])]:
            high = soles[p, 2] - self.who["floor"]
            if high >= g["near"]:
                jacobian, speed, drift = self.moves(soles[p], int(self.who["point_owner"][p]))
                goal = (
                    -(g["k_down"] ** 2) * min(high, 0.06 * self.who["scale"]) - 2.0 * g["k_down"] * speed[2] - drift[2]
                )
                total += g["w_down"] * (jacobian[2] @ a - goal) ** 2
        return float(total)

    def _feet(self, a: np.ndarray) -> float:
        g, total = self.gains, 0.0
        for i in range(2):
            body, pose = int(self.who["foot_body"][i]), self.t["foot"][w.POSE * i : w.POSE * (i + 1)]
            stands = bool(self.who["stance"][i])
            jacobian, speed, drift = self.moves(self.data.xpos[body], body, turn=True)
            away = np.zeros(3)
            back, turn = np.zeros(4), np.zeros(4)
            mujoco.mju_negQuat(back, self.data.xquat[body])
            mujoco.mju_mulQuat(turn, np.ascontiguousarray(pose[3:7]), back)
            mujoco.mju_quat2Vel(away, turn, 1.0)
            goal = g["k_turn"] ** 2 * away + 2.0 * g["k_turn"] * (pose[13:16] - speed) - drift
            weight = g["w_turn"] * (g["stance_turn"] if stands else 1.0)
            total += weight * ((jacobian @ a - goal) ** 2).sum()
            if not stands:
                jacobian, speed, drift = self.moves(self.data.xpos[body], body)
                goal = pose[10:13] + g["k_foot"] ** 2 * (pose[:3] - self.data.xpos[body]) - drift
                goal += 2.0 * g["k_foot"] * (pose[7:10] - speed)
                total += g["w_foot"] * ((jacobian @ a - goal) ** 2).sum()
        return float(total)


def cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]


def leg_of(model: mujoco.MjModel, who: np.void) -> list[int]:
    """Return to which foot's leg each degree of freedom belongs; −1: none."""
    found = []
    for d in range(6, int(who["nv"])):
        body = int(model.dof_bodyid[d])
        found.append(-1)
        for foot in range(2):
            chain, b = [], int(who["foot_body"][foot])
            while b > int(who["root_body"]):
                chain.append(b)
                b = int(model.body_parentid[b])
            below = body
            while below > int(who["root_body"]) and below not in chain:
                below = int(model.body_parentid[below])
            if below in chain and (body in chain or below == chain[0]):
                found[-1] = foot
    return found


def stunt_names(model: mujoco.MjModel, who: np.void) -> list[str]:
    """Return of which part each degree of freedom is."""
    found = []
    for d, foot in zip(range(6, int(who["nv"])), leg_of(model, who), strict=True):
        name = model.body(int(model.dof_bodyid[d])).name.split("/")[-1]
        arm = any(word in name for word in ("arm", "hand", "clavicle", "shoulder", "wrist"))
        found.append("leg" if foot >= 0 else "arm" if arm else "trunk")
    return found


STAGES = [(walking, 0.01), (walking, 0.3), (walking, 0.75), (walking, 1.1), (standing, 0.4)]


@pytest.mark.parametrize(("stage", "seconds"), STAGES)
def test_the_programme_weighs_what_it_says_it_weighs(stage, seconds) -> None:
    """Its quadratic form grows between any two choices by what the weighted squares of all wishes grow."""
    one = Programme(stage(seconds), 3)
    assert one.points > 0
    hessian = one.t["hessian"][: one.size**2].reshape(one.size, one.size)
    linear, rng = one.t["linear_term"][: one.size], np.random.default_rng(0)
    form = lambda x: float(0.5 * x @ hessian @ x + linear @ x)  # noqa: E731
    here = one.t["x"][: one.size].copy()
    assert hessian == pytest.approx(hessian.T)
    for _ in range(12):
        part = rng.random(one.size) < rng.choice([0.1, 1.0])
        there = here + rng.normal(0.0, 3.0, one.size) * part
        expected = one.cost(there) - one.cost(here)
        assert form(there) - form(here) == pytest.approx(expected, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize(("stage", "seconds"), STAGES)
def test_torques_contact_forces_and_accelerations_obey_newton_and_their_limits(stage, seconds) -> None:
    """M·a + h = Jᵀf + τ with nothing on the root; feet push, within their grip; torques within strength."""
    one = Programme(stage(seconds), 5)
    x, nv = one.t["x"][: one.size], one.nv
    _, force, torque = one.unpacked(x)
    own = one.board.law[one.model.dof_jntid[6:nv]] != -1
    assert one.t["tau"][6:nv][own] == pytest.approx(torque[own], rel=1e-5, abs=1e-5)
    assert (x[nv - 6 :] >= -1e-6).all() and force[:, 2].min() >= -1e-6
    grip = float(one.who["friction"] * one.gains["grip"])
    assert (np.hypot(force[:, 0], force[:, 1]) <= grip * force[:, 2] + 1e-6).all()
    assert (np.abs(torque) <= one.board.limit[6:nv] * (1.0 + 1e-6)).all()
    root = int(one.who["root_body"])
    com, pace = one.data.subtree_com[root], one.data.subtree_linvel[root]
    rate = np.sqrt(G / (com[2] - one.who["floor"]))
    assert one.who["capture"] == pytest.approx(com[:2] + pace[:2] / rate)
    still, size = one.unpacked(np.zeros(one.size))[2], one.size
    assert one.t["upper"][size : size + nv - 6] == pytest.approx(one.board.limit[6:nv] - still, rel=1e-6)
    assert one.t["lower"][size : size + nv - 6] == pytest.approx(-one.board.limit[6:nv] - still, rel=1e-6)


def test_joints_come_to_rest_before_their_stops() -> None:
    """A hinge that is let run into its limit by a critically damped brake never reaches it."""
    one = Programme(standing(0.01), 1)
    model, checked = one.model, 0
    for j in range(one.nv - 6):
        joint = int(model.dof_jntid[6 + j])
        low, high = model.jnt_range[joint]
        if low < high:
            q, pace = one.data.qpos[model.jnt_qposadr[joint]], one.data.qvel[6 + j]
            rate, hardest = one.gains["k_stop"], one.gains["hardest"]
            most, least = (rate**2 * (edge - q) - 2.0 * rate * pace for edge in (high - 0.01, low + 0.01))
            assert one.t["upper"][j] == pytest.approx(min(max(most, -hardest), 1e4))
            assert one.t["lower"][j] == pytest.approx(max(min(least, hardest), -1e4))
            checked += 1
    assert checked > 10


def test_a_setting_is_scaled_by_its_unit() -> None:
    """Dynamic similarity under one gravity: every term of the programme is the same share of the others at any size."""
    grown, other = (np.array([w.settings_of(*some)], w.GAINS)[0] for some in ((66.0, 1.0), (66.0 * 0.5**3, 0.5)))
    assert grown.tolist() == pytest.approx(tuple(w.SETTINGS.values()))
    long, mass, time = 0.5, 0.5**3, 0.5**0.5
    for name in ("w_com", "w_height", "w_contact", "w_foot", "w_down", "w_force", "shrink", "grip", "clock_most"):
        assert other[name] == grown[name]
    for name in ("w_arm", "w_trunk", "w_leg", "w_pelvis", "w_turn"):  # of turning: at the end of a length it is a push
        assert other[name] * (1.0 / time**2) ** 2 == pytest.approx(grown[name])
    for name in ("w_torque", "w_momentum"):
        assert other[name] * (mass * long**2 / time**2) ** 2 == pytest.approx(grown[name])
    for name, power in (("k_joint", -1), ("k_com_d", -1), ("k_com_p", -2), ("clock", -1), ("step_ahead", 1)):
        assert other[name] == pytest.approx(grown[name] * time**power)
    for name in ("margin", "off", "near", "clear", "most_shift"):
        assert other[name] == pytest.approx(grown[name] * long)
    named = [name for names in w._UNITS.values() for name in names.split()]
    assert len(set(named)) == len(named) and set(named) <= set(w.SETTINGS)


class Stepping:
    """A foot in a recovery step of 0.5 s."""

    step_length, step_time, scale, halted = np.array([0.5, 0.5]), np.zeros(2), 1.0, 0
    step_from, step_to = np.array([0.0, 0.1, 0.08, 0, 0, 0]), np.array([0.4, 0.2, 0.06, 0, 0, 0])
    step_turn = np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0])


def test_a_recovery_step_goes_from_here_to_there_lifted_at_the_speed_it_says() -> None:
    """Velocity and acceleration are the derivatives of the place, and the step begins and ends at rest."""
    who, places, paces, urges = Stepping(), [], [], []
    pose = getattr(step_pose, "py_func", step_pose)
    times = np.linspace(0.0, 0.475, 400)
    for time in times:
        out = np.zeros(w.POSE)
        who.step_time = np.array([time, 0.0])
        pose(who, 0, out, 0)
        places.append(out[:3].copy())
        paces.append(out[7:10].copy())
        urges.append(out[10:13].copy())
    places, paces, urges = np.array(places), np.array(paces), np.array(urges)
    assert places[0] == pytest.approx(who.step_from[:3]) and places[-1] == pytest.approx(who.step_to[:3], abs=1e-6)
    assert np.gradient(places[:, :2], times, axis=0)[5:-5] == pytest.approx(paces[5:-5, :2], abs=0.02)
    assert np.gradient(paces[:, :2], times, axis=0)[5:-5] == pytest.approx(urges[5:-5, :2], abs=0.3)
    # The lift's own clock is the whole step's, a twentieth longer than the way's.
    assert np.gradient(places[:, 2], times)[5:-5] == pytest.approx(paces[5:-5, 2], abs=0.1)
    assert 0.1 < places[:, 2].max() < 0.16 and np.abs(paces[[0, -1], :2]).max() < 1e-9


def test_a_foot_is_hardly_asked_for_the_turn_that_its_leg_has_no_joint_for() -> None:
    """Of what it is off, its spin and its Jacobians the part about that axis shrinks; across it nothing changes."""
    rng, body = np.random.default_rng(4), 2
    turn = rotations.to_matrix(rotations.from_rotation_vector(np.array([0.3, -0.4, 1.1])))
    own = np.array([0.6, 0.0, 0.8])
    axis = turn @ own
    xmat, foot, scratch = rng.normal(size=27), rng.normal(size=2 * POSE), rng.normal(size=8)
    xmat[9 * body : 9 * body + 9] = turn.ravel()
    angular, dot = rng.normal(size=(3, 9)), rng.normal(size=(3, 9))
    table = SimpleNamespace(xmat=xmat, foot=foot, scratch=scratch, spot=np.zeros(4))
    who = SimpleNamespace(foot_body=[0, body], roll_axis=np.r_[np.zeros(3), own], root_dof=1, nv=7)
    spin = foot[POSE + 13 : POSE + 16]
    before = [np.c_[part].copy() for part in (scratch[:3], spin, angular, dot)]
    getattr(spare_roll, "py_func", spare_roll)(table, who, 1, angular, dot)
    keeps = np.eye(3) - (1.0 - ROLL) * np.outer(axis, axis)
    for part, old in zip((scratch[:3], spin), before[:2], strict=True):
        assert part == pytest.approx((keeps @ old)[:, 0], abs=1e-12)
    for part, old in zip((angular, dot), before[2:], strict=True):
        assert part[:, 1:8] == pytest.approx(keeps @ old[:, 1:8], abs=1e-12)
        assert part[:, [0, 8]] == pytest.approx(old[:, [0, 8]])
