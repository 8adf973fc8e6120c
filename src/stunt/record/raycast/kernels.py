"""The ray-caster's inner loops: where a ray meets a geom, what colour that point has, and whole rows of pixels.

They release the GIL and are run on bands of rows by ordinary threads: no threading layer, nothing that breaks on fork.
Colours are linear in here; the display curve is a square root.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stunt.record.raycast.scene import Floats, RaycastScene, inlined, kernel

Image = NDArray[np.float32]
Longs = NDArray[np.int64]
Pair = tuple[float, float]
Triple = tuple[float, float, float]

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
TILE = 16
_NEAR = 1e-6
_CONTRAST = 0.035  # Display-value step between neighbours above which a pixel is sampled again.


@inlined
def _to_local(s: RaycastScene, g: int, x: float, y: float, z: float) -> Triple:
    m = s.mat
    return (
        m[g, 0] * x + m[g, 3] * y + m[g, 6] * z,
        m[g, 1] * x + m[g, 4] * y + m[g, 7] * z,
        m[g, 2] * x + m[g, 5] * y + m[g, 8] * z,
    )


@inlined
def _sphere(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float) -> float:
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    c = ox * ox + oy * oy + oz * oz - radius * radius
    inside = b * b - a * c
    return (-b - math.sqrt(inside)) / a if inside > 0.0 else math.inf


@inlined
def _tube(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float, half: float, capped: bool
) -> float:
    """Meet a capsule, or a cylinder when `capped` (flat ends)."""
    a = dx * dx + dy * dy
    b = ox * dx + oy * dy
    c = ox * ox + oy * oy - radius * radius
    if a > 1e-14:
        inside = b * b - a * c
        if inside <= 0.0:
            return math.inf
        t = (-b - math.sqrt(inside)) / a
        if abs(oz + t * dz) <= half:
            return t
    if not capped:
        low = _sphere(ox, oy, oz + half, dx, dy, dz, radius)
        high = _sphere(ox, oy, oz - half, dx, dy, dz, radius)
        return min(low, high)
    if abs(dz) < 1e-14:
        return math.inf
    end = half if dz < 0.0 else -half
    t = (end - oz) / dz
    x, y = ox + t * dx, oy + t * dy
    return t if x * x + y * y <= radius * radius else math.inf


@inlined
def _slabs(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, low: Triple, high: Triple) -> Pair:
    """Return where the ray enters and leaves an axis-aligned box."""
    near, far = -math.inf, math.inf
    for o, d, bottom, top in ((ox, dx, low[0], high[0]), (oy, dy, low[1], high[1]), (oz, dz, low[2], high[2])):
        if abs(d) < 1e-15:
            if o < bottom or o > top:
                return math.inf, -math.inf
            continue
        a, b = (bottom - o) / d, (top - o) / d
        near, far = max(near, min(a, b)), min(far, max(a, b))
    return near, far


@inlined
def _triangle(v: Floats, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> Triple:
    """Return distance and barycentric coordinates of a hit on triangle `k` (Möller–Trumbore)."""
    ax, ay, az = v[k, 0, 0], v[k, 0, 1], v[k, 0, 2]
    ex, ey, ez = v[k, 1, 0] - ax, v[k, 1, 1] - ay, v[k, 1, 2] - az
    fx, fy, fz = v[k, 2, 0] - ax, v[k, 2, 1] - ay, v[k, 2, 2] - az
    px, py, pz = dy * fz - dz * fy, dz * fx - dx * fz, dx * fy - dy * fx
    det = ex * px + ey * py + ez * pz
    if abs(det) < 1e-18:
        return math.inf, 0.0, 0.0
    tx, ty, tz = ox - ax, oy - ay, oz - az
    u = (tx * px + ty * py + tz * pz) / det
    qx, qy, qz = ty * ez - tz * ey, tz * ex - tx * ez, tx * ey - ty * ex
    w = (dx * qx + dy * qy + dz * qz) / det
    if u < 0.0 or w < 0.0 or u + w > 1.0:
        return math.inf, 0.0, 0.0
    return (fx * qx + fy * qy + fz * qz) / det, u, w


@inlined
def _surface(
    s: RaycastScene, g: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, limit: float
) -> tuple[float, int]:
    """Meet a triangle surface through its tree; return distance and triangle."""
    best, hit = limit, -1
    node, end = s.tree[g, 0], s.tree[g, 1]
    while node < end:
        low = (s.node_box[node, 0], s.node_box[node, 1], s.node_box[node, 2])
        high = (s.node_box[node, 3], s.node_box[node, 4], s.node_box[node, 5])
        near, far = _slabs(ox, oy, oz, dx, dy, dz, low, high)
        if near > far or far < 0.0 or near > best:
            node = s.node_link[node, 0]
            continue
        first = s.node_link[node, 1]
        for k in range(first, first + s.node_link[node, 2]):
            t, _, _ = _triangle(s.triangle, k, ox, oy, oz, dx, dy, dz)
            if _NEAR < t < best:
                best, hit = t, k
        node += 1
    return (best, hit) if hit >= 0 else (math.inf, -1)


@inlined
def meet(
    s: RaycastScene, g: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, limit: float
) -> tuple[float, int]:
    """Return the distance [in lengths of the direction] at which a ray enters geom `g`, and the triangle it hits."""
    ox, oy, oz = _to_local(s, g, ox - s.pos[g, 0], oy - s.pos[g, 1], oz - s.pos[g, 2])
    dx, dy, dz = _to_local(s, g, dx, dy, dz)
    kind, a, b, c = s.kind[g], s.size[g, 0], s.size[g, 1], s.size[g, 2]
    t, hit = math.inf, -1
    if kind == SPHERE:
        t = _sphere(ox, oy, oz, dx, dy, dz, a)
    elif kind == CAPSULE or kind == CYLINDER:
        t = _tube(ox, oy, oz, dx, dy, dz, a, b, kind == CYLINDER)
    elif kind == ELLIPSOID:
        t = _sphere(ox / a, oy / b, oz / c, dx / a, dy / b, dz / c, 1.0)
    elif kind == BOX:
        near, far = _slabs(ox, oy, oz, dx, dy, dz, (-a, -b, -c), (a, b, c))
        t = near if near <= far else math.inf
    elif kind == PLANE:
        t = -oz / dz if dz * oz < 0.0 else math.inf
        outside = (a > 0.0 and abs(ox + t * dx) > a) or (b > 0.0 and abs(oy + t * dy) > b)
        t = math.inf if outside else t
    elif s.tree[g, 0] < s.tree[g, 1]:
        t, hit = _surface(s, g, ox, oy, oz, dx, dy, dz, limit)
    return (t, hit) if _NEAR < t < limit else (math.inf, -1)


@inlined
def normal_at(
    s: RaycastScene, g: int, hit: int, px: float, py: float, pz: float, dx: float, dy: float, dz: float
) -> Triple:
    """Return the outward unit normal of geom `g` at a point on it, facing the ray."""
    x, y, z = _to_local(s, g, px - s.pos[g, 0], py - s.pos[g, 1], pz - s.pos[g, 2])
    kind, a, b, c = s.kind[g], s.size[g, 0], s.size[g, 1], s.size[g, 2]
    if kind == CAPSULE:
        z -= min(max(z, -b), b)
    elif kind == ELLIPSOID:
        x, y, z = x / (a * a), y / (b * b), z / (c * c)
    elif kind == CYLINDER:
        if abs(z) > b * (1.0 - 1e-7):
            x, y = 0.0, 0.0
        else:
            z = 0.0
    elif kind == BOX:
        u, v, w = abs(x) / a, abs(y) / b, abs(z) / c
        x, y, z = x * (u >= v and u >= w), y * (v > u and v >= w), z * (w > u and w > v)
    elif kind == PLANE:
        x, y, z = 0.0, 0.0, 1.0
    elif hit >= 0:
        x, y, z = _corner_blend(s, g, hit, x, y, z)
    m = s.mat
    nx = m[g, 0] * x + m[g, 1] * y + m[g, 2] * z
    ny = m[g, 3] * x + m[g, 4] * y + m[g, 5] * z
    nz = m[g, 6] * x + m[g, 7] * y + m[g, 8] * z
    scale = 1.0 / math.sqrt(max(nx * nx + ny * ny + nz * nz, 1e-30))
    if nx * dx + ny * dy + nz * dz > 0.0:
        scale = -scale
    return nx * scale, ny * scale, nz * scale


@inlined
def _corner_blend(s: RaycastScene, g: int, k: int, x: float, y: float, z: float) -> Triple:
    """Blend a triangle's corner normals at a point on it (both in the geom's frame)."""
    v, n = s.triangle, s.normal
    ex, ey, ez = v[k, 1, 0] - v[k, 0, 0], v[k, 1, 1] - v[k, 0, 1], v[k, 1, 2] - v[k, 0, 2]
    fx, fy, fz = v[k, 2, 0] - v[k, 0, 0], v[k, 2, 1] - v[k, 0, 1], v[k, 2, 2] - v[k, 0, 2]
    _, u, w = _triangle(v, k, x, y, z, ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx)
    r = 1.0 - u - w
    return (
        r * n[k, 0, 0] + u * n[k, 1, 0] + w * n[k, 2, 0],
        r * n[k, 0, 1] + u * n[k, 1, 1] + w * n[k, 2, 1],
        r * n[k, 0, 2] + u * n[k, 1, 2] + w * n[k, 2, 2],
    )


@inlined
def _key_light(s: RaycastScene, px: float, py: float, pz: float, turn: int) -> float:
    """Return the share of the key light's disc seen from a point; `turn` varies the pattern between samples."""
    u = px * s.grid[0, 0] + py * s.grid[0, 1] + pz * s.grid[0, 2]
    v = px * s.grid[1, 0] + py * s.grid[1, 1] + pz * s.grid[1, 2]
    i = math.floor((u - s.grid[3, 0]) / s.grid[4, 0])
    j = math.floor((v - s.grid[3, 1]) / s.grid[4, 1])
    count = int(s.grid[3, 2])
    if i < 0 or j < 0 or i >= count or j >= count:
        return 1.0
    cell = int(j) * count + int(i)
    first, last = s.cell_start[cell], s.cell_start[cell + 1]
    if first == last:
        return 1.0
    total, quick = s.disc.shape[0], min(4, s.disc.shape[0])
    seen, rays, k = 0.0, quick, 0
    while k < rays:
        ray = (k + 4 * turn) % total
        clear = 1.0
        for item in range(first, last):
            g = s.cell_items[item]
            t, _ = meet(s, g, px, py, pz, s.disc[ray, 0], s.disc[ray, 1], s.disc[ray, 2], math.inf)
            if t < math.inf:
                clear = 0.0
                break
        seen += clear
        k += 1
        if k == quick and 0.0 < seen < quick:
            rays = total  # On the edge of a shadow: look closer.
    return float(seen / rays)


