"""Trajectories as a section of a part: checked against the body, started on the stage."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from stunt.character.character import Character
from stunt.drive.paths.follower import Follower, check_joint, check_site, site_of
from stunt.drive.paths.spec import JointPath, MarkerPaths, SitePath, TrajectoryPart
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.library.names import load_clip
from stunt.motion.markers import read_c3d
from stunt.motion.rig.retarget import retarget
from stunt.motion.trajectory import Trajectory
from stunt.script.sections.kind import SectionKind

if TYPE_CHECKING:
    from stunt.script.performance import Performance


KEY = "trajectories"


def check_trajectory_part(part: TrajectoryPart, character: Character) -> None:
    """Check that a body has the joints and sites, within their limits."""
    for path in part.joints:
        check_joint(character.joint(path.joint, path.place), path.trajectory, path.place)
    for site in part.sites:
        site_of(character, site.site, site.place)
        check_site(site.site, site.position, site.orientation, site.place)
    if part.markers is not None:
        for _, name in part.markers.drive:
            site_of(character, name, part.markers.place)
        _marker_paths(part.markers)
    if part.clip is not None:
        _clip_paths(part, character)


def _marker_paths(markers: MarkerPaths) -> list[SitePath]:
    read = read_c3d(markers.file, markers.place)
    known = [marker for marker, _ in markers.drive if marker in read.names]
    if not known:
        raise UnknownNameError("marker", markers.drive[0][0], read.names, markers.place)
    return [
        SitePath(
            site, read.trajectory(marker, start=markers.at, place=markers.place), relative=markers.relative,
            place=markers.place,
        )
        for marker, site in markers.drive
    ]  # fmt: skip


def _clip_paths(part: TrajectoryPart, character: Character) -> list[JointPath]:
    """Return the paths of the joints that go as in the part's clip; those with a trajectory of their own have that."""
    asked = part.clip
    assert asked is not None
    for pattern in asked.joints:
        if not any(fnmatchcase(name, pattern) for name in character.joints):
            raise UnknownNameError(f"joint of '{character.name}'", pattern, character.joints, asked.place)
    own = {path.joint for path in part.joints}
    clip = load_clip(asked.file, place=asked.place)
    moved = retarget(clip, character)
    return [
        JointPath(name, Trajectory.sampled(values, moved.fps, start=asked.at, place=asked.place), place=asked.place)
        for name, values in moved.angles.items()
        if name not in own and values.ndim == 1 and any(fnmatchcase(name, pattern) for pattern in asked.joints)
    ]


def _start(performance: Performance, name: str, part: TrajectoryPart) -> None:
    script = performance.script.parts[name]
    paths = list(part.joints)
    if part.clip is not None:
        paths += _clip_paths(part, performance.stage.character(name))
    driven = {path.joint for path in paths}
    performer = performance.performers.get(name)
    if performer is not None:
        _make_room(performance, name, driven, script.joints is None and not script.beats and script.machine is None)
    follower = Follower(performance.stage, name)
    for path in paths:
        settling = part.settling if path.settling is None else path.settling
        damping = part.damping if path.damping is None else path.damping
        follower.joint(
            path.joint, path.trajectory, settling=settling, damping=damping, bare=part.form == "bare", place=path.place
        )
    for site in [*part.sites, *(_marker_paths(part.markers) if part.markers else ())]:
        site = _placed(performance, name, site)
        settling = part.settling if site.settling is None else site.settling
        damping = part.damping if site.damping is None else site.damping
        follower.site(
            site.site, site.position, site.orientation, settling=settling, damping=damping, strength=site.strength,
            place=site.place,
        )  # fmt: skip
    performance.sections[name][KEY] = follower
    performance.logs.append(follower.log)


def _make_room(performance: Performance, name: str, driven: set[str], alone: bool) -> None:
    """Let joints go that nobody asked for, and refuse those that beats and trajectories both want."""
    performer, script = performance.performers[name], performance.script.parts[name]
    if alone and len(script.sections) == 1:
        performer.release()
        return
    for beat in script.beats:
        for joint in beat.pose.angles:
            if joint in driven:
                raise InvalidValueError(f"joint '{joint}'", "in a beat", "not on a trajectory too", beat.place)


def _placed(performance: Performance, name: str, path: SitePath) -> SitePath:
    """Return a site's path in the world: relative positions count from where the site is now."""
    if not path.relative or path.position is None:
        return path
    character = performance.stage.character(name)
    here = performance.stage.data.site_xpos[character.sites[path.site]]
    values = np.asarray(path.position.values)
    moved = here + values - (values[0] if performance.script.parts[name].sections[KEY].markers else 0.0)
    return replace(path, position=Trajectory.through(path.position.times, moved, path.position.between))


def _seconds(part: TrajectoryPart) -> float | None:
    ends = [path.trajectory.end for path in part.joints]
    ends += [p.end for site in part.sites for p in (site.position, site.orientation) if p is not None]
    if part.markers is not None:
        ends += [path.position.end for path in _marker_paths(part.markers) if path.position is not None]
    if part.clip is not None:
        ends.append(part.clip.at + load_clip(part.clip.file, place=part.clip.place).duration)
    return max(ends, default=None)


TRAJECTORIES = SectionKind(KEY, TrajectoryPart, check_trajectory_part, _start, _seconds)
