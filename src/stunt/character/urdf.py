"""URDF files: what MuJoCo's own reader needs to be told before it can read one as its author meant it.

Mesh files are looked for where ROS tools leave them (`package://…`, beside the file, in folders above it), shapes that
are only seen are kept, and no link is melted into another, so that every link can be addressed by its name.
"""

from __future__ import annotations

import xml.etree.ElementTree as Tree
from pathlib import Path

import mujoco

from stunt.character.notes import Notes
from stunt.errors import BodyError, Place

SUFFIX = ".urdf"
MESHES = (".stl", ".obj", ".msh")
"""Mesh files MuJoCo reads."""
_ABOVE = 5  # folders to look upward for a mesh's package
_DEEPEST = 32  # elements in elements; a robot needs six
DUMMY_MASS, DUMMY_INERTIA = 1e-3, 1e-6
"""What a moving link without mass is given [kg], [kg·m²]."""


def is_urdf(path: str) -> bool:
    """Whether a body's file is a URDF: by its suffix, or because an .xml starts with <robot>."""
    if path.lower().endswith(SUFFIX):
        return True
    try:
        with open(path, "rb") as file:
            return b"<robot" in file.read(4096)
    except OSError:
        return False


def read_urdf(path: str, notes: Notes, place: Place) -> mujoco.MjSpec:
    """Read a URDF file with its meshes.

    Args:
        path: The file.
        notes: Told what was assumed.
        place: Where the body was asked for.

    Raises:
        BodyError: It is no URDF, is a template, or a shape things bump into cannot be found.
    """
    robot = _parse(path, place)
    _find_meshes(robot, Path(path), notes, place)
    _tell_joints(robot, notes)
    _tell_links(robot, notes)
    compiler = _compiler(robot)
    for tried in ("", "balanced"):
        if tried:
            compiler.set("balanceinertia", "true")
            compiler.set("boundmass", str(DUMMY_MASS))
            compiler.set("boundinertia", str(DUMMY_INERTIA))
        try:
            spec = mujoco.MjSpec.from_string(Tree.tostring(robot, encoding="unicode"))
            spec.copy().compile()
        except (ValueError, RuntimeError, mujoco.FatalError) as error:
            if tried:
                raise BodyError(f"MuJoCo cannot read the body file '{path}': {first_lines(error)}", place) from error
            notes.add(
                f"its masses are not physical ({first_lines(error)}): moving links get at least {DUMMY_MASS:g} kg and "
                f"{DUMMY_INERTIA:g} kg·m², and impossible inertias are balanced"
            )
            continue
        return spec
    raise AssertionError("unreachable")


