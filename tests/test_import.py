"""`import stunt` is cheap: what is heavy is loaded when it is first needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stunt

HEAVY = ("matplotlib", "PIL", "starlette", "uvicorn", "websockets", "scipy.stats", "gymnasium", "pxr", "mink", "daqp")


def loaded_by(code: str) -> set[str]:
    """Return the modules a fresh interpreter has loaded after some lines of code."""
    ask = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_but_itself():
    loaded = loaded_by("import stunt")
    assert not loaded & {*HEAVY, "numpy", "scipy", "mujoco", "numba"}
    assert {name for name in loaded if name.startswith("stunt.")} == set()


def test_mistakes_can_be_caught_without_loading_an_engine():
    assert not loaded_by("from stunt import StuntError") & {*HEAVY, "mujoco", "numba"}


def test_playing_and_reporting_load_no_plotting_no_pictures_no_web():
    code = "import stunt\nstunt.Stage, stunt.Actor, stunt.Body, stunt.Take, stunt.make_report, stunt.load_clip"
    assert not loaded_by(code) & set(HEAVY)


def test_every_name_comes_from_where_type_checkers_see_it():
    tree = ast.parse(Path(stunt.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.asname: node.module for node in block.body for alias in node.names}
    assert {name: module for name, module in seen.items() if name not in ("export", "review")} == stunt._WHERE
    assert set(stunt.__all__) == {*seen, "__version__"}


def test_all_names_are_listed_and_an_unknown_one_is_no_attribute():
    assert set(stunt.__all__) <= set(dir(stunt))
    with pytest.raises(AttributeError, match="no attribute 'Stagee'"):
        _ = stunt.Stagee


def test_a_script_without_clips_loads_no_filters_splines_and_trees():
    code = "from stunt.cli.main import main\nmain(['check', 'ymca'])"
    assert not loaded_by(code) & {
        "scipy.ndimage",
        "scipy.spatial",
        "scipy.optimize",
        "scipy.interpolate",
        "scipy.linalg",
    }


@pytest.mark.parametrize("command", ["check", "perform", "preview"])
def test_what_is_no_yaml_is_refused_before_an_engine_is_loaded(tmp_path, command):
    (tmp_path / "full.yaml").write_text("a: [" + "1," * 66_001 + "1]")
    code = f"from stunt.cli.main import main\nassert main([{command!r}, {str(tmp_path / 'full.yaml')!r}]) == 2"
    assert not loaded_by(code) & {*HEAVY, "mujoco", "numba", "scipy"}