@inlined
def _openness(s: RaycastScene, me: int, px: float, py: float, pz: float, nx: float, ny: float, nz: float) -> float:
    """Return how much of the sky a point of geom `me` sees past the other bodies, each standing in as a capsule."""
    sky = 1.0
    for c in range(s.core.shape[0]):
        x, y, z = px - s.core[c, 8], py - s.core[c, 9], pz - s.core[c, 10]
        if x * x + y * y + z * z > s.core[c, 11] or s.core[c, 7] == s.owner[me]:
            continue  # Too far to matter: so it is for most, and this is quick to tell.
        radius = s.core[c, 6]
        ax, ay, az = s.core[c, 0], s.core[c, 1], s.core[c, 2]
        ex, ey, ez = s.core[c, 3] - ax, s.core[c, 4] - ay, s.core[c, 5] - az
        along = ((px - ax) * ex + (py - ay) * ey + (pz - az) * ez) / max(ex * ex + ey * ey + ez * ez, 1e-12)
        along = min(max(along, 0.0), 1.0)
        x, y, z = ax + along * ex - px, ay + along * ey - py, az + along * ez - pz
        square = x * x + y * y + z * z
        facing = nx * x + ny * y + nz * z
        if facing > 0.0 and square < 100.0 * radius * radius:
            square = max(square, radius * radius)
            sky *= 1.0 - 0.75 * facing / math.sqrt(square) * radius * radius / square
    return sky


