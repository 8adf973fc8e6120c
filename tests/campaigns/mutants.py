"""Damaged files, made from good ones: by bytes, by lines and words, and by what a format is made of."""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator
WILD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**40), 10**30, 0.5, 1e308, -1e308, 1e-300, float("nan"), float("inf"),
    "", "x", "..", "../../etc/passwd", "/etc/passwd", "%2e%2e/x", "a" * 5000, "\u0000", "\ud7ff\u2028", [], {}, [[]],
    [None], {"a": 1}, [1, 2, 3], ["x", 1.0, None],
)  # fmt: skip
WORDS = (
    b"nan", b"inf", b"-inf", b"1e308", b"-1", b"0", b"99999999999999999999", b"1e-320", b"\xff", b"\x00", b"'", b'"',
    b"{", b"[", b"]", b"}", b":", b"- ", b"&a", b"*a", b"<<", b"!!python/object:os.system", b"\t", b"\r", b"\n\n",
    b"a" * 3000, b"true", b"null", b"~", b"0x1F", b"1_000", b"../../x", b"/etc/passwd", b"%2e%2e/", "é".encode(),
    b"\xe2\x80\xa8",
)  # fmt: skip


def pick(rng: Rng, items: Any) -> Any:
    """Return one of some things."""
    return items[int(rng.integers(len(items)))]


def by_bytes(data: bytes, rng: Rng) -> bytes:
    """Cut, flip, write over, drop, repeat or exchange pieces of bytes."""
    kind, size = int(rng.integers(7)), len(data)
    if kind == 0 or size < 16:
        return data[: int(rng.integers(size + 1))]
    start, stop = sorted(int(k) for k in rng.integers(size, size=2))
    stop = min(stop, start + int(2 ** rng.uniform(0, 12)))
    if kind == 1:
        found = bytearray(data)
        for place in rng.integers(size, size=int(rng.integers(1, 9))):
            found[place] ^= 1 << int(rng.integers(8))
        return bytes(found)
    if kind == 2:
        place = int(rng.integers(min(size, 1024)))
        new = pick(
            rng, (b"\xff\xff\xff\x7f", b"\xff" * 8, b"\0" * 4, b"\x00\x00\x80\x7f", bytes(rng.integers(0, 256, 4)))
        )
        return data[:place] + bytes(new) + data[place + len(new) :]
    if kind == 3:
        return data[:start] + data[stop:]
    if kind == 4:
        return data[:stop] + data[start:]
    if kind == 5:
        other = int(rng.integers(size))
        return data[:other] + data[start:stop] + data[other:]
    return data[:start] + bytes(rng.integers(0, 256, stop - start, np.uint8)) + data[stop:]


def by_words(data: bytes, rng: Rng) -> bytes:
    """Exchange, drop, repeat or replace words and lines of a text."""
    lines = data.split(b"\n")
    for _ in range(int(rng.integers(1, 4))):
        kind, at = int(rng.integers(7)), int(rng.integers(len(lines)))
        if kind == 0:
            words = re.split(rb"([\s,:\[\]{}<>=\"/]+)", lines[at])
            words[int(rng.integers(len(words)))] = pick(rng, WORDS)
            lines[at] = b"".join(words)
        elif kind == 1:
            lines[at] = lines[at][: int(rng.integers(len(lines[at]) + 1))]
        elif kind == 2:
            del lines[at]
            lines = lines or [b""]
        elif kind == 3:
            lines.insert(at, pick(rng, lines))
        elif kind == 4:
            lines[at] = b" " * int(rng.integers(9)) + lines[at].lstrip()
        elif kind == 5:
            lines[at] = re.sub(
                rb"-?\d+\.?\d*(e-?\d+)?",
                lambda found: pick(rng, WORDS[:9]) if rng.random() < 0.3 else found[0],
                lines[at],
            )
        else:
            lines.insert(at, lines[at] * int(rng.integers(2, 30)))
    return b"\n".join(lines)


def of_tree(data: Any, rng: Rng, most: int = 3) -> Any:
    """Change some values of a tree of dicts and lists: another type, another number, gone, twice, deeper."""
    data = json.loads(json.dumps(data))
    for _ in range(1 if rng.random() < 0.6 else int(rng.integers(1, most + 1))):
        places: list[tuple[Any, Any]] = []
        _walk(data, places)
        if not places:
            return copy.deepcopy(pick(rng, WILD))
        owner, key = pick(rng, places)
        kind = int(rng.integers(6))
        if kind <= 1:
            owner[key] = copy.deepcopy(pick(rng, WILD))  # what is put in may be changed next
        elif kind == 2 and isinstance(owner[key], int | float):
            owner[key] = owner[key] * float(rng.choice([-1.0, 1e3, 1e9, 0.0])) + int(rng.integers(-2, 3))
        elif kind == 3:
            del owner[key]
        elif kind == 4:
            other, its = pick(rng, places)
            try:
                owner[key] = json.loads(json.dumps(other[its]))
            except (KeyError, IndexError):  # it is gone already
                pass
        else:
            owner[key] = [owner[key]] if rng.random() < 0.5 else {"a": owner[key]}
    return data


