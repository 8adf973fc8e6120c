"""Meshes from files are scenery: what they are made of, what is under a foot there, and what is refused."""

import json
import struct
import time

import mujoco
import numpy as np
import pytest

from stunt.drive.feet.ground import Ground
from stunt.errors import StuntError
from stunt.library.meshes import THICK, convex_pieces, read_mesh
from stunt.record.report import make_report
from stunt.script.file import load_script, save_script, script_from_data
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import Scene

BOX = np.array([(x, y, z) for x in (0.0, 0.4) for y in (0.0, 0.6) for z in (0.0, 0.2)])
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TRIANGLES = np.array([(a, b, c) for p, q, r, s in SIDES for a, b, c in ((p, q, r), (p, r, s))])


def hill(x, y):
    """Give the height of some ground [m]: 5,000 triangles' worth of it, up to 12 cm, flat where one sets out."""
    rough = 0.03 * np.sin(1.9 * x + 0.4 * y) + 0.03 * np.sin(1.1 * y - 2.3 * x + 1.0) + 0.06
    return rough * np.clip(x - 0.8, 0.0, 1.0)


def write_obj(path, points, faces):
    """Write an OBJ with y up, as most programs do."""
    lines = [f"v {x:.9g} {z:.9g} {-y:.9g}" for x, y, z in points]
    path.write_text("\n".join(lines + ["f " + " ".join(f"{c + 1}//1" for c in face) for face in faces]) + "\n")
    return path


@pytest.fixture(scope="module")
def ground_file(tmp_path_factory):
    x, y = np.meshgrid(np.linspace(-1.0, 5.0, 51), np.linspace(-2.0, 2.0, 51), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), hill(x, y).ravel()])
    quads = [(51 * a + b, 51 * a + b + 51, 51 * a + b + 52, 51 * a + b + 1) for a in range(50) for b in range(50)]
    return write_obj(tmp_path_factory.mktemp("mesh") / "hill.obj", points, quads)


def test_a_walk_goes_over_a_mesh_of_5000_triangles(ground_file):
    character = {"body": "walk", "root": "free", "strength": 1.5}
    data = {
        "seconds": 3.0, "characters": {"ada": character},
        "props": {"hill": {"shape": "mesh", "file": str(ground_file)}},
        "performance": {"ada": {"clips": {"play": [{"clip": "walk", "loop": True}]}}},
    }  # fmt: skip
    performance = Performance(script_from_data(data))
    assert len(convex_pieces(read_mesh(str(ground_file)))) == 5000
    about = make_report(performance.run())["characters"]["ada"]
    root = performance.stage.data.qpos[:3]
    assert not about["fell"] and about["error_deg_mean"] < 2.5 and root[0] > 2.6
    assert root[2] - hill(root[0], root[1]) == pytest.approx(0.92, abs=0.06)


def test_what_is_felt_and_touched_is_the_surface_itself(ground_file):
    hills = PropSpec("mesh", file=str(ground_file), at=(1.0, 0.0, 0.5), facing=0.5 * np.pi)
    ball = PropSpec("sphere", radius=0.05, mass=1.0, at=(1.03, 3.04, 1.0))
    stage = StageLoop(Scene(props={"hills": hills, "ball": ball}, ground=False))
    ground = Ground(stage)
    for x, y in ((0.3, 0.2), (2.11, -0.7), (3.017, 1.3)):
        assert ground.height(1.0 - y, x) == pytest.approx(0.5 + hill(x, y), abs=1e-3)
    assert ground.height(1.0, 9.0) == -np.inf
    stage.step(0.5)
    low = stage.data.qpos[2] - 0.05
    assert low == pytest.approx(0.5 + hill(stage.data.qpos[1], 1.0 - stage.data.qpos[0]), abs=0.01)


def test_what_is_convex_is_one_piece_and_sheets_are_prisms_below_their_faces(tmp_path):
    two = np.concatenate([BOX, BOX + (2.0, 0.0, 0.0)])
    mesh = read_mesh(str(write_obj(tmp_path / "two.obj", two, np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + 8]))))
    assert sorted(len(piece) for piece in convex_pieces(mesh)) == [8, 8]
    for faces in (TRIANGLES[:10], TRIANGLES[:10, ::-1]):  # without its lid, wound either way
        assert len(convex_pieces(read_mesh(str(write_obj(tmp_path / "tub.obj", BOX, faces))))) == 10
    for sheet in ((0, 2, 6), (6, 2, 0)):
        (piece,) = convex_pieces(read_mesh(str(write_obj(tmp_path / "sheet.obj", BOX, [sheet]))))
        assert piece[:, 2].max() == pytest.approx(0.0) and piece[:, 2].min() == pytest.approx(-THICK)