@inlined
def _backdrop(s: RaycastScene, dz: float) -> Triple:
    w = min(max(dz * 1.6 + 0.35, 0.0), 1.0)
    return (
        s.look[0, 0] + w * (s.look[1, 0] - s.look[0, 0]),
        s.look[0, 1] + w * (s.look[1, 1] - s.look[0, 1]),
        s.look[0, 2] + w * (s.look[1, 2] - s.look[0, 2]),
    )


@inlined
def _stripes(x: float, period: float, blur: float) -> float:
    """Return the mean over `blur` of a square wave of ±1, so that a far checker turns to grey, not to noise."""
    if blur >= period:
        return 0.0
    phase = abs(x / period - math.floor(x / period) - 0.5) * 2.0
    return min(max((phase - 0.5) * 2.0 * period / max(blur * 4.0, 1e-9), -1.0), 1.0)


@inlined
def _floor_tone(s: RaycastScene, g: int, px: float, py: float, pz: float, distance: float, slant: float) -> float:
    x, y, _ = _to_local(s, g, px - s.pos[g, 0], py - s.pos[g, 1], pz - s.pos[g, 2])
    blur = distance * s.look[11, 1] / max(slant, 0.02)
    square = s.look[10, 2]
    return float(1.0 + s.look[10, 1] * _stripes(x, 2.0 * square, blur) * _stripes(y, 2.0 * square, blur))


