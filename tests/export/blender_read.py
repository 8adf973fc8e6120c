"""Run inside Blender's Python (the `bpy` wheel): import a file, and write down where every bone is in every frame.

    python blender_read.py FILE FPS OUT.npz

For each armature `<name>/bones`, `<name>/rest` (B, 3), `<name>/heads` (F, B, 3) and `<name>/turns` (F, B, 3, 3): heads
and rotations from the rest pose, in Blender's world (z up, metres). For each other moving object `object/<name>`, (F, 4, 4).
"""

import sys
from pathlib import Path

import bpy
import numpy as np


def load(file: str, fps: float) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
    suffix = Path(file).suffix
    if suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=file)
    elif suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=file, global_scale=0.01, axis_up="Y", axis_forward="-Z", use_fps_scale=False)
    else:
        bpy.ops.wm.usd_import(filepath=file)


def frames() -> range:
    ends = [action.frame_range for action in bpy.data.actions]
    first, last = round(min(end[0] for end in ends)), round(max(end[1] for end in ends))
    return range(first, last + 1)


def main(file: str, fps: str, out: str) -> None:
    load(file, float(fps))
    scene, found = bpy.context.scene, {}
    armatures = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    others = [thing for thing in bpy.data.objects if thing.type != "ARMATURE"]
    heads = {thing.name: [] for thing in armatures}
    turns = {thing.name: [] for thing in armatures}
    places = {thing.name: [] for thing in others}
    for frame in frames():
        scene.frame_set(frame)
        for thing in armatures:
            world = np.array(thing.matrix_world)
            poses = np.array([bone.matrix for bone in thing.pose.bones])
            rests = np.array([bone.bone.matrix_local for bone in thing.pose.bones])
            heads[thing.name].append((world @ poses)[:, :3, 3])
            turns[thing.name].append(world[:3, :3] @ poses[:, :3, :3] @ rests[:, :3, :3].transpose(0, 2, 1) @ world[:3, :3].T)
        for thing in others:
            places[thing.name].append(np.array(thing.matrix_world))
    for thing in armatures:
        found[f"{thing.name}/bones"] = np.array([bone.name for bone in thing.pose.bones])
        found[f"{thing.name}/heads"] = np.array(heads[thing.name])
        found[f"{thing.name}/turns"] = np.array(turns[thing.name])
    for thing in others:
        found[f"object/{thing.name}"] = np.array(places[thing.name])
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:4])
