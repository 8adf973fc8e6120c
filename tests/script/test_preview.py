"""The preview of clips: what a body is asked to do, fitted to it, one clip after another, without forces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

import stunt
from stunt.character.kinematics import corners_over, pose_frames
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.motion.layout import own_slices
from stunt.drive.prepare.fit import fit_motion
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.motion.formats.bvh_writer import write_bvh
from stunt.motion.rig.other_body import sole_geoms
from stunt.script.preview import Preview


def previewed(clips: str, body: str = "walk", more: str = "", where: str = "at: [1, 2], facing: 90") -> Preview:
    cast = f"characters: {{ada: {{body: {body}, root: free, {where}}}}}\n"
    return Preview(script_of(f"{cast}performance: {{ada: {{clips: {{play: {clips}{more}}}}}}}\n"))


def script_of(text: str) -> stunt.Script:
    return stunt.script_from_data(yaml.safe_load(text))


def own(view: Preview, times: np.ndarray) -> np.ndarray:
    return view.qpos(times)[:, own_slices(view.stage.character("ada"))[0]]


def sinks(view: Preview, qpos: np.ndarray) -> np.ndarray:
    """Return the height of the lowest corner of a sole in each frame [m], (T,)."""
    model, character = view.stage.model, view.stage.character("ada")
    places, turns = pose_frames(model, character, qpos)
    return np.asarray(corners_over(model, character, sole_geoms(model, character), places, turns)[..., 2].min(axis=1))


def test_a_clip_is_previewed_as_its_body_is_asked_to_do_it() -> None:
    view = previewed("[{clip: walk}]")
    stage, character = view.stage, view.stage.character("ada")
    raw = motion_of_clip(load_clip("walk"), character)
    wanted = fit_motion(stage.model, character, raw).motion
    times = np.arange(len(raw.qpos)) / raw.fps
    found = own(view, times)
    assert np.allclose(found[:, 7:], wanted.qpos[:, 7:], atol=1e-9)
    assert np.abs(found[:, 7:] - raw.qpos[:, 7:]).max() > 1e-3  # fitting changed something
    assert np.allclose(found[0, :2], [1.0, 2.0]) and rotations.heading(found[0, 3:7]) == pytest.approx(np.pi / 2)
    way = np.linalg.norm(found[-1, :2] - found[0, :2])
    assert way == pytest.approx(np.linalg.norm(raw.qpos[-1, :2] - raw.qpos[0, :2]), abs=1e-6)
    # After its end it stands where it got to, and the take has it all.
    assert np.allclose(own(view, np.array([9.0]))[0], found[-1])
    take = view.take(30.0)
    assert take.qpos[-1, 1] - take.qpos[0, 1] == pytest.approx(way, abs=0.2) and take.seconds == pytest.approx(
        view.seconds
    )


def test_a_clip_on_another_body_is_previewed_with_its_feet_on_the_ground() -> None:
    view = previewed("[{clip: walk}]", body="human39", where="at: [0, 0]")
    raw = motion_of_clip(load_clip("walk"), view.stage.character("ada"))
    times = np.arange(len(raw.qpos)) / raw.fps
    before, after = sinks(view, raw.qpos), sinks(view, own(view, times))
    print("lowest and mean height [m]", before.min(), before.mean(), "then", after.min(), after.mean())
    assert np.abs(after).max() < np.abs(before).max() and np.abs(after).mean() < 0.5 * np.abs(before).mean()
    assert after.min() > -0.004


def test_a_hand_in_the_body_is_out_of_it_in_the_preview(tmp_path: Path) -> None:
    clip = load_clip("idle").trimmed(0.0, 2.0)
    turns, upper = clip.rotations.copy(), clip.parts["l_upper_arm"]
    bump = 0.25 * np.exp(-0.5 * ((np.arange(clip.frames) / clip.fps - 1.0) / 0.15) ** 2)
    inward = rotations.from_rotation_vector(np.outer(bump, [-1.0, 0.0, 0.0]))
    turns[:, upper] = rotations.multiply(inward, turns[:, upper])
    path = write_bvh(replace(clip, rotations=turns), tmp_path / "through.bvh")
    view = previewed(f"[{{clip: '{path}'}}]", body=f"'{path}'")
    model, data, character = view.stage.model, mujoco.MjData(view.stage.model), view.stage.character("ada")
    raw = motion_of_clip(load_clip(path), character).qpos
    deep = []
    for qpos in (own(view, np.array([1.0]))[0], raw[round(clip.fps)]):
        data.qpos[own_slices(character)[0]] = qpos
        mujoco.mj_forward(model, data)
        deep.append(max((-c.dist for c in data.contact if {*c.geom.tolist()} <= {*character.geoms}), default=0.0))
    print("deepest contact of the body with itself", deep)
    assert deep[1] > 0.02 and deep[0] < 0.6 * deep[1]


def test_one_clip_goes_over_into_the_next_without_a_jump_and_ends_as_it() -> None:
    began = load_clip("walk").duration
    over = began + 1.9  # by then all blends and steps are over
    view = previewed(f"[{{clip: walk}}, {{clip: idle, blend: 0.3}}, {{clip: punch, at: {over}}}]")
    stage, character = view.stage, view.stage.character("ada")
    times = np.arange(0.0, over + 0.5, 1.0 / 120.0)
    found = own(view, times)
    turned = rotations.difference(found[1:, 3:7], found[:-1, 3:7])
    steps = np.linalg.norm(np.diff(found[:, :3], axis=0), axis=1)
    fastest = np.abs(np.diff(found[:, 7:], axis=0)).max()
    raw = [
        fit_motion(stage.model, character, motion_of_clip(load_clip(name), character)).motion
        for name in ("walk", "punch")
    ]
    quickest = max(np.abs(np.diff(motion.qpos[:, 7:], axis=0)).max() * motion.fps / 120.0 for motion in raw)
    print("farthest step [m], turn [rad], joints", steps.max(), np.abs(turned).max(), fastest, "of", quickest)
    assert steps.max() < 0.03 and np.degrees(np.abs(turned).max()) < 5.0 and fastest < 1.5 * quickest + 0.02
    idle = fit_motion(stage.model, character, motion_of_clip(load_clip("idle"), character)).motion
    assert raw[0].duration == pytest.approx(began)
    late = (times > began + 1.7) & (times < over - 0.01)
    frames = np.clip((times[late] - began) * idle.fps, 0, len(idle.qpos) - 1)
    exact = np.abs(frames - np.round(frames)) < 1e-6
    assert exact.any()
    assert np.allclose(found[late][exact][:, 7:], idle.qpos[np.round(frames[exact]).astype(int), 7:], atol=1e-6)


def test_a_list_that_repeats_begins_again_where_it_got_to_and_a_loop_goes_on() -> None:
    for clips, more in (("[{clip: walk, blend: 0}]", ", repeat: true"), ("[{clip: walk, loop: true}]", "")):
        view = previewed(clips, more=more, where="at: [0, 0]")
        found = own(view, np.array([0.0, 1.0, 2.0, 4.0]))
        pace = np.linalg.norm(np.diff(found[:, :2], axis=0), axis=1) / [1.0, 1.0, 2.0]
        print(pace)
        assert pace == pytest.approx(pace[0], rel=0.15) and pace[0] > 0.5


def test_who_turns_to_somebody_faces_them_with_every_clip_after_the_first() -> None:
    text = (
        "characters:\n  bob: {body: idle, root: free, at: [0, 3]}\n  ada: {body: idle, root: free}\n"
        "performance:\n  ada: {clips: {play: [{clip: idle, to: 0.5}, {clip: idle}], toward: bob}}\n"
    )
    view = Preview(script_of(text))
    found = own(view, np.array([0.0, 2.5]))
    idle = motion_of_clip(load_clip("idle"), view.stage.character("ada"))
    drawn = rotations.heading(idle.qpos[round(2.0 * idle.fps), 3:7]) - idle.heading
    assert rotations.heading(found[0, 3:7]) == pytest.approx(0.0, abs=1e-6)
    assert rotations.heading(found[1, 3:7]) == pytest.approx(np.pi / 2 + drawn, abs=0.05)
