"""The bones inside a glTF file: which nodes, how they hang on one another, and how they stand at rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stunt.errors import NO_NUMBERS
from stunt.maths.rotations import Floats, conjugate, from_matrix, multiply, to_matrix
from stunt.motion.clips.raw import MAX_JOINTS
from stunt.motion.clips.recognise import guess_parts
from stunt.motion.formats.gltf import MOST, GltfDocument

_ONE = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Bones:
    """Nodes that are bones, parents first."""

    nodes: tuple[int, ...]  #: Number of each bone's node
    names: tuple[str, ...]  #: Unique names
    parents: tuple[int, ...]  #: Index of each bone's parent; −1 for the root
    above: tuple[int, ...]  #: Nodes above the root, outermost first: their transforms move the whole skeleton
    rest: Floats  #: How each bone is turned in the world at rest, (J, 4)
    left_out: tuple[str, ...] = ()  #: Names of joints that belong to no bone of this tree


@dataclass(frozen=True, eq=False)
class Local:
    """A node's own transform: translation (3,), rotation wxyz (4,), scale (3,)."""

    shift: Floats
    turn: Floats
    scale: Floats


def local_of(document: GltfDocument, node: Mapping[str, Any]) -> Local:
    """Return a node's transform as the file has it."""
    if "matrix" in node:
        matrix = _numbers(document, node["matrix"], 16).reshape(4, 4).T
        return taken_apart(matrix)
    x, y, z, w = _numbers(document, node.get("rotation", (0.0, 0.0, 0.0, 1.0)), 4)
    turn = np.array([w, x, y, z])
    length = float(np.linalg.norm(turn))
    shift = _numbers(document, node.get("translation", (0.0, 0.0, 0.0)), 3)
    return Local(shift, turn / length if length > 1e-9 else _ONE, _numbers(document, node.get("scale", (1, 1, 1)), 3))


def taken_apart(matrix: Floats) -> Local:
    """Return translation, rotation and scale of a matrix (4, 4)."""
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if np.linalg.det(matrix[:3, :3]) < 0:
        scale = -scale
    safe = np.where(np.abs(scale) > 1e-12, scale, 1.0)
    return Local(matrix[:3, 3].copy(), from_matrix(matrix[:3, :3] / safe), scale)


def _numbers(document: GltfDocument, values: object, count: int) -> Floats:
    try:
        found = np.array(values, dtype=float).reshape(count)
    except NO_NUMBERS:
        raise document.wrong(f"a node's transform needs {count} numbers.") from None
    if not (np.abs(found) <= MOST).all():
        raise document.wrong(f"a node's transform has values that are no numbers, or beyond {MOST:g}.")
    return found


def find_bones(document: GltfDocument) -> Bones:
    """Return the bones: the joints of the largest skin, or without a skin the nodes that animations turn.

    A root that only carries the hips (an armature, a motion node) counts as what moves them, not as a bone.

    Raises:
        ClipFileError: There are none.
    """
    nodes = document.items("nodes")
    parent = parents_of(document)
    joints, skin = _joints(document)
    kept = sorted({node for joint in joints for node in _up_to_joints(joint, parent, set(joints))})
    roots = [node for node in kept if parent.get(node) not in kept]
    trees = {root: _depth_first(document, root, set(kept)) for root in roots}
    root = max(trees, key=lambda some: len(set(trees[some]) & set(joints)))
    root = _hips(document, trees[root], parent)
    order = _depth_first(document, root, set(kept))
    if len(order) > MAX_JOINTS:
        raise document.wrong(f"more than {MAX_JOINTS} joints.")
    place = {node: number for number, node in enumerate(order)}
    names = _names(nodes, order)
    above = tuple(reversed(list(_ancestors(root, parent))))
    left = tuple(str(nodes[node].get("name", node)) for node in joints if node not in place)
    parents = (-1, *(place[parent[node]] for node in order[1:]))
    rest = _rest(document, skin, order, place, parents, above)
    return Bones(tuple(order), names, parents, above, rest, left)


def parents_of(document: GltfDocument) -> dict[int, int]:
    """Return which node each node hangs on; those at the top hang on none."""
    found: dict[int, int] = {}
    for number, node in enumerate(document.items("nodes")):
        for child in document.numbers(node, "children"):
            document.item("nodes", child)
            if child in found or child == number:
                raise document.wrong(f"nodes[{child}] hangs on two others.")
            found[child] = number
    for child in found:  # a ring would never end
        for steps, _ in enumerate(_ancestors(child, found)):
            if steps > len(found):
                raise document.wrong("the nodes hang on one another in a ring.")
    return found


def _ancestors(node: int, parent: Mapping[int, int]) -> Iterator[int]:
    while node in parent:
        node = parent[node]
        yield node


def _joints(document: GltfDocument) -> tuple[list[int], dict[str, Any] | None]:
    skins = document.items("skins")
    if skins:
        skin = max(skins, key=lambda some: len(document.numbers(some, "joints")))
        joints = [number for number in document.numbers(skin, "joints") if document.item("nodes", number) is not None]
        if joints:
            return joints, skin
    turned: set[int] = set()
    for animation in document.items("animations"):
        for channel in document.objects(animation, "channels"):
            target = document.mapping(channel, "target")
            if target.get("path") == "rotation" and "node" in target:
                document.item("nodes", target["node"])
                turned.add(target["node"])
    if len(turned) < 2:
        raise document.wrong("has no skeleton: no skin with joints, and no animation that turns its nodes.")
    return sorted(turned), None