def first_lines(error: Exception) -> str:
    """Return what MuJoCo complains about, shortly."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3]).removeprefix("Error: ") if lines else type(error).__name__


def _parse(path: str, place: Place) -> Tree.Element:
    try:
        robot = Tree.parse(path).getroot()
    except Tree.ParseError as error:
        line = error.position[0]
        raise BodyError(f"is no XML: {error.msg}.", Place(path, line)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise BodyError(f"the body file '{path}' cannot be read: {error}.", place) from error
    level = [robot]
    for _ in range(_DEEPEST):
        level = [inner for element in level for inner in element]
    if level:
        raise BodyError(f"the body file '{path}' is nested more than {_DEEPEST} deep.", place)
    if any("xacro" in str(element.tag) for element in robot.iter()):
        raise BodyError(f"'{path}' is a xacro template; make a URDF of it with: xacro {path} > robot.urdf", place)
    if robot.tag != "robot":
        raise BodyError(f"'{path}' is no URDF: it starts with <{robot.tag}>, not with <robot>.", place)
    return robot


def _compiler(robot: Tree.Element) -> Tree.Element:
    """Return the settings for MuJoCo inside the file; what the file sets itself stays."""
    extension = robot.find("mujoco")
    extension = Tree.SubElement(robot, "mujoco") if extension is None else extension
    compiler = extension.find("compiler")
    compiler = Tree.SubElement(extension, "compiler") if compiler is None else compiler
    for name, value in (("discardvisual", "false"), ("fusestatic", "false")):
        compiler.attrib.setdefault(name, value)
    for name in ("meshdir", "assetdir", "strippath"):  # every path is absolute by now
        compiler.attrib.pop(name, None)
    return compiler


# ---- meshes


def _find_meshes(robot: Tree.Element, file: Path, notes: Notes, place: Place) -> None:
    """Write into the tree where each mesh really is; leave out what can only be seen and cannot be drawn."""
    compiler = robot.find("mujoco/compiler")
    folder = compiler.get("meshdir", compiler.get("assetdir", "")) if compiler is not None else ""
    found, unseen = 0, []
    for link in robot.iter("link"):
        for kind in ("visual", "collision"):
            for shape in list(link.findall(kind)):
                mesh = shape.find("geometry/mesh")
                if mesh is None:
                    continue
                name = mesh.get("filename", "")
                where = _find(name, file, folder)
                if where is not None:
                    mesh.set("filename", str(where))
                    found += 1
                elif kind == "visual":
                    link.remove(shape)
                    unseen.append(name)
                else:
                    raise _lost(name, link.get("name", ""), file, place)
    if found:
        notes.add(f"{found} mesh{'es' if found > 1 else ''} read")
    if unseen:
        notes.add(f"not drawn, because the file is missing or no {', '.join(MESHES)}: {', '.join(unseen[:5])}")


def _find(name: str, file: Path, folder: str) -> Path | None:
    """Return a mesh's file; one MuJoCo cannot read gives way to one beside it of the same name that it can."""
    bare = name.removeprefix("file://")
    inside = bare.partition("://")[2] if "://" in bare else bare  # package://robot/meshes/leg.stl
    starts = [file.parent / folder, file.parent, *list(file.resolve().parents)[:_ABOVE]]
    tails = [Path(bare), Path(inside), Path(*Path(inside).parts[1:]), Path(Path(inside).name)]
    for tail in tails:
        for start in starts:
            for suffix in dict.fromkeys((tail.suffix, *MESHES)):
                here = (start / tail).with_suffix(suffix) if tail.name else start
                if suffix.lower() in MESHES and here.is_file():
                    return here.absolute()  # a link's own name says what is in it, that of its file may not
    return None


def _lost(name: str, link: str, file: Path, place: Place) -> BodyError:
    kind = Path(name).suffix.lower()
    if kind not in MESHES:
        reason = f"is a {kind} mesh; convert it to one of {', '.join(MESHES)} and put it beside the old one"
    else:
        reason = f"is not there; looked beside '{file}' and in the {_ABOVE} folders above it"
    return BodyError(f"the collision mesh '{name}' of link '{link}' {reason}.", place)


# ---- what the file does not say


def _tell_joints(robot: Tree.Element, notes: Notes) -> None:
    followers = []
    for joint in robot.findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            followers.append(f"{joint.get('name')} (as {mimic.get('joint')})")
    if followers:
        notes.add(f"joints that follow another, held by a constraint; key them together: {', '.join(followers)}")


def _tell_links(robot: Tree.Element, notes: Notes) -> None:
    shapes = [link for link in robot.iter("link") if link.find("collision") is not None]
    guessed = [str(link.get("name")) for link in shapes if link.find("inertial") is None]
    if guessed:
        notes.add(f"mass taken from the shapes at 1000 kg/m³, the file states none: {', '.join(guessed)}")
    bare = [str(link.get("name")) for link in robot.iter("link") if link.find("collision") is None]
    solid = [str(link.get("name")) for link in robot.iter("link") if link.find("collision") is not None]
    if not solid:
        notes.add("nothing of it can be touched: the file has no <collision> shapes")
    elif bare:
        notes.add(f"cannot be touched, no <collision> shape: {', '.join(bare)}")
