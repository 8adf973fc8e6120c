"""Motion graphs: what a transition is, that nothing runs into a dead end, and that maps are kept safely."""

from __future__ import annotations

import numpy as np
import pytest
from clip_helpers import random_clip
from graph_helpers import own_graph
from scipy.optimize import minimize

from stunt.errors import StuntError
from stunt.library.names import load_clip
from stunt.motion.graph import build as build_module
from stunt.motion.graph.build import GraphSettings, build_graph
from stunt.motion.graph.distance import alignment, distance_map, local_minima, make_clouds
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.footlock import with_ankle_at
from stunt.motion.graph.planar import Planar


def clouds_of(seed, half=2, frames=9):
    rng = np.random.default_rng(seed)
    return make_clouds(rng.normal(size=(frames, 5, 3)), half)


def test_the_best_move_over_the_ground_is_found_back_exactly():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(9, 5, 3))
    move = Planar(0.7, -1.3, 2.1)
    one, other = make_clouds(points, 2), make_clouds(move.inverse().points(points), 2)
    found = alignment(one, other, 3, 3)
    assert (found.x, found.y, found.turn) == pytest.approx((move.x, move.y, move.turn))
    assert distance_map(one, other)[3, 3] == pytest.approx(0.0, abs=1e-7)


def test_no_other_move_brings_two_clouds_closer_than_the_closed_form():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(5, 5, 3)), rng.normal(size=(5, 5, 3))
    one, other = make_clouds(a, 2), make_clouds(b, 2)

    def off(v):
        return np.sqrt(((a.reshape(-1, 3) - Planar(*v).points(b.reshape(-1, 3))) ** 2).sum(axis=1).mean())

    best = min(minimize(off, [0, 0, turn], tol=1e-10).fun for turn in np.linspace(-3, 3, 7))
    closed = alignment(one, other, 0, 0)
    assert distance_map(one, other)[0, 0] == pytest.approx(best, rel=1e-6)
    assert off([closed.x, closed.y, closed.turn]) == pytest.approx(best, rel=1e-6)


def test_the_map_the_other_way_round_is_the_transpose():
    one, other = clouds_of(3), clouds_of(4, frames=11)
    assert np.allclose(distance_map(one, other), distance_map(other, one).T)


def test_of_minima_close_together_only_the_lowest_counts():
    costs = np.full((20, 20), 1.0)
    costs[5, 5], costs[6, 7], costs[15, 4] = 0.1, 0.05, 0.2
    assert local_minima(costs, 0.5, 1, 4).tolist() == [[6, 7], [15, 4]]
    assert len(local_minima(np.zeros((40, 40)), 0.5, 1, 4)) <= 64


def test_from_every_kept_frame_every_other_kept_one_is_reached():
    graph = own_graph()
    starts = np.concatenate([[0], np.cumsum([source.frames for source in graph.sources])])
    kept = np.concatenate(graph.kept)
    inside = set(np.flatnonzero(kept).tolist())
    after = {k: [k + 1] for k in inside if k + 1 in inside and k + 1 not in starts}
    for t in graph.transitions:
        after.setdefault(int(starts[t.source] + t.leave), []).append(int(starts[t.target] + t.arrive))
    for first in (int(np.flatnonzero(kept)[0]), int(np.flatnonzero(kept)[-1])):
        seen, pending = {first}, [first]
        while pending:
            for there in after.get(pending.pop(), ()):
                if there not in seen:
                    seen.add(there)
                    pending.append(there)
        assert seen == inside
    print(f"\nown walks: {graph.found} transitions found, {len(graph.transitions)} kept, {graph.seconds:.1f} s")


def test_a_clip_that_leads_nowhere_is_cut_off():
    clips = [load_clip("walk?loop=true"), load_clip("stand_up")]
    graph = build_graph(clips, GraphSettings(mirror=False, most=0.05))
    assert graph.kept[0].any()
    assert not graph.kept[1].any()


