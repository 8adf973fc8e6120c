"""Models inside takes: compiled bytes from anywhere, which the engine reads without much doubt.

Bytes that this process did not compile itself are first read in a child process with limits of time and memory. What
makes the engine hang or crash there is refused here. It costs a third of a second, once for each model.
"""

from __future__ import annotations

import hashlib
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt import children

MOST_BYTES: Final = 512 * 2**20
"""No larger model is read."""
_SPARE: Final = 256 * 2**20
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
    try:
        children.apart(f"{__name__}:tried", data=data)
    except children.Died as error:
        raise ValueError(f"the engine {error}") from None


def tried(data: bytes) -> bytes:
    """Read a model, and step it (the child's side)."""
    children.allow(4 * len(data) + _SPARE)  # the engine believes what a model says of its sizes, and fills it
    try:
        model = mujoco.MjModel.from_binary_path("take.mjb", {"take.mjb": data})
        children.allow(max(model.narena, 0) + _SPARE)
        state = mujoco.MjData(model)
        mujoco.mj_forward(model, state)
        mujoco.mj_step(model, state)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise children.Refused(str(error).split("\n")[0][:300] or type(error).__name__) from None
    return b""
