"""What a clip becomes before a body follows it on its own feet."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from captured import MOCAP, SHARED
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.own.centroidal import GRAVITY, plan_path
from stunt.drive.own.feasible import Reference
from stunt.drive.own.footholds import _keeps_still, _swivelled_back, _taps
from stunt.drive.own.reference import SLOW, make_reference
from stunt.drive.own.smoothing import smoothed
from stunt.drive.own.soles import drawn_in, two_feet
from stunt.drive.own.whole_body import BodyInMotion, sole_points
from stunt.errors import BodyError
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.motion.clips.standing import stretches
from stunt.motion.rig.other_body import sole_geoms
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


@cache
def stage_of(clip: str) -> StageLoop:
    return StageLoop(Scene({"a": CharacterSpec(clip, root="free")}, physics_hz=480.0, control_hz=120.0))


@cache
def reference_of(clip: str) -> Reference:
    stage = stage_of(clip)
    character = stage.character("a")
    motion = motion_of_clip(load_clip(clip), character)
    return make_reference(stage.model, character, motion, sole_geoms(stage.model, character))


def sole_geoms_of(clip: str) -> list[int]:
    return sole_geoms(stage_of(clip).model, stage_of(clip).character("a"))


def points_of(clip: str) -> list[np.ndarray]:
    stage = stage_of(clip)
    character, motion = stage.character("a"), reference_of(clip).motion
    body = BodyInMotion.of(stage.model, character, motion.qpos, motion.fps)
    feet = two_feet(stage.model, character, sole_geoms(stage.model, character))
    return [sole_points(foot, character.root_body, body.places, body.turns) for foot in feet]


def test_smoothing_keeps_the_slope_at_the_ends() -> None:
    ramp = np.outer(np.arange(50.0), [0.1, -0.3])
    assert smoothed(ramp, 5.0) == pytest.approx(ramp, abs=1e-9)
    jitter = np.random.default_rng(0).normal(size=(200, 1))
    assert smoothed(jitter, 5.0).std() < 0.4 * jitter.std()


@pytest.mark.parametrize("clip", ["walk", "idle"])
def test_points_that_carry_are_on_the_ground(clip: str) -> None:
    reference = reference_of(clip)
    for foot, points in enumerate(points_of(clip)):
        carries = reference.carries[:, foot, : points.shape[1]]
        assert carries.any()
        # All but the frames in which a foot comes down or leaves, over which changes are eased.
        assert np.quantile(np.abs(points[..., 2][carries]), 0.97) < 0.008
        assert points[..., 2].min() > -0.01  # nor does anything else sink in


@pytest.mark.parametrize("clip", ["walk", "walk_turn"])
def test_a_foot_that_stands_stays_where_it_is(clip: str) -> None:
    reference = reference_of(clip)
    for foot, points in enumerate(points_of(clip)):
        carries = reference.carries[:, foot, : points.shape[1]]
        for point in range(points.shape[1]):
            for start, end in stretches(carries[:, point]):
                if end - start > 5:
                    assert np.ptp(points[start + 2 : end - 2, point, :2], axis=0).max() < 0.03


@pytest.mark.parametrize("clip", ["walk", "walk_turn"])
def test_the_zero_moment_point_of_the_path_is_inside_the_support(clip: str) -> None:
    """By finite differences of the path alone, with its angular momentum, not by what the planner says of it."""
    reference, stage = reference_of(clip), stage_of(clip)
    plan, fps = reference.plan, reference.motion.fps
    mass = stage.character("a").mass
    push = np.gradient(np.gradient(plan.com, 1.0 / fps, axis=0), 1.0 / fps, axis=0)
    moment = np.gradient(plan.momentum, 1.0 / fps, axis=0)
    carried = GRAVITY + push[:, 2]
    zmp_x = plan.com[:, 0] - (plan.com[:, 2] * push[:, 0] + moment[:, 1] / mass) / carried
    zmp_y = plan.com[:, 1] - (plan.com[:, 2] * push[:, 1] - moment[:, 0] / mass) / carried
    points = points_of(clip)
    outside = []
    for frame in range(4, len(carried) - 4):
        used = [p[frame][reference.carries[frame, foot, : p.shape[1]], :2] for foot, p in enumerate(points)]
        some = np.concatenate(used)
        low, high = some.min(axis=0), some.max(axis=0)
        spot = np.array([zmp_x[frame], zmp_y[frame]])
        outside.append(np.maximum(np.maximum(low - spot, spot - high), 0.0).max())
    assert np.quantile(outside, 0.9) < 0.03
    assert reference.plan.outside[1].max() < 0.01 < reference.plan.outside[0].max()  # the clip's own was not


@pytest.mark.parametrize("size", [0.6, 1.5])
def test_a_body_of_another_size_is_planned_alike(size: float) -> None:
    """Lengths as its size, times as the square root of that: the same path, the same lean, the same push."""
    stage = stage_of("walk")
    character, fps = stage.character("a"), 120.0
    body = BodyInMotion.of(stage.model, character, reference_of("walk").motion.qpos, fps)
    carries, points = list(np.moveaxis(reference_of("walk").carries, 1, 0)), points_of("walk")
    tempo, mass = np.sqrt(size), character.mass
    grown = plan_path(body, points, carries, mass, fps, 1.0)
    other = plan_path(
        replace(body, com=body.com * size, momentum=body.momentum * size * tempo, inertia=body.inertia * size**2),
        [some * size for some in points], carries, mass, fps / tempo, size,
    )  # fmt: skip
    rates = {"com": size, "velocity": tempo, "acceleration": 1.0, "momentum": size * tempo, "moment": size}
    for name, factor in (*rates.items(), ("zmp", size), ("lean", 1.0), ("outside", size)):
        assert getattr(other, name) == pytest.approx(getattr(grown, name) * factor, rel=1e-6, abs=1e-6)


def test_little_is_changed_and_it_is_told() -> None:
    notes = reference_of("idle").notes
    assert notes.feasible and notes.pose_deg < 0.5 and notes.com_m < 0.005
    assert notes.stands == 1.0 and notes.flight == 0.0


def test_who_walks_out_of_the_last_frame_comes_to_stand() -> None:
    reference = reference_of("walk")
    clip = load_clip("walk")
    assert len(reference.motion.qpos) / reference.motion.fps > clip.duration + 0.8
    assert np.linalg.norm(reference.plan.velocity[-20:, :2], axis=1).max() < SLOW
    assert reference.stands[-40:].all()
    idle = reference_of("idle")
    assert len(idle.motion.qpos) == round(load_clip("idle").duration * idle.motion.fps) + 1  # who stands is left alone


def test_a_reference_is_moved_over_the_ground_as_a_whole() -> None:
    reference = reference_of("walk")
    moved = reference.moved((1.0, -2.0, 0.7), 0.3)
    there = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    assert moved.plan.com[:, :2] == pytest.approx(reference.plan.com[:, :2] @ there.T + [1.0, -2.0])
    assert moved.plan.com[:, 2] == pytest.approx(reference.plan.com[:, 2] + 0.3)
    assert moved.places[:, 0, :2] == pytest.approx(reference.places[:, 0, :2] @ there.T + [1.0, -2.0])
    assert moved.plan.velocity[:, :2] == pytest.approx(reference.plan.velocity[:, :2] @ there.T)
    assert moved.velocity[:, 3:] == pytest.approx(reference.velocity[:, 3:])  # turns are in the body's own frame


def test_a_capture_that_hovers_is_put_down_and_one_that_falls_all_the_way_is_refused() -> None:
    stage = stage_of("idle")
    character = stage.character("a")
    soles, motion = sole_geoms(stage.model, character), motion_of_clip(load_clip("idle"), character)
    assert make_reference(stage.model, character, motion.raised(0.6), soles).stands.all()
    fall = motion.trimmed(0.0, 0.6)
    times = np.arange(len(fall.qpos)) / fall.fps
    falls = replace(
        fall, qpos=fall.qpos + np.outer(3.0 - 0.5 * GRAVITY * times**2, np.eye(1, fall.qpos.shape[1], 2)[0])
    )
    with pytest.raises(BodyError, match="hardly ever"):
        make_reference(stage.model, character, falls, soles)


def test_a_body_with_one_foot_is_refused_in_words() -> None:
    stage = stage_of("idle")
    character = stage.character("a")
    with pytest.raises(BodyError, match="needs two"):
        two_feet(stage.model, character, sole_geoms(stage.model, character)[:1])


@pytest.mark.skipif(not (MOCAP / "cmu").is_dir(), reason="no captures beside the repository")
@pytest.mark.parametrize(("clip", "feasible"), [("gesture__141_16_wave_hello", False), ("idle__140_07_idle", True)])
def test_a_motion_that_had_to_become_another_is_not_called_feasible(clip: str, feasible: bool) -> None:
    notes = reference_of(str(MOCAP / "cmu" / f"{clip}.bvh")).notes
    assert notes.feasible == feasible
    assert feasible or "had to be" in notes.why


@pytest.mark.parametrize("clip", ["walk", "idle"])
def test_soles_drawn_in_from_their_edges_stay_as_deep_as_they_are(clip: str) -> None:
    stage = stage_of(clip)
    for foot in two_feet(stage.model, stage.character("a"), sole_geoms(stage.model, stage.character("a"))):
        drawn = drawn_in(stage.model, foot, 0.8)
        for owner, up in ((foot.body, foot.normal), (foot.toe, foot.toe_up)):
            own = foot.owners == owner
            assert drawn[own] @ up == pytest.approx(foot.points[own] @ up, abs=1e-9)
            sides = [np.linalg.norm(p[own][0] - p[own][-1]) for p in (drawn, foot.points)]
            level = (foot.points[own][0] - foot.points[own][-1]) @ up
            assert sides[0] ** 2 - level**2 == pytest.approx(0.64 * (sides[1] ** 2 - level**2))


def sole_path(lift: np.ndarray, slide: np.ndarray) -> np.ndarray:
    """Return four points of a sole that is lifted and slides ahead over frames [m], (F, 4, 3)."""
    corners = np.array([[-0.1, -0.04, 0.0], [-0.1, 0.04, 0.0], [0.1, -0.04, 0.0], [0.1, 0.04, 0.0]])
    moved = np.column_stack([slide, np.zeros_like(slide), lift])
    return np.asarray(corners + moved[:, None])


def test_a_foot_that_taps_in_place_stands_on_and_one_that_steps_does_not() -> None:
    up = np.zeros(120, bool)
    up[50:60] = True
    lift = np.where(up, 0.04, 0.0)
    slide = np.clip((np.arange(120) - 50.0) / 10.0, 0.0, 1.0)
    assert (_taps(~up, sole_path(lift, 0.03 * slide), lift, 120.0) == up).all()
    assert not _taps(~up, sole_path(lift, 0.15 * slide), lift, 120.0).any()  # that is a step
    assert not _taps(~up, sole_path(5.0 * lift, 0.0 * slide), 5.0 * lift, 120.0).any()  # and that a hop
    assert not _taps(~up, sole_path(lift, 0.03 * slide), lift, 30.0).any()  # or takes its time


def test_a_standing_foot_does_not_swivel_and_come_back_but_what_goes_one_way_stays() -> None:
    """A foot turned by 60° and back within 0.7 s keeps its heading; a turn by 60° for good, or in the air, is kept."""
    foot, fps = two_feet(stage_of("idle").model, stage_of("idle").character("a"), sole_geoms_of("idle"))[0], 120.0
    time = np.arange(360) / fps
    away = np.radians(60.0) * np.exp(-(((time - 1.5) / 0.15) ** 2))
    for_good = np.radians(60.0) / (1.0 + np.exp(-(time - 1.5) / 0.05))
    stands = np.ones(360, bool)
    for heading, on, taken in ((away, stands, away), (for_good, stands, 0.0 * away), (away, ~stands, 0.0 * away)):
        turn = rotations.from_rotation_vector(heading[:, None] * [0.0, 0.0, 1.0])
        back = rotations.to_rotation_vector(_swivelled_back(turn, foot, on, fps))
        assert back[:, 2] == pytest.approx(-taken, abs=np.radians(4.0))


def test_a_foot_that_keeps_still_near_the_ground_stands_however_it_was_captured() -> None:
    places = np.zeros((120, 3))
    places[60:, 0] = 0.5 * np.arange(60) / 120.0  # then it goes off
    still = _keeps_still(places, np.full(120, 0.06), 120.0)
    assert still[:50].all() and not still[70:].any()
    assert not _keeps_still(places, np.full(120, 0.12), 120.0).any()  # so high it is held up


H1 = SHARED / "assets" / "robots" / "unitree_h1" / "h1.xml"
SLOW_STOP = MOCAP / "cmu" / "walk__16_34_slow_walk_stop.bvh"


@pytest.mark.skipif(
    not (H1.exists() and SLOW_STOP.exists()), reason="no shared robots or captures beside the repository"
)
def test_who_cannot_roll_a_foot_is_not_turned_over_to_lay_it_flat() -> None:
    """H1's legs have five joints: to lay its soles flat as well its whole pose was turned by 20°."""
    spec = CharacterSpec(str(H1), root="free")
    stage = StageLoop(Scene({"a": spec}, physics_hz=480.0, control_hz=120.0))
    character = stage.character("a")
    soles = sole_geoms(stage.model, character)
    assert [foot.rolls for foot in two_feet(stage.model, character, soles)] == [False, False]
    notes = make_reference(stage.model, character, motion_of_clip(load_clip(SLOW_STOP), character), soles).notes
    assert notes.pose_deg < 2.5 and not notes.why  # its arms also give way to its hips
    human = stage_of("walk")
    assert all(
        foot.rolls
        for foot in two_feet(human.model, human.character("a"), sole_geoms(human.model, human.character("a")))
    )
