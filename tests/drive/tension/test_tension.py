"""Bars of tension and relaxation, on the stage."""

import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stunt
from stunt.cli.main import main
from stunt.control.tension.memory import MARGIN
from stunt.control.tension.units import Tension
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import ByJoint, Span, TensionPart
from stunt.drive.tension.stability import unstable_joints
from stunt.drive.tension.warnings import foresee
from stunt.examples import example
from stunt.motion.transition import PRESETS
from stunt.script.preview import Preview
from stunt.stage.scene import Scene

DRAGON = str(Path(__file__).parents[2] / "character" / "models" / "dragon.xml")
LIMB = """<mujoco model="limb"><compiler angle="radian"/><worldbody><body name="base" pos="0 0 1">
<geom size=".02" contype="0" conaffinity="0"/><body name="limb">
<joint name="hinge" axis="0 -1 0" range="-2.6 2.6" limited="true"/>
<inertial pos=".3 0 0" mass="5" diaginertia=".002 .15 .15"/>
<geom type="capsule" fromto="0 0 0 .6 0 0" size=".03" mass="0" contype="0" conaffinity="0"/>
</body></body></worldbody></mujoco>"""
WEIGHT = 5.0 * 9.81 * 0.3  # N·m held horizontal


@pytest.fixture(scope="module")
def limb(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("limb") / "limb.xml"
    path.write_text(LIMB)
    return str(path)


def _limb_stage(limb: str, start: float = 0.0) -> stunt.Stage:
    character = stunt.CharacterSpec(body=limb, start={"hinge": math.radians(start)})
    return stunt.Stage(Scene(characters={"limb": character}, ground=False))


def _play(limb: str, start: float, end: float, seconds: float, **options: object) -> np.ndarray:
    """Return the limb's angle [deg] at 240 Hz, through a transition of 1 s and after."""
    stage = _limb_stage(limb, start)
    first = options.pop("first", options["tension"])
    performer = TensionPerformer(stage, "limb", TensionPart(tension=ByJoint({"all": first})))  # type: ignore[dict-item]
    performer.play(stunt.Pose.degrees("end", hinge=end), lasts=1.0, **options)  # type: ignore[arg-type]
    angles = []
    for _ in range(round(seconds * 240)):
        angles.append(math.degrees(stage.data.qpos[0]))
        stage.step(1 / 240)
    return np.array(angles)


def test_a_limb_held_horizontal_rests_where_asked_at_any_tension_and_plain_pd_sags(limb: str) -> None:
    least = WEIGHT / (2.6 + MARGIN)
    for tension in (least, 1.5 * least, 30.0, 281.0, 2000.0):
        stage = _limb_stage(limb)
        performer = TensionPerformer(stage, "limb")
        performer.play(stunt.Pose.degrees("level", hinge=0), lasts=0.3, tension=Tension(tension, "stiffness"))
        stage.step(8.0 if tension < 50 else 2.0)
        error = math.degrees(stage.data.qpos[0])
        print(f"K = {tension:.4g}: {error:.2e}°")
        assert abs(error) <= 0.01
    for stiffness, sag in ((281.0, 3.0), (1686.0, 0.5)):
        stage = _limb_stage(limb)
        board = stage.board
        board.law[0], board.feed_bias[0] = 5, 0  # a plain PD spring about the asked angle
        board.stiffness[0], board.damping[0], board.rest[0] = stiffness, 2 * math.sqrt(0.6 * stiffness), 0.0
        stage.step(3.0)
        print(f"plain PD with {stiffness:g} N·m/rad sags {math.degrees(-stage.data.qpos[0]):.3f}°")
        assert math.degrees(-stage.data.qpos[0]) == pytest.approx(sag, rel=0.01)


def test_raising_tension_under_a_disturbance_restores_the_asked_angle_and_pd_goes_the_other_way(limb: str) -> None:
    asked, push = 0.2, 4.0
    ours, theirs = [], []
    for tension in (40.0, 60.0, 100.0, 200.0, 400.0):
        stage = _limb_stage(limb, math.degrees(asked))
        performer = TensionPerformer(stage, "limb", TensionPart(tension=ByJoint({"all": Tension(40.0, "stiffness")})))
        stage.data.qfrc_applied[:] = 0.0
        _push(stage, push)
        stage.step(1.0)
        performer.retense(Tension(tension, "stiffness"))
        stage.step(3.0)
        ours.append(abs(stage.data.qpos[0] - asked))
        # PD as an animator would set it: a set-point above, so that it hangs at the asked angle.
        other = _limb_stage(limb, math.degrees(asked))
        other.board.law[0], other.board.feed_bias[0] = 5, 0
        hang = WEIGHT * math.cos(asked)
        other.board.stiffness[0], other.board.damping[0], other.board.rest[0] = tension, 30.0, asked + hang / 40.0
        _push(other, push)
        other.step(4.0)
        theirs.append(abs(other.data.qpos[0] - asked))
    print("antagonist", np.degrees(ours).round(3), "PD", np.degrees(theirs).round(3))
    assert all(b < a for a, b in zip(ours, ours[1:], strict=False))
    assert all(b > a for a, b in zip(theirs, theirs[1:], strict=False))


def _push(stage: stunt.Stage, torque: float) -> None:
    body = stage.character("limb").bodies["limb"]
    stage.data.xfrc_applied[body, 3:] = [0.0, -torque, 0.0]


@pytest.mark.parametrize("update", ["prediction", "sampling"])
def test_every_joint_of_a_torso_rests_where_asked_in_random_poses_at_random_tensions(update: str) -> None:
    rng = np.random.default_rng(28)
    worst = 0.0
    for _ in range(4):
        character = stunt.CharacterSpec(body="torso28", self_collision=False)
        stage = stunt.Stage(Scene(characters={"ada": character}, ground=False))
        performer = TensionPerformer(stage, "ada", TensionPart(tension=ByJoint({"all": Tension(0.5)})))
        angles, spans = {}, {}
        for name, joint in performer.character.joints.items():
            low, high = joint.range or (-1.0, 1.0)
            angles[name] = float(rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low)))
            spans[name] = performer.scales[name].stiffness(Tension(float(rng.uniform(0.0, 1.0))))
        if update == "prediction":
            _stabilise(performer, angles, spans)
        tension = ByJoint({name: Span(Tension(k, "stiffness")) for name, k in spans.items()})
        performer.play(stunt.Pose("random", angles), lasts=1.0, update=ByJoint({"all": update}))
        cue = performer._waiting[0]
        performer._waiting[0] = dataclasses.replace(cue, entry=dataclasses.replace(cue.entry, tension=tension))
        stage.step(9.0)
        errors = [math.degrees(stage.data.qpos[j.qpos] - angles[n]) for n, j in performer.character.joints.items()]
        worst = max(worst, float(np.abs(errors).max()))
    print(f"{update}: worst {worst:.2e}°")
    assert worst <= 0.1


