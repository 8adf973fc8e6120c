"""Meshes from files (OBJ, STL, glTF), and the convex pieces that scenery of one is made of.

The engine knows convex shapes alone. What is convex and closed in a mesh (a crate, a wall, a table's leg) is one piece;
every other triangle becomes a thin prism below its face: exact on the side that is touched, `THICK` deep behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.errors import Place
from stunt.maths.rotations import Floats, to_matrix
from stunt.motion.clips.raw import ClipFileError, read_bytes, read_lines
from stunt.motion.formats.gltf import GltfDocument, read_document
from stunt.motion.formats.gltf_nodes import local_of, parents_of

MOST_TRIANGLES: Final = 20_000
"""No mesh with more is scenery."""
THICK: Final = 0.04
"""How far a lone triangle reaches below its face [m]."""
_MOST_CORNERS: Final = 1_000_000  # that a file names, used or not
_MOST_BYTES: Final = 32 * 2**20  # of .obj and .stl: so many triangles take a fifth of it
FARTHEST: Final = 1e4
"""No corner is farther from the origin [m]."""
_ALIKE: Final = 1e-6  # corners closer together than this, as a share of the mesh's size, are one
_FLAT: Final = 1e-4  # and a part that no corner of is further outside of a face, as a share of its size, is convex
_UPWARD: Final = {".obj": "y", ".glb": "y", ".gltf": "y", ".stl": "z"}
_STL: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("about", "<u2")])


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles in metres, z up: `points` (V, 3), and each face's corners (T, 3), counter-clockwise from outside."""

    points: Floats
    faces: NDArray[np.int64]


def read_mesh(path: str, scale: float = 1.0, up: str | None = None, place: Place | None = None) -> Mesh:
    """Return the triangles of a file, corners that lie on one another made one, flat triangles left out.

    Args:
        path: An .obj, .stl, .glb or .gltf file.
        scale: Metres per unit.
        up: Which of the file's axes is up, `y` or `z`; None: y, and z in .stl.
        place: Where it was named, for error messages.

    Raises:
        ClipFileError: It cannot be read, or has no triangle, or too many.
    """
    kind, where = Path(path).suffix.lower(), Place(path)
    if kind not in _UPWARD:
        raise ClipFileError(f"is no mesh: {', '.join(_UPWARD)} are read.", place or where)
    reader = {".obj": _obj, ".stl": _stl}.get(kind, _gltf)
    points, faces = reader(path)
    _count(len(faces), len(points), where)
    if len(faces) and not (0 <= faces.min() and faces.max() < len(points)):
        raise ClipFileError("has faces of corners that are not there.", where)
    points = points * scale
    if (up or _UPWARD[kind]) == "y":
        points = np.column_stack([points[:, 0], -points[:, 2], points[:, 1]])
    if not (np.abs(points) <= FARTHEST).all():
        raise ClipFileError(f"has corners that are no numbers, or beyond {FARTHEST:g} m; `scale` says its unit.", where)
    mesh = _welded(points, faces)
    if not len(mesh.faces):
        raise ClipFileError("has no triangle with an area.", where)
    return mesh


def _count(faces: int, corners: int, where: Place) -> None:
    """Refuse a mesh that is too large, also while it is read."""
    if faces > MOST_TRIANGLES:
        raise ClipFileError(f"has {faces} triangles; scenery has up to {MOST_TRIANGLES}.", where)
    if corners > _MOST_CORNERS:
        raise ClipFileError(f"has {corners} corners; scenery has up to {_MOST_CORNERS}.", where)


def _welded(points: Floats, faces: NDArray[np.int64]) -> Mesh:
    used = points[faces.ravel()]
    size = float(np.ptp(used, axis=0).max()) if len(used) else 0.0
    grid = np.round(used / max(_ALIKE * size, 1e-12)).astype(np.int64)
    _, first, which = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    points, faces = used[first], which.reshape(-1, 3)
    ways = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    return Mesh(points, faces[np.linalg.norm(ways, axis=1) > (_ALIKE * size) ** 2])


def _obj(path: str) -> tuple[Floats, NDArray[np.int64]]:
    points, faces = list[list[float]](), list[tuple[int, int, int]]()
    for line, words in read_lines(path):
        try:
            if words[0] == "v":
                points.append([float(word) for word in words[1:4]])
            elif words[0] == "f":
                corners = [int(word.partition("/")[0]) for word in words[1:]]
                corners = [c - 1 if c > 0 else len(points) + c for c in corners]
                if not all(0 <= c < _MOST_CORNERS for c in corners):
                    raise ClipFileError("has faces of corners that are not there.", Place(path, line))
                _count(len(faces) + len(corners) - 2, len(points), Place(path, line))
                faces += [(corners[0], b, c) for b, c in zip(corners[1:-1], corners[2:], strict=True)]
        except ValueError:
            raise ClipFileError(f"'{' '.join(words)[:60]}' is no line of an OBJ file.", Place(path, line)) from None
        if points and len(points[-1]) != 3:
            raise ClipFileError("a corner needs three numbers.", Place(path, line))
        _count(0, len(points), Place(path, line))
    return np.array(points, float).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3)


