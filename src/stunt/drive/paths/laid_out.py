"""Which joints and sites a part of trajectories drives, and along what: its own paths, its markers' and its clip's."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from stunt.character.character import Character
from stunt.drive.paths.captured import TOGETHER, bridged, fastened, fitted, read_markers, told_of
from stunt.drive.paths.follower import Follower, attitude, check_joint, check_site, site_of, spot
from stunt.drive.paths.spec import JointPath, MarkerPaths, SitePath, TrajectoryPart
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.library.names import load_clip, reference_name
from stunt.maths.rotations import conjugate, multiply
from stunt.motion.rig.retarget import retarget
from stunt.motion.trajectory import Trajectory
from stunt.stage.loop import StageLoop


def check_trajectory_part(part: TrajectoryPart, character: Character) -> None:
    """Check that a body has the joints and sites, within their limits."""
    for path in part.joints:
        check_joint(character.joint(path.joint, path.place), path.trajectory, path.place, bare=part.form == "bare")
    for site in part.sites:
        site_of(character, site.site, site.place)
        check_site(site.site, site.position, site.orientation, site.place)
    if part.markers is not None:
        for _, name in part.markers.drive:
            site_of(character, name, part.markers.place)
        marker_paths(part.markers)
    joint_paths(part, character)


def marker_paths(markers: MarkerPaths) -> list[SitePath]:
    """Return the paths of sites that go as markers do.

    Raises:
        StuntError: A marker is not in the file, or not seen for too long.
    """
    captured = read_markers(markers)
    read = bridged(captured)
    return [
        SitePath(
            site, read.trajectory(marker, start=markers.at, place=markers.place),
            captured.turn(marker, markers.at, markers.place), markers.relative, strength=markers.strength,
            place=markers.place,
        )
        for marker, site in markers.drive
    ]  # fmt: skip


def joint_paths(part: TrajectoryPart, character: Character) -> list[JointPath]:
    """Return the paths of all joints; those without a trajectory of their own go as in the part's clip, if it has one.

    Raises:
        InvalidValueError: Nothing would be driven.
        UnknownNameError: The clip is to drive joints the character does not have.
    """
    if (asked := part.clip) is None:
        return list(part.joints)
    for pattern in asked.joints:
        if not any(fnmatchcase(name, pattern) for name in character.joints):
            raise UnknownNameError(f"joint of '{character.name}'", pattern, character.joints, asked.place)
    own = {path.joint for path in part.joints}
    moved = retarget(load_clip(asked.file, place=asked.place), character)
    found = [
        JointPath(name, Trajectory.sampled(values, moved.fps, start=asked.at, place=asked.place), place=asked.place)
        for name, values in moved.angles.items()
        if name not in own and any(fnmatchcase(name, pattern) for pattern in asked.joints)
    ]  # fmt: skip
    if not found and not part.sites and part.markers is None and not own:
        raise InvalidValueError(
            "clip", reference_name(asked.file),
            f"one that moves joints of '{character.name}' that `joints` name: this section would drive nothing",
            asked.place,
        )  # fmt: skip
    return [*part.joints, *found]


def set_out(follower: Follower, part: TrajectoryPart) -> None:
    """Put everything a part names on its trajectory."""
    for path in joint_paths(part, follower.character):
        settling = part.settling if path.settling is None else path.settling
        damping = part.damping if path.damping is None else path.damping
        follower.joint(
            path.joint, path.trajectory, settling=settling, damping=damping, bare=part.form == "bare", place=path.place
        )
    together = part.markers is not None and len(part.markers.drive) >= TOGETHER
    if part.markers is not None:
        captured = read_markers(part.markers)
        follower.told = [f"{follower.character.name}: {sentence}" for sentence in captured.told()]
    if part.markers is not None and together:
        fit = fitted(follower.stage, follower.character, part.markers, captured)
        follower.told = told_of(follower.character.name, part.markers, captured, fit)
        follower.markers(
            fastened(part.markers, captured).sites, fit, start=part.markers.at, settling=part.settling,
            strength=part.markers.strength, place=part.markers.place,
        )  # fmt: skip
    for site in [*part.sites, *(marker_paths(part.markers) if part.markers and not together else ())]:
        site = placed(follower.stage, follower.character, site, from_first=part.markers is not None)
        settling = part.settling if site.settling is None else site.settling
        damping = part.damping if site.damping is None else site.damping
        follower.site(
            site.site, site.position, site.orientation, settling=settling, damping=damping, strength=site.strength,
            place=site.place,
        )  # fmt: skip


def placed(stage: StageLoop, character: Character, path: SitePath, *, from_first: bool = False) -> SitePath:
    """Return a site's path in the world: relative positions count from where the site is now (or from the first)."""
    if not path.relative or path.position is None:
        return path
    here = spot(stage.data, site_of(character, path.site))
    values = np.asarray(path.position.values)
    moved = here + values - (values[0] if from_first else 0.0)
    path = replace(path, position=Trajectory.through(path.position.times, moved, path.position.between))
    if (turn := path.orientation) is None or not from_first:
        return path
    turns = multiply(
        multiply(turn.values, conjugate(turn.values[0])), attitude(stage.data, site_of(character, path.site))
    )
    return replace(path, orientation=Trajectory.through(turn.times, turns, turn.between))