def _up_to_joints(joint: int, parent: Mapping[int, int], joints: set[int]) -> list[int]:
    """Return a joint and the nodes between it and the next joint above it; none in between where there is none."""
    between: list[int] = []
    for node in _ancestors(joint, parent):
        if node in joints:
            return [joint, *between]
        between.append(node)
    return [joint]


def _depth_first(document: GltfDocument, root: int, kept: set[int]) -> list[int]:
    found, pending = [], [root]
    while pending:
        node = pending.pop()
        found.append(node)
        children = [child for child in document.numbers(document.item("nodes", node), "children") if child in kept]
        pending.extend(reversed(children))
    return found


def _hips(document: GltfDocument, order: list[int], parent: Mapping[int, int]) -> int:
    """Return where both legs meet, if that can be told, else the root."""
    nodes = document.items("nodes")
    place = {node: number for number, node in enumerate(order)}
    parents = [place.get(parent.get(node, -1), -1) for node in order]
    parts = guess_parts(_names(nodes, order), parents, _places(document, order, parents))
    if "l_thigh" not in parts or "r_thigh" not in parts:
        return order[0]
    left, right = ([order[parts[side]], *_ancestors(order[parts[side]], parent)] for side in ("l_thigh", "r_thigh"))
    return next((node for node in left if node in right and node in place), order[0])


def _places(document: GltfDocument, order: list[int], parents: list[int]) -> Floats:
    """Return where nodes stand, (J, 3)."""
    matrices: list[Floats] = []
    for node, up in zip(order, parents, strict=True):
        local = local_of(document, document.item("nodes", node))
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = to_matrix(local.turn) * local.scale, local.shift
        matrices.append(own if up < 0 else matrices[up] @ own)
    return np.stack([matrix[:3, 3] for matrix in matrices])


def _names(nodes: list[dict[str, Any]], order: list[int]) -> tuple[str, ...]:
    names: list[str] = []
    for node in order:
        wish = str(nodes[node].get("name") or f"joint{node}")
        name, number = wish, 2
        while name in names:
            name, number = f"{wish}_{number}", number + 1
        names.append(name)
    return tuple(names)


def _rest(
    document: GltfDocument, skin: Mapping[str, Any] | None, order: list[int], place: Mapping[int, int],
    parents: tuple[int, ...], above: tuple[int, ...],
) -> Floats:  # fmt: skip
    """Return how the bones are turned at rest: as the skin was bound, where it says so, else as the nodes stand."""
    locals_ = [local_of(document, document.item("nodes", node)) for node in order]
    carried = _ONE
    for node in above:
        carried = multiply(carried, local_of(document, document.item("nodes", node)).turn)
    rest = np.zeros((len(order), 4))
    for number, (local, up) in enumerate(zip(locals_, parents, strict=True)):
        rest[number] = multiply(carried if up < 0 else rest[up], local.turn)
    if skin is None or "inverseBindMatrices" not in skin:
        return rest
    matrices = document.array(skin["inverseBindMatrices"])
    joints = list(skin["joints"])
    if matrices.shape != (len(joints), 16):
        raise document.wrong(f"a skin of {len(joints)} joints has {len(matrices)} inverse bind matrices.")
    bound = {joint: np.linalg.pinv(row.reshape(4, 4).T) for joint, row in zip(joints, matrices, strict=True)}
    return _as_bound(rest, bound, order, parents, locals_)


def _as_bound(
    rest: Floats, bound: Mapping[int, Floats], order: list[int], parents: tuple[int, ...], locals_: list[Local]
) -> Floats:
    """Turn the bones as the skin was bound.

    In which frame the mesh was bound a file does not say; it is one along the world's axes, and of those the nearest to
    what makes the first bone stand as its node does.
    """
    first = next((number for number, node in enumerate(order) if node in bound), None)
    if first is None:
        return rest
    frame = _along_axes(multiply(rest[first], conjugate(taken_apart(bound[order[first]]).turn)))
    found = rest.copy()
    for number, node in enumerate(order):
        if node in bound:
            found[number] = multiply(frame, taken_apart(bound[node]).turn)
        elif parents[number] >= 0:
            found[number] = multiply(found[parents[number]], locals_[number].turn)
    return found


def _along_axes(turn: Floats) -> Floats:
    """Return the nearest rotation that maps axes onto axes, (4,)."""
    matrix, snapped = to_matrix(turn), np.zeros((3, 3))
    for _ in range(2):
        row, column = np.unravel_index(int(np.abs(matrix).argmax()), (3, 3))
        snapped[row, column] = np.sign(matrix[row, column])
        matrix = matrix.copy()
        matrix[row, :] = matrix[:, column] = 0.0
    last = int(np.flatnonzero(~snapped.any(axis=1))[0]), int(np.flatnonzero(~snapped.any(axis=0))[0])
    snapped[last] = 1.0
    snapped[last] = np.linalg.det(snapped)
    return from_matrix(snapped)
