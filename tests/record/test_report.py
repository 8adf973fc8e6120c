"""The report and the beat table, from a made-up take whose truth is known."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import mujoco
import numpy as np
import pytest
from rich.console import Console

from stunt import BeatSpec, CharacterSpec, Part, Pose, Scene, Script, perform
from stunt.errors import TakeError
from stunt.record.beat_table import beat_table, summary, verdict
from stunt.record.cast import cast_from_data
from stunt.record.report import make_report, report_text
from stunt.record.take import Take

MODEL = """
<mujoco>
  <worldbody>
    <body name="ada/trunk" pos="0 0 1">
      <freejoint name="ada/root"/>
      <geom type="sphere" size=".1" mass="8"/>
      <body name="ada/arm">
        <joint name="ada/elbow" axis="0 1 0"/>
        <geom type="sphere" size=".05" mass="1"/>
        <body name="ada/hand">
          <joint name="ada/wrist" type="ball"/>
          <geom type="sphere" size=".05" mass="1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
DUE = 0.5
WEIGHT = 10.0 * 9.81


def make_take(elbow=None, wrist=None, *, events: list[dict[str, Any]] | None = None, **changes: Any) -> Take:
    """Return one second at 120 frames, with the elbow [rad] and the wrist (about x) [rad] moving as told."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    time = np.arange(121) / 120.0
    elbow, wrist = (np.vectorize(f or (lambda t: 0.0), otypes=[float]) for f in (elbow, wrist))
    qpos = np.tile(model.qpos0, (time.size, 1))
    qvel = np.zeros((time.size, model.nv))
    qpos[:, 7] = elbow(time)
    qvel[:, 6] = (elbow(time + 1e-6) - elbow(time - 1e-6)) / 2e-6
    qpos[:, 8], qpos[:, 9] = np.cos(wrist(time) / 2), np.sin(wrist(time) / 2)
    raw = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, raw)
    wide = np.zeros_like(qvel)
    take = Take(
        time=time, qpos=qpos, qvel=qvel, target=qpos.copy(), target_velocity=wide, torque=wide.copy(), stiffness=wide,
        damping=wide, saturated=wide.astype(bool), assistance=np.zeros((time.size, 1, 6)),
        contact_frame=np.zeros(0, np.int32), contact_geoms=np.zeros((0, 2), np.int32),
        contact_position=np.zeros((0, 3)), contact_force=np.zeros((0, 3)), model_bytes=raw,
        events=[beat()] if events is None else events,
        meta={
            "title": "Made up", "source": "made_up.yaml", "seed": 3, "physics_hz": 480.0, "control_hz": 240.0,
            "interrupted": False, "warnings": ["a warning."],
        },
        cast=cast_from_data({"characters": {"ada": about()}}),
    )  # fmt: skip
    return dataclasses.replace(take, **changes)


def about(**changes: Any) -> dict[str, Any]:
    return {
        "body": "made_up", "root": "free", "root_body": 1, "root_qpos": 0, "mass": 10.0, "dofs": [6, 7, 8, 9],
        "dof_names": ["elbow", "wrist.x", "wrist.y", "wrist.z"], "strength": [80.0, None, None, None],
        "joints": {
            "elbow": {"kind": "hinge", "qpos": 7, "dof": 6, "range": None},
            "wrist": {"kind": "ball", "qpos": 8, "dof": 7, "range": None},
        },
        **changes,
    }  # fmt: skip


def beat(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "beat", "character": "ada", "index": 0, "time": DUE, "pose": "bent", "error_deg": 5.0,
        "error_deg_rms": 4.0, "velocity_error": 0.1, "worst_joint": "elbow", "saturated": [],
        "joint_errors_deg": {"elbow": 5.0}, "targets": {"elbow": 1.0},
        **changes,
    }  # fmt: skip


def only_beat(take: Take) -> dict[str, Any]:
    (entry,) = make_report(take, wall_seconds=0.5)["characters"]["ada"]["beats"]
    return entry


@pytest.mark.parametrize("off", [-0.08, -0.0213, 0.0, 0.0213, 0.08])
def test_a_pose_that_comes_early_or_late_is_off_by_that_many_milliseconds(off):
    take = make_take(lambda t: 1.0 + 3.0 * (t - DUE - off), events=[beat(error_deg=np.degrees(3.0 * abs(off)))])
    assert only_beat(take)["error_ms"] == pytest.approx(1000 * off, abs=0.5)


def test_a_swing_that_turns_back_between_two_frames_is_found_there():
    take = make_take(lambda t: 1.0 - 40.0 * (t - DUE - 0.0321) ** 2, events=[beat(error_deg=2.4)])
    assert only_beat(take)["error_ms"] == pytest.approx(32.1, abs=0.5)


def test_a_ball_joint_is_timed_by_the_rotation_that_is_missing():
    target = [np.cos(0.5), np.sin(0.5), 0.0, 0.0]
    events = [beat(targets={"wrist": target}, worst_joint="wrist", error_deg=np.degrees(0.1))]
    take = make_take(wrist=lambda t: 1.0 + 2.0 * (t - DUE - 0.05), events=events)
    assert only_beat(take)["error_ms"] == pytest.approx(50.0, abs=0.5)


def test_a_beat_within_a_tenth_of_a_degree_of_the_closest_approach_is_on_time():
    late = make_take(lambda t: 1.0 + np.radians(1.0) * (t - DUE - 0.09), events=[beat(error_deg=0.09)])
    assert only_beat(late)["error_ms"] == 0.0
    never = make_take(lambda t: 0.9, events=[beat(error_deg=np.degrees(0.1))])
    assert only_beat(never)["error_ms"] == 0.0


def test_a_pose_is_not_looked_for_beyond_half_the_way_to_the_next_beat():
    events = [beat(error_deg=np.degrees(0.6)), beat(index=1, time=DUE + 0.1, targets={"elbow": 0.0})]
    take = make_take(lambda t: 1.0 + 3.0 * (t - DUE - 0.2), events=events)
    first, _ = make_report(take, wall_seconds=None)["characters"]["ada"]["beats"]
    assert first["error_ms"] == pytest.approx(50.0, abs=0.6)


def test_the_worst_joint_counts_where_two_come_at_different_times():
    """The elbow passes 40 ms late and the wrist 40 ms early, equally fast: together they are closest at the beat."""
    targets = {"elbow": 1.0, "wrist": [np.cos(0.5), np.sin(0.5), 0.0, 0.0]}
    events = [beat(targets=targets, error_deg=np.degrees(0.08))]
    take = make_take(lambda t: 1 + 2 * (t - DUE - 0.04), lambda t: 1 + 2 * (t - DUE + 0.04), events=events)
    assert only_beat(take)["error_ms"] == 0.0


def tilted(axis: int, angle_deg: float) -> Take:
    take = make_take()
    half = np.radians(np.linspace(0.0, angle_deg, take.time.size)) / 2
    take.qpos[:, 3:7] = 0.0
    take.qpos[:, 3], take.qpos[:, 4 + axis] = np.cos(half), np.sin(half)
    return take


@pytest.mark.parametrize(("axis", "angle", "fell"), [(0, 70, True), (1, -70, True), (0, 50, False), (2, 180, False)])
def test_a_free_root_falls_by_leaning_and_not_by_turning(axis, angle, fell):
    report = make_report(tilted(axis, angle), wall_seconds=1.0)
    assert report["characters"]["ada"]["fell"] is fell
    assert any("ada fell at" in sentence for sentence in report["warnings"]) is fell


def test_a_root_that_starts_lying_falls_only_when_it_leaves_how_it_lay():
    take = tilted(0, 0)
    take.qpos[:, 3:7] = [np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0, 0.0]
    assert not make_report(take, wall_seconds=1.0)["characters"]["ada"]["fell"]


def test_a_free_root_falls_by_sinking_below_half_its_height():
    take = make_take()
    take.qpos[60:, 2] = 0.45
    report = make_report(take, wall_seconds=1.0)
    assert report["characters"]["ada"]["fell"]
    assert "ada fell at 0.50 s" in report["warnings"]


def test_a_fixed_root_does_not_fall():
    take = tilted(0, 90)
    take.cast = cast_from_data({"characters": {"ada": about(root="fixed", root_qpos=None)}})
    assert not make_report(take, wall_seconds=1.0)["characters"]["ada"]["fell"]


def test_assistance_is_in_body_weights_and_newton_seconds():
    take = make_take()
    take.assistance[1:, 0, 2] = 0.5 * WEIGHT
    take.assistance[1:61, 0, 4] = 0.2 * WEIGHT * 1.0  # the centre of mass is 1 m high
    help_ = make_report(take, wall_seconds=1.0)["characters"]["ada"]["assistance"]
    assert help_["force_mean"] == pytest.approx(0.5) and help_["force_peak"] == pytest.approx(0.5)
    assert help_["torque_peak"] == pytest.approx(0.2) and help_["torque_mean"] == pytest.approx(0.1)
    assert help_["impulse"] == pytest.approx(0.5 * WEIGHT * 1.0)


def test_what_holds_a_still_body_is_its_weight():
    part = Part(beats=(BeatSpec(Pose.degrees("still", r_elbow_flexion=0), after=0.3),))
    scene = Scene(characters={"ada": CharacterSpec("torso28")}, physics_hz=240, control_hz=240)
    take = perform(Script(scene, {"ada": part}))
    help_ = make_report(take, wall_seconds=1.0)["characters"]["ada"]["assistance"]
    assert help_["root"] == "fixed"
    assert help_["force_mean"] == pytest.approx(1.0, abs=0.02)


def test_a_missed_beat_is_told_with_the_joint_and_its_limit():
    events = [beat(index=2, pose="up", saturated=["wrist", "elbow"], error_deg=4.13)]
    report = make_report(make_take(events=events), wall_seconds=1.0)
    assert report["characters"]["ada"]["beats"][0]["missed"] is True
    told = "ada: beat 3 'up' at 0.50 s missed by 4.13° (elbow); elbow was at its limit of 80 N·m, as was wrist"
    assert report["warnings"] == ["a warning.", told]
    weak = make_report(make_take(events=[beat()]), wall_seconds=1.0)["warnings"][1]
    assert weak.endswith("no joint was at its limit")


def test_a_beat_that_is_made_is_not_told():
    assert make_report(make_take(events=[beat(error_deg=0.9)]), wall_seconds=1.0)["warnings"] == ["a warning."]


def test_the_strength_used_is_the_largest_on_the_way_to_the_beat():
    take = make_take()
    take.torque[30, 6] = -60.0
    take.torque[61, 6] = 80.0  # after the beat
    entry = only_beat(take)
    assert (entry["used_share"], entry["used_by"]) == (0.75, "elbow")


def test_hits_are_counted_for_whom_they_hit():
    hits = [{"kind": "hit", "time": 0.1, "character": who} for who in ("ada", "ben", "ada")]
    assert make_report(make_take(events=hits), wall_seconds=1.0)["characters"]["ada"]["hits"] == 2


def test_the_report_is_plain_json_without_nan():
    take = make_take()
    take.target[:] = np.nan
    report = make_report(take, wall_seconds=0.25)
    assert json.loads(report_text(report)) == report
    assert report["realtime_factor"] == pytest.approx(4.0)
    assert make_report(take, wall_seconds=None)["realtime_factor"] is None
    assert report_text(report, ascii_only=True).isascii()


def test_a_stored_take_gives_the_same_report(tmp_path):
    take = make_take(lambda t: t, events=[beat(saturated=["elbow"])])
    stored = Take.load(take.save(tmp_path / "take.npz"))
    assert make_report(stored, wall_seconds=1.0) == make_report(take, wall_seconds=1.0)


def test_a_take_without_frames_is_refused():
    with pytest.raises(TakeError, match="no frames"):
        make_report(make_take(time=np.zeros(0)), wall_seconds=1.0)


def rendered(report: dict[str, Any], width: int = 80) -> list[str]:
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(beat_table(report))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_the_table_can_be_read_without_colour():
    events = [beat(error_deg=0.021, error_deg_rms=0.011), beat(index=1, time=0.75, pose="[up]", saturated=["elbow"])]
    report = make_report(make_take(lambda t: 0.5, events=events), wall_seconds=0.1)
    assert rendered(report) == [
        "ada · made_up · root free",
        "   time                    error   rms timing speed force",
        "#     s pose  worst joint      °     °     ms rad/s  used",
        "────────────────────────────────────────────────────────────────",
        "1 0.500 bent  elbow        0.021 0.011      0 0.100   0 % ok",
        "2 0.750 [up]  elbow        5.000 4.000      0 0.100   0 % MISSED",
        "",
        "1 of 2 beats made, worst 5.000° (elbow at 0.75 s), mean 2.510°; 1.00 s, 10 ×",
        "real time.",
    ]


def test_every_beat_has_its_word():
    assert [verdict({"missed": m, "saturated": s}) for m, s in ((False, []), (False, ["elbow"]), (True, []))] == [
        "ok", "at limit", "MISSED",
    ]  # fmt: skip


def test_the_summary_speaks_of_falls_and_interruptions_and_bears_no_beats():
    report = make_report(tilted(0, 80), wall_seconds=None)
    report["interrupted"] = True
    assert summary(report).endswith("1.00 s; ada fell; interrupted.")
    assert summary(make_report(make_take(events=[]), wall_seconds=None)) == "No beats; 1.00 s."
