"""Which suffix is written by whom. A new format is one file and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from stunt.errors import ExportError
from stunt.export.options import Options, Progress
from stunt.record.take import Take

Writer = Callable[[Sequence[Take], Path, Options, Progress], None]
"""Writes takes to a path (already aside), as asked, telling its progress."""


@dataclass(frozen=True)
class Format:
    """One way out.

    Attributes:
        name: For people.
        module: Where it is written: `stunt.export.formats.<module>`, a function `write`.
        one_file_each: Whether every character gets a file of its own.
        several_takes: Whether it shows several takes side by side.
        needs: The package it needs, and the extra of Stunt that brings it.
        ups: Which up-axes it can have.
    """

    name: str
    module: str
    one_file_each: bool = False
    several_takes: bool = False
    needs: tuple[str, str] | None = None
    ups: tuple[str, ...] = ("y", "z")

    def writer(self, suffix: str) -> Writer:
        """Return the function that writes it.

        Raises:
            ExportError: Its package is not installed; the message says how to install it.
        """
        if self.needs is not None:
            package, extra = self.needs
            try:
                importlib.import_module(package)
            except ImportError as error:
                raise ExportError(
                    f"{suffix} needs the package '{package}', which is not installed: pip install 'stunt[{extra}]'."
                ) from error
        return cast(Writer, importlib.import_module(f"stunt.export.formats.{self.module}").write)


_USD = Format("USD", "usd", needs=("pxr", "usd"))
FORMATS: dict[str, Format] = {
    ".bvh": Format("BVH", "bvh", one_file_each=True),
    ".fbx": Format("FBX", "fbx", one_file_each=True, ups=("y",)),
    ".glb": Format("glTF binary", "glb", ups=("y",)),
    ".usd": _USD,
    ".usda": _USD,
    ".usdc": _USD,
    ".mp4": Format("video", "video", several_takes=True, needs=("av", "video"), ups=("z",)),
    ".gif": Format("animated picture", "video", several_takes=True, ups=("z",)),
    ".npz": Format("arrays for analysis", "arrays"),
    ".csv": Format("table for analysis", "table"),
}
"""What can be written, by suffix."""

_ELSEWHERE = {
    ".gltf": "The binary form, .glb, holds the same in one file.",
    ".avi": "Use .mp4.", ".mov": "Use .mp4.", ".mkv": "Use .mp4.", ".webm": "Use .mp4.",
    ".json": "Use .npz or .csv.", ".obj": "It holds no motion; use .glb.",
}  # fmt: skip


def format_of(path: Path) -> Format:
    """Return the format a file's suffix stands for.

    Raises:
        ExportError: There is none; the message says which there are.
    """
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    advice = _ELSEWHERE.get(suffix, "")
    what = f"'{suffix}' is no format Stunt writes" if suffix else f"'{path}' has no suffix that says the format"
    known = ", ".join(FORMATS)
    raise ExportError(f"{what}.{' ' + advice if advice else ''} Available: {known}.")
