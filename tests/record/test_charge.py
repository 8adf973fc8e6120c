"""What the report says of supervised characters: who was in charge, what was taken out, and what counts as a fall."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console
from test_report import make_take

from stunt.cli.main import main
from stunt.examples import example
from stunt.record.beat_table import beat_table, summary
from stunt.record.report import make_report, report_text
from stunt.script.file import load_script, script_from_data
from stunt.script.performance import Performance


def switch(time, controller, mode="dynamic", *, low=False, ended="succeeded", cause="ended", **more):
    return {
        "kind": "supervisor", "event": "switch", "time": time, "character": "ada", "controller": controller,
        "mode": mode, "low": low, "cause": cause, "why": "because", "before": "", "ended": ended, "reason": "it was so",
        "bids": [{"controller": controller, "score": 0.5, "priority": 10, "why": "because"},
                 {"controller": "other", "score": 0.25, "priority": 10, "why": ""}], **more,
    }  # fmt: skip


def take_with(*events, height=(1.0,) * 5, tilt_deg=(0.0,) * 5):
    """One second whose root is so high [m] and so tilted [°] at its quarters."""
    take = make_take(events=list(events))
    quarters = np.linspace(0.0, 1.0, 5)
    half = np.radians(np.interp(take.time, quarters, tilt_deg)) / 2
    take.qpos[:, 2] = np.interp(take.time, quarters, height)
    take.qpos[:, 3:7] = 0.0
    take.qpos[:, 3], take.qpos[:, 4] = np.cos(half), np.sin(half)
    return take


def entry_of(take):
    return make_report(take, wall_seconds=None)["characters"]["ada"]


CROUCH = (1.0, 0.6, 0.4, 0.6, 1.0)
DOWN = (1.0, 0.8, 0.3, 0.2, 0.2)
IDLE = switch(0.0, "idle", "kinematic", cause="begin")


def test_who_ducks_has_not_fallen():
    take = take_with(IDLE, switch(0.05, "duck", low=True, cause="interrupt"), height=CROUCH)
    assert not entry_of(take)["fell"] and not entry_of(take)["ended_lying"]


def test_who_ducks_and_loses_its_balance_has():
    events = IDLE, switch(0.05, "duck", low=True), switch(0.6, "fall", ended="failed")
    assert entry_of(take_with(*events, height=DOWN))["fell"]


def test_who_is_interrupted_low_by_a_fall_has_fallen():
    events = IDLE, switch(0.05, "get up", low=True), switch(0.6, "fall", ended="running", cause="interrupt")
    assert entry_of(take_with(*events, height=DOWN))["fell"]


def test_who_dives_and_stays_down_has_not_fallen_but_ended_lying():
    events = IDLE, switch(0.05, "dive", low=True), switch(0.7, "rag doll")
    entry = entry_of(take_with(*events, height=DOWN, tilt_deg=(0, 40, 80, 90, 90)))
    assert not entry["fell"] and entry["ended_lying"]


def test_who_catches_a_dive_that_succeeded_before_the_ground_is_part_of_it():
    events = IDLE, switch(0.05, "dive", low=True), switch(0.3, "fall")
    assert not entry_of(take_with(*events, height=DOWN, tilt_deg=(0, 40, 80, 90, 90)))["fell"]


def test_who_rolls_out_of_a_fall_has_fallen():
    hit = switch(0.1, "idle (tracking)", ended="running", cause="hit")
    falls = switch(0.2, "fall", ended="failed")
    events = IDLE, hit, falls, switch(0.45, "roll", low=True), switch(0.8, "lie", low=True)
    take = take_with(*events, height=DOWN, tilt_deg=(0, 40, 80, 90, 90))
    assert entry_of(take)["fell"] and entry_of(take)["ended_lying"]
    warnings = make_report(take, wall_seconds=None)["warnings"]
    assert any("ada fell at" in sentence and "ended lying" in sentence for sentence in warnings)


def test_data_goes_where_it_is_shown_to_and_may_begin_lying():
    lying = take_with(IDLE, height=(0.2, 0.2, 0.5, 0.9, 1.0), tilt_deg=(90, 90, 50, 10, 0))
    assert not entry_of(lying)["fell"] and not entry_of(lying)["ended_lying"]


def test_somebody_without_a_supervisor_falls_as_before():
    take = take_with(height=CROUCH)
    assert entry_of(take)["fell"] and not entry_of(take)["ended_lying"] and "supervisor" not in entry_of(take)


def noted(event, time, controller, reason):
    return {"kind": "supervisor", "event": event, "time": time, "character": "ada", "controller": controller,
            "reason": reason}  # fmt: skip


def test_the_report_tells_who_was_in_charge_when_and_what_came_to_nothing():
    take = take_with(
        IDLE, noted("removed", 0.3, "mine", "raised in bid: ValueError('no')"),
        switch(0.5, "duck", low=True, ended="running", cause="interrupt"),
        noted("refused", 0.7, "walk", "could not take over from here"),
    )  # fmt: skip
    report = make_report(take, wall_seconds=None)
    section = json.loads(report_text(report))["characters"]["ada"]["supervisor"]
    assert [(e["controller"], e["from"], e["to"]) for e in section["in_charge"]] == [
        ("idle", 0.0, 0.5), ("duck", 0.5, 1.0),
    ]  # fmt: skip
    assert section["in_charge"][1]["bids"] == {"duck": 0.5, "other": 0.25}
    assert section["removed"][0]["controller"] == "mine" and section["refused"][0]["controller"] == "walk"
    warnings = " ".join(report["warnings"])
    assert "ada: controller 'mine' was taken out at 0.30 s: it raised in bid: ValueError('no')" in warnings
    assert "ada: the request for 'walk' was refused at 0.70 s: could not take over from here" in warnings
    assert "No beats" not in summary(report) and "1 change of who was in charge" in summary(report)


def test_the_log_is_printed_readably_and_cut_where_one_wants():
    take = take_with(IDLE, noted("removed", 0.3, "mine", "raised"), switch(0.5, "duck", ended="running"))
    report = make_report(take, wall_seconds=None)
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(beat_table(report))
    text = console.export_text()
    assert all(word in text for word in ("idle", "data", "duck", "forces", "TAKEN OUT", "interrupted", "other 0.25"))
    console.print(beat_table(report, most=1))
    text = console.export_text()
    assert "duck" not in text.split("who was in charge")[1].split("change")[0] and "2 more: stunt show" in text


MODULE = """
from stunt.supervise.contract import BaseController
class Raises(BaseController):
    priority, interrupts = 50, True
    def bid(self, now):
        return 0.9 if now.time > 0.3 else None
    def start(self, now, actor, bid):
        actor.aim(now.qpos)
    def step(self, now, actor):
        raise RuntimeError("boom")
