"""Support and capture point are worked out in one room; two soles, and what is lowest of a body."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.drive.balance.capture import capture_point
from stunt.drive.balance.soles import AHEAD, COVERED, REACH, TwoFeet, past_lowest

SOURCE = Path(stunt.__file__).parent
ROOM = "stunt.drive.balance"
ROOMS = ("drive", "supervise", "control", "play", "gym", "script", "many")
OWN_FEET = "own"
"""The whole-body programme is a balance of its own: it works on compiled state, below the room, and at every tick."""
NAMES = re.compile(r"(^|_)(capture|zmp|hull|support|past_feet|outside_feet|centre_of_(mass|pressure))(_|$)")


def offences(source: str) -> list[str]:
    """Return where a module works out by itself what the room of balance knows.

    That is: a convex hull; the time of a pendulum, √(height / gravity); a function named after the support, the
    capture point or what is outside it that does not ask the room.
    """
    tree, found = ast.parse(source), []
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    asked = {name.name for node in imports if (node.module or "").startswith(ROOM) for name in node.names}
    for node in ast.walk(tree):
        words = ast.unparse(node) if isinstance(node, (ast.Call, ast.BinOp)) else ""
        root = re.match(r"(\w+\.)*(sqrt|hypot)\(", words) if isinstance(node, ast.Call) else None
        root = root or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and words.endswith("** 0.5"))
        if root and "/" in words and re.search(r"gravity|9\.81|\bg\b", words, re.IGNORECASE):
            found.append(f"line {node.lineno}: a pendulum's time, {words}")
        if isinstance(node, (ast.Name, ast.Attribute)) and re.search(r"ConvexHull|convexHull", ast.unparse(node)):
            found.append(f"line {node.lineno}: a convex hull")
        if isinstance(node, ast.FunctionDef) and NAMES.search(node.name):
            calls = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            if not calls & asked:
                found.append(f"line {node.lineno}: {node.name} does not ask {ROOM}")
    return found


def test_support_and_capture_point_are_worked_out_in_one_room() -> None:
    files = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]
    others = [path for path in files if not {"balance", OWN_FEET} & set(path.relative_to(SOURCE).parts)]
    assert len(others) > 100 and len(files) > len(others)
    wrong = {str(path.relative_to(SOURCE)): found for path in others if (found := offences(path.read_text("utf-8")))}
    assert wrong == {}


@pytest.mark.parametrize(
    "source",
    [
        "from scipy.spatial import ConvexHull\ndef f(p): return ConvexHull(p)",
        "def f(com, v): return com[:2] + v[:2] * math.sqrt(com[2] / 9.81)",
        "def f(com, v): return com[:2] + v[:2] * (com[2] / GRAVITY) ** 0.5",
        "def f(com, v, model): return v / np.sqrt(-model.opt.gravity[2] / com[2])",
        "def capture(self): return self.com + 0.3 * self.velocity",
        "def support_polygon(points): return sorted(points)",
        "from stunt.drive.balance.capture import capture_point\ndef past_feet(a, b): return a - b",
    ],
)
def test_who_works_it_out_elsewhere_is_found(source: str) -> None:
    assert offences(source)


def test_who_asks_the_room_is_left_alone() -> None:
    asks = "from stunt.drive.balance.capture import capture_point\ndef capture(f): return capture_point(f.com, f.v)"
    assert offences(asks) == [] and offences("def f(size): return math.sqrt(size / 2.0)") == []


def test_the_middle_of_two_feet_is_ahead_of_their_ankles_and_inside() -> None:
    feet = TwoFeet(np.array([1.0, 2.1, 0.08]), np.array([1.0, 1.9, 0.09]), 0.0)
    assert feet.middle == pytest.approx([1.0 + AHEAD, 2.0])
    assert feet.outside(feet.middle) == pytest.approx(-REACH)
    assert feet.outside(feet.middle + [0.3, 0.0]) == pytest.approx(0.3 - REACH)
    assert feet.outside(feet.middle + [0.0, 0.3]) == pytest.approx(0.2 - REACH)
    turned = TwoFeet(np.array([0.9, 2.0, 0.08]), np.array([1.1, 2.0, 0.09]), np.pi / 2)
    assert turned.middle == pytest.approx([1.0, 2.0 + AHEAD])


def test_a_weight_at_rest_over_the_lowest_is_not_past_it_and_a_fast_one_is() -> None:
    low = [[0.0, 0.1, 0.0], [0.1, 0.1, 0.0], [0.0, -0.1, 0.0], [0.1, -0.1, 0.0]]
    places, com = np.array([*low, [0.0, 0.0, 1.0], [3.0, 0.0, 1.5]]), np.array([0.05, 0.0, 0.95])
    assert past_lowest(capture_point(com, np.zeros(3)), com, places) == 0.0
    fast = capture_point(com, np.array([1.0, 0.0, 0.0]))
    assert past_lowest(fast, com, places) == pytest.approx(float(fast[0] - com[0]) - COVERED)
    aside = com + [0.2, 0.0, 0.0]
    assert past_lowest(aside[:2], aside, places) == pytest.approx(0.2 - COVERED)


def test_the_reflexes_have_the_figures_they_had() -> None:
    """The former formulas, written out, to the last bit."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        one, other, point, facing = rng.normal(size=3), rng.normal(size=3), rng.normal(size=2), float(rng.normal())
        ahead = np.array([np.cos(facing), np.sin(facing)])
        feet = TwoFeet(one, other, facing)
        assert np.array_equal(feet.middle, 0.5 * (one + other)[:2] + 0.045 * ahead)
        a, b = one[:2] + 0.045 * ahead, other[:2] + 0.045 * ahead
        along = b - a
        share = float(np.clip((point - a) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
        assert feet.outside(point) == float(np.linalg.norm(point - a - share * along)) - 0.11
        places, com = rng.normal(size=(9, 3)), rng.normal(size=3)
        low = places[np.argsort(places[:, 2])[:4], :2].mean(axis=0)
        was = max(0.0, float(np.linalg.norm(point - com[:2])) + float(np.linalg.norm(com[:2] - low)) - 0.15)
        assert past_lowest(point, com, places) == was
