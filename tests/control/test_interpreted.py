"""The kernels are ordinary Python too: with a debugger, coverage, and an end to every array."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from short_performances import SECONDS, states

HERE = Path(__file__).parent


def interpreted(*arguments):
    """Run Python with nothing compiled."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same short performances, interpreted and compiled."""
    file = tmp_path_factory.mktemp("states") / "states.npz"
    interpreted(str(HERE / "short_performances.py"), str(file))
    return np.load(file), states()


@pytest.mark.parametrize("name", SECONDS)
def test_an_interpreted_performance_is_the_compiled_one_but_for_fused_rounding(both, name):
    """Compiled code multiplies and adds in one rounding, Python in two: so they differ, by no more than that makes."""
    plain, compiled = both[0][name], both[1][name]
    assert plain.shape == compiled.shape
    assert np.abs(plain - compiled).max() / max(1.0, np.abs(compiled).max()) < 1e-9


OUTSIDE = """
import numpy as np
from stunt.maths.pointers import AddressTable, address_of, floats, layout, longs, record

array, whole = np.arange(6.0).reshape(2, 3), np.arange(3)
assert floats(address_of(array))[5] == 5.0
assert floats(address_of(array) + 16)[3] == 5.0
ROW = layout(("left", np.float64), ("right", np.float64, 2))
row_at, table_at = record(ROW), AddressTable("Rows", [("rows", "address"), ("whole", np.int64)]).reader()
rows = np.zeros(2, ROW)
row_at(address_of(rows), 1).right[1] = 3.0
assert rows["right"].tolist() == [[0.0, 0.0], [0.0, 3.0]]
table = AddressTable("Rows", [("rows", "address"), ("whole", np.int64)]).fill(rows=rows, whole=whole)
assert table_at(address_of(table)).whole[2] == 2

def refused(error, read):
    try:
        read()
    except error as problem:
        print(problem)
    else:
        raise SystemExit("nothing was refused")

refused(IndexError, lambda: floats(address_of(array))[6])
refused(IndexError, lambda: floats(address_of(array))[-1])
refused(IndexError, lambda: floats(address_of(array)).__setitem__(6, 0.0))
refused(IndexError, lambda: floats(address_of(array) + 16)[4])
refused(IndexError, lambda: row_at(address_of(rows), 2))
refused(IndexError, lambda: table_at(address_of(table)).whole[3])
refused(IndexError, lambda: floats(np.zeros(4).ctypes.data)[0])
refused(TypeError, lambda: floats(address_of(whole)))
refused(TypeError, lambda: longs(address_of(array)))
"""


def test_who_reads_or_writes_past_the_end_of_an_array_is_told_so():
    said = interpreted("-c", OUTSIDE).splitlines()
    assert said[0] == "number 6 of 6" and said[1] == "number -1 of 6" and said[3] == "number 4 of 4"
    assert said[-3] == "number 0 of 0"  # memory that nobody told of has no numbers
    assert said[-1] == "memory of float64 is read as int64"
