"""FBX skeletons and their animations as clips, through the package `ufbx` (`stunt[fbx]`).

The package evaluates the file's curves, pivots and inherited scales; units and axes are the file's own, turned into
metres with y up. A child process reads (`formats.guarded`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stunt.errors import Place, UnknownNameError
from stunt.maths.rotations import Floats, multiply, normalise, rotate
from stunt.motion.clips.raw import MAX_JOINTS, ClipFileError, ClipFormat, RawClip, check_size, read_bytes, snapped
from stunt.motion.formats.guarded import guarded
from stunt.motion.formats.world_clip import WorldBones, largest_tree, raw_of_world, unique

_LOOKS = 9
"""Moments at which an animation is looked at to see whether it moves anything."""


class _File:
    """An FBX file as the package has it.

    The package's objects do not hold what they belong to: one that is freed takes others along, and the process with
    them. So everything that is asked for is kept until the file has been read.
    """

    def __init__(self, path: str | Path) -> None:
        self.place = Place(str(path))
        self._kept: list[Any] = []
        import ufbx

        self._ufbx, data = ufbx, self._keep(read_bytes(path))
        axes = self._keep(ufbx.axes_right_handed_y_up)
        try:
            self._scene = self._keep(
                ufbx.load_memory(data, target_axes=axes, target_unit_meters=1.0, ignore_geometry=True)
            )
        except ufbx.UfbxError as error:
            raise ClipFileError(f"is no FBX file that can be read: {error}.", self.place) from None
        self.nodes = self._all(self._scene.nodes)
        self.up = [-1 if (up := self._keep(node.parent)) is None else int(up.typed_id) for node in self.nodes]
        self.stacks = self._all(self._scene.anim_stacks)
        self.fps = snapped(float(self._keep(self._scene.settings).frames_per_second) or 30.0)

    def _keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def _all(self, values: Any) -> list[Any]:
        some = self._keep(values)
        return [self._keep(some[number]) for number in range(len(some))]

    def bones(self) -> tuple[list[int], list[int]]:
        """Return the nodes of the largest tree of bones, parents first, and their parents; what is between counts."""
        wanted = {number for number, node in enumerate(self.nodes) if self._keep(node.bone) is not None}
        if not wanted:  # some tools write bones as empty nodes
            wanted = {k for k, node in enumerate(self.nodes) if k and self._keep(node.mesh) is None}
        for number in sorted(wanted):
            path = self.path(number)[1:]
            top = max((k for k, above in enumerate(path) if above in wanted), default=0)
            wanted |= set(path[:top])
        kept = sorted(wanted, key=lambda number: self.path(number)[::-1])  # limb by limb, as files are nested
        index = {number: k for k, number in enumerate(kept)}
        parents = [index.get(self.up[number], -1) for number in kept]
        tree = largest_tree(parents) if kept else []
        if len(tree) < 2:
            raise ClipFileError("has no skeleton.", self.place)
        again = {joint: number for number, joint in enumerate(tree)}
        return [kept[joint] for joint in tree], [again.get(parents[joint], -1) for joint in tree]

    def path(self, number: int) -> list[int]:
        """Return a node and what it hangs on, up to the scene's root."""
        found = [number]
        while self.up[found[-1]] >= 0 and len(found) <= MAX_JOINTS:
            found.append(self.up[found[-1]])
        return found

    def local(self, number: int, stack: Any, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where a node is in its parent's frame (F, 3), how it is turned (F, 4), and its scale (F, 3)."""
        node = self.nodes[number]
        if stack is None:
            found = [self._keep(node.local_transform)] * len(times)
        else:
            anim = self._keep(stack.anim)
            found = [self._ufbx.evaluate_transform(anim, node, time) for time in times.tolist()]
        turns = np.array([tuple(one.rotation) for one in found])[:, [3, 0, 1, 2]]
        shift, size = (np.array([tuple(getattr(one, what)) for one in found]) for what in ("translation", "scale"))
        return shift, normalise(turns), size

    def moving(self, stack: Any, bones: list[int]) -> float:
        """Return how long an animation lasts [s]; 0 where no bone moves in it."""
        times = np.linspace(float(stack.time_begin), float(stack.time_end), _LOOKS)
        moved = any(np.ptp(np.hstack(self.local(bone, stack, times)), axis=0).max() > 1e-5 for bone in bones)
        return float(times[-1] - times[0]) if moved else 0.0

    def world(self, bones: list[int], stack: Any, times: Floats) -> tuple[Floats, Floats]:
        """Return where bones are in the world, (F, J, 3), and how they are turned, (F, J, 4); at rest without stack."""
        known: dict[int, tuple[Floats, Floats, Floats]] = {}
        for bone in bones:
            for number in reversed(self.path(bone)):
                if number in known:
                    continue
                shift, turn, size = self.local(number, stack, times)
                if self.up[number] >= 0:
                    place, above, scale = known[self.up[number]]
                    shift, turn, size = place + rotate(above, scale * shift), multiply(above, turn), scale * size
                known[number] = shift, turn, size
        found = [known[bone] for bone in bones]
        return np.stack([some[0] for some in found], axis=1), np.stack([some[1] for some in found], axis=1)


def read_fbx(path: str | Path, animation: str | None = None) -> RawClip:
    """Read the skeleton of an FBX file and one of its animations.

    Args:
        path: The file.
        animation: Which, by name; None takes the longest that moves. Without any the clip is one frame.

    Raises:
        ClipFileError: It is no FBX file, or has no skeleton.
        UnknownNameError: There is no such animation.
    """
    file = _File(path)
    bones, parents = file.bones()
    notes: dict[str, str] = {}
    stack = _stack(file, bones, animation, notes)
    start, end = (0.0, 0.0) if stack is None else (float(stack.time_begin), float(stack.time_end))
    frames = max(round((end - start) * file.fps), 0) + 1
    check_size(frames, 7 * len(bones), file.place)
    times = start + np.arange(frames) / file.fps
    (places,), (turns,) = file.world(bones, None, times[:1])
    names = [str(file.nodes[bone].name) for bone in bones]
    world = WorldBones(unique(names), tuple(parents), places, turns, *file.world(bones, stack, times))
    return raw_of_world(world, form="fbx", file=str(path), fps=file.fps, up="y", scale=None, notes=notes)


def _stack(file: _File, bones: list[int], wanted: str | None, notes: dict[str, str]) -> Any:
    """Return an animation: the one wanted, or the longest that moves; None where there is none."""
    names = [str(stack.name) for stack in file.stacks]
    if wanted is not None and wanted not in names:
        raise UnknownNameError("animation", wanted, names, file.place)
    if not file.stacks:
        return None
    if wanted is not None:
        return file.stacks[names.index(wanted)]
    chosen = max(range(len(names)), key=lambda number: (file.moving(file.stacks[number], bones), -number))
    notes["animation"] = names[chosen]
    if len(names) > 1:
        notes["choice"] = f"the longest of {len(names)} animations that moves was taken ({', '.join(names[:10])})"
    return file.stacks[chosen]


FBX = ClipFormat(
    "fbx", (".fbx",), guarded("ufbx", "fbx", f"{__name__}:read_fbx"), heeds=("animation",), listed=("*.fbx",)
)