def test_ball_joints_rest_where_asked_too() -> None:
    stage = stunt.Stage(Scene(characters={"it": stunt.CharacterSpec(body=DRAGON, at=(0, 0, 2))}))
    performer = TensionPerformer(stage, "it")
    turned = (math.cos(0.25), 0.0, math.sin(0.25), 0.0)
    performer.play(stunt.Pose("wings", {"wing_l": turned, "wing_r": turned}), lasts=0.6, tension="alert")
    stage.step(3.0)
    for name in ("wing_l", "wing_r"):
        joint = performer.character.joints[name]
        off = np.zeros(3)
        mujoco.mju_subQuat(off, stage.data.qpos[joint.qpos : joint.qpos + 4], np.array(turned))
        assert math.degrees(float(np.linalg.norm(off))) <= 0.1


def _stabilise(performer: TensionPerformer, angles: dict[str, float], spans: dict[str, float]) -> None:
    """Tighten what is too loose to hold, as the warnings would have the user do, with a margin."""
    names = list(angles)
    state = np.array(performer.stage.data.qpos)
    for name, angle in angles.items():
        state[performer.character.joints[name].qpos] = angle
    performer._weigher.torques(state)
    gradient = performer._weigher.gradient(np.array([performer.character.joints[n].dof for n in names], np.int32))
    for k, least in unstable_joints(np.array([spans[n] for n in names]) / 1.5, gradient):
        spans[names[k]] = 1.5 * least


