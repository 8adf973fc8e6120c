"""A preview shows what was asked for: joints and sites on their paths, soles on the floor; the rest is named."""

import mujoco
import numpy as np
import pytest

from stunt.character.kinematics import corners_over, pose_frames
from stunt.drive.motion.layout import own_slices
from stunt.drive.paths.laid_out import joint_paths, marker_paths, placed
from stunt.examples import example, example_names
from stunt.motion.rig.other_body import sole_geoms
from stunt.script.file import load_script
from stunt.script.kinds import KINDS
from stunt.script.preview import Preview


def shown(name, hz=30.0):
    view = Preview(load_script(example(name).path))
    return view, view.take(hz)


def parts(view, key):
    for name, part in view.script.parts.items():
        if key in part.sections:
            yield view.stage.character(name), part.sections[key]


@pytest.mark.parametrize("name", ["bow", "desk", "marionette", "marker_arm", "soldier", "waist_smooth"])
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
        assert np.ptp(view.qpos(np.linspace(0.0, view.seconds, 12)), axis=0).max() > 0.05 or name in ("soldier", "drag")
