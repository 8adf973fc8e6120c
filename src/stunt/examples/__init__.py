"""What comes with Stunt: scripts by name (`stunt perform ymca`), and what a checkout holds beside the package."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stunt.errors import StuntError, UnknownNameError

__all__ = ["Example", "UnknownExampleError", "beside", "example", "example_names", "examples"]

_FOLDER = Path(__file__).parent


class UnknownExampleError(UnknownNameError):
    """A name that is no example's; says that a file would do as well."""

    def __init__(self, name: str) -> None:
        super().__init__("example", name, example_names())
        self.args = (f"{self} A path to a .yaml file works too.",)


@dataclass(frozen=True)
class Example:
    """One script of the package.

    Attributes:
        name: What the command line calls it.
        path: Its file.
        description: The first comment of the file, one line.
    """

    name: str
    path: Path
    description: str

    def text(self) -> str:
        """Return the script as it is written."""
        return self.path.read_text(encoding="utf-8")


def example_names() -> tuple[str, ...]:
    """Return the names of all examples, in order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def examples() -> tuple[Example, ...]:
    """Return all examples, in order of their names."""
    return tuple(example(name) for name in example_names())


def example(name: str) -> Example:
    """Return an example by its name, in small or capital letters.

    Raises:
        UnknownExampleError: There is none; the message lists those there are.
    """
    known = name.lower()
    if known not in example_names():
        raise UnknownExampleError(name)
    path = _FOLDER / f"{known}.yaml"
    return Example(known, path, _description(path.read_text(encoding="utf-8")))


def _description(text: str) -> str:
    comments = (line.lstrip("# ").rstrip() for line in text.splitlines() if line.startswith("#"))
    return next((comment for comment in comments if comment), "")


def beside(module: str) -> Any:
    """Import what a checkout of Stunt holds beside the package: `benchmarks` or `papers`.

    Raises:
        StuntError: Stunt was installed without its sources.
    """
    folder, checkout = module.partition(".")[0], _FOLDER.parents[2]
    if not (checkout / folder / "__init__.py").is_file():
        raise StuntError(
            f"'{folder}/' is not part of the installed package: it is in Stunt's source, beside 'src/'. "
            f"Install from there (pip install -e .) and run this again."
        )
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    return importlib.import_module(module)
