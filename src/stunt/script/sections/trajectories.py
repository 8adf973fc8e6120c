"""Trajectories as a section of a part: checked against the body, started on the stage.

Trajectories, read from a script and written back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from stunt.character.character import Character
from stunt.drive.paths.follower import Follower, check_joint, check_site, site_of
from stunt.drive.paths.spec import ClipPaths, JointPath, MarkerPaths, SitePath, TrajectoryPart
from stunt.errors import InvalidValueError, MissingValueError, UnknownNameError
from stunt.library.names import clip_beside, load_clip
from stunt.motion.markers import read_c3d
from stunt.motion.pose import Pose
from stunt.motion.rig.retarget import retarget
from stunt.motion.trajectory import BETWEENS, Trajectory
from stunt.schema import Node, Section, choice, entries, items, moment, name, number, seconds, truth, vector
from stunt.script.sections.kind import SectionKind
from stunt.script.units import measure_to_data, number_to_data, read_measure
from stunt.stage.scene import Scene

if TYPE_CHECKING:
    from stunt.script.performance import Performance


PART_KEYS = ("settling", "damping", "form", "joints", "sites", "markers", "clip")
JOINT_KEYS = ("times", "values", "between", "settling", "damping")
SITE_KEYS = ("times", "position", "orientation", "between", "relative", "settling", "damping", "strength")
CLIP_KEYS = ("file", "joints", "at")
MARKER_KEYS = ("file", "drive", "at", "relative")
Data = dict[str, Any]


def read_trajectory_part(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> TrajectoryPart:
    """Read the trajectories of a part."""
    del scene, poses
    section = Section(node, "trajectories", PART_KEYS)
    part = TrajectoryPart(
        joints=tuple(_joint(key, value) for key, value in section.read("joints", entries, {}).items()),
        sites=tuple(_site(key, value) for key, value in section.read("sites", entries, {}).items()),
        markers=section.read("markers", _markers),
        settling=section.read("settling", seconds, TrajectoryPart.settling),
        form=section.read("form", choice, TrajectoryPart.form, options=("adaptive", "bare"), kind="form"),
        damping=section.read("damping", number, TrajectoryPart.damping, above=0.0),
        clip=section.read("clip", _clip),
        place=node.place,
    )
    if not part.joints and not part.sites and part.markers is None and part.clip is None:
        raise MissingValueError("joints', 'sites', 'markers' or 'clip", "'trajectories'", node.place)
    return part


def _joint(key: str, node: Node) -> JointPath:
    if not isinstance(node.value, dict):  # `neck_flexion: 0` holds it there
        held = read_measure(node)
        standing = Trajectory.through([0.0], [held.value], place=node.place)
        return JointPath(key, standing, unit=held.unit, place=node.place)
    section = Section(node, f"the trajectory of '{key}'", JOINT_KEYS)
    measures = [read_measure(value) for value in items(section.need("values"))]
    trajectory = _trajectory(section, [(measure.value,) for measure in measures], section.need("values"))
    unit = measures[0].unit if measures else "deg"
    damping = section.read("damping", number, None, above=0.0)
    return JointPath(key, trajectory, section.read("settling", seconds), damping, unit, node.place)


def _trajectory(section: Section, values: list[tuple[float, ...]], node: Node) -> Trajectory:
    times = [number(time, least=0.0) for time in items(section.need("times"))]
    if len(times) != len(values) or not times:
        raise InvalidValueError("the number of values", len(values), f"one per time ({len(times)})", node.place)
    between = section.read("between", choice, "spline", options=BETWEENS, kind="between")
    return Trajectory.through(times, values, between, place=section.need("times").place)


def _site(key: str, node: Node) -> SitePath:
    section = Section(node, f"the trajectory of site '{key}'", SITE_KEYS)
    found: dict[str, Trajectory | None] = {"position": None, "orientation": None}
    for what, size in (("position", 3), ("orientation", 4)):
        written = section.get(what)
        if written is not None:
            found[what] = _trajectory(section, [vector(value, (size,)) for value in items(written)], written)
    if found["position"] is None and found["orientation"] is None:
        raise MissingValueError("position' or 'orientation", section.what, node.place)
    return SitePath(
        key, found["position"], found["orientation"], section.read("relative", truth, False),
        section.read("settling", seconds), section.read("strength", number, None, above=0.0),
        section.read("damping", number, None, above=0.0), node.place,
    )  # fmt: skip


def _clip(node: Node) -> ClipPaths:
    section = Section(node, "clip", CLIP_KEYS)
    file = name(section.need("file"))
    patterns = section.read("joints", items, None)
    joints = ClipPaths.joints if patterns is None else tuple(name(pattern) for pattern in patterns)
    at = section.read("at", moment, 0.0)
    return ClipPaths(file, joints, at, clip_beside(file, os.path.dirname(node.place.file)), node.place)


def _markers(node: Node) -> MarkerPaths:
    section = Section(node, "markers", MARKER_KEYS)
    file = name(section.need("file"))
    drive = tuple((key, name(value)) for key, value in entries(section.need("drive")).items())
    if not drive:
        raise MissingValueError("drive", "'markers'", node.place)
    path = os.path.join(os.path.dirname(node.place.file), file)
    at, relative = section.read("at", moment, 0.0), section.read("relative", truth, False)
    return MarkerPaths(file, drive, at, relative, path, node.place)


def trajectory_part_to_data(part: TrajectoryPart) -> Data:
    """Return trajectories as a script has them."""
    data: Data = {} if part.settling == TrajectoryPart.settling else {"settling": number_to_data(part.settling)}
    data |= {} if part.damping == TrajectoryPart.damping else {"damping": number_to_data(part.damping)}
    data |= {} if part.form == "adaptive" else {"form": part.form}
    data |= {"joints": {path.joint: _joint_to_data(path) for path in part.joints}} if part.joints else {}
    data |= {"sites": {path.site: _site_to_data(path) for path in part.sites}} if part.sites else {}
    if part.markers is not None:
        marks = part.markers
        data["markers"] = {"file": marks.file, "drive": dict(marks.drive)}
        data["markers"] |= {"at": number_to_data(marks.at)} if marks.at else {}
        data["markers"] |= {"relative": True} if marks.relative else {}
    if part.clip is not None:
        data["clip"] = {"file": part.clip.file, "joints": list(part.clip.joints)}
        data["clip"] |= {"at": number_to_data(part.clip.at)} if part.clip.at else {}
    return data


def _times_to_data(trajectory: Trajectory) -> Data:
    data: Data = {"times": [number_to_data(time) for time in trajectory.times]}
    return data if trajectory.between == "spline" else data | {"between": trajectory.between}


def _joint_to_data(path: JointPath) -> Any:
    values = [measure_to_data(value, path.unit) for (value,) in path.trajectory.values]
    plain = path.settling is None and path.damping is None and path.trajectory.between == "spline"
    if path.trajectory.times == (0.0,) and plain:
        return values[0]
    data = _times_to_data(path.trajectory) | {"values": values}
    return data | _knobs(path)


def _knobs(path: JointPath | SitePath) -> Data:
    data = {} if path.settling is None else {"settling": number_to_data(path.settling)}
    return data | ({} if path.damping is None else {"damping": number_to_data(path.damping)})


def _site_to_data(path: SitePath) -> Data:
    data: Data = {}
    for what, trajectory in (("position", path.position), ("orientation", path.orientation)):
        if trajectory is not None:
            data |= _times_to_data(trajectory) | {what: [[float(x) for x in value] for value in trajectory.values]}
    data |= {"relative": True} if path.relative else {}
    data |= _knobs(path)
    return data | ({"strength": number_to_data(path.strength)} if path.strength is not None else {})


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


def _clip_paths(part: TrajectoryPart, character: Character) -> list[JointPath]:
    """Return the paths of the joints that go as in the part's clip; those with a trajectory of their own have that."""
    asked = part.clip
    assert asked is not None
    for pattern in asked.joints:
        if not any(fnmatchcase(name, pattern) for name in character.joints):
            raise UnknownNameError(f"joint of '{character.name}'", pattern, character.joints, asked.place)
    own = {path.joint for path in part.joints}
    clip = load_clip(asked.path or asked.file, place=asked.place)
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
        ends.append(part.clip.at + load_clip(part.clip.path or part.clip.file, place=part.clip.place).duration)
    return max(ends, default=None)


TRAJECTORIES = SectionKind(KEY, read_trajectory_part, trajectory_part_to_data, check_trajectory_part, _start, _seconds)
