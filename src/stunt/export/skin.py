"""What a rig is seen as: a smooth skin for people, rigid parts for everyone else.

A triangle mesh where a field on a grid is zero: naive surface nets.

After S. Gibson, *Constrained elastic surface nets* (1998), without its relaxation. One point in every cell the
surface passes through, four of them joined across every grid edge it crosses. Meshes are closed and evenly sized, with
no slivers, which skinning likes.

Clean hems: triangles are cut where one colour ends and another begins, instead of being one or the other.

A smooth skin for a person: the surface of its flesh, in the colours of its clothes, hanging on its bones.

How much of each point of a skin hangs on which bone: soft where bones meet, and never across a gap.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
from scipy import sparse

from stunt.export.flesh import Flesh, Lump, by_color, field_on_grid, lumps_of, nearest
from stunt.export.options import Options
from stunt.export.rig import Rig
from stunt.export.solids import Color, Ints, Surface, body_surface, colored_geoms, together
from stunt.maths.rotations import Floats
from stunt.record.cast import CastMember

_SOFTNESS = 0.011  # A bone this much further away has 1/e of the weight [m].
_BEHIND = 0.7  # How much further a bone counts as for points behind its joint, per metre behind it.
_WEIGHT_ROUNDS = 10  # Of evening out along the skin.
_FAR = 10.0


def weigh(lumps: list[Lump], rig: Rig, points: Floats, mean: sparse.csr_array) -> tuple[Ints, Floats]:
    """Return the four bones of each point and their shares, (V, 4) each.

    Args:
        lumps: The flesh on the bones.
        rig: The bones.
        points: The skin, (V, 3).
        mean: Averages over neighbours on the skin, (V, V).
    """
    away = _distances(lumps, rig, points)
    closest = away.argmin(axis=1)
    away = np.where(_related(rig)[closest], away, _FAR)
    weights = np.exp(-(away - away.min(axis=1, keepdims=True)) / _SOFTNESS)
    for _ in range(_WEIGHT_ROUNDS):
        weights = 0.5 * (weights + mean @ weights)
        weights /= weights.sum(axis=1, keepdims=True)
    return strongest(weights)


def strongest(weights: Floats) -> tuple[Ints, Floats]:
    """Return the four largest of many weights, (V, B) → (V, 4) bones and shares that add up to 1."""
    count = min(4, weights.shape[1])
    bones = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    shares = np.take_along_axis(weights, bones, axis=1)
    shares[shares < 0.01] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    bones = np.where(shares > 0.0, bones, 0)
    spare = ((0, 0), (0, 4 - count))
    return np.pad(bones, spare).astype(np.int64), np.pad(shares, spare)


def _distances(lumps: list[Lump], rig: Rig, points: Floats) -> Floats:
    """Return how far each point is from each bone's flesh [m], (V, B); more behind the bone's joint."""
    away = np.full((len(points), len(rig.names)), _FAR)
    for bone in range(len(rig.names)):
        own = [lump for lump in lumps if lump.bone == bone and lump.solid]
        if not own:
            continue
        along = np.mean([lump.center for lump in own], axis=0) - rig.rest[bone]
        length = float(np.linalg.norm(along))
        away[:, bone] = nearest(own, points)
        if rig.parents[bone] >= 0 and length > 1e-6:
            ahead = (points - rig.rest[bone]) @ (along / length)
            away[:, bone] += _BEHIND * np.maximum(-ahead, 0.0)
    return away


def _related(rig: Rig) -> np.ndarray:
    """Return which bones may share a point with which: up to two steps apart in the tree, (B, B)."""
    count = len(rig.names)
    near = np.eye(count, dtype=bool)
    for bone, parent in enumerate(rig.parents):
        if parent >= 0:
            near[bone, parent] = near[parent, bone] = True
    return np.asarray((near.astype(int) @ near.astype(int)) > 0)


Grid = tuple[Floats, Floats, Floats]


def surface_nets(values: Floats, grid: Grid) -> tuple[Floats, Ints]:
    """Return points (V, 3) and outward triangles (T, 3).

    Args:
        values: The field at the grid's corners, negative inside, positive on the outermost corners, (X, Y, Z).
        grid: The corners' coordinates along each axis, increasing; they need not be even.
    """
    inside = values < 0.0
    sums, counts = _crossings(values, inside, grid)
    cells = counts > 0
    number = np.full(cells.shape, -1, np.int64)
    number[cells] = np.arange(int(cells.sum()))
    points = sums[cells] / counts[cells][:, None]
    return points, _triangles(inside, number)


def _shift(axis: int, first: int, length: int) -> tuple[slice, ...]:
    return tuple(slice(first, first + length) if a == axis else slice(None) for a in range(3))


def _crossings(values: Floats, inside: np.ndarray, grid: Grid) -> tuple[Floats, Ints]:
    """Return, for each cell, the sum (…, 3) and the number of the points where its edges cross zero."""
    shape = tuple(n - 1 for n in values.shape)
    sums, counts = np.zeros((*shape, 3)), np.zeros(shape, np.int64)
    for axis in range(3):
        length = values.shape[axis] - 1
        a, b = values[_shift(axis, 0, length)], values[_shift(axis, 1, length)]
        crossed = inside[_shift(axis, 0, length)] != inside[_shift(axis, 1, length)]
        where = np.argwhere(crossed)
        share = a[crossed] / (a[crossed] - b[crossed])
        place = np.stack([grid[k][where[:, k]] for k in range(3)], axis=1)
        place[:, axis] += share * (grid[axis][where[:, axis] + 1] - grid[axis][where[:, axis]])
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for du in (0, 1):
            for dv in (0, 1):  # the four cells around the edge
                cell = where.copy()
                cell[:, u] -= du
                cell[:, v] -= dv
                np.add.at(sums, tuple(cell.T), place)
                np.add.at(counts, tuple(cell.T), 1)
    return sums, counts


def _triangles(inside: np.ndarray, number: Ints) -> Ints:
    found = []
    for axis in range(3):
        length = inside.shape[axis] - 1
        low = inside[_shift(axis, 0, length)]
        crossed = low != inside[_shift(axis, 1, length)]
        where = np.argwhere(crossed)
        u, v = (axis + 1) % 3, (axis + 2) % 3
        corners = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
            cell = where.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            corners.append(number[tuple(cell.T)])
        quad = np.stack(corners, axis=1)
        leaving = low[crossed]  # from inside to outside along the axis: the surface faces along it
        quad = np.where(leaving[:, None], quad, quad[:, ::-1])
        found += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return np.concatenate(found)


def cut_by_color(surface: Surface, distances: Mapping[Color, Floats]) -> Surface:
    """Return a surface whose triangles each have one colour.

    Args:
        surface: One colour so far.
        distances: How far each point is from the shapes of each colour [m], (V,): the nearest colour wins.
    """
    colors, away = list(distances), np.stack(list(distances.values()), axis=1)
    label = away.argmin(axis=1)
    triangles = np.concatenate([some for _, some in surface.parts])
    knife = _Knife(away, label, len(surface.points))
    pieces: dict[int, list[list[int]]] = {number: [] for number in range(len(colors))}
    kinds = label[triangles]
    plain = (kinds[:, 0] == kinds[:, 1]) & (kinds[:, 1] == kinds[:, 2])
    for triangle in triangles[~plain].tolist():
        for kind, piece in knife.cut(triangle):
            pieces[kind].append(piece)
    parts = []
    for number, color in enumerate(colors):
        whole = triangles[plain & (kinds[:, 0] == number)]
        cut = np.array(pieces[number], np.int64).reshape(-1, 3)
        if len(whole) + len(cut):
            parts.append((color, np.concatenate([whole, cut])))
    return _with_points(surface, knife.mixes, tuple(parts))


def _with_points(surface: Surface, mixes: list[dict[int, float]], parts: tuple[tuple[Color, Ints], ...]) -> Surface:
    """Add points that are mixtures of others."""
    points, normals = _mixed(surface.points, mixes), _mixed(surface.normals, mixes)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    if surface.bones is None or surface.weights is None:
        return Surface(points, normals, parts)
    dense = np.zeros((len(surface.points), int(surface.bones.max()) + 1))
    np.add.at(dense, (np.arange(len(dense))[:, None], surface.bones), surface.weights)
    bones, weights = strongest(_mixed(dense, mixes))
    return Surface(points, normals, parts, bones, weights)


def _mixed(values: Floats, mixes: list[dict[int, float]]) -> Floats:
    more = [sum(share * values[index] for index, share in mix.items()) for mix in mixes]
    return np.concatenate([values, np.array(more).reshape(-1, values.shape[1])])


class _Knife:
    """Cuts triangles; a cut edge gets the same new point in both its triangles."""

    def __init__(self, away: Floats, label: Ints, count: int) -> None:
        self.mixes: list[dict[int, float]] = []
        self._away, self._label, self._count = away, label, count
        self._edges: dict[tuple[int, int], int] = {}

    def cut(self, corners: list[int]) -> list[tuple[int, list[int]]]:
        """Return the pieces of a triangle whose corners differ, with their colours."""
        kinds = [int(self._label[corner]) for corner in corners]
        if len(set(kinds)) == 3:
            return self._three(corners, kinds)
        odd = next(k for k in range(3) if kinds.count(kinds[k]) == 1)
        a, b, c = (corners[(odd + k) % 3] for k in range(3))
        ab, ac = self._edge(a, b), self._edge(a, c)
        mine, other = kinds[odd], kinds[(odd + 1) % 3]
        return [(mine, [a, ab, ac]), (other, [ab, b, c]), (other, [ab, c, ac])]

    def _three(self, corners: list[int], kinds: list[int]) -> list[tuple[int, list[int]]]:
        middle = self._add({corner: 1.0 / 3.0 for corner in corners})
        sides = [self._edge(corners[k], corners[(k + 1) % 3]) for k in range(3)]
        found = []
        for k in range(3):
            found.append((kinds[k], [corners[k], sides[k], middle]))
            found.append((kinds[k], [corners[k], middle, sides[k - 1]]))
        return found

    def _edge(self, a: int, b: int) -> int:
        key = (min(a, b), max(a, b))
        if key not in self._edges:
            first, second = key
            one, other = self._label[first], self._label[second]
            lead = self._away[first, other] - self._away[first, one]
            lag = self._away[second, one] - self._away[second, other]
            share = float(np.clip(lead / max(lead + lag, 1e-9), 0.02, 0.98))
            self._edges[key] = self._add({first: 1.0 - share, second: share})
        return self._edges[key]

    def _add(self, mix: dict[int, float]) -> int:
        self.mixes.append(mix)
        return self._count + len(self.mixes) - 1


_COARSE = 0.0135  # Edge of the grid's cells on a person of 1.74 m [m] …
_FINE = {"head": 0.0065, "l_hand": 0.0065, "r_hand": 0.0065}  # … and where these bones are.
_TALL = 1.74
_ROUNDS = 4  # Of smoothing along the surface and going back onto it.


def skin(model: mujoco.MjModel, rig: Rig, colors: dict[int, Color]) -> Surface:
    """Return a person's skin in the rest pose."""
    lumps = lumps_of(model, rig, colors)
    grid = _grid(lumps, rig)
    points, triangles = surface_nets(field_on_grid(lumps, grid), grid)
    flesh = Flesh(lumps, points)
    points = _settled(flesh, points, triangles)
    slopes = flesh.gradient(points)
    normals = slopes / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-9)
    bones, weights = weigh(lumps, rig, points, neighbours(triangles, len(points)))
    distances = {color: nearest(some, points) for color, some in by_color(lumps)}
    return cut_by_color(Surface(points, normals, ((lumps[0].color, triangles),), bones, weights), distances)