def test_clips_without_any_way_on_are_refused_with_a_reason():
    with pytest.raises(StuntError, match="goes on for ever"):
        build_graph([load_clip("stand_up")], GraphSettings(mirror=False, most=0.01))


def test_clips_that_do_not_go_together_are_refused():
    with pytest.raises(StuntError, match="different joints"):
        build_graph([load_clip("walk"), random_clip()])
    with pytest.raises(StuntError, match="at least one"):
        build_graph([])
    with pytest.raises(StuntError, match="different names"):
        build_graph([load_clip("walk"), load_clip("walk")])
    with pytest.raises(StuntError, match="no joint that is"):
        build_graph([random_clip()])
    with pytest.raises(StuntError, match="positive"):
        GraphSettings(blend=float("nan"))


@pytest.mark.parametrize("points", [[(0, 0)], [(0, 0), (0, 0)], [(0, 0), (np.nan, 1)], [(0, 0), (1e9, 0)]])
def test_a_path_that_is_none_is_refused(points):
    with pytest.raises(StuntError, match="path"):
        DrawnPath.through(points)


def test_a_path_goes_through_its_points_at_even_steps():
    points = [(0, 0), (3, 1), (4, 4), (0, 5)]
    path = DrawnPath.through(points)
    assert path.distances(np.array(points, float)).max() < 0.011
    steps = np.linalg.norm(np.diff(path.samples[:-1, :2], axis=0), axis=1)
    assert steps == pytest.approx(np.full(len(steps), 0.02), rel=0.02)


SMALL = GraphSettings(mirror=False)


def small_clips():
    return [load_clip("walk?loop=true"), load_clip("walk_turn")]


def test_maps_are_kept_and_found_again_and_make_the_same_graph(tmp_path, monkeypatch):
    plain = build_graph(small_clips(), SMALL)
    first = build_graph(small_clips(), SMALL, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(build_module, "distance_map", never)
    again = build_graph(small_clips(), SMALL, cache=tmp_path)
    assert plain.transitions == first.transitions == again.transitions


def test_a_broken_map_is_made_again_and_an_unwritable_cache_does_no_harm(tmp_path):
    first = build_graph(small_clips(), SMALL, cache=tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert build_graph(small_clips(), SMALL, cache=tmp_path).transitions == first.transitions
    file = tmp_path / "file"
    file.write_text("no folder")
    assert build_graph(small_clips(), SMALL, cache=file).transitions == first.transitions


def test_an_interrupted_write_leaves_no_map_behind(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        build_graph(small_clips(), SMALL, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_another_motion_finds_no_map_of_this_one(tmp_path):
    build_graph(small_clips(), SMALL, cache=tmp_path)
    count = len(list(tmp_path.iterdir()))
    build_graph([load_clip("walk?loop=true"), load_clip("walk_curve")], SMALL, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == count + 2


def test_a_leg_reaches_for_where_its_ankle_should_be_and_the_foot_keeps_its_orientation():
    source = own_graph().sources[1]
    clip, parts = source.clip, source.parts
    pose = clip.at(np.linspace(0.0, clip.duration, 50))
    world = clip.world_of(pose)
    leg = (parts["l_thigh"], parts["l_shank"], parts["l_foot"])
    target = world.positions[:, leg[2]] + np.array([-0.03, 0.04, 0.05])
    moved = clip.world_of(with_ankle_at(clip, pose, world, leg, target))
    reachable = np.linalg.norm(target - world.positions[:, leg[0]], axis=1) < 0.99 * 0.84
    assert reachable.mean() > 0.7
    assert np.abs(moved.positions[reachable, leg[2]] - target[reachable]).max() < 1e-6
    turned = np.abs(np.sum(moved.rotations[:, leg[2]] * world.rotations[:, leg[2]], axis=-1))
    assert turned == pytest.approx(np.ones(50))
    others = [j for j in range(len(clip.skeleton)) if j not in leg and clip.skeleton.parents[j] not in leg]
    assert np.abs(moved.positions[:, others] - world.positions[:, others]).max() < 1e-9
