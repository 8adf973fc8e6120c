"""Clean hems: triangles are cut where one colour ends and another begins, instead of being one or the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stunt.export.skin_weights import strongest
from stunt.export.surface import Color, Ints, Surface
from stunt.rotations import Floats


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
