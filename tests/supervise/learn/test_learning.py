"""Learned pre-conditions: tries that can be repeated and resumed, machines that say how good they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stunt.errors import StuntError
from stunt.library.names import find_clip
from stunt.stage.event_specs import Push
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.contract import IDLE
from stunt.supervise.learn import samples as samples_module
from stunt.supervise.learn import training
from stunt.supervise.learn.bids import LearnedBid, is_up, off_balance
from stunt.supervise.learn.features import FEATURES, body_digest, features
from stunt.supervise.learn.samples import Samples, collect
from stunt.supervise.learn.svm import WrongBodyError, load_machine
from stunt.supervise.learn.training import train
from stunt.supervise.learn.trial import WHO, Sample, TrialPlan, pushed_stage, run_trial
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.situation import Situation

pytest.importorskip("sklearn", reason="learning needs scikit-learn (stunt[learn])")
BALANCE = TrialPlan("stunt.supervise.reflexes.balance:BalanceReflex")


def invented(count=400, seed=0):
    """Tries whose outcome depends on the features by a curved rule."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, len(FEATURES)))
    good = x[:, 0] + 0.7 * x[:, 3] + 0.4 * x[:, 0] * x[:, 3] < 0.2
    rows = enumerate(zip(x.tolist(), good, strict=True))
    made = tuple(Sample(number, tuple(row), bool(ok), "", ()) for number, (row, ok) in rows)
    return Samples(BALANCE, seed, "a body", made)


@pytest.fixture(scope="module")
def learned():
    return train(invented())


@pytest.fixture
def few_choices(monkeypatch):
    """Cross-validation among few machines: quick, where only the way there is tested."""
    monkeypatch.setattr(training, "_C", (1.0,))
    monkeypatch.setattr(training, "_GAMMA", (0.03,))


def test_a_try_is_the_same_with_the_same_seed_and_another_with_another():
    one, again = run_trial(BALANCE, 3, 1), run_trial(BALANCE, 3, 1)
    assert one == again
    assert run_trial(BALANCE, 3, 2).parameters != one.parameters
    assert len(one.features) == len(FEATURES)


def test_a_light_push_is_balanced_and_a_heavy_one_is_not():
    tries = [run_trial(BALANCE, 3, number) for number in range(12)]
    light = [t.success for t in tries if t.parameters[1] < 45.0]
    heavy = [t.success for t in tries if t.parameters[1] > 125.0]
    print(f"\n{sum(light)} of {len(light)} light pushes balanced, {sum(heavy)} of {len(heavy)} heavy ones")
    assert light and heavy
    assert np.mean(light) > np.mean(heavy)


def test_features_do_not_depend_on_where_one_is_and_faces():
    push = Push(f"{WHO}/thorax", 0.2, impulse=(40.0, 10.0, 0.0), duration=0.1)
    stage, actor = pushed_stage(BALANCE, "walk", push)
    stage.advance(40)
    here = features(stage, actor.character)
    root = actor.character.root
    spin, c, s = np.array([np.cos(0.6), 0.0, 0.0, np.sin(0.6)]), np.cos(1.2), np.sin(1.2)
    q, v = stage.data.qpos, stage.data.qvel
    from stunt.maths.rotations import multiply

    q[root.qpos + 3 : root.qpos + 7] = multiply(spin, q[root.qpos + 3 : root.qpos + 7])
    q[:2] = [c * q[0] - s * q[1] + 5.0, s * q[0] + c * q[1] - 2.0]
    v[:2] = [c * v[0] - s * v[1], s * v[0] + c * v[1]]
    assert features(stage, actor.character) == pytest.approx(here, abs=1e-9)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    tried = []

    def quick(plan, seed, number):
        tried.append(number)
        if len(tried) == 4:
            raise KeyboardInterrupt
        return Sample(number, (0.0,) * len(FEATURES), True, "", (float(number),))

    monkeypatch.setattr(samples_module, "run_trial", quick)
    file = tmp_path / "tries.jsonl"
    with pytest.raises(KeyboardInterrupt):
        collect(BALANCE, 6, file, workers=0)
    with open(file, "a") as out:
        out.write('{"number": 5, "fea')  # the line that was being written
    seen = []
    found = collect(BALANCE, 6, file, workers=0, progress=lambda done, of: seen.append((done, of)))
    assert tried == [0, 1, 2, 3, 3, 4, 5]
    assert [sample.number for sample in found.samples] == list(range(6))
    assert seen[0] == (3, 6) and seen[-1] == (6, 6)
    collect(BALANCE, 6, file, workers=0)
    assert len(tried) == 7


def test_tries_of_something_else_are_not_mixed_in(tmp_path, monkeypatch):
    monkeypatch.setattr(samples_module, "run_trial", lambda plan, seed, n: Sample(n, (0.0,) * 17, True, "", ()))
    file = tmp_path / "tries.jsonl"
    collect(BALANCE, 2, file, workers=0)
    with pytest.raises(StuntError, match="something else"):
        collect(BALANCE, 2, file, seed=1, workers=0)
    file.write_text(file.read_text().replace('"number": 0', '"number" 0'))
    with pytest.raises(StuntError, match="line 2"):
        collect(BALANCE, 2, file, workers=0)


def test_a_machine_is_judged_on_tries_it_has_not_seen(learned):
    data = invented()
    machine, judged = learned
    print(f"\nheld-out accuracy {judged.accuracy:.3f} of {judged.count}; guessing {judged.guess:.3f}")
    assert judged.count == 100
    assert judged.accuracy > 0.85 > 0.7 > judged.guess
    assert machine.about["data"] == data.digest
    chance = machine.chance(data.features)
    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance[data.success].mean() > 0.75 > 0.25 > chance[~data.success].mean()


