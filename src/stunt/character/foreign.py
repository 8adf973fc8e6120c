"""Any MJCF or URDF file as a body: its joints by name, its strength from its own actuators, nothing of its scene.

Control in Stunt acts on joints directly, so a file's actuators are read for what they say about strength and then
dropped. `describe_body` tells what was assumed on the way.
"""

from __future__ import annotations

import hashlib
import math
import re
from pathlib import Path
from typing import Literal

import mujoco
import numpy as np

from stunt import children
from stunt.archives import read_file
from stunt.character.contacts import write_excludes
from stunt.character.foreign_stance import stand
from stunt.character.foreign_strength import joint_strengths
from stunt.character.notes import Notes
from stunt.character.urdf import first_lines, is_urdf, read_urdf
from stunt.errors import NOWHERE, BodyError, Place

_GROUND = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
_FREE = mujoco.mjtJoint.mjJNT_FREE
_HIDDEN = 3  # viewers draw groups 0 to 2
_TELL = 4  # so many hinges with limits tell what angles are in; one or two may be meant to hardly move


_MOST_BYTES = 64 * 2**20
_MOST_PARTS = 10_000  # bodies, joints, geoms and sites; a hand with all its bones has 300
_MOST_VALUES = 2**26  # of a height field or a picture
_SIZES = ("nuserdata", "nconmax", "njmax")
_PART = re.compile(r"<(?:body|geom|joint|site)\b")
_FIELD = re.compile(r"<hfield\b[^>]*")
_COUNTED = re.compile(r"<(/?)(replicate|composite|flexcomp)\b([^>]*?)(/?)>")
_LARGEST = 1e6
_BROKEN = (ValueError, RuntimeError, mujoco.FatalError)
# Words by which a small file may ask for much: what the engine makes itself, and what it reads from elsewhere.
_ASKS = re.compile(
    r"\bbuiltin\s*=|<(?:include|model|attach|skin|flexcomp|composite|replicate|size|key|texture|hfield|plugin|numeric)\b"
    r"|\b(?:nsample|nchannel|resolution|dim|num|file|vertex|cellcount)\s*="
)
_TRIED: set[bytes] = set()  # digests of what a child has read and found harmless
_NUMBERS = {
    "bodies": ("pos", "ipos", "mass", "inertia", "fullinertia"), "geoms": ("size", "pos", "fromto", "mass", "density"),
    "sites": ("pos", "size"), "joints": ("pos", "axis", "armature"),
}  # fmt: skip
_MAY_LACK = ("ipos", "fullinertia", "fromto", "mass")  # begin with what is no number where a file does not say


def load_foreign(
    path: str,
    *,
    root: Literal["fixed", "free"] = "fixed",
    strength: float = 1.0,
    self_collision: bool = True,
    place: Place = NOWHERE,
) -> mujoco.MjSpec:
    """Load an MJCF or URDF file as a body, set on z = 0 with its root over the origin.

    Raises:
        BodyError: There is no such file, MuJoCo cannot read or compile it, or it has nothing to move.
    """
    notes = Notes(f"read from '{Path(path).name}'")
    return _as_body(_read(path, notes, place), path, notes, root, strength, self_collision, place)


def foreign_body(
    spec: mujoco.MjSpec,
    *,
    root: Literal["fixed", "free"] = "fixed",
    strength: float = 1.0,
    self_collision: bool = True,
    place: Place = NOWHERE,
) -> mujoco.MjSpec:
    """Make a body of a model that was made in Python, set on z = 0 with its root over the origin; it is copied.

    Raises:
        BodyError: MuJoCo cannot compile it, or it has nothing to move.
    """
    name = spec.modelname or "MjSpec"
    return _as_body(spec.copy(), name, Notes(f"made from '{name}'"), root, strength, self_collision, place)


def _as_body(
    spec: mujoco.MjSpec,
    path: str,
    notes: Notes,
    root: Literal["fixed", "free"],
    strength: float,
    self_collision: bool,
    place: Place,
) -> mujoco.MjSpec:
    """Take from a model what belongs to a scene, and make a body of the rest."""
    # The compiler would move every muscle about to see how far it goes, for as long as the file likes. Nobody asks.
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    _drop_scenery(spec, notes)
    _name_everything(spec, notes)
    model = _compile(spec, path, place)
    if model.njnt == 0 or all(model.jnt_type == _FREE):
        raise BodyError(f"the body file '{path}' has no joints a character could move.", place)
    _mean_radians(spec, model, notes)
    _drop_loose_things(spec, model, notes)
    _write_strengths(spec, _compile(spec, path, place), strength, notes)
    _drop_machinery(spec, notes)
    _show_hidden(spec, notes)
    _forget_options(spec, notes)
    top = _root_body(spec, _compile(spec, path, place))
    floats = root == "free" or any(joint.type == _FREE for joint in top.joints)
    _hold_root(spec, top, root, notes, path, place)
    stand(spec, top.name, floats, notes)
    write_excludes(spec, all_pairs=not self_collision, people=False)
    notes.write(spec)
    _compile(spec, path, place)
    return spec


