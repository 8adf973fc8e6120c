"""USD skeletons and their animations as clips, through the package `usd-core` (`stunt[usd]`); a child process reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import Place, brief
from stunt.maths.rotations import Floats, from_matrix
from stunt.motion.clips.raw import ClipFileError, ClipFormat, RawClip, check_size, snapped
from stunt.motion.formats.guarded import guarded
from stunt.motion.formats.world_clip import WorldBones, largest_tree, raw_of_world, unique

_STILL_FPS = 24.0
_MOST_LAYERS = 64


def read_usd(path: str | Path) -> RawClip:
    """Read the largest skeleton of a USD file, and the animation bound to it; without one the clip is one frame.

    Raises:
        ClipFileError: It is no USD file, has no skeleton, or is made of files outside its folder.
    """
    place = Place(str(path))
    from pxr import Tf, Usd, UsdGeom, UsdSkel

    try:
        _check_layers(Path(path), place)
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise ClipFileError(f"is no USD file that can be read: {str(error).strip().splitlines()[0]}", place) from None
    prims = [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton)]
    found = [UsdSkel.Skeleton(prim) for prim in prims]
    if not found:
        raise ClipFileError("has no skeleton.", place)
    skeleton = max(found, key=lambda one: len(one.GetJointsAttr().Get() or ()))
    cache = UsdSkel.Cache()
    if root := UsdSkel.Root.Find(skeleton.GetPrim()):
        cache.Populate(root, Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skeleton)
    joints = [str(joint) for joint in query.GetJointOrder()] if query else []
    if len(joints) < 2:
        raise ClipFileError("has no skeleton.", place)
    animation = query.GetAnimQuery()
    samples = animation.GetJointTransformTimeSamples() if animation else []
    fps = snapped(float(stage.GetTimeCodesPerSecond()) or _STILL_FPS)
    first, last = (samples[0], samples[-1]) if samples else (0.0, 0.0)
    frames = round(last - first) + 1
    check_size(frames, 7 * len(joints), place)
    shown = UsdGeom.XformCache()

    def world(time: Any) -> tuple[Floats, Floats]:
        shown.SetTime(time)
        above = np.array(shown.GetLocalToWorldTransform(skeleton.GetPrim()))
        return _frames(np.array(query.ComputeJointSkelTransforms(time)) @ above)

    moved = [world(Usd.TimeCode(first + k)) for k in range(frames)]
    over = np.array(UsdGeom.XformCache(Usd.TimeCode(first)).GetLocalToWorldTransform(skeleton.GetPrim()))
    bind = skeleton.GetBindTransformsAttr().Get()
    rest = _frames(np.array(bind) @ over) if bind is not None and len(bind) == len(joints) else moved[0]
    above = [int(parent) for parent in query.GetTopology().GetParentIndices()]
    tree = largest_tree(above)  # a file may hold several side by side
    if len(tree) < 2:
        raise ClipFileError("has no skeleton.", place)
    names = unique([joints[joint].rpartition("/")[2] for joint in tree])
    parents = tuple(tree.index(above[joint]) if above[joint] >= 0 else -1 for joint in tree)
    places = (np.stack([one[k] for one in moved])[:, tree] for k in (0, 1))
    bones = WorldBones(names, parents, *(some[tree] for some in rest), *places)
    metres = float(UsdGeom.GetStageMetersPerUnit(stage))
    up = str(UsdGeom.GetStageUpAxis(stage)).lower()
    return raw_of_world(bones, form="usd", file=str(path), fps=fps, up=up, scale=metres, notes={})


def _check_layers(path: Path, place: Place) -> None:
    """See that all files a stage is made of are in the folder of the one that was named."""
    from pxr import Sdf

    folder, seen, waiting = path.parent.resolve(), set[str](), [str(path)]
    while waiting:
        name = waiting.pop()
        layer = Sdf.Layer.FindOrOpen(name)
        if layer is None or name in seen:
            continue
        seen.add(name)
        if len(seen) > _MOST_LAYERS:
            raise ClipFileError(f"is made of more than {_MOST_LAYERS} files.", place)
        clips: list[Any] = []
        layer.Traverse("/", lambda at, layer=layer, clips=clips: clips.append(at) if _has_clips(layer, at) else None)
        if clips:
            raise ClipFileError(f"takes values from other files (value clips, at {clips[0]}): that is not read.", place)
        for other in layer.GetCompositionAssetDependencies():
            full = layer.ComputeAbsolutePath(other)
            if not Path(full).resolve().is_relative_to(folder):
                raise ClipFileError(f"refers to '{brief(other)}', which is outside its folder.", place)
            waiting.append(full)


def _has_clips(layer: Any, at: Any) -> bool:
    spec = layer.GetPrimAtPath(at) if at.IsPrimPath() else None
    return spec is not None and bool(spec.HasInfo("clips"))


def _frames(matrices: Floats) -> tuple[Floats, Floats]:
    """Return places (J, 3) and turns (J, 4) of matrices as USD has them: rows, with scale."""
    axes = matrices[:, :3, :3] / np.linalg.norm(matrices[:, :3, :3], axis=2, keepdims=True)
    return matrices[:, 3, :3].copy(), np.stack([from_matrix(one.T) for one in axes])


USD = ClipFormat(
    "usd", (".usd", ".usda", ".usdc"), guarded("pxr", "usd", f"{__name__}:read_usd"),
    listed=("*.usd", "*.usda", "*.usdc"),
)  # fmt: skip
