"""Whatever is public has a docstring and complete types, and the front door's names are documented."""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

import stunt
from stunt.errors import StuntError

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "stunt"
BAR = 0.95

Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(tree: ast.Module) -> Iterator[tuple[str, Function, bool]]:
    """Public functions of a module and public methods of its public classes; whether the first argument is the self."""
    for node in tree.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node, False
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, Function) and (not inner.name.startswith("_") or inner.name == "__init__"):
                    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in inner.decorator_list)
                    yield f"{node.name}.{inner.name}", inner, not static


def is_documented(name: str, node: Function) -> bool:
    setter = any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list)
    # What a constructor of no arguments of its own does, its class says.
    return setter or ast.get_docstring(node) is not None or name.endswith(".__init__")


def is_typed(node: Function, method: bool) -> bool:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments = arguments[1:] if method else arguments
    arguments += [extra for extra in (node.args.vararg, node.args.kwarg) if extra is not None]
    return node.returns is not None and all(argument.annotation is not None for argument in arguments)


def test_public_functions_have_docstrings_and_complete_types() -> None:
    total, undocumented, untyped = 0, [], []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name.startswith("_") and path.name != "__init__.py":
            continue
        for name, node, method in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
            total += 1
            where = f"{path.relative_to(SOURCE)}:{node.lineno} {name}"
            undocumented += [] if is_documented(name, node) else [where]
            untyped += [] if is_typed(node, method) else [where]
    both = 1.0 - len({*undocumented, *untyped}) / total
    print(f"{total} public functions, {100 * both:.1f} % with docstring and complete types")
    print("without docstring:", undocumented, "\nwithout complete types:", untyped)
    assert total > 500 and both >= BAR


def test_public_classes_and_modules_have_docstrings() -> None:
    missing, total = [], 0
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        things = [tree, *(n for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_"))]
        total += len(things)
        missing += [f"{path.relative_to(SOURCE)} {getattr(n, 'name', '')}" for n in things if not ast.get_docstring(n)]
    print(f"{total} modules and classes, without docstring: {missing}")
    assert len(missing) <= (1.0 - BAR) * total


def test_everything_at_the_front_door_exists_and_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "api" / "stunt.md").read_text(encoding="utf-8")
    for name in stunt.__all__:
        assert hasattr(stunt, name), name
        assert name == "__version__" or f"`{name}`" in page, f"{name} is not in docs/api/stunt.md"


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("value", [None, math.nan, "x", [], {"a": 1}, object()], ids=lambda value: type(value).__name__)
def test_nothing_public_takes_nonsense_for_what_it_needs(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in stunt.__all__:
        public = getattr(stunt, name)
        if not callable(public) or (isinstance(public, type) and issubclass(public, BaseException)):
            continue
        needed = [
            parameter.name
            for parameter in inspect.signature(public).parameters.values()
            if parameter.default is parameter.empty and parameter.kind in (1, 3)
        ]
        with contextlib.suppress(StuntError):
            if needed:
                public(**dict.fromkeys(needed, value))