def _walk(data: Any, places: list[tuple[Any, Any]], most: int = 4000) -> None:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(items):
        if len(places) < most:
            places.append((data, key))
            _walk(value, places, most)


def json_text(data: Any) -> bytes:
    """Write JSON, whatever is in it."""
    return json.dumps(data).encode()


def of_json(data: bytes, rng: Rng) -> bytes:
    """Change a JSON file as a tree, or as a text."""
    return json_text(of_tree(json.loads(data), rng)) if rng.random() < 0.8 else by_words(data, rng)


def of_lines(data: bytes, rng: Rng) -> bytes:
    """Change one line of JSON lines as a tree, or all of them as a text."""
    if rng.random() < 0.3:
        return of_text(data, rng)
    lines = data.split(b"\n")
    at = int(rng.integers(len(lines) - 1))
    lines[at] = json_text(of_tree(json.loads(lines[at]), rng))
    return b"\n".join(lines)


def of_yaml(data: bytes, rng: Rng) -> bytes:
    """Change a YAML file as a tree, as a text, or as bytes."""
    from ruamel.yaml import YAML

    kind = rng.random()
    if kind < 0.5:
        text = io.StringIO()
        yaml = YAML(typ="safe", pure=True)
        yaml.dump(of_tree(yaml.load(data), rng), text)
        return text.getvalue().encode(errors="replace")
    return by_words(data, rng) if kind < 0.85 else by_bytes(data, rng)


def of_text(data: bytes, rng: Rng) -> bytes:
    """Change a text by words, or by bytes."""
    return by_words(data, rng) if rng.random() < 0.7 else by_bytes(data, rng)


def of_glb(data: bytes, rng: Rng) -> bytes:
    """Change the JSON of a .glb as a tree, its numbers, or its bytes."""
    kind = rng.random()
    if kind < 0.2:
        return by_bytes(data, rng)
    size = struct.unpack_from("<I", data, 12)[0]
    text, blob = data[20 : 20 + size], data[28 + size :]
    if kind < 0.9:
        text = json_text(of_tree(json.loads(text), rng))
    else:
        blob = by_bytes(blob, rng)
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(blob), len(text), 0x4E4F534A)
    return head + text + struct.pack("<II", len(blob), 0x004E4942) + blob


def of_npz(data: bytes, rng: Rng) -> bytes:
    """Change an archive's arrays: another type, shape or value, gone, or its JSON as a tree; or its bytes."""
    if rng.random() < 0.15:
        return by_bytes(data, rng)
    with np.load(io.BytesIO(data)) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for _ in range(int(rng.integers(1, 4))):
        name = "json" if "json" in arrays and rng.random() < 0.4 else pick(rng, sorted(arrays))
        changed = _array(arrays[name], rng)
        if changed is None:
            del arrays[name]
        else:
            arrays[name] = changed
        if not arrays:
            break
    out = io.BytesIO()
    np.savez_compressed(out, **arrays) if rng.random() < 0.5 else np.savez(out, **arrays)
    return out.getvalue()


def _array(array: np.ndarray, rng: Rng) -> np.ndarray | None:
    if array.dtype.kind == "U":
        try:
            return np.array(json.dumps(of_tree(json.loads(str(array)), rng)))
        except ValueError:
            return np.array("x")
    kind = int(rng.integers(8))
    if kind == 0:
        return None
    if kind == 1:
        return array[: int(rng.integers(len(array) + 1))] if array.ndim else np.array([1.0, 2.0])
    if kind == 2:
        return array.astype(pick(rng, ("f4", "f8", "i4", "i8", "u1", "?", "c16", "S8", "U4")))
    if kind == 3:
        return array.T if array.ndim > 1 else array.reshape(-1, 1)
    changed = array.copy()
    if changed.size and changed.dtype.kind in "fiu":
        for place in rng.integers(changed.size, size=int(rng.integers(1, 6))):
            with np.errstate(all="ignore"):
                wild = pick(rng, (np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e9))
                changed.flat[place] = wild if changed.dtype.kind == "f" else int(rng.integers(0, 255))
    return changed if kind > 4 else np.concatenate([changed, changed]) if changed.ndim else changed


def of_model(data: bytes, rng: Rng) -> bytes:
    """Change the compiled model inside a take."""
    with np.load(io.BytesIO(data)) as stored:
        arrays = {name: stored[name] for name in stored.files}
    raw = arrays["model_bytes"].tobytes()
    if rng.random() < 0.6:  # sizes and options stand in front
        found = bytearray(raw)
        for place in rng.integers(min(len(raw), 3000), size=int(rng.integers(1, 5))):
            found[place] = int(rng.integers(256))
        raw = bytes(found)
    else:
        raw = by_bytes(raw, rng)
    out = io.BytesIO()
    np.savez(out, **{**arrays, "model_bytes": np.frombuffer(raw, np.uint8)})
    return out.getvalue()


def bomb() -> bytes:
    """Return an archive that unpacks to gigabytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (2**27,)})
        with archive.open("time.npy", "w", force_zip64=True) as file:
            file.write(head.getvalue())
            for _ in range(64):
                file.write(bytes(2**20))
    return out.getvalue()


Mutator = Callable[[bytes, Rng], bytes]
