"""The same rows on a cluster, also where a node of it is lost in the middle."""

import os
import socket
import sys
import time

import pytest

from stunt.cli.main import main
from stunt.errors import StuntError
from stunt.jobs import ray_pool
from stunt.jobs.journal import NAME
from stunt.jobs.pool import ThisProcess
from stunt.many.batch import BatchRun
from stunt.many.plan import plan_from_data

JOBS = 40
PLAN = {"clips": ["walk", "jump"], "seeds": JOBS // 2, "seconds": 0.3, "pushes": ["30@0.1:thorax:random"]}


def tables(run, machine):
    """Run a plan in its folder; return its table."""
    with run.open():
        for _ in run.run(machine):
            pass
        return run.write_tables(("csv",))[0].read_bytes()


def test_a_node_killed_in_the_middle_loses_nothing_and_no_row_is_there_twice(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray.cluster_utils import Cluster

    node = {
        "num_cpus": 1,
        "object_store_memory": 80 * 2**20,
        "node_ip_address": "127.0.0.2",
    }  # Ray takes .1 for another
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        lost = cluster.add_node(**node)
        run = BatchRun(plan_from_data(PLAN), tmp_path / "cluster")
        with ray_pool.RayPool(cluster.address) as machine, run.open() as journal:
            assert machine.workers == 2
            nodes, ended = set(), 0
            for done in run.run(machine):
                assert not done.failed, done.row
                ended += 1
                nodes = {hand.node for hand in machine.hands if hand.there} or nodes
                if lost is not None and ended >= 4 and len(nodes) == 2:
                    cluster.remove_node(lost, allow_graceful=False)
                    lost = None
            assert lost is None, "both nodes have worked before one was lost"
            assert machine.lost >= 1 and ended == JOBS and journal.done == JOBS
            table = run.write_tables(("csv",))[0].read_bytes()
    finally:
        ray.shutdown()
        cluster.shutdown()
    lines = (tmp_path / "cluster" / NAME).read_bytes().splitlines()
    assert len(lines) == JOBS + 1
    assert table == tables(BatchRun(plan_from_data(PLAN), tmp_path / "here"), ThisProcess())


def test_a_cluster_that_cannot_be_reached_is_one_line_within_a_bounded_time(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setattr(ray_pool, "PATIENCE", 1.0)
    assert main(["batch", "walk", "--out", str(tmp_path / "out"), "--ray", address]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"'{address}' cannot be reached" in said
    assert not (tmp_path / "out").exists()


def test_something_that_listens_and_is_no_cluster_is_not_waited_for_without_end(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        monkeypatch.setattr(ray_pool, "ANSWER", 2.0)
        began = time.process_time()
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        assert main(["batch", "walk", "--out", str(tmp_path / "out"), "--ray", address]) == 2
    assert "does not answer like a Ray cluster" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and time.process_time() - began < 60.0


def test_a_cluster_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(StuntError, match=r"pip install 'stunt\[scale\]'"):
        ray_pool.RayPool("local")


def test_nobody_is_told_of_a_run(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    ray_pool._imported()
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