def neighbours(triangles: Ints, count: int) -> sparse.csr_array:
    """Return the matrix that replaces a value at each point by the mean of its neighbours', (V, V)."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    ones = np.ones(len(pairs))
    graph = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()
    graph = ((graph + graph.T) > 0).astype(float)
    degree = np.maximum(graph.sum(axis=1), 1.0)
    return sparse.csr_array(sparse.diags_array(1.0 / degree) @ graph)


def _settled(flesh: Flesh, points: Floats, triangles: Ints) -> Floats:
    """Even out a mesh along its surface, and bring every point back onto the flesh."""
    mean = neighbours(triangles, len(points))
    for _ in range(_ROUNDS):
        points = points + 0.5 * (mean @ points - points)
        slope = flesh.gradient(points)
        square = np.maximum(np.sum(slope**2, axis=1, keepdims=True), 0.05)
        points = points - np.clip(flesh.field(points)[:, None] * slope / square, -0.004, 0.004)
    return np.asarray(points)


def _grid(lumps: list[Lump], rig: Rig) -> Grid:
    """Lay a grid around everything, finer where face and fingers are."""
    low = np.min([lump.box[0] for lump in lumps], axis=0)
    high = np.max([lump.box[1] for lump in lumps], axis=0)
    scale = float(high[2] - low[2]) / _TALL
    pad = 3.0 * _COARSE * scale + 0.01
    zones = []
    for bone, name in enumerate(rig.names):
        own = [lump.box for lump in lumps if lump.bone == bone]
        if name in _FINE and own:
            near, far = np.min([box[0] for box in own], axis=0), np.max([box[1] for box in own], axis=0)
            zones.append((near - 0.01, far + 0.01, _FINE[name] * scale))
    axes = [
        _steps(low[k] - pad, high[k] + pad, _COARSE * scale, [(a[k], b[k], fine) for a, b, fine in zones])
        for k in range(3)
    ]
    return axes[0], axes[1], axes[2]


def _steps(low: float, high: float, coarse: float, zones: list[tuple[float, float, float]]) -> Floats:
    """Return coordinates from low to high, closer together in some zones."""
    found = [low]
    while found[-1] < high:
        here = found[-1]
        found.append(here + min([fine for first, last, fine in zones if first <= here <= last], default=coarse))
    return np.array(found)


def dress(model: mujoco.MjModel, rig: Rig, about: CastMember, options: Options) -> Surface:
    """Return a character's surface in its rest pose, hanging on its bones."""
    colors = colored_geoms(model)
    if about.is_person and not options.rigid:
        return skin(model, rig, colors)
    return rigid_parts(model, rig, colors)


def rigid_parts(model: mujoco.MjModel, rig: Rig, colors: dict[int, Color]) -> Surface:
    """Return every bone's own shapes, each hanging on its bone alone."""
    pieces = []
    for bone, body in enumerate(rig.bodies):
        if body >= 0:
            piece = body_surface(model, body, colors).moved(rig.body_rest[bone], rig.body_turn[bone])
            pieces.append(piece.on_bone(bone))
    return together(pieces)
