"""Compiled models that come from anywhere: read in a child first, which has the time and memory such a model needs."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from stunt.stage.stored_model import read_model

HEAD = 20  # bytes before the sizes, each of which has eight
ASKS = """
import resource, sys
from stunt.stage.stored_model import read_model
try:
    read_model(sys.stdin.buffer.read())
except ValueError as error:
    print(error, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, sep="|")
"""


@pytest.fixture(scope="module")
def stored():
    ball = '<body pos="0 0 1"><freejoint/><geom size="0.1"/></body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{ball}</worldbody></mujoco>")
    data = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, data)
    return data.tobytes()


def test_a_model_from_elsewhere_is_read(stored):
    assert read_model(stored).nq == 7


def test_a_model_that_is_cut_says_what_the_engine_says(stored):
    with pytest.raises(ValueError, match="ould not read|ailed|too small|truncated|expected|ran out"):
        read_model(stored[: len(stored) // 2])


@pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does")
@pytest.mark.parametrize("size", [0, 1], ids=["nq", "nv"])
def test_sizes_that_the_file_does_not_have_take_no_memory(stored, size):
    lying = bytearray(stored)
    lying[HEAD + 8 * size : HEAD + 8 * size + 8] = (2**25).to_bytes(8, "little")
    done = subprocess.run([sys.executable, "-c", ASKS], input=bytes(lying), capture_output=True, check=True)
    said, megabytes = done.stdout.decode().split("|")
    assert "allocate" in said and int(megabytes) < 400