def test_high_to_low_tension_starts_slow_and_ends_fast_and_low_to_high_the_reverse(limb: str) -> None:
    stiff, soft = Tension(2000.0, "stiffness"), Tension(100.0, "stiffness")
    even = _play(limb, -60, 30, 2.0, tension=stiff, path="constant")
    falling = _play(limb, -60, 30, 2.0, first=stiff, tension=soft, path="line")
    rising = _play(limb, -60, 30, 2.0, first=soft, tension=stiff, path="line")
    quarter, half = 60, 120
    print("at a quarter and half:", [(x[quarter].round(1), x[half].round(1)) for x in (falling, even, rising)])
    assert falling[quarter] < even[quarter] < rising[quarter]
    assert falling[half] < even[half] - 10 and rising[half] > even[half] + 10
    assert np.ptp(falling[:half]) < np.ptp(falling[half:240]) and np.ptp(rising[:half]) > np.ptp(rising[half:240])


def test_a_loose_limb_lags_then_leads_on_the_way_down_trails_on_the_way_up_and_overshoots(limb: str) -> None:
    tight, loose = Tension(3000.0, "stiffness"), Tension(60.0, "stiffness")
    options = {"path": "constant", "curve": PRESETS["ease"], "damping": ByJoint({"all": 0.2})}
    down = [_play(limb, 60, -60, 2.5, tension=k, **options) for k in (tight, loose)]
    up = [_play(limb, -60, 60, 2.5, tension=k, **options) for k in (tight, loose)]
    lag, early = down[1] - down[0], slice(5, 40)
    print(f"down: lag {lag[early].max():.2f}°, lead {-lag[:240].min():.2f}°, overshoot {-60 - down[1].min():.2f}°")
    assert (lag[early] > 0).all() and lag[60:200].min() < -2.0 and down[1].min() < -60.5
    behind = up[0] - up[1]
    print(f"up: trails by up to {behind[:240].max():.2f}°, overshoot {up[1].max() - 60:.2f}°")
    assert (behind[5:200] > 0).all() and up[1].max() > 60.5


def _perform(name: str) -> tuple[stunt.Performance, stunt.Take]:
    performance = stunt.Performance(stunt.load_script(example(name).path))
    return performance, performance.run()


def test_the_relaxed_wrist_of_the_wave_sways_and_the_tight_one_does_not() -> None:
    performance, take = _perform("wave")
    during = (take.time > 1.1) & (take.time < 3.2)
    sway = {}
    for who in ("tight", "varied"):
        joint = performance.stage.character(who).joint("r_wrist_deviation")
        angle = np.degrees(take.qpos[during, joint.qpos])
        sway[who] = (angle.min(), angle.max())
    print(sway)
    width = {who: high - low for who, (low, high) in sway.items()}
    assert width["varied"] >= 20.0 and width["tight"] < 8.0  # it is told to turn by 6°


def test_bracing_mutes_a_shove_to_less_than_a_third() -> None:
    performance, take = _perform("shove")
    before, after = take.time < 0.999, take.time >= 1.0
    for force in (60, 120, 200):
        give = {}
        for who in ("relaxed", "braced"):
            character = performance.stage.character(f"{who}_{force}")
            joints = [character.joint(f"{part}_flexion").qpos for part in ("lumbar", "thorax")]
            bend = np.degrees(take.qpos[:, joints].sum(axis=1))
            give[who] = float(np.abs(bend[after] - bend[before][-1]).max())
        print(f"{force} N: relaxed {give['relaxed']:.1f}°, braced {give['braced']:.1f}°")
        assert give["braced"] < give["relaxed"] / 3.0


def test_a_box_believed_twice_as_heavy_is_jerked_up() -> None:
    performance, take = _perform("lift")
    speed = {}
    for k, who in enumerate(("right", "heavy", "light"), start=1):
        prop = performance.stage.prop(f"box{k}")
        speed[who] = float(take.qvel[:, prop.dof + 2].max())
    print(speed)
    assert speed["heavy"] > 1.5 * speed["right"] > 1.5 * speed["light"]


