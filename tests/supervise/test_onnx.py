"""A network from an ONNX file as a controller."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from stunt.cli.main import main
from stunt.errors import StuntError
from stunt.library.names import find_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.conformance import check_controller
from stunt.supervise.supervisor import Supervisor
from stunt.supervise.wrappers import from_policy, observation, onnx_policy

SEEN, DONE, HIDDEN = 158, 63, 16  # of the own clips' skeleton


def network(path, seed=0):
    """Write a small network with random weights; return its forward pass in NumPy."""
    onnx = pytest.importorskip("onnx", reason="needs the package onnx to write a network")
    pytest.importorskip("onnxruntime", reason="needs onnxruntime to run a network")
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    first, second = 0.1 * rng.normal(size=(SEEN, HIDDEN)), 0.3 * rng.normal(size=(HIDDEN, DONE))
    weights = {"first": first.astype(np.float32), "second": second.astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["seen", "first"], ["hidden"]),
        helper.make_node("Tanh", ["hidden"], ["bent"]),
        helper.make_node("MatMul", ["bent", "second"], ["done"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, count])
        for name, count in (("seen", SEEN), ("done", DONE))
    ]
    inside = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], inside)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return lambda seen: np.tanh(seen @ weights["first"]) @ weights["second"]


def person():
    return Scene(characters={"ada": CharacterSpec(str(find_clip("idle")), root="free", strength=1.5)})


def test_a_network_says_what_its_layers_say(tmp_path):
    plain = network(tmp_path / "policy.onnx")
    policy = onnx_policy(tmp_path / "policy.onnx")
    seen = np.random.default_rng(1).normal(size=SEEN).astype(np.float32)
    assert policy(seen) == pytest.approx(plain(seen), abs=1e-5)
    assert np.array_equal(policy(seen), policy(seen))


def test_a_network_keeps_the_contract(tmp_path):
    network(tmp_path / "policy.onnx")
    report = check_controller(
        lambda stage, name: from_policy("net", onnx_policy(tmp_path / "policy.onnx"), scale=0.2, longest=20.0)
    )
    print(report)
    assert report.ok


def test_a_network_drives_a_body_to_the_pose_it_wants(tmp_path):
    network(tmp_path / "policy.onnx")
    net = from_policy("net", onnx_policy(tmp_path / "policy.onnx"), scale=0.5, longest=20.0)
    driven, left = StageLoop(person()), StageLoop(person())
    supervisor = Supervisor(driven, "ada", [net])
    still = Supervisor(left, "ada", [from_policy("zero", lambda seen: np.zeros(DONE), longest=20.0)])
    seen = observation(supervisor.look())
    for stage in (driven, left):
        stage.step(0.6)
    assert seen.shape == (SEEN,) and supervisor.running == "net" and still.running == "zero"
    assert not supervisor.removed
    apart = float(np.abs(driven.data.qpos[7:] - left.data.qpos[7:]).max())
    print(f"\njoints differ by up to {apart:.2f} from those of a network that wants nothing")
    assert np.isfinite(driven.data.qpos).all() and apart > 0.1


def test_what_is_no_network_is_refused(tmp_path):
    pytest.importorskip("onnxruntime", reason="needs onnxruntime to run a network")
    (tmp_path / "broken.onnx").write_bytes(b"not a network")
    for name in ("broken.onnx", "missing.onnx"):
        with pytest.raises(StuntError, match=f"{name}' is no ONNX network"):
            onnx_policy(tmp_path / name)


def asks(path, what):
    """Write a small network that asks for much: memory, or time; at once, or for some of what it may be given."""
    pytest.importorskip("onnx", reason="needs the package onnx to write a network")
    pytest.importorskip("onnxruntime", reason="needs onnxruntime to run a network")
    from onnx import TensorProto, helper, numpy_helper

    def end(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8])

    numbers = {"big": np.array([3 * 10**9]), "long": np.array(10**12), "yes": np.array(True), "flat": np.array([0])}
    if what == "memory":
        nodes = [
            helper.make_node("ReduceSum", ["seen"], ["sum"], keepdims=0),
            helper.make_node("Cast", ["sum"], ["whole"], to=TensorProto.INT64),
            helper.make_node("Mul", ["big", "whole"], ["shape"]),
            helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
            helper.make_node("ReduceMean", ["zeros"], ["mean"], keepdims=0),
            helper.make_node("Add", ["seen", "mean"], ["done"]),
        ]
    else:
        inner = [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Sin", ["value"], ["next"])]
        truth = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("go", "goes")]
        count = helper.make_tensor_value_info("count", TensorProto.INT64, [])
        body = helper.make_graph(inner, "body", [count, truth[0], end("value")], [truth[1], end("next")])
        nodes = [helper.make_node("Loop", ["long", "yes", "seen"], ["done"], body=body)]
        if what == "time now and then":
            nodes[:0] = [
                helper.make_node("ReduceSum", ["seen"], ["sum"], keepdims=0),
                helper.make_node("Cast", ["sum"], ["often"], to=TensorProto.INT64),
                helper.make_node("Mul", ["long", "often"], ["turns"]),
            ]
            nodes[-1].input[0] = "turns"
    inside = [numpy_helper.from_array(values, name) for name, values in numbers.items()]
    graph = helper.make_graph(nodes, "policy", [end("seen")], [end("done")], inside)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def test_a_network_that_asks_for_much_is_refused_when_it_is_read_or_when_it_does(tmp_path, capfd):
    with pytest.raises(StuntError, match="does not come to an end"):
        onnx_policy(asks(tmp_path / "long.onnx", "time"))
    greedy = onnx_policy(asks(tmp_path / "big.onnx", "memory"))
    assert greedy(np.zeros(8)) == pytest.approx(0.0)
    with pytest.raises(StuntError, match="cannot be run on 8 numbers.*smaller than requested"):
        greedy(np.full(8, 0.125))
    slow = onnx_policy(asks(tmp_path / "slow.onnx", "time now and then"))
    assert slow(np.zeros(8)) == pytest.approx(0.0)
    for _ in range(2):  # it can be asked again
        with pytest.raises(StuntError, match="cannot be run on 8 numbers.*terminate"):
            slow(np.full(8, 0.125))
    assert slow(np.zeros(8)) == pytest.approx(0.0)
    assert not "".join(capfd.readouterr())


@pytest.mark.parametrize("where", ["/dev/zero", "pipe"])
def test_a_network_that_is_no_file_is_refused_at_once(tmp_path, monkeypatch, where):
    pytest.importorskip("onnxruntime", reason="needs onnxruntime to run a network")
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(StuntError, match="it is no file"):
        onnx_policy(where)


def test_without_the_package_the_error_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(StuntError, match=r"pip install 'stunt\[onnx\]'"):
        onnx_policy("walker.onnx")
    (tmp_path / "mine_onnx.py").write_text(
        "from stunt.supervise.wrappers import from_policy, onnx_policy\n"
        "def walker(): return from_policy('walker', onnx_policy('walker.onnx'))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["check", "mine_onnx:walker"]) == 2
    assert "pip install 'stunt[onnx]'" in capsys.readouterr().out
