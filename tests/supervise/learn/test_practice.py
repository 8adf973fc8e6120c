"""Learning over states and parameters: from lying and falling, on any body, with what blew up left out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.errors import BlowUpError, BodyError
from stunt.library.names import find_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import IDLE, RUNNING, BaseController, succeeded
from stunt.supervise.learn import samples as samples_module
from stunt.supervise.learn import training, trial
from stunt.supervise.learn.bids import ParameterBid
from stunt.supervise.learn.features import FEATURES, body_digest, features
from stunt.supervise.learn.samples import BLEW_UP, Samples, collect, run_trial
from stunt.supervise.learn.svm import WrongBodyError, load_machine
from stunt.supervise.learn.training import train
from stunt.supervise.learn.trial import Sample, TrialPlan
from stunt.supervise.practice import Practice, practice_of
from stunt.supervise.reflexes.roll import Roll
from stunt.supervise.registry import maker_of
from stunt.supervise.situation import Situation

pytest.importorskip("sklearn", reason="learning needs scikit-learn (stunt[learn])")
ROLL = TrialPlan("roll", practice=practice_of(maker_of("roll")))
QUICK = {"_C": (1.0, 10.0), "_GAMMA": (0.03, 0.1)}


@pytest.fixture(autouse=True)
def few_choices(monkeypatch):
    for name, values in QUICK.items():
        monkeypatch.setattr(training, name, values)


def test_controllers_declare_how_they_are_tried():
    assert practice_of(maker_of("balance")) == Practice() == Practice(("pushed",), "stands")
    assert practice_of(maker_of("get_up")) == Practice(("lying",))  # said by the class its maker returns
    assert [name for name, _, _ in practice_of(Roll).sampled] == ["direction", "speed", "tightness"]


def test_a_direction_all_around_has_no_seam():
    here, there = (ROLL.practice.features((angle, 3.0, 0.5)) for angle in (math.pi, -math.pi))
    assert here == pytest.approx(there) and len(here) == len(ROLL.practice.feature_names()) == 4


class Notes(BaseController):
    """Does nothing but say what it was made with and how the body lay."""

    practice = Practice(("lying", "falling"), "says", (("force", 2.0, 5.0),))
    longest = 1.0

    def __init__(self, name="", *, force=0.0):
        super().__init__(name)
        self.force = force

    def start(self, now, actor, bid):
        self.height = now.qpos[2]
        actor.aim(now.qpos)

    def step(self, now, actor):
        return succeeded(f"{self.force:.6f} {now.tilt:.2f} {self.height:.2f}") if now.elapsed > 0.1 else RUNNING


def test_tries_begin_lying_on_any_side_or_falling_with_sampled_parameters():
    plan = TrialPlan(f"{__name__}:Notes", practice=Notes.practice)
    tries = [run_trial(plan, 5, number) for number in range(10)]
    assert tries[0] == run_trial(plan, 5, 0)
    assert all(2.0 <= one.sampled[0] <= 5.0 and one.why.startswith(f"{one.sampled[0]:.6f}") for one in tries)
    lying = [one for one in tries if one.parameters[2] == 0.0]
    falling = [one for one in tries if one.parameters[2] > 0.0]
    assert lying and falling
    assert all(float(one.why.split()[2]) < 0.4 for one in lying)
    assert all(0.5 < float(one.why.split()[1]) for one in falling)
    sides = {round(one.features[FEATURES.index("lean_ahead")]) for one in lying}
    print("\nleans ahead when lying:", sorted(one.features[FEATURES.index("lean_ahead")] for one in lying))
    assert len(sides) > 1 and len({one.sampled for one in tries}) == 10


def test_getting_up_is_tried_from_lying_and_must_stand_afterwards():
    plan = TrialPlan("get_up", practice=practice_of(maker_of("get_up")))
    one = run_trial(plan, 3, 0)
    assert one.success and one.why == "stands" and one.features[FEATURES.index("com_up")] < 0.4


def test_any_body_with_feet_can_be_tried_on_and_one_without_is_refused(tmp_path):
    one = run_trial(TrialPlan("balance", "human39"), 3, 0)
    assert len(one.features) == len(FEATURES) and one.why != BLEW_UP
    with pytest.raises(BodyError, match="l_foot"):
        collect(TrialPlan("balance", "torso28"), 2, tmp_path / "tries.jsonl", workers=0)
    assert not (tmp_path / "tries.jsonl").exists()


def test_a_try_that_blows_up_is_left_out_and_counted(tmp_path, monkeypatch):
    def blows_up(*args, **more):
        raise BlowUpError("body/head", 0.5, "too fast")

    monkeypatch.setattr(trial, "_let", blows_up)
    one = run_trial(TrialPlan("balance"), 3, 0)
    assert one.why == BLEW_UP and one.features == ()
    monkeypatch.setattr(
        samples_module, "run_trial",
        lambda plan, seed, n: one if n == 0 else Sample(n, (0.5,) * 17, n % 2 == 0, "", ()),
    )  # fmt: skip
    found = collect(TrialPlan("balance"), 6, tmp_path / "tries.jsonl", workers=0)
    assert found.blown_up == 1 and len(found.samples) == 5 and (found.features == 0.5).all()
    again = collect(TrialPlan("balance"), 6, tmp_path / "tries.jsonl", workers=0)
    assert again.digest == found.digest and again.blown_up == 1


def test_files_of_plain_tries_stay_readable_zeros_of_old_ones_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(samples_module, "run_trial", lambda plan, seed, n: Sample(n, (0.5,) * 17, True, "", (1.0,)))
    file = tmp_path / "tries.jsonl"
    collect(TrialPlan("balance"), 2, file, workers=0)
    header, first, _ = map(json.loads, file.read_text().splitlines())
    assert set(header["plan"]) == {"controller", "body", "clips", "strength"} and "sampled" not in first
    old = {**first, "number": 2, "features": [0.0] * 17, "success": False, "why": "blew up"}
    file.write_text(file.read_text() + json.dumps(old) + "\n")
    found = collect(TrialPlan("balance"), 4, file, workers=0)
    assert [s.number for s in found.samples] == [0, 1, 3] and found.blown_up == 1


def stage_of(strength=1.5):
    body = CharacterSpec(str(find_clip("idle")), root="free", strength=strength)
    return StageLoop(Scene(characters={"ada": body}))


def about_rolls(stage, count=500):
    """Tries in which only rolls about to the left, and tight ones, succeed, whatever the state."""
    rng = np.random.default_rng(0)
    seen = features(stage, stage.character("ada"))
    rows = []
    for number in range(count):
        told = tuple(float(rng.uniform(low, high)) for _, low, high in ROLL.practice.sampled)
        ok = abs(told[0] - 0.5 * math.pi) < 0.9 and told[2] > 0.3
        rows.append(Sample(number, tuple(seen + 0.05 * rng.normal(size=17)), ok, "", (), told))
    digest = body_digest(stage.model, stage.character("ada"))
    return Samples(ROLL, 0, digest, tuple(rows), blown_up=2)


def test_a_machine_remembers_parameters_strength_and_how_it_was_tried(tmp_path):
    stage = stage_of()
    machine, judged = train(about_rolls(stage))
    print(f"\nheld-out accuracy {judged.accuracy:.2f}, balanced {judged.balanced:.2f}")
    again = load_machine(machine.save(tmp_path / "roll.npz"))
    about = again.about
    assert about["features"] == [*FEATURES, "direction_cos", "direction_sin", "speed", "tightness"]
    assert about["strength"] == 1.5 and about["made_on"] == "idle"
    assert about["starts"] == ["falling", "lying"] and about["success"] == "says" and about["blown_up"] == 2
    assert [name for name, _, _ in about["sampled"]] == ["direction", "speed", "tightness"]
    with pytest.raises(WrongBodyError, match="stunt learn"):
        ParameterBid(Roll(), again, stage_of(1.0), "ada")


def test_what_is_left_open_is_chosen_by_what_was_learned_and_what_is_said_is_kept():
    stage = stage_of()
    machine, _ = train(about_rolls(stage))
    seen = features(stage, stage.character("ada"))
    chance, chosen = ParameterBid(Roll(), machine, stage, "ada").best(seen)
    print(f"\nchose {math.degrees(chosen['direction']):.0f}° with {chance:.2f}")
    assert set(chosen) == {"direction"} and abs(chosen["direction"] - 0.5 * math.pi) < 0.9 and chance > 0.5
    assert ParameterBid(Roll(direction=-2.0), machine, stage, "ada").best(seen)[0] < 0.2


class Willing(Roll):
    def bid(self, now):
        return 0.8


def test_a_poor_chance_is_only_better_than_nobody_and_choices_end_with_the_turn():
    stage = stage_of()
    machine, _ = train(about_rolls(stage))
    now = Situation(stage, stage.character("ada"))
    poor = ParameterBid(Willing(direction=-2.0), machine, stage, "ada").bid(now)
    assert poor.priority == IDLE + 1 and poor.score < 0.3
    good = ParameterBid(Willing(), machine, stage, "ada")
    bid = good.bid(now)
    assert bid.priority is None and bid.score == 0.8 and "learned" in bid.why
    from stunt.drive.body.actor import actor_of

    actor = actor_of(stage, "ada")
    good.start(now, actor, bid)
    assert good.inner.direction == bid.plan[1]["direction"]
    good.stop(now, actor)
    assert good.inner.direction is None


def test_the_command_says_what_it_did_and_refuses_what_is_not_there(tmp_path, monkeypatch, capsys):
    rows = about_rolls(stage_of(), 80).samples
    monkeypatch.setattr(
        samples_module, "run_trial",
        lambda plan, seed, n: Sample(n, (), False, BLEW_UP, (), rows[n].sampled) if n == 7 else rows[n],
    )  # fmt: skip
    command = ["learn", "roll", "--tries", "80", "--workers", "0", "--out", str(tmp_path), "--strength", "1.2"]
    assert main([*command, "--start", "lying"]) == 0
    err = capsys.readouterr().err
    assert "of 79 tries succeeded" in err and "1 more blew up and are left out" in err and "performing" not in err
    about = load_machine(tmp_path / "roll.npz").about
    assert about["strength"] == 1.2 and about["starts"] == ["lying"] and about["blown_up"] == 1
    for wrong, message in (
        (["--start", "flying"], "pushed, falling, lying"), (["--success", "so"], "stands, says"),
        (["--strength", "0"], "0.01 to 100"), (["--body", "no_such_body"], "no_such_body"),
    ):  # fmt: skip
        assert main([*command, *wrong]) == 2
        assert message in capsys.readouterr().err
