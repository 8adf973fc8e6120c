"""A take written back into the rigged file its body came from.

Nodes, names, skins, meshes, materials, textures and shape keys stay as they are; one animation is added. A bone that
became a body is where the take has that body, in every frame. What became none keeps its own animation: fingers, twists
and helpers on the bone they hang on; targets that hang beside the skeleton (as those of inverse kinematics do) go along
with the bone they lie at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from stunt.character.character import Character
from stunt.errors import ExportError
from stunt.export.contents import move_to_source
from stunt.export.options import Options
from stunt.export.rig import continuous
from stunt.export.sampling import SampledTake, sample
from stunt.library.clip_record import SourceFile, digest_of
from stunt.maths.rotations import Floats, conjugate, multiply, rotate, to_matrix
from stunt.motion.formats.gltf import GltfDocument, read_document
from stunt.motion.formats.gltf_clip import STILL_FPS, NodeMotion, moved_properties
from stunt.motion.formats.gltf_nodes import Bones, Local, find_bones, local_of, parents_of
from stunt.record.take import Take

SLOWEST_FPS = 12.0
"""Keys of a file further apart than this are poses; what a take does between them would be lost at their rate."""
_STILL = 1e-6  # What differs by less from how a node stands (parts of the skeleton's size, or of a turn) stays so.


def own_mesh(take: Take, options: Options) -> str | None:
    """Return whose rigged file the options want written; None where it is a body that Stunt dresses itself.

    Raises:
        ExportError: It must be somebody's, and there is none.
    """
    names = take.cast.names if options.character is None else [options.character]
    wanted = options.skeleton == "clip" or (options.skeleton == "auto" and not (options.rigid or options.root_motion))
    with_file = [name for name in names if (clip := take.cast.character(name).clip) is not None and clip.source]
    if wanted and len(names) == 1 and with_file:
        return with_file[0]
    if options.skeleton == "clip":
        how = "name one of them with --character" if with_file else "leave --skeleton out"
        raise ExportError(f"no single character here came from a rigged .glb or .gltf file: {how}.")
    return None


@dataclass(frozen=True, eq=False)
class Channel:
    """How the added animation moves a property of a node: values (F, n) in the file's units and order."""

    node: int
    path: str
    values: Floats


class OwnMesh:
    """A character's rigged file, and what a take makes of its nodes. F frames."""

    def __init__(self, take: Take, name: str, options: Options) -> None:
        """Find the file, and the take at its frame rate.

        Raises:
            ExportError: The file has gone, or is another one now.
        """
        record = take.cast.character(name).clip
        assert record is not None and record.source is not None
        self.document = _same_file(record.source)
        self._record, self._name = record, name
        #: The take at the file's frame rate.
        self.motion: SampledTake = sample(take, options, record.fps if record.fps >= SLOWEST_FPS else STILL_FPS)
        self._move = move_to_source(take, name, options)
        self._in_place = options.in_place
        known = take.cast.character(name).placement
        followed = known is not None and known.clip == record.name and "mirrored" not in record.door.edits
        self._own = NodeMotion(self.document, record.source.animation if followed else "")
        late = self._own.start + (record.source.skipped / record.fps if followed else 0.0)
        self._times = self.motion.times + late
        self._bones: Bones = find_bones(self.document)

    def placed(self, places: Floats, turns: Floats) -> tuple[Floats, Floats]:
        """Return places [m] and turns on the stage in the file's place, unit and axes."""
        door = self._record.door
        places, turns = self._move(places, turns)
        turned = np.concatenate([turns[..., :1], turns[..., 1:] @ door.axes], axis=-1)
        return places @ door.axes / door.scale, turned

    @property
    def axes(self) -> Floats:
        """The rotation that turns the file's axes into ours, (3, 3)."""
        return self._record.door.axes

    @property
    def unit(self) -> float:
        """Metres per unit of the file."""
        return self._record.door.scale

    def channels(self) -> list[Channel]:
        """Return all that the added animation moves: what is not where it stands, or is moved by another animation.

        A tool that plays one animation after another leaves what the next one does not move as the last one had it.
        """
        found, done = list[Channel](), set[tuple[int, str]]()
        moving = moved_properties(self.document)
        for node, (local, moved) in self._skeleton.items():
            if not moved:
                continue
            stands = local_of(self.document, self.document.item("nodes", node))
            far = np.abs(local.shift - stands.shift).max() > _STILL * max(self._size, np.abs(stands.shift).max())
            turned = np.abs(np.abs(local.turn @ stands.turn) - 1.0).max() > _STILL**2 / 2
            if far or (node, "translation") in moving:
                found.append(Channel(node, "translation", local.shift))
            if turned or (node, "rotation") in moving:
                found.append(Channel(node, "rotation", continuous(local.turn)[:, [1, 2, 3, 0]]))
            done |= {(node, "translation"), (node, "rotation")}
        for node, path in sorted(self._own.animated - done):
            found.append(Channel(node, path, self._own.values(node, path, self._times)))
        return found

    # ---- the skeleton

    @cached_property
    def _bodies(self) -> dict[int, int]:
        """The body of each node that became one."""
        character = Character(self.motion.model, self._name)
        names, above = self._record.skeleton.names, self._record.door.above
        found = {}
        for body, joint in self._record.joints.items():
            if above is not None and joint == above.path[0]:
                joint = above.path[-1]  # what is above the hips was laid into them
            if names[joint] not in self._bones.names:
                raise ExportError(f"'{self.document.place.file}' has no bone '{names[joint]}' any more.")
            found[self._bones.nodes[self._bones.names.index(names[joint])]] = character.bodies[body]
        return found

    @cached_property
    def _size(self) -> float:
        return float(np.ptp(self._record.skeleton.rest_places, axis=0).max()) / self.unit

    @cached_property
    def _skeleton(self) -> dict[int, tuple[Local, bool]]:
        """Every node of the skeleton: its transform (F frames) and whether the take moves it. Parents first."""
        parents = parents_of(self.document)
        before = _Tree(parents)
        after = _Tree(parents)
        where, turned = self._joints()
        rest = dict(zip(self._bones.nodes, self._bones.rest, strict=True))
        found: dict[int, tuple[Local, bool]] = {}
        for node in self._relevant(parents):
            own = self._own.local(node, self._times)
            before.add(node, own)
            goal = None
            if node in self._bodies:
                goal = where[node], multiply(turned[node], rest[node])
            elif node in self._beside:
                goal = _carried(before, after, node, self._nearest(before, node))
            local = own if goal is None else after.local(node, *goal, own.scale)
            after.add(node, local)
            found[node] = local, goal is not None
        return found

    def _joints(self) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return where the take has the bodies' nodes and how it turns them from rest, in the file's units and axes."""
        motion, order = self.motion, list(self._bodies.items())
        bodies = [body for _, body in order]
        places = motion.positions[:, bodies]
        if self._in_place:
            hips = [node for node, _ in order].index(self._hips)
            places = places - (places[:, [hips]] - places[0, hips]) * [1.0, 1.0, 0.0]
        places, turns = self.placed(places, motion.rotations[:, bodies])
        numbered = list(enumerate(node for node, _ in order))
        return {node: places[:, k] for k, node in numbered}, {node: turns[:, k] for k, node in numbered}

    @property
    def _hips(self) -> int:
        return next(node for node in self._bones.nodes if node in self._bodies)

    @cached_property
    def _beside(self) -> set[int]:
        """Joints of skins that hang neither on the skeleton nor above it, topmost ones."""
        parents = parents_of(self.document)
        skeleton = {*self._bones.nodes, *self._bones.above}
        joints = {joint for skin in self.document.items("skins") for joint in self.document.numbers(skin, "joints")}
        loose = joints - skeleton
        return {joint for joint in loose if not set(_ancestors(joint, parents)) & (loose | set(self._bones.nodes))}

    def _relevant(self, parents: Mapping[int, int]) -> list[int]:
        """Return the skeleton's nodes and what they hang on, parents first; those beside it last."""
        inner = [*self._bones.above, *self._bones.nodes]
        loose = [node for joint in sorted(self._beside) for node in [*reversed(_ancestors(joint, parents)), joint]]
        return list(dict.fromkeys([*inner, *loose]))

    def _nearest(self, before: _Tree, node: int) -> int:
        """Return the bone a node beside the skeleton lies at when everything begins."""
        away = {bone: float(np.linalg.norm(before.place(bone)[0] - before.place(node)[0])) for bone in self._bodies}
        return min(away, key=lambda bone: away[bone])


