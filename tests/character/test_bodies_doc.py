"""The pages on bodies say what the code does: their tables are compared with the code, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from stunt.character.anthropometry import TABLES
from stunt.character.bodies import BUILT_IN, GROUPS, make_body
from stunt.character.human import HINGES
from stunt.character.limits import MOTIONS
from stunt.character.strength import PEAKS

DOCS = Path(__file__).parents[2] / "docs"
SIDED = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shank", "foot")


def body_rows() -> list[str]:
    rows = []
    for body in BUILT_IN:
        joints = make_body(body).compile().nv
        total = joints + (0 if body == "torso28" else 6)
        rows.append(
            f"| `{body}` | {joints} | {'no, its hips are fixed' if total == joints else 'yes, 6'} | **{total}** |"
        )
    return rows


def joint_rows() -> list[str]:
    bodies = {body: {name for hinges in HINGES[body].values() for name in hinges} for body in BUILT_IN}
    rows = []
    for name, motion in MOTIONS.items():
        sided = any(name in hinges for bone, hinges in HINGES["human47"].items() if bone in SIDED)
        peak = PEAKS[name]
        marks = " | ".join("●" if name in bodies[body] else "" for body in BUILT_IN)
        rows.append(
            f"| `{'{l,r}_' if sided else ''}{name}` | {motion.low:g} … {motion.high:g} | {motion.positive} | "
            f"{peak.male:g} | {peak.female:g} | {peak.source} | {marks} |"
        )
    return rows


def segment_rows() -> list[str]:
    rows = []
    for name, man in TABLES["male"].segments.items():
        woman = TABLES["female"].segments[name]
        cells = [f"{a:g} / {b:g}" for a, b in zip(vars(man).values(), vars(woman).values(), strict=True)]
        rows.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return rows


@pytest.mark.parametrize(
    ("page", "rows"), [("bodies.md", body_rows), ("bodies.md", joint_rows), ("body_data.md", segment_rows)]
)
def test_the_tables_in_the_documentation_agree_with_the_code(page, rows):
    text = (DOCS / page).read_text(encoding="utf-8")
    missing = [row for row in rows() if row not in text]
    assert not missing, f"docs/{page} should have:\n" + "\n".join(missing)


def test_every_limb_is_in_the_documentation():
    text = (DOCS / "bodies.md").read_text(encoding="utf-8")
    assert all(f"`{limb}`" in text for limb in GROUPS)
