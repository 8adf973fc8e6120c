"""Run inside Blender's Python: import an FBX file, write down where its bones are in every frame, and export it again.

python blender_fbx.py IN.fbx OUT.npz AGAIN.fbx FPS
"""

import sys

import bpy
import numpy as np

source, out, again, fps = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = round(float(fps))
bpy.ops.import_scene.fbx(filepath=source)
armature = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
first, last = (round(end) for end in bpy.data.actions[0].frame_range)
heads = []
for frame in range(first, last + 1):
    scene.frame_set(frame)
    heads.append([list((armature.matrix_world @ bone.matrix).translation) for bone in armature.pose.bones])
np.savez(out, heads=np.array(heads), names=np.array([bone.name for bone in armature.pose.bones]))
scene.frame_start, scene.frame_end = first, last
bpy.ops.export_scene.fbx(filepath=again, bake_anim_simplify_factor=0.0, add_leaf_bones=True)
