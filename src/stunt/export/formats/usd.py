"""USD: every character a `SkelRoot` with skeleton, animation and skin, props as transforms with time samples.

Metres; the stage says which axis is up (z unless asked otherwise) and how many time codes make a second. Needs the
package `usd-core` (`stunt[usd]`).

Colours of a USD mesh: a material for each, and display colours for viewers without materials.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

from stunt.export.contents import PropTrack, gather
from stunt.export.formats.glb_file import linear
from stunt.export.options import Options, Progress, Up, turns_out, vectors_out
from stunt.export.rig import Rig
from stunt.export.skin import dress
from stunt.export.solids import Color, Surface, body_surface, colored_geoms
from stunt.maths.rotations import Floats
from stunt.record.take import Take

_LOOKS = "/stage/looks"


def paint(stage: Any, mesh: Any, surface: Surface) -> None:
    """Give every triangle its colour; triangles are in the order of the surface's parts."""
    colors = [np.tile([linear(c) for c in color[:3]], (len(some), 1)) for color, some in surface.parts]
    shown = mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.uniform)
    shown.Set(Vt.Vec3fArray.FromNumpy(np.concatenate(colors).astype(np.float32)))
    first = 0
    for number, (color, some) in enumerate(surface.parts):
        faces = Vt.IntArray.FromNumpy(np.arange(first, first + len(some), dtype=np.int32))
        first += len(some)
        subset = UsdGeom.Subset.CreateGeomSubset(
            mesh, f"part_{number + 1}", UsdGeom.Tokens.face, faces, UsdShade.Tokens.materialBind
        )
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(_material(stage, color))
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim())
    UsdShade.MaterialBindingAPI(mesh.GetPrim()).SetMaterialBindSubsetsFamilyType(UsdGeom.Tokens.partition)


def _material(stage: Any, color: Color) -> Any:
    """Return the material of a display colour, made where it is not there yet."""
    digits = "_".join(f"{round(255 * part):02x}" for part in color)
    path = f"{_LOOKS}/color_{digits}"
    if stage.GetPrimAtPath(path):
        return UsdShade.Material(stage.GetPrimAtPath(path))
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*[linear(c) for c in color[:3]]))
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.75)
    shader.CreateInput("opacity", Sdf.ValueTypeNames.Float).Set(float(color[3]))
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


_TOP = "/stage"


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write a take; the suffix of the file that `path` stands aside for says text (.usda) or binary."""
    take = takes[0]
    motion, rigs, props = gather(take, options)
    progress(0.3)
    up: Up = options.up or "z"
    stage = _stage(take, motion.fps, len(motion.times), up)
    for number, rig in enumerate(rigs):
        surface = dress(motion.model, rig, take.cast.character(rig.character), options)
        _add_character(stage, rig, surface, up)
        progress(0.3 + 0.5 * (number + 1) / len(rigs))
    colors = colored_geoms(motion.model)
    for prop in props:
        _add_prop(stage, prop, body_surface(motion.model, prop.body, colors), up)
    _save(stage, path)


def _stage(take: Take, fps: float, frames: int, up: Up) -> Any:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if up == "z" else UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(frames - 1)
    top = UsdGeom.Xform.Define(stage, _TOP)
    stage.SetDefaultPrim(top.GetPrim())
    stage.GetRootLayer().documentation = str(take.meta.get("title") or "")
    return stage


def _save(stage: Any, path: Path) -> None:
    """Write a stage. The library tells the format by the suffix, which a file that is still aside does not have."""
    suffix = next((part for part in reversed(path.suffixes) if part.lower() in (".usda", ".usdc", ".usd")), ".usd")
    with tempfile.TemporaryDirectory(prefix=".stunt-", dir=path.parent) as folder:
        file = Path(folder) / f"stage{suffix.lower()}"
        stage.GetRootLayer().Export(str(file))
        path.write_bytes(file.read_bytes())


def _name(text: str) -> str:
    return str(Tf.MakeValidIdentifier(text))


def _joint_paths(rig: Rig) -> list[str]:
    """Return the bones' names as paths from the root, as USD has them."""
    paths: list[str] = []
    for bone, parent in enumerate(rig.parents):
        own = _name(rig.names[bone])
        paths.append(own if parent < 0 else f"{paths[parent]}/{own}")
    return paths