def glb(path, points, faces, node):
    """Write a GLB of one mesh on a node that hangs on another."""
    y_up = np.column_stack([points[:, 0], points[:, 2], -points[:, 1]]).astype("<f4")
    block = y_up.tobytes() + faces.astype("<u2").tobytes()
    document = {
        "asset": {"version": "2.0"}, "nodes": [{"children": [1], "translation": [1, 0, 0]}, {"mesh": 0, **node}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(block)}],
        "bufferViews": [{"buffer": 0, "byteLength": y_up.nbytes},
                        {"buffer": 0, "byteOffset": y_up.nbytes, "byteLength": len(block) - y_up.nbytes}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": faces.size, "type": "SCALAR"}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    block += bytes(-len(block) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(block), 0x004E4942) + block
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return path


def test_stl_and_gltf_say_the_same_as_obj(tmp_path):
    wanted = read_mesh(str(write_obj(tmp_path / "box.obj", BOX, SIDES)))
    corners = BOX[TRIANGLES].astype("<f4")
    record = b"".join(bytes(12) + each.tobytes() + bytes(2) for each in corners)
    (tmp_path / "box.stl").write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", len(corners)) + record)
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in each) + "endloop\n"
        for each in corners
    )
    (tmp_path / "text.stl").write_text(f"solid box\n{facets}endsolid\n")
    turned = glb(tmp_path / "box.glb", (BOX - (1.0, 0.0, 0.0)) / 2.0, TRIANGLES, {"scale": [2, 2, 2]})
    for path in ("box.stl", "text.stl", turned.name):
        found = read_mesh(str(tmp_path / path))
        np.testing.assert_allclose(found.points, wanted.points, atol=1e-6)
        assert len(found.faces) == 12 and len(convex_pieces(found)) == 1
    small = read_mesh(str(tmp_path / "box.stl"), scale=0.01, up="y")
    np.testing.assert_allclose(np.ptp(small.points, axis=0), (0.004, 0.002, 0.006), atol=1e-8)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("far.obj", b"v 0 0 0\nf 1 2 99999999999999999999\n", "corners that are not there"),
        ("room.ply", b"ply", "is no mesh: .obj, .glb, .gltf, .stl are read"),
        ("gone.obj", None, "there is no such file"),
        ("room.obj", b"v 0 0\nf 1 1 1\n", "line 1.*three numbers|room.obj:1.*three numbers"),
        ("room.obj", b"v 0 0 0\nf 1 2 3\n", "corners that are not there"),
        ("room.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "no triangle with an area"),
        ("room.obj", b"v 0 0 nan\nv 1 0 0\nv 2 1 0\nf 1 2 3\n", "no numbers"),
        ("room.obj", b"v 0 0 0\nf one two\n", "no line of an OBJ file"),
        ("room.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"f 1 2 3\n" * 20001, "20001 triangles"),
        ("room.stl", b"solid", "no STL file"),
        ("room.stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50), "no STL file"),
        ("room.glb", b"glTF", "without its JSON chunk"),
    ],
)
def test_what_is_no_mesh_is_refused_by_name(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(StuntError, match=words):
        StageLoop(Scene(props={"room": PropSpec("mesh", file=str(tmp_path / name))}))


def test_a_small_glb_that_lays_zeros_or_deep_nodes_is_answered_soon(tmp_path):
    data = {
        "asset": {"version": "2.0"}, "accessors": [{"componentType": 5126, "count": 2_600_000, "type": "VEC3"}],
        "nodes": [{"mesh": 0}] * 200, "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    }  # fmt: skip
    (tmp_path / "zeros.gltf").write_text(json.dumps(data))
    with pytest.raises(StuntError, match="866666 triangles"):
        read_mesh(str(tmp_path / "zeros.gltf"))
    data["accessors"][0]["count"] = 3
    data["nodes"] = [{"mesh": 0, "children": [k + 1]} for k in range(4000)] + [{"mesh": 0}]
    (tmp_path / "deep.gltf").write_text(json.dumps(data))
    began = time.process_time()
    with pytest.raises(StuntError, match="no triangle with an area"):
        read_mesh(str(tmp_path / "deep.gltf"))
    assert time.process_time() - began < 5.0


def test_a_script_names_the_file_beside_it_and_a_mesh_needs_one(tmp_path):
    write_obj(tmp_path / "box.obj", BOX, SIDES)
    (tmp_path / "room.yaml").write_text("seconds: 1\nprops:\n  room: {shape: mesh, file: box.obj, scale: 2.0}\n")
    script = load_script(tmp_path / "room.yaml")
    model = Performance(script).stage.model
    assert model.geom_contype[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "room")] == 0  # seen, not touched
    (tmp_path / "sub").mkdir()
    save_script(script, tmp_path / "sub" / "again.yaml")
    assert load_script(tmp_path / "sub" / "again.yaml").scene == script.scene
    for props in ({"room": {"shape": "mesh"}}, {"room": {"shape": "box", "file": "box.obj"}}):
        with pytest.raises(StuntError, match="file"):
            script_from_data({"seconds": 1, "props": props})
    with pytest.raises(StuntError, match="file"):
        StageLoop(Scene(props={"room": PropSpec("mesh")}))