"""


def test_the_command_line_says_that_a_controller_was_taken_out(tmp_path, monkeypatch, capsys):
    (tmp_path / "charge_test_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "it.yaml").write_text(
        "stunt: 1\nseconds: 1\nrate: 120\ncharacters:\n  ada: {body: skeleton, root: free, strength: 1.5}\n"
        "performance:\n  ada:\n    supervisor:\n      clips: {idle: {loop: true}}\n"
        "      controllers: ['charge_test_module:Raises']\n"
    )
    assert main(["perform", "it.yaml", "--no-pictures"]) == 0
    out, err = capsys.readouterr()
    assert "warning: ada: controller 'Raises' was taken out" in err and "RuntimeError('boom')" in err
    assert "TAKEN OUT" in out and "rag doll" not in out
    assert main(["show", "takes/it"]) == 0
    out, err = capsys.readouterr()
    assert "who was in charge" in out and "taken out" in err and "No beats" not in out
    stored = json.loads((tmp_path / "takes" / "it" / "report.json").read_text())
    assert stored["characters"]["ada"]["supervisor"]["removed"][0]["controller"] == "Raises"


@pytest.mark.parametrize("push", [False, True])
def test_in_a_performance_only_who_is_knocked_down_fell(push):
    if not push:
        script = load_script(example("duck").path)
    else:
        script = script_from_data({
            "seconds": 2.5, "rate": 120, "characters": {"ada": {"body": "skeleton", "root": "free", "strength": 1.5}},
            "props": {"ball": {"shape": "sphere", "radius": 0.2, "mass": 30, "at": [3, 0, 1.2]}},
            "events": [{"throw": "ball", "at": 0.2, "target": "ada/thorax", "hits_at": 0.5}],
            "performance": {"ada": {"supervisor": {
                "controllers": ["fall", "lie", "get_up"], "clips": {"idle": {"loop": True, "hit_threshold": 0.001}}}}},
        })  # fmt: skip
    take = Performance(script, record_hz=60.0).run()
    entry = entry_of(take)
    print(entry["fell"], [e["controller"] for e in entry["supervisor"]["in_charge"]])
    assert entry["fell"] is push