@inlined
def _shade(s: RaycastScene, g: int, hit: int, t: float, dx: float, dy: float, dz: float, sub: int) -> Triple:
    """Return the linear colour of a point on geom `g`, seen from the eye along a unit direction."""
    px, py, pz = s.lens[0, 0] + t * dx, s.lens[0, 1] + t * dy, s.lens[0, 2] + t * dz
    nx, ny, nz = normal_at(s, g, hit, px, py, pz, dx, dy, dz)
    red, green, blue = s.color[g, 0], s.color[g, 1], s.color[g, 2]
    ground = s.kind[g] == PLANE
    if ground:
        tone = _floor_tone(s, g, px, py, pz, t, abs(nx * dx + ny * dy + nz * dz))
        red, green, blue = s.look[2, 0] * tone, s.look[2, 1] * tone, s.look[2, 2] * tone
    key = nx * s.grid[2, 0] + ny * s.grid[2, 1] + nz * s.grid[2, 2]
    if key > 0.0:
        lift = 1e-4 * (1.0 + t)
        key *= _key_light(s, px + nx * lift, py + ny * lift, pz + nz * lift, sub)
    key = max(key, 0.0)
    fill = max(nx * s.look[9, 0] + ny * s.look[9, 1] + nz * s.look[9, 2], 0.0)
    sky = _openness(s, g, px, py, pz, nx, ny, nz)
    up = 0.5 + 0.5 * nz
    rim = 0.0 if ground else (1.0 - min(max(-(nx * dx + ny * dy + nz * dz), 0.0), 1.0)) ** 3
    r = red * (key * s.look[3, 0] + fill * s.look[4, 0] + sky * (s.look[6, 0] + up * (s.look[5, 0] - s.look[6, 0])))
    q = green * (key * s.look[3, 1] + fill * s.look[4, 1] + sky * (s.look[6, 1] + up * (s.look[5, 1] - s.look[6, 1])))
    b = blue * (key * s.look[3, 2] + fill * s.look[4, 2] + sky * (s.look[6, 2] + up * (s.look[5, 2] - s.look[6, 2])))
    r, q, b = r + rim * s.look[7, 0] * sky, q + rim * s.look[7, 1] * sky, b + rim * s.look[7, 2] * sky
    if ground:  # The floor fades into the backdrop around what the camera looks at.
        away = math.sqrt((px - s.look[8, 0]) ** 2 + (py - s.look[8, 1]) ** 2) / s.look[8, 2]
        near = min(max(1.25 - 1.25 * away, 0.0), 1.0)
        fade = 1.0 - near * near * (3.0 - 2.0 * near)
        br, bg, bb = _backdrop(s, dz)
        r, q, b = r + fade * (br - r), q + fade * (bg - q), b + fade * (bb - b)
    return r, q, b


