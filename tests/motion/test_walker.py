"""Walking through a motion graph: along drawn paths, without sliding feet, the same whenever it is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from clip_helpers import needs_mocap
from graph_helpers import PATHS, captured_graph, own_graph

from stunt.errors import StuntError
from stunt.library.doctor import foot_slide
from stunt.motion.clips.edit import resampled
from stunt.motion.graph.along import walk_along
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.plants import BALL, FREE
from stunt.motion.graph.walker import FPS, MotionGraphWalker

BAR = 0.25  # mean distance from the path [m]
SLIDE = 0.03  # of a foot while it stands [m]


def slip(clip, parts):
    way, seconds = foot_slide(clip, parts)
    return way / seconds


def judge(graph, name):
    walked = walk_along(graph, PATHS[name])
    slides = walked.slides
    print(
        f"\n{name}: {walked.path.length:.1f} m in {walked.arrival:.1f} s, mean distance {walked.distance:.3f} m, "
        f"feet slide {slides.mean() * 1000:.1f} mm at the mean, {slides.max() * 1000:.1f} mm at most over "
        f"{len(slides)} plants; {len(walked.entered) - 1} transitions"
    )
    # The doctor's own eye, which knows nothing of the lock: slow and low feet slip no more than in the clips.
    seen = slip(walked.clip, walked.parts)
    clips = max(slip(source.clip, source.parts) for source in graph.sources)
    print(f"   seen from outside: {seen * 100:.1f} cm/s while planted; the worst clip {clips * 100:.1f} cm/s")
    assert seen <= clips
    assert walked.distance <= BAR
    assert slides.max() <= SLIDE
    assert 0.4 < (walked.plants != FREE).mean() < 0.95
    assert (walked.plants == BALL).mean() > 0.3
    return walked


@pytest.mark.parametrize("name", PATHS)
def test_the_own_walks_follow_a_drawn_path(name):
    walked = judge(own_graph(), name)
    end = walked.path.samples[-1, :2]
    assert np.linalg.norm(walked.clip.root[-1, :2] - end) < 0.6


@needs_mocap
@pytest.mark.parametrize("name", PATHS)
def test_captured_walks_follow_a_drawn_path(name):
    judge(captured_graph(), name)


def test_blends_jerk_no_more_than_the_clips_themselves():
    walked = walk_along(own_graph(), PATHS["corners"])

    def jerk(clip):
        _, angular = clip.frame_velocities
        return np.linalg.norm(np.diff(angular, axis=0), axis=-1).max()

    clips = max(jerk(resampled(source.clip, FPS)) for source in own_graph().sources)
    walk = jerk(walked.clip)
    print(f"\nlargest change of a joint's velocity between frames: clips {clips:.2f} rad/s, walk {walk:.2f} rad/s")
    assert walk < clips + 1.0
    assert np.abs(np.diff(walked.clip.root, axis=0)).max() < 2.0 / FPS


def test_a_walk_is_the_same_in_whatever_portions_it_is_asked_for():
    one, other = (MotionGraphWalker(own_graph(), PATHS["wave"]) for _ in range(2))
    whole = one.pose_at(5.0)
    for time in np.arange(0.0, 5.0, 0.13):
        other.pose_at(float(time))
    portions = other.pose_at(5.0)
    assert np.array_equal(whole.root, portions.root)
    assert np.array_equal(whole.rotations, portions.rotations)


def test_a_saved_walk_goes_on_bit_for_bit_after_a_detour():
    walker = MotionGraphWalker(own_graph(), PATHS["wave"])
    walker.pose_at(2.0)
    state = walker.save()
    there = walker.pose_at(6.0)
    walker.restore(state)
    walker.follow(PATHS["circle"])
    elsewhere = walker.pose_at(6.0)
    walker.restore(state)
    again = walker.pose_at(6.0)
    assert np.array_equal(there.root, again.root)
    assert np.array_equal(there.rotations, again.rotations)
    assert not np.array_equal(there.root, elsewhere.root)


def test_a_new_path_is_followed_from_where_the_walk_is():
    walker = MotionGraphWalker(own_graph(), PATHS["wave"])
    x, y, _ = walker.pose_at(4.0).root
    walker.follow(DrawnPath.through([(x, y), (x + 3.0, y), (x + 5.0, y + 3.0), (x + 5.0, y + 6.0)]))
    walker.pose_at(14.0)
    assert walker.arrived
    assert np.linalg.norm(walker.pose_at(14.0).root[:2] - [x + 5.0, y + 6.0]) < 0.6


def test_velocities_are_those_of_the_poses():
    walker = MotionGraphWalker(own_graph(), PATHS["wave"])
    walker.pose_at(5.0)
    root, angular = walker.velocities_at(3.0)
    step = 1.0 / FPS
    seen = (walker.pose_at(3.0 + step).root - walker.pose_at(3.0 - step).root) / (2 * step)
    assert root == pytest.approx(seen, abs=1e-9)
    assert angular.shape == (22, 3)


def test_a_walk_without_a_path_goes_straight_on_for_a_minute_and_forgets_what_is_past():
    walker = MotionGraphWalker(own_graph())
    root = walker.pose_at(60.0).root
    assert root[0] > 45.0
    assert abs(root[1]) < 0.1 * root[0]
    assert walker.begins > 50.0
    with pytest.raises(StuntError, match="has gone on"):
        walker.pose_at(1.0)


def test_a_walker_refuses_clips_it_does_not_have_and_times_that_are_none():
    with pytest.raises(StuntError, match="walk_turn"):
        MotionGraphWalker(own_graph(), start="moonwalk")
    with pytest.raises(StuntError, match="seconds"):
        MotionGraphWalker(own_graph()).pose_at(float("nan"))


BESIDE = [(0.1, 0.85, 95.0), (0.1, 0.85, 180.0), (2.0, -0.8, 0.0), (0.1, 0.0, 180.0), (4.0, 1.5, -100.0)]


@pytest.mark.parametrize("at", BESIDE)
def test_who_stands_beside_its_path_walks_a_way_back_to_it(at):
    path, (x, y, degrees) = DrawnPath.through([(0, 0), (4, 0), (8, 2), (12, 2)]), at
    walker, here = MotionGraphWalker(own_graph(), path), Planar(x, y, np.radians(degrees))
    source = walker.graph.source_number("idle")
    frame = int(np.argmax(walker.graph.kept[source]))
    track = Planar(*map(float, walker.graph.sources[source].ground_track[frame]))
    walker.begin_at(source, frame, here.then(track.inverse()))
    roots = np.array([walker.pose_at(time).root for time in np.arange(0.0, 12.0, 0.1)])
    assert path.distances(roots[-20:, :2]).max() < 0.5 and np.linalg.norm(roots[-1, :2] - [x, y]) > 3.0
    assert np.linalg.norm(np.diff(roots[:, :2], axis=0), axis=1).max() < 0.25  # it walks there


def test_a_way_back_begins_where_one_is_turns_no_tighter_than_told_and_ends_where_the_path_does():
    path, tightest = DrawnPath.through([(0, 0), (4, 0), (8, 2)]), 1.2
    for x, y, heading in ((0.0, 0.0, 0.0), (1.0, 1.0, np.pi), (2.0, -3.0, -1.5), (9.0, 5.0, 0.3)):
        way = path.way_back(x, y, heading, path.nearest(x, y), tightest).samples
        assert way[0, :2] == pytest.approx([x, y]) and way[-1, :2] == pytest.approx([8.0, 2.0])
        assert abs(np.remainder(way[5, 2] - heading + np.pi, 2 * np.pi) - np.pi) < 0.3
        turns = np.abs(np.diff(way[::10, 2])) / 0.2
        assert np.quantile(turns, 0.95) < 1.3 / tightest
    same = path.way_back(*path.samples[50], 50, tightest)
    assert path.distances(same.samples[:, :2]).max() < 0.03  # who is on it stays on it


def test_a_walk_that_is_moved_goes_on_from_there_without_a_jump():
    walker, by = MotionGraphWalker(own_graph()), Planar(1.0, -2.0, 0.7)
    before = walker.clip_until(3.0).at(2.9)
    walker.move(by)
    moved = by.pose(before)
    assert walker.pose_at(2.9).root == pytest.approx(moved.root)
    assert np.abs(walker.pose_at(2.9).rotations) == pytest.approx(np.abs(moved.rotations))
    clip = walker.clip_until(6.0)
    steps = np.linalg.norm(np.diff(clip.root, axis=0), axis=1)
    assert steps.max() < 2.0 / FPS  # not where what was made meets what was made after