def _mean_radians(spec: mujoco.MjSpec, model: mujoco.MjModel, notes: Notes) -> None:
    """Have angles read as radians where joints' limits can be meant in nothing else, though the file says degrees.

    Files that are made to be put into another one leave its unit to that.
    """
    hinges = model.jnt_limited.astype(bool) & (model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
    if not spec.compiler.degree or hinges.sum() < _TELL:
        return
    widest = math.degrees(float(abs(model.jnt_range[hinges]).max()))
    if widest <= 2.0 * math.pi + 1e-6:  # so many degrees are no step; so many radians a full turn
        spec.compiler.degree = False
        notes.add(f"no joint could turn by more than {widest:.1f}° from rest: its angles were taken to be radians")


def _read(path: str, notes: Notes, place: Place) -> mujoco.MjSpec:
    if not Path(path).is_file():
        raise BodyError(f"there is no body file '{path}'.", place)
    try:
        data = read_file(path, _MOST_BYTES)
        text = data.decode("utf-8")  # the engine's names are read as that later on
    except (OSError, UnicodeDecodeError) as error:
        raise BodyError(f"the body file '{path}' cannot be read as UTF-8 text: {error}", place) from error
    _check_count(_announced(text), "parts", path, place)
    for inner in _FIELD.findall(text):  # the engine takes its memory while it reads
        sizes = re.findall(r"\bn(?:row|col)\s*=\s*[\"']\s*(\d{1,12})", inner)
        _check_count(math.prod(map(int, sizes)), "values at once", path, place, _MOST_VALUES)
    digest = hashlib.sha256(f"{Path(path).absolute()}\0".encode() + data).digest()
    if _ASKS.search(text) and digest not in _TRIED:
        _try(path, place)
        _TRIED.add(digest)
    return _parsed(path, notes, place)


def _parsed(path: str, notes: Notes, place: Place) -> mujoco.MjSpec:
    """Return what the engine makes of a file's text, and what other files it names."""
    if is_urdf(path):
        spec = read_urdf(path, notes, place)
    else:
        try:
            spec = _read_where_its_files_are(path)
        except _BROKEN as error:
            raise BodyError(f"MuJoCo cannot read the body file '{path}': {first_lines(error)}", place) from error
    _check_count(sum(len(getattr(spec, kind)) for kind in _NUMBERS), "parts", path, place)
    values = [one.width * one.height * (6 if one.height < 6 * one.width else 1) for one in spec.textures]
    for count in (sum(values), *(getattr(spec, name) for name in _SIZES)):
        _check_count(count, "values at once", path, place, _MOST_VALUES)
    for named in _named(spec, path):
        if named.exists() and not named.is_file():
            raise BodyError(f"the body file '{path}' names '{named.name}', which is no file.", place)
    return spec


def _read_where_its_files_are(path: str) -> mujoco.MjSpec:
    """Return a model's text; that of a symbolic link is read where it really is if only there is what it names."""
    places = [path]
    if Path(path).is_symlink() and Path(path).resolve().suffix == Path(path).suffix:
        places.append(str(Path(path).resolve()))
    for place in places:
        try:
            spec = mujoco.MjSpec.from_file(place)
        except _BROKEN:
            if place == places[-1]:
                raise
        else:
            if place == places[-1] or all(named.exists() for named in _named(spec, place)):
                return spec
    raise AssertionError("unreachable")


def _named(spec: mujoco.MjSpec, path: str) -> list[Path]:
    """Return where the files are that a model names."""
    folders = (("meshes", spec.meshdir), ("hfields", spec.meshdir), ("textures", spec.texturedir))
    return [
        Path(path).parent / folder / one.file for kind, folder in folders for one in getattr(spec, kind) if one.file
    ]


def _try(path: str, place: Place) -> None:
    """Have a child read and compile a file that may ask for more than it holds; what it refuses is not read here."""
    try:
        children.apart(f"{__name__}:tried", str(Path(path).absolute()), path)
    except children.Refused as error:
        raise BodyError(str(error), place) from None
    except children.Died as error:
        reason = f"MuJoCo {error}: it is damaged, or asks for too much."
        raise BodyError(f"the body file '{path}' cannot be used: {reason}", place) from None


def tried(data: bytes, path: str, named: str) -> bytes:
    """Read and compile a file (the child's side)."""
    children.allow(children.SPARE + children.UNPACKED * Path(path).stat().st_size)
    reason = f"the body file '{named}' asks for more memory than a file of its size needs."
    try:
        spec = _parsed(path, Notes(""), NOWHERE)
        spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
        mujoco.MjData(_compile(spec, path, NOWHERE))
        return b""
    except BodyError as error:
        if "unknown exception" not in error.reason:  # so the engine calls memory that it does not get
            reason = error.reason.replace(path, named)
    except MemoryError:
        pass
    except _BROKEN as error:
        reason = f"MuJoCo cannot use the body file '{named}': {first_lines(error)}"
    raise children.Refused(reason)


def _announced(text: str) -> int:
    """Return how many parts a model's text announces: its own, and a `replicate` as often as those around it."""
    total, around = len(_PART.findall(text)), [1]
    for closes, kind, inner, alone in _COUNTED.findall(text):
        if closes:
            around = around[:-1] or [1]
            continue
        counts = re.search(r"\bcount\s*=\s*[\"']([\d\s]*)", inner)
        here = around[-1] * math.prod(int(word[:12]) for word in (counts[1].split() if counts else ()))
        total += here
        if not alone:
            around.append(here if kind == "replicate" else around[-1])
    return total


def _check_count(count: int, what: str, path: str, place: Place, most: int = _MOST_PARTS) -> None:
    if count > most:
        raise BodyError(f"the body file '{path}' has {count:.6g} {what}; {most:,} are the most.", place)


def _compile(spec: mujoco.MjSpec, path: str, place: Place) -> mujoco.MjModel:
    check_numbers(spec, f"the body file '{path}'", place)
    try:
        return spec.compile()
    except _BROKEN as error:
        raise BodyError(f"MuJoCo cannot compile the body file '{path}': {first_lines(error)}", place) from error


def check_numbers(spec: mujoco.MjSpec, what: str, place: Place) -> None:
    """Refuse sizes and places no body has: the engine's compiler may not come to an end with what is no finite number.

    Raises:
        BodyError: It says which element has one.
    """
    for kind, names in _NUMBERS.items():
        for element in getattr(spec, kind):
            for name in names:
                values = np.abs(np.asarray(getattr(element, name), float)).reshape(-1)
                lacks = name in _MAY_LACK and np.isnan(values[0])
                if not lacks and not (values <= _LARGEST).all():
                    raise BodyError(f"{what}: '{element.name}' has a {name} of {values.max():g}.", place)


def _drop_scenery(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Take away what belongs to a stage, not to a body: ground, lights, cameras of the world."""
    ground = [geom for geom in spec.worldbody.geoms if geom.type in _GROUND]
    lights, cameras = list(spec.lights), list(spec.cameras)
    for element in (*ground, *lights, *cameras):
        spec.delete(element)
    notes.count(len(ground), "ground shape", "dropped")
    notes.count(len(lights), "light", "dropped")
    notes.count(len(cameras), "camera", "dropped")


def _drop_loose_things(spec: mujoco.MjSpec, model: mujoco.MjModel, notes: Notes) -> None:
    """Take away props and targets: top-level bodies that only float freely, or are moved by hand (mocap)."""
    moving = {int(model.body_rootid[model.jnt_bodyid[j]]) for j in range(model.njnt) if model.jnt_type[j] != _FREE}
    for body in _tops(spec):
        id_ = model.body(body.name).id
        floating = any(joint.type == _FREE for joint in body.joints)
        if body.mocap or (floating and id_ not in moving):
            notes.add(f"'{body.name}' is a loose thing, not a part of the body: dropped")
            spec.delete(body)


def _tops(spec: mujoco.MjSpec) -> list[mujoco.MjsBody]:
    return [body for body in spec.bodies if body.name != "world" and body.parent.name == "world"]


def _drop_machinery(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Take away actuators, sensors, key-frames and what may refer to them; keep tendons, equalities and excludes."""
    for kind in ("actuator", "sensor", "key", "tuple"):
        elements = list(getattr(spec, f"{kind}s"))
        for element in elements:
            spec.delete(element)
        if kind != "actuator":
            notes.count(len(elements), "key-frame" if kind == "key" else kind, "dropped")


def _show_hidden(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Draw what a body touches with where it has nothing else to be seen (robot files hide such shapes in groups)."""
    shown = []
    for body in spec.bodies:
        geoms = list(body.geoms)
        if geoms and all(geom.group >= _HIDDEN for geom in geoms):
            shown.append(body.name)
            for geom in geoms:
                geom.group = 0
    if shown:
        notes.add(f"drawn by the shapes it touches with, for want of others: {', '.join(shown)}")


def _name_everything(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Give unnamed bodies and joints names, so that each can be addressed."""
    taken = {body.name for body in spec.bodies} | {joint.name for joint in spec.joints}
    named = []
    for number, body in enumerate(spec.bodies):
        if not body.name:
            body.name = _unused(f"body{number}", taken)
            named.append(body.name)
        for place, joint in enumerate(body.joints, start=1):
            if not joint.name:
                only = len(body.joints) == 1
                wish = "root" if joint.type == _FREE else f"{body.name}_joint{'' if only else place}"
                joint.name = _unused(wish, taken)
                named.append(joint.name)
    if named:
        notes.add(f"named what had no name: {', '.join(named)}")


def _unused(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name


def _write_strengths(spec: mujoco.MjSpec, model: mujoco.MjModel, factor: float, notes: Notes) -> None:
    """Put each joint's peak torque where Stunt looks for it: the joint's actuator force range."""
    guessed = []
    for name, found in joint_strengths(model).items():
        joint = spec.joint(name)
        peak = found.peak * factor
        joint.actfrcrange = [-peak, peak]
        # MuJoCo enforces the range on scalar joints only; on a ball joint it just carries the number.
        ball = joint.type == mujoco.mjtJoint.mjJNT_BALL
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE if ball else mujoco.mjtLimited.mjLIMITED_TRUE
        if not found.stated:
            guessed.append(name)
    notes.count(model.nu, "actuator", "turned into joint strengths and dropped")
    if guessed:
        notes.add(f"strength derived from the mass it moves, the file states none: {', '.join(guessed)}")


def _root_body(spec: mujoco.MjSpec, model: mujoco.MjModel) -> mujoco.MjsBody:
    """The top-level body with the most degrees of freedom in its tree, and of those the heaviest."""
    freedoms = np.zeros(model.nbody)
    for body in range(1, model.nbody):
        freedoms[model.body_rootid[body]] += model.body_dofnum[body]
    tops = _tops(spec)
    ids = {body.name: model.body(body.name).id for body in tops}
    return max(tops, key=lambda body: (freedoms[ids[body.name]], model.body_subtreemass[ids[body.name]]))


def _hold_root(spec: mujoco.MjSpec, body: mujoco.MjsBody, root: str, notes: Notes, path: str, place: Place) -> None:
    """Take the root's free joint away, or give it one."""
    if root == "fixed":
        for free in [joint for top in _tops(spec) for joint in top.joints if joint.type == _FREE]:
            notes.add(f"root '{free.parent.name}' is fixed: its free joint is dropped")
            spec.delete(free)
        return
    free = [joint for joint in body.joints if joint.type == _FREE]
    if not free:
        if list(body.joints):
            raise BodyError(
                f"the root body '{body.name}' of '{path}' has joints of its own ({body.joints[0].name}), so it cannot "
                "float freely as well. Use root: fixed, or give the file a base body without joints.",
                place,
            )
        body.add_freejoint(name=_unused("root", {joint.name for joint in spec.joints}))
        notes.add(f"root '{body.name}' was fixed in the file: it got a free joint")


def _forget_options(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Leave time step, solver, gravity and view to the scene."""
    plain = mujoco.MjSpec()
    for sizes in ("njmax", "nconmax", "nstack", "nkey", "nuserdata", "memory"):
        setattr(spec, sizes, getattr(plain, sizes))
    for group in ("option", "visual", "stat"):
        _copy_fields(getattr(plain, group), getattr(spec, group))
    notes.add("the file's time step, solver, gravity and view are left to the scene")


def _copy_fields(source: object, target: object) -> None:
    for name in dir(source):
        value = getattr(source, name)
        if name.startswith("_") or callable(value):
            continue
        if isinstance(value, (int, float)):
            setattr(target, name, value)
        elif isinstance(value, np.ndarray):
            getattr(target, name)[:] = value
        else:
            _copy_fields(value, getattr(target, name))
