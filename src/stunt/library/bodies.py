"""Bodies by reference: built in, from a model's file, or from the skeleton of a clip; built once and copied."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import mujoco

from stunt.character.anthropometry import Sex
from stunt.character.bodies import BUILT_IN, SUFFIXES, check_build, make_body
from stunt.character.from_skeleton import Build, Joints
from stunt.character.human import Root
from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError
from stunt.library.names import HERE, Library, Reference, reference_name
from stunt.motion.formats.registry import clip_suffixes
from stunt.motion.rig.skeleton_body import body_from_clip

OWN_SKELETON: Final = "skeleton"
"""The body of a character that has the bones of the first clip it follows."""


def body_spec(
    body: Reference,
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: Sex = "male",
    root: Root = "fixed",
    strength: float = 1.0,
    self_collision: bool = True,
    place: Place = NOWHERE,
    joints: Joints = "ball",
    library: Library = HERE,
) -> mujoco.MjSpec:
    """Return a body, standing on z = 0 and facing +x, for the caller alone: to be dressed and attached to a scene.

    Args:
        body: A built-in body, the path of an MJCF, URDF or motion file, the name of a clip, or a clip.
        height: Standing height [m] of a built-in body; the bones of clips and models say how tall those are.
        mass: Body mass [kg]; None keeps the table's build at that height.
        sex: Which anthropometric table.
        root: `free` gives the root a free joint, `fixed` none.
        strength: Factor on every joint's peak torque.
        self_collision: Whether the body's parts touch each other.
        place: Where the request was written, for error messages.
        joints: Ball joints, or three hinges each, for the bones of a clip.
        library: Where clips are looked for.

    Raises:
        UnknownNameError: There is no such body.
        ClipFileError: The motion file cannot be read.
        BodyError: The model's file is no body, or the clip's skeleton no person's.
        InvalidValueError: A size, mass, factor or choice that is impossible.
    """
    check_build(height, mass, sex, root, strength, place)
    if not library.is_clip(body):
        return make_body(
            _model(library.located(str(body)), place), height=height, mass=mass, sex=sex, root=root, strength=strength,
            self_collision=self_collision, place=place,
        )  # fmt: skip
    if height is not None:
        expected = f"left out, because the bones of '{reference_name(body)}' give it"
        raise InvalidValueError("height", height, expected, place)
    clip = library.clip(body, place=place)
    build = Build(mass, sex, root, joints, strength, self_collision)
    return clip.once(("built", build), lambda: body_from_clip(clip, build).spec).copy()


def _model(body: str, place: Place) -> str:
    """Return the name of a body that is no clip's, or say which bodies there are."""
    if body in BUILT_IN or Path(body).suffix.lower() in SUFFIXES:
        return body
    files = (*SUFFIXES, *clip_suffixes())
    others = (f"or the path of a {', '.join(files[:-1])} or {files[-1]} file", "or the name of a clip")
    raise UnknownNameError("body", body, (*BUILT_IN, *others), place)
