"""What the guide shows works as it stands there."""

import re
from pathlib import Path

from stunt.script.file import load_script
from stunt.script.performance import Performance

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_of_the_guide_runs_as_one_program(capsys):
    space = {"__name__": "guide"}
    for code in blocks("controllers.md", "python"):
        exec(compile(code, "controllers.md", "exec"), space)
    assert "bow stands upright" in capsys.readouterr().out


def test_the_script_of_the_guide_performs(tmp_path):
    (tmp_path / "guide.yaml").write_text(blocks("supervisor.md", "yaml")[0], encoding="utf-8")
    performance = Performance(load_script(tmp_path / "guide.yaml"))
    performance.stage.step(2.5)
    log = performance.sections["ada"]["supervisor"].log
    assert {"idle", "idle (tracking)"} <= {entry["controller"] for entry in log}
