"""Colours of a USD mesh: a material for each, and display colours for viewers without materials."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Gf, Sdf, UsdGeom, UsdShade, Vt

from stunt.export.glb_file import linear
from stunt.export.surface import Color, Surface

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