@inlined
def _sample(
    s: RaycastScene, tile: int, dx: float, dy: float, dz: float, sub: int, near: Floats, seen: Longs, hits: Longs
) -> Triple:
    """Return the linear colour seen along a unit direction. The last three are scratch, one entry per layer."""
    for layer in range(s.layers + 1):
        near[layer] = math.inf
    ex, ey, ez = s.lens[0, 0], s.lens[0, 1], s.lens[0, 2]
    for item in range(s.tile_start[tile], s.tile_start[tile + 1]):
        g = s.tile_items[item]
        layer = s.layer[g]
        t, hit = meet(s, g, ex, ey, ez, dx, dy, dz, near[layer])
        if t < near[layer]:
            near[layer], seen[layer], hits[layer] = t, g, hit
    solid = near[0]
    r, q, b = _backdrop(s, dz)
    if solid < math.inf:
        r, q, b = _shade(s, seen[0], hits[0], solid, dx, dy, dz, sub)
    for _ in range(s.layers):  # Far to near.
        last = 1
        for layer in range(1, s.layers + 1):
            near[layer] = -1.0 if near[layer] >= solid else near[layer]
            last = layer if near[layer] > near[last] else last
        if near[last] <= 0.0:
            break
        g = seen[last]
        gr, gq, gb = _shade(s, g, hits[last], near[last], dx, dy, dz, sub)
        a = s.color[g, 3]
        r, q, b, near[last] = r + a * (gr - r), q + a * (gq - q), b + a * (gb - b), -1.0
    return r, q, b


@inlined
def _uneven(image: Image, x: int, y: int) -> bool:
    height, width = image.shape[0], image.shape[1]
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        i, j = min(max(x + dx, 0), width - 1), min(max(y + dy, 0), height - 1)
        for k in range(3):
            if abs(math.sqrt(image[y, x, k]) - math.sqrt(image[j, i, k])) > _CONTRAST:
                return True
    return False


@kernel
def trace_rows(
    s: RaycastScene,
    image: Image,
    coarse: Image,
    first: int,
    last: int,
    samples: int,
    near: Floats,
    seen: Longs,
    hits: Longs,
) -> None:
    """Fill rows `first` to `last` of a linear image (h, w, 3).

    With `samples` 0 every pixel gets one sample through its centre; otherwise the pixels that differ from a neighbour
    in `coarse` are sampled again, `samples` squared times. The last three are scratch, one entry per layer.
    """
    height, width = image.shape[0], image.shape[1]
    count, tiles_x = max(samples, 1), (width + TILE - 1) // TILE
    for y in range(first, last):
        for x in range(width):
            if samples and not _uneven(coarse, x, y):
                continue
            r, q, b = 0.0, 0.0, 0.0
            tile = (y // TILE) * tiles_x + x // TILE
            for sub in range(count * count):
                a = 2.0 * (x + (sub % count + 0.5) / count) / width - 1.0
                c = 1.0 - 2.0 * (y + (sub // count + 0.5) / count) / height
                dx = s.lens[3, 0] + a * s.lens[1, 0] + c * s.lens[2, 0]
                dy = s.lens[3, 1] + a * s.lens[1, 1] + c * s.lens[2, 1]
                dz = s.lens[3, 2] + a * s.lens[1, 2] + c * s.lens[2, 2]
                scale = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
                sr, sq, sb = _sample(s, tile, dx * scale, dy * scale, dz * scale, sub, near, seen, hits)
                r, q, b = r + min(sr, 1.0), q + min(sq, 1.0), b + min(sb, 1.0)
            image[y, x, 0], image[y, x, 1], image[y, x, 2] = r / count**2, q / count**2, b / count**2
