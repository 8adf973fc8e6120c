"""A trained support vector machine as plain arrays: decides, is stored, is refused where it does not belong.

Nothing here needs the library it was trained with, and no file is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from stunt.archives import read_archive
from stunt.errors import NONSENSE, StuntError
from stunt.maths.rotations import Floats
from stunt.record.files import written_aside

SCHEMA: Final = 1
_ARRAYS: Final = ("mean", "scale", "vectors", "weights")
_MOST: Final = 8 * 1024 * 1024  # bytes of a file that are read, and that it may unpack to; each look goes through all


class WrongBodyError(StuntError):
    """A pre-condition that was learned on another body."""


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """From which states a controller succeeds."""

    mean: Floats  #: Of each feature over the tries, (D,)
    scale: Floats  #: Its standard deviation, (D,)
    vectors: Floats  #: Support vectors, scaled, (S, D)
    weights: Floats  #: Their weights, (S,)
    bias: float  #: What is added
    gamma: float  #: Width of the kernel exp(−γ‖x − s‖²)
    slope: float  #: Probability of success is 1 / (1 + exp(−slope·margin − offset)) (Platt's scaling)
    offset: float  #: See there
    about: Mapping[str, Any]  #: Controller, body, data, accuracy and the like, as JSON-able data

    def margin(self, features: Floats) -> Floats:
        """Return how far states (…, D) are on the side of success; below 0: failure."""
        x = (features - self.mean) / self.scale
        squares = ((x[..., None, :] - self.vectors) ** 2).sum(axis=-1)
        result: Floats = np.exp(-self.gamma * squares) @ self.weights + self.bias
        return result

    def chance(self, features: Floats) -> Floats:
        """Return the probability of success, from 0 to 1."""
        result: Floats = 1.0 / (1.0 + np.exp(-np.clip(self.slope * self.margin(features) + self.offset, -50.0, 50.0)))
        return result

    def check_body(self, digest: str) -> None:
        """Refuse a body it was not learned on.

        Raises:
            WrongBodyError: The body is another.
        """
        if digest != self.about.get("body"):
            who = self.about.get("controller")
            raise WrongBodyError(
                f"the pre-condition of '{who}' was learned on another body (digest {self.about.get('body')}, this one "
                f"is {digest}); learn it again with `stunt learn {who}`."
            )

    def save(self, path: Path) -> Path:
        """Write it: arrays and one JSON text."""
        text = json.dumps({
            "schema": SCHEMA, "bias": self.bias, "gamma": self.gamma, "slope": self.slope, "offset": self.offset,
            "about": dict(self.about),
        })  # fmt: skip
        with written_aside(path) as aside, open(aside, "wb") as file:
            np.savez_compressed(file, json=np.array(text), **{name: getattr(self, name) for name in _ARRAYS})
        return path


def load_machine(path: Path) -> SupportVectors:
    """Read a stored pre-condition.

    Raises:
        StuntError: There is none, or the file is not one.
    """
    if not path.is_file():
        raise StuntError(f"there is no learned pre-condition at '{path}'; `stunt learn CONTROLLER` makes one.")
    try:
        stored = read_archive(path, _MOST)
        text = json.loads(str(stored["json"]))
        arrays = {name: np.asarray(stored[name], dtype=np.float64) for name in _ARRAYS}
        numbers = {name: float(text[name]) for name in ("bias", "gamma", "slope", "offset")}
        _check(text, arrays, numbers)
    except (OSError, *NONSENSE) as error:
        raise StuntError(f"'{path}' is no learned pre-condition Stunt can read ({error}).") from error
    values: dict[str, Any] = {**arrays, **numbers}
    return SupportVectors(**values, about=text["about"])


def _check(text: Mapping[str, Any], arrays: Mapping[str, Floats], numbers: Mapping[str, float]) -> None:
    if not isinstance(text, dict) or text.get("schema") != SCHEMA or not isinstance(text.get("about"), dict):
        raise ValueError(f"its JSON is not of schema {SCHEMA}")
    size, count = arrays["mean"].shape[0], arrays["weights"].shape[0]
    shapes = {"mean": (size,), "scale": (size,), "vectors": (count, size), "weights": (count,)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise ValueError(f"'{name}' is {arrays[name].shape}, expected finite numbers {shape}")
    if not all(np.isfinite(value) for value in numbers.values()) or not (arrays["scale"] > 0).all():
        raise ValueError("numbers that are none")
