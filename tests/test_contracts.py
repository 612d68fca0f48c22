"""Promises between files that no type checker sees."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path

import pytest

from excise import _counts, _lcs, _scanner, _walk

ROOT = Path(__file__).parent.parent
SOURCES = [*ROOT.glob("core/**/*.py"), *ROOT.glob("server/**/*.py"), *ROOT.glob("core/**/*.pyx")]


KERNELS = [_lcs, _counts, _scanner, _walk]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda module: module.__name__)
def test_a_stub_says_what_its_kernel_has(kernel):
    stub = ast.parse((ROOT / "core/excise" / f"{kernel.__name__.split('.')[1]}.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert names(node) == list(inspect.signature(getattr(kernel, node.name)).parameters)
        elif isinstance(node, ast.ClassDef):
            methods = [m.name for m in node.body if isinstance(m, ast.FunctionDef)]
            assert all(hasattr(getattr(kernel, node.name), method) for method in methods)


def names(node: ast.FunctionDef) -> list[str]:
    return [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]


def test_every_public_name_of_a_kernel_has_a_stub():
    for kernel in KERNELS:
        stub = (ROOT / "core/excise" / f"{kernel.__name__.split('.')[1]}.pyi").read_text()
        source = (ROOT / "core/excise" / f"{kernel.__name__.split('.')[1]}.pyx").read_text()
        for name in re.findall(r"^def (\w+)", source, re.MULTILINE):
            assert f"def {name}(" in stub


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nobody_splits_lines_by_unicode_rules(source):
    assert not re.search(r"\.splitlines\(", source.read_text(encoding="utf-8"))


def test_no_module_of_the_library_imports_the_facade():
    """The linter cannot tell it from an import of a kernel, so this test does."""
    for path in (ROOT / "core/excise").glob("*.py"):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "excise":
                modules = {alias.name for alias in node.names}
                assert all((ROOT / "core/excise" / f"{m}.py").exists() for m in modules), path


def test_every_kernel_is_declared_and_nothing_else():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    kernels = {kernel["name"]: kernel["sources"] for kernel in declared["ext-modules"]}
    sources = [path.relative_to(ROOT) for path in ROOT.glob("core/**/*.pyx")]
    assert kernels == {
        ".".join(path.with_suffix("").parts[1:]): [path.as_posix()] for path in sources
    }


def test_every_dependency_has_a_range_and_an_argument():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    argued = (ROOT / "CONTRIBUTING.md").read_text()
    for requirement in project["dependencies"]:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert ">=" in requirement, requirement
        assert "<" in requirement.replace(">=", ""), requirement
        assert name.group() in argued, requirement
