"""glTF files that name files elsewhere, or are made of other things than glTF has: refused, and nothing is opened."""

from __future__ import annotations

import json
import os
import struct
import sys

import pytest
from gltf_helpers import write_glb

from stunt.library.names import load_clip
from stunt.motion.clips import edit
from stunt.motion.clips.raw import ClipFileError
from stunt.motion.formats.gltf_clip import read_gltf


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return the JSON and the numbers of a good file."""
    data = write_glb(edit.trimmed(load_clip("walk"), 0.0, 0.1), tmp_path_factory.mktemp("good") / "a.glb").read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


@pytest.fixture()
def folder(tmp_path, parts):
    """Return a folder with a file beside it, one inside it, and a link out of it."""
    inner = tmp_path / "inner"
    (inner / "below").mkdir(parents=True)
    for path in (tmp_path / "out.bin", inner / "in.bin", inner / "below" / "in.bin", inner / "a b.bin"):
        path.write_bytes(parts[1])
    os.symlink(tmp_path / "out.bin", inner / "link.bin")
    os.symlink(tmp_path, inner / "up")
    return inner


def with_buffer(folder, parts, uri):
    text = json.loads(json.dumps(parts[0]))
    text["buffers"][0]["uri"] = uri
    (folder / "a.gltf").write_text(json.dumps(text))
    return folder / "a.gltf"


@pytest.mark.parametrize("uri", ["in.bin", "./in.bin", "below/in.bin", "below/../in.bin", "a%20b.bin"])
def test_a_buffer_in_the_files_folder_is_read(folder, parts, uri):
    assert read_gltf(with_buffer(folder, parts, uri)).fps > 0


@pytest.mark.parametrize(
    "uri",
    [
        "../out.bin",
        "%2e%2e/out.bin",
        "%2E%2E%2fout.bin",
        "below/../../out.bin",
        "link.bin",
        "up/out.bin",
        "/etc/passwd",
    ],
)
def test_a_buffer_elsewhere_is_refused_and_not_opened(folder, parts, uri):
    file, opened = with_buffer(folder, parts, uri), []
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
    with pytest.raises(ClipFileError, match="outside the file's folder, and is not read"):
        read_gltf(file)
    assert not [path for path in opened if path.endswith(("out.bin", "passwd", "link.bin"))]


def test_an_absolute_path_is_refused_even_where_it_is_a_buffer(folder, parts, tmp_path):
    with pytest.raises(ClipFileError, match="outside"):
        read_gltf(with_buffer(folder, parts, str(tmp_path / "out.bin")))


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:1/a.bin", "file:///etc/passwd", "x" * 9000, "a\0b", "", 7, ["in.bin"]]
)
def test_what_is_no_file_is_refused_in_few_words(folder, parts, uri):
    with pytest.raises(ClipFileError) as caught:
        read_gltf(with_buffer(folder, parts, uri))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("accessors", "componentType", [5126]), ("accessors", "componentType", None), ("accessors", "byteOffset", None),
        ("accessors", "byteOffset", [1]), ("accessors", "byteOffset", -4), ("accessors", "count", 10**18),
        ("accessors", "count", 1.5), ("accessors", "sparse", 3), ("accessors", "sparse", {"count": 10**9}),
        ("accessors", "bufferView", "x"), ("bufferViews", "byteStride", {}), ("bufferViews", "byteOffset", "0"),
        ("bufferViews", "buffer", None), ("nodes", "children", None), ("nodes", "children", 3),
        ("nodes", "children", [None]), ("nodes", "children", [True]), ("nodes", "rotation", "x"),
        ("nodes", "translation", [1e300, 0, 0]), ("nodes", "scale", [[1], 2, 3]), ("skins", "joints", None),
        ("skins", "joints", [99999]), ("animations", "channels", None), ("animations", "channels", [3]),
        ("animations", "channels", [{"target": 5}]), ("animations", "samplers", {}), ("animations", "samplers", [None]),
    ],
)  # fmt: skip
def test_wrong_types_are_one_sentence(tmp_path, parts, kind, key, value):
    text = json.loads(json.dumps(parts[0]))
    for item in text[kind]:
        item[key] = value
    blob = json.dumps(text).encode()
    head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(blob) + len(parts[1]), len(blob), 0x4E4F534A)
    (tmp_path / "a.glb").write_bytes(head + blob + struct.pack("<II", len(parts[1]), 0x004E4942) + parts[1])
    with pytest.raises(ClipFileError) as caught:
        read_gltf(tmp_path / "a.glb")
    assert len(str(caught.value)) < 1000
