"""What the README shows works as it stands there."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import stunt
import stunt.examples

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found
    return found[1]


def test_the_ten_lines_of_python_hit_the_pose_at_the_time(capsys):
    code = block("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    off = float(re.search(r"salute at 0.6 s: ([\d.]+)° off", printed)[1])
    assert off < 0.3


def test_the_script_performs(tmp_path):
    path = tmp_path / "salute.yaml"
    path.write_text(block("yaml"), encoding="utf-8")
    performance = stunt.Performance(stunt.load_script(path))
    performance.run()
    assert performance.performers["ada"].results[0].error_deg < 0.3


def test_every_page_it_links_to_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize(
    ("row", "name"), [("YMCA, worst joint at any beat", "ymca"), ("conductor, twelve poses", "conductor")]
)
def test_the_worst_beats_are_within_twice_what_the_table_says(row: str, name: str) -> None:
    """At both rates, the figure read from the table; not less than half of it either, or the table is out of date."""
    claims = re.search(rf"\| {row} \| ([\d.]+)° \| ([\d.]+)° \|", README)
    script = stunt.load_script(stunt.examples.example(name).path)
    for claim, hz in zip(claims.groups(), (480.0, 120.0), strict=True):
        scene = replace(script.scene, physics_hz=hz, control_hz=hz)
        performance = stunt.Performance(replace(script, scene=scene), foretell=False)
        performance.run()
        worst = max(result.error_deg for who in performance.performers.values() for result in who.results)
        digit = 10.0 ** -len(claim.partition(".")[2])
        print(f"{name} at {hz:g} Hz: {worst:.2g}°, told {claim}°")
        assert 0.5 * (float(claim) - digit) <= worst <= 2.0 * float(claim)