class _Tree:
    """Nodes as they come, parents first: their transforms in the file's world, (F, 4, 4), and turns, (F, 4)."""

    def __init__(self, parents: Mapping[int, int]) -> None:
        self._parents = parents
        self._matrices: dict[int, Floats] = {}
        self._turns: dict[int, Floats] = {}

    def add(self, node: int, local: Local) -> None:
        own = np.zeros((len(local.turn), 4, 4))
        own[:, :3, :3] = to_matrix(local.turn) * local.scale[:, None, :]
        own[:, :3, 3], own[:, 3, 3] = local.shift, 1.0
        up = self._parents.get(node)
        self._matrices[node] = own if up is None else self._matrices[up] @ own
        self._turns[node] = local.turn if up is None else multiply(self._turns[up], local.turn)

    def place(self, node: int) -> Floats:
        return np.asarray(self._matrices[node][:, :3, 3])

    def turn(self, node: int) -> Floats:
        return self._turns[node]

    def local(self, node: int, place: Floats, turn: Floats, scale: Floats) -> Local:
        """Return the transform that brings a node to a place and turn in the world."""
        up = self._parents.get(node)
        if up is None:
            return Local(place, turn, scale)
        above = self._matrices[up]
        shift = np.linalg.solve(above[:, :3, :3], (place - above[:, :3, 3])[..., None])[..., 0]
        return Local(np.asarray(shift, float), multiply(conjugate(self._turns[up]), turn), scale)


def _carried(before: _Tree, after: _Tree, node: int, bone: int) -> tuple[Floats, Floats]:
    """Return place and turn of a node that goes along with a bone as if it were fixed to it, on top of its own way."""
    swing = multiply(after.turn(bone), conjugate(before.turn(bone)))
    place = after.place(bone) + rotate(swing, before.place(node) - before.place(bone))
    return place, multiply(swing, before.turn(node))


def _ancestors(node: int, parents: Mapping[int, int]) -> list[int]:
    found = []
    while node in parents:
        node = parents[node]
        found.append(node)
    return found


def _same_file(source: SourceFile) -> GltfDocument:
    """Return the file a take remembers, if it is still the same.

    Raises:
        ExportError: It is not there, or has changed.
    """
    file = Path(source.file)
    if not file.is_file():
        what = "is not there any more"
    elif digest_of(file) != source.digest:
        what = "has changed since the take was made"
    else:
        return read_document(file)
    raise ExportError(
        f"'{file}', which the body came from, {what}: put it back as it was, or export Stunt's own body with "
        "--skeleton own."
    )
