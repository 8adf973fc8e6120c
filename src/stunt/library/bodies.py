"""Bodies named by a motion file: the body is built from the file's own skeleton."""

from __future__ import annotations

from pathlib import Path

import mujoco

from stunt.character.anthropometry import Sex
from stunt.character.from_skeleton import Build, Joints
from stunt.character.human import Root
from stunt.errors import NOWHERE, InvalidValueError, Place
from stunt.library.read import read_clip
from stunt.motion.rig.skeleton_body import body_from_clip

OWN_SKELETON = "skeleton"
"""The body of a character that has the bones of the first clip it follows."""
CLIP_SUFFIXES = (".bvh", ".amc", ".npz", ".json", ".txt", ".glb", ".gltf")


def is_clip_file(body: str) -> bool:
    """Whether a body's name is the path of a motion file."""
    return Path(body.partition("?")[0]).suffix.lower() in CLIP_SUFFIXES


def body_of_clip_file(
    body: str,
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: Sex = "male",
    root: Root = "fixed",
    strength: float = 1.0,
    self_collision: bool = True,
    place: Place = NOWHERE,
    joints: Joints = "ball",
) -> mujoco.MjSpec:
    """Make a body from a motion file's own skeleton, standing on z = 0 and facing +x.

    Args:
        body: The motion file.
        height: Not taken: the bones say how tall it is.
        mass: Body mass [kg]; None keeps the table's build at that height.
        sex: Which anthropometric table.
        root: `free` gives the root a free joint, `fixed` none.
        strength: Factor on every joint's peak torque.
        self_collision: Whether the body's parts touch each other.
        place: Where the request was written, for error messages.
        joints: Ball joints, or three hinges each.

    Raises:
        ClipFileError: The file cannot be read.
        BodyError: Its skeleton is no person's.
        InvalidValueError: A height was given.
    """
    if height is not None:
        raise InvalidValueError("height", height, f"left out, because the bones of '{body}' give it", place)
    if mass is not None and not mass > 0:
        raise InvalidValueError("mass", mass, "a positive number of kilograms", place)
    build = Build(mass, sex, root, joints, strength, self_collision)
    return body_from_clip(read_clip(body, place=place), build).spec
