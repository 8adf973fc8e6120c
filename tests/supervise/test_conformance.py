"""The conformance checker: over everything registered, wrappers, and controllers that break the contract."""

import json

import numpy as np
import pytest
from helpers import Stand, make_stage, player

from stunt.cli.main import main
from stunt.errors import StuntError, UnknownNameError
from stunt.supervise.conformance import check_controller
from stunt.supervise.contract import RUNNING, Bid, Controller, Status, succeeded
from stunt.supervise.registry import make_controller, maker_of, registered
from stunt.supervise.supervisor import Supervisor
from stunt.supervise.wrappers import WithPrecondition, from_function, from_policy, observation, onnx_policy


@pytest.mark.parametrize("name", registered())
def test_every_registered_controller_keeps_the_contract(name):
    found = check_controller(lambda stage, who: make_controller(name, stage, who), name=name)
    print(f"\n{name}: {found.trials}")
    assert found.ok, found.broken
    assert any(words.startswith("bids") for words in found.trials.values()), "never bid, so it was never started"


@pytest.mark.parametrize("clip", ["idle", "walk", "kick"])
def test_clip_players_keep_the_contract(clip):
    found = check_controller(lambda stage, who: player(stage, clip, who))
    assert found.ok and found.kinematic, found.broken


def test_a_wrapped_function_keeps_the_contract():
    found = check_controller(lambda stage, who: from_function("bow", lambda now: {"lumbar": [0.0, 0.4, 0.0]}))
    assert found.ok, found.broken


def test_a_wrapped_policy_keeps_the_contract_and_drives_the_body():
    rng = np.random.default_rng(3)
    sizes = []

    def policy(observed):
        sizes.append(observed.shape)
        return 0.1 * np.tanh(rng.standard_normal((63, observed.size)) @ observed)

    weights = rng.standard_normal((63, 4 + 1 + 84 + 69)) * 0.01
    found = check_controller(lambda stage, who: from_policy("net", lambda observed: weights @ observed, scale=0.5))
    assert found.ok, found.broken
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [from_policy("net", policy)])
    before = stage.data.qpos[7:].copy()
    stage.step(0.3)
    assert supervisor.running == "net" and sizes and abs(stage.data.qpos[7:] - before).max() > 0.01
    assert observation(supervisor.look()).shape == sizes[0]


def test_a_policy_of_the_wrong_size_is_taken_out_with_what_was_expected():
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [from_policy("net", lambda observed: np.zeros(3))])
    assert "63 numbers" in supervisor.removed["net"]


def test_an_onnx_policy_without_its_runtime_or_file_says_so(tmp_path):
    with pytest.raises(StuntError, match="onnxruntime|no ONNX network"):
        onnx_policy(tmp_path / "missing.onnx")


def test_a_precondition_from_outside_decides_and_scores():
    stage = make_stage()
    never, half = WithPrecondition(Stand("a"), lambda now: False), WithPrecondition(Stand("b"), lambda now: 0.25)
    supervisor = Supervisor(stage, "ada", [never, half])
    assert supervisor.running == "b" and supervisor.log[0]["bids"][0]["score"] == 0.25
    assert isinstance(never, Controller)


class Moves(Stand):
    def bid(self, now):
        now.stage.data.qpos[0] += 0.1
        return 0.5


class Silent(Stand):
    def step(self, now, actor):
        return Status("succeeded") if now.elapsed > 0.1 else RUNNING


class Forgets(Stand):
    def __init__(self):
        super().__init__("forgets")
        self.count = 0

    def step(self, now, actor):
        self.count += 1
        actor.strength(0.2 if self.count > 25 else 1.0)
        return RUNNING

    def save(self):
        return None

    def restore(self, state):
        pass


class Exits(Stand):
    def step(self, now, actor):
        raise SystemExit(3)


class Idler(Stand):
    """Does nothing to the actor, so a body on data stays on it."""

    def start(self, now, actor, bid):
        pass


class Late(Stand):
    """Bids only once something has hit it, and then breaks."""

    hurt = False

    def bid(self, now):
        self.hurt = self.hurt or bool(now.hits)
        return 0.5 if self.hurt else None

    def step(self, now, actor):
        raise RuntimeError("ouch")


class Fickle(Stand):
    asked = 0

    def bid(self, now):
        Fickle.asked += 1
        return Bid(0.5, str(Fickle.asked))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Moves, "moved the body while bidding"), (Silent, "without saying why"), (Fickle, "asked twice"),
        (Forgets, "after save and restore"), (Exits, "SystemExit(3)"), (Late, "raised in step: RuntimeError"),
        (Idler, "on data: is declared otherwise, but left the body kinematic in start"),
        (lambda: 3, "has no method 'bid'"),
        (lambda: 1 / 0, "cannot be made"),
    ],
)  # fmt: skip
def test_the_checker_finds_what_is_wrong(make, sentence):
    found = check_controller(lambda stage, who: make())
    assert not found.ok and any(sentence in broken for broken in found.broken), found.broken


def test_the_command_line_checks_a_users_own_class(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine_to_check.py").write_text(
        "from stunt.supervise.contract import BaseController, succeeded\n"
        "class Good(BaseController):\n"
        "    def start(self, now, actor, bid):\n        actor.aim(now.qpos)\n"
        "    def step(self, now, actor):\n"
        "        return succeeded('enough') if now.elapsed > 0.5 else super().step(now, actor)\n"
        "class Bad(Good):\n"
        "    def step(self, now, actor):\n        return 42\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "mine_to_check:Good"]) == 0
    out = capsys.readouterr().out
    assert "keeps the contract" in out
    columns = {line.index("bids") for line in out.splitlines() if " bids " in line}
    assert len(columns) == 1, out
    assert main(["check", "mine_to_check:Bad", "--json"]) == 2
    data = json.loads(capsys.readouterr().out)
    assert not data["ok"] and "returned 42" in data["broken"][0]
    assert main(["check", "mine_to_check:Nobody"]) == 2
    assert "cannot be loaded" in capsys.readouterr().err


def test_unknown_names_say_which_there_are():
    with pytest.raises(UnknownNameError, match="rag_doll"):
        maker_of("rag_dol")


def test_third_parties_register_by_entry_point(monkeypatch):
    from importlib.metadata import EntryPoint

    from stunt.supervise import registry

    point = EntryPoint("limp", "stunt.supervise.rag_doll:RagDoll", registry.GROUP)
    monkeypatch.setattr(registry, "_foreign", lambda: {"limp": point})
    assert "limp" in registered()
    stage = make_stage()
    assert Supervisor(stage, "ada", [make_controller("limp", stage, "ada")]).running == "rag doll"


def test_succeeding_needs_no_more_than_a_reason():
    assert succeeded("done").state == "succeeded" and not succeeded("done").running