def _stl(path: str) -> tuple[Floats, NDArray[np.int64]]:
    data = read_bytes(path)
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        _count(count, 0, Place(path))
        points = np.frombuffer(data, _STL, count, 84)["corners"].astype(float).reshape(-1, 3)
    else:
        if len(data) > _MOST_BYTES:
            raise ClipFileError(f"is larger than {_MOST_BYTES // 2**20} MB; so is no scenery.", Place(path))
        words = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
        try:
            points = np.array(words, "S32").astype(float).reshape(-1, 3)
        except ValueError:
            raise ClipFileError("has corners that are no numbers.", Place(path)) from None
        if not data.lstrip().startswith(b"solid") or len(points) % 3 or not len(points):
            raise ClipFileError("is no STL file, or is cut short.", Place(path))
    return points, np.arange(len(points)).reshape(-1, 3)


def _gltf(path: str) -> tuple[Floats, NDArray[np.int64]]:
    document = read_document(path)
    nodes, points, faces, count, triangles = document.items("nodes"), [], [], 0, 0
    placed = _Placed(document)
    for number, node in enumerate(nodes):
        if "mesh" not in node:
            continue
        for primitive in document.objects(document.item("meshes", node["mesh"]), "primitives"):
            if primitive.get("mode", 4) != 4:
                continue  # points and lines are no scenery
            if "KHR_draco_mesh_compression" in document.mapping(primitive, "extensions"):
                raise document.wrong("its triangles are packed by Draco; export it without compression.")
            corners = document.array(document.mapping(primitive, "attributes").get("POSITION"))
            if corners.shape[1] != 3:
                raise document.wrong("a corner needs three numbers.")
            known = primitive.get("indices")
            order: Any = np.arange(len(corners)) if known is None else document.array(known).ravel()
            order = order[: len(order) // 3 * 3].astype(np.int64).reshape(-1, 3)
            if len(order) and order.max() >= len(corners):
                raise document.wrong("has faces of corners that are not there.")
            count, triangles = count + len(corners), triangles + len(order)
            _count(triangles, count, document.place)
            matrix, shift = placed.of(number)
            points.append(corners @ matrix.T + shift)
            faces.append((order if np.linalg.det(matrix) >= 0.0 else order[:, ::-1]) + count - len(corners))
    if not points:
        raise document.wrong("has no mesh.")
    return np.concatenate(points), np.concatenate(faces)


class _Placed:
    """Where a document's nodes are: each a matrix (3, 3), and a shift (3,); each is worked out once."""

    def __init__(self, document: GltfDocument) -> None:
        self._document, self._above = document, parents_of(document)
        self._nodes = document.items("nodes")
        self._known: dict[int, tuple[Floats, Floats]] = {}

    def of(self, node: int) -> tuple[Floats, Floats]:
        """Return where a node is."""
        chain = [node]
        while chain[-1] not in self._known and chain[-1] in self._above:
            chain.append(self._above[chain[-1]])
        matrix, shift = self._known.get(chain[-1], (np.eye(3), np.zeros(3)))
        for one in reversed(chain):
            if one not in self._known:
                local = local_of(self._document, self._nodes[one])
                matrix, shift = matrix @ (to_matrix(local.turn) * local.scale), matrix @ local.shift + shift
                self._known[one] = matrix, shift
        return matrix, shift


def convex_pieces(mesh: Mesh) -> list[Floats]:
    """Return the corners of convex pieces, each (n, 3), that together fill what a mesh is."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    faces, count = mesh.faces, len(mesh.points)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    found: list[Floats] = []
    for number in np.unique(part[faces[:, 0]]):
        found += _pieces(mesh.points, faces[part[faces[:, 0]] == number])
    return found


def _pieces(points: Floats, faces: NDArray[np.int64]) -> list[Floats]:
    """Return the pieces of one connected part."""
    corners = points[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    ways = area / np.linalg.norm(area, axis=1)[:, None]
    edges = {(int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True)}
    closed = len(edges) == 3 * len(faces) and all((b, a) in edges for a, b in edges)
    middle = corners.mean(axis=(0, 1))
    outward = np.einsum("nk,nk->", area, corners[:, 0] - middle) if closed else area[:, 2].sum()
    if outward < 0.0:
        ways = -ways  # wound the other way round; an open sheet is seen from above
    if closed:
        own = points[np.unique(faces)]
        levels = np.einsum("nk,nk->n", ways, corners[:, 0]) + _FLAT * np.ptp(own)
        if all((own @ way).max() <= level for way, level in zip(ways, levels, strict=True)):
            return [own]
    return [np.vstack([corner, corner - THICK * way]) for corner, way in zip(corners, ways, strict=True)]
