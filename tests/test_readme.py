"""What the README shows works as it stands there."""

import re
from pathlib import Path

import stunt

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