def test_the_arrays_decide_as_scikit_learn_does():
    from sklearn.svm import SVC

    from stunt.supervise.learn.svm import SupportVectors

    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(80, 5)), rng.random(80) < 0.5
    svc = SVC(kernel="rbf", gamma=0.2, C=3.0).fit(x, y)
    own = SupportVectors(
        np.zeros(5), np.ones(5), svc.support_vectors_, svc.dual_coef_[0], float(svc.intercept_[0]), 0.2, 1.0, 0.0, {}
    )
    assert own.margin(x) == pytest.approx(svc.decision_function(x))


def test_rare_outcomes_count_as_much_as_frequent_ones(few_choices):
    data = invented(1600, seed=2)
    rare = tuple(s for s in data.samples if s.success or s.number % 6 == 0)
    machine, judged = train(Samples(BALANCE, 0, "a body", rare))
    print(f"\n{100 * judged.guess:.0f} % succeed; failures judged right: {judged.failures:.2f}")
    assert judged.failures > 0.6 and judged.guess > 0.85


def test_hardly_any_failure_is_nothing_to_learn_from():
    data = invented()
    with pytest.raises(StuntError, match="must succeed"):
        train(Samples(BALANCE, 0, "a body", tuple(s for s in data.samples if s.success)))


def test_a_stored_machine_is_the_same_again_and_a_broken_file_is_refused(tmp_path, learned):
    machine, _ = learned
    path = machine.save(tmp_path / "balance.npz")
    again = load_machine(path)
    x = invented(50, seed=9).features
    assert np.array_equal(machine.margin(x), again.margin(x))
    assert dict(again.about) == json.loads(json.dumps(dict(machine.about)))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(StuntError, match="no learned pre-condition"):
        load_machine(path)
    np.savez(path, json=np.array([object()], dtype=object))
    with pytest.raises(StuntError, match="no learned pre-condition"):
        load_machine(path)
    with pytest.raises(StuntError, match="there is no"):
        load_machine(tmp_path / "none.npz")


def stage_of(strength=1.5):
    body = CharacterSpec(str(find_clip("idle")), root="free", strength=strength)
    return StageLoop(Scene(characters={"ada": body}))


def test_a_machine_made_for_another_body_is_refused(few_choices):
    stage, weaker = stage_of(), stage_of(1.0)
    digests = [body_digest(s.model, s.character("ada")) for s in (stage, weaker)]
    assert digests[0] != digests[1]
    assert digests[0] == body_digest(stage_of().model, stage_of().character("ada"))
    data = invented(200)
    machine, _ = train(Samples(BALANCE, 0, digests[0], data.samples))
    LearnedBid(RagDoll(), machine, stage, "ada")
    with pytest.raises(WrongBodyError, match="stunt learn"):
        LearnedBid(RagDoll(), machine, weaker, "ada")


def test_a_controller_with_a_poor_chance_steps_back_for_a_rival_with_a_better_one_only(few_choices):
    stage = stage_of()
    digest = body_digest(stage.model, stage.character("ada"))
    here = features(stage, stage.character("ada"))
    rng = np.random.default_rng(0)
    x = here + rng.normal(size=(200, len(FEATURES))) * 0.3
    machines = {}
    for upright in (True, False):
        good = (x[:, 8] < here[8] + 0.15) == upright
        data = tuple(Sample(k, tuple(row), bool(ok), "", ()) for k, (row, ok) in enumerate(zip(x, good, strict=True)))
        machines[upright], _ = train(Samples(BALANCE, 0, digest, data))
    now = Situation(stage, stage.character("ada"))
    cases = ((True, [], None), (False, [], None), (False, [True], IDLE + 1), (True, [False], None))
    for good, rivals, expected in cases:
        bidder = LearnedBid(RagDoll(), machines[good], stage, "ada", rivals=[machines[one] for one in rivals])
        bid = bidder.bid(now)
        assert bid.priority == expected
        assert "learned" in bid.why


def test_help_is_offered_to_who_is_on_its_feet_only():
    stage = stage_of()
    seen = features(stage, stage.character("ada"))
    assert is_up(seen) and not off_balance(seen)
    pushed, lying = seen.copy(), seen.copy()
    pushed[FEATURES.index("capture_left")] = 0.3
    lying[FEATURES.index("com_up")] = 0.2
    assert is_up(pushed) and off_balance(pushed)
    assert not is_up(lying)


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff\xfe\n",
        b'{"number": 9}\n',
        b"[" * 5000 + b"\n",
        b'{"number": 9, "features": ["x"], "success": 1}\n',
        b"3\n",
    ],
)
def test_damaged_tries_are_refused_in_a_sentence(tmp_path, damage):
    file = tmp_path / "tries.jsonl"
    header = samples_module._header(BALANCE, 0, "d")
    good = Sample(0, (0.0,) * len(FEATURES), True, "", ())
    whole = f"{json.dumps(header)}\n{json.dumps(samples_module._line(good))}\n".encode()
    file.write_bytes(whole)
    assert samples_module._begun(file, header) == {0: good}
    file.write_bytes(whole + damage + whole.split(b"\n")[1] + b"\n")
    with pytest.raises(StuntError, match="line|try") as refused:
        samples_module._begun(file, header)
    assert len(str(refused.value)) < 1000
