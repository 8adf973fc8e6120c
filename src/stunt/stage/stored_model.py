"""Models inside takes: compiled bytes from anywhere, which the engine reads without much doubt.

Bytes that this process did not compile itself are first read in a child process with limits of time and memory. What
makes the engine hang or crash there is refused here. It costs a third of a second, once for each model.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

MOST_BYTES: Final = 512 * 2**20
"""No larger model is read."""
_SECONDS: Final = 10
_MEMORY: Final = 3 * 2**30
_SPARE: Final = 256 * 2**20
_CHILD: Final = f"""
import os, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
    resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = os.sysconf("SC_PAGE_SIZE")
except (ImportError, AttributeError):
    resource = None
import mujoco
def spare(more):  # so much memory, and no more: the engine believes what a model says of its sizes, and fills it
    if resource is not None and os.path.exists("/proc/self/statm"):
        has = int(open("/proc/self/statm").read().split()[5]) * pages
        resource.setrlimit(resource.RLIMIT_DATA, (min(has + more, {_MEMORY}), resource.RLIM_INFINITY))
try:
    stored = sys.stdin.buffer.read()
    spare(4 * len(stored) + {_SPARE})
    model = mujoco.MjModel.from_binary_path("take.mjb", {{"take.mjb": stored}})
    spare(max(model.narena, 0) + {_SPARE})
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mujoco.mj_step(model, data)
except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
    print(str(error).splitlines()[0] if str(error) else type(error).__name__, file=sys.stderr)
    sys.exit(4)
"""
_TRUSTED: Final[set[bytes]] = set()


def model_bytes(model: mujoco.MjModel) -> NDArray[np.uint8]:
    """Return the bytes of a model that was compiled here, which are trusted from then on."""
    stored = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, stored)
    trust(stored.tobytes())
    return stored


def trust(data: bytes) -> None:
    """Note that a model was compiled here."""
    _TRUSTED.add(hashlib.sha256(data).digest())


def read_model(data: bytes) -> mujoco.MjModel:
    """Return the model that compiled bytes hold.

    Raises:
        ValueError: They hold none that this engine can read.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES // 2**20} MB")
    if hashlib.sha256(data).digest() not in _TRUSTED:
        _try(data)
        trust(data)
    try:
        return mujoco.MjModel.from_binary_path("take.mjb", {"take.mjb": data})
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _try(data: bytes) -> None:
    """Read a model in a child process.

    Raises:
        ValueError: It was refused, or the child did not survive it.
    """
    words = [sys.executable, "-I", "-c", _CHILD]
    try:
        done = subprocess.run(words, input=data, capture_output=True, timeout=6 * _SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError("the engine does not come to an end with it") from None
    if done.returncode == 4:
        said = done.stderr.decode(errors="replace").split("\n")  # the engine warns there, too; the last is the reason
        raise ValueError(next((line for line in reversed(said) if line.strip()), "")[:300])
    if done.returncode != 0:
        raise ValueError("the engine does not survive it")
