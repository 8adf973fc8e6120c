"""Run inside Blender's Python (the `bpy` wheel): import files, and write down where every bone is in every frame.

    python blender_read.py JOBS.json      # [{"file": …, "fps": …, "out": ….npz, "up": "Y" or "Z", "action": …}, …]

For each armature `<name>/bones`, `<name>/heads` (F, B, 3) and `<name>/turns` (F, B, 3, 3): heads, and rotations from
the rest pose, in Blender's world (z up, metres). For each other object `object/<name>`, (F, 4, 4); for each mesh with
a skin also `mesh/<name>`, its points in the last frame, (V, 3).
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np


def load(file: str, fps: float, up: str) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
    suffix = Path(file).suffix
    if suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=file)
    elif suffix == ".bvh":  # the dialogue's own axes for y-up files; z-up files are taken as they are
        forward = "-Z" if up == "Y" else "Y"
        bpy.ops.import_anim.bvh(filepath=file, global_scale=0.01, axis_up=up, axis_forward=forward)
    else:
        bpy.ops.wm.usd_import(filepath=file)


def frames() -> range:
    ends = [action.frame_range for action in bpy.data.actions] or [(0, 0)]
    if not bpy.data.actions:
        ends = [(bpy.context.scene.frame_start, bpy.context.scene.frame_end)]
    return range(round(min(end[0] for end in ends)), round(max(end[1] for end in ends)) + 1)


def play(action: str) -> None:
    """Let everything play one of several animations, and no other."""
    for thing in bpy.data.objects:
        data = thing.animation_data
        if data is None:
            continue
        tracks = [track for track in data.nla_tracks if track.name == action]
        strip = tracks[0].strips[0] if tracks else None
        for track in data.nla_tracks:
            track.mute = True
        if strip is not None:
            data.action, data.action_slot = strip.action, strip.action_slot


def turns_of(thing: bpy.types.Object) -> np.ndarray:
    world = np.array(thing.matrix_world.to_3x3().normalized())
    poses = np.array([bone.matrix.to_3x3() for bone in thing.pose.bones])
    rests = np.array([bone.bone.matrix_local.to_3x3() for bone in thing.pose.bones])
    return world @ poses @ rests.transpose(0, 2, 1) @ world.T


def read(file: str, fps: float, out: str, up: str = "Y", action: str = "") -> None:
    load(file, fps, up)
    if action:
        play(action)
    scene, found = bpy.context.scene, {}
    armatures = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    others = [thing for thing in bpy.data.objects if thing.type != "ARMATURE"]
    for frame in frames():
        scene.frame_set(frame)
        for thing in armatures:
            places = np.array([thing.matrix_world @ bone.matrix for bone in thing.pose.bones])[:, :3, 3]
            found.setdefault(f"{thing.name}/heads", []).append(places)
            found.setdefault(f"{thing.name}/turns", []).append(turns_of(thing))
        for thing in others:
            found.setdefault(f"object/{thing.name}", []).append(np.array(thing.matrix_world))
    for thing in armatures:
        found[f"{thing.name}/bones"] = [bone.name for bone in thing.pose.bones]
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in others:
        if thing.type == "MESH" and thing.find_armature() is not None:
            shown = thing.evaluated_get(graph)
            found[f"mesh/{thing.name}"] = [shown.matrix_world @ vertex.co for vertex in shown.data.vertices]
    found["pictures"] = sorted(list(picture.size) for picture in bpy.data.images if picture.size[0])
    found["vertices"] = sum(len(mesh.vertices) for mesh in bpy.data.meshes if mesh.name != "Icosphere")
    np.savez(out, **{key: np.array(value) for key, value in found.items()})


if __name__ == "__main__":
    for job in json.loads(Path(sys.argv[1]).read_text()):
        read(**job)