def test_a_body_crouches_on_its_own_feet_and_rises() -> None:
    performance, take = _perform("crouch")
    root = performance.stage.character("ada").root
    assert root is not None
    height = take.qpos[:, root.qpos + 2]
    helped = take.assistance.max()
    print(f"pelvis {height[0]:.2f} → {height.min():.2f} → {height[-1]:.2f} m, help from outside {helped:g}")
    assert height.min() < 0.6 < 0.88 < height[-1] and take.assistance.max() == 0.0


@pytest.mark.parametrize("name", ["go_left", "nod_sag_shrug", "pushed_from_behind"])
def test_gestures_end_where_they_should(name: str) -> None:
    _, take = _perform(name)
    ends = [event for event in take.events if event["kind"] == "tension_pose"]
    assert ends and all(math.isfinite(event["error_deg"]) for event in ends)


def test_a_performance_saved_in_the_middle_goes_on_the_same() -> None:
    for name in ("go_left", "crouch"):
        performance = stunt.Performance(stunt.load_script(example(name).path))
        stage = performance.stage
        stage.step(1.2)
        saved = stage.save()
        stage.step(0.8)
        first = stage.data.qpos.copy()
        stage.restore(saved)
        stage.step(0.8)
        assert np.array_equal(first, stage.data.qpos), name


def test_a_joint_changes_hands_between_beats_and_tension_without_a_jump_in_torque() -> None:
    stage = stunt.Stage(Scene(characters={"ada": stunt.CharacterSpec(body="torso28")}))
    ada = stunt.Performer(stage, "ada")
    ada.key(stunt.Pose.degrees("up", r_shoulder_flexion=80, r_elbow_flexion=60), at=0.6)
    performer = TensionPerformer(stage, "ada")
    side = stunt.Pose.degrees("side", r_shoulder_flexion=20, r_elbow_flexion=90)
    performer.play(side, lasts=0.6, tension="loose", at=0.5)
    ada.key(stunt.Pose.degrees("again", r_shoulder_flexion=70, r_elbow_flexion=40), at=1.8, duration=0.6)
    joints = [performer.character.joints[n] for n in ("r_shoulder_flexion", "r_elbow_flexion")]
    torque, laws = [], []
    for _ in range(round(2.0 * 480)):
        stage.advance(1)
        torque.append([stage.board.torque[j.dof] for j in joints])
        laws.append(int(stage.board.law[joints[0].id]))
    jumps = np.abs(np.diff(torque, axis=0)).max(axis=1)
    hands = [k for k in range(len(laws) - 1) if laws[k] != laws[k + 1]]
    usual = float(np.percentile(jumps, 99))
    print(f"hand-overs at {[k / 480 for k in hands]} s: steps of {[round(float(jumps[k]), 3) for k in hands]} N·m; "
          f"99 of 100 steps stay below {usual:.3f}")  # fmt: skip
    assert len(hands) == 2
    assert all(jumps[k] < max(0.5, 2.0 * usual) for k in hands)
    error = max(abs(v) for v in ada.results[-1].joint_errors_deg.values())
    assert error < 1.0


def test_low_tension_is_foreseen_with_the_joint_and_the_least_stable_tension() -> None:
    data = {
        "characters": {"ada": "torso28"}, "seconds": 1,
        "performance": {"ada": {"tension_poses": {"poses": [
            {"angles": {"lumbar_flexion": 10}, "tension": "30 N·m/rad", "update": "prediction"}]}}},
    }  # fmt: skip
    performance = stunt.Performance(stunt.script_from_data(data))
    (warning,) = [w for w in performance.warnings if "tips it over" in w]
    print(warning)
    assert "lumbar_flexion" in warning and "30 N·m/rad" in warning and "stable from" in warning


def test_what_is_foreseen_as_unstable_falls_and_what_is_foreseen_as_stable_stands() -> None:
    for tension, steady, falls in ((60.0, False, True), (60.0, True, False), (130.0, False, False)):
        stage = stunt.Stage(Scene(characters={"ada": stunt.CharacterSpec(body="torso28")}, ground=False))
        stiff = {"all": Tension(1e5, "stiffness")}
        performer = TensionPerformer(stage, "ada", TensionPart(tension=ByJoint(stiff), steady=steady))
        performer.play(
            stunt.Pose.degrees("", lumbar_flexion=0), lasts=0.1, tension=Tension(tension, "stiffness"),
            update=ByJoint({"all": "prediction"}),
        )  # fmt: skip
        found = foresee(performer, list(performer._waiting))
        stage.step(0.2)
        lumbar = performer.character.joints["lumbar_flexion"]
        stage.data.qpos[lumbar.qpos] += 0.01
        stage.step(4.0)
        assert bool([f for f in found if f.kind == "unstable"]) == (tension < 100.0)
        raised = [event for event in performer.log if event["kind"] == "tension_raised"]
        assert [event["asked"] for event in raised] == ([60.0] if steady else [])
        assert (abs(stage.data.qpos[lumbar.qpos]) > 0.1) == falls


