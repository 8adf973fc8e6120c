"""A preview shows what was asked for: joints and sites on their paths, soles on the floor; the rest is named."""

import mujoco
import numpy as np
import pytest
import yaml

from stunt.character.kinematics import corners_over, pose_frames
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.laid_out import joint_paths, marker_paths, placed
from stunt.drive.paths.shown import show_trajectories
from stunt.examples import example, example_names
from stunt.motion.rig.other_body import sole_geoms
from stunt.script.file import load_script, script_from_data
from stunt.script.kinds import KINDS
from stunt.script.preview import Preview
from tests.drive.marker_files import HZ, TEN, moving_person, write_c3d


def shown(name, hz=30.0):
    view = Preview(load_script(example(name).path))
    return view, view.take(hz)


def parts(view, key):
    for name, part in view.script.parts.items():
        if key in part.sections:
            yield view.stage.character(name), part.sections[key]


@pytest.mark.parametrize("name", ["bow", "desk", "marionette", "marker_arm", "waist_smooth"])
def test_joints_and_sites_are_on_their_trajectories(name):
    view, take = shown(name)
    data, end = mujoco.MjData(view.stage.model), float(take.time[-1])
    for character, part in parts(view, "trajectories"):
        for path in joint_paths(part, character):
            pieces = path.trajectory.pieces(0.0, end)
            wanted = [pieces.at(float(time))[0][0] for time in take.time]
            assert np.degrees(np.abs(take.qpos[:, character.joints[path.joint].qpos] - wanted)).max() < 0.5
        sites = [*part.sites, *(marker_paths(part.markers) if part.markers else ())]
        for site in (placed(view.stage, character, one, from_first=part.markers is not None) for one in sites):
            pieces, off = site.position.pieces(0.0, end), []
            for time, qpos in zip(take.time, take.qpos, strict=True):
                data.qpos[:] = qpos
                mujoco.mj_kinematics(view.stage.model, data)
                off.append(np.linalg.norm(data.site_xpos[character.sites[site.site]] - pieces.at(float(time))[0]))
            # A person of another size: what no arm can reach is named.
            named = any(site.site in sentence and "cannot reach" in sentence for sentence in take.meta["warnings"])
            assert max(off) < 0.025 if named else max(off) < 0.005, (site.site, take.time[int(np.argmax(off))])
            assert not named or name == "marker_arm"


def dragged(at="[1, 2]", facing=40):
    """A free body that stands turned, its chest pulled along a bent way, its head held where it would be above it."""
    text = f"""
        characters: {{ada: {{body: human39, root: free, at: {at}, facing: {facing}}}}}
        seconds: 1.0
        performance:
          ada:
            trajectories:
              sites:
                chest: {{relative: true, times: [0, 0.5, 1], position: [[0, 0, 0], [0.4, 0.5, 0.2], [-0.3, 0.9, 0.5]]}}
                r_palm: {{relative: true, times: [0, 0.5, 1], position: [[0, 0, 0], [0.6, 0.3, 0.1], [-0.6, 0.7, 0.7]]}}
    """
    return Preview(script_from_data(yaml.safe_load(text)))


def test_sites_that_pull_a_free_body_take_it_on_from_the_frame_before_with_all_of_its_root():
    """Who begins in the pose of any frame goes on from there as before."""
    view, times = dragged(), np.arange(0.0, 1.01, 0.1)
    (character, part), *_ = parts(view, "trajectories")
    whole = np.tile(view.stage.data.qpos, (len(times), 1))
    assert show_trajectories(part, view.stage, "ada", whole, times) == []
    root = character.root.qpos
    moved = np.abs(whole[-1, root : root + 7] - whole[0, root : root + 7])
    print("the root is moved by", moved)
    assert moved.min() > 0.01
    assert np.array_equal(view.qpos(times), whole)  # and it is not put back where it stood at first
    for frame in (3, 6, 9):
        on = np.tile(whole[frame], (len(times) - frame, 1))
        show_trajectories(part, view.stage, "ada", on, times[frame:])
        assert np.abs(on - whole[frame:]).max() < 1e-9, frame


def test_a_body_under_three_or_more_markers_is_brought_to_them(tmp_path):
    """From anywhere: the person bows and lifts an arm 1.5 m away, turned by 70°, and markers begin late."""
    points, _ = moving_person(seconds=0.8)
    cos, sin = np.cos(np.radians(70.0)), np.sin(np.radians(70.0))
    points = points @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]).T + [1.2, -0.9, 0.0]
    for names in (TEN, ("chest", "l_palm", "r_palm")):
        kept = [TEN.index(name) for name in names]
        file = write_c3d(tmp_path / f"{len(names)}.c3d", points[:, kept], names)
        markers = {"file": str(file), "drive": {name: name for name in names}, "at": 0.1}
        part = {"performance": {"ada": {"trajectories": {"markers": markers}}}}
        data = {"characters": {"ada": {"body": "human39", "root": "free"}}, "seconds": 1.0, **part}
        view = Preview(script_from_data(data))
        model, character, own = view.stage.model, view.stage.character("ada"), mujoco.MjData(view.stage.model)
        off = []
        for qpos, wanted in zip(view.qpos(0.1 + np.arange(len(points)) / HZ), points[:, kept], strict=True):
            own.qpos[:] = qpos
            mujoco.mj_kinematics(model, own)
            there = own.site_xpos[[character.sites[name] for name in names]]
            off.append(np.linalg.norm(there - wanted, axis=1))
        print(len(names), "markers: farthest and mean [mm]", 1000.0 * np.max(off), 1000.0 * np.mean(off))
        assert np.mean(off) < 0.006 and np.max(off) < 0.015


@pytest.mark.parametrize("name", ["crouch", "soldier", "catch"])
def test_the_soles_of_a_free_body_stay_on_the_floor_where_they_stood(name):
    view, take = shown(name)
    model = view.stage.model
    free = [c for c in view.stage.characters.values() if c.root is not None and sole_geoms(model, c)]
    for character in free:
        places = pose_frames(model, character, take.qpos[:, own_slices(character)[0]])
        soles = corners_over(model, character, sole_geoms(model, character), *places)
        assert np.abs(soles[..., 2].min(axis=1)).max() < 0.002
        assert np.abs(soles.mean(axis=1)[:, :2] - soles.mean(axis=1)[0, :2]).max() < 0.002
    assert free or name == "catch"


@pytest.mark.parametrize("name", example_names())
def test_what_a_preview_cannot_show_is_named(name):
    view = Preview(load_script(example(name).path))
    hidden = [(who, key) for who, part in view.script.parts.items() for key in part.sections if not KINDS[key].preview]
    for who, key in hidden:
        assert any(who in sentence and f"'{key}'" in sentence for sentence in view.warnings)
    hidden += [(who, "machine") for who, part in view.script.parts.items() if part.machine is not None]
    assert all(any(who in sentence and key in sentence for sentence in view.warnings) for who, key in hidden)
    assert any("events" in sentence for sentence in view.warnings) == bool(view.script.scene.events)
    if not hidden and view.script.parts:
        assert np.ptp(view.qpos(np.linspace(0.0, view.seconds, 12)), axis=0).max() > 0.05 or name == "drag"
