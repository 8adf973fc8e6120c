"""Trajectories as a section of a part: checked against the body, started on the stage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stunt.character.character import Character
from stunt.direction.door.trajectory_part import read_trajectory_part, trajectory_part_to_data
from stunt.direction.follower import Follower, check_joint, check_site, site_of
from stunt.direction.sections import KINDS, SectionKind
from stunt.direction.trajectory_script import MarkerPaths, SitePath, TrajectoryPart
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.motion.markers import read_c3d
from stunt.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from stunt.direction.performance import Performance

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


def _marker_paths(markers: MarkerPaths) -> list[SitePath]:
    read = read_c3d(markers.path or markers.file, markers.place)
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


def _start(performance: Performance, name: str, part: TrajectoryPart) -> None:
    script = performance.script.parts[name]
    driven = {path.joint for path in part.joints}
    performer = performance.performers.get(name)
    if performer is not None:
        _make_room(performance, name, driven, script.joints is None and not script.beats and script.machine is None)
    follower = Follower(performance.stage, name)
    for path in part.joints:
        settling = part.settling if path.settling is None else path.settling
        follower.joint(path.joint, path.trajectory, settling=settling, bare=part.form == "bare", place=path.place)
    for site in [*part.sites, *(_marker_paths(part.markers) if part.markers else ())]:
        site = _placed(performance, name, site)
        settling = part.settling if site.settling is None else site.settling
        follower.site(
            site.site, site.position, site.orientation, settling=settling, strength=site.strength, place=site.place
        )
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
    return max(ends, default=None)


KINDS[KEY] = SectionKind(KEY, read_trajectory_part, trajectory_part_to_data, check_trajectory_part, _start, _seconds)
