"""Trajectories, read from a script and written back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from stunt.direction.door.angles import measure_to_data, number_to_data, read_measure
from stunt.direction.door.node import Node
from stunt.direction.door.values import Section, choice, entries, items, moment, name, number, seconds, truth, vector
from stunt.direction.trajectory_script import ClipPaths, JointPath, MarkerPaths, SitePath, TrajectoryPart
from stunt.errors import InvalidValueError, MissingValueError
from stunt.motion.library import clip_beside
from stunt.motion.pose import Pose
from stunt.motion.trajectory import BETWEENS, Trajectory
from stunt.stage.scene import Scene

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
