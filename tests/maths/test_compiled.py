"""The cache of compiled code notices whatever the code depends on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stunt.control.loop import run
from stunt.maths import compiled
from stunt.record.raycast import kernels as raycast_kernels

FILES = {
    "kernel.py": "import math\nfrom stunt.rooms.layout import (\n    WIDTH,\n)\n",
    "rooms/__init__.py": "",
    "rooms/layout.py": "def lazily():\n    from stunt import far as f\n",
    "far.py": "import stunt.rooms.other\n",
    "rooms/other.py": "X = 1\n",
    "stranger.py": "from stunt.kernel import all_of_it\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of a few modules in Stunt's place."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path)
    return tmp_path


def digest(package):
    compiled.source_digest.cache_clear()
    compiled._imported.cache_clear()
    compiled._file_of.cache_clear()
    try:
        return compiled.source_digest(package / "kernel.py")
    finally:
        compiled.source_digest.cache_clear()
        compiled._imported.cache_clear()
        compiled._file_of.cache_clear()


@pytest.mark.parametrize("name", ["kernel.py", "rooms/layout.py", "far.py", "rooms/other.py"])
def test_an_edit_of_anything_a_kernel_imports_directly_or_not_makes_its_code_stale(package, name):
    before = digest(package)
    (package / name).write_text(FILES[name] + "# edited\n")
    assert digest(package) != before


def test_an_edit_of_what_a_kernel_does_not_import_leaves_its_code_alone(package):
    before = digest(package)
    (package / "stranger.py").write_text("# edited\n")
    assert digest(package) == before


def test_the_options_that_everything_is_compiled_with_are_part_of_every_digest(package, monkeypatch):
    before = digest(package)
    other = package / "options.py"
    other.write_text("# other options\n")
    monkeypatch.setattr(compiled, "__file__", str(other))
    assert digest(package) != before


@pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("kernel", [run.run, raycast_kernels.trace_rows])
def test_the_control_loop_and_the_ray_caster_are_cached_under_their_digest(kernel):
    stamp = kernel._cache._cache_file._source_stamp
    assert stamp == compiled.source_digest(Path(kernel.py_func.__code__.co_filename))


class Index:
    """A cache file of ours in a folder."""

    def __new__(cls, folder, stamp="stamp" * 8):
        return compiled.CacheFile(str(folder), "kernel-1.py311", stamp)


def test_two_processes_that_compile_two_forms_at_once_never_get_each_others_code(tmp_path):
    """Both have read the empty index before either has written: numba would give both the number one."""
    one, two = Index(tmp_path), Index(tmp_path)
    one._load_index = dict  # what it read before the other wrote
    two._load_index = dict
    one.save(("int",), "code for int")
    two.save(("float",), "code for float")
    fresh = Index(tmp_path)
    assert fresh.load(("float",)) == "code for float"
    assert fresh.load(("int",)) in ("code for int", None)  # None: compiled again


def test_code_of_other_sources_is_swept_and_never_run(tmp_path):
    Index(tmp_path, "a" * 64).save(("int",), "old")
    new = Index(tmp_path, "b" * 64)
    assert new.load(("int",)) is None
    new.save(("int",), "new")
    assert Index(tmp_path, "b" * 64).load(("int",)) == "new" and len(list(tmp_path.glob("*.nbc"))) == 1


def test_a_cache_that_is_broken_or_cannot_be_written_is_compiled_again(tmp_path):
    file = Index(tmp_path)
    file.save(("int",), "code")
    for path in tmp_path.iterdir():
        path.write_bytes(b"\x80\x04broken")
    assert Index(tmp_path).load(("int",)) is None
    Index(tmp_path / "nowhere").save(("int",), "code")


def test_where_numba_finds_no_place_code_is_kept_among_temporary_files_of_this_user_alone(tmp_path, monkeypatch):
    import tempfile

    import numba

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []
    compiled._elsewhere(lambda: seen.append(numba.config.CACHE_DIR))
    [folder] = tmp_path.iterdir()
    assert seen == [str(folder)] and folder.stat().st_mode & 0o077 == 0 and seen[0] != numba.config.CACHE_DIR
    folder.chmod(0o777)  # somebody else may have put code there
    assert compiled._elsewhere(lambda: seen.append("run")) is None and "run" not in seen


@pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled")
def test_kernels_are_saved_under_names_of_their_own():
    assert isinstance(run.run._cache._cache_file, compiled.CacheFile)


PLAYS = """
import sys
import numpy as np
from stunt.examples import example
from stunt.script.file import load_script
from stunt.script.performance import perform
take = perform(load_script(example("marker_arm").path))
sys.stdout.write(take.qpos.tobytes().hex()[-4096:])
"""


@pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled")
def test_a_first_run_that_compiles_gives_the_bits_of_every_later_one(tmp_path):
    told = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [subprocess.run([sys.executable, "-c", PLAYS], env=told, capture_output=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout) == 4096