def _matrices(places: Floats) -> Any:
    return Vt.Matrix4dArray([Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(*map(float, place))) for place in places])


def _add_character(stage: Any, rig: Rig, surface: Surface, up: Up) -> None:
    place = f"{_TOP}/{_name(rig.character)}"
    UsdSkel.Root.Define(stage, place)
    skeleton = UsdSkel.Skeleton.Define(stage, f"{place}/{_name(rig.character)}_skeleton")
    joints = _joint_paths(rig)
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateJointNamesAttr(list(rig.names))
    skeleton.CreateBindTransformsAttr(_matrices(vectors_out(rig.rest, up)))
    skeleton.CreateRestTransformsAttr(_matrices(vectors_out(rig.offsets(), up)))
    animation = _animate(stage, f"{skeleton.GetPath()}/motion", rig, joints, up)
    binding = UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    if len(surface.points):
        mesh = _mesh(stage, f"{place}/body", surface, up)
        _bind(mesh, skeleton, surface)


def _animate(stage: Any, path: str, rig: Rig, joints: list[str], up: Up) -> Any:
    animation = UsdSkel.Animation.Define(stage, path)
    animation.CreateJointsAttr(joints)
    places, turns = rig.local()
    places, turns = vectors_out(places, up), turns_out(turns, up)
    translations, rotations = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
    animation.CreateScalesAttr(Vt.Vec3hArray([Gf.Vec3h(1, 1, 1)] * len(joints)))
    for frame in range(len(places)):
        translations.Set(Vt.Vec3fArray.FromNumpy(places[frame].astype(np.float32)), frame)
        rotations.Set(Vt.QuatfArray([Gf.Quatf(*map(float, turn)) for turn in turns[frame]]), frame)
    return animation


def _mesh(stage: Any, path: str, surface: Surface, up: Up) -> Any:
    mesh = UsdGeom.Mesh.Define(stage, path)
    triangles = np.concatenate([some for _, some in surface.parts])
    points = vectors_out(surface.points, up).astype(np.float32)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
    mesh.CreateExtentAttr([Gf.Vec3f(*map(float, points.min(axis=0))), Gf.Vec3f(*map(float, points.max(axis=0)))])
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(triangles.astype(np.int32).reshape(-1)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    normals = vectors_out(surface.normals, up).astype(np.float32)
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(normals))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    paint(stage, mesh, surface)
    return mesh


def _bind(mesh: Any, skeleton: Any, surface: Surface) -> None:
    if surface.bones is None or surface.weights is None:
        return
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    bones = Vt.IntArray.FromNumpy(surface.bones.astype(np.int32).reshape(-1))
    weights = Vt.FloatArray.FromNumpy(surface.weights.astype(np.float32).reshape(-1))
    binding.CreateJointIndicesPrimvar(False, 4).Set(bones)
    binding.CreateJointWeightsPrimvar(False, 4).Set(weights)


def _add_prop(stage: Any, prop: PropTrack, surface: Surface, up: Up) -> None:
    path = f"{_TOP}/{_name(prop.name)}"
    # One prim, not a mesh inside a transform: importers that merge the two would lose the prop's name.
    frame = _mesh(stage, path, surface, up) if len(surface.points) else UsdGeom.Xform.Define(stage, path)
    move, turn = frame.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble), frame.AddOrientOp()
    places, turns = vectors_out(prop.positions, up), turns_out(prop.rotations, up)
    for number in range(len(places)) if prop.moves else range(1):
        when = number if prop.moves else Usd.TimeCode.Default()
        move.Set(Gf.Vec3d(*map(float, places[number])), when)
        turn.Set(Gf.Quatf(*map(float, turns[number])), when)