def test_one_spring_tightened_alone_resists_from_its_side(limb: str) -> None:
    stage = _limb_stage(limb)
    performer = TensionPerformer(stage, "limb", TensionPart(tension=ByJoint({"all": Tension(60.0, "stiffness")})))
    stage.step(0.5)
    from stunt.drive.tension.spec import Slack

    performer.play(stunt.Pose.degrees("", hinge=0), lasts=0.2, springs=ByJoint({"all": Slack(high=1.3)}))
    stage.step(3.0)
    assert stage.data.qpos[0] > 0.05


def test_a_preview_follows_the_curves_exactly() -> None:
    script = stunt.load_script(example("go_left").path)
    view = Preview(script)
    joint = view.stage.character("officer").joint("l_shoulder_abduction")
    times = np.array([0.85, 1.0, 1.15, 2.0])
    angles = np.degrees(view.qpos(times)[:, joint.qpos])
    halfway = 22 + (84 - 22) * float(PRESETS["ease_out"].at(0.5))
    assert np.allclose(angles, [22, halfway, 84, 84], atol=1e-9)


def test_scripts_with_tension_survive_being_written() -> None:
    for name in ("go_left", "wave", "lift", "nod_sag_shrug", "shove", "pushed_from_behind", "crouch"):
        script = stunt.load_script(example(name).path)
        assert stunt.script_from_data(stunt.script_to_data(script)) == script


BAD = {
    "an impossible tension": ("{tension: 1.7}", "level from 0"),
    "a tension nobody knows": ("{tension: bracd}", "Did you mean 'braced'"),
    "a limb nobody has": ("{tension: {r_arms: firm}}", "Did you mean 'arms'|Did you mean 'r_arm'"),
    "a pose that names no joint": ("{poses: [{angles: {}}]}", "angles"),
    "a pose of an unknown joint": ("{poses: [{angles: {r_elbo: 3}}]}", "r_elbow_flexion"),
    "a curve that leaves its time": (
        "{poses: [{angles: {head_nod: 3}, curve: [[0, 0, 0], [1.5, 1, 0]]}]}", "from 0 to 1"),
    "a cycle without duration": (
        "{controllers: {a: {cycles: 3, poses: [{angles: {head_nod: 3}}]}}, play: [{controller: a}]}", "duration"),
    "a controller nobody wrote": ("{play: [{controller: b}]}", "unknown controller"),
    "an unknown key": ("{poses: [{angles: {head_nod: 3}, lastz: 1}]}", "Did you mean 'lasts'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_answered_with_its_line_and_writes_nothing(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    section, message = BAD[case]
    script = tmp_path / "bad.yaml"
    script.write_text(
        f"characters:\n  ada: torso28\nseconds: 1\nperformance:\n  ada:\n    tension_poses: {section}\n", "utf-8"
    )
    assert main(["perform", str(script), "--out", str(tmp_path / "take")]) == 2
    said = capsys.readouterr().err
    print(said)
    assert re.search(message, said) and "bad.yaml:6" in said
    assert not (tmp_path / "take").exists()


def test_calibration_shows_give_that_falls_with_tension_and_where_it_is_unstable() -> None:
    from stunt.drive.tension.calibration import calibrate

    (curve,) = calibrate("torso28", ["lumbar_flexion"], points=6, workers=0)
    print(curve)
    assert curve.effector == "head"
    held = [d for d, ok in zip(curve.deflection_deg, curve.stable, strict=True) if ok]
    assert all(b < a for a, b in zip(held, held[1:], strict=False))
    assert [k < curve.least_stable for k in curve.tension] == [not ok for ok in curve.stable]
